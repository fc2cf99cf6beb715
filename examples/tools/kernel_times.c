/*
 * A tool on the ROCprofiler-SDK interface: how often each kernel ran and for how long, printed when
 * the program ends. Load it into an unmodified program with LD_PRELOAD or ROCP_TOOL_LIBRARIES.
 *
 * It shows what every tool is made of: rocprofiler_configure(), which the library finds and calls;
 * a context with its services, configured in initialize(); a buffer whose records arrive in batches
 * on a thread of the library; and finalize(), after the last batch.
 */
#include <rocprofiler-sdk/registration.h>
#include <rocprofiler-sdk/rocprofiler.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel {
    rocprofiler_kernel_id_t id;
    char *name;
    uint64_t runs, total_ns, longest_ns;
    struct kernel *next;
};

/* Kernels are announced on the program's threads, records come on the library's. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *kernels;
static uint64_t lost;

#define TRY(call)                                                                                  \
    do {                                                                                           \
        rocprofiler_status_t status_ = (call);                                                     \
        if (status_ != ROCPROFILER_STATUS_SUCCESS) {                                               \
            fprintf(stderr, "kernel_times: %s: %s\n", #call,                                       \
                    rocprofiler_get_status_string(status_));                                       \
            return -1;                                                                             \
        }                                                                                          \
    } while (0)

static struct kernel *kernel_find(rocprofiler_kernel_id_t id)
{
    struct kernel *kernel = kernels;
    while (kernel && kernel->id != id)
        kernel = kernel->next;
    return kernel;
}

static void kernel_add(rocprofiler_kernel_id_t id, const char *name)
{
    struct kernel *kernel = calloc(1, sizeof *kernel);
    char *copy = strdup(name); /* the library's text lives as long as the callback */
    if (!kernel || !copy) {
        free(kernel);
        free(copy);
        return;
    }
    kernel->id = id;
    kernel->name = copy;
    pthread_mutex_lock(&lock);
    kernel->next = kernels;
    kernels = kernel;
    pthread_mutex_unlock(&lock);
}

static void on_code_object(rocprofiler_callback_tracing_record_t record,
                           rocprofiler_user_data_t *user_data, void *data)
{
    (void)user_data;
    (void)data;
    if (record.operation != ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER ||
        record.phase != ROCPROFILER_CALLBACK_PHASE_LOAD)
        return;
    const rocprofiler_callback_tracing_code_object_kernel_symbol_register_data_t *symbol =
        record.payload;
    kernel_add(symbol->kernel_id, symbol->kernel_name);
}

static void on_dispatch(const rocprofiler_buffer_tracing_kernel_dispatch_record_t *dispatch)
{
    struct kernel *kernel = kernel_find(dispatch->dispatch_info.kernel_id);
    if (!kernel)
        return;
    uint64_t duration_ns = dispatch->end_timestamp - dispatch->start_timestamp;
    kernel->runs++;
    kernel->total_ns += duration_ns;
    if (duration_ns > kernel->longest_ns)
        kernel->longest_ns = duration_ns;
}

static void on_records(rocprofiler_context_id_t context, rocprofiler_buffer_id_t buffer,
                       rocprofiler_record_header_t **headers, size_t count, void *data,
                       uint64_t dropped)
{
    (void)context;
    (void)buffer;
    (void)data;
    pthread_mutex_lock(&lock);
    lost = dropped;
    for (size_t i = 0; i < count; i++)
        if (headers[i]->category == ROCPROFILER_BUFFER_CATEGORY_TRACING &&
            headers[i]->kind == ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH)
            on_dispatch(headers[i]->payload);
    pthread_mutex_unlock(&lock);
}

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize;
    (void)data;
    rocprofiler_context_id_t context = {0};
    rocprofiler_buffer_id_t buffer = {0};
    TRY(rocprofiler_create_context(&context));
    TRY(rocprofiler_configure_callback_tracing_service(
        context, ROCPROFILER_CALLBACK_TRACING_CODE_OBJECT, NULL, 0, on_code_object, NULL));
    TRY(rocprofiler_create_buffer(context, 1 << 20, 1 << 19, ROCPROFILER_BUFFER_POLICY_LOSSLESS,
                                  on_records, NULL, &buffer));
    TRY(rocprofiler_configure_buffer_tracing_service(
        context, ROCPROFILER_BUFFER_TRACING_KERNEL_DISPATCH, NULL, 0, buffer));
    TRY(rocprofiler_start_context(context));
    return 0;
}

/* The contexts are stopped and every buffer has been delivered. */
static void finalize(void *data)
{
    (void)data;
    fprintf(stderr, "%10s %12s %12s  %s\n", "runs", "mean us", "longest us", "kernel");
    for (const struct kernel *kernel = kernels; kernel; kernel = kernel->next)
        if (kernel->runs)
            fprintf(stderr, "%10llu %12.3f %12.3f  %s\n", (unsigned long long)kernel->runs,
                    (double)kernel->total_ns / 1e3 / (double)kernel->runs,
                    (double)kernel->longest_ns / 1e3, kernel->name);
    if (lost)
        fprintf(stderr, "kernel_times: %llu records were lost\n", (unsigned long long)lost);
}

rocprofiler_tool_configure_result_t *rocprofiler_configure(uint32_t version,
                                                           const char *runtime_version,
                                                           uint32_t priority,
                                                           rocprofiler_client_id_t *client)
{
    static rocprofiler_tool_configure_result_t result = {
        .size = sizeof result,
        .initialize = initialize,
        .finalize = finalize,
    };
    (void)version;
    (void)runtime_version;
    (void)priority;
    client->name = "kernel_times";
    return &result;
}
