/* The library that knows kernel names is played by this program itself. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "intercept/hip/launches.h"

#define EXPORTED   __attribute__((visibility("default")))
#define LAUNCH(fn) ROCPROFILER_HIP_RUNTIME_API_ID_##fn

static _Thread_local char text[300];

static const char *name_of(const char *how, const void *what)
{
    if (!what)
        return NULL;
    snprintf(text, sizeof text, "%s_%zu", how, (size_t)what);
    return text; /* changes with the next question, as a library's may when a module goes */
}

EXPORTED const char *hipKernelNameRef_(hipFunction_t function) __asm__("hipKernelNameRef");
EXPORTED const char *hipKernelNameRefByPtr_(const void *host_function,
                                            hipStream_t stream) __asm__("hipKernelNameRefByPtr");

const char *hipKernelNameRef_(hipFunction_t function)
{
    return name_of("function", function);
}

const char *hipKernelNameRefByPtr_(const void *host_function, hipStream_t stream)
{
    assert_null(stream);
    return name_of("pointer", host_function);
}

static void every_way_of_launching_names_its_kernel(void **state)
{
    rocprofiler_hip_api_args_t arguments;
    (void)state;
    assert_true(launches_prepare());
    memset(&arguments, 0, sizeof arguments);
    arguments.hipLaunchKernel.function_address = (void *)(uintptr_t)11;
    assert_string_equal(launch_kernel_name(LAUNCH(hipLaunchKernel), &arguments), "pointer_11");
    arguments.hipModuleLaunchKernel.func = (hipFunction_t)(uintptr_t)12;
    assert_string_equal(launch_kernel_name(LAUNCH(hipModuleLaunchKernel), &arguments),
                        "function_12");
    hipLaunchParams list = {.func = (void *)(uintptr_t)13};
    memset(&arguments, 0, sizeof arguments);
    arguments.hipLaunchCooperativeKernelMultiDevice.launchParamsList = &list;
    assert_string_equal(
        launch_kernel_name(LAUNCH(hipLaunchCooperativeKernelMultiDevice), &arguments),
        "pointer_13");
}

static void what_has_no_name_gets_none(void **state)
{
    rocprofiler_hip_api_args_t arguments;
    (void)state;
    memset(&arguments, 0, sizeof arguments);
    assert_true(launch_names_kernel(LAUNCH(hipLaunchKernel)));
    assert_null(launch_kernel_name(LAUNCH(hipLaunchKernel), &arguments));
    assert_null(launch_kernel_name(LAUNCH(hipExtLaunchMultiKernelMultiDevice), &arguments));
    assert_false(launch_names_kernel(LAUNCH(hipGraphLaunch)));
    assert_false(launch_names_kernel(LAUNCH(hipMalloc)));
    assert_null(launch_kernel_name(LAUNCH(hipMalloc), &arguments));
}

static const char *name_number(size_t number)
{
    rocprofiler_hip_api_args_t arguments;
    memset(&arguments, 0, sizeof arguments);
    arguments.hipLaunchKernel.function_address = (void *)number;
    return launch_kernel_name(LAUNCH(hipLaunchKernel), &arguments);
}

enum { KERNELS = 2000 };
static const char *kept[2][KERNELS];

static void *names_take(void *arg)
{
    const char **mine = arg;
    for (size_t i = 0; i < KERNELS; i++)
        mine[i] = name_number(1000 + i);
    return NULL;
}

static void a_name_is_kept_once_for_all_threads(void **state)
{
    pthread_t threads[2];
    (void)state;
    for (int t = 0; t < 2; t++)
        assert_int_equal(pthread_create(&threads[t], NULL, names_take, kept[t]), 0);
    for (int t = 0; t < 2; t++)
        pthread_join(threads[t], NULL);
    for (size_t i = 0; i < KERNELS; i++) {
        char expected[64];
        snprintf(expected, sizeof expected, "pointer_%zu", 1000 + i);
        assert_string_equal(kept[0][i], expected);
        assert_ptr_equal(kept[0][i], kept[1][i]);
    }
}

static void names_without_end_use_bounded_memory(void **state)
{
    size_t named = 0;
    (void)state;
    for (size_t i = 0; i < 40000; i++)
        named += name_number(100000 + i) != NULL;
    assert_in_range(named, 1, (1 << 14));
    assert_string_equal(name_number(1000), "pointer_1000"); /* those before keep theirs */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_of_launching_names_its_kernel),
        cmocka_unit_test(what_has_no_name_gets_none),
        cmocka_unit_test(a_name_is_kept_once_for_all_threads),
        cmocka_unit_test(names_without_end_use_bounded_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
