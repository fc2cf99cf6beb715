/* Versions of the libraries whose interfaces these headers describe: those of ROCm 7.0. */
#ifndef ROCPROFILER_SDK_EXT_VERSION_H
#define ROCPROFILER_SDK_EXT_VERSION_H

#include <rocprofiler-sdk/hsa/api_trace_version.h>

#define ROCPROFILER_HSA_RUNTIME_VERSION_MAJOR 1
#define ROCPROFILER_HSA_RUNTIME_VERSION_MINOR 18
#define ROCPROFILER_HSA_RUNTIME_VERSION                                                            \
    (10000 * ROCPROFILER_HSA_RUNTIME_VERSION_MAJOR + 100 * ROCPROFILER_HSA_RUNTIME_VERSION_MINOR)

#endif
