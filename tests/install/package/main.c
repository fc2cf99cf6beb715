/* The package promises PC sampling exactly where the library has it: CMakeLists.txt must be told
 * when the service comes. */
#include <rocprofiler-sdk/pc_sampling.h>
#include <rocprofiler-sdk/rocprofiler.h>

static rocprofiler_status_t nothing(const rocprofiler_pc_sampling_configuration_t *configs,
                                    size_t count, void *data)
{
    (void)configs, (void)count, (void)data;
    return ROCPROFILER_STATUS_SUCCESS;
}

int main(void)
{
    rocprofiler_agent_id_t agent = {.handle = 0};
    rocprofiler_status_t status =
        rocprofiler_query_pc_sampling_agent_configurations(agent, nothing, NULL);
    return (status != ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED) != HAS_PC_SAMPLING;
}
