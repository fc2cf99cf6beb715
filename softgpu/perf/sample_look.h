/* What sample.c and sample_look.c share. The latter is compiled for each level of the host. */
#ifndef PERF_SAMPLE_LOOK_H
#define PERF_SAMPLE_LOOK_H

#include "perf/sample.h"

enum { BLOCK_WAYS = 16 };

struct sampled_block {
    uint64_t number; /* + 1 */
    uint32_t used;   /* when */
    uint8_t sectors; /* that hold valid data */
    uint8_t dirty;   /* halves of sectors */
    uint8_t home;    /* enum memory_home */
};

struct sampled_cache {            /* an L2, or the cache in front of the memory */
    struct sampled_block *blocks; /* [set][BLOCK_WAYS] */
    uint32_t *generations;        /* [set]: another than the sample's means empty */
    uint8_t *filled;              /* [set]: so many of its blocks hold something, the first ones */
    uint32_t *used, used_count;   /* the sets that are not */
    uint32_t sets;
};

/* Of a byte. */
static inline uint32_t sample_bits(uint32_t mask)
{
#ifdef __POPCNT__
    return (uint32_t)__builtin_popcount(mask);
#else
    static const uint8_t counts[] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return counts[mask & 15] + counts[mask >> 4 & 15];
#endif
}

/* What was written of a block goes to memory, sector by sector. */
static inline void sample_write_back(struct dispatch_sample *sample, struct sampled_block *block)
{
    uint32_t weight = sample_weight(sample->limit), dirty = block->dirty;
    uint32_t sectors = (dirty | dirty >> 1) & 0x55;
    struct home_sample *home = &sample->homes[block->home];
    home->writes += (uint64_t)weight * sample_bits(sectors);
    home->write_bytes += (uint64_t)weight * sample_bits(dirty) * SAMPLE_HALF_BYTES;
    block->dirty = 0;
}

/* The group's blocks pass the L2, and what its instructions touched an L1, if it is sampled. */
sample_look_fn sample_look_avx512, sample_look_avx2, sample_look_portable;
/* memory.c: the host's. */
sample_look_fn *sample_look_of_host(void);

#endif
