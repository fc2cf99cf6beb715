/*
 * HIP_STREAM: which stream a call makes, ends or works on. Shared by all ways of seeing HIP calls;
 * internal to intercept.
 */
#ifndef INTERCEPT_HIP_STREAMS_H
#define INTERCEPT_HIP_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/* Made by gen/hip_streams.py, by operation of HIP_RUNTIME_API. */
struct hip_stream_use {
    uint16_t role;   /* rocprofiler_hip_stream_operation_t; NONE: no stream is involved */
    uint16_t offset; /* of the stream, or the pointer to it, in the arguments */
};
extern const struct hip_stream_use hip_stream_uses[ROCPROFILER_HIP_RUNTIME_API_ID_LAST];

/* Has anybody configured what calls mean for their streams, must that call be followed just now?
 * False for numbers that are no operation. */
bool hip_stream_is_configured(int32_t operation);
bool hip_stream_is_wanted(int32_t operation);

/* One call, from enter to exit, on one thread. */
struct hip_stream_scope {
    struct trace_event event; /* open between enter and exit when `entered` */
    rocprofiler_callback_tracing_hip_stream_data_t data;
    bool entered, wanted;
};
void hip_stream_enter(struct hip_stream_scope *scope, int32_t operation,
                      const rocprofiler_hip_api_args_t *args);
void hip_stream_exit(struct hip_stream_scope *scope, int32_t operation,
                     const rocprofiler_hip_api_args_t *args, bool succeeded);

#endif
