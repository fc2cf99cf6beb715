#include "intercept/hsa/ring_guard.h"

#include "base/log.h"
#include "base/wait.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/signals.h"

enum {
    SIZE_MIN = 64,   /* smaller queues could not hold markers and packets */
    PARTS = 8,       /* markers in a full queue */
    LAG_MARKERS = 2, /* the queue's read index follows the end of packets with some delay */
    STALL_S = 10,
    STEP_NS = 20 * WAIT_NS_PER_US,
};

void ring_guard_make(struct ring_guard *guard, const struct hsa_instance *runtime,
                     const hsa_queue_t *queue)
{
    *guard = (struct ring_guard){.runtime = runtime};
    if (runtime->real.hsa_amd_vmem_address_reserve_align || queue->size < SIZE_MIN ||
        !runtime->real.hsa_queue_load_read_index_relaxed ||
        !runtime->real.hsa_queue_load_write_index_relaxed)
        return;
    guard->signals = signals_block_make(runtime, RING_MARKERS);
    if (guard->signals)
        guard->size = queue->size;
}

void ring_guard_free(struct ring_guard *guard)
{
    signals_block_free(guard->runtime, guard->signals);
}

static void markers_reap(struct ring_guard *guard)
{
    while (guard->first != guard->next &&
           __atomic_load_n(&guard->signals[guard->first % RING_MARKERS].value, __ATOMIC_ACQUIRE) <
               1) {
        guard->first++;
        if (guard->first > LAG_MARKERS)
            guard->ended = guard->marked[(guard->first - 1 - LAG_MARKERS) % RING_MARKERS];
    }
}

static bool has_room(struct ring_guard *guard, uint32_t count)
{
    markers_reap(guard);
    /* A sixteenth of the queue is left to the runtime's own packets. */
    return guard->written + count + guard->size / 16 <= guard->ended + guard->size;
}

/* The runtime works through all packets up to the write index before it moves the read index. */
static bool is_alone(const struct hsa_calls *real, const hsa_queue_t *queue, uint64_t packet_index)
{
    return real->hsa_queue_load_read_index_relaxed(queue) == packet_index &&
           real->hsa_queue_load_write_index_relaxed(queue) <= packet_index + 1;
}

struct room {
    struct ring_guard *guard;
    uint32_t count;
    const _Atomic bool *failed; /* a lane's; read here (acquire) */
};

static bool has_room_or_failed(void *argument)
{
    struct room *room = argument;
    return has_room(room->guard, room->count) ||
           atomic_load_explicit(room->failed, memory_order_acquire);
}

static uint64_t markers_passed(void *argument)
{
    return ((struct room *)argument)->guard->first;
}

void ring_guard_wait(struct ring_guard *guard, const hsa_queue_t *queue, uint64_t packet_index,
                     uint32_t count, const _Atomic bool *failed)
{
    struct room room = {guard, count, failed};
    if (guard->size == 0 || has_room(guard, count) ||
        is_alone(&guard->runtime->real, queue, packet_index))
        return;
    if (wait_while_moving(has_room_or_failed, markers_passed, &room, STALL_S * WAIT_NS_PER_S,
                          STEP_NS))
        return;
    log_warning("intercept", "the queue is full and does not move: the HSA runtime may give up");
}

bool ring_guard_mark(struct ring_guard *guard, hsa_barrier_and_packet_t *packet)
{
    if (guard->size == 0)
        return false;
    uint64_t last = guard->next > 0 ? guard->marked[(guard->next - 1) % RING_MARKERS] : 0;
    if (guard->written - last < guard->size / PARTS)
        return false;
    markers_reap(guard);
    /* The oldest marker that is still needed must not be overwritten. */
    if (guard->next - guard->first >= RING_MARKERS - LAG_MARKERS - 1)
        return false;
    amd_signal_t *signal = &guard->signals[guard->next % RING_MARKERS];
    signal_arm(signal);
    *packet = (hsa_barrier_and_packet_t){
        .header =
            HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER,
        .completion_signal = signal_handle(signal),
    };
    guard->marked[guard->next % RING_MARKERS] = guard->written;
    guard->next++;
    return true;
}
