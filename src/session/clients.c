#include "session/clients.h"

#include "base/callback.h"
#include "base/library.h"
#include "base/log.h"
#include "session/stage.h"

#include <dlfcn.h>
#include <rocprofiler-sdk/version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct client clients[CLIENTS_MAX];
static _Atomic uint32_t client_count; /* writer: who configures (release); readers: any */

struct client *client_at(uint32_t index)
{
    return index < atomic_load_explicit(&client_count, memory_order_acquire) ? &clients[index]
                                                                             : NULL;
}

uint32_t clients_count(void)
{
    return atomic_load_explicit(&client_count, memory_order_acquire);
}

struct client *client_of(rocprofiler_configure_func_t configure)
{
    for (uint32_t i = clients_count(); i > 0; i--)
        if (clients[i - 1].configure == configure)
            return &clients[i - 1];
    return NULL;
}

bool session_has_tools(void)
{
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (atomic_load_explicit(&client->state, memory_order_relaxed) == CLIENT_LIVE)
            return true;
    return false;
}

const char *client_name(const struct client *client)
{
    return client->id.name ? client->id.name : "unnamed tool";
}

const char *service_context_owner(rocprofiler_context_id_t id)
{
    struct context *context = context_find(id);
    if (!context)
        return "nobody";
    struct client *client = NULL;
    for (uint32_t i = 0; !context->owner && client_at(i) && !client; i++)
        client = client_at(i)->handle == context->client ? client_at(i) : NULL;
    return client ? client_name(client) : context->owner ? context->owner : "a tool";
}

/* Differs from process to process, so that an id kept from elsewhere is not taken for one. */
static uint32_t handle_of(uint32_t index)
{
    static uint32_t base;
    if (!base)
        base = (uint32_t)getpid() * 2654435761u >> 8 | 1u << 24;
    return base + index;
}

struct client *client_add(rocprofiler_configure_func_t configure)
{
    uint32_t index = clients_count();
    if (index == CLIENTS_MAX)
        return NULL;
    struct client *client = &clients[index];
    client->configure = configure;
    client->handle = handle_of(index);
    memcpy(&client->id, &(rocprofiler_client_id_t){sizeof client->id, NULL, client->handle},
           sizeof client->id);
    atomic_store_explicit(&client_count, index + 1, memory_order_release);
    return client;
}

static void client_drop(struct client *client)
{
    contexts_discard(client->handle);
    atomic_store_explicit(&client->state, CLIENT_ABSENT, memory_order_seq_cst);
}

static void attach_configure(struct client *client, uint32_t priority)
{
    rocprofiler_configure_attach_func_t configure = discover_attach(client->configure);
    rocprofiler_tool_configure_attach_result_t *result =
        configure ? configure(ROCPROFILER_SDK_VERSION, ROCPROFILER_SDK_VERSION_STRING, priority,
                              &client->id)
                  : NULL;
    if (result && result->size < sizeof *result)
        log_error("session",
                  "%s: rocprofiler_tool_configure_attach_result_t of %zu bytes, %zu expected",
                  client_name(client), result->size, sizeof *result);
    else if (result)
        client->attach = *result;
}

static bool result_is_whole(const struct client *client,
                            const rocprofiler_tool_configure_result_t *result)
{
    if (result && result->size < sizeof *result)
        log_error("session", "%s: rocprofiler_tool_configure_result_t of %zu bytes, %zu expected",
                  client_name(client), result->size, sizeof *result);
    return result && result->size >= sizeof *result;
}

void client_configure(struct client *client, bool to_attach)
{
    uint32_t priority = (uint32_t)(client - clients);
    stage_client_set(client->handle);
    rocprofiler_tool_configure_result_t *result;
    CALLBACK(result = client->configure(ROCPROFILER_SDK_VERSION, ROCPROFILER_SDK_VERSION_STRING,
                                        priority, &client->id));
    bool takes_part = result_is_whole(client, result);
    if (takes_part) {
        client->result = *result;
        client->came_by_attach = to_attach;
    }
    if (takes_part && to_attach)
        attach_configure(client, priority);
    stage_client_set(0);
    if (!takes_part) {
        client_drop(client);
        return;
    }
    atomic_store_explicit(&client->state, CLIENT_CONFIGURED, memory_order_seq_cst);
    library_keep((const void *)client->configure); /* a tool that the program unloads */
}

bool client_initialize(struct client *client, rocprofiler_client_finalize_t finalize)
{
    if (atomic_load_explicit(&client->state, memory_order_seq_cst) != CLIENT_CONFIGURED)
        return false;
    int status = 0;
    stage_client_set(client->handle);
    if (client->result.initialize)
        CALLBACK(status = client->result.initialize(finalize, client->result.tool_data));
    stage_client_set(0);
    if (status != 0) {
        log_warning("session", "%s: initialize returned %d, the tool is dropped",
                    client_name(client), status);
        client_drop(client);
        return false;
    }
    atomic_store_explicit(&client->state, CLIENT_LIVE, memory_order_seq_cst);
    return true;
}
