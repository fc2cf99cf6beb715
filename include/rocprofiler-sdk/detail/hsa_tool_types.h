/*
 * HSA types of ROCm 5.7 and later that appear in these headers, for installations whose HSA headers
 * are older. Guarded by the newer header's own guard, so that both can be included.
 */
#ifndef ROCPROFILER_SDK_DETAIL_HSA_TOOL_TYPES_H
#define ROCPROFILER_SDK_DETAIL_HSA_TOOL_TYPES_H

#include <hsa/hsa.h>

#if __has_include(<hsa/hsa_amd_tool.h>)
#include <hsa/hsa_amd_tool.h>
#elif !defined(HSA_RUNTIME_AMD_TOOL_EVENTS_H_)
typedef enum {
    HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_NONE = 0,
    HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_USE_ONCE = (1 << 0),
    HSA_AMD_EVENT_SCRATCH_ALLOC_FLAG_ALT = (1 << 1),
} hsa_amd_event_scratch_alloc_flag_t;

typedef enum {
    HSA_AMD_TOOL_EVENT_MIN = 0,
    HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_START,
    HSA_AMD_TOOL_EVENT_SCRATCH_ALLOC_END,
    HSA_AMD_TOOL_EVENT_SCRATCH_FREE_START,
    HSA_AMD_TOOL_EVENT_SCRATCH_FREE_END,
    HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_START,
    HSA_AMD_TOOL_EVENT_SCRATCH_ASYNC_RECLAIM_END,
    HSA_AMD_TOOL_EVENT_MAX
} hsa_amd_tool_event_kind_t;
#endif

#endif
