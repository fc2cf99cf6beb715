/* Counting around kernel dispatches: the buffered and the callback service. */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/callback.h"
#include "base/log.h"
#include "model/replay.h"
#include "model/service.h"
#include "model/trace.h"
#include "session/counting/concurrent.h"
#include "session/counting/owners.h"
#include "session/counting/share.h"

/* One configure call; a context may have several, which hang on the first. Immutable once
 * configured; freed at finalisation, after the last dispatch was completed. */
struct dispatch_service {
    /* Writers: configure (compare-exchange, release), while the context is stopped. Readers: every
     * dispatch (acquire). */
    _Atomic(struct dispatch_service *) next;
    rocprofiler_context_id_t context;
    rocprofiler_dispatch_counting_service_cb_t callback;
    void *callback_data;
    struct tracebuf *buffer;                                   /* buffered service */
    rocprofiler_dispatch_counting_record_cb_t record_callback; /* callback service */
    void *record_data;
};

/* The first service of the context that counts: the owner of all devices. Written by start and stop
 * (release), read per dispatch (acquire). Services live until finalisation, so a reader may go on
 * using one that was just stopped. */
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

static struct dispatch_service *next_of(const struct dispatch_service *service)
{
    return atomic_load_explicit(&service->next, memory_order_acquire);
}

/* What a callback chose, as a reference; NULL: nothing that can be counted. */
static struct counting_config *config_for(rocprofiler_counter_config_id_t id,
                                          const struct trace_dispatch *dispatch)
{
    struct counting_config *config = id.handle ? counting_config_acquire(id) : NULL;
    if (id.handle && !config)
        log_error("counting", "the dispatch callback chose a configuration that does not exist");
    if (!config || config->agent->id.handle == dispatch->info.agent_id.handle)
        return config;
    log_error("counting", "the dispatch callback chose a configuration of another agent");
    counting_config_release(config);
    return NULL;
}

/* Everybody is asked, also when there is no memory for the answers. */
static struct counting_collection *shares_ask(const struct dispatch_service *first,
                                              const struct trace_dispatch *dispatch)
{
    uint32_t services = 0;
    for (const struct dispatch_service *s = first; s; s = next_of(s))
        services++;
    struct counting_collection *collection = NULL;
    for (const struct dispatch_service *s = first; s && services; s = next_of(s), services--) {
        rocprofiler_counter_config_id_t id = {.handle = 0};
        rocprofiler_user_data_t user_data = {.value = 0};
        if (trace_replay_is_stopped(s->context))
            continue;
        CALLBACK(s->callback(service_data(s, dispatch), &id, &user_data, s->callback_data));
        struct counting_config *config = config_for(id, dispatch);
        if (config && config->has_trace) {
            log_error("counting", "the dispatch callback chose a configuration with a trace");
            counting_config_release(config);
            config = NULL;
        }
        if (config && !collection)
            collection = counting_collection_create(services);
        if (collection && config)
            collection->shares[collection->share_count++] =
                (struct counting_share){s, user_data, config};
        else if (config)
            counting_config_release(config);
    }
    return collection;
}

static void dispatch_begin(struct trace_dispatch *dispatch, struct trace_packets *packets)
{
    struct dispatch_service *first = atomic_load_explicit(&active_service, memory_order_acquire);
    dispatch->counting = NULL;
    *packets = (struct trace_packets){0};
    struct counting_collection *collection = first ? shares_ask(first, dispatch) : NULL;
    if (!collection)
        return;
    if (!counting_collection_begin(collection, dispatch->hsa_agent)) {
        log_error("counting", "no turn or no memory for the counters of dispatch %llu",
                  (unsigned long long)dispatch->info.dispatch_id);
        counting_collection_destroy(collection);
        return;
    }
    dispatch->counting = collection;
    counting_slot_packets(collection->slot, packets);
}

static void records_put(const struct dispatch_service *service,
                        const struct trace_dispatch *dispatch,
                        const rocprofiler_counter_record_t *records, uint32_t count)
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
    trace_buffer_put_many(service->buffer, ROCPROFILER_BUFFER_CATEGORY_COUNTERS,
                          ROCPROFILER_COUNTER_RECORD_VALUE, records, sizeof records[0], count);
}

static void share_deliver(struct counting_collection *collection,
                          const struct counting_share *share, const struct trace_dispatch *dispatch,
                          uint32_t total)
{
    const struct dispatch_service *service = share->service;
    uint32_t count;
    rocprofiler_counter_record_t *records =
        counting_collection_records(collection, share, total, &count);
    if (service->buffer)
        records_put(service, dispatch, records, count);
    if (service->record_callback)
        CALLBACK(service->record_callback(service_data(service, dispatch), records, count,
                                          share->user_data, service->record_data));
}

static void dispatch_complete(struct trace_dispatch *dispatch, bool failed)
{
    struct counting_collection *collection = dispatch->counting;
    if (!collection)
        return;
    dispatch->counting = NULL;
    if (failed) {
        counting_collection_destroy(collection);
        return;
    }
    uint32_t total = counting_slot_evaluate(collection->slot, dispatch->info.dispatch_id,
                                            collection->shares[0].user_data);
    for (uint32_t i = 0; i < collection->share_count; i++)
        share_deliver(collection, &collection->shares[i], dispatch, total);
    counting_collection_destroy(collection);
}

static const struct trace_counting_ops counting_ops = {dispatch_begin, dispatch_complete, false};

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
    concurrent_stop();
    owners_release(context);
}

static void services_free(void *data)
{
    for (struct dispatch_service *s = data, *next; s; s = next) {
        next = next_of(s);
        free(s);
    }
}

static const struct service_ops service_ops = {service_start, service_stop, services_free};

static void service_append(struct dispatch_service *first, struct dispatch_service *service)
{
    struct dispatch_service *last = first, *next = NULL;
    while (!atomic_compare_exchange_strong_explicit(&last->next, &next, service,
                                                    memory_order_release, memory_order_acquire)) {
        last = next;
        next = NULL;
    }
}

/* The first one of a context is its service, further ones hang on it. */
static rocprofiler_status_t configure(const struct dispatch_service *wanted)
{
    struct dispatch_service *service = calloc(1, sizeof *service);
    if (!service)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    service->context = wanted->context;
    service->callback = wanted->callback;
    service->callback_data = wanted->callback_data;
    service->buffer = wanted->buffer;
    service->record_callback = wanted->record_callback;
    service->record_data = wanted->record_data;
    rocprofiler_status_t status =
        service_add(wanted->context, SERVICE_DISPATCH_COUNTING, &service_ops, service);
    if (status == ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED) {
        service_append(service_find(wanted->context, SERVICE_DISPATCH_COUNTING), service);
        return ROCPROFILER_STATUS_SUCCESS;
    }
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
