/* HIP's compiler table and HSA's double runtime: which host function launches which kernel. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/test/children.h"

#include <rocprofiler-sdk/hip.h>

#include "intercept/hip/host_functions.h"
#include "intercept/hsa/install.h"
#include "intercept/hsa/objects.h"
#include "intercept/hsa/tables.h"
#include "intercept/hsa/test/hsa_double.h"
#include "intercept/hsa/test/trace_double.h"
#include "intercept/table/install.h"

enum {
    REGISTER = ROCPROFILER_HIP_COMPILER_API_ID___hipRegisterFunction,
    SLOTS = ROCPROFILER_HIP_COMPILER_API_ID_LAST,
    HOST = ROCPROFILER_CODE_OBJECT_HOST_KERNEL_SYMBOL_REGISTER,
    DEVICE = ROCPROFILER_CODE_OBJECT_DEVICE_KERNEL_SYMBOL_REGISTER,
};

typedef void (*register_fn)(void **, const void *, char *, const char *, unsigned, uint3 *, uint3 *,
                            dim3 *, dim3 *, int *);

static struct compiler {
    uint64_t size;
    void *slots[SLOTS];
} compilers[2];
static _Atomic unsigned registered;
static void *modules[1];

static void fake_register(void **module, const void *host, char *device, const char *name,
                          unsigned limit, uint3 *thread, uint3 *block, dim3 *block_dim,
                          dim3 *grid_dim, int *size)
{
    (void)module, (void)host, (void)device, (void)name, (void)limit, (void)thread, (void)block;
    (void)block_dim, (void)grid_dim, (void)size;
    registered++;
}

static register_fn compiler_start(int copy)
{
    static const struct runtime_row row = {.kind = RUNTIME_HIP_COMPILER, .name = "hip_compiler"};
    void *table = &compilers[copy];
    compilers[copy].size = sizeof compilers[copy];
    compilers[copy].slots[REGISTER] = (void *)fake_register;
    assert_true(intercept_table_install(&row, &table, 70000));
    return (register_fn)compilers[copy].slots[REGISTER];
}

static void plain(register_fn function, const void *host, const char *name)
{
    function(modules, host, (char *)name, name, ~0u, NULL, NULL, NULL, NULL, NULL);
}

static int reset(void **state)
{
    (void)state;
    double_reset();
    registered = 0;
    return 0;
}

static void nobody_asks_and_the_table_stays(void **state)
{
    (void)state;
    double_listen(TRACE_CODE_OBJECT, ROCPROFILER_CODE_OBJECT_LOAD);
    assert_ptr_equal((void *)compiler_start(0), (void *)fake_register);
}

static void kernels_are_told_with_their_host_function(void **state)
{
    (void)state;
    uint3 thread = {1, 2, 3}, block = {4, 5, 6};
    dim3 block_dim = {7, 8, 9}, grid_dim = {10, 11, 12};
    int workgroup = 256;
    char name[] = "first";
    double_listen(TRACE_CODE_OBJECT, -1);
    register_fn function = compiler_start(0);
    assert_ptr_not_equal((void *)function, (void *)fake_register);
    function(modules, &thread, name, name, 1024, &thread, &block, &block_dim, &grid_dim,
             &workgroup);
    plain(function, &block, "first"); /* another library has one of that name */
    plain(function, &block, "not in this code object");
    assert_int_equal(registered, 3);
    name[0] = 'w'; /* the library is closed: the name was not ours */

    assert_true(table_arrives(double_table_make(2)));
    ((hsa_status_t(*)(hsa_executable_t, const char *))double_function(
        HSA_FN_hsa_executable_freeze))(double_executable(), NULL);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, DEVICE), 2);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, HOST), 1);
    const struct double_entry *host = double_entry(DOUBLE_CALL, TRACE_CODE_OBJECT, HOST, 0);
    const struct double_entry *kernel = NULL;
    for (uint32_t i = 0; i < 2; i++) {
        const struct double_entry *entry = double_entry(DOUBLE_CALL, TRACE_CODE_OBJECT, DEVICE, i);
        if (!strcmp(entry->payload.kernel.kernel_name, "first.kd"))
            kernel = entry;
    }
    assert_true(kernel && host == kernel + 1);
    assert_int_equal(host->phase, ROCPROFILER_CALLBACK_PHASE_LOAD);
    const host_function_data_t *data = &host->payload.host;
    assert_int_equal(data->size, sizeof *data);
    assert_int_not_equal(data->host_function_id, 0);
    assert_int_equal(data->kernel_id, kernel->payload.kernel.kernel_id);
    assert_int_equal(data->code_object_id, kernel->payload.kernel.code_object_id);
    assert_ptr_equal(data->host_function.ptr, &thread);
    assert_ptr_equal(data->modules.ptr, modules);
    assert_string_equal(data->device_function, "first");
    assert_int_equal(data->thread_limit, 1024);
    assert_memory_equal(&data->thread_ids, &thread, 12);
    assert_memory_equal(&data->block_ids, &block, 12);
    assert_memory_equal(&data->block_dims, &block_dim, 12);
    assert_memory_equal(&data->grid_dims, &grid_dim, 12);
    assert_int_equal(data->workgroup_size, 256);

    ((hsa_status_t(*)(hsa_executable_t))double_function(HSA_FN_hsa_executable_destroy))(
        double_executable());
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, DEVICE), 4);
    assert_int_equal(double_count(DOUBLE_CALL, TRACE_CODE_OBJECT, HOST), 1); /* no UNLOAD */
}

static void whatever_is_registered_reaches_hip(void **state)
{
    (void)state;
    host_function_data_t found;
    double_listen(TRACE_CODE_OBJECT, HOST);
    register_fn function = compiler_start(1);
    plain(function, NULL, NULL);
    plain(function, NULL, "");
    plain(function, NULL, ".kd");
    assert_int_equal(registered, 3);
    assert_true(host_function_find("", &found));
    assert_true(host_function_find(".kd", &found));
    assert_string_equal(found.device_function, ".kd");
    assert_false(host_function_find("never", &found));
    assert_false(host_function_find("never.kd", &found));
}

enum { THREADS = 4, EACH = 5000 };

static void *registers(void *function)
{
    char name[32];
    for (unsigned i = 0; i < EACH; i++) {
        snprintf(name, sizeof name, "kernel_%u", i);
        plain((register_fn)function, &compilers[i % 2], name);
    }
    return NULL;
}

static void many_threads_register_at_once(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    char name[32];
    host_function_data_t found;
    double_listen(TRACE_CODE_OBJECT, HOST);
    register_fn function = compiler_start(0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, registers, (void *)function);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(registered, THREADS * EACH);
    for (unsigned i = 0; i < EACH; i++) {
        snprintf(name, sizeof name, "kernel_%u.kd", i);
        assert_true(host_function_find(name, &found));
        assert_ptr_equal(found.host_function.ptr, &compilers[i % 2]);
    }
}

static void function_register(void *function)
{
    host_function_data_t found;
    plain((register_fn)function, modules, "again");
    assert_true(host_function_find("again", &found));
}

static void children_register(void **state)
{
    (void)state;
    double_listen(TRACE_CODE_OBJECT, HOST);
    children_take_turns(function_register, (void *)compiler_start(0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nobody_asks_and_the_table_stays, reset),
        cmocka_unit_test_setup(kernels_are_told_with_their_host_function, reset),
        cmocka_unit_test_setup(whatever_is_registered_reaches_hip, reset),
        cmocka_unit_test_setup(many_threads_register_at_once, reset),
        cmocka_unit_test_setup(children_register, reset),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    double_stop();
    return failed;
}
