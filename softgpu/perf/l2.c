/*
 * The L2: what first-level caches ask of it, and what it asks of memory. Compiled for each level of
 * the host.
 */
#include "perf/l2_blocks.h"

/* All channels of an L2 are one cache: the bits of an address that choose the channel stand below
 * those that choose its sets. */
static inline struct channel channel_of(const struct path *path, uint64_t va)
{
    uint64_t channel = va / CACHE_BLOCK_BYTES & (path->memory->model->tcc_channels - 1);
    return (struct channel){path->totals->channel[channel], &path->totals->work[channel]};
}

/* `lines` lines like this one have left the L2 for others. */
static __attribute__((noinline)) void lines_leave(const struct path *path, uint32_t set,
                                                  uint32_t way, uint32_t lines,
                                                  const struct channel *channel)
{
    channel->totals[CHANNEL(TCC_EVICT)] += lines;
    if (!(path->tcc->sets[set].states[way] / L2_DIRTY & L2_SECTORS_ALL))
        return;
    l2_line_write_back(path->tcc, set, way, lines, channel);
    channel->totals[CHANNEL(TCC_EVICT_DIRTY)] += lines;
}

/* A line of that memory is the youngest from now on; its way. *there: it was before. */
static uint32_t line_reach(const struct path *path, uint64_t va, const struct channel *channel,
                           bool *there)
{
    struct l2_set *set = l2_single(path->tcc, va);
    const uint8_t memory = (uint8_t)(va >> L2_MEMORY_SHIFT);
    const uint32_t number = l2_number(path->tcc, va);
    uint32_t way = l2_find(set, number, memory);
    *there = way != L2_NOWHERE;
    if (*there) {
        l2_use(set, way);
        return way;
    }
    way = l2_use_oldest(set);
    if (set->numbers[way])
        lines_leave(path, l2_set_at(path->tcc, va), way, 1, channel);
    set->numbers[way] = number;
    set->memory[way] = memory;
    set->states[way] = 0;
    return way;
}

/* Sectors that a request wants and the line does not hold come from memory in one transaction. */
static void sectors_fetch(uint8_t *state, uint32_t wanted, const struct channel *channel,
                          enum memory_home home)
{
    uint32_t missing = wanted & ~(uint32_t)*state;
    if (!missing)
        return;
    *state |= (uint8_t)wanted;
    channel->totals[missing == L2_SECTORS_ALL ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)]++;
    reads_note(channel, home, 1);
}

/* These bytes of a sector are written. Where all are, nothing is left to be fetched. */
CACHE_INLINE void sector_write(uint8_t *state, uint64_t *dirty_bytes, uint32_t sector,
                               uint64_t bytes)
{
    const uint32_t full = (uint32_t)(L2_VALID | L2_DIRTY | L2_FULL) << sector;
    if (*state & L2_FULL << sector)
        return;
    if (bytes != UINT64_MAX && *state & L2_DIRTY << sector)
        bytes |= *dirty_bytes;
    if (bytes == UINT64_MAX) {
        *state |= (uint8_t)full;
    } else if (bytes) {
        *dirty_bytes = bytes;
        *state |= (uint8_t)(L2_DIRTY << sector);
    }
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
    totals[types[type]] += count;
}

/* What the L2 takes a request's memory for. */
static inline enum memory_type type_of(const struct path *path, uint64_t va, enum request_kind kind)
{
    if (kind == REQUEST_SCALAR && !path->memory->model->scalar_types)
        return MEMORY_NC;
    return vm_place_type(va);
}

/* Reads and atomics fetch the sectors that are not valid: the one at the address, or for
 * first-level caches of longer lines both; writes only mark the bytes they bring. A request hits
 * when all its sectors are valid, or, for writes, when the line is there. */
