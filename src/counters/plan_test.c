#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/plan.h"
#include "counters/test/agent_double.h"

enum { SET_MAX = 300 };

static struct catalog *catalog;

static int setup(void **state)
{
    struct definition_set *set = definitions_create();
    (void)state;
    definitions_add_builtin(set);
    catalog = catalog_create(set, &test_agent, 1);
    definitions_destroy(set);
    return catalog ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    catalog_destroy(catalog);
    return 0;
}

/* Plans the named counters; checks that every pass fits; returns the number of passes. */
static int plan(const char *const *names, uint32_t *pass)
{
    const struct counter *counters[SET_MAX];
    uint32_t count = 0, culprit;
    for (; names[count]; count++) {
        counters[count] = catalog_find(catalog, names[count]);
        assert_non_null(counters[count]);
    }
    int passes = plan_passes(catalog, counters, count, pass, &culprit);
    for (int p = 0; p < passes; p++) {
        struct plan_event events[PLAN_EVENTS_MAX];
        uint32_t used = 0;
        const char *full = "";
        for (uint32_t i = 0; i < count; i++) {
            if (pass[i] == (uint32_t)p)
                assert_int_equal(plan_events_add(catalog, counters[i], events, &used, 512), 0);
        }
        assert_true(plan_fits(catalog, events, used, &full));
    }
    return passes;
}

static void one_pass_test(void **state)
{
    static const char *const names[] = {"SQ_WAVES",     "SQ_INSTS_VALU", "SQ_INSTS_SALU",
                                        "SQ_INSTS_LDS", "GRBM_COUNT",    "GRBM_GUI_ACTIVE",
                                        "TCC_HIT",      "TCC_MISS",      "TCC_REQ",
                                        "L2CacheHit",   "GPU_UTIL",      NULL};
    uint32_t pass[SET_MAX];
    (void)state;
    assert_int_equal(plan(names, pass), 1); /* L2CacheHit and GPU_UTIL share their operands */
}

static void split_test(void **state)
{
    static const char *const names[] = {"TCC_HIT",  "TCC_MISS",  "TCC_REQ",    "TCC_READ",
                                        "TCC_BUSY", "TCC_WRITE", "L2CacheHit", NULL};
    uint32_t pass[SET_MAX];
    (void)state;
    assert_int_equal(plan(names, pass), 2); /* 6 events, 4 registers */
}

/* 3+3+2 into bins of 4 needs 2 only if the shared operands meet; greedy by size would not see it.
 */
static void sharing_test(void **state)
{
    static const char *const names[] = {"WriteSize", "MemWrites32B",     "TCC_EA_WRREQ_sum",
                                        "FetchSize", "TCC_EA_RDREQ_sum", NULL};
    uint32_t pass[SET_MAX];
    (void)state;
    assert_int_equal(plan(names, pass), 1); /* WRREQ, WRREQ_64B, RDREQ, RDREQ_32B */
}

static void accumulate_test(void **state)
{
    static const char *const names[] = {"MeanOccupancyPerCU", "SQ_WAVES",      "SQ_INSTS_VALU",
                                        "SQ_INSTS_SALU",      "SQ_INSTS_LDS",  "SQ_INSTS_SMEM",
                                        "SQ_BUSY_CYCLES",     "SQ_INSTS_FLAT", NULL};
    uint32_t pass[SET_MAX];
    (void)state;
    /* An accumulated level takes two registers: 2 + 7 exceeds the 8 of the SQ. */
    assert_int_equal(plan(names, pass), 2);
}

