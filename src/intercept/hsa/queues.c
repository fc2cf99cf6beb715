/* User-mode queues: every queue on a GPU becomes an intercepted queue of the runtime's own making.
 */
#include <pthread.h>

#include "base/fork_lock.h"
#include "base/log.h"
#include "intercept/hsa/borrow.h"
#include "intercept/hsa/dispatch.h"
#include "intercept/hsa/packet.h"
#include "intercept/hsa/replay_memory.h"
#include "intercept/hsa/replay_regions.h"
#include "intercept/hsa/serialize.h"
#include "intercept/hsa/wrappers.h"

/* How long a queue's destruction waits for work that makes no progress. */
enum { STALL_NS = 1000000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(lock_kept, lock)
static struct dispatch_queue *queues; /* under `lock` */

/* The record of a graph's launch says how many kernels it submitted. */
static bool launches_configured(void)
{
    return trace_is_configured(TRACE_HIP_GRAPH, ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH);
}

static bool queues_wanted(void)
{
    return trace_domain_is_configured(TRACE_KERNEL_DISPATCH) ||
           trace_domain_is_configured(TRACE_QUEUE_BARRIER) || launches_configured() ||
           trace_domain_is_configured(TRACE_HIP_EVENT) || trace_counting_is_configured() ||
           replay_is_configured() ||
           atomic_load_explicit(&trace_queue_first, memory_order_acquire) != NULL;
}

/* An intercepted queue costs every dispatch, so none is made for those who might some day want to
 * know. */
static bool queues_wanted_now(void)
{
    return trace_domain_is_wanted(TRACE_KERNEL_DISPATCH) ||
           trace_domain_is_wanted(TRACE_QUEUE_BARRIER) || trace_domain_is_wanted(TRACE_HIP_GRAPH) ||
           trace_domain_is_wanted(TRACE_HIP_EVENT) || trace_counting_is_configured() ||
           replay_is_configured();
}

static bool queues_start(struct hsa_instance *runtime)
{
    const struct hsa_calls *real = &runtime->real;
    completion_tick_set(serialize_tick);
    return real->hsa_amd_queue_intercept_create != NULL &&
           real->hsa_amd_queue_intercept_register != NULL &&
           real->hsa_amd_profiling_set_profiler_enabled != NULL &&
           real->hsa_amd_profiling_convert_tick_to_system_domain != NULL &&
           real->hsa_amd_agents_allow_access != NULL && completion_start();
}

/* The runtime stops a queue after an error; nothing in flight will end any more. */
void dispatch_queue_fail(struct dispatch_queue *queue, hsa_status_t status)
{
    atomic_store_explicit(&queue->lane.failed, true, memory_order_release);
    if (queue->error_callback)
        queue->error_callback(status, queue->queue, queue->error_data);
}

static void queue_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    (void)source; /* the runtime's inner queue, which the program does not know */
    dispatch_queue_fail(data, status);
}

static void queue_list(struct dispatch_queue *queue)
{
    pthread_mutex_lock(&lock);
    queue->next = queues;
    queues = queue;
    pthread_mutex_unlock(&lock);
}

static struct dispatch_queue *queue_unlist(const hsa_queue_t *hsa_queue)
{
    struct dispatch_queue *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct dispatch_queue **link = &queues; *link; link = &(*link)->next) {
        if ((*link)->queue == hsa_queue) {
            found = *link;
            *link = found->next;
            break;
        }
    }
    pthread_mutex_unlock(&lock);
    return found;
}

/* The queue exists; from now on its dispatches are ours. */
static hsa_status_t queue_prepare(struct dispatch_queue *queue)
{
    struct hsa_instance *runtime = queue->agent->runtime;
    ring_guard_make(&queue->guard, runtime, queue->queue);
    hsa_status_t status = runtime->real.hsa_amd_queue_intercept_register(
        queue->queue, dispatch_packets_submit, queue);

    if (status == HSA_STATUS_SUCCESS)
        status = runtime->real.hsa_amd_profiling_set_profiler_enabled(queue->queue, 1);
    return status;
}

/* ROCr has one cooperative queue for each device, which all who create one share, and deletes it
 * when the last of them has destroyed it, or its device at the runtime's end, when that crashes. An
 * interceptor around it deletes it at once, although it is shared. So the interceptor stays,
 * unused, and its reference is given back through one that is taken here without an interceptor. */
static void shared_take(struct dispatch_queue *queue, hsa_agent_t agent, uint32_t size,
                        hsa_queue_type32_t type)
{
    if (type != HSA_QUEUE_TYPE_COOPERATIVE || queue->agent->runtime->real.hsa_queue_create(
                                                  agent, size, type, NULL, NULL, UINT32_MAX,
                                                  UINT32_MAX, &queue->shared) != HSA_STATUS_SUCCESS)
        queue->shared = NULL;
}

static hsa_status_t shared_release(struct dispatch_queue *queue)
{
    const struct hsa_calls *real = &queue->agent->runtime->real;
    real->hsa_queue_destroy(queue->shared);
    return real->hsa_queue_destroy(queue->shared); /* this one is the interceptor's */
}

/* Makes what the program would have got without us: a queue that only we need may be one too many.
 */
static hsa_status_t queue_make_plain(
    const struct hsa_instance *runtime, hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **hsa_queue)
{
    hsa_status_t status = runtime->real.hsa_queue_create(
        agent, size, type, callback, data, private_segment_size, group_segment_size, hsa_queue);
    if (status == HSA_STATUS_SUCCESS && replay_is_watched())
        replay_memory_unknown(); /* its kernels are not seen */
    if (status == HSA_STATUS_SUCCESS)
        log_warning("intercept",
                    "the HSA runtime has no intercepted queue left: dispatches of "
                    "queue %llu are not traced",
                    (unsigned long long)(*hsa_queue)->id);
    return status;
}