static bool l2_line_of(const struct path *path, const struct request *request,
                       enum request_kind kind, enum memory_type type, enum memory_home home)
{
    const struct channel channel = channel_of(path, request->va);
    uint64_t *totals = channel.totals;
    uint32_t sector = l2_sector(path->tcc, request->va);
    bool there, both = kind == REQUEST_READ && path->read_bytes > CACHE_SECTOR_BYTES;
    uint32_t wanted = both ? L2_SECTORS_ALL : 1u << sector;
    const uint32_t way = line_reach(path, request->va, &channel, &there);
    const uint32_t at = l2_set_at(path->tcc, request->va);
    uint8_t *state = &path->tcc->sets[at].states[way];
    bool hit = there && (kind == REQUEST_WRITE || (*state & wanted) == wanted);
    requests_count(totals, kind, 1, type);
    totals[hit ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)]++;
    if (kind != REQUEST_WRITE)
        sectors_fetch(state, wanted, &channel, home);
    if (!is_write(kind) && !is_atomic(kind))
        return hit;
    sector_write(state, &path->tcc->dirty_bytes[at][way][sector], sector, request->bytes);
    dirty_note(path, at);
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
static bool l2_line_other(const struct path *path, const struct request *request,
                          enum request_kind kind)
{
    uint64_t *cu = path->totals->cu;
    enum memory_home home = vm_place_home(request->va);
    enum memory_type type = type_of(path, request->va, kind);
    bool hit = false;
    if (!is_scalar(kind))
        typed_count(cu, type, kind);
    if (type == MEMORY_UC)
        l2_uncached(path, request, kind);
    else
        hit = l2_line_of(path, request, kind, type, home);
    if (!hit && !is_write(kind))
        *latency_of(cu, kind) += link_cycles(home);
    return hit;
}

static bool l2_line(const struct path *path, const struct request *request, enum request_kind kind)
{
    if (is_other(request->va))
        return l2_line_other(path, request, kind);
    return l2_line_of(path, request, kind, type_of(path, request->va, kind), HOME_OWN);
}

static inline uint32_t l2_cycles(bool hit)
{
    return hit ? L2_HIT_CYCLES : L2_MISS_CYCLES;
}

/* Reads and writes of vector L1s, which most requests are, are served in loops. */

/* A line that leaves in another way than most. */
void PERF_LEVEL_NAME(l2_line_leaves)(const struct path *path, struct l2_set *set, uint32_t way,
                                     uint32_t lines, uint64_t va)
{
    const struct channel channel = channel_of(path, va);
    lines_leave(path, (uint32_t)(set - path->tcc->sets), way, lines, &channel);
}

/* The single line that a loop has reached last, which is the youngest of its set. */
struct reached {
    uint64_t line;
    struct l2_set *set;
    uint32_t way;
};

/* True: the line was there. */
CACHE_INLINE bool single_reach(const struct path *path, uint64_t va, struct reached *last)
{
    const uint64_t line = va >> path->l2.line_shift;
    if (line == last->line)
        return true;
    struct l2_set *set = &path->l2.sets[(uint32_t)line & path->l2.set_mask];
    const uint32_t number = (uint32_t)(va >> path->l2.number_shift) + 1;
    if (__builtin_expect(set->mark != path->l2.generation, 0))
        l2_singles_begin(path->tcc, (uint32_t)(set - path->l2.sets));
    last->line = line;
    last->set = set;
    last->way = l2_find(set, number, 0);
    if (last->way != L2_NOWHERE) {
        l2_use(set, last->way);
        return true;
    }
    last->way = line_replace(path, set, va, number, false);
    set->states[last->way] = 0;
    return false;
}

/* A line's second half right behind its first one: one request. Published copies on an MI210 show
 * 93 of 100 such pairs, and no pairs of writes. */
CACHE_INLINE bool is_joined(const struct path *path, uint64_t va,
                            const struct request_before *before)
{
    return path->l2.joins && before->va + CACHE_SECTOR_BYTES == va && va & CACHE_SECTOR_BYTES;
}

/* Returns whether it hits. */
CACHE_INLINE bool single_read(const struct path *path, uint64_t va, struct reached *last,
                              struct request_before *before)
{
    single_reach(path, va, last);
    _Static_assert(L2_VALID << 1 == L2_VALID + 1, "the sector's bit");
    const uint32_t wanted =
        path->l2.reads | (((uint32_t)(va / CACHE_SECTOR_BYTES) & path->l2.sectors) + 1);
    uint8_t *state = &last->set->states[last->way];
    const uint32_t missing = wanted & ~(uint32_t)*state;
    *state |= (uint8_t)wanted;
    if (!is_joined(path, va, before))
        seen_of(path, va)[SEEN_READ + missing]++;
    else if (missing)
        seen_of(path, va)[before->hit ? SEEN_JOINED_ALONE : SEEN_JOINED_MISS]++;
    *before = (struct request_before){va, !missing};
    return !missing;
}

