#include "intercept/hsa/replay.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/callback.h"
#include "base/wait.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/replay_copies.h"
#include "intercept/hsa/replay_gate.h"
#include "intercept/hsa/replay_kept.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/replay_queue.h"
#include "intercept/hsa/replay_reasons.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/replay_thread.h"
#include "model/replay.h"

/* How long a pass may take. One that takes longer may wait for the host, or for a kernel that
 * cannot begin: it is the last of its kernel's that is tried. CROCPROF_REPLAY_LIMIT_MS in the
 * environment replaces it. */
enum { LIMIT_MS = 5000, SLOWER_BY = 10 };
/* How long is waited for what was launched before; after some failures, less. */
enum { QUIET_MS = 1000, QUIET_LATER_MS = 20, QUIET_FAILURES_MAX = 3, LOOK_NS = 20000 };

/* Kernels of a device that were launched and have not ended. Writers: launching threads and the
 * completion thread (release). Readers: launching threads (acquire). */
static _Atomic uint32_t kernels_in_flight[REPLAY_GATES];

enum { LATE_KERNELS = 256 };
/* Kernels whose pass was late, by their addresses. Writers and readers: launching threads (relaxed:
 * who does not see it yet tries it once more). */
static _Atomic uint64_t late_kernels[LATE_KERNELS];

static _Atomic uint32_t quiet_failures; /* writers and readers: launching threads (relaxed) */

static uint32_t device_of(const struct dispatch *dispatch)
{
    return (uint32_t)dispatch->queue->agent->info->logical_node_id;
}

/* ---- kernels that are not repeated */

static void kernel_begins(struct dispatch *dispatch)
{
    dispatch->is_in_flight = device_of(dispatch) < REPLAY_GATES;
    if (dispatch->is_in_flight)
        atomic_fetch_add_explicit(&kernels_in_flight[device_of(dispatch)], 1, memory_order_release);
}

void replay_launch_begin(struct dispatch *dispatch)
{
    replay_gate_enter(device_of(dispatch));
    kernel_begins(dispatch);
}

/* The dispatch itself may be another one's by now. */
void replay_launch_end(const struct dispatch_queue *queue)
{
    replay_gate_leave((uint32_t)queue->agent->info->logical_node_id);
}

void replay_kernel_leave(struct dispatch *dispatch)
{
    if (dispatch->is_in_flight)
        atomic_fetch_sub_explicit(&kernels_in_flight[device_of(dispatch)], 1, memory_order_release);
    dispatch->is_in_flight = false;
    dispatch->replay = NULL;
}

/* ---- the device comes to rest */

static bool has_no_kernels(void *device)
{
    return atomic_load_explicit(&kernels_in_flight[*(const uint32_t *)device],
                                memory_order_acquire) == 0;
}

static uint64_t quiet_limit_ns(void)
{
    bool has_failed =
        atomic_load_explicit(&quiet_failures, memory_order_relaxed) >= QUIET_FAILURES_MAX;
    return (uint64_t)(has_failed ? QUIET_LATER_MS : QUIET_MS) * WAIT_NS_PER_MS;
}

/* True: what the packet waits for has ended, nothing runs, the gate is closed. */
static bool device_take(const struct dispatch *dispatch)
{
    uint32_t device = device_of(dispatch);
    uint64_t limit_ns = quiet_limit_ns();
    bool is_quiet = completion_lane_drain(&dispatch->queue->lane, limit_ns) &&
                    replay_gate_close(device, limit_ns);
    if (is_quiet && !wait_until(has_no_kernels, &device, limit_ns, LOOK_NS)) {
        replay_gate_open(device);
        is_quiet = false;
    }
    if (!is_quiet)
        atomic_fetch_add_explicit(&quiet_failures, 1, memory_order_relaxed);
    return is_quiet;
}

/* ---- kernels that were late */

/* Descriptors are aligned to 64 bytes. */
static _Atomic uint64_t *late_place(const hsa_kernel_dispatch_packet_t *kernel)
{
    return &late_kernels[kernel->kernel_object / 64 % LATE_KERNELS];
}

