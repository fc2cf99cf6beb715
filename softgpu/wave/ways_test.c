/*
 * Kernels that become hot, and then do otherwise: code that was never executed is where runs go on
 * behind a branch that was always taken, and loops go round with linear registers for as long as
 * all lanes do. Results against the host, on each level that has translated code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "valu/valu.h"
#include "wave/code.h"
#include "wave/host_levels.h"
#include "wave/kernel_runner.h"

enum { LANES = 64, GROUPS = 1500, ITEMS = GROUPS * LANES, DATA_AT = 0x1000, ARGUMENTS_AT = 0x100 };

struct arguments { /* of all kernels */
    uint32_t mask, total;
    uint64_t count;
};

#define BEGIN                                                                                      \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_load_dwordx4 s[12:15], s[4:5], 0x100\n"                                                     \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_add_u32 s4, s4, 0x1000\n"                                                                   \
    "s_addc_u32 s5, s5, 0\n"                                                                       \
    "s_lshl_b32 s7, s2, 6\n"                                                                       \
    "v_add_u32 v0, s7, v0\n"                                                                       \
    "v_mov_b32 v1, 0\n"
#define ADDRESS                                                                                    \
    "v_lshlrev_b64 v[4:5], 2, v[0:1]\n"                                                            \
    "v_mov_b32 v6, s5\n"                                                                           \
    "v_add_co_u32 v4, vcc, s4, v4\n"                                                               \
    "v_addc_co_u32 v5, vcc, v6, v5, vcc\n"                                                         \
    "global_load_dword v8, v[4:5], off\n"

/* Groups that have some of the mask's bits add 100 besides. */
static const char ways_text[] = BEGIN ADDRESS "s_and_b32 s9, s2, s12\n"
                                              "s_cbranch_scc0 over\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "v_add_u32 v8, 0x64, v8\n"
                                              "over:\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "v_add_u32 v8, 1, v8\n"
                                              "global_store_dword v[4:5], v8, off\n"
                                              "s_endpgm\n";
/* Those groups read first what no wave has written, which is 0, and items' numbers. */
static const char fresh_text[] =
    BEGIN "s_and_b32 s9, s2, s12\n"
          "s_cbranch_scc1 look\n" ADDRESS "s_waitcnt vmcnt(0)\n"
          "v_add_u32 v0, 1, v8\n"
          "global_store_dword v[4:5], v0, off\n"
          "s_endpgm\n"
          "look:\n"
          "v_or_b32 v10, v4, v5\n"
          "v_or_b32 v11, v6, v8\n"
          "v_or_b32 v10, v10, v11\n" ADDRESS "v_add_u32 v10, 0x65, v10\n"
          "s_waitcnt vmcnt(0)\n"
          "v_add_u32 v0, v10, v8\n"
          "global_store_dword v[4:5], v0, off\n"
          "s_endpgm\n";
/* The last slice of each wave is one run, but not all that it has executed. */
static const char waits_text[] = BEGIN "v_add_u32 v0, s7, v0\n" /* two waves */
                                       "v_mov_b32 v10, v9\n"
                                       "v_mov_b32 v9, 7\n" ADDRESS "s_waitcnt vmcnt(0)\n"
                                       "v_add_u32 v8, v10, v8\n"
                                       "s_barrier\n"
                                       "again:\n"
                                       "v_lshlrev_b64 v[4:5], 2, v[0:1]\n"
                                       "v_mov_b32 v6, s5\n"
                                       "v_add_co_u32 v4, vcc, s4, v4\n"
                                       "v_addc_co_u32 v5, vcc, v6, v5, vcc\n"
                                       "v_add_u32 v8, 1, v8\n"
                                       "global_store_dword v[4:5], v8, off\n"
                                       "s_cmp_eq_u32 s12, 1\n" /* never */
                                       "s_cbranch_scc1 again\n"
                                       "s_endpgm\n";
/* The first `count` elements, by so many items in turns, whose rounds are added, too. */
static const char loop_text[] = BEGIN "s_mov_b64 s[24:25], 0\n"
                                      "v_mov_b32 v3, 0\n"
                                      "v_mov_b32 v9, 0\n"
                                      "loop:\n" ADDRESS "v_add_u32 v9, 1, v9\n"
                                      "s_waitcnt vmcnt(0)\n"
                                      "v_add_u32 v8, v9, v8\n"
                                      "global_store_dword v[4:5], v8, off\n"
                                      "v_add_co_u32 v0, vcc, s13, v0\n"
                                      "v_addc_co_u32 v1, vcc, v1, v3, vcc\n"
                                      "v_cmp_le_u64 vcc, s[14:15], v[0:1]\n"
                                      "s_or_b64 s[24:25], vcc, s[24:25]\n"
                                      "s_andn2_b64 exec, exec, s[24:25]\n"
                                      "s_cbranch_execnz loop\n"
                                      "s_endpgm\n";

struct trial {
    const char *name;
    struct arguments arguments;
    uint32_t groups; /* of one wave */
    bool loops, pairs;
};

