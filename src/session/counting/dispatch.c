/* Counting around kernel dispatches: the buffered and the callback service. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/log.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/config.h"
#include "session/counting/owners.h"

/* One context's service. Immutable once configured; freed at finalisation, after the last
 * dispatch was completed. */
struct dispatch_service {
    rocprofiler_context_id_t context;
    rocprofiler_dispatch_counting_service_cb_t callback;
    void *callback_data;
    struct tracebuf *buffer;                                   /* buffered service */
    rocprofiler_dispatch_counting_record_cb_t record_callback; /* callback service */
    void *record_data;
};

_Atomic(const struct trace_counting_ops *) trace_counting;
void (*_Atomic trace_queue_created)(rocprofiler_agent_id_t agent, void *hsa_queue);

/* The one service that counts: the owner of all devices. Written by start and stop (release), read
 * per dispatch (acquire). Services live until finalisation, so a reader may go on using one that
 * was just stopped. */
static _Atomic(struct dispatch_service *) active_service;

static rocprofiler_dispatch_counting_service_data_t
service_data(const struct dispatch_service *service, const struct trace_dispatch *dispatch)
{
    return (rocprofiler_dispatch_counting_service_data_t){
        .size = sizeof(rocprofiler_dispatch_counting_service_data_t),
        .correlation_id = {.internal = dispatch->event.correlation_id.internal,
                           .external = trace_event_external(&dispatch->event, service->context)},
        .start_timestamp = dispatch->start_ns,
        .end_timestamp = dispatch->end_ns,
        .dispatch_info = dispatch->info};
}

static struct counting_slot *slot_for(rocprofiler_counter_config_id_t id,
                                      const struct trace_dispatch *dispatch)
{
    struct counting_config *config = counting_config_acquire(id);
    if (!config) {
        log_error("counting", "the dispatch callback chose a configuration that does not exist");
        return NULL;
    }
    struct counting_slot *slot = NULL;
    if (config->agent->id.handle != dispatch->info.agent_id.handle)
        log_error("counting", "the dispatch callback chose a configuration of another agent");
    else if (!(slot = counting_slot_acquire(config, COUNTING_SLOT_DISPATCH, dispatch->hsa_agent)))
        log_error("counting", "no memory for the counters of dispatch %llu",
                  (unsigned long long)dispatch->info.dispatch_id);
    counting_config_release(config);
    return slot;
}

static void dispatch_begin(struct trace_dispatch *dispatch, struct trace_packets *packets)
{
    struct dispatch_service *service = atomic_load_explicit(&active_service, memory_order_acquire);
    rocprofiler_counter_config_id_t config = {.handle = 0};
    rocprofiler_user_data_t user_data = {.value = 0};
    dispatch->counting = NULL;
    *packets = (struct trace_packets){0};
    if (!service)
        return;
    service->callback(service_data(service, dispatch), &config, &user_data, service->callback_data);
    if (config.handle == 0)
        return;
    struct counting_slot *slot = slot_for(config, dispatch);
    if (!slot)
        return;
    slot->owner = service;
    slot->user_data = user_data;
    dispatch->counting = slot;
    if (!slot->memory) /* only constants: nothing to program */
        return;
    *packets = (struct trace_packets){.before = &slot->before,
                                      .after = &slot->after,
                                      .before_count = 1,
                                      .after_count = 1,
                                      .serialize = true,
                                      .signal_after = true};
}

static void records_put(const struct dispatch_service *service,
                        const struct trace_dispatch *dispatch, const struct counting_slot *slot,
                        uint32_t count)
{
    rocprofiler_dispatch_counting_service_data_t data = service_data(service, dispatch);
    rocprofiler_dispatch_counting_service_record_t header = {.size = sizeof header,
                                                             .num_records = count,
                                                             .correlation_id = data.correlation_id,
                                                             .start_timestamp =
                                                                 data.start_timestamp,
                                                             .end_timestamp = data.end_timestamp,
                                                             .dispatch_info = data.dispatch_info};
    trace_buffer_put(service->buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                     ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER, &header,
                     sizeof header);
    for (uint32_t i = 0; i < count; i++)
        trace_buffer_put(service->buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                         ROCPROFILER_COUNTER_RECORD_VALUE, &slot->records[i],
                         sizeof slot->records[i]);
}

static void dispatch_complete(struct trace_dispatch *dispatch, bool failed)
{
    struct counting_slot *slot = dispatch->counting;
    if (!slot)
        return;
    const struct dispatch_service *service = slot->owner;
    dispatch->counting = NULL;
    if (!failed) {
        uint32_t count = counting_slot_evaluate(slot, dispatch->info.dispatch_id, slot->user_data);
        if (service->buffer)
            records_put(service, dispatch, slot, count);
        if (service->record_callback)
            service->record_callback(service_data(service, dispatch), slot->records, count,
                                     slot->user_data, service->record_data);
    }
    counting_slot_release(slot);
}

static const struct trace_counting_ops counting_ops = {dispatch_begin, dispatch_complete};

static rocprofiler_status_t service_start(rocprofiler_context_id_t context, void *data)
{
    rocprofiler_status_t status = owners_take_all(context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (service_dispatches_missed())
        log_warning("counting", "dispatches are not counted: when HSA started, no tool had asked "
                                "for dispatches");
    atomic_store_explicit(&active_service, data, memory_order_release);
    atomic_store_explicit(&trace_counting, &counting_ops, memory_order_release);
    return ROCPROFILER_STATUS_SUCCESS;
}

static void service_stop(rocprofiler_context_id_t context, void *data)
{
    if (atomic_load_explicit(&active_service, memory_order_acquire) != data)
        return;
    atomic_store_explicit(&trace_counting, NULL, memory_order_release);
    atomic_store_explicit(&active_service, NULL, memory_order_release);
    owners_release(context);
}

static const struct service_ops service_ops = {service_start, service_stop, free};

static rocprofiler_status_t configure(const struct dispatch_service *wanted)
{
    struct dispatch_service *service = malloc(sizeof *service);
    if (!service)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    *service = *wanted;
    rocprofiler_status_t status =
        service_add(wanted->context, SERVICE_DISPATCH_COUNTING, &service_ops, service);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        free(service);
    return status;
}

rocprofiler_status_t
counting_dispatch_configure_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                                   rocprofiler_dispatch_counting_service_cb_t callback, void *data)
{
    struct tracebuf *found = trace_buffer_find(buffer);
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    rocprofiler_status_t status = service_counting_open(context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (!found)
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    return configure(&(struct dispatch_service){
        .context = context, .callback = callback, .callback_data = data, .buffer = found});
}

rocprofiler_status_t counting_dispatch_configure_callback(
    rocprofiler_context_id_t context, rocprofiler_dispatch_counting_service_cb_t callback,
    void *data, rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_data)
{
    if (!callback || !record_callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return configure(&(struct dispatch_service){.context = context,
                                                .callback = callback,
                                                .callback_data = data,
                                                .record_callback = record_callback,
                                                .record_data = record_data});
}
