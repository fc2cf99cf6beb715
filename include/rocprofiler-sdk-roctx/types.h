/* Types of the marker library. */
#ifndef ROCPROFILER_SDK_ROCTX_TYPES_H
#define ROCPROFILER_SDK_ROCTX_TYPES_H

#include <stdint.h>

#include <rocprofiler-sdk-roctx/defines.h>

/* Of the HSA and HIP runtimes; markers only pass them on. */
struct hsa_agent_s;
struct ihipStream_t;

typedef uint64_t roctx_range_id_t;
typedef uint64_t roctx_thread_id_t; /**< The kernel's thread id; 0 means all threads */

#endif
