/* Delivery and the threads that do it. */
#include "base/callback.h"
#include "base/futex.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/process.h"
#include "base/wait.h"
#include "tracebuf/state.h"
#include "tracebuf/window.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 256 };

enum thread_state { THREAD_NONE, THREAD_STARTING, THREAD_RUNS, THREAD_ENDING };

struct tracebuf_thread {
    pthread_t handle;
    /* Writers: who starts it (compare-exchange, then release after `handle`), shutdown, the child
     * of a fork. Readers: who needs it (acquire). */
    _Atomic enum thread_state state;
    _Atomic bool
        stop; /* writer: shutdown, before it bumps `signal`; reader: the thread (seq_cst) */
    /* Futex word. Writers: requests count it up and then read `sleeping`. Reader: the thread, which
     * writes `sleeping` and then looks at it again. All seq_cst: one of the two sees the other, and
     * a running thread needs no system call. */
    _Atomic uint32_t signal, sleeping;
};

static struct tracebuf_thread delivery_threads[THREADS_MAX];
/* Writers: who makes a thread takes the next place (compare-exchange). Readers: who looks for one
 * (seq_cst), and finds places in THREAD_NONE that are not filled yet. */
static _Atomic uint32_t delivery_thread_count;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;
/* Writer: tracebuf_shutdown, once, before it ends the threads. Readers: producers, who then wait
 * for nobody, and who would start a thread (seq_cst, like the threads' states). */
static _Atomic bool shut_down;

/* The delivery thread that this thread is, or stands in for at shutdown. */
static __thread struct tracebuf_thread *own_thread __attribute__((tls_model("initial-exec")));

/* A call of a consumer on this thread, and those further out. */
struct delivery {
    const struct tracebuf *buffer;
    const struct window *window; /* NULL: the call is not about records */
    struct delivery *outer;
};
static __thread struct delivery *own_delivery __attribute__((tls_model("initial-exec")));

/* Writer: the child of a fork, before it has a second thread. Reader: a delivery that a consumer's
 * fork leaves in both processes; seq_cst only because nothing is gained by less. */
static _Atomic uint32_t forks;

bool tracebuf_delivering(void)
{
    return own_delivery != NULL;
}

/* What was cancelled while it was being finished. */
static void lost_count(struct tracebuf *buffer, struct segment_cursor *cursor)
{
    if (cursor->lost == 0)
        return;
    atomic_fetch_add_explicit(&buffer->dropped, cursor->lost, memory_order_relaxed);
    cursor->lost = 0;
}

/* One call of a consumer that takes runs. False: there is nothing more. */
static bool run_deliver(struct tracebuf *buffer, struct segment_cursor *cursor)
{
    struct tracebuf_run run;
    bool there = segment_run_next(cursor, WINDOW_ITEMS_SMALL, &run);
    lost_count(buffer, cursor);
    if (!there)
        return false;
    uint64_t dropped = atomic_load_explicit(&buffer->dropped, memory_order_relaxed);
    if (atomic_load_explicit(&buffer->state->muted, memory_order_seq_cst)) {
        atomic_fetch_add_explicit(&buffer->dropped, run.count, memory_order_relaxed);
        return true;
    }
    CALLBACK(buffer->config.deliver_run(buffer, &run, dropped, buffer->config.arg));
    atomic_store_explicit(&buffer->state->dropped_told, dropped, memory_order_seq_cst);
    return true;
}

/* One call of the consumer. False: there is nothing more. */
static bool batch_deliver(struct tracebuf *buffer, struct segment_cursor *cursor,
                          const struct window *window)
{
    if (buffer->config.deliver_run)
        return run_deliver(buffer, cursor);
    size_t count = segment_collect(cursor, &buffer->config, window->items, window->pointers,
                                   window->items_max);
    lost_count(buffer, cursor);
    uint64_t dropped = atomic_load_explicit(&buffer->dropped, memory_order_relaxed);
    if (count == 0)
        return false;
    if (atomic_load_explicit(&buffer->state->muted, memory_order_seq_cst)) {
        atomic_fetch_add_explicit(&buffer->dropped, count, memory_order_relaxed);
        return true;
    }
    CALLBACK(buffer->config.deliver(buffer, window->pointers, count, dropped, buffer->config.arg));
    atomic_store_explicit(&buffer->state->dropped_told, dropped, memory_order_seq_cst);
    return true;
}

/* A segment in the hands of its consumer. */
struct handover {
    struct tracebuf *buffer;
    struct tracebuf_segment *segment;
    struct segment_cursor cursor;
    struct window window;
    struct delivery delivery;
};

