/*
 * AQL packets. Packets start in ring order; dispatches without the barrier bit overlap. A slot of
 * the ring is given back (ring.c: header INVALID, read_dispatch_id moves on) only when its packet
 * has completed, because a kernel may read its own packet through the dispatch pointer for as long
 * as it runs.
 */
#include <errno.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/hsa_ext_amd.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "cp/internal.h"

enum {
    PACKETS_PER_TURN = 32, /* then the next queue has its turn */
    GROUP_ITEMS_MAX = 1024,
    VENDOR_FORMAT_PM4_IB = 1,
    VENDOR_FORMAT_BARRIER_VALUE = 2,
    PM4_IB_JUMP = 0xc0023f00u, /* INDIRECT_BUFFER, 3 dwords of body */
    IB_SIZE_MASK = 0xfffff
};

static struct slot *slot_of(struct cp_queue *queue, uint64_t index)
{
    return &queue->slot[index % SLOTS_MAX];
}

/* "illegal instruction by v_bad_b32 (7e000200 00000000) at PC 0x2040" */
static enum step dispatch_fault(struct cp_queue *queue, const struct dispatch_result *result)
{
    static const struct {
        const char *name;
        uint32_t code;   /* 0: memory */
        uint32_t access; /* of a memory fault */
        bool has_address;
    } kinds[] = {
        [FAULT_NONE] = {"fault", QUEUE_ERROR_ILLEGAL_INSTRUCTION, 0, false},
        [FAULT_MEMORY_READ] = {"memory fault reading", 0, VM_READ, true},
        [FAULT_MEMORY_WRITE] = {"memory fault writing", 0, VM_WRITE, true},
        [FAULT_MEMORY_EXEC] = {"memory fault fetching code at", 0, VM_EXEC, true},
        [FAULT_ILLEGAL_INSTRUCTION] = {"illegal instruction", QUEUE_ERROR_ILLEGAL_INSTRUCTION, 0,
                                       false},
        [FAULT_APERTURE] = {"aperture violation at", QUEUE_ERROR_APERTURE, 0, true},
        [FAULT_TRAP] = {"trap", QUEUE_ERROR_TRAP, 0, false},
        [FAULT_ASSERT_TRAP] = {"assertion trap", QUEUE_ERROR_TRAP, 0, false},
    };
    char address[24] = "";

    if (kinds[result->fault].has_address)
        snprintf(address, sizeof address, " 0x%llx", (unsigned long long)result->fault_va);
    queue->error.fault_va = result->fault_va;
    queue->error.fault_kind = kinds[result->fault].access;
    return queue_error(queue, kinds[result->fault].code, "%s%s by %s (%08x %08x) at PC 0x%llx",
                       kinds[result->fault].name, address,
                       result->mnemonic[0] ? result->mnemonic : "an unknown instruction",
                       result->raw[0], result->raw[1], (unsigned long long)result->fault_pc_va);
}

/* Finished packets, in ring order. */
static void packets_retire(struct cp_queue *queue)
{
    while (queue->retire != queue->fetch) {
        struct slot *slot = slot_of(queue, queue->retire);
        uint32_t state = atomic_load_explicit(&slot->state, memory_order_acquire);
        if (state != SLOT_DONE) /* nor one with a fault, which is still to be told */
            break;
        timeline_end(&queue->timeline, slot->result.end_ticks);
        queue->retire++;
    }
}

/* A fault is reported at once, also behind a kernel that never ends. */
static enum step faults_look(struct cp_queue *queue)
{
    for (uint64_t index = queue->retire; index != queue->fetch; index++) {
        struct slot *slot = slot_of(queue, index);
        if (atomic_load_explicit(&slot->state, memory_order_acquire) == SLOT_FAULT)
            return dispatch_fault(queue, &slot->result);
    }
    return STEP_IDLE;
}

/* The good end of a dispatch, inside a read section of `access`. */
static void dispatch_complete(struct slot *slot, struct access *access, struct signal_event *event)
{
    const struct dispatch_result *result = &slot->result;
    const struct signal_times times = {result->begin_ticks, result->end_ticks,
                                       result->model_cycles};
    if (signal_complete(access, slot->completion, slot->profiled ? &times : NULL, event))
        return;
    slot->result = (struct dispatch_result){
        .fault = FAULT_MEMORY_WRITE, .fault_va = access->fault_va, .mnemonic = "completion signal"};
}

