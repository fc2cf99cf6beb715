#include "intercept/hsa/lane.h"

#include <pthread.h>
#include <stddef.h>

#include "base/fork_lock.h"

/* Of those who renew a lane. A leaf. */
static pthread_mutex_t renewing = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(renewing_kept, renewing)

/* ---- the poster's end */

void lane_renew(struct inflight_lane *lane, uint32_t listed)
{
    pthread_mutex_lock(&renewing);
    uint32_t state = atomic_load_explicit(&lane->state, memory_order_seq_cst);
    if (state != LANE_UNKNOWN && state / LANE_EPOCH_STEP != listed / LANE_EPOCH_STEP) {
        atomic_store_explicit(&lane->stack, NULL, memory_order_seq_cst);
        for (uint32_t i = 0; lane->ring && i < INFLIGHT_RING_SLOTS; i++)
            atomic_store_explicit(&lane->ring->slots[i], NULL, memory_order_seq_cst);
        lane->ring_at = lane->ring_next = 0;
        lane->oldest = lane->newest = NULL;
        lane->urgent_count = lane->ringing_count = 0;
        lane->failed_at_ns = 0;
        atomic_store_explicit(&lane->finished,
                              atomic_load_explicit(&lane->posted, memory_order_seq_cst),
                              memory_order_seq_cst);
        atomic_store_explicit(&lane->state, LANE_UNKNOWN, memory_order_seq_cst);
    }
    pthread_mutex_unlock(&renewing);
}

void lane_stack_push(struct inflight_lane *lane, struct inflight *work)
{
    struct inflight *top = atomic_load_explicit(&lane->stack, memory_order_relaxed);
    do
        work->next = top;
    while (!atomic_compare_exchange_weak_explicit(&lane->stack, &top, work, memory_order_release,
                                                  memory_order_relaxed));
}

bool lane_claim(struct inflight_lane *lane, uint32_t listed)
{
    return atomic_exchange_explicit(&lane->state, listed, memory_order_seq_cst) != listed;
}

/* ---- the thread's end */

static void lane_append(struct inflight_lane *lane, struct inflight *work, uint32_t batch)
{
    work->next = NULL;
    work->failed = false;
    work->batch = batch;
    if (lane->newest)
        lane->newest->next = work;
    else
        lane->oldest = work;
    lane->newest = work;
    lane->urgent_count += work->urgent;
    lane->ringing_count += work->urgent && work->rings;
}

static struct inflight *ring_take(struct inflight_lane *lane)
{
    _Atomic(struct inflight *) *slot = &lane->ring->slots[lane->ring_at % INFLIGHT_RING_SLOTS];
    struct inflight *work = atomic_load_explicit(slot, memory_order_acquire);
    if (!work)
        return NULL;
    atomic_store_explicit(slot, NULL, memory_order_release);
    lane->ring_at++;
    return work;
}

/* The stack has the newest entry on top; the list gets the oldest first. */
static uint64_t stack_receive(struct inflight_lane *lane, uint32_t batch)
{
    uint64_t count = 0;
    struct inflight *stack = atomic_exchange_explicit(&lane->stack, NULL, memory_order_acquire);
    struct inflight *in_order = NULL;
    while (stack) {
        struct inflight *next = stack->next;
        stack->next = in_order;
        in_order = stack;
        stack = next;
    }
    while (in_order) {
        struct inflight *next = in_order->next;
        lane_append(lane, in_order, batch);
        count++;
        in_order = next;
    }
    return count;
}

static uint64_t ring_receive(struct inflight_lane *lane, uint32_t batch)
{
    uint64_t count = 0;
    struct inflight *work;
    for (; lane->ring && (work = ring_take(lane)); count++)
        lane_append(lane, work, batch);
    return count;
}

/* The ring first: its entries are older than those that found it full. Once something is on the
 * stack, nothing new comes to the ring until that was taken; what finds it full while it is emptied
 * is there the next time. */