static void handover_begin(struct handover *h)
{
    h->delivery = (struct delivery){h->buffer, &h->window, own_delivery};
    thread_quiesce(h->buffer);
    window_take(&h->window);
    own_delivery = &h->delivery;
    h->cursor = segment_begin(h->segment, h->buffer->exact);
}

static void handover_end(struct handover *h)
{
    own_delivery = h->delivery.outer;
    window_give(&h->window);
    state_release(h->buffer->state, h->segment);
}

/* The consumer has ended its thread (pthread_exit): what it has not seen is lost. */
static void handover_abandon(void *arg)
{
    struct handover *h = arg;
    atomic_fetch_add_explicit(&h->buffer->dropped, segment_count(&h->cursor), memory_order_seq_cst);
    handover_end(h);
    atomic_store_explicit(&h->buffer->state->requested, true,
                          memory_order_seq_cst); /* the next thread delivers what is left */
}

static void segment_deliver(struct tracebuf *buffer, struct tracebuf_segment *segment)
{
    struct handover handover = {.buffer = buffer, .segment = segment};
    uint32_t fork_count = atomic_load_explicit(&forks, memory_order_seq_cst);
    handover_begin(&handover);
    pthread_cleanup_push(handover_abandon, &handover);
    while (batch_deliver(buffer, &handover.cursor, &handover.window))
        if (atomic_load_explicit(&forks, memory_order_seq_cst) != fork_count)
            break; /* the consumer forked and this is the child: the rest is its parent's */
    pthread_cleanup_pop(0);
    handover_end(&handover);
}

static uint64_t rotate_if_used(struct tracebuf *buffer, bool *rotated)
{
    struct tracebuf_state *state = buffer->state;
    pthread_mutex_lock(&state->rotate_lock);
    struct tracebuf_segment *current = atomic_load_explicit(&buffer->current, memory_order_seq_cst);
    *rotated = !current || segment_is_empty(current) || state_rotate(buffer);
    uint64_t sequence = state->sequence;
    pthread_mutex_unlock(&state->rotate_lock);
    return sequence;
}

static void deliver_up_to(struct tracebuf *buffer, uint64_t sequence)
{
    struct tracebuf_segment *segment;
    while ((segment = state_full_pop(buffer->state, sequence)))
        segment_deliver(buffer, segment);
}

void state_deliver(struct tracebuf *buffer)
{
    bool rotated;
    if (state_is_abandoned(buffer->state) || state_is_kept(buffer->state))
        return;
    uint64_t sequence = rotate_if_used(buffer, &rotated);
    if (!rotated) {
        state_extend(buffer, own_delivery != NULL);
        sequence = rotate_if_used(buffer, &rotated);
    }
    deliver_up_to(buffer, sequence);
    if (rotated)
        return;
    sequence = rotate_if_used(buffer, &rotated); /* the first round freed a segment */
    deliver_up_to(buffer, sequence);
}

static void flushed_tell(struct tracebuf *buffer)
{
    if (!buffer->config.flushed || state_is_abandoned(buffer->state))
        return;
    struct delivery delivery = {buffer, NULL, own_delivery};
    own_delivery = &delivery;
    buffer->config.flushed(buffer->config.arg);
    own_delivery = delivery.outer;
}

bool tracebuf_delivers(const struct tracebuf *buffer)
{
    for (const struct delivery *d = own_delivery; d; d = d->outer)
        if (d->buffer == buffer)
            return true;
    return false;
}

bool delivery_may_not_wait(void)
{
    for (const struct delivery *d = own_delivery; d; d = d->outer)
        if (d->buffer->config.one_at_a_time)
            return true;
    return false;
}

static bool serve(struct tracebuf *buffer)
{
    struct tracebuf_state *state = buffer->state;
    if (buffer->config.one_at_a_time && tracebuf_delivers(buffer))
        return false;
    uint64_t wanted = atomic_load_explicit(&state->flush_wanted, memory_order_acquire);
    bool flush = wanted != atomic_load_explicit(&state->flush_done, memory_order_relaxed);
    if (!atomic_exchange_explicit(&state->requested, false, memory_order_seq_cst) && !flush)
        return false;
    if (flush && buffer->config.flushing && !state_is_abandoned(state))
        buffer->config.flushing(buffer->config.arg);
    state_deliver(buffer);
    if (flush) {
        flushed_tell(buffer);
        /* a nested serve may have gone further already */
        if (atomic_load_explicit(&state->flush_done, memory_order_seq_cst) < wanted)
            atomic_store_explicit(&state->flush_done, wanted, memory_order_release);
        state_epoch_end(&state->flush_epoch);
    }
    return true;
}

