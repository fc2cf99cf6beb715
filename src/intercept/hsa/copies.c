/*
 * Asynchronous copies (hsa_amd_memory_async_copy and its kin): direction, size, agents, times.
 *
 * The copy gets a signal of ours, a real one since the runtime looks inside; the completion thread
 * reports the copy and then counts the program's signal down. The runtime keeps copy times inside
 * its own signal objects, so hsa_amd_profiling_get_async_copy_time on the program's signal is
 * answered from what we measured.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/borrow.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/copies.h"
#include "intercept/hsa/replay_gate.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/signals.h"
#include "intercept/hsa/wrappers.h"
#include "model/trace.h"

struct copy {
    struct inflight work; /* first */
    struct hsa_instance *runtime;
    struct trace_event event;
    struct copy *next_free;
    hsa_signal_t own, user;
    const struct hsa_agent_entry *source, *target;
    const void *source_address;
    void *target_address;
    uint64_t bytes;
    uint64_t start_ns, end_ns;
    int32_t operation;
    bool is_inside; /* of the gates of both agents */
};

/* Copies take the runtime microseconds: a lock here is in the noise. It never calls out. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
/* One for each runtime. */
static struct {
    struct copy *free_copies;
    bool released; /* no copy is kept for later: the runtime counts its signals when it goes */
    struct inflight_lane lane;
} stores[HSA_INSTANCES_MAX];

/* Times of the latest copy per program signal; a signal used again overwrites its entry. */
enum { TIMES_COUNT = 4096, TIMES_PROBE = 8 };
static struct copy_time {
    uint64_t signal;
    uint64_t used; /* for replacing the oldest of a full neighbourhood */
    hsa_amd_profiling_async_copy_time_t time;
} times[TIMES_COUNT];
static uint64_t times_clock;

static bool copies_traced(void)
{
    return trace_domain_is_configured(TRACE_MEMORY_COPY);
}

/* Copies are looked at also where only kernels are traced: one may use a signal that is lent to a
 * kernel. */
static bool copies_wanted(void)
{
    return copies_traced() || trace_domain_is_configured(TRACE_KERNEL_DISPATCH) ||
           replay_is_configured();
}

/* ---- a child of fork(): its parent's signals are in memory that it does not have */

static void fork_prepare(void)
{
    pthread_mutex_lock(&lock);
}

static void fork_parent(void)
{
    pthread_mutex_unlock(&lock);
}

/* What is in flight stays; nobody gives signals back. */
static void fork_child(void)
{
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX; i++) {
        for (struct copy *copy = stores[i].free_copies, *next; copy; copy = next) {
            next = copy->next_free;
            free(copy);
        }
        stores[i].free_copies = NULL;
    }
    pthread_mutex_unlock(&lock);
}

static void fork_watch(void)
{
    pthread_atfork(fork_prepare, fork_parent, fork_child);
}

/* ---- from the runtime's begin to its end */

static bool copies_start(struct hsa_instance *runtime)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    const struct hsa_calls *real = &runtime->real;
    pthread_once(&once, fork_watch);
    pthread_mutex_lock(&lock); /* a copy of before may just complete */
    stores[hsa_instance_index(runtime)].released = false;
    pthread_mutex_unlock(&lock);
    if (!copies_traced())
        return !replay_is_configured() || completion_start();
    return real->hsa_amd_profiling_async_copy_enable != NULL &&
           real->hsa_amd_profiling_get_async_copy_time != NULL &&
           real->hsa_amd_profiling_async_copy_enable(true) == HSA_STATUS_SUCCESS &&
           completion_start();
}

/* Wrapped for kernels' sake at first: copies are wanted now, and have times only from here on. */
static void copies_renew(struct hsa_instance *runtime)
{
    if (copies_traced() && !copies_start(runtime))
        log_warning("intercept", "copies have no times under this HSA runtime");
}

