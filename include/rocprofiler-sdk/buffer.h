/* Buffers: records are collected cheaply and delivered in batches on another thread. */
#ifndef ROCPROFILER_SDK_BUFFER_H
#define ROCPROFILER_SDK_BUFFER_H

#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * Delivers one record or more; headers and payloads are valid until the callback returns. What
 * waits in the buffer comes in one call, more than 65536 records in several. `drop_count` is the
 * number of records lost since the buffer was created, as far as known when the batch was closed;
 * there is no call without a record, so later losses come with the next batch. Runs on a thread of
 * the library, never twice at a time for one buffer. It may flush this or another buffer, start and
 * stop contexts, and make calls that are traced into this buffer.
 */
typedef void (*rocprofiler_buffer_tracing_cb_t)(rocprofiler_context_id_t context,
                                                rocprofiler_buffer_id_t buffer_id,
                                                rocprofiler_record_header_t **headers,
                                                size_t num_headers, void *data,
                                                uint64_t drop_count);

/**
 * `size` and `watermark` are bytes of records, headers not counted; the size is rounded up to a
 * page. The callback is started when the watermark is reached: 0 means with every record, more than
 * the size means the size. A record larger than the buffer is lost and counted.
 *
 * LOSSLESS: two buffers take turns; who records waits only when both are full. DISCARD: what does
 * not fit is lost and counted until the buffer is flushed.
 *
 * Only while the tool initialises: else CONFIGURATION_LOCKED. INVALID_ARGUMENT (size 0, policy,
 * NULL), CONTEXT_NOT_FOUND, SERVICE_ALREADY_CONFIGURED (`*buffer_id` is a live buffer),
 * OUT_OF_RESOURCES.
 */
rocprofiler_status_t rocprofiler_create_buffer(rocprofiler_context_id_t context, size_t size,
                                               size_t watermark, rocprofiler_buffer_policy_t policy,
                                               rocprofiler_buffer_tracing_cb_t callback,
                                               void *callback_data,
                                               rocprofiler_buffer_id_t *buffer_id) ROCPROFILER_API
    ROCPROFILER_NONNULL(5, 7);

/** Delivers what is recorded, then gives the memory back; services that still record into it lose
 * their records. BUFFER_NOT_FOUND; BUFFER_BUSY while a callback of it runs. */
rocprofiler_status_t rocprofiler_destroy_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

/** Delivers what was recorded before the call, also of device work that has completed, and returns
 * after the callback did. From a callback of the same thread it delivers in place.
 * BUFFER_NOT_FOUND; FINALIZED after the end. */
rocprofiler_status_t rocprofiler_flush_buffer(rocprofiler_buffer_id_t buffer_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
