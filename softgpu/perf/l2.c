/*
 * The L2: what first-level caches ask of it, and what it asks of memory.
 */
#include "perf/memory.h"
#include "perf/memory_inside.h"

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

/* `lines` lines like this one have left the L2 for others. */
CACHE_INLINE void lines_leave(const struct cache_state *state, uint32_t lines,
                              const struct channel *channel)
{
    channel->totals[CHANNEL(TCC_EVICT)] += lines;
    if (__builtin_expect(!(state->dirty_bytes[0] | state->dirty_bytes[1]), 1))
        return;
    line_write_back(state, lines, channel);
    channel->totals[CHANNEL(TCC_EVICT_DIRTY)] += lines;
}

/* Sectors that a request wants and the line does not hold come from memory in one transaction. */
CACHE_INLINE void sectors_fetch(struct cache_state *state, uint32_t wanted,
                                const struct channel *channel, enum memory_home home)
{
    uint32_t missing = wanted & ~(uint32_t)state->sectors;
    if (!missing)
        return;
    state->sectors |= (uint8_t)wanted;
    channel->totals[missing == 3 ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)]++;
    reads_note(channel, home, 1);
}

static inline bool is_scalar(enum request_kind kind)
{
    return kind == REQUEST_SCALAR || kind == REQUEST_FETCH;
}

static inline bool is_write(enum request_kind kind)
{
    return kind == REQUEST_WRITE || kind == REQUEST_WRITE_BLOCK;
}

static inline bool is_atomic(enum request_kind kind)
{
    return kind == REQUEST_ATOMIC || kind == REQUEST_ATOMIC_RETURNS;
}

CACHE_INLINE void requests_count(uint64_t *totals, enum request_kind kind, uint32_t count,
                                 enum memory_type type)
{
    static const uint8_t types[] = {[MEMORY_RW] = CHANNEL(TCC_RW),
                                    [MEMORY_NC] = CHANNEL(TCC_NC),
                                    [MEMORY_UC] = CHANNEL(TCC_UC),
                                    [MEMORY_CC] = CHANNEL(TCC_CC)};
    totals[is_write(kind)    ? CHANNEL(TCC_WRITE)
           : is_atomic(kind) ? CHANNEL(TCC_ATOMIC)
                             : CHANNEL(TCC_READ)] += count;
    totals[is_scalar(kind) ? CHANNEL(TCC_NC) : types[type]] += count;
}

/* Reads and atomics fetch the sectors that are not valid: the one at the address, or for
 * first-level caches of longer lines both; writes only mark the bytes they bring. A request hits
 * when all its sectors are valid, or, for writes, when the line is there. */
CACHE_INLINE bool l2_line_of(const struct path *path, const struct request *request, uint32_t ways,
                             enum request_kind kind, enum memory_type type, enum memory_home home)
{
    const struct channel channel = channel_of(path, request->va);
    uint64_t *totals = channel.totals;
    uint32_t sector = cache_sector(path->tcc, request->va), way;
    bool both = kind == REQUEST_READ && path->read_bytes > CACHE_SECTOR_BYTES;
    uint32_t wanted = both ? 3 : 1u << sector;
    uint64_t replaced;
    struct cache_set *set = cache_set(path->tcc, request->va);
    bool there = cache_set_reach(set, ways, cache_number(path->tcc, request->va), &way, &replaced);
    struct cache_state *state = &cache_states_of(set, ways)[way];
    bool hit = there && (kind == REQUEST_WRITE || (state->sectors & wanted) == wanted);
    requests_count(totals, kind, 1, type);
    totals[hit ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)]++;
    if (!there) {
        if (replaced)
            lines_leave(state, 1, &channel);
        *state = (struct cache_state){.home = (uint8_t)home};
    }
    if (kind != REQUEST_WRITE)
        sectors_fetch(state, wanted, &channel, home);
    if (!is_write(kind) && !is_atomic(kind))
        return hit;
    state->dirty_bytes[sector] |= request->bytes;
    dirty_note(path, request->va);
    if (state->dirty_bytes[sector] == UINT64_MAX) /* fully written: nothing left to fetch */
        state->sectors |= (uint8_t)(1u << sector);
    return hit;
}

/* Memory that the L2 does not hold: each request goes on. Atomics of memory elsewhere are done
 * there, in parts of 32 bytes, lanes at one address one after another. */
