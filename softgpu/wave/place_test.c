/* A queue's mask of compute units, by what waves read of where they are: HW_ID and XCC_ID. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wave/kernel_runner.h"

enum { GROUPS = 700, WAVE = 64, BUFFER_BYTES = GROUPS * 8, MASKS = 40 };

/* buffer[group] = {HW_ID, XCC_ID} */
static const char *const where = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                 "s_lshl_b32 s6, s2, 3\n"
                                 "s_getreg_b32 s8, hwreg(HW_REG_HW_ID)\n"
                                 "s_getreg_b32 s9, hwreg(20)\n"
                                 "v_mov_b32 v0, s6\n"
                                 "v_mov_b32 v2, s8\n"
                                 "v_mov_b32 v3, s9\n"
                                 "s_waitcnt lgkmcnt(0)\n"
                                 "global_store_dwordx2 v0, v[2:3], s[4:5]\n"
                                 "s_endpgm\n";
/* gfx90a knows no XCC_ID. */
static const char *const where_on_one = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                                        "s_lshl_b32 s6, s2, 3\n"
                                        "s_getreg_b32 s8, hwreg(HW_REG_HW_ID)\n"
                                        "v_mov_b32 v0, s6\n"
                                        "v_mov_b32 v2, s8\n"
                                        "v_mov_b32 v3, 0\n"
                                        "s_waitcnt lgkmcnt(0)\n"
                                        "global_store_dwordx2 v0, v[2:3], s[4:5]\n"
                                        "s_endpgm\n";

static uint32_t arrays_of(const struct gpu_model *model)
{
    return model->xcc_count * model->se_count * model->sh_per_se;
}

/* The unit's number in masks, from what a wave there reads. */
static uint32_t unit_read(const struct gpu_model *model, const uint32_t words[2])
{
    uint32_t cu = words[0] >> 8 & 15, array = words[0] >> 12 & 1, engine = words[0] >> 13 & 7;
    uint32_t in_xcc = (cu * model->sh_per_se + array) * model->se_count + engine;
    return in_xcc * model->xcc_count + words[1];
}

/* How often each unit has executed a group. Returns the cycles that it took. */
static uint64_t groups_count(struct kernel_runner *runner, const struct gpu_model *model,
                             uint32_t counts[GPU_UNITS_MAX])
{
    const struct kernel_geometry geometry = {GROUPS * WAVE, WAVE, 0, 0};
    struct dispatch_result result;
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    for (uint32_t unit = 0; unit < GPU_UNITS_MAX; unit++)
        counts[unit] = 0;
    for (uint32_t group = 0; group < GROUPS; group++) {
        uint32_t unit = unit_read(model, words + (size_t)2 * group);
        assert_true(unit < GPU_UNITS_MAX);
        counts[unit]++;
    }
    return result.model_cycles;
}

static void dealt_evenly(const struct unit_mask *mask, uint32_t units,
                         const uint32_t counts[GPU_UNITS_MAX])
{
    uint32_t wanted = unit_mask_count(mask, units), least = GROUPS / wanted;
    for (uint32_t unit = 0; unit < GPU_UNITS_MAX; unit++) {
        bool in = unit < units && unit_mask_has(mask, unit);
        assert_true(counts[unit] >= (in ? least : 0));
        assert_true(counts[unit] <= (in ? least + 1 : 0));
    }
}

static void masks_hold(const char *gpu, const char *text)
{
    const struct gpu_model *model = gpu_model_find(gpu);
    uint32_t arrays = arrays_of(model), units = model->cu_active / arrays * arrays;
    uint32_t counts[GPU_UNITS_MAX];
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create_on(gpu, 2, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    srand(7);
    for (int i = 0; i < MASKS; i++) {
        struct unit_mask mask = {{0}};
        for (int j = 0; j <= i; j++) {
            uint32_t unit = (uint32_t)rand() % units;
            mask.words[unit / 64] |= UINT64_C(1) << unit % 64;
        }
        kernel_runner_mask_units(runner, &mask);
        groups_count(runner, model, counts);
        dealt_evenly(&mask, units, counts);
    }
    kernel_runner_destroy(runner);
}

static void groups_keep_to_the_mask(void **state)
{
    (void)state;
    masks_hold("gfx90a", where_on_one);
    masks_hold("gfx906", where_on_one);
    masks_hold("gfx942", where);
}

/* No bit that counts is no mask; and one unit takes longer than all of them. */
static void without_a_mask_all_of_them(void **state)
{
    (void)state;
    const struct gpu_model *model = gpu_model_find("gfx90a");
    const struct unit_mask none = {{0}}, beyond = {{0, 0, 0, 0, 1}}, first = {{1}};
    struct unit_mask every = {{UINT64_MAX, UINT64_MAX}};
    uint32_t counts[GPU_UNITS_MAX];
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(2, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, where_on_one), 0);
    uint64_t cycles = groups_count(runner, model, counts);
    dealt_evenly(&every, model->cu_active, counts);
    kernel_runner_mask_units(runner, &beyond);
    assert_int_equal(groups_count(runner, model, counts), cycles);
    dealt_evenly(&every, model->cu_active, counts);
    kernel_runner_mask_units(runner, &first);
    assert_true(groups_count(runner, model, counts) > 2 * cycles);
    assert_int_equal(counts[0], GROUPS);
    kernel_runner_mask_units(runner, &none);
    groups_count(runner, model, counts);
    dealt_evenly(&every, model->cu_active, counts);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(groups_keep_to_the_mask),
        cmocka_unit_test(without_a_mask_all_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
