/*
 * ROC Profiler API, version 8 (binary compatible with 7): counters and traces of AMD GPUs, by
 * contexts that a program starts and reads itself, or that collect around each kernel.
 *
 * The library is HSA's tool (HSA_TOOLS_LIB=librocprofiler64.so.1); it loads a profiling tool
 * (ROCP_TOOL_LIB), which calls the functions below. Every function may be called from any thread
 * and returns HSA_STATUS_SUCCESS or a reason, which rocprofiler_error_string() words.
 */
#ifndef ROCPROFILER_ROCPROFILER_H
#define ROCPROFILER_ROCPROFILER_H

/* The aqlprofile header defines it in every C file that includes it. */
#if defined(__GNUC__) && !defined(__cplusplus)
#pragma weak HSA_VEN_AMD_AQLPROFILE_LEGACY_PM4_PACKET_SIZE
#endif

#include <hsa/amd_hsa_kernel_code.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <hsa/hsa_ven_amd_aqlprofile.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef ROCPROFILER_V1_API
#define ROCPROFILER_V1_API __attribute__((visibility("default")))
#endif

/* The SDK's headers of 0.x had macros of the same names: in a file that includes both, those of the
 * first header stay. */
#ifndef ROCPROFILER_VERSION_MAJOR
#define ROCPROFILER_VERSION_MAJOR 8
#define ROCPROFILER_VERSION_MINOR 0
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Version and errors */

/** The library's version; it serves clients whose major version is not smaller. */
ROCPROFILER_V1_API uint32_t rocprofiler_version_major(void);
ROCPROFILER_V1_API uint32_t rocprofiler_version_minor(void);
/** Older names of the two. */
ROCPROFILER_V1_API uint32_t rocprofiler_major_version(void);
ROCPROFILER_V1_API uint32_t rocprofiler_minor_version(void);

/** Why the calling thread's last call failed that did; "" when none has. The text is the library's
 * and stays until the thread's next failure. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_error_string(const char **str);

/* ---- The tool library: ROCP_TOOL_LIB exports OnLoadTool or OnLoadToolProp, and OnUnloadTool */

/** What OnLoadToolProp may change; it comes filled in with the defaults. */
typedef struct {
    uint32_t intercept_mode;    /**< 1: dispatches are intercepted */
    uint32_t code_obj_tracking; /**< 1: kernels are known by name */
    uint32_t memcopy_tracking;  /**< 1: times of asynchronous copies, a line each to stdout */
    uint32_t trace_size;        /**< bytes of a trace's buffer, for all shader engines */
    uint32_t trace_local;       /**< 1: in the GPU's memory; 0: in the host's */
    uint64_t timeout;           /**< of waits, nanoseconds; all bits set: none */
    uint32_t timestamp_on;      /**< 1: dispatch records */
    uint32_t hsa_intercepting;  /**< 1: rocprofiler_set_hsa_callbacks will be used */
    uint32_t k_concurrent;      /**< since 8: kernels of different queues run at the same time while
                                     they are counted. The hardware has one set of counters: the
                                     values of a kernel include what others did while it ran.
                                     Kernels with other features wait for each other, and traced
                                     ones run alone. */
    uint32_t opt_mode;          /**< since 8: dispatch callbacks get neither names nor records */
    uint32_t obj_dumping;       /**< since 8: code objects are written to codeobj_PID_ID.co */
} rocprofiler_settings_t;

/* ---- Features and contexts */

typedef enum {
    ROCPROFILER_FEATURE_KIND_METRIC = 0,
    ROCPROFILER_FEATURE_KIND_TRACE = 1,
    ROCPROFILER_FEATURE_KIND_SPM_MOD = 2,
    ROCPROFILER_FEATURE_KIND_PCSMP_MOD = 4
} rocprofiler_feature_kind_t;

typedef hsa_ven_amd_aqlprofile_parameter_t rocprofiler_parameter_t;
typedef rocprofiler_parameter_t rocprofiler_feature_parameter_t; /**< older name */

/** Hardware counters are INT64, computed metrics DOUBLE, traces BYTES. No definition of a metric
 * says that its value has 32 bits, so the other two are never seen. */
