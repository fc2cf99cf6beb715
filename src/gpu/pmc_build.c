/*
 * Counter programming. The order of the register writes is the hardware's: clock gating of the
 * counters off first, all counters reset, selects per block, then one write that starts all of
 * them; a sample request before the values are read. Generations differ in registers and values
 * (struct gpu_generation), blocks in flags.
 */
#include "gpu/family.h"

#include <stddef.h>

/* Result control of the memory-controller blocks. */
enum { MC_CLEAR_ALL = 1 << 25, MC_ENABLE_ANY = 1 << 24 };

/* BLOCK_PERFMON: fields of the register, the same for each counter, side by side. */
enum { PERFMON_ENABLE = 1, PERFMON_CLEAR = 2, PERFMON_EVENT_SHIFT = 2, PERFMON_FIELDS = 10 };

/* Whom the commands are for, and where they go. */
struct build {
    struct pm4_stream *stream;
    const struct gpu_target *target;
    const struct gpu_generation *generation;
    const struct pm4_dialect *dialect;
};

static struct build build_of(struct pm4_stream *stream, const struct gpu_target *target)
{
    const struct gpu_generation *generation = target->family->generation;
    return (struct build){stream, target, generation, &generation->dialect};
}

/* A register that the generation may lack. */
static void write(const struct build *b, uint32_t reg, uint32_t value)
{
    if (reg)
        pm4_register_write(b->stream, b->dialect, reg, value);
}

static void index_all(const struct build *b)
{
    write(b, b->generation->grbm_gfx_index, GRBM_BROADCAST_ALL);
}

static int is_indexed(const struct gpu_block *block)
{
    return block->instances > 1 && !(block->flags & (BLOCK_OUTSIDE | BLOCK_EACH));
}

static const struct gpu_counter_registers *registers_of(const struct build *b,
                                                        const struct gpu_event *e, uint32_t slot)
{
    const struct gpu_block *block = e->block;
    uint32_t instance = block->flags & BLOCK_EACH ? e->instance : 0;
    if (block->flags & BLOCK_BASE_DIES) /* each base die's registers are the same */
        instance %= block->instances / GPU_BASE_DIES;
    return gpu_block_registers(b->target, block) + instance * block->counters + slot;
}

/* Accesses go to one instance in all engines and arrays. */
static void index_instance(const struct build *b, const struct gpu_event *e)
{
    if (is_indexed(e->block))
        write(b, b->generation->grbm_gfx_index,
              GRBM_SE_BROADCAST | GRBM_SH_BROADCAST | e->instance);
    else
        index_all(b);
}

/* Where a sample is read: `position` has the axes of the block's grid. */
static void index_sample(const struct build *b, const struct gpu_event *e,
                         const struct gpu_grid *position)
{
    const struct gpu_block *block = e->block;
    uint32_t value = GRBM_INSTANCE_BROADCAST;
    if (block->flags & BLOCK_PER_WGP)
        value = position->processors << GRBM_PROCESSOR_SHIFT | e->instance;
    else if (is_indexed(block))
        value = e->instance;
    value |= block->flags & BLOCK_PER_SE ? position->engines << GRBM_SE_SHIFT : GRBM_SE_BROADCAST;
    value |= block->flags & BLOCK_PER_SA ? position->arrays << GRBM_SA_SHIFT : GRBM_SH_BROADCAST;
    write(b, b->generation->grbm_gfx_index, value);
}

/* With several dies the firmware wants plain register accesses. */
static int privileged(const struct build *b, uint64_t reg)
{
    return pm4_is_config(reg) && b->target->geometry.xcc_count == 1;
}

static void control_write(const struct build *b, uint64_t reg, uint32_t value)
{
    pm4_register_copy_in(b->stream, b->dialect, reg, value, privileged(b, reg));
}

/* Registers outside the dies, seen from one of several: the device's network has one base die
 * behind each value of bits 30 and 31. */
static uint64_t register_at(const struct build *b, const struct gpu_event *e, uint32_t reg)
{
    enum { BASE_DIE_SHIFT = 30, NETWORK_SHIFT = 32 };
    if (!(e->block->flags & BLOCK_OUTSIDE) || b->target->geometry.xcc_count == 1)
        return reg;
    uint64_t base_die = e->instance * GPU_BASE_DIES / e->block->instances;
    return UINT64_C(1) << NETWORK_SHIFT | base_die << BASE_DIE_SHIFT | reg;
}

