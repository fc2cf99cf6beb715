/* Counting on whole devices: configuration, start and stop. */
#include <stdlib.h>

#include "base/callback.h"
#include "base/log.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/concurrent.h"
#include "session/counting/device.h"
#include "session/counting/owners.h"
#include "session/counting/runtime.h"

#define DRAIN_LIMIT_NS 2000000000ull

/* Grown by configuration (release), read by whoever arms (acquire). */
static _Atomic(struct device_service *) services;

/* Written when a runtime comes or goes (release), read per reading (acquire). */
static _Atomic(const struct counting_queue_ops *) queue_ops;

const struct counting_queue_ops *device_queues(void)
{
    return atomic_load_explicit(&queue_ops, memory_order_acquire);
}

/* ---- states */

void device_state_set(struct device_service *service, enum service_state state)
{
    pthread_mutex_lock(&service->lock);
    service->state = state;
    pthread_cond_broadcast(&service->changed);
    pthread_mutex_unlock(&service->lock);
}

bool device_busy_enter(struct device_service *service, bool wait)
{
    pthread_mutex_lock(&service->lock);
    while (wait && service->state == SERVICE_BUSY)
        pthread_cond_wait(&service->changed, &service->lock);
    bool entered = service->state == SERVICE_RUNNING;
    if (entered)
        service->state = SERVICE_BUSY;
    pthread_mutex_unlock(&service->lock);
    return entered;
}

/* ---- packets */

/* Queues a packet and waits for its end. `*lost`: the device may still use what belongs to it. */
static bool packet_run(const struct counted_device *device, const void *packet, bool *lost)
{
    const struct counting_queue_ops *ops = device_queues();
    struct counting_flight *flight = ops ? ops->submit(device->agent, packet, NULL, NULL) : NULL;
    bool ended = flight && ops->flight_wait(flight, PACKET_LIMIT_NS);
    *lost = flight && !ended;
    return ended;
}

static rocprofiler_status_t power_on(struct counted_device *device)
{
    const struct counting_queue_ops *ops = device_queues();
    uint64_t hsa_agent;
    bool lost;
    if (!ops->open(device->agent, &hsa_agent))
        return ROCPROFILER_STATUS_ERROR_NO_PROFILE_QUEUE;
    struct counting_slot *slot =
        counting_slot_acquire(device->config, COUNTING_SLOT_SWITCH, hsa_agent);
    if (!slot)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (packet_run(device, &slot->before, &lost)) {
        device->power = slot;
        return ROCPROFILER_STATUS_SUCCESS;
    }
    log_error("counting", "%s does not start its counters", device->config->agent->info->name);
    if (!lost)
        counting_slot_release(slot);
    return ROCPROFILER_STATUS_ERROR;
}

static void power_off(struct counted_device *device)
{
    const struct counting_queue_ops *ops = device_queues();
    bool lost = false;
    if (!device->power)
        return;
    if (ops && !packet_run(device, &device->power->after, &lost))
        log_warning("counting", "%s does not stop its counters", device->config->agent->info->name);
    if (ops) /* readings on their way are delivered */
        ops->drain(device->agent, DRAIN_LIMIT_NS);
    if (!lost)
        counting_slot_release(device->power);
    device->power = NULL;
}

static void devices_stop(struct device_service *service)
{
    for (struct counted_device *device = service->devices; device; device = device->next)
        power_off(device);
}

