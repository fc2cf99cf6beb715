/*
 * HIP_API callbacks where HIP offers tables, as of ROCm 6.2 to 7.2: what a program reads that was
 * compiled with that release's hip_prof_str.h. The structures below are laid out by the rules of
 * that header: after a pointer to a complete type comes a copy of what it points to.
 *
 *   hip_tables_test VERSION     (as the library registers it: 60400, 70200)
 */
#include "common.h"

#include <pthread.h>
#include <rocprofiler-sdk/hip.h>
#include <rocprofiler-sdk/intercept_table.h>
#include <stdio.h>

/* Not in an installed header: what rocprofiler-register calls. */
extern int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance,
                                     void **tables, uint64_t count);

enum { DATA_BYTES = 1520 }; /* sizeof(hip_api_data_t) since 6.0 */

struct hip_data {
    uint64_t correlation_id;
    uint32_t phase;
    union {
        struct {
            void **ptr;
            void *ptr__val;
            size_t size;
        } hipMalloc;
        struct {
            void *ptr;
        } hipFree;
        struct {
            void *dst;
            const void *src;
            size_t sizeBytes;
            unsigned kind;
            hipStream_t stream;
        } hipMemcpyAsync;
        struct {
            const void *function_address;
            dim3 numBlocks;
            dim3 dimBlocks;
            void **args;
            void *args__val;
            size_t sharedMemBytes;
            hipStream_t stream;
        } hipLaunchKernel;
        struct {
            hipFunction_t f;
            unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
            hipStream_t stream;
            void **kernelParams;
            void *kernelParams__val;
            void **extra;
            void *extra__val;
        } hipModuleLaunchKernel;
        struct {
            hipModule_t *module;
            hipModule_t module__val;
            const char *fname;
            char fname__val;
        } hipModuleLoad;
        struct {
            float *ms;
            float ms__val;
            hipEvent_t start;
            hipEvent_t stop;
        } hipEventElapsedTime;
        struct {
            int *deviceId;
            int deviceId__val;
        } hipGetDevice;
        struct {
            dim3 gridDim;
            dim3 blockDim;
            size_t sharedMem;
            hipStream_t stream;
        } pushCallConfiguration;
        char bytes[DATA_BYTES - 3 * sizeof(uint64_t)];
    } args;
    uint64_t *phase_data;
};
_Static_assert(sizeof(struct hip_data) == DATA_BYTES, "as the header's");

/* ---- a HIP library */

#define SLOT(function)          ROCPROFILER_HIP_RUNTIME_API_ID_##function
#define COMPILER_SLOT(function) ROCPROFILER_HIP_COMPILER_API_ID_##function

static struct {
    uint64_t size;
    void *slots[ROCPROFILER_HIP_RUNTIME_API_ID_LAST];
} runtime = {.size = sizeof runtime};
static struct {
    uint64_t size;
    void *slots[ROCPROFILER_HIP_COMPILER_API_ID_LAST];
} compiler = {.size = sizeof compiler};

static hipError_t do_malloc(void **pointer, size_t size)
{
    if (!pointer)
        return hipErrorInvalidValue;
    *pointer = (void *)(uintptr_t)(size * 2);
    return hipSuccess;
}

static hipError_t do_free(void *pointer)
{
    (void)pointer;
    return hipSuccess;
}

static hipError_t do_copy(void *to, const void *from, size_t size, hipMemcpyKind kind,
                          hipStream_t stream)
{
    (void)to, (void)from, (void)size, (void)kind, (void)stream;
    return hipSuccess;
}

