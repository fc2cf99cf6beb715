/* Callback tracing: the tool is called on the traced thread, before and after. */
#ifndef ROCPROFILER_SDK_CALLBACK_TRACING_H
#define ROCPROFILER_SDK_CALLBACK_TRACING_H

#include <stdint.h>

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_loader.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/detail/hsa_tool_types.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hip.h>
#include <rocprofiler-sdk/hipfile.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/marker.h>
#include <rocprofiler-sdk/ompt.h>
#include <rocprofiler-sdk/rccl.h>
#include <rocprofiler-sdk/rocdecode.h>
#include <rocprofiler-sdk/rocjpeg.h>
#include <rocprofiler-sdk/rocshmem.h>

ROCPROFILER_EXTERN_C_INIT

/* ---- payloads of API kinds: arguments on both phases, return value on EXIT ----------------- */

/** HSA_CORE_API, HSA_AMD_EXT_API, HSA_IMAGE_EXT_API, HSA_FINALIZE_EXT_API. */
typedef struct rocprofiler_callback_tracing_hsa_api_data_t {
    uint64_t size;
    rocprofiler_hsa_api_args_t args;
    rocprofiler_hsa_api_retval_t retval;
} rocprofiler_callback_tracing_hsa_api_data_t;

/** HIP_RUNTIME_API, HIP_COMPILER_API. */
typedef struct rocprofiler_callback_tracing_hip_api_data_t {
    uint64_t size;
    rocprofiler_hip_api_args_t args;
    rocprofiler_hip_api_retval_t retval;
} rocprofiler_callback_tracing_hip_api_data_t;

/** MARKER_CORE_API, MARKER_CONTROL_API, MARKER_NAME_API, MARKER_CORE_RANGE_API. */
typedef struct rocprofiler_callback_tracing_marker_api_data_t {
    uint64_t size;
    rocprofiler_marker_api_args_t args;
    rocprofiler_marker_api_retval_t retval;
} rocprofiler_callback_tracing_marker_api_data_t;

/** RCCL_API. */
typedef struct rocprofiler_callback_tracing_rccl_api_data_t {
    uint64_t size;
    rocprofiler_rccl_api_args_t args;
    rocprofiler_rccl_api_retval_t retval;
} rocprofiler_callback_tracing_rccl_api_data_t;

/** ROCDECODE_API. */
typedef struct rocprofiler_callback_tracing_rocdecode_api_data_t {
    uint64_t size;
    rocprofiler_rocdecode_api_args_t args;
    rocprofiler_rocdecode_api_retval_t retval;
} rocprofiler_callback_tracing_rocdecode_api_data_t;

/** ROCJPEG_API. */
typedef struct rocprofiler_callback_tracing_rocjpeg_api_data_t {
    uint64_t size;
    rocprofiler_rocjpeg_api_args_t args;
    rocprofiler_rocjpeg_api_retval_t retval;
} rocprofiler_callback_tracing_rocjpeg_api_data_t;

/** ROCSHMEM_API. */
typedef struct rocprofiler_callback_tracing_rocshmem_api_data_t {
    uint64_t size;
    rocprofiler_rocshmem_api_args_t args;
    rocprofiler_rocshmem_api_retval_t retval;
} rocprofiler_callback_tracing_rocshmem_api_data_t;

/** HIPFILE_API. */
typedef struct rocprofiler_callback_tracing_hipfile_api_data_t {
    uint64_t size;
    rocprofiler_hipfile_api_args_t args;
    rocprofiler_hipfile_api_retval_t retval;
} rocprofiler_callback_tracing_hipfile_api_data_t;

/** OMPT. Events have no result; those with an endpoint come as ENTER and EXIT, the others as NONE.
 */
typedef struct rocprofiler_callback_tracing_ompt_data_t {
    uint64_t size;
    rocprofiler_ompt_args_t args;
} rocprofiler_callback_tracing_ompt_data_t;

/* ---- payloads of the other kinds ----------------------------------------------------------- */

typedef enum rocprofiler_code_object_storage_type_t {
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_NONE = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_NONE,
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_FILE = HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_FILE,
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_MEMORY =
        HSA_VEN_AMD_LOADER_CODE_OBJECT_STORAGE_TYPE_MEMORY,
    ROCPROFILER_CODE_OBJECT_STORAGE_TYPE_LAST,
} rocprofiler_code_object_storage_type_t;

#define ROCPROFILER_CODE_OBJECT_ID_NONE ROCPROFILER_UINT64_C(0)

