#include "intercept/hsa/dispatch.h"

#include <hsa/hsa_ext_amd.h>
#include <string.h>

#include "intercept/event_call.h"
#include "intercept/hsa/dispatch_state.h"
#include "intercept/hsa/facts.h"
#include "intercept/hsa/interrupt.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/packet_writer.h"
#include "intercept/hsa/replay.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/launched.h"

/* What may come of one packet of the program's: with what counting puts around it. */
enum { PACKETS_AROUND = 16 };

/* Dispatch ids, 1 and up; submitters of all queues add (relaxed: only uniqueness matters). */
static _Atomic uint64_t dispatch_id_last;

/* Fills in what differs from kernel to kernel; dispatch_pool.c has written what all kernels of a
 * queue share. */
static void dispatch_describe(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *packet)
{
    rocprofiler_kernel_dispatch_info_t *info = &dispatch->trace.info;
    info->kernel_id = objects_kernel_id(packet->kernel_object);
    info->dispatch_id = atomic_fetch_add_explicit(&dispatch_id_last, 1, memory_order_relaxed) + 1;
    info->private_segment_size = packet->private_segment_size;
    info->group_segment_size = packet->group_segment_size;
    info->workgroup_size.x = packet->workgroup_size_x;
    info->workgroup_size.y = packet->workgroup_size_y;
    info->workgroup_size.z = packet->workgroup_size_z;
    info->grid_size.x = packet->grid_size_x;
    info->grid_size.y = packet->grid_size_y;
    info->grid_size.z = packet->grid_size_z;
    dispatch->trace.start_ns = 0;
    dispatch->trace.end_ns = 0;
    dispatch->trace.counting = NULL;
    dispatch->trace.sampling = NULL;
}

/* The packet whose ENTER callbacks this thread runs just now. */
static __thread struct hsa_submission submitting __attribute__((tls_model("initial-exec")));

bool intercept_submission(struct hsa_submission *submission)
{
    *submission = submitting;
    return submitting.packet != NULL;
}

/* True when anybody wants to know of this dispatch. */
static bool dispatch_open(struct dispatch *dispatch, const struct trace_counting_ops *counting)
{
    struct trace_event *event = &dispatch->trace.event;
    if (trace_event_open(event, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) ||
        trace_event_open(event, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE))
        return true;
    if (!counting && !replay_is_watched())
        return false;
    if (!counting || !counting->without_ids)
        trace_event_open_unwatched(event, TRACE_KERNEL_DISPATCH);
    return true;
}

static bool waits_for_older(const union packet *packet)
{
    return (packet->header >> HSA_PACKET_HEADER_BARRIER & 1) != 0;
}

static bool owes_signals(const struct dispatch_queue *queue)
{
    return queue->owed != atomic_load_explicit(&queue->paid, memory_order_acquire);
}

/* True: the device would complete the program's signal of this packet before we complete that of an
 * older one, although the packet waits for the older one's end: who then takes the older one's
 * signal for done with, and reuses or destroys it, would be right. So its signal is completed by
 * us, too, behind the other. */
static bool packet_overtakes(const struct dispatch_queue *queue, const union packet *packet)
{
    return owes_signals(queue) && waits_for_older(packet) && packet_signal(packet).handle != 0;
}

/* The last step of a submission: the completion thread may have it from here on. */
static void dispatch_post(struct dispatch *dispatch)
{
    dispatch->queue->owed += dispatch->user.handle != 0;
    completion_post(&dispatch->work);
}

/* One of the dispatch's own signals, before its packet is written. */
static void own_signal_arm(struct dispatch *dispatch, amd_signal_t *signal, bool rings)
{
    dispatch->work.rings = interrupt_request(dispatch->queue->agent->runtime, signal, rings);
    signal_arm(signal);
}

/* The packet, which is about to be written, keeps the program's signal where that can be lent, so
 * that the program waits no longer than it would without us. `ends`: what is ended by it is, else
 * by a later packet. */
static void signal_take(struct dispatch *dispatch, union packet *packet, bool may_lend, bool ends)
{
    const hsa_signal_t signal = packet_signal(packet);
    dispatch->lent = may_lend && signal.handle != 0 &&
                     borrow_begin(&dispatch->loan, (amd_signal_t *)(uintptr_t)signal.handle);
    dispatch->work.in_order = !dispatch->lent && waits_for_older(packet);
    if (dispatch->lent) {
        dispatch->user.handle = 0; /* nobody waits for us: see `urgent` below and `user` */
        dispatch->work.rings = false;
        return;
    }
    dispatch->user = signal;
    own_signal_arm(dispatch, dispatch->kernel, signal.handle != 0 && ends);
    packet_signal_store(packet, dispatch->kernel);
}

