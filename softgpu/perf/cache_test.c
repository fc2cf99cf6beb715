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

enum { LINE = 64 };

/* The line at an address becomes the most recently used one of its set. *victim: the number of what
 * was replaced, or 0. */
static bool reach(struct cache *cache, uint64_t va, uint64_t *victim)
{
    struct cache_set *set = cache_set(cache, va);
    uint32_t way;
    bool there = cache_set_reach(set, cache->way_count, cache_number(cache, va), &way, victim);
    assert_int_equal(cache_numbers_of(set, cache->way_count)[way], va / cache->line_bytes + 1);
    return there;
}

static bool reach_only(struct cache *cache, uint64_t va)
{
    uint64_t victim;
    return reach(cache, va, &victim);
}

static void take_out(struct cache *cache, uint64_t va)
{
    cache_set_remove(cache_set(cache, va), cache->way_count, cache_number(cache, va));
}

/* Random lines in a cache of any form against a list of each set. */
static void lru_is_exact(uint32_t sets, uint32_t ways, uint32_t line_bytes, uint64_t stride)
{
    enum { SETS_MAX = 8, STEPS = 50000 };
    struct cache cache;
    uint64_t recent[SETS_MAX][CACHE_WAYS_MAX] = {{0}}; /* line number + 1, the most recent first */
    uint32_t seed = 1, hits = 0;
    assert_true(sets <= SETS_MAX);
    assert_int_equal(cache_create(&cache, sets * ways * line_bytes, line_bytes, ways), 0);
    for (int i = 0; i < STEPS; i++) {
        seed = seed * 1664525 + 1013904223;
        uint64_t va = (seed >> 12) % (2 * sets * ways) * stride, number = va / line_bytes + 1;
        uint64_t *set = recent[(number - 1) % sets];
        uint64_t victim = UINT64_MAX;
        uint32_t at = 0;
        while (at < ways - 1 && set[at] != number)
            at++;
        bool hit = set[at] == number;
        assert_int_equal(reach(&cache, va, &victim), hit);
        assert_true(victim == (hit ? UINT64_MAX : set[at]));
        memmove(set + 1, set, (size_t)at * sizeof set[0]);
        set[0] = number;
        hits += hit;
    }
    assert_in_range(hits, STEPS / 5, STEPS * 4 / 5); /* both outcomes were exercised */
    cache_destroy(&cache);
}

static void replacement_is_exact_lru(void **state)
{
    (void)state;
    lru_is_exact(8, 4, 64, 64);
    lru_is_exact(2, 16, 128, 128);
    lru_is_exact(4, 64, 64, 64);
    lru_is_exact(1, 2, 64, 64);
}

/* More ways than tags are compared at once, and a stride that leaves the low bits of all lines
 * alike. */
static void many_ways_of_far_lines_are_told_apart(void **state)
{
    (void)state;
    lru_is_exact(1, 40, 64, 1 << 16);
    lru_is_exact(1, 64, 64, 1 << 16);
    lru_is_exact(1, 127, 64, 1 << 20);
}

static uint32_t lines_in(struct cache *cache, uint32_t set)
{
    const uint32_t block = set >> cache->block_shift, first = block << cache->block_shift;
    const bool is_united = cache->block_marks[block] == cache->generation + 1;
    struct cache_set *own = cache_set_at(cache, is_united ? first : set);
    uint32_t lines = 0;
    for (uint32_t way = 0; way < cache->way_count; way++)
        lines += cache_numbers_of(own, cache->way_count)[way] != 0;
    return own->mark == cache->generation + is_united ? lines : 0;
}

/* A cleared cache replaces as a new one does, and shows nothing of before. */
static void a_cleared_cache_is_a_new_one(void **state)
{
    (void)state;
    struct cache cache;
    uint64_t victim;

    assert_int_equal(cache_create(&cache, 2 * 2 * LINE, LINE, 2), 0);
    assert_int_equal(lines_in(&cache, 0), 0);
    for (int round = 0; round < 3; round++) {
        for (uint64_t line = 0; line < 6; line++) { /* three for each set of two ways */
            assert_false(reach(&cache, line * LINE, &victim));
            assert_int_equal(victim, line < 4 ? 0 : line - 4 + 1);
        }
        assert_int_equal(lines_in(&cache, 1), 2);
        cache_clear(&cache);
        assert_int_equal(lines_in(&cache, 0), 0);
        assert_int_equal(lines_in(&cache, 1), 0);
        take_out(&cache, 3 * LINE);
        assert_int_equal(lines_in(&cache, 1), 0);
    }
    cache_destroy(&cache);
}

/* Numbers that agree in their low 32 bits are different lines. */
static void far_addresses_are_told_apart(void **state)
{
    (void)state;
    struct cache cache;
    uint64_t near_va = 0x1000, far_va = near_va + ((uint64_t)64 << 32);

    assert_int_equal(cache_create(&cache, 4 * 64, 64, 4), 0);
    assert_false(reach_only(&cache, near_va));
    assert_false(reach_only(&cache, far_va));
    assert_true(reach_only(&cache, near_va));
    assert_true(reach_only(&cache, far_va));
    cache_destroy(&cache);
}

