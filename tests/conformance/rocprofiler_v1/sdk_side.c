#include "sdk_side.h"

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stdatomic.h>
#include <string.h>

static rocprofiler_context_id_t counting, tracing;
static _Atomic uint64_t waves, kernels;

static rocprofiler_status_t waves_find(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *ids,
                                       size_t count, void *found)
{
    rocprofiler_counter_info_v0_t info;
    (void)agent;
    for (size_t i = 0; i < count; i++) {
        rocprofiler_query_counter_info(ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
        if (!strcmp(info.name, "SQ_WAVES"))
            *(rocprofiler_counter_id_t *)found = ids[i];
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static void choose(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_config_id_t *config, rocprofiler_user_data_t *user_data,
                   void *arg)
{
    static rocprofiler_counter_config_id_t made;
    rocprofiler_counter_id_t id = {0};
    (void)user_data, (void)arg;
    if (!made.handle) {
        rocprofiler_iterate_agent_supported_counters(data.dispatch_info.agent_id, waves_find, &id);
        rocprofiler_create_counter_config(data.dispatch_info.agent_id, &id, 1, &made);
    }
    *config = made;
}

static void record(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_record_t *records, size_t count,
                   rocprofiler_user_data_t user_data, void *arg)
{
    (void)data, (void)user_data, (void)arg;
    for (size_t i = 0; i < count; i++)
        atomic_fetch_add(&waves, (uint64_t)records[i].counter_value);
}

static void on_dispatch(rocprofiler_callback_tracing_record_t dispatched,
                        rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    if (dispatched.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE)
        atomic_fetch_add(&kernels, 1);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    rocprofiler_create_context(&counting);
    rocprofiler_create_context(&tracing);
    rocprofiler_configure_callback_dispatch_counting_service(counting, choose, NULL, record, NULL);
    rocprofiler_configure_callback_tracing_service(
        tracing, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_dispatch, NULL);
    rocprofiler_start_context(tracing);
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *runtime, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {.size = sizeof result,
                                                         .initialize = initialize};
    (void)version, (void)runtime, (void)priority;
    id->name = "the other tool";
    return &result;
}

void sdk_prepare(void)
{
    rocprofiler_force_configure(configure);
}

int sdk_start(void)
{
    return (int)rocprofiler_start_context(counting);
}

void sdk_stop(void)
{
    rocprofiler_stop_context(counting);
}

uint64_t sdk_waves(void)
{
    return atomic_load(&waves);
}

uint64_t sdk_kernels(void)
{
    return atomic_load(&kernels);
}
