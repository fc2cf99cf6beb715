#include "session/front/engine.h"

#include <rocprofiler-sdk/ompt.h>

rocprofiler_status_t rocprofiler_ompt_is_initialized(int *status)
{
    if (!status)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *status = crocprof_engine()->runtime_ompt_initialized();
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_ompt_is_finalized(int *status)
{
    if (!status)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    *status = crocprof_engine()->runtime_ompt_finalized();
    return ROCPROFILER_STATUS_SUCCESS;
}

ompt_start_tool_result_t *rocprofiler_ompt_start_tool(unsigned int omp_version,
                                                      const char *runtime_version)
{
    (void)omp_version, (void)runtime_version;
    return crocprof_engine()->runtime_ompt_start();
}

/* Every OpenMP runtime looks for this function when it starts. */
ROCPROFILER_PUBLIC_API ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version,
                                                                 const char *runtime_version);

ompt_start_tool_result_t *ompt_start_tool(unsigned int omp_version, const char *runtime_version)
{
    return rocprofiler_ompt_start_tool(omp_version, runtime_version);
}
