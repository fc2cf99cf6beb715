#include "intercept/hsa/lane.h"

#include <stddef.h>

static void lane_append(struct inflight_lane *lane, struct inflight *work, uint32_t batch)
{
    work->next = NULL;
    work->failed = false;
    work->batch = batch;
    if (lane->newest != NULL)
        lane->newest->next = work;
    else
        lane->oldest = work;
    lane->newest = work;
    lane->urgent_count += work->urgent;
}

static struct inflight *ring_take(struct inflight_lane *lane)
{
    _Atomic(struct inflight *) *slot = &lane->ring->slots[lane->ring_at % INFLIGHT_RING_SLOTS];
    struct inflight *work = atomic_load_explicit(slot, memory_order_acquire);

    if (work == NULL)
        return NULL;
    atomic_store_explicit(slot, NULL, memory_order_release);
    lane->ring_at++;
    return work;
}

/* What stands on the stack was posted newest last. */
static uint64_t stack_receive(struct inflight_lane *lane, uint32_t batch)
{
    uint64_t count = 0;
    struct inflight *stack = atomic_exchange_explicit(&lane->stack, NULL, memory_order_acquire);
    struct inflight *in_order = NULL;

    while (stack != NULL) {
        struct inflight *next = stack->next;
        stack->next = in_order;
        in_order = stack;
        stack = next;
    }
    while (in_order != NULL) {
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

    for (; lane->ring != NULL && (work = ring_take(lane)) != NULL; count++)
        lane_append(lane, work, batch);
    return count;
}

/* The ring first: its entries are older than those that found it full. It may have been filled and
 * have overflowed since it was looked at; once something is on the stack, nothing new comes to it
 * until that was taken. */
uint64_t lane_receive(struct inflight_lane *lane, uint32_t batch)
{
    uint64_t count = ring_receive(lane, batch);
    if (atomic_load_explicit(&lane->stack, memory_order_acquire) == NULL)
        return count;
    count += ring_receive(lane, batch);
    return count + stack_receive(lane, batch);
}

bool lane_has_mail(const struct inflight_lane *lane)
{
    if (atomic_load_explicit(&lane->stack, memory_order_acquire) != NULL)
        return true;
    return lane->ring != NULL &&
           atomic_load_explicit(&lane->ring->slots[lane->ring_at % INFLIGHT_RING_SLOTS],
                                memory_order_acquire) != NULL;
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
}

/* Takes out what has ended, in order; the oldest first. `failed`: the rest will not end. `gone`:
 * nobody can be asked. */
static struct inflight *lane_ended_take(struct inflight_lane *lane, bool thorough, bool failed)
{
    bool gone = atomic_load_explicit(&lane->gone, memory_order_acquire);
    struct inflight *first = NULL, **last = &first;
    struct inflight *before = NULL, *next;

    for (struct inflight *work = lane->oldest; work != NULL; work = next) {
        next = work->next;
        bool ended = !gone && work->ended(work);
        if (ended || failed) {
            work->failed = !ended;
            lane_unlink(lane, before, work);
            *last = work;
            last = &work->next;
        } else if (thorough) {
            before = work;
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

    if (lane->oldest == NULL)
        return NULL;
    if (ops != NULL && ops->asking != NULL)
        ops->asking();
    struct inflight *ended = lane_ended_take(lane, thorough, failed);
    if (ops != NULL && ops->asked != NULL)
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

bool lane_forget(struct inflight_lane *lane)
{
    if (!atomic_load_explicit(&lane->closing, memory_order_acquire) || lane->oldest != NULL ||
        lane_has_mail(lane))
        return false;
    atomic_store_explicit(&lane->state, 0, memory_order_release);
    return true;
}
