#include "session/lifecycle.h"

#include "base/clock.h"
#include "base/log.h"
#include "session/discover.h"
#include "session/record.h"

#include <rocprofiler-sdk/version.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct client {
    rocprofiler_client_id_t id; /* the tool holds a pointer to it */
    uint32_t handle;            /* what id.handle must still be: a tool may not change it */
    bool live;                  /* initialised and not yet finalised */
    rocprofiler_tool_configure_result_t result;
};

/* Fixed once stage is READY. Guarded by being touched by the initialising thread only before. */
static struct client *clients;
static uint32_t client_count;
static rocprofiler_configure_func_t forced;
static uint32_t current_client;

/* Writers: initialize and finalize (release). Readers: any (acquire). */
static _Atomic int stage;
static _Atomic bool initialize_taken, finalize_taken;
static _Atomic uint32_t initializer_tid;
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;

enum { RUNTIMES_MAX = 16 };
static const struct trace_runtime_ops *runtimes[RUNTIMES_MAX];
static _Atomic uint32_t runtime_count; /* release after the slot */

enum session_stage session_stage(void)
{
    return (enum session_stage)atomic_load_explicit(&stage, memory_order_acquire);
}

bool session_configuring(void)
{
    return session_stage() == STAGE_CONFIGURING;
}

uint32_t session_current_client(void)
{
    return current_client;
}

bool session_has_tools(void)
{
    for (uint32_t i = 0; i < client_count; i++)
        if (clients[i].live)
            return true;
    return false;
}

int session_initialized_status(void)
{
    enum session_stage now = session_stage();
    return now == STAGE_BEFORE ? 0 : now == STAGE_CONFIGURING ? -1 : 1;
}

int session_finalized_status(void)
{
    enum session_stage now = session_stage();
    return now == STAGE_DONE ? 1 : now == STAGE_FINALIZING ? -1 : 0;
}

void trace_runtime_register(const struct trace_runtime_ops *ops)
{
    pthread_mutex_lock(&session_lock);
    uint32_t count = atomic_load(&runtime_count);
    bool known = count == RUNTIMES_MAX;
    for (uint32_t i = 0; i < count; i++)
        known |= runtimes[i] == ops;
    if (!known) {
        runtimes[count] = ops;
        atomic_store_explicit(&runtime_count, count + 1, memory_order_release);
    }
    pthread_mutex_unlock(&session_lock);
}

/* ---- configuration */

static const char *client_name(const struct client *client)
{
    return client->id.name ? client->id.name : "unnamed tool";
}

static void client_drop(struct client *client)
{
    contexts_discard(client->handle);
    client->live = false;
}

/* NULL, or a result too old to be read, means that the tool does not take part. */
static void client_configure(struct client *client, rocprofiler_configure_func_t configure,
                             uint32_t priority)
{
    uint32_t handle = ((uint32_t)getpid() * 2654435761u >> 8 | 1u << 24) + priority;
    client->handle = handle;
    memcpy(&client->id, &(rocprofiler_client_id_t){sizeof client->id, NULL, handle},
           sizeof client->id);
    current_client = handle;
    rocprofiler_tool_configure_result_t *result =
        configure(ROCPROFILER_SDK_VERSION, ROCPROFILER_SDK_VERSION_STRING, priority, &client->id);
    current_client = 0;
    client->live = result != NULL;
    if (result && result->size < sizeof *result) {
        log_error("session", "%s: rocprofiler_tool_configure_result_t of %zu bytes, %zu expected",
                  client_name(client), result->size, sizeof *result);
        client->live = false;
    }
    if (client->live)
        client->result = *result;
    else
        client_drop(client);
}

static void client_finalize_request(rocprofiler_client_id_t id);

static void client_initialize(struct client *client)
{
    if (!client->live || !client->result.initialize)
        return;
    current_client = client->handle;
    int status = client->result.initialize(client_finalize_request, client->result.tool_data);
    current_client = 0;
    if (status == 0)
        return;
    log_warning("session", "%s: initialize returned %d, the tool is dropped", client_name(client),
                status);
    client_drop(client);
}