static struct copy *copy_take(struct hsa_instance *runtime)
{
    struct copy **free_copies = &stores[hsa_instance_index(runtime)].free_copies;
    pthread_mutex_lock(&lock);
    struct copy *copy = *free_copies;
    if (copy)
        *free_copies = copy->next_free;
    pthread_mutex_unlock(&lock);
    if (copy)
        return copy;
    copy = calloc(1, sizeof *copy);
    /* It names no consumers, because any agent may be the one that copies. */
    thread_own_work_begin();
    bool made = copy != NULL &&
                runtime->real.hsa_signal_create(1, 0, NULL, &copy->own) == HSA_STATUS_SUCCESS;
    thread_own_work_end();
    if (made) {
        copy->runtime = runtime;
        return copy;
    }
    free(copy);
    return NULL;
}

static void copy_free(struct copy *copy)
{
    thread_own_work_begin();
    copy->runtime->real.hsa_signal_destroy(copy->own);
    thread_own_work_end();
    free(copy);
}

static void copy_return(struct copy *copy)
{
    uint32_t i = hsa_instance_index(copy->runtime);
    pthread_mutex_lock(&lock);
    bool keep = !stores[i].released;
    if (keep) {
        copy->next_free = stores[i].free_copies;
        stores[i].free_copies = copy;
    }
    pthread_mutex_unlock(&lock);
    if (!keep)
        copy_free(copy);
}

void copies_release(const struct hsa_instance *runtime)
{
    uint32_t i = hsa_instance_index(runtime);
    pthread_mutex_lock(&lock);
    struct copy *copies = stores[i].free_copies;
    stores[i].free_copies = NULL;
    stores[i].released = true;
    pthread_mutex_unlock(&lock);
    while (copies) {
        struct copy *next = copies->next_free;
        copy_free(copies);
        copies = next;
    }
}

void copies_abandon(const struct hsa_instance *runtime)
{
    atomic_store_explicit(&stores[hsa_instance_index(runtime)].lane.gone, true,
                          memory_order_release);
}

/* The same lane serves the copies of the runtime's next life. */
void copies_abandoned(const struct hsa_instance *runtime)
{
    enum { STALL_NS = 2000000000 };
    struct inflight_lane *lane = &stores[hsa_instance_index(runtime)].lane;

    if (completion_lane_drain(lane, STALL_NS))
        atomic_store_explicit(&lane->gone, false, memory_order_release);
}

static struct copy_time *time_entry(uint64_t signal, bool make)
{
    uint64_t home = signal / sizeof(amd_signal_t) * 0x9e3779b97f4a7c15ull >> 52;
    struct copy_time *oldest = NULL;
    for (uint64_t i = 0; i < TIMES_PROBE; i++) {
        struct copy_time *entry = &times[(home + i) % TIMES_COUNT];
        if (entry->signal == signal)
            return entry;
        if (!oldest || entry->used < oldest->used)
            oldest = entry;
    }
    return make ? oldest : NULL;
}

static void time_store(uint64_t signal, const hsa_amd_profiling_async_copy_time_t *time)
{
    pthread_mutex_lock(&lock);
    struct copy_time *entry = time_entry(signal, true);
    *entry = (struct copy_time){.signal = signal, .used = ++times_clock, .time = *time};
    pthread_mutex_unlock(&lock);
}

/* The signal goes to the runtime untouched: it will keep the times itself. */
static void time_forget(uint64_t signal)
{
    pthread_mutex_lock(&lock);
    struct copy_time *entry = time_entry(signal, false);
    if (entry)
        entry->signal = 0;
    pthread_mutex_unlock(&lock);
}

hsa_status_t
service_hsa_amd_profiling_get_async_copy_time(struct hsa_instance *runtime, hsa_signal_t signal,
                                              hsa_amd_profiling_async_copy_time_t *time)
{
    pthread_mutex_lock(&lock);
    struct copy_time *entry = signal.handle && time ? time_entry(signal.handle, false) : NULL;
    bool known = entry != NULL;
    if (known)
        *time = entry->time;
    pthread_mutex_unlock(&lock);
    return known ? HSA_STATUS_SUCCESS
                 : runtime->real.hsa_amd_profiling_get_async_copy_time(signal, time);
}

