/*
 * What a group has logged goes through the caches: first-level ones first, in order, and what these
 * lack through the L2 then.
 */
#include <stddef.h>
#include <string.h>

#include "perf/memory.h"
#include "perf/memory_inside.h"

/* MI200: consecutive 256-byte blocks go to consecutive L2 channels. Each is four lines of the log.
 */
enum { LOG_LINE_BYTES = 64, BLOCK_LINES = CACHE_BLOCK_BYTES / LOG_LINE_BYTES };

/* Requests that leave first-level caches, in their order. */
enum request_kind {
    REQUEST_READ, /* of a vector L1 */
    REQUEST_READ_BLOCK,
    REQUEST_WRITE,
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
struct requests {
    uint32_t count;
    struct request items[REQUESTS];
};

/* A group's way through the caches: those of its unit, and the L2 of its XCC; and where all is
 * counted. */
struct path {
    struct memory_model *memory;
    struct cache *tcp, *sqc, *icache;
    struct translations *utcl1;
    struct cache *tcc;
    uint32_t first_block; /* of the XCC's sets of the L2, by blocks */
    uint32_t read_bytes;  /* what a vector read asks of the L2 */
    uint32_t block_reads; /* so many of them for a block */
    bool all;             /* what was logged for time alone is wanted, too */
    const struct memory_totals *totals;
};

/* The L2 */

/* All channels of an L2 are one cache: the bits of an address that choose the channel stand below
 * those that choose its sets. */
CACHE_INLINE struct channel channel_of(const struct path *path, uint64_t va)
{
    uint64_t channel = va / CACHE_BLOCK_BYTES & (path->memory->model->tcc_channels - 1);
    return (struct channel){path->totals->channel[channel], &path->totals->work[channel]};
}

CACHE_INLINE void dirty_note(const struct path *path, uint64_t va)
{
    struct memory_model *memory = path->memory;
    uint64_t block = va / CACHE_BLOCK_BYTES & (memory->l2_blocks - 1);
    used_note(&memory->blocks_dirty, path->first_block + (uint32_t)block);
}

/* `lines` lines like this one left the L2 for others. */
CACHE_INLINE void victim_leave(const struct cache_victim *victim, uint32_t lines,
                               const struct channel *channel)
{
    if (!victim->number)
        return;
    channel->totals[CHANNEL(TCC_EVICT)] += lines;
    if (line_write_back(&victim->state, lines, channel))
        channel->totals[CHANNEL(TCC_EVICT_DIRTY)] += lines;
}

/* Sectors that a request wants and the line does not hold come from memory in one transaction. */
CACHE_INLINE void sectors_fetch(struct cache_state *state, uint32_t wanted,
                                const struct channel *channel)
{
    uint32_t missing = wanted & ~(uint32_t)state->sectors;
    if (!missing)
        return;
    state->sectors |= (uint8_t)wanted;
    channel->totals[missing == 3 ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)]++;
    channel->work->reads++;
}

CACHE_INLINE void requests_count(uint64_t *totals, enum request_kind kind, uint32_t count)
{
    bool scalar = kind == REQUEST_SCALAR || kind == REQUEST_FETCH;
    bool write = kind == REQUEST_WRITE || kind == REQUEST_WRITE_BLOCK;
    bool atomic = kind == REQUEST_ATOMIC || kind == REQUEST_ATOMIC_RETURNS;
    totals[write ? CHANNEL(TCC_WRITE) : atomic ? CHANNEL(TCC_ATOMIC) : CHANNEL(TCC_READ)] += count;
    totals[scalar ? CHANNEL(TCC_SCALAR) : CHANNEL(TCC_VECTOR)] += count;
}

/* Reads and atomics fetch the sectors that are not valid: the one at the address, or for
 * first-level caches of longer lines both; writes only mark the bytes they bring. A request hits
 * when all its sectors are valid, or, for writes, when the line is there. */