static void l2_uncached(const struct path *path, const struct request *request,
                        enum request_kind kind)
{
    const struct channel channel = channel_of(path, request->va);
    enum memory_home home = vm_place_home(request->va);
    uint64_t *totals = channel.totals;
    bool low = (uint32_t)request->bytes, high = request->bytes >> 32;
    requests_count(totals, kind, 1, MEMORY_UC);
    totals[CHANNEL(TCC_MISS)]++;
    if (is_atomic(kind) && home != HOME_OWN) {
        uint32_t count = (uint32_t)low + high + request->conflicts;
        totals[CHANNEL(EA_WRITE_32)] += count;
        totals[CHANNEL(EA_WRITE_UNCACHED)] += count;
        totals[CHANNEL(EA_ATOMIC)] += count;
        writes_note(&channel, home, count);
        channel.work->atomics += count;
        channel.work->atomic_link_cycles += (uint64_t)link_cycles(home) * count;
        return;
    }
    if (!is_write(kind)) {
        bool both = kind == REQUEST_READ && path->read_bytes > CACHE_SECTOR_BYTES;
        totals[both ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)]++;
        totals[CHANNEL(EA_READ_UNCACHED)] += both ? 4 : 2;
        reads_note(&channel, home, 1);
    }
    if (is_write(kind) || is_atomic(kind)) {
        totals[low && high ? CHANNEL(EA_WRITE_64) : CHANNEL(EA_WRITE_32)]++;
        totals[CHANNEL(EA_WRITE_UNCACHED)]++;
        writes_note(&channel, home, 1);
    }
}

/* A vector L1's request of memory that is not RW. */
static void typed_count(uint64_t *cu, enum memory_type type, enum request_kind kind)
{
    static const uint8_t first[] = {[MEMORY_NC] = SRC_TCP_NC_READ,
                                    [MEMORY_UC] = SRC_TCP_UC_READ,
                                    [MEMORY_CC] = SRC_TCP_CC_READ};
    if (type != MEMORY_RW)
        cu[first[type] + (is_write(kind) ? 1 : is_atomic(kind) ? 2 : 0)]++;
}

/* What has waited for memory elsewhere. */
static uint64_t *latency_of(uint64_t *cu, enum request_kind kind)
{
    return kind == REQUEST_SCALAR   ? &cu[SRC_SQC_LATENCY]
           : kind == REQUEST_FETCH  ? &cu[SRC_IFETCH_LATENCY]
           : kind == REQUEST_ATOMIC ? &cu[SRC_TCP_WRITE_LATENCY]
                                    : &cu[SRC_TCP_READ_LATENCY];
}

/* A request of memory that is elsewhere, or is not RW. */
static __attribute__((noinline)) bool
l2_line_other(const struct path *path, const struct request *request, enum request_kind kind)
{
    uint64_t *cu = path->totals->cu;
    enum memory_home home = vm_place_home(request->va);
    enum memory_type type = is_scalar(kind) ? MEMORY_NC : vm_place_type(request->va);
    bool hit = false;
    if (!is_scalar(kind))
        typed_count(cu, type, kind);
    if (type == MEMORY_UC)
        l2_uncached(path, request, kind);
    else
        hit = l2_line_of(path, request, path->tcc->way_count, kind, type, home);
    if (!hit && !is_write(kind))
        *latency_of(cu, kind) += link_cycles(home);
    return hit;
}

static inline bool is_other(uint64_t va)
{
    return __builtin_expect(va >> VM_PLACE_TYPE_SHIFT, 0);
}

CACHE_INLINE bool l2_line(const struct path *path, const struct request *request, uint32_t ways,
                          enum request_kind kind)
{
    return is_other(request->va) ? l2_line_other(path, request, kind)
                                 : l2_line_of(path, request, ways, kind, MEMORY_RW, HOME_OWN);
}

static inline uint32_t l2_cycles(bool hit)
{
    return hit ? L2_HIT_CYCLES : L2_MISS_CYCLES;
}

/* A block's lines, one after another. */
static __attribute__((noinline)) void block_read(const struct path *path,
                                                 const struct request *request)
{
    const uint32_t ways = path->tcc->way_count;
    struct request each = *request;
    for (uint32_t n = 0; n < path->block_reads; n++, each.va += path->read_bytes)
        path->totals->cu[SRC_TCP_READ_LATENCY] +=
            l2_cycles(l2_line(path, &each, ways, REQUEST_READ));
}

