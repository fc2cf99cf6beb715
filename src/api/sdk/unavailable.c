/* Services of the interface that are not there yet answer with a status that tools can report.
 * Argument checks belong to the services, so no argument is looked at here. */
#include <rocprofiler-sdk/experimental/thread_trace.h>
#include <rocprofiler-sdk/pc_sampling.h>
#include <rocprofiler-sdk/spm.h>

#pragma GCC diagnostic ignored "-Wunused-parameter"

rocprofiler_status_t rocprofiler_configure_pc_sampling_service(
    rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
    rocprofiler_pc_sampling_method_t method, rocprofiler_pc_sampling_unit_t unit, uint64_t interval,
    rocprofiler_buffer_id_t buffer_id, int flags)
{
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t rocprofiler_query_pc_sampling_agent_configurations(
    rocprofiler_agent_id_t agent_id, rocprofiler_available_pc_sampling_configurations_cb_t cb,
    void *user_data)
{
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t
rocprofiler_configure_spm_service(rocprofiler_context_id_t context_id,
                                  rocprofiler_buffer_id_t buffer_id,
                                  rocprofiler_counter_config_id_t counter_config, uint64_t interval)
{
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t rocprofiler_configure_device_thread_trace_service(
    rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
    rocprofiler_thread_trace_parameter_t *parameters, size_t num_parameters,
    rocprofiler_thread_trace_shader_data_callback_t shader_callback,
    rocprofiler_user_data_t callback_userdata)
{
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t rocprofiler_configure_dispatch_thread_trace_service(
    rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
    rocprofiler_thread_trace_parameter_t *parameters, size_t num_parameters,
    rocprofiler_thread_trace_dispatch_callback_t dispatch_callback,
    rocprofiler_thread_trace_shader_data_callback_t shader_callback, void *callback_userdata)
{
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

/* The decoder is a library of its own, which AMD ships in binary form only. */
rocprofiler_status_t
rocprofiler_thread_trace_decoder_create(rocprofiler_thread_trace_decoder_id_t *handle,
                                        const char *path)
{
    return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}

void rocprofiler_thread_trace_decoder_destroy(rocprofiler_thread_trace_decoder_id_t handle) {}

rocprofiler_status_t
rocprofiler_thread_trace_decoder_codeobj_load(rocprofiler_thread_trace_decoder_id_t handle,
                                              uint64_t load_id, uint64_t load_addr,
                                              uint64_t load_size, const void *data, uint64_t size)
{
    return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}

rocprofiler_status_t
rocprofiler_thread_trace_decoder_codeobj_unload(rocprofiler_thread_trace_decoder_id_t handle,
                                                uint64_t load_id)
{
    return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}

rocprofiler_status_t rocprofiler_trace_decode(rocprofiler_thread_trace_decoder_id_t handle,
                                              rocprofiler_thread_trace_decoder_callback_t callback,
                                              void *data, uint64_t size, void *userdata)
{
    return ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE;
}

const char *
rocprofiler_thread_trace_decoder_info_string(rocprofiler_thread_trace_decoder_id_t handle,
                                             rocprofiler_thread_trace_decoder_info_t info)
{
    return NULL;
}
