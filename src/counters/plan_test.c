#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters/plan.h"
#include "counters/test_agent.h"

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

/* ---- against all ways to distribute a few counters */

enum { FEW = 6 };

static int all_fit(const struct counter *const *counters, const uint32_t *pass, uint32_t passes)
{
    for (uint32_t p = 0; p < passes; p++) {
        struct plan_event events[PLAN_EVENTS_MAX];
        uint32_t used = 0;
        const char *full;
        for (uint32_t i = 0; i < FEW; i++) {
            if (pass[i] == p)
                plan_events_add(catalog, counters[i], events, &used, PLAN_EVENTS_MAX);
        }
        if (!plan_fits(catalog, events, used, &full))
            return 0;
    }
    return 1;
}

/* The fewest passes for counters i and up, given where those before are. */
static uint32_t fewest(const struct counter *const *counters, uint32_t *pass, uint32_t i,
                       uint32_t passes)
{
    if (i == FEW)
        return all_fit(counters, pass, passes) ? passes : FEW + 1;
    uint32_t best = FEW + 1;
    for (pass[i] = 0; pass[i] <= passes; pass[i]++) {
        uint32_t mine = pass[i];
        uint32_t found = fewest(counters, pass, i + 1, mine == passes ? passes + 1 : passes);
        pass[i] = mine;
        best = found < best ? found : best;
    }
    return best;
}

static void minimal_test(void **state)
{
    uint32_t count, seed = 12345, more_than_one = 0;
    const struct counter *all = catalog_counters(catalog, &count);
    (void)state;
    for (int round = 0; round < 200; round++) {
        const struct counter *counters[FEW];
        uint32_t pass[FEW], scratch[FEW], culprit;
        for (uint32_t i = 0; i < FEW;) {
            seed = seed * 1664525 + 1013904223;
            const struct counter *candidate = &all[(seed >> 8) % count];
            if (candidate->kind == COUNTER_DERIVED ||
                (candidate->kind == COUNTER_BASIC && strcmp(candidate->block_name, "TCC") == 0))
                counters[i++] = candidate;
        }
        int passes = plan_passes(catalog, counters, FEW, pass, &culprit);
        if (passes == PLAN_TOO_MUCH)
            continue;
        assert_true(all_fit(counters, pass, (uint32_t)passes));
        assert_int_equal(passes, fewest(counters, scratch, 0, 0));
        more_than_one += passes > 1;
    }
    assert_true(more_than_one > 20);
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
        cmocka_unit_test(one_pass_test), cmocka_unit_test(split_test),
        cmocka_unit_test(sharing_test),  cmocka_unit_test(accumulate_test),
        cmocka_unit_test(too_much_test), cmocka_unit_test(everything_test),
        cmocka_unit_test(minimal_test),  cmocka_unit_test(describe_test),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
