#include "session/endings.h"

#include "base/callback.h"
#include "base/ending.h"
#include "base/log.h"
#include "base/process.h"
#include "base/thread.h"
#include "base/wait.h"
#include "runtime/work.h"
#include "session/clients.h"
#include "session/internal.h"
#include "session/record.h"
#include "session/stage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Writers: whoever ends everything (exchange), who forsakes that. Readers: any. */
static _Atomic bool finalize_taken;

/* What this thread is in the middle of, so that it never waits for itself. The address of `here`
 * stands for the thread: unlike its id it is the same in a forked child. */
#define THREAD_STATE static __thread __attribute__((tls_model("initial-exec")))
THREAD_STATE char here;
THREAD_STATE bool exiting_here;
THREAD_STATE unsigned ending_here; /* tools */
/* `here` of the thread that ends everything. Writer: that one. Readers: any. */
static _Atomic(const void *) finalizer;

/* `first_end` is the thread that ends the process, by exit() or a signal; NULL: none does. Writers:
 * the first one (compare-exchange), the child of a fork, and whoever follows a tool that has ended
 * its thread. `left` is the thread that ends it without exit(). Writer: that one. Readers: any. */
static _Atomic(void *) first_end, left;
/* The thread id of `left`. Writer: that thread. Reader: the thread that finishes in its place. */
static _Atomic uint32_t left_tid;

/* Who exits while another thread still ends the tools lets it finish, for it may be writing files.
 * The wait has an end, for that thread may wait for something of ours. */
enum { END_WAIT_SECONDS = 60 };

/* ---- finalisation */

static void long_wait_tell(void)
{
    log_warning("session", "a tool has been ending for %d s: the process does not wait longer",
                END_WAIT_SECONDS);
}

/* A delivery thread does not wait: it is needed. */
static void client_wait(const struct client *client)
{
    if (!tracebuf_delivering() && !stage_state_wait(&client->state, CLIENT_ENDED, END_WAIT_SECONDS))
        long_wait_tell();
}

static void everything_wait(void)
{
    if (!tracebuf_delivering() && !stage_wait_done(END_WAIT_SECONDS))
        long_wait_tell();
}

void client_finalize(struct client *client)
{
    int live = CLIENT_LIVE;
    if (!atomic_compare_exchange_strong_explicit(&client->state, &live, CLIENT_ENDING,
                                                 memory_order_seq_cst, memory_order_seq_cst)) {
        if (live == CLIENT_ENDING &&
            atomic_load_explicit(&client->ender, memory_order_seq_cst) != &here)
            client_wait(client);
        return;
    }
    atomic_store_explicit(&client->ender, &here, memory_order_seq_cst);
    ending_here++;
    if (client->id.handle != client->handle)
        log_warning("session", "%s changed its client handle", client_name(client));
    contexts_stop(client->handle);
    buffers_flush(client->handle);
    if (client->result.finalize) {
        buffers_mute(client->handle); /* it is the last that the tool hears */
        CALLBACK(client->result.finalize(client->result.tool_data));
    }
    ending_here--;
    stage_state_reach(&client->state, CLIENT_ENDED);
}

static void services_destroy(void)
{
    struct context *context;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        for (int kind = 0; kind < SERVICE_COUNT; kind++)
            if (context->services[kind].ops && context->services[kind].ops->destroy)
                context->services[kind].ops->destroy(context->services[kind].data);
}

/* Runs once, or again when the thread that did it went no further. */
static void everything_end(void)
{
    static _Atomic bool services_gone; /* writer: the first that comes there (exchange) */
    if (session_stage() < STAGE_FINALIZING) {
        subscriptions_end();
        runtimes_work_drain();
        runtimes_objects_unload();
        stage_reach(STAGE_FINALIZING);
    }
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        client_finalize(client);
    contexts_stop(0);
    tracebuf_shutdown();
    if (!atomic_exchange_explicit(&services_gone, true, memory_order_seq_cst))
        services_destroy();
    calls_lost_report();
    ending_done();
    stage_reach(STAGE_DONE);
}

/* `who` is `here` of a thread that does not come back to what it was ending. */
static void end_forsake(void *who)
{
    struct client *client;
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (atomic_load_explicit(&client->state, memory_order_seq_cst) == CLIENT_ENDING &&
            atomic_load_explicit(&client->ender, memory_order_seq_cst) == who)
            stage_state_reach(&client->state, CLIENT_ENDED);
    if (atomic_load_explicit(&finalize_taken, memory_order_seq_cst) &&
        atomic_load_explicit(&finalizer, memory_order_seq_cst) == who)
        atomic_store_explicit(&finalize_taken, false, memory_order_seq_cst);
}

/* A tool has ended its thread in its finalize. */
static void end_resume_elsewhere(void *who)
{
    void *first = who;
    end_forsake(who);
    atomic_compare_exchange_strong_explicit(&first_end, &first, NULL, memory_order_seq_cst,
                                            memory_order_seq_cst);
}

