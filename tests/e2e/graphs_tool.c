/* A tool that says what HIP_GRAPH tells of tests/programs/graph.cpp, beside the program's own calls
 * and kernels. Prints one line at the end. */
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <stdio.h>

enum { BUFFER_BYTES = 65536, WATERMARK_BYTES = 32768 };

static rocprofiler_buffer_id_t buffer;
static unsigned created, destroyed, entered, left, records, outside, of_calls, wrong;
static uint64_t kernels_between, kernels_recorded, call_launch;
static const void *graph;
static uint64_t number;
static __thread bool launching;
/* Records come on another thread than calls. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void on_launch(const rocprofiler_callback_tracing_record_t *record,
                      rocprofiler_user_data_t *user_data)
{
    wrong += record->correlation_id.internal == 0; /* that of the call, which is traced */
    if (record->phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        entered++;
        launching = true;
        user_data->value = entered;
        return;
    }
    left++;
    wrong += record->phase != ROCPROFILER_CALLBACK_PHASE_EXIT || user_data->value != entered;
    launching = false;
}

static void on_graph(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data)
{
    const rocprofiler_callback_tracing_hip_graph_data_t *told = record.payload;
    (void)data;
    wrong += told->size != sizeof *told || told->graph_exec_id.handle == 0;
    if ((int)record.operation == ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_CREATE) {
        created++;
        graph = told->graph_exec_value.ptr;
        number = told->graph_exec_id.handle;
    }
    wrong += told->graph_exec_value.ptr != graph || told->graph_exec_id.handle != number;
    if ((int)record.operation == ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_DESTROY)
        destroyed++;
    if ((int)record.operation == ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH)
        on_launch(&record, user_data);
}

/* The kernels that a tool attributes to the launch. */
static void on_kernel(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER && launching)
        kernels_between++;
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    pthread_mutex_lock(&lock);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        call_launch ^= record.correlation_id.internal * 2654435761u;
    pthread_mutex_unlock(&lock);
}

static void on_record(const rocprofiler_buffer_tracing_hip_graph_record_t *record)
{
    records++;
    kernels_recorded += record->kernel_dispatch_count;
    wrong += record->size != sizeof *record || record->graph_exec_id.handle != number;
    wrong += record->agent_id.handle == 0 || record->thread_id == 0;
    outside += record->start_timestamp == 0 || record->end_timestamp < record->start_timestamp;
    /* Each launch has the id of its call: what both say of all of them cancels out. */
    call_launch ^= record->correlation_id.internal * 2654435761u;
    of_calls += record->correlation_id.internal != 0;
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)data;
    pthread_mutex_lock(&lock);
    wrong += dropped != 0;
    for (size_t i = 0; i < count; i++)
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_GRAPH)
            on_record(headers[i]->payload);
    pthread_mutex_unlock(&lock);
}

static bool callbacks_configure(rocprofiler_context_id_t context)
{
    const rocprofiler_tracing_operation_t launch = ROCPROFILER_HIP_RUNTIME_API_ID_hipGraphLaunch;
    return rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_HIP_GRAPH, NULL, 0, on_graph, NULL) ==
               ROCPROFILER_STATUS_SUCCESS &&
           rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_KERNEL_DISPATCH, NULL, 0, on_kernel, NULL) ==
               ROCPROFILER_STATUS_SUCCESS &&
           rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, &launch, 1, on_call, NULL) ==
               ROCPROFILER_STATUS_SUCCESS;
}

static bool records_configure(rocprofiler_context_id_t context)
{
    return rocprofiler_create_buffer(context, BUFFER_BYTES, WATERMARK_BYTES,
                                     ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL,
                                     &buffer) == ROCPROFILER_STATUS_SUCCESS &&
           rocprofiler_configure_buffer_tracing_service(context,
                                                        ROCPROFILER_BUFFER_TRACING_HIP_GRAPH, NULL,
                                                        0, buffer) == ROCPROFILER_STATUS_SUCCESS;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    static rocprofiler_context_id_t context;
    (void)finalize, (void)data;
    rocprofiler_create_context(&context);
    return !callbacks_configure(context) || !records_configure(context) ||
           rocprofiler_start_context(context) != ROCPROFILER_STATUS_SUCCESS;
}

static void finalize_tool(void *data)
{
    (void)data;
    rocprofiler_flush_buffer(buffer);
    printf("GRAPHS created %u destroyed %u launches %u records %u kernels %llu recorded %llu "
           "of calls %u wrong %u\n",
           created, destroyed, entered, records, (unsigned long long)kernels_between,
           (unsigned long long)kernels_recorded, of_calls,
           wrong + outside + (entered != left) + (call_launch != 0));
    fflush(stdout);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, finalize_tool,
                                                         NULL};
    (void)version, (void)runtime_version, (void)priority;
    client_id->name = "graphs";
    return &result;
}
