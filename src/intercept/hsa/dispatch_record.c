/* What is said of a dispatch at its end, on the completion thread: callbacks, its record, and the
 * program's signal. */
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/dispatch_state.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/replay.h"

void dispatch_callbacks_call(struct dispatch *dispatch, int32_t operation,
                             rocprofiler_callback_phase_t phase)
{
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

/* The program gets what the device would have given it: times first, then the count. A loan has no
 * `user`: the device has completed the program's signal itself. */
static void user_signal_complete(const struct dispatch *dispatch)
{
    amd_signal_t *user = (amd_signal_t *)(uintptr_t)dispatch->user.handle;
    if (!user)
        return;
    /* The times do not go into a signal that another kernel, still running, will write its own
     * into. */
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
bool dispatch_own_signal_ended(struct inflight *work)
{
    const struct dispatch *dispatch = (const struct dispatch *)(const void *)work;
    return __atomic_load_n(&dispatch->ends->value, __ATOMIC_ACQUIRE) < 1;
}

bool dispatch_loan_ended(struct inflight *work)
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

/* What the device's model of itself makes of the kernel, where the driver says that it has one. */
static void cycles_convert(struct dispatch *dispatch, uint64_t cycles)
{
    const uint64_t ns_per_s = 1000000000, hz = dispatch->queue->agent->cycles_hz;
    if (hz == 0)
        return;
    uint64_t ns = cycles / hz * ns_per_s + cycles % hz * ns_per_s / hz;
    memcpy(dispatch->trace.info.reserved_padding, &ns, sizeof ns);
}

bool dispatch_times_take(struct dispatch *dispatch)
{
    const struct borrow_times *lent = &dispatch->loan.times;
    replay_times_take(dispatch);
    cycles_convert(dispatch, dispatch->lent ? lent->cycles : borrow_cycles(dispatch->kernel));
    if (!dispatch->lent)
        times_convert(dispatch, dispatch->kernel->start_ts, dispatch->kernel->end_ts);
    else if (lent->end_ticks != 0)
        times_convert(dispatch, lent->start_ticks, lent->end_ticks);
    else
        untimed_report();
    return !dispatch->lent || lent->end_ticks != 0;
}

void dispatch_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (failed && dispatch->lent)
        borrow_cancel(&dispatch->loan);
    bool timed = !failed && dispatch_times_take(dispatch);
    /* A kernel's record comes before its values, as tools know it from AMD's library: they make
     * what they keep of a queue at its first kernel. */
    if (timed) {
        dispatch_callbacks_run(dispatch, ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
                               ROCPROFILER_CALLBACK_PHASE_NONE);
        record_emit(dispatch);
    }
    if (dispatch->counting)
        dispatch->counting->dispatch_complete(&dispatch->trace, failed);
    /* After the records: who waits for the kernel and then flushes finds them. */
    if (timed)
        user_signal_complete(dispatch);
    trace_event_release(&dispatch->trace.event);
    serialize_end(&dispatch->turn);
    replay_kernel_ended(dispatch);
    dispatch_gather(dispatch);
}

static void barrier_report(const struct dispatch *dispatch)
{
    const struct trace_report report = {
        .correlation = dispatch->trace.event.correlation_id.internal,
        .start_ns = dispatch->trace.start_ns,
        .end_ns = dispatch->trace.end_ns,
        .queue = dispatch->queue->id,
        .device = dispatch->queue->agent->info->node_id,
    };

    trace_report(TRACE_QUEUE_BARRIER, &report, NULL);
}

/* Of a packet that is no kernel. False: it has none. */
static bool packet_times_take(struct dispatch *dispatch, bool lent)
{
    uint64_t start = lent ? dispatch->loan.times.start_ticks : dispatch->kernel->start_ts;
    uint64_t end = lent ? dispatch->loan.times.end_ticks : dispatch->kernel->end_ts;
    times_convert(dispatch, start, end);
    return end != 0;
}

void dispatch_barrier_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (!failed) {
        if (packet_times_take(dispatch, false))
            barrier_report(dispatch);
        user_signal_complete(dispatch);
    }
    dispatch_gather(dispatch);
}

void dispatch_event_call(struct dispatch *dispatch, rocprofiler_callback_phase_t phase)
{
    const struct dispatch_event *said = &dispatch->hip_event;
    if (!trace_event_is_called(&dispatch->trace.event, said->operation))
        return;
    rocprofiler_callback_tracing_hip_event_data_t data = {
        .size = sizeof data,
        .start_timestamp = dispatch->trace.start_ns,
        .end_timestamp = dispatch->trace.end_ns,
        .agent_id = dispatch->queue->agent->id,
        .queue_id = {dispatch->queue->id},
        .hip_event_handle = said->handle,
        .source_queue_id = {said->source_queue},
    };
    trace_event_call(&dispatch->trace.event, said->operation, phase, &data);
}

static void event_record(struct dispatch *dispatch)
{
    const struct dispatch_event *said = &dispatch->hip_event;
    const rocprofiler_buffer_tracing_hip_event_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_HIP_EVENT,
        .operation = (rocprofiler_hip_event_operation_t)said->operation,
        .thread_id = dispatch->trace.event.thread_id,
        .start_timestamp = dispatch->trace.start_ns,
        .end_timestamp = dispatch->trace.end_ns,
        .agent_id = dispatch->queue->agent->id,
        .queue_id = {dispatch->queue->id},
        .hip_event_handle = said->handle,
        .source_queue_id = {said->source_queue},
    };
    trace_event_record(&dispatch->trace.event, &record, sizeof record);
}

static void event_report(struct dispatch *dispatch)
{
    if (dispatch->hip_event.is_barrier)
        barrier_report(dispatch);
    dispatch_event_call(dispatch, ROCPROFILER_CALLBACK_PHASE_NONE);
    event_record(dispatch);
}

void dispatch_event_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (failed && dispatch->lent)
        borrow_cancel(&dispatch->loan);
    if (!failed && packet_times_take(dispatch, dispatch->lent))
        event_report(dispatch);
    if (!failed)
        user_signal_complete(dispatch);
    trace_event_release(&dispatch->trace.event);
    dispatch_gather(dispatch);
}

void dispatch_passed_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    if (!failed)
        user_signal_complete(dispatch);
    dispatch_gather(dispatch);
}
