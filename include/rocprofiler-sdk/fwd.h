/*
 * The vocabulary of the SDK interface: status codes, kinds, handles, and the records shared by
 * several services. The values and layouts are binary interface: they never change within 1.x.
 *
 * The text in a "<" comment is also what the library prints: gen/api_names.py turns this file into
 * the tables behind rocprofiler_get_status_string() and the kind and operation names.
 */
#ifndef ROCPROFILER_SDK_FWD_H
#define ROCPROFILER_SDK_FWD_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/defines.h>

ROCPROFILER_EXTERN_C_INIT

/* ---- status ------------------------------------------------------------------------------- */

typedef enum rocprofiler_status_t {
    ROCPROFILER_STATUS_SUCCESS = 0,                      /**< Success */
    ROCPROFILER_STATUS_ERROR,                            /**< Unspecified error */
    ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND,          /**< No context has this id */
    ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND,           /**< No buffer has this id */
    ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND,             /**< No such kind */
    ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND,        /**< This kind has no such operation */
    ROCPROFILER_STATUS_ERROR_THREAD_NOT_FOUND,           /**< No thread has this id */
    ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND,            /**< No agent has this id */
    ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND,          /**< No counter has this id */
    ROCPROFILER_STATUS_ERROR_CONTEXT_ERROR,              /**< The context could not do this */
    ROCPROFILER_STATUS_ERROR_CONTEXT_INVALID,            /**< The context has no usable service */
    ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED,        /**< The context is not started */
    ROCPROFILER_STATUS_ERROR_CONTEXT_CONFLICT,           /**< Another active context or another
                                                              service of this one excludes this */
    ROCPROFILER_STATUS_ERROR_CONTEXT_ID_NOT_ZERO,        /**< The context id to fill in must be zero
                                                              on entry */
    ROCPROFILER_STATUS_ERROR_BUFFER_BUSY,                /**< The buffer is being flushed; nothing
                                                              was done */
    ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED, /**< The context already has this
                                                              service */
    ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED,       /**< Services are configured only while the
                                                              tool initialises */
    ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED,            /**< Not implemented */
    ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI,           /**< The caller was built for a layout that
                                                              this library does not have */
    ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT,           /**< Invalid argument */
    ROCPROFILER_STATUS_ERROR_METRIC_NOT_VALID_FOR_AGENT, /**< The agent does not have this
                                                              counter */
    ROCPROFILER_STATUS_ERROR_FINALIZED,                  /**< The library has finished */
    ROCPROFILER_STATUS_ERROR_HSA_NOT_LOADED,             /**< The HSA runtime is not loaded yet */
    ROCPROFILER_STATUS_ERROR_DIM_NOT_FOUND,              /**< The counter has no such dimension */
    ROCPROFILER_STATUS_ERROR_PROFILE_COUNTER_NOT_FOUND,  /**< The agent has no counter of this
                                                              profile */
    ROCPROFILER_STATUS_ERROR_AST_GENERATION_FAILED,      /**< The counter's expression cannot be
                                                              compiled */
    ROCPROFILER_STATUS_ERROR_AST_NOT_FOUND,              /**< The counter has no expression */
    ROCPROFILER_STATUS_ERROR_AQL_NO_EVENT_COORD,         /**< The counter's hardware coordinates are
                                                              unknown */
    ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_KERNEL,        /**< The kernel driver lacks what this
                                                              service needs */
    ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES,         /**< Out of memory or of another resource */
    ROCPROFILER_STATUS_ERROR_PROFILE_NOT_FOUND,        /**< No counter configuration has this id */
    ROCPROFILER_STATUS_ERROR_AGENT_DISPATCH_CONFLICT,  /**< Device and dispatch counting exclude
                                                            each other on one agent */
    ROCPROFILER_STATUS_INTERNAL_NO_AGENT_CONTEXT,      /**< No context samples this agent */
    ROCPROFILER_STATUS_ERROR_SAMPLE_RATE_EXCEEDED,     /**< The agent cannot be sampled this
                                                            often */
    ROCPROFILER_STATUS_ERROR_NO_PROFILE_QUEUE,         /**< The agent has no profiling queue */
    ROCPROFILER_STATUS_ERROR_NO_HARDWARE_COUNTERS,     /**< The configuration has no hardware
                                                            counter */
    ROCPROFILER_STATUS_ERROR_AGENT_MISMATCH,           /**< The configuration belongs to another
                                                            agent */
    ROCPROFILER_STATUS_ERROR_NOT_AVAILABLE,            /**< Not available on this system */
    ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT,         /**< More counters than the hardware collects
                                                            at once */
    ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED, /**< The agent's architecture is not
                                                            supported */
    ROCPROFILER_STATUS_ERROR_PERMISSION_DENIED,        /**< Permission denied */
    ROCPROFILER_STATUS_LAST,
} rocprofiler_status_t;