/* Starts those that do not run yet; does nothing as long as there is no runtime. */
static rocprofiler_status_t devices_start(struct device_service *service)
{
    for (struct counted_device *device = service->devices; device && device_queues();
         device = device->next) {
        if (!device_has_hardware(device) || device->power)
            continue;
        rocprofiler_status_t status = power_on(device);
        if (status != ROCPROFILER_STATUS_SUCCESS)
            return status;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static void service_arm(struct device_service *service)
{
    if (!device_queues() || !device_busy_enter(service, true))
        return;
    rocprofiler_status_t status = devices_start(service);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        log_error("counting", "a context started before the runtime cannot count (status %d)",
                  (int)status);
    device_state_set(service, SERVICE_RUNNING);
}

void counting_device_arm(void)
{
    struct device_service *service = atomic_load_explicit(&services, memory_order_acquire);
    for (; service; service = service->next)
        service_arm(service);
}

void counting_device_disarm(void)
{
    struct device_service *service = atomic_load_explicit(&services, memory_order_acquire);
    for (; service; service = service->next) {
        if (!device_busy_enter(service, true))
            continue;
        devices_stop(service);
        device_state_set(service, SERVICE_RUNNING);
    }
}

/* Between the two the context starts or stops on this thread. */
static void moving_begin(struct device_service *service)
{
    pthread_mutex_lock(&service->lock);
    service->mover = pthread_self();
    service->is_moving = true;
    pthread_mutex_unlock(&service->lock);
}

static void moving_end(struct device_service *service)
{
    pthread_mutex_lock(&service->lock);
    service->is_moving = false;
    pthread_mutex_unlock(&service->lock);
}

/* In a child: nobody goes on with what another thread was doing. Session takes the context for a
 * stopped one. */
static void service_settle(struct device_service *service)
{
    bool goes_on = service->is_moving && pthread_equal(service->mover, pthread_self());
    if (service->is_moving && !goes_on) {
        service->is_moving = false;
        service->state = SERVICE_STOPPED;
        /* References stay: that thread may just have given them back. */
        for (struct counted_device *device = service->devices; device; device = device->next)
            device->config = NULL;
        owners_release(service->context);
    } else if (service->state == SERVICE_BUSY) {
        service->state = SERVICE_RUNNING;
    }
}

/* The devices are the parent's, and so is what the runtime gave. */
void counting_device_on_fork_child(void)
{
    atomic_store_explicit(&queue_ops, NULL, memory_order_release);
    counting_memory_register(NULL);
    enable_on_fork_child();
    concurrent_on_fork_child();
    struct device_service *service = atomic_load_explicit(&services, memory_order_acquire);
    for (; service; service = service->next) {
        pthread_mutex_init(&service->lock, NULL);
        pthread_cond_init(&service->changed, NULL);
        service_settle(service);
        for (struct counted_device *device = service->devices; device; device = device->next)
            device->power = NULL;
    }
}

static void fork_watch(void)
{
    pthread_atfork(NULL, NULL, counting_device_on_fork_child);
}

void counting_queue_register(const struct counting_queue_ops *ops)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fork_watch);
    if (!ops) {
        counting_device_disarm();
        concurrent_disarm();
    }
    atomic_store_explicit(&queue_ops, ops, memory_order_release);
    if (ops)
        counting_device_arm();
    else
        counting_device_disarm(); /* what was started meanwhile */
}

/* ---- start and stop */

static struct counted_device *device_of(const struct device_service *service,
                                        rocprofiler_agent_id_t agent)
{
    struct counted_device *device = service->devices;
    while (device && device->agent.handle != agent.handle)
        device = device->next;
    return device;
}

/* Takes over the reference on success; *old then is what was chosen before. */
static rocprofiler_status_t config_choose(struct device_service *service,
                                          struct counting_config *config,
                                          struct counting_config **old)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    pthread_mutex_lock(&service->lock);
    struct counted_device *device = device_of(service, config->agent->id);
    if (service->state != SERVICE_STARTING)
        status = ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    else if (!device)
        status = ROCPROFILER_STATUS_ERROR_AGENT_MISMATCH;
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        *old = device->config;
        device->config = config;
    }
    pthread_mutex_unlock(&service->lock);
    return status;
}

/* What a tool calls inside its callback. */
static rocprofiler_status_t config_set(rocprofiler_context_id_t context,
                                       rocprofiler_counter_config_id_t id)
{
    struct counting_config *old = NULL;
    if (!service_context_exists(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
    struct counting_config *config = counting_config_acquire(id);
    if (!config)
        return ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND;
    struct device_service *service = service_find(context, SERVICE_DEVICE_COUNTING);
    rocprofiler_status_t status =
        service ? config_choose(service, config, &old) : ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
    if (status != ROCPROFILER_STATUS_SUCCESS)
        old = config;
    if (old)
        counting_config_release(old);
    return status;
}

static void configs_drop(struct device_service *service)
{
    for (struct counted_device *device = service->devices; device; device = device->next) {
        if (device->config)
            counting_config_release(device->config);
        device->config = NULL;
    }
}

static rocprofiler_status_t devices_own(const struct device_service *service)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    for (const struct counted_device *device = service->devices;
         device && status == ROCPROFILER_STATUS_SUCCESS; device = device->next)
        status = owners_take(service->context, device->agent);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        owners_release(service->context);
    return status;
}

/* The devices are the context's. */
static rocprofiler_status_t owned_start(rocprofiler_context_id_t context,
                                        struct device_service *service)
{
    device_state_set(service, SERVICE_STARTING);
    for (struct counted_device *device = service->devices; device; device = device->next)
        CALLBACK(device->callback(context, device->agent, config_set, device->callback_data));
    device_state_set(service, SERVICE_BUSY); /* a runtime that leaves waits for what comes now */
    rocprofiler_status_t status = devices_start(service);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        device_state_set(service, SERVICE_RUNNING);
        service_arm(service); /* a runtime may have arrived since devices_start looked */
        return status;
    }
    devices_stop(service);
    device_state_set(service, SERVICE_STOPPED);
    configs_drop(service);
    owners_release(context);
    return status;
}

