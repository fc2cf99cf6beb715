/*
 * What instructions leave behind for their kernel's modelled time, whatever is counted
 * (perf/sampling.h): the sampled blocks of memory that they touch, and in sampled groups what the
 * address unit and LDS do for them.
 */
#ifndef WAVE_TIME_NOTE_H
#define WAVE_TIME_NOTE_H

#include "perf/sampling.h"
#include "wave/group.h"

/* Which blocks the groups of a dispatch of so many waves begin with, if somebody sees its time. */
uint32_t time_limit_first(const struct perf *perf, uint64_t waves);

/* A group begins. */
void time_note_begin(struct workgroup *group, const struct perf *perf, uint64_t group_total);

/* Where the mapping begins that holds the address: blocks are chosen by their distance from there,
 * because the host chooses where a mapping lies anew in every run. Which mappings the reader has at
 * hand depends on that, too: it is asked for what it has not. */
static inline uint64_t time_origin(const struct workgroup *group, uint64_t va)
{
    const struct vm_range *range = vm_range_at(group->reader, va);
    return range ? range->start : 0;
}

/* Bits `first` to the one that holds `last`, in steps of `size` bytes. */
static inline uint32_t block_parts(uint32_t first, uint32_t last, uint32_t size)
{
    return (2u << last / size) - (1u << first / size);
}

/* Whether the next access of a sampled block makes the group go on with half of them. */
static inline bool blocks_full(const struct workgroup *group)
{
    return group->blocks.noted >= SAMPLE_GROUP_BLOCKS &&
           group->sample_limit > SAMPLE_POSITIONS_LEAST && !group->samples_all;
}

/*
 * A scalar load of these bytes of one sampled block, behind other scalar loads which have asked for
 * all of these sectors: it finds what they left, in the model too, and there is nothing to note but
 * that it was. All waves read their kernel's arguments. False: it is to be noted.
 */
static inline bool time_note_repeated(struct workgroup *group, uint64_t va, uint32_t bytes)
{
    struct block_log *log = &group->blocks;
    uint32_t first = (uint32_t)va & (SAMPLE_BLOCK_BYTES - 1);
    uint32_t sectors = block_parts(first, first + bytes - 1, SAMPLE_SECTOR_BYTES);
    if (log->run_block != va / SAMPLE_BLOCK_BYTES + 1 || sectors & ~log->run_sectors ||
        blocks_full(group))
        return false;
    log->items[log->count - 1].repeats++;
    log->noted++;
    return true;
}

/* The instruction touches these bytes of one block, which is sampled. */
void time_note_block(struct workgroup *group, const struct inst *inst, uint64_t va, uint64_t origin,
                     uint32_t bytes);

/* Whether the instruction is looked at: its group is sampled, and its wave is in a burst of such
 * instructions. */
static inline bool time_sampled(const struct wave *wave, const struct inst *inst)
{
    const struct workgroup *group = wave->group;
    return group->is_sampled && (group->samples_all || sample_burst(wave->counts[inst->tally]));
}

/* Whether an access of vector memory may leave anything behind: mostly nobody looks at any. */
static inline bool memory_noted(const struct workgroup *group)
{
    return group->sample_limit || group->is_sampled || group->wants & PERF_WANT_MEMORY;
}

/* Whether somebody wants to see each of its lanes. */
static inline bool memory_watched(const struct wave *wave, const struct inst *inst)
{
    return wave->group->wants & PERF_WANT_MEMORY || time_sampled(wave, inst);
}

/* The same of LDS, where no instruction depends on the ones before: the waves take turns. */
static inline bool time_lds_sampled(const struct wave *wave, const struct inst *inst)
{
    const struct workgroup *group = wave->group;
    uint64_t turn = wave->counts[inst->tally] + SAMPLE_LDS_TURN * wave->wave_in_group;
    return group->is_sampled && (group->samples_all || turn % SAMPLE_LDS_EVERY == 0);
}

static inline bool lds_watched(const struct wave *wave, const struct inst *inst)
{
    return wave->group->wants & PERF_WANT_LDS || time_lds_sampled(wave, inst);
}

/* The same for scalar loads, which read the kernel's packet, too. Where in its ring that lies
 * depends on how many packets runtimes and profilers have put between kernels: it is taken for the
 * second block of a mapping of its own, which is sampled where all blocks are. */
static inline uint64_t time_origin_scalar_in(const struct workgroup *group, uint64_t va,
                                             uint64_t mapping)
{
    uint64_t packet = group->launch->packet_va & ~(uint64_t)(SAMPLE_BLOCK_BYTES - 1);
    return va - packet < SAMPLE_BLOCK_BYTES ? packet - SAMPLE_BLOCK_BYTES : mapping;
}

static inline uint64_t time_origin_scalar(const struct workgroup *group, uint64_t va)
{
    return time_origin_scalar_in(group, va, time_origin(group, va));
}

/* Whether a scalar load in a mapping that begins there may touch a sampled block: not if one block
 * has it that is not sampled. */
static inline bool time_scalar_sampled_in(const struct workgroup *group, uint64_t va,
                                          uint32_t bytes, uint64_t mapping)
{
    bool one_block = va % SAMPLE_BLOCK_BYTES + bytes <= SAMPLE_BLOCK_BYTES;
    if (!group->sample_limit || !one_block)
        return group->sample_limit != 0;
    return sample_position(va - time_origin_scalar_in(group, va, mapping)) < group->sample_limit;
}

/* Whether somebody may want to see it. */
static inline bool time_scalar_watched(const struct workgroup *group, uint64_t va, uint32_t bytes)
{
    return group->wants & PERF_WANT_MEMORY ||
           time_scalar_sampled_in(group, va, bytes, time_origin(group, va));
}

/* Elements that lie one behind the other, `bytes` together. */
static inline void time_note_span(struct workgroup *group, const struct inst *inst, uint64_t va,
                                  uint64_t origin, uint32_t bytes)
{
    uint64_t end = group->sample_limit ? va + bytes : va;
    for (uint64_t at = va; at < end; at = (at | (SAMPLE_BLOCK_BYTES - 1)) + 1) {
        if (__builtin_expect(sample_position(at - origin) >= group->sample_limit, 1))
            continue;
        uint64_t next = (at | (SAMPLE_BLOCK_BYTES - 1)) + 1;
        time_note_block(group, inst, at, origin, (uint32_t)((next < end ? next : end) - at));
    }
}

/* Lanes' elements, anywhere. */
void time_note_lanes(struct workgroup *group, const struct inst *inst, const uint64_t *va,
                     uint64_t lanes, uint64_t origin, uint32_t size_bytes);

#endif
