/* Turns thread trace data into waves and instructions. */
#ifndef ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_DECODER_H
#define ROCPROFILER_SDK_EXPERIMENTAL_THREAD_TRACE_DECODER_H

#include <rocprofiler-sdk/experimental/thread-trace/trace_decoder_types.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

typedef struct rocprofiler_thread_trace_decoder_id_t {
    uint64_t handle;
} rocprofiler_thread_trace_decoder_id_t;

/** `path` is a directory to look for a decoder library in. */
rocprofiler_status_t
rocprofiler_thread_trace_decoder_create(rocprofiler_thread_trace_decoder_id_t *handle,
                                        const char *path) ROCPROFILER_API ROCPROFILER_NONNULL(1, 2);

void rocprofiler_thread_trace_decoder_destroy(rocprofiler_thread_trace_decoder_id_t handle)
    ROCPROFILER_API;

/** The ELF image of a code object that was loaded while the trace ran. */
rocprofiler_status_t rocprofiler_thread_trace_decoder_codeobj_load(
    rocprofiler_thread_trace_decoder_id_t handle, uint64_t load_id, uint64_t load_addr,
    uint64_t load_size, const void *data, uint64_t size) ROCPROFILER_API ROCPROFILER_NONNULL(5);

rocprofiler_status_t
rocprofiler_thread_trace_decoder_codeobj_unload(rocprofiler_thread_trace_decoder_id_t handle,
                                                uint64_t load_id) ROCPROFILER_API;

typedef void (*rocprofiler_thread_trace_decoder_callback_t)(
    rocprofiler_thread_trace_decoder_record_type_t record_type_id, void *trace_events,
    uint64_t trace_size, void *userdata);

rocprofiler_status_t rocprofiler_trace_decode(rocprofiler_thread_trace_decoder_id_t handle,
                                              rocprofiler_thread_trace_decoder_callback_t callback,
                                              void *data, uint64_t size,
                                              void *userdata) ROCPROFILER_API
    ROCPROFILER_NONNULL(2, 3);

const char *rocprofiler_thread_trace_decoder_info_string(
    rocprofiler_thread_trace_decoder_id_t handle,
    rocprofiler_thread_trace_decoder_info_t info) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
