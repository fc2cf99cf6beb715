/* The sets of an L2 against lists of their lines, moved to the front when used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "perf/l2_mix.h"
#include "perf/l2_sets.h"

enum { LINE = 128, SETS = 2048, SIZE_BYTES = SETS * L2_WAYS * LINE, USED = 8, LINES = LINE / 64 };

static uint32_t random32(uint32_t below)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

/* A set's lines, the most recent first; place 0: none. */
struct list {
    uint64_t places[L2_WAYS];
};

/* Returns what leaves, or 0; *there: the line was there. */
static uint64_t list_reach(struct list *list, uint64_t place, bool *there)
{
    uint32_t at = 0;
    while (at < L2_WAYS - 1 && list->places[at] != place)
        at++;
    const uint64_t last = list->places[at];
    *there = last == place;
    memmove(list->places + 1, list->places, at * sizeof place);
    list->places[0] = place;
    return *there ? 0 : last;
}

/* The same; the state of what leaves is its number's low bits, which says who it was. */
static uint64_t set_reach(const struct l2_sets *l2, struct l2_set *set, uint64_t place, bool *there)
{
    const uint32_t number = l2_number(l2, place);
    const uint8_t memory = (uint8_t)(place >> L2_MEMORY_SHIFT);
    uint32_t way = l2_find(set, number, memory);
    uint64_t left = 0;
    *there = way != L2_NOWHERE;
    if (*there) {
        assert_int_equal(set->states[way], (uint8_t)number);
        l2_use(set, way);
        return 0;
    }
    way = l2_use_oldest(set);
    if (set->numbers[way]) {
        assert_int_equal(set->states[way], (uint8_t)set->numbers[way]);
        left = (uint64_t)set->memory[way] << L2_MEMORY_SHIFT |
               (uint64_t)(set->numbers[way] - 1) << l2->number_shift |
               (place & ((1ull << l2->number_shift) - LINE));
    }
    set->numbers[way] = number;
    set->memory[way] = memory;
    set->states[way] = (uint8_t)number;
    return left;
}

/* Of a few sets: lines of three memories at the same places among them, and far ones. */
static uint64_t place_choose(void)
{
    const uint64_t memory = random32(8) ? 0 : 1 + random32(2) * 4;
    const uint64_t far = random32(9) ? 0 : 1ull << 47;
    return (memory << L2_MEMORY_SHIFT | far) + (uint64_t)SETS * LINE * (1 + random32(24)) +
           LINE * random32(USED);
}

static void replacement_is_exact_lru(void **state)
{
    enum { STEPS = 100000 };
    struct list lists[USED] = {{{0}}};
    struct l2_sets l2;
    uint32_t hits = 0;
    (void)state;
    assert_int_equal(l2_sets_create(&l2, SIZE_BYTES, LINE, L2_WAYS), 0);
    for (int i = 0; i < STEPS; i++) {
        const uint64_t place = place_choose();
        bool there, expected;
        if (i % 20000 == 0) {
            l2_sets_clear(&l2);
            memset(lists, 0, sizeof lists);
        }
        const uint64_t leaves = list_reach(&lists[place / LINE % SETS], place, &expected);
        assert_true(set_reach(&l2, l2_single(&l2, place), place, &there) == leaves);
        assert_int_equal(there, expected);
        hits += there;
    }
    assert_in_range(hits, STEPS / 5, STEPS * 4 / 5);
    l2_sets_destroy(&l2);
}

/* Blocks that are reached whole, until one of the lines is reached alone. */
static void blocks_are_their_lines(void **state)
{
    enum { STEPS = 50000, BLOCK_LINES = CACHE_BLOCK_BYTES / LINE };
    struct list lists[USED] = {{{0}}};
    struct l2_sets l2;
    uint32_t together = 0, apart = 0;
    (void)state;
    assert_int_equal(l2_sets_create(&l2, SIZE_BYTES, LINE, L2_WAYS), 0);
    for (int i = 0; i < STEPS; i++) {
        const uint64_t place = place_choose() & ~(uint64_t)(CACHE_BLOCK_BYTES - 1);
        struct l2_set *united = random32(500) ? l2_united(&l2, place) : NULL;
        bool there, expected;
        if (i % 5000 == 0) {
            l2_sets_clear(&l2);
            memset(lists, 0, sizeof lists);
            united = NULL;
        }
        together += united != NULL;
        apart += !united;
        for (uint64_t at = place; at < place + CACHE_BLOCK_BYTES; at += LINE) {
            const uint64_t leaves = list_reach(&lists[at / LINE % SETS], at, &expected);
            if (united && at > place) /* like the first one */
                continue;
            struct l2_set *set = united ? united : l2_single(&l2, at);
            assert_true(set_reach(&l2, set, at, &there) == leaves);
            assert_int_equal(there, expected);
        }
    }
    assert_true(together > STEPS / 10 && apart > STEPS / 10);
    l2_sets_destroy(&l2);
}