CACHE_INLINE bool l2_line(const struct path *path, const struct request *request, uint32_t ways,
                          enum request_kind kind)
{
    const struct channel channel = channel_of(path, request->va);
    uint64_t *totals = channel.totals;
    uint32_t sector = cache_sector(path->tcc, request->va), way;
    bool both = kind == REQUEST_READ && path->read_bytes > CACHE_SECTOR_BYTES;
    uint32_t wanted = both ? 3 : 1u << sector;
    struct cache_victim victim = {0};
    struct cache_set *set = cache_set(path->tcc, request->va);
    bool there = cache_set_reach(set, ways, cache_number(path->tcc, request->va), &way, &victim);
    struct cache_state *state = &cache_states_of(set, ways)[way];
    bool hit = there && (kind == REQUEST_WRITE || (state->sectors & wanted) == wanted);
    requests_count(totals, kind, 1);
    totals[hit ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)]++;
    if (!there)
        victim_leave(&victim, 1, &channel);
    if (kind != REQUEST_WRITE)
        sectors_fetch(state, wanted, &channel);
    if (kind != REQUEST_WRITE && kind != REQUEST_ATOMIC && kind != REQUEST_ATOMIC_RETURNS)
        return hit;
    state->dirty_bytes[sector] |= request->bytes;
    dirty_note(path, request->va);
    if (state->dirty_bytes[sector] == UINT64_MAX) /* fully written: nothing left to fetch */
        state->sectors |= (uint8_t)(1u << sector);
    return hit;
}

/*
 * A block that is read or written as a whole, where its sets of the L2 have seen nothing else: each
 * of its lines has all of its sectors, written or not, or is not there. False: they have.
 */
CACHE_INLINE bool l2_block(const struct path *path, const struct request *request, uint32_t ways,
                           enum request_kind kind, uint32_t count, bool *there)
{
    const struct channel channel = channel_of(path, request->va);
    uint64_t *totals = channel.totals;
    uint32_t lines = 1u << path->tcc->block_shift, way;
    struct cache_victim victim = {0};
    struct cache_set *set = cache_united(path->tcc, request->va);
    if (!set)
        return false;
    *there = cache_set_reach(set, ways, cache_number(path->tcc, request->va), &way, &victim);
    struct cache_state *state = &cache_states_of(set, ways)[way];
    requests_count(totals, kind, count);
    if (!*there)
        victim_leave(&victim, lines, &channel);
    state->sectors = lines < BLOCK_LINES ? 3 : 1;
    if (kind == REQUEST_WRITE_BLOCK) { /* a line's second half finds what the first has made */
        uint32_t misses = *there ? 0 : lines;
        totals[CHANNEL(TCC_MISS)] += misses;
        totals[CHANNEL(TCC_HIT)] += count - misses;
        state->dirty_bytes[0] = UINT64_MAX;
        state->dirty_bytes[1] = lines < BLOCK_LINES ? UINT64_MAX : 0;
        dirty_note(path, request->va);
        return true;
    }
    totals[*there ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)] += count;
    if (*there)
        return true;
    totals[count < BLOCK_LINES ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)] += count;
    channel.work->reads += count;
    return true;
}

static inline uint32_t l2_cycles(bool hit)
{
    return hit ? L2_HIT_CYCLES : L2_MISS_CYCLES;
}

CACHE_INLINE void block_read(const struct path *path, const struct request *request, uint32_t ways)
{
    uint32_t count = path->block_reads;
    uint64_t *latency = &path->totals->cu[SRC_TCP_READ_LATENCY];
    bool there;
    if (l2_block(path, request, ways, REQUEST_READ_BLOCK, count, &there)) {
        *latency += count * l2_cycles(there);
        return;
    }
    struct request each = *request;
    for (uint32_t n = 0; n < count; n++, each.va += path->read_bytes)
        *latency += l2_cycles(l2_line(path, &each, ways, REQUEST_READ));
}

CACHE_INLINE void block_write(const struct path *path, const struct request *request, uint32_t ways)
{
    bool there;
    if (l2_block(path, request, ways, REQUEST_WRITE_BLOCK, BLOCK_LINES, &there))
        return;
    struct request each = *request;
    for (uint32_t n = 0; n < BLOCK_LINES; n++, each.va += LOG_LINE_BYTES)
        l2_line(path, &each, ways, REQUEST_WRITE);
}

