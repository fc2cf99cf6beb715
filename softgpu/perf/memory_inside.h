/* What memory.c, traffic.c and l2.c share. */
#ifndef PERF_MEMORY_INSIDE_H
#define PERF_MEMORY_INSIDE_H

#include <stddef.h>
#include <string.h>

#include "perf/memory.h"
#include "perf/sample_look.h"

enum { SQC_WAYS = 4 };

static inline void used_note(struct used_list *used, uint32_t at)
{
    if (used->is_listed[at])
        return;
    used->is_listed[at] = true;
    used->list[used->count++] = at;
}

static inline void used_forget(struct used_list *used)
{
    for (uint32_t i = 0; i < used->count; i++)
        used->is_listed[used->list[i]] = false;
    used->count = 0;
}

/* The first of the units that share a scalar and an instruction cache with this one: two or three
 * neighbours of its shader array, as evenly as that goes. (Copies on an MI100 miss in 48 such
 * caches, on an MI210 in 56, on an MI300X in 160.) */
static inline uint32_t shared_of(const struct memory_model *memory, uint32_t at)
{
    const uint32_t units = memory->model->cu_per_sh, each = memory->model->cu_per_sqc;
    const uint32_t caches = (units + each - 1) / each, own = at % units;
    return at - own + (own * caches / units * units + caches - 1) / caches;
}

/* MI200: consecutive 256-byte blocks go to consecutive L2 channels. Each is four lines of the log.
 */
enum { LOG_LINE_BYTES = 64, BLOCK_LINES = CACHE_BLOCK_BYTES / LOG_LINE_BYTES };

/* Requests that leave first-level caches, in their order. */
enum request_kind {
    REQUEST_READ, /* of a vector L1 */
    REQUEST_WRITE,
    REQUEST_READ_BLOCK,
    REQUEST_WRITE_BLOCK,
    REQUEST_ATOMIC,
    REQUEST_ATOMIC_RETURNS,
    REQUEST_SCALAR,
    REQUEST_FETCH
};
struct request {
    uint64_t va;
    uint64_t bytes; /* that are written, of the sector at `va` */
    uint8_t kind;
    uint8_t conflicts;
};
enum { REQUESTS = 512, REQUESTS_OF_ENTRY = BLOCK_LINES };
/* The read before, which another one may join. Places begin with 0: none is nowhere. */
struct request_before {
    uint64_t va;
    bool hit;
};
static const struct request_before nothing_before = {.va = UINT64_MAX};
struct requests {
    uint32_t count;
    struct request_before before; /* the first one */
    struct request items[REQUESTS];
};

/* What loops of the L2 look at again and again. */
struct l2_view {
    struct l2_set *sets;
    uint64_t generation, (*seen)[SEEN_SLOTS];
    const bool *dirty_listed; /* [set >> block_shift]: dirty_note() has it */
    uint32_t set_mask, line_shift, number_shift, block_shift;
    uint32_t channels;               /* mask */
    uint32_t sectors;                /* of a line, mask */
    uint8_t block_valid, block_full; /* states of a block's lines that was read, and written */
    uint32_t reads;                  /* what vector reads want of a line besides their own sector */
    bool mixes;                      /* places are those of l2_mix.h */
    bool joins; /* a line's halves that are asked for in a row are one request */
};

/* A group's way through the caches: those of its unit, and the L2 of its XCC; and where all is
 * counted. */
struct path {
    struct memory_model *memory;
    struct cache *tcp, *sqc, *icache;
    struct translations *utcl1;
    struct l2_sets *tcc;
    struct l2_view l2;
    uint32_t first_block; /* of the XCC's sets of the L2, by blocks */
    uint32_t read_bytes;  /* what a vector read asks of the L2 */
    uint32_t block_reads; /* so many of them for a block */
    bool all;             /* what was logged for time alone is wanted, too */
    const struct memory_totals *totals;
};

/* What of an entry says more than that memory is read or written, and how often it was looked up.
 */
static inline uint64_t plain_mask(void)
{
    const struct perf_line_access says = {.kind = UINT8_MAX & ~(ACCESS_READ | ACCESS_WRITE),
                                          .flags = ACCESS_GLC | ACCESS_BUFFER | ACCESS_NOWHERE};
    uint64_t mask;
    _Static_assert(offsetof(struct perf_line_access, kind) + sizeof mask == sizeof says, "its end");
    memcpy(&mask, &says.kind, sizeof mask);
    return mask;
}