static int32_t direction_of(const struct hsa_agent_entry *source,
                            const struct hsa_agent_entry *target)
{
    static const int32_t directions[2][2] = {
        {ROCPROFILER_MEMORY_COPY_HOST_TO_HOST, ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE},
        {ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST, ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE},
    };

    return directions[source->gpu][target->gpu];
}

/* What callbacks and records say alike. */
#define COPY_FIELDS(copy)                                                                          \
    .start_timestamp = (copy)->start_ns, .end_timestamp = (copy)->end_ns,                          \
    .dst_agent_id = (copy)->target->id, .src_agent_id = (copy)->source->id,                        \
    .bytes = (copy)->bytes, .dst_address = {.ptr = (copy)->target_address},                        \
    .src_address = {.ptr = (copy)->source_address}

static void callbacks_run(struct copy *copy, rocprofiler_callback_phase_t phase)
{
    rocprofiler_callback_tracing_memory_copy_data_t data = {
        .size = sizeof data,
        COPY_FIELDS(copy),
    };

    trace_event_call(&copy->event, copy->operation, phase, &data);
}

static void record_emit(struct copy *copy)
{
    rocprofiler_buffer_tracing_memory_copy_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
        .operation = (rocprofiler_memory_copy_operation_t)copy->operation,
        .thread_id = copy->event.thread_id,
        COPY_FIELDS(copy),
    };

    trace_event_record(&copy->event, &record, sizeof record);
}

static void copy_times_read(struct copy *copy)
{
    hsa_amd_profiling_async_copy_time_t time = {0};
    if (copy->runtime->real.hsa_amd_profiling_get_async_copy_time(copy->own, &time) !=
        HSA_STATUS_SUCCESS)
        return;
    copy->start_ns = agents_system_time_ns(copy->runtime, time.start);
    copy->end_ns = agents_system_time_ns(copy->runtime, time.end);
    if (copy->user.handle != 0)
        time_store(copy->user.handle, &time);
}

/* Acquire, pairs with the engine's decrement. */
static bool copy_ended(struct inflight *work)
{
    const struct copy *copy = (const struct copy *)(const void *)work;
    const amd_signal_t *own = (const amd_signal_t *)(uintptr_t)copy->own.handle;
    return __atomic_load_n(&own->value, __ATOMIC_ACQUIRE) < 1;
}

static void agent_move(const struct hsa_agent_entry *agent, void (*move)(uint32_t device))
{
    if (agent->gpu)
        move((uint32_t)agent->info->logical_node_id);
}

/* No copy changes memory while a kernel is repeated, nor between. Always in the order of devices:
 * who waits for one gate inside of another would wait for a replay that waits for it. */
static void copy_enter(struct copy *copy)
{
    bool swap = copy->source->info->logical_node_id > copy->target->info->logical_node_id;
    copy->is_inside = replay_is_watched();
    if (!copy->is_inside)
        return;
    agent_move(swap ? copy->target : copy->source, replay_gate_enter);
    if (copy->target != copy->source)
        agent_move(swap ? copy->source : copy->target, replay_gate_enter);
}

static void copy_leave(struct copy *copy)
{
    if (!copy->is_inside)
        return;
    copy->is_inside = false;
    agent_move(copy->source, replay_gate_leave);
    if (copy->target != copy->source)
        agent_move(copy->target, replay_gate_leave);
}

/* Copies fail only when the runtime has gone, with both signals. */
static void copy_abandon(struct copy *copy)
{
    copy_leave(copy);
    callbacks_run(copy, ROCPROFILER_CALLBACK_PHASE_EXIT);
    trace_event_release(&copy->event);
    free(copy);
}

