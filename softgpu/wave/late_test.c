/* Kernels whose times nobody reads end before they are counted: that they are, and once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gfx90a_regs.h"
#include "perf/perf.h"
#include "wave/kernel_runner.h"

enum { LAUNCHES = 40, BUFFER_BYTES = 4096 };

static struct kernel_runner *runner_create(void)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, "v_mov_b32 v1, 1\ns_endpgm\n"), 0);
    assert_int_equal(kernel_runner_load(runner, 1,
                                        "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\n"
                                        "global_load_dword v1, v[2:3], off\n"
                                        "s_waitcnt vmcnt(0)\ns_endpgm\n"),
                     0);
    struct perf *perf = kernel_runner_perf(runner);
    perf_reg_write(perf, 1, REG_GFX90A_GRBM_PERFCOUNTER0_SELECT, 0); /* GRBM_COUNT */
    perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, 1);
    return runner;
}

static uint64_t cycles_of(struct kernel_runner *runner)
{
    uint64_t cycles = 0;
    assert_true(
        perf_counter_read(kernel_runner_perf(runner), 0, REG_GFX90A_GRBM_PERFCOUNTER0_LO, &cycles));
    return cycles;
}

static struct dispatch_result run(struct kernel_runner *runner, unsigned slot, uint32_t groups)
{
    struct dispatch_result result;
    assert_int_equal(
        kernel_runner_start(runner, slot, (struct kernel_geometry){64 * groups, 64, 0, 0}), 0);
    while (engine_help(kernel_runner_engine(runner)))
        continue;
    assert_true(kernel_runner_wait(runner, &result));
    return result;
}

/* One of three faults. */
static uint64_t cycles_of_launches(bool timed)
{
    struct kernel_runner *runner = runner_create();
    kernel_runner_leave_counters(runner, timed);
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        const bool faults = i % 3 == 2;
        struct dispatch_result result = run(runner, faults, 1 + i % 4);
        assert_int_equal(result.fault, faults ? FAULT_MEMORY_READ : FAULT_NONE);
        if (timed && !faults)
            assert_true(result.model_cycles >= 1000 && result.begin_ticks &&
                        result.end_ticks >= result.begin_ticks);
    }
    engine_settle(kernel_runner_engine(runner));
    uint64_t cycles = cycles_of(runner);
    engine_settle(kernel_runner_engine(runner));
    assert_int_equal(cycles_of(runner), cycles);
    assert_int_equal(run(runner, 0, 1).fault, FAULT_NONE);
    kernel_runner_destroy(runner); /* with one that may be late */
    return cycles;
}

static void all_are_counted_once(void **state)
{
    (void)state;
    uint64_t cycles = cycles_of_launches(true);
    assert_true(cycles >= 1000 * LAUNCHES / 3);
    assert_int_equal(cycles_of_launches(false), cycles);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_are_counted_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
