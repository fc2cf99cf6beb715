#include "sdk_side.h"

#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <string.h>

static const char *const *wanted;
static rocprofiler_context_id_t context;
static rocprofiler_counter_config_id_t config;

static rocprofiler_status_t config_make(rocprofiler_agent_id_t agent, rocprofiler_counter_id_t *ids,
                                        size_t count, void *data)
{
    rocprofiler_counter_id_t chosen[4];
    size_t chosen_count = 0;
    (void)data;
    for (size_t i = 0; i < count; i++) {
        rocprofiler_counter_info_v0_t info;
        rocprofiler_query_counter_info(ids[i], ROCPROFILER_COUNTER_INFO_VERSION_0, &info);
        for (int k = 0; k < 4; k++)
            if (chosen_count < 4 && !strcmp(info.name, wanted[k]))
                chosen[chosen_count++] = ids[i];
    }
    return rocprofiler_create_counter_config(agent, chosen, chosen_count, &config);
}

static void choose(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_config_id_t *chosen, rocprofiler_user_data_t *user_data,
                   void *arg)
{
    (void)user_data, (void)arg;
    if (!config.handle)
        rocprofiler_iterate_agent_supported_counters(data.dispatch_info.agent_id, config_make,
                                                     NULL);
    *chosen = config;
}

static void record(rocprofiler_dispatch_counting_service_data_t data,
                   rocprofiler_counter_record_t *records, size_t count,
                   rocprofiler_user_data_t user_data, void *arg)
{
    (void)data, (void)records, (void)count, (void)user_data, (void)arg;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    rocprofiler_create_context(&context);
    rocprofiler_configure_callback_dispatch_counting_service(context, choose, NULL, record, NULL);
    return 0;
}

static rocprofiler_tool_configure_result_t *
configure(uint32_t version, const char *runtime, uint32_t priority, rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {.size = sizeof result,
                                                         .initialize = initialize};
    (void)version, (void)runtime, (void)priority;
    id->name = "v1_bench";
    return &result;
}

void sdk_prepare(const char *const names[4])
{
    wanted = names;
    rocprofiler_force_configure(configure);
}

void sdk_start(void)
{
    rocprofiler_start_context(context);
}

void sdk_stop(void)
{
    rocprofiler_stop_context(context);
}
