#include "summary/stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void durations_by_name(void **state)
{
    (void)state;
    struct stats *stats = stats_create("kernel");
    static const char slow[] = "slow", fast[] = "fast";
    stats_add(stats, fast, 10);
    stats_add(stats, slow, 100);
    stats_add(stats, fast, 20);
    stats_add(stats, fast, 30);
    size_t count;
    struct out_stats_row *rows = stats_rows(stats, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(rows[0].name, slow);
    assert_int_equal(rows[1].calls, 3);
    assert_int_equal(rows[1].total_ns, 60);
    assert_int_equal(rows[1].min_ns, 10);
    assert_int_equal(rows[1].max_ns, 30);
    assert_true(rows[1].average_ns == 20.0);
    assert_true(rows[1].standard_deviation_ns == 10.0); /* of 10, 20, 30 */
    assert_true(rows[0].percentage == 62.5);
    free(rows);
    stats_destroy(stats);
}

/* A recording and what is converted from it have the same records in another order. */
static void the_order_does_not_matter(void **state)
{
    enum { COUNT = 1000, NEAR = 1000000 };
    (void)state;
    static const char name[] = "name";
    struct stats *forward = stats_create("x"), *back = stats_create("x"),
                 *whole = stats_create("x");
    struct stats *parts[2] = {stats_create("x"), stats_create("x")};
    uint64_t durations[COUNT];
    long double mean = 0, squares = 0;
    size_t count;
    for (int n = 0; n < COUNT; n++) {
        durations[n] = (uint64_t)rand() << (n % 3 ? 0 : 14);
        mean += (long double)durations[n] / COUNT;
        stats_add(forward, name, durations[n]);
        stats_add(parts[n * 7 % 2], name, durations[n]);
    }
    for (int n = COUNT - 1; n >= 0; n--) {
        stats_add(back, name, durations[n]);
        squares += ((long double)durations[n] - mean) * ((long double)durations[n] - mean);
    }
    for (int n = 0; n < 2; n++)
        assert_int_equal(stats_merge(whole, name, parts[n]), 0);
    struct out_stats_row *one = stats_rows(forward, &count), *other = stats_rows(back, &count),
                         *merged = stats_rows(whole, &count);
    assert_int_equal(count, 1);
    assert_memory_equal(one, other, sizeof *one);
    assert_memory_equal(one, merged, sizeof *one);
    const double deviation = one->standard_deviation_ns;
    const double off = deviation * deviation * (COUNT - 1) / (double)squares - 1;
    assert_true(off < 1.0 / NEAR && off > -1.0 / NEAR);
    free(one);
    free(other);
    free(merged);
    stats_destroy(forward);
    stats_destroy(back);
    stats_destroy(whole);
    stats_destroy(parts[0]);
    stats_destroy(parts[1]);
}

/* Sums that wrap are none, but nothing worse. */
static void durations_without_end(void **state)
{
    (void)state;
    struct stats *stats = stats_create("x");
    size_t count;
    for (int n = 0; n < 5; n++)
        stats_add(stats, "x", UINT64_MAX - (uint64_t)n);
    struct out_stats_row *rows = stats_rows(stats, &count);
    assert_true(rows[0].standard_deviation_ns >= 0);
    free(rows);
    stats_destroy(stats);
}

/* What a device's model says ranks, whatever the wall says; without it no column speaks of it. */
static void modelled_time_ranks(void **state)
{
    (void)state;
    struct stats *stats = stats_create("kernel");
    static const char one[] = "one", two[] = "two";
    char *text = NULL;
    size_t size = 0, count;
    stats_add(stats, one, 9000);
    FILE *file = open_memstream(&text, &size);
    stats_print(stats, file, 10, stats_unit_find("nsec"));
    fclose(file);
    assert_null(strstr(text, "modelled"));
    free(text);

    stats_modelled_add(stats, one, 10);
    stats_add(stats, two, 1000);
    stats_modelled_add(stats, two, 30);
    struct out_stats_row *rows = stats_rows(stats, &count);
    assert_int_equal(count, 2);
    assert_ptr_equal(rows[0].name, two);
    assert_int_equal(rows[0].modelled_ns, 30);
    assert_true(rows[0].percentage == 10.0); /* of the wall's */
    free(rows);
    file = open_memstream(&text, &size);
    stats_print(stats, file, 10, stats_unit_find("nsec"));
    fclose(file);
    assert_non_null(strstr(text, "modelled ns"));
    assert_non_null(strstr(text, "75.00"));
    assert_true(strstr(text, "two") < strstr(text, "one"));
    free(text);
    stats_destroy(stats);
}

static void many_names_grow_the_table(void **state)
{
    (void)state;
    enum { NAMES = 5000 };
    static char names[NAMES];
    struct stats *stats = stats_create("x");
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < NAMES; i++)
            assert_int_equal(stats_add(stats, &names[i], (uint64_t)i), 0);
    size_t count;
    struct out_stats_row *rows = stats_rows(stats, &count);
    assert_int_equal(count, NAMES);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(rows[i].calls, 2);
    free(rows);
    stats_destroy(stats);
}

