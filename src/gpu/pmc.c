/* What is common to all families: finding blocks, giving out counter registers, result layout. */
#include "gpu/pmc.h"

#include <string.h>

#include "gpu/family.h"

static const struct gpu_family *family_find(const char *architecture)
{
    const struct {
        const struct gpu_family *families;
        uint32_t count;
    } generations[] = {{gfx9_families, gfx9_family_count},
                       {gfx10_families, gfx10_family_count},
                       {gfx11_families, gfx11_family_count},
                       {gfx12_families, gfx12_family_count}};
    for (size_t g = 0; g < sizeof generations / sizeof generations[0]; g++) {
        for (uint32_t i = 0; i < generations[g].count; i++) {
            if (strcmp(generations[g].families[i].architecture, architecture) == 0)
                return &generations[g].families[i];
        }
    }
    return NULL;
}

int gpu_target_find(const char *architecture, const struct gpu_geometry *geometry,
                    struct gpu_target *target)
{
    const struct gpu_family *family = family_find(architecture);
    if (!family)
        return -1;
    *target = (struct gpu_target){family, *geometry};
    if (!target->geometry.xcc_count)
        target->geometry.xcc_count = 1;
    return 0;
}

const struct gpu_block *gpu_blocks(const struct gpu_target *target, uint32_t *count)
{
    *count = target->family->block_count;
    return target->family->blocks;
}

const struct gpu_block *gpu_block_by_id(const struct gpu_target *target, uint32_t block_id)
{
    for (uint32_t i = 0; i < target->family->block_count; i++) {
        if (target->family->blocks[i].id == block_id)
            return &target->family->blocks[i];
    }
    return NULL;
}

const struct gpu_block *gpu_block_by_name(const struct gpu_target *target, const char *name)
{
    for (uint32_t i = 0; i < target->family->block_count; i++) {
        if (strcmp(target->family->blocks[i].name, name) == 0)
            return &target->family->blocks[i];
    }
    return NULL;
}

const struct gpu_counter_registers *gpu_block_registers(const struct gpu_target *target,
                                                        const struct gpu_block *block)
{
    return target->family->registers + block->registers;
}

static uint32_t array_count(const struct gpu_geometry *g)
{
    return g->se_count * (g->sa_per_se ? g->sa_per_se : 1);
}

/* Numbers of compute units in a shader array. A harvested unit keeps its number and reads 0. Where
 * the geometry does not tell, one more than the active units of a full array is taken. */
static uint32_t units_per_array(const struct gpu_geometry *g)
{
    uint32_t arrays = array_count(g);
    uint32_t active = arrays ? (g->cu_count + arrays - 1) / arrays : 0;
    return g->cu_per_sa && g->cu_per_sa >= active ? g->cu_per_sa : active + 1;
}

/* Work-group processors (two compute units each) of a shader array, rounded up. */
static uint32_t processors_per_array(const struct gpu_geometry *g)
{
    uint32_t arrays = array_count(g), processors = g->cu_count / 2;
    return arrays && processors ? (processors + arrays - 1) / arrays : 1;
}

uint32_t gpu_block_instances(const struct gpu_target *target, const struct gpu_block *block)
{
    uint32_t units = units_per_array(&target->geometry);
    if (block->flags & BLOCK_PER_CU && units < block->instances)
        return units;
    if (block->flags & BLOCK_BASE_DIES && target->geometry.xcc_count == 1)
        return block->instances / GPU_BASE_DIES; /* a die reaches its own base die's */
    return block->instances;
}

struct gpu_grid gpu_block_grid(const struct gpu_target *target, const struct gpu_block *block)
{
    const struct gpu_geometry *g = &target->geometry;
    struct gpu_grid grid = {0, 0, 0};
    if (block->flags & BLOCK_PER_SE)
        grid.engines = g->se_count > g->xcc_count ? g->se_count / g->xcc_count : 1;
    if (block->flags & BLOCK_PER_SA)
        grid.arrays = g->sa_per_se ? g->sa_per_se : 1;
    if (block->flags & BLOCK_PER_WGP)
        grid.processors = processors_per_array(g);
    return grid;
}

uint32_t gpu_grid_sample(const struct gpu_grid *grid, uint32_t engine, uint32_t array,
                         uint32_t processor)
{
    uint32_t sample = grid->engines ? engine : 0;
    if (grid->arrays)
        sample = sample * grid->arrays + array;
    if (grid->processors)
        sample = sample * grid->processors + processor;
    return sample;
}

uint32_t gpu_block_samples(const struct gpu_target *target, const struct gpu_block *block)
{
    struct gpu_grid grid = gpu_block_grid(target, block);
    return (grid.engines ? grid.engines : 1) * (grid.arrays ? grid.arrays : 1) *
           (grid.processors ? grid.processors : 1);
}

