/* Counters: what agents have, configurations, collecting. */
#include "session/front/engine.h"

#include <rocprofiler-sdk/device_counting_service.h>

rocprofiler_status_t rocprofiler_iterate_agent_supported_counters(
    rocprofiler_agent_id_t agent_id, rocprofiler_available_counters_cb_t cb, void *user_data)
{
    if (!cb)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_agent_iterate(agent_id, cb, user_data);
}

rocprofiler_status_t rocprofiler_query_counter_info(rocprofiler_counter_id_t counter_id,
                                                    rocprofiler_counter_info_version_id_t version,
                                                    void *info)
{
    if (!info)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_info(counter_id, version, info);
}

rocprofiler_status_t rocprofiler_iterate_counter_dimensions(
    rocprofiler_counter_id_t id, rocprofiler_available_dimensions_cb_t info_cb, void *user_data)
{
    if (!info_cb)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_dimensions_iterate(id, info_cb, user_data);
}

/* Counter ids are unique over all agents, so the agent adds nothing. */
rocprofiler_status_t rocprofiler_query_counter_instance_count(rocprofiler_agent_id_t agent_id,
                                                              rocprofiler_counter_id_t counter_id,
                                                              size_t *instance_count)
{
    (void)agent_id;
    if (!instance_count)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_instance_count(counter_id, instance_count);
}

rocprofiler_status_t rocprofiler_query_record_counter_id(rocprofiler_counter_instance_id_t id,
                                                         rocprofiler_counter_id_t *counter_id)
{
    if (!counter_id)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    counter_id->handle = crocprof_engine()->instance_counter_id(id);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t
rocprofiler_query_record_dimension_position(rocprofiler_counter_instance_id_t id,
                                            rocprofiler_counter_dimension_id_t dim, size_t *pos)
{
    if (!pos)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (dim >= DIMENSION_COUNT)
        return ROCPROFILER_STATUS_ERROR_DIM_NOT_FOUND;
    *pos = crocprof_engine()->instance_position(id, (enum counter_dimension)dim);
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_create_counter(const char *name, size_t name_len, const char *expr,
                                                size_t expr_len, const char *description,
                                                size_t description_len,
                                                rocprofiler_agent_id_t agent,
                                                rocprofiler_counter_id_t *counter_id)
{
    if (!name || !expr || !counter_id || (!description && description_len))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_counter_create(name, name_len, expr, expr_len, description,
                                                      description_len, agent, counter_id);
}

rocprofiler_status_t rocprofiler_load_counter_definition(const char *yaml, size_t size,
                                                         rocprofiler_counter_flag_t flags)
{
    if (!yaml || !size)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_definition_load(yaml, size, flags);
}

rocprofiler_status_t rocprofiler_create_counter_config(rocprofiler_agent_id_t agent_id,
                                                       rocprofiler_counter_id_t *counters_list,
                                                       size_t counters_count,
                                                       rocprofiler_counter_config_id_t *config_id)
{
    if (!config_id || (!counters_list && counters_count))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_config_create(agent_id, counters_list, counters_count,
                                                     config_id);
}

rocprofiler_status_t rocprofiler_destroy_counter_config(rocprofiler_counter_config_id_t config_id)
{
    return crocprof_engine()->counting_config_destroy(config_id);
}

rocprofiler_status_t rocprofiler_configure_buffer_dispatch_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_dispatch_counting_service_cb_t callback, void *callback_data_args)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_dispatch_configure_buffer(context_id, buffer_id, callback,
                                                                 callback_data_args);
}

rocprofiler_status_t rocprofiler_configure_callback_dispatch_counting_service(
    rocprofiler_context_id_t context_id,
    rocprofiler_dispatch_counting_service_cb_t dispatch_callback, void *dispatch_callback_args,
    rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_callback_args)
{
    if (!dispatch_callback || !record_callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    return crocprof_engine()->counting_dispatch_configure_callback(
        context_id, dispatch_callback, dispatch_callback_args, record_callback,
        record_callback_args);
}

rocprofiler_status_t rocprofiler_configure_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb, void *user_data)
{
    return crocprof_engine()->counting_device_configure(context_id, buffer_id, agent_id, cb,
                                                        user_data);
}

rocprofiler_status_t rocprofiler_sample_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
    rocprofiler_counter_flag_t flags, rocprofiler_counter_record_t *output_records,
    size_t *rec_count)
{
    if (context_id.handle && crocprof_engine()->session_finalized_status())
        return ROCPROFILER_STATUS_ERROR_FINALIZED;
    return crocprof_engine()->counting_device_sample(context_id, user_data, flags, output_records,
                                                     rec_count);
}