static uint32_t added(const struct trial *trial, uint32_t item)
{
    if (!trial->loops)
        return item / LANES & trial->arguments.mask ? 101 : 1;
    return item < trial->arguments.count ? 1 + item / trial->arguments.total : 0;
}

static void trial_run(struct kernel_runner *runner, const struct trial *trial, uint32_t *expected)
{
    struct dispatch_result result;
    uint8_t *buffer = kernel_runner_buffer(runner);
    memcpy(buffer + ARGUMENTS_AT, &trial->arguments, sizeof trial->arguments);
    for (uint32_t item = 0; item < ITEMS; item++)
        expected[item] += added(trial, item);
    const struct kernel_geometry geometry = {trial->groups * LANES,
                                             trial->pairs ? 2 * LANES : LANES, 0, 0};
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, 0);
    if (memcmp(buffer + DATA_AT, expected, ITEMS * sizeof *expected) != 0)
        fail_msg("%s on level %d", trial->name, host_level);
}

static void trials_run(enum host_level level, const char *name, const char *text,
                       const struct trial *trials, unsigned count)
{
    static uint32_t expected[ITEMS];
    const enum host_level before = host_level;
    struct kernel_runner *runner;
    if (valu_build_select(name) < 0)
        return; /* not this CPU */
    host_level = level;
    memset(expected, 0, sizeof expected);
    assert_int_equal(kernel_runner_create(2, DATA_AT + sizeof expected, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    for (unsigned n = 0; n < count; n++)
        trial_run(runner, &trials[n], expected);
    kernel_runner_destroy(runner);
    host_level = before;
}

static void each_level(const char *text, const struct trial *trials, unsigned count)
{
    trials_run(LEVEL_AVX2, "avx2", text, trials, count);
    trials_run(LEVEL_AVX512, "avx512", text, trials, count);
}

static void test_ways(void **state)
{
    static const struct trial trials[] = {
        {"cold", {0, 0, 0}, GROUPS, false, false},
        {"hot", {0, 0, 0}, GROUPS, false, false},
        {"hot still", {0, 0, 0}, GROUPS, false, false},
        {"half of them elsewhere", {1, 0, 0}, GROUPS, false, false},
        {"nearly all", {~0u, 0, 0}, GROUPS, false, false},
        {"half again", {1, 0, 0}, GROUPS, false, false},
        {"all as before", {0, 0, 0}, GROUPS, false, false},
    };
    (void)state;
    each_level(ways_text, trials, sizeof trials / sizeof *trials);
    each_level(fresh_text, trials, sizeof trials / sizeof *trials);
}

static void test_waits(void **state)
{
    static const struct trial trials[] = {
        {"cold", {0, 0, 0}, GROUPS, false, true},
        {"hot", {0, 0, 0}, GROUPS, false, true},
        {"hot still", {0, 0, 0}, GROUPS, false, true},
    };
    (void)state;
    each_level(waits_text, trials, sizeof trials / sizeof *trials);
}

static void test_loops(void **state)
{
    enum { SOME = 200, FEW = 3 };
    static const struct trial trials[] = {
        {"all", {0, SOME * LANES, ITEMS}, SOME, true, false},
        {"all, hot", {0, SOME * LANES, ITEMS}, SOME, true, false},
        {"most", {0, SOME * LANES, ITEMS - 1000}, SOME, true, false},
        {"not whole waves", {0, SOME * LANES, ITEMS - 1013}, SOME, true, false},
        {"many rounds", {0, FEW * LANES, ITEMS - 17}, FEW, true, false},
        {"one round", {0, SOME * LANES, SOME * LANES}, SOME, true, false},
    };
    (void)state;
    each_level(loop_text, trials, sizeof trials / sizeof *trials);
}

/* What a branch did at first says where runs go on; once that is known nothing more is noted. */
static void test_branches_are_noted(void **state)
{
    struct inst taken = {.dwords = 1}, passed = {.dwords = 1};
    (void)state;
    for (int n = 0; n < BRANCH_TIMES; n++) {
        assert_false(branch_was_taken(&taken));
        branch_note(&taken, true);
    }
    assert_true(branch_was_taken(&taken));
    branch_note(&taken, false);
    assert_true(branch_was_taken(&taken));
    for (int n = 0; n < 1000; n++)
        branch_note(&passed, n != 3);
    assert_false(branch_was_taken(&passed));
    for (int n = 0; n < 1000; n++)
        branch_note(&passed, false);
    assert_false(branch_was_taken(&passed));
}

/* A run that goes on at the target of one that was taken once keeps to that when it is left there.
 */
static void test_branches_are_settled(void **state)
{
    struct inst taken = {.dwords = 1}, passed = {.dwords = 1};
    (void)state;
    branch_note(&taken, true);
    branch_settle(&taken);
    branch_note(&taken, false);
    assert_true(branch_was_taken(&taken));
    branch_note(&passed, false);
    branch_settle(&passed);
    assert_false(branch_was_taken(&passed));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ways), cmocka_unit_test(test_waits), cmocka_unit_test(test_loops),
        cmocka_unit_test(test_branches_are_noted), cmocka_unit_test(test_branches_are_settled)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
