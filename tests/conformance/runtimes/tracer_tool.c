/* A tool of the SDK's beside ROCtracer: counts hipMalloc. */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

unsigned tracer_tool_mallocs;

static void on_malloc(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                      void *data)
{
    (void)user, (void)data;
    tracer_tool_mallocs += record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
}

static int begin(rocprofiler_client_finalize_t finalize, void *data)
{
    rocprofiler_tracing_operation_t operation = ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc;
    rocprofiler_context_id_t context = {0};
    (void)finalize, (void)data;
    return rocprofiler_create_context(&context) ||
           rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &operation, 1, on_malloc,
               NULL) ||
           rocprofiler_start_context(context);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *runtime,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, begin, NULL, NULL};
    (void)version, (void)runtime, (void)priority;
    id->name = "beside ROCtracer";
    return &result;
}