/* The dispatch is over, and its packet may retire. */
static void slot_end(struct slot *slot)
{
    struct cp_queue *queue = slot->queue;
    atomic_fetch_sub_explicit(&queue->device->in_flight, 1, memory_order_relaxed);
    atomic_store_explicit(&slot->state, slot->result.fault == FAULT_NONE ? SLOT_DONE : SLOT_FAULT,
                          memory_order_release);
    /* release, pairs with the acquire of who waits for 0: the counters are in, but for a
     * kernel that is late, which engine_settle() brings (pm4_step()). */
    atomic_fetch_sub_explicit(&queue->running, 1, memory_order_release);
}

/* Under completion_lock, by the thread that ended the dispatch. */
static void dispatch_end(struct slot *slot, struct signal_event *event)
{
    struct access *access = &slot->queue->device->completion_access;
    if (slot->result.fault == FAULT_NONE) {
        vm_reader_enter(&access->reader);
        dispatch_complete(slot, access, event);
        vm_reader_leave(&access->reader);
    }
    slot_end(slot);
}

static bool is_early(const struct cp_queue *queue, const struct dispatch_result *result)
{
    return queue->is_modelled && result->fault == FAULT_NONE &&
           result->end_ticks > gpu_clock_ticks();
}

/* The engine's report, from a pool thread or from engine_help(): completes the signal here, so
 * that the host does not wait for the CP thread to be scheduled; but for a kernel whose modelled
 * end is yet to come. */
static void dispatch_done(void *arg, const struct dispatch_result *result)
{
    struct slot *slot = arg;
    struct cp_queue *queue = slot->queue;
    struct cp_device *device = queue->device;
    struct signal_event event = {0};
    pthread_mutex_lock(&device->completion_lock);
    bool dead = queue->dead;
    if (!dead) {
        slot->result = *result;
        if (is_early(queue, result))
            atomic_store_explicit(&slot->state, SLOT_HELD, memory_order_release);
        else
            dispatch_end(slot, &event);
    }
    pthread_mutex_unlock(&device->completion_lock);
    if (dead)
        return;
    if (event.event_id)
        cp_events_raise(device->events, event.event_id);
    cp_events_wake(device->events);
}

/* Kernels that were held back end when their time has come. Returns how many are left. Here, on the
 * CP thread, no queue dies. */
static uint32_t held_look(struct cp_queue *queue)
{
    uint32_t left = 0;
    for (uint64_t index = queue->retire; index != queue->fetch; index++) {
        struct slot *slot = slot_of(queue, index);
        if (atomic_load_explicit(&slot->state, memory_order_acquire) != SLOT_HELD)
            continue;
        left++;
        if (is_early(queue, &slot->result))
            continue;
        struct signal_event event = {0};
        dispatch_complete(slot, &queue->device->access, &event);
        queue_raise(queue, event.event_id);
        slot_end(slot);
        left--;
    }
    return left;
}

/* s_sendmsg(MSG_INTERRUPT), from inside an execution slice: a read section, where the driver must
 * not be called. The CP thread raises it. */
static void dispatch_interrupt_raise(void *arg, uint32_t event_id)
{
    struct slot *slot = arg;
    cp_events_post(slot->queue->device->events, event_id);
}

static enum step dispatch_check(struct cp_queue *queue, const hsa_kernel_dispatch_packet_t *packet)
{
    uint32_t dimensions = packet->setup & 3;
    uint64_t items =
        (uint64_t)packet->workgroup_size_x * packet->workgroup_size_y * packet->workgroup_size_z;
    if (dimensions == 0 || !packet->grid_size_x || !packet->grid_size_y || !packet->grid_size_z ||
        items == 0)
        return queue_error(queue, QUEUE_ERROR_DIMENSIONS,
                           "dispatch of %u dimensions, grid %ux%ux%u, group %ux%ux%u", dimensions,
                           packet->grid_size_x, packet->grid_size_y, packet->grid_size_z,
                           packet->workgroup_size_x, packet->workgroup_size_y,
                           packet->workgroup_size_z);
    if (items > GROUP_ITEMS_MAX)
        return queue_error(queue, QUEUE_ERROR_GROUP_SIZE,
                           "work-group of %llu work-items, at most %d are possible",
                           (unsigned long long)items, GROUP_ITEMS_MAX);
    if (packet->group_segment_size > queue->device->model->lds_bytes)
        return queue_error(queue, QUEUE_ERROR_GROUP_MEMORY,
                           "%u bytes of group memory, a compute unit has %u",
                           packet->group_segment_size, queue->device->model->lds_bytes);
    if (!packet->kernel_object)
        return queue_error(queue, QUEUE_ERROR_CODE_OBJECT, "dispatch without a kernel");
    return STEP_IDLE;
}