/* ---- kinds and operations ----------------------------------------------------------------- */

/** What a buffered record describes; `kind` is then one of that category's kinds. */
typedef enum rocprofiler_buffer_category_t {
    ROCPROFILER_BUFFER_CATEGORY_NONE = 0,
    ROCPROFILER_BUFFER_CATEGORY_TRACING,     /**< ::rocprofiler_buffer_tracing_kind_t */
    ROCPROFILER_BUFFER_CATEGORY_PC_SAMPLING, /**< ::rocprofiler_pc_sampling_record_kind_t */
    ROCPROFILER_BUFFER_CATEGORY_COUNTERS,    /**< ::rocprofiler_counter_record_kind_t */
    ROCPROFILER_BUFFER_CATEGORY_LAST,
} rocprofiler_buffer_category_t;

typedef enum rocprofiler_agent_type_t {
    ROCPROFILER_AGENT_TYPE_NONE = 0,
    ROCPROFILER_AGENT_TYPE_CPU,
    ROCPROFILER_AGENT_TYPE_GPU,
    ROCPROFILER_AGENT_TYPE_LAST,
} rocprofiler_agent_type_t;

typedef enum rocprofiler_callback_phase_t {
    ROCPROFILER_CALLBACK_PHASE_NONE = 0, /**< The event has no duration */
    ROCPROFILER_CALLBACK_PHASE_ENTER,    /**< Before the traced function or operation */
    ROCPROFILER_CALLBACK_PHASE_LOAD = ROCPROFILER_CALLBACK_PHASE_ENTER,
    ROCPROFILER_CALLBACK_PHASE_EXIT, /**< After it */
    ROCPROFILER_CALLBACK_PHASE_UNLOAD = ROCPROFILER_CALLBACK_PHASE_EXIT,
    ROCPROFILER_CALLBACK_PHASE_LAST,
} rocprofiler_callback_phase_t;

