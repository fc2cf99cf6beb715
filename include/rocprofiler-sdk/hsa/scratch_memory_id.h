/* Why scratch was allocated. */
#ifndef ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H
#define ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ID_H

#include <rocprofiler-sdk/detail/hsa_tool_types.h>

typedef enum rocprofiler_scratch_alloc_flag_t {
    ROCPROFILER_SCRATCH_ALLOC_FLAG_NONE = 0,
    ROCPROFILER_SCRATCH_ALLOC_FLAG_USE_ONCE = HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_USE_ONCE,
    ROCPROFILER_SCRATCH_ALLOC_FLAG_ALT = HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_ALT,
} rocprofiler_scratch_alloc_flag_t;

#endif