uint32_t gpu_block_dies(const struct gpu_target *target, const struct gpu_block *block)
{
    return block->flags & BLOCK_OUTSIDE ? 1 : target->geometry.xcc_count;
}

const char *gpu_pmc_status_text(enum gpu_pmc_status status)
{
    switch (status) {
    case GPU_PMC_OK:
        return "no error";
    case GPU_PMC_BAD_BLOCK:
        return "the GPU has no such block";
    case GPU_PMC_BAD_INSTANCE:
        return "the block has no such instance";
    case GPU_PMC_BAD_EVENT:
        return "the block has no such event";
    case GPU_PMC_FULL:
        return "more events than the block has counters";
    case GPU_PMC_MEMORY:
        return "out of memory";
    }
    return "unknown error";
}

uint32_t gpu_accumulate_event(const struct gpu_target *target, enum gpu_accumulate accumulate)
{
    return accumulate == GPU_ACCUMULATE_LOW_RES ? target->family->accumulate_low
                                                : target->family->accumulate_high;
}

enum gpu_pmc_status gpu_event_check(const struct gpu_target *target, const struct gpu_event *event)
{
    if (!event->block)
        return GPU_PMC_BAD_BLOCK;
    if (event->instance >= gpu_block_instances(target, event->block))
        return GPU_PMC_BAD_INSTANCE;
    if (event->event > event->block->event_max)
        return GPU_PMC_BAD_EVENT;
    if (event->accumulate != GPU_ACCUMULATE_NONE &&
        (!(event->block->flags & BLOCK_ACCUMULATES) ||
         !gpu_accumulate_event(target, event->accumulate)))
        return GPU_PMC_BAD_EVENT;
    return GPU_PMC_OK;
}

static int same_registers(const struct gpu_event *a, const struct gpu_event *b)
{
    if (a->instance != b->instance)
        return 0;
    return a->block == b->block ||
           (a->block->register_file && a->block->register_file == b->block->register_file);
}

/* Registers that an event occupies: an accumulated level counts in the one before its total. */
static uint32_t width(const struct gpu_event *event)
{
    return event->accumulate == GPU_ACCUMULATE_NONE ? 1 : 2;
}

/* The event that accumulates the level which this one counts: its first register is both's. NULL:
 * none. */
static const struct gpu_event *total_of(const struct gpu_event *level,
                                        const struct gpu_event *events, uint32_t count)
{
    if (level->accumulate != GPU_ACCUMULATE_NONE || !(level->block->flags & BLOCK_ACCUMULATES))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].accumulate != GPU_ACCUMULATE_NONE && events[i].block == level->block &&
            events[i].instance == level->instance && events[i].event == level->event)
            return &events[i];
    }
    return NULL;
}

enum gpu_pmc_status gpu_pmc_assign(const struct gpu_target *target, struct gpu_event *events,
                                   uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        enum gpu_pmc_status status = gpu_event_check(target, &events[i]);
        if (status != GPU_PMC_OK)
            return status;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t used = 0;
        if (total_of(&events[i], events, count))
            continue;
        for (uint32_t k = 0; k < i; k++) {
            if (same_registers(&events[k], &events[i]) && !total_of(&events[k], events, count))
                used += width(&events[k]);
        }
        if (used + width(&events[i]) > events[i].block->counters)
            return GPU_PMC_FULL;
        events[i].slot = used + width(&events[i]) - 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct gpu_event *total = total_of(&events[i], events, count);
        if (total)
            events[i].slot = total->slot - 1;
    }
    return GPU_PMC_OK;
}

/* Counts the results of the events outside the dies, and of all others on one die. */
static void result_parts(const struct gpu_target *target, const struct gpu_event *events,
                         uint32_t count, uint32_t *outside, uint32_t *per_die)
{
    *outside = *per_die = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (events[i].block->flags & BLOCK_OUTSIDE)
            (*outside)++;
        else
            *per_die += gpu_block_samples(target, events[i].block);
    }
}

uint32_t gpu_pmc_result_bytes(const struct gpu_target *target, const struct gpu_event *events,
                              uint32_t count)
{
    uint32_t outside, per_die;
    result_parts(target, events, count, &outside, &per_die);
    return (outside + per_die * target->geometry.xcc_count) * (uint32_t)sizeof(uint64_t);
}

uint32_t gpu_pmc_result_index(const struct gpu_target *target, const struct gpu_event *events,
                              uint32_t count, uint32_t event, uint32_t die, uint32_t sample)
{
    uint32_t outside, per_die, before_outside, before;
    result_parts(target, events, count, &outside, &per_die);
    result_parts(target, events, event, &before_outside, &before);
    if (events[event].block->flags & BLOCK_OUTSIDE)
        return before_outside;
    return outside + die * per_die + before + sample;
}