static void ways_are_told_by_their_states(void **state)
{
    struct l2_set set = {.states = {L2_DIRTY | L2_VALID, L2_VALID, [15] = L2_FULL | L2_DIRTY},
                         .memory = {[1] = 4, [14] = 1}};
    (void)state;
    assert_int_equal(l2_ways_with(&set, L2_DIRTY), 0x8001);
    assert_int_equal(l2_ways_with(&set, L2_VALID), 3);
    assert_int_equal(l2_ways_with(&set, L2_FULL), 0x8000);
    assert_int_equal(l2_ways_with(&set, L2_DIRTY << 1), 0);
    assert_int_equal(l2_ways_elsewhere(&set), 0x4002);
}

static void parts_of_an_address(void **state)
{
    struct l2_sets l2;
    (void)state;
    assert_int_equal(l2_sets_create(&l2, SIZE_BYTES, LINE, L2_WAYS), 0);
    assert_int_equal(l2_sector(&l2, LINE + 63), 0);
    assert_int_equal(l2_sector(&l2, LINE + 64), LINES - 1);
    assert_int_equal(l2_set_at(&l2, (SETS + 5) * LINE), 5);
    assert_int_equal(l2_number(&l2, (SETS + 5) * LINE), 2);
    l2_sets_destroy(&l2);
}

static void impossible_sizes_are_refused(void **state)
{
    struct l2_sets l2;
    (void)state;
    assert_int_not_equal(l2_sets_create(&l2, SIZE_BYTES, 256, L2_WAYS), 0);
    assert_int_not_equal(l2_sets_create(&l2, SIZE_BYTES, 32, L2_WAYS), 0);
    assert_int_not_equal(l2_sets_create(&l2, SIZE_BYTES, LINE, 8), 0);
    assert_int_not_equal(l2_sets_create(&l2, SIZE_BYTES / 2, LINE, L2_WAYS), 0); /* no room */
    assert_int_not_equal(l2_sets_create(&l2, 3 * SIZE_BYTES, LINE, L2_WAYS), 0);
}

/* Groups of any size go to eight XCCs in turn: one XCC's blocks still use all channels and sets
 * alike, and no two blocks become one. */
static void an_xcc_uses_all_of_its_l2(void **state)
{
    enum { PLACES = 1 << L2_MIX_BITS, BLOCKS = 256 * PLACES, XCCS = 8, BLOCK = 256 };
    static uint32_t counts[PLACES];
    (void)state;
    for (uint32_t group_bytes = BLOCK; group_bytes <= 256 * BLOCK; group_bytes *= 2) {
        memset(counts, 0, sizeof counts);
        for (uint64_t block = 0; block < BLOCKS; block++)
            if (block * BLOCK / group_bytes % XCCS == 5)
                counts[l2_block_mixed(block) % PLACES]++;
        for (uint32_t i = 0; i < PLACES; i++)
            assert_int_equal(counts[i], BLOCKS / XCCS / PLACES);
    }
    for (uint64_t above = 0; above < 100; above++) {
        memset(counts, 0, sizeof counts);
        for (uint64_t block = above * PLACES; block < (above + 1) * PLACES; block++) {
            assert_int_equal(l2_block_mixed(block) / PLACES, above);
            counts[l2_block_mixed(block) % PLACES]++;
        }
        for (uint32_t i = 0; i < PLACES; i++)
            assert_int_equal(counts[i], 1);
    }
    /* Of the L2 that they are made for. */
    const struct gpu_model *model = gpu_model_find("gfx942");
    assert_int_equal(model->tcc_bytes / model->tcc_ways, PLACES * BLOCK);
    /* A byte keeps its place in the block, and what is said of its memory. */
    assert_int_equal(l2_place_mixed(UINT64_C(0x0500000000040123)), UINT64_C(0x0500000000064823));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(replacement_is_exact_lru),
        cmocka_unit_test(blocks_are_their_lines),
        cmocka_unit_test(ways_are_told_by_their_states),
        cmocka_unit_test(parts_of_an_address),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(an_xcc_uses_all_of_its_l2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
