/*
 * What a group has logged goes through the caches: first-level ones first, in order, and what these
 * lack through the L2 then.
 */
#include <stddef.h>
#include <string.h>

#include "perf/memory.h"
#include "perf/memory_inside.h"

/* First-level caches */

CACHE_INLINE void request_add(struct requests *requests, enum request_kind kind, uint64_t va,
                              uint64_t bytes, uint8_t conflicts)
{
    requests->items[requests->count++] =
        (struct request){.va = va, .bytes = bytes, .kind = (uint8_t)kind, .conflicts = conflicts};
}

/* Whether the L1 lacks a line, which it holds from now on. */
CACHE_INLINE bool l1_lacks(struct cache *tcp, uint32_t ways, uint64_t va, bool glc)
{
    struct cache_set *set = cache_set(tcp, va);
    uint64_t number = cache_number(tcp, va);
    uint32_t way;
    if (glc) /* coherent: never served from L1 */
        cache_set_remove(set, ways, number);
    return !cache_set_reach(set, ways, number, &way, NULL);
}

/* The lines of the L1 that a whole block lacks, as bits. */
CACHE_INLINE uint32_t block_lacks(const struct path *path, uint32_t ways, uint64_t va, bool glc,
                                  uint32_t count)
{
    struct cache_set *set = cache_united(path->tcp, va);
    uint64_t number = cache_number(path->tcp, va);
    uint32_t lacks = 0, way;
    if (set) {
        if (glc)
            cache_set_remove(set, ways, number);
        return cache_set_reach(set, ways, number, &way, NULL) ? 0 : (1u << count) - 1;
    }
    for (uint32_t n = 0; n < count; n++)
        lacks |= (uint32_t)l1_lacks(path->tcp, ways, va + n * path->read_bytes, glc) << n;
    return lacks;
}

/* Returns how many requests of the L2 it takes. */
CACHE_INLINE uint32_t block_ask(const struct path *path, uint32_t ways, uint64_t va, bool glc,
                                struct requests *requests)
{
    uint32_t count = path->block_reads;
    uint32_t lacks = block_lacks(path, ways, va, glc, count), all = (1u << count) - 1;
    if (lacks == all) {
        request_add(requests, REQUEST_READ_BLOCK, va, 0, 0);
        return count;
    }
    for (uint32_t n = 0; n < count && lacks; n++)
        if (lacks >> n & 1)
            request_add(requests, REQUEST_READ, va + n * path->read_bytes, 0, 0);
    return (uint32_t)__builtin_popcount(lacks);
}

CACHE_INLINE void access_read(const struct path *path, uint32_t ways,
                              const struct perf_line_access *access, struct requests *requests)
{
    bool glc = access->flags & ACCESS_GLC;
    uint64_t va = access->line_va;
    /* A coherent read of half a line of the L1 makes the other half's a miss, too. */
    if (access->more == BLOCK_LINES - 1 && !(glc && path->read_bytes > LOG_LINE_BYTES)) {
        path->totals->cu[SRC_TCP_READ_MISS] += block_ask(path, ways, va, glc, requests);
        return;
    }
    for (uint32_t n = 0; n <= access->more; n++, va += LOG_LINE_BYTES) {
        if (!l1_lacks(path->tcp, ways, va, glc))
            continue;
        path->totals->cu[SRC_TCP_READ_MISS]++;
        request_add(requests, REQUEST_READ, va, 0, 0);
    }
}

static inline uint64_t bytes_of(const struct perf_line_access *access)
{
    return (uint64_t)access->bytes_mask_hi << 32 | access->bytes_mask_lo;
}

