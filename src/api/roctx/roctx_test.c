#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rocprofiler-sdk-roctx/api_trace.h>
#include <rocprofiler-sdk-roctx/roctx.h>

/* A profiler in the process: the library must find it, hand over its tables, and call through what
 * the profiler put there. The executable exports it (-rdynamic). */
int rocprofiler_set_api_table(const char *name, uint64_t version, uint64_t instance, void **tables,
                              uint64_t count);

static int offers;
static char last_mark[64];
static void (*next_mark)(const char *);

static void profiled_mark(const char *message)
{
    strncpy(last_mark, message, sizeof last_mark - 1);
    next_mark(message);
}

__attribute__((visibility("default"))) int rocprofiler_set_api_table(const char *name,
                                                                     uint64_t version,
                                                                     uint64_t instance,
                                                                     void **tables, uint64_t count)
{
    assert_string_equal(name, "roctx");
    assert_int_equal(version, 10000);
    assert_int_equal(instance, 0);
    assert_int_equal(count, 3);
    assert_int_equal(*(uint64_t *)tables[0], sizeof(roctxCoreApiTable_t));
    assert_int_equal(*(uint64_t *)tables[1], sizeof(roctxControlApiTable_t));
    assert_int_equal(*(uint64_t *)tables[2], sizeof(roctxNameApiTable_t));
    roctxMarkA("from inside: no deadlock, no second offer");
    roctxCoreApiTable_t *core = tables[0];
    next_mark = core->roctxMarkA_fn;
    core->roctxMarkA_fn = profiled_mark;
    offers++;
    return 0;
}

static void the_first_call_offers_the_tables_once(void **state)
{
    (void)state;
    roctxMark("one");
    assert_int_equal(offers, 1);
    assert_string_equal(last_mark, "one");
    roctxMark("two");
    assert_int_equal(offers, 1);
    assert_string_equal(last_mark, "two");
}

static void *depth_elsewhere(void *depth)
{
    *(int *)depth = roctxRangePush("other thread");
    return NULL;
}

static void push_and_pop_tell_the_depth_per_thread(void **state)
{
    (void)state;
    assert_int_equal(roctxRangePush("a"), 0);
    assert_int_equal(roctxRangePush("b"), 1);
    int depth = -7;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, depth_elsewhere, &depth), 0);
    pthread_join(thread, NULL);
    assert_int_equal(depth, 0);
    assert_int_equal(roctxRangePop(), 1);
    assert_int_equal(roctxRangePop(), 0);
    assert_true(roctxRangePop() < 0);
    assert_int_equal(roctxRangePush("still works"), 0);
    assert_int_equal(roctxRangePop(), 0);
}

static void started_ranges_have_their_own_ids(void **state)
{
    (void)state;
    roctx_range_id_t first = roctxRangeStart("x"), second = roctxRangeStart("y");
    assert_true(first != 0 && second != 0 && first != second);
    roctxRangeStop(first);
    roctxRangeStop(second);
}

static void thread_ids_are_the_kernels(void **state)
{
    (void)state;
    roctx_thread_id_t tid = 0;
    assert_int_equal(roctxGetThreadId(&tid), 0);
    assert_int_equal(tid, syscall(SYS_gettid));
    assert_int_equal(roctxProfilerPause(tid), 0);
    assert_int_equal(roctxProfilerResume(0), 0);
    assert_int_equal(roctxNameOsThread("main"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_call_offers_the_tables_once),
        cmocka_unit_test(push_and_pop_tell_the_depth_per_thread),
        cmocka_unit_test(started_ranges_have_their_own_ids),
        cmocka_unit_test(thread_ids_are_the_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
