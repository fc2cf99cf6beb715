/* An SDK tool beside `watch`: writes one line an item to SDK_OUT: "call NAME" per HIP call and
 * "dispatch", "copy" per record. */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { CALLS_MAX = 100000 };
static const char *calls[CALLS_MAX];
static _Atomic unsigned call_count, dispatches, copies;
static rocprofiler_buffer_id_t buffer;

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    const char *name = NULL;
    (void)user, (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_EXIT)
        return;
    rocprofiler_query_callback_tracing_kind_operation_name(record.kind, record.operation, &name,
                                                           NULL);
    unsigned index = atomic_fetch_add(&call_count, 1);
    if (index < CALLS_MAX)
        calls[index] = name;
}

static void on_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t drop_count)
{
    (void)context, (void)id, (void)data, (void)drop_count;
    for (size_t i = 0; i < count; i++) {
        dispatches += headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;
        copies += headers[i]->kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY;
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    rocprofiler_context_id_t context = {0};
    (void)finalize, (void)data;
    rocprofiler_create_context(&context);
    rocprofiler_create_buffer(context, 65536, 32768, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records,
                              NULL, &buffer);
    rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL);
    rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer);
    rocprofiler_configure_buffer_tracing_service(context, ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
                                                 NULL, 0, buffer);
    return (int)rocprofiler_start_context(context);
}

static void finish(void *data)
{
    const char *path = getenv("SDK_OUT");
    (void)data;
    FILE *out = path ? fopen(path, "w") : NULL;
    for (unsigned i = 0; out && i < call_count && i < CALLS_MAX; i++)
        fprintf(out, "call %s\n", calls[i]);
    for (unsigned i = 0; out && i < dispatches; i++)
        fprintf(out, "dispatch\n");
    for (unsigned i = 0; out && i < copies; i++)
        fprintf(out, "copy\n");
    if (out)
        fclose(out);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *runtime,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finish, NULL};
    (void)version, (void)runtime, (void)priority;
    id->name = "sdk_tool";
    return &result;
}
