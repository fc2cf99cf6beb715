#include "intercept/hsa/dispatch.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/borrow.h"
#include "intercept/hsa/facts.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/serialize.h"
#include "intercept/hsa/signals.h"

enum {
    BLOCK_DISPATCHES_MIN = 64,
    BLOCK_DISPATCHES_MAX = 1024,
    PACKETS_AT_ONCE = 32,
    PACKETS_AROUND = 16
};

union packet {
    uint16_t header;
    hsa_kernel_dispatch_packet_t kernel;
    hsa_barrier_and_packet_t barrier;
    unsigned char bytes[64];
};
_Static_assert(sizeof(union packet) == 64, "AQL packets are 64 bytes");

/* Every kind of AQL packet has its completion signal in the last eight bytes. */
enum { COMPLETION_SIGNAL_OFFSET = 56 };
_Static_assert(offsetof(hsa_kernel_dispatch_packet_t, completion_signal) ==
                   COMPLETION_SIGNAL_OFFSET,
               "AQL layout");

/* What a plain record needs stands at the beginning and fits some lines; users of callbacks and of
 * external ids go on into the trace event's slots. */
struct dispatch {
    _Alignas(64) struct inflight work; /* first */
    struct dispatch *next;             /* of the ready, gathered and returned lists */
    struct loan loan;                  /* when the packet's own signal stays in it */
    struct dispatch_queue *queue;
    amd_signal_t *kernel; /* ends with the kernel, unless that has the packet's own signal */
    amd_signal_t *last;   /* ends with the last packet after it */
    amd_signal_t *ends;   /* the one of both that ends the dispatch when nothing is lent */
    hsa_signal_t user;    /* the packet's own signal, replaced by ours; handle 0: none */
    const struct trace_counting_ops *counting; /* whose begin was called; NULL: nobody's */
    struct serial_turn turn;
    bool lent;
    struct trace_dispatch trace; /* last */
};

struct dispatch_block {
    struct dispatch_block *next;
    amd_signal_t *signals;
    uint32_t count;
    _Alignas(64) struct dispatch dispatches[];
};

/* Dispatch ids, 1 and up; submitters of all queues add (relaxed: only uniqueness matters). */
static _Atomic uint64_t dispatch_id_last;

/* Each block is as large as all before it together: few calls into the runtime, which take long. */
static uint32_t block_size(const struct dispatch_queue *queue)
{
    uint32_t count = queue->blocks != NULL ? 2 * queue->blocks->count : BLOCK_DISPATCHES_MIN;
    return count < BLOCK_DISPATCHES_MAX ? count : BLOCK_DISPATCHES_MAX;
}

/* What this thread announces just now. */
static __thread struct hsa_submission submitting __attribute__((tls_model("initial-exec")));

bool intercept_submission(struct hsa_submission *submission)
{
    *submission = submitting;
    return submitting.packet != NULL;
}

static void *zeroed_alloc(size_t size)
{
    void *memory = aligned_alloc(64, size);
    if (memory != NULL)
        memset(memory, 0, size);
    return memory;
}