static bool serve_all(struct tracebuf_thread *thread)
{
    bool served = false;
    for (uint32_t i = 0; i < tracebuf_count(); i++) {
        struct tracebuf *buffer = tracebuf_at(i);
        if (atomic_load_explicit(&buffer->state->thread, memory_order_acquire) == thread)
            served |= serve(buffer);
    }
    return served;
}

static void thread_sleep(struct tracebuf_thread *thread, uint32_t signal)
{
    atomic_store_explicit(&thread->sleeping, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&thread->signal, memory_order_seq_cst) == signal)
        futex_wait(&thread->signal, signal, NULL);
    atomic_store_explicit(&thread->sleeping, 0, memory_order_seq_cst);
}

static void thread_serve(struct tracebuf_thread *thread)
{
    for (;;) {
        uint32_t signal = atomic_load_explicit(&thread->signal, memory_order_seq_cst);
        if (serve_all(thread))
            continue;
        if (atomic_load_explicit(&thread->stop, memory_order_seq_cst))
            return;
        thread_sleep(thread, signal);
    }
}

static void thread_replace(void *arg);

static void *thread_main(void *arg)
{
    own_thread = arg;
    own_thread_name("out");
    pthread_cleanup_push(thread_replace, arg);
    thread_serve(arg);
    pthread_cleanup_pop(0);
    return NULL;
}

static _Atomic bool failure_told; /* writers: any (exchange); the first one tells */

/* The caller has put the thread into THREAD_STARTING. */
static bool thread_launch(struct tracebuf_thread *thread)
{
    int error = own_thread_create(&thread->handle, thread_main, thread);
    if (error &&
        !atomic_exchange_explicit(&failure_told, true,
                                  memory_order_seq_cst)) /* it is tried for every full buffer */
        log_error("tracebuf", "cannot create a delivery thread: %s", strerror(error));
    atomic_store_explicit(&thread->state, error ? THREAD_NONE : THREAD_RUNS, memory_order_release);
    return error == 0;
}

/* True: it runs, or another thread is about to start it. */
static bool thread_start(struct tracebuf_thread *thread)
{
    enum thread_state none = THREAD_NONE;
    return !atomic_compare_exchange_strong_explicit(&thread->state, &none, THREAD_STARTING,
                                                    memory_order_seq_cst, memory_order_seq_cst) ||
           thread_launch(thread);
}

/* Takes a running thread into another state; waits for one that is being started. */
static bool thread_claim_running(struct tracebuf_thread *thread, enum thread_state to)
{
    enum thread_state runs = THREAD_RUNS;
    for (unsigned turn = 0;
         atomic_load_explicit(&thread->state, memory_order_acquire) == THREAD_STARTING;)
        wait_step(&turn);
    return atomic_compare_exchange_strong_explicit(&thread->state, &runs, to, memory_order_seq_cst,
                                                   memory_order_seq_cst);
}

/* There is no thread any more: who waits for it looks again. */
static void waiters_release(const struct tracebuf_thread *thread)
{
    for (uint32_t i = 0; i < tracebuf_count(); i++) {
        struct tracebuf_state *state = tracebuf_at(i)->state;
        if (atomic_load_explicit(&state->thread, memory_order_seq_cst) != thread)
            continue;
        state_epoch_end(&state->flush_epoch);
        state_epoch_end(&state->freed_epoch);
    }
}

/* A consumer has ended the thread, which is not its own: there is another one. */
static void thread_replace(void *arg)
{
    struct tracebuf_thread *thread = arg;
    own_delivery = NULL;
    if (!thread_claim_running(thread, THREAD_STARTING))
        return; /* somebody waits for this one's end */
    pthread_detach(pthread_self());
    if (!thread_launch(thread))
        waiters_release(thread);
    log_warning("tracebuf", "a callback has ended the thread that delivers to it: records that it "
                            "had not seen are lost");
}

unsigned delivery_depth(const struct tracebuf *buffer)
{
    unsigned count = 0;
    for (const struct delivery *d = own_delivery; d; d = d->outer)
        count += d->buffer == buffer && d->window;
    return count;
}

static void on_fork_child(void)
{
    pthread_mutex_init(&tracebuf_create_lock, NULL);
    atomic_fetch_add_explicit(&forks, 1, memory_order_seq_cst);
    windows_forget();
    for (const struct delivery *d = own_delivery; d; d = d->outer)
        if (d->window)
            window_keep(d->window);
    for (uint32_t i = 0; i < THREADS_MAX; i++)
        atomic_store_explicit(&delivery_threads[i].state,
                              &delivery_threads[i] == own_thread ? THREAD_RUNS : THREAD_NONE,
                              memory_order_seq_cst);
    for (uint32_t i = 0; i < tracebuf_count(); i++)
        fork_child_reset(tracebuf_at(i));
}