static hipError_t do_launch(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                            hipStream_t stream)
{
    (void)function, (void)args, (void)shared, (void)stream;
    return grid.z == 3 && block.y == 5 ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t do_module_launch(hipFunction_t f, unsigned x, unsigned y, unsigned z, unsigned bx,
                                   unsigned by, unsigned bz, unsigned shared, hipStream_t stream,
                                   void **params, void **extra)
{
    (void)f, (void)x, (void)y, (void)bx, (void)by, (void)shared, (void)stream, (void)params;
    (void)extra;
    return z == 3 && bz == 6 ? hipSuccess : hipErrorInvalidValue;
}

static hipError_t do_load(hipModule_t *module, const char *name)
{
    (void)module;
    return !name ? hipErrorInvalidValue : hipSuccess;
}

static hipError_t do_elapsed(float *milliseconds, hipEvent_t start, hipEvent_t stop)
{
    (void)start, (void)stop;
    *milliseconds = 1.5f;
    return hipSuccess;
}

static hipError_t do_device(int *device)
{
    *device = 7;
    return hipSuccess;
}

static hipError_t do_synchronize(void)
{
    return hipSuccess;
}

static hipError_t do_push(dim3 grid, dim3 block, size_t shared, hipStream_t stream)
{
    (void)grid, (void)block, (void)shared, (void)stream;
    return hipSuccess;
}

static void library_fill(void)
{
    runtime.slots[SLOT(hipMalloc)] = (void *)do_malloc;
    runtime.slots[SLOT(hipFree)] = (void *)do_free;
    runtime.slots[SLOT(hipMemcpyAsync)] = (void *)do_copy;
    runtime.slots[SLOT(hipLaunchKernel)] = (void *)do_launch;
    runtime.slots[SLOT(hipModuleLaunchKernel)] = (void *)do_module_launch;
    runtime.slots[SLOT(hipModuleLoad)] = (void *)do_load;
    runtime.slots[SLOT(hipEventElapsedTime)] = (void *)do_elapsed;
    runtime.slots[SLOT(hipGetDevice)] = (void *)do_device;
    runtime.slots[SLOT(hipDeviceSynchronize)] = (void *)do_synchronize;
    compiler.slots[COMPILER_SLOT(__hipPushCallConfiguration)] = (void *)do_push;
}

static uint64_t version;

static void library_offer(void)
{
    void *tables[] = {&runtime};
    assert_int_equal(rocprofiler_set_api_table("hip", version, 0, tables, 1), 0);
    tables[0] = &compiler;
    assert_int_equal(rocprofiler_set_api_table("hip_compiler", version, 0, tables, 1), 0);
}

/* The program's call of a function, through the table as the library's own entry does it. */
#define CALL(function, type, ...) ((hipError_t(*) type)runtime.slots[SLOT(function)])(__VA_ARGS__)
#define MALLOC(pointer, size)     CALL(hipMalloc, (void **, size_t), pointer, size)

/* ---- a tool */

enum { SEEN_MAX = 64 };
static struct {
    uint32_t domain, id;
    struct hip_data data;
    void *out; /* *ptr of hipMalloc, as the callback saw it */
} seen[SEEN_MAX];
static unsigned seen_count;

static void on_call(uint32_t domain, uint32_t id, const void *callback_data, void *arg)
{
    struct hip_data *data = (struct hip_data *)(uintptr_t)callback_data;
    static uint32_t malloc_id;
    assert_ptr_equal(arg, seen);
    assert_true(seen_count < SEEN_MAX);
    if (malloc_id == 0)
        OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMalloc", &malloc_id, NULL));
    if (data->phase == ACTIVITY_API_PHASE_ENTER) {
        assert_int_equal(*data->phase_data, 0);
        *data->phase_data = data->correlation_id + 5;
    } else {
        assert_int_equal(*data->phase_data, data->correlation_id + 5);
    }
    seen[seen_count].domain = domain;
    seen[seen_count].id = id;
    seen[seen_count].data = *data;
    if (id == malloc_id && data->args.hipMalloc.ptr)
        seen[seen_count].out = *data->args.hipMalloc.ptr;
    seen_count++;
    memset(&data->args, 0xee, sizeof data->args); /* of no concern to the call */
}

/* The call just made: its exit; both phases carry the same but for the phase. */
static const struct hip_data *last_call(const char *name)
{
    assert_true(seen_count >= 2);
    const struct hip_data *enter = &seen[seen_count - 2].data, *leave = &seen[seen_count - 1].data;
    assert_int_equal(enter->phase, ACTIVITY_API_PHASE_ENTER);
    assert_int_equal(leave->phase, ACTIVITY_API_PHASE_EXIT);
    assert_int_equal(seen[seen_count - 1].domain, ACTIVITY_DOMAIN_HIP_API);
    assert_int_equal(seen[seen_count - 1].id, seen[seen_count - 2].id);
    assert_string_equal(roctracer_op_string(ACTIVITY_DOMAIN_HIP_API, seen[seen_count - 1].id, 0),
                        name);
    assert_int_equal(enter->correlation_id, leave->correlation_id);
    assert_int_not_equal(enter->correlation_id, 0);
    assert_memory_equal(&enter->args, &leave->args, sizeof enter->args);
    return leave;
}

static uint32_t code(const char *name)
{
    uint32_t id = 0;
    OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, name, &id, NULL));
    return id;
}

/* Numbers that were asked for before are the library's; one of the few that a release changed is
 * the newest one's, 418 in 6.4 and 413 in 7.2, until the library says otherwise. */
static void enabled_before_the_library_comes(void **state)
{
    uint32_t malloc_id = code("hipMalloc"), event_id = code("hipEventRecordWithFlags");
    (void)state;
    assert_int_equal(event_id, 413);
    OK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, on_call, seen));
    library_offer();
    assert_int_equal(code("hipMalloc"), malloc_id);
    if (version == 60400)
        assert_int_equal(code("hipEventRecordWithFlags"), 418);
    else if (version == 70200)
        assert_int_equal(code("hipEventRecordWithFlags"), event_id);
    void *memory = NULL;
    assert_int_equal(MALLOC(&memory, 40), hipSuccess);
    const struct hip_data *call = last_call("hipMalloc");
    assert_ptr_equal(call->args.hipMalloc.ptr, &memory);
    assert_int_equal(call->args.hipMalloc.size, 40);
    assert_null(seen[0].out);
    assert_ptr_equal(seen[1].out, (void *)80);
}

