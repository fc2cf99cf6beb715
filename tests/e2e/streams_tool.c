/* A tool that checks what HIP_STREAM says of tests/programs/streams.cpp, which makes eight streams,
 * launches on each of them, and ends them all. Prints one line at the end. */
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <stdio.h>

enum { NUMBERS = 64 };
static unsigned created, destroyed, set_enter, set_exit, wrong, unbalanced;
static unsigned uses[NUMBERS];
static const void *handles[NUMBERS];

static void on_stream(rocprofiler_callback_tracing_record_t record,
                      rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    const rocprofiler_callback_tracing_hip_stream_data_t *stream = record.payload;
    uint64_t number = stream->stream_id.handle;
    if (number >= NUMBERS || stream->size != sizeof *stream) {
        wrong++;
        return;
    }
    switch ((int)record.operation) {
    case ROCPROFILER_HIP_STREAM_CREATE:
        created++;
        wrong += handles[number] != NULL || number == 0;
        handles[number] = stream->stream_value.ptr;
        return;
    case ROCPROFILER_HIP_STREAM_DESTROY:
        destroyed++;
        wrong += handles[number] != stream->stream_value.ptr;
        return;
    case ROCPROFILER_HIP_STREAM_SET:
        wrong += handles[number] != stream->stream_value.ptr;
        if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER) {
            set_enter++;
            uses[number]++;
            user_data->value = number + 1;
        } else {
            set_exit++;
            unbalanced += user_data->value != number + 1;
        }
        return;
    default:
        wrong++;
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    static rocprofiler_context_id_t context;
    (void)finalize, (void)data;
    rocprofiler_create_context(&context);
    rocprofiler_status_t status = rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HIP_STREAM, NULL, 0, on_stream, NULL);
    return status != ROCPROFILER_STATUS_SUCCESS ||
           rocprofiler_start_context(context) != ROCPROFILER_STATUS_SUCCESS;
}

static void finalize_tool(void *data)
{
    (void)data;
    unsigned used = 0, least = ~0u, most = 0;
    for (int i = 1; i < NUMBERS; i++) {
        if (!handles[i])
            continue;
        used += uses[i] != 0;
        least = uses[i] < least ? uses[i] : least;
        most = uses[i] > most ? uses[i] : most;
    }
    printf("STREAMS created %u destroyed %u used %u uses %u to %u unbalanced %u wrong %u\n",
           created, destroyed, used, least, most, unbalanced + (set_enter != set_exit), wrong);
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
    client_id->name = "streams";
    return &result;
}
