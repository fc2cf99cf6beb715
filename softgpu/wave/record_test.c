/* What is counted of groups that execute different things, in turns, in places that other groups
 * had before: each of them alone, whatever the ones beside it did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"
#include "wave/kernel_runner.h"

#define REG(name) REG_GFX90A_##name

enum {
    GROUPS = 500,
    WAVE = 64,
    BUFFER_BYTES = 4096,
    ENGINES = 8,
    SHAPES = 5,
    EVENT_WAVES = 4,
    EVENT_VALU = 26,
    EVENT_SALU = 56,
    EVENT_VALU_LANES = 113,
    EVENT_FETCHES = 115,
    EVENT_LDS_CONFLICTS = 121,
    EVENT_SCALAR_LINES = 290,
    EVENT_SCALAR_MISSES = 292
};

/*
 * Of each five groups one executes 3 scalar instructions more, one 2 vector instructions more, and
 * in one only the second wave does. All execute 9 scalar instructions with the tests, and one
 * vector instruction.
 */
static const char *const shapes = "s_mul_hi_u32 s3, s2, 0x33333334\n" /* s2 / 5 */
                                  "s_mul_i32 s3, s3, 5\n"
                                  "s_sub_u32 s3, s2, s3\n"
                                  "v_readfirstlane_b32 s4, v0\n"
                                  "s_lshr_b32 s4, s4, 6\n" /* the wave's number */
                                  "s_cmp_eq_u32 s3, 1\n"
                                  "s_cbranch_scc0 second\n"
                                  "s_mov_b32 s5, 1\n"
                                  "s_mov_b32 s5, 2\n"
                                  "s_mov_b32 s5, 3\n"
                                  "second: s_cmp_eq_u32 s3, 2\n"
                                  "s_cbranch_scc1 more\n"
                                  "s_cmp_eq_u32 s3, 3\n"
                                  "s_cselect_b32 s6, s4, 0\n"
                                  "s_cmp_eq_u32 s6, 1\n"
                                  "s_cbranch_scc0 end\n"
                                  "more: v_mov_b32 v1, 1\n"
                                  "v_mov_b32 v1, 2\n"
                                  "end: s_endpgm\n";

static void set(struct perf *perf, uint32_t reg, uint32_t value)
{
    assert_true(perf_reg_write(perf, 1, reg, value));
}

static void events_start(struct perf *perf, const uint32_t events[4])
{
    set(perf, REG(GRBM_GFX_INDEX), 0xe0000000);
    for (uint32_t i = 0; i < 4; i++)
        set(perf, REG(SQ_PERFCOUNTER0_SELECT) + i, events[i]);
    set(perf, REG(CP_PERFMON_CNTL), 0);
    set(perf, REG(SQ_PERFCOUNTER_MASK), 0xffffffff);
    set(perf, REG(SQ_PERFCOUNTER_CTRL), 0xffff0057);
    set(perf, REG(COMPUTE_PERFCOUNT_ENABLE), 1);
    set(perf, REG(CP_PERFMON_CNTL), 1);
}

static void counting_start(struct perf *perf)
{
    static const uint32_t events[] = {EVENT_WAVES, EVENT_VALU, EVENT_SALU, EVENT_VALU_LANES};
    events_start(perf, events);
}

static uint64_t counted_of(struct perf *perf, uint32_t counter, uint32_t engine)
{
    uint64_t value;
    set(perf, REG(GRBM_GFX_INDEX), 0x60000000 | engine << 16);
    assert_true(perf_counter_read(perf, 0, REG(SQ_PERFCOUNTER0_LO) + 2 * counter, &value));
    return value;
}
static uint64_t counted(struct perf *perf, uint32_t counter)
{
    uint64_t sum = 0;
    for (uint32_t engine = 0; engine < ENGINES; engine++)
        sum += counted_of(perf, counter, engine);
    return sum;
}