static void pointers_may_be_null(void **state)
{
    (void)state;
    assert_int_equal(MALLOC(NULL, 1), hipErrorInvalidValue);
    assert_null(last_call("hipMalloc")->args.hipMalloc.ptr);
    assert_int_equal(CALL(hipFree, (void *), NULL), hipSuccess);
    assert_null(last_call("hipFree")->args.hipFree.ptr);
    hipModule_t module;
    assert_int_equal(CALL(hipModuleLoad, (hipModule_t *, const char *), &module, NULL),
                     hipErrorInvalidValue);
    assert_null(last_call("hipModuleLoad")->args.hipModuleLoad.fname);
}

static void names_are_pointed_to(void **state)
{
    (void)state;
    hipModule_t module;
    CALL(hipModuleLoad, (hipModule_t *, const char *), &module, "kernels.co");
    const struct hip_data *call = last_call("hipModuleLoad");
    assert_ptr_equal(call->args.hipModuleLoad.module, &module);
    assert_string_equal(call->args.hipModuleLoad.fname, "kernels.co");
}

static void structures_by_value(void **state)
{
    (void)state;
    dim3 grid = {1, 2, 3}, block = {4, 5, 6};
    void *args[] = {&grid};
    hipStream_t stream = (hipStream_t)(uintptr_t)0x5000;
    assert_int_equal(CALL(hipLaunchKernel, (const void *, dim3, dim3, void **, size_t, hipStream_t),
                          do_free, grid, block, args, 64, stream),
                     hipSuccess);
    const struct hip_data *call = last_call("hipLaunchKernel");
    assert_ptr_equal(call->args.hipLaunchKernel.function_address, do_free);
    assert_memory_equal(&call->args.hipLaunchKernel.numBlocks, &grid, sizeof grid);
    assert_memory_equal(&call->args.hipLaunchKernel.dimBlocks, &block, sizeof block);
    assert_ptr_equal(call->args.hipLaunchKernel.args, args);
    assert_int_equal(call->args.hipLaunchKernel.sharedMemBytes, 64);
    assert_ptr_equal(call->args.hipLaunchKernel.stream, stream);

    hipError_t (*push)(dim3, dim3, size_t, hipStream_t) = (hipError_t(*)(
        dim3, dim3, size_t, hipStream_t))compiler.slots[COMPILER_SLOT(__hipPushCallConfiguration)];
    push(grid, block, 9, stream);
    call = last_call("__hipPushCallConfiguration");
    assert_memory_equal(&call->args.pushCallConfiguration.blockDim, &block, sizeof block);
    assert_int_equal(call->args.pushCallConfiguration.sharedMem, 9);
    assert_ptr_equal(call->args.pushCallConfiguration.stream, stream);
}

static void many_arguments(void **state)
{
    (void)state;
    void *params[] = {state};
    assert_int_equal(CALL(hipModuleLaunchKernel,
                          (hipFunction_t, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, hipStream_t, void **, void **),
                          (hipFunction_t)(uintptr_t)0x10, 1, 2, 3, 4, 5, 6, 7,
                          (hipStream_t)(uintptr_t)0x20, params, NULL),
                     hipSuccess);
    const struct hip_data *call = last_call("hipModuleLaunchKernel");
    assert_ptr_equal(call->args.hipModuleLaunchKernel.f, (hipFunction_t)(uintptr_t)0x10);
    assert_int_equal(call->args.hipModuleLaunchKernel.gridDimX, 1);
    assert_int_equal(call->args.hipModuleLaunchKernel.blockDimZ, 6);
    assert_int_equal(call->args.hipModuleLaunchKernel.sharedMemBytes, 7);
    assert_ptr_equal(call->args.hipModuleLaunchKernel.stream, (hipStream_t)(uintptr_t)0x20);
    assert_ptr_equal(call->args.hipModuleLaunchKernel.kernelParams, params);
    assert_null(call->args.hipModuleLaunchKernel.extra);

    int source;
    CALL(hipMemcpyAsync, (void *, const void *, size_t, hipMemcpyKind, hipStream_t), &params,
         &source, 4, hipMemcpyDeviceToHost, NULL);
    call = last_call("hipMemcpyAsync");
    assert_ptr_equal(call->args.hipMemcpyAsync.dst, &params);
    assert_ptr_equal(call->args.hipMemcpyAsync.src, &source);
    assert_int_equal(call->args.hipMemcpyAsync.sizeBytes, 4);
    assert_int_equal(call->args.hipMemcpyAsync.kind, hipMemcpyDeviceToHost);
}