static __attribute__((noinline)) void block_write(const struct path *path,
                                                  const struct request *request)
{
    struct request each = *request;
    for (uint32_t n = 0; n < BLOCK_LINES; n++, each.va += LOG_LINE_BYTES)
        l2_line(path, &each, path->tcc->way_count, REQUEST_WRITE);
}

/* Reads and writes of vector L1s, which most requests are, are served in a loop that knows: */
struct serving {
    const struct path *path;
    struct cache_shape shape;
    uint32_t lines, channels; /* of a block; mask */
    uint64_t latency;         /* of reads, so far */
};

CACHE_INLINE struct channel serving_channel(const struct serving *s, uint64_t va)
{
    const struct memory_totals *totals = s->path->totals;
    const uint64_t channel = va / CACHE_BLOCK_BYTES & s->channels;
    return (struct channel){totals->channel[channel], &totals->work[channel]};
}

/* The line is in a block of sets that is to be written back. */
CACHE_INLINE void serving_dirty(const struct serving *s, uint64_t line)
{
    const uint32_t set = (uint32_t)line & s->shape.set_mask;
    used_note(&s->path->memory->blocks_dirty, s->path->first_block + (set >> s->shape.block_shift));
}

/* Sectors that a read wants and the line does not hold come from memory in one transaction. */
CACHE_INLINE void single_read(struct serving *s, uint64_t va, const struct channel *channel,
                              struct cache_state *state)
{
    const uint32_t sector = cache_sector(s->path->tcc, va);
    const uint32_t wanted = s->path->read_bytes > CACHE_SECTOR_BYTES ? 3 : 1u << sector;
    const uint32_t missing = wanted & ~(uint32_t)state->sectors;
    uint64_t *totals = channel->totals;
    requests_count(totals, REQUEST_READ, 1, MEMORY_RW);
    s->latency += l2_cycles(!missing);
    if (!missing) {
        totals[CHANNEL(TCC_HIT)]++;
        return;
    }
    totals[CHANNEL(TCC_MISS)]++;
    totals[missing == 3 ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)]++;
    reads_note(channel, HOME_OWN, 1);
    state->sectors |= (uint8_t)wanted;
}

/* Hits where the line is. */
CACHE_INLINE void single_write(const struct serving *s, const struct request *request,
                               const struct channel *channel, struct cache_state *state, bool there)
{
    const uint32_t sector = cache_sector(s->path->tcc, request->va);
    requests_count(channel->totals, REQUEST_WRITE, 1, MEMORY_RW);
    channel->totals[there ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)]++;
    state->dirty_bytes[sector] |= request->bytes;
    if (state->dirty_bytes[sector] == UINT64_MAX) /* nothing left to fetch */
        state->sectors |= (uint8_t)(1u << sector);
    serving_dirty(s, request->va >> s->shape.line_shift);
}

/* What l2_line() does for the GPU's own memory. False: it has not been served. */
CACHE_INLINE bool single_serve(struct serving *s, const struct request *request, uint32_t ways,
                               bool writes)
{
    const uint64_t va = request->va, line = va >> s->shape.line_shift;
    const struct channel channel = serving_channel(s, va);
    uint64_t replaced;
    uint32_t way;
    if (is_other(va))
        return false;
    struct cache_set *set = cache_single_at(s->path->tcc, &s->shape, line);
    bool there = cache_set_reach(set, ways, line + 1, &way, &replaced);
    struct cache_state *state = &cache_states_of(set, ways)[way];
    if (!there) {
        if (replaced)
            lines_leave(state, 1, &channel);
        *state = (struct cache_state){.home = HOME_OWN};
    }
    if (writes)
        single_write(s, request, &channel, state, there);
    else
        single_read(s, va, &channel, state);
    return true;
}

/* Blocks whose sets of the L2 have seen nothing else: each of their lines has all of its sectors,
 * written or not, or is not there. */

CACHE_INLINE void united_read(struct serving *s, const struct channel *channel,
                              struct cache_state *state, bool there)
{
    const uint32_t count = s->path->block_reads;
    uint64_t *totals = channel->totals;
    requests_count(totals, REQUEST_READ_BLOCK, count, MEMORY_RW);
    s->latency += count * l2_cycles(there);
    if (there) {
        totals[CHANNEL(TCC_HIT)] += count;
        return;
    }
    *state = (struct cache_state){.sectors = s->lines < BLOCK_LINES ? 3 : 1};
    totals[CHANNEL(TCC_MISS)] += count;
    totals[count < BLOCK_LINES ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)] += count;
    reads_note(channel, HOME_OWN, count);
}