/** What rocprofiler_configure_callback_tracing_service() can report, synchronously. */
typedef enum rocprofiler_callback_tracing_kind_t {
    ROCPROFILER_CALLBACK_TRACING_NONE = 0,
    ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API,           /**< hsa_core_api_id */
    ROCPROFILER_CALLBACK_TRACING_HSA_AMD_EXT_API,        /**< hsa_amd_ext_api_id */
    ROCPROFILER_CALLBACK_TRACING_HSA_IMAGE_EXT_API,      /**< hsa_image_ext_api_id */
    ROCPROFILER_CALLBACK_TRACING_HSA_FINALIZE_EXT_API,   /**< hsa_finalize_ext_api_id */
    ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,        /**< hip_runtime_api_id */
    ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,       /**< hip_compiler_api_id */
    ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,        /**< marker_core_api_id */
    ROCPROFILER_CALLBACK_TRACING_MARKER_CONTROL_API,     /**< marker_control_api_id */
    ROCPROFILER_CALLBACK_TRACING_MARKER_NAME_API,        /**< marker_name_api_id */
    ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT,            /**< code_object_operation */
    ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY,         /**< scratch_memory_operation */
    ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH,        /**< kernel_dispatch_operation */
    ROCPROFILER_CALLBACK_TRACING_MEMORY_COPY,            /**< memory_copy_operation */
    ROCPROFILER_CALLBACK_TRACING_RCCL_API,               /**< rccl_api_id */
    ROCPROFILER_CALLBACK_TRACING_OMPT,                   /**< ompt_operation */
    ROCPROFILER_CALLBACK_TRACING_MEMORY_ALLOCATION,      /**< memory_allocation_operation */
    ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION, /**< runtime_initialization_operation */
    ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API,          /**< rocdecode_api_id */
    ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API,            /**< rocjpeg_api_id */
    ROCPROFILER_CALLBACK_TRACING_HIP_STREAM,             /**< hip_stream_operation */
    ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API,  /**< marker_core_range_api_id */
    ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH,              /**< hip_graph_operation */
    ROCPROFILER_CALLBACK_TRACING_ROCSHMEM_API,           /**< rocshmem_api_id */
    ROCPROFILER_CALLBACK_TRACING_HIPFILE_API,            /**< hipfile_api_id */
    ROCPROFILER_CALLBACK_TRACING_KERNEL_REPLAY,          /**< kernel_replay_operation */
    ROCPROFILER_CALLBACK_TRACING_HIP_EVENT,              /**< hip_event_operation */
    ROCPROFILER_CALLBACK_TRACING_LAST,
} rocprofiler_callback_tracing_kind_t;

/** What rocprofiler_configure_buffer_tracing_service() can record. */
typedef enum rocprofiler_buffer_tracing_kind_t {
    ROCPROFILER_BUFFER_TRACING_NONE = 0,
    ROCPROFILER_BUFFER_TRACING_HSA_CORE_API,              /**< hsa_core_api_id */
    ROCPROFILER_BUFFER_TRACING_HSA_AMD_EXT_API,           /**< hsa_amd_ext_api_id */
    ROCPROFILER_BUFFER_TRACING_HSA_IMAGE_EXT_API,         /**< hsa_image_ext_api_id */
    ROCPROFILER_BUFFER_TRACING_HSA_FINALIZE_EXT_API,      /**< hsa_finalize_ext_api_id */
    ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,           /**< hip_runtime_api_id */
    ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API,          /**< hip_compiler_api_id */
    ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API,           /**< marker_core_api_id */
    ROCPROFILER_BUFFER_TRACING_MARKER_CONTROL_API,        /**< marker_control_api_id */
    ROCPROFILER_BUFFER_TRACING_MARKER_NAME_API,           /**< marker_name_api_id */
    ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,               /**< memory_copy_operation */
    ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,           /**< kernel_dispatch_operation */
    ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY,            /**< scratch_memory_operation */
    ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT, /**< none */
    ROCPROFILER_BUFFER_TRACING_RCCL_API,                  /**< rccl_api_id */
    ROCPROFILER_BUFFER_TRACING_OMPT,                      /**< ompt_operation */
    ROCPROFILER_BUFFER_TRACING_MEMORY_ALLOCATION,         /**< memory_allocation_operation */
    ROCPROFILER_BUFFER_TRACING_RUNTIME_INITIALIZATION,    /**< runtime_initialization_operation */
    ROCPROFILER_BUFFER_TRACING_ROCDECODE_API,             /**< rocdecode_api_id */
    ROCPROFILER_BUFFER_TRACING_ROCJPEG_API,               /**< rocjpeg_api_id */
    ROCPROFILER_BUFFER_TRACING_HIP_STREAM,                /**< hip_stream_operation */
    ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT,       /**< hip_runtime_api_id */
    ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT,      /**< hip_compiler_api_id */
    ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT,         /**< rocdecode_api_id */
    ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_MIGRATE,    /**< kfd_event_page_migrate_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_EVENT_PAGE_FAULT,      /**< kfd_event_page_fault_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_EVENT_QUEUE,           /**< kfd_event_queue_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_EVENT_UNMAP_FROM_GPU,  /**< kfd_event_unmap_from_gpu_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_EVENT_DROPPED_EVENTS,  /**< kfd_event_dropped_events_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_PAGE_MIGRATE,          /**< kfd_page_migrate_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_PAGE_FAULT,            /**< kfd_page_fault_operation */
    ROCPROFILER_BUFFER_TRACING_KFD_QUEUE,                 /**< kfd_queue_operation */
    ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,     /**< marker_core_range_api_id */
    ROCPROFILER_BUFFER_TRACING_HIP_GRAPH,                 /**< hip_graph_operation */
    ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API,              /**< rocshmem_api_id */
    ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT,          /**< rocshmem_api_id */
    ROCPROFILER_BUFFER_TRACING_HIPFILE_API,               /**< hipfile_api_id */
    ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT,           /**< hipfile_api_id */
    ROCPROFILER_BUFFER_TRACING_HIP_EVENT,                 /**< hip_event_operation */
    ROCPROFILER_BUFFER_TRACING_LAST,
} rocprofiler_buffer_tracing_kind_t;