/** CODE_OBJECT, operation LOAD; phases LOAD and UNLOAD. */
typedef struct rocprofiler_callback_tracing_code_object_load_data_t {
    uint64_t size;
    uint64_t code_object_id;
    union {
        rocprofiler_agent_id_t rocp_agent;
        rocprofiler_agent_id_t agent_id;
    };
    hsa_agent_t hsa_agent;
    const char *uri; /**< file://... or memory://..., with offset and size */
    uint64_t load_base;
    uint64_t load_size;
    int64_t load_delta; /**< Added to an address in the ELF gives the loaded address */
    rocprofiler_code_object_storage_type_t storage_type;
    __extension__ union {
        __extension__ struct {
            int storage_file; /**< File descriptor, for STORAGE_TYPE_FILE */
        };
        __extension__ struct {
            uint64_t memory_base; /**< Of the ELF image, for STORAGE_TYPE_MEMORY */
            uint64_t memory_size;
        };
    };
} rocprofiler_callback_tracing_code_object_load_data_t;

/** CODE_OBJECT, operation DEVICE_KERNEL_SYMBOL_REGISTER; phases LOAD and UNLOAD. */
typedef struct rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t {
    uint64_t size;
    uint64_t kernel_id;
    uint64_t code_object_id;
    const char *kernel_name; /**< Mangled; ends with ".kd" */
    uint64_t kernel_object;  /**< Address of the descriptor, as in the dispatch packet */
    uint32_t kernarg_segment_size;
    uint32_t kernarg_segment_alignment;
    uint32_t group_segment_size;   /**< Static LDS bytes */
    uint32_t private_segment_size; /**< Scratch bytes per work-item */
    uint32_t sgpr_count;
    uint32_t arch_vgpr_count;
    uint32_t accum_vgpr_count;
    int64_t kernel_code_entry_byte_offset; /**< From the descriptor to the first instruction */
    rocprofiler_address_t kernel_address;  /**< Of the first instruction */
} rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t;

/** CODE_OBJECT, operation HOST_KERNEL_SYMBOL_REGISTER. */
typedef struct rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t {
    uint64_t size;
    uint64_t host_function_id;
    uint64_t kernel_id;
    uint64_t code_object_id;
    rocprofiler_address_t host_function;
    rocprofiler_address_t modules;
    const char *device_function;
    uint32_t thread_limit;
    rocprofiler_dim3_t thread_ids;
    rocprofiler_dim3_t block_ids;
    rocprofiler_dim3_t block_dims;
    rocprofiler_dim3_t grid_dims;
    uint64_t workgroup_size;
} rocprofiler_callback_tracing_code_object_host_kernel_symbol_register_data_t;

/** KERNEL_DISPATCH. Timestamps are set for operation COMPLETE. */
typedef struct rocprofiler_callback_tracing_kernel_dispatch_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_kernel_dispatch_info_t dispatch_info;
} rocprofiler_callback_tracing_kernel_dispatch_data_t;

/** MEMORY_COPY. Timestamps are set on EXIT. */
typedef struct rocprofiler_callback_tracing_memory_copy_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t dst_agent_id;
    rocprofiler_agent_id_t src_agent_id;
    uint64_t bytes;
    rocprofiler_address_t dst_address;
    rocprofiler_address_t src_address;
} rocprofiler_callback_tracing_memory_copy_data_t;

/** MEMORY_ALLOCATION. */
typedef struct rocprofiler_callback_tracing_memory_allocation_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_address_t address;
    uint64_t allocation_size; /**< 0 when memory is freed */
} rocprofiler_callback_tracing_memory_allocation_data_t;

/** SCRATCH_MEMORY. */
typedef struct rocprofiler_callback_tracing_scratch_memory_data_t {
    uint64_t size;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_queue_id_t queue_id;
    rocprofiler_scratch_alloc_flag_t flags;
    hsa_amd_tool_event_kind_t args_kind;
    rocprofiler_scratch_memory_args_t args;
} rocprofiler_callback_tracing_scratch_memory_data_t;

/** RUNTIME_INITIALIZATION. version is 10000 * major + 100 * minor + patch. */
typedef struct rocprofiler_callback_tracing_runtime_initialization_data_t {
    uint64_t size;
    uint64_t version;
    uint64_t instance; /**< 0 for the first copy of the library in the process */
} rocprofiler_callback_tracing_runtime_initialization_data_t;

/** HIP_STREAM. */
typedef struct rocprofiler_callback_tracing_hip_stream_data_t {
    uint64_t size;
    rocprofiler_stream_id_t stream_id;
    rocprofiler_address_t stream_value; /**< The hipStream_t */
} rocprofiler_callback_tracing_hip_stream_data_t;

/** HIP_GRAPH. EXEC_LAUNCH has ENTER and EXIT, on the launching thread: kernels and copies that it
 * submits between them are the graph's. */
typedef struct rocprofiler_callback_tracing_hip_graph_data_t {
    uint64_t size;
    rocprofiler_graph_exec_id_t graph_exec_id;
    rocprofiler_address_t graph_exec_value; /**< The hipGraphExec_t */
} rocprofiler_callback_tracing_hip_graph_data_t;

/** HIP_EVENT. ENTER and EXIT around the submission of the packet that records the event, or waits
 * for it, with times of 0; NONE when the device is done with it. */
