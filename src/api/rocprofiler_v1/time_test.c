/* Timestamps on clocks that are adjusted while the program runs. */
#include "api/rocprofiler_v1/internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

/* HSA's system clock, and how far the time of day is before it; the others show HSA's. */
enum { NS_PER_S = 1000000000 };
static int64_t system_ns = 1000 * (int64_t)NS_PER_S, ahead_ns = 5 * (int64_t)NS_PER_S;

/* Before libc's. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int64_t ns = system_ns + (clock == CLOCK_REALTIME ? ahead_ns : 0);
    *now = (struct timespec){ns / NS_PER_S, ns % NS_PER_S};
    return 0;
}

static uint64_t time_of_day(uint64_t timestamp)
{
    uint64_t value = 0;
    assert_int_equal(
        rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_REALTIME, timestamp, &value, NULL),
        HSA_STATUS_SUCCESS);
    return value;
}

/* 800 ns in 1000 s since the library was loaded: by the time of a timestamp, its share of that. */
static void an_adjustment_grows_evenly(void **state)
{
    const uint64_t begin = (uint64_t)system_ns, whole = 1000 * (uint64_t)NS_PER_S;
    const uint64_t ahead = (uint64_t)ahead_ns;
    (void)state;
    assert_int_equal(time_of_day(begin), begin + ahead);
    system_ns += (int64_t)whole;
    ahead_ns += 800;
    assert_int_equal(time_of_day(begin), begin + ahead);
    assert_int_equal(time_of_day(begin + whole / 4), begin + whole / 4 + ahead + 200);
    assert_int_equal(time_of_day(begin + whole / 2), begin + whole / 2 + ahead + 400);
    assert_int_equal(time_of_day(begin + whole), begin + whole + ahead + 800);
    assert_int_equal(time_of_day(begin - 7), begin - 7 + ahead);
    assert_int_equal(time_of_day(begin + 2 * whole), begin + 2 * whole + ahead + 800);
}

static void the_error_holds_the_adjustment(void **state)
{
    uint64_t value, error;
    (void)state;
    assert_int_equal(rocprofiler_get_time(ROCPROFILER_TIME_ID_CLOCK_REALTIME, 0, &value, &error),
                     HSA_STATUS_SUCCESS);
    assert_true(error >= 800);
    assert_int_equal(rocprofiler_get_time((rocprofiler_time_id_t)5, 0, &value, &error),
                     HSA_STATUS_ERROR_INVALID_ARGUMENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_adjustment_grows_evenly),
        cmocka_unit_test(the_error_holds_the_adjustment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
