/* Which channels of the L2 a kernel's memory lies in: the same wherever the host puts it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"
#include "wave/kernel_runner.h"

#define REG(name) REG_GFX90A_##name

/* An odd number of pages, so that buffers which follow each other differ in bit 12 of their
 * addresses: that bit chooses among 32 channels of 256 bytes. */
enum {
    GROUPS = 9,
    WAVE = 64,
    BUFFER_BYTES = 3 * 4096,
    CHANNELS = 32,
    LINES_PER_GROUP = 4,
    RUNNERS_MAX = 16,
    EVENT_WRITE = 13
};

/* Each group writes 256 bytes. */
static const char *const store = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                 "s_lshl_b32 s6, s2, 8\n"
                                 "v_lshl_add_u32 v0, v0, 2, s6\n"
                                 "v_mov_b32 v1, 1\n"
                                 "s_waitcnt lgkmcnt(0)\n"
                                 "global_store_dword v0, v1, s[4:5]\n"
                                 "s_endpgm\n";

static void set(struct perf *perf, uint32_t reg, uint32_t value)
{
    assert_true(perf_reg_write(perf, 1, reg, value));
}

static void counting_start(struct perf *perf)
{
    set(perf, REG(GRBM_GFX_INDEX), 0xe0000000);
    set(perf, REG(TCC_PERFCOUNTER0_SELECT), EVENT_WRITE);
    set(perf, REG(CP_PERFMON_CNTL), 0);
    set(perf, REG(COMPUTE_PERFCOUNT_ENABLE), 1);
    set(perf, REG(CP_PERFMON_CNTL), 1);
}

static void writes_check(struct perf *perf)
{
    for (uint32_t channel = 0; channel < CHANNELS; channel++) {
        uint32_t writes;
        set(perf, REG(GRBM_GFX_INDEX), 0xa0000000 | channel);
        assert_true(perf_reg_read(perf, 0, REG(TCC_PERFCOUNTER0_LO), &writes));
        assert_int_equal(writes, channel < GROUPS ? LINES_PER_GROUP : 0);
    }
}

static void kernel_check(struct kernel_runner *runner)
{
    const struct kernel_geometry geometry = {GROUPS * WAVE, WAVE, 0, 0};
    struct dispatch_result result;
    struct perf *perf = kernel_runner_perf(runner);
    assert_int_equal(kernel_runner_load(runner, 0, store), 0);
    counting_start(perf);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    writes_check(perf);
}

static void channels_do_not_depend_on_addresses(void **state)
{
    struct kernel_runner *runners[RUNNERS_MAX];
    unsigned seen = 0, count = 0;
    (void)state;
    while (seen != 3 && count < RUNNERS_MAX) {
        assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runners[count]), 0);
        seen |= 1u << ((uintptr_t)kernel_runner_buffer(runners[count]) >> 12 & 1);
        kernel_check(runners[count++]);
    }
    assert_int_equal(seen, 3);
    while (count > 0)
        kernel_runner_destroy(runners[--count]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(channels_do_not_depend_on_addresses)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