static void clients_configure(void)
{
    struct tool_list list;
    discover_tools(&list, forced);
    clients = calloc(list.count ? list.count : 1, sizeof *clients);
    if (!clients) {
        log_error("session", "out of memory: no tool is configured");
        return;
    }
    for (; client_count < list.count; client_count++)
        client_configure(&clients[client_count], list.tools[client_count], client_count);
    for (uint32_t i = 0; i < client_count; i++)
        client_initialize(&clients[i]);
}

static void wait_until_ready(void)
{
    if (atomic_load(&initializer_tid) == thread_id())
        return; /* a tool calls back into us from its configure */
    pthread_mutex_lock(&ready_lock);
    while (session_stage() < STAGE_READY)
        pthread_cond_wait(&ready, &ready_lock);
    pthread_mutex_unlock(&ready_lock);
}

static void publish_ready(void)
{
    pthread_mutex_lock(&ready_lock);
    atomic_store_explicit(&stage, STAGE_READY, memory_order_release);
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&ready_lock);
}

/* Other threads of the parent may have held these; in the child nobody will release them. What they
 * guard is consistent enough: lists grow by one store at their end. */
static void on_fork_child(void)
{
    pthread_mutex_init(&session_lock, NULL);
    pthread_mutex_init(&ready_lock, NULL);
    pthread_cond_init(&ready, NULL);
    external_on_fork_child();
}

void session_initialize(void)
{
    if (atomic_exchange(&initialize_taken, true)) {
        if (session_stage() < STAGE_READY)
            wait_until_ready();
        return;
    }
    atomic_store(&initializer_tid, thread_id());
    pthread_atfork(NULL, NULL, on_fork_child);
    thread_creation_hook(thread_callbacks_run);
    clock_init();
    record_init();
    atomic_store_explicit(&stage, STAGE_CONFIGURING, memory_order_release);
    clients_configure();
    if (session_has_tools()) {
        atexit(session_finalize);
        at_quick_exit(session_finalize);
    }
    publish_ready();
}

rocprofiler_status_t session_force_configure(rocprofiler_configure_func_t configure)
{
    if (session_stage() != STAGE_BEFORE || forced || atomic_load(&initialize_taken))
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    forced = configure;
    setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
    session_initialize();
    return ROCPROFILER_STATUS_SUCCESS;
}

/* ---- finalisation */

static void runtimes_drain(void)
{
    uint32_t count = atomic_load_explicit(&runtime_count, memory_order_acquire);
    for (uint32_t i = 0; i < count; i++)
        if (runtimes[i]->work_drain)
            runtimes[i]->work_drain();
    for (uint32_t i = 0; i < count; i++)
        if (runtimes[i]->objects_unload)
            runtimes[i]->objects_unload();
}

static void client_finalize(struct client *client)
{
    if (!client->live)
        return;
    client->live = false;
    if (client->id.handle != client->handle)
        log_warning("session", "%s changed its client handle", client_name(client));
    contexts_stop(client->handle);
    buffers_flush(client->handle);
    if (client->result.finalize)
        client->result.finalize(client->result.tool_data);
}

static void services_destroy(void)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        for (int kind = 0; kind < SERVICE_COUNT; kind++)
            if (context->services[kind].ops && context->services[kind].ops->destroy)
                context->services[kind].ops->destroy(context->services[kind].data);
}

void session_finalize(void)
{
    if (session_stage() < STAGE_READY || atomic_exchange(&finalize_taken, true))
        return;
    runtimes_drain();
    atomic_store_explicit(&stage, STAGE_FINALIZING, memory_order_release);
    for (uint32_t i = 0; i < client_count; i++)
        client_finalize(&clients[i]);
    contexts_stop(0);
    tracebuf_shutdown();
    atomic_store_explicit(&stage, STAGE_DONE, memory_order_release);
    services_destroy();
}

/* What a tool's initialize was given. The only tool ends everything; one of several just itself. */
static void client_finalize_request(rocprofiler_client_id_t id)
{
    struct client *client = NULL;
    for (uint32_t i = 0; i < client_count; i++)
        if (clients[i].handle == id.handle)
            client = &clients[i];
    if (!client || session_stage() < STAGE_READY) {
        log_warning("session", "finalize asked for by an unknown tool, or too early: ignored");
        return;
    }
    if (client_count == 1)
        session_finalize();
    else
        client_finalize(client);
}