/* A level's own register stands before its total's: 2 + 6 registers, of 8. */
static void shared_level_test(void **state)
{
    static const char *const names[] = {"SQ_LEVEL_WAVES", "SQ_LEVEL_WAVES_ACCUM", "SQ_WAVES",
                                        "SQ_INSTS_VALU",  "SQ_INSTS_SALU",        "SQ_INSTS_LDS",
                                        "SQ_INSTS_SMEM",  "SQ_BUSY_CYCLES",       NULL};
    static const char *const four[] = {"SQ_LEVEL_WAVES",           "SQ_LEVEL_WAVES_ACCUM",
                                       "SQ_INST_LEVEL_LDS",        "SQ_INST_LEVEL_LDS_ACCUM",
                                       "SQ_INST_LEVEL_SMEM_ACCUM", "SQ_INST_LEVEL_SMEM",
                                       "SQ_IFETCH_LEVEL_ACCUM",    "SQ_IFETCH_LEVEL",
                                       "MeanOccupancyPerCU",       NULL};
    uint32_t pass[SET_MAX];
    (void)state;
    assert_int_equal(plan(names, pass), 1);
    assert_int_equal(plan(four, pass), 1);
}

static void too_much_test(void **state)
{
    static const char text[] = "HUGE: {architectures: {gfx90a: {expression: A0+A1+A2}}}\n"
                               "A0: {architectures: {gfx90a: {block: GRBM, event: 0}}}\n"
                               "A1: {architectures: {gfx90a: {block: GRBM, event: 1}}}\n"
                               "A2: {architectures: {gfx90a: {block: GRBM, event: 2}}}\n";
    struct definition_set *set = definitions_create();
    uint32_t pass[2], culprit = 9;
    (void)state;
    definitions_load_yaml(set, "huge.yaml", text, strlen(text));
    struct catalog *own = catalog_create(set, &test_agent, 1);
    const struct counter *counters[] = {catalog_find(own, "A0"), catalog_find(own, "HUGE")};
    assert_int_equal(plan_passes(own, counters, 2, pass, &culprit), PLAN_TOO_MUCH);
    assert_int_equal(culprit, 1);
    catalog_destroy(own);
    definitions_destroy(set);
}

/* ---- against all ways to distribute a few counters, by the hardware's rule alone: each register
 * counts one event, or the total of what the register before it counts. */

enum { FEW = 10, NEEDS_MAX = 64 };

struct wanted {
    struct plan_event need[NEEDS_MAX];
    uint32_t count;
};

static uint64_t level_bit(const struct wanted *w, uint32_t counter)
{
    for (uint32_t i = 0; i < w->count; i++) {
        if (w->need[i].counter == counter && w->need[i].accumulate == ACCUMULATE_NONE)
            return UINT64_C(1) << i;
    }
    return 0;
}

/* Whether so many registers count what is not in `met`. Groups of a level and its total may stand
 * in any order, so the first need that is open may come next: alone or in a group. */
static int layout_exists(const struct wanted *w, uint64_t met, uint32_t registers)
{
    uint32_t first = 0;
    while (first < w->count && met >> first & 1)
        first++;
    if (first == w->count)
        return 1;
    uint32_t counter = w->need[first].counter;
    uint64_t level = level_bit(w, counter);
    if (w->need[first].accumulate == ACCUMULATE_NONE && registers >= 1 &&
        layout_exists(w, met | level, registers - 1))
        return 1;
    for (uint32_t i = first; i < w->count && registers >= 2; i++) {
        if (w->need[i].counter == counter && w->need[i].accumulate != ACCUMULATE_NONE &&
            !(met >> i & 1) && layout_exists(w, met | level | UINT64_C(1) << i, registers - 2))
            return 1;
    }
    return 0;
}

static int set_fits(const struct counter *const *counters, uint32_t set)
{
    uint32_t total, block_count, used = 0;
    struct plan_event events[NEEDS_MAX];
    const struct counter *all = catalog_counters(catalog, &total);
    const struct counter_block *blocks = catalog_blocks(catalog, &block_count);
    for (uint32_t i = 0; i < FEW; i++) {
        if (set >> i & 1)
            assert_int_equal(plan_events_add(catalog, counters[i], events, &used, NEEDS_MAX), 0);
    }
    for (uint32_t b = 0; b < block_count; b++) {
        struct wanted wanted = {.count = 0};
        for (uint32_t i = 0; i < used; i++) {
            if (all[events[i].counter].block == b)
                wanted.need[wanted.count++] = events[i];
        }
        if (wanted.count && !layout_exists(&wanted, 0, blocks[b].registers))
            return 0;
    }
    return 1;
}