typedef struct rocprofiler_callback_tracing_hip_event_data_t {
    uint64_t size;
    rocprofiler_timestamp_t start_timestamp;
    rocprofiler_timestamp_t end_timestamp;
    rocprofiler_agent_id_t agent_id;
    rocprofiler_queue_id_t queue_id;
    uint64_t hip_event_handle;              /**< The hipEvent_t */
    rocprofiler_queue_id_t source_queue_id; /**< Where it was recorded; WAIT: 0: unknown */
} rocprofiler_callback_tracing_hip_event_data_t;

/** Asked once for each launch: how many passes; 0: until the next one says stop. */
typedef uint64_t (*rocprofiler_kernel_replay_pass_count_cb_t)(
    rocprofiler_kernel_dispatch_info_t dispatch_info, rocprofiler_user_data_t user_data);

/** Asked after each pass but the last of a fixed number; 0: that was the last one. */
typedef int (*rocprofiler_kernel_replay_continue_cb_t)(
    rocprofiler_kernel_dispatch_info_t dispatch_info, uint64_t current_pass, uint64_t total_passes,
    rocprofiler_user_data_t user_data);

/** Holds from inside of a PASS's ENTER, for the rest of the launch's passes. */
typedef rocprofiler_status_t (*rocprofiler_kernel_replay_context_cb_t)(
    rocprofiler_context_id_t context);

/**
 * KERNEL_REPLAY. On the launching thread: CONFIG around all passes of a launch, PASS around each.
 * What a tool leaves in `user_data` at CONFIG's ENTER comes to each PASS and to its functions.
 * A launch may have fewer passes than were asked for, down to one without PASS callbacks.
 */
typedef struct rocprofiler_callback_tracing_kernel_replay_data_t {
    uint64_t size;
    rocprofiler_kernel_dispatch_info_t dispatch_info;
    uint64_t current_pass; /**< PASS: from 0 */
    uint64_t total_passes; /**< PASS: 0: no number was fixed */
    /** Set by the tool at CONFIG's ENTER; NULL: the kernel is not repeated. */
    rocprofiler_kernel_replay_pass_count_cb_t replay_pass_count;
    rocprofiler_kernel_replay_continue_cb_t replay_continue;     /**< NULL: goes on */
    rocprofiler_kernel_replay_context_cb_t replay_start_context; /**< At PASS's ENTER */
    rocprofiler_kernel_replay_context_cb_t replay_stop_context;  /**< At PASS's ENTER */
} rocprofiler_callback_tracing_kernel_replay_data_t;

/* ---- functions ------------------------------------------------------------------------------ */

/** `user_data` keeps its value from ENTER to EXIT of one call. */
typedef void (*rocprofiler_callback_tracing_cb_t)(rocprofiler_callback_tracing_record_t record,
                                                  rocprofiler_user_data_t *user_data,
                                                  void *callback_data) ROCPROFILER_NONNULL(2);

/* A non-zero return ends an iteration. */
typedef int (*rocprofiler_callback_tracing_kind_cb_t)(rocprofiler_callback_tracing_kind_t kind,
                                                      void *data);

typedef int (*rocprofiler_callback_tracing_kind_operation_cb_t)(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    void *data);

/**
 * One argument of a traced call: its address, how many pointers lead to the value, its C type and
 * name, and its value as text, for which `arg_dereference_count` pointers were followed.
 */
typedef int (*rocprofiler_callback_tracing_operation_args_cb_t)(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    uint32_t arg_number, const void *const arg_value_addr, int32_t arg_indirection_count,
    const char *arg_type, const char *arg_name, const char *arg_value_str,
    int32_t arg_dereference_count, void *data);

/** `operations` NULL with a count of 0: all operations of the kind. */
rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_callback_tracing_cb_t callback, void *callback_args) ROCPROFILER_API;

/** `name` and `name_len` may each be NULL. Names are "HSA_CORE_API", "HIP_RUNTIME_API" ... */
rocprofiler_status_t
rocprofiler_query_callback_tracing_kind_name(rocprofiler_callback_tracing_kind_t kind,
                                             const char **name, uint64_t *name_len) ROCPROFILER_API;

rocprofiler_status_t rocprofiler_query_callback_tracing_kind_operation_name(
    rocprofiler_callback_tracing_kind_t kind, rocprofiler_tracing_operation_t operation,
    const char **name, uint64_t *name_len) ROCPROFILER_API;

rocprofiler_status_t
rocprofiler_iterate_callback_tracing_kinds(rocprofiler_callback_tracing_kind_cb_t callback,
                                           void *data) ROCPROFILER_API ROCPROFILER_NONNULL(1);

rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operations(
    rocprofiler_callback_tracing_kind_t kind,
    rocprofiler_callback_tracing_kind_operation_cb_t callback, void *data) ROCPROFILER_API
    ROCPROFILER_NONNULL(2);

/** Only inside the tracing callback that received `record`. */
rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
    rocprofiler_callback_tracing_record_t record,
    rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_dereference_count,
    void *user_data) ROCPROFILER_API ROCPROFILER_NONNULL(2);

ROCPROFILER_EXTERN_C_FINI

#endif