static void copy_complete(struct inflight *work, bool failed)
{
    struct copy *copy = (struct copy *)(void *)work;
    if (failed) {
        copy_abandon(copy);
        return;
    }
    copy_leave(copy);
    thread_own_work_begin();
    copy_times_read(copy);
    thread_own_work_end();
    callbacks_run(copy, ROCPROFILER_CALLBACK_PHASE_EXIT);
    record_emit(copy);
    trace_event_release(&copy->event);
    thread_own_work_begin();
    if (copy->user.handle != 0) {
        /* The runtime reports a failed copy by a negative value. */
        const amd_signal_t *own = (const amd_signal_t *)(uintptr_t)copy->own.handle;
        if (own->value < 0)
            copy->runtime->real.hsa_signal_store_screlease(copy->user, own->value);
        else
            copy->runtime->real.hsa_signal_subtract_screlease(copy->user, 1);
    }
    thread_own_work_end();
    copy_return(copy);
}

/* NULL: pass the call on as it is. */
static struct copy *copy_open(struct hsa_instance *runtime, hsa_agent_t target,
                              void *target_address, hsa_agent_t source, const void *source_address,
                              uint64_t bytes, hsa_signal_t user)
{
    const struct hsa_agent_entry *target_entry = agents_find(runtime, target);
    const struct hsa_agent_entry *source_entry = agents_find(runtime, source);
    borrow_settle((amd_signal_t *)(uintptr_t)user.handle);
    if (!target_entry || !source_entry)
        return NULL;
    int32_t operation = direction_of(source_entry, target_entry);
    bool is_watched = replay_is_watched();
    if (!trace_set_load(TRACE_MEMORY_COPY, operation) && !is_watched) {
        time_forget(user.handle);
        return NULL;
    }
    struct copy *copy = copy_take(runtime);
    if (!copy && is_watched)
        replay_memory_unknown(); /* it is not seen to end */
    if (!copy)
        return NULL;
    copy->target = target_entry;
    copy->source = source_entry;
    copy->target_address = target_address;
    copy->source_address = source_address;
    copy->bytes = bytes;
    copy->user = user;
    copy->operation = operation;
    copy->start_ns = 0;
    copy->end_ns = 0;
    if (!trace_event_open(&copy->event, TRACE_MEMORY_COPY, operation) && !is_watched) {
        copy_return(copy);
        return NULL;
    }
    signal_arm((amd_signal_t *)(uintptr_t)copy->own.handle);
    callbacks_run(copy, ROCPROFILER_CALLBACK_PHASE_ENTER);
    copy_enter(copy);
    return copy;
}

static hsa_status_t copy_started(struct copy *copy, hsa_status_t status)
{
    if (status != HSA_STATUS_SUCCESS) {
        copy_leave(copy);
        callbacks_run(copy, ROCPROFILER_CALLBACK_PHASE_EXIT);
        trace_event_release(&copy->event);
        copy_return(copy);
        return status;
    }
    copy->work.lane = &stores[hsa_instance_index(copy->runtime)].lane;
    copy->work.ended = copy_ended;
    copy->work.urgent = true;
    copy->work.complete = copy_complete;
    completion_post(&copy->work);
    return status;
}

hsa_status_t service_hsa_amd_memory_async_copy(struct hsa_instance *runtime, void *dst,
                                               hsa_agent_t dst_agent, const void *src,
                                               hsa_agent_t src_agent, size_t size,
                                               uint32_t num_dep_signals,
                                               const hsa_signal_t *dep_signals,
                                               hsa_signal_t completion_signal)
{
    struct copy *copy = copy_open(runtime, dst_agent, dst, src_agent, src, size, completion_signal);
    if (!copy)
        return runtime->real.hsa_amd_memory_async_copy(
            dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals, completion_signal);
    return copy_started(
        copy, runtime->real.hsa_amd_memory_async_copy(dst, dst_agent, src, src_agent, size,
                                                      num_dep_signals, dep_signals, copy->own));
}

