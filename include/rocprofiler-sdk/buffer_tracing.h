/* Buffer tracing: one record per completed call or operation, delivered in batches (buffer.h). */
#ifndef ROCPROFILER_SDK_BUFFER_TRACING_H
#define ROCPROFILER_SDK_BUFFER_TRACING_H

#include <stdint.h>

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hip/api_args.h>
#include <rocprofiler-sdk/hipfile.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/kfd/kfd_id.h>
#include <rocprofiler-sdk/rocdecode/api_args.h>
#include <rocprofiler-sdk/rocdecode/api_id.h>
#include <rocprofiler-sdk/rocshmem.h>

ROCPROFILER_EXTERN_C_INIT

/* ---- API calls: one layout under a name per API -------------------------------------------- */

/** HSA_*_API kinds. */
typedef struct rocprofiler_buffer_tracing_hsa_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_hsa_api_record_t;

/** HIP_RUNTIME_API, HIP_COMPILER_API. */
typedef struct rocprofiler_buffer_tracing_hip_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_hip_api_record_t;

/** HIP_RUNTIME_API_EXT, HIP_COMPILER_API_EXT: with arguments; pointers in them may be stale. */
typedef struct rocprofiler_buffer_tracing_hip_api_ext_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_hip_api_args_t args;
    rocprofiler_hip_api_retval_t retval;
} rocprofiler_buffer_tracing_hip_api_ext_record_t;

/** MARKER_*_API kinds. */
typedef struct rocprofiler_buffer_tracing_marker_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_marker_api_record_t;

/** RCCL_API. */
typedef struct rocprofiler_buffer_tracing_rccl_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_rccl_api_record_t;

/** ROCDECODE_API. */
typedef struct rocprofiler_buffer_tracing_rocdecode_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_rocdecode_api_id_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_rocdecode_api_record_t;

/** ROCDECODE_API_EXT: with arguments; pointers in them may be stale. */
typedef struct rocprofiler_buffer_tracing_rocdecode_api_ext_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_rocdecode_api_id_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_rocdecode_api_args_t args;
    rocprofiler_rocdecode_api_retval_t retval;
} rocprofiler_buffer_tracing_rocdecode_api_ext_record_t;

/** ROCJPEG_API. */
typedef struct rocprofiler_buffer_tracing_rocjpeg_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_rocjpeg_api_record_t;

/** ROCSHMEM_API. */
typedef struct rocprofiler_buffer_tracing_rocshmem_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_rocshmem_api_id_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_rocshmem_api_record_t;

/** ROCSHMEM_API_EXT: with arguments; pointers in them may be stale. */
typedef struct rocprofiler_buffer_tracing_rocshmem_api_ext_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_rocshmem_api_id_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_rocshmem_api_args_t args;
    rocprofiler_rocshmem_api_retval_t retval;
} rocprofiler_buffer_tracing_rocshmem_api_ext_record_t;

/** HIPFILE_API. */
typedef struct rocprofiler_buffer_tracing_hipfile_api_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_hipfile_api_id_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
} rocprofiler_buffer_tracing_hipfile_api_record_t;

/** HIPFILE_API_EXT: with arguments; pointers in them may be stale. */
typedef struct rocprofiler_buffer_tracing_hipfile_api_ext_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_hipfile_api_id_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_hipfile_api_args_t args;
    rocprofiler_hipfile_api_retval_t retval;
} rocprofiler_buffer_tracing_hipfile_api_ext_record_t;

/* ---- OpenMP --------------------------------------------------------------------------------- */

typedef struct rocprofiler_buffer_tracing_ompt_target_t {
    int32_t kind; /**< ompt_target_t */
    int32_t device_num;
    uint64_t task_id;
    uint64_t target_id;
    const void *codeptr_ra;
} rocprofiler_buffer_tracing_ompt_target_t;

typedef struct rocprofiler_buffer_tracing_ompt_target_data_op_t {
    uint64_t host_op_id;
    int32_t optype; /**< ompt_target_data_op_t */
    int32_t src_device_num;
    int32_t dst_device_num;
    int32_t reserved;
    uint64_t bytes;
    const void *codeptr_ra;
} rocprofiler_buffer_tracing_ompt_target_data_op_t;

typedef struct rocprofiler_buffer_tracing_ompt_target_kernel_t {
    uint64_t host_op_id;
    int32_t device_num;
    uint32_t requested_num_teams;
} rocprofiler_buffer_tracing_ompt_target_kernel_t;

