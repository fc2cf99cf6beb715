#include "session/front/process.h"

#include "base/callback.h"
#include "base/log.h"
#include "runtime/work.h"
#include "session/clients.h"
#include "session/endings.h"
#include "session/lifecycle.h"
#include "session/runtimes.h"
#include "session/session.h"
#include "session/stage.h"

#include <stdlib.h>
#include <string.h>

#define THREAD_STATE static __thread __attribute__((tls_model("initial-exec")))
THREAD_STATE char here; /* its address stands for the thread, in a forked child too */

/* The thread that attaches or detaches; NULL: none. Writer: that thread (compare-exchange to enter,
 * release to leave). */
static _Atomic(const void *) busy;

static void leave(void)
{
    atomic_store_explicit(&busy, NULL, memory_order_release);
}

static void on_fork_child(void)
{
    if (atomic_load_explicit(&busy, memory_order_seq_cst) != &here)
        leave(); /* whoever was at it is not here */
}

static void fork_watch(void)
{
    pthread_atfork(NULL, NULL, on_fork_child);
}

static bool enter(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const void *nobody = NULL;
    pthread_once(&once, fork_watch);
    return atomic_compare_exchange_strong_explicit(&busy, &nobody, &here, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

static bool any_attached(void)
{
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (atomic_load_explicit(&client->attached, memory_order_seq_cst) &&
            atomic_load_explicit(&client->state, memory_order_seq_cst) == CLIENT_LIVE)
            return true;
    return false;
}

/* ---- loading */

static bool kernels_were_wanted; /* before the tools that were loaded last; under exclusion */

/* Contexts that initialize started wait for the attachment. */
static bool tool_join(rocprofiler_configure_func_t configure)
{
    struct client *client = client_add(configure);
    if (!client) {
        log_warning("session", "more than %d tools in the process: another cannot be attached",
                    CLIENTS_MAX);
        return false;
    }
    stage_configure_here(true);
    bool joined = session_client_join(client, true);
    stage_configure_here(false);
    if (joined)
        contexts_suspend(client->handle);
    client->selected = joined;
    return joined;
}

/* A tool that has ended by its own wish begins anew. */
static bool tool_select(rocprofiler_configure_func_t configure)
{
    struct client *client = client_of(configure);
    if (!client || atomic_load_explicit(&client->state, memory_order_seq_cst) != CLIENT_LIVE)
        return tool_join(configure);
    client->selected = true;
    return true;
}

static rocprofiler_status_t tools_load(const char *libraries)
{
    struct tool_list list = {.count = 0};
    struct client *client;
    uint32_t selected = 0;
    kernels_were_wanted = trace_domain_is_wanted(TRACE_KERNEL_DISPATCH);
    session_initialize_for_attach();
    if (session_stage() < STAGE_READY) /* from inside of a tool's initialize */
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    if (session_stage() > STAGE_READY)
        return ROCPROFILER_STATUS_ERROR_FINALIZED;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        client->selected = false;
    discover_libraries(&list, libraries, "attach");
    for (uint32_t i = 0; i < list.count; i++)
        selected += tool_select(list.tools[i]);
    if (selected == 0)
        return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
    session_endings_watch();
    runtimes_meet_newcomers();
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t session_attach_load(const char *libraries)
{
    if (!libraries || !*libraries)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!enter()) {
        log_warning("session", "another thread is attaching or detaching a tool just now");
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    }
    rocprofiler_status_t status = ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    if (any_attached())
        log_warning("session", "a tool is attached already: detach it first");
    else
        status = tools_load(libraries);
    leave();
    return status;
}

/* ---- attachments */

/* False: it was not attached, or somebody else is detaching it. */
static bool client_detach(struct client *client)
{
    bool attached = true;
    if (!atomic_compare_exchange_strong_explicit(&client->attached, &attached, false,
                                                 memory_order_seq_cst, memory_order_seq_cst))
        return false;
    contexts_stop(client->handle);
    if (!tracebuf_delivering() && !runtimes_work_wait())
        log_warning("session",
                    "%s is detached while device work is still running: what ends later "
                    "is not reported",
                    client_name(client));
    buffers_flush(client->handle);
    if (client->attach.tool_detach &&
        atomic_load_explicit(&client->state, memory_order_seq_cst) == CLIENT_LIVE)
        CALLBACK(client->attach.tool_detach(client->attach.tool_data));
    return true;
}

static void client_detach_request(rocprofiler_client_id_t id)
{
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (client->handle == id.handle && client_detach(client))
            return;
    log_warning("session", "detach asked for by a tool that is not attached: ignored");
}

static int attach_call(struct client *client)
{
    uint64_t count = contexts_of(client->handle, NULL, 0);
    rocprofiler_context_id_t *ids = calloc(count ? count : 1, sizeof *ids);
    if (!ids)
        return -1;
    contexts_of(client->handle, ids, count);
    int status;
    CALLBACK(status = client->attach.tool_attach(client_detach_request, ids, count,
                                                 client->attach.tool_data));
    free(ids);
    return status;
}

static bool client_attach(struct client *client)
{
    atomic_store_explicit(&client->attached, true, memory_order_seq_cst);
    int status = client->attach.tool_attach ? attach_call(client) : 0;
    if (status != 0) {
        log_warning("session", "%s: tool_attach returned %d, the tool stays detached",
                    client_name(client), status);
        atomic_store_explicit(&client->attached, false, memory_order_seq_cst);
        contexts_stop(client->handle);
        return false;
    }
    contexts_resume(client->handle);
    session_objects_announce(client->handle);
    return true;
}

/* Those take part whom session_attach_load has chosen; or, under a rocprofiler-register that knows
 * nothing of it, those who were there at the start and said that they can be attached. */
static bool takes_part(const struct client *client, bool chosen)
{
    return atomic_load_explicit(&client->state, memory_order_seq_cst) == CLIENT_LIVE &&
           (chosen ? client->selected : client->attach.tool_attach != NULL);
}

static rocprofiler_status_t tools_attach(void)
{
    struct client *client;
    bool chosen = false;
    uint32_t attached = 0;
    if (session_stage() != STAGE_READY)
        return session_stage() > STAGE_READY ? ROCPROFILER_STATUS_ERROR_FINALIZED
                                             : ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        chosen |= client->selected;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (takes_part(client, chosen))
            attached += client_attach(client);
    if (attached == 0)
        return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
    runtimes_missed_report(kernels_were_wanted);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t session_attach(void)
{
    if (!enter())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    rocprofiler_status_t status =
        any_attached() ? ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED : tools_attach();
    leave();
    return status;
}

rocprofiler_status_t session_detach(void)
{
    struct client *client;
    uint32_t detached = 0;
    if (!enter())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        detached += client_detach(client);
    leave();
    return detached ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}
