#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <time.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/thread.h"
#include "intercept/hsa/lane.h"

/*
 * How long the thread sleeps between two looks while work is in flight. Nobody waits for work that
 * is not urgent, so it is collected in large batches; urgent work is looked at often at first,
 * because kernels and copies that somebody waits for are mostly short. With nothing in flight it
 * naps on for a while, so that a program that launches now and then need not wake it.
 */
enum {
    NAP_URGENT_MIN_NS = 5000,
    NAP_URGENT_MAX_NS = 100000,
    NAP_LAZY_NS = 1000000,
    IDLE_BEFORE_SLEEP_NS = 10000000,
    THOROUGH_EVERY_NS = 500000, /* a thorough look costs a few ns for each entry in flight */
    DRAIN_STEP_NS = 500000,
};

/*
 * A lane's state: 0, the thread does not know it; LISTED, the thread looks at it; PARKING, the
 * thread is about to sleep and looks at it a last time. The epoch above counts forks: what a
 * parent's thread knew, the child's does not.
 *
 * Posters put an entry and then read the state; the thread stores PARKING and then looks for
 * entries (thread_fence_light and _heavy between): one of the two sees the other. A poster that
 * does not find LISTED stores it, and whoever replaces another state by LISTED hands the lane over.
 */
enum { LISTED = 1, PARKING = 2, EPOCH_STEP = 4 };

static struct {
    /* Lanes that became active: posters push (seq_cst), the thread takes all (acquire). */
    _Atomic(struct inflight_lane *) arrivals;
    /* Posters that may have set a lane's state and not yet pushed it: they count up before and down
       after (seq_cst). Drain waits for 0, since others post to that lane meanwhile. */
    _Atomic uint32_t announcing;
    /* 1 while the thread sleeps until woken. The thread stores 1 and then looks at `arrivals`, a
       poster pushes and then looks here (all seq_cst): one of the two sees the other. */
    _Atomic uint32_t sleeping;
    /* Nothing is in flight: the thread stores (release) when it has parked all lanes, and takes it
       back before it takes arrivals; idle() reads it (acquire) after those. */
    _Atomic uint32_t asleep;
    /* Futex word of naps: bumped by whoever wants a look now (release), thread reads (acquire). */
    _Atomic uint32_t nudge;
    /* 1 during a nap that urgent work must cut short. The thread stores 1 and then looks at
       `urgent_posted`, a poster counts that and then looks here (all seq_cst). */
    _Atomic uint32_t lazy_nap;
    _Atomic uint32_t urgent_posted;
    /* Who holds counts up (seq_cst) and then looks at `looking`; the thread stores that and then
       looks here (seq_cst): one of the two sees the other. */
    _Atomic uint32_t holds, looking;
    /* Looks begun and done: the thread writes (release), harvest reads (acquire). */
    _Atomic uint32_t looks_begun, looks_done;
    /* Of entries: the thread writes (release), drain reads (acquire). */
    _Atomic uint64_t completed, failed;
    /* Drain asks (counts `drain_wanted` up, seq_cst) and the thread answers with the question
       before which everything has completed (release; read with acquire). `drain_progress` are the
       entries completed that some question was about. */
    _Atomic uint32_t drain_wanted, drain_done;
    _Atomic uint64_t drain_progress;
    _Atomic bool running; /* completion_start and the fork handler write, all read; seq_cst */
    /* LISTED of this process; the fork handler writes while the process has one thread. */
    _Atomic uint32_t listed;
    struct inflight_lane *active; /* thread only */
    uint64_t received;            /* entries, thread only */
    uint32_t batch;               /* of entries received from now on, thread only */
    /* completion_tick_set writes (release), the thread reads (acquire). */
    void (*_Atomic tick)(uint64_t now_ns);
} completion = {.listed = EPOCH_STEP | LISTED};

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

static uint64_t finished_count(void)
{
    return atomic_load_explicit(&completion.completed, memory_order_acquire) +
           atomic_load_explicit(&completion.failed, memory_order_acquire);
}

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* A counter that only this thread writes. */
static void own_count_add(_Atomic uint64_t *count, uint64_t add)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + add,
                          memory_order_release);
}

