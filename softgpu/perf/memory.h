/*
 * The cache hierarchy as the counters see it: a vector L1 (TCP) in each compute unit, a scalar
 * cache (SQC) for two or three units, and L2 channels (TCC) in each XCC. Fed with one stream of
 * line requests in work-group order, so the same run gives the same counts.
 */
#ifndef PERF_MEMORY_H
#define PERF_MEMORY_H

#include <stdbool.h>

#include "core/device.h"
#include "mem/vm.h"
#include "perf/cache.h"
#include "perf/l2_sets.h"
#include "perf/perf.h"
#include "perf/shared_wait.h"
#include "perf/sources.h"

/* First-level address translation of a compute unit, least recently used replaced; of pages of 2
 * MiB, the fragment of a large allocation. All zero: empty. */
enum { TRANSLATIONS = 32, TRANSLATION_SHIFT = 21 };
struct translations {
    uint64_t pages[TRANSLATIONS]; /* page number + 1; 0: empty */
    uint64_t used[TRANSLATIONS];  /* when */
    uint64_t now;
    uint8_t hints[TRANSLATIONS]; /* by a page's low bits: where such a one was seen */
    uint64_t passed;             /* as of caches: pages whose translations are the youngest */
};

/* Which of many caches were used since they were cleared: clearing all of a large device's before
 * and after each small dispatch would take longer than the dispatch. */
struct used_list {
    uint32_t count, *list;
    bool *is_listed;
};

/* What was seen last of groups of a series (stream.c); each has a number that nothing else has had.
 */
enum { STREAM_STILL = 64, STREAM_PAGES = 8, STREAM_PAGES_ROW = 64 };
struct streams {
    uint64_t groups; /* that have passed as such: tests ask whether any have */
    uint64_t numbers;
    uint64_t still_number; /* of accesses that do not move: of scalars and instructions */
    uint32_t still_count;
    struct perf_line_access still[STREAM_STILL];
    uint64_t pages_number; /* of a row of pages, as accesses touched them; 0: none is known */
    uint32_t row_count, page_count;
    uint64_t row[STREAM_PAGES_ROW];
    /* Each of them once, by their first uses, and from the last one's last use on backwards. */
    uint64_t first_pages[STREAM_PAGES], last_pages[STREAM_PAGES];
};

struct channel_work;
/* What an L2's channels have seen since totals were read, by kinds of which each stands for several
 * counters: for the dispatch whose work that is. */
enum seen_slot {
    SEEN_READ,            /* + what was missing, as bits: of a line's sectors */
    SEEN_EVICT = 4,       /* + which sectors of the line were dirty, full and own memory's */
    SEEN_EVICT_BLOCK = 8, /* a block's lines, all of them; + 1: dirty */
    SEEN_WRITE_HIT = 10,
    SEEN_WRITE_MISS,
    SEEN_READ_BLOCK_HIT,
    SEEN_READ_BLOCK_MISS,
    SEEN_WRITE_BLOCK_HIT,
    SEEN_WRITE_BLOCK_MISS,
    SEEN_JOINED_MISS,  /* a read that joins the one before, whose own sector was missing, too */
    SEEN_JOINED_ALONE, /* and one that makes a miss of a hit */
    SEEN_SLOTS
};
struct channels_seen {
    uint64_t (*counts)[SEEN_SLOTS];        /* [channel] */
    uint64_t (*totals)[SRC_CHANNEL_COUNT]; /* [channel]: where they belong */
    struct channel_work *work;             /* [channel]; NULL: nothing was seen */
};

/* What is compiled for each level of the host (traffic.c, l2.c), and a group's way through the
 * caches. */
struct memory_level;
struct path;

/* Of units that share these caches. */
struct shared_waits {
    struct shared_wait scalars, code;
};

