#include "cp/scratch.h"

#include <hsa/amd_hsa_queue.h>
#include <stddef.h>

#include "cp/internal.h"

/* queue_inactive_signal: waves of 64 lanes lack memory; memory for one use is given back. */
enum { SIGNAL_SCRATCH_WAVE64 = 0x1, SIGNAL_SCRATCH_RETURNED = 0x200 };

/* Capabilities of a queue: each side says that it knows the second version of amd_queue_t. */
enum { CAPS_RECLAIM_PROCESSOR = 1 << 0, CAPS_RECLAIM_RUNTIME = 1 << 1 };
enum { RING_WAVES_MASK = 0xfff }; /* COMPUTE_TMPRING_SIZE.WAVES of gfx9: of one die */

/*
 * The second version of amd_queue_t behind `hsa_queue`, from the field on that older headers end
 * with. Runtimes of ROCm 6.4 and later have it, and set CAPS_RECLAIM_RUNTIME.
 */
struct second_version {
    uint64_t max_use_index; /* up to which packet the queue's memory may be used */
    hsa_signal_t inactive_signal;
    uint64_t alternate_max_use_index;
    uint32_t alternate_descriptor[4];
    uint64_t alternate_location;
    uint32_t alternate_grid[3]; /* largest grid that it serves */
    uint32_t alternate_lane_bytes;
    uint32_t alternate_ring;
    uint32_t reserved;
    struct {
        uint64_t main, alternate;
    } last_used[]; /* packet index, for each die */
};
enum {
    QUEUE_CAPS = sizeof(hsa_queue_t),
    QUEUE_SECOND = offsetof(amd_queue_t, queue_inactive_signal) -
                   offsetof(struct second_version, inactive_signal)
};
_Static_assert(QUEUE_SECOND == offsetof(amd_queue_t, queue_properties) + sizeof(uint32_t),
               "the new field takes what was reserved");
_Static_assert(QUEUE_SECOND + offsetof(struct second_version, last_used) == sizeof(amd_queue_t),
               "the rest follows the first version");

#define SECOND(field) (QUEUE_SECOND + offsetof(struct second_version, field))

/* What the runtime has given the queue, as of now. */
struct given {
    uint32_t lane_bytes, ring, properties, caps;
};

static bool queue_load32(struct cp_queue *queue, uint64_t offset, uint32_t *value)
{
    return access_load32(&queue->device->access, queue_amd_va(queue) + offset, value);
}

static bool queue_load64(struct cp_queue *queue, uint64_t offset, uint64_t *value)
{
    return access_load64(&queue->device->access, queue_amd_va(queue) + offset, value);
}

static bool given_read(struct cp_queue *queue, struct given *given)
{
    return queue_load32(queue, offsetof(amd_queue_t, scratch_wave64_lane_byte_size),
                        &given->lane_bytes) &&
           queue_load32(queue, offsetof(amd_queue_t, compute_tmpring_size), &given->ring) &&
           queue_load32(queue, offsetof(amd_queue_t, queue_properties), &given->properties) &&
           queue_load32(queue, QUEUE_CAPS, &given->caps);
}

static enum step fields_fault(struct cp_queue *queue)
{
    return queue_fault(queue, &queue->device->access, "scratch fields of the queue");
}

void scratch_announce(struct cp_queue *queue)
{
    struct access *access = &queue->device->access;
    uint32_t caps;
    if (queue->config.type != CP_QUEUE_AQL || !queue->device->model->reclaims_scratch)
        return;
    vm_reader_enter(&access->reader);
    if (queue_load32(queue, QUEUE_CAPS, &caps))
        access_store32(access, queue_amd_va(queue) + QUEUE_CAPS, caps | CAPS_RECLAIM_PROCESSOR);
    vm_reader_leave(&access->reader);
}

/* Both sides know the second version. */
static bool reclaims(const struct cp_queue *queue, const struct given *given)
{
    return queue->device->model->reclaims_scratch && given->caps & CAPS_RECLAIM_RUNTIME;
}

/* Every die counts for itself; here they all run the same packet. */
static bool use_note(struct cp_queue *queue, bool alternate)
{
    uint64_t at = SECOND(last_used) + (alternate ? sizeof(uint64_t) : 0);
    for (uint32_t die = 0; die < queue->device->model->xcc_count; die++)
        if (!access_store64(&queue->device->access,
                            queue_amd_va(queue) + at + die * 2 * sizeof(uint64_t), queue->fetch))
            return false;
    return true;
}