static void select_write(const struct build *b, const struct gpu_event *e, uint32_t reg,
                         uint32_t value)
{
    if (reg >= PM4_UCONFIG_START && reg <= PM4_UCONFIG_END)
        write(b, reg, value);
    else
        control_write(b, register_at(b, e, reg), value);
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
        if (!(events[i].block->flags & BLOCK_OUTSIDE))
            return 0;
    }
    return 1;
}

static void perfmon(const struct build *b, const struct gpu_event *events, uint32_t count,
                    uint32_t value)
{
    if (!outside_only(events, count))
        write(b, b->generation->perfmon, value);
}

static void clear(const struct build *b, const struct gpu_block *block)
{
    const struct gpu_counter_registers *registers = gpu_block_registers(b->target, block);
    for (uint32_t i = 0; i < block->counters; i++) {
        write(b, registers[i].low, 0);
        write(b, registers[i].high, 0);
    }
}

/* The select register of the event, and for an accumulated level also the one before it. */
static void select_event(const struct build *b, const struct gpu_event *e)
{
    uint32_t slot = e->slot, event = e->event, bits = e->block->select_bits;
    if (e->accumulate != GPU_ACCUMULATE_NONE) {
        select_write(b, e, registers_of(b, e, slot - 1)->select, bits | event);
        event = gpu_accumulate_event(b->target, e->accumulate);
    }
    select_write(b, e, registers_of(b, e, slot)->select, bits | event);
}

/* Instances in a work-group processor cannot be told apart by a broadcast to all processors. */
static void select_in_processors(const struct build *b, const struct gpu_event *e)
{
    struct gpu_grid grid = gpu_block_grid(b->target, e->block);
    for (uint32_t p = 0; p < grid.processors; p++) {
        write(b, b->generation->grbm_gfx_index,
              GRBM_SE_BROADCAST | GRBM_SH_BROADCAST | p << GRBM_PROCESSOR_SHIFT | e->instance);
        select_event(b, e);
    }
}

static int same_select(const struct gpu_event *a, const struct gpu_event *b)
{
    return a->block == b->block && a->slot == b->slot && a->event == b->event &&
           a->accumulate == b->accumulate;
}

enum programming { PROGRAM_ONE, PROGRAM_ALL, PROGRAM_DONE };

/* How event `at` is programmed: when all instances of its block count the same, the first one's
 * writes reach the others, too. Memory controllers are started one by one. */
static enum programming programming_of(const struct gpu_event *events, uint32_t count, uint32_t at)
{
    enum { INSTANCES_MAX = 64 };
    const struct gpu_block *block = events[at].block;
    uint64_t seen = 0, wanted = UINT64_MAX;
    uint32_t first = at;
    if (!is_indexed(block) || block->instances > INSTANCES_MAX ||
        block->flags & (BLOCK_MC | BLOCK_PER_WGP))
        return PROGRAM_ONE;
    for (uint32_t i = count; i-- > 0;) {
        if (!same_select(&events[i], &events[at]) || events[i].instance >= INSTANCES_MAX)
            continue;
        seen |= UINT64_C(1) << events[i].instance;
        first = i;
    }
    if (seen != wanted >> (INSTANCES_MAX - block->instances))
        return PROGRAM_ONE;
    return first == at ? PROGRAM_ALL : PROGRAM_DONE;
}

static void start_event(const struct build *b, const struct gpu_event *e,
                        enum programming programming)
{
    const struct gpu_block *block = e->block;
    if (block->flags & BLOCK_PER_WGP && is_indexed(block)) {
        select_in_processors(b, e);
        return;
    }
    uint32_t control = registers_of(b, e, e->slot)->control;
    if (programming == PROGRAM_ALL)
        index_all(b);
    else
        index_instance(b, e);
    if (block->flags & BLOCK_MC)
        control_write(b, control, MC_CLEAR_ALL);
    if (block->flags & BLOCK_CLEAR)
        clear(b, block);
    if (!(block->flags & BLOCK_PERFMON))
        select_event(b, e);
    if (block->flags & BLOCK_MC) {
        control_write(b, control, e->slot);
        control_write(b, control, MC_ENABLE_ANY);
    }
    if (block->flags & BLOCK_SQ) {
        write(b, b->generation->sq_mask, 0xffffffff);
        write(b, block->control, block->control_value);
    }
}