CACHE_INLINE void request_serve(const struct path *path, const struct request *request,
                                uint32_t ways)
{
    uint64_t *cu = path->totals->cu;
    switch ((enum request_kind)request->kind) {
    case REQUEST_READ: /* requests_run() */
        break;
    case REQUEST_READ_BLOCK:
        block_read(path, request, ways);
        break;
    case REQUEST_WRITE:
        l2_line(path, request, ways, REQUEST_WRITE);
        break;
    case REQUEST_WRITE_BLOCK:
        block_write(path, request, ways);
        break;
    case REQUEST_ATOMIC:
        cu[SRC_TCP_WRITE_LATENCY] +=
            l2_cycles(l2_line(path, request, ways, REQUEST_ATOMIC)) + request->conflicts;
        break;
    case REQUEST_ATOMIC_RETURNS:
        cu[SRC_TCP_READ_LATENCY] +=
            l2_cycles(l2_line(path, request, ways, REQUEST_ATOMIC_RETURNS)) + request->conflicts;
        break;
    case REQUEST_SCALAR:
        cu[SRC_SQC_LATENCY] += l2_cycles(l2_line(path, request, ways, REQUEST_SCALAR));
        break;
    case REQUEST_FETCH:
        cu[SRC_IFETCH_LATENCY] += l2_cycles(l2_line(path, request, ways, REQUEST_FETCH));
        break;
    }
}

CACHE_INLINE void requests_run(const struct path *path, const struct requests *requests,
                               uint32_t ways)
{
    for (uint32_t i = 0; i < requests->count; i++) {
        uint64_t latency = 0;
        for (; i < requests->count && requests->items[i].kind == REQUEST_READ; i++)
            latency += l2_cycles(l2_line(path, &requests->items[i], ways, REQUEST_READ));
        path->totals->cu[SRC_TCP_READ_LATENCY] += latency;
        if (i < requests->count)
            request_serve(path, &requests->items[i], ways);
    }
}

/* All GPUs' L2s have sixteen ways. */
static void requests_serve(const struct path *path, const struct requests *requests)
{
    enum { WAYS = 16 };
    if (path->tcc->way_count == WAYS)
        requests_run(path, requests, WAYS);
    else
        requests_run(path, requests, path->tcc->way_count);
}

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

CACHE_INLINE void block_ask(const struct path *path, uint32_t ways, uint64_t va, bool glc,
                            struct requests *requests)
{
    uint32_t count = path->block_reads;
    uint32_t lacks = block_lacks(path, ways, va, glc, count), all = (1u << count) - 1;
    uint64_t *misses = &path->totals->cu[SRC_TCP_READ_MISS];
    if (lacks == all) {
        *misses += count;
        request_add(requests, REQUEST_READ_BLOCK, va, 0, 0);
        return;
    }
    for (uint32_t n = 0; n < count && lacks; n++)
        if (lacks >> n & 1) {
            *misses += 1;
            request_add(requests, REQUEST_READ, va + n * path->read_bytes, 0, 0);
        }
}

CACHE_INLINE void access_read(const struct path *path, uint32_t ways,
                              const struct perf_line_access *access, struct requests *requests)
{
    bool glc = access->flags & ACCESS_GLC;
    uint64_t va = access->line_va;
    /* A coherent read of half a line of the L1 makes the other half's a miss, too. */
    if (access->more == BLOCK_LINES - 1 && !(glc && path->read_bytes > LOG_LINE_BYTES)) {
        block_ask(path, ways, va, glc, requests);
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

/* Looks at entries until the requests are full, or none is left. Returns where it goes on. */
CACHE_INLINE uint64_t entries_look(const struct path *path, uint32_t ways,
                                   const struct perf_group *group, uint64_t at,
                                   struct requests *requests)
{
    for (; at < group->access_count && requests->count <= REQUESTS - REQUESTS_OF_ENTRY; at++) {
        const struct perf_line_access *access = &group->accesses[at];
        if (!path->all && access->flags & ACCESS_SAMPLED)
            continue;
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
        requests_serve(path, &requests);
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
    used_note(&memory->units_used, at);
    used_note(&memory->units_translated, at);
    entries_run(&path, group);
}
