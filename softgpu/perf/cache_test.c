/* The cache against a reference that shares nothing with it: one list of lines per set, moved to
 * the front when used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/cache.h"

enum { SETS = 8, WAYS = 4, LINE = 64 };

struct reference {
    uint64_t line[SETS][WAYS]; /* most recent first; 0: empty, else line number + 1 */
};

static bool reference_touch(struct reference *reference, uint64_t address, uint64_t *evicted)
{
    uint64_t line = address / LINE + 1;
    uint64_t *set = reference->line[(line - 1) % SETS];
    int at = 0;
    while (at < WAYS - 1 && set[at] != line)
        at++;
    bool hit = set[at] == line;
    *evicted = hit ? 0 : set[at];
    memmove(set + 1, set, (size_t)at * sizeof set[0]);
    set[0] = line;
    return hit;
}

static void replacement_is_exact_lru(void **state)
{
    (void)state;
    struct cache cache;
    struct reference reference = {0};
    uint32_t seed = 1, hits = 0;

    assert_int_equal(cache_create(&cache, SETS * WAYS * LINE, LINE, WAYS), 0);
    for (int i = 0; i < 100000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint64_t address = seed >> 20 & 0xfff; /* 64 lines, twice the cache */
        uint64_t evicted;
        struct cache_line victim = {0}, *line = cache_find(&cache, address);
        bool hit = reference_touch(&reference, address, &evicted);
        assert_int_equal(line != NULL, hit);
        if (!line)
            line = cache_insert(&cache, address, &victim);
        assert_int_equal(line->number, address / LINE + 1);
        assert_int_equal(victim.number, evicted);
        hits += hit;
    }
    assert_in_range(hits, 20000, 80000); /* both outcomes were exercised */
    cache_destroy(&cache);
}

/* The same by cache_reach(), with more ways than tags are compared at once, and a stride that
 * leaves the low bits of all lines alike. */
static void reaching_finds_or_replaces(void **state)
{
    enum { MANY = 40, STRIDE = 1 << 16, PLACES = 2 * MANY };
    (void)state;
    struct cache cache;
    uint64_t recent[MANY] = {0}; /* line number + 1, the most recent first */
    uint32_t seed = 1, hits = 0;

    assert_int_equal(cache_create(&cache, MANY * LINE, LINE, MANY), 0);
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint64_t address = (uint64_t)(seed >> 16) % PLACES * STRIDE, number = address / LINE + 1;
        struct cache_line *line, victim = {.number = UINT64_MAX};
        int at = 0;
        while (at < MANY - 1 && recent[at] != number)
            at++;
        bool hit = recent[at] == number;
        assert_int_equal(cache_reach(&cache, address, &line, &victim), hit);
        assert_int_equal(line->number, number);
        assert_true(victim.number == (hit ? UINT64_MAX : recent[at]));
        memmove(recent + 1, recent, (size_t)at * sizeof recent[0]);
        recent[0] = number;
        hits += hit;
    }
    assert_in_range(hits, 5000, 15000);
    cache_destroy(&cache);
}

/* A cleared cache replaces as a new one does, and shows nothing of before. */
static void a_cleared_cache_is_a_new_one(void **state)
{
    (void)state;
    struct cache cache;
    struct cache_line victim;

    assert_int_equal(cache_create(&cache, 2 * 2 * LINE, LINE, 2), 0);
    assert_null(cache_set_lines(&cache, 0));
    for (int round = 0; round < 3; round++) {
        for (uint64_t line = 0; line < 6; line++) { /* three for each set of two ways */
            cache_insert(&cache, line * LINE, &victim)->dirty_bytes[0] = 1;
            assert_int_equal(victim.number, line < 4 ? 0 : line - 4 + 1);
        }
        assert_int_equal(cache_set_lines(&cache, 1)[0].dirty_bytes[0], 1);
        cache_clear(&cache);
        assert_null(cache_set_lines(&cache, 0));
        assert_null(cache_set_lines(&cache, 1));
        assert_null(cache_find(&cache, 2 * LINE));
        cache_remove(&cache, 3 * LINE);
        assert_int_equal(cache_set_lines(&cache, 0)[0].number, 0);
    }
    cache_destroy(&cache);
}

/* Numbers that agree in their low 32 bits are different lines. */
static void far_addresses_are_told_apart(void **state)
{
    (void)state;
    struct cache cache;
    struct cache_line victim;
    uint64_t near_va = 0x1000, far_va = near_va + ((uint64_t)64 << 32);

    assert_int_equal(cache_create(&cache, 4 * 64, 64, 4), 0);
    cache_insert(&cache, near_va, &victim);
    assert_null(cache_find(&cache, far_va));
    struct cache_line *line = cache_insert(&cache, far_va, &victim);
    assert_int_equal(victim.number, 0);
    assert_ptr_equal(cache_find(&cache, far_va), line);
    assert_ptr_not_equal(cache_find(&cache, near_va), line);
    cache_destroy(&cache);
}

/* After a removal the empty line is filled before any other is replaced. */
static void empty_lines_are_filled_first(void **state)
{
    (void)state;
    struct cache cache;
    struct cache_line victim;

    assert_int_equal(cache_create(&cache, 3 * 64, 64, 3), 0);
    for (uint64_t va = 0; va < 3 * 64; va += 64)
        cache_insert(&cache, va, &victim);
    cache_remove(&cache, 128); /* the most recent */
    cache_insert(&cache, 4096, &victim);
    assert_int_equal(victim.number, 0);
    cache_insert(&cache, 8192, &victim);
    assert_int_equal(victim.number, 1); /* line 0, the least recent */
    cache_destroy(&cache);
}

static void removed_lines_are_gone(void **state)
{
    (void)state;
    struct cache cache;
    struct cache_line victim;

    assert_int_equal(cache_create(&cache, 4096, 128, 2), 0);
    cache_insert(&cache, 1000, &victim)->sectors = 3;
    assert_non_null(cache_find(&cache, 1023));
    assert_null(cache_find(&cache, 1024));
    cache_remove(&cache, 900);
    assert_null(cache_find(&cache, 1000));
    assert_int_equal(cache_sector(&cache, 128 + 63), 0);
    assert_int_equal(cache_sector(&cache, 128 + 64), 1);
    cache_destroy(&cache);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    struct cache cache;
    assert_int_not_equal(cache_create(&cache, 4096, 256, 4), 0);
    assert_int_not_equal(cache_create(&cache, 64, 64, 2), 0);
    assert_int_not_equal(cache_create(&cache, 64, 64, 0), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replacement_is_exact_lru),
        cmocka_unit_test(reaching_finds_or_replaces),
        cmocka_unit_test(a_cleared_cache_is_a_new_one),
        cmocka_unit_test(far_addresses_are_told_apart),
        cmocka_unit_test(empty_lines_are_filled_first),
        cmocka_unit_test(removed_lines_are_gone),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