static void outside_write(const struct build *b, const struct gpu_event *e, uint32_t value)
{
    control_write(b, register_at(b, e, registers_of(b, e, e->slot)->control), value);
}

static int same_instance(const struct gpu_event *a, const struct gpu_event *b)
{
    return a->block == b->block && a->instance == b->instance;
}

/* One register for all of an instance's events: clears, then selects and starts them. */
static void start_perfmon(const struct build *b, const struct gpu_event *first,
                          const struct gpu_event *end)
{
    uint32_t clears = 0, starts = 0;
    for (const struct gpu_event *e = first; e < end; e++) {
        if (!same_instance(e, first))
            continue;
        uint32_t at = e->slot * PERFMON_FIELDS;
        clears |= (uint32_t)PERFMON_CLEAR << at;
        starts |= (PERFMON_ENABLE | e->event << PERFMON_EVENT_SHIFT) << at;
    }
    outside_write(b, first, clears);
    outside_write(b, first, starts);
}

/* All dies run a command buffer, and what is outside of them would see each access eight times:
 * its commands run on the first die alone. They stay far below what a predicate counts: there are
 * at most some dozens of such counters. */
static uint32_t outside_begin(const struct build *b)
{
    return b->target->geometry.xcc_count == 1 ? 0 : pm4_predicate_begin(b->stream, 1);
}

static void outside_end(const struct build *b, uint32_t begin)
{
    if (b->target->geometry.xcc_count != 1)
        pm4_predicate_end(b->stream, begin);
}

/* Blocks outside the dies are started once each, after all selects are in. */
static void outside_enable(const struct build *b, const struct gpu_event *events, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct gpu_event *e = &events[i];
        uint32_t clock = registers_of(b, e, e->slot)->clock;
        int first = !!(e->block->flags & BLOCK_OUTSIDE);
        for (uint32_t k = 0; k < i; k++)
            first = first && !same_instance(&events[k], e);
        if (!first)
            continue;
        if (clock)
            control_write(b, register_at(b, e, clock), e->block->control_value);
        if (e->block->flags & BLOCK_PERFMON) {
            start_perfmon(b, e, events + count);
            continue;
        }
        outside_write(b, e, MC_CLEAR_ALL);
        outside_write(b, e, MC_ENABLE_ANY);
    }
}

/* Instances mostly stand side by side, and what holds for one holds for the next. */
static enum programming programming_next(const struct gpu_event *events, uint32_t count,
                                         uint32_t at, enum programming before)
{
    if (at == 0 || !same_select(&events[at], &events[at - 1]))
        return programming_of(events, count, at);
    return before == PROGRAM_ALL ? PROGRAM_DONE : before;
}

static void start_events(const struct build *b, const struct gpu_event *events, uint32_t count,
                         uint32_t outside)
{
    enum programming programming = PROGRAM_ONE;
    for (uint32_t i = 0; i < count; i++) {
        programming = programming_next(events, count, i, programming);
        if ((events[i].block->flags & BLOCK_OUTSIDE) == outside && programming != PROGRAM_DONE)
            start_event(b, &events[i], programming);
    }
}

static void start_outside(const struct build *b, const struct gpu_event *events, uint32_t count)
{
    if (!(flags_of(events, count) & BLOCK_OUTSIDE))
        return;
    uint32_t begin = outside_begin(b);
    start_events(b, events, count, BLOCK_OUTSIDE);
    outside_enable(b, events, count);
    outside_end(b, begin);
}

void gpu_pmc_start(struct pm4_stream *stream, const struct gpu_target *target,
                   const struct gpu_event *events, uint32_t count)
{
    const struct build b = build_of(stream, target);
    const struct gpu_generation *g = b.generation;
    uint32_t flags = flags_of(events, count);
    pm4_wait_idle(stream);
    index_all(&b);
    write(&b, g->clock_gating, 1);
    perfmon(&b, events, count, PERFMON_RESET);
    if (flags & BLOCK_TC)
        write(&b, g->sq_control, g->sq_control_all);
    if (flags & (BLOCK_TC | BLOCK_SQ))
        write(&b, g->sq_control2, g->sq_control2_all);
    if (!(flags & BLOCK_GRBM))
        write(&b, g->settle_select, 0);
    start_events(&b, events, count, 0);
    start_outside(&b, events, count);
    index_all(&b);
    gpu_pmc_enable(stream, target, 1);
    perfmon(&b, events, count, PERFMON_RESET);
    perfmon(&b, events, count, PERFMON_START);
    pm4_wait_idle(stream);
}