typedef enum rocprofiler_code_object_operation_t {
    ROCPROFILER_CODE_OBJECT_NONE = 0,
    ROCPROFILER_CODE_OBJECT_LOAD,                          /**< An ELF was loaded on an agent */
    ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER, /**< One of its kernels */
    ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER,   /**< The host function of a kernel */
    ROCPROFILER_CODE_OBJECT_LAST,
} rocprofiler_code_object_operation_t;

typedef enum rocprofiler_hip_stream_operation_t {
    ROCPROFILER_HIP_STREAM_NONE = 0,
    ROCPROFILER_HIP_STREAM_CREATE,
    ROCPROFILER_HIP_STREAM_DESTROY,
    ROCPROFILER_HIP_STREAM_SET, /**< Work of this thread belongs to the stream until EXIT */
    ROCPROFILER_HIP_STREAM_LAST,
} rocprofiler_hip_stream_operation_t;

typedef enum rocprofiler_hip_graph_operation_t {
    ROCPROFILER_HIP_GRAPH_OPERATION_NONE = 0,
    ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_CREATE,  /**< A graph was instantiated */
    ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_DESTROY, /**< What was instantiated is gone */
    ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH,  /**< It is launched by this thread */
    ROCPROFILER_HIP_GRAPH_OPERATION_LAST,
} rocprofiler_hip_graph_operation_t;

typedef enum rocprofiler_hip_event_operation_t {
    ROCPROFILER_HIP_EVENT_NONE = 0,
    ROCPROFILER_HIP_EVENT_RECORD, /**< What is before it in the stream has ended */
    ROCPROFILER_HIP_EVENT_WAIT,   /**< The stream goes on */
    ROCPROFILER_HIP_EVENT_LAST,
} rocprofiler_hip_event_operation_t;

typedef enum rocprofiler_kernel_replay_operation_t {
    ROCPROFILER_KERNEL_REPLAY_NONE = 0,
    ROCPROFILER_KERNEL_REPLAY_CONFIG, /**< Around all passes: how many are wanted */
    ROCPROFILER_KERNEL_REPLAY_PASS,   /**< Around each */
    ROCPROFILER_KERNEL_REPLAY_LAST,
} rocprofiler_kernel_replay_operation_t;

typedef enum rocprofiler_memory_copy_operation_t {
    ROCPROFILER_MEMORY_COPY_NONE = 0,
    ROCPROFILER_MEMORY_COPY_HOST_TO_HOST,
    ROCPROFILER_MEMORY_COPY_HOST_TO_DEVICE,
    ROCPROFILER_MEMORY_COPY_DEVICE_TO_HOST,
    ROCPROFILER_MEMORY_COPY_DEVICE_TO_DEVICE,
    ROCPROFILER_MEMORY_COPY_LAST,
} rocprofiler_memory_copy_operation_t;

