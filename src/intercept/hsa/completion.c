#include "intercept/hsa/completion.h"

#include <pthread.h>
#include <stddef.h>
#include <sys/prctl.h>

#include "base/futex.h"
#include "base/log.h"
#include "base/own_thread.h"
#include "base/thread.h"
#include "base/wait.h"
#include "intercept/hsa/completion_state.h"

struct completion_state completion = {.listed = LANE_EPOCH_STEP | LANE_LISTED};

static __thread bool thread_is_completion;

bool completion_thread_is_current(void)
{
    return thread_is_completion;
}

void completion_tick_set(void (*tick)(uint64_t now_ns))
{
    atomic_store_explicit(&completion.tick, tick, memory_order_release);
}

void completion_alarm_set(const struct completion_alarm *alarm)
{
    atomic_store_explicit(&completion.alarm, alarm, memory_order_release);
}

uint64_t completion_failed_count(void)
{
    return atomic_load_explicit(&completion.failed, memory_order_acquire);
}

uint64_t completion_finished_count(void)
{
    return atomic_load_explicit(&completion.completed, memory_order_acquire) +
           atomic_load_explicit(&completion.failed, memory_order_acquire);
}

/* Nothing of `work` may be read after its `complete`: its memory is its owner's again. */
static void row_complete(struct inflight_lane *lane, struct inflight *work)
{
    uint64_t completed = 0, failed = 0, asked_for = 0;
    for (struct inflight *next; work; work = next) {
        bool is_lost = work->failed;
        next = work->next;
        asked_for += work->batch != completion.batch;
        failed += is_lost;
        completed += !is_lost;
        work->complete(work, is_lost);
    }
    if (lane->ops && lane->ops->completed)
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
    look->waits |= lane->urgent_count > 0;
    look->ringing += lane->ringing_count;
    look->silent += lane->urgent_count - lane->ringing_count;
    if (!ended)
        return;
    row_complete(lane, ended);
    look->progress = true;
}

static void arrivals_take(void)
{
    struct inflight_lane *lane =
        atomic_exchange_explicit(&completion.arrivals, NULL, memory_order_seq_cst);
    while (lane) {
        struct inflight_lane *next = lane->arrival_next;
        lane_list(lane);
        lane = next;
    }
}

/* False: somebody holds the thread, and will nudge it when that is over. */
static bool look_begin(void)
{
    atomic_store_explicit(&completion.looking, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&completion.holds, memory_order_seq_cst) == 0)
        return true;
    atomic_store_explicit(&completion.looking, 0, memory_order_seq_cst);
    return false;
}

static struct look lanes_look(uint64_t now, bool thorough)
{
    struct look look = {.begun_at_ns = now, .thorough = thorough};
    struct inflight_lane *lane = completion.active;
    completion.active = NULL;
    while (lane) {
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
    for (struct inflight_lane *lane = completion.active; lane; lane = lane->active_next)
        if (lane->oldest && (int32_t)(lane->oldest->batch - done) < 0)
            done = lane->oldest->batch;
    completion.batch = asked;
    atomic_store_explicit(&completion.drain_done, done, memory_order_release);
}

static void look_once(struct nap *nap)
{
    uint64_t now = wait_now_ns();
    bool thorough = nap_look_is_thorough(nap, now);
    /* Begun first: who nudges and then waits for a whole look gets one that saw the nudge. */
    atomic_fetch_add_explicit(&completion.looks_begun, 1, memory_order_seq_cst);
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
        atomic_store_explicit(&completion.looking, 0, memory_order_seq_cst);
    }
    atomic_fetch_add_explicit(&completion.looks_done, 1, memory_order_release);
    void (*tick)(uint64_t) = atomic_load_explicit(&completion.tick, memory_order_acquire);
    if (tick)
        tick(now);
    nap_or_sleep(nap, &look, thorough);
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
    atomic_store_explicit(&completion.running, false, memory_order_seq_cst);
    atomic_store_explicit(&completion.arrivals, NULL, memory_order_seq_cst);
    atomic_store_explicit(&completion.announcing, 0, memory_order_seq_cst);
    atomic_store_explicit(&completion.sleeping, 0, memory_order_seq_cst);
    atomic_store_explicit(&completion.asleep, 0, memory_order_seq_cst);
    atomic_store_explicit(&completion.holds, 0, memory_order_seq_cst);
    atomic_store_explicit(&completion.looking, 0, memory_order_seq_cst);
    atomic_store_explicit(&completion.completed, 0, memory_order_seq_cst);
    atomic_store_explicit(&completion.failed, 0, memory_order_seq_cst);
    atomic_fetch_add_explicit(&completion.listed, LANE_EPOCH_STEP, memory_order_seq_cst);
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
    if (!atomic_load_explicit(&completion.running, memory_order_seq_cst)) {
        bool made = thread_make();
        atomic_store_explicit(&completion.running, made, memory_order_seq_cst);
        if (!made)
            log_error("intercept",
                      "cannot create the completion thread: device work is not traced");
    }
    bool running = atomic_load_explicit(&completion.running, memory_order_seq_cst);
    pthread_mutex_unlock(&lock);
    return running;
}

bool completion_start(void)
{
    if (atomic_load_explicit(&completion.running, memory_order_seq_cst))
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
    if (atomic_load_explicit(&completion.sleeping, memory_order_seq_cst) == 1 &&
        atomic_exchange_explicit(&completion.sleeping, 0, memory_order_seq_cst) == 1)
        futex_wake_all(&completion.sleeping);
}

void completion_nudge(void)
{
    atomic_fetch_add_explicit(&completion.nudge, 1, memory_order_release);
    futex_wake_all(&completion.nudge);
    thread_wake();
}

void completion_nudge_now(void)
{
    const struct completion_alarm *alarm =
        atomic_load_explicit(&completion.alarm, memory_order_acquire);
    completion_nudge();
    if (alarm)
        alarm->ring();
}

/* One of many posters makes the system calls. */
static void lazy_nap_cut(void)
{
    atomic_fetch_add_explicit(&completion.urgent_posted, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&completion.lazy_nap, memory_order_seq_cst) == 1 &&
        atomic_exchange_explicit(&completion.lazy_nap, 0, memory_order_seq_cst) == 1)
        completion_nudge_now();
}

static void arrivals_push(struct inflight_lane *lane)
{
    lane->arrival_next = atomic_load_explicit(&completion.arrivals, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&completion.arrivals, &lane->arrival_next, lane,
                                                  memory_order_seq_cst, memory_order_seq_cst))
        ;
}

/* The thread does not look at the lane: hand it over. */
static void lane_announce(struct inflight_lane *lane, uint32_t listed)
{
    atomic_fetch_add_explicit(&completion.announcing, 1, memory_order_seq_cst);
    bool ours = lane_claim(lane, listed);
    if (ours)
        arrivals_push(lane);
    atomic_fetch_sub_explicit(&completion.announcing, 1, memory_order_seq_cst);
    if (ours)
        thread_wake();
}

void completion_post(struct inflight *work)
{
    struct inflight_lane *lane = work->lane;
    uint32_t listed = atomic_load_explicit(&completion.listed, memory_order_relaxed);
    bool urgent = work->urgent && !work->rings; /* the record is the thread's from here on */
    if (__builtin_expect(lane_put(lane, work, listed), 0))
        lane_announce(lane, listed);
    if (urgent)
        lazy_nap_cut();
}
