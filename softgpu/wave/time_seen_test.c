/*
 * Every event has the value that it has when all is looked at, also where nobody but its counter
 * sees what a kernel takes: events say what must be observed for them, time among it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/internal.h"
#include "wave/kernel_runner.h"

enum { GROUP = 256, BUFFER_BYTES = (8 << 20) + 4096, LDS_BYTES = GROUP * 32 };

/* What waits within compute units: scattered loads, atomics that meet, LDS 32 bytes apart. What
 * waits for memory: whole blocks, read and written. */
static const struct kernel {
    uint32_t groups;
    const char *text;
} kernels[] = {{300, "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                     "s_lshl_b32 s6, s2, 8\n"
                     "s_mov_b32 s7, 0x9e3779b1\n"
                     "v_lshlrev_b32 v3, 5, v0\n"
                     "v_add_u32 v0, s6, v0\n"
                     "v_mul_lo_u32 v1, v0, s7\n"
                     "v_lshrrev_b32 v1, 13, v1\n"
                     "v_lshlrev_b32 v1, 2, v1\n"
                     "v_and_b32 v5, 0xffc, v1\n"
                     "v_lshlrev_b32 v6, 2, v0\n"
                     "s_waitcnt lgkmcnt(0)\n"
                     "s_load_dword s9, s[4:5], 0x40\n"
                     "global_load_dword v2, v1, s[4:5]\n"
                     "s_waitcnt vmcnt(0) lgkmcnt(0)\n"
                     "ds_write_b32 v3, v2\n"
                     "ds_read_b32 v4, v3\n"
                     "s_waitcnt lgkmcnt(0)\n"
                     "v_add_u32 v4, s9, v4\n"
                     "global_atomic_add v5, v4, s[4:5]\n"
                     "global_store_dword v6, v4, s[4:5]\n"
                     "s_endpgm\n"},
               {2048, "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                      "s_lshl_b32 s6, s2, 8\n"
                      "v_add_u32 v0, s6, v0\n"
                      "v_lshlrev_b32 v0, 4, v0\n"
                      "s_waitcnt lgkmcnt(0)\n"
                      "global_load_dwordx4 v[2:5], v0, s[4:5]\n"
                      "s_waitcnt vmcnt(0)\n"
                      "v_add_u32 v2, 1, v2\n"
                      "global_store_dwordx4 v0, v[2:5], s[4:5]\n"
                      "s_endpgm\n"}};

static struct kernel_runner *runner_make(const char *gpu, const char *text, bool timed)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    kernel_runner_set_timed(runner, timed);
    return runner;
}

/* Counter 0 of a block; the register that selects its event, or 0. */
static uint32_t select_of(enum block block)
{
    for (uint32_t row = 0; row < perf_register_count; row++) {
        const struct reg_info *reg = &perf_registers[row];
        if (reg->block == block && reg->kind == KIND_SELECT && reg->index == 0)
            return reg->offset;
    }
    return 0;
}

static void counting_begin(struct perf *perf, enum block block, uint32_t event)
{
    const uint32_t all = (1u << perf->model->xcc_count) - 1, of_sq = 0x0f0ff000;
    const uint32_t masks = perf_blocks[block].control == CONTROL_SQ ? of_sq : 0;
    perf_reg_write(perf, all, REG_GFX90A_GRBM_GFX_INDEX, 0xe0000000);
    perf_reg_write(perf, all, REG_GFX90A_CP_PERFMON_CNTL, 0);
    perf_reg_write(perf, all, REG_GFX90A_SQ_PERFCOUNTER_MASK, UINT32_MAX);
    perf_reg_write(perf, all, REG_GFX90A_SQ_PERFCOUNTER_CTRL, 0xffff0057);
    perf_reg_write(perf, all, REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE, 1);
    assert_true(perf_reg_write(perf, all, select_of(block), event | masks));
    perf_reg_write(perf, all, REG_GFX90A_CP_PERFMON_CNTL, 1);
}

/* A number that none of the block's events has: 0 may be cycles. */
static uint32_t no_event_of(const struct perf *perf, enum block block)
{
    uint32_t number = 63; /* as many bits as every select has */
    while (event_find(perf, block, number))
        number--;
    return number;
}

/* Over all instances; nothing counts from now on. */
static uint64_t counting_end(struct perf *perf, enum block block)
{
    const uint32_t all = (1u << perf->model->xcc_count) - 1;
    uint64_t sum = 0;
    perf_reg_write(perf, all, REG_GFX90A_CP_PERFMON_CNTL, 2);
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        for (uint32_t unit = 0; unit < perf->block_units[block]; unit++)
            sum += counter_value(perf, (struct place){block, xcc, unit}, 0);
    perf_reg_write(perf, all, select_of(block), no_event_of(perf, block));
    return sum;
}

static uint64_t event_count(struct kernel_runner *runner, uint32_t groups, enum block block,
                            uint32_t event)
{
    const struct kernel_geometry geometry = {groups * GROUP, GROUP, LDS_BYTES, 0};
    struct perf *perf = kernel_runner_perf(runner);
    struct dispatch_result result;
    counting_begin(perf, block, event);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    return counting_end(perf, block);
}

static enum block block_of(const char *name)
{
    int block = 0;
    while (block < BLOCK_COUNT && strcmp(perf_blocks[block].name, name) != 0)
        block++;
    return (enum block)block;
}

/* Those that are controlled otherwise count no kernels. */
static bool is_tried(const struct perf_event *event)
{
    const enum block block = block_of(event->block);
    return block != BLOCK_COUNT && perf_blocks[block].control != CONTROL_MC &&
           perf_blocks[block].axis != AXIS_ENGINE && select_of(block) &&
           strcmp(event->klass, "none") != 0;
}

static unsigned values_compare(const char *gpu, const struct kernel *kernel)
{
    struct kernel_runner *unseen = runner_make(gpu, kernel->text, false);
    struct kernel_runner *timed = runner_make(gpu, kernel->text, true);
    struct perf_event event;
    size_t at = 0;
    unsigned seen = 0;
    while (perf_event_next(gpu_model_find(gpu)->gen, &at, &event)) {
        if (!is_tried(&event))
            continue;
        const enum block block = block_of(event.block);
        const uint64_t is = event_count(unseen, kernel->groups, block, event.number);
        const uint64_t expected = event_count(timed, kernel->groups, block, event.number);
        if (is != expected)
            fail_msg("%s %s: %llu, of a timed kernel %llu", gpu, event.name, (unsigned long long)is,
                     (unsigned long long)expected);
        seen += is != 0;
    }
    kernel_runner_destroy(unseen);
    kernel_runner_destroy(timed);
    return seen;
}

static void values_hold(void **state)
{
    enum { SEEN_LEAST = 100 };
    for (size_t n = 0; n < sizeof kernels / sizeof *kernels; n++)
        assert_true(values_compare(*state, &kernels[n]) >= SEEN_LEAST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(values_hold, (void *)"gfx90a"),
                                       cmocka_unit_test_prestate(values_hold, (void *)"gfx942")};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
