/* What memory.c and traffic.c share. */
#ifndef PERF_MEMORY_INSIDE_H
#define PERF_MEMORY_INSIDE_H

#include "perf/memory.h"

enum { UNITS_PER_SQC = 2 };

static inline void used_note(struct used_list *used, uint32_t at)
{
    if (used->is_listed[at])
        return;
    used->is_listed[at] = true;
    used->list[used->count++] = at;
}

/* The scalar and the instruction cache that a unit shares with its neighbour. */
static inline uint32_t pair_of(const struct memory_model *memory, uint32_t at)
{
    return at - at % memory->units % UNITS_PER_SQC;
}

/* An L2 channel's own totals, and shorthands for counting in them. */
#define CHANNEL(name) (SRC_##name - SRC_CHANNEL_FIRST)

/* A channel's counts, and what the dispatch has asked of it. */
struct channel {
    uint64_t *totals;
    struct channel_work *work;
};

/* One dirty sector of each of `lines` goes to memory: half a sector when only one half was written.
 */
static inline void sector_write_back(uint64_t dirty_bytes, uint32_t lines,
                                     const struct channel *channel)
{
    bool whole = (uint32_t)dirty_bytes && dirty_bytes >> 32;
    if (!dirty_bytes)
        return;
    channel->totals[whole ? CHANNEL(EA_WRITE_64) : CHANNEL(EA_WRITE_32)] += lines;
    channel->work->writes += lines;
}

static inline bool line_write_back(const struct cache_state *state, uint32_t lines,
                                   const struct channel *channel)
{
    if (!(state->dirty_bytes[0] | state->dirty_bytes[1]))
        return false;
    for (int i = 0; i < CACHE_SECTORS; i++)
        sector_write_back(state->dirty_bytes[i], lines, channel);
    return true;
}

#endif
