/* Buffers: records are collected cheaply and delivered in batches on another thread. */
#ifndef ROCPROFILER_SDK_BUFFER_H
#define ROCPROFILER_SDK_BUFFER_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * Delivers records; headers and payloads are valid until the callback returns. `drop_count` is the
 * number of records lost since the last delivery.
 */
typedef void (*rocprofiler_buffer_tracing_cb_t)(rocprofiler_context_id_t context,
                                                rocprofiler_buffer_id_t buffer_id,
                                                rocprofiler_record_header_t **headers,
                                                size_t num_headers, void *data,
                                                uint64_t drop_count);

/** `size` and `watermark` are bytes; the callback is started when the watermark is reached. */
rocprofiler_status_t rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
                                               size_t watermark, rocprofiler_buffer_policy_t policy,
                                               rocprofiler_buffer_tracing_cb_t callback,
                                               void *callback_data,
                                               rocprofiler_buffer_id_t *buffer_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(5, 7);

/** Fails with BUFFER_BUSY while a delivery is running. */
rocprofiler_status_t rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

/** Delivers what is recorded now and returns after the callback did, except from that callback. */
rocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
