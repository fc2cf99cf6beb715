/*
 * Register access as PM4 does it: GRBM_GFX_INDEX says which units a write reaches; a read reaches
 * one unit and ignores the broadcast bits.
 */
#include "perf/internal.h"

enum {
    PERFMON_STATE_MASK = 0xf,
    PERFMON_RESET = 0,
    PERFMON_START = 1,
    MC_COUNTER_MASK = 0xf,
    NOWHERE = -1,
    REGISTER_MASK = 0x3ffff, /* above it, what base die a register outside the dies is on */
    GFX_INDEX_SH_ALL = 1 << 29,
    GFX_INDEX_INSTANCE_ALL = 1 << 30
};
#define GFX_INDEX_SE_ALL (1u << 31)
#define GFX_INDEX_ALL    (GFX_INDEX_SE_ALL | GFX_INDEX_SH_ALL | GFX_INDEX_INSTANCE_ALL)

/* What a register access costs on the clock of README.md. */
enum { CYCLES_PER_REGISTER_ACCESS = 16 };

struct unit_range {
    uint32_t first, last; /* exclusive */
};

static struct unit_range index_range(uint32_t index, uint32_t count, bool all)
{
    if (all)
        return (struct unit_range){0, count};
    return index < count ? (struct unit_range){index, index + 1} : (struct unit_range){0, 0};
}

/* What a write reaches. */
static struct unit_range se_range(const struct perf *perf)
{
    return index_range(perf->gfx_index >> 16 & 0xff, perf->model->se_count,
                       perf->gfx_index & GFX_INDEX_SE_ALL);
}

static struct unit_range sh_range(const struct perf *perf)
{
    return index_range(perf->gfx_index >> 8 & 0xff, perf->model->sh_per_se,
                       perf->gfx_index & GFX_INDEX_SH_ALL);
}

static struct unit_range instance_range(const struct perf *perf, uint32_t count)
{
    return index_range(perf->gfx_index & 0xff, count, perf->gfx_index & GFX_INDEX_INSTANCE_ALL);
}

typedef void unit_fn(struct perf *perf, const struct reg_info *reg, uint32_t xcc, uint32_t unit,
                     uint32_t value);

static void range_visit(struct perf *perf, const struct reg_info *reg, uint32_t xcc,
                        struct unit_range range, uint32_t base, uint32_t value, unit_fn *visit)
{
    for (uint32_t i = range.first; i < range.last; i++)
        visit(perf, reg, xcc, base + i, value);
}

/* The shader arrays that a write reaches, and in each the units [0, instances) it reaches. */
static void arrays_visit(struct perf *perf, const struct reg_info *reg, uint32_t xcc,
                         uint32_t value, uint32_t instances, unit_fn *visit)
{
    struct unit_range se = se_range(perf), sh = sh_range(perf);
    struct unit_range instance = {0, 1};
    if (instances > 1)
        instance = instance_range(perf, instances);
    for (uint32_t i = se.first; i < se.last; i++)
        for (uint32_t j = sh.first; j < sh.last; j++)
            range_visit(perf, reg, xcc, instance, (i * perf->model->sh_per_se + j) * instances,
                        value, visit);
}

/* The counter that a value register shows: MC blocks have one pair of them for all counters. */
static inline uint32_t visible_counter(struct perf *perf, const struct reg_info *reg,
                                       struct place place)
{
    if (perf_blocks[place.block].control == CONTROL_MC)
        return counter_at(perf, place, 0)->control & MC_COUNTER_MASK;
    return reg->index;
}

static void value_write(struct perf *perf, const struct reg_info *reg, struct place place,
                        uint32_t value)
{
    uint32_t index = visible_counter(perf, reg, place);
    if (index < perf_blocks[place.block].counter_count)
        counter_value_write(perf, place, index, reg->kind == KIND_HIGH, value);
}

static void unit_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc, uint32_t unit,
                       uint32_t value)
{
    struct place place = {reg->block, xcc, unit};
    switch ((enum reg_kind)reg->kind) {
    case KIND_SELECT:
        counter_select_write(perf, place, reg->index, value);
        break;
    case KIND_CONFIG:
        counter_config_write(perf, place, reg->index, value);
        break;
    case KIND_CONTROL:
        counter_control_write(perf, place, value);
        break;
    default:
        value_write(perf, reg, place, value);
        break;
    }
}