struct look {
    uint64_t begun_at_ns;
    bool thorough; /* look behind entries that are not done */
    bool progress;
    bool urgent; /* urgent work remains, or was there until just now */
};

/* Nothing of `work` may be read once it was told: its memory is its owner's again. */
static void row_complete(struct inflight_lane *lane, struct inflight *work)
{
    uint64_t completed = 0, failed = 0, asked_for = 0;

    for (struct inflight *next; work != NULL; work = next) {
        bool is_lost = work->failed;
        next = work->next;
        asked_for += work->batch != completion.batch;
        failed += is_lost;
        completed += !is_lost;
        work->complete(work, is_lost);
    }
    if (lane->ops != NULL && lane->ops->completed != NULL)
        lane->ops->completed(lane);
    own_count_add(&completion.failed, failed);
    own_count_add(&completion.completed, completed);
    own_count_add(&completion.drain_progress, asked_for);
    own_count_add(&lane->finished, completed + failed);
}

static void lane_look(struct inflight_lane *lane, struct look *look)
{
    bool gone = atomic_load_explicit(&lane->gone, memory_order_acquire);
    bool is_lost = gone || lane_is_lost(lane, look->begun_at_ns);

    completion.received += lane_receive(lane, completion.batch);
    look->urgent |= lane->urgent_count > 0;
    struct inflight *ended = lane_ask(lane, look->thorough || lane->failed_at_ns != 0, is_lost);
    if (ended == NULL)
        return;
    row_complete(lane, ended);
    look->progress = true;
}

static void lane_list(struct inflight_lane *lane)
{
    lane->active_next = completion.active;
    completion.active = lane;
}

static void arrivals_take(void)
{
    struct inflight_lane *lane = atomic_exchange(&completion.arrivals, NULL);

    while (lane != NULL) {
        struct inflight_lane *next = lane->arrival_next;
        lane_list(lane);
        lane = next;
    }
}

/* Not while somebody holds; that ends with a nudge. */
static bool look_begin(void)
{
    atomic_store(&completion.looking, 1);
    if (atomic_load(&completion.holds) == 0)
        return true;
    atomic_store(&completion.looking, 0);
    return false;
}

static struct look lanes_look(uint64_t now, bool thorough)
{
    struct look look = {.begun_at_ns = now, .thorough = thorough};
    struct inflight_lane *lane = completion.active;

    completion.active = NULL;
    while (lane != NULL) {
        struct inflight_lane *next = lane->active_next;
        lane_look(lane, &look);
        if (!lane_forget(lane))
            lane_list(lane);
        lane = next;
    }
    return look;
}

/* After a look: everything posted before question `asked` was received, under a lower number. */
static void drains_answer(uint32_t asked)
{
    uint32_t done = asked;

    if (asked == atomic_load_explicit(&completion.drain_done, memory_order_relaxed))
        return;
    for (struct inflight_lane *lane = completion.active; lane != NULL; lane = lane->active_next)
        if (lane->oldest != NULL && (int32_t)(lane->oldest->batch - done) < 0)
            done = lane->oldest->batch;
    completion.batch = asked;
    atomic_store_explicit(&completion.drain_done, done, memory_order_release);
}

/* ---- sleeping ---- */

/* Leaves those on the active list that something was posted to meanwhile. */
static void lanes_park(void)
{
    uint32_t listed = atomic_load_explicit(&completion.listed, memory_order_relaxed);
    uint32_t parking = listed - LISTED + PARKING;
    struct inflight_lane *lanes = completion.active, *next;

    if (lanes == NULL)
        return;
    completion.active = NULL;
    for (struct inflight_lane *lane = lanes; lane != NULL; lane = lane->active_next)
        atomic_store_explicit(&lane->state, parking, memory_order_relaxed);
    thread_fence_heavy();
    for (struct inflight_lane *lane = lanes; lane != NULL; lane = next) {
        uint32_t state = parking;
        next = lane->active_next;
        bool mail = lane_has_mail(lane);
        /* Fails when a poster has listed it, which then hands it over. */
        if (atomic_compare_exchange_strong(&lane->state, &state, mail ? listed : 0) && mail)
            lane_list(lane);
    }
}