/* Who waits for a kernel that is counted finds its values: they are read after its end, and for
 * those that go to a callback there is nothing else to wait for. */
static void kernel_write(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                         bool in_order, bool ends, struct packet_writer *writer)
{
    bool overtakes = packet_overtakes(dispatch->queue, (const union packet *)kernel);
    union packet *copy = writer_put(writer, kernel);
    if (in_order)
        copy->header |= 1 << HSA_PACKET_HEADER_BARRIER;
    signal_take(dispatch, copy, !dispatch->trace.counting && !overtakes, ends);
}

static bool has_signal_after(const struct trace_packets *packets)
{
    return packets->signal_after && packets->after_count != 0;
}

static void after_write(struct dispatch *dispatch, const struct trace_packets *packets,
                        struct packet_writer *writer)
{
    writer_put_many(writer, packets->after, packets->after_count);
    dispatch->work.ended = dispatch->lent ? dispatch_loan_ended : dispatch_own_signal_ended;
    dispatch->ends = dispatch->kernel;
    if (!has_signal_after(packets))
        return;
    dispatch->ends = dispatch->last;
    own_signal_arm(dispatch, dispatch->last, dispatch->user.handle != 0);
    packet_signal_store(writer_last(writer), dispatch->last);
}

/* The kernel between what counting wants around it; all in one write where possible. */
static void dispatch_write(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                           const struct trace_packets *packets, struct packet_writer *writer)
{
    hsa_barrier_and_packet_t barrier;
    bool waits = packets->serialize && serialize_begin(&dispatch->turn, dispatch->queue->agent,
                                                       dispatch->queue, &barrier);

    if (waits)
        writer_put(writer, &barrier);
    writer_put_many(writer, packets->before, packets->before_count);
    kernel_write(dispatch, kernel, packets->serialize || packets->in_order,
                 !has_signal_after(packets), writer);
    after_write(dispatch, packets, writer);
    /* Whoever waits for a loan's signal waits for the device. A barrier waits for what
     * serialize_end does for the one before it. */
    dispatch->work.urgent = dispatch->user.handle != 0 || waits;
    dispatch->work.complete = dispatch_complete;
}

/* The kernel has run on a queue of ours, or still does: the barrier ends it in the program's. */
static void dispatch_write_replayed(struct dispatch *dispatch,
                                    const hsa_kernel_dispatch_packet_t *kernel,
                                    const hsa_barrier_and_packet_t *barrier,
                                    struct packet_writer *writer)
{
    const union packet *packet = (const union packet *)kernel;
    own_signal_arm(dispatch, dispatch->last, kernel->completion_signal.handle != 0);
    packet_signal_store(writer_put(writer, barrier), dispatch->last);
    dispatch->lent = false;
    dispatch->user = kernel->completion_signal;
    dispatch->ends = dispatch->last;
    dispatch->work.ended = dispatch_own_signal_ended;
    dispatch->work.in_order = waits_for_older(packet);
    dispatch->work.urgent = dispatch->user.handle != 0;
    dispatch->work.complete = dispatch_complete;
}

/* A packet that is no traced kernel, with a signal of ours. False: no memory. */
static bool packet_submit_own(struct dispatch_queue *queue, const union packet *packet,
                              void (*complete)(struct inflight *work, bool failed),
                              struct packet_writer *writer)
{
    struct dispatch *dispatch = dispatch_take(queue);
    if (!dispatch)
        return false;
    dispatch->user = packet_signal(packet);
    dispatch->trace.event.correlation_id.internal = trace_correlation_current();
    dispatch->ends = dispatch->kernel;
    own_signal_arm(dispatch, dispatch->kernel, dispatch->user.handle != 0);
    packet_signal_store(writer_put(writer, packet), dispatch->kernel);
    writer_flush(writer);
    dispatch->work.urgent = dispatch->user.handle != 0;
    dispatch->work.ended = dispatch_own_signal_ended;
    dispatch->work.complete = complete;
    dispatch->work.in_order = waits_for_older(packet);
    dispatch_post(dispatch);
    return true;
}

/* Passes on what is not traced, or is no kernel. Where its signal is lent to a kernel that still
 * runs, the device must not write this packet's times into it; nor may it overtake. */
