#include "session/lifecycle.h"

#include "base/callback.h"
#include "base/clock.h"
#include "base/ending.h"
#include "base/log.h"
#include "base/process.h"
#include "runtime/instances.h"
#include "runtime/work.h"
#include "session/attach.h"
#include "session/clients.h"
#include "session/record.h"
#include "session/runtimes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static _Atomic(rocprofiler_configure_func_t) forced;

/* Writers: initialize and finalize (release). Readers: any (acquire). */
static _Atomic int stage;
static _Atomic bool force_taken, initialize_taken, finalize_taken;
static pthread_mutex_t ready_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER; /* the stage or a client's state changed */

/* What this thread is in the middle of, so that it never waits for itself. The address of `here`
 * stands for the thread: unlike its id it is the same in a forked child. */
#define THREAD_STATE static __thread __attribute__((tls_model("initial-exec")))
THREAD_STATE char here;
THREAD_STATE bool initializing_here;
THREAD_STATE bool exiting_here;
THREAD_STATE unsigned ending_here;      /* tools */
static _Atomic(const void *) finalizer; /* `here` of the thread that ends everything */

/* The thread that ends the process, by exit() or a signal; NULL: none does. Writers: the first one
 * (compare-exchange), the child of a fork. And the one that a signal, abort() or quick_exit() came
 * to. Readers: any. */
static _Atomic(void *) first_end, left;

/* Who exits while another thread still ends the tools lets it finish: it may be writing files. Not
 * for ever: that thread may wait for something of ours. */
enum { END_WAIT_SECONDS = 60 };

enum session_stage session_stage(void)
{
    return (enum session_stage)atomic_load_explicit(&stage, memory_order_acquire);
}

bool session_configuring(void)
{
    return session_stage() == STAGE_CONFIGURING || attach_configuring_here();
}

int session_initialized_status(void)
{
    if (session_configuring())
        return -1;
    return session_stage() == STAGE_BEFORE ? 0 : 1;
}

int session_finalized_status(void)
{
    enum session_stage now = session_stage();
    return now == STAGE_DONE ? 1 : now == STAGE_FINALIZING ? -1 : 0;
}

bool session_is_wanted(void)
{
    return session_has_tools() || subscriptions_exist();
}

/* ---- configuration */

static void client_finalize_request(rocprofiler_client_id_t id);

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
    discover_tools(&list, atomic_load(&forced), scope);
    for (uint32_t i = 0; i < list.count; i++)
        client_configure(client_add(list.tools[i]), to_attach);
    for (uint32_t i = 0; i < list.count; i++)
        client_initialize(client_at(i), client_finalize_request);
}

static void reach(_Atomic int *state, int value)
{
    pthread_mutex_lock(&ready_lock);
    atomic_store_explicit(state, value, memory_order_release);
    pthread_cond_broadcast(&ready);
    pthread_mutex_unlock(&ready_lock);
}

static void wait_until_ready(void)
{
    if (initializing_here)
        return; /* a tool calls back into us from its configure */
    pthread_mutex_lock(&ready_lock);
    while (session_stage() < STAGE_READY)
        pthread_cond_wait(&ready, &ready_lock);
    pthread_mutex_unlock(&ready_lock);
}

static void endings_lapse(void);

/* Other threads must not be in the middle of a change, which nobody would complete in the child.
 * tracebuf takes its own locks before ours: no thread holds one of ours and takes one of those. */
static void on_fork_prepare(void)
{
    pthread_mutex_lock(&session_lock);
    external_on_fork_prepare();
    runtimes_on_fork_prepare();
}

static void on_fork_parent(void)
{
    runtimes_on_fork_parent();
    external_on_fork_parent();
    pthread_mutex_unlock(&session_lock);
}

static void on_fork_child(void)
{
    endings_lapse();
    if (atomic_load(&first_end) != &here)
        atomic_store(&first_end, NULL);
    pthread_mutex_init(&session_lock, NULL);
    pthread_mutex_init(&ready_lock, NULL);
    pthread_cond_init(&ready, NULL);
    runtimes_on_fork_child();
    external_on_fork_child();
    contexts_on_fork_child();
    /* whoever was ending something is not here, unless it forked itself */
    if (atomic_load(&finalize_taken) && atomic_load(&finalizer) != &here)
        atomic_store(&stage, STAGE_DONE);
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (atomic_load(&client->state) == CLIENT_ENDING && atomic_load(&client->ender) != &here)
            atomic_store(&client->state, CLIENT_ENDED);
    attach_on_fork_child();
}

static void prepare_once(void)
{
    pthread_atfork(on_fork_prepare, on_fork_parent, on_fork_child);
    thread_init(); /* before threads of our own: then it takes 10 ms more */
    thread_creation_hook(thread_callbacks_run);
    thread_exit_hook(external_on_thread_exit);
    thread_self(); /* mostly the main thread, whose end is noticed then */
    clock_init();
    record_init();
}

