/*
 * HSA types of ROCm 5.7 and later that appear in these headers, for installations whose HSA headers
 * are older. Guarded by the newer header's own guard, so that both can be included.
 */
#ifndef ROCPROFILER_SDK_DETAIL_HSA_TOOL_TYPES_H
#define ROCPROFILER_SDK_DETAIL_HSA_TOOL_TYPES_H

#include <stddef.h>
#include <stdint.h>

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

/* Every event begins with its kind and, all but "none", goes on with its queue and flags. */
typedef struct {
    hsa_amd_tool_event_kind_t kind;
} hsa_amd_tool_event_none_t;

typedef struct {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
    uint64_t dispatch_id; /**< Packet index of the dispatch that wants scratch */
} hsa_amd_event_scratch_alloc_start_t;

typedef struct {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
    uint64_t dispatch_id;
    size_t size;      /**< Bytes */
    size_t num_slots; /**< Waves that fit */
} hsa_amd_event_scratch_alloc_end_t;

typedef struct {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
} hsa_amd_event_scratch_free_start_t;

typedef struct {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
} hsa_amd_event_scratch_free_end_t;

typedef struct {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
} hsa_amd_event_scratch_async_reclaim_start_t;

typedef struct {
    hsa_amd_tool_event_kind_t kind;
    const hsa_queue_t *queue;
    hsa_amd_event_scratch_alloc_flag_t flags;
} hsa_amd_event_scratch_async_reclaim_end_t;

typedef union {
    const hsa_amd_tool_event_none_t *none;
    const hsa_amd_event_scratch_alloc_start_t *scratch_alloc_start;
    const hsa_amd_event_scratch_alloc_end_t *scratch_alloc_end;
    const hsa_amd_event_scratch_free_start_t *scratch_free_start;
    const hsa_amd_event_scratch_free_end_t *scratch_free_end;
    const hsa_amd_event_scratch_async_reclaim_start_t *scratch_async_reclaim_start;
    const hsa_amd_event_scratch_async_reclaim_end_t *scratch_async_reclaim_end;
} hsa_amd_tool_event_t;

typedef hsa_status_t (*hsa_amd_tool_event)(hsa_amd_tool_event_t);
#endif

#endif