static hsa_status_t
queue_make(const struct hsa_instance *runtime, hsa_agent_t agent, uint32_t size,
           hsa_queue_type32_t type,
           void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
           uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **hsa_queue)
{
    const struct hsa_agent_entry *entry = agents_find(runtime, agent);
    bool wanted = entry && entry->gpu && queues_wanted_now();
    struct dispatch_queue *queue = wanted ? dispatch_queue_make(entry) : NULL;
    if (!queue)
        return runtime->real.hsa_queue_create(agent, size, type, callback, data,
                                              private_segment_size, group_segment_size, hsa_queue);
    shared_take(queue, agent, size, type);
    queue->error_callback = callback;
    queue->error_data = data;
    hsa_status_t status = runtime->real.hsa_amd_queue_intercept_create(
        agent, size, type, queue_error, queue, private_segment_size, group_segment_size,
        &queue->queue);
    if (status != HSA_STATUS_SUCCESS) {
        if (queue->shared)
            runtime->real.hsa_queue_destroy(queue->shared);
        dispatch_queue_free(queue);
        return queue_make_plain(runtime, agent, size, type, callback, data, private_segment_size,
                                group_segment_size, hsa_queue);
    }
    queue->id = queue->queue->id;
    if (queue_prepare(queue) != HSA_STATUS_SUCCESS)
        log_warning("intercept", "dispatches of queue %llu are not traced",
                    (unsigned long long)queue->id);
    queue_list(queue);
    *hsa_queue = queue->queue;
    return status;
}

/* What somebody wants to be first in it; nobody else has the queue yet. */
static void queue_begin(const struct hsa_agent_entry *agent, hsa_queue_t *queue)
{
    const void *(*first)(rocprofiler_agent_id_t, uint64_t) =
        atomic_load_explicit(&trace_queue_first, memory_order_acquire);
    const void *packet = first ? first(agent->id, agent->hsa.handle) : NULL;

    if (packet)
        packet_put(&agent->runtime->real, queue, packet, NULL);
}

hsa_status_t service_hsa_queue_create(
    struct hsa_instance *runtime, hsa_agent_t agent, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **hsa_queue)
{
    const struct hsa_agent_entry *entry = agents_find(runtime, agent);
    hsa_status_t status = queue_make(runtime, agent, size, type, callback, data,
                                     private_segment_size, group_segment_size, hsa_queue);
    if (status == HSA_STATUS_SUCCESS && entry && entry->gpu)
        queue_begin(entry, *hsa_queue);
    return status;
}

hsa_status_t service_hsa_queue_destroy(struct hsa_instance *runtime, hsa_queue_t *hsa_queue)
{
    struct dispatch_queue *queue = queue_unlist(hsa_queue);
    if (!queue)
        return runtime->real.hsa_queue_destroy(hsa_queue);
    /* Work that the device has finished is reported; the rest dies with the queue. */
    if (!completion_lane_drain(&queue->lane, STALL_NS))
        atomic_store_explicit(&queue->lane.failed, true, memory_order_release);
    if (queue->shared)
        return shared_release(queue);
    hsa_status_t status = runtime->real.hsa_queue_destroy(hsa_queue);
    /* A lane that cannot be emptied (we are the completion thread) is left to the process's end. */
    if (completion_lane_close(&queue->lane, STALL_NS))
        dispatch_queue_free(queue);
    return status;
}

/* The queues and their records stay, and stay reachable: the completion thread still has what was
 * in flight. */
void dispatch_queues_abandon(const struct hsa_instance *runtime)
{
    static struct dispatch_queue *abandoned; /* under `lock` */
    pthread_mutex_lock(&lock);
    for (struct dispatch_queue **link = &queues; *link;) {
        struct dispatch_queue *queue = *link;
        if (queue->agent->runtime != runtime) {
            link = &queue->next;
            continue;
        }
        *link = queue->next;
        queue->next = abandoned;
        abandoned = queue;
        atomic_store_explicit(&queue->lane.gone, true, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
}

static bool queue_is_ours(const hsa_queue_t *hsa_queue)
{
    bool found = false;
    pthread_mutex_lock(&lock);
    for (const struct dispatch_queue *queue = queues; queue; queue = queue->next)
        found |= queue->queue == hsa_queue;
    pthread_mutex_unlock(&lock);
    return found;
}

/* Our records need the times; a program that wants none does not ask for them. */
hsa_status_t service_hsa_amd_profiling_set_profiler_enabled(struct hsa_instance *runtime,
                                                            hsa_queue_t *hsa_queue, int enable)
{
    return runtime->real.hsa_amd_profiling_set_profiler_enabled(hsa_queue,
                                                                enable || queue_is_ours(hsa_queue));
}

hsa_status_t service_hsa_signal_destroy(struct hsa_instance *runtime, hsa_signal_t signal)
{
    borrow_forget((amd_signal_t *)(uintptr_t)signal.handle);
    return runtime->real.hsa_signal_destroy(signal);
}

static const enum hsa_function functions[] = {
    HSA_FN_hsa_queue_create,
    HSA_FN_hsa_queue_destroy,
    HSA_FN_hsa_amd_profiling_set_profiler_enabled,
    HSA_FN_hsa_signal_destroy,
};

const struct hsa_service hsa_service_queues = {
    .name = "kernel dispatch",
    .wanted = queues_wanted,
    .start = queues_start,
    .needs_agents = true,
    .functions = functions,
    .function_count = sizeof functions / sizeof functions[0],
};
