/* What the thread trace services share: parameters, and the callback that receives raw data. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_CORE_H
#define ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_CORE_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hsa.h>

ROCPROFILER_EXTERN_C_INIT

typedef enum rocprofiler_thread_trace_parameter_type_t {
    ROCPROFILER_THREAD_TRACE_PARAMETER_TARGET_CU = 0,      /**< Compute unit traced in detail */
    ROCPROFILER_THREAD_TRACE_PARAMETER_SHADER_ENGINE_MASK, /**< One bit per engine */
    ROCPROFILER_THREAD_TRACE_PARAMETER_BUFFER_SIZE,        /**< Bytes, for all engines together */
    ROCPROFILER_THREAD_TRACE_PARAMETER_SIMD_SELECT,        /**< Mask on gfx9, number on gfx10+ */
    ROCPROFILER_THREAD_TRACE_PARAMETER_PERFCOUNTERS_CTRL,  /**< Period of counter samples */
    ROCPROFILER_THREAD_TRACE_PARAMETER_PERFCOUNTER,        /**< A counter in the trace */
    ROCPROFILER_THREAD_TRACE_PARAMETER_SERIALIZE_ALL,      /**< Also kernels that are not traced */
    ROCPROFILER_THREAD_TRACE_PARAMETER_LAST
} rocprofiler_thread_trace_parameter_type_t;

typedef struct rocprofiler_thread_trace_parameter_t {
    rocprofiler_thread_trace_parameter_type_t type;
    union {
        uint64_t value;
        struct { /* PERFCOUNTER */
            rocprofiler_counter_id_t counter_id;
            uint64_t simd_mask : 4;
        };
    };
} rocprofiler_thread_trace_parameter_t;

/** The data of one shader engine; valid during the callback. */
typedef void (*rocprofiler_thread_trace_shader_data_callback_t)(rocprofiler_agent_id_t agent,
                                                                int64_t shader_engine_id,
                                                                void *data, size_t data_size,
                                                                rocprofiler_user_data_t userdata);

ROCPROFILER_EXTERN_C_FINI

#endif
