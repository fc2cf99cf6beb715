#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cp/timeline.h"

enum { NOW = 1000000 }; /* which is nobody's time but that of a packet which no look saw */

static void a_packet_came_between_two_looks(void **state)
{
    (void)state;
    struct timeline line = {0};
    timeline_look(&line, 0, 100);
    timeline_look(&line, 2, 110);
    timeline_look(&line, 2, 120);
    timeline_look(&line, 3, 130);
    struct timeline_arrival first = timeline_begin(&line, 0, false, NOW);
    assert_int_equal(first.mark_ticks, 110);
    assert_int_equal(first.work_ticks, 110);
    assert_int_equal(timeline_begin(&line, 1, false, NOW).work_ticks, 110);
    struct timeline_arrival third = timeline_begin(&line, 2, false, NOW);
    assert_int_equal(third.mark_ticks, 130);
    assert_int_equal(third.work_ticks, 130);
}

/* It was found in the ring after the last look, which must not be its time: its call began later.
 */
static void a_packet_that_no_look_saw_came_just_now(void **state)
{
    (void)state;
    struct timeline line = {0};
    struct timeline_arrival first = timeline_begin(&line, 0, false, 90);
    assert_int_equal(first.work_ticks, 90);
    timeline_look(&line, 2, 100);
    assert_int_equal(timeline_begin(&line, 1, false, 120).work_ticks, 100);
    struct timeline_arrival third = timeline_begin(&line, 2, false, 150);
    assert_int_equal(third.mark_ticks, 150);
    assert_int_equal(third.work_ticks, 150);
    assert_int_equal(timeline_begin(&line, 2, false, 160).work_ticks, 150);
    timeline_look(&line, 4, 170);
    assert_int_equal(timeline_begin(&line, 3, false, 180).work_ticks, 170);
}

/* The thread looks again when it has executed a kernel, which by the model took less. */
static void a_mark_behind_work_has_its_end(void **state)
{
    (void)state;
    struct timeline line = {0};
    timeline_look(&line, 1, 100);
    assert_int_equal(timeline_begin(&line, 0, true, NOW).work_ticks, 100);
    timeline_end(&line, 120);
    timeline_look(&line, 2, 500);
    struct timeline_arrival behind = timeline_begin(&line, 1, true, NOW);
    assert_int_equal(behind.mark_ticks, 120);
    assert_int_equal(behind.work_ticks, 500);
}

/* The thread did not look for long: no time is before the call that asked for it. */
static void a_mark_behind_nothing_came_when_it_was_seen(void **state)
{
    (void)state;
    struct timeline line = {0};
    timeline_look(&line, 1, 100);
    assert_int_equal(timeline_begin(&line, 0, true, NOW).mark_ticks, 100);
    timeline_end(&line, 120);
    timeline_look(&line, 1, 130);
    timeline_look(&line, 2, 500);
    assert_int_equal(timeline_begin(&line, 1, true, NOW).mark_ticks, 500);
}

static void the_barrier_bit_waits_for_what_ended(void **state)
{
    (void)state;
    struct timeline line = {0};
    timeline_look(&line, 4, 100);
    assert_int_equal(timeline_begin(&line, 0, true, NOW).work_ticks, 100);
    timeline_end(&line, 170);
    timeline_end(&line, 150); /* ended later, in the ring before */
    assert_int_equal(timeline_begin(&line, 1, false, NOW).work_ticks, 100);
    assert_int_equal(timeline_begin(&line, 2, true, NOW).work_ticks, 170);
    timeline_end(&line, 200);
    /* Behind a barrier, and not behind what came after it. */
    assert_int_equal(timeline_begin(&line, 3, false, NOW).work_ticks, 170);
}

static void a_reserved_packet_is_not_there_yet(void **state)
{
    (void)state;
    struct timeline line = {0};
    timeline_look(&line, 1, 100);
    timeline_unready(&line, 140);
    assert_int_equal(timeline_begin(&line, 0, false, NOW).work_ticks, 140);
}

/* More looks than fit: no packet begins before it was seen, nor out of order. */
static void many_looks_never_make_a_packet_earlier(void **state)
{
    (void)state;
    struct timeline line = {0};
    enum { PACKETS = 5 * TIMELINE_LOOKS };
    for (uint64_t i = 0; i < PACKETS; i++)
        timeline_look(&line, i + 1, 1000 + 10 * i);
    uint64_t before = 0;
    for (uint64_t i = 0; i < PACKETS; i++) {
        uint64_t begin = timeline_begin(&line, i, false, NOW).work_ticks;
        assert_true(begin >= 1000 + 10 * i);
        assert_true(begin <= 1000 + 10 * (PACKETS - 1));
        assert_true(begin >= before);
        before = begin;
    }
    timeline_look(&line, PACKETS + 1, 9000);
    assert_int_equal(timeline_begin(&line, PACKETS, false, NOW).work_ticks, 9000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_packet_came_between_two_looks),
        cmocka_unit_test(a_packet_that_no_look_saw_came_just_now),
        cmocka_unit_test(a_mark_behind_work_has_its_end),
        cmocka_unit_test(a_mark_behind_nothing_came_when_it_was_seen),
        cmocka_unit_test(the_barrier_bit_waits_for_what_ended),
        cmocka_unit_test(a_reserved_packet_is_not_there_yet),
        cmocka_unit_test(many_looks_never_make_a_packet_earlier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
