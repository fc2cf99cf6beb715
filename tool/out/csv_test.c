#include "out/out.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "out/test_files.h"
#include "out/writer.h"

static void numbers_of_every_size(void **state)
{
    (void)state;
    static const double values[] = {0, 16384, 0.5, -3, 1e15, 9007199254740993.0, 1e300, 1.0 / 3};
    static struct writer writer;
    char path[128], expected[4096];
    snprintf(path, sizeof path, "%s_numbers", prefix);
    assert_int_equal(writer_open(&writer, path), 0);
    int length = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        writer_fixed(&writer, values[i]);
        writer_char(&writer, '\n');
        length +=
            snprintf(expected + length, sizeof expected - (size_t)length, "%.6f\n", values[i]);
    }
    assert_int_equal(writer_close(&writer), 0);
    assert_string_equal(content("numbers"), expected);
}

/* As in the samples of rocprofv3's documentation (hip_api_stats.csv, counter_collection.csv), and
 * at the limits between the forms. */
static void csv_forms_of_numbers(void **state)
{
    (void)state;
    static const struct out_stats_row rows[] = {
        {"a", 4, 262497406, 65624351.5, 85.1512, 3991286, 249121840, 122332531.343496, 0},
        {"b", 1, 9000, 9000, 0.00291957, 9000, 9000, 0, 0},
        {"c", 1, 1, 0.01, 0.64699, 1, 1, 0.010001, 0},
        {"d", 1, 1, 0.25, 0.0880041, 1, 1, 1, 0},
        {"e", 1, 1, 1, 100, 1, 1, 0.5, 0},
        {"f", 1, 1, 1, 0.01, 1, 1, 0.5, 0},
        {"g", 1, 1, 1, 1, 1, 1, 0.5, 0}};
    static const double values[] = {16384, 0, 0.5, 1, 1e-9};
    struct out_sink *sink;
    assert_int_equal(out_csv_ops.open(prefix, &sink, message, sizeof message), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        out_csv_ops.row(sink, OUT_HIP_STATS, &rows[i]);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        const struct out_counter_row row = {.dispatch = {.agent = 4, .kernel_name = "k"},
                                            .counter_name = "C",
                                            .counter_value = values[i]};
        out_csv_ops.row(sink, OUT_COUNTER_COLLECTION, &row);
    }
    assert_int_equal(out_csv_ops.close(sink, message, sizeof message), 0);
    assert_string_equal(
        content("hip_api_stats.csv"),
        "\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\","
        "\"StdDev\"\n"
        "\"a\",4,262497406,65624351.500000,85.15,3991286,249121840,122332531.343496\n"
        "\"b\",1,9000,9000.000000,2.920e-03,9000,9000,0.00000000e+00\n"
        "\"c\",1,1,1.00000000e-02,0.6470,1,1,0.010001\n"
        "\"d\",1,1,0.250000,0.0880,1,1,1.000000\n"
        "\"e\",1,1,1.000000,100.00,1,1,0.500000\n"
        "\"f\",1,1,1.000000,1.000e-02,1,1,0.500000\n"
        "\"g\",1,1,1.000000,1.00,1,1,0.500000\n");
    const char *at = content("counter_collection.csv");
    static const char *const given[] = {"16384.000000", "0.00000000e+00", "5.00000000e-01",
                                        "1.000000", "1.00000000e-09"};
    for (size_t i = 0; i < sizeof given / sizeof given[0]; i++) {
        char line[200];
        at = strchr(at, '\n') + 1;
        snprintf(line, sizeof line, "0,0,\"Agent 4\",0,0,0,0,0,\"k\",0,0,0,0,0,0,\"C\",%s,0,0\n",
                 given[i]);
        assert_memory_equal(at, line, strlen(line));
    }
}

/* Around every power of ten and of two, and behind what earlier, longer values left in the room. */
static void integers_of_every_length(void **state)
{
    (void)state;
    char made[WRITER_U64_BYTES + 1], expected[WRITER_U64_BYTES + 1];
    for (unsigned bit = 0; bit < 64; bit++) {
        uint64_t ten = 1;
        for (unsigned i = 0; i < bit % 20; i++)
            ten *= 10;
        const uint64_t values[] = {ten - 1,           ten,         ten + 1,    ten * 9 / 10,
                                   UINT64_MAX >> bit, 1ull << bit, 7 * ten / 3};
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            snprintf(expected, sizeof expected, "%llu", (unsigned long long)values[i]);
            memset(made, '#', sizeof made);
            *writer_u64_at(made, values[i]) = 0;
            assert_string_equal(made, expected);
        }
    }
    for (uint64_t value = 0; value < 200000; value += 7) {
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)value);
        *writer_u64_at(made, value) = 0;
        assert_string_equal(made, expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(numbers_of_every_size, prefix_next),
        cmocka_unit_test_setup(csv_forms_of_numbers, prefix_next),
        cmocka_unit_test_setup(integers_of_every_length, prefix_next),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
