/* Names of kernels in pools of every size: a record's name is the kernel's own and ends with a
 * zero. It lies in the pool's memory, above the records, or where it does not fit, elsewhere for as
 * long as the callback runs. */
#include "machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

enum {
    RECORD_BYTES = sizeof(roctracer_record_t),
    KERNELS = 60,
    NAME_BYTES_MAX = 20001,
    PAGES_BYTES = 128 << 10,
};

static struct {
    char *pages; /* nothing is mapped behind them */
    size_t size;
    char names[KERNELS + 1][NAME_BYTES_MAX]; /* by correlation id */
    unsigned seen, outside;
} pool;

static void allocate(char **memory, size_t size, void *arg)
{
    (void)arg;
    *memory = *memory ? NULL : pool.pages + PAGES_BYTES - size;
}

static void name_check(const roctracer_record_t *record, const char *end, bool is_last)
{
    const char *name = record->kernel_name, *limit = pool.pages + PAGES_BYTES;
    const char *expected = pool.names[record->correlation_id];
    bool inside = name >= limit - pool.size && name < limit;
    assert_non_null(name);
    assert_int_equal(inside, strlen(expected) + 1 <= pool.size - RECORD_BYTES);
    if (inside)
        assert_true(name >= end && name + strlen(expected) < limit);
    else
        assert_true(is_last); /* handed over at once */
    assert_string_equal(name, expected);
    pool.outside += !inside;
}

static void on_records(const char *begin, const char *end, void *arg)
{
    (void)arg;
    assert_ptr_equal(begin, pool.pages + PAGES_BYTES - pool.size);
    for (const char *at = begin; at < end; at += RECORD_BYTES) {
        roctracer_record_t record;
        memcpy(&record, at, sizeof record);
        assert_int_equal(record.domain, ACTIVITY_DOMAIN_HIP_OPS);
        assert_int_equal(record.correlation_id, ++pool.seen);
        name_check(&record, end, at + RECORD_BYTES == end);
    }
}

/* Name i is of `lengths(i)` letters. */
static void run(size_t size, size_t (*length_of)(unsigned i))
{
    const roctracer_properties_t properties = {
        .buffer_size = size, .alloc_fun = allocate, .buffer_callback_fun = on_records};
    roctracer_pool_t *opened;
    pool.size = size;
    pool.seen = pool.outside = 0;
    assert_int_equal(roctracer_open_pool_expl(&properties, &opened), 0);
    assert_int_equal(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HIP_OPS, opened), 0);
    for (unsigned i = 1; i <= KERNELS; i++) {
        size_t length = length_of(i);
        for (size_t n = 0; n < length; n++)
            pool.names[i][n] = (char)('a' + (n + i) % 26);
        pool.names[i][length] = 0;
        assert_true(machine_hip_kernel(i, pool.names[i]));
    }
    assert_int_equal(roctracer_close_pool_expl(opened), 0);
    assert_int_equal(pool.seen, KERNELS);
}

static size_t short_length(unsigned i)
{
    return i % 9;
}

static size_t any_length(unsigned i)
{
    return i * i * 5; /* to 18000 */
}

static void short_names_are_whole(void **state)
{
    (void)state;
    for (size_t size = 2 * RECORD_BYTES; size < 1000; size += 7) {
        run(size, short_length);
        assert_int_equal(pool.outside, 0);
    }
}

static void long_names_are_whole(void **state)
{
    (void)state;
    for (size_t size = 2 * RECORD_BYTES; size <= PAGES_BYTES / 4; size += 1 + size / 5) {
        unsigned too_long = 0;
        for (unsigned i = 1; i <= KERNELS; i++)
            too_long += any_length(i) + 1 > size - RECORD_BYTES;
        run(size, any_length);
        assert_int_equal(pool.outside, too_long);
    }
}

static size_t template_length(unsigned i)
{
    return i % 3 == 0 ? 20000 : 100 + i;
}

static void twenty_thousand_characters_in_four_kilobytes(void **state)
{
    (void)state;
    run(4096, template_length);
    assert_int_equal(pool.outside, KERNELS / 3);
}

/* Names of templates may be longer than everything that is set aside for records. */
static void on_huge_name(const char *begin, const char *end, void *arg)
{
    const roctracer_record_t *record = (const roctracer_record_t *)(const void *)begin;
    (void)end;
    *(size_t *)arg = strspn(record->kernel_name, "x");
    assert_int_equal(record->kernel_name[*(size_t *)arg], 0);
}

static void a_huge_name_is_no_loss(void **state)
{
    enum { HUGE_BYTES = 300 << 10 };
    (void)state;
    char *name = malloc(HUGE_BYTES + 1);
    assert_non_null(name);
    memset(name, 'x', HUGE_BYTES);
    name[HUGE_BYTES] = 0;
    static const size_t sizes[] = {4096, 1 << 20};
    for (int i = 0; i < 2; i++) {
        size_t length = 0;
        const roctracer_properties_t properties = {.buffer_size = sizes[i],
                                                   .buffer_callback_fun = on_huge_name,
                                                   .buffer_callback_arg = &length};
        roctracer_pool_t *opened;
        assert_int_equal(roctracer_open_pool_expl(&properties, &opened), 0);
        assert_int_equal(roctracer_enable_domain_activity_expl(ACTIVITY_DOMAIN_HIP_OPS, opened), 0);
        assert_true(machine_hip_kernel(1, name));
        assert_int_equal(roctracer_close_pool_expl(opened), 0);
        assert_int_equal(length, (32 << 10) - 1); /* the longest that is kept */
    }
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_names_are_whole),
        cmocka_unit_test(long_names_are_whole),
        cmocka_unit_test(twenty_thousand_characters_in_four_kilobytes),
        cmocka_unit_test(a_huge_name_is_no_loss),
    };
    if (!machine_start())
        return 1;
    pool.pages = mmap(NULL, PAGES_BYTES + 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pool.pages == MAP_FAILED || mprotect(pool.pages, PAGES_BYTES, PROT_READ | PROT_WRITE))
        return 1;
    return cmocka_run_group_tests_name("roctracer/names", tests, NULL, NULL);
}
