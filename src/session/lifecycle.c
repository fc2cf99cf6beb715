#include "session/lifecycle.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "runtime/instances.h"
#include "session/clients.h"
#include "session/endings.h"
#include "session/ids.h"
#include "session/internal.h"
#include "session/record.h"
#include "session/stage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writer: who forces a configuration. Reader: who configures (seq_cst). */
static _Atomic(rocprofiler_configure_func_t) forced;

/* Whoever comes first takes it. Writers and readers: any thread (exchange and loads, seq_cst). */
static _Atomic bool force_taken, initialize_taken;
static __thread bool initializing_here __attribute__((tls_model("initial-exec")));

/* Writer: who keeps something until tools are there (release). Reader: initialize (acquire). */
static _Atomic(void (*)(void)) when_ready;

bool session_is_wanted(void)
{
    return session_has_tools() || subscriptions_exist();
}

/* ---- configuration */

/* A library of an older release than ours that attaches a tool says so in the environment. */
static bool started_to_attach(void)
{
    const char *value = getenv("ROCPROFILER_REGISTER_TOOL_ATTACHED");
    return value && !strcmp(value, "1");
}

static void clients_configure(enum discover_scope scope)
{
    struct tool_list list;
    bool to_attach = started_to_attach();
    discover_tools(&list, atomic_load_explicit(&forced, memory_order_seq_cst), scope);
    for (uint32_t i = 0; i < list.count; i++)
        client_configure(client_add(list.tools[i]), to_attach);
    for (uint32_t i = 0; i < list.count; i++)
        client_initialize(client_at(i), client_finalize_request);
}

/* Other threads must not be in the middle of a change, which nobody would complete in the child.
 * tracebuf takes its own locks before ours: no thread holds one of ours and takes one of those. */
static void on_fork_prepare(void)
{
    pthread_mutex_lock(&session_lock);
    external_on_fork_prepare();
    ids_on_fork_prepare();
    runtimes_on_fork_prepare();
}

static void on_fork_parent(void)
{
    runtimes_on_fork_parent();
    ids_on_fork_parent();
    external_on_fork_parent();
    pthread_mutex_unlock(&session_lock);
}

static void on_fork_child(void)
{
    stage_on_fork_child();
    pthread_mutex_init(&session_lock, NULL);
    runtimes_on_fork_child();
    external_on_fork_child();
    ids_on_fork_child();
    contexts_on_fork_child();
    endings_on_fork_child();
}

static void on_own_thread(bool created)
{
    session_endings_renew();
    thread_callbacks_run(created);
}

static void on_thread_exit(struct thread *thread)
{
    ids_on_thread_exit(thread);
    external_on_thread_exit(thread);
}

static void prepare_once(void)
{
    pthread_atfork(on_fork_prepare, on_fork_parent, on_fork_child);
    thread_init(); /* before threads of our own: then it takes 10 ms more */
    thread_creation_hook(on_own_thread);
    thread_exit_hook(on_thread_exit);
    thread_self(); /* mostly the main thread, whose end is noticed then */
    clock_init();
    ids_init();
    sets_ways_use(&trace_ways);
    record_init();
}

void session_records_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

void session_when_ready(void (*tell)(void))
{
    atomic_store_explicit(&when_ready, tell, memory_order_release);
}

static void ready_tell(void)
{
    void (*tell)(void) = atomic_load_explicit(&when_ready, memory_order_acquire);
    if (tell)
        tell();
}

/* A tool has ended its thread, with pthread_exit(), in its configure or initialize. Others wait. */
static void initialize_forsake(void *unused)
{
    (void)unused;
    log_warning("session", "a tool has ended the thread that initialised it: it is left out");
    stage_reach(STAGE_READY);
}

static bool initialize(enum discover_scope scope)
{
    if (atomic_exchange_explicit(&initialize_taken, true, memory_order_seq_cst)) {
        if (!initializing_here) /* else a tool calls back into us from its configure */
            stage_wait_ready();
        return false;
    }
    initializing_here = true;
    session_records_prepare();
    stage_reach(STAGE_CONFIGURING);
    pthread_cleanup_push(initialize_forsake, NULL);
    clients_configure(scope);
    pthread_cleanup_pop(0);
    if (session_is_wanted())
        session_exit_watch();
    initializing_here = false;
    stage_reach(STAGE_READY);
    ready_tell();
    return true;
}

bool session_initialize(void)
{
    return initialize(DISCOVER_EVERYWHERE);
}

void session_initialize_for_attach(void)
{
    initialize(DISCOVER_ANNOUNCED);
}

rocprofiler_status_t session_force_configure(rocprofiler_configure_func_t configure)
{
    if (atomic_load_explicit(&initialize_taken, memory_order_seq_cst) ||
        atomic_exchange_explicit(&force_taken, true, memory_order_seq_cst))
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    atomic_store_explicit(&forced, configure, memory_order_seq_cst);
    setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
    /* A runtime that started meanwhile on another thread may not have seen `forced`. */
    return session_initialize() ? ROCPROFILER_STATUS_SUCCESS
                                : ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
}

bool session_client_join(struct client *client, bool to_attach)
{
    client_configure(client, to_attach);
    bool joined = client_initialize(client, client_finalize_request);
    if (session_stage() >= STAGE_FINALIZING) /* it may have come too late to be told */
        client_finalize(client);
    return joined && session_stage() == STAGE_READY;
}
