/* Buffers of records, and the threads that deliver them. */
#ifndef SESSION_FRONT_BUFFERS_H
#define SESSION_FRONT_BUFFERS_H

#include "tracebuf/tracebuf.h"

#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/internal_threading.h>

rocprofiler_status_t buffer_create(rocprofiler_context_id_t context, size_t size_bytes,
                                   size_t watermark_bytes, rocprofiler_buffer_policy_t policy,
                                   rocprofiler_buffer_tracing_cb_t callback, void *data,
                                   rocprofiler_buffer_id_t *id);
rocprofiler_status_t buffer_flush(rocprofiler_buffer_id_t id);
rocprofiler_status_t buffer_flush_complete(rocprofiler_buffer_id_t id); /* and work in flight */
rocprofiler_status_t buffer_destroy(rocprofiler_buffer_id_t id);

rocprofiler_status_t callback_thread_create(rocprofiler_callback_thread_t *id);
rocprofiler_status_t callback_thread_assign(rocprofiler_buffer_id_t buffer,
                                            rocprofiler_callback_thread_t thread);
rocprofiler_status_t thread_callbacks_add(rocprofiler_internal_thread_library_cb_t precreate,
                                          rocprofiler_internal_thread_library_cb_t postcreate,
                                          int libraries, void *data);
struct tracebuf_thread *delivery_thread_create(void); /* tools are told; NULL: cannot */

#endif