static void copy_out(const struct build *b, uint64_t reg, uint64_t va)
{
    pm4_register_copy_out(b->stream, b->dialect, reg, va, privileged(b, reg));
}

/* Both halves by one packet: counters of a single die's blocks. What is behind a result control
 * register is read as AMD's own library does. */
static int is_read_whole(const struct build *b, const struct gpu_block *block,
                         const struct gpu_counter_registers *r, uint64_t va)
{
    return b->target->geometry.xcc_count == 1 && !(block->flags & (BLOCK_MC | BLOCK_OUTSIDE)) &&
           r->high == r->low + 1 && va % sizeof(uint64_t) == 0;
}

static void copy_value(const struct build *b, const struct gpu_event *e, uint64_t *va)
{
    const struct gpu_counter_registers *r = registers_of(b, e, e->slot);
    if (is_read_whole(b, e->block, r, *va)) {
        pm4_counter_copy_out(b->stream, b->dialect, r->low, *va);
    } else {
        copy_out(b, register_at(b, e, r->low), *va);
        if (r->high)
            copy_out(b, register_at(b, e, r->high), *va + 4);
        else
            pm4_memory_write(b->stream, b->dialect, *va + 4, 0);
    }
    *va += sizeof(uint64_t);
}

static void read_outside(const struct build *b, const struct gpu_event *events, uint32_t count,
                         uint64_t *va)
{
    if (!(flags_of(events, count) & BLOCK_OUTSIDE))
        return;
    uint32_t begin = outside_begin(b);
    for (uint32_t i = 0; i < count; i++) {
        if (!(events[i].block->flags & BLOCK_OUTSIDE))
            continue;
        if (!(events[i].block->flags & BLOCK_PERFMON))
            outside_write(b, &events[i], events[i].slot);
        copy_value(b, &events[i], va);
    }
    outside_end(b, begin);
}

static uint32_t at_least_one(uint32_t count)
{
    return count ? count : 1;
}

/* The events of one instance of a block lie among those from its first one on. */
struct instance {
    const struct gpu_event *first, *end; /* end: of all events */
    uint64_t va;                         /* of the first one's values */
};

static int is_read_by_die(const struct gpu_event *e)
{
    return !(e->block->flags & BLOCK_OUTSIDE);
}

static uint64_t event_bytes_of(const struct build *b, const struct gpu_event *e)
{
    return sizeof(uint64_t) * gpu_block_samples(b->target, e->block);
}

/* Copies what the instance's events have where the index points: to the value's `sample` of each.
 */
static void copy_instance(const struct build *b, const struct instance *instance, uint32_t sample)
{
    const struct gpu_block *block = NULL;
    uint64_t va = instance->va, event_bytes = 0;
    for (const struct gpu_event *e = instance->first; e < instance->end; e++) {
        if (e->block != block) /* neighbours are mostly of one */
            event_bytes = is_read_by_die(e) ? event_bytes_of(b, e) : 0;
        block = e->block;
        uint64_t at = va + sizeof(uint64_t) * sample;
        if (same_instance(e, instance->first))
            copy_value(b, e, &at);
        va += event_bytes;
    }
}

static void read_grid(const struct build *b, const struct instance *instance)
{
    const struct gpu_grid grid = gpu_block_grid(b->target, instance->first->block);
    struct gpu_grid at;
    uint32_t sample = 0;
    for (at.engines = 0; at.engines < at_least_one(grid.engines); at.engines++)
        for (at.arrays = 0; at.arrays < at_least_one(grid.arrays); at.arrays++)
            for (at.processors = 0; at.processors < at_least_one(grid.processors);
                 at.processors++) {
                index_sample(b, instance->first, &at);
                copy_instance(b, instance, sample++);
            }
}

