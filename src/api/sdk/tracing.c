#include "session/front/engine.h"

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>

rocprofiler_status_t rocprofiler_configure_callback_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_callback_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_callback_tracing_cb_t callback, void *callback_args)
{
    return crocprof_engine()->callback_service_configure(context_id, (uint32_t)kind, operations,
                                                         operations_count, callback, callback_args);
}

rocprofiler_status_t rocprofiler_configure_buffer_tracing_service(
    rocprofiler_context_id_t context_id, rocprofiler_buffer_tracing_kind_t kind,
    const rocprofiler_tracing_operation_t *operations, size_t operations_count,
    rocprofiler_buffer_id_t buffer_id)
{
    return crocprof_engine()->buffer_service_configure(context_id, (uint32_t)kind, operations,
                                                       operations_count, buffer_id);
}
