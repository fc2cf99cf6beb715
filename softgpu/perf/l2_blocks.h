/* What the loops of l2.c and stream.c do with a line or a block of the L2. Compiled for each level
 * of the host. */
#ifndef PERF_L2_BLOCKS_H
#define PERF_L2_BLOCKS_H

#include "perf/l2_mix.h"
#include "perf/memory.h"
#include "perf/memory_inside.h"

/* l2.c: a line that leaves in another way than most. */
void PERF_LEVEL_NAME(l2_line_leaves)(const struct path *path, struct l2_set *set, uint32_t way,
                                     uint32_t lines, uint64_t va);

/* The set is in a block of sets that is to be written back. */
CACHE_INLINE void dirty_note(const struct path *path, uint32_t set)
{
    used_note(&path->memory->blocks_dirty, path->first_block + (set >> path->tcc->block_shift));
}

/* Whether its block of sets is listed, to be written back. */
CACHE_INLINE bool is_dirty(uint32_t state)
{
    return state & L2_DIRTY * L2_SECTORS_ALL;
}

CACHE_INLINE uint64_t *seen_of(const struct path *path, uint64_t va)
{
    return path->l2.seen[va / CACHE_BLOCK_BYTES & path->l2.channels];
}

/* The oldest way becomes the line's, whose state is the caller's to say. */
CACHE_INLINE uint32_t line_replace(const struct path *path, struct l2_set *set, uint64_t va,
                                   uint32_t number, bool block)
{
    const uint32_t way = l2_use_oldest(set), state = set->states[way];
    const uint32_t dirty = state / L2_DIRTY & L2_SECTORS_ALL;
    if (set->numbers[way]) {
        if (__builtin_expect(dirty != state / L2_FULL || set->memory[way], 0))
            PERF_LEVEL_NAME(l2_line_leaves)
        (path, set, way, block ? 1u << path->l2.block_shift : 1, va);
        else seen_of(path, va)[block ? SEEN_EVICT_BLOCK + (dirty != 0) : SEEN_EVICT + dirty]++;
    }
    set->numbers[way] = number;
    set->memory[way] = 0;
    return way;
}

/* The number of its first line's set. */
CACHE_INLINE uint32_t block_at(const struct path *path, uint64_t va)
{
    return (uint32_t)(va >> path->l2.line_shift) & path->l2.set_mask;
}

/* Blocks whose sets of the L2 have seen nothing else: each of their lines has all of its sectors,
 * written or not, or is not there. NULL: this one's have. */
CACHE_INLINE struct l2_set *block_set(const struct path *path, uint32_t at)
{
    struct l2_set *set = &path->l2.sets[at];
    if (__builtin_expect(set->mark != path->l2.generation + 1, 0) &&
        !l2_united_begin(path->tcc, at))
        return NULL;
    return set;
}

CACHE_INLINE uint32_t block_number(const struct path *path, uint64_t va)
{
    return (uint32_t)(va >> path->l2.number_shift) + 1;
}

/* A block's lines are read, all at once. Returns whether they were there. */
CACHE_INLINE bool block_read(const struct path *path, struct l2_set *set, uint64_t va)
{
    const uint32_t number = block_number(path, va);
    uint32_t way = l2_find(set, number, 0);
    if (way != L2_NOWHERE) {
        l2_use(set, way);
        seen_of(path, va)[SEEN_READ_BLOCK_HIT]++;
        set->states[way] |= path->l2.block_valid;
        return true;
    }
    way = line_replace(path, set, va, number, true);
    seen_of(path, va)[SEEN_READ_BLOCK_MISS]++;
    set->states[way] = path->l2.block_valid;
    return false;
}

/* They are written; the set is that number. */
CACHE_INLINE void block_write(const struct path *path, struct l2_set *set, uint32_t at, uint64_t va)
{
    const uint32_t number = block_number(path, va);
    uint32_t way = l2_find(set, number, 0), seen = SEEN_WRITE_BLOCK_HIT;
    if (way != L2_NOWHERE) {
        l2_use(set, way);
    } else {
        way = line_replace(path, set, va, number, true);
        seen = SEEN_WRITE_BLOCK_MISS;
    }
    seen_of(path, va)[seen]++;
    if (__builtin_expect(!path->l2.dirty_listed[at >> path->l2.block_shift], 0))
        dirty_note(path, at);
    set->states[way] = path->l2.block_full;
}

#endif