void session_records_prepare(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare_once);
}

static void at_exit(void);
static void at_quickly(void);

/* The C library takes a handler off its list before it calls it. Another thread that exits just
 * then must find one of ours next, not the destructors that come after us. */
enum { EXITS_AT_ONCE = 8 };

static void exit_watch_once(void)
{
    for (int i = 0; i < EXITS_AT_ONCE; i++) {
        atexit(at_exit);
        at_quick_exit(at_quickly);
    }
}

void session_exit_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, exit_watch_once);
}

/* A tool has ended its thread, with pthread_exit(), in its configure or initialize. Others wait. */
static void initialize_forsake(void *unused)
{
    (void)unused;
    log_warning("session", "a tool has ended the thread that initialised it: it is left out");
    reach(&stage, STAGE_READY);
}

static bool initialize(enum discover_scope scope)
{
    if (atomic_exchange(&initialize_taken, true)) {
        if (session_stage() < STAGE_READY)
            wait_until_ready();
        return false;
    }
    initializing_here = true;
    session_records_prepare();
    atomic_store_explicit(&stage, STAGE_CONFIGURING, memory_order_release);
    pthread_cleanup_push(initialize_forsake, NULL);
    clients_configure(scope);
    pthread_cleanup_pop(0);
    if (session_is_wanted())
        session_exit_watch();
    initializing_here = false;
    reach(&stage, STAGE_READY);
    runtime_offers_replay();
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
    if (atomic_load(&initialize_taken) || atomic_exchange(&force_taken, true))
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    atomic_store(&forced, configure);
    setenv("ROCPROFILER_REGISTER_FORCE_LOAD", "1", 1);
    /* a runtime that started meanwhile on another thread may not have seen `forced` */
    return session_initialize() ? ROCPROFILER_STATUS_SUCCESS
                                : ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
}

void session_work_collect(void)
{
    runtimes_work_collect();
}

bool session_work_wait(void)
{
    return runtimes_work_wait();
}

/* ---- finalisation */

static bool reached(const _Atomic int *state, int wanted)
{
    return atomic_load_explicit(state, memory_order_acquire) >= wanted;
}

/* Lets another thread bring `state` to `wanted`. A delivery thread does not wait: it is needed. */
static void wait_for_end(const _Atomic int *state, int wanted)
{
    if (tracebuf_delivering())
        return;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += END_WAIT_SECONDS;
    pthread_mutex_lock(&ready_lock);
    int error = 0;
    while (!reached(state, wanted) && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&ready, &ready_lock, &until);
    pthread_mutex_unlock(&ready_lock);
    if (error == ETIMEDOUT)
        log_warning("session", "a tool has been ending for %d s: the process does not wait longer",
                    END_WAIT_SECONDS);
}

static void client_finalize(struct client *client)
{
    int live = CLIENT_LIVE;
    if (!atomic_compare_exchange_strong(&client->state, &live, CLIENT_ENDING)) {
        if (live == CLIENT_ENDING && atomic_load(&client->ender) != &here)
            wait_for_end(&client->state, CLIENT_ENDED);
        return;
    }
    atomic_store(&client->ender, &here);
    ending_here++;
    if (client->id.handle != client->handle)
        log_warning("session", "%s changed its client handle", client_name(client));
    contexts_stop(client->handle);
    buffers_flush(client->handle);
    if (client->result.finalize)
        CALLBACK(client->result.finalize(client->result.tool_data));
    ending_here--;
    reach(&client->state, CLIENT_ENDED);
}

static void services_destroy(void)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        for (int kind = 0; kind < SERVICE_COUNT; kind++)
            if (context->services[kind].ops && context->services[kind].ops->destroy)
                context->services[kind].ops->destroy(context->services[kind].data);
}

/* Once, or again from where the thread that did it went no further. */
static void everything_end(void)
{
    static _Atomic bool services_gone;
    if (session_stage() < STAGE_FINALIZING) {
        subscriptions_end();
        runtimes_work_drain();
        runtimes_objects_unload();
        atomic_store_explicit(&stage, STAGE_FINALIZING, memory_order_release);
    }
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        client_finalize(client);
    contexts_stop(0);
    tracebuf_shutdown();
    if (!atomic_exchange(&services_gone, true))
        services_destroy();
    calls_lost_report();
    ending_done();
    reach(&stage, STAGE_DONE);
}

/* `who` is `here` of a thread that does not come back to what it was ending. */
static void end_forsake(void *who)
{
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (atomic_load(&client->state) == CLIENT_ENDING && atomic_load(&client->ender) == who)
            reach(&client->state, CLIENT_ENDED);
    if (atomic_load(&finalize_taken) && atomic_load(&finalizer) == who)
        atomic_store(&finalize_taken, false);
}