static bool block_add(struct dispatch_queue *queue)
{
    uint32_t count = block_size(queue);
    struct dispatch_block *block =
        zeroed_alloc(sizeof *block + count * sizeof block->dispatches[0]);
    amd_signal_t *signals = signals_block_make(queue->agent->runtime, 2 * count);

    if (block == NULL || signals == NULL) {
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

    for (size_t at = 0; dispatch != NULL && at < END; at += LINE)
        __builtin_prefetch((const char *)dispatch + at, 1);
}

static struct dispatch *dispatch_take(struct dispatch_queue *queue)
{
    if (queue->ready == NULL)
        queue->ready = atomic_exchange_explicit(&queue->returned, NULL, memory_order_acquire);
    if (queue->ready == NULL && !block_add(queue))
        return NULL;
    struct dispatch *dispatch = queue->ready;
    queue->ready = dispatch->next;
    dispatch_prefetch(queue->ready);
    return dispatch;
}

/* The submitting thread: it was not needed. */
static void dispatch_put_back(struct dispatch *dispatch)
{
    dispatch->next = dispatch->queue->ready;
    dispatch->queue->ready = dispatch;
}

static void dispatch_gather(struct dispatch *dispatch)
{
    struct dispatch_queue *queue = dispatch->queue;
    dispatch->next = queue->gathered;
    queue->gathered = dispatch;
    if (dispatch->next == NULL)
        queue->gathered_last = dispatch;
}

static void gathered_return(struct inflight_lane *lane)
{
    struct dispatch_queue *queue = (struct dispatch_queue *)(void *)lane;
    struct dispatch *top = atomic_load_explicit(&queue->returned, memory_order_relaxed);
    if (queue->gathered == NULL)
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
    if (queue == NULL)
        return NULL;
    queue->agent = agent;
    queue->lane.ops = &lane_ops;
    queue->lane.ring = &queue->ring;
    return queue;
}

void dispatch_queue_free(struct dispatch_queue *queue)
{
    struct dispatch_block *next;
    if (queue->lost > 0)
        log_warning("intercept", "%llu dispatches of queue %llu are not reported: no memory",
                    (unsigned long long)queue->lost, (unsigned long long)queue->id);
    for (struct dispatch_block *block = queue->blocks; block != NULL; block = next) {
        next = block->next;
        signals_block_free(queue->agent->runtime, block->signals);
        free(block);
    }
    ring_guard_free(&queue->guard);
    free(queue);
}

/* What is the same for all of a queue stands there since block_add. */
static void info_fill(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *packet)
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

static void callbacks_run(struct dispatch *dispatch, int32_t operation,
                          rocprofiler_callback_phase_t phase)
{
    if (!trace_event_is_called(&dispatch->trace.event, operation))
        return;
    rocprofiler_callback_tracing_kernel_dispatch_data_t data = {
        .size = sizeof data,
        .start_timestamp = dispatch->trace.start_ns,
        .end_timestamp = dispatch->trace.end_ns,
        .dispatch_info = dispatch->trace.info,
    };

    trace_event_call(&dispatch->trace.event, operation, phase, &data);
}

static void record_emit(struct dispatch *dispatch)
{
    rocprofiler_buffer_tracing_kernel_dispatch_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
        .operation = ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
        .thread_id = dispatch->trace.event.thread_id,
        .start_timestamp = dispatch->trace.start_ns,
        .end_timestamp = dispatch->trace.end_ns,
        .dispatch_info = dispatch->trace.info,
    };

    trace_event_record(&dispatch->trace.event, &record, sizeof record);
}

/* The program gets what the device would have given it: times first, then the count. */
static void user_signal_complete(const struct dispatch *dispatch)
{
    amd_signal_t *user = (amd_signal_t *)(uintptr_t)dispatch->user.handle;
    if (user == NULL)
        return;
    /* Not into a signal that another kernel, still running, will write its own times into. */
    if (user->kind == AMD_SIGNAL_KIND_USER && borrow_settle(user)) {
        /* Relaxed: the device may write the times of another packet that counts the same signal. */
        __atomic_store_n(&user->start_ts, dispatch->kernel->start_ts, __ATOMIC_RELAXED);
        __atomic_store_n(&user->end_ts, dispatch->kernel->end_ts, __ATOMIC_RELAXED);
    }
    thread_own_work_begin(); /* waking who waits is what the device would have done */
    dispatch->queue->agent->runtime->real.hsa_signal_subtract_screlease(dispatch->user, 1);
    thread_own_work_end();
}

/* Acquire, pairs with the device's decrement: results and timestamps were written before. */
static bool own_signal_ended(struct inflight *work)
{
    const struct dispatch *dispatch = (const struct dispatch *)(const void *)work;
    return __atomic_load_n(&dispatch->ends->value, __ATOMIC_ACQUIRE) < 1;
}

static bool loan_ended(struct inflight *work)
{
    return borrow_end(&((struct dispatch *)(void *)work)->loan);
}

/* The program's signal may be destroyed, or its queue's time stamps switched off, under us. */
static void untimed_report(void)
{
    static bool told; /* completion thread only */
    if (!told)
        log_warning("intercept", "a kernel ended without time stamps: such kernels are not "
                                 "reported");
    told = true;
}

static void times_convert(struct dispatch *dispatch, uint64_t start_ticks, uint64_t end_ticks)
{
    const struct hsa_agent_entry *agent = dispatch->queue->agent;
    dispatch->trace.end_ns = agents_device_time_ns(agent, end_ticks);
    dispatch->trace.start_ns = agents_device_time_ns(agent, start_ticks);
}

/* False: the kernel has no times. */
static bool times_take(struct dispatch *dispatch)
{
    const struct borrow_times *lent = &dispatch->loan.times;
    if (!dispatch->lent)
        times_convert(dispatch, dispatch->kernel->start_ts, dispatch->kernel->end_ts);
    else if (lent->end_ticks != 0)
        times_convert(dispatch, lent->start_ticks, lent->end_ticks);
    else
        untimed_report();
    return !dispatch->lent || lent->end_ticks != 0;
}

