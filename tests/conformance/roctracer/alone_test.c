/* The library without any runtime in the process: what it knows by itself, what it says of what is
 * not there, and a marker library that comes later. */
#include "common.h"

#include <dlfcn.h>
#include <pthread.h>

#if ROCTRACER_VERSION_MAJOR != 4 || ROCTRACER_VERSION_MINOR != 1
#error "the preprocessor can use the version"
#endif

/* Must be the first calls of the process. */
static void the_version_can_be_asked_first(void **state)
{
    (void)state;
    assert_int_equal(roctracer_version_major(), ROCTRACER_VERSION_MAJOR);
    assert_int_equal(roctracer_version_minor(), ROCTRACER_VERSION_MINOR);
}

static void a_version_that_the_library_lacks_is_an_error(void **state)
{
    (void)state;
    void *library = dlopen("libroctracer64.so.4", RTLD_NOLOAD | RTLD_LAZY);
    assert_non_null(library);
    dlerror();
    assert_null(dlvsym(library, "roctracer_open_pool", "ROCTRACER_4.2"));
    assert_non_null(dlerror());
    assert_null(dlvsym(library, "roctracer_open_pool", "ROCTRACER_5.0"));
}

static void no_error_is_the_empty_string(void **state)
{
    (void)state;
    char *message = (char *)(uintptr_t)roctracer_error_string();
    assert_string_equal(message, "");
    free(message);
}

/* ---- every failure says why */

static void fail_op_string(void)
{
    assert_null(roctracer_op_string(99, 0, 0));
}
static void fail_op_code(void)
{
    uint32_t op;
    FAILS(INVALID_ARGUMENT, roctracer_op_code(ACTIVITY_DOMAIN_HSA_API, "nothing", &op, NULL));
}
static void fail_op_code_domain(void)
{
    uint32_t op;
    FAILS(INVALID_DOMAIN_ID, roctracer_op_code(77, "nothing", &op, NULL));
}
static void fail_properties(void)
{
    FAILS(INVALID_DOMAIN_ID, roctracer_set_properties(ACTIVITY_DOMAIN_ROCTX, NULL));
}
static void fail_callback(void)
{
    FAILS(INVALID_ARGUMENT, roctracer_enable_op_callback(ACTIVITY_DOMAIN_HSA_API, 0, NULL, NULL));
}
static void fail_callback_op(void)
{
    FAILS(INVALID_ARGUMENT, roctracer_disable_op_callback(ACTIVITY_DOMAIN_ROCTX, 50));
}
static void fail_default_pool(void)
{
    FAILS(DEFAULT_POOL_UNDEFINED, roctracer_enable_domain_activity(ACTIVITY_DOMAIN_HSA_API));
}
static void fail_pool(void)
{
    FAILS(INVALID_ARGUMENT, roctracer_flush_activity_expl((void *)(uintptr_t)0x77));
}
static void fail_open(void)
{
    FAILS(INVALID_ARGUMENT, roctracer_open_pool(NULL));
}
static void fail_next(void)
{
    const roctracer_record_t *next;
    FAILS(INVALID_ARGUMENT, roctracer_next_record(NULL, &next));
}
static void fail_timestamp(void)
{
    FAILS(INVALID_ARGUMENT, roctracer_get_timestamp(NULL));
}
static void fail_pop(void)
{
    FAILS(MISMATCHED_EXTERNAL_CORRELATION_ID, roctracer_activity_pop_external_correlation_id(NULL));
}
static void every_failure_says_why(void **state)
{
    static void (*const failures[])(void) = {
        fail_op_string, fail_op_code,     fail_op_code_domain, fail_properties,
        fail_callback,  fail_callback_op, fail_pool,           fail_default_pool,
        fail_open,      fail_next,        fail_timestamp,      fail_pop,
    };
    char *before = NULL;
    (void)state;
    for (size_t i = 0; i < sizeof failures / sizeof failures[0]; i++) {
        failures[i]();
        char *message = (char *)(uintptr_t)roctracer_error_string();
        assert_true(*message != 0);
        assert_true(!before || strcmp(before, message) != 0); /* its own words */
        free(before);
        before = message;
    }
    free(before);
}

