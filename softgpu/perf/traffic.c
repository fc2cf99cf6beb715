/*
 * What a group has logged goes through the caches: first-level ones first, in order, and what these
 * lack through the L2 then. Compiled for each level of the host.
 */
#include "perf/l2_blocks.h"

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

/* A block whose lines that the L1 lacks are these. Returns how many requests of the L2 it takes. */
CACHE_INLINE uint32_t block_requests(const struct path *path, uint64_t va, uint32_t lacks,
                                     struct request *request)
{
    const uint32_t count = path->block_reads;
    const struct request *const first = request;
    if (lacks == (1u << count) - 1) {
        *request = (struct request){.va = va, .kind = REQUEST_READ_BLOCK};
        return 1;
    }
    for (uint32_t n = 0; n < count; n++)
        if (lacks >> n & 1)
            *request++ = (struct request){.va = va + n * path->read_bytes, .kind = REQUEST_READ};
    return (uint32_t)(request - first);
}

static void access_read(const struct path *path, const struct perf_line_access *access,
                        struct requests *requests)
{
    const uint32_t ways = path->tcp->way_count;
    bool glc = access->flags & ACCESS_GLC;
    uint64_t va = access->line_va;
    /* A coherent read of half a line of the L1 makes the other half's a miss, too. */
    if (access->more == BLOCK_LINES - 1 && !(glc && path->read_bytes > LOG_LINE_BYTES)) {
        const uint32_t lacks = block_lacks(path, ways, va, glc, path->block_reads);
        path->totals->cu[SRC_TCP_READ_MISS] += (uint32_t)__builtin_popcount(lacks);
        requests->count += block_requests(path, va, lacks, &requests->items[requests->count]);
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
CACHE_INLINE void write_ask(const struct perf_line_access *access, struct requests *requests)
{
    uint32_t count = access->more + 1u;
    if (count == BLOCK_LINES) {
        request_add(requests, REQUEST_WRITE_BLOCK, access->line_va, UINT64_MAX, 0);
        return;
    }
    for (uint32_t n = 0; n < count; n++)
        request_add(requests, REQUEST_WRITE, access->line_va + LOG_LINE_BYTES * n, bytes_of(access),
                    0);
}

CACHE_INLINE void access_write(const struct path *path, const struct perf_line_access *access,
                               struct requests *requests)
{
    uint32_t count = access->more + 1u;
    path->totals->cu[SRC_TCP_WRITE] += count;
    path->totals->cu[SRC_TCP_WRITE_LATENCY] += L2_WRITE_CYCLES * count;
    write_ask(access, requests);
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

/* Scalar data and instructions: a cache that two or three compute units share, of lines of a
 * sector. */
static bool shared_lacks(struct cache *cache, uint64_t va)
{
    uint32_t way;
    return !cache_set_reach(cache_set(cache, va), SQC_WAYS, cache_number(cache, va), &way, NULL);
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

static inline uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* A line that is read, which is not the first one of its instruction, and no more. */
static inline uint64_t bare_mask(void)
{
    const struct perf_line_access says = {
        .kind = UINT8_MAX, .flags = ACCESS_FIRST, .lanes = UINT16_MAX, .more = UINT8_MAX};
    uint64_t mask;
    memcpy(&mask, &says.kind, sizeof mask);
    return mask | plain_mask();
}

/* What has been seen of such entries, before it is added to the totals. */
struct plain_seen {
    uint64_t tags, page_misses, coalesced, read_lanes, write_lanes, writes, read_misses;
};

static void plain_count(const struct plain_seen *seen, uint64_t *cu)
{
    cu[SRC_TCP_TAGS] += seen->tags;
    cu[SRC_UTCL1_MISS] += seen->page_misses;
    cu[SRC_UTCL1_HIT] += seen->tags - seen->page_misses; /* each was looked up at least once */
    cu[SRC_TA_COALESCED] += seen->coalesced;
    cu[SRC_TCP_READ_LANES] += seen->read_lanes;
    cu[SRC_TCP_WRITE_LANES] += seen->write_lanes;
    cu[SRC_TCP_WRITE] += seen->writes;
    cu[SRC_TCP_WRITE_LATENCY] += L2_WRITE_CYCLES * seen->writes;
    cu[SRC_TCP_READ_MISS] += seen->read_misses;
}

/* Lines of an instruction whose lanes read anywhere: those behind its first one. */
CACHE_INLINE uint64_t bare_look(const struct path *path, uint32_t ways,
                                const struct perf_group *group, uint64_t at,
                                struct requests *requests)
{
    const uint64_t mask = bare_mask();
    const struct cache_shape shape = cache_shape_of(path->tcp);
    const struct perf_line_access *access = &group->accesses[at], *const first = access;
    const struct perf_line_access *const end =
        access + least(group->access_count - at, REQUESTS - requests->count);
    struct translations *const utcl1 = path->utcl1;
    struct request *request = &requests->items[requests->count], *const first_request = request;
    struct plain_seen seen = {0};
    uint32_t way;
    for (; access < end && !(entry_says(access) & mask); access++) {
        const uint64_t va = access->line_va, line = va >> shape.line_shift;
        seen.tags += access->tags;
        seen.page_misses += translation_miss(utcl1, va);
        if (cache_set_reach(cache_single_at(path->tcp, &shape, line), ways, line + 1, &way, NULL))
            continue;
        request->va = va;
        request++->kind = REQUEST_READ;
    }
    seen.read_misses = (uint64_t)(request - first_request);
    requests->count += (uint32_t)seen.read_misses;
    plain_count(&seen, path->totals->cu);
    return at + (uint64_t)(access - first);
}

/* Whether a row of bare ones begins. */
static inline bool is_bare(const struct perf_line_access *access,
                           const struct perf_line_access *end)
{
    return !(entry_says(access) & bare_mask()) && access + 1 < end &&
           !(entry_says(access + 1) & bare_mask());
}

/* The page of the last look-up is the last one that was used. */
CACHE_INLINE void plain_translate(const struct path *path, uint64_t va, uint64_t *page,
                                  struct plain_seen *seen)
{
    if (va >> TRANSLATION_SHIFT == *page)
        return;
    *page = va >> TRANSLATION_SHIFT;
    seen->page_misses += translation_miss(path->utcl1, va);
}

/* A block whose lines are looked up each by itself; returns how many are lacked. */
static __attribute__((noinline)) uint32_t block_ask(const struct path *path, uint64_t va,
                                                    struct request **request)
{
    const uint32_t lacks = block_lacks(path, path->tcp->way_count, va, false, path->block_reads);
    *request += block_requests(path, va, lacks, *request);
    return (uint32_t)__builtin_popcount(lacks);
}

/* Whole blocks. */
CACHE_INLINE uint64_t blocks_look(const struct path *path, uint32_t ways,
                                  const struct perf_group *group, uint64_t at,
                                  struct requests *requests)
{
    enum { ALL = ACCESS_FIRST | ACCESS_COALESCED };
    const uint64_t mask = plain_mask();
    const struct perf_line_access *access = &group->accesses[at], *const first = access;
    const struct perf_line_access *const end = access + (group->access_count - at);
    const struct cache_shape shape = cache_shape_of(path->tcp);
    struct request *request = &requests->items[requests->count];
    const struct request *const full = &requests->items[REQUESTS - REQUESTS_OF_ENTRY];
    struct plain_seen seen = {0};
    uint64_t page = UINT64_MAX, lacked = 0;
    uint32_t way;
    for (; access < end && request <= full; access++) {
        const uint64_t va = access->line_va;
        if (entry_says(access) & mask || !is_block(access))
            break;
        seen.tags += access->tags;
        seen.coalesced += (access->flags & ALL) == ALL;
        plain_translate(path, va, &page, &seen);
        if (access->kind == ACCESS_WRITE) {
            seen.write_lanes += access->lanes;
            seen.writes++;
            request->va = va;
            request++->kind = REQUEST_WRITE_BLOCK;
            continue;
        }
        const uint64_t line = va >> shape.line_shift;
        struct cache_set *set = cache_united_at(path->tcp, &shape, line);
        seen.read_lanes += access->lanes;
        if (__builtin_expect(!set, 0)) {
            struct request *behind = request;
            seen.read_misses += block_ask(path, va, &behind);
            request = behind;
        } else if (!cache_set_reach(set, ways, line + 1, &way, NULL)) {
            request->va = va;
            request++->kind = REQUEST_READ_BLOCK;
            lacked++;
        }
    }
    seen.read_misses += lacked * path->block_reads;
    requests->count = (uint32_t)(request - requests->items);
    seen.tags *= BLOCK_LINES;
    seen.writes *= BLOCK_LINES;
    plain_count(&seen, path->totals->cu);
    return at + (uint64_t)(access - first);
}

/* Up to that address, each alike; returns where the next request goes. */
CACHE_INLINE struct request *lines_write(const struct perf_line_access *access, uint64_t va,
                                         uint64_t behind, struct request *request)
{
    for (; va < behind; va += LOG_LINE_BYTES, request++) {
        request->va = va;
        request->bytes = bytes_of(access);
        request->kind = REQUEST_WRITE;
    }
    return request;
}

CACHE_INLINE struct request *lines_ask(const struct path *path, const struct cache_shape *shape,
                                       uint32_t ways, uint64_t va, uint64_t behind,
                                       struct request *request)
{
    uint32_t way;
    for (; va < behind; va += LOG_LINE_BYTES) {
        const uint64_t line = va >> shape->line_shift;
        if (cache_set_reach(cache_single_at(path->tcp, shape, line), ways, line + 1, &way, NULL))
            continue;
        request->va = va;
        request++->kind = REQUEST_READ;
    }
    return request;
}

/* Lines that are no whole blocks, and no row of bare ones. */
CACHE_INLINE uint64_t lines_look(const struct path *path, uint32_t ways,
                                 const struct perf_group *group, uint64_t at,
                                 struct requests *requests)
{
    enum { ALL = ACCESS_FIRST | ACCESS_COALESCED };
    const uint64_t mask = plain_mask();
    const struct perf_line_access *access = &group->accesses[at], *const first = access;
    const struct perf_line_access *const end = access + (group->access_count - at);
    const struct cache_shape shape = cache_shape_of(path->tcp);
    struct request *request = &requests->items[requests->count];
    const struct request *const full = &requests->items[REQUESTS - REQUESTS_OF_ENTRY];
    struct plain_seen seen = {0};
    uint64_t page = UINT64_MAX;
    for (; access < end && request <= full; access++) {
        const uint64_t va = access->line_va, behind = va + LOG_LINE_BYTES * (access->more + 1u);
        if (entry_says(access) & mask || is_block(access) || is_bare(access, end))
            break;
        seen.tags += access->tags * (access->more + 1u);
        seen.coalesced += (access->flags & ALL) == ALL;
        plain_translate(path, va, &page, &seen);
        if (access->kind == ACCESS_WRITE) {
            seen.write_lanes += access->lanes;
            seen.writes += access->more + 1u;
            request = lines_write(access, va, behind, request);
        } else {
            const struct request *const asked = request;
            seen.read_lanes += access->lanes;
            request = lines_ask(path, &shape, ways, va, behind, request);
            seen.read_misses += (uint64_t)(request - asked);
        }
    }
    requests->count = (uint32_t)(request - requests->items);
    plain_count(&seen, path->totals->cu);
    return at + (uint64_t)(access - first);
}

/* Each loop is a function of its own, which has the host's registers for itself. Caches of 64 ways,
 * as most GPUs' L1s are, are worth loops of their own. */
typedef uint64_t look_fn(const struct path *path, const struct perf_group *group, uint64_t at,
                         struct requests *requests);
struct looks {
    look_fn *blocks, *bare, *lines;
};
#define DEFINE_LOOK(loop, name, ways)                                                              \
    static __attribute__((noinline))                                                               \
    uint64_t loop##_##name(const struct path *path, const struct perf_group *group, uint64_t at,   \
                           struct requests *requests)                                              \
    {                                                                                              \
        return loop(path, ways, group, at, requests);                                              \
    }
#define DEFINE_LOOKS(name, ways)                                                                   \
    DEFINE_LOOK(blocks_look, name, ways)                                                           \
    DEFINE_LOOK(bare_look, name, ways)                                                             \
    DEFINE_LOOK(lines_look, name, ways)                                                            \
    static const struct looks looks_##name = {blocks_look_##name, bare_look_##name,                \
                                              lines_look_##name};
DEFINE_LOOKS(64, 64)
DEFINE_LOOKS(any, path->tcp->way_count)

/* Plain entries from `at` on, one at least, as entries_look() does them, with little to look at. */
static uint64_t plain_look(const struct path *path, const struct looks *looks,
                           const struct perf_group *group, uint64_t at, struct requests *requests)
{
    const struct perf_line_access *access = &group->accesses[at];
    if (is_block(access))
        return looks->blocks(path, group, at, requests);
    return (is_bare(access, &group->accesses[group->access_count]) ? looks->bare : looks->lines)(
        path, group, at, requests);
}

/* Looks at entries until the requests are full, or none is left. Returns where it goes on. */
static uint64_t entries_look(const struct path *path, const struct looks *looks,
                             const struct perf_group *group, uint64_t at, struct requests *requests)
{
    while (at < group->access_count && requests->count <= REQUESTS - REQUESTS_OF_ENTRY) {
        const struct perf_line_access *access = &group->accesses[at];
        if (path->all && !(entry_says(access) & plain_mask())) {
            at = plain_look(path, looks, group, at, requests);
            continue;
        }
        at++;
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
        else
            access_read(path, access, requests);
    }
    return at;
}

void PERF_LEVEL_NAME(entries_run)(const struct path *path, const struct perf_group *group)
{
    const struct looks *looks = path->tcp->way_count == 64 ? &looks_64 : &looks_any;
    struct requests requests;
    uint64_t at = 0;
    requests.before = nothing_before;
    while (at < group->access_count) {
        requests.count = 0;
        at = entries_look(path, looks, group, at, &requests);
        PERF_LEVEL_NAME(l2_requests_serve)(path, &requests);
    }
}

/* A block whose lines the L2 looks up each by itself. */
static __attribute__((noinline)) void stream_other(const struct path *path, uint64_t va,
                                                   enum request_kind kind)
{
    struct requests one;
    one.before = nothing_before;
    one.items[0] = (struct request){.va = va, .bytes = UINT64_MAX, .kind = (uint8_t)kind};
    one.count = 1;
    PERF_LEVEL_NAME(l2_requests_serve)(path, &one);
}

CACHE_INLINE void stream_move(const struct path *path, uint32_t ways,
                              struct perf_line_access *access, const struct perf_line_access *end,
                              uint64_t step, struct stream_asked *asked)
{
    const struct cache_shape shape = cache_shape_of(path->tcp);
    struct stream_asked own = *asked;
    uint32_t way;
    for (; access < end; access++) {
        const uint64_t va = access->line_va + step, line = va >> shape.line_shift;
        own.crossed |= va ^ access->line_va;
        access->line_va = va;
        const uint64_t place = path->l2.mixes ? l2_place_mixed(va) : va;
        const uint32_t at = block_at(path, place);
        if (access->kind == ACCESS_WRITE) {
            struct l2_set *to = block_set(path, at);
            if (__builtin_expect(to != NULL, 1))
                block_write(path, to, at, place);
            else
                stream_other(path, va, REQUEST_WRITE_BLOCK);
            continue;
        }
        if (cache_set_reach(cache_united_known(&shape, line), ways, line + 1, &way, NULL))
            continue;
        struct l2_set *from = block_set(path, at);
        own.lacked++;
        if (__builtin_expect(from != NULL, 1)) {
            own.hits += block_read(path, from, place);
        } else {
            own.others++;
            stream_other(path, va, REQUEST_READ_BLOCK);
        }
    }
    *asked = own;
}

void PERF_LEVEL_NAME(stream_look)(const struct path *path, struct perf_line_access *access,
                                  const struct perf_line_access *end, uint64_t step,
                                  struct stream_asked *asked)
{
    if (path->tcp->way_count == 64)
        stream_move(path, 64, access, end, step, asked);
    else
        stream_move(path, path->tcp->way_count, access, end, step, asked);
}
