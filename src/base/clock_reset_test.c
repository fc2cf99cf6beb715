/* A time stamp counter that begins again, as after a suspend to memory: clock.c with one of ours.
 */
#include <stdint.h>

static uint64_t tsc_begin, behind_once;
static uint64_t fake_tsc(void);
#define __builtin_ia32_rdtsc fake_tsc
#include "base/clock.c"
#undef __builtin_ia32_rdtsc

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { TICKS_PER_NS = 3, TOLERANCE_NS = 1000000 };

static uint64_t fake_tsc(void)
{
    static uint64_t begin_ns;
    if (begin_ns == 0)
        begin_ns = clock_now_ns();
    uint64_t behind = behind_once;
    behind_once = 0;
    return tsc_begin - behind + (clock_now_ns() - begin_ns) * TICKS_PER_NS;
}

static void assert_near(uint64_t ticks, uint64_t ns)
{
    struct clock_segment segment = clock_segment_now();
    uint64_t converted = clock_ticks_to_ns(&segment, ticks);
    assert_in_range(converted, ns - TOLERANCE_NS, ns + TOLERANCE_NS);
}

static void times_survive_a_reset(void **state)
{
    (void)state;
    tsc_begin = UINT64_C(3600) * 1000000000 * TICKS_PER_NS; /* up for an hour */
    clock_init();
    clock_uses_tsc = true;
    chain_begin();
    /* before anybody asked for a time */
    tsc_begin /= 2;
    uint64_t first_ns = clock_now_ns(), first = clock_ticks();
    assert_near(first, first_ns);
    /* and after */
    uint64_t before_ns = clock_now_ns(), before = clock_ticks();
    tsc_begin = 0;
    uint64_t after_ns = clock_now_ns(), after = clock_ticks();
    assert_near(after, after_ns);
    assert_near(before, before_ns);
    assert_near(after, after_ns);
    assert_near(clock_ticks(), clock_now_ns());
}

/* A thread that moved to a processor whose counter is a little behind, for one reading: no reset,
 * and what could be converted before stays as it was. */
static void one_reading_behind_changes_nothing(void **state)
{
    (void)state;
    struct clock_segment before, after;
    tsc_begin = UINT64_C(3600) * 1000000000 * TICKS_PER_NS;
    chain_begin();
    uint32_t tries = 0;
    do { /* unless the segment ends in between */
        before = clock_segment_now();
        behind_once = UINT64_C(1000000000) * TICKS_PER_NS;
        after = clock_segment_now();
        assert_int_equal(behind_once, 0);
    } while (after.first_ticks > before.first_ticks && ++tries < 3);
    assert_int_equal(after.first_ticks, before.first_ticks);
    assert_int_equal(after.last_ticks, before.last_ticks);
    assert_near(clock_ticks(), clock_now_ns());
}

int main(void)
{
#ifndef __x86_64__
    return 0; /* ticks are the kernel's clock there */
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(times_survive_a_reset),
                                       cmocka_unit_test(one_reading_behind_changes_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
