/*
 * What of a dispatch is looked at for its modelled time, where somebody sees that
 * (perf_wants_time()), whatever else is counted: all would cost ten times what execution does.
 *
 * - Blocks of memory: all waves' accesses of some of the 256-byte blocks, chosen by where they lie
 *   in their mapping: the same in every run. The kernel's packet has a mapping of its own. They
 * show what the L2 holds and what memory moves. Small dispatches begin with all blocks; who has
 * seen many goes on with half of them.
 * - Groups: the instructions of vector memory and of LDS that a few groups execute, in bursts. They
 *   show what the address unit, the L1 and LDS need for one.
 *
 * Both follow from the geometry of the dispatch and from what its groups do, in their order.
 */
#ifndef PERF_SAMPLING_H
#define PERF_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

enum {
    SAMPLE_BLOCK_BYTES = 256, /* as channels of the L2 are interleaved */
    SAMPLE_SECTOR_BYTES = 64,
    SAMPLE_HALF_BYTES = 32, /* of what is written */
    SAMPLE_POSITIONS = 1 << 16,
    SAMPLE_POSITIONS_LEAST = SAMPLE_POSITIONS / 128,
    SAMPLE_REGION_BLOCKS = (2 << 20) / SAMPLE_BLOCK_BYTES,
    SAMPLE_WAVES = 16,          /* a dispatch of no more begins with all blocks */
    SAMPLE_GROUP_BLOCKS = 1024, /* after so many accesses a group goes on with half the blocks */
    SAMPLE_BURST = 64,          /* of a wave's instructions of a kind ... */
    SAMPLE_BURST_EVERY = 256,   /* ... of so many, */
    SAMPLE_BURST_FIRST = 64,    /* and these at first */
    SAMPLE_LDS_EVERY = 13,      /* of a wave's instructions of LDS: no loop is unrolled so often */
    SAMPLE_LDS_TURN = 5,
    SAMPLE_UNITS = 2,        /* whose groups are sampled: */
    SAMPLE_ROUNDS_FIRST = 2, /* the first ones that each executes, */
    SAMPLE_ROUND_EVERY = 16  /* and then some */
};

/* Where a block stands among all: those below a limit are sampled. Neighbours, and whatever a
 * stride connects, stand far from each other, so that every part of an array has its share. */
#define SAMPLE_FACTOR 40503u
static inline uint32_t sample_position(uint64_t offset)
{
    uint32_t block = (uint32_t)(offset / SAMPLE_BLOCK_BYTES) & (SAMPLE_REGION_BLOCKS - 1);
    return block * SAMPLE_FACTOR & (SAMPLE_POSITIONS - 1);
}

/* Accesses of a sampled block stand for so many. */
static inline uint32_t sample_weight(uint32_t limit)
{
    return SAMPLE_POSITIONS / limit;
}

/* The limit that a dispatch of so many waves begins with. */
static inline uint32_t sample_limit(uint64_t waves)
{
    uint32_t limit = SAMPLE_POSITIONS;
    while (limit > SAMPLE_POSITIONS_LEAST && waves > SAMPLE_WAVES) {
        limit /= 2;
        waves /= 2;
    }
    return limit;
}

/* Which of the sampled units executes the group, or SAMPLE_UNITS: the group is not sampled. */
static inline uint32_t sample_unit(uint64_t group, uint64_t group_total, uint64_t units)
{
    uint64_t used = group_total < units ? group_total : units, round = group / units;
    if (round >= SAMPLE_ROUNDS_FIRST && round % SAMPLE_ROUND_EVERY)
        return SAMPLE_UNITS;
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++)
        if (group % units == used * (i + 1) / (SAMPLE_UNITS + 1))
            return i;
    return SAMPLE_UNITS;
}

/* The next group behind that one which is sampled, or `end`. */
static inline uint64_t sample_next(uint64_t group, uint64_t group_total, uint64_t units,
                                   uint64_t end)
{
    uint64_t used = group_total < units ? group_total : units, first = group - group % units;
    for (uint32_t i = 0; i < SAMPLE_UNITS; i++) {
        uint64_t next = first + used * (i + 1) / (SAMPLE_UNITS + 1);
        while (next < end &&
               (next <= group || sample_unit(next, group_total, units) == SAMPLE_UNITS))
            next += units;
        end = next < end ? next : end;
    }
    return end;
}

/* Whether the next instruction of a kind is looked at, when its wave has executed so many. */
static inline bool sample_burst(uint64_t executed)
{
    return executed < SAMPLE_BURST_FIRST || executed % SAMPLE_BURST_EVERY < SAMPLE_BURST;
}

#endif
