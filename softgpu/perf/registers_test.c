/* The register file of every block: selection, values, indexing, broadcast, on every GPU. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
    write_at(perf, ALL_UNITS, reg->offset, 0x15); /* what most of them have */
    assert_int_equal(read_at(perf, index_of(perf, reg->block, chosen), reg->offset), 0x15);
    write_at(perf, ALL_UNITS, reg->offset, 0);
}

/* What one die was told, the others were not. */
static void selects_are_of_a_die(struct perf *perf, const struct reg_info *reg)
{
    uint32_t last = perf->model->xcc_count - 1, value;
    write_at(perf, ALL_UNITS, reg->offset, 0x15);
    assert_true(perf_reg_write(perf, 1u << last, reg->offset, 0x2a));
    write_at(perf, ALL_UNITS, reg->offset, 0x2a);
    for (uint32_t xcc = 0; xcc <= last; xcc++) {
        assert_true(perf_reg_read(perf, xcc, reg->offset, &value));
        assert_int_equal(value, 0x2a);
    }
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
            if (reg->kind == KIND_SELECT) {
                selects_are_held(perf, reg);
                selects_are_of_a_die(perf, reg);
            }
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

/* ---- values in a row ---- */

/* Something different in each unit, of whatever the counters count. */
static void work_do(struct perf *perf)
{
    const struct gpu_model *model = perf->model;
    uint64_t number = 0;
    perf_dispatch_begin(perf, 1, true);
    for (uint32_t xcc = 0; xcc < model->xcc_count; xcc++)
        for (uint32_t unit = 0; unit < perf->units; unit++, number++) {
            uint32_t array = unit / model->cu_per_sh;
            struct perf_line_access read = {.line_va = 0x10000 + 64 * number * (number % 5),
                                            .kind = ACCESS_READ,
                                            .flags = ACCESS_FIRST};
            perf_group_retire(perf, &(struct perf_group){.dispatch_seq = 1,
                                                         .group_index = number,
                                                         .xcc = xcc,
                                                         .se = array / model->sh_per_se,
                                                         .sh = array % model->sh_per_se,
                                                         .cu = unit % model->cu_per_sh,
                                                         .waves = 1 + (uint32_t)number,
                                                         .work_items = 64,
                                                         .busy_cycles = 500 + number,
                                                         .wants = perf_wants(perf),
                                                         .accesses = &read,
                                                         .access_count = 1});
        }
    perf_dispatch_end(perf, 1);
}

static uint64_t halves_read(struct perf *perf, uint32_t xcc, uint32_t low)
{
    uint32_t halves[2];
    assert_true(perf_reg_read(perf, xcc, low, &halves[0]));
    assert_true(perf_reg_read(perf, xcc, low + 1, &halves[1]));
    return (uint64_t)halves[1] << 32 | halves[0];
}

/* Of a counter in all units of all dies; returns how many of them have another value than the one
 * before. */
static uint32_t whole_check(struct perf *perf, const struct reg_info *low)
{
    uint32_t units = block_units(perf, low->block), different = 0;
    uint64_t before = 0, value;
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        for (uint32_t unit = 0; unit <= units; unit++) { /* and one that there is not */
            assert_true(perf_reg_write(perf, 1, REG_GFX90A_GRBM_GFX_INDEX,
                                       index_of(perf, low->block, unit)));
            perf_registers_hold(perf);
            bool is_whole = perf_counter_read(perf, xcc, low->offset, &value);
            perf_registers_release(perf);
            if (!is_whole) /* its halves lie the other way round */
                return 0;
            assert_int_equal(value, halves_read(perf, xcc, low->offset));
            different += value != before;
            before = value;
        }
    return different;
}

/* Selects an event in all counters, the next one in those of MC blocks that stand behind the first,
 * of which the second one is shown. */
static void events_select(struct perf *perf, uint32_t event)
{
    enum { ENABLE = 1 << 28, ENABLE_ANY = 1 << 24 };
    for (uint32_t row = 0; row < perf_register_count; row++) {
        const struct reg_info *reg = register_at(row);
        if (reg->kind == KIND_SELECT)
            write_at(perf, ALL_UNITS, reg->offset, event);
        if (reg->kind == KIND_CONFIG)
            write_at(perf, ALL_UNITS, reg->offset, (event + reg->index) | ENABLE);
    }
    for (uint32_t row = 0; row < perf_register_count; row++)
        if (register_at(row)->kind == KIND_CONTROL)
            write_at(perf, ALL_UNITS, register_at(row)->offset, ENABLE_ANY | 1);
}

static uint32_t whole_checks(struct perf *perf)
{
    uint32_t different = 0;
    for (uint32_t row = 0; row < perf_register_count; row++)
        if (register_at(row)->block != BLOCK_NONE && register_at(row)->kind == KIND_LOW)
            different += whole_check(perf, register_at(row));
    return different;
}

static void values_in_a_row_are_both_halves(void **state)
{
    static const uint32_t events[] = {0, 2, 4, 13, 15, 17, 19, 47, 56};
    (void)state;
    for (int gpu = 0; gpu < GPU_COUNT; gpu++) {
        struct perf *perf;
        uint32_t different = 0;
        assert_int_equal(perf_create(gpu_model_find(gpus[gpu]), &perf), 0);
        write_at(perf, ALL_UNITS, REG_GFX90A_SQ_PERFCOUNTER_CTRL, 1 << 6);
        for (uint32_t i = 0; i < sizeof events / sizeof events[0]; i++) {
            write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 0);
            events_select(perf, events[i]);
            write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 1);
            work_do(perf);
            different += whole_checks(perf);
            write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 2);
            different += whole_checks(perf);
        }
        assert_true(different > 200);
        perf_destroy(perf);
    }
}

