/* OpenMP tracing: ids, arguments, and what a program that is an OpenMP tool itself needs. */
#ifndef ROCPROFILER_SDK_OMPT_H
#define ROCPROFILER_SDK_OMPT_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/ompt/api_args.h>
#include <rocprofiler-sdk/ompt/api_id.h>
#include <rocprofiler-sdk/ompt/omp-tools.h>

ROCPROFILER_EXTERN_C_INIT

/** `status`: 1 once an OpenMP runtime has accepted this library as its tool, 0 before. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t rocprofiler_ompt_is_initialized(int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/** `status`: 1 once the OpenMP runtime has ended this library's part as its tool, 0 before. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t rocprofiler_ompt_is_finalized(int *status) ROCPROFILER_API
    ROCPROFILER_NONNULL(1);

/**
 * For programs and tools with an ompt_start_tool() of their own that leave OpenMP to this library:
 * return what this returns. Programs without one need nothing, this library has an
 * ompt_start_tool(). NULL when no tool configured OMPT, or when a runtime has been answered before.
 */
ROCPROFILER_SDK_EXPERIMENTAL
ompt_start_tool_result_t *rocprofiler_ompt_start_tool(unsigned int omp_version,
                                                      const char *runtime_version) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