struct memory_model {
    const struct gpu_model *model;
    struct cache *tcp;                 /* [xcc][unit] */
    struct cache *sqc;                 /* [xcc][unit / 2] */
    struct cache *icache;              /* [xcc][unit / 2]: instructions */
    struct shared_waits *shared_waits; /* [xcc][unit / 2]: of both */
    struct translations *utcl1;        /* [xcc][unit] */
    struct l2_sets *tcc;               /* [xcc]: all of its channels */
    struct channels_seen *seen;        /* [xcc] */
    const struct memory_level *level;  /* the host's */
    uint32_t units;                    /* compute units of an XCC */
    struct used_list units_used;       /* [xcc][unit], since a dispatch began */
    struct used_list units_translated; /* the same, since all was cleared */
    uint32_t l2_blocks;                /* sets of an L2, by blocks of 256 bytes */
    struct used_list blocks_dirty;     /* [xcc][block of sets], since one ended */
    struct streams streams;
    struct path *paths; /* [xcc]: of its units' groups, one after another */
};

/* Cycles: what the scalar and the instruction cache take; a load that the L1 serves, or that needs
 * no cache; a request that leaves the L1. */
enum {
    SCALAR_HIT_CYCLES = 32,
    L1_HIT_CYCLES = 120,
    NOWHERE_CYCLES = 64,
    L2_HIT_CYCLES = 300,
    L2_MISS_CYCLES = 600,
    L2_WRITE_CYCLES = 280
};

/* Cycles that a request of memory elsewhere takes longer: there and back. Assumed, since nothing is
 * published of these GPUs (decision 0027). */
static inline uint32_t link_cycles(enum memory_home home)
{
    enum { HOST_CYCLES = 1000, PEER_CYCLES = 500 };
    return home == HOME_HOST ? HOST_CYCLES : home == HOME_PEER ? PEER_CYCLES : 0;
}

/* What a dispatch asks of memory through an L2 channel, as far as it was observed. */
struct channel_work {
    uint64_t reads, writes, atomics; /* atomics are writes, too */
    uint64_t read_link_cycles, write_link_cycles,
        atomic_link_cycles; /* of those elsewhere, summed */
};

/* Where the counts go. */
struct memory_totals {
    uint64_t *cu;                           /* [SRC_CU_COUNT] of the unit that asks */
    uint64_t (*channel)[SRC_CHANNEL_COUNT]; /* [channel] of the unit's XCC */
    struct channel_work *work; /* [channel] of the unit's XCC, of the group's dispatch */
};

/* The same as below, wherever it is. */
bool translation_search(struct translations *utcl1, uint64_t page);
/* The translation is the most recently used one. True: it was not there. */
static inline bool translation_miss(struct translations *utcl1, uint64_t va)
{
    uint64_t page = (va >> TRANSLATION_SHIFT) + 1;
    uint32_t at = utcl1->hints[page % TRANSLATIONS];
    if (__builtin_expect(utcl1->pages[at] != page, 0))
        return translation_search(utcl1, page);
    utcl1->used[at] = ++utcl1->now;
    return false;
}

int memory_create(struct memory_model *memory, const struct gpu_model *model);
void memory_destroy(struct memory_model *memory);
/* All caches empty, nothing written back: a counting session begins. */
void memory_clear(struct memory_model *memory);
/* A dispatch begins: its acquire invalidates the L1 and scalar caches. */
void memory_acquire(struct memory_model *memory);
/* A dispatch ends: its release writes the dirty lines of all L2s back. Both are [xcc][channel]. */
void memory_release(struct memory_model *memory, uint64_t (*channel)[SRC_CHANNEL_COUNT],
                    struct channel_work *work);
/* The same dispatch, whose groups have no more to count, took so long: cycles that scalar and
 * instruction caches took no requests go to `cu`, and to `hidden` unless that is NULL: to the first
 * of the units that share them. */
void memory_shared_end(struct memory_model *memory, uint64_t cycles, uint64_t (*cu)[SRC_CU_COUNT],
                       uint64_t (*hidden)[SRC_CU_COUNT]);
/* Totals of channels, and dispatches' work, lack nothing from now on. */
void memory_settle(struct memory_model *memory);
/* The accesses of a group that were observed for counters, in that unit of all XCCs' units.
 * `is_next`: it is a repeat, whose accesses are moved first. `begins`: it begins with its dispatch.
 */
void memory_group(struct memory_model *memory, const struct perf_group *group, uint32_t at,
                  const struct memory_totals *totals, bool is_next, bool begins);

#endif
