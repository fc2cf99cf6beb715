/* The handle types that hash.hpp and operators.hpp serve: every structure whose one member is a
 * 64-bit `handle`. X(type) for each. C++17. */
#ifndef ROCPROFILER_SDK_CXX_HANDLES_HPP
#define ROCPROFILER_SDK_CXX_HANDLES_HPP

#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder.h>
#include <rocprofiler-sdk/fwd.h>
#include <rocprofiler-sdk/hsa.h>
#include <rocprofiler-sdk/internal_threading.h>

#define ROCPROFILER_SDK_CXX_HANDLES(X)                                                             \
    X(rocprofiler_context_id_t)                                                                    \
    X(rocprofiler_agent_id_t)                                                                      \
    X(rocprofiler_address_t)                                                                       \
    X(rocprofiler_queue_id_t)                                                                      \
    X(rocprofiler_stream_id_t)                                                                     \
    X(rocprofiler_graph_exec_id_t)                                                                 \
    X(rocprofiler_graph_node_id_t)                                                                 \
    X(rocprofiler_buffer_id_t)                                                                     \
    X(rocprofiler_counter_id_t)                                                                    \
    X(rocprofiler_counter_config_id_t)                                                             \
    X(rocprofiler_callback_thread_t)                                                               \
    X(rocprofiler_thread_trace_decoder_id_t)                                                       \
    X(hsa_agent_t)                                                                                 \
    X(hsa_signal_t)                                                                                \
    X(hsa_executable_t)                                                                            \
    X(hsa_region_t)                                                                                \
    X(hsa_amd_memory_pool_t)

#endif
