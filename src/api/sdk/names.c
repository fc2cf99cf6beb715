/* Names of kinds and operations, and iteration over them. */
#include "session/front/engine.h"

#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <string.h>

static rocprofiler_status_t answer(const char *value, const char **name, uint64_t *length,
                                   rocprofiler_status_t when_missing)
{
    if (name)
        *name = value;
    if (length)
        *length = value ? strlen(value) : 0;
    return value ? ROCPROFILER_STATUS_SUCCESS : when_missing;
}

static int callback_domain(uint32_t kind)
{
    return crocprof_engine()->domain_of_callback_kind(kind);
}

static int buffer_domain(uint32_t kind)
{
    bool with_args;
    return crocprof_engine()->domain_of_buffer_kind(kind, &with_args);
}

static rocprofiler_status_t operation_answer(bool kind_exists, int domain, int32_t operation,
                                             const char **name, uint64_t *length)
{
    if (!kind_exists)
        return answer(NULL, name, length, ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND);
    const char *value =
        domain < 0 ? NULL : crocprof_engine()->operation_name((enum trace_domain)domain, operation);
    return answer(value, name, length, ROCPROFILER_STATUS_ERROR_OPERATION_NOT_FOUND);
}

/* NONE has a name but is no kind: it has no operations and iteration leaves it out. */
static bool callback_kind_exists(uint32_t kind)
{
    return kind > ROCPROFILER_CALLBACK_TRACING_NONE && kind < ROCPROFILER_CALLBACK_TRACING_LAST;
}

static bool buffer_kind_exists(uint32_t kind)
{
    return kind > ROCPROFILER_BUFFER_TRACING_NONE && kind < ROCPROFILER_BUFFER_TRACING_LAST;
}

rocprofiler_status_t
rocprofiler_query_callback_tracing_kind_name(rocprofiler_callback_tracing_kind_t kind,
                                             const char **name, uint64_t *name_len)
{
    return answer(crocprof_engine()->callback_kind_name((uint32_t)kind), name, name_len,
                  ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND);
}

rocprofiler_status_t
rocprofiler_query_buffer_tracing_kind_name(rocprofiler_buffer_tracing_kind_t kind,
                                           const char **name, uint64_t *name_len)
{
    return answer(crocprof_engine()->buffer_kind_name((uint32_t)kind), name, name_len,
                  ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND);
}

rocprofiler_status_t
rocprofiler_query_callback_tracing_kind_operation_name(rocprofiler_callback_tracing_kind_t kind,
                                                       rocprofiler_tracing_operation_t operation,
                                                       const char **name, uint64_t *name_len)
{
    return operation_answer(callback_kind_exists((uint32_t)kind), callback_domain((uint32_t)kind),
                            operation, name, name_len);
}

rocprofiler_status_t
rocprofiler_query_buffer_tracing_kind_operation_name(rocprofiler_buffer_tracing_kind_t kind,
                                                     rocprofiler_tracing_operation_t operation,
                                                     const char **name, uint64_t *name_len)
{
    return operation_answer(buffer_kind_exists((uint32_t)kind), buffer_domain((uint32_t)kind),
                            operation, name, name_len);
}

rocprofiler_status_t
rocprofiler_iterate_callback_tracing_kinds(rocprofiler_callback_tracing_kind_cb_t callback,
                                           void *data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t kind = 1; callback_kind_exists(kind); kind++)
        if (callback((rocprofiler_callback_tracing_kind_t)kind, data))
            break;
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t
rocprofiler_iterate_buffer_tracing_kinds(rocprofiler_buffer_tracing_kind_cb_t callback, void *data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    for (uint32_t kind = 1; buffer_kind_exists(kind); kind++)
        if (callback((rocprofiler_buffer_tracing_kind_t)kind, data))
            break;
    return ROCPROFILER_STATUS_SUCCESS;
}

static int32_t count_of(int domain)
{
    return domain < 0 ? 0 : crocprof_engine()->operation_count((enum trace_domain)domain);
}

rocprofiler_status_t rocprofiler_iterate_callback_tracing_kind_operations(
    rocprofiler_callback_tracing_kind_t kind,
    rocprofiler_callback_tracing_kind_operation_cb_t callback, void *data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!callback_kind_exists((uint32_t)kind))
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    int32_t count = count_of(callback_domain((uint32_t)kind));
    for (int32_t operation = 0; operation < count; operation++)
        if (callback(kind, operation, data))
            break;
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_iterate_buffer_tracing_kind_operations(
    rocprofiler_buffer_tracing_kind_t kind, rocprofiler_buffer_tracing_kind_operation_cb_t callback,
    void *data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (!buffer_kind_exists((uint32_t)kind))
        return ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND;
    int32_t count = count_of(buffer_domain((uint32_t)kind));
    for (int32_t operation = 0; operation < count; operation++)
        if (callback(kind, operation, data))
            break;
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t rocprofiler_query_external_correlation_id_request_kind_name(
    rocprofiler_external_correlation_id_request_kind_t kind, const char **name, uint64_t *name_len)
{
    return answer(crocprof_engine()->request_kind_name((uint32_t)kind), name, name_len,
                  ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND);
}

rocprofiler_status_t rocprofiler_query_intercept_table_name(rocprofiler_intercept_table_t kind,
                                                            const char **name, uint64_t *name_len)
{
    static const struct {
        rocprofiler_intercept_table_t table;
        const char *name;
    } tables[] = {
        {ROCPROFILER_HSA_TABLE, "HSA"},
        {ROCPROFILER_HIP_RUNTIME_TABLE, "HIP (runtime)"},
        {ROCPROFILER_HIP_COMPILER_TABLE, "HIP (compiler)"},
        {ROCPROFILER_MARKER_CORE_TABLE, "MARKER (ROCTx)"},
        {ROCPROFILER_MARKER_CONTROL_TABLE, "MARKER (ROCTx Control)"},
        {ROCPROFILER_MARKER_NAME_TABLE, "MARKER (ROCTx Name)"},
        {ROCPROFILER_RCCL_TABLE, "RCCL"},
        {ROCPROFILER_ROCDECODE_TABLE, "rocDecode"},
        {ROCPROFILER_ROCJPEG_TABLE, "rocJPEG"},
        {ROCPROFILER_ROCSHMEM_TABLE, "rocSHMEM"},
        {ROCPROFILER_HIPFILE_TABLE, "hipFile"},
    };
    const char *value = NULL;
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        if (tables[i].table == kind)
            value = tables[i].name;
    return answer(value, name, name_len, ROCPROFILER_STATUS_ERROR_KIND_NOT_FOUND);
}