CACHE_INLINE void single_write(const struct path *path, uint64_t va, uint64_t bytes,
                               struct reached *last)
{
    const bool there = single_reach(path, va, last);
    const uint32_t sector = (uint32_t)(va / CACHE_SECTOR_BYTES) & path->l2.sectors;
    const uint32_t at = (uint32_t)(last->set - path->l2.sets);
    seen_of(path, va)[there ? SEEN_WRITE_HIT : SEEN_WRITE_MISS]++;
    uint8_t *state = &last->set->states[last->way];
    if (!is_dirty(*state))
        dirty_note(path, at);
    sector_write(state, &path->tcc->dirty_bytes[at][last->way][sector], sector, bytes);
}

/* From `at` on, as long as they are of this kind. Returns where it goes on. */
CACHE_INLINE const struct request *singles_serve(const struct path *path, const struct request *at,
                                                 const struct request *end, bool writes,
                                                 struct request_before *before)
{
    const struct request *const first = at;
    struct reached last = {.line = UINT64_MAX};
    struct request_before own = *before;
    uint64_t hits = 0;
    for (; at < end && at->kind == (writes ? REQUEST_WRITE : REQUEST_READ) && !is_other(at->va);
         at++) {
        if (writes)
            single_write(path, at->va, at->bytes, &last);
        else
            hits += single_read(path, at->va, &last, &own);
    }
    *before = writes ? nothing_before : own;
    if (!writes)
        path->totals->cu[SRC_TCP_READ_LATENCY] +=
            hits * L2_HIT_CYCLES + ((uint64_t)(at - first) - hits) * L2_MISS_CYCLES;
    return at;
}

static __attribute__((noinline)) const struct request *reads_serve(const struct path *path,
                                                                   const struct request *at,
                                                                   const struct request *end,
                                                                   struct request_before *before)
{
    return singles_serve(path, at, end, false, before);
}

static __attribute__((noinline)) const struct request *writes_serve(const struct path *path,
                                                                    const struct request *at,
                                                                    const struct request *end,
                                                                    struct request_before *before)
{
    return singles_serve(path, at, end, true, before);
}

static __attribute__((noinline)) void single_other(const struct path *path,
                                                   const struct request *request)
{
    const bool hit = l2_line_other(path, request, (enum request_kind)request->kind);
    if (request->kind == REQUEST_READ)
        path->totals->cu[SRC_TCP_READ_LATENCY] += l2_cycles(hit);
}

/* A block's lines, one after another. */
static __attribute__((noinline)) void block_serve(const struct path *path,
                                                  const struct request *request)
{
    const bool writes = request->kind == REQUEST_WRITE_BLOCK;
    const uint32_t step = writes ? LOG_LINE_BYTES : path->read_bytes;
    struct request lines[BLOCK_LINES];
    struct request_before before = nothing_before;
    uint32_t count = 0;
    for (uint32_t at = 0; at < CACHE_BLOCK_BYTES; at += step)
        lines[count++] = (struct request){.va = request->va + at,
                                          .bytes = UINT64_MAX,
                                          .kind = writes ? REQUEST_WRITE : REQUEST_READ};
    for (uint32_t i = 0; is_other(request->va) && i < count; i++)
        single_other(path, &lines[i]);
    if (is_other(request->va))
        return;
    if (writes)
        writes_serve(path, lines, lines + count, &before);
    else
        reads_serve(path, lines, lines + count, &before);
}

static __attribute__((noinline)) const struct request *
blocks_serve(const struct path *path, const struct request *at, const struct request *end)
{
    uint64_t hits = 0, misses = 0;
    for (; at < end && (at->kind | 1) == REQUEST_WRITE_BLOCK; at++) {
        const uint32_t number = block_at(path, at->va);
        struct l2_set *set = is_other(at->va) ? NULL : block_set(path, number);
        if (__builtin_expect(!set, 0)) {
            block_serve(path, at);
        } else if (at->kind == REQUEST_WRITE_BLOCK) {
            block_write(path, set, number, at->va);
        } else {
            const bool there = block_read(path, set, at->va);
            hits += there;
            misses += !there;
        }
    }
    path->totals->cu[SRC_TCP_READ_LATENCY] +=
        path->block_reads * (hits * L2_HIT_CYCLES + misses * L2_MISS_CYCLES);
    return at;
}

