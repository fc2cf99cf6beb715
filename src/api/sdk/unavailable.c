/* Services of the interface that are not there yet: an honest status, so that tools can say so. */
#include <rocprofiler-sdk/device_counting_service.h>
#include <rocprofiler-sdk/pc_sampling.h>

rocprofiler_status_t rocprofiler_configure_pc_sampling_service(
    rocprofiler_context_id_t context_id, rocprofiler_agent_id_t agent_id,
    rocprofiler_pc_sampling_method_t method, rocprofiler_pc_sampling_unit_t unit, uint64_t interval,
    rocprofiler_buffer_id_t buffer_id, int flags)
{
    (void)context_id, (void)agent_id, (void)method, (void)unit, (void)interval, (void)buffer_id;
    (void)flags;
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t rocprofiler_query_pc_sampling_agent_configurations(
    rocprofiler_agent_id_t agent_id, rocprofiler_available_pc_sampling_configurations_cb_t cb,
    void *user_data)
{
    (void)agent_id, (void)cb, (void)user_data;
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t rocprofiler_configure_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_id_t buffer_id,
    rocprofiler_agent_id_t agent_id, rocprofiler_device_counting_service_cb_t cb, void *user_data)
{
    (void)context_id, (void)buffer_id, (void)agent_id, (void)cb, (void)user_data;
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

rocprofiler_status_t rocprofiler_sample_device_counting_service(
    rocprofiler_context_id_t context_id, rocprofiler_user_data_t user_data,
    rocprofiler_counter_flag_t flags, rocprofiler_counter_record_t *output_records,
    size_t *rec_count)
{
    (void)context_id, (void)user_data, (void)flags, (void)output_records, (void)rec_count;
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}
