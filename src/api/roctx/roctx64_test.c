#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include <rocprofiler-sdk-roctx/api_trace.h>
#include <roctracer/ext/prof_protocol.h>
#undef ROCTX_VERSION_MAJOR /* of the other library's headers */
#undef ROCTX_VERSION_MINOR
#include <roctracer/roctracer_roctx.h>

void roctxRegisterTracerCallback(int (*listener)(activity_domain_t domain, uint32_t operation,
                                                 void *data));

/* A profiler that takes the tables, as the SDK's marker services do. */
static _Atomic int wrapped_pushes;
static roctxRangePushA_fn_t next_push;
static int wrapped_push(const char *message)
{
    atomic_fetch_add(&wrapped_pushes, 1);
    return next_push(message);
}

int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
                              uint64_t count);
__attribute__((visibility("default"))) int rocprofiler_set_api_table(const char *name,
                                                                     uint64_t version,
                                                                     uint64_t instance,
                                                                     void **tables, uint64_t count)
{
    (void)version, (void)instance;
    assert_string_equal(name, "roctx");
    assert_int_equal(count, 3);
    roctxCoreApiTable_t *core = tables[0];
    next_push = core->roctxRangePushA_fn;
    core->roctxRangePushA_fn = wrapped_push;
    return 0;
}

/* A tracer that listens. */
static struct {
    uint32_t operation;
    char message[32];
    uint64_t id;
} heard[16];
static int heard_count;

static int listen(activity_domain_t domain, uint32_t operation, void *data)
{
    const roctx_api_data_t *api = data;
    assert_int_equal(domain, ACTIVITY_DOMAIN_ROCTX);
    heard[heard_count].operation = operation;
    strcpy(heard[heard_count].message, api->args.message ? api->args.message : "(none)");
    heard[heard_count++].id = api->args.id;
    return 0;
}

static void heard_is(int at, uint32_t operation, const char *message, uint64_t id)
{
    assert_int_equal(heard[at].operation, operation);
    assert_string_equal(heard[at].message, message);
    assert_true(heard[at].id == id);
}

static int set_up(void **state)
{
    (void)state;
    heard_count = 0;
    roctxRegisterTracerCallback(listen);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    roctxRegisterTracerCallback(NULL);
    return 0;
}

static void the_version_is_4_1(void **state)
{
    (void)state;
    assert_int_equal(roctx_version_major(), 4);
    assert_int_equal(roctx_version_minor(), 1);
}

static void every_function_has_the_symbol_version(void **state)
{
    (void)state;
    static const char *const names[] = {"roctx_version_major", "roctx_version_minor",
                                        "roctxMarkA",          "roctxRangePushA",
                                        "roctxRangePop",       "roctxRangeStartA",
                                        "roctxRangeStop",      "roctxRegisterTracerCallback"};
    void *library = dlopen("libroctx64.so.4", RTLD_NOW | RTLD_NOLOAD);
    assert_non_null(library);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_non_null(dlvsym(library, names[i], "ROCTX_4.1"));
    assert_null(dlvsym(library, names[0], "ROCTX_4.0"));
    dlclose(library);
}

static void the_first_started_range_is_number_1(void **state)
{
    (void)state;
    assert_int_equal(roctxRangeStart("first"), 1);
    assert_int_equal(roctxRangeStart("second"), 2);
    roctxRangeStop(2);
    roctxRangeStop(1);
    roctxRangeStop(77); /* nobody's: told all the same */
    assert_int_equal(heard_count, 5);
    heard_is(0, ROCTX_API_ID_roctxRangeStartA, "first", 1);
    heard_is(1, ROCTX_API_ID_roctxRangeStartA, "second", 2);
    heard_is(2, ROCTX_API_ID_roctxRangeStop, "(none)", 2);
    heard_is(3, ROCTX_API_ID_roctxRangeStop, "(none)", 1);
    heard_is(4, ROCTX_API_ID_roctxRangeStop, "(none)", 77);
}

static void levels_count_from_0_and_a_pop_too_many_is_minus_1(void **state)
{
    (void)state;
    assert_int_equal(roctxRangePop(), -1);
    assert_int_equal(roctxRangePush("a"), 0);
    assert_int_equal(roctxRangePush("b"), 1);
    assert_int_equal(roctxRangePop(), 1);
    assert_int_equal(roctxRangePop(), 0);
    assert_int_equal(roctxRangePop(), -1);
    assert_int_equal(roctxRangePush("c"), 0);
    assert_int_equal(roctxRangePop(), 0);
    assert_int_equal(heard_count, 8); /* the unbalanced ones too */
    heard_is(0, ROCTX_API_ID_roctxRangePop, "(none)", 0);
    heard_is(1, ROCTX_API_ID_roctxRangePushA, "a", 0);
}

static void a_mark_is_told_once_and_only_while_somebody_listens(void **state)
{
    (void)state;
    roctxMark("heard");
    roctxRegisterTracerCallback(NULL);
    roctxMark("unheard");
    roctxRegisterTracerCallback(listen);
    roctxMark("again");
    assert_int_equal(heard_count, 2);
    heard_is(0, ROCTX_API_ID_roctxMarkA, "heard", 0);
    heard_is(1, ROCTX_API_ID_roctxMarkA, "again", 0);
}

static void a_profiler_and_a_listener_both_see_a_marker(void **state)
{
    (void)state;
    int before = atomic_load(&wrapped_pushes);
    assert_int_equal(roctxRangePush("both"), 0);
    roctxRangePop();
    assert_int_equal(atomic_load(&wrapped_pushes), before + 1);
    heard_is(0, ROCTX_API_ID_roctxRangePushA, "both", 0);
}

enum { THREADS = 8, ROUNDS = 20000 };
static _Atomic uint64_t told, ids_sum;

static int count(activity_domain_t domain, uint32_t operation, void *data)
{
    (void)domain, (void)operation, (void)data;
    atomic_fetch_add(&told, 1);
    return 0;
}

static void *thread_main(void *wrong)
{
    for (int i = 0; i < ROUNDS; i++) {
        *(int *)wrong += roctxRangePush("x") != 0;
        *(int *)wrong += roctxRangePush("y") != 1;
        atomic_fetch_add(&ids_sum, roctxRangeStart("z"));
        *(int *)wrong += roctxRangePop() != 1;
        *(int *)wrong += roctxRangePop() != 0;
    }
    return NULL;
}

static void threads_have_their_own_levels_and_share_the_ids(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    uint64_t first = roctxRangeStart("before") + 1, n = THREADS * ROUNDS;
    roctxRegisterTracerCallback(count);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, thread_main, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(wrong[i], 0);
    }
    assert_true(atomic_load(&told) == 5 * n);
    assert_true(atomic_load(&ids_sum) == n * first + n * (n - 1) / 2); /* each id once */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_version_is_4_1),
        cmocka_unit_test(every_function_has_the_symbol_version),
        cmocka_unit_test_setup_teardown(the_first_started_range_is_number_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(levels_count_from_0_and_a_pop_too_many_is_minus_1, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_mark_is_told_once_and_only_while_somebody_listens, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_profiler_and_a_listener_both_see_a_marker, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(threads_have_their_own_levels_and_share_the_ids, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
