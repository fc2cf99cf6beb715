/* Names of the 0.x versions, which clients still look up with dlsym. The binary layout is the same,
 * so each only calls the function of today. */
#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/deprecated/profile_config.h>
#include <rocprofiler-sdk/deprecated/profile_counting.h>
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/dispatch_counting_service.h>

rocprofiler_status_t rocprofiler_create_profile_config(rocprofiler_agent_id_t agent_id,
                                                       rocprofiler_counter_id_t *counters_list,
                                                       size_t counters_count,
                                                       rocprofiler_profile_config_id_t *config_id)
{
    return rocprofiler_create_counter_config(agent_id, counters_list, counters_count, config_id);
}

rocprofiler_status_t rocprofiler_destroy_profile_config(rocprofiler_profile_config_id_t config_id)
{
    return rocprofiler_destroy_counter_config(config_id);
}

rocprofiler_status_t rocprofiler_configure_buffered_dispatch_profile_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_dispatch_counting_service_cb_t callback, void *callback_data_args)
{
    return rocprofiler_configure_buffer_dispatch_counting_service(context_id, buffer_id, callback,
                                                                  callback_data_args);
}

rocprofiler_status_t rocprofiler_configure_buffered_dispatch_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_dispatch_counting_service_cb_t callback, void *callback_data_args)
{
    return rocprofiler_configure_buffer_dispatch_counting_service(context_id, buffer_id, callback,
                                                                  callback_data_args);
}

rocprofiler_status_t rocprofiler_configure_callback_dispatch_profile_counting_service(
    rocprofiler_context_id_t context_id,
    rocprofiler_dispatch_counting_service_cb_t dispatch_callback, void *dispatch_callback_args,
    rocprofiler_dispatch_counting_record_cb_t record_callback, void *record_callback_args)
{
    return rocprofiler_configure_callback_dispatch_counting_service(
        context_id, dispatch_callback, dispatch_callback_args, record_callback,
        record_callback_args);
}

rocprofiler_status_t rocprofiler_configure_agent_profile_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb, void *user_data)
{
    return rocprofiler_configure_device_counting_service(context_id, buffer_id, agent_id, cb,
                                                         user_data);
}

rocprofiler_status_t
rocprofiler_sample_agent_profile_counting_service(rocprofiler_context_id_t context_id,
                                                  rocprofiler_user_data_t user_data,
                                                  rocprofiler_counter_flag_t flags)
{
    return rocprofiler_sample_device_counting_service(context_id, user_data, flags, NULL, NULL);
}