/* A tool has ended its thread in its finalize. */
static void end_resume_elsewhere(void *who)
{
    void *first = who;
    end_forsake(who);
    atomic_compare_exchange_strong(&first_end, &first, NULL);
}

void session_finalize(void)
{
    if (session_stage() < STAGE_READY || !process_is_own())
        return;
    if (atomic_exchange(&finalize_taken, true)) {
        if (!ending_here && atomic_load(&finalizer) != &here) /* it may wait for this tool */
            wait_for_end(&stage, STAGE_DONE);
        return;
    }
    atomic_store(&finalizer, &here);
    pthread_cleanup_push(end_resume_elsewhere, &here);
    everything_end();
    pthread_cleanup_pop(0);
}

/* ---- the ways a process ends */

/* A consumer that exits while another thread ends everything, and waits for the consumer. */
static void exit_from_consumer(void)
{
    if (!tracebuf_delivering() || !atomic_load(&finalize_taken) || atomic_load(&finalizer) == &here)
        return;
    tracebuf_leave();
    tracebuf_threads_renew();
}

static bool is_first_end(void)
{
    void *nobody = NULL;
    return atomic_compare_exchange_strong(&first_end, &nobody, &here) || nobody == &here;
}

/* Without us that one would have ended the process before this thread came here: its status counts,
 * and it waits for no handler of this thread's. */
static void yield_to_first_end(void)
{
    for (int i = 0; !is_first_end() && i < END_WAIT_SECONDS; i++)
        sleep(1);
}

/* Threads may exit at the same time, and the C library runs a handler once: the next one who exits
 * finds another, and waits in it. Each leaves one for those who come when all are taken. */
static void at_end(int (*again)(void (*)(void)), void (*handler)(void))
{
    if (exiting_here || session_stage() < STAGE_READY)
        return;
    exiting_here = true;
    is_first_end();
    if (session_stage() != STAGE_DONE) {
        again(handler);
        exit_from_consumer();
        session_finalize();
    }
    yield_to_first_end();
}

static void at_exit(void)
{
    at_end(atexit, at_exit);
}

static void at_quickly(void)
{
    at_end(at_quick_exit, at_quickly);
}

/* Nobody waits for what that thread was doing; a thread of ours does the rest. */
static void on_ending(void)
{
    is_first_end();
    atomic_store(&left, &here);
    tracebuf_leave();
}

static bool is_finalizing_here(void)
{
    return atomic_load(&finalize_taken) && atomic_load(&finalizer) == &here &&
           session_stage() != STAGE_DONE;
}

static void ending_finish(void)
{
    tracebuf_threads_renew();
    end_forsake(atomic_load(&left));
    session_finalize();
}

/* Writers: session_endings_watch (exchange), the child of a fork, whose thread for this is gone. */
static _Atomic bool endings_watched, endings_lapsed;

static void endings_lapse(void)
{
    if (atomic_exchange(&endings_watched, false))
        atomic_store(&endings_lapsed, true);
}

void session_endings_renew(void)
{
    if (atomic_load_explicit(&endings_lapsed, memory_order_relaxed) &&
        atomic_exchange(&endings_lapsed, false))
        session_endings_watch();
}

/* The end without exit(). Only now, when a runtime starts: interpreters set their own handlers up
 * when they start, and leave out signals that somebody else has taken. */
void session_endings_watch(void)
{
    if (atomic_exchange(&endings_watched, true))
        return;
    thread_creation_notice(false);
    ending_notice(on_ending, is_finalizing_here);
    int status = ending_prepare(ending_finish, true);
    thread_creation_notice(true);
    if (status != 0)
        log_warning("session", "tools are not told when the program ends by a signal: %s",
                    strerror(-status));
}

/* What a tool's initialize was given. The only tool ends everything, but for one that was attached:
 * another may be. One of several ends just itself. */
static void client_finalize_request(rocprofiler_client_id_t id)
{
    struct client *client = NULL;
    for (uint32_t i = 0; client_at(i) && !client; i++)
        client = client_at(i)->handle == id.handle ? client_at(i) : NULL;
    if (!client || session_stage() < STAGE_READY ||
        atomic_load(&client->state) == CLIENT_CONFIGURED) {
        log_warning("session", "finalize asked for by an unknown tool, or too early: ignored");
        return;
    }
    if (clients_count() == 1 && !client->came_by_attach)
        session_finalize();
    else
        client_finalize(client);
}

bool session_client_join(struct client *client, bool to_attach)
{
    bool joined =
        client_configure(client, to_attach) && client_initialize(client, client_finalize_request);
    if (session_stage() >= STAGE_FINALIZING) /* it may have come too late to be told */
        client_finalize(client);
    return joined && session_stage() == STAGE_READY;
}