static void dispatch_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (failed && dispatch->lent)
        borrow_cancel(&dispatch->loan);
    bool timed = !failed && times_take(dispatch);
    if (dispatch->counting != NULL)
        dispatch->counting->dispatch_complete(&dispatch->trace, failed);
    if (timed) {
        callbacks_run(dispatch, ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
                      ROCPROFILER_CALLBACK_PHASE_NONE);
        record_emit(dispatch);
        /* After the records: who waits for the kernel and then flushes finds them. */
        user_signal_complete(dispatch);
    }
    trace_event_release(&dispatch->trace.event);
    serialize_end(&dispatch->turn);
    dispatch_gather(dispatch);
}

/* True when anybody wants to know of this dispatch. */
static bool dispatch_open(struct dispatch *dispatch, const struct trace_counting_ops *counting)
{
    struct trace_event *event = &dispatch->trace.event;
    if (trace_event_open(event, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) ||
        trace_event_open(event, TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE))
        return true;
    if (counting == NULL)
        return false;
    trace_event_open_unwatched(event, TRACE_KERNEL_DISPATCH);
    return true;
}

struct packet_writer {
    union packet packets[PACKETS_AT_ONCE];
    uint32_t count;
    struct ring_guard *guard;
    void (*write)(const void *packets, uint64_t count);
};

static void writer_flush(struct packet_writer *writer)
{
    if (writer->count > 0)
        writer->write(writer->packets, writer->count);
    writer->guard->written += writer->count;
    writer->count = 0;
}

static union packet *writer_put(struct packet_writer *writer, const void *packet)
{
    if (writer->count == PACKETS_AT_ONCE)
        writer_flush(writer);
    union packet *copy = &writer->packets[writer->count++];
    memcpy(copy, packet, sizeof *copy);
    return copy;
}

static void writer_put_many(struct packet_writer *writer, const void *packets, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        writer_put(writer, (const union packet *)packets + i);
}

static void signal_store(union packet *packet, amd_signal_t *signal)
{
    hsa_signal_t handle = signal_handle(signal);
    memcpy(packet->bytes + COMPLETION_SIGNAL_OFFSET, &handle, sizeof handle);
}

/* The packet keeps the program's signal where that can be lent, so that the program waits no longer
 * than it would without us. Who waits for a kernel that is counted finds its values: they are read
 * after its end, and for those that go to a callback there is nothing else to wait for. */
static void kernel_write(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                         bool serialize, struct packet_writer *writer)
{
    amd_signal_t *signal = (amd_signal_t *)(uintptr_t)kernel->completion_signal.handle;
    union packet *copy = writer_put(writer, kernel);
    if (serialize)
        copy->header |= 1 << HSA_PACKET_HEADER_BARRIER;
    dispatch->lent =
        dispatch->trace.counting == NULL && signal != NULL && borrow_begin(&dispatch->loan, signal);
    if (dispatch->lent) {
        dispatch->user.handle = 0;
        return;
    }
    dispatch->user = kernel->completion_signal;
    signal_arm(dispatch->kernel);
    signal_store(copy, dispatch->kernel);
}

static void after_write(struct dispatch *dispatch, const struct trace_packets *packets,
                        struct packet_writer *writer)
{
    writer_put_many(writer, packets->after, packets->after_count);
    dispatch->work.ended = dispatch->lent ? loan_ended : own_signal_ended;
    dispatch->ends = dispatch->kernel;
    if (!packets->signal_after || packets->after_count == 0)
        return;
    dispatch->ends = dispatch->last;
    signal_arm(dispatch->last);
    signal_store(&writer->packets[writer->count - 1], dispatch->last);
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
    kernel_write(dispatch, kernel, packets->serialize, writer);
    after_write(dispatch, packets, writer);
    /* The barrier waits for what serialize_end does for the one before it. */
    dispatch->work.urgent = dispatch->user.handle != 0 || waits;
    dispatch->work.complete = dispatch_complete;
}

static void barrier_report(struct dispatch *dispatch)
{
    times_convert(dispatch, dispatch->kernel->start_ts, dispatch->kernel->end_ts);
    const struct trace_report report = {
        .correlation = dispatch->trace.event.correlation_id.internal,
        .start_ns = dispatch->trace.start_ns,
        .end_ns = dispatch->trace.end_ns,
        .queue = dispatch->queue->id,
        .device = dispatch->queue->agent->info->node_id,
    };

    if (dispatch->kernel->end_ts != 0)
        trace_report(TRACE_QUEUE_BARRIER, &report, NULL);
}

static void barrier_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (!failed) {
        barrier_report(dispatch);
        user_signal_complete(dispatch);
    }
    dispatch_gather(dispatch);
}

static void passed_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (!failed)
        user_signal_complete(dispatch);
    dispatch_gather(dispatch);
}