typedef enum rocprofiler_memory_allocation_operation_t {
    ROCPROFILER_MEMORY_ALLOCATION_NONE = 0,
    ROCPROFILER_MEMORY_ALLOCATION_ALLOCATE,
    ROCPROFILER_MEMORY_ALLOCATION_VMEM_ALLOCATE, /**< Physical memory without an address yet */
    ROCPROFILER_MEMORY_ALLOCATION_FREE,
    ROCPROFILER_MEMORY_ALLOCATION_VMEM_FREE,
    ROCPROFILER_MEMORY_ALLOCATION_LAST,
} rocprofiler_memory_allocation_operation_t;

typedef enum rocprofiler_kernel_dispatch_operation_t {
    ROCPROFILER_KERNEL_DISPATCH_NONE = 0,
    ROCPROFILER_KERNEL_DISPATCH_ENQUEUE = 1,
    ROCPROFILER_KERNEL_DISPATCH_COMPLETE,
    ROCPROFILER_KERNEL_DISPATCH_LAST,
} rocprofiler_kernel_dispatch_operation_t;

typedef enum rocprofiler_scratch_memory_operation_t {
    ROCPROFILER_SCRATCH_MEMORY_NONE = 0,
    ROCPROFILER_SCRATCH_MEMORY_ALLOC,
    ROCPROFILER_SCRATCH_MEMORY_FREE,
    ROCPROFILER_SCRATCH_MEMORY_ASYNC_RECLAIM,
    ROCPROFILER_SCRATCH_MEMORY_LAST,
} rocprofiler_scratch_memory_operation_t;

typedef enum rocprofiler_runtime_initialization_operation_t {
    ROCPROFILER_RUNTIME_INITIALIZATION_NONE = 0,
    ROCPROFILER_RUNTIME_INITIALIZATION_HSA,
    ROCPROFILER_RUNTIME_INITIALIZATION_HIP,
    ROCPROFILER_RUNTIME_INITIALIZATION_MARKER,
    ROCPROFILER_RUNTIME_INITIALIZATION_RCCL,
    ROCPROFILER_RUNTIME_INITIALIZATION_ROCDECODE,
    ROCPROFILER_RUNTIME_INITIALIZATION_ROCJPEG,
    ROCPROFILER_RUNTIME_INITIALIZATION_OMPT, /**< Never reported: OpenMP hands over no table */
    ROCPROFILER_RUNTIME_INITIALIZATION_ROCSHMEM,
    ROCPROFILER_RUNTIME_INITIALIZATION_HIPFILE,
    ROCPROFILER_RUNTIME_INITIALIZATION_LAST,
} rocprofiler_runtime_initialization_operation_t;

/** What happens to records when a buffer is full. */
typedef enum rocprofiler_buffer_policy_t {
    ROCPROFILER_BUFFER_POLICY_NONE = 0,
    ROCPROFILER_BUFFER_POLICY_DISCARD,  /**< New records are dropped and counted */
    ROCPROFILER_BUFFER_POLICY_LOSSLESS, /**< Producers wait until there is room */
    ROCPROFILER_BUFFER_POLICY_LAST,
} rocprofiler_buffer_policy_t;

typedef enum rocprofiler_pc_sampling_method_t {
    ROCPROFILER_PC_SAMPLING_METHOD_NONE = 0,
    ROCPROFILER_PC_SAMPLING_METHOD_STOCHASTIC, /**< The hardware samples */
    ROCPROFILER_PC_SAMPLING_METHOD_HOST_TRAP,  /**< The driver interrupts waves */
    ROCPROFILER_PC_SAMPLING_METHOD_LAST,
} rocprofiler_pc_sampling_method_t;