static bool was_late(const hsa_kernel_dispatch_packet_t *kernel)
{
    return atomic_load_explicit(late_place(kernel), memory_order_relaxed) == kernel->kernel_object;
}

static uint64_t pass_limit_ns(void)
{
    const char *text = getenv("CROCPROF_REPLAY_LIMIT_MS");
    long milliseconds = text ? atol(text) : 0;
    return (uint64_t)(milliseconds > 0 ? milliseconds : LIMIT_MS) * WAIT_NS_PER_MS;
}

/* Half of what the host can give, or has given already: the other half is the program's. */
static size_t copies_bytes_max(void)
{
    unsigned long long kilobytes = 0;
    char line[128];
    FILE *file = fopen("/proc/meminfo", "re");
    while (file && kilobytes == 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "MemAvailable: %llu", &kilobytes) != 1)
            kilobytes = 0;
    if (file)
        fclose(file);
    return ((size_t)kilobytes * 1024 + replay_kept_bytes()) / 2;
}

/* ---- the loop */

struct loop {
    struct dispatch *dispatch;
    const hsa_kernel_dispatch_packet_t *kernel;
    struct trace_event event; /* CONFIG's */
    rocprofiler_callback_tracing_kernel_replay_data_t data;
    uint64_t pass, total; /* 0: no number is fixed */
    uint64_t limit_ns;
    struct replay_queue *queue;
    struct replay_snapshot *snapshot;
    bool serialized;
};

static void pass_begin(struct loop *loop, struct trace_event *event,
                       rocprofiler_callback_tracing_kernel_replay_data_t *data)
{
    *event = loop->event;
    event->operation = ROCPROFILER_KERNEL_REPLAY_PASS;
    event->set = trace_set_load(TRACE_KERNEL_REPLAY, ROCPROFILER_KERNEL_REPLAY_PASS);
    *data = (rocprofiler_callback_tracing_kernel_replay_data_t){
        .size = sizeof *data,
        .dispatch_info = loop->dispatch->trace.info,
        .current_pass = loop->pass,
        .total_passes = loop->total,
        .replay_start_context = trace_replay_context_start,
        .replay_stop_context = trace_replay_context_stop,
    };
    trace_replay_entering(true);
    trace_event_call(event, ROCPROFILER_KERNEL_REPLAY_PASS, ROCPROFILER_CALLBACK_PHASE_ENTER, data);
    trace_replay_entering(false);
}

static enum replay_end pass_run(struct loop *loop)
{
    struct dispatch *dispatch = loop->dispatch;
    struct trace_packets packets = {0};
    dispatch->trace.counting = NULL;
    dispatch->trace.sampling = NULL;
    if (dispatch->counting)
        dispatch->counting->dispatch_begin(&dispatch->trace, &packets);
    loop->serialized = packets.serialize;
    uint64_t begun_ns = wait_now_ns();
    replay_queue_run(loop->queue, loop->kernel, &packets, dispatch->queue);
    enum replay_end end = replay_queue_wait(loop->queue, loop->limit_ns);
    uint64_t long_ns = SLOWER_BY * (wait_now_ns() - begun_ns);
    if (end == REPLAY_ENDED && loop->pass == 0 && long_ns > loop->limit_ns)
        loop->limit_ns = long_ns;
    return end;
}

/* The tool's word. */
static bool another_is_wanted(const struct loop *loop)
{
    int goes_on = 1;
    if (loop->total > 0 && loop->pass + 1 >= loop->total)
        return false;
    if (loop->data.replay_continue)
        CALLBACK(goes_on =
                     loop->data.replay_continue(loop->dispatch->trace.info, loop->pass, loop->total,
                                                trace_event_user_data(&loop->event)));
    return goes_on != 0;
}

static bool is_over(struct inflight *work)
{
    (void)work;
    return true;
}

