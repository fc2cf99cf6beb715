/* A baseline that is read has the values that were written. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "baseline.h"

static const struct baseline_value values[] = {
    {"plain", "SQ_WAVES", 3, 0.1, 2},
    {"k\xff\xfe\xc3\xa9\xed\xb3\xbf", "time", 1, 1e15, 0}, /* Latin-1, UTF-8, a surrogate */
    {"quotes \" \\ \n \x7f \xf0\x9f\x90\x8a", "M", 2, -INFINITY, INFINITY},
    {"infinite", "R", UINT32_MAX, INFINITY, 10},
};
enum { COUNT = sizeof values / sizeof values[0] };

static void what_is_written_is_read(void **state)
{
    char path[] = "/tmp/baseline-test-XXXXXX", error[5000] = "";
    struct baseline written = {0}, read = {0};
    (void)state;
    close(mkstemp(path));
    for (unsigned i = 0; i < COUNT; i++)
        assert_int_equal(baseline_add(&written, values[i].kernel, values[i].metric,
                                      values[i].launches, values[i].mean, values[i].percent),
                         0);
    assert_int_equal(baseline_write(&written, path, error, sizeof error), 0);
    int status = baseline_read(&read, path, error, sizeof error);
    unlink(path);
    assert_string_equal(error, "");
    assert_int_equal(status, 0);
    assert_int_equal(read.count, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_string_equal(read.values[i].kernel, values[i].kernel);
        assert_string_equal(read.values[i].metric, values[i].metric);
        assert_int_equal(read.values[i].launches, values[i].launches);
        assert_true(read.values[i].mean == values[i].mean);
        assert_true(read.values[i].percent == values[i].percent);
    }
    baseline_free(&written);
    baseline_free(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
