/*
 * ROCtracer in programs without a tool of the SDK's, where runtimes announce themselves by
 * librocprofiler-register: ours, or one that decides as AMD's. The program is linked with neither
 * of our libraries, so that any order can be played. Each mode is a process of its own.
 *   tracer_test MODE
 */
#include "hip_double.h"

#include <dlfcn.h>
#include <rocprofiler-register/rocprofiler-register.h>
#include <rocprofiler-sdk/hip.h>
#include <roctracer/roctracer.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- HIP */

static double_hip_start_fn hip_start;
static double_hip_function_fn hip_function;
static double_hip_untouched_fn hip_untouched;
static double_hip_function_fn hip_compiler_function;

static void *find(void *library, const char *name)
{
    void *function = dlsym(library, name);
    assert_non_null(function);
    return function;
}

static void *library_open(const char *path, int scope)
{
    void *library = dlopen(path, RTLD_NOW | scope);
    if (!library)
        print_error("%s\n", dlerror());
    assert_non_null(library);
    return library;
}

static void hip_open(void)
{
    void *hip = library_open(DOUBLE_FOLDER "/copy0/libamdhip64.so.7", RTLD_LOCAL);
    *(void **)&hip_start = find(hip, "double_hip_start");
    *(void **)&hip_function = find(hip, "double_hip_function");
    *(void **)&hip_untouched = find(hip, "double_hip_untouched");
    *(void **)&hip_compiler_function = find(hip, "double_hip_compiler_function");
}

static void hip_call(void)
{
    hipError_t (*allocate)(void **, size_t);
    void *memory = NULL;
    *(void **)&allocate = hip_function(ROCPROFILER_HIP_RUNTIME_API_ID_hipMalloc);
    assert_int_equal(allocate(&memory, 8), hipSuccess);
}

/* One of the second table that HIP registers. */
static void hip_compiler_call(void)
{
    hipError_t (*push)(dim3, dim3, size_t, hipStream_t);
    dim3 one = {1, 1, 1};
    *(void **)&push =
        hip_compiler_function(ROCPROFILER_HIP_COMPILER_API_ID___hipPushCallConfiguration);
    assert_int_equal(push(one, one, 1, NULL), hipSuccess);
}

/* ---- ROCtracer */

static __typeof__(&roctracer_enable_domain_callback) enable;
static __typeof__(&roctracer_disable_domain_callback) disable;
static unsigned enters, exits;

static void on_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const uint32_t *phase = (const uint32_t *)data + 2; /* after the correlation id */
    (void)domain, (void)op, (void)arg;
    *(*phase == ACTIVITY_API_PHASE_ENTER ? &enters : &exits) += 1;
}

static void tracer_open(int scope)
{
    void *tracer = library_open(TRACER, scope);
    *(void **)&enable = find(tracer, "roctracer_enable_domain_callback");
    *(void **)&disable = find(tracer, "roctracer_disable_domain_callback");
}

static void tracer_enable(void)
{
    assert_int_equal(enable(ACTIVITY_DOMAIN_HIP_API, on_call, NULL), ROCTRACER_STATUS_SUCCESS);
}

static void sees(unsigned calls)
{
    assert_int_equal(enters, calls);
    assert_int_equal(exits, calls);
}

/* What children of the program inherit. */
static void environment_is_clean(void)
{
    assert_null(getenv("ROCPROFILER_REGISTER_FORCE_LOAD"));
    assert_null(getenv("ROCPROFILER_REGISTER_LIBRARY"));
}

static void started_without_a_tool(void)
{
    /* ROCr loads what HSA_TOOLS_LIB names unless it hears of success */
    assert_int_not_equal(hip_start(), ROCP_REG_SUCCESS);
}

/* ---- modes */

static void first(void **state)
{
    (void)state;
    tracer_open(RTLD_GLOBAL);
    tracer_enable();
    hip_open();
    started_without_a_tool();
    hip_call();
    sees(1);
    started_without_a_tool(); /* as after hsa_shut_down: the same table, filled anew */
    hip_call();
    sees(2);
    environment_is_clean();
}

static void between(void **state)
{
    (void)state;
    tracer_open(RTLD_LOCAL);
    hip_open();
    started_without_a_tool();
    hip_call();
    int untouched = hip_untouched();
    tracer_enable();
    assert_true(hip_untouched() < untouched);
    hip_call();
    sees(1);
    disable(ACTIVITY_DOMAIN_HIP_API);
    hip_call();
    sees(1);
    environment_is_clean();
}

static void late(void **state)
{
    (void)state;
    hip_open();
    started_without_a_tool();
    hip_call();
    tracer_open(RTLD_LOCAL);
    hip_call();
    tracer_enable();
    hip_call();
    sees(1);
    hip_compiler_call();
    sees(2);
    environment_is_clean();
}

/* Nothing is enabled: the program pays nothing. */
static void idle(void **state)
{
    (void)state;
    tracer_open(RTLD_GLOBAL);
    hip_open();
    started_without_a_tool();
    int untouched = hip_untouched();
    hip_call();
    tracer_enable();
    assert_true(hip_untouched() < untouched);
}

/* HIP registers when nobody has asked yet; HSA's tool hook brings its tables. */
static void hooked(void **state)
{
    (void)state;
    static uint64_t nothing[64]; /* an HsaApiTable without tables: nothing of it is traced */
    bool (*on_load)(void *, uint64_t, uint64_t, const char *const *);
    tracer_open(RTLD_LOCAL);
    tracer_enable();
    hip_open();
    started_without_a_tool();
    void *engine = library_open("libcrocprof.so.0", RTLD_NOLOAD);
    *(void **)&on_load = find(engine, "OnLoad");
    on_load(nothing, 2, 0, NULL);
    hip_call();
    sees(1);
}

/* With a tool of the SDK's: each sees each call once, whoever came first. */
static unsigned *tool_count;

static void tool_open(void)
{
    tool_count = find(library_open(TOOL, RTLD_GLOBAL), "tracer_tool_mallocs");
}

static void with_tool(void **state)
{
    (void)state;
    tool_open();
    tracer_open(RTLD_LOCAL);
    tracer_enable();
    hip_open();
    assert_int_equal(hip_start(), ROCP_REG_SUCCESS);
    hip_call();
    sees(1);
    assert_int_equal(*tool_count, 1);
}

static void with_tool_late(void **state)
{
    (void)state;
    tool_open();
    hip_open();
    assert_int_equal(hip_start(), ROCP_REG_SUCCESS);
    hip_call();
    tracer_open(RTLD_LOCAL);
    tracer_enable();
    hip_call();
    sees(1);
    assert_int_equal(*tool_count, 2);
}

int main(int argc, char **argv)
{
#define MODE(mode)                                                                                 \
    {                                                                                              \
#mode, mode, NULL, NULL, NULL                                                              \
    }
    static const struct CMUnitTest modes[] = {
        MODE(first),  MODE(between),   MODE(late),           MODE(idle),
        MODE(hooked), MODE(with_tool), MODE(with_tool_late),
    };
    for (size_t i = 0; argc == 2 && i < sizeof modes / sizeof modes[0]; i++)
        if (!strcmp(argv[1], modes[i].name)) {
            const struct CMUnitTest tests[] = {modes[i]};
            return cmocka_run_group_tests(tests, NULL, NULL);
        }
    fprintf(stderr, "usage: %s MODE\n", argv[0]);
    return 2;
}