static rocprofiler_status_t service_start(rocprofiler_context_id_t context, void *data)
{
    struct device_service *service = data;
    moving_begin(service);
    rocprofiler_status_t status = devices_own(service);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        status = owned_start(context, service);
    moving_end(service);
    return status;
}

static void service_stop(rocprofiler_context_id_t context, void *data)
{
    struct device_service *service = data;
    if (!device_busy_enter(service, true))
        return;
    moving_begin(service);
    devices_stop(service);
    configs_drop(service);
    owners_release(context);
    device_state_set(service, SERVICE_STOPPED);
    moving_end(service);
}

static const struct service_ops service_ops = {service_start, service_stop, NULL};

/* ---- configuration, while the context is stopped */

static rocprofiler_status_t service_get(rocprofiler_context_id_t context,
                                        struct device_service **found)
{
    *found = service_find(context, SERVICE_DEVICE_COUNTING);
    if (*found)
        return ROCPROFILER_STATUS_SUCCESS;
    struct device_service *service = calloc(1, sizeof *service);
    if (!service)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    service->context = context;
    pthread_mutex_init(&service->lock, NULL);
    pthread_cond_init(&service->changed, NULL);
    rocprofiler_status_t status =
        service_add(context, SERVICE_DEVICE_COUNTING, &service_ops, service);
    if (status != ROCPROFILER_STATUS_SUCCESS) {
        free(service);
        return status;
    }
    service->next = atomic_load_explicit(&services, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&services, &service->next, service,
                                                  memory_order_release, memory_order_relaxed))
        ;
    atomic_store_explicit(&trace_queue_first, enable_packet, memory_order_release);
    *found = service;
    return status;
}

static rocprofiler_status_t device_add(struct device_service *service,
                                       struct counted_device *device)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    struct counted_device **end = &service->devices;
    pthread_mutex_lock(&service->lock);
    if (service->state != SERVICE_STOPPED)
        status = ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    else if (device_of(service, device->agent))
        status = ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    while (*end)
        end = &(*end)->next;
    if (status == ROCPROFILER_STATUS_SUCCESS)
        *end = device;
    pthread_mutex_unlock(&service->lock);
    return status;
}

static rocprofiler_status_t agent_check(rocprofiler_agent_id_t id)
{
    const struct counting_agent *agent = counting_agent_find(id);
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    /* A GPU without counters is harmless: no configuration for it can exist. */
    return agent->info->type == ROCPROFILER_AGENT_TYPE_GPU
               ? ROCPROFILER_STATUS_SUCCESS
               : ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
}

/* In the order in which the interface lists them. */
static rocprofiler_status_t configure_check(rocprofiler_context_id_t context,
                                            rocprofiler_buffer_id_t buffer,
                                            rocprofiler_agent_id_t agent,
                                            rocprofiler_device_counting_service_cb_t callback)
{
    rocprofiler_status_t open = service_counting_open(context);
    if (open == ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
    if (open != ROCPROFILER_STATUS_SUCCESS)
        return open;
    if (service_find(context, SERVICE_DISPATCH_COUNTING))
        return ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT;
    if (service_find(context, SERVICE_PC_SAMPLING))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT;
    if (buffer.handle && !trace_buffer_find(buffer))
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    return callback ? agent_check(agent) : ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
}

rocprofiler_status_t counting_device_configure(rocprofiler_context_id_t context,
                                               rocprofiler_buffer_id_t buffer,
                                               rocprofiler_agent_id_t agent,
                                               rocprofiler_device_counting_service_cb_t callback,
                                               void *data)
{
    struct device_service *service;
    rocprofiler_status_t status = configure_check(context, buffer, agent, callback);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    struct counted_device *device = malloc(sizeof *device);
    if (!device)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    *device = (struct counted_device){.agent = agent,
                                      .buffer = trace_buffer_find(buffer),
                                      .callback = callback,
                                      .callback_data = data};
    status = service_get(context, &service);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        status = device_add(service, device);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        free(device);
    return status;
}
