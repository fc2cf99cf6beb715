/* The memory of dispatches: blocks that a queue keeps until it ends, and the way of a dispatch from
 * the submitting thread to the completion thread and back. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "intercept/hsa/dispatch_state.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/interrupt.h"
#include "intercept/hsa/signals.h"

enum { BLOCK_DISPATCHES_MIN = 64, BLOCK_DISPATCHES_MAX = 1024 };

struct dispatch_block {
    struct dispatch_block *next;
    amd_signal_t *signals;
    uint32_t count;
    _Alignas(64) struct dispatch dispatches[];
};

/* Each block is as large as all before it together, because a call into the runtime takes long. */
static uint32_t block_size(const struct dispatch_queue *queue)
{
    uint32_t count = queue->blocks ? 2 * queue->blocks->count : BLOCK_DISPATCHES_MIN;
    return count < BLOCK_DISPATCHES_MAX ? count : BLOCK_DISPATCHES_MAX;
}

static void *zeroed_alloc(size_t size)
{
    void *memory = aligned_alloc(64, size);
    if (memory)
        memset(memory, 0, size);
    return memory;
}

static bool block_add(struct dispatch_queue *queue)
{
    uint32_t count = block_size(queue);
    struct dispatch_block *block =
        zeroed_alloc(sizeof *block + count * sizeof block->dispatches[0]);
    amd_signal_t *signals = signals_block_make(queue->agent->runtime, 2 * count);

    if (!block || !signals) {
        signals_block_free(queue->agent->runtime, signals);
        free(block);
        return false;
    }
    block->signals = signals;
    block->count = count;
    for (uint32_t i = count; i-- > 0;) {
        struct dispatch *dispatch = &block->dispatches[i];
        dispatch->queue = queue;
        dispatch->work.lane = &queue->lane;
        dispatch->trace.info.size = sizeof dispatch->trace.info;
        dispatch->trace.info.agent_id = queue->agent->id;
        dispatch->trace.info.queue_id.handle = queue->id;
        dispatch->trace.hsa_agent = queue->agent->hsa.handle;
        dispatch->trace.hsa_queue = (uint64_t)(uintptr_t)queue->queue;
        dispatch->kernel = &signals[2 * i];
        dispatch->last = &signals[2 * i + 1];
        dispatch->next = queue->ready;
        queue->ready = dispatch;
    }
    block->next = queue->blocks;
    queue->blocks = block;
    return true;
}

/* The completion thread has read the record; the next submission will write it. */
static void dispatch_prefetch(const struct dispatch *dispatch)
{
    enum { LINE = 64, END = offsetof(struct dispatch, trace.event.slots) };

    for (size_t at = 0; dispatch && at < END; at += LINE)
        __builtin_prefetch((const char *)dispatch + at, 1);
}

struct dispatch *dispatch_take(struct dispatch_queue *queue)
{
    if (!queue->ready)
        queue->ready = atomic_exchange_explicit(&queue->returned, NULL, memory_order_acquire);
    if (!queue->ready && !block_add(queue))
        return NULL;
    struct dispatch *dispatch = queue->ready;
    queue->ready = dispatch->next;
    dispatch_prefetch(queue->ready);
    return dispatch;
}

void dispatch_put_back(struct dispatch *dispatch)
{
    dispatch->next = dispatch->queue->ready;
    dispatch->queue->ready = dispatch;
}

void dispatch_gather(struct dispatch *dispatch)
{
    struct dispatch_queue *queue = dispatch->queue;
    if (dispatch->user.handle != 0)
        atomic_fetch_add_explicit(&queue->paid, 1, memory_order_release);
    dispatch->next = queue->gathered;
    queue->gathered = dispatch;
    if (!dispatch->next)
        queue->gathered_last = dispatch;
}

static void gathered_return(struct inflight_lane *lane)
{
    struct dispatch_queue *queue = (struct dispatch_queue *)(void *)lane;
    struct dispatch *top = atomic_load_explicit(&queue->returned, memory_order_relaxed);
    if (!queue->gathered)
        return;
    do
        queue->gathered_last->next = top;
    while (!atomic_compare_exchange_weak_explicit(&queue->returned, &top, queue->gathered,
                                                  memory_order_release, memory_order_relaxed));
    queue->gathered = NULL;
}

static const struct inflight_ops lane_ops = {borrow_asking, borrow_asked, gathered_return};

struct dispatch_queue *dispatch_queue_make(const struct hsa_agent_entry *agent)
{
    struct dispatch_queue *queue = zeroed_alloc(sizeof *queue);
    if (!queue)
        return NULL;
    queue->agent = agent;
    queue->lane.ops = &lane_ops;
    queue->lane.ring = &queue->ring;
    interrupt_open(agent->runtime);
    return queue;
}

void dispatch_queue_free(struct dispatch_queue *queue)
{
    struct dispatch_block *next;
    if (queue->lost > 0)
        log_warning("intercept", "%llu dispatches of queue %llu are not reported: no memory",
                    (unsigned long long)queue->lost, (unsigned long long)queue->id);
    for (struct dispatch_block *block = queue->blocks; block; block = next) {
        next = block->next;
        signals_block_free(queue->agent->runtime, block->signals);
        free(block);
    }
    ring_guard_free(&queue->guard);
    free(queue);
}