/** OMPT. The operation tells which arm holds. */
typedef struct rocprofiler_buffer_tracing_ompt_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_thread_id_t thread_id;
    union {
        rocprofiler_buffer_tracing_ompt_target_t target;
        rocprofiler_buffer_tracing_ompt_target_data_op_t target_data_op;
        rocprofiler_buffer_tracing_ompt_target_kernel_t target_kernel;
        uint64_t reserved[5];
    };
} rocprofiler_buffer_tracing_ompt_record_t;

/* ---- work on the device --------------------------------------------------------------------- */

/** KERNEL_DISPATCH. Timestamps are the device's, in rocprofiler_get_timestamp()'s time. */
typedef struct rocprofiler_buffer_tracing_kernel_dispatch_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kernel_dispatch_operation_t operation;
    rocprofiler_async_correlation_id_t correlation_id;
    rocprofiler_thread_id_t thread_id; /**< That enqueued it */
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_kernel_dispatch_info_t dispatch_info;
} rocprofiler_buffer_tracing_kernel_dispatch_record_t;

/** MEMORY_COPY. */
typedef struct rocprofiler_buffer_tracing_memory_copy_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_memory_copy_operation_t operation;
    rocprofiler_async_correlation_id_t correlation_id;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t dst_agent_id;
    rocprofiler_agent_id_t src_agent_id;
    uint64_t bytes;
    rocprofiler_address_t dst_address;
    rocprofiler_address_t src_address;
} rocprofiler_buffer_tracing_memory_copy_record_t;

/** SCRATCH_MEMORY. */
typedef struct rocprofiler_buffer_tracing_scratch_memory_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_scratch_memory_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_queue_id_t queue_id;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_scratch_alloc_flag_t flags;
    uint64_t allocation_size;
} rocprofiler_buffer_tracing_scratch_memory_record_t;

/* ---- host side events ----------------------------------------------------------------------- */

/** MEMORY_ALLOCATION. */
typedef struct rocprofiler_buffer_tracing_memory_allocation_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_memory_allocation_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_address_t address;
    uint64_t allocation_size;
} rocprofiler_buffer_tracing_memory_allocation_record_t;

/** HIP_GRAPH: one for each EXEC_LAUNCH that succeeds. The times are the call's, not the device's.
 */
typedef struct rocprofiler_buffer_tracing_hip_graph_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_hip_graph_operation_t operation;
    rocprofiler_correlation_id_t correlation_id; /**< Of the call; internal 0: it is not traced */
    rocprofiler_thread_id_t thread_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_queue_id_t queue_id; /**< 0: a launch may go to several */
    rocprofiler_graph_exec_id_t graph_exec_id;
    uint64_t kernel_dispatch_count; /**< Kernels that the launch submitted */
} rocprofiler_buffer_tracing_hip_graph_record_t;

/** HIP_EVENT: what the device did for a call that recorded an event, or waited for one. */
typedef struct rocprofiler_buffer_tracing_hip_event_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_hip_event_operation_t operation;
    rocprofiler_async_correlation_id_t correlation_id;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_queue_id_t queue_id;
    uint64_t hip_event_handle;              /**< The hipEvent_t */
    rocprofiler_queue_id_t source_queue_id; /**< Where it was recorded; WAIT: 0: unknown */
} rocprofiler_buffer_tracing_hip_event_record_t;

/** CORRELATION_ID_RETIREMENT: no later record carries this id. */
typedef struct rocprofiler_buffer_tracing_correlation_id_retirement_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_timestamp_t timestamp;
    uint64_t internal_correlation_id;
} rocprofiler_buffer_tracing_correlation_id_retirement_record_t;

/** RUNTIME_INITIALIZATION. version is 10000 * major + 100 * minor + patch. */
typedef struct rocprofiler_buffer_tracing_runtime_initialization_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_runtime_initialization_operation_t operation;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_timestamp_t timestamp;
    uint64_t version;
    uint64_t instance;
} rocprofiler_buffer_tracing_runtime_initialization_record_t;

/* ---- the kernel driver's single events: KFD_EVENT_* ----------------------------------------- */

typedef struct rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_event_page_migrate_operation_t operation;
    rocprofiler_timestamp_t timestamp;
    uint32_t pid;
    rocprofiler_address_t start_address;
    rocprofiler_address_t end_address;
    rocprofiler_agent_id_t src_agent;
    rocprofiler_agent_id_t dst_agent;
    rocprofiler_agent_id_t prefetch_agent;
    rocprofiler_agent_id_t preferred_agent;
    int32_t error_code;
} rocprofiler_buffer_tracing_kfd_event_page_migrate_record_t;