static void groups_check(uint32_t waves, int threads)
{
    const struct kernel_geometry geometry = {GROUPS * waves * WAVE, waves * WAVE, 0, 0};
    uint64_t each = GROUPS / SHAPES, valu = 1, salu = 9;
    struct kernel_runner *runner;
    struct dispatch_result result;
    assert_int_equal(kernel_runner_create(threads, BUFFER_BYTES, &runner), 0);
    struct perf *perf = kernel_runner_perf(runner);
    assert_int_equal(kernel_runner_load(runner, 0, shapes), 0);
    counting_start(perf);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    assert_int_equal(counted(perf, 0), GROUPS * waves);
    assert_int_equal(counted(perf, 1),
                     GROUPS * waves * valu + each * (waves * 2 + (waves > 1) * 2));
    /* Those that jump to "more" leave three out. */
    assert_int_equal(counted(perf, 2), GROUPS * waves * salu + each * waves * 3 - each * waves * 3);
    kernel_runner_destroy(runner);
}

static void groups_are_counted_one_by_one(void **state)
{
    (void)state;
    for (uint32_t waves = 1; waves <= 3; waves++)
        for (int threads = 1; threads <= 2; threads++)
            groups_check(waves, threads);
}

/*
 * Groups of which 16 that follow each other do the same: two of them have 10 lanes switched off in
 * a vector instruction, 16 more execute two. One record may stand for several, but each is counted
 * where it ran.
 */
static const char *const sixteens = "s_bfe_u32 s3, s2, 0x20004\n" /* bits 4 and 5 */
                                    "s_and_b32 s4, s2, 15\n"
                                    "s_cmp_lt_u32 s4, 2\n"
                                    "s_cselect_b32 exec_lo, 0xfffffc00, -1\n"
                                    "v_mov_b32 v1, 1\n"
                                    "s_mov_b64 exec, -1\n"
                                    "s_cmp_eq_u32 s3, 2\n"
                                    "s_cbranch_scc0 end\n"
                                    "v_mov_b32 v1, 2\n"
                                    "v_mov_b32 v1, 3\n"
                                    "end: s_endpgm\n";

