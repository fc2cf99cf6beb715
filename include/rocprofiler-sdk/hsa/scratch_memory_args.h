/* What the runtime tells about a scratch event; which arm holds follows from operation and phase.
 */
#ifndef ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ARGS_H
#define ROCPROFILER_SDK_HSA_SCRATCH_MEMORY_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include <rocprofiler-sdk/defines.h>

ROCPROFILER_EXTERN_C_INIT

/** An empty struct has size 0 in C and 1 in C++; this has 1 in both. */
typedef struct rocprofiler_scratch_memory_no_args {
    char empty;
} rocprofiler_scratch_memory_no_args;

typedef union rocprofiler_scratch_memory_args_t {
    struct {
        uint64_t dispatch_id; /**< Packet index in its queue */
    } alloc_start;
    struct {
        uint64_t dispatch_id;
        size_t size;      /**< Bytes */
        size_t num_slots; /**< Waves that fit */
    } alloc_end;
    struct {
        rocprofiler_scratch_memory_no_args no_args;
    } free_start;
    struct {
        rocprofiler_scratch_memory_no_args no_args;
    } free_end;
    struct {
        rocprofiler_scratch_memory_no_args no_args;
    } async_reclaim_start;
    struct {
        rocprofiler_scratch_memory_no_args no_args;
    } async_reclaim_end;
} rocprofiler_scratch_memory_args_t;

ROCPROFILER_EXTERN_C_FINI

#endif