typedef struct rocprofiler_buffer_tracing_kfd_event_page_fault_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_event_page_fault_operation_t operation;
    rocprofiler_timestamp_t timestamp;
    uint32_t pid;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_address_t address;
} rocprofiler_buffer_tracing_kfd_event_page_fault_record_t;

typedef struct rocprofiler_buffer_tracing_kfd_event_queue_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_event_queue_operation_t operation;
    rocprofiler_timestamp_t timestamp;
    uint32_t pid;
    rocprofiler_agent_id_t agent_id;
} rocprofiler_buffer_tracing_kfd_event_queue_record_t;

typedef struct rocprofiler_buffer_tracing_kfd_event_unmap_from_gpu_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_event_unmap_from_gpu_operation_t operation;
    rocprofiler_timestamp_t timestamp;
    uint32_t pid;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_address_t start_address;
    rocprofiler_address_t end_address;
} rocprofiler_buffer_tracing_kfd_event_unmap_from_gpu_record_t;

typedef struct rocprofiler_buffer_tracing_kfd_event_dropped_events_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_event_dropped_events_operation_t operation;
    rocprofiler_timestamp_t timestamp;
    uint32_t pid;
    uint32_t count;
} rocprofiler_buffer_tracing_kfd_event_dropped_events_record_t;

/* ---- the same, paired to intervals: KFD_* --------------------------------------------------- */

typedef struct rocprofiler_buffer_tracing_kfd_page_migrate_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_page_migrate_operation_t operation;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    uint32_t pid;
    rocprofiler_address_t start_address;
    rocprofiler_address_t end_address;
    rocprofiler_agent_id_t src_agent;
    rocprofiler_agent_id_t dst_agent;
    rocprofiler_agent_id_t prefetch_agent;
    rocprofiler_agent_id_t preferred_agent;
    int32_t error_code;
} rocprofiler_buffer_tracing_kfd_page_migrate_record_t;

typedef struct rocprofiler_buffer_tracing_kfd_page_fault_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_page_fault_operation_t operation;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    uint32_t pid;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_address_t address;
} rocprofiler_buffer_tracing_kfd_page_fault_record_t;

typedef struct rocprofiler_buffer_tracing_kfd_queue_record_t {
    uint64_t size;
    rocprofiler_buffer_tracing_kind_t kind;
    rocprofiler_kfd_queue_operation_t operation;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    uint32_t pid;
    rocprofiler_agent_id_t agent_id;
} rocprofiler_buffer_tracing_kfd_queue_record_t;

/* ---- functions ------------------------------------------------------------------------------ */

/* A non-zero return ends an iteration. */
typedef int (*rocprofiler_buffer_tracing_kind_cb_t)(rocprofiler_buffer_tracing_kind_t kind,
                                                    void *data);

typedef int (*rocprofiler_buffer_tracing_kind_operation_cb_t)(
    rocprofiler_buffer_tracing_kind_t kind, rocprofiler_tracing_operation_t operation, void *data);

typedef int (*rocprofiler_buffer_tracing_operation_args_cb_t)(
    rocprofiler_buffer_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    uint32_t arg_number, const void *const arg_value_addr, int32_t arg_indirection_count,
    const char *arg_type, const char *arg_name, const char *arg_value_str, void *data);

/** `operations` NULL with a count of 0: all operations of the kind. One buffer per kind. */
rocprofiler_status_t rocprofiler_configure_buffer_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

/** `name` and `name_len` may each be NULL. Names are "HSA_CORE_API", "KERNEL_DISPATCH" ... */
rocprofiler_status_t
rocprofiler_query_buffer_tracing_kind_name(rocprofiler_buffer_tracing_kind_t kind,
                                           const char **name, uint64_t *name_len) ROCPROFILER_API;

rocprofiler_status_t rocprofiler_query_buffer_tracing_kind_operation_name(
    rocprofiler_buffer_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    const char **name, uint64_t *name_len) ROCPROFILER_API;

rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_kinds(rocprofiler_buffer_tracing_kind_cb_t callback,
                                         void *data) ROCPROFILER_API ROCPROFILER_NONNULL(1);

rocprofiler_status_t rocprofiler_iterate_buffer_tracing_kind_operations(
    rocprofiler_buffer_tracing_kind_t kind, rocprofiler_buffer_tracing_kind_operation_cb_t callback,
    void *data) ROCPROFILER_API ROCPROFILER_NONNULL(2);

/** Of a record with arguments (the *_EXT kinds). */
rocprofiler_status_t rocprofiler_iterate_buffer_tracing_record_args(
    rocprofiler_record_header_t record, rocprofiler_buffer_tracing_operation_args_cb_t callback,
    void *user_data) ROCPROFILER_API ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
