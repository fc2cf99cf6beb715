/* A tool that is attached to a program with a GPU: names of kernels, dispatches, HSA calls. */
#include "gpu_tool.h"

#include <rocprofiler-sdk/buffer.h>
#include <rocprofiler-sdk/buffer_tracing.h>
#include <rocprofiler-sdk/callback_tracing.h>
#include <rocprofiler-sdk/context.h>
#include <rocprofiler-sdk/registration.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { KERNELS_MAX = 4096 };
static struct gpu_diary diary;
static bool is_store[KERNELS_MAX]; /* by kernel id */
static rocprofiler_context_id_t context;
static rocprofiler_buffer_id_t buffer;

__attribute__((visibility("default"))) struct gpu_diary *gpu_diary(void);
struct gpu_diary *gpu_diary(void)
{
    return &diary;
}

static void require(rocprofiler_status_t status)
{
    if (status != ROCPROFILER_STATUS_SUCCESS)
        abort();
}

static void on_object(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                      void *data)
{
    (void)user, (void)data;
    if (record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
        return;
    diary.objects += record.operation == ROCPROFILER_CODE_OBJECT_LOAD;
    if (record.operation != ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER)
        return;
    const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *kernel =
        record.payload;
    diary.symbols++;
    if (kernel->kernel_id < KERNELS_MAX)
        is_store[kernel->kernel_id] = !strcmp(kernel->kernel_name, "store_index.kd");
}

static void on_call(rocprofiler_callback_tracing_record_t record, rocprofiler_user_data_t *user,
                    void *data)
{
    (void)user, (void)data;
    diary.hsa_calls += record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER;
}

static void on_records(rocprofiler_context_id_t id, rocprofiler_buffer_id_t from,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t dropped)
{
    (void)id, (void)from, (void)data, (void)dropped;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_buffer_tracing_kernel_dispatch_record_t *record = headers[i]->payload;
        uint64_t kernel = record->dispatch_info.kernel_id;
        diary.dispatches++;
        diary.named += kernel < KERNELS_MAX && is_store[kernel];
        diary.timed += record->end_timestamp > record->start_timestamp;
    }
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    require(rocprofiler_create_context(&context));
    require(rocprofiler_create_buffer(context, 1 << 20, 1 << 20, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                      on_records, NULL, &buffer));
    require(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_object, NULL));
    require(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_HSA_CORE_API, NULL, 0, on_call, NULL));
    require(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
    require(rocprofiler_start_context(context));
    return 0;
}

__attribute__((visibility("default"))) rocprofiler_tool_configure_result_t *
rocprofiler_configure(uint32_t version, const char *name, uint32_t priority,
                      rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "attached GPU tool";
    return &result;
}