typedef enum rocprofiler_pc_sampling_unit_t {
    ROCPROFILER_PC_SAMPLING_UNIT_NONE = 0,
    ROCPROFILER_PC_SAMPLING_UNIT_INSTRUCTIONS,
    ROCPROFILER_PC_SAMPLING_UNIT_CYCLES,
    ROCPROFILER_PC_SAMPLING_UNIT_TIME, /**< Microseconds */
    ROCPROFILER_PC_SAMPLING_UNIT_LAST,
} rocprofiler_pc_sampling_unit_t;

typedef enum rocprofiler_pc_sampling_record_kind_t {
    ROCPROFILER_PC_SAMPLING_RECORD_NONE = 0,
    ROCPROFILER_PC_SAMPLING_RECORD_INVALID_SAMPLE,
    ROCPROFILER_PC_SAMPLING_RECORD_HOST_TRAP_V0_SAMPLE,
    ROCPROFILER_PC_SAMPLING_RECORD_STOCHASTIC_V0_SAMPLE,
    ROCPROFILER_PC_SAMPLING_RECORD_LAST,
} rocprofiler_pc_sampling_record_kind_t;

/** Bits: libraries for rocprofiler_at_internal_thread_create(). */
typedef enum rocprofiler_runtime_library_t {
    ROCPROFILER_LIBRARY = (1 << 0),
    ROCPROFILER_HSA_LIBRARY = (1 << 1),
    ROCPROFILER_HIP_LIBRARY = (1 << 2),
    ROCPROFILER_MARKER_LIBRARY = (1 << 3),
    ROCPROFILER_RCCL_LIBRARY = (1 << 4),
    ROCPROFILER_ROCDECODE_LIBRARY = (1 << 5),
    ROCPROFILER_ROCJPEG_LIBRARY = (1 << 6),
    ROCPROFILER_OMPT_LIBRARY = (1 << 7),
    ROCPROFILER_ROCSHMEM_LIBRARY = (1 << 8),
    ROCPROFILER_HIPFILE_LIBRARY = (1 << 9),
    ROCPROFILER_LIBRARY_LAST = ROCPROFILER_HIPFILE_LIBRARY,
} rocprofiler_runtime_library_t;

/** Bits: API tables for rocprofiler_at_intercept_table_registration(). */
typedef enum rocprofiler_intercept_table_t {
    ROCPROFILER_HSA_TABLE = (1 << 0),
    ROCPROFILER_HIP_RUNTIME_TABLE = (1 << 1),
    ROCPROFILER_HIP_COMPILER_TABLE = (1 << 2),
    ROCPROFILER_MARKER_CORE_TABLE = (1 << 3),
    ROCPROFILER_MARKER_CONTROL_TABLE = (1 << 4),
    ROCPROFILER_MARKER_NAME_TABLE = (1 << 5),
    ROCPROFILER_RCCL_TABLE = (1 << 6),
    ROCPROFILER_ROCDECODE_TABLE = (1 << 7),
    ROCPROFILER_ROCJPEG_TABLE = (1 << 8),
    ROCPROFILER_ROCSHMEM_TABLE = (1 << 9),
    ROCPROFILER_HIPFILE_TABLE = (1 << 10),
    ROCPROFILER_TABLE_LAST = ROCPROFILER_HIPFILE_TABLE,
} rocprofiler_intercept_table_t;

typedef enum rocprofiler_counter_info_version_id_t {
    ROCPROFILER_COUNTER_INFO_VERSION_NONE,
    ROCPROFILER_COUNTER_INFO_VERSION_0, /**< ::rocprofiler_counter_info_v0_t */
    ROCPROFILER_COUNTER_INFO_VERSION_1, /**< ::rocprofiler_counter_info_v1_t */
    ROCPROFILER_COUNTER_INFO_VERSION_LAST,
} rocprofiler_counter_info_version_id_t;

typedef enum rocprofiler_counter_record_kind_t {
    ROCPROFILER_COUNTER_RECORD_NONE = 0,
    ROCPROFILER_COUNTER_RECORD_PROFILE_COUNTING_DISPATCH_HEADER, /**< Starts a dispatch's values:
                                                 ::rocprofiler_dispatch_counting_service_record_t */
    ROCPROFILER_COUNTER_RECORD_VALUE, /**< ::rocprofiler_counter_record_t */
    ROCPROFILER_COUNTER_RECORD_LAST,
} rocprofiler_counter_record_kind_t;

