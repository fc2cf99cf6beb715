/*
 * A program that uses HSA is attached to when it has run kernels already. One mode a process:
 *   expected   started with ROCP_TOOL_ATTACH=1: every kernel is seen
 *   unexpected the HSA runtime has only met us: calls, and kernels of queues that are newer
 *   blind      it has not even done that
 * usage: gpu_test KERNELS_DIRECTORY MODE
 */
#include "../counting/gpu.h"
#include "gpu_tool.h"

#include <dlfcn.h>
#include <rocprofiler-register/rocprofiler-register.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

rocprofiler_register_error_code_t rocprofiler_register_attach(const char *, const char *);
rocprofiler_register_error_code_t rocprofiler_register_detach(void);

static const char *kernels_directory;

static struct gpu_diary *diary(void)
{
    void *library = dlopen(TOOL, RTLD_NOLOAD | RTLD_LAZY);
    assert_non_null(library);
    return ((gpu_diary_fn)dlsym(library, "gpu_diary"))();
}

static void attach(void)
{
    assert_int_equal(rocprofiler_register_attach(NULL, TOOL), ROCP_REG_SUCCESS);
}

static void detach(void)
{
    assert_int_equal(rocprofiler_register_detach(), ROCP_REG_SUCCESS);
}

static void run(unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        gpus[0].memory[77] = 0;
        gpu_run(&gpus[0], 4);
        assert_int_equal(gpus[0].memory[77], 77);
    }
}

static void run_on(hsa_queue_t *queue, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gpu_finish(gpu_launch(&gpus[0], queue, gpus[0].store_index, 4, gpus[0].memory));
}

static void names_are_known(void)
{
    assert_int_equal(diary()->objects, 1);
    assert_int_equal(diary()->symbols, 3); /* of counting/kernels.cl */
}

static void expected_mode(void **state)
{
    (void)state;
    gpus_open(kernels_directory);
    run(3);
    attach();
    names_are_known();
    run(4);
    assert_true(diary()->hsa_calls > 0);
    detach();
    assert_int_equal(diary()->dispatches, 4);
    unsigned calls = diary()->hsa_calls;
    run(2);
    attach();
    run(1);
    detach();
    assert_int_equal(diary()->dispatches, 5);
    assert_int_equal(diary()->named, 5);
    assert_int_equal(diary()->timed, 5);
    assert_int_equal(diary()->objects, 2); /* told again each time */
    assert_true(diary()->hsa_calls > calls);
    run(1);
    gpus_close();
    assert_int_equal(diary()->dispatches, 5);
}

static void unexpected_mode(void **state)
{
    (void)state;
    gpus_open(kernels_directory);
    run(2);
    attach();
    names_are_known();
    run(3);
    assert_true(diary()->hsa_calls > 0);
    hsa_queue_t *queue = gpu_queue(&gpus[0]);
    run_on(queue, 4);
    detach();
    assert_int_equal(diary()->dispatches, 4);
    assert_int_equal(diary()->named, 4);
    hsa_queue_destroy(queue);
    run(1);
    attach();
    run(1);
    detach();
    gpus_close();
    assert_int_equal(diary()->dispatches, 4);
}

static void blind_mode(void **state)
{
    (void)state;
    gpus_open(kernels_directory);
    run(1);
    attach();
    run(1);
    detach();
    gpus_close();
    assert_int_equal(diary()->hsa_calls, 0);
    assert_int_equal(diary()->dispatches, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest modes[] = {
        {"expected", expected_mode, NULL, NULL, NULL},
        {"unexpected", unexpected_mode, NULL, NULL, NULL},
        {"blind", blind_mode, NULL, NULL, NULL},
    };
    kernels_directory = argc == 3 ? argv[1] : ".";
    for (size_t i = 0; argc == 3 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(argv[2], modes[i].name)) {
            const struct CMUnitTest tests[] = {modes[i]};
            return cmocka_run_group_tests(tests, NULL, NULL);
        }
    fprintf(stderr, "usage: %s KERNELS_DIRECTORY expected|unexpected|blind\n", argv[0]);
    return 2;
}