static void sleep_until_posted(void)
{
    lanes_park();
    if (completion.active != NULL)
        return;
    atomic_store(&completion.sleeping, 1);
    atomic_store_explicit(&completion.asleep, 1, memory_order_release);
    while (atomic_load(&completion.arrivals) == NULL && atomic_load(&completion.sleeping) == 1)
        futex_wait(&completion.sleeping, 1, NULL);
    atomic_store_explicit(&completion.asleep, 0, memory_order_release);
    atomic_store(&completion.sleeping, 0);
}

struct nap {
    uint64_t length_ns;
    uint64_t thorough_at_ns;
    uint64_t busy_at_ns;           /* when something was last in flight */
    uint32_t nudge, urgent_posted; /* as they were when the look began */
};

static uint64_t urgent_nap_ns(const struct nap *nap, const struct look *look)
{
    uint64_t length_ns = look->progress ? 0 : nap->length_ns + nap->length_ns / 2;

    if (length_ns < NAP_URGENT_MIN_NS)
        return NAP_URGENT_MIN_NS;
    return length_ns > NAP_URGENT_MAX_NS ? NAP_URGENT_MAX_NS : length_ns;
}

/* A nudge since the look began makes this return at once. After the last urgent work its naps go on
 * until they are long: more may come. */
static void nap_take(struct nap *nap, const struct look *look)
{
    struct timespec length = {.tv_nsec = NAP_LAZY_NS};

    if (look->urgent || (nap->length_ns != 0 && nap->length_ns < NAP_URGENT_MAX_NS)) {
        nap->length_ns = urgent_nap_ns(nap, look);
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
    uint32_t asked = atomic_load_explicit(&completion.drain_wanted, memory_order_acquire);
    arrivals_take();
    struct look look = {.begun_at_ns = now, .progress = true}; /* held: no sleep without a nap */
    if (look_begin()) {
        look = lanes_look(now, thorough);
        drains_answer(asked);
        atomic_store(&completion.looking, 0);
    }
    atomic_fetch_add_explicit(&completion.looks_done, 1, memory_order_release);
    void (*tick)(uint64_t) = atomic_load_explicit(&completion.tick, memory_order_acquire);
    if (tick != NULL)
        tick(now);
    if (thorough)
        nap->thorough_at_ns = now + THOROUGH_EVERY_NS;
    if (look.progress || completion.received != finished_count())
        nap->busy_at_ns = now;
    if (now - nap->busy_at_ns < IDLE_BEFORE_SLEEP_NS)
        nap_take(nap, &look);
    else
        sleep_until_posted();
}

static void *completion_main(void *unused)
{
    struct nap nap = {0};

    (void)unused;
    thread_is_completion = true;
    own_thread_name("work");
    prctl(PR_SET_TIMERSLACK, 1000ul); /* naps of 5 us, not of 55 */
    for (;;)
        look_once(&nap);
    return NULL;
}

static bool thread_make(void)
{
    pthread_t thread;

    if (own_thread_create(&thread, completion_main, NULL) != 0)
        return false;
    pthread_detach(thread);
    return true;
}

/* The child's devices and their work are the parent's: forget them. */
static void child_reset(void)
{
    atomic_store(&completion.running, false);
    atomic_store(&completion.arrivals, NULL);
    atomic_store(&completion.announcing, 0);
    atomic_store(&completion.sleeping, 0);
    atomic_store(&completion.asleep, 0);
    atomic_store(&completion.holds, 0);
    atomic_store(&completion.looking, 0);
    atomic_store(&completion.completed, 0);
    atomic_store(&completion.failed, 0);
    atomic_fetch_add(&completion.listed, EPOCH_STEP);
    completion.active = NULL;
    completion.received = 0;
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
    thread_init();
    thread_creation_notice(false);
    bool running = start_locked();
    thread_creation_notice(true);
    return running;
}

/* ---- posting ---- */

static void thread_wake(void)
{
    if (atomic_load(&completion.sleeping) == 1 && atomic_exchange(&completion.sleeping, 0) == 1)
        futex_wake_all(&completion.sleeping);
}

static void nudge_give(void)
{
    atomic_fetch_add_explicit(&completion.nudge, 1, memory_order_release);
    futex_wake_all(&completion.nudge);
    thread_wake();
}

/* One of many posters makes the system call. */
static void lazy_nap_cut(void)
{
    atomic_fetch_add(&completion.urgent_posted, 1);
    if (atomic_load(&completion.lazy_nap) == 1 && atomic_exchange(&completion.lazy_nap, 0) == 1)
        nudge_give();
}

/* A lane that the parent's thread knew: its entries are the parent's. */
static void lane_renew(struct inflight_lane *lane, uint32_t listed)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    uint32_t state = atomic_load(&lane->state);
    if (state != 0 && state / EPOCH_STEP != listed / EPOCH_STEP) {
        atomic_store(&lane->stack, NULL);
        for (uint32_t i = 0; lane->ring != NULL && i < INFLIGHT_RING_SLOTS; i++)
            atomic_store(&lane->ring->slots[i], NULL);
        lane->ring_at = lane->ring_next = 0;
        lane->oldest = lane->newest = NULL;
        lane->urgent_count = 0;
        lane->failed_at_ns = 0;
        atomic_store(&lane->finished, atomic_load(&lane->posted));
        atomic_store(&lane->state, 0);
    }
    pthread_mutex_unlock(&lock);
}