static void block_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc, uint32_t value)
{
    uint32_t units = perf->block_units[reg->block];
    switch (perf_blocks[reg->block].axis) {
    case AXIS_XCC:
        unit_write(perf, reg, xcc, 0, value);
        break;
    case AXIS_SE:
        arrays_visit(perf, reg, xcc, value, 1, unit_write);
        break;
    case AXIS_CU:
        arrays_visit(perf, reg, xcc, value, perf->model->cu_per_sh, unit_write);
        break;
    case AXIS_CHANNEL:
        range_visit(perf, reg, xcc, instance_range(perf, units), 0, value, unit_write);
        break;
    case AXIS_ENGINE: /* engine.c */
        break;
    }
}

/* Whether a select is what all units have already: profilers write them again before each kernel,
 * and reach them all. */
static bool select_is_known(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                            uint32_t value)
{
    const uint32_t xccs = (1u << perf->model->xcc_count) - 1;
    struct broadcast_select *select = &perf->selects[register_row(reg)];
    if (select->is_everywhere && select->value == value)
        return true;
    select->value = value;
    select->is_everywhere =
        (perf->gfx_index & GFX_INDEX_ALL) == GFX_INDEX_ALL && (xcc_mask & xccs) == xccs;
    return false;
}

static void blocks_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                         uint32_t value)
{
    if (reg->kind == KIND_SELECT && select_is_known(perf, reg, xcc_mask, value))
        return;
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        if (xcc_mask >> xcc & 1)
            block_write(perf, reg, xcc, value);
}

static void storage_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc,
                          uint32_t unit, uint32_t value)
{
    *storage_of(perf, reg, xcc, unit) = value;
}

/* Registers whose value is the same wherever GRBM_GFX_INDEX points. */
static bool register_global(uint32_t offset)
{
    return offset == REG_GFX90A_CP_PERFMON_CNTL || offset == REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE;
}

static void arrays_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                         uint32_t value, unit_fn *visit)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        if (xcc_mask >> xcc & 1)
            arrays_visit(perf, reg, xcc, value, 1, visit);
}

static void stored_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                         uint32_t value)
{
    if (!register_global(reg->offset)) {
        arrays_write(perf, reg, xcc_mask, value, storage_write);
        return;
    }
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        if (xcc_mask >> xcc & 1)
            *storage_of(perf, reg, xcc, 0) = value;
}

/* What was counted so far was counted under the old value. */
static void sequencers_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc,
                             uint32_t unit, uint32_t value)
{
    uint32_t *stored = storage_of(perf, reg, xcc, unit);
    if (*stored == value)
        return;
    bool counts = perf->started >> xcc & 1;
    if (counts)
        sequencers_pause(perf, xcc, unit);
    *stored = value;
    if (reg->offset == REG_GFX90A_SQ_PERFCOUNTER_MASK)
        array_changed(perf, xcc, unit);
    if (counts)
        sequencers_gate(perf, xcc, unit);
}

static bool is_started(uint32_t perfmon)
{
    return (perfmon & PERFMON_STATE_MASK) == PERFMON_START;
}

/* A counting session begins with empty caches: its result does not depend on what ran before. (The
 * first counter that wants them empties them too, wants_update(); but counters of MC blocks run on
 * when a session ends.) */
static void session_begin(struct perf *perf, uint32_t xcc_mask, uint32_t value)
{
    if (is_started(value) && xcc_mask & ~perf->started)
        memory_clear(&perf->memory);
}

static void trace_visit(struct perf *perf, const struct reg_info *reg, uint32_t xcc, uint32_t unit,
                        uint32_t value)
{
    trace_register_written(perf, reg->offset, xcc, unit, value);
}

static void trace_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                        uint32_t value)
{
    stored_write(perf, reg, xcc_mask, value);
    arrays_write(perf, reg, xcc_mask, value, trace_visit);
}

/* Asking for a sample, or stopping what is stopped, starts and stops no counter. */
static void perfmon_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                          uint32_t value)
{
    uint32_t switched = is_started(value) ? ~perf->started : perf->started;
    session_begin(perf, xcc_mask, value);
    stored_write(perf, reg, xcc_mask, value);
    perf->started ^= switched & xcc_mask;
    if (switched & xcc_mask)
        counters_gate(perf, switched & xcc_mask, is_started(value));
    if ((value & PERFMON_STATE_MASK) == PERFMON_RESET)
        counters_reset(perf, xcc_mask);
}

