#include "pass_merge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "out/writer.h"

static char directory[] = "/tmp/pass_merge_test-XXXXXX";

static struct passes_launch launch_of(const char *kernel, uint32_t number, uint64_t grid)
{
    return (struct passes_launch){.number = number,
                                  .row = {.kernel_name = kernel,
                                          .agent = 1,
                                          .dispatch_id = number + 1,
                                          .grid = {grid, 1, 1},
                                          .workgroup = {64, 1, 1}}};
}

static struct writer *file_begin(uint32_t pass)
{
    char path[PATH_MAX];
    struct writer *out = malloc(sizeof *out);
    pass_file_path(directory, pass, 0, path);
    unlink(path);
    assert_int_equal(writer_open(out, path), 0);
    pass_file_begin(out, "/some where/12\n3");
    return out;
}

static void file_end(struct writer *out)
{
    assert_int_equal(writer_close(out), 0);
    free(out);
}

static void put(struct writer *out, const char *kernel, uint32_t number, const char *counter,
                double value)
{
    const struct passes_launch launch = launch_of(kernel, number, 128);
    const struct passes_value of = {.counter = counter, .value = value, .adds_up = true};
    pass_file_launch(out, &launch);
    pass_file_value(out, &of);
}

struct sum {
    unsigned count;
    double total;
    char names[200];
};

static void sum_add(const struct passes_value *value, void *data)
{
    struct sum *sum = data;
    sum->count++;
    sum->total += value->value;
    strcat(sum->names, value->counter);
}

static void what_is_written_is_read(void **state)
{
    (void)state;
    struct writer *out = file_begin(1);
    put(out, "two\nlines\\", 7, "A", 0.1);
    file_end(out);
    struct pass_reader reader;
    assert_int_equal(pass_reader_open(&reader, directory, 1, 0), 0);
    struct pass_entry *entry = pass_reader_next(&reader);
    assert_non_null(entry);
    assert_string_equal(reader.stem, "/some where/12\n3");
    assert_string_equal(entry->launch.row.kernel_name, "two\nlines\\");
    assert_int_equal(entry->launch.number, 7);
    assert_int_equal(entry->launch.row.agent, 1);
    assert_int_equal(entry->launch.row.dispatch_id, 8);
    assert_int_equal(entry->launch.row.grid[0], 128);
    assert_int_equal(entry->launch.row.workgroup_size, 64);
    assert_int_equal(entry->count, 1);
    assert_true(entry->values[0].value == 0.1 && entry->values[0].adds_up);
    free(entry);
    assert_null(pass_reader_next(&reader));
    pass_reader_close(&reader);
}

/* The runs are in different orders, and have launches that others have not. */
static void launches_are_found_out_of_order(void **state)
{
    enum { LAUNCHES = 3000 };
    (void)state;
    struct writer *out = file_begin(1);
    for (uint32_t i = 0; i < LAUNCHES; i++)
        put(out, "k", i, "A", i);
    file_end(out);
    out = file_begin(2);
    for (uint32_t i = LAUNCHES; i-- > 0;)
        put(out, "k", i, "B", 10000.0 * i);
    file_end(out);
    struct pass_merge *merge = pass_merge_create(directory, 0, 1, 4);
    for (uint32_t i = 1; i < LAUNCHES; i++) {
        const struct passes_launch launch = launch_of("k", i, 128);
        struct sum sum = {0};
        pass_merge_read(merge, &launch, sum_add, &sum);
        assert_string_equal(sum.names, "AB");
        assert_true(sum.total == 10001.0 * i);
    }
    struct sum sum = {0};
    const struct passes_launch other = launch_of("other", 0, 128);
    pass_merge_read(merge, &other, sum_add, &sum);
    const struct passes_launch larger = launch_of("k", 0, 256);
    pass_merge_read(merge, &larger, sum_add, &sum);
    assert_int_equal(sum.count, 0);
    struct pass_merge_differences differences;
    pass_merge_destroy(merge, &differences);
    assert_int_equal(differences.unmatched, 1);
    assert_int_equal(differences.reshaped, 1);
    assert_int_equal(differences.unused, 0);
    assert_int_equal(differences.missing, 1);
    assert_int_equal(differences.missing_pass, 3);
}

static void a_cut_file_is_read_up_to_its_last_line(void **state)
{
    (void)state;
    struct writer *out = file_begin(1);
    put(out, "k", 0, "A", 1);
    put(out, "k", 1, "A", 2);
    writer_bytes(out, "L\t5\t1", 5);
    file_end(out);
    struct pass_merge *merge = pass_merge_create(directory, 0, 1, 2);
    struct pass_merge_differences differences;
    pass_merge_destroy(merge, &differences);
    assert_int_equal(differences.unused, 2);
}

static int directory_make(void **state)
{
    (void)state;
    return mkdtemp(directory) ? 0 : -1;
}

static int directory_remove(void **state)
{
    (void)state;
    for (uint32_t pass = 1; pass < 4; pass++) {
        char path[PATH_MAX];
        pass_file_path(directory, pass, 0, path);
        unlink(path);
    }
    return rmdir(directory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read),
                                       cmocka_unit_test(launches_are_found_out_of_order),
                                       cmocka_unit_test(a_cut_file_is_read_up_to_its_last_line)};
    return cmocka_run_group_tests(tests, directory_make, directory_remove);
}