static void fork_watch(void)
{
    pthread_atfork(fork_prepare, fork_parent, on_fork_child);
}

static struct tracebuf_thread *thread_claim(void)
{
    uint32_t index = atomic_load_explicit(&delivery_thread_count, memory_order_seq_cst);
    while (index < THREADS_MAX)
        if (atomic_compare_exchange_weak_explicit(&delivery_thread_count, &index, index + 1,
                                                  memory_order_seq_cst, memory_order_seq_cst))
            return &delivery_threads[index];
    return NULL;
}

struct tracebuf_thread *tracebuf_thread_create(void)
{
    pthread_once(&fork_once, fork_watch);
    struct tracebuf_thread *thread = thread_claim();
    return thread && thread_start(thread) ? thread : NULL;
}

void tracebuf_assign(struct tracebuf *buffer, struct tracebuf_thread *thread)
{
    atomic_store_explicit(&buffer->state->thread, thread, memory_order_release);
}

bool delivery_is_own(const struct tracebuf *buffer)
{
    return own_thread &&
           own_thread == atomic_load_explicit(&buffer->state->thread, memory_order_seq_cst);
}

/* In a forked child the thread is started again by the first one who needs it. False: it cannot be.
 */
static bool thread_ensure(struct tracebuf_thread *thread)
{
    if (atomic_load_explicit(&thread->state, memory_order_acquire) != THREAD_NONE)
        return true;
    if (atomic_load_explicit(&shut_down, memory_order_seq_cst))
        return false;
    thread_creation_notice(false);
    bool started = thread_start(thread);
    thread_creation_notice(true);
    return started;
}

static bool thread_wake(struct tracebuf_thread *thread)
{
    bool there = thread_ensure(thread);
    atomic_fetch_add_explicit(&thread->signal, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&thread->sleeping, memory_order_seq_cst))
        futex_wake_all(&thread->signal);
    return there;
}

void tracebuf_leave(void)
{
    struct tracebuf_thread *thread = own_thread;
    enum thread_state runs = THREAD_RUNS;
    for (const struct delivery *d = own_delivery; d; d = d->outer)
        atomic_store_explicit(&d->buffer->state->abandoned, true, memory_order_relaxed);
    own_delivery = NULL;
    own_thread = NULL;
    if (thread)
        atomic_compare_exchange_strong_explicit(&thread->state, &runs, THREAD_NONE,
                                                memory_order_seq_cst, memory_order_seq_cst);
}

void tracebuf_threads_renew(void)
{
    for (uint32_t i = 0; i < atomic_load_explicit(&delivery_thread_count, memory_order_seq_cst);
         i++)
        thread_wake(&delivery_threads[i]);
}

bool delivery_request(struct tracebuf *buffer)
{
    struct tracebuf_thread *thread =
        atomic_load_explicit(&buffer->state->thread, memory_order_acquire);
    if (!thread)
        return false;
    return atomic_exchange_explicit(&buffer->state->requested, true, memory_order_seq_cst)
               ? thread_ensure(thread)
               : thread_wake(thread);
}

void delivery_wait(_Atomic uint32_t *word, uint32_t value)
{
    static const struct timespec moment = {0, 1000000};
    if (!own_thread) {
        futex_wait(word, value, NULL);
        return;
    }
    /* Two delivery threads may wait for each other's buffers: each keeps serving. */
    while (atomic_load_explicit(word, memory_order_seq_cst) == value)
        if (!serve_all(own_thread))
            futex_wait(word, value, &moment);
}

bool delivery_is_over(const struct tracebuf *buffer)
{
    return atomic_load_explicit(&shut_down, memory_order_seq_cst) &&
           !buffer->config.outlives_shutdown;
}

/* Nothing to deliver: a forked child that has recorded nothing gets no thread for it. Nor in a
 * child without fork()'s handlers, whose records and threads are its parent's. */
static bool flush_is_idle(const struct tracebuf *buffer)
{
    return !process_is_own() ||
           (atomic_load_explicit(&buffer->state->untouched, memory_order_seq_cst) &&
            !buffer->config.flushing && !buffer->config.flushed);
}

/* In a signal handler, with a record half written below it. */
static bool recording_here(void)
{
    return tracebuf_rotating ||
           (thread_current && atomic_load_explicit(&thread_current->busy, memory_order_relaxed));
}