/* Registers that do something when they are written. */
static void plain_write(struct perf *perf, const struct reg_info *reg, uint32_t xcc_mask,
                        uint32_t value)
{
    switch (reg->offset) {
    case REG_GFX90A_CP_PERFMON_CNTL:
        perfmon_write(perf, reg, xcc_mask, value);
        break;
    case REG_GFX90A_SQ_PERFCOUNTER_CTRL:
    case REG_GFX90A_SQ_PERFCOUNTER_MASK:
        arrays_write(perf, reg, xcc_mask, value, sequencers_write);
        sequencers_written(perf);
        break;
    case REG_GFX90A_SQ_THREAD_TRACE_MODE:
    case REG_GFX90A_SQ_THREAD_TRACE_CTRL:
    case REG_GFX90A_SQ_THREAD_TRACE_USERDATA_0:
    case REG_GFX90A_SQ_THREAD_TRACE_USERDATA_1:
    case REG_GFX90A_SQ_THREAD_TRACE_USERDATA_2:
    case REG_GFX90A_SQ_THREAD_TRACE_USERDATA_3:
        trace_write(perf, reg, xcc_mask, value);
        break;
    default:
        stored_write(perf, reg, xcc_mask, value);
        break;
    }
}

/* Counters, choosing where they lie, and what only the sequencers' need, cost nothing: else the
 * clock that they are read with would depend on which there are. */
static uint64_t access_cycles(const struct reg_info *reg)
{
    bool of_counters = reg->block != BLOCK_NONE || reg->offset == REG_GFX90A_GRBM_GFX_INDEX ||
                       reg->offset == REG_GFX90A_SQ_PERFCOUNTER_CTRL ||
                       reg->offset == REG_GFX90A_SQ_PERFCOUNTER_MASK;
    return of_counters ? 0 : CYCLES_PER_REGISTER_ACCESS;
}

void perf_registers_hold(struct perf *perf)
{
    if (perf->is_held)
        return;
    pthread_mutex_lock(&perf->lock);
    dispatches_settle(perf);
    perf->is_held = true;
}

void perf_registers_release(struct perf *perf)
{
    if (!perf->is_held)
        return;
    perf->is_held = false;
    pthread_mutex_unlock(&perf->lock);
}

/* For one access: whether the lock was taken for it alone. */
static bool access_begin(struct perf *perf)
{
    if (perf->is_held)
        return false;
    pthread_mutex_lock(&perf->lock);
    dispatches_settle(perf);
    return true;
}

static void access_end(struct perf *perf, bool is_alone)
{
    if (is_alone)
        pthread_mutex_unlock(&perf->lock);
}

static bool engine_write(struct perf *perf, uint32_t offset, uint32_t value)
{
    bool is_alone = access_begin(perf);
    bool known = engine_reg_write(perf, offset, value);
    access_end(perf, is_alone);
    return known;
}

static __attribute__((noinline)) bool register_write(struct perf *perf, uint32_t xcc_mask,
                                                     uint32_t offset, uint32_t value)
{
    const struct reg_info *reg = register_find(offset & REGISTER_MASK);
    if (!reg)
        return engine_write(perf, offset, value);
    bool is_alone = access_begin(perf);
    uint64_t cycles = access_cycles(reg);
    if (cycles)
        packets_advance(perf, cycles);
    if (reg->block == BLOCK_NONE)
        plain_write(perf, reg, xcc_mask, value);
    else
        blocks_write(perf, reg, xcc_mask, value);
    access_end(perf, is_alone);
    return true;
}

/* Every other access of a counted kernel's. */
static void index_write(struct perf *perf, uint32_t value)
{
    const struct gpu_model *model = perf->model;
    uint32_t changed = perf->gfx_index ^ value, se = value >> 16 & 0xff, sh = value >> 8 & 0xff;
    perf->gfx_index = value;
    if (changed & (0xff << 16 | 0xff << 8))
        perf->read_array = se < model->se_count && sh < model->sh_per_se
                               ? se * model->sh_per_se + sh
                               : (uint32_t)NOWHERE;
}

bool perf_reg_write(struct perf *perf, uint32_t xcc_mask, uint32_t offset, uint32_t value)
{
    if ((offset & REGISTER_MASK) != REG_GFX90A_GRBM_GFX_INDEX)
        return register_write(perf, xcc_mask, offset, value);
    index_write(perf, value);
    return true;
}

/* The one unit a read reaches; false: GRBM_GFX_INDEX points beyond the hardware. */
static inline bool read_unit(const struct perf *perf, enum axis axis, uint32_t *unit)
{
    uint32_t instance = perf->gfx_index & 0xff, per_array = perf->model->cu_per_sh;
    switch (axis) {
    case AXIS_CHANNEL:
        *unit = instance;
        return instance < perf->model->tcc_channels;
    case AXIS_SE:
        *unit = perf->read_array;
        return perf->read_array != (uint32_t)NOWHERE;
    case AXIS_CU:
        *unit = perf->read_array * per_array + instance;
        return perf->read_array != (uint32_t)NOWHERE && instance < per_array;
    default:
        *unit = 0;
        return true;
    }
}

