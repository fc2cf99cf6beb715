#include "base/clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SAMPLES = 2000, TOLERANCE_NS = 20000 };

/* Ticks taken between two readings of the real clock convert into that interval. */
static void ticks_agree_with_the_clock(void **state)
{
    (void)state;
    static uint64_t before[SAMPLES], ticks[SAMPLES], after[SAMPLES];
    clock_init();
    for (int i = 0; i < SAMPLES; i++) {
        before[i] = clock_now_ns();
        ticks[i] = clock_ticks();
        after[i] = clock_now_ns();
        for (uint64_t until = after[i] + 5000; clock_now_ns() < until;)
            ;
    }
    struct clock_segment segment = clock_segment_now();
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t ns = clock_ticks_to_ns(&segment, ticks[i]);
        assert_true(ns + TOLERANCE_NS >= before[i]);
        assert_true(ns <= after[i] + TOLERANCE_NS);
    }
}

/* The order of ticks survives, over several anchors and in any order of conversion. */
static void conversion_is_monotonic(void **state)
{
    (void)state;
    static uint64_t ticks[SAMPLES];
    for (int i = 0; i < SAMPLES; i++) {
        ticks[i] = clock_ticks();
        if (i % 100 == 0)
            clock_segment_now();
    }
    struct clock_segment segment = clock_segment_now();
    uint64_t last = UINT64_MAX;
    for (int i = SAMPLES - 1; i >= 0; i--) {
        uint64_t ns = clock_ticks_to_ns(&segment, ticks[i]);
        assert_true(ns <= last);
        last = ns;
    }
}

/* What costs a record least, wherever the kernel says that the TSC keeps its pace, and keeps time
 * by it. */
static void ticks_are_the_processors_where_these_are_steady(void **state)
{
    char line[8192], source[32] = "";
    bool steady = false;
    (void)state;
    FILE *cpus = fopen("/proc/cpuinfo", "re");
    FILE *clocks = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    while (cpus && !steady && fgets(line, sizeof line, cpus))
        steady = strstr(line, " nonstop_tsc") != NULL;
    if (clocks && !fgets(source, sizeof source, clocks))
        source[0] = 0;
    if (cpus)
        fclose(cpus);
    if (clocks)
        fclose(clocks);
    if (!steady || strcmp(source, "tsc\n") != 0)
        skip();
    clock_init();
    assert_true(clock_uses_tsc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_agree_with_the_clock),
        cmocka_unit_test(conversion_is_monotonic),
        cmocka_unit_test(ticks_are_the_processors_where_these_are_steady),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