static enum step submit_error(struct cp_queue *queue, int status, uint64_t kernel)
{
    uint32_t code = status == -ENOMEM   ? QUEUE_ERROR_OTHER
                    : status == -ENOSPC ? QUEUE_ERROR_REGISTERS
                                        : QUEUE_ERROR_CODE_OBJECT;
    return queue_error(queue, code, "kernel descriptor 0x%llx cannot be dispatched: %s",
                       (unsigned long long)kernel, strerrordesc_np(-status));
}

/* Somebody reads when the packet began and ended. */
static bool is_timed(const struct cp_queue *queue, hsa_signal_t completion)
{
    return queue->is_modelled || (queue->profiled && completion.handle);
}

static enum step dispatch_start(struct cp_queue *queue, const hsa_kernel_dispatch_packet_t *packet,
                                uint64_t begin_ticks)
{
    struct slot *slot = slot_of(queue, queue->fetch);
    uint32_t scratch_waves = 0;
    enum step checked = dispatch_check(queue, packet);
    if (checked == STEP_IDLE && packet->private_segment_size)
        checked = scratch_take(queue, packet, &scratch_waves);
    if (checked != STEP_IDLE)
        return checked;

    atomic_store_explicit(&slot->state, SLOT_RUNNING, memory_order_relaxed);
    slot->queue = queue;
    slot->completion = packet->completion_signal;
    slot->profiled = queue->profiled;
    struct dispatch_request request = {
        .packet = *packet,
        .packet_va = ring_packet_va(queue, queue->fetch),
        .amd_queue_va = queue_amd_va(queue),
        .dispatch_id = queue->fetch,
        .queue_id = queue->config.queue_id,
        .is_counted = queue->is_counted,
        .is_untimed = !is_timed(queue, packet->completion_signal),
        .begin_ticks = begin_ticks,
        .gws = queue->config.gws,
        .units = queue->config.units,
        .scratch_waves = scratch_waves,
        .done = dispatch_done,
        .interrupt = dispatch_interrupt_raise,
        .arg = slot,
    };
    /* Counted before the submit: done() may run before it returns. */
    atomic_fetch_add_explicit(&queue->running, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&queue->device->in_flight, 1, memory_order_relaxed);
    int status = engine_submit(queue->device->engine, &request);
    if (status == 0) {
        queue->fetch++;
        return STEP_MORE;
    }
    atomic_fetch_sub_explicit(&queue->running, 1, memory_order_relaxed);
    atomic_fetch_sub_explicit(&queue->device->in_flight, 1, memory_order_relaxed);
    if (status == -EAGAIN)
        return STEP_BLOCKED;
    return submit_error(queue, status, packet->kernel_object);
}

static struct signal_times packet_times(const struct cp_queue *queue)
{
    struct signal_times times = {.begin_ticks = queue->packet_begin_ticks};
    times.end_ticks =
        queue->is_modelled && !queue->packet_waited ? times.begin_ticks : gpu_clock_ticks();
    if (times.begin_ticks == 0)
        times.begin_ticks = times.end_ticks;
    return times;
}

/* A packet that the CP itself executed is over. */
static enum step packet_complete(struct cp_queue *queue, hsa_signal_t completion)
{
    struct access *access = &queue->device->access;
    struct signal_event event;
    struct signal_times times = {0};
    if (is_timed(queue, completion))
        times = packet_times(queue);
    if (!signal_complete(access, completion, queue->profiled ? &times : NULL, &event))
        return queue_fault(queue, access, "completion signal");
    timeline_end_all(&queue->timeline, times.end_ticks);
    queue_raise(queue, event.event_id);
    atomic_store_explicit(&slot_of(queue, queue->fetch)->state, SLOT_DONE, memory_order_relaxed);
    queue->packet_begin_ticks = 0;
    queue->packet_waited = false;
    queue->fetch++;
    return STEP_MORE;
}

