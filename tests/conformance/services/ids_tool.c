/*
 * A tool that gives every HIP call an external id of its own, tells whether asynchronous work comes
 * with the ids of the call that caused it, and whether ids retire once, after everything else.
 * NAME and TAG differ between the two copies that are built.
 */
#include <rocprofiler-sdk/external_correlation.h>
#include <rocprofiler-sdk/hip/runtime_api_id.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { IDS_MAX = 1 << 20 };

/* Per internal id. Guarded by lock: records come on the delivery thread, calls on any. */
static struct id {
    bool called, retired;
    uint64_t thread;
    uint32_t apis, kernels, copies;
} ids[IDS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rocprofiler_context_id_t context;
static unsigned apis, kernels, copies, retirements, foreign, late, orphans, other_thread;

static uint64_t external_of(uint64_t internal)
{
    return internal << 8 | TAG;
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    (void)user, (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        uint64_t internal = record.correlation_id.internal;
        rocprofiler_push_external_correlation_id(
            context, record.thread_id, (rocprofiler_user_data_t){.value = external_of(internal)});
        pthread_mutex_lock(&lock);
        ids[internal % IDS_MAX].called = true;
        ids[internal % IDS_MAX].thread = record.thread_id;
        pthread_mutex_unlock(&lock);
    } else {
        rocprofiler_user_data_t popped = {0};
        rocprofiler_pop_external_correlation_id(context, record.thread_id, &popped);
        foreign += popped.value != external_of(record.correlation_id.internal);
    }
}

static void work_count(uint64_t internal, uint64_t external, uint64_t thread)
{
    const struct id *id = &ids[internal % IDS_MAX];
    foreign += external != external_of(internal);
    late += id->retired;
    orphans += !id->called;
    other_thread += id->thread != thread;
}

static void retired(uint64_t internal)
{
    struct id *id = &ids[internal % IDS_MAX];
    late += id->retired;
    id->retired = true;
    retirements += id->called;
}

static void record_count(const rocprofiler_record_header_t *header)
{
    const rocprofiler_buffer_tracing_hip_api_record_t *api = header->payload;
    const rocprofiler_buffer_tracing_kernel_dispatch_record_t *kernel = header->payload;
    const rocprofiler_buffer_tracing_memory_copy_record_t *copy = header->payload;
    const rocprofiler_buffer_tracing_correlation_id_retirement_record_t *end = header->payload;
    if (header->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) {
        apis++;
        work_count(api->correlation_id.internal, api->correlation_id.external.value,
                   api->thread_id);
    } else if (header->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH) {
        kernels++;
        work_count(kernel->correlation_id.internal, kernel->correlation_id.external.value,
                   kernel->thread_id);
    } else if (header->kind == ROCPROFILER_BUFFER_TRACING_MEMORY_COPY) {
        copies++;
        work_count(copy->correlation_id.internal, copy->correlation_id.external.value,
                   copy->thread_id);
    } else {
        retired(end->internal_correlation_id);
    }
}

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t buffer,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)buffer, (void)data, (void)dropped;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++)
        record_count(headers[i]);
    pthread_mutex_unlock(&lock);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    static const rocprofiler_buffer_tracing_kind_t kinds[] = {
        ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH,
        ROCPROFILER_BUFFER_TRACING_MEMORY_COPY,
        ROCPROFILER_BUFFER_TRACING_CORRELATION_ID_RETIREMENT};
    rocprofiler_buffer_id_t buffer = {0};
    int status = (int)rocprofiler_create_context(&context);
    status |= (int)rocprofiler_create_buffer(
        context, 1 << 16, 1 << 15, ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL, &buffer);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        status |=
            (int)rocprofiler_configure_buffer_tracing_service(context, kinds[i], NULL, 0, buffer);
    status |= (int)rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, NULL, 0, on_call, NULL);
    status |= (int)rocprofiler_start_context(context);
    return status;
}

static void report(void *data)
{
    (void)data;
    char line[300];
    int length = snprintf(line, sizeof line,
                          "%s kernels %u copies %u foreign %u late %u orphans %u other_thread %u "
                          "unretired %d\n",
                          NAME, kernels, copies, foreign, late, orphans, other_thread,
                          (int)apis - (int)retirements);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        abort();
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *name,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, report, NULL};
    (void)version, (void)name, (void)priority, (void)id;
    return &result;
}