typedef enum {
    ROCPROFILER_DATA_KIND_UNINIT = 0,
    ROCPROFILER_DATA_KIND_INT32 = 1,
    ROCPROFILER_DATA_KIND_INT64 = 2,
    ROCPROFILER_DATA_KIND_FLOAT = 3,
    ROCPROFILER_DATA_KIND_DOUBLE = 4,
    ROCPROFILER_DATA_KIND_BYTES = 5
} rocprofiler_data_kind_t;

typedef struct {
    rocprofiler_data_kind_t kind;
    union {
        uint32_t result_int32;
        uint64_t result_int64; /**< hardware counters */
        float result_float;
        double result_double; /**< computed metrics */
        struct {
            void *ptr;
            uint32_t size; /**< bytes */
            uint32_t instance_count;
            bool copy;  /**< in: the data shall be copied to host memory */
        } result_bytes; /**< traces. Copied: for each instance its size in 32 bits and its bytes,
                             rounded up to 4, in memory that the library takes back with the next
                             reading or launch of the group, its reset or the close. Not copied: the
                             buffer as the GPU sees it. */
    };
} rocprofiler_data_t;

/** What is to be collected, and where its value goes. */
typedef struct {
    rocprofiler_feature_kind_t kind;
    union {
        /** A metric or a trace by name; also "BLOCK:event", "BLOCK[i]:event", "NAME[i]". */
        const char *name;
        struct {
            const char *block;
            uint32_t event;
        } counter;
    };
    /** Of a trace, any name of which is fine; one for a context, collected with group 0. NULL:
     * shader engines 0 and 4, compute unit 0. */
    const rocprofiler_parameter_t *parameters;
    uint32_t parameter_count;
    rocprofiler_data_t data;
} rocprofiler_feature_t;

typedef void rocprofiler_feature_set_t;
typedef void rocprofiler_t;

/** What one run of a kernel collects. */
typedef struct {
    unsigned index;
    rocprofiler_feature_t **features;
    uint32_t feature_count;
    rocprofiler_t *context;
} rocprofiler_group_t;

/** A mask. */
typedef enum {
    ROCPROFILER_MODE_STANDALONE = 1,  /**< started, read and stopped by calls */
    ROCPROFILER_MODE_CREATEQUEUE = 2, /**< with STANDALONE: makes properties->queue */
    ROCPROFILER_MODE_SINGLEGROUP = 4  /**< opening fails where one run does not suffice */
} rocprofiler_mode_t;

/** A group's data is there. What it returns is not looked at. */
typedef bool (*rocprofiler_handler_t)(rocprofiler_group_t group, void *arg);

typedef struct {
    /** STANDALONE: readings include the work that is in it; NULL: none. With CREATEQUEUE it is made
     * and returned, and is the client's to destroy. */
    hsa_queue_t *queue;
    uint32_t queue_depth;
    rocprofiler_handler_t handler; /**< NULL: none */
    void *handler_arg;
} rocprofiler_properties_t;

/** `features` and what they point to stay in use until the context is closed. `properties` may be
 * NULL. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_open(hsa_agent_t agent, rocprofiler_feature_t *features,
                                                 uint32_t feature_count, rocprofiler_t **context,
                                                 uint32_t mode,
                                                 rocprofiler_properties_t *properties);

/** Adds a copy of `feature`. `features_set` points to a set's handle, a void * that is NULL before
 * the first call. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_add_feature(const rocprofiler_feature_t *feature,
                                                        rocprofiler_feature_set_t *features_set);

/** A context of the features of a set, which belongs to the context from then on, and whose handle
 * becomes NULL. The features are those of the context's groups. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_features_set_open(
    hsa_agent_t agent, rocprofiler_feature_set_t *features_set, rocprofiler_t **context,
    uint32_t mode, rocprofiler_properties_t *properties);

ROCPROFILER_V1_API hsa_status_t rocprofiler_close(rocprofiler_t *context);

/** Forgets what a group has collected; one that runs counts from zero again. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_reset(rocprofiler_t *context, uint32_t group_index);

ROCPROFILER_V1_API hsa_status_t rocprofiler_get_agent(rocprofiler_t *context, hsa_agent_t *agent);

/* ---- Time */