typedef enum rocprofiler_counter_flag_t {
    ROCPROFILER_COUNTER_FLAG_NONE = 0,
    ROCPROFILER_COUNTER_FLAG_ASYNC,             /**< Do not wait for the sample */
    ROCPROFILER_COUNTER_FLAG_APPEND_DEFINITION, /**< Add to the known definitions, do not replace */
    ROCPROFILER_COUNTER_FLAG_LAST,
} rocprofiler_counter_flag_t;

/* ---- scalars and handles ------------------------------------------------------------------ */

typedef uint64_t rocprofiler_timestamp_t; /**< Nanoseconds, see rocprofiler_get_timestamp() */
typedef uint64_t rocprofiler_thread_id_t; /**< The kernel's thread id (gettid) */
typedef int32_t rocprofiler_tracing_operation_t;
typedef uint64_t rocprofiler_kernel_id_t;
typedef uint64_t rocprofiler_dispatch_id_t;         /**< 1, 2, 3 ... in enqueue order */
typedef uint64_t rocprofiler_counter_instance_id_t; /**< Counter and position in its dimensions */
typedef uint64_t rocprofiler_counter_dimension_id_t;

typedef union rocprofiler_user_data_t {
    uint64_t value;
    void *ptr;
} rocprofiler_user_data_t;

typedef union rocprofiler_address_t {
    uint64_t handle;
    uint64_t value;
    const void *ptr;
} rocprofiler_address_t;

typedef struct rocprofiler_uuid_t {
    uint8_t bytes[16];
} rocprofiler_uuid_t;

typedef struct rocprofiler_version_triplet_t {
    uint32_t major;
    uint32_t minor;
    uint32_t patch;
} rocprofiler_version_triplet_t;

typedef struct rocprofiler_dim3_t {
    uint32_t x;
    uint32_t y;
    uint32_t z;
} rocprofiler_dim3_t;

/* Handles are structs so that one kind of id cannot be passed for another. */
typedef struct rocprofiler_context_id_t {
    uint64_t handle;
} rocprofiler_context_id_t;

typedef struct rocprofiler_queue_id_t {
    uint64_t handle;
} rocprofiler_queue_id_t;

typedef struct rocprofiler_stream_id_t {
    uint64_t handle;
} rocprofiler_stream_id_t;

/** An instantiated graph of HIP, unique in the process; 0: none. */
typedef struct rocprofiler_graph_exec_id_t {
    uint64_t handle;
} rocprofiler_graph_exec_id_t;

/** The place of a node among those of one launch, counted from 0. */
typedef struct rocprofiler_graph_node_id_t {
    uint64_t handle;
} rocprofiler_graph_node_id_t;

typedef struct rocprofiler_buffer_id_t {
    uint64_t handle;
} rocprofiler_buffer_id_t;

typedef struct rocprofiler_agent_id_t {
    uint64_t handle;
} rocprofiler_agent_id_t;

typedef struct rocprofiler_counter_id_t {
    uint64_t handle;
} rocprofiler_counter_id_t;

typedef struct rocprofiler_counter_config_id_t {
    uint64_t handle;
} rocprofiler_counter_config_id_t;

/* ---- correlation -------------------------------------------------------------------------- */

/** Of a record made on the thread that caused it. */
typedef struct rocprofiler_correlation_id_t {
    uint64_t internal;                /**< Unique in the process, assigned by the library */
    rocprofiler_user_data_t external; /**< Assigned by the tool, see external_correlation.h */
    uint64_t ancestor;                /**< `internal` of the enclosing traced call, or 0 */
} rocprofiler_correlation_id_t;

