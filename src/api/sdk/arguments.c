/* Arguments of traced calls as text, for tools that print or store them. */
#include "model/describe/arguments.h"
#include "session/front/engine.h"

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>

enum { TEXT_BYTES = 4096 };

static bool is_api(int domain)
{
    return domain >= 0 && domain <= TRACE_OMPT;
}

rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operation_args(
    rocprofiler_callback_tracing_record_t record,
    rocprofiler_callback_tracing_operation_args_cb_t callback, int32_t max_dereference_count,
    void *user_data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (record.kind <= ROCPROFILER_CALLBACK_TRACING_NONE ||
        record.kind >= ROCPROFILER_CALLBACK_TRACING_LAST)
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    int domain = crocprof_engine()->domain_of_callback_kind((uint32_t)record.kind);
    if (!is_api(domain))
        return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
    if (!crocprof_engine()->operation_name((enum trace_domain)domain, record.operation))
        return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
    if (!record.payload)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    const char *args = (const char *)record.payload + sizeof(uint64_t);
    uint32_t count = operation_argument_count((enum trace_domain)domain, record.operation);
    for (uint32_t i = 0; i < count; i++) {
        struct argument argument =
            operation_argument((enum trace_domain)domain, record.operation, i);
        char text[TEXT_BYTES];
        int followed = argument_text(&argument, args, max_dereference_count, text, sizeof text);
        if (callback(record.kind, record.operation, i, args + argument.offset,
                     argument.indirections, argument.type, argument.name, text, followed,
                     user_data))
            break;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Pointers of a buffered call may dangle by now, so none is followed (strings are shown if they are
 * still there). */
rocprofiler_status_t rocprofiler_iterate_buffer_tracing_record_args(
    rocprofiler_record_header_t header, rocprofiler_buffer_tracing_operation_args_cb_t callback,
    void *user_data)
{
    if (!callback || !header.payload)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (header.category != ROCPROFILER_BUFFER_CATEGORY_TRACING || header.kind == 0 ||
        header.kind >= ROCPROFILER_BUFFER_TRACING_LAST)
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    bool with_args;
    int domain = crocprof_engine()->domain_of_buffer_kind(header.kind, &with_args);
    if (!is_api(domain) || !with_args)
        return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
    const rocprofiler_buffer_tracing_hip_api_ext_record_t *record = header.payload;
    const char *args = (const char *)&record->args;
    uint32_t count = operation_argument_count((enum trace_domain)domain, record->operation);
    for (uint32_t i = 0; i < count; i++) {
        struct argument argument =
            operation_argument((enum trace_domain)domain, record->operation, i);
        char text[TEXT_BYTES];
        argument_text(&argument, args, 0, text, sizeof text);
        if (callback(record->kind, record->operation, i, args + argument.offset,
                     argument.indirections, argument.type, argument.name, text, user_data))
            break;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}