typedef enum {
    ROCPROFILER_TIME_ID_CLOCK_REALTIME = 0,
    ROCPROFILER_TIME_ID_CLOCK_REALTIME_COARSE = 1,
    ROCPROFILER_TIME_ID_CLOCK_MONOTONIC = 2,
    ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_COARSE = 3,
    ROCPROFILER_TIME_ID_CLOCK_MONOTONIC_RAW = 4
} rocprofiler_time_id_t;

/** A timestamp of a dispatch record as time of a Linux clock, and how wrong that may be. The coarse
 * clocks have the time of the others, with an error of at least their step. NULL: not asked for. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_get_time(rocprofiler_time_id_t time_id,
                                                     uint64_t timestamp, uint64_t *value_ns,
                                                     uint64_t *error_ns);

/* ---- Interception */

/** Nanoseconds of HSA's system clock. Filled in when the kernel has ended. */
typedef struct {
    uint64_t dispatch; /**< the packet was submitted */
    uint64_t begin;    /**< the kernel began */
    uint64_t end;
    uint64_t complete; /**< its end was noticed; 0: not yet */
} rocprofiler_dispatch_record_t;

/** A dispatch, on the thread that submits it and before the GPU sees it. What pointers lead to is
 * valid during the callback, but for `kernel_name` (for ever) and `record` (until the context that
 * the callback returns is closed or used again). */
typedef struct {
    hsa_agent_t agent;
    uint32_t agent_index; /**< the driver's node number */
    const hsa_queue_t *queue;
    uint64_t queue_index; /**< of the packet */
    uint32_t queue_id;
    hsa_signal_t completion_signal;
    const hsa_kernel_dispatch_packet_t *packet;
    const char *kernel_name;
    uint64_t kernel_object;
    const amd_kernel_code_t *kernel_code; /**< NULL where the runtime does not tell */
    uint32_t thread_id;
    const rocprofiler_dispatch_record_t *record;
} rocprofiler_callback_data_t;

/** Decides what is collected for a dispatch: a group of a context, or nothing when `group` is left
 * alone or another status than SUCCESS is returned. */
typedef hsa_status_t (*rocprofiler_callback_t)(const rocprofiler_callback_data_t *callback_data,
                                               void *user_data, rocprofiler_group_t *group);

typedef struct {
    rocprofiler_callback_t dispatch;
    hsa_status_t (*create)(hsa_queue_t *queue, void *data);  /**< a queue was created */
    hsa_status_t (*destroy)(hsa_queue_t *queue, void *data); /**< a queue will be destroyed */
} rocprofiler_queue_callbacks_t;
typedef rocprofiler_queue_callbacks_t rocprofiler_intercepting_t; /**< older name */

/** They are active at once. One set at a time. */
ROCPROFILER_V1_API hsa_status_t
rocprofiler_set_queue_callbacks(rocprofiler_queue_callbacks_t callbacks, void *data);
/** Returns when none of them runs any more on another thread. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_remove_queue_callbacks(void);
/** Dispatches are told of, respectively not. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_start_queue_callbacks(void);
ROCPROFILER_V1_API hsa_status_t rocprofiler_stop_queue_callbacks(void);

/** Older names. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_set_intercepting(rocprofiler_intercepting_t callbacks,
                                                             void *data);
ROCPROFILER_V1_API hsa_status_t rocprofiler_remove_intercepting(void);
ROCPROFILER_V1_API hsa_status_t rocprofiler_add_dispatch_callback(rocprofiler_callback_t callback,
                                                                  void *data);

/* ---- Collecting */