/* On the completion thread, as of any kernel: what counting delivers is in order there. */
static void pass_complete(struct inflight *work, bool failed)
{
    struct dispatch *dispatch = (struct dispatch *)(void *)work;
    dispatch_times_take(dispatch);
    dispatch->counting->dispatch_complete(&dispatch->trace, failed);
    dispatch->trace.start_ns = dispatch->trace.end_ns = 0;
    atomic_store_explicit(&dispatch->pass_delivered, true, memory_order_release);
}

static bool is_delivered(void *dispatch)
{
    return atomic_load_explicit(&((struct dispatch *)dispatch)->pass_delivered,
                                memory_order_acquire);
}

/* A pass that another one follows has been counted, and has had no other effect. */
static void pass_deliver(struct loop *loop)
{
    struct dispatch *dispatch = loop->dispatch;
    if (!dispatch->counting)
        return;
    dispatch->replay = loop->queue;
    dispatch->lent = false;
    dispatch->work.ended = is_over;
    dispatch->work.complete = pass_complete;
    dispatch->work.urgent = true;
    dispatch->work.rings = false;
    dispatch->work.in_order = false;
    atomic_store_explicit(&dispatch->pass_delivered, false, memory_order_relaxed);
    completion_post(&dispatch->work);
    for (unsigned turn = 0; !is_delivered(dispatch);)
        wait_step(&turn);
}

/* One pass. True: memory is as it was before, and another one follows. */
static bool pass_do(struct loop *loop, enum replay_reason *reason)
{
    rocprofiler_callback_tracing_kernel_replay_data_t data;
    struct trace_event event;
    pass_begin(loop, &event, &data);
    enum replay_end end = pass_run(loop);
    trace_event_call(&event, ROCPROFILER_KERNEL_REPLAY_PASS, ROCPROFILER_CALLBACK_PHASE_EXIT,
                     &data);
    if (end != REPLAY_ENDED) {
        *reason = end == REPLAY_LATE ? REPLAY_REASON_LATE : REPLAY_REASON_FAILED;
        return false;
    }
    if (!another_is_wanted(loop))
        return false;
    enum replay_status status = replay_snapshot_restore(loop->snapshot);
    if (status == REPLAY_BROKEN)
        dispatch_queue_fail(loop->dispatch->queue, HSA_STATUS_ERROR_EXCEPTION);
    if (status != REPLAY_FINE) {
        *reason = REPLAY_REASON_MEMORY + status;
        return false;
    }
    pass_deliver(loop);
    return true;
}

static void passes_do(struct loop *loop, enum replay_reason *reason)
{
    struct dispatch *dispatch = loop->dispatch;
    while (pass_do(loop, reason))
        loop->pass++;
    dispatch->replay = loop->queue;
    if (*reason != REPLAY_REASON_LATE)
        return;
    atomic_store_explicit(late_place(loop->kernel), loop->kernel->kernel_object,
                          memory_order_relaxed);
    hsa_barrier_and_packet_t unneeded; /* it runs already */
    if (loop->serialized)
        serialize_begin(&dispatch->turn, dispatch->queue->agent, loop->queue, &unneeded);
}

/* With the gate closed. False: no pass was run. */
static bool loop_run(struct loop *loop, enum replay_reason *reason)
{
    struct dispatch *dispatch = loop->dispatch;
    const struct hsa_agent_entry *agent = dispatch->queue->agent;
    struct replay_copies copies;
    enum replay_status status = REPLAY_NO_ROOM;
    loop->limit_ns = pass_limit_ns();
    loop->queue = replay_queue_open(agent);
    if (!loop->queue) {
        *reason = REPLAY_REASON_NO_QUEUE;
        return false;
    }
    if (replay_copies_of(agent, &copies))
        loop->snapshot =
            replay_snapshot_take(replay_device_of(agent), copies_bytes_max(), &copies, &status);
    if (!loop->snapshot) {
        if (status == REPLAY_NO_ROOM)
            replay_kept_release();
        *reason = REPLAY_REASON_MEMORY + status;
        return false;
    }
    passes_do(loop, reason);
    replay_snapshot_free(loop->snapshot);
    replay_thread_when_idle(replay_kept_release);
    kernel_begins(dispatch);
    return true;
}

