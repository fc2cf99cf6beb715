#include "recorder.h"

#include <dlfcn.h>

struct call calls[CALLS_MAX];
_Atomic unsigned call_count;
struct record records[RECORDS_MAX];
unsigned record_count;
rocprofiler_context_id_t recorder_context;
rocprofiler_buffer_id_t recorder_buffer;

static int on_argument(rocprofiler_callback_tracing_kind_t kind,
                       rocprofiler_tracing_operation_t operation, uint32_t number,
                       const void *const value, int32_t indirections, const char *type,
                       const char *name, const char *text, int32_t dereferences, void *data)
{
    (void)kind, (void)operation, (void)number, (void)value, (void)indirections, (void)type,
        (void)dereferences;
    char *all = data;
    size_t used = strlen(all);
    snprintf(all + used, 256 - used, "%s=%s ", name, text);
    return 0;
}

static void on_call(rocprofiler_callback_tracing_record_t record,
                    rocprofiler_user_data_t *user_data, void *data)
{
    (void)data;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_ENTER)
        user_data->value = record.correlation_id.internal;
    if (record.phase == ROCPROFILER_CALLBACK_PHASE_EXIT)
        assert_int_equal(user_data->value, record.correlation_id.internal);
    unsigned n = call_count++;
    if (n >= CALLS_MAX)
        return;
    uint64_t size = *(uint64_t *)record.payload;
    assert_true(size <= sizeof calls[n].data);
    calls[n].record = record;
    memcpy(&calls[n].data, record.payload, size);
    if (record.kind != ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION)
        OK(rocprofiler_iterate_callback_tracing_kind_operation_args(record, on_argument, 0,
                                                                    calls[n].text));
}

static void on_buffer(rocprofiler_context_id_t id, rocprofiler_buffer_id_t from,
                      rocprofiler_record_header_t **headers, size_t count, void *data,
                      uint64_t dropped)
{
    (void)id, (void)from, (void)data;
    assert_int_equal(dropped, 0);
    for (size_t i = 0; i < count; i++) {
        uint64_t size = *(const uint64_t *)headers[i]->payload;
        assert_true(record_count < RECORDS_MAX);
        records[record_count].kind = headers[i]->kind;
        if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT) {
            assert_int_equal(size, sizeof records[0].rocdecode);
            memcpy(&records[record_count].rocdecode, headers[i]->payload, size);
        } else if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT) {
            assert_int_equal(size, sizeof records[0].rocshmem);
            memcpy(&records[record_count].rocshmem, headers[i]->payload, size);
        } else if (headers[i]->kind == ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT) {
            assert_int_equal(size, sizeof records[0].hipfile);
            memcpy(&records[record_count].hipfile, headers[i]->payload, size);
        } else {
            assert_true(size <= sizeof records[0].hip);
            memcpy(&records[record_count].hip, headers[i]->payload, size);
        }
        record_count++;
    }
}

static const rocprofiler_callback_tracing_kind_t callback_kinds[] = {
    ROCPROFILER_CALLBACK_TRACING_HIP_RUNTIME_API,
    ROCPROFILER_CALLBACK_TRACING_HIP_COMPILER_API,
    ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_API,
    ROCPROFILER_CALLBACK_TRACING_MARKER_CORE_RANGE_API,
    ROCPROFILER_CALLBACK_TRACING_RCCL_API,
    ROCPROFILER_CALLBACK_TRACING_ROCDECODE_API,
    ROCPROFILER_CALLBACK_TRACING_ROCJPEG_API,
    ROCPROFILER_CALLBACK_TRACING_ROCSHMEM_API,
    ROCPROFILER_CALLBACK_TRACING_HIPFILE_API,
    ROCPROFILER_CALLBACK_TRACING_RUNTIME_INITIALIZATION,
};
static const rocprofiler_buffer_tracing_kind_t buffer_kinds[] = {
    ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API,
    ROCPROFILER_BUFFER_TRACING_HIP_RUNTIME_API_EXT,
    ROCPROFILER_BUFFER_TRACING_HIP_COMPILER_API_EXT,
    ROCPROFILER_BUFFER_TRACING_MARKER_CORE_API,
    ROCPROFILER_BUFFER_TRACING_MARKER_CORE_RANGE_API,
    ROCPROFILER_BUFFER_TRACING_RCCL_API,
    ROCPROFILER_BUFFER_TRACING_ROCDECODE_API,
    ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT,
    ROCPROFILER_BUFFER_TRACING_ROCJPEG_API,
    ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API,
    ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT,
    ROCPROFILER_BUFFER_TRACING_HIPFILE_API,
    ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT,
};