void session_finalize(void)
{
    if (session_stage() < STAGE_READY || !process_is_own())
        return;
    if (atomic_exchange_explicit(&finalize_taken, true, memory_order_seq_cst)) {
        if (!ending_here && atomic_load_explicit(&finalizer, memory_order_seq_cst) !=
                                &here) /* it may wait for this tool */
            everything_wait();
        return;
    }
    atomic_store_explicit(&finalizer, &here, memory_order_seq_cst);
    pthread_cleanup_push(end_resume_elsewhere, &here);
    everything_end();
    pthread_cleanup_pop(0);
}

/* ---- the ways a process ends */

/* A delivery thread exits while another thread ends everything and waits for it: its work goes on
 * in a new thread. */
static void exit_from_consumer(void)
{
    if (!tracebuf_delivering() || !atomic_load_explicit(&finalize_taken, memory_order_seq_cst) ||
        atomic_load_explicit(&finalizer, memory_order_seq_cst) == &here)
        return;
    tracebuf_leave();
    tracebuf_threads_renew();
}

static bool is_first_end(void *unused)
{
    (void)unused;
    void *nobody = NULL;
    return atomic_compare_exchange_strong_explicit(&first_end, &nobody, &here, memory_order_seq_cst,
                                                   memory_order_seq_cst) ||
           nobody == &here;
}

/* Without us that one would have ended the process before this thread came here: its status counts,
 * and it waits for no handler of this thread's. */
static void yield_to_first_end(void)
{
    wait_until(is_first_end, NULL, END_WAIT_SECONDS * WAIT_NS_PER_S, WAIT_NS_PER_S);
}

/* Threads may exit at the same time, and the C library runs a handler once: the next one who exits
 * finds another, and waits in it. Each leaves one for those who come when all are taken. */
static void at_end(int (*again)(void (*)(void)), void (*handler)(void))
{
    if (exiting_here || session_stage() < STAGE_READY)
        return;
    exiting_here = true;
    is_first_end(NULL);
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

/* Nobody waits for what that thread was doing; a thread of ours does the rest. */
static void on_ending(void)
{
    is_first_end(NULL);
    atomic_store_explicit(&left, &here, memory_order_seq_cst);
    uint32_t tid =
        thread_current ? atomic_load_explicit(&thread_current->tid, memory_order_relaxed) : 0;
    atomic_store_explicit(&left_tid, tid, memory_order_seq_cst);
    tracebuf_leave();
}

static bool is_finalizing_here(void)
{
    return atomic_load_explicit(&finalize_taken, memory_order_seq_cst) &&
           atomic_load_explicit(&finalizer, memory_order_seq_cst) == &here &&
           session_stage() != STAGE_DONE;
}

static void ending_finish(void)
{
    tracebuf_threads_renew();
    end_forsake(atomic_load_explicit(&left, memory_order_seq_cst));
    external_stand_in(session_self(), atomic_load_explicit(&left_tid, memory_order_seq_cst));
    session_finalize();
}

/* Writers: session_endings_watch (exchange), the child of a fork, whose thread for this is gone. */
static _Atomic bool endings_watched, endings_lapsed;

static void endings_lapse(void)
{
    if (atomic_exchange_explicit(&endings_watched, false, memory_order_seq_cst))
        atomic_store_explicit(&endings_lapsed, true, memory_order_seq_cst);
}

void session_endings_renew(void)
{
    if (atomic_load_explicit(&endings_lapsed, memory_order_relaxed) &&
        atomic_exchange_explicit(&endings_lapsed, false, memory_order_seq_cst))
        session_endings_watch();
}

/* For ends without exit(). Handlers are set up as late as this, when a runtime starts: interpreters
 * set up their own when they start, and leave out signals that somebody else has taken. */
void session_endings_watch(void)
{
    if (atomic_exchange_explicit(&endings_watched, true, memory_order_seq_cst))
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
void client_finalize_request(rocprofiler_client_id_t id)
{
    struct client *client = NULL;
    for (uint32_t i = 0; client_at(i) && !client; i++)
        client = client_at(i)->handle == id.handle ? client_at(i) : NULL;
    if (!client || session_stage() < STAGE_READY ||
        atomic_load_explicit(&client->state, memory_order_seq_cst) == CLIENT_CONFIGURED) {
        log_warning("session", "finalize asked for by an unknown tool, or too early: ignored");
        return;
    }
    if (clients_count() == 1 && !client->came_by_attach)
        session_finalize();
    else
        client_finalize(client);
}

/* Whoever was ending something is not here, unless it forked itself. */
void endings_on_fork_child(void)
{
    struct client *client;
    endings_lapse();
    if (atomic_load_explicit(&first_end, memory_order_seq_cst) != &here)
        atomic_store_explicit(&first_end, NULL, memory_order_seq_cst);
    if (atomic_load_explicit(&finalize_taken, memory_order_seq_cst) &&
        atomic_load_explicit(&finalizer, memory_order_seq_cst) != &here)
        stage_reach(STAGE_DONE);
    for (uint32_t i = 0; (client = client_at(i)); i++)
        if (atomic_load_explicit(&client->state, memory_order_seq_cst) == CLIENT_ENDING &&
            atomic_load_explicit(&client->ender, memory_order_seq_cst) != &here)
            atomic_store_explicit(&client->state, CLIENT_ENDED, memory_order_seq_cst);
}
