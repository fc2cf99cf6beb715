#include "collect/filter.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "names/nearest.h"
#include "names/pattern.h"

static void ranges(void **state)
{
    struct filter_range found[4];
    unsigned count;
    (void)state;
    assert_true(filter_ranges_read("[1,4-7], [9]", found, 4, &count));
    assert_int_equal(count, 3);
    assert_int_equal(found[1].first, 4);
    assert_int_equal(found[1].last, 7);
    assert_int_equal(found[2].last, 9);
    assert_false(filter_ranges_read("[1,4-7,8,9,10]", found, 4, &count));
    static const char *const wrong[] = {"", "[]", "a", "[4-]", "[7-4]", "[-3]", "1.5"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(filter_ranges_read(wrong[i], found, 4, &count));
}

static void names_and_launches(void **state)
{
    struct settings settings = {0};
    (void)state;
    settings.value[OPTION_KERNEL_INCLUDE_REGEX] = "^(?:vec|mat)\\w+";
    settings.value[OPTION_KERNEL_EXCLUDE_REGEX] = "_slow$";
    settings.value[OPTION_KERNEL_ITERATION_RANGE] = "[2-3]";
    filter_open(&settings);
    assert_true(filter_wants_kernel("vector_add"));
    assert_true(filter_wants_kernel("mat_slow2"));
    assert_false(filter_wants_kernel("a_vector"));
    assert_false(filter_wants_kernel("vector_slow"));
    assert_false(filter_wants_launch(1));
    assert_true(filter_wants_launch(3));
    assert_false(filter_wants_launch(4));
}

/* A pattern that backtracks for ever is given up. */
static void hostile_patterns_end(void **state)
{
    char message[100];
    (void)state;
    struct pattern *pattern = pattern_create("(a+)+$", message, sizeof message);
    assert_non_null(pattern);
    assert_false(pattern_found(pattern, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab"));
    assert_true(pattern_found(pattern, "baaa"));
    assert_false(pattern_matches(pattern, "baaa"));
    assert_true(pattern_matches(pattern, "aaa"));
    pattern_destroy(pattern);
    pattern_destroy(NULL);
}

static void distances(void **state)
{
    static const struct {
        const char *a, *b;
        unsigned distance;
    } pairs[] = {{"", "", 0},
                 {"a", "", 1},
                 {"SQ_WAVES", "sq_waves", 0},
                 {"SQ_WAVE", "SQ_WAVES", 1},
                 {"ab", "ba", 1},
                 {"kitten", "sitting", 3},
                 {"abc", "xyz", 3},
                 {"ca", "abc", 3}};
    struct nearest nearest;
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        assert_int_equal(nearest_distance(pairs[i].a, pairs[i].b), pairs[i].distance);
        assert_int_equal(nearest_distance(pairs[i].b, pairs[i].a), pairs[i].distance);
    }
    nearest_begin(&nearest, "SQ_WAVSE");
    nearest_add(&nearest, "TCC_HIT");
    nearest_add(&nearest, "SQ_WAVES");
    nearest_add(&nearest, "SQ_WAIT_ANY");
    assert_string_equal(nearest.best, "SQ_WAVES");
    nearest_begin(&nearest, "nonsense");
    nearest_add(&nearest, "SQ_WAVES");
    assert_null(nearest.best);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges),
        cmocka_unit_test(names_and_launches),
        cmocka_unit_test(hostile_patterns_end),
        cmocka_unit_test(distances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