static void packet_pass(struct dispatch_queue *queue, const union packet *packet,
                        struct packet_writer *writer)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)packet_signal(packet).handle;
    bool may_pass = !packet_overtakes(queue, packet) && borrow_settle(signal);
    bool is_watched = replay_is_watched(); /* a replay waits for all that is before it */
    if (!is_watched && may_pass) {
        writer_put(writer, packet);
        return;
    }
    if (packet_submit_own(queue, packet, dispatch_passed_complete, writer))
        return;
    if (is_watched)
        replay_memory_unknown();
    writer_put(writer, packet);
}

/* Barrier packets have times like kernels, in a signal of ours. */
static void barrier_submit(struct dispatch_queue *queue, const union packet *packet,
                           struct packet_writer *writer)
{
    if (!packet_submit_own(queue, packet, dispatch_barrier_complete, writer))
        packet_pass(queue, packet, writer);
}

static unsigned packet_type(const union packet *packet)
{
    return packet->header >> HSA_PACKET_HEADER_TYPE & 0xff;
}

static bool is_barrier(unsigned type)
{
    return type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR;
}

/* HIP records events by such packets where the device knows them: any thread has seen one (relaxed:
 * it only says more about later calls). */
static _Atomic bool records_by_value;

static bool is_value_barrier(const union packet *packet)
{
    hsa_amd_vendor_packet_header_t header;
    memcpy(&header, packet, sizeof header);
    return packet_type(packet) == HSA_PACKET_TYPE_VENDOR_SPECIFIC &&
           header.AmdFormat == HSA_AMD_PACKET_TYPE_BARRIER_VALUE;
}

static bool waits_for_signals(const union packet *packet)
{
    uint64_t handles = 0;
    for (unsigned i = 0; i < sizeof packet->barrier.dep_signal / sizeof(hsa_signal_t); i++)
        handles |= packet->barrier.dep_signal[i].handle;
    return handles != 0;
}

/* Of the packets of the event's call, the one that does what it says. A record on the null stream
 * has barriers for the other streams before it. */
static bool is_of_event(const union packet *packet)
{
    bool records = event_call_here.operation == ROCPROFILER_HIP_EVENT_RECORD;
    if (records && is_value_barrier(packet)) {
        atomic_store_explicit(&records_by_value, true, memory_order_relaxed);
        return true;
    }
    if (!is_barrier(packet_type(packet)))
        return false;
    return records ? !atomic_load_explicit(&records_by_value, memory_order_relaxed)
                   : waits_for_signals(packet);
}

static bool event_open(struct dispatch *dispatch, const union packet *packet)
{
    const struct event_call *call = &event_call_here;
    if (!trace_event_open(&dispatch->trace.event, TRACE_HIP_EVENT, call->operation))
        return false;
    dispatch->hip_event = (struct dispatch_event){
        .handle = call->event,
        .source_queue = call->operation == ROCPROFILER_HIP_EVENT_RECORD ? dispatch->queue->id
                                                                        : call->source_queue,
        .operation = call->operation,
        .is_barrier = is_barrier(packet_type(packet)),
    };
    dispatch->trace.start_ns = dispatch->trace.end_ns = 0;
    return true;
}

static void event_write(struct dispatch *dispatch, const union packet *packet,
                        struct packet_writer *writer)
{
    bool overtakes = packet_overtakes(dispatch->queue, packet);
    signal_take(dispatch, writer_put(writer, packet), !overtakes, true);
    writer_flush(writer);
    dispatch->ends = dispatch->kernel;
    dispatch->work.urgent = dispatch->user.handle != 0;
    dispatch->work.ended = dispatch->lent ? dispatch_loan_ended : dispatch_own_signal_ended;
    dispatch->work.complete = dispatch_event_complete;
}

/* False: nobody wants to know, or there is no memory. */
static bool event_submit(struct dispatch_queue *queue, const union packet *packet,
                         struct packet_writer *writer)
{
    event_call_take(queue->id);
    if (!trace_set_load(TRACE_HIP_EVENT, event_call_here.operation))
        return false;
    struct dispatch *dispatch = dispatch_take(queue);
    if (!dispatch)
        return false;
    if (!event_open(dispatch, packet)) {
        dispatch_put_back(dispatch);
        return false;
    }
    dispatch_event_call(dispatch, ROCPROFILER_CALLBACK_PHASE_ENTER);
    event_write(dispatch, packet, writer);
    dispatch_event_call(dispatch, ROCPROFILER_CALLBACK_PHASE_EXIT);
    dispatch_post(dispatch);
    return true;
}

static void dispatch_launch(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                            struct packet_writer *writer)
{
    struct trace_packets packets;
    memset(&packets, 0, sizeof packets);
    if (dispatch->counting)
        dispatch->counting->dispatch_begin(&dispatch->trace, &packets);
    dispatch_write(dispatch, kernel, &packets, writer);
}

