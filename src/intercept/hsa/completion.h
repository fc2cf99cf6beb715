/*
 * Work in flight on a device and the one thread that notices its end.
 *
 * Whoever submits work embeds a struct inflight in its own record and posts it. The thread asks
 * `ended` and calls `complete`, in submission order per lane where completions are in order, which
 * is the cheap path: only the oldest of each lane is asked. Lanes whose oldest entry does not move
 * are looked at as a whole, less often, since packets without barrier bits may overtake each other
 * and somebody may wait for a later one.
 *
 * Knows nothing of HSA: unit tests drive it with plain memory.
 */
#ifndef INTERCEPT_HSA_COMPLETION_H
#define INTERCEPT_HSA_COMPLETION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct inflight;

/* One queue's work, or all copies. Lives as long as its owner says, at least until
 * completion_lane_drain() succeeded. */
struct inflight_lane {
    /* Completion thread only. */
    struct inflight *oldest, *newest;
    struct inflight_lane *active_next;
    uint32_t urgent_count;
    bool active;
    /* Posters add (relaxed), the completion thread subtracts (release, after `complete` returned);
     * drain reads (acquire). */
    _Atomic uint32_t count;
    /* Set by anyone (release) when the device will never finish this lane's work; read by the
     * completion thread (acquire). */
    _Atomic bool failed;
};

struct inflight {
    struct inflight *next; /* owned by completion.c from post to complete */
    struct inflight_lane *lane;
    bool urgent; /* somebody outside may be blocked until `complete` has run */
    /* On the completion thread, often: has the device finished? True is said once, and what the
     * device wrote before is visible then. */
    bool (*ended)(struct inflight *work);
    /* On the completion thread, no lock held; may free or reuse the record. */
    void (*complete)(struct inflight *work, bool failed);
};

/* Starts the thread; idempotent. False: no thread could be made, nothing must be posted. A forked
 * child has no thread until it calls this again. */
bool completion_start(void);

/* Any thread, also inside a runtime's queue lock. Does not allocate and takes no lock; wakes the
 * thread (one system call) only when it sleeps without a time limit, or longer than urgent work may
 * wait. */
void completion_post(struct inflight *work);

/* Waits until everything posted before the call has completed. Gives up, returning false, when
 * nothing completes for `stall_ns`, or at once when the thread cannot run. */
bool completion_drain(uint64_t stall_ns);
bool completion_lane_drain(struct inflight_lane *lane, uint64_t stall_ns);

/* Completes what the device has finished already; returns when that is done, or after `stall_ns`
 * without a look (`complete` of other work may be waiting for the caller). */
void completion_harvest(uint64_t stall_ns);

/* True on the completion thread itself, where waiting for completions would wait for itself. */
bool completion_thread_is_current(void);

/* `tick` runs on the completion thread after each look, about once a millisecond while work is in
 * flight. To be set before the first post; NULL for none. */
void completion_tick_set(void (*tick)(uint64_t now_ns));

/* Work that was given up (lane failed, or process end). */
uint64_t completion_failed_count(void);

#endif