/* Another one. */
static __attribute__((noinline)) void request_serve(const struct path *path,
                                                    const struct request *request)
{
    const enum request_kind kind = (enum request_kind)request->kind;
    uint64_t *cu = path->totals->cu;
    uint64_t cycles = l2_cycles(l2_line(path, request, kind));
    if (kind == REQUEST_ATOMIC || kind == REQUEST_ATOMIC_RETURNS)
        cycles += request->conflicts;
    *latency_of(cu, kind) += cycles;
}

void PERF_LEVEL_NAME(l2_requests_serve)(const struct path *path, struct requests *requests)
{
    const struct request *at = requests->items, *const end = at + requests->count;
    for (uint32_t i = 0; path->l2.mixes && i < requests->count; i++)
        requests->items[i].va = l2_place_mixed(requests->items[i].va);
    while (at < end) {
        struct request_before before = nothing_before;
        if ((at->kind | 1) == REQUEST_WRITE_BLOCK)
            at = blocks_serve(path, at, end);
        else if (at->kind > REQUEST_WRITE)
            request_serve(path, at++);
        else if (is_other(at->va))
            single_other(path, at++);
        else if (at->kind == REQUEST_WRITE)
            at = writes_serve(path, at, end, &before);
        else {
            before = at == requests->items ? requests->before : before;
            at = reads_serve(path, at, end, &before);
        }
        if (at == end)
            requests->before = before;
    }
}

/* ---- the end of a dispatch ---- */

/* Dirty lines some of whose sectors are not full, or of memory elsewhere. */
static __attribute__((noinline)) void mixed_release(const struct l2_sets *l2, uint32_t at,
                                                    uint32_t ways, uint32_t lines,
                                                    const struct channel *channel)
{
    for (; ways; ways &= ways - 1)
        l2_line_write_back(l2, at, (uint32_t)__builtin_ctz(ways), lines, channel);
}

/* `lines` as many sets are like this one. */
CACHE_INLINE void set_release(struct l2_sets *l2, uint32_t at, uint32_t lines,
                              const struct channel *channel)
{
    struct l2_set *set = &l2->sets[at];
    const uint32_t first = l2_ways_with(set, L2_DIRTY), second = l2_ways_with(set, L2_DIRTY << 1);
    const uint32_t partial =
        (first ^ l2_ways_with(set, L2_FULL)) | (second ^ l2_ways_with(set, L2_FULL << 1));
    const uint32_t ways = first | second;
    channel->totals[CHANNEL(TCC_RELEASE)] += lines * (uint32_t)__builtin_popcount(ways);
    if (__builtin_expect(partial | (ways & l2_ways_elsewhere(set)), 0)) {
        mixed_release(l2, at, ways, lines, channel);
    } else {
        const uint32_t both = first | second << L2_WAYS;
        const uint32_t sectors = lines * (uint32_t)__builtin_popcount(both);
        channel->totals[CHANNEL(EA_WRITE_64)] += sectors;
        channel->work->writes += sectors;
    }
    l2_clean(set);
}

CACHE_INLINE void block_release(struct l2_sets *l2, uint32_t block, const struct channel *channel)
{
    const uint32_t first = block << l2->block_shift, lines = 1u << l2->block_shift;
    if (l2->sets[first].mark == l2->generation + 1)
        set_release(l2, first, lines, channel);
    else if (l2->sets[first].mark == l2->generation)
        for (uint32_t n = 0; n < lines; n++)
            set_release(l2, first + n, 1, channel);
}

void PERF_LEVEL_NAME(l2_release)(struct memory_model *memory,
                                 uint64_t (*channel)[SRC_CHANNEL_COUNT], struct channel_work *work)
{
    const uint32_t channels = memory->model->tcc_channels, blocks = memory->l2_blocks;
    const uint32_t shift = (uint32_t)__builtin_ctz(blocks);
    for (uint32_t i = 0; i < memory->blocks_dirty.count; i++) {
        const uint32_t listed = memory->blocks_dirty.list[i];
        const uint32_t xcc = listed >> shift, block = listed & (blocks - 1);
        const uint32_t at = xcc * channels + (block & (channels - 1));
        const struct channel own = {channel[at], &work[at]};
        block_release(&memory->tcc[xcc], block, &own);
    }
    used_forget(&memory->blocks_dirty);
}