ROCPROFILER_V1_API hsa_status_t rocprofiler_start(rocprofiler_t *context, uint32_t group_index);
ROCPROFILER_V1_API hsa_status_t rocprofiler_stop(rocprofiler_t *context, uint32_t group_index);
/** Takes the values of this moment; get_data brings them. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_read(rocprofiler_t *context, uint32_t group_index);
/** Waits for the group's data and writes it into its features. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_get_data(rocprofiler_t *context, uint32_t group_index);

ROCPROFILER_V1_API hsa_status_t rocprofiler_group_count(const rocprofiler_t *context,
                                                        uint32_t *group_count);
ROCPROFILER_V1_API hsa_status_t rocprofiler_get_group(rocprofiler_t *context, uint32_t group_index,
                                                      rocprofiler_group_t *group);
ROCPROFILER_V1_API hsa_status_t rocprofiler_group_start(rocprofiler_group_t *group);
ROCPROFILER_V1_API hsa_status_t rocprofiler_group_stop(rocprofiler_group_t *group);
ROCPROFILER_V1_API hsa_status_t rocprofiler_group_read(rocprofiler_group_t *group);
ROCPROFILER_V1_API hsa_status_t rocprofiler_group_get_data(rocprofiler_group_t *group);

/** Computes the metrics from the data of all groups. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_get_metrics(const rocprofiler_t *context);

typedef hsa_ven_amd_aqlprofile_data_callback_t rocprofiler_trace_data_callback_t;

/** Each instance of the context's trace: one for a traced shader engine, whose number is its
 * sample_id; bytes are valid as long as those of a feature. After a reading of a trace that runs,
 * or its end. HSA_STATUS_ERROR_OUT_OF_RESOURCES, when all have been told: the buffer (settings:
 * trace_size) was too small, and ends of traces are missing. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_iterate_trace_data(
    rocprofiler_t *context, rocprofiler_trace_data_callback_t callback, void *data);

/* ---- What there is */

typedef enum {
    ROCPROFILER_INFO_KIND_METRIC = 0,
    ROCPROFILER_INFO_KIND_METRIC_COUNT = 1, /**< data: uint32_t */
    ROCPROFILER_INFO_KIND_TRACE = 2,
    ROCPROFILER_INFO_KIND_TRACE_COUNT = 3, /**< data: uint32_t */
    ROCPROFILER_INFO_KIND_TRACE_PARAMETER = 4,
    ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT = 5 /**< data: uint32_t */
} rocprofiler_info_kind_t;

typedef union {
    rocprofiler_info_kind_t info_kind;
    struct {
        const char *trace_name;
    } trace_parameter;
} rocprofiler_info_query_t;

/** Texts are the library's and stay. */
typedef struct {
    uint32_t agent_index; /**< the driver's node number */
    rocprofiler_info_kind_t kind;
    union {
        struct {
            const char *name;
            uint32_t instances;
            const char *expr; /**< NULL: a hardware counter */
            const char *description;
            const char *block_name;  /**< NULL: computed */
            uint32_t block_counters; /**< that one run can collect */
        } metric;
        struct {
            const char *name;
            const char *description;
            uint32_t parameter_count;
        } trace;
        struct {
            uint32_t code;
            const char *trace_name;
            const char *parameter_name;
            const char *description;
        } trace_parameter;
    };
} rocprofiler_info_data_t;

/** The kinds that count. `agent` NULL: all GPUs together. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_get_info(const hsa_agent_t *agent,
                                                     rocprofiler_info_kind_t kind, void *data);

/** Each metric, trace or parameter of one GPU, or of all. HSA_STATUS_INFO_BREAK ends the iteration
 * without an error, any other status but SUCCESS is returned. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_iterate_info(
    const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
    hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data);

/** The query is a kind, or the name of a trace, whose parameters are told. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_query_info(
    const hsa_agent_t *agent, rocprofiler_info_query_t query,
    hsa_status_t (*callback)(const rocprofiler_info_data_t info, void *data), void *data);

/** hsa_queue_create for a queue whose dispatches can be intercepted. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_queue_create_profiled(
    hsa_agent_t agent_handle, uint32_t size, hsa_queue_type32_t type,
    void (*callback)(hsa_status_t status, hsa_queue_t *source, void *data), void *data,
    uint32_t private_segment_size, uint32_t group_segment_size, hsa_queue_t **queue);

/* ---- Pools of contexts with the same features */

typedef void rocprofiler_pool_t;

typedef struct {
    rocprofiler_t *context;
    void *payload; /**< the tool's, aligned to 64 bytes; zeroes when it is fetched */
} rocprofiler_pool_entry_t;

/** An entry's data is there; one call at a time for a pool, in the order of completion. The entry
 * is released when it returns, whatever it returns. */
typedef bool (*rocprofiler_pool_handler_t)(const rocprofiler_pool_entry_t *entry, void *arg);