/* A packet that is no traced kernel, with a signal of ours. False: no memory. */
static bool packet_submit_own(struct dispatch_queue *queue, const union packet *packet,
                              void (*complete)(struct inflight *work, bool failed),
                              struct packet_writer *writer)
{
    struct dispatch *dispatch = dispatch_take(queue);
    if (dispatch == NULL)
        return false;
    memcpy(&dispatch->user, packet->bytes + COMPLETION_SIGNAL_OFFSET, sizeof dispatch->user);
    dispatch->trace.event.correlation_id.internal = trace_correlation_current();
    dispatch->ends = dispatch->kernel;
    signal_arm(dispatch->kernel);
    signal_store(writer_put(writer, packet), dispatch->kernel);
    writer_flush(writer);
    dispatch->work.urgent = dispatch->user.handle != 0;
    dispatch->work.ended = own_signal_ended;
    dispatch->work.complete = complete;
    completion_post(&dispatch->work);
    return true;
}

/* What is not traced, or is no kernel. Where its signal is lent to a kernel that still runs, the
 * device must not write this packet's times into it. */
static void packet_pass(struct dispatch_queue *queue, const union packet *packet,
                        struct packet_writer *writer)
{
    amd_signal_t *signal;
    memcpy(&signal, packet->bytes + COMPLETION_SIGNAL_OFFSET, sizeof signal);
    if (borrow_settle(signal) || !packet_submit_own(queue, packet, passed_complete, writer))
        writer_put(writer, packet);
}

/* Barrier packets have times like kernels, in a signal of ours. */
static void barrier_submit(struct dispatch_queue *queue, const union packet *packet,
                           struct packet_writer *writer)
{
    if (!packet_submit_own(queue, packet, barrier_complete, writer))
        packet_pass(queue, packet, writer);
}

static bool is_barrier(unsigned type)
{
    return type == HSA_PACKET_TYPE_BARRIER_AND || type == HSA_PACKET_TYPE_BARRIER_OR;
}

static void dispatch_submit(struct dispatch_queue *queue, const union packet *packet,
                            uint64_t packet_index, struct packet_writer *writer)
{
    const struct trace_counting_ops *counting =
        atomic_load_explicit(&trace_counting, memory_order_acquire);
    struct dispatch *dispatch = dispatch_take(queue);
    struct trace_packets packets;

    queue->lost += dispatch == NULL;
    if (dispatch == NULL || !dispatch_open(dispatch, counting)) {
        if (dispatch != NULL)
            dispatch_put_back(dispatch);
        packet_pass(queue, packet, writer);
        return;
    }
    info_fill(dispatch, &packet->kernel);
    dispatch->counting = counting;
    dispatch->turn = (struct serial_turn){0};
    const struct hsa_submission outer = submitting; /* callbacks may launch, on other queues */
    submitting = (struct hsa_submission){packet, queue->queue, queue->agent->info->node_id,
                                         queue->agent->hsa.handle, packet_index};
    callbacks_run(dispatch, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE, ROCPROFILER_CALLBACK_PHASE_ENTER);
    trace_event_recapture(&dispatch->trace.event, ROCPROFILER_KERNEL_DISPATCH_COMPLETE);
    memset(&packets, 0, sizeof packets);
    if (counting != NULL)
        counting->dispatch_begin(&dispatch->trace, &packets);
    submitting = outer;
    dispatch_write(dispatch, &packet->kernel, &packets, writer);
    writer_flush(writer);
    callbacks_run(dispatch, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE, ROCPROFILER_CALLBACK_PHASE_EXIT);
    completion_post(&dispatch->work);
}

static bool anybody_listens(void)
{
    return atomic_load_explicit(&trace_counting, memory_order_acquire) != NULL ||
           trace_set_load(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_ENQUEUE) != NULL ||
           trace_set_load(TRACE_KERNEL_DISPATCH, ROCPROFILER_KERNEL_DISPATCH_COMPLETE) != NULL ||
           trace_set_load(TRACE_QUEUE_BARRIER, 0) != NULL;
}

static void packet_submit(struct dispatch_queue *queue, const union packet *packet,
                          uint64_t packet_index, struct packet_writer *writer)
{
    unsigned type = packet->header >> HSA_PACKET_HEADER_TYPE & 0xff;
    hsa_barrier_and_packet_t marker;
    ring_guard_wait(&queue->guard, queue->queue, packet_index, PACKETS_AROUND, &queue->lane.failed);
    if (ring_guard_mark(&queue->guard, &marker))
        writer_put(writer, &marker);
    if (type == HSA_PACKET_TYPE_KERNEL_DISPATCH)
        dispatch_submit(queue, packet, packet_index, writer);
    else if (is_barrier(type) && trace_set_load(TRACE_QUEUE_BARRIER, 0) != NULL)
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
    if (!anybody_listens() && !borrow_any() && queue->guard.size == 0) {
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
