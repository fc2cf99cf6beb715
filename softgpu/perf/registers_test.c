/* The register file of every block: selection, values, indexing, broadcast, on every GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "perf/internal.h"

#define ALL_UNITS 0xe0000000u

static const char *const gpus[] = {"gfx90a", "gfx906", "gfx908", "gfx942"};
enum { GPU_COUNT = sizeof gpus / sizeof gpus[0] };

static const struct reg_info *register_at(uint32_t row)
{
    uint32_t seen = 0;
    for (uint32_t offset = 0; offset < 0x10000; offset++) {
        const struct reg_info *reg = register_find(offset);
        if (reg && seen++ == row)
            return reg;
    }
    return NULL;
}

/* GRBM_GFX_INDEX that reaches one unit of a block and nothing else. */
static uint32_t index_of(const struct perf *perf, enum block block, uint32_t unit)
{
    const struct gpu_model *model = perf->model;
    uint32_t array = unit, instance = 0;
    switch (perf_blocks[block].axis) {
    case AXIS_XCC:
        return ALL_UNITS;
    case AXIS_ENGINE:
        return 0; /* none in this list */
    case AXIS_CHANNEL:
        return 0xa0000000u | unit;
    case AXIS_CU:
        instance = unit % model->cu_per_sh;
        array = unit / model->cu_per_sh;
        break;
    case AXIS_SE:
        break;
    }
    return array / model->sh_per_se << 16 | array % model->sh_per_se << 8 | instance;
}

static void write_at(struct perf *perf, uint32_t index, uint32_t offset, uint32_t value)
{
    uint32_t all = (1u << perf->model->xcc_count) - 1;
    assert_true(perf_reg_write(perf, all, REG_GFX90A_GRBM_GFX_INDEX, index));
    assert_true(perf_reg_write(perf, all, offset, value));
}

static uint32_t read_at(struct perf *perf, uint32_t index, uint32_t offset)
{
    uint32_t value;
    assert_true(perf_reg_write(perf, 1, REG_GFX90A_GRBM_GFX_INDEX, index));
    assert_true(perf_reg_read(perf, 0, offset, &value));
    return value;
}

/* A broadcast reaches every unit; an indexed write one, which alone keeps it. */
static void selects_are_held(struct perf *perf, const struct reg_info *reg)
{
    uint32_t units = block_units(perf, reg->block), chosen = units / 2;
    write_at(perf, ALL_UNITS, reg->offset, 0x15);
    write_at(perf, index_of(perf, reg->block, chosen), reg->offset, 0x2a);
    for (uint32_t unit = 0; unit < units; unit++)
        assert_int_equal(read_at(perf, index_of(perf, reg->block, unit), reg->offset),
                         unit == chosen ? 0x2a : 0x15);
    write_at(perf, ALL_UNITS, reg->offset, 0);
}

/* The upper half of a value; before the lower one in SPI. */
static uint32_t high_of(const struct reg_info *low)
{
    uint32_t offset = low->offset + 1;
    const struct reg_info *high = register_find(offset);
    if (!high || high->kind != KIND_HIGH || high->index != low->index)
        high = register_find(offset = low->offset - 1);
    assert_non_null(high);
    assert_int_equal(high->kind, KIND_HIGH);
    assert_int_equal(high->block, low->block);
    assert_int_equal(high->index, low->index);
    return offset;
}

/* Both halves of a value are written and read by themselves, in either order. */
static void values_are_held(struct perf *perf, const struct reg_info *low)
{
    uint32_t high = high_of(low);
    uint32_t index = index_of(perf, low->block, block_units(perf, low->block) - 1);
    write_at(perf, index, high, 0x89abcdef);
    write_at(perf, index, low->offset, 0x01234567);
    assert_int_equal(read_at(perf, index, high), 0x89abcdef);
    assert_int_equal(read_at(perf, index, low->offset), 0x01234567);
    write_at(perf, ALL_UNITS, low->offset, 0);
    write_at(perf, ALL_UNITS, high, 0);
    assert_int_equal(read_at(perf, index, low->offset), 0);
}

static void every_block(void **state)
{
    bool seen[BLOCK_COUNT] = {false};
    (void)state;
    for (int gpu = 0; gpu < GPU_COUNT; gpu++) {
        struct perf *perf;
        assert_int_equal(perf_create(gpu_model_find(gpus[gpu]), &perf), 0);
        for (uint32_t row = 0; row < perf_register_count; row++) {
            const struct reg_info *reg = register_at(row);
            assert_non_null(reg);
            if (reg->block == BLOCK_NONE)
                continue;
            seen[reg->block] = true;
            if (reg->kind == KIND_SELECT)
                selects_are_held(perf, reg);
            if (reg->kind == KIND_LOW)
                values_are_held(perf, reg);
        }
        perf_destroy(perf);
    }
    for (int block = 0; block < BLOCK_COUNT; block++) /* engines have registers of their own */
        assert_true(seen[block] ||
                    perf_blocks[block].axis ==
                        AXIS_ENGINE); /* the list of blocks and that of registers belong together */
}