static uint64_t flush_request(struct tracebuf *buffer, struct tracebuf_thread *thread)
{
    uint64_t ticket =
        atomic_fetch_add_explicit(&buffer->state->flush_wanted, 1, memory_order_seq_cst) + 1;
    thread_wake(thread);
    return ticket;
}

void tracebuf_flush_start(struct tracebuf *buffer)
{
    struct tracebuf_thread *thread =
        atomic_load_explicit(&buffer->state->thread, memory_order_seq_cst);
    if (thread && !delivery_is_over(buffer))
        flush_request(buffer, thread);
}

void tracebuf_flush(struct tracebuf *buffer)
{
    struct tracebuf_state *state = buffer->state;
    struct tracebuf_thread *thread = atomic_load_explicit(&state->thread, memory_order_seq_cst);
    if (!thread || delivery_is_over(buffer) || flush_is_idle(buffer))
        return;
    if (delivery_is_own(buffer)) {
        state_deliver(buffer);
        return;
    }
    uint64_t ticket = flush_request(buffer, thread);
    if (recording_here())
        return;
    for (;;) {
        uint32_t epoch = atomic_load_explicit(&state->flush_epoch, memory_order_seq_cst);
        if (atomic_load_explicit(&state->flush_done, memory_order_acquire) >= ticket ||
            delivery_is_over(buffer) || !thread_ensure(thread))
            return;
        delivery_wait(&state->flush_epoch, epoch);
    }
}

static bool consumer_runs(struct tracebuf_state *state)
{
    pthread_mutex_lock(&state->rotate_lock);
    bool runs = state->delivering != 0 && !state_is_abandoned(state);
    pthread_mutex_unlock(&state->rotate_lock);
    return runs;
}

/* Who delivers counts itself under the lock and then looks at `muted` again; here it is the other
 * way round. Nobody is told when a consumer's thread leaves, so there is a look now and then. */
void tracebuf_mute(struct tracebuf *buffer)
{
    static const struct timespec moment = {0, 10000000};
    struct tracebuf_state *state = buffer->state;
    atomic_store_explicit(&state->muted, true, memory_order_seq_cst);
    while (!tracebuf_delivering()) {
        uint32_t epoch = atomic_load_explicit(&state->freed_epoch, memory_order_seq_cst);
        if (!consumer_runs(state))
            return;
        futex_wait(&state->freed_epoch, epoch, &moment);
    }
}

void tracebuf_unmute(struct tracebuf *buffer)
{
    atomic_store_explicit(&buffer->state->muted, false, memory_order_seq_cst);
}

/* One of its buffers outlives the shutdown, so the thread does, too. */
static bool thread_outlives(const struct tracebuf_thread *thread)
{
    for (uint32_t i = 0; i < tracebuf_count(); i++) {
        const struct tracebuf *buffer = tracebuf_at(i);
        if (buffer->config.outlives_shutdown &&
            atomic_load_explicit(&buffer->state->thread, memory_order_seq_cst) == thread)
            return true;
    }
    return false;
}

static void thread_end(struct tracebuf_thread *thread)
{
    if (thread_outlives(thread) || !thread_claim_running(thread, THREAD_ENDING))
        return;
    atomic_store_explicit(&thread->stop, true, memory_order_seq_cst);
    thread_wake(thread);
    if (thread == own_thread)
        pthread_detach(thread->handle); /* finalised from its own callback */
    else
        pthread_join(thread->handle, NULL);
    atomic_store_explicit(&thread->state, THREAD_NONE, memory_order_seq_cst);
}

/* Delivers the records of calls that were still returning. */
static void last_records_deliver(struct tracebuf *buffer)
{
    pthread_mutex_lock(&buffer->state->rotate_lock);
    buffer->state->ending = true;
    pthread_mutex_unlock(&buffer->state->rotate_lock);
    state_deliver(buffer);
    tracebuf_close(buffer);
}

void tracebuf_shutdown(void)
{
    for (uint32_t i = 0; i < tracebuf_count(); i++)
        if (!tracebuf_at(i)->config.outlives_shutdown)
            tracebuf_flush(tracebuf_at(i));
    atomic_store_explicit(&shut_down, true, memory_order_seq_cst);
    for (uint32_t i = 0; i < atomic_load_explicit(&delivery_thread_count, memory_order_seq_cst);
         i++)
        thread_end(&delivery_threads[i]);
    for (uint32_t i = 0; i < tracebuf_count(); i++)
        if (!tracebuf_at(i)->config.outlives_shutdown)
            last_records_deliver(tracebuf_at(i));
}
