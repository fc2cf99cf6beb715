#include "model/operations.h"

#include "model/api_texts.h"

#include "api_names.inc"

#define COUNT(array) ((int32_t)(sizeof(array) / sizeof(array)[0]))

_Static_assert(COUNT(names_code_object) == ROCPROFILER_CODE_OBJECT_LAST, "complete");
_Static_assert(COUNT(names_kernel_dispatch) == ROCPROFILER_KERNEL_DISPATCH_LAST, "complete");
_Static_assert(COUNT(names_memory_copy) == ROCPROFILER_MEMORY_COPY_LAST, "complete");
_Static_assert(COUNT(names_memory_allocation) == ROCPROFILER_MEMORY_ALLOCATION_LAST, "complete");
_Static_assert(COUNT(names_scratch_memory) == ROCPROFILER_SCRATCH_MEMORY_LAST, "complete");
_Static_assert(COUNT(names_runtime_initialization) == ROCPROFILER_RUNTIME_INITIALIZATION_LAST,
               "complete");
_Static_assert(COUNT(names_hip_stream) == ROCPROFILER_HIP_STREAM_LAST, "complete");
_Static_assert(COUNT(names_hip_graph) == ROCPROFILER_HIP_GRAPH_OPERATION_LAST, "complete");
_Static_assert(COUNT(names_hip_event) == ROCPROFILER_HIP_EVENT_LAST, "complete");
_Static_assert(COUNT(names_kernel_replay) == ROCPROFILER_KERNEL_REPLAY_LAST, "complete");
_Static_assert(COUNT(names_kfd_event_page_migrate) == ROCPROFILER_KFD_EVENT_PAGE_MIGRATE_LAST &&
                   COUNT(names_kfd_event_page_fault) == ROCPROFILER_KFD_EVENT_PAGE_FAULT_LAST &&
                   COUNT(names_kfd_event_queue) == ROCPROFILER_KFD_EVENT_QUEUE_LAST &&
                   COUNT(names_kfd_event_unmap_from_gpu) ==
                       ROCPROFILER_KFD_EVENT_UNMAP_FROM_GPU_LAST &&
                   COUNT(names_kfd_event_dropped_events) ==
                       ROCPROFILER_KFD_EVENT_DROPPED_EVENTS_LAST &&
                   COUNT(names_kfd_page_migrate) == ROCPROFILER_KFD_PAGE_MIGRATE_LAST &&
                   COUNT(names_kfd_page_fault) == ROCPROFILER_KFD_PAGE_FAULT_LAST &&
                   COUNT(names_kfd_queue) == ROCPROFILER_KFD_QUEUE_LAST,
               "complete");
_Static_assert(COUNT(names_hip_runtime) <= TRACE_OPERATIONS_MAX, "trace_slots holds the largest");

static const struct {
    const uint16_t *names; /* places in api_texts */
    int32_t count;
} operations[TRACE_DOMAIN_COUNT] = {
#define TABLE(domain, array) [TRACE_##domain] = {array, COUNT(array)}
    TABLE(HSA_CORE_API, names_hsa_core),
    TABLE(HSA_AMD_EXT_API, names_hsa_amd_ext),
    TABLE(HSA_IMAGE_EXT_API, names_hsa_image_ext),
    TABLE(HSA_FINALIZE_EXT_API, names_hsa_finalize_ext),
    TABLE(HIP_RUNTIME_API, names_hip_runtime),
    TABLE(HIP_COMPILER_API, names_hip_compiler),
    TABLE(MARKER_CORE_API, names_marker_core),
    TABLE(MARKER_CONTROL_API, names_marker_control),
    TABLE(MARKER_NAME_API, names_marker_name),
    TABLE(MARKER_CORE_RANGE_API, names_marker_core_range),
    TABLE(RCCL_API, names_rccl),
    TABLE(ROCDECODE_API, names_rocdecode),
    TABLE(ROCJPEG_API, names_rocjpeg),
    TABLE(ROCSHMEM_API, names_rocshmem),
    TABLE(HIPFILE_API, names_hipfile),
    TABLE(OMPT, names_ompt),
    TABLE(CODE_OBJECT, names_code_object),
    TABLE(KERNEL_DISPATCH, names_kernel_dispatch),
    TABLE(MEMORY_COPY, names_memory_copy),
    TABLE(MEMORY_ALLOCATION, names_memory_allocation),
    TABLE(SCRATCH_MEMORY, names_scratch_memory),
    TABLE(RUNTIME_INITIALIZATION, names_runtime_initialization),
    TABLE(HIP_STREAM, names_hip_stream),
    TABLE(HIP_GRAPH, names_hip_graph),
    TABLE(HIP_EVENT, names_hip_event),
    TABLE(KERNEL_REPLAY, names_kernel_replay),
    TABLE(CORRELATION_ID_RETIREMENT, names_retirement),
    TABLE(HIP_OPERATION, names_hip_operation),
    TABLE(THUNK_API, names_kfd),
    TABLE(QUEUE_BARRIER, names_queue_barrier),
    TABLE(KFD_EVENT_PAGE_MIGRATE, names_kfd_event_page_migrate),
    TABLE(KFD_EVENT_PAGE_FAULT, names_kfd_event_page_fault),
    TABLE(KFD_EVENT_QUEUE, names_kfd_event_queue),
    TABLE(KFD_EVENT_UNMAP_FROM_GPU, names_kfd_event_unmap_from_gpu),
    TABLE(KFD_EVENT_DROPPED_EVENTS, names_kfd_event_dropped_events),
    TABLE(KFD_PAGE_MIGRATE, names_kfd_page_migrate),
    TABLE(KFD_PAGE_FAULT, names_kfd_page_fault),
    TABLE(KFD_QUEUE, names_kfd_queue),
};

