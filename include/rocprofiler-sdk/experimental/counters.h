/* Counter definitions at run time. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_COUNTERS_H
#define ROCPROFILER_SDK_EXPERIMENTAL_COUNTERS_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/** YAML text in memory. Replaces the built-in definitions unless
 * ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION is given. Before the first counter query only. */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_load_counter_definition(const char *yaml, size_t size,
                                    rocprofiler_counter_flag_t flags) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