/* Also of a counter that nothing was ever selected for. */
static void what_was_written_is_reset(void **state)
{
    (void)state;
    for (uint32_t row = 0; row < perf_register_count; row++) {
        const struct reg_info *reg = register_at(row);
        struct perf *perf;
        if (reg->block == BLOCK_NONE || reg->kind != KIND_LOW ||
            perf_blocks[reg->block].control == CONTROL_MC)
            continue;
        assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
        uint32_t index = index_of(perf, reg->block, block_units(perf, reg->block) - 1);
        write_at(perf, index, reg->offset, 77);
        assert_int_equal(read_at(perf, index, reg->offset), 77);
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 0); /* stopped, and all cleared */
        assert_int_equal(read_at(perf, index, reg->offset), 0);
        perf_destroy(perf);
    }
}

/* Past the last engine, array, unit or channel there is nothing. */
static void nothing_beyond_the_hardware(void **state)
{
    struct perf *perf;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    write_at(perf, ALL_UNITS, REG_GFX90A_TCP_PERFCOUNTER0_SELECT, 5);
    write_at(perf, ALL_UNITS, REG_GFX90A_TCC_PERFCOUNTER0_SELECT, 5);
    assert_int_equal(read_at(perf, 13, REG_GFX90A_TCP_PERFCOUNTER0_SELECT), 5);
    assert_int_equal(read_at(perf, 14, REG_GFX90A_TCP_PERFCOUNTER0_SELECT), 0);
    assert_int_equal(read_at(perf, 8u << 16, REG_GFX90A_TCP_PERFCOUNTER0_SELECT), 0);
    assert_int_equal(read_at(perf, 1u << 8, REG_GFX90A_TCP_PERFCOUNTER0_SELECT), 0);
    assert_int_equal(read_at(perf, 31, REG_GFX90A_TCC_PERFCOUNTER0_SELECT), 5);
    assert_int_equal(read_at(perf, 32, REG_GFX90A_TCC_PERFCOUNTER0_SELECT), 0);
    write_at(perf, 14, REG_GFX90A_TCP_PERFCOUNTER0_SELECT, 9); /* reaches nobody */
    assert_int_equal(read_at(perf, 13, REG_GFX90A_TCP_PERFCOUNTER0_SELECT), 5);
    perf_destroy(perf);
}

static uint64_t value_at(struct perf *perf, uint32_t low)
{
    uint32_t half = read_at(perf, 0, low);
    return (uint64_t)read_at(perf, 0, low + 1) << 32 | half;
}

/* A counter is 64 bits and wraps; read before and after the stop it says the same. */
static void counters_wrap_and_stop(void **state)
{
    struct perf *perf;
    const uint32_t select = REG_GFX90A_SQ_PERFCOUNTER0_SELECT;
    const uint32_t low = REG_GFX90A_SQ_PERFCOUNTER0_LO;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    write_at(perf, ALL_UNITS, select, 4); /* SQ_WAVES */
    write_at(perf, ALL_UNITS, REG_GFX90A_SQ_PERFCOUNTER_CTRL, 1 << 6);
    write_at(perf, ALL_UNITS, REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE, 1);
    write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 0);
    write_at(perf, ALL_UNITS, low, UINT32_MAX);
    write_at(perf, ALL_UNITS, low + 1, UINT32_MAX);
    write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 1);
    perf_group_retire(perf, &(struct perf_group){.waves = 3, .work_items = 192});
    assert_int_equal(value_at(perf, low), 2);
    write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 2);
    perf_group_retire(perf, &(struct perf_group){.waves = 3, .work_items = 192});
    assert_int_equal(value_at(perf, low), 2);
    perf_destroy(perf);
}

/* MC blocks show the counter that RSLT_CNTL names, through one pair of registers. */
static void mc_blocks_show_one_counter(void **state)
{
    struct perf *perf;
    const uint32_t low = REG_GFX90A_GCEA_PERFCOUNTER_LO;
    const uint32_t control = REG_GFX90A_GCEA_PERFCOUNTER_RSLT_CNTL;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    for (uint32_t counter = 0; counter < 2; counter++) {
        write_at(perf, ALL_UNITS, control, counter);
        write_at(perf, ALL_UNITS, low, 100 + counter);
    }
    for (uint32_t counter = 0; counter < 2; counter++) {
        write_at(perf, ALL_UNITS, control, counter);
        assert_int_equal(value_at(perf, low), 100 + counter);
    }
    write_at(perf, ALL_UNITS, control, 1u << 25); /* clears all */
    assert_int_equal(value_at(perf, low), 0);
    write_at(perf, ALL_UNITS, control, 15); /* no such counter */
    assert_int_equal(value_at(perf, low), 0);
    perf_destroy(perf);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block),
        cmocka_unit_test(what_was_written_is_reset),
        cmocka_unit_test(nothing_beyond_the_hardware),
        cmocka_unit_test(counters_wrap_and_stop),
        cmocka_unit_test(mc_blocks_show_one_counter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