typedef struct {
    uint32_t num_entries;
    uint32_t payload_bytes;
    rocprofiler_pool_handler_t handler; /**< NULL: entries are released by the tool */
    void *handler_arg;
} rocprofiler_pool_properties_t;

ROCPROFILER_V1_API hsa_status_t rocprofiler_pool_open(hsa_agent_t agent,
                                                      rocprofiler_feature_t *features,
                                                      uint32_t feature_count,
                                                      rocprofiler_pool_t **pool, uint32_t mode,
                                                      rocprofiler_pool_properties_t *properties);
ROCPROFILER_V1_API hsa_status_t rocprofiler_pool_close(rocprofiler_pool_t *pool);
/** Waits only while all entries are in use. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_pool_fetch(rocprofiler_pool_t *pool,
                                                       rocprofiler_pool_entry_t *entry);
ROCPROFILER_V1_API hsa_status_t rocprofiler_pool_release(rocprofiler_pool_entry_t *entry);
/** Each entry that is fetched and not released. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_pool_iterate(
    rocprofiler_pool_t *pool, hsa_status_t (*callback)(rocprofiler_pool_entry_t *entry, void *data),
    void *data);
/** The handler has been called for every entry whose kernel has ended. */
ROCPROFILER_V1_API hsa_status_t rocprofiler_pool_flush(rocprofiler_pool_t *pool);

/* ---- What happens inside of the HSA runtime */

typedef enum {
    ROCPROFILER_HSA_CB_ID_ALLOCATE = 0, /**< memory was allocated or will be freed */
    ROCPROFILER_HSA_CB_ID_DEVICE = 1,   /**< an agent got access to memory */
    ROCPROFILER_HSA_CB_ID_MEMCOPY = 2,  /**< hsa_memory_copy */
    ROCPROFILER_HSA_CB_ID_SUBMIT = 3,   /**< a packet goes to a GPU */
    ROCPROFILER_HSA_CB_ID_KSYMBOL = 4,  /**< a kernel came or goes */
    ROCPROFILER_HSA_CB_ID_CODEOBJ = 5   /**< a code object came or goes */
} rocprofiler_hsa_cb_id_t;

typedef struct {
    union {
        struct {
            const void *ptr;
            size_t size; /**< 0: freed */
            hsa_amd_segment_t segment;
            hsa_amd_memory_pool_global_flag_t global_flag;
            int is_code;
        } allocate;
        struct {
            hsa_device_type_t type;
            uint32_t id;
            hsa_agent_t agent;
            const void *ptr;
        } device;
        struct {
            const void *dst;
            const void *src;
            size_t size;
        } memcopy;
        struct {
            const void *packet;
            const char *kernel_name; /**< NULL: no dispatch */
            hsa_queue_t *queue;
            uint32_t device_type;
            uint32_t device_id;
        } submit;
        struct {
            uint64_t object;
            const char *name;
            uint32_t name_length;
            int unload;
        } ksymbol;
        struct {
            uint32_t storage_type;
            int storage_file;
            uint64_t memory_base;
            uint64_t memory_size;
            uint64_t load_base;
            uint64_t load_size;
            uint64_t load_delta;
            uint32_t uri_length;
            char *uri;
            int unload;
        } codeobj;
    };
} rocprofiler_hsa_callback_data_t;

typedef hsa_status_t (*rocprofiler_hsa_callback_fun_t)(rocprofiler_hsa_cb_id_t id,
                                                       const rocprofiler_hsa_callback_data_t *data,
                                                       void *arg);

typedef struct {
    rocprofiler_hsa_callback_fun_t allocate;
    rocprofiler_hsa_callback_fun_t device;
    rocprofiler_hsa_callback_fun_t memcopy;
    rocprofiler_hsa_callback_fun_t submit;
    rocprofiler_hsa_callback_fun_t ksymbol;
    rocprofiler_hsa_callback_fun_t codeobj;
} rocprofiler_hsa_callbacks_t;

/** Replaces those set before; NULL: not wanted. */
ROCPROFILER_V1_API hsa_status_t
rocprofiler_set_hsa_callbacks(const rocprofiler_hsa_callbacks_t callbacks, void *arg);

#ifdef __cplusplus
}
#endif

#endif
