/*
 * A tool that keeps everything it is told, and the two runtimes that tests play: the double HIP
 * library and tables made on the spot.
 */
#ifndef CONFORMANCE_RECORDER_H
#define CONFORMANCE_RECORDER_H

#include "../client.h"
#include "hip_double.h"

#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk/intercept_table.h>

#define REGISTERS(how, call) assert_int_equal((call), ROCP_REG_##how)
#define COUNT(array)         (sizeof(array) / sizeof(array)[0])

enum { CALLS_MAX = 256, RECORDS_MAX = 4096 };

struct call {
    rocprofiler_callback_tracing_record_t record;
    union {
        rocprofiler_callback_tracing_hip_api_data_t hip;
        rocprofiler_callback_tracing_rccl_api_data_t rccl;
        rocprofiler_callback_tracing_rocdecode_api_data_t rocdecode;
        rocprofiler_callback_tracing_rocjpeg_api_data_t rocjpeg;
        rocprofiler_callback_tracing_rocshmem_api_data_t rocshmem;
        rocprofiler_callback_tracing_hipfile_api_data_t hipfile;
        rocprofiler_callback_tracing_marker_api_data_t marker;
        rocprofiler_callback_tracing_runtime_initialization_data_t initialization;
    } data;
    char text[256]; /* "name=value " of every argument */
};
extern struct call calls[CALLS_MAX];
extern _Atomic unsigned call_count; /* also those that found no room */

struct record {
    uint32_t kind;
    rocprofiler_buffer_tracing_hip_api_ext_record_t hip; /* all API records begin alike */
    rocprofiler_buffer_tracing_rocdecode_api_ext_record_t rocdecode;
    rocprofiler_buffer_tracing_rocshmem_api_ext_record_t rocshmem;
    rocprofiler_buffer_tracing_hipfile_api_ext_record_t hipfile;
};
extern struct record records[RECORDS_MAX];
extern unsigned record_count;

extern rocprofiler_context_id_t recorder_context;
extern rocprofiler_buffer_id_t recorder_buffer;

/* Wants every kind that tables feed, and starts. */
rocprofiler_tool_configure_result_t *recorder_configure(uint32_t version, const char *name,
                                                        uint32_t priority,
                                                        rocprofiler_client_id_t *id);
void recorder_start(void);

/* The n-th callback of that kind, operation and phase; fails when there are fewer. */
const struct call *call_find(uint32_t kind, int32_t operation, uint32_t phase, unsigned n);
unsigned records_of(uint32_t kind, int32_t operation);

#define ENTER(kind, operation, n)                                                                  \
    call_find(ROCPROFILER_CALLBACK_TRACING_##kind, ROCPROFILER_##kind##_ID_##operation,            \
              ROCPROFILER_CALLBACK_PHASE_ENTER, n)
#define EXIT(kind, operation, n)                                                                   \
    call_find(ROCPROFILER_CALLBACK_TRACING_##kind, ROCPROFILER_##kind##_ID_##operation,            \
              ROCPROFILER_CALLBACK_PHASE_EXIT, n)

/* ---- the double HIP library */

struct hip {
    double_hip_start_fn start;
    double_hip_function_fn function, compiler_function;
    double_hip_untouched_fn untouched;
};

struct hip hip_load(int copy); /* 0 or 1 */

enum { HIP_SLOTS = ROCPROFILER_HIP_RUNTIME_API_ID_LAST, HIP_UNKNOWN_SLOTS = 30 };

typedef hipError_t (*malloc_fn)(void **, size_t);
typedef hipError_t (*free_fn)(void *);
#define HIP(copy, operation) (copy).function(ROCPROFILER_HIP_RUNTIME_API_ID_##operation)

/* Calls it, and looks for the callbacks. */
void hip_is_traced(const struct hip *hip, unsigned copy);

/* ---- a library of one table */

uint32_t import(void);
int offer(const char *library, void *table); /* rocprofiler_register_error_code_t */

/* Runs the mode that argv names; one a process, because tools are configured once. */
int modes_run(int argc, char **argv, const struct CMUnitTest *modes, size_t count);
#define MODE(name)                                                                                 \
    {                                                                                              \
#name, name##_mode, NULL, NULL, NULL                                                       \
    }

#endif
