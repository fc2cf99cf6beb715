#include <stddef.h>

#include "base/wait.h"
#include "intercept/hsa/completion_state.h"

enum { DRAIN_STEP_NS = 500 * WAIT_NS_PER_US, HARVEST_STEP_NS = 50 * WAIT_NS_PER_US };

/* True: nothing that was posted before the call is in flight. */
static bool idle(void)
{
    return !atomic_load_explicit(&completion.arrivals, memory_order_acquire) &&
           atomic_load_explicit(&completion.asleep, memory_order_acquire) == 1;
}

/* How often this thread holds the completion thread: while it does, it waits for nothing that only
 * that one could do. */
static __thread uint32_t holds_here __attribute__((tls_model("initial-exec")));

/* What is waited for; the completion thread is nudged each time that it is not there yet. */
struct drain {
    bool (*is_done)(const void *what);
    const void *what;
    const _Atomic uint64_t *progress; /* the thread writes it (release), read here (acquire) */
    bool was_done;
};

/* Also ends the wait where the thread cannot run. */
static bool is_over(void *argument)
{
    struct drain *drain = argument;
    drain->was_done = drain->is_done(drain->what);
    if (drain->was_done || !atomic_load_explicit(&completion.running, memory_order_seq_cst) ||
        completion_thread_is_current())
        return true;
    completion_nudge();
    return false;
}

static uint64_t progress_of(void *argument)
{
    return atomic_load_explicit(((struct drain *)argument)->progress, memory_order_acquire);
}

/* Waits until `is_done` or until `progress` has stood still for `stall_ns`. */
static bool drain_wait(bool (*is_done)(const void *), const void *what,
                       const _Atomic uint64_t *progress, uint64_t stall_ns)
{
    struct drain drain = {.is_done = is_done, .what = what, .progress = progress};
    wait_while_moving(is_over, progress_of, &drain, stall_ns, DRAIN_STEP_NS);
    return drain.was_done;
}

static bool drained(const void *what)
{
    uint32_t done = atomic_load_explicit(&completion.drain_done, memory_order_acquire);
    return (int32_t)(done - *(const uint32_t *)what) >= 0;
}

static bool all_announced(const void *unused)
{
    (void)unused;
    return atomic_load_explicit(&completion.announcing, memory_order_seq_cst) == 0;
}

static bool lane_empty(const void *what)
{
    const struct inflight_lane *lane = what;
    uint64_t finished = atomic_load_explicit(&lane->finished, memory_order_acquire);
    return atomic_load_explicit(&lane->posted, memory_order_acquire) == finished;
}

static bool lane_forgotten(const void *what)
{
    return lane_is_unknown(what);
}

bool completion_drain(uint64_t stall_ns)
{
    if (!atomic_load_explicit(&completion.running, memory_order_seq_cst))
        return true;
    if (holds_here != 0)
        return idle();
    if (!drain_wait(all_announced, NULL, &completion.drain_progress, stall_ns))
        return false;
    if (idle())
        return true;
    uint32_t question =
        atomic_fetch_add_explicit(&completion.drain_wanted, 1, memory_order_seq_cst) + 1;
    return drain_wait(drained, &question, &completion.drain_progress, stall_ns);
}

bool completion_lane_drain(struct inflight_lane *lane, uint64_t stall_ns)
{
    if (holds_here != 0)
        return lane_empty(lane);
    return drain_wait(lane_empty, lane, &lane->finished, stall_ns);
}

bool completion_lane_close(struct inflight_lane *lane, uint64_t stall_ns)
{
    if (!atomic_load_explicit(&completion.running, memory_order_seq_cst))
        return true;
    if (!completion_lane_drain(lane, stall_ns))
        return false;
    if (holds_here !=
        0) /* an empty lane that the thread has not forgotten stays, with its memory */
        return lane_forgotten(lane);
    atomic_store_explicit(&lane->closing, true, memory_order_release);
    return drain_wait(lane_forgotten, lane, &lane->finished, stall_ns);
}

static bool not_looking(const void *unused)
{
    (void)unused;
    return atomic_load_explicit(&completion.looking, memory_order_seq_cst) == 0;
}

bool completion_hold(uint64_t stall_ns)
{
    if (completion_thread_is_current())
        return true;
    atomic_fetch_add_explicit(&completion.holds, 1, memory_order_seq_cst);
    holds_here++;
    return !atomic_load_explicit(&completion.running, memory_order_seq_cst) ||
           drain_wait(not_looking, NULL, &completion.completed, stall_ns);
}

void completion_hold_end(void)
{
    if (completion_thread_is_current())
        return;
    holds_here--;
    atomic_fetch_sub_explicit(&completion.holds, 1, memory_order_seq_cst);
    if (atomic_load_explicit(&completion.running, memory_order_seq_cst))
        completion_nudge();
}

struct harvest {
    uint32_t begun; /* looks, when it was asked */
    bool was_asked;
};

static bool look_is_done(void *argument)
{
    struct harvest *harvest = argument;
    uint32_t done = atomic_load_explicit(&completion.looks_done, memory_order_acquire);
    if ((int32_t)(done - harvest->begun) >= 1)
        return true;
    if (harvest->was_asked)
        completion_nudge_now();
    harvest->was_asked = true;
    return false;
}

void completion_harvest(uint64_t stall_ns)
{
    if (completion_thread_is_current() || holds_here != 0 ||
        !atomic_load_explicit(&completion.running, memory_order_seq_cst) || idle())
        return;
    /* A look that begins after these lines sees the nudge and everything posted before. */
    completion_nudge_now();
    struct harvest harvest = {
        .begun = atomic_load_explicit(&completion.looks_begun, memory_order_acquire)};
    wait_until(look_is_done, &harvest, stall_ns, HARVEST_STEP_NS);
}