/* What is before the kernel in the queue is there first, where the runtime lets us write more than
 * once; where it does not, it gave us the kernel alone. */
static bool dispatch_replay(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                            struct packet_writer *writer)
{
    hsa_barrier_and_packet_t barrier;
    if (dispatch->queue->guard.size == 0)
        writer_flush(writer);
    if (!replay_run(dispatch, kernel, &barrier))
        return false;
    dispatch_write_replayed(dispatch, kernel, &barrier, writer);
    return true;
}

static void dispatch_submit(struct dispatch_queue *queue, const union packet *packet,
                            uint64_t packet_index, struct packet_writer *writer)
{
    const struct trace_counting_ops *counting =
        atomic_load_explicit(&trace_counting, memory_order_acquire);
    struct dispatch *dispatch = dispatch_take(queue);
    queue->lost += !dispatch;
    if (!dispatch || !dispatch_open(dispatch, counting)) {
        if (dispatch)
            dispatch_put_back(dispatch);
        packet_pass(queue, packet, writer);
        return;
    }
    dispatch_describe(dispatch, &packet->kernel);
    dispatch->counting = counting;
    dispatch->turn = (struct serial_turn){0};
    const struct hsa_submission outer = submitting; /* callbacks may launch, on other queues */
    submitting = (struct hsa_submission){packet, queue->queue, queue->agent->info->node_id,
                                         queue->agent->hsa.handle, packet_index};
    dispatch_callbacks_run(dispatch, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE,
                           ROCPROFILER_CALLBACK_PHASE_ENTER);
    trace_event_recapture(&dispatch->trace.event, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    bool is_watched = replay_is_watched();
    bool is_replayed = is_watched && dispatch_replay(dispatch, &packet->kernel, writer);
    bool is_inside = is_watched && !is_replayed;
    if (is_inside)
        replay_launch_begin(dispatch);
    if (!is_replayed)
        dispatch_launch(dispatch, &packet->kernel, writer);
    submitting = outer;
    writer_flush(writer);
    dispatch_callbacks_run(dispatch, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE,
                           ROCPROFILER_CALLBACK_PHASE_EXIT);
    dispatch_post(dispatch);
    if (is_inside)
        replay_launch_end(queue);
}

/* For a launch of HIP's that this thread is in the middle of. */
static void launched_count(const struct dispatch_queue *queue, const union packet *packets,
                           uint64_t count)
{
    uint64_t kernels = 0;
    for (uint64_t i = 0; i < count; i++)
        kernels += packet_type(&packets[i]) == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    launched_note(kernels, queue->agent->id);
}

static bool anybody_listens(void)
{
    return replay_is_watched() || event_call_is_open() ||
           atomic_load_explicit(&trace_counting, memory_order_acquire) != NULL ||
           trace_set_load(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) != NULL ||
           trace_set_load(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE) != NULL ||
           trace_set_load(TRACE_QUEUE_BARRIER, 0) != NULL;
}

static void packet_submit(struct dispatch_queue *queue, const union packet *packet,
                          uint64_t packet_index, struct packet_writer *writer)
{
    unsigned type = packet_type(packet);
    hsa_barrier_and_packet_t marker;
    ring_guard_wait(&queue->guard, queue->queue, packet_index, PACKETS_AROUND, &queue->lane.failed);
    if (ring_guard_mark(&queue->guard, &marker))
        writer_put(writer, &marker);
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
        dispatch_submit(queue, packet, packet_index, writer);
    else if (event_call_is_open() && is_of_event(packet) && event_submit(queue, packet, writer))
        return;
    else if (is_barrier(type) && trace_set_load(TRACE_QUEUE_BARRIER, 0))
        barrier_submit(queue, packet, writer);
    else
        packet_pass(queue, packet, writer);
}

void dispatch_packets_submit(const void *packets, uint64_t count, uint64_t first_index, void *data,
                             void (*write)(const void *packets, uint64_t count))
{
    struct dispatch_queue *queue = data;
    const union packet *packet = packets;
    struct packet_writer writer;
    if (__builtin_expect(launched_is_open(), 0))
        launched_count(queue, packet, count);
    if (!anybody_listens() && !borrow_any() && queue->guard.size == 0 && !owes_signals(queue)) {
        write(packets, count);
        return;
    }
    writer.count = 0;
    writer.guard = &queue->guard;
    writer.write = write;
    for (uint64_t i = 0; i < count; i++)
        packet_submit(queue, &packet[i], first_index + i, &writer);
    writer_flush(&writer);
}
