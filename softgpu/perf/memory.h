/*
 * The cache hierarchy as the counters see it: a vector L1 (TCP) in each compute unit, a scalar
 * cache (SQC) for each pair of units, and L2 channels (TCC) in each XCC. Fed with one stream of
 * line requests in work-group order, so the same run gives the same counts.
 */
#ifndef PERF_MEMORY_H
#define PERF_MEMORY_H

#include "core/device.h"
#include "perf/cache.h"
#include "perf/perf.h"
#include "perf/sources.h"

/* First-level address translation of a compute unit, least recently used replaced. */
enum { TRANSLATIONS = 32 };
struct translations {
    uint64_t pages[TRANSLATIONS]; /* page number + 1, most recent first; 0: empty */
};

struct memory_model {
    const struct gpu_model *model;
    struct cache *tcp;          /* [xcc][unit] */
    struct cache *sqc;          /* [xcc][unit / 2] */
    struct cache *icache;       /* [xcc][unit / 2]: instructions */
    struct translations *utcl1; /* [xcc][unit] */
    struct cache *tcc;          /* [xcc][channel] */
    uint32_t units;             /* compute units of an XCC */
    uint32_t channel_shift;     /* log2 of the channels of an XCC */
};

/* Where the counts go. */
struct memory_totals {
    uint64_t *cu;                           /* [SRC_CU_COUNT] of the unit that asks */
    uint64_t (*channel)[SRC_CHANNEL_COUNT]; /* [channel] of the unit's XCC */
};

int memory_create(struct memory_model *memory, const struct gpu_model *model);
void memory_destroy(struct memory_model *memory);
/* All caches empty, nothing written back: a counting session begins. */
void memory_clear(struct memory_model *memory);
/* A dispatch begins: its acquire invalidates the L1 and scalar caches. */
void memory_acquire(struct memory_model *memory);
/* A dispatch ends: its release writes the dirty lines of an L2 back. */
void memory_release(struct memory_model *memory, uint32_t xcc,
                    uint64_t (*channel)[SRC_CHANNEL_COUNT]);
void memory_access(struct memory_model *memory, uint32_t xcc, uint32_t unit,
                   const struct perf_line_access *access, const struct memory_totals *totals);

#endif
