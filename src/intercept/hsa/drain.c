#include <stddef.h>

#include "intercept/hsa/completion_state.h"

enum { DRAIN_STEP_NS = 500000 };

/* Nothing that was posted before the call is in flight. */
static bool idle(void)
{
    return !atomic_load_explicit(&completion.arrivals, memory_order_acquire) &&
           atomic_load_explicit(&completion.asleep, memory_order_acquire) == 1;
}

/* How often this thread holds the completion thread: while it does, it waits for nothing that only
 * that one could do. */
static __thread uint32_t holds_here __attribute__((tls_model("initial-exec")));

/* Waits until `done` or until `progress` has stood still for `stall_ns`. */
static bool wait_until(bool (*done)(const void *), const void *what,
                       const _Atomic uint64_t *progress, uint64_t stall_ns)
{
    const struct timespec step = {.tv_nsec = DRAIN_STEP_NS};
    uint64_t before = atomic_load_explicit(progress, memory_order_acquire);
    uint64_t progress_at = completion_now_ns();
    while (!done(what)) {
        if (!atomic_load_explicit(&completion.running, memory_order_seq_cst) ||
            completion_thread_is_current())
            return false;
        completion_nudge();
        nanosleep(&step, NULL);
        uint64_t now = atomic_load_explicit(progress, memory_order_acquire);
        if (now != before) {
            before = now;
            progress_at = completion_now_ns();
        } else if (completion_now_ns() - progress_at > stall_ns) {
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
    const struct inflight_lane *lane = what;
    return atomic_load_explicit(&lane->state, memory_order_acquire) == 0;
}

bool completion_drain(uint64_t stall_ns)
{
    if (!atomic_load_explicit(&completion.running, memory_order_seq_cst))
        return true;
    if (holds_here != 0)
        return idle();
    if (!wait_until(all_announced, NULL, &completion.drain_progress, stall_ns))
        return false;
    if (idle())
        return true;
    uint32_t question =
        atomic_fetch_add_explicit(&completion.drain_wanted, 1, memory_order_seq_cst) + 1;
    return wait_until(drained, &question, &completion.drain_progress, stall_ns);
}

bool completion_lane_drain(struct inflight_lane *lane, uint64_t stall_ns)
{
    if (holds_here != 0)
        return lane_empty(lane);
    return wait_until(lane_empty, lane, &lane->finished, stall_ns);
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
    return wait_until(lane_forgotten, lane, &lane->finished, stall_ns);
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
           wait_until(not_looking, NULL, &completion.completed, stall_ns);
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

void completion_harvest(uint64_t stall_ns)
{
    const struct timespec step = {.tv_nsec = 50000};
    uint64_t begun_at = completion_now_ns();
    if (completion_thread_is_current() || holds_here != 0 ||
        !atomic_load_explicit(&completion.running, memory_order_seq_cst) || idle())
        return;
    /* A look that begins after these lines sees the nudge and everything posted before. */
    completion_nudge();
    uint32_t begun = atomic_load_explicit(&completion.looks_begun, memory_order_acquire);
    while ((int32_t)(atomic_load_explicit(&completion.looks_done, memory_order_acquire) - begun) <
           1) {
        nanosleep(&step, NULL);
        if (completion_now_ns() - begun_at > stall_ns)
            return;
        completion_nudge();
    }
}