hsa_status_t service_hsa_amd_memory_async_copy_on_engine(
    struct hsa_instance *runtime, void *dst, hsa_agent_t dst_agent, const void *src,
    hsa_agent_t src_agent, size_t size, uint32_t num_dep_signals, const hsa_signal_t *dep_signals,
    hsa_signal_t completion_signal, hsa_amd_sdma_engine_id_t engine_id, bool force_copy_on_sdma)
{
    struct copy *copy = copy_open(runtime, dst_agent, dst, src_agent, src, size, completion_signal);
    if (!copy)
        return runtime->real.hsa_amd_memory_async_copy_on_engine(
            dst, dst_agent, src, src_agent, size, num_dep_signals, dep_signals, completion_signal,
            engine_id, force_copy_on_sdma);
    return copy_started(copy, runtime->real.hsa_amd_memory_async_copy_on_engine(
                                  dst, dst_agent, src, src_agent, size, num_dep_signals,
                                  dep_signals, copy->own, engine_id, force_copy_on_sdma));
}

/* The call names the one agent that copies and the direction; the other side is memory that agent
   reaches: a host agent's when the direction says so. */
static hsa_agent_t host_agent(const struct hsa_instance *runtime)
{
    for (uint32_t i = 0; i < runtime->agents.count; i++)
        if (!runtime->agents.entries[i].gpu)
            return runtime->agents.entries[i].hsa;
    return (hsa_agent_t){0};
}

hsa_status_t service_hsa_amd_memory_async_copy_rect(
    struct hsa_instance *runtime, const hsa_pitched_ptr_t *dst, const hsa_dim3_t *dst_offset,
    const hsa_pitched_ptr_t *src, const hsa_dim3_t *src_offset, const hsa_dim3_t *range,
    hsa_agent_t copy_agent, hsa_amd_copy_direction_t dir, uint32_t num_dep_signals,
    const hsa_signal_t *dep_signals, hsa_signal_t completion_signal)
{
    bool complete = dst != NULL && src != NULL && range != NULL;
    bool to_host = dir == hsaDeviceToHost || dir == hsaHostToHost;
    bool from_host = dir == hsaHostToDevice || dir == hsaHostToHost;
    struct copy *copy =
        complete ? copy_open(runtime, to_host ? host_agent(runtime) : copy_agent, dst->base,
                             from_host ? host_agent(runtime) : copy_agent, src->base,
                             (uint64_t)range->x * range->y * range->z, completion_signal)
                 : NULL;

    if (!copy)
        return runtime->real.hsa_amd_memory_async_copy_rect(dst, dst_offset, src, src_offset, range,
                                                            copy_agent, dir, num_dep_signals,
                                                            dep_signals, completion_signal);
    return copy_started(copy, runtime->real.hsa_amd_memory_async_copy_rect(
                                  dst, dst_offset, src, src_offset, range, copy_agent, dir,
                                  num_dep_signals, dep_signals, copy->own));
}

hsa_status_t service_hsa_amd_profiling_async_copy_enable(struct hsa_instance *runtime, bool enable)
{
    /* Our own records need it on; the program asks only whether it may call get_async_copy_time. */
    return runtime->real.hsa_amd_profiling_async_copy_enable(enable || copies_traced());
}

static const enum hsa_function functions[] = {
    HSA_FN_hsa_amd_memory_async_copy,           HSA_FN_hsa_amd_memory_async_copy_on_engine,
    HSA_FN_hsa_amd_memory_async_copy_rect,      HSA_FN_hsa_amd_profiling_get_async_copy_time,
    HSA_FN_hsa_amd_profiling_async_copy_enable,
};

const struct hsa_service hsa_service_copies = {
    .name = "memory copy",
    .wanted = copies_wanted,
    .start = copies_start,
    .renew = copies_renew,
    .needs_agents = true,
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};