static enum replay_reason reason_against(const struct dispatch *dispatch)
{
    if (dispatch->queue->shared)
        return REPLAY_REASON_COOPERATIVE;
    if (completion_thread_is_current())
        return REPLAY_REASON_TOOL;
    return replay_is_watched() ? REPLAY_REASON_NONE : REPLAY_REASON_UNWATCHED;
}

static bool passes_run(struct loop *loop)
{
    struct dispatch *dispatch = loop->dispatch;
    enum replay_reason reason = reason_against(dispatch);
    bool has_run = false;
    if (reason == REPLAY_REASON_NONE && was_late(loop->kernel))
        reason = REPLAY_REASON_LATE;
    if (reason == REPLAY_REASON_NONE && !device_take(dispatch))
        reason = REPLAY_REASON_BUSY;
    if (reason == REPLAY_REASON_NONE) {
        has_run = loop_run(loop, &reason);
        replay_gate_open(device_of(dispatch));
    }
    replay_reason_note(reason, objects_kernel_name(dispatch->trace.info.kernel_id),
                       loop->pass + has_run);
    return has_run;
}

/* The tool says how often. */
static bool is_repeated(struct loop *loop)
{
    loop->total = 1;
    if (loop->data.replay_pass_count)
        CALLBACK(loop->total = loop->data.replay_pass_count(loop->dispatch->trace.info,
                                                            trace_event_user_data(&loop->event)));
    return loop->total > 1 || (loop->total == 0 && loop->data.replay_continue);
}

/* What stands in the kernel's place: the program's queue goes on when the kernel has ended. */
static void barrier_make(const struct loop *loop, hsa_barrier_and_packet_t *barrier)
{
    memset(barrier, 0, sizeof *barrier);
    barrier->header = (uint16_t)(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE |
                                 1 << HSA_PACKET_HEADER_BARRIER |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                                 HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
    replay_queue_barrier(loop->queue, barrier);
}

bool replay_run(struct dispatch *dispatch, const hsa_kernel_dispatch_packet_t *kernel,
                hsa_barrier_and_packet_t *barrier)
{
    struct loop loop = {.dispatch = dispatch, .kernel = kernel};
    struct trace_replay mine;
    dispatch->replay = NULL;
    dispatch->is_in_flight = false;
    if (!trace_set_load(TRACE_KERNEL_REPLAY, ROCPROFILER_KERNEL_REPLAY_CONFIG) ||
        !trace_replay_begin(&mine))
        return false;
    loop.data.size = sizeof loop.data;
    loop.data.dispatch_info = dispatch->trace.info;
    trace_event_open_beside(&loop.event, TRACE_KERNEL_REPLAY, ROCPROFILER_KERNEL_REPLAY_CONFIG,
                            &dispatch->trace.event);
    trace_event_call(&loop.event, ROCPROFILER_KERNEL_REPLAY_CONFIG,
                     ROCPROFILER_CALLBACK_PHASE_ENTER, &loop.data);
    int cancel_state; /* whoever waits at the gate would wait for a thread that has ended */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
    bool has_run = is_repeated(&loop) && passes_run(&loop);
    pthread_setcancelstate(cancel_state, NULL);
    trace_event_call(&loop.event, ROCPROFILER_KERNEL_REPLAY_CONFIG, ROCPROFILER_CALLBACK_PHASE_EXIT,
                     &loop.data);
    trace_event_release(&loop.event);
    trace_replay_end();
    if (has_run)
        barrier_make(&loop, barrier);
    return has_run;
}

void replay_times_copy(struct dispatch *dispatch)
{
    const amd_signal_t *from = replay_queue_times(dispatch->replay);
    dispatch->kernel->start_ts = from->start_ts;
    dispatch->kernel->end_ts = from->end_ts;
    memcpy(dispatch->kernel->reserved3, from->reserved3, sizeof from->reserved3);
}
