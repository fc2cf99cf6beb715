#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/thread.h"

/*
 * How long the thread sleeps between two looks while work is in flight. Nobody waits for work that
 * is not urgent, so it is collected in large batches; urgent work is looked at often at first,
 * because kernels and copies that somebody waits for are mostly short.
 */
enum {
    NAP_URGENT_MIN_NS = 5000,
    NAP_URGENT_MAX_NS = 100000,
    NAP_LAZY_NS = 1000000,
    THOROUGH_EVERY_NS = 500000, /* a thorough look costs a few ns for each entry in flight */
    DRAIN_STEP_NS = 500000,
};

static struct {
    /* Posters push (release), the thread takes all (acquire). */
    _Atomic(struct inflight *) posted;
    /* 1 while the thread sleeps until woken. The thread stores 1 and then looks at `posted`, a
       poster pushes and then looks here (all seq_cst): one of the two sees the other. */
    _Atomic uint32_t sleeping;
    /* Futex word of naps: bumped by whoever wants a look now (release), thread reads (acquire). */
    _Atomic uint32_t nudge;
    /* 1 during a nap that urgent work must cut short. The thread stores 1 and then looks at
       `urgent_posted`, a poster counts that and then looks here (all seq_cst). */
    _Atomic uint32_t lazy_nap;
    _Atomic uint32_t urgent_posted;
    /* Looks begun and done: the thread writes (release), harvest reads (acquire). */
    _Atomic uint32_t looks_begun, looks_done;
    /* The thread writes (release), drain reads (acquire). */
    _Atomic uint64_t completed, failed;
    /* Posters add (relaxed) before the push; drain reads (acquire). */
    _Atomic uint64_t posted_count;
    _Atomic bool running; /* completion_start and the fork handler write, all read; seq_cst */
    struct inflight_lane *active; /* thread only */
    /* completion_tick_set writes (release), the thread reads (acquire). */
    void (*_Atomic tick)(uint64_t now_ns);
} completion;

static __thread bool thread_is_completion;

bool completion_thread_is_current(void)
{
    return thread_is_completion;
}

void completion_tick_set(void (*tick)(uint64_t now_ns))
{
    atomic_store_explicit(&completion.tick, tick, memory_order_release);
}