static void stack_push(struct inflight_lane *lane, struct inflight *work)
{
    struct inflight *top = atomic_load_explicit(&lane->stack, memory_order_relaxed);

    do
        work->next = top;
    while (!atomic_compare_exchange_weak_explicit(&lane->stack, &top, work, memory_order_release,
                                                  memory_order_relaxed));
}

/* False: full. */
static bool ring_put(struct inflight_lane *lane, struct inflight *work)
{
    _Atomic(struct inflight *) *slot = &lane->ring->slots[lane->ring_next % INFLIGHT_RING_SLOTS];

    if (atomic_load_explicit(slot, memory_order_acquire) != NULL)
        return false;
    atomic_store_explicit(slot, work, memory_order_release);
    lane->ring_next++;
    return true;
}

static void lane_put(struct inflight_lane *lane, struct inflight *work)
{
    if (lane->ring == NULL) {
        atomic_fetch_add_explicit(&lane->posted, 1, memory_order_release);
        stack_push(lane, work);
        return;
    }
    own_count_add(&lane->posted, 1); /* one poster */
    /* While something is on the stack, what comes later goes there, too: the ring stays the older.
     */
    if (atomic_load_explicit(&lane->stack, memory_order_relaxed) != NULL || !ring_put(lane, work))
        stack_push(lane, work);
}

static void arrivals_push(struct inflight_lane *lane)
{
    lane->arrival_next = atomic_load_explicit(&completion.arrivals, memory_order_relaxed);
    while (!atomic_compare_exchange_weak(&completion.arrivals, &lane->arrival_next, lane))
        ;
}

/* The thread does not look at the lane: hand it over. */
static void lane_announce(struct inflight_lane *lane, uint32_t listed)
{
    atomic_fetch_add(&completion.announcing, 1);
    bool ours = atomic_exchange(&lane->state, listed) != listed;
    if (ours)
        arrivals_push(lane);
    atomic_fetch_sub(&completion.announcing, 1);
    if (ours)
        thread_wake();
}

void completion_post(struct inflight *work)
{
    struct inflight_lane *lane = work->lane;
    uint32_t listed = atomic_load_explicit(&completion.listed, memory_order_relaxed);
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_relaxed);
    bool urgent = work->urgent; /* the record is the thread's from here on */

    if (__builtin_expect(state != listed && state != 0, 0))
        lane_renew(lane, listed);
    lane_put(lane, work);
    thread_fence_light();
    /* Acquire: who finds it announced by another finds that one counted, too (see drain). */
    if (__builtin_expect(atomic_load_explicit(&lane->state, memory_order_acquire) != listed, 0))
        lane_announce(lane, listed);
    if (urgent)
        lazy_nap_cut();
}

