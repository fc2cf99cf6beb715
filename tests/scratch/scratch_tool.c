/*
 * A tool that prints every scratch event, as callbacks ("call ...") in the moment that they come
 * and as records ("record ...") at the end. Queues are numbered in the order in which they are
 * seen.
 */
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <stdio.h>

enum { QUEUES = 64, BUFFER_BYTES = 1 << 20 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* queues, the output's lines */
static uint64_t queues[QUEUES];
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;

static unsigned queue_number(rocprofiler_queue_id_t id)
{
    unsigned number = 0;
    while (number < QUEUES - 1 && queues[number] && queues[number] != id.handle + 1)
        number++;
    queues[number] = id.handle + 1;
    return number;
}

static const char *operation_name(uint32_t operation)
{
    static const char *const names[] = {
        [ROCPROFILER_SCRATCH_MEMORY_ALLOC] = "alloc",
        [ROCPROFILER_SCRATCH_MEMORY_FREE] = "free",
        [ROCPROFILER_SCRATCH_MEMORY_ASYNC_RECLAIM] = "reclaim",
    };
    return operation < sizeof names / sizeof names[0] && names[operation] ? names[operation] : "?";
}

static void on_event(rocprofiler_callback_tracing_record_t record,
                     rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data, (void)data;
    const rocprofiler_callback_tracing_scratch_memory_data_t *event = record.payload;
    bool ends = record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT;
    pthread_mutex_lock(&lock);
    flockfile(stdout); /* the program's lines are not printed into the middle of ours */
    printf("call %s %s queue %u flags %u", operation_name(record.operation),
           ends ? "exit" : "enter", queue_number(event->queue_id), event->flags);
    if (ends && record.operation == ROCPROFILER_SCRATCH_MEMORY_ALLOC)
        printf(" size %zu slots %zu dispatch %llu", event->args.alloc_end.size,
               event->args.alloc_end.num_slots,
               (unsigned long long)event->args.alloc_end.dispatch_id);
    printf("\n");
    fflush(stdout);
    funlockfile(stdout);
    pthread_mutex_unlock(&lock);
}

static void on_records(rocprofiler_context_id_t id, rocprofiler_buffer_id_t from,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t drop_count)
{
    (void)id, (void)from, (void)data;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_scratch_memory_record_t *record = headers[i]->payload;
        printf("record %s queue %u flags %u size %llu%s\n", operation_name(record->operation),
               queue_number(record->queue_id), record->flags,
               (unsigned long long)record->allocation_size,
               record->start_timestamp && record->start_timestamp <= record->end_timestamp
                   ? ""
                   : " without times");
    }
    if (drop_count)
        printf("record lost %llu\n", (unsigned long long)drop_count);
    pthread_mutex_unlock(&lock);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    return rocprofiler_create_context(&context) ||
           rocprofiler_create_buffer(context, BUFFER_BYTES, BUFFER_BYTES / 2,
                                     ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_records, NULL,
                                     &buffer) ||
           rocprofiler_configure_callback_tracing_service(
               context, ROCPROFILER_CALLBACK_TRACING_SCRATCH_MEMORY, NULL, 0, on_event, NULL) ||
           rocprofiler_configure_buffer_tracing_service(
               context, ROCPROFILER_BUFFER_TRACING_SCRATCH_MEMORY, NULL, 0, buffer) ||
           rocprofiler_start_context(context);
}

static void finalize_tool(void *data)
{
    (void)data;
    rocprofiler_flush_buffer(buffer);
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
    client_id->name = "scratch";
    return &result;
}
