/*
 * Both ends of a lane: the poster's, who puts entries into the ring or onto the stack, and the
 * completion thread's, who takes them into a list of its own, and out of that when they have ended.
 * Part of completion.c, which knows how the thread sleeps and is woken.
 *
 * One word says whether the thread looks at the lane:
 *
 *   method         who     LANE_UNKNOWN     LANE_LISTED      LANE_PARKING     of another epoch
 *   lane_put       poster  UNKNOWN, true    LISTED, false    PARKING, true    UNKNOWN, true;
 * emptied lane_claim     poster  LISTED, true     LISTED, false    LISTED, true     (lane_put was
 * first) lane_park      thread  (not listed)     PARKING          (once a sleep)   (nobody's
 * thread) lane_park_end  thread  (not listed)     LISTED, false    UNKNOWN, false;  (nobody's
 * thread) (it was claimed) with mail LISTED, true lane_forget    thread  (not listed)     LISTED,
 * false;   (between looks)  (nobody's thread) closed: UNKNOWN, true
 *
 * lane_test.c has the same rows. The poster puts and then reads the word; the thread stores PARKING
 * and then looks for entries (thread_fence_light and _heavy between): one of the two sees the
 * other. The epoch in the bits above counts forks: what a parent's thread knew, the child's does
 * not.
 */
#ifndef INTERCEPT_HSA_LANE_H
#define INTERCEPT_HSA_LANE_H

#include <stddef.h>

#include "base/thread.h"
#include "intercept/hsa/completion.h"

enum { LANE_UNKNOWN = 0, LANE_LISTED = 1, LANE_PARKING = 2, LANE_EPOCH_STEP = 4 };

/* A counter that only this thread writes. */
static inline void own_count_add(_Atomic uint64_t *count, uint64_t add)
{
    atomic_store_explicit(count, atomic_load_explicit(count, memory_order_relaxed) + add,
                          memory_order_release);
}

/* ---- the poster's end; `listed` is LANE_LISTED of this process's epoch */

/* A lane that the parent's thread knew: its entries are the parent's. */
void lane_renew(struct inflight_lane *lane, uint32_t listed);
void lane_stack_push(struct inflight_lane *lane, struct inflight *work);

/* False: full. */
static inline bool lane_ring_put(struct inflight_lane *lane, struct inflight *work)
{
    _Atomic(struct inflight *) *slot = &lane->ring->slots[lane->ring_next % INFLIGHT_RING_SLOTS];
    if (atomic_load_explicit(slot, memory_order_acquire))
        return false;
    atomic_store_explicit(slot, work, memory_order_release);
    lane->ring_next++;
    return true;
}

static inline void lane_entry_put(struct inflight_lane *lane, struct inflight *work)
{
    if (!lane->ring) {
        atomic_fetch_add_explicit(&lane->posted, 1, memory_order_release);
        lane_stack_push(lane, work);
        return;
    }
    own_count_add(&lane->posted, 1); /* one poster */
    /* While something is on the stack, what comes later goes there, too: the ring stays the older.
     */
    if (atomic_load_explicit(&lane->stack, memory_order_relaxed) || !lane_ring_put(lane, work))
        lane_stack_push(lane, work);
}

/* True: the thread does not look at the lane, which must be claimed. Inline, like what it calls,
 * because every dispatch passes here. */
static inline bool lane_put(struct inflight_lane *lane, struct inflight *work, uint32_t listed)
{
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_relaxed);
    if (__builtin_expect(state != listed && state != LANE_UNKNOWN, 0))
        lane_renew(lane, listed);
    lane_entry_put(lane, work);
    thread_fence_light();
    /* Acquire: who finds it claimed by another finds that one counted, too (see drain). */
    return atomic_load_explicit(&lane->state, memory_order_acquire) != listed;
}

/* True: the caller is the one who hands the lane to the thread. */
bool lane_claim(struct inflight_lane *lane, uint32_t listed);

/* ---- the thread's end */

/* Takes what was posted; returns how many entries. They get the number `batch`. */
uint64_t lane_receive(struct inflight_lane *lane, uint32_t batch);

/* Asks the entries, the oldest first, and takes out those that have ended, linked in their order;
 * with `thorough` also behind one that has not. `failed`: what has not ended is taken, too, and
 * marked: it never will. */
struct inflight *lane_ask(struct inflight_lane *lane, bool thorough, bool failed);

/* True: what has not ended by now never will. */
bool lane_is_lost(struct inflight_lane *lane, uint64_t now_ns);

/* The thread is about to sleep; a heavy fence comes before lane_park_end. */
void lane_park(struct inflight_lane *lane, uint32_t listed);

/* True: something was posted meanwhile, and the thread keeps looking at the lane. False: it does no
 * more, unless a poster has claimed the lane, who then hands it over. */
bool lane_park_end(struct inflight_lane *lane, uint32_t listed);

/* The last touch of a lane that is closed and empty. False: it is not. */
bool lane_forget(struct inflight_lane *lane);

/* ---- anybody's, of a lane that nobody posts to any more */

/* The thread touches it no more. */
bool lane_is_unknown(const struct inflight_lane *lane);

#endif
