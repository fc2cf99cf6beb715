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
    assert_int_equal(plan_passes(own, counters, 2, pass, &culprit), -1);
    assert_int_equal(culprit, 1);
    catalog_destroy(own);
    definitions_destroy(set);
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
    free(counters);
    free(pass);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_pass_test), cmocka_unit_test(split_test),
        cmocka_unit_test(sharing_test),  cmocka_unit_test(accumulate_test),
        cmocka_unit_test(too_much_test), cmocka_unit_test(everything_test),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
