#include "watch/samples.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void figures_of_known_values(void **state)
{
    const double values[] = {2, 4, 4, 4, 5, 5, 7, 9}; /* the squares of their distances: 32 */
    const double far[] = {1e15 + 1, 1e15 + 2, 1e15 + 3};
    (void)state;
    struct samples_figures figures = samples_figures(values, 8);
    assert_true(figures.mean == 5 && figures.minimum == 2 && figures.maximum == 9);
    assert_true(fabs(figures.deviation - sqrt(32.0 / 7)) < 1e-12);
    assert_true(samples_figures(values, 1).deviation == 0);
    assert_true(fabs(samples_figures(far, 3).deviation - 1) <
                1e-3); /* no squares of great numbers */
    assert_true(samples_figures(values, 0).mean == 0);
}

static void rows_of_processes_and_runs(void **state)
{
    struct samples samples;
    struct snapshot_row kernel = {
        .kind = "KERNEL_DISPATCH", .name = "a", .calls = 2, .total_ns = 10};
    struct snapshot_row ratio = {
        .is_counter = true, .kind = "R", .name = "a", .calls = 1, .sum = 4};
    struct snapshot_row waves = {
        .is_counter = true, .additive = true, .kind = "W", .name = "a", .calls = 1, .sum = 4};
    (void)state;
    assert_true(samples_begin(&samples, 2));
    samples_add(&samples, 0, &kernel);
    samples_add(&samples, 0, &kernel); /* another process */
    samples_add(&samples, 0, &ratio);
    ratio.calls = 3;
    ratio.sum = 24;
    samples_add(&samples, 0, &ratio);
    samples_add(&samples, 1, &waves);
    samples_add(&samples, 1, &waves);
    samples_sort(&samples, 2);
    assert_int_equal(samples.count, 3);
    assert_true(samples.sample[0].values[0] == 20 && samples.sample[0].values[1] == 0);
    assert_true(samples.sample[0].calls[0] == 4);
    assert_true(samples.sample[1].values[0] == 7); /* (4 + 24) / 4 launches */
    assert_true(samples.sample[2].values[1] == 8);
    samples_free(&samples);
}

static void row_take(const struct snapshot_row *row, void *samples)
{
    samples_add(samples, 0, row);
}

/* Kernels of C++ templates are called by thousands of bytes, and may differ in the last. */
static void long_names_are_whole(void **state)
{
    enum { SAME_BYTES = 5000 };
    char directory[] = "/tmp/samples-test-XXXXXX", path[64], name[SAME_BYTES + 1];
    struct samples samples;
    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/1", directory);
    memset(name, 'n', SAME_BYTES);
    name[SAME_BYTES] = 0;
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    for (int i = 0; i < 2; i++) {
        fprintf(file, "time\tKERNEL_DISPATCH\t1\t%d\t1\t1\t%s%d\n", 10 * (i + 1), name, i);
        fprintf(file, "counter\t%.100s%d\t1\t%d\t1\tkernel\n", name, i, i);
    }
    fclose(file);
    assert_true(samples_begin(&samples, 1));
    assert_int_equal(snapshots_read(directory, row_take, &samples), 1);
    snapshots_directory_remove(directory);
    samples_sort(&samples, 1);
    assert_int_equal(samples.count, 4);
    assert_true(samples.sample[0].values[0] == 20 && samples.sample[1].values[0] == 10);
    assert_int_equal(strlen(samples.sample[0].row.name), SAME_BYTES + 1);
    assert_int_equal(samples.sample[0].row.name[SAME_BYTES], '1');
    samples_free(&samples);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_known_values),
        cmocka_unit_test(rows_of_processes_and_runs),
        cmocka_unit_test(long_names_are_whole),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