static void empty_prints_nothing(void **state)
{
    (void)state;
    struct stats *stats = stats_create("x");
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    stats_print(stats, file, 10, stats_unit_find(NULL));
    stats_counters_print(stats, file);
    fclose(file);
    assert_int_equal(size, 0);
    free(text);
    stats_destroy(stats);
}

static char *counters_text(const struct stats *stats)
{
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    stats_counters_print(stats, file);
    fclose(file);
    return text;
}

static void single_counter_is(const char *counter, bool additive, const char *line)
{
    static const char *const kernel = "k";
    struct stats *stats = stats_create("kernel");
    stats_counter_add(stats, kernel, counter, 100, additive);
    stats_counter_add(stats, kernel, counter, 2333, additive);
    char *text = counters_text(stats);
    assert_non_null(strstr(text, line));
    free(text);
    stats_destroy(stats);
}

/* A sum of percentages would be nonsense: it is left out. */
static void counters_show_totals_only_where_they_mean_something(void **state)
{
    (void)state;
    single_counter_is("SQ_WAVES", true, "    2   2433  1216.5  100  2333  SQ_WAVES  k\n");
    single_counter_is("L2CacheHit", false, "    2         1216.5  100  2333  L2CacheHit  k\n");
}

/* Kernels by counters; what a kernel has not is empty, what a device does not count is no number.
 */
static void counters_are_one_table(void **state)
{
    (void)state;
    static const char *const first = "k1", *const second = "k2";
    static const char *const waves = "SQ_WAVES", *const hits = "HITS", *const cycles = "CYCLES";
    struct stats *stats = stats_create("kernel");
    stats_counter_add(stats, first, waves, 10, true);
    stats_counter_add(stats, first, waves, 20, true);
    stats_counter_add(stats, first, hits, 0, true);
    stats_counter_add(stats, first, cycles, 7, true);
    stats_counter_add(stats, second, waves, 1.5, true);
    stats_mark_put(stats, hits, STATS_NOT_COUNTED);
    stats_mark_put(stats, cycles, STATS_APPROXIMATE);
    char *text = counters_text(stats);
    assert_non_null(strstr(text, "calls  SQ_WAVES  HITS  ~CYCLES  kernel\n"));
    assert_non_null(strstr(text, "    2        15     -        7  k1\n"));
    assert_non_null(strstr(text, "    1       1.5                 k2\n"));
    assert_non_null(strstr(text, "\n- the device says"));
    assert_non_null(strstr(text, "\n~ by the device's"));
    free(text);
    stats_destroy(stats);
}

static void long_tables_say_what_they_leave_out(void **state)
{
    (void)state;
    struct stats *stats = stats_create("function");
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++)
        stats_add(stats, names[i], 5);
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    stats_print(stats, file, 2, stats_unit_find(NULL));
    fclose(file);
    assert_non_null(strstr(text, "... and 1 more"));
    free(text);
    stats_destroy(stats);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(durations_by_name),
        cmocka_unit_test(the_order_does_not_matter),
        cmocka_unit_test(durations_without_end),
        cmocka_unit_test(modelled_time_ranks),
        cmocka_unit_test(many_names_grow_the_table),
        cmocka_unit_test(empty_prints_nothing),
        cmocka_unit_test(counters_show_totals_only_where_they_mean_something),
        cmocka_unit_test(counters_are_one_table),
        cmocka_unit_test(long_tables_say_what_they_leave_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
