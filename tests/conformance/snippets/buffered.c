/* The declarations and the callback of "buffered services" as C, with operations restricted to a
 * subset, and the names by which records are printed. */
#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/hip/runtime_api_id.h>
#include <rocprofiler-sdk/internal_threading.h>
#include <rocprofiler-sdk/registration.h>

#include "say.h"

/* The signatures that the specification prints: a mismatch does not compile. */
typedef void (*printed_callback_t)(rocprofiler_context_id_t context,
                                   rocprofiler_buffer_id_t buffer_id,
                                   rocprofiler_record_header_t **headers, size_t num_headers,
                                   void *data, uint64_t drop_count);
static rocprofiler_status_t (*const printed_create)(
    rocprofiler_context_id_t context, size_t size, size_t watermark,
    rocprofiler_buffer_policy_t policy, rocprofiler_buffer_tracing_cb_t callback,
    void *callback_data, rocprofiler_buffer_id_t *buffer_id) = rocprofiler_create_buffer;
static rocprofiler_status_t (*const printed_thread)(rocprofiler_callback_thread_t *cb_thread_id) =
    rocprofiler_create_callback_thread;
static rocprofiler_status_t (*const printed_assign)(rocprofiler_buffer_id_t buffer_id,
                                                    rocprofiler_callback_thread_t cb_thread_id) =
    rocprofiler_assign_callback_thread;

static int launches, others, dispatches;

static const char *name_of(const rocprofiler_buffer_tracing_hip_api_record_t *record)
{
    const char *name = NULL;
    rocprofiler_query_buffer_tracing_kind_operation_name(record->kind, record->operation, &name,
                                                         NULL);
    return name ? name : "?";
}

static void buffer_callback_func(rocprofiler_context_id_t context,
                                 rocprofiler_buffer_id_t buffer_id,
                                 rocprofiler_record_header_t **headers, size_t num_headers,
                                 void *user_data, uint64_t drop_count)
{
    (void)context, (void)buffer_id, (void)user_data, (void)drop_count;
    for (size_t i = 0; i < num_headers; ++i) {
        rocprofiler_record_header_t *header = headers[i];
        if (header->category == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
            header->kind == ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API) {
            bool launch = !strcmp(name_of(header->payload), "hipLaunchKernel");
            launches += launch;
            others += !launch;
        } else {
            dispatches += header->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH;
        }
    }
}

static int tool_init(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    printed_callback_t callback = buffer_callback_func;
    rocprofiler_context_id_t context = {0};
    rocprofiler_buffer_id_t buffer = {0};
    rocprofiler_callback_thread_t thread = {0};
    rocprofiler_tracing_operation_t operations[] = {ROCPROFILER_HIP_RUNTIME_API_ID_hipLaunchKernel};
    int status = (int)rocprofiler_create_context(&context);
    status |= (int)printed_create(context, 4000, 4000, ROCPROFILER_BUFFER_POLICY_LOSSLESS, callback,
                                  NULL, &buffer);
    status |= (int)printed_thread(&thread);
    status |= (int)printed_assign(buffer, thread);
    status |= (int)rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API, operations, 1, buffer);
    status |= (int)rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer);
    status |= (int)rocprofiler_start_context(context);
    return status;
}

static void tool_fini(void *data)
{
    (void)data;
    say("c launches %d others %d dispatches %d", launches, others, dispatches);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version, const char *name,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client_id)
{
    static rocprofiler_tool_configure_result_t cfg = {sizeof cfg, tool_init, tool_fini, NULL};
    (void)version, (void)name, (void)priority, (void)client_id;
    return &cfg;
}
