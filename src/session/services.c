/* Configuration of a context's tracing and request services. All checks come before any change: a
 * failed call leaves the context as it was. */
#include "base/log.h"
#include "model/operations.h"
#include "session/session.h"

#include <string.h>

static rocprofiler_status_t mask_fill(struct operation_mask *mask, enum trace_domain domain,
                                      const rocprofiler_tracing_operation_t *operations,
                                      size_t operation_count_wanted)
{
    memset(mask, 0, sizeof *mask);
    if (!operations && operation_count_wanted)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    int32_t count = operation_count(domain);
    if (operation_count_wanted == 0)
        for (int32_t op = 0; op < count; op++)
            mask->words[op / 32] |= 1u << (op % 32);
    for (size_t i = 0; i < operation_count_wanted; i++) {
        int32_t op = operations[i];
        if (op < 0 || op >= count)
            return ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND;
        mask->words[op / 32] |= 1u << (op % 32);
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t context_writable(rocprofiler_context_id_t id, struct context **context)
{
    if (!session_configuring())
        return ROCPROFILER_STATUS_ERROR_CONFIGURATION_LOCKED;
    *context = context_find(id);
    return *context ? ROCPROFILER_STATUS_SUCCESS : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
}

/* A kind that exists in the interface but that nothing here reports says so. */
static rocprofiler_status_t kind_check(const char *name, int domain)
{
    if (!name || !strcmp(name, "NONE"))
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    if (domain >= 0 && operation_count((enum trace_domain)domain) != 0)
        return ROCPROFILER_STATUS_SUCCESS;
    log_warning("session", "a tool asks for %s, which cannot be traced yet", name);
    return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
}

/* A kernel is repeated for one context. Contexts are configured by one thread at a time. */
static bool is_taken(uint32_t kind, const struct context *wanting)
{
    const struct context *context;
    if (kind != ROCPROFILER_CALLBACK_TRACING_KERNEL_REPLAY)
        return wanting->callbacks[kind].callback != NULL;
    for (uint32_t i = 0; (context = context_at(i)); i++)
        if (context->valid && context->callbacks[kind].callback)
            return true;
    return false;
}

rocprofiler_status_t callback_service_configure(rocprofiler_context_id_t id, uint32_t kind,
                                                const rocprofiler_tracing_operation_t *operations,
                                                size_t operation_count_wanted,
                                                rocprofiler_callback_tracing_cb_t callback,
                                                void *data)
{
    struct context *context;
    rocprofiler_status_t status = context_writable(id, &context);
    int domain = domain_of_callback_kind(kind);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        status = kind_check(callback_kind_name(kind), domain);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (is_taken(kind, context))
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    struct callback_service service = {.callback = callback, .data = data};
    status = mask_fill(&service.operations, (enum trace_domain)domain, operations,
                       operation_count_wanted);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        context->callbacks[kind] = service;
    return status;
}

rocprofiler_status_t buffer_service_configure(rocprofiler_context_id_t id, uint32_t kind,
                                              const rocprofiler_tracing_operation_t *operations,
                                              size_t operation_count_wanted,
                                              rocprofiler_buffer_id_t buffer_id)
{
    struct context *context;
    rocprofiler_status_t status = context_writable(id, &context);
    bool with_args;
    int domain = domain_of_buffer_kind(kind, &with_args);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        status = kind_check(buffer_kind_name(kind), domain);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (domain == TRACE_HIP_STREAM) /* the interface has no record for it */
        return ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED;
    struct buffer_service service = {.buffer = trace_buffer_find(buffer_id)};
    if (!service.buffer)
        return ROCPROFILER_STATUS_ERROR_BUFFER_NOT_FOUND;
    if (context->buffers[kind].buffer)
        return ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED;
    status = mask_fill(&service.operations, (enum trace_domain)domain, operations,
                       operation_count_wanted);
    if (status == ROCPROFILER_STATUS_SUCCESS)
        context->buffers[kind] = service;
    return status;
}

static rocprofiler_status_t request_kind_check(const struct context *context, uint32_t kind)
{
    if (kind == 0 || kind >= ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST)
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    return context->requests[kind].callback ? ROCPROFILER_STATUS_ERROR_SERVICE_ALREADY_CONFIGURED
                                            : ROCPROFILER_STATUS_SUCCESS;
}

/* Kind i of the request: the caller's list, or every kind. */
static uint32_t request_kind(const rocprofiler_external_correlation_id_request_kind_t *kinds,
                             size_t i)
{
    return kinds ? (uint32_t)kinds[i] : (uint32_t)i + 1;
}

rocprofiler_status_t request_service_configure(
    rocprofiler_context_id_t id, const rocprofiler_external_correlation_id_request_kind_t *kinds,
    size_t kind_count, rocprofiler_external_correlation_id_request_cb_t callback, void *data)
{
    struct context *context;
    rocprofiler_status_t status = context_writable(id, &context);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    if (!callback || (kinds && kind_count == 0))
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    size_t count = kinds ? kind_count : ROCPROFILER_EXTERNAL_CORRELATION_REQUEST_LAST - 1;
    for (size_t i = 0; i < count && status == ROCPROFILER_STATUS_SUCCESS; i++)
        status = request_kind_check(context, request_kind(kinds, i));
    for (size_t i = 0; i < count && status == ROCPROFILER_STATUS_SUCCESS; i++)
        context->requests[request_kind(kinds, i)] = (struct request_service){callback, data};
    return status;
}
