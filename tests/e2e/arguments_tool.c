/* A tool that prints every HIP call with its arguments and its result, one line each. */
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 1000 };

static int on_argument(rocprofiler_callback_tracing_kind_t kind,
                       rocprofiler_tracing_operation_t operation, uint32_t number,
                       const void *const value, int32_t indirections, const char *type,
                       const char *name, const char *text, int32_t dereferences, void *data)
{
    (void)kind, (void)operation, (void)number, (void)value, (void)indirections, (void)type;
    (void)dereferences;
    char *line = data;
    size_t used = strlen(line);
    snprintf(line + used, LINE_BYTES - used, " %s=%s", name, text);
    return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    const rocprofiler_callback_tracing_hip_api_data_t *call = record.payload;
    const char *name = NULL;
    char line[LINE_BYTES + 50];
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
        return;
    rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation, &name,
                                                           NULL);
    snprintf(line, LINE_BYTES, "HIP %s", name);
    rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 0, line);
    int length = snprintf(line + strlen(line), 50, " -> %d\n", call->retval.hipError_t_retval);
    if (write(STDOUT_FILENO, line, strlen(line)) < length)
        _exit(9);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    static rocprofiler_context_id_t context;
    (void)finalize, (void)data;
    rocprofiler_create_context(&context);
    rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL);
    rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API, NULL, 0, on_call, NULL);
    return rocprofiler_start_context(context) != ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)runtime_version, (void)priority;
    client_id->name = "arguments";
    return &result;
}