/* The L1 writes through and allocates nothing. */
CACHE_INLINE void access_write(const struct path *path, const struct perf_line_access *access,
                               struct requests *requests)
{
    uint32_t count = access->more + 1u;
    path->totals->cu[SRC_TCP_WRITE] += count;
    path->totals->cu[SRC_TCP_WRITE_LATENCY] += L2_WRITE_CYCLES * count;
    if (count == BLOCK_LINES) {
        request_add(requests, REQUEST_WRITE_BLOCK, access->line_va, UINT64_MAX, 0);
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        request_add(requests, REQUEST_WRITE, access->line_va + LOG_LINE_BYTES * n, bytes_of(access),
                    0);
}

static void access_atomic(const struct path *path, const struct perf_line_access *access,
                          struct requests *requests)
{
    bool returns = access->flags & ACCESS_GLC; /* done in L2; GLC asks for the old value */
    uint64_t va = access->line_va;
    cache_set_remove(cache_set(path->tcp, va), path->tcp->way_count, cache_number(path->tcp, va));
    path->totals->cu[returns ? SRC_TCP_ATOMIC_RET : SRC_TCP_ATOMIC_NORET]++;
    request_add(requests, returns ? REQUEST_ATOMIC_RETURNS : REQUEST_ATOMIC, va, bytes_of(access),
                access->conflicts);
}

/* Scalar data and instructions: a cache that two compute units share, of lines of a sector. */
static bool shared_lacks(struct cache *cache, uint64_t va)
{
    uint32_t way;
    return !cache_set_reach(cache_set(cache, va), cache->way_count, cache_number(cache, va), &way,
                            NULL);
}

static void access_other(const struct path *path, const struct perf_line_access *access,
                         struct requests *requests)
{
    uint64_t *cu = path->totals->cu, va = access->line_va;
    switch (access->kind) {
    case ACCESS_SCALAR_READ:
        cu[SRC_SQC_LATENCY] += SCALAR_HIT_CYCLES;
        if (!shared_lacks(path->sqc, va)) {
            cu[SRC_SQC_HIT]++;
            break;
        }
        cu[SRC_SQC_MISS]++;
        request_add(requests, REQUEST_SCALAR, va, 0, 0);
        break;
    case ACCESS_FETCH: /* fetches that miss nothing are hits: perf.c counts those */
        if (!shared_lacks(path->icache, va))
            break;
        cu[SRC_ICACHE_MISS]++;
        request_add(requests, REQUEST_FETCH, va, 0, 0);
        break;
    case ACCESS_INVALIDATE:
        cache_clear(path->tcp);
        break;
    }
}

bool translation_search(struct translations *utcl1, uint64_t page)
{
    uint32_t at = 0, oldest = 0;
    for (; at < TRANSLATIONS && utcl1->pages[at] != page; at++)
        oldest = utcl1->used[at] < utcl1->used[oldest] ? at : oldest;
    bool missed = at == TRANSLATIONS;
    at = missed ? oldest : at;
    utcl1->pages[at] = page;
    utcl1->used[at] = ++utcl1->now;
    utcl1->hints[page % TRANSLATIONS] = (uint8_t)at;
    return missed;
}

/* What is handed over for an instruction, which its first line has. */
static void lanes_count(const struct perf_line_access *access, uint64_t *cu)
{
    static const uint8_t lanes[] = {SRC_TCP_READ_LANES, SRC_TCP_WRITE_LANES,
                                    SRC_TCP_ATOMIC_NORET_LANES};
    bool returns = access->kind == ACCESS_ATOMIC && access->flags & ACCESS_GLC;
    cu[returns ? SRC_TCP_ATOMIC_RET_LANES : lanes[access->kind]] += access->lanes;
    if (access->flags & ACCESS_FIRST && access->flags & ACCESS_COALESCED &&
        !(access->flags & ACCESS_NOWHERE))
        cu[SRC_TA_COALESCED]++;
}

static void buffer_count(const struct perf_line_access *access, uint64_t tags, uint64_t *cu)
{
    cu[SRC_TCP_BUFFER_TAGS] += tags;
    if (access->flags & ACCESS_COALESCED && access->kind != ACCESS_ATOMIC)
        cu[access->kind == ACCESS_WRITE ? SRC_TCP_BUFFER_WRITE_COALESCED
                                        : SRC_TCP_BUFFER_READ_COALESCED] += tags;
}

/* What the address unit did for a line of a vector instruction, or for several. False: they are
 * nowhere. */
CACHE_INLINE bool address_count(const struct path *path, const struct perf_line_access *access)
{
    uint64_t *cu = path->totals->cu, tags = access->tags * (access->more + 1u);
    if (access->flags & ACCESS_FIRST || access->lanes)
        lanes_count(access, cu);
    if (access->flags & ACCESS_NOWHERE)
        return false;
    cu[SRC_TCP_TAGS] += tags;
    if (__builtin_expect(translation_miss(path->utcl1, access->line_va), 0)) {
        cu[SRC_UTCL1_MISS]++;
        tags -= tags > 0; /* the rest are hits */
    }
    cu[SRC_UTCL1_HIT] += tags;
    if (access->flags & ACCESS_BUFFER)
        buffer_count(access, access->tags * (access->more + 1u), cu);
    return true;
}

/* What of an entry says more than that a line is read, and how often it was looked up. */
static inline uint64_t plain_read_mask(void)
{
    const struct perf_line_access says = {.kind = UINT8_MAX,
                                          .flags = ACCESS_GLC | ACCESS_BUFFER | ACCESS_FIRST |
                                                   ACCESS_NOWHERE,
                                          .lanes = UINT16_MAX,
                                          .more = UINT8_MAX};
    uint64_t mask;
    _Static_assert(offsetof(struct perf_line_access, kind) + sizeof mask == sizeof says, "its end");
    memcpy(&mask, &says.kind, sizeof mask);
    return mask;
}

/* The lines behind its first one of an instruction whose lanes read anywhere: those that are no
 * more than that. What entries_look() does, with little to look at. */
CACHE_INLINE uint64_t reads_look(const struct path *path, uint32_t ways,
                                 const struct perf_line_access *accesses, uint64_t at, uint64_t end,
                                 struct requests *requests)
{
    struct cache *tcp = path->tcp;
    uint64_t *cu = path->totals->cu, tags = 0, page_misses = 0, mask = plain_read_mask(), says;
    uint32_t first = requests->count, count = first;
    for (; at < end && count < REQUESTS; at++) {
        const struct perf_line_access *access = &accesses[at];
        uint64_t va = access->line_va;
        uint32_t way;
        memcpy(&says, &access->kind, sizeof says);
        if (says & mask)
            break;
        tags += access->tags;
        page_misses += translation_miss(path->utcl1, va);
        if (cache_set_reach(cache_set(tcp, va), ways, cache_number(tcp, va), &way, NULL))
            continue;
        requests->items[count].va = va;
        requests->items[count++].kind = REQUEST_READ;
    }
    requests->count = count;
    cu[SRC_TCP_TAGS] += tags;
    cu[SRC_UTCL1_MISS] += page_misses;
    cu[SRC_UTCL1_HIT] += tags - page_misses; /* each was looked up at least once */
    cu[SRC_TCP_READ_MISS] += count - first;
    return at;
}

/* Whole blocks that are read or written by lanes that follow each other, and nothing else of note.
 */
static inline uint64_t plain_block_mask(void)
{
    const struct perf_line_access says = {.kind = UINT8_MAX & ~(ACCESS_READ | ACCESS_WRITE),
                                          .flags = ACCESS_GLC | ACCESS_BUFFER | ACCESS_NOWHERE,
                                          .more = UINT8_MAX};
    uint64_t mask;
    memcpy(&mask, &says.kind, sizeof mask);
    return mask;
}

static inline uint64_t plain_block_value(void)
{
    const struct perf_line_access says = {.more = BLOCK_LINES - 1};
    uint64_t value;
    memcpy(&value, &says.kind, sizeof value);
    return value;
}

/* What has been seen of blocks, before it is added to the totals. */
struct blocks_seen {
    uint64_t tags, page_misses, coalesced, read_lanes, write_lanes, writes, read_misses;
};

static void blocks_count(const struct blocks_seen *seen, uint64_t *cu)
{
    cu[SRC_TCP_TAGS] += BLOCK_LINES * seen->tags;
    cu[SRC_UTCL1_MISS] += seen->page_misses;
    cu[SRC_UTCL1_HIT] += BLOCK_LINES * seen->tags - seen->page_misses;
    cu[SRC_TA_COALESCED] += seen->coalesced;
    cu[SRC_TCP_READ_LANES] += seen->read_lanes;
    cu[SRC_TCP_WRITE_LANES] += seen->write_lanes;
    cu[SRC_TCP_WRITE] += BLOCK_LINES * seen->writes;
    cu[SRC_TCP_WRITE_LATENCY] += L2_WRITE_CYCLES * BLOCK_LINES * seen->writes;
    cu[SRC_TCP_READ_MISS] += seen->read_misses;
}

/* A block that is read; returns how many requests it takes. */
CACHE_INLINE uint32_t plain_block_ask(const struct path *path, const struct cache_shape *shape,
                                      uint32_t ways, uint64_t va, struct requests *requests)
{
    const uint64_t line = va >> shape->line_shift;
    struct cache_set *set = cache_united_at(path->tcp, shape, line);
    uint32_t way;
    if (__builtin_expect(!set, 0))
        return block_ask(path, ways, va, false, requests);
    if (cache_set_reach(set, ways, line + 1, &way, NULL))
        return 0;
    request_add(requests, REQUEST_READ_BLOCK, va, 0, 0);
    return path->block_reads;
}

/* Such blocks, from `at` on, as entries_look() does them. The page of the last look-up is the last
 * one that was used. */
CACHE_INLINE uint64_t blocks_look(const struct path *path, uint32_t ways,
                                  const struct perf_group *group, uint64_t at,
                                  struct requests *requests)
{
    const uint64_t mask = plain_block_mask(), value = plain_block_value(),
                   end = group->access_count;
    const struct perf_line_access *const accesses = group->accesses;
    const struct cache_shape shape = cache_shape_of(path->tcp);
    struct blocks_seen seen = {0};
    uint64_t page = UINT64_MAX, says;
    for (; at < end && requests->count <= REQUESTS - REQUESTS_OF_ENTRY; at++) {
        const struct perf_line_access *access = &accesses[at];
        const uint64_t va = access->line_va;
        memcpy(&says, &access->kind, sizeof says);
        if ((says & mask) != value)
            break;
        seen.tags += access->tags;
        seen.coalesced += access->flags / ACCESS_FIRST & access->flags / ACCESS_COALESCED & 1;
        if (va >> TRANSLATION_SHIFT != page) {
            page = va >> TRANSLATION_SHIFT;
            seen.page_misses += translation_miss(path->utcl1, va);
        }
        if (access->kind == ACCESS_WRITE) {
            seen.write_lanes += access->lanes;
            seen.writes++;
            request_add(requests, REQUEST_WRITE_BLOCK, va, UINT64_MAX, 0);
        } else {
            seen.read_lanes += access->lanes;
            seen.read_misses += plain_block_ask(path, &shape, ways, va, requests);
        }
    }
    blocks_count(&seen, path->totals->cu);
    return at;
}

/* Looks at entries until the requests are full, or none is left. Returns where it goes on. */
CACHE_INLINE uint64_t entries_look(const struct path *path, uint32_t ways,
                                   const struct perf_group *group, uint64_t at,
                                   struct requests *requests)
{
    for (; at < group->access_count && requests->count <= REQUESTS - REQUESTS_OF_ENTRY; at++) {
        const struct perf_line_access *access = &group->accesses[at];
        if (!path->all && access->flags & ACCESS_SAMPLED)
            continue;
        if (path->all && access->more == BLOCK_LINES - 1) {
            uint64_t next = blocks_look(path, ways, group, at, requests);
            if (next > at) {
                at = next - 1;
                continue;
            }
        }
        if (access->kind > ACCESS_ATOMIC)
            access_other(path, access, requests);
        else if (!address_count(path, access))
            continue;
        else if (access->kind == ACCESS_WRITE)
            access_write(path, access, requests);
        else if (access->kind == ACCESS_ATOMIC)
            access_atomic(path, access, requests);
        else {
            access_read(path, ways, access, requests);
            if (path->all && !access->more)
                at =
                    reads_look(path, ways, group->accesses, at + 1, group->access_count, requests) -
                    1;
        }
    }
    return at;
}

/* Caches of 64 ways, as most GPUs' L1s are, are worth a loop of their own. */
static void entries_run(const struct path *path, const struct perf_group *group)
{
    enum { WAYS = 64 };
    struct requests requests;
    uint64_t at = 0;
    while (at < group->access_count) {
        requests.count = 0;
        if (path->tcp->way_count == WAYS)
            at = entries_look(path, WAYS, group, at, &requests);
        else
            at = entries_look(path, path->tcp->way_count, group, at, &requests);
        l2_requests_serve(path, &requests);
    }
}

void memory_group(struct memory_model *memory, const struct perf_group *group, uint32_t unit,
                  const struct memory_totals *totals)
{
    uint32_t at = group->xcc * memory->units + unit, pair = pair_of(memory, at);
    const struct path path = {
        .memory = memory,
        .tcp = &memory->tcp[at],
        .sqc = &memory->sqc[pair],
        .icache = &memory->icache[pair],
        .utcl1 = &memory->utcl1[at],
        .tcc = &memory->tcc[group->xcc],
        .first_block = group->xcc * memory->l2_blocks,
        .read_bytes = memory->model->tcp_line_bytes,
        .block_reads = CACHE_BLOCK_BYTES / memory->model->tcp_line_bytes,
        .all = group->wants & PERF_WANT_MEMORY,
        .totals = totals,
    };
    if (!(group->wants & PERF_WANT_L2) || !group->accesses)
        return;
    totals->cu[SRC_SQC_HIT] += group->scalar_repeats;
    totals->cu[SRC_SQC_LATENCY] += SCALAR_HIT_CYCLES * group->scalar_repeats;
    used_note(&memory->units_used, at);
    used_note(&memory->units_translated, at);
    entries_run(&path, group);
}
