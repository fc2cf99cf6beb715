/* Contexts that a program starts, reads and stops: the engine counts on the whole GPU meanwhile. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"
#include "base/fork_lock.h"
#include "base/wait.h"

#include <stdlib.h>
#include <string.h>

/* The engine's contexts are never freed: those of closed contexts are used again. */
struct device_context {
    struct device_context *next;
    rocprofiler_agent_id_t agent;
    rocprofiler_context_id_t id;
    rocprofiler_counter_config_id_t config; /* of the next start */
};

static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;
FORK_LOCK(idle_kept, idle_lock)
static struct device_context *idle; /* under idle_lock */

struct standalone {
    pthread_mutex_t lock; /* one start, read or stop at a time */
    struct device_context *device;
    struct group *running; /* NULL: none */
    rocprofiler_counter_record_t *records;
    double *base; /* what the counters showed at the last reset, record by record */
    uint32_t record_capacity, record_count;
    hsa_queue_t *queue;    /* whose earlier packets a reading includes; NULL: none */
    uint64_t queue_waited; /* for the packets before this index */
};

/* ---- the engine's contexts */

static void config_choose(rocprofiler_context_id_t context, rocprofiler_agent_id_t agent,
                          rocprofiler_device_counting_agent_cb_t set_config, void *data)
{
    const struct device_context *device = data;
    (void)agent;
    if (device->config.handle)
        set_config(context, device->config);
}

static struct device_context *device_new(rocprofiler_agent_id_t agent)
{
    struct device_context *device = calloc(1, sizeof *device);
    if (!device)
        return NULL;
    device->agent = agent;
    if (engine->context_create_front("a ROC Profiler context", &device->id) ==
            ROCPROFILER_STATUS_SUCCESS &&
        engine->counting_device_configure(device->id, (rocprofiler_buffer_id_t){0}, agent,
                                          config_choose, device) == ROCPROFILER_STATUS_SUCCESS)
        return device;
    free(device);
    return NULL;
}

static struct device_context *device_take(rocprofiler_agent_id_t agent)
{
    pthread_mutex_lock(&idle_lock);
    struct device_context **link = &idle, *device;
    while (*link && (*link)->agent.handle != agent.handle)
        link = &(*link)->next;
    if ((device = *link))
        *link = device->next;
    pthread_mutex_unlock(&idle_lock);
    return device ? device : device_new(agent);
}

static void device_give(struct device_context *device)
{
    pthread_mutex_lock(&idle_lock);
    device->next = idle;
    idle = device;
    pthread_mutex_unlock(&idle_lock);
}

void standalone_expect(void)
{
    const struct topology *topology = engine->topology_system();
    for (uint32_t i = 0; i < topology->agent_count; i++) {
        if (topology->agents[i]->type != ROCPROFILER_AGENT_TYPE_GPU)
            continue;
        struct device_context *device = device_take(topology->agents[i]->id);
        if (device)
            device_give(device);
        return;
    }
}

/* ---- queues */

static uint32_t queue_size(uint32_t depth)
{
    enum { SIZE_MIN = 64, SIZE_MAX_ALLOWED = 1 << 17, SIZE_DEFAULT = 128 };
    uint32_t size = SIZE_MIN;
    if (depth == 0)
        return SIZE_DEFAULT;
    while (size < depth && size < SIZE_MAX_ALLOWED)
        size *= 2;
    return size;
}

static hsa_status_t queue_set(struct standalone *standalone, const struct gpu *gpu, uint32_t mode,
                              rocprofiler_properties_t *properties)
{
    const struct hsa_calls *hsa = hsa_calls();
    if (!hsa || !properties)
        return hsa ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_NOT_INITIALIZED;
    if (mode & ROCPROFILER_MODE_CREATEQUEUE) {
        hsa_status_t status =
            hsa->queue_create(gpu->hsa, queue_size(properties->queue_depth), HSA_QUEUE_TYPE_MULTI,
                              NULL, NULL, UINT32_MAX, UINT32_MAX, &properties->queue);
        if (status != HSA_STATUS_SUCCESS)
            return fail(status, "the runtime gives no queue of depth %u (status 0x%x)",
                        properties->queue_depth, (unsigned)status);
    }
    standalone->queue = properties->queue;
    return HSA_STATUS_SUCCESS;
}

struct ring {
    const struct hsa_calls *hsa;
    hsa_queue_t *queue;
    uint64_t index; /* of the packet that was reserved */
};

/* A packet is reserved only where there is room for it: once it is ours it has to be written, and
 * another thread of the program may take the room that was just seen. */
static bool packet_reserve(void *data)
{
    struct ring *ring = data;
    ring->index = ring->hsa->queue_load_write_index(ring->queue);
    return ring->index - ring->hsa->queue_load_read_index(ring->queue) < ring->queue->size &&
           ring->hsa->queue_cas_write_index(ring->queue, ring->index, ring->index + 1) ==
               ring->index;
}