/* The fewest passes for the set; `fits` and `fewest` of all its subsets are known. FEW + 1: none.
 */
static uint32_t fewest_of(uint32_t set, const uint8_t *fits, const uint8_t *fewest)
{
    uint32_t best = FEW + 1, lowest = set & -set;
    for (uint32_t part = set; part; part = (part - 1) & set) {
        if (part & lowest && fits[part] && fewest[set & ~part] + 1u < best)
            best = fewest[set & ~part] + 1u;
    }
    return best;
}

static uint32_t fewest_passes(const struct counter *const *counters)
{
    static uint8_t fits[1 << FEW], fewest[1 << FEW];
    fewest[0] = 0;
    for (uint32_t set = 1; set < 1u << FEW; set++) {
        fits[set] = (uint8_t)set_fits(counters, set);
        fewest[set] = (uint8_t)fewest_of(set, fits, fewest);
    }
    return fewest[(1 << FEW) - 1];
}

static int is_candidate(const struct counter *counter, uint32_t round)
{
    int is_level = strstr(counter->name, "LEVEL") != NULL;
    int is_sq = counter->kind == COUNTER_BASIC && strcmp(counter->block_name, "SQ") == 0;
    int is_tcc = counter->kind == COUNTER_BASIC && strcmp(counter->block_name, "TCC") == 0;
    if (round % 2)
        return counter->kind == COUNTER_DERIVED || is_tcc;
    return is_level || (is_sq && round % 4 == 0 && strstr(counter->name, "WAVES"));
}

static void minimal_test(void **state)
{
    uint32_t count, seed = 12345, more_than_one = 0;
    const struct counter *all = catalog_counters(catalog, &count);
    (void)state;
    for (uint32_t round = 0; round < 120; round++) {
        const struct counter *counters[FEW];
        uint32_t pass[FEW], culprit;
        for (uint32_t i = 0; i < FEW;) {
            seed = seed * 1664525 + 1013904223;
            const struct counter *candidate = &all[(seed >> 8) % count];
            if (is_candidate(candidate, round))
                counters[i++] = candidate;
        }
        int passes = plan_passes(catalog, counters, FEW, pass, &culprit);
        if (passes == PLAN_TOO_MUCH)
            continue;
        for (uint32_t p = 0; p < (uint32_t)passes; p++) {
            uint32_t set = 0;
            for (uint32_t i = 0; i < FEW; i++)
                set |= (uint32_t)(pass[i] == p) << i;
            assert_true(set_fits(counters, set));
        }
        assert_int_equal(passes, fewest_passes(counters));
        more_than_one += passes > 1;
    }
    assert_true(more_than_one > 40);
}

static void describe_test(void **state)
{
    static const char *const names[] = {"TCC_HIT", "TCC_MISS", "TCC_REQ", "TCC_READ", "TCC_WRITE"};
    struct plan_event events[8];
    uint32_t used = 0;
    char text[200], cut[20];
    (void)state;
    for (int i = 0; i < 4; i++)
        plan_events_add(catalog, catalog_find(catalog, names[i]), events, &used, 8);
    assert_int_equal(plan_describe(catalog, events, used, text, sizeof text), 0);
    assert_string_equal(text, "");
    plan_events_add(catalog, catalog_find(catalog, names[4]), events, &used, 8);
    size_t length = plan_describe(catalog, events, used, text, sizeof text);
    assert_string_equal(text, "block TCC has 4 counter registers, 5 are needed (TCC_HIT, TCC_MISS, "
                              "TCC_REQ, TCC_READ, TCC_WRITE)");
    assert_int_equal(plan_describe(catalog, events, used, cut, sizeof cut), length);
    assert_int_equal(strncmp(cut, text, sizeof cut - 1), 0);
    assert_int_equal(strlen(cut), sizeof cut - 1);
}