int32_t operation_count(enum trace_domain domain)
{
    return (unsigned)domain < TRACE_DOMAIN_COUNT ? operations[domain].count : 0;
}

const char *operation_name(enum trace_domain domain, int32_t operation)
{
    return operation >= 0 && operation < operation_count(domain)
               ? api_texts + operations[domain].names[operation]
               : NULL;
}

static const char *const domain_names[TRACE_DOMAIN_COUNT] = {
#define X(name, ...) [TRACE_##name] = #name,
    TRACE_DOMAINS(X)
#undef X
};

const char *domain_name(enum trace_domain domain)
{
    return (unsigned)domain < TRACE_DOMAIN_COUNT ? domain_names[domain] : NULL;
}

/* These lists name all kinds, including those that no domain serves. */
#define CALLBACK_NAME(kind) [ROCPROFILER_CALLBACK_TRACING_##kind] = #kind
#define BUFFER_NAME(kind)   [ROCPROFILER_BUFFER_TRACING_##kind] = #kind
#define REQUEST_NAME(kind)  [ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_##kind] = #kind

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init" /* several domains have no such kind */
static const char *const callback_names[] = {
#define X(name, callback, buffer, args, request) CALLBACK_NAME(callback),
    TRACE_PUBLIC_DOMAINS(X)
#undef X
};
static const char *const buffer_names[] = {
#define X(name, callback, buffer, args, request) BUFFER_NAME(buffer),
    TRACE_PUBLIC_DOMAINS(X)
#undef X
        BUFFER_NAME(HIP_RUNTIME_API_EXT),
    BUFFER_NAME(HIP_COMPILER_API_EXT),
    BUFFER_NAME(ROCDECODE_API_EXT),
    BUFFER_NAME(ROCSHMEM_API_EXT),
    BUFFER_NAME(HIPFILE_API_EXT),
};
#pragma GCC diagnostic pop
static const char *const request_names[] = {
    REQUEST_NAME(NONE),
    REQUEST_NAME(HSA_CORE_API),
    REQUEST_NAME(HSA_AMD_EXT_API),
    REQUEST_NAME(HSA_IMAGE_EXT_API),
    REQUEST_NAME(HSA_FINALIZE_EXT_API),
    REQUEST_NAME(HIP_RUNTIME_API),
    REQUEST_NAME(HIP_COMPILER_API),
    REQUEST_NAME(MARKER_CORE_API),
    REQUEST_NAME(MARKER_CONTROL_API),
    REQUEST_NAME(MARKER_NAME_API),
    REQUEST_NAME(MEMORY_COPY),
    REQUEST_NAME(KERNEL_DISPATCH),
    REQUEST_NAME(SCRATCH_MEMORY),
    REQUEST_NAME(RCCL_API),
    REQUEST_NAME(OMPT),
    REQUEST_NAME(MEMORY_ALLOCATION),
    REQUEST_NAME(ROCDECODE_API),
    REQUEST_NAME(ROCJPEG_API),
    REQUEST_NAME(MARKER_CORE_RANGE_API),
    REQUEST_NAME(ROCSHMEM_API),
};

_Static_assert(COUNT(callback_names) == ROCPROFILER_CALLBACK_TRACING_LAST, "every kind is named");
_Static_assert(COUNT(buffer_names) == ROCPROFILER_BUFFER_TRACING_LAST, "every kind is named");
_Static_assert(COUNT(request_names) == ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST,
               "every kind is named");

const char *callback_kind_name(uint32_t kind)
{
    return kind < ROCPROFILER_CALLBACK_TRACING_LAST ? callback_names[kind] : NULL;
}

const char *buffer_kind_name(uint32_t kind)
{
    return kind < ROCPROFILER_BUFFER_TRACING_LAST ? buffer_names[kind] : NULL;
}

const char *request_kind_name(uint32_t kind)
{
    return kind < ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST ? request_names[kind] : NULL;
}
