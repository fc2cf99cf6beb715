/* A tool that says what HIP_EVENT tells of tests/programs/events.cpp, beside the program's own
 * calls. Prints one line at the end. */
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <stdio.h>

enum {
    BUFFER_BYTES = 65536,
    WATERMARK_BYTES = 32768,
    RECORD = ROCPROFILER_HIP_EVENT_RECORD,
    WAIT = ROCPROFILER_HIP_EVENT_WAIT,
    OPERATIONS = ROCPROFILER_HIP_EVENT_LAST,
    NAMED_MAX = 64,
};

static rocprofiler_buffer_id_t buffer;
/* Callbacks come on the calling thread and on the profiler's, records on a third one. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned entered[OPERATIONS], left[OPERATIONS], ended[OPERATIONS], records[OPERATIONS];
static unsigned across, wrong;
/* Queue of each event's record, by its handle; ids of the calls. */
static struct {
    uint64_t event, queue;
} recorded[NAMED_MAX];
static uint64_t calls[NAMED_MAX];
static unsigned recorded_count, call_count;

static uint64_t queue_of(uint64_t event)
{
    for (unsigned i = 0; i < recorded_count; i++)
        if (recorded[i].event == event)
            return recorded[i].queue;
    return UINT64_MAX;
}

static bool is_call(uint64_t id)
{
    for (unsigned i = 0; i < call_count; i++)
        if (calls[i] == id)
            return true;
    return false;
}

static void record_note(const rocprofiler_callback_tracing_hip_event_data_t *told)
{
    wrong += told->source_queue_id.handle != told->queue_id.handle;
    if (queue_of(told->hip_event_handle) != UINT64_MAX || recorded_count == NAMED_MAX)
        return;
    recorded[recorded_count].event = told->hip_event_handle;
    recorded[recorded_count++].queue = told->queue_id.handle;
}

static void on_phase(const rocprofiler_callback_tracing_record_t *record,
                     const rocprofiler_callback_tracing_hip_event_data_t *told,
                     rocprofiler_user_data_t *user_data)
{
    unsigned operation = (unsigned)record->operation;
    if (record->phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
        entered[operation]++;
        user_data->value = record->correlation_id.internal;
        if (operation == RECORD)
            record_note(told);
        return;
    }
    wrong += user_data->value != record->correlation_id.internal;
    if (record->phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
        left[operation]++;
    else
        ended[operation]++;
}

static void on_event(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data)
{
    const rocprofiler_callback_tracing_hip_event_data_t *told = record.payload;
    bool is_over = record.phase == ROCPROFILER_CALLBACK_PHASE_NONE;
    (void)data;
    pthread_mutex_lock(&lock);
    wrong += told->size != sizeof *told || told->hip_event_handle == 0;
    wrong += told->agent_id.handle == 0 || record.correlation_id.internal == 0;
    wrong += is_over != (told->start_timestamp != 0) || is_over != (told->end_timestamp != 0);
    wrong += record.operation != RECORD && record.operation != WAIT;
    if (record.operation == RECORD || record.operation == WAIT)
        on_phase(&record, told, user_data);
    pthread_mutex_unlock(&lock);
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    pthread_mutex_lock(&lock);
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER && call_count < NAMED_MAX)
        calls[call_count++] = record.correlation_id.internal;
    pthread_mutex_unlock(&lock);
}

static void on_record(const rocprofiler_buffer_tracing_hip_event_record_t *record)
{
    const unsigned operation = (unsigned)record->operation;
    wrong += record->size != sizeof *record || record->thread_id == 0;
    wrong += record->kind != ROCPROFILER_BUFFER_TRACING_HIP_EVENT || record->agent_id.handle == 0;
    wrong += !is_call(record->correlation_id.internal);
    wrong += record->start_timestamp == 0 || record->end_timestamp < record->start_timestamp;
    wrong += record->source_queue_id.handle != queue_of(record->hip_event_handle);
    if (operation != RECORD && operation != WAIT)
        wrong++;
    else
        records[operation]++;
    across += record->queue_id.handle != record->source_queue_id.handle;
}

static void on_buffer(rocprofiler_context_id_t context, rocprofiler_buffer_id_t id,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)context, (void)id, (void)data;
    pthread_mutex_lock(&lock);
    wrong += dropped != 0;
    for (size_t i = 0; i < count; i++)
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIP_EVENT)
            on_record(headers[i]->payload);
    pthread_mutex_unlock(&lock);
}

static bool services_configure(rocprofiler_context_id_t context)
{
    const rocprofiler_tracing_operation_t of_events[] = {
        ROCPROFILER_HIP_RUNTIME_API_ID_hipEventRecord,
        ROCPROFILER_HIP_RUNTIME_API_ID_hipStreamWaitEvent};
    return rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_HIP_EVENT, NULL, 0, on_event, NULL) ==
               ROCPROFILER_STATUS_SUCCESS &&
           rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API, of_events, 2, on_call,
               NULL) == ROCPROFILER_STATUS_SUCCESS &&
           rocprofiler_create_buffer(context, BUFFER_BYTES, WATERMARK_BYTES,
                                     ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL,
                                     &buffer) == ROCPROFILER_STATUS_SUCCESS &&
           rocprofiler_configure_buffer_tracing_service(context,
                                                        ROCPROFILER_BUFFER_TRACING_HIP_EVENT, NULL,
                                                        0, buffer) == ROCPROFILER_STATUS_SUCCESS;
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    static rocprofiler_context_id_t context;
    (void)finalize, (void)data;
    rocprofiler_create_context(&context);
    return !services_configure(context) ||
           rocprofiler_start_context(context) != ROCPROFILER_STATUS_SUCCESS;
}

static void finalize_tool(void *data)
{
    (void)data;
    rocprofiler_flush_buffer(buffer);
    for (int i = 0; i < OPERATIONS; i++)
        wrong += entered[i] != left[i] || entered[i] != ended[i];
    printf("EVENTS calls %u recorded %u waited %u records %u and %u across queues %u wrong %u\n",
           call_count, entered[RECORD], entered[WAIT], records[RECORD], records[WAIT], across,
           wrong);
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
    client_id->name = "events";
    return &result;
}
