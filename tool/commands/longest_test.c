/* The longest rows are those that a sort of all of them would give. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "longest.h"

enum { ROWS_MAX = 200000 };

struct came {
    uint64_t length_ns, number;
    enum out_table_id table;
};

static struct came all[ROWS_MAX];
static struct {
    const struct came *expected;
    uint32_t at;
} told;

static int by_length(const void *left, const void *right)
{
    const struct came *a = left, *b = right;
    if (a->length_ns != b->length_ns)
        return a->length_ns < b->length_ns ? 1 : -1;
    return (a->number > b->number) - (a->number < b->number);
}

static int by_number(const void *left, const void *right)
{
    const struct came *a = left, *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

static void row_put(struct longest *longest, const struct came *came)
{
    const uint64_t end_ns = 1000 + came->length_ns;
    const struct out_api_row api = {
        .correlation_id = came->number, .start_ns = 1000, .end_ns = end_ns};
    const struct out_dispatch_row dispatch = {
        .correlation_id = came->number, .start_ns = 1000, .end_ns = end_ns};
    const struct out_copy_row copy = {
        .correlation_id = came->number, .start_ns = 1000, .end_ns = end_ns};
    const void *row = came->table == OUT_KERNEL_TRACE  ? (const void *)&dispatch
                      : came->table == OUT_MEMORY_COPY ? (const void *)&copy
                                                       : (const void *)&api;
    longest_row(longest, came->table, row);
}

static void row_take(void *data, enum out_table_id table, const void *row)
{
    const struct came *came = &told.expected[told.at++];
    (void)data;
    assert_int_equal(table, came->table);
    assert_int_equal(table == OUT_KERNEL_TRACE
                         ? ((const struct out_dispatch_row *)row)->correlation_id
                     : table == OUT_MEMORY_COPY ? ((const struct out_copy_row *)row)->correlation_id
                                                : ((const struct out_api_row *)row)->correlation_id,
                     came->number);
}

/* Lengths as a pattern says, twice with the same collection. */
static void longest_same(uint32_t count, uint32_t room, uint64_t (*length)(uint32_t i))
{
    static const enum out_table_id tables[] = {OUT_HIP_API, OUT_KERNEL_TRACE, OUT_MEMORY_COPY,
                                               OUT_MARKER_API};
    static const struct out_allocation_row passed_over = {.end_ns = UINT64_MAX};
    struct longest longest;
    assert_int_equal(longest_begin(&longest, room), 0);
    for (int round = 0; round < 2; round++) {
        for (uint32_t i = 0; i < count; i++) {
            all[i] = (struct came){length(i), i, tables[i % 4]};
            row_put(&longest, &all[i]);
            longest_row(&longest, OUT_MEMORY_ALLOCATION, &passed_over);
        }
        uint32_t kept = count < room ? count : room;
        qsort(all, count, sizeof all[0], by_length);
        qsort(all, kept, sizeof all[0], by_number);
        told.expected = all;
        told.at = 0;
        longest_each(&longest, row_take, NULL);
        assert_int_equal(told.at, kept);
    }
    longest_end(&longest);
}

static uint64_t growing(uint32_t i)
{
    return i;
}
static uint64_t shrinking(uint32_t i)
{
    return ROWS_MAX - i;
}
static uint64_t equal(uint32_t i)
{
    (void)i;
    return 7;
}
static uint64_t few(uint32_t i)
{
    return i * 2654435761u >> 30;
}
static uint64_t any(uint32_t i)
{
    return (i + 1) * 0x9e3779b97f4a7c15u >> (i % 64);
}

static void the_longest_are_kept(void **state)
{
    (void)state;
    uint64_t (*const patterns[])(uint32_t) = {growing, shrinking, equal, few, any};
    static const uint32_t rooms[] = {0, 1, 2, 3, 100, 999, 1000, 1001, 5000};
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        for (size_t j = 0; j < sizeof rooms / sizeof rooms[0]; j++)
            longest_same(1000, rooms[j], patterns[i]);
        longest_same(ROWS_MAX, 5000, patterns[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_longest_are_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