static void results_are_where_the_arguments_point(void **state)
{
    (void)state;
    float milliseconds = 0;
    int device = 0;
    hipEvent_t start = (hipEvent_t)(uintptr_t)1, stop = (hipEvent_t)(uintptr_t)2;
    CALL(hipEventElapsedTime, (float *, hipEvent_t, hipEvent_t), &milliseconds, start, stop);
    const struct hip_data *call = last_call("hipEventElapsedTime");
    assert_true(*call->args.hipEventElapsedTime.ms == 1.5f);
    assert_ptr_equal(call->args.hipEventElapsedTime.stop, stop);
    CALL(hipGetDevice, (int *), &device);
    assert_int_equal(*last_call("hipGetDevice")->args.hipGetDevice.deviceId, 7);
    CALL(hipDeviceSynchronize, (void));
    last_call("hipDeviceSynchronize");
}

static void operations_one_by_one(void **state)
{
    (void)state;
    uint32_t id;
    int device;
    OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipGetDevice", &id, NULL));
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HIP_API));
    seen_count = 0;
    CALL(hipGetDevice, (int *), &device);
    assert_int_equal(seen_count, 0);
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, id, on_call, seen));
    CALL(hipDeviceSynchronize, (void));
    CALL(hipGetDevice, (int *), &device);
    assert_int_equal(seen_count, 2);
    last_call("hipGetDevice");
    roctracer_stop();
    CALL(hipGetDevice, (int *), &device);
    assert_int_equal(seen_count, 2);
    roctracer_start();
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API, id));
    CALL(hipGetDevice, (int *), &device);
    assert_int_equal(seen_count, 2);
}

/* Callbacks and records of one call share the correlation id and the operation. */
static void records_belong_to_calls(void **state)
{
    (void)state;
    static struct catch records;
    int device;
    seen_count = 0;
    catch_open(&records, 1 << 12);
    OK(roctracer_enable_domain_callback(ACTIVITY_DOMAIN_HIP_API, on_call, seen));
    OK(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HIP_API, records.pool));
    CALL(hipGetDevice, (int *), &device);
    OK(roctracer_close_pool_expl(records.pool));
    OK(roctracer_disable_domain_callback(ACTIVITY_DOMAIN_HIP_API));
    assert_int_equal(records.count, 1);
    assert_int_equal(records.records[0].correlation_id, seen[0].data.correlation_id);
    assert_int_equal(records.records[0].op, seen[0].id);
    assert_int_equal(records.records[0].domain, ACTIVITY_DOMAIN_HIP_API);
}

/* Many threads, each with calls of its own. */
enum { THREADS = 4, CALLS = 5000 };
static _Atomic unsigned thread_errors, thread_callbacks;

static void on_thread_call(uint32_t domain, uint32_t id, const void *callback_data, void *arg)
{
    const struct hip_data *data = callback_data;
    (void)domain, (void)id, (void)arg;
    if (*data->args.hipMalloc.ptr) {
        /* set by the call: this is the exit, and the size is of the same call */
        if (data->phase != ACTIVITY_API_PHASE_EXIT ||
            (uintptr_t)*data->args.hipMalloc.ptr != data->args.hipMalloc.size * 2)
            thread_errors++;
    }
    thread_callbacks++;
}

static void *thread_calls(void *first)
{
    for (size_t i = 1; i <= CALLS; i++) {
        void *memory = NULL;
        MALLOC(&memory, (uintptr_t)first + i);
    }
    return NULL;
}

static void threads_keep_their_calls_apart(void **state)
{
    (void)state;
    uint32_t id;
    pthread_t threads[THREADS];
    OK(roctracer_op_code(ACTIVITY_DOMAIN_HIP_API, "hipMalloc", &id, NULL));
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_HIP_API, id, on_thread_call, NULL));
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, thread_calls, (void *)(i * 100000));
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_HIP_API, id));
    assert_int_equal(thread_errors, 0);
    assert_int_equal(thread_callbacks, 2 * THREADS * CALLS);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(enabled_before_the_library_comes),
        cmocka_unit_test(pointers_may_be_null),
        cmocka_unit_test(names_are_pointed_to),
        cmocka_unit_test(structures_by_value),
        cmocka_unit_test(many_arguments),
        cmocka_unit_test(results_are_where_the_arguments_point),
        cmocka_unit_test(operations_one_by_one),
        cmocka_unit_test(records_belong_to_calls),
        cmocka_unit_test(threads_keep_their_calls_apart),
    };
    if (argc != 2)
        return 2;
    version = strtoull(argv[1], NULL, 10);
    library_fill();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