uint64_t lane_receive(struct inflight_lane *lane, uint32_t batch)
{
    bool overflowed = atomic_load_explicit(&lane->stack, memory_order_acquire) != NULL;
    uint64_t count = ring_receive(lane, batch);
    return overflowed ? count + stack_receive(lane, batch) : count;
}

/* True: there is something to receive. */
static bool lane_has_mail(const struct inflight_lane *lane)
{
    if (atomic_load_explicit(&lane->stack, memory_order_acquire))
        return true;
    return lane->ring != NULL &&
           atomic_load_explicit(&lane->ring->slots[lane->ring_at % INFLIGHT_RING_SLOTS],
                                memory_order_acquire) != NULL;
}

static void lane_unlink(struct inflight_lane *lane, struct inflight *before, struct inflight *work)
{
    if (before)
        before->next = work->next;
    else
        lane->oldest = work->next;
    if (lane->newest == work)
        lane->newest = before;
    lane->urgent_count -= work->urgent;
    lane->ringing_count -= work->urgent && work->rings;
}

/* Takes out what has ended, in order; the oldest first. `failed`: the rest will not end. `gone`:
 * nobody can be asked. */
static struct inflight *lane_ended_take(struct inflight_lane *lane, bool thorough, bool failed)
{
    bool gone = atomic_load_explicit(&lane->gone, memory_order_acquire);
    struct inflight *first = NULL, **last = &first;
    struct inflight *before = NULL, *next;
    bool urgent_left = false; /* somebody older that was not done when it was asked */
    for (struct inflight *work = lane->oldest; work; work = next) {
        next = work->next;
        bool ended = !gone && !(work->in_order && urgent_left) && work->ended(work);
        if (ended || failed) {
            work->failed = !ended;
            lane_unlink(lane, before, work);
            *last = work;
            last = &work->next;
        } else if (thorough) {
            before = work;
            urgent_left |= work->urgent;
        } else {
            break;
        }
    }
    *last = NULL;
    return first;
}

struct inflight *lane_ask(struct inflight_lane *lane, bool thorough, bool failed)
{
    const struct inflight_ops *ops = lane->ops;
    if (!lane->oldest)
        return NULL;
    if (ops && ops->asking)
        ops->asking();
    struct inflight *ended = lane_ended_take(lane, thorough, failed);
    if (ops && ops->asked)
        ops->asked();
    return ended;
}

bool lane_is_lost(struct inflight_lane *lane, uint64_t now_ns)
{
    /* Kernels that ran beside the one that broke their queue end soon, or never. */
    enum { FAILED_GRACE_NS = 50000000 };

    if (!atomic_load_explicit(&lane->failed, memory_order_acquire))
        return false;
    if (lane->failed_at_ns == 0)
        lane->failed_at_ns = now_ns;
    return now_ns - lane->failed_at_ns >= FAILED_GRACE_NS;
}

void lane_park(struct inflight_lane *lane, uint32_t listed)
{
    atomic_store_explicit(&lane->state, listed - LANE_LISTED + LANE_PARKING, memory_order_relaxed);
}

bool lane_park_end(struct inflight_lane *lane, uint32_t listed)
{
    uint32_t parking = listed - LANE_LISTED + LANE_PARKING;
    bool mail = lane_has_mail(lane);
    /* Fails when a poster has claimed it. */
    return atomic_compare_exchange_strong_explicit(&lane->state, &parking,
                                                   mail ? listed : LANE_UNKNOWN,
                                                   memory_order_seq_cst, memory_order_seq_cst) &&
           mail;
}

bool lane_forget(struct inflight_lane *lane)
{
    if (!atomic_load_explicit(&lane->closing, memory_order_acquire) || lane->oldest ||
        lane_has_mail(lane))
        return false;
    atomic_store_explicit(&lane->state, LANE_UNKNOWN, memory_order_release);
    return true;
}

bool lane_is_unknown(const struct inflight_lane *lane)
{
    return atomic_load_explicit(&lane->state, memory_order_acquire) == LANE_UNKNOWN;
}
