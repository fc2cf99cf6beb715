/* A device's clock above a runtime that measures its line anew and wrongly. */
#include "intercept/hsa/device_clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/clock.h"

enum { NS_PER_TICK = 10, EXACT_NS = 25, SKEW_MOST_NS = 3000000 };

/* What the runtime says: ticks on a line that lies `skew_ns` off the truth. */
struct runtime {
    uint64_t origin_ns;
    int64_t skew_ns;
    uint32_t questions;
    bool silent;
};

static uint64_t answer(const void *data, uint64_t ticks)
{
    struct runtime *runtime = (struct runtime *)data;
    runtime->questions++;
    if (runtime->silent)
        return 0;
    if (ticks > UINT64_MAX / NS_PER_TICK / 4)
        return UINT64_MAX / 4;
    return runtime->origin_ns + ticks * NS_PER_TICK + (uint64_t)runtime->skew_ns;
}

static uint64_t truth(const struct runtime *runtime, uint64_t ticks)
{
    return runtime->origin_ns + ticks * NS_PER_TICK;
}

static struct runtime runtime_make(void)
{
    return (struct runtime){.origin_ns = clock_now_ns() / 2};
}

static uint64_t random_state = 88172645463325252u;

static uint64_t dice(uint64_t sides)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % sides;
}

static void times_are_the_runtimes(void **state)
{
    static struct device_clock clock;
    struct runtime runtime = runtime_make();
    const struct device_clock_source source = {answer, &runtime};
    uint64_t ticks = 5000;
    (void)state;
    for (int i = 0; i < 10000; i++) {
        ticks += dice(100000);
        uint64_t ns = device_clock_ns(&clock, &source, ticks);
        assert_in_range(ns, truth(&runtime, ticks) - EXACT_NS, truth(&runtime, ticks) + EXACT_NS);
        ns = device_clock_ns(&clock, &source, ticks - dice(5000));
        assert_true(ns <= truth(&runtime, ticks) + EXACT_NS);
    }
    assert_true(runtime.questions <= 10000 + 100); /* what lies back needs none */
}

/* One moment that some kernel began or ended, and what was said of it. */
struct moment {
    uint64_t ticks, ns;
};

static int by_ticks(const void *a, const void *b)
{
    uint64_t x = ((const struct moment *)a)->ticks, y = ((const struct moment *)b)->ticks;
    return (x > y) - (x < y);
}

/* Asked for late and early, by up to `late_ticks`, while the runtime's line jumps to and fro, every
 * `calm` questions or so: the later tick never has the earlier time, and no time is further off
 * than the worst line. */
static void order_check(uint32_t count, uint64_t calm, uint64_t late_ticks)
{
    struct device_clock *clock = calloc(1, sizeof *clock);
    struct moment *moments = calloc(count, sizeof *moments);
    struct runtime runtime = runtime_make();
    const struct device_clock_source source = {answer, &runtime};
    uint64_t now = late_ticks + 2000000;
    assert_true(clock && moments);
    for (uint32_t i = 0; i < count; i++) {
        now += dice(4) ? dice(1000) : dice(3000000);
        if (dice(calm) == 0)
            runtime.skew_ns = (int64_t)dice(2 * SKEW_MOST_NS) - SKEW_MOST_NS;
        uint64_t back = dice(3) ? 0 : dice(50) ? dice(20000) : dice(late_ticks);
        moments[i] = (struct moment){.ticks = now - back};
        moments[i].ns = device_clock_ns(clock, &source, moments[i].ticks);
    }
    qsort(moments, count, sizeof moments[0], by_ticks);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t exact = truth(&runtime, moments[i].ticks);
        assert_in_range(moments[i].ns, exact - SKEW_MOST_NS - EXACT_NS,
                        exact + SKEW_MOST_NS + EXACT_NS);
        if (i == 0)
            continue;
        assert_true(moments[i - 1].ns <= moments[i].ns);
        if (moments[i - 1].ticks == moments[i].ticks)
            assert_int_equal(moments[i - 1].ns, moments[i].ns);
    }
    free(moments);
    free(clock);
}

static void order_survives_new_lines(void **state)
{
    (void)state;
    order_check(40000, 20, 2000000000);
    order_check(2000, 1, 20000000);
}

/* Then the oldest ones are thinned out. */
static void order_survives_more_lines_than_are_kept(void **state)
{
    (void)state;
    order_check(20 * DEVICE_CLOCK_PIECES, 2, 20000000);
}

/* One wrong line costs as long as it was off, not the rest of the process. */
static void a_wrong_line_is_left_again(void **state)
{
    static struct device_clock clock;
    struct runtime runtime = runtime_make();
    const struct device_clock_source source = {answer, &runtime};
    (void)state;
    device_clock_ns(&clock, &source, 10000000);
    runtime.skew_ns = SKEW_MOST_NS;
    uint64_t early = device_clock_ns(&clock, &source, 10001000);
    assert_int_equal(early, truth(&runtime, 10001000) + SKEW_MOST_NS);
    runtime.skew_ns = 0;
    assert_int_equal(device_clock_ns(&clock, &source, 10002000), early);
    uint64_t later = 10002000 + SKEW_MOST_NS / NS_PER_TICK;
    assert_in_range(device_clock_ns(&clock, &source, later), truth(&runtime, later) - EXACT_NS,
                    truth(&runtime, later) + EXACT_NS);
}

/* Ticks that a lost device leaves behind are answered and forgotten. */
static void ticks_out_of_the_future_do_no_harm(void **state)
{
    static struct device_clock clock;
    struct runtime runtime = runtime_make();
    const struct device_clock_source source = {answer, &runtime};
    const uint64_t wild[] = {UINT64_MAX, UINT64_MAX / 10, 1, 0, UINT64_C(1) << 60};
    (void)state;
    for (size_t i = 0; i < 100; i++) {
        uint64_t ticks = 1000000 + i * 5000;
        device_clock_ns(&clock, &source, wild[i % 5]);
        assert_in_range(device_clock_ns(&clock, &source, ticks), truth(&runtime, ticks) - EXACT_NS,
                        truth(&runtime, ticks) + EXACT_NS);
    }
}

static void no_answer_is_no_time(void **state)
{
    static struct device_clock clock;
    struct runtime runtime = runtime_make();
    const struct device_clock_source source = {answer, &runtime};
    (void)state;
    runtime.silent = true;
    assert_int_equal(device_clock_ns(&clock, &source, 1000), 0);
    runtime.silent = false;
    assert_int_equal(device_clock_ns(&clock, &source, 1000), truth(&runtime, 1000));
    runtime.silent = true;
    assert_int_equal(device_clock_ns(&clock, &source, 2000), 0);
    assert_int_equal(device_clock_ns(&clock, &source, 1000), truth(&runtime, 1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times_are_the_runtimes),
        cmocka_unit_test(order_survives_new_lines),
        cmocka_unit_test(order_survives_more_lines_than_are_kept),
        cmocka_unit_test(a_wrong_line_is_left_again),
        cmocka_unit_test(ticks_out_of_the_future_do_no_harm),
        cmocka_unit_test(no_answer_is_no_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