/* After a removal the empty line is filled before any other is replaced. */
static void empty_lines_are_filled_first(void **state)
{
    (void)state;
    struct cache cache;
    uint64_t victim;

    assert_int_equal(cache_create(&cache, 3 * 64, 64, 3), 0);
    for (uint64_t va = 0; va < 3 * 64; va += 64)
        reach_only(&cache, va);
    take_out(&cache, 128); /* the most recent */
    assert_false(reach(&cache, 4096, &victim));
    assert_int_equal(victim, 0);
    assert_false(reach(&cache, 8192, &victim));
    assert_int_equal(victim, 1); /* line 0, the least recent */
    cache_destroy(&cache);
}

static void removed_lines_are_gone(void **state)
{
    (void)state;
    struct cache cache;

    assert_int_equal(cache_create(&cache, 4096, 128, 2), 0);
    reach_only(&cache, 1000);
    assert_true(reach_only(&cache, 1023));
    take_out(&cache, 900);
    assert_false(reach_only(&cache, 1000));
    cache_destroy(&cache);
}

/* A cache whose blocks are reached whole where it allows that, and one that only ever sees single
 * lines. */
enum { BLOCK_LINES = CACHE_BLOCK_BYTES / LINE, BLOCK_SETS = 32, BLOCK_WAYS = 16 };
struct pair {
    struct cache blocks, lines;
};

/* What a step does: of a block, or only of its first line. */
struct step {
    uint64_t va;
    bool whole, removes;
};

static void pair_step(struct pair *pair, const struct step *step, uint32_t *together)
{
    struct cache_set *united = step->whole ? cache_united(&pair->blocks, step->va) : NULL;
    *together += united != NULL;
    for (uint32_t n = 0; n < (step->whole ? BLOCK_LINES : 1); n++) {
        uint64_t one = 0, of_block = 0, va = step->va + LINE * n, number = step->va / LINE + 1;
        uint32_t way;
        bool there, expected;
        if (step->removes)
            take_out(&pair->lines, va);
        expected = reach(&pair->lines, va, &one);
        if (united && n > 0) /* like the first one */
            continue;
        if (step->removes && united)
            cache_set_remove(united, BLOCK_WAYS, number);
        else if (step->removes)
            take_out(&pair->blocks, va);
        there = united ? cache_set_reach(united, BLOCK_WAYS, number, &way, &of_block)
                       : reach(&pair->blocks, va, &of_block);
        assert_int_equal(there, expected);
        assert_int_equal(of_block, one);
    }
}

static void pair_compare(struct pair *pair)
{
    for (uint32_t set = 0; set < BLOCK_SETS; set += BLOCK_LINES) {
        uint32_t blocks = 0, lines = 0;
        for (uint32_t n = 0; n < BLOCK_LINES; n++) {
            blocks += lines_in(&pair->blocks, set + n);
            lines += lines_in(&pair->lines, set + n);
        }
        assert_int_equal(blocks, lines);
    }
}

static void blocks_are_their_lines(void **state)
{
    enum { STEPS = 50000, BLOCKS = BLOCK_SETS / BLOCK_LINES * BLOCK_WAYS * 3 / 2 };
    uint32_t size_bytes = BLOCK_SETS * BLOCK_WAYS * LINE, seed = 1, whole = 0, together = 0;
    struct pair pair;
    (void)state;
    assert_int_equal(cache_create(&pair.blocks, size_bytes, LINE, BLOCK_WAYS), 0);
    assert_int_equal(cache_create(&pair.lines, size_bytes, LINE, BLOCK_WAYS), 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        seed = seed * 1664525 + 1013904223;
        struct step step = {.va = (uint64_t)(seed >> 12) % BLOCKS * CACHE_BLOCK_BYTES,
                            .whole = seed >> 3 & 511,
                            .removes = seed % 29 == 0};
        if (i % 5000 == 0) {
            cache_clear(&pair.blocks);
            cache_clear(&pair.lines);
        }
        pair_step(&pair, &step, &together);
        whole += step.whole;
        if (i % 100 == 0)
            pair_compare(&pair);
    }
    assert_true(together > STEPS / 10 && whole - together > STEPS / 10);
    cache_destroy(&pair.blocks);
    cache_destroy(&pair.lines);
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
        cmocka_unit_test(many_ways_of_far_lines_are_told_apart),
        cmocka_unit_test(a_cleared_cache_is_a_new_one),
        cmocka_unit_test(far_addresses_are_told_apart),
        cmocka_unit_test(empty_lines_are_filled_first),
        cmocka_unit_test(removed_lines_are_gone),
        cmocka_unit_test(blocks_are_their_lines),
        cmocka_unit_test(impossible_sizes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
