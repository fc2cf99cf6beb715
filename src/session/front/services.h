/* What a context traces; configured while tools initialise. */
#ifndef SESSION_FRONT_SERVICES_H
#define SESSION_FRONT_SERVICES_H

#include "model/trace.h"

#include <rocprofiler-sdk/buffer.h>

rocprofiler_status_t callback_service_configure(rocprofiler_context_id_t context, uint32_t kind,
                                                const rocprofiler_tracing_operation_t *operations,
                                                size_t operation_count,
                                                rocprofiler_callback_tracing_cb_t callback,
                                                void *data);
rocprofiler_status_t buffer_service_configure(rocprofiler_context_id_t context, uint32_t kind,
                                              const rocprofiler_tracing_operation_t *operations,
                                              size_t operation_count,
                                              rocprofiler_buffer_id_t buffer);
rocprofiler_status_t
request_service_configure(rocprofiler_context_id_t context,
                          const rocprofiler_external_correlation_id_request_kind_t *kinds,
                          size_t kind_count,
                          rocprofiler_external_correlation_id_request_cb_t callback, void *data);

int domain_of_callback_kind(uint32_t kind);                /* -1: none */
int domain_of_buffer_kind(uint32_t kind, bool *with_args); /* -1: none */

#endif