uint64_t completion_failed_count(void)
{
    return atomic_load_explicit(&completion.failed, memory_order_acquire);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void lane_append(struct inflight_lane *lane, struct inflight *work)
{
    work->next = NULL;
    if (lane->newest != NULL)
        lane->newest->next = work;
    else
        lane->oldest = work;
    lane->newest = work;
    lane->urgent_count += work->urgent;
    if (!lane->active) {
        lane->active = true;
        lane->active_next = completion.active;
        completion.active = lane;
    }
}

/* Posts arrive newest first. */
static void posted_take(void)
{
    struct inflight *stack =
        atomic_exchange_explicit(&completion.posted, NULL, memory_order_acquire);
    struct inflight *in_order = NULL;

    while (stack != NULL) {
        struct inflight *next = stack->next;
        stack->next = in_order;
        in_order = stack;
        stack = next;
    }
    while (in_order != NULL) {
        struct inflight *next = in_order->next;
        lane_append(in_order->lane, in_order);
        in_order = next;
    }
}

static void lane_unlink(struct inflight_lane *lane, struct inflight *before, struct inflight *work)
{
    if (before != NULL)
        before->next = work->next;
    else
        lane->oldest = work->next;
    if (lane->newest == work)
        lane->newest = before;
    lane->urgent_count -= work->urgent;
    lane->active = lane->oldest != NULL;
}

static void work_complete(struct inflight *work, bool failed)
{
    struct inflight_lane *lane = work->lane;

    work->complete(work, failed);
    atomic_fetch_add_explicit(failed ? &completion.failed : &completion.completed, 1,
                              memory_order_release);
    /* Last: the lane's owner may free it when it sees zero. */
    atomic_fetch_sub_explicit(&lane->count, 1, memory_order_release);
}

struct look {
    bool thorough; /* look behind entries that are not done */
    bool progress;
    bool urgent; /* urgent work remains */
};

/* False: the last entry completed, and the lane may be gone. */
static bool lane_look(struct inflight_lane *lane, struct look *look)
{
    bool failed = atomic_load_explicit(&lane->failed, memory_order_acquire);
    struct inflight *before = NULL;
    struct inflight *next;

    for (struct inflight *work = lane->oldest; work != NULL; work = next) {
        next = work->next;
        if (!failed && !work->ended(work)) {
            if (!look->thorough)
                break;
            before = work;
            continue;
        }
        lane_unlink(lane, before, work);
        bool remains = lane->active;
        work_complete(work, failed);
        look->progress = true;
        if (!remains)
            return false;
    }
    look->urgent |= lane->urgent_count > 0;
    return true;
}

static struct look lanes_look(bool thorough)
{
    struct look look = {.thorough = thorough};
    struct inflight_lane *lane = completion.active;

    completion.active = NULL;
    while (lane != NULL) {
        struct inflight_lane *next = lane->active_next;
        if (lane_look(lane, &look)) {
            lane->active_next = completion.active;
            completion.active = lane;
        }
        lane = next;
    }
    return look;
}

static void sleep_until_posted(void)
{
    atomic_store(&completion.sleeping, 1);
    while (atomic_load(&completion.posted) == NULL && atomic_load(&completion.sleeping) == 1)
        futex_wait(&completion.sleeping, 1, NULL);
    atomic_store(&completion.sleeping, 0);
}

struct nap {
    uint64_t length_ns;
    uint64_t thorough_at_ns;
    uint32_t nudge, urgent_posted; /* as they were when the look began */
};

static uint64_t urgent_nap_clamp(uint64_t length_ns)
{
    if (length_ns < NAP_URGENT_MIN_NS)
        return NAP_URGENT_MIN_NS;
    return length_ns > NAP_URGENT_MAX_NS ? NAP_URGENT_MAX_NS : length_ns;
}

/* A nudge since the look began makes this return at once. */
static void nap_take(struct nap *nap, const struct look *look)
{
    struct timespec length = {.tv_nsec = NAP_LAZY_NS};

    if (look->urgent) {
        nap->length_ns = urgent_nap_clamp(look->progress ? 0 : nap->length_ns + nap->length_ns / 2);
        length.tv_nsec = (long)nap->length_ns;
        futex_wait(&completion.nudge, nap->nudge, &length);
        return;
    }
    nap->length_ns = 0;
    atomic_store(&completion.lazy_nap, 1);
    if (atomic_load(&completion.urgent_posted) == nap->urgent_posted)
        futex_wait(&completion.nudge, nap->nudge, &length);
    atomic_store(&completion.lazy_nap, 0);
}

static void look_once(struct nap *nap)
{
    uint64_t now = now_ns();
    bool thorough = now >= nap->thorough_at_ns;

    /* Begun first: who nudges and then waits for a whole look gets one that saw the nudge. */
    atomic_fetch_add(&completion.looks_begun, 1);
    uint32_t nudge = atomic_load_explicit(&completion.nudge, memory_order_acquire);

    /* Someone who nudged wants everything that is done. */
    thorough |= nudge != nap->nudge;
    nap->nudge = nudge;
    nap->urgent_posted = atomic_load_explicit(&completion.urgent_posted, memory_order_acquire);
    posted_take();
    struct look look = lanes_look(thorough);
    atomic_fetch_add_explicit(&completion.looks_done, 1, memory_order_release);
    void (*tick)(uint64_t) = atomic_load_explicit(&completion.tick, memory_order_acquire);
    if (tick != NULL)
        tick(now);
    if (thorough)
        nap->thorough_at_ns = now + THOROUGH_EVERY_NS;
    if (completion.active == NULL)
        nap->length_ns = 0;
    else
        nap_take(nap, &look);
}

static void *completion_main(void *unused)
{
    struct nap nap = {0};

    (void)unused;
    thread_is_completion = true;
    prctl(PR_SET_NAME, "croc-completion");
    prctl(PR_SET_TIMERSLACK, 1000ul); /* naps of 5 us, not of 55 */
    for (;;) {
        if (completion.active == NULL)
            sleep_until_posted();
        look_once(&nap);
    }
    return NULL;
}

static bool thread_make(void)
{
    pthread_t thread;
    sigset_t all, before;

    /* The program's signals are for the program's threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, completion_main, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error != 0)
        return false;
    pthread_detach(thread);
    return true;
}

/* The child's devices and their work are the parent's: forget them. */
static void child_reset(void)
{
    atomic_store(&completion.running, false);
    atomic_store(&completion.posted, NULL);
    atomic_store(&completion.sleeping, 0);
    atomic_store(&completion.posted_count, 0);
    atomic_store(&completion.completed, 0);
    atomic_store(&completion.failed, 0);
    completion.active = NULL;
}

static bool start_locked(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool fork_watched;

    pthread_mutex_lock(&lock);
    if (!fork_watched)
        fork_watched = pthread_atfork(NULL, NULL, child_reset) == 0;
    if (!atomic_load(&completion.running)) {
        bool made = thread_make();
        atomic_store(&completion.running, made);
        if (!made)
            log_error("intercept",
                      "cannot create the completion thread: device work is not traced");
    }
    bool running = atomic_load(&completion.running);
    pthread_mutex_unlock(&lock);
    return running;
}

bool completion_start(void)
{
    if (atomic_load(&completion.running))
        return true;
    thread_creation_notice(false);
    bool running = start_locked();
    thread_creation_notice(true);
    return running;
}

static void nudge_give(void)
{
    atomic_fetch_add_explicit(&completion.nudge, 1, memory_order_release);
    futex_wake_all(&completion.nudge);
}

/* One of many posters makes the system call. */
static void lazy_nap_cut(void)
{
    atomic_fetch_add(&completion.urgent_posted, 1);
    if (atomic_load(&completion.lazy_nap) == 1 && atomic_exchange(&completion.lazy_nap, 0) == 1)
        nudge_give();
}

void completion_post(struct inflight *work)
{
    struct inflight *top = atomic_load_explicit(&completion.posted, memory_order_relaxed);
    bool urgent = work->urgent; /* the record is the thread's from the push on */

    atomic_fetch_add_explicit(&work->lane->count, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&completion.posted_count, 1, memory_order_relaxed);
    do
        work->next = top;
    while (!atomic_compare_exchange_weak(&completion.posted, &top, work));
    if (atomic_load(&completion.sleeping) == 1 && atomic_exchange(&completion.sleeping, 0) == 1)
        futex_wake_all(&completion.sleeping);
    else if (urgent)
        lazy_nap_cut();
}

static uint64_t finished_count(void)
{
    return atomic_load_explicit(&completion.completed, memory_order_acquire) +
           atomic_load_explicit(&completion.failed, memory_order_acquire);
}

/* Waits until `done` or until nothing has completed for `stall_ns`. */
static bool drain_until(bool (*done)(const void *), const void *what, uint64_t stall_ns)
{
    const struct timespec step = {.tv_nsec = DRAIN_STEP_NS};
    uint64_t finished = finished_count();
    uint64_t progress_at = now_ns();

    while (!done(what)) {
        if (!atomic_load(&completion.running) || thread_is_completion)
            return false;
        nudge_give();
        nanosleep(&step, NULL);
        if (finished_count() != finished) {
            finished = finished_count();
            progress_at = now_ns();
        } else if (now_ns() - progress_at > stall_ns) {
            return done(what);
        }
    }
    return true;
}

static bool count_reached(const void *what)
{
    return (int64_t)(finished_count() - *(const uint64_t *)what) >= 0;
}

static bool lane_empty(const void *what)
{
    const struct inflight_lane *lane = what;

    return atomic_load_explicit(&lane->count, memory_order_acquire) == 0;
}

bool completion_drain(uint64_t stall_ns)
{
    uint64_t target = atomic_load_explicit(&completion.posted_count, memory_order_acquire);

    return drain_until(count_reached, &target, stall_ns);
}

bool completion_lane_drain(struct inflight_lane *lane, uint64_t stall_ns)
{
    return drain_until(lane_empty, lane, stall_ns);
}

void completion_harvest(uint64_t stall_ns)
{
    const struct timespec step = {.tv_nsec = 50000};
    uint64_t begun_at = now_ns();

    if (thread_is_completion || !atomic_load(&completion.running))
        return;
    /* A look that begins after these lines sees the nudge and everything posted before. */
    nudge_give();
    uint32_t begun = atomic_load_explicit(&completion.looks_begun, memory_order_acquire);
    uint64_t target = atomic_load_explicit(&completion.posted_count, memory_order_acquire);
    while (!count_reached(&target) &&
           (int32_t)(atomic_load_explicit(&completion.looks_done, memory_order_acquire) - begun) <
               1) {
        nanosleep(&step, NULL);
        if (now_ns() - begun_at > stall_ns)
            return;
        nudge_give();
    }
}