/* A line's second half finds what the first has made. */
CACHE_INLINE void united_write(const struct serving *s, const struct channel *channel,
                               struct cache_state *state, bool there)
{
    const uint32_t misses = there ? 0 : s->lines;
    uint64_t *totals = channel->totals;
    requests_count(totals, REQUEST_WRITE_BLOCK, BLOCK_LINES, MEMORY_RW);
    totals[CHANNEL(TCC_MISS)] += misses;
    totals[CHANNEL(TCC_HIT)] += BLOCK_LINES - misses;
    state->dirty_bytes[0] = UINT64_MAX;
    state->dirty_bytes[1] = s->lines < BLOCK_LINES ? UINT64_MAX : 0;
    state->sectors = s->lines < BLOCK_LINES ? 3 : 1;
    state->home = HOME_OWN;
}

/* False: it has not been served. */
CACHE_INLINE bool united_serve(struct serving *s, uint64_t va, uint32_t ways, bool writes)
{
    const uint64_t line = va >> s->shape.line_shift;
    const struct channel channel = serving_channel(s, va);
    uint64_t replaced;
    uint32_t way;
    struct cache_set *set = is_other(va) ? NULL : cache_united_at(s->path->tcc, &s->shape, line);
    if (__builtin_expect(!set, 0))
        return false;
    bool there = cache_set_reach(set, ways, line + 1, &way, &replaced);
    struct cache_state *state = &cache_states_of(set, ways)[way];
    if (!there && replaced)
        lines_leave(state, s->lines, &channel);
    if (!writes) {
        united_read(s, &channel, state, there);
        return true;
    }
    united_write(s, &channel, state, there);
    serving_dirty(s, line);
    return true;
}

static __attribute__((noinline)) void single_other(const struct path *path,
                                                   const struct request *request)
{
    const bool hit = l2_line_other(path, request, (enum request_kind)request->kind);
    if (request->kind == REQUEST_READ)
        path->totals->cu[SRC_TCP_READ_LATENCY] += l2_cycles(hit);
}

/* From number `i` on, up to the next request of another kind. Returns which that is. */
CACHE_INLINE uint32_t requests_serve(const struct path *path, const struct requests *requests,
                                     uint32_t i, uint32_t ways)
{
    struct serving s = {.path = path,
                        .shape = cache_shape_of(path->tcc),
                        .lines = 1u << path->tcc->block_shift,
                        .channels = path->memory->model->tcc_channels - 1};
    for (; i < requests->count; i++) {
        const struct request *request = &requests->items[i];
        if (request->kind == REQUEST_READ) {
            if (!single_serve(&s, request, ways, false))
                single_other(path, request);
        } else if (request->kind == REQUEST_WRITE) {
            if (!single_serve(&s, request, ways, true))
                single_other(path, request);
        } else if (request->kind == REQUEST_WRITE_BLOCK) {
            if (!united_serve(&s, request->va, ways, true))
                block_write(path, request);
        } else if (request->kind == REQUEST_READ_BLOCK) {
            if (!united_serve(&s, request->va, ways, false))
                block_read(path, request);
        } else {
            break;
        }
    }
    path->totals->cu[SRC_TCP_READ_LATENCY] += s.latency;
    return i;
}

/* Another one. */
static __attribute__((noinline)) void request_serve(const struct path *path,
                                                    const struct request *request)
{
    const enum request_kind kind = (enum request_kind)request->kind;
    uint64_t *cu = path->totals->cu;
    uint64_t cycles = l2_cycles(l2_line(path, request, path->tcc->way_count, kind));
    if (kind == REQUEST_ATOMIC || kind == REQUEST_ATOMIC_RETURNS)
        cycles += request->conflicts;
    *latency_of(cu, kind) += cycles;
}

CACHE_INLINE void requests_run(const struct path *path, const struct requests *requests,
                               uint32_t ways)
{
    for (uint32_t i = 0; i < requests->count;) {
        i = requests_serve(path, requests, i, ways);
        if (i < requests->count)
            request_serve(path, &requests->items[i++]);
    }
}

/* All GPUs' L2s have sixteen ways. */
void l2_requests_serve(const struct path *path, const struct requests *requests)
{
    enum { WAYS = 16 };
    if (path->tcc->way_count == WAYS)
        requests_run(path, requests, WAYS);
    else
        requests_run(path, requests, path->tcc->way_count);
}
