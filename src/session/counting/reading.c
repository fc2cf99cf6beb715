/* Readings of whole devices. */
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/device.h"

/* A reading that nobody waits for. */
struct async_reading {
    struct counted_device *device;
    struct counting_slot *slot;
    rocprofiler_user_data_t user_data;
};

static void records_put(struct tracebuf *buffer, const struct counting_slot *slot, uint32_t count)
{
    if (buffer)
        trace_buffer_put_many(buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                              ROCPROFILER_COUNTER_RECORD_VALUE, slot->records,
                              sizeof slot->records[0], count);
}

/* Runs on the completion thread, or at once when there is nothing to wait for. */
static void async_done(void *data, bool failed)
{
    struct async_reading *reading = data;
    if (failed) { /* the slot stays with the device */
        log_warning("counting", "a reading of %s is lost",
                    reading->slot->config->agent->info->name);
    } else {
        uint32_t count = counting_slot_evaluate(reading->slot, 0, reading->user_data);
        records_put(reading->device->buffer, reading->slot, count);
        counting_slot_release(reading->slot);
    }
    free(reading);
}

static struct counting_slot *sample_slot(const struct counted_device *device)
{
    const struct counting_queue_ops *ops = device_queues();
    uint64_t hsa_agent = 0;
    if (device_has_counters(device) && (!ops || !ops->open(device->agent, &hsa_agent)))
        return NULL;
    return counting_slot_acquire(device->config, COUNTING_SLOT_SAMPLE, hsa_agent);
}

static rocprofiler_status_t async_read(struct counted_device *device,
                                       rocprofiler_user_data_t user_data)
{
    const struct counting_queue_ops *ops = device_queues();
    struct async_reading *reading = malloc(sizeof *reading);
    struct counting_slot *slot = reading ? sample_slot(device) : NULL;
    if (!slot) {
        free(reading);
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    *reading = (struct async_reading){device, slot, user_data};
    if (!device_has_counters(device)) {
        async_done(reading, false);
        return ROCPROFILER_STATUS_SUCCESS;
    }
    if (ops && ops->submit(device->agent, &slot->after, async_done, reading))
        return ROCPROFILER_STATUS_SUCCESS;
    counting_slot_release(slot);
    free(reading);
    return ROCPROFILER_STATUS_ERROR;
}

/* All devices are asked before the first is waited for. */
static rocprofiler_status_t reading_begin(struct counted_device *device)
{
    const struct counting_queue_ops *ops = device_queues();
    bool looks = device->power && device->power->look.header, counts = device_has_counters(device);
    device->flight = device->look = NULL;
    device->slot = sample_slot(device);
    if (!device->slot)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (counts && ops)
        device->flight = ops->submit(device->agent, &device->slot->after, NULL, NULL);
    if (looks && ops)
        device->look = ops->submit(device->agent, &device->power->look, NULL, NULL);
    if ((!counts || device->flight) && (!looks || device->look))
        return ROCPROFILER_STATUS_SUCCESS;
    if (!device->flight && !device->look) {
        counting_slot_release(device->slot);
        device->slot = NULL;
    }
    return ROCPROFILER_STATUS_ERROR;
}

static rocprofiler_status_t reading_end(struct counted_device *device,
                                        rocprofiler_user_data_t user_data)
{
    const struct counting_queue_ops *ops = device_queues();
    bool looked = !device->look || ops->flight_wait(device->look, PACKET_LIMIT_NS);
    if (device->flight && !ops->flight_wait(device->flight, PACKET_LIMIT_NS)) {
        log_error("counting", "%s does not answer", device->config->agent->info->name);
        device->slot = NULL; /* the device may still write to it */
        return ROCPROFILER_STATUS_ERROR;
    }
    if (!looked) {
        log_error("counting", "%s does not say how far its trace is",
                  device->config->agent->info->name);
        return ROCPROFILER_STATUS_ERROR;
    }
    device->count = counting_slot_evaluate(device->slot, 0, user_data);
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Readings of all devices, in device->slot. */
static rocprofiler_status_t devices_read(struct device_service *service,
                                         rocprofiler_user_data_t user_data)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS, one;
    for (struct counted_device *device = service->devices; device; device = device->next) {
        device->slot = NULL;
        if (device->config && (one = reading_begin(device)) != ROCPROFILER_STATUS_SUCCESS)
            status = one;
    }
    for (struct counted_device *device = service->devices; device; device = device->next) {
        if (device->slot && (one = reading_end(device, user_data)) != ROCPROFILER_STATUS_SUCCESS)
            status = one;
    }
    return status;
}

static size_t records_needed(const struct device_service *service)
{
    size_t count = 0;
    for (const struct counted_device *device = service->devices; device; device = device->next)
        count += device->config ? device->config->record_count : 0;
    return count;
}

static rocprofiler_status_t sync_sample(struct device_service *service,
                                        rocprofiler_user_data_t user_data,
                                        rocprofiler_counter_record_t *output)
{
    rocprofiler_status_t status = devices_read(service, user_data);
    for (struct counted_device *device = service->devices; device; device = device->next) {
        if (!device->slot)
            continue;
        if (status == ROCPROFILER_STATUS_SUCCESS) {
            records_put(device->buffer, device->slot, device->count);
            if (output)
                memcpy(output, device->slot->records, device->count * sizeof *output);
            output += output ? device->count : 0;
        }
        counting_slot_release(device->slot);
        device->slot = NULL;
    }
    return status;
}

static rocprofiler_status_t async_sample(struct device_service *service,
                                         rocprofiler_user_data_t user_data)
{
    rocprofiler_status_t status = ROCPROFILER_STATUS_SUCCESS;
    for (struct counted_device *device = service->devices;
         device && status == ROCPROFILER_STATUS_SUCCESS; device = device->next) {
        if (device->config)
            status = async_read(device, user_data);
    }
    return status;
}

/* To be called while the service is BUSY with this thread. */
static rocprofiler_status_t sample(struct device_service *service,
                                   rocprofiler_user_data_t user_data, bool async,
                                   rocprofiler_counter_record_t *output, size_t *count)
{
    size_t needed = records_needed(service), room = output ? *count : needed;
    if (count)
        *count = needed;
    if (room < needed)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    if (!device_queues())
        return ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED;
    return async ? async_sample(service, user_data) : sync_sample(service, user_data, output);
}

rocprofiler_status_t counting_device_sample(rocprofiler_context_id_t context,
                                            rocprofiler_user_data_t user_data,
                                            rocprofiler_counter_flag_t flags,
                                            rocprofiler_counter_record_t *output, size_t *count)
{
    bool async = flags == ROCPROFILER_COUNTER_FLAG_ASYNC;
    if (context.handle == 0)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    if (!service_context_exists(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
    if (!service_context_active(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
    if ((!async && flags != ROCPROFILER_COUNTER_FLAG_NONE) || (output && (async || !count)))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    struct device_service *service = service_find(context, SERVICE_DEVICE_COUNTING);
    if (!service)
        return ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID;
    if (!device_busy_enter(service, false))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR;
    rocprofiler_status_t status = sample(service, user_data, async, output, count);
    device_state_set(service, SERVICE_RUNNING);
    return status;
}