/* A barrier packet that need not wait has its modelled time from its own queue: what it stands for
 * may have ended later by its own, and in the computer before. Its completion says when. */
static void signals_follow(struct cp_queue *queue, const uint64_t *ends_ticks, uint32_t count,
                           bool any)
{
    uint64_t end_ticks = count ? ends_ticks[0] : 0, now_ticks = gpu_clock_ticks();
    for (uint32_t i = 1; i < count; i++)
        if (any ? ends_ticks[i] < end_ticks : ends_ticks[i] > end_ticks)
            end_ticks = ends_ticks[i];
    if (end_ticks > now_ticks) /* whatever was written there */
        end_ticks = now_ticks;
    if (!queue->packet_waited && end_ticks > queue->packet_begin_ticks)
        queue->packet_begin_ticks = end_ticks;
}

static enum step barrier_step(struct cp_queue *queue, const hsa_barrier_and_packet_t *packet,
                              bool any)
{
    struct access *access = &queue->device->access;
    uint64_t ends_ticks[5] = {0};
    uint32_t present = 0, satisfied = 0;
    for (int i = 0; i < 5; i++) {
        int64_t value;
        if (!packet->dep_signal[i].handle)
            continue;
        if (!signal_load(access, packet->dep_signal[i], &value))
            return queue_fault(queue, access, "barrier packet");
        present++;
        if (value != 0)
            continue;
        if (queue->is_modelled &&
            !signal_end_load(access, packet->dep_signal[i], &ends_ticks[satisfied]))
            return queue_fault(queue, access, "barrier packet");
        satisfied++;
    }
    bool open = any ? satisfied || !present : satisfied == present;
    if (!open)
        return STEP_BLOCKED;
    if (queue->is_modelled)
        signals_follow(queue, ends_ticks, satisfied, any);
    return packet_complete(queue, packet->completion_signal);
}

static enum step barrier_value_step(struct cp_queue *queue,
                                    const hsa_amd_barrier_value_packet_t *packet)
{
    struct access *access = &queue->device->access;
    int64_t value;
    if (!packet->signal.handle)
        return packet_complete(queue, packet->completion_signal);
    if (!signal_load(access, packet->signal, &value))
        return queue_fault(queue, access, "barrier-value packet");
    value &= packet->mask;
    bool open;
    switch (packet->cond) {
    case HSA_SIGNAL_CONDITION_EQ:
        open = value == packet->value;
        break;
    case HSA_SIGNAL_CONDITION_NE:
        open = value != packet->value;
        break;
    case HSA_SIGNAL_CONDITION_LT:
        open = value < packet->value;
        break;
    case HSA_SIGNAL_CONDITION_GTE:
        open = value >= packet->value;
        break;
    default:
        return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET,
                           "barrier-value packet with condition %u", packet->cond);
    }
    return open ? packet_complete(queue, packet->completion_signal) : STEP_BLOCKED;
}

static enum step pm4_packet_step(struct cp_queue *queue, const struct pm4_ib_packet *packet)
{
    if (queue->pm4.depth == 0) {
        if (packet->ib_jump[0] != PM4_IB_JUMP)
            return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET,
                               "vendor packet of format 1 holds 0x%08x, not INDIRECT_BUFFER",
                               packet->ib_jump[0]);
        pm4_start(&queue->pm4, (uint64_t)packet->ib_jump[2] << 32 | (packet->ib_jump[1] & ~3u),
                  packet->ib_jump[3] & IB_SIZE_MASK);
    }
    enum step step = pm4_step(queue);
    if (step != STEP_IDLE)
        return step;
    return packet_complete(queue, packet->completion_signal);
}

static enum step vendor_step(struct cp_queue *queue, const union aql_packet *packet)
{
    uint32_t format = packet->barrier_value.header.AmdFormat;
    if (format == VENDOR_FORMAT_PM4_IB)
        return pm4_packet_step(queue, &packet->pm4);
    if (format == VENDOR_FORMAT_BARRIER_VALUE)
        return barrier_value_step(queue, &packet->barrier_value);
    return queue_error(queue, QUEUE_ERROR_VENDOR_PACKET, "vendor packet of unknown format %u",
                       format);
}

