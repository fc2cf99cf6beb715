/*
 * Counter programming of gfx9. The order of the register writes is the hardware's: clock gating of
 * the counters off first, all counters reset, selects per block, then one write that starts all of
 * them; a sample request before the values are read.
 */
#include "gpu/gfx9/gfx9.h"
#include "gpu_gfx9_regs.h"

#define REG(name) REG_GFX9_##name

/* CP_PERFMON_CNTL: state in bits 0..3, sample request in bit 10. */
enum { PERFMON_RESET = 0, PERFMON_START = 1, PERFMON_STOP = 2, PERFMON_SAMPLE = 1 << 10 };

/* Stages that let the texture and cache blocks count: all seven, every VMID. */
#define SQ_CONTROL_ENABLE 0xffff007fu

/* Result control of the memory-controller blocks. */
enum { MC_CLEAR_ALL = 1 << 25, MC_ENABLE_ANY = 1 << 24 };

static void index_all(struct pm4_stream *s)
{
    pm4_register_write(s, REG(GRBM_GFX_INDEX), GRBM_BROADCAST_ALL);
}

static void index_instance(struct pm4_stream *s, const struct gpu_block *block, uint32_t instance)
{
    if (block->instances > 1 && !(block->flags & BLOCK_ATHUB))
        pm4_register_write(s, REG(GRBM_GFX_INDEX),
                           GRBM_SE_BROADCAST | GRBM_SH_BROADCAST | instance);
    else
        index_all(s);
}

static void index_sample(struct pm4_stream *s, const struct gpu_event *e, uint32_t engine)
{
    uint32_t value = GRBM_SH_BROADCAST;
    value |= e->block->instances > 1 ? e->instance : GRBM_INSTANCE_BROADCAST;
    value |= e->block->flags & BLOCK_PER_SE ? engine << GRBM_SE_SHIFT : GRBM_SE_BROADCAST;
    pm4_register_write(s, REG(GRBM_GFX_INDEX), value);
}

/* Configuration space is privileged: one die reaches it by the perf-counter path of COPY_DATA; with
 * several dies the firmware wants plain register accesses. */
static int privileged(const struct gpu_target *target, uint32_t reg)
{
    return reg >= PM4_CONFIG_START && reg <= PM4_CONFIG_END && target->geometry.xcc_count == 1;
}

static void control_write(struct pm4_stream *s, const struct gpu_target *target, uint32_t reg,
                          uint32_t value)
{
    pm4_register_copy_in(s, reg, value, privileged(target, reg));
}

static void select_write(struct pm4_stream *s, const struct gpu_target *target, uint32_t reg,
                         uint32_t value)
{
    if (reg >= PM4_UCONFIG_START)
        pm4_register_write(s, reg, value);
    else
        control_write(s, target, reg, value);
}

static uint32_t flags_of(const struct gpu_event *events, uint32_t count)
{
    uint32_t flags = 0;
    for (uint32_t i = 0; i < count; i++)
        flags |= events[i].block->flags;
    return flags;
}

static int outside_only(const struct gpu_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(events[i].block->flags & BLOCK_ATHUB))
            return 0;
    }
    return 1;
}

static void perfmon(struct pm4_stream *s, const struct gpu_event *events, uint32_t count,
                    uint32_t value)
{
    if (!outside_only(events, count))
        pm4_register_write(s, REG(CP_PERFMON_CNTL), value);
}

static void clean(struct pm4_stream *s, const struct gpu_block *block)
{
    for (uint32_t i = 0; i < block->counters; i++) {
        pm4_register_write(s, block->registers[i].low, 0);
        pm4_register_write(s, block->registers[i].high, 0);
    }
}

/* The select register of the event, and for an accumulated level also the one before it. */
static void select_event(struct pm4_stream *s, const struct gpu_target *target,
                         const struct gpu_event *e)
{
    const struct gpu_block *block = e->block;
    uint32_t slot = e->slot, event = e->event;
    if (e->accumulate != GPU_ACCUMULATE_NONE) {
        select_write(s, target, block->registers[slot - 1].select, block->select_bits | event);
        event = gpu_accumulate_event(target, e->accumulate);
    }
    select_write(s, target, block->registers[slot].select, block->select_bits | event);
}

static void start_event(struct pm4_stream *s, const struct gpu_target *target,
                        const struct gpu_event *e)
{
    const struct gpu_block *block = e->block;
    index_instance(s, block, e->instance);
    if (block->flags & BLOCK_MC)
        control_write(s, target, block->control, MC_CLEAR_ALL);
    if (block->flags & BLOCK_CLEAN)
        clean(s, block);
    select_event(s, target, e);
    if (block->flags & BLOCK_MC) {
        control_write(s, target, block->control, e->slot);
        control_write(s, target, block->control, MC_ENABLE_ANY);
    }
    if (block->flags & BLOCK_SQ) {
        pm4_register_write(s, REG(SQ_PERFCOUNTER_MASK), 0xffffffff);
        pm4_register_write(s, block->control, block->control_value);
    }
}

/* Blocks outside the dies are started once each, after all selects are in. */
static void start_outside(struct pm4_stream *s, const struct gpu_target *target,
                          const struct gpu_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        int first = events[i].block->flags & BLOCK_ATHUB;
        for (uint32_t k = 0; k < i; k++)
            first = first && events[k].block != events[i].block;
        if (!first)
            continue;
        control_write(s, target, events[i].block->control, MC_CLEAR_ALL);
        control_write(s, target, events[i].block->control, MC_ENABLE_ANY);
    }
}