/* Of a session, too, that needs no counter but those of channels. */
static void a_session_begins_at_nothing(void **state)
{
    struct perf *perf;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    write_at(perf, ALL_UNITS, REG_GFX90A_TCC_PERFCOUNTER0_SELECT, 19); /* TCC_MISS */
    uint64_t first = 0;
    for (int session = 0; session < 3; session++) {
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 0);
        assert_int_equal(halves_read(perf, 0, REG_GFX90A_TCC_PERFCOUNTER0_LO), 0);
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 1);
        work_do(perf);
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 2);
        uint64_t counted = halves_read(perf, 0, REG_GFX90A_TCC_PERFCOUNTER0_LO);
        first = session ? first : counted;
        assert_true(counted > 0);
        assert_int_equal(counted, first);
    }
    perf_destroy(perf);
}

/* The clock is the die's, but what SQ_PERFCOUNTER_CTRL closes does not see it. */
static void sequencers_count_no_cycles_while_closed(void **state)
{
    enum { SQ_CYCLES = 2, CS_EN = 1 << 6 };
    struct perf *perf;
    (void)state;
    assert_int_equal(perf_create(gpu_model_find("gfx90a"), &perf), 0);
    write_at(perf, ALL_UNITS, REG_GFX90A_SQ_PERFCOUNTER0_SELECT, SQ_CYCLES);
    for (uint32_t open = 0; open < 2; open++) {
        write_at(perf, ALL_UNITS, REG_GFX90A_SQ_PERFCOUNTER_CTRL, open ? CS_EN : 0);
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 0);
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 1);
        work_do(perf);
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 2);
        assert_true(perf_reg_write(perf, 1, REG_GFX90A_GRBM_GFX_INDEX, 0));
        assert_int_equal(halves_read(perf, 0, REG_GFX90A_SQ_PERFCOUNTER0_LO) > 0, open);
    }
    perf_destroy(perf);
}

/* On all dies the packet processor is busy with it for 16 cycles, in which no kernel runs. */
static void an_access_takes_time(void **state)
{
    enum { IDLE = 26, DECODES = 13, ACCESSES = 5, CYCLES = 16 };
    (void)state;
    for (int gpu = 0; gpu < GPU_COUNT; gpu++) {
        struct perf *perf;
        if (!strcmp(gpus[gpu], "gfx906")) /* has neither of the packet processor's events */
            continue;
        uint64_t before[3], value;
        const uint32_t lows[3] = {REG_GFX90A_CPC_PERFCOUNTER0_LO, REG_GFX90A_CPC_PERFCOUNTER1_LO,
                                  REG_GFX90A_GRBM_PERFCOUNTER0_LO};
        assert_int_equal(perf_create(gpu_model_find(gpus[gpu]), &perf), 0);
        write_at(perf, ALL_UNITS, REG_GFX90A_CPC_PERFCOUNTER0_SELECT, DECODES);
        write_at(perf, ALL_UNITS, REG_GFX90A_CPC_PERFCOUNTER1_SELECT, IDLE);
        write_at(perf, ALL_UNITS, REG_GFX90A_GRBM_PERFCOUNTER0_SELECT, 0); /* GRBM_COUNT */
        write_at(perf, ALL_UNITS, REG_GFX90A_CP_PERFMON_CNTL, 1);
        for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++) {
            for (int i = 0; i < 3; i++)
                before[i] = halves_read(perf, xcc, lows[i]);
            for (int i = 0; i < ACCESSES; i++)
                write_at(perf, ALL_UNITS, REG_GFX90A_RLC_PERFMON_CLK_CNTL, 1);
            for (int i = 0; i < 3; i++) {
                value = halves_read(perf, xcc, lows[i]);
                assert_int_equal(value - before[i], ACCESSES * CYCLES);
            }
        }
        perf_destroy(perf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block),
        cmocka_unit_test(what_was_written_is_reset),
        cmocka_unit_test(nothing_beyond_the_hardware),
        cmocka_unit_test(counters_wrap_and_stop),
        cmocka_unit_test(mc_blocks_show_one_counter),
        cmocka_unit_test(values_in_a_row_are_both_halves),
        cmocka_unit_test(a_session_begins_at_nothing),
        cmocka_unit_test(sequencers_count_no_cycles_while_closed),
        cmocka_unit_test(an_access_takes_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