static enum step packet_do(struct cp_queue *queue, const union aql_packet *packet,
                           uint64_t kernel_begin_ticks)
{
    uint32_t type = packet->header >> HSA_PACKET_HEADER_TYPE & 0xff;
    switch (type) {
    case HSA_PACKET_TYPE_KERNEL_DISPATCH:
        queue->packet_begin_ticks = 0;
        return dispatch_start(queue, &packet->dispatch, kernel_begin_ticks);
    case HSA_PACKET_TYPE_BARRIER_AND:
        return barrier_step(queue, &packet->barrier, false);
    case HSA_PACKET_TYPE_BARRIER_OR:
        return barrier_step(queue, &packet->barrier, true);
    case HSA_PACKET_TYPE_VENDOR_SPECIFIC:
        return vendor_step(queue, packet);
    default:
        return queue_error(queue, QUEUE_ERROR_PACKET, "packet %llu has type %u",
                           (unsigned long long)queue->fetch, type);
    }
}

/* Others begin when they end, or when they are found to wait: asking for the time takes as long as
 * they do. */
static bool takes_time(const union aql_packet *packet)
{
    return (packet->header >> HSA_PACKET_HEADER_TYPE & 0xff) == HSA_PACKET_TYPE_VENDOR_SPECIFIC;
}

static enum step packet_step(struct cp_queue *queue, const union aql_packet *packet)
{
    struct timeline_arrival arrival = {0, 0};
    bool has_barrier_bit = packet->header >> HSA_PACKET_HEADER_BARRIER & 1;
    if (queue->is_modelled)
        arrival =
            timeline_begin(&queue->timeline, queue->fetch, has_barrier_bit, gpu_clock_ticks());
    if (queue->packet_begin_ticks == 0 && (queue->is_modelled || takes_time(packet)))
        queue->packet_begin_ticks = queue->is_modelled ? arrival.mark_ticks : gpu_clock_ticks();
    enum step step = packet_do(queue, packet, arrival.work_ticks);
    queue->packet_waited = step != STEP_MORE;
    if (queue->packet_waited && queue->packet_begin_ticks == 0)
        queue->packet_begin_ticks = gpu_clock_ticks();
    return step;
}

/* Looks at the packet at `fetch` and does what can be done now. */
static enum step next_packet_step(struct cp_queue *queue)
{
    union aql_packet packet;
    if (queue->fetch - queue->retire >= queue->window)
        return STEP_WAIT;
    enum step step = scratch_step(queue);
    if (step != STEP_IDLE)
        return step;
    step = ring_take(queue, &packet);
    if (step == STEP_IDLE && queue->retire != queue->fetch)
        return STEP_WAIT;
    if (step != STEP_MORE)
        return step;
    if ((packet.header >> HSA_PACKET_HEADER_BARRIER & 1) && queue->retire != queue->fetch)
        return STEP_WAIT;
    step = ring_properties_read(queue);
    if (step != STEP_MORE)
        return step;
    return packet_step(queue, &packet);
}

/* What is new in the ring, and whose time has come. */
static enum step modelled_time_step(struct cp_queue *queue, uint32_t *held)
{
    struct access *access = &queue->device->access;
    uint64_t write_index;
    if (!access_load64(access, queue->config.write_pointer_va, &write_index))
        return queue_fault(queue, access, "write_dispatch_id");
    timeline_look(&queue->timeline, write_index, gpu_clock_ticks());
    *held = held_look(queue);
    return STEP_IDLE;
}

static enum step packets_step(struct cp_queue *queue, uint32_t held)
{
    for (int turn = 0; turn < PACKETS_PER_TURN; turn++) {
        enum step step = faults_look(queue);
        packets_retire(queue);
        if (step == STEP_IDLE)
            step = next_packet_step(queue);
        if (step == STEP_WAIT && held) /* nobody kicks when a time has come */
            return STEP_BLOCKED;
        if (step != STEP_MORE)
            return step;
    }
    return STEP_MORE;
}

enum step aql_step(struct cp_queue *queue)
{
    uint32_t held = 0;
    if (queue->is_modelled && modelled_time_step(queue, &held) != STEP_IDLE)
        return STEP_ERROR;
    enum step step = packets_step(queue, held);
    if (ring_release(queue) || step == STEP_ERROR)
        return step;
    return queue_fault(queue, &queue->device->access, "AQL ring");
}