void gpu_pmc_start(struct pm4_stream *s, const struct gpu_target *target,
                   const struct gpu_event *events, uint32_t count)
{
    pm4_wait_idle(s);
    index_all(s);
    pm4_register_write(s, REG(RLC_PERFMON_CLK_CNTL), 1);
    perfmon(s, events, count, PERFMON_RESET);
    if (flags_of(events, count) & BLOCK_TC)
        pm4_register_write(s, REG(SQ_PERFCOUNTER_CTRL), SQ_CONTROL_ENABLE);
    for (uint32_t i = 0; i < count; i++)
        start_event(s, target, &events[i]);
    start_outside(s, target, events, count);
    index_all(s);
    gpu_pmc_enable(s, target, 1);
    perfmon(s, events, count, PERFMON_RESET);
    perfmon(s, events, count, PERFMON_START);
    pm4_wait_idle(s);
}

static void copy_value(struct pm4_stream *s, const struct gpu_target *target,
                       const struct gpu_event *e, uint64_t va)
{
    const struct gpu_counter_registers *r = &e->block->registers[e->slot];
    pm4_register_copy_out(s, r->low, va, privileged(target, r->low));
    pm4_register_copy_out(s, r->high, va + 4, privileged(target, r->high));
}

static void read_outside(struct pm4_stream *s, const struct gpu_target *target,
                         const struct gpu_event *events, uint32_t count, uint64_t *va)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!(events[i].block->flags & BLOCK_ATHUB))
            continue;
        control_write(s, target, events[i].block->control, events[i].slot);
        copy_value(s, target, &events[i], *va);
        *va += sizeof(uint64_t);
    }
}

static void read_event(struct pm4_stream *s, const struct gpu_target *target,
                       const struct gpu_event *e, uint64_t *va)
{
    index_all(s);
    if (e->block->flags & BLOCK_MC) {
        index_instance(s, e->block, e->instance);
        control_write(s, target, e->block->control, e->slot);
        copy_value(s, target, e, *va);
        *va += sizeof(uint64_t);
        return;
    }
    for (uint32_t k = 0; k < gpu_block_samples(target, e->block); k++) {
        index_sample(s, e, k);
        copy_value(s, target, e, *va);
        *va += sizeof(uint64_t);
    }
}

static void read_die(struct pm4_stream *s, const struct gpu_target *target,
                     const struct gpu_event *events, uint32_t count, uint64_t *va)
{
    index_all(s);
    pm4_wait_idle(s);
    for (uint32_t i = 0; i < count; i++) {
        if (!(events[i].block->flags & BLOCK_ATHUB))
            read_event(s, target, &events[i], va);
    }
    index_all(s);
}

/* PRED_EXEC counts at most this many dwords; a die's section is split into pieces of whole events
 * that stay below. */
enum { PREDICATE_DWORDS_MAX = 0x3fff };

static void read_die_predicated(struct pm4_stream *s, const struct gpu_target *target,
                                const struct gpu_event *events, uint32_t count, uint32_t die,
                                uint64_t *va)
{
    /* Widest event: every shader engine's index write and two copies, index and control around. */
    const uint32_t per_event = 32 + 15 * target->geometry.se_count;
    const uint32_t piece = (PREDICATE_DWORDS_MAX - 32) / per_event;
    for (uint32_t first = 0; first < count; first += piece) {
        uint32_t length = count - first < piece ? count - first : piece;
        uint32_t begin = pm4_predicate_begin(s, 1u << die);
        read_die(s, target, events + first, length, va);
        pm4_predicate_end(s, begin);
    }
}

void gpu_pmc_read(struct pm4_stream *s, const struct gpu_target *target,
                  const struct gpu_event *events, uint32_t count, uint64_t result_va)
{
    uint64_t va = result_va;
    uint32_t dies = target->geometry.xcc_count;
    perfmon(s, events, count, PERFMON_START | PERFMON_SAMPLE);
    if (dies == 1) {
        read_outside(s, target, events, count, &va);
        read_die(s, target, events, count, &va);
    } else {
        if (flags_of(events, count) & BLOCK_ATHUB) {
            uint32_t begin = pm4_predicate_begin(s, 1);
            read_outside(s, target, events, count, &va);
            pm4_predicate_end(s, begin);
        }
        for (uint32_t die = 0; die < dies; die++)
            read_die_predicated(s, target, events, count, die, &va);
    }
    pm4_acquire(s, result_va, va - result_va);
}

void gpu_pmc_stop(struct pm4_stream *s, const struct gpu_target *target,
                  const struct gpu_event *events, uint32_t count)
{
    index_all(s);
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].block->flags & BLOCK_ATHUB)
            control_write(s, target, events[i].block->control, 0);
    }
    perfmon(s, events, count, PERFMON_STOP);
    pm4_register_write(s, REG(RLC_PERFMON_CLK_CNTL), 0);
    pm4_wait_idle(s);
}

void gpu_pmc_enable(struct pm4_stream *s, const struct gpu_target *target, int enable)
{
    (void)target;
    pm4_register_write(s, REG(COMPUTE_PERFCOUNT_ENABLE), enable ? 1 : 0);
}