/** Of a record that completes elsewhere (kernels, copies): `internal` is the causing call's. */
typedef struct rocprofiler_async_correlation_id_t {
    uint64_t internal;
    rocprofiler_user_data_t external;
} rocprofiler_async_correlation_id_t;

#define ROCPROFILER_CORRELATION_ID_INTERNAL_NONE ROCPROFILER_UINT64_C(0)
#define ROCPROFILER_CORRELATION_ID_ANCESTOR_NONE ROCPROFILER_UINT64_C(0)

/* ---- records shared by services ----------------------------------------------------------- */

/** Argument of every tracing callback; `payload` is the kind's *_data_t of callback_tracing.h. */
typedef struct rocprofiler_callback_tracing_record_t {
    rocprofiler_context_id_t context_id;
    rocprofiler_thread_id_t thread_id;
    rocprofiler_correlation_id_t correlation_id;
    rocprofiler_callback_tracing_kind_t kind;
    rocprofiler_tracing_operation_t operation;
    rocprofiler_callback_phase_t phase;
    void *payload;
} rocprofiler_callback_tracing_record_t;

/** One entry of what a buffer delivers; category and kind tell the payload's type. */
typedef struct rocprofiler_record_header_t {
    __extension__ union {
        __extension__ struct {
            uint32_t category; /**< ::rocprofiler_buffer_category_t */
            uint32_t kind;
        };
        uint64_t hash; /**< Both at once, for one comparison or switch */
    };
    void *payload;
} rocprofiler_record_header_t;

static inline uint64_t rocprofiler_record_header_compute_hash(uint32_t category, uint32_t kind)
{
    return (uint64_t)kind << 32 | category;
}

typedef struct rocprofiler_kernel_dispatch_info_t {
    uint64_t size; /**< Of this struct, as the library knows it */
    rocprofiler_agent_id_t agent_id;
    rocprofiler_queue_id_t queue_id;
    rocprofiler_kernel_id_t kernel_id;
    rocprofiler_dispatch_id_t dispatch_id;
    uint32_t private_segment_size; /**< Scratch bytes per work-item */
    uint32_t group_segment_size;   /**< LDS bytes per work-group */
    rocprofiler_dim3_t workgroup_size;
    rocprofiler_dim3_t grid_size; /**< In work-items, not in work-groups */
    uint8_t reserved_padding[56]; /**< Room to grow without moving what follows the struct */
} rocprofiler_kernel_dispatch_info_t;

ROCPROFILER_STATIC_ASSERT(sizeof(rocprofiler_kernel_dispatch_info_t) == 128,
                          "embedded in records: its size is fixed");

typedef struct ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_counter_record_dimension_info_t {
    const char *name;
    size_t instance_size; /**< Positions 0 .. instance_size - 1 */
    rocprofiler_counter_dimension_id_t id;
} rocprofiler_counter_record_dimension_info_t;

typedef struct ROCPROFILER_SDK_EXPERIMENTAL rocprofiler_counter_record_t {
    rocprofiler_counter_instance_id_t id;
    double counter_value;
    rocprofiler_dispatch_id_t dispatch_id;
    rocprofiler_user_data_t user_data;
    rocprofiler_agent_id_t agent_id;
} rocprofiler_counter_record_t;

/* ---- 0.x names ---------------------------------------------------------------------------- */

ROCPROFILER_SDK_DEPRECATED("now rocprofiler_counter_record_dimension_info_t")
typedef rocprofiler_counter_record_dimension_info_t rocprofiler_record_dimension_info_t;
ROCPROFILER_SDK_DEPRECATED("now rocprofiler_counter_record_t")
typedef rocprofiler_counter_record_t rocprofiler_record_counter_t;
#if ROCPROFILER_SDK_BETA_COMPAT > 0
ROCPROFILER_SDK_DEPRECATED("now rocprofiler_counter_config_id_t")
typedef rocprofiler_counter_config_id_t rocprofiler_profile_config_id_t;
#endif

ROCPROFILER_EXTERN_C_FINI

#endif