static void basic_add(struct definition_set *set, const char *block, const char *name,
                      uint32_t event)
{
    const struct counter_definition definition = {
        .name = name, .architectures = "gfx90a", .block = block, .event = event, .description = ""};
    assert_int_equal(definitions_add(set, &definition), 0);
}

/* As the SQ and the SQ_CS of gfx9: one set of registers, which the names "A..." and "B..." share.
 */
static struct catalog *twins_create(uint32_t of_first)
{
    static const struct counter_block blocks[] = {
        {.name = "FIRST", .registers = 8, .event_max = 99, .register_file = 1},
        {.name = "OTHER", .registers = 2, .event_max = 99},
        {.name = "SECOND", .registers = 8, .event_max = 99, .register_file = 1}};
    const struct counter_agent agent = {
        .architecture = "gfx90a", .blocks = blocks, .block_count = 3};
    static const char *const names[] = {"A0", "A1", "A2", "A3", "A4", "A5", "A6", "A7"};
    struct definition_set *set = definitions_create();
    for (uint32_t i = 0; i < of_first; i++)
        basic_add(set, "FIRST", names[i], i + 1);
    basic_add(set, "SECOND", "B0", 1);
    basic_add(set, "OTHER", "C0", 1);
    struct catalog *twins = catalog_create(set, &agent, 1);
    definitions_destroy(set);
    assert_non_null(twins);
    return twins;
}

static void shared_registers_test(void **state)
{
    (void)state;
    for (uint32_t of_first = 7; of_first <= 8; of_first++) {
        struct catalog *twins = twins_create(of_first);
        const struct counter *counters[SET_MAX];
        struct plan_event events[PLAN_EVENTS_MAX];
        uint32_t pass[SET_MAX], culprit, used = 0, total;
        const struct counter *all = catalog_counters(twins, &total);
        const char *full = "";
        char text[200];
        for (uint32_t i = 0; i < total; i++) {
            counters[i] = &all[i];
            assert_int_equal(plan_events_add(twins, &all[i], events, &used, PLAN_EVENTS_MAX), 0);
        }
        assert_int_equal(plan_fits(twins, events, used, &full), of_first == 7);
        assert_string_equal(full, of_first == 7 ? "" : "FIRST");
        assert_int_equal(plan_passes(twins, counters, total, pass, &culprit), of_first - 6);
        plan_describe(twins, events, used, text, sizeof text);
        assert_string_equal(text, of_first == 7 ? ""
                                                : "block FIRST has 8 counter registers, 9 are "
                                                  "needed (A0, A1, A2, A3, A4, A5, A6, A7, B0)");
        catalog_destroy(twins);
    }
}

/* Every counter of the GPU at once: the SQ bounds the number of passes from below. */
static void everything_test(void **state)
{
    uint32_t count, basic_sq = 0, taken = 0, culprit;
    const struct counter *all = catalog_counters(catalog, &count);
    const struct counter **counters = calloc(count, sizeof *counters);
    uint32_t *pass = calloc(count, sizeof *pass);
    (void)state;
    for (uint32_t i = 0; i < count; i++) {
        counters[taken++] = &all[i];
        basic_sq += all[i].kind == COUNTER_BASIC && strcmp(all[i].block_name, "SQ") == 0;
    }
    int passes = plan_passes(catalog, counters, taken, pass, &culprit);
    assert_true(passes >= (int)(basic_sq + 7) / 8);
    assert_true(passes <= 60);
    for (uint32_t i = 0; i < taken; i++)
        assert_true(pass[i] < (uint32_t)passes);
    free(counters);
    free(pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_test),     cmocka_unit_test(split_test),
        cmocka_unit_test(sharing_test),      cmocka_unit_test(accumulate_test),
        cmocka_unit_test(too_much_test),     cmocka_unit_test(everything_test),
        cmocka_unit_test(shared_level_test), cmocka_unit_test(minimal_test),
        cmocka_unit_test(describe_test),     cmocka_unit_test(shared_registers_test),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