static void barrier_put(const struct ring *ring, hsa_signal_t done)
{
    const uint16_t header = HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE |
                            1 << HSA_PACKET_HEADER_BARRIER |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    hsa_barrier_and_packet_t *packet =
        (hsa_barrier_and_packet_t *)ring->queue->base_address + ring->index % ring->queue->size;
    memset((char *)packet + sizeof header, 0, sizeof *packet - sizeof header);
    packet->completion_signal = done;
    /* Release: the packet processor looks at the rest once the header is valid. */
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    ring->hsa->signal_store(ring->queue->doorbell_signal, (hsa_signal_value_t)ring->index);
}

/* A reading comes after the packets that are in the context's queue already. */
static hsa_status_t queue_wait(struct standalone *standalone)
{
    const struct hsa_calls *hsa = hsa_calls();
    hsa_signal_t done;
    if (!standalone->queue || !hsa)
        return HSA_STATUS_SUCCESS;
    if (hsa->queue_load_write_index(standalone->queue) == standalone->queue_waited)
        return HSA_STATUS_SUCCESS;
    if (hsa->signal_create(1, 0, NULL, &done) != HSA_STATUS_SUCCESS)
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no signal for the context's queue");
    struct ring ring = {.hsa = hsa, .queue = standalone->queue};
    uint64_t limit_ns = atomic_load_explicit(&wait_limit_ns, memory_order_relaxed);
    if (!wait_until(packet_reserve, &ring, limit_ns, 20 * WAIT_NS_PER_US)) {
        hsa->signal_destroy(done);
        return fail(HSA_STATUS_ERROR, "the context's queue is full and does not move");
    }
    barrier_put(&ring, done);
    bool ended =
        hsa->signal_wait(done, HSA_SIGNAL_CONDITION_LT, 1, limit_ns, HSA_WAIT_STATE_BLOCKED) < 1;
    if (!ended) /* the signal is kept: the device may still write to it */
        return fail(HSA_STATUS_ERROR, "the context's queue does not come to its end");
    hsa->signal_destroy(done);
    standalone->queue_waited = ring.index + 1;
    return HSA_STATUS_SUCCESS;
}

/* ---- life */

struct standalone *standalone_create(const struct gpu *gpu, uint32_t mode,
                                     rocprofiler_properties_t *properties, hsa_status_t *status)
{
    struct standalone *standalone = calloc(1, sizeof *standalone);
    if (standalone)
        standalone->device = device_take(gpu->agent->id);
    if (!standalone || !standalone->device) {
        free(standalone);
        *status = fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no further context to count with");
        return NULL;
    }
    pthread_mutex_init(&standalone->lock, NULL);
    *status = queue_set(standalone, gpu, mode, properties);
    if (*status == HSA_STATUS_SUCCESS)
        return standalone;
    standalone_destroy(standalone);
    return NULL;
}

/* The context is closed, so nobody uses it any more. */
void standalone_destroy(struct standalone *standalone)
{
    if (standalone->running)
        engine->context_stop(standalone->device->id);
    device_give(standalone->device);
    pthread_mutex_destroy(&standalone->lock);
    free(standalone->records);
    free(standalone->base);
    free(standalone);
}

/* ---- reading */

static bool records_make(struct standalone *standalone, uint32_t count)
{
    if (count > standalone->record_capacity || !standalone->records) {
        free(standalone->records);
        free(standalone->base);
        standalone->records = calloc(count + 1u, sizeof *standalone->records);
        standalone->base = calloc(count + 1u, sizeof *standalone->base);
        standalone->record_capacity = standalone->records && standalone->base ? count : 0;
    }
    standalone->record_count = count;
    if (standalone->base)
        memset(standalone->base, 0, count * sizeof *standalone->base);
    return standalone->records && standalone->base;
}

static hsa_status_t records_read(struct standalone *standalone)
{
    size_t count = standalone->record_count;
    hsa_status_t status = queue_wait(standalone);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    rocprofiler_status_t read =
        engine->counting_device_sample(standalone->device->id, (rocprofiler_user_data_t){0},
                                       ROCPROFILER_COUNTER_FLAG_NONE, standalone->records, &count);
    if (read == ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED)
        return fail(HSA_STATUS_ERROR_NOT_INITIALIZED, "no HSA runtime runs");
    if (read != ROCPROFILER_STATUS_SUCCESS)
        return fail(HSA_STATUS_ERROR, "the GPU's counters cannot be read (status %d)", (int)read);
    standalone->record_count = (uint32_t)count;
    return HSA_STATUS_SUCCESS;
}