/* STEP_MORE: it serves the packet. STEP_IDLE: it does not. */
static enum step main_take(struct cp_queue *queue, const struct given *given, uint32_t *waves)
{
    *waves = (given->ring & RING_WAVES_MASK) * queue->device->model->xcc_count;
    if (reclaims(queue, given)) {
        uint64_t last;
        if (!queue_load64(queue, SECOND(max_use_index), &last))
            return fields_fault(queue);
        if (queue->fetch > last)
            return STEP_IDLE;
        if (!use_note(queue, false))
            return fields_fault(queue);
    }
    if (given->properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE)
        queue->scratch = SCRATCH_ONCE;
    return STEP_MORE;
}

/* The second piece of memory, for grids up to a size. */
static enum step alternate_take(struct cp_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
                                uint32_t *waves)
{
    const uint32_t grid[3] = {packet->grid_size_x, packet->grid_size_y, packet->grid_size_z};
    uint32_t lane_bytes, ring;
    uint64_t last;
    bool serves = true;
    for (uint32_t axis = 0; axis < 3; axis++) {
        uint32_t most;
        if (!queue_load32(queue, SECOND(alternate_grid[0]) + axis * sizeof most, &most))
            return fields_fault(queue);
        serves &= grid[axis] <= most;
    }
    if (!queue_load32(queue, SECOND(alternate_lane_bytes), &lane_bytes) ||
        !queue_load32(queue, SECOND(alternate_ring), &ring) ||
        !queue_load64(queue, SECOND(alternate_max_use_index), &last))
        return fields_fault(queue);
    *waves = (ring & RING_WAVES_MASK) * queue->device->model->xcc_count;
    if (!serves || packet->private_segment_size > lane_bytes || queue->fetch > last)
        return STEP_IDLE;
    return use_note(queue, true) ? STEP_MORE : fields_fault(queue);
}

static enum step runtime_tell(struct cp_queue *queue, uint64_t bits)
{
    if (!ring_release(queue)) /* the read index is that of the packet in question */
        return queue_fault(queue, &queue->device->access, "AQL ring");
    return queue_tell(queue, bits);
}

/* The runtime looks at the packet at the read index, and what it gives replaces what the queue had:
 * nothing else may be in flight. */
static enum step more_ask(struct cp_queue *queue)
{
    if (queue->retire != queue->fetch)
        return STEP_WAIT;
    queue->scratch = SCRATCH_ASKED;
    return runtime_tell(queue, SIGNAL_SCRATCH_WAVE64);
}

enum step scratch_take(struct cp_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
                       uint32_t *waves)
{
    struct given given;
    enum step step = STEP_IDLE;
    if (!given_read(queue, &given))
        return fields_fault(queue);
    if (packet->private_segment_size <= given.lane_bytes)
        step = main_take(queue, &given, waves);
    else if (reclaims(queue, &given))
        step = alternate_take(queue, packet, waves);
    if (step == STEP_IDLE)
        return more_ask(queue);
    return step == STEP_MORE ? STEP_IDLE : step;
}

static enum step answer_wait(struct cp_queue *queue)
{
    hsa_signal_t signal;
    int64_t value;
    if (!queue_load64(queue, offsetof(amd_queue_t, queue_inactive_signal), &signal.handle) ||
        !signal_load(&queue->device->access, signal, &value))
        return queue_fault(queue, &queue->device->access, "queue_inactive_signal");
    if (value != 0) /* also for good, when the runtime has none to give and ends the queue */
        return STEP_BLOCKED;
    queue->scratch = SCRATCH_READY;
    return STEP_IDLE;
}

static enum step release_wait(struct cp_queue *queue)
{
    uint32_t properties;
    if (!queue_load32(queue, offsetof(amd_queue_t, queue_properties), &properties))
        return fields_fault(queue);
    if (properties & AMD_QUEUE_PROPERTIES_USE_SCRATCH_ONCE)
        return STEP_BLOCKED;
    queue->scratch = SCRATCH_READY;
    return STEP_IDLE;
}

enum step scratch_step(struct cp_queue *queue)
{
    switch (queue->scratch) {
    case SCRATCH_READY:
        return STEP_IDLE;
    case SCRATCH_ASKED:
        return answer_wait(queue);
    case SCRATCH_ONCE:
        if (queue->retire != queue->fetch)
            return STEP_WAIT;
        queue->scratch = SCRATCH_RETURNED;
        return runtime_tell(queue, SIGNAL_SCRATCH_RETURNED);
    case SCRATCH_RETURNED:
        return release_wait(queue);
    }
    return STEP_IDLE;
}