static inline uint64_t entry_says(const struct perf_line_access *access)
{
    uint64_t says;
    memcpy(&says, &access->kind, sizeof says);
    return says;
}

static inline bool is_block(const struct perf_line_access *access)
{
    return access->more == BLOCK_LINES - 1;
}

/* Of memory that is elsewhere or of another type than most. */
static inline bool is_other(uint64_t va)
{
    return __builtin_expect(va >> VM_PLACE_TYPE_SHIFT, 0);
}

/* stream.c: the group is one of a stream, and has passed; false: it is to be looked at entry by
 * entry, and nothing has been done. */
bool stream_pass(const struct path *path, struct perf_moves *moves, bool is_next);

/* What is compiled for each level of the host has its name. */
#define PERF_NAME_OF(stem, level)       stem##_##level
#define PERF_NAME_OF_LEVEL(stem, level) PERF_NAME_OF(stem, level)
#define PERF_LEVEL_NAME(stem)           PERF_NAME_OF_LEVEL(stem, PERF_LEVEL)
typedef void requests_serve_fn(const struct path *path, struct requests *requests);
typedef void l2_release_fn(struct memory_model *memory, uint64_t (*channel)[SRC_CHANNEL_COUNT],
                           struct channel_work *work);
typedef void entries_run_fn(const struct path *path, const struct perf_group *group);
/* What blocks of a stream have asked for. */
struct stream_asked {
    uint64_t crossed;      /* bits of addresses that have changed */
    uint64_t lacked, hits; /* blocks that the L1 did not have to be read, and of these the L2 had */
    uint64_t others;       /* and those whose lines were looked up each by itself, and counted */
};
typedef void stream_look_fn(const struct path *path, struct perf_line_access *access,
                            const struct perf_line_access *end, uint64_t step,
                            struct stream_asked *asked);
struct memory_level {
    entries_run_fn *entries_run; /* what a group has logged passes the caches */
    stream_look_fn *stream_look; /* blocks of a stream are moved, and do */
    l2_release_fn *release;      /* memory_release() */
    sample_look_fn *sample_look; /* what modelled time wants of a group */
};
l2_release_fn l2_release_avx512, l2_release_avx2, l2_release_portable;
requests_serve_fn l2_requests_serve_avx512, l2_requests_serve_avx2, l2_requests_serve_portable;
entries_run_fn entries_run_avx512, entries_run_avx2, entries_run_portable;
stream_look_fn stream_look_avx512, stream_look_avx2, stream_look_portable;

/* An L2 channel's own totals, and shorthands for counting in them. */
#define CHANNEL(name) (SRC_##name - SRC_CHANNEL_FIRST)

/* A channel's counts, and what the dispatch has asked of it. */
struct channel {
    uint64_t *totals;
    struct channel_work *work;
};

/* So many requests of memory. */
static inline void reads_note(const struct channel *channel, enum memory_home home, uint32_t count)
{
    channel->work->reads += count;
    if (__builtin_expect(home == HOME_OWN, 1))
        return;
    channel->totals[home == HOME_HOST ? CHANNEL(EA_READ_HOST) : CHANNEL(EA_READ_PEER)] += count;
    channel->work->read_link_cycles += (uint64_t)link_cycles(home) * count;
}

static inline void writes_note(const struct channel *channel, enum memory_home home, uint32_t count)
{
    channel->work->writes += count;
    if (__builtin_expect(home == HOME_OWN, 1))
        return;
    channel->totals[home == HOME_HOST ? CHANNEL(EA_WRITE_HOST) : CHANNEL(EA_WRITE_PEER)] += count;
    channel->work->write_link_cycles += (uint64_t)link_cycles(home) * count;
}

/* What is dirty of a line goes to memory, and as many like it. */
void l2_line_write_back(const struct l2_sets *l2, uint32_t set, uint32_t way, uint32_t lines,
                        const struct channel *channel);
/* An L2's channels count what they see for these totals from now on. */
void channels_seen_change(struct memory_model *memory, uint32_t xcc,
                          const struct memory_totals *totals);
static inline void channels_seen_for(struct memory_model *memory, uint32_t xcc,
                                     const struct memory_totals *totals)
{
    const struct channels_seen *seen = &memory->seen[xcc];
    if (__builtin_expect(seen->work != totals->work || seen->totals != totals->channel, 0))
        channels_seen_change(memory, xcc, totals);
}

#endif