static void repeats_check(int threads)
{
    enum { MANY = 3000 };
    uint64_t waves[ENGINES] = {0}, valu[ENGINES] = {0}, lanes[ENGINES] = {0};
    struct kernel_runner *runner;
    struct dispatch_result result;
    assert_int_equal(kernel_runner_create(threads, BUFFER_BYTES, &runner), 0);
    struct perf *perf = kernel_runner_perf(runner);
    assert_int_equal(kernel_runner_load(runner, 0, sixteens), 0);
    counting_start(perf);
    assert_int_equal(
        kernel_runner_start(runner, 0, (struct kernel_geometry){MANY * WAVE, WAVE, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    for (uint32_t group = 0; group < MANY; group++) { /* dealt to one engine after another */
        const uint64_t more = group / 16 % 4 == 2 ? 2 : 0;
        waves[group % ENGINES]++;
        valu[group % ENGINES] += 1 + more;
        lanes[group % ENGINES] += (1 + more) * WAVE - (group % 16 < 2 ? 10 : 0);
    }
    for (uint32_t engine = 0; engine < ENGINES; engine++) {
        assert_int_equal(counted_of(perf, 0, engine), waves[engine]);
        assert_int_equal(counted_of(perf, 1, engine), valu[engine]);
        assert_int_equal(counted_of(perf, 3, engine), lanes[engine]);
    }
    kernel_runner_destroy(runner);
}
static void repeated_groups_are_counted_where_they_ran(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 3; threads++)
        repeats_check(threads);
}

/* 16 groups that follow each other execute as many instructions as 16 others, of which one is of
 * another kind; or one more, of a kind that the others have none of. */
static const char *const as_many = "s_bitcmp1_b32 s2, 4\n"
                                   "s_cbranch_scc0 scalar\n"
                                   "v_mov_b32 v1, 1\n"
                                   "s_branch end\n"
                                   "scalar: s_mov_b32 s5, 1\n"
                                   "s_branch end\n"
                                   "end: s_endpgm\n";
static const char *const one_more = "s_bitcmp1_b32 s2, 4\n"
                                    "s_cbranch_scc0 end\n"
                                    "v_mov_b32 v1, 1\n"
                                    "end: s_endpgm\n";
/* With an access of memory: a run that is all that 16 groups execute, and one that the others leave
 * for as many instructions. */
static const char *const whole = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                 "v_lshlrev_b32 v1, 2, v0\n"
                                 "s_waitcnt lgkmcnt(0)\n"
                                 "global_load_dword v2, v1, s[4:5]\n"
                                 "s_bitcmp1_b32 s2, 4\n"
                                 "s_cbranch_scc0 scalar\n"
                                 "v_mov_b32 v3, 1\n"
                                 "s_endpgm\n"
                                 "scalar: s_mov_b32 s5, 1\n"
                                 "s_endpgm\n";

static void kinds_check(const char *text, uint32_t vectors, uint32_t scalars)
{
    enum { MANY = 3200, TIMES = 6 }; /* it is translated meanwhile */
    struct kernel_runner *runner;
    struct dispatch_result result;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    struct perf *perf = kernel_runner_perf(runner);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    counting_start(perf);
    for (int n = 0; n < TIMES; n++) {
        assert_int_equal(
            kernel_runner_start(runner, 0, (struct kernel_geometry){MANY * WAVE, WAVE, 0, 0}), 0);
        assert_true(kernel_runner_wait(runner, &result));
        assert_int_equal(result.fault, FAULT_NONE);
    }
    assert_int_equal(counted(perf, 0), TIMES * MANY);
    assert_int_equal(counted(perf, 1), TIMES * (vectors * MANY + MANY / 2));
    assert_int_equal(counted(perf, 2), TIMES * (MANY + scalars * MANY / 2));
    kernel_runner_destroy(runner);
}

static void kinds_are_told_apart(void **state)
{
    (void)state;
    kinds_check(as_many, 0, 1);
    kinds_check(one_more, 0, 0);
    kinds_check(whole, 1, 1);
}

/* Two kernels in turns, which execute as many instructions in as many runs, but other ones. */
static void kernels_are_told_apart(void **state)
{
#define ACCESS                                                                                     \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "v_lshlrev_b32 v1, 2, v0\n"                                                                    \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "global_load_dword v2, v1, s[4:5]\n"
    static const char *const texts[] = {ACCESS "v_mov_b32 v3, 1\nv_mov_b32 v3, 2\ns_endpgm\n",
                                        ACCESS "s_mov_b32 s5, 1\ns_mov_b32 s5, 2\ns_endpgm\n"};
    enum { MANY = 3200, TIMES = 12 };
    struct kernel_runner *runner;
    struct dispatch_result result;
    (void)state;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    struct perf *perf = kernel_runner_perf(runner);
    for (uint32_t kernel = 0; kernel < 2; kernel++)
        assert_int_equal(kernel_runner_load(runner, kernel, texts[kernel]), 0);
    counting_start(perf);
    for (uint32_t n = 0; n < TIMES; n++) {
        assert_int_equal(
            kernel_runner_start(runner, n % 2, (struct kernel_geometry){MANY * WAVE, WAVE, 0, 0}),
            0);
        assert_true(kernel_runner_wait(runner, &result));
    }
    assert_int_equal(counted(perf, 0), TIMES * MANY);
    assert_int_equal(counted(perf, 1), TIMES / 2 * MANY * (1 + 3));
    assert_int_equal(counted(perf, 2), TIMES / 2 * MANY * 2);
    kernel_runner_destroy(runner);
}

/*
 * What has to be looked at while groups run: a loop that begins in one window of 32 bytes of code
 * and ends in the next one; in it a scalar load of a line that is the group's own, and lanes whose
 * dwords of LDS lie in one bank, so that each half of the wave takes 31 cycles more. Groups begin
 * alike, and each has its own.
 */
static const char *const looked_at = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                     "v_lshlrev_b32 v1, 7, v0\n"
                                     "s_lshl_b32 s3, s2, 6\n"
                                     "s_waitcnt lgkmcnt(0)\n"
                                     "s_add_u32 s4, s4, s3\n"
                                     "s_addc_u32 s5, s5, 0\n" /* at 24 */
                                     "s_movk_i32 s3, 5\n"
                                     "again: s_load_dword s6, s[4:5], 0x4\n" /* at 32 */
                                     "s_waitcnt lgkmcnt(0)\n"
                                     "ds_write_b32 v1, v0\n"
                                     "s_sub_u32 s3, s3, 1\n"
                                     "s_nop 0\n"
                                     "s_nop 0\n"
                                     "s_cmp_lg_u32 s3, 0\n" /* at 64 */
                                     "s_cbranch_scc1 again\n"
                                     "s_endpgm\n";

static void looked_at_check(uint32_t waves, int threads)
{
    enum { LDS_OF_WAVE = WAVE * 128, ROUNDS = 5, LAUNCHES = 3, LINE = 64, CACHES_MOST = 64 };
    static const uint32_t events[] = {EVENT_FETCHES, EVENT_LDS_CONFLICTS, EVENT_SCALAR_LINES,
                                      EVENT_SCALAR_MISSES};
    const struct kernel_geometry geometry = {GROUPS * waves * WAVE, waves * WAVE,
                                             waves * LDS_OF_WAVE, 0};
    const uint64_t groups = (uint64_t)LAUNCHES * GROUPS, all = groups * waves;
    struct kernel_runner *runner;
    struct dispatch_result result;
    assert_int_equal(kernel_runner_create(threads, GROUPS * LINE, &runner), 0);
    struct perf *perf = kernel_runner_perf(runner);
    assert_int_equal(kernel_runner_load(runner, 0, looked_at), 0);
    events_start(perf, events);
    for (int launch = 0; launch < LAUNCHES; launch++) { /* translated when it has become hot */
        assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
        assert_true(kernel_runner_wait(runner, &result));
    }
    assert_int_equal(counted(perf, 0), all * (1 + 2 * ROUNDS));
    assert_int_equal(counted(perf, 1), all * ROUNDS * 2 * 31);
    assert_int_equal(counted(perf, 2), all * (1 + ROUNDS));
    /* Each cache has the arguments' line besides. */
    assert_in_range(counted(perf, 3), groups, groups + LAUNCHES * CACHES_MOST);
    kernel_runner_destroy(runner);
}

static void what_is_looked_at_is_each_groups_own(void **state)
{
    (void)state;
    for (uint32_t waves = 1; waves <= 3; waves++)
        for (int threads = 1; threads <= 2; threads++)
            looked_at_check(waves, threads);
}

/* Elements that follow each other, and such as share a bank with 31 others: each half of an
 * instruction that has two, and one with 3 dwords. */
static void conflicts_of_both_halves_are_counted(void **state)
{
    enum { LDS = WAVE * 128 + 512, CYCLES = 31 * 2 };
    static const uint32_t events[] = {EVENT_WAVES, EVENT_LDS_CONFLICTS, EVENT_VALU, EVENT_SALU};
    static const char *const text = "v_lshlrev_b32 v1, 2, v0\n"
                                    "v_lshlrev_b32 v2, 7, v0\n"
                                    "v_mul_u32_u24 v3, 12, v0\n"
                                    "ds_read2_b32 v[4:5], v1 offset0:0 offset1:1\n"
                                    "ds_read2_b32 v[4:5], v2 offset0:0 offset1:1\n"
                                    "ds_write2_b32 v1, v0, v0 offset0:2 offset1:3\n"
                                    "ds_write2_b32 v2, v0, v0 offset0:2 offset1:3\n"
                                    "ds_read_b96 v[4:6], v3\n"
                                    "s_endpgm\n";
    struct kernel_runner *runner;
    struct dispatch_result result;
    (void)state;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    struct perf *perf = kernel_runner_perf(runner);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    events_start(perf, events);
    assert_int_equal(
        kernel_runner_start(runner, 0, (struct kernel_geometry){GROUPS * WAVE, WAVE, LDS, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    assert_int_equal(counted(perf, 0), GROUPS);
    assert_int_equal(counted(perf, 1), GROUPS * 4 * CYCLES);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(kernels_are_told_apart),
        cmocka_unit_test(groups_are_counted_one_by_one),
        cmocka_unit_test(repeated_groups_are_counted_where_they_ran),
        cmocka_unit_test(what_is_looked_at_is_each_groups_own),
        cmocka_unit_test(conflicts_of_both_halves_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