static uint64_t visible_value(struct perf *perf, const struct reg_info *reg, struct place place)
{
    uint32_t index = visible_counter(perf, reg, place);
    if (index >= perf_blocks[place.block].counter_count)
        return 0;
    return counter_value(perf, place, index);
}

static uint32_t block_read(struct perf *perf, const struct reg_info *reg, uint32_t xcc)
{
    struct place place = {.block = reg->block, .xcc = xcc};
    if (!read_unit(perf, perf_blocks[reg->block].axis, &place.unit))
        return 0;
    switch ((enum reg_kind)reg->kind) {
    case KIND_LOW:
        return (uint32_t)visible_value(perf, reg, place);
    case KIND_HIGH:
        return (uint32_t)(visible_value(perf, reg, place) >> 32);
    case KIND_CONTROL:
        return counter_at(perf, place, 0)->control;
    default:
        return counter_at(perf, place, reg->index)->select;
    }
}

static bool engine_read(struct perf *perf, uint32_t offset, uint32_t *value)
{
    bool is_alone = access_begin(perf);
    bool known = engine_reg_read(perf, offset, value);
    access_end(perf, is_alone);
    return known;
}

static __attribute__((noinline)) bool whole_read(struct perf *perf, uint32_t xcc,
                                                 const struct reg_info *low, uint64_t *value)
{
    struct place place = {.xcc = xcc};
    if (!low || !perf->whole_counters[register_row(low)].is_there || xcc >= perf->model->xcc_count)
        return false;
    place.block = low->block;
    bool is_alone = access_begin(perf);
    *value = read_unit(perf, perf_blocks[low->block].axis, &place.unit)
                 ? visible_value(perf, low, place)
                 : 0;
    access_end(perf, is_alone);
    return true;
}

static inline const struct counter *whole_at(const struct whole_counter *whole, uint32_t xcc,
                                             uint32_t unit)
{
    const char *first = (const char *)whole->first;
    return (const void *)(first + xcc * whole->xcc_step + unit * whole->unit_step);
}

/* A sum over an array's units, where it is good still. */
static inline bool sum_look(const struct perf *perf, const struct counter *counter, uint32_t xcc,
                            uint32_t unit)
{
    return counter->is_summed &&
           counter->summed_at == perf->array_changes[xcc * perf->se_units + unit];
}

/* Of values that are read in a row most are one look. */
bool perf_counter_read(struct perf *perf, uint32_t xcc, uint32_t offset, uint64_t *value)
{
    const struct reg_info *low = register_find(offset & REGISTER_MASK);
    if (!low || !perf->is_held || xcc >= perf->model->xcc_count)
        return whole_read(perf, xcc, low, value);
    const struct whole_counter *whole = &perf->whole_counters[register_row(low)];
    uint32_t unit;
    if (!whole->first || !read_unit(perf, whole->axis, &unit))
        return whole_read(perf, xcc, low, value);
    const struct counter *counter = whole_at(whole, xcc, unit);
    uint64_t total = 0;
    if (counter->is_plain)
        total = counter->weight * *counter->source;
    else if (sum_look(perf, counter, xcc, unit))
        total = counter->sum;
    else
        return whole_read(perf, xcc, low, value);
    *value = counter->counting ? counter->held + total - counter->base : counter->held;
    return true;
}

bool perf_reg_read(struct perf *perf, uint32_t xcc, uint32_t offset, uint32_t *value)
{
    const struct reg_info *reg = register_find(offset & REGISTER_MASK);
    uint32_t unit = 0;
    if (xcc >= perf->model->xcc_count)
        return false;
    if (!reg)
        return engine_read(perf, offset, value);
    offset &= REGISTER_MASK;
    *value = 0;
    bool is_alone = access_begin(perf);
    if (access_cycles(reg))
        packets_advance(perf, access_cycles(reg));
    if (reg->block != BLOCK_NONE)
        *value = block_read(perf, reg, xcc);
    else if (offset == REG_GFX90A_GRBM_GFX_INDEX)
        *value = perf->gfx_index;
    else if (register_global(offset) || read_unit(perf, AXIS_SE, &unit))
        *value = *storage_of(perf, reg, xcc, unit);
    access_end(perf, is_alone);
    return true;
}
