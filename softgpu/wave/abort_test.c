/* Queues that are destroyed, or fail, while their kernels run: nothing of these stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "gfx90a_regs.h" /* generated */
#include "perf/perf.h"
#include "wave/engine.h"
#include "wave/kernel_runner.h"

enum { BUFFER_BYTES = 4096, ENDLESS = 0, SHORT = 1, GROUPS = 3, SQ_WAVES = 4, CS_EN = 0x40 };

/* Its first group ends, the others never do. */
static struct kernel_runner *runner_create(void)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(2, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, ENDLESS,
                                        "s_cmp_eq_u32 s2, 0\ns_cbranch_scc1 end\n"
                                        "again: s_sleep 1\ns_branch again\nend: s_endpgm\n"),
                     0);
    assert_int_equal(kernel_runner_load(runner, SHORT, "s_endpgm\n"), 0);
    return runner;
}

/* Of the oldest dispatch. */
static uint64_t groups_retired(struct kernel_runner *runner)
{
    struct engine *engine = kernel_runner_engine(runner);
    pthread_mutex_lock(&engine->lock);
    uint64_t count = engine->dispatches ? engine->dispatches->group_retired : 0;
    pthread_mutex_unlock(&engine->lock);
    return count;
}

static void endless_start(struct kernel_runner *runner)
{
    assert_int_equal(
        kernel_runner_start(runner, ENDLESS, (struct kernel_geometry){64 * GROUPS, 64, 0, 0}), 0);
    for (int ms = 0; groups_retired(runner) == 0; ms++) {
        assert_true(ms < 10000);
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
}

/* The device's counters know it no more: else its memory would stay theirs. */
static void a_kernel_that_has_begun_ends(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_create();
    for (uint64_t sequence = 0; sequence < 3; sequence++) {
        endless_start(runner);
        kernel_runner_abort(runner, ENDLESS);
        assert_null(kernel_runner_engine(runner)->dispatches);
        assert_int_equal(perf_dispatch_end(kernel_runner_perf(runner), sequence), 0);
    }
    kernel_runner_destroy(runner);
}

/* What it did before is counted, and it has taken time. */
static void what_it_did_is_counted(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_create();
    struct perf *perf = kernel_runner_perf(runner);
    uint64_t waves = 0, cycles = 0;
    perf_reg_write(perf, 1, REG_GFX90A_SQ_PERFCOUNTER0_SELECT, SQ_WAVES);
    perf_reg_write(perf, 1, REG_GFX90A_SQ_PERFCOUNTER_CTRL, CS_EN);
    perf_reg_write(perf, 1, REG_GFX90A_GRBM_PERFCOUNTER0_SELECT, 0); /* GRBM_COUNT */
    perf_reg_write(perf, 1, REG_GFX90A_CP_PERFMON_CNTL, 1);
    endless_start(runner);
    kernel_runner_abort(runner, ENDLESS);
    assert_true(perf_counter_read(perf, 0, REG_GFX90A_SQ_PERFCOUNTER0_LO, &waves));
    assert_true(perf_counter_read(perf, 0, REG_GFX90A_GRBM_PERFCOUNTER0_LO, &cycles));
    assert_int_equal(waves, 1);
    assert_true(cycles >= 1000); /* of a launch */
    kernel_runner_destroy(runner);
}

/* Kernels of other queues. */
static void others_go_on(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_create();
    struct dispatch_result result;
    endless_start(runner);
    assert_int_equal(
        kernel_runner_start(runner, SHORT, (struct kernel_geometry){64 * GROUPS, 64, 0, 0}), 0);
    kernel_runner_abort(runner, ENDLESS);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    assert_true(result.model_cycles >= 1000);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_that_has_begun_ends),
        cmocka_unit_test(what_it_did_is_counted),
        cmocka_unit_test(others_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