/* Behind a result control there is one value at a time. */
static void read_controlled(const struct build *b, const struct gpu_event *e, uint64_t va)
{
    index_instance(b, e);
    control_write(b, registers_of(b, e, e->slot)->control, e->slot);
    copy_value(b, e, &va);
}

static int is_first_of_instance(const struct gpu_event *events, uint32_t at)
{
    for (uint32_t i = at; i-- > 0;) /* another event of it mostly stands near */
        if (same_instance(&events[i], &events[at]))
            return 0;
    return 1;
}

/* Each place is indexed once for all events that are counted there. */
static void read_events(const struct build *b, const struct gpu_event *events, uint32_t count,
                        uint64_t *va)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct gpu_event *e = &events[i];
        if (!is_read_by_die(e))
            continue;
        if (e->block->flags & BLOCK_MC)
            read_controlled(b, e, *va);
        else if (is_first_of_instance(events, i))
            read_grid(b, &(struct instance){e, events + count, *va});
        *va += event_bytes_of(b, e);
    }
}

static void read_die(const struct build *b, const struct gpu_event *events, uint32_t count,
                     uint64_t *va)
{
    index_all(b);
    if (b->generation->settle_low && !outside_only(events, count)) {
        copy_out(b, b->generation->settle_low, *va);
        copy_out(b, b->generation->settle_high, *va + 4);
    }
    pm4_wait_idle(b->stream);
    read_events(b, events, count, va);
    index_all(b);
}

/* PRED_EXEC counts at most this many dwords; a die's section is split into pieces of whole events
 * that stay below. */
enum { PREDICATE_DWORDS_MAX = 0x3fff };

/* The widest event writes an index and copies twice for each sample; index and control stand around
 * that. */
static uint32_t event_dwords_max(const struct gpu_target *target, const struct gpu_event *events,
                                 uint32_t count)
{
    uint32_t samples = 1;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t n = gpu_block_samples(target, events[i].block);
        samples = n > samples ? n : samples;
    }
    return 32 + 15 * samples;
}

static void read_die_predicated(const struct build *b, const struct gpu_event *events,
                                uint32_t count, uint32_t die, uint64_t *va)
{
    const uint32_t per_event = event_dwords_max(b->target, events, count);
    const uint32_t piece = at_least_one((PREDICATE_DWORDS_MAX - 32) / per_event);
    for (uint32_t first = 0; first < count; first += piece) {
        uint32_t length = count - first < piece ? count - first : piece;
        uint32_t begin = pm4_predicate_begin(b->stream, 1u << die);
        read_die(b, events + first, length, va);
        pm4_predicate_end(b->stream, begin);
    }
}

void gpu_pmc_read(struct pm4_stream *stream, const struct gpu_target *target,
                  const struct gpu_event *events, uint32_t count, uint64_t result_va)
{
    const struct build b = build_of(stream, target);
    uint64_t va = result_va;
    uint32_t dies = target->geometry.xcc_count;
    perfmon(&b, events, count, b.generation->perfmon_read);
    read_outside(&b, events, count, &va);
    if (dies == 1)
        read_die(&b, events, count, &va);
    for (uint32_t die = 0; dies > 1 && die < dies; die++)
        read_die_predicated(&b, events, count, die, &va);
    pm4_acquire(stream, b.dialect, result_va, va - result_va);
}

static void stop_outside(const struct build *b, const struct gpu_event *events, uint32_t count)
{
    if (!(flags_of(events, count) & BLOCK_OUTSIDE))
        return;
    uint32_t begin = outside_begin(b);
    for (uint32_t i = 0; i < count; i++)
        if (events[i].block->flags & BLOCK_OUTSIDE)
            outside_write(b, &events[i], 0);
    outside_end(b, begin);
}

void gpu_pmc_stop(struct pm4_stream *stream, const struct gpu_target *target,
                  const struct gpu_event *events, uint32_t count)
{
    const struct build b = build_of(stream, target);
    index_all(&b);
    stop_outside(&b, events, count);
    perfmon(&b, events, count, b.generation->perfmon_stop);
    write(&b, b.generation->clock_gating, 0);
    pm4_wait_idle(stream);
}

void gpu_pmc_enable(struct pm4_stream *stream, const struct gpu_target *target, int enable)
{
    const struct build b = build_of(stream, target);
    write(&b, b.generation->perfcount_enable, enable ? 1 : 0);
}
