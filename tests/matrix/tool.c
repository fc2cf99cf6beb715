/*
 * An SDK tool, preloaded: counts the records of kernels and marks that it is given and leaves the
 * numbers in a file of its process when it is told of the end. MATRIX_KIND=buffered|callback.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;
static atomic_uint kernels, marks; /* writers: callbacks */
static _Atomic pid_t counted_of;

/* A forked child counts what it does itself. */
static void count(atomic_uint *what)
{
    if (atomic_exchange(&counted_of, getpid()) != getpid()) {
        atomic_store(&kernels, 0);
        atomic_store(&marks, 0);
    }
    atomic_fetch_add(what, 1);
}

static void on_records(rocprofiler_context_id_t of, rocprofiler_buffer_id_t from,
                       rocprofiler_record_header_t **headers, size_t number, void *data,
                       uint64_t dropped)
{
    (void)of, (void)from, (void)data, (void)dropped;
    for (size_t i = 0; i < number; i++) {
        const rocprofiler_buffer_tracing_marker_api_record_t *call = headers[i]->payload;
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
            count(&kernels);
        else if (call->operation == ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA)
            count(&marks);
    }
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH &&
        record.operation == ROCPROFILER_KERNEL_DISPATCH_COMPLETE)
        count(&kernels);
    if (record.kind == ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API &&
        record.operation == ROCPROFILER_MARKER_CORE_API_ID_roctxMarkA &&
        record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
        count(&marks);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    const char *kind = getenv("MATRIX_KIND");
    int status = rocprofiler_create_context(&context);
    (void)finalize, (void)data;
    if (kind && !strcmp(kind, "callback")) {
        status |= rocprofiler_configure_callback_tracing_service(
            context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_call, NULL);
        status |= rocprofiler_configure_callback_tracing_service(
            context, ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API, NULL, 0, on_call, NULL);
    } else {
        status |=
            rocprofiler_create_buffer(context, 1 << 16, 1 << 15, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                      on_records, NULL, &buffer);
        status |= rocprofiler_configure_buffer_tracing_service(
            context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer);
        status |= rocprofiler_configure_buffer_tracing_service(
            context, ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API, NULL, 0, buffer);
    }
    return status | rocprofiler_start_context(context);
}

static void finish(void *data)
{
    char path[64];
    (void)data;
    snprintf(path, sizeof path, "%d_tool.txt", (int)getpid());
    FILE *file = fopen(path, "a");
    if (!file)
        return;
    fprintf(file, "%u %u\n", atomic_load(&kernels), atomic_load(&marks));
    fclose(file);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {
        sizeof(rocprofiler_tool_configure_result_t), initialize, finish, NULL};
    (void)version, (void)runtime_version, (void)priority, (void)client_id;
    return &result;
}
