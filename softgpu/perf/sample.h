/*
 * What was looked at of a dispatch for its modelled time (sampling.h), put together: the L2 and the
 * memory as the sampled blocks see them, the L1 and the address unit as the sampled groups do. A
 * dispatch begins with empty caches, so that its time depends on nothing that ran before or beside
 * it.
 */
#ifndef PERF_SAMPLE_H
#define PERF_SAMPLE_H

#include "core/device.h"
#include "mem/vm.h"
#include "perf/cache.h"
#include "perf/perf.h"
#include "perf/sampling.h"

/* What sampled instructions needed. */
struct group_sample {
    uint64_t instructions;                /* of vector memory */
    uint64_t address_cycles, data_cycles; /* of the address unit, and of the data unit */
    uint64_t serial_cycles;               /* lanes of an atomic that wait for another's */
    uint64_t read_tags, write_tags;       /* cycles that their lines wait for each other's tags */
    uint64_t loads;                       /* and atomics that return; of these: */
    uint64_t nowhere, leaving;            /* those that touch no line, and those that L1 misses */
    uint64_t leaving_reads;               /* requests of those */
    uint64_t reads, writes;               /* requests to L2 */
    uint64_t translation_misses;
    uint64_t uncached, uncached_reads; /* lines of memory that the L2 does not hold, which loads
                                          touch, and those of them that L1 misses */
};

/* Instructions of vector memory have neighbouring tallies. */
enum {
    SAMPLE_TALLY_FIRST = TALLY_BUFFER_READ,
    SAMPLE_TALLIES = TALLY_FLAT_ATOMIC_RETURN - TALLY_BUFFER_READ + 1
};

/* What a dispatch's groups have executed, and what was looked at of it. */
struct round_sample {
    uint64_t executed[SAMPLE_TALLIES];
    struct group_sample seen[SAMPLE_TALLIES];
    uint64_t lds_executed[PERF_LDS_KINDS];
    struct perf_lds_sample lds_seen[PERF_LDS_KINDS];
};

/* What memory moves, weighted: of the GPU's own, the host's, other GPUs' (enum memory_home). */
enum { MEMORY_HOMES = HOME_PEER + 1 };
struct home_sample {
    uint64_t reads, writes; /* transactions */
    uint64_t read_bytes, write_bytes;
};

struct sampled_cache;
struct dispatch_sample;
/* sample_look.h, as the host's level has it. */
typedef void sample_look_fn(struct dispatch_sample *sample, const struct perf_group *group,
                            uint32_t unit);
struct dispatch_sample {
    const struct gpu_model *model;
    sample_look_fn *look;
    struct sampled_cache *l2;          /* [xcc] */
    struct sampled_cache *side;        /* before the memory; NULL: there is none */
    struct cache *l1;                  /* [slot] */
    struct translations *translations; /* [slot] */
    uint64_t *touches;                 /* [xcc][channel]: weighted requests of sampled blocks, */
    uint64_t *placed; /* by where these lie in their mappings, which time goes by; and in memory */
    uint64_t *asked;  /* the same of sampled instructions, behind the L1 */
    uint32_t slots;   /* sampled units; all, if all is looked at */
    uint32_t units;   /* compute units of an XCC */
    uint32_t limit;   /* blocks below are sampled */
    uint32_t generation, now;
    bool is_used; /* something but the limit may differ from a cleared one */
    /* In the first round of groups that the units execute, whose L1s are empty, and later. */
    struct round_sample rounds[2];
    uint64_t touched, entered; /* weighted: requests, and blocks that came into the L2 */
    struct home_sample homes[MEMORY_HOMES];
    uint64_t side_bytes; /* weighted: of what is read of its own, what the cache before it has */
    struct home_sample uncached[MEMORY_HOMES]; /* loads only, before the L1: until the end */
};

struct dispatch_sample *dispatch_sample_create(const struct gpu_model *model, bool all);
void dispatch_sample_destroy(struct dispatch_sample *sample); /* NULL: nothing */
/* A dispatch begins. */
void dispatch_sample_begin(struct dispatch_sample *sample);
/* All that was executed, as far as one can tell from what was looked at; of LDS, into `lds`. */
struct group_sample round_estimate(const struct round_sample *round, struct perf_lds_sample *lds);
/* So many groups that have executed the same: in the first round of groups and in later ones. */
void dispatch_sample_executed(struct dispatch_sample *sample, const struct perf_group *group,
                              const uint32_t rounds[2]);
/* Whether anything of the group is to be taken note of: of most groups nothing. */
static inline bool dispatch_sample_wants(const struct dispatch_sample *sample,
                                         const struct perf_group *group)
{
    return group->is_sampled || group->block_count || group->access_count ||
           (group->sample_limit && group->sample_limit < sample->limit);
}
/* Whether nothing changes by groups of its XCC that follow at once, of which the same was looked
 * at: scalar reads find the blocks that it has read. */
bool dispatch_sample_is_settled(const struct perf_group *group);
/* A group of `unit`, counted over all XCCs, has retired: what was looked at of it. */
void dispatch_sample_group(struct dispatch_sample *sample, const struct perf_group *group,
                           uint32_t unit);
/* It ends: what is dirty goes to memory. */
void dispatch_sample_end(struct dispatch_sample *sample);
/* Of loads of memory that the L2 does not hold, such a part has left the L1. Once. */
void dispatch_sample_uncached(struct dispatch_sample *sample, uint64_t left, uint64_t of);

#endif