/* Reads the counters into the group's values. */
static hsa_status_t group_read(struct standalone *standalone, struct group *group)
{
    if (standalone->running != group)
        return fail(HSA_STATUS_ERROR, "group %u was not started", group->index);
    hsa_status_t status = records_read(standalone);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    for (uint32_t i = 0; i < standalone->record_count; i++)
        standalone->records[i].counter_value -= standalone->base[i];
    struct counting_slot *trace = engine->counting_device_trace(standalone->device->id);
    if (trace)
        group_trace_set(group, trace);
    pthread_mutex_lock(&group->context->lock);
    group_take(group, standalone->records, standalone->record_count, group->values);
    group_state_set(group, GROUP_READY);
    pthread_mutex_unlock(&group->context->lock);
    return HSA_STATUS_SUCCESS;
}

void standalone_reset(struct group *group, hsa_status_t *status)
{
    struct standalone *standalone = group->context->standalone;
    pthread_mutex_lock(&standalone->lock);
    if (standalone->running == group) {
        *status = records_read(standalone);
        for (uint32_t i = 0; *status == HSA_STATUS_SUCCESS && i < standalone->record_count; i++)
            standalone->base[i] = standalone->records[i].counter_value;
    }
    pthread_mutex_unlock(&standalone->lock);
}

/* ---- start and stop */

static hsa_status_t group_start(struct standalone *standalone, struct group *group)
{
    const struct plan *plan = group->context->plan;
    char owner[200];
    if (standalone->running)
        return fail(HSA_STATUS_ERROR, "group %u runs already", standalone->running->index);
    if (!records_make(standalone, plan->groups[group->index].record_count))
        return fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES, "no memory for the values");
    hsa_status_t status = queue_wait(standalone);
    if (status != HSA_STATUS_SUCCESS)
        return status;
    group_trace_drop(group);
    engine->counting_owner_describe(plan->gpu.agent->id, owner, sizeof owner);
    standalone->device->config = plan->groups[group->index].config;
    rocprofiler_status_t started = engine->context_start(standalone->device->id);
    if (started == ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT)
        return fail(HSA_STATUS_ERROR, "the counters of GPU %u belong to %s", plan->gpu.node, owner);
    if (started != ROCPROFILER_STATUS_SUCCESS)
        return fail(HSA_STATUS_ERROR, "GPU %u does not start to count (status %d)", plan->gpu.node,
                    (int)started);
    standalone->running = group;
    pthread_mutex_lock(&group->context->lock);
    group_state_set(group, GROUP_IDLE);
    pthread_mutex_unlock(&group->context->lock);
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t group_stop(struct standalone *standalone, struct group *group)
{
    hsa_status_t status = group_read(standalone, group);
    if (standalone->running == group) {
        engine->context_stop(standalone->device->id);
        group_trace_renew(group); /* what was on its way has arrived */
        standalone->running = NULL;
    }
    return status;
}

typedef hsa_status_t action_fn(struct standalone *standalone, struct group *group);

static hsa_status_t group_act(rocprofiler_t *handle, uint32_t index, action_fn *action,
                              bool is_data)
{
    struct v1_context *context = context_acquire(handle);
    if (!context)
        return HSA_STATUS_ERROR_INVALID_ARGUMENT;
    hsa_status_t status = HSA_STATUS_ERROR_INVALID_ARGUMENT;
    struct group *group = NULL;
    if (context->standalone)
        group = context_group_checked(context, index);
    else
        fail(status, "the context was opened without ROCPROFILER_MODE_STANDALONE");
    if (group) {
        pthread_mutex_lock(&context->standalone->lock);
        status = action(context->standalone, group);
        pthread_mutex_unlock(&context->standalone->lock);
    }
    if (status == HSA_STATUS_SUCCESS && is_data && context->handler)
        CALLBACK((void)context->handler(group_public(group), context->handler_arg));
    context_release(context);
    return status;
}

hsa_status_t rocprofiler_start(rocprofiler_t *context, uint32_t group_index)
{
    return group_act(context, group_index, group_start, false);
}

hsa_status_t rocprofiler_stop(rocprofiler_t *context, uint32_t group_index)
{
    return group_act(context, group_index, group_stop, true);
}

hsa_status_t rocprofiler_read(rocprofiler_t *context, uint32_t group_index)
{
    return group_act(context, group_index, group_read, true);
}

hsa_status_t rocprofiler_group_start(rocprofiler_group_t *group)
{
    return group ? rocprofiler_start(group->context, group->index)
                 : fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_start: no group");
}

hsa_status_t rocprofiler_group_stop(rocprofiler_group_t *group)
{
    return group ? rocprofiler_stop(group->context, group->index)
                 : fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_stop: no group");
}

hsa_status_t rocprofiler_group_read(rocprofiler_group_t *group)
{
    return group ? rocprofiler_read(group->context, group->index)
                 : fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "group_read: no group");
}