/* ---- waiting ---- */

/* Nothing that was posted before the call is in flight. */
static bool idle(void)
{
    return atomic_load_explicit(&completion.arrivals, memory_order_acquire) == NULL &&
           atomic_load_explicit(&completion.asleep, memory_order_acquire) == 1;
}

/* Waits until `done` or until `progress` has stood still for `stall_ns`. */
static bool wait_until(bool (*done)(const void *), const void *what,
                       const _Atomic uint64_t *progress, uint64_t stall_ns)
{
    const struct timespec step = {.tv_nsec = DRAIN_STEP_NS};
    uint64_t before = atomic_load_explicit(progress, memory_order_acquire);
    uint64_t progress_at = now_ns();

    while (!done(what)) {
        if (!atomic_load(&completion.running) || thread_is_completion)
            return false;
        nudge_give();
        nanosleep(&step, NULL);
        uint64_t now = atomic_load_explicit(progress, memory_order_acquire);
        if (now != before) {
            before = now;
            progress_at = now_ns();
        } else if (now_ns() - progress_at > stall_ns) {
            return done(what);
        }
    }
    return true;
}

static bool drained(const void *what)
{
    uint32_t done = atomic_load_explicit(&completion.drain_done, memory_order_acquire);

    return (int32_t)(done - *(const uint32_t *)what) >= 0;
}

static bool all_announced(const void *unused)
{
    (void)unused;
    return atomic_load(&completion.announcing) == 0;
}

static bool lane_empty(const void *what)
{
    const struct inflight_lane *lane = what;
    uint64_t finished = atomic_load_explicit(&lane->finished, memory_order_acquire);

    return atomic_load_explicit(&lane->posted, memory_order_acquire) == finished;
}

static bool lane_forgotten(const void *what)
{
    const struct inflight_lane *lane = what;

    return atomic_load_explicit(&lane->state, memory_order_acquire) == 0;
}

bool completion_drain(uint64_t stall_ns)
{
    if (!atomic_load(&completion.running))
        return true;
    if (!wait_until(all_announced, NULL, &completion.drain_progress, stall_ns))
        return false;
    if (idle())
        return true;
    uint32_t question = atomic_fetch_add(&completion.drain_wanted, 1) + 1;
    return wait_until(drained, &question, &completion.drain_progress, stall_ns);
}

bool completion_lane_drain(struct inflight_lane *lane, uint64_t stall_ns)
{
    return wait_until(lane_empty, lane, &lane->finished, stall_ns);
}

bool completion_lane_close(struct inflight_lane *lane, uint64_t stall_ns)
{
    if (!atomic_load(&completion.running))
        return true;
    if (!completion_lane_drain(lane, stall_ns))
        return false;
    atomic_store_explicit(&lane->closing, true, memory_order_release);
    return wait_until(lane_forgotten, lane, &lane->finished, stall_ns);
}

static bool not_looking(const void *unused)
{
    (void)unused;
    return atomic_load(&completion.looking) == 0;
}

bool completion_hold(uint64_t stall_ns)
{
    if (thread_is_completion)
        return true;
    atomic_fetch_add(&completion.holds, 1);
    return !atomic_load(&completion.running) ||
           wait_until(not_looking, NULL, &completion.completed, stall_ns);
}

void completion_hold_end(void)
{
    if (thread_is_completion)
        return;
    atomic_fetch_sub(&completion.holds, 1);
    if (atomic_load(&completion.running))
        nudge_give();
}

void completion_harvest(uint64_t stall_ns)
{
    const struct timespec step = {.tv_nsec = 50000};
    uint64_t begun_at = now_ns();

    if (thread_is_completion || !atomic_load(&completion.running) || idle())
        return;
    /* A look that begins after these lines sees the nudge and everything posted before. */
    nudge_give();
    uint32_t begun = atomic_load_explicit(&completion.looks_begun, memory_order_acquire);
    while ((int32_t)(atomic_load_explicit(&completion.looks_done, memory_order_acquire) - begun) <
           1) {
        nanosleep(&step, NULL);
        if (now_ns() - begun_at > stall_ns)
            return;
        nudge_give();
    }
}