static int initialize(rocprofiler_client_finalize_t finalize, void *data)
{
    (void)finalize, (void)data;
    OK(rocprofiler_create_context(&recorder_context));
    OK(rocprofiler_create_buffer(recorder_context, 1 << 20, 1 << 20,
                                 ROCPROFILER_BUFFER_POLICY_LOSSLESS, on_buffer, NULL,
                                 &recorder_buffer));
    for (size_t i = 0; i < COUNT(callback_kinds); i++)
        OK(rocprofiler_configure_callback_tracing_service(recorder_context, callback_kinds[i], NULL,
                                                          0, on_call, NULL));
    for (size_t i = 0; i < COUNT(buffer_kinds); i++)
        OK(rocprofiler_configure_buffer_tracing_service(recorder_context, buffer_kinds[i], NULL, 0,
                                                        recorder_buffer));
    OK(rocprofiler_start_context(recorder_context));
    return 0;
}

rocprofiler_tool_configure_result_t *recorder_configure(uint32_t version, const char *name,
                                                        uint32_t priority,
                                                        rocprofiler_client_id_t *id)
{
    static rocprofiler_tool_configure_result_t result = {sizeof result, initialize, NULL, NULL};
    (void)version, (void)name, (void)priority;
    id->name = "runtimes test";
    return &result;
}

void recorder_start(void)
{
    OK(rocprofiler_force_configure(recorder_configure));
}

const struct call *call_find(uint32_t kind, int32_t operation, uint32_t phase, unsigned n)
{
    for (unsigned i = 0; i < call_count && i < CALLS_MAX; i++)
        if (calls[i].record.kind == kind && calls[i].record.operation == operation &&
            (uint32_t)calls[i].record.phase == phase && n-- == 0)
            return &calls[i];
    fail_msg("no callback: kind %u operation %d phase %u", kind, operation, phase);
    return NULL;
}

unsigned records_of(uint32_t kind, int32_t operation)
{
    unsigned found = 0;
    for (unsigned i = 0; i < record_count; i++) {
        rocprofiler_tracing_operation_t of = records[i].hip.operation;
        if (kind == ROCPROFILER_BUFFER_TRACING_ROCDECODE_API_EXT)
            of = (rocprofiler_tracing_operation_t)records[i].rocdecode.operation;
        else if (kind == ROCPROFILER_BUFFER_TRACING_ROCSHMEM_API_EXT)
            of = (rocprofiler_tracing_operation_t)records[i].rocshmem.operation;
        else if (kind == ROCPROFILER_BUFFER_TRACING_HIPFILE_API_EXT)
            of = (rocprofiler_tracing_operation_t)records[i].hipfile.operation;
        found += records[i].kind == kind && of == operation;
    }
    return found;
}

struct hip hip_load(int copy)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/copy%d/libamdhip64.so.7", DOUBLE_FOLDER, copy);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    return (struct hip){(double_hip_start_fn)dlsym(library, "double_hip_start"),
                        (double_hip_function_fn)dlsym(library, "double_hip_function"),
                        (double_hip_function_fn)dlsym(library, "double_hip_compiler_function"),
                        (double_hip_untouched_fn)dlsym(library, "double_hip_untouched")};
}

void hip_is_traced(const struct hip *hip, unsigned copy)
{
    void *pointer = NULL;
    call_count = 0;
    assert_int_equal(((malloc_fn)HIP(*hip, hipMalloc))(&pointer, 64), hipSuccess);
    assert_ptr_equal(pointer, (void *)(uintptr_t)(0x1000 * (copy + 1)));
    const struct call *entered = ENTER(HIP_RUNTIME_API, hipMalloc, 0);
    const struct call *left = EXIT(HIP_RUNTIME_API, hipMalloc, 0);
    assert_int_equal(call_count, 2);
    assert_int_equal(entered->data.hip.size, sizeof entered->data.hip);
    assert_ptr_equal(entered->data.hip.args.hipMalloc.ptr, &pointer);
    assert_int_equal(entered->data.hip.args.hipMalloc.size, 64);
    assert_int_equal(left->data.hip.retval.hipError_t_retval, hipSuccess);
    assert_non_null(strstr(left->text, "size=64 "));
}

uint32_t import(void)
{
    return 1;
}

int offer(const char *library, void *table)
{
    void *tables[] = {table};
    rocprofiler_register_library_indentifier_t id;
    return rocprofiler_register_library_api_table(library, import, 20000, tables, 1, &id);
}

int modes_run(int argc, char **argv, const struct CMUnitTest *modes, size_t count)
{
    for (size_t i = 0; argc == 2 && i < count; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            const struct CMUnitTest tests[] = {modes[i]};
            return cmocka_run_group_tests(tests, NULL, NULL);
        }
    fprintf(stderr, "usage: %s MODE\n", argv[0]);
    return 2;
}