/* ---- without runtimes */

/* Programs enable what the name once stood for, samples of the PC, and go on as if there were any.
 */
static void the_reserved_operation_can_be_enabled(void **state)
{
    static struct catch c;
    (void)state;
    catch_open(&c, 4096);
    OK(roctracer_enable_op_activity_expl(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_RESERVED1, c.pool));
    OK(roctracer_disable_op_activity(ACTIVITY_DOMAIN_HSA_OPS, HSA_OP_ID_RESERVED1));
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.count, 0);
}

static void ignore_call(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    (void)domain, (void)op, (void)data, (void)arg;
}

/* Tools enable at their start, whether or not the program will ever use a runtime. */
static void absent_runtimes_can_be_enabled(void **state)
{
    static const activity_domain_t calls[] = {ACTIVITY_DOMAIN_HSA_API, ACTIVITY_DOMAIN_HIP_API,
                                              ACTIVITY_DOMAIN_ROCTX, ACTIVITY_DOMAIN_HSA_EVT};
    static const activity_domain_t records[] = {ACTIVITY_DOMAIN_HSA_API, ACTIVITY_DOMAIN_HSA_OPS,
                                                ACTIVITY_DOMAIN_HIP_API, ACTIVITY_DOMAIN_HIP_OPS};
    static struct catch c;
    (void)state;
    catch_open(&c, 4096);
    for (int i = 0; i < 4; i++) {
        OK(roctracer_enable_domain_callback(calls[i], ignore_call, NULL));
        OK(roctracer_enable_domain_activity_expl(records[i], c.pool));
    }
    OK(roctracer_flush_activity_expl(c.pool));
    roctracer_stop();
    roctracer_start();
    for (int i = 0; i < 4; i++) {
        OK(roctracer_disable_domain_callback(calls[i]));
        OK(roctracer_disable_domain_activity(records[i]));
    }
    OK(roctracer_close_pool_expl(c.pool));
    assert_int_equal(c.calls, 0);
}

/* ---- markers */

static struct {
    unsigned count;
    char message[32];
} heard;

static void on_marker(uint32_t domain, uint32_t op, const void *data, void *arg)
{
    const roctx_api_data_t *marker = data;
    assert_int_equal(domain, ACTIVITY_DOMAIN_ROCTX);
    assert_int_equal(op, ROCTX_API_ID_roctxMarkA);
    assert_ptr_equal(arg, &heard);
    heard.count++;
    strncpy(heard.message, marker->args.roctxMarkA.message, sizeof heard.message - 1);
}

/* As when Python loads the library with a module, long after the tool has enabled its domain. */
static void a_marker_library_may_come_later(void **state)
{
    void (*mark)(const char *message);
    (void)state;
    OK(roctracer_enable_op_callback(ACTIVITY_DOMAIN_ROCTX, ROCTX_API_ID_roctxMarkA, on_marker,
                                    &heard));
    assert_null(dlopen("libroctx64.so.4", RTLD_NOLOAD | RTLD_LAZY));
    void *library = dlopen(MARKER_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    *(void **)&mark = dlsym(library, "roctxMarkA");
    mark("the first");
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.message, "the first");
    mark("the second");
    assert_int_equal(heard.count, 2);
    OK(roctracer_disable_op_callback(ACTIVITY_DOMAIN_ROCTX, ROCTX_API_ID_roctxMarkA));
    mark("the third");
    assert_int_equal(heard.count, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_can_be_asked_first),
        cmocka_unit_test(no_error_is_the_empty_string),
        cmocka_unit_test(a_version_that_the_library_lacks_is_an_error),
        cmocka_unit_test(every_failure_says_why),
        cmocka_unit_test(the_reserved_operation_can_be_enabled),
        cmocka_unit_test(absent_runtimes_can_be_enabled),
        cmocka_unit_test(a_marker_library_may_come_later),
    };
    return cmocka_run_group_tests_name("roctracer/alone", tests, NULL, NULL);
}
