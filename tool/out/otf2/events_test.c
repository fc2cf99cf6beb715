#include "out/otf2/events.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { LOCATIONS = 7 };

/* A permutation of the numbers below a power of two. */
static uint32_t scattered(uint32_t i, uint32_t size)
{
    return i * 2654435761u & (size - 1);
}

/* As many events as do not fit into memory at once, in no order at all or nearly in their own. */
static void events_write(struct events *events, uint32_t count, bool is_scattered)
{
    events_open(events, "/tmp");
    for (uint32_t i = 0; i < count; i++) {
        uint32_t number = is_scattered ? scattered(i, count) : count < 4 ? i : i ^ 3;
        const struct event event = {.begin_ns = number / LOCATIONS,
                                    .end_ns = number,
                                    .value = number,
                                    .location = number % LOCATIONS};
        events_add(events, &event);
    }
}

static void all_events_come_in_order(void **state)
{
    static const uint32_t counts[] = {0, 1, 8, 1024, 1u << 18, 1u << 20};
    (void)state;
    for (size_t c = 0; c < 2 * sizeof counts / sizeof counts[0]; c++) {
        uint32_t count = counts[c / 2];
        struct events events;
        struct event event;
        events_write(&events, count, c % 2);
        assert_int_equal(events_sort(&events), 0);
        for (uint32_t location = 0; location < LOCATIONS; location++)
            for (uint32_t number = location; number < count; number += LOCATIONS) {
                assert_true(events_next(&events, &event));
                assert_int_equal(event.location, location);
                assert_int_equal(event.value, number);
            }
        assert_false(events_next(&events, &event));
        assert_int_equal(events.status, 0);
        events_close(&events);
    }
}

static void what_contains_comes_before_what_is_contained(void **state)
{
    (void)state;
    struct events events;
    struct event event;
    events_open(&events, "/tmp");
    for (uint64_t end = 1; end <= 5; end++) {
        const struct event inner_first = {.begin_ns = 1, .end_ns = end};
        events_add(&events, &inner_first);
    }
    assert_int_equal(events_sort(&events), 0);
    for (uint64_t end = 5; end >= 1; end--) {
        assert_true(events_next(&events, &event));
        assert_int_equal(event.end_ns, end);
    }
    events_close(&events);
}

static void a_place_that_takes_no_file_is_an_error(void **state)
{
    (void)state;
    struct events events;
    const struct event event = {0};
    events_open(&events, "/proc/self/nothing");
    for (int i = 0; i < 1 << 19; i++)
        events_add(&events, &event);
    assert_true(events_sort(&events) < 0);
    events_close(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_events_come_in_order),
        cmocka_unit_test(what_contains_comes_before_what_is_contained),
        cmocka_unit_test(a_place_that_takes_no_file_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
