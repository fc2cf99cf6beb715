/*
 * Work in flight on a device and the one thread that notices its end.
 *
 * Whoever submits work embeds a struct inflight in its own record and posts it to a lane. The
 * thread receives a lane's posts, asks each `ended`, and then calls `complete` for those that have,
 * in submission order where completions are in order, which is the cheap path: it stops asking at
 * the first that has not. Lanes whose oldest entry does not move are looked at as a whole, less
 * often, since packets without barrier bits may overtake each other and somebody may wait for a
 * later one.
 *
 * A post to a lane with a ring shares no written memory with other posters, and with the thread
 * only the ring's slots. Knows nothing of HSA: unit tests drive it with plain memory.
 */
#ifndef INTERCEPT_HSA_COMPLETION_H
#define INTERCEPT_HSA_COMPLETION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct inflight;
struct inflight_lane;

/* What a lane's owner wants to do once for many entries, on the completion thread. Each may be
 * NULL. */
struct inflight_ops {
    /* Around a row of `ended`; nothing between them waits for anybody. */
    void (*asking)(void);
    void (*asked)(void);
    /* After a row of `complete`, before the entries stop to count. */
    void (*completed)(struct inflight_lane *lane);
};

enum { INFLIGHT_RING_SLOTS = 1024 };

/* For lanes that one thread at a time posts to, each seeing what the one before did. */
struct inflight_ring {
    /* Writers: the poster stores entries (release) where it reads NULL (acquire); the thread takes
     * them (acquire) and stores NULL (release). A full ring is no failure: the lane's stack takes
     * the rest. */
    _Atomic(struct inflight *) slots[INFLIGHT_RING_SLOTS];
};

/* One queue's work, or all copies. Zeroed at first; lives as long as its owner says, at least until
 * completion_lane_close() succeeded. */
struct inflight_lane {
    /* Immutable once something was posted. */
    const struct inflight_ops *ops; /* NULL: none */
    struct inflight_ring *ring;     /* NULL: any thread may post at any time */
    /* Whether the completion thread looks at the lane; writers, readers and orders: lane.h. */
    _Atomic uint32_t state;
    /* Set by anyone (release) when the device will never finish this lane's work; read by the
     * completion thread (acquire). What has ended, or does within some milliseconds, is complete;
     * the rest has failed. */
    _Atomic bool failed;
    /* The memory that entries would look at has gone; set and taken back between completion_hold()
     * and its release, or while the lane is empty (release), read by the thread (acquire). They
     * have failed, unasked. */
    _Atomic bool gone;
    _Atomic bool closing; /* completion_lane_close stores (release), the thread reads (acquire) */
    struct inflight_lane *arrival_next; /* while on the list of lanes that became active */

    /* Posters push (release), the thread takes all (acquire). */
    _Alignas(64) _Atomic(struct inflight *) stack;
    /* Posters add before the entry can be seen (release); drain and the thread read (acquire). */
    _Atomic uint64_t posted;
    uint32_t ring_next; /* the ring's poster: where it puts the next entry */

    /* Completion thread only. */
    _Alignas(64) struct inflight *oldest;
    struct inflight *newest;
    struct inflight_lane *active_next;
    uint32_t urgent_count, ringing_count, ring_at;
    uint64_t failed_at_ns; /* when it was seen first; 0: it was not */
    /* The thread stores (release) after `completed` returned; drain reads (acquire). */
    _Atomic uint64_t finished;
};

struct inflight {
    struct inflight *next; /* the lane's from post to complete */
    struct inflight_lane *lane;
    /* On the completion thread, often: has the device finished? True is said once, and what the
     * device wrote before is visible then. */
    bool (*ended)(struct inflight *work);
    /* On the completion thread, no lock held; may free or reuse the record. */
    void (*complete)(struct inflight *work, bool failed);
    bool urgent;   /* somebody outside may be blocked until `complete` has run */
    bool rings;    /* and its end sets the alarm off; only of urgent work */
    bool in_order; /* completes behind all older urgent ones of its lane, as on the device */
    /* The lane's, like `next`. */
    bool failed;
    uint32_t batch; /* questions of drain that were asked before it was received */
};

/* Starts the thread; idempotent. False: no thread could be made, nothing must be posted. A forked
 * child has no thread until it calls this again. */
bool completion_start(void);

/* Any thread, also inside a runtime's queue lock. Does not allocate and takes no lock; wakes the
 * thread (one system call) only when it has slept for want of work, or when it naps longer than
 * urgent work may wait. */
void completion_post(struct inflight *work);

/* Waits until everything posted before the call has completed, whatever is posted meanwhile. Gives
 * up, returning false, when nothing of that completes for `stall_ns`, or at once when the thread
 * cannot run. */
bool completion_drain(uint64_t stall_ns);
/* The same, for one lane: waits until it is empty. */
bool completion_lane_drain(struct inflight_lane *lane, uint64_t stall_ns);

/* Waits until the lane is empty and the thread has forgotten it; nothing must be posted any more.
 * False: gave up as above, the lane's memory must stay. */
bool completion_lane_close(struct inflight_lane *lane, uint64_t stall_ns);

/* Completes what the device has finished already; returns when that is done, or after `stall_ns`
 * without a look (`complete` of other work may be waiting for the caller). */
void completion_harvest(uint64_t stall_ns);

/* From the return of completion_hold() to completion_hold_end() the thread asks nobody's `ended`:
 * what entries look at may go meanwhile. They nest. Not on the completion thread, where they do
 * nothing; false: a `complete` has been running for `stall_ns`, which is not waited for any longer.
 * Meanwhile the calls above wait for nothing on this thread. */
bool completion_hold(uint64_t stall_ns);
void completion_hold_end(void);

/* What wakes the thread when urgent work ends that says it `rings`, so that it need not look for
 * that by time. */
struct completion_alarm {
    /* On the thread: waits for a ring, also one since the last wait, but no longer than
     * `limit_ms`. False, at once: there is none to wait for. */
    bool (*wait)(uint32_t limit_ms);
    void (*ring)(void); /* any thread, instead of the device */
};
/* For the life of the process; one that is set again is the same. Without one, nothing `rings`. */
void completion_alarm_set(const struct completion_alarm *alarm);

/* True on the completion thread itself, where waiting for completions would wait for itself. */
bool completion_thread_is_current(void);

/* `tick` runs on the completion thread after each look, about once a millisecond while work is in
 * flight. To be set before the first post; NULL for none. */
void completion_tick_set(void (*tick)(uint64_t now_ns));

/* Work that was given up (lane failed, or process end). */
uint64_t completion_failed_count(void);

#endif
