#include "perf/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* MI200: consecutive 256-byte blocks go to consecutive L2 channels. */
enum { CHANNEL_BLOCK_BYTES = 256 };
enum {
    SQC_BYTES = 16 * 1024,
    ICACHE_BYTES = 32 * 1024,
    SQC_LINE_BYTES = 64,
    SQC_WAYS = 4,
    UNITS_PER_SQC = 2
};
enum { PAGE_SHIFT = 21 }; /* translations cover 2 MiB, the fragment of a large allocation */

static struct cache *caches_create(uint32_t count, uint32_t size_bytes, uint32_t line_bytes,
                                   uint32_t ways)
{
    struct cache *caches = calloc(count, sizeof *caches);
    if (!caches)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (cache_create(&caches[i], size_bytes, line_bytes, ways) == 0)
            continue;
        while (i--)
            cache_destroy(&caches[i]);
        free(caches);
        return NULL;
    }
    return caches;
}

static void caches_destroy(struct cache *caches, uint32_t count)
{
    if (!caches)
        return;
    for (uint32_t i = 0; i < count; i++)
        cache_destroy(&caches[i]);
    free(caches);
}

static void caches_clear(struct cache *caches, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        cache_clear(&caches[i]);
}

static bool used_create(struct used_list *used, uint32_t count)
{
    used->list = calloc(count, sizeof *used->list);
    used->is_listed = calloc(count, sizeof *used->is_listed);
    return used->list && used->is_listed;
}

static void used_destroy(struct used_list *used)
{
    free(used->list);
    free(used->is_listed);
}

static inline void used_note(struct used_list *used, uint32_t at)
{
    if (used->is_listed[at])
        return;
    used->is_listed[at] = true;
    used->list[used->count++] = at;
}

static void used_forget(struct used_list *used)
{
    for (uint32_t i = 0; i < used->count; i++)
        used->is_listed[used->list[i]] = false;
    used->count = 0;
}

static uint32_t tcp_count(const struct memory_model *memory)
{
    return memory->model->xcc_count * memory->units;
}

static uint32_t tcc_count(const struct memory_model *memory)
{
    return memory->model->xcc_count * memory->model->tcc_channels;
}

int memory_create(struct memory_model *memory, const struct gpu_model *model)
{
    uint32_t channels = model->tcc_channels;
    *memory = (struct memory_model){.model = model,
                                    .units = model->se_count * model->sh_per_se * model->cu_per_sh};
    if (channels & (channels - 1))
        return -EINVAL;
    memory->channel_shift = (uint32_t)__builtin_ctz(channels);
    memory->tcp =
        caches_create(tcp_count(memory), model->tcp_bytes, model->tcp_line_bytes, model->tcp_ways);
    memory->sqc = caches_create(tcp_count(memory), SQC_BYTES, SQC_LINE_BYTES, SQC_WAYS);
    memory->icache = caches_create(tcp_count(memory), ICACHE_BYTES, SQC_LINE_BYTES, SQC_WAYS);
    memory->utcl1 = calloc(tcp_count(memory), sizeof *memory->utcl1);
    memory->tcc = caches_create(tcc_count(memory), model->tcc_bytes / model->tcc_channels,
                                model->tcc_line_bytes, model->tcc_ways);
    bool listed = used_create(&memory->units_used, tcp_count(memory)) &&
                  used_create(&memory->units_translated, tcp_count(memory)) &&
                  used_create(&memory->channels_dirty, tcc_count(memory));
    if (listed && memory->tcp && memory->sqc && memory->icache && memory->utcl1 && memory->tcc)
        return 0;
    memory_destroy(memory);
    return -ENOMEM;
}

void memory_destroy(struct memory_model *memory)
{
    caches_destroy(memory->tcp, tcp_count(memory));
    caches_destroy(memory->sqc, tcp_count(memory));
    caches_destroy(memory->icache, tcp_count(memory));
    caches_destroy(memory->tcc, tcc_count(memory));
    free(memory->utcl1);
    used_destroy(&memory->units_used);
    used_destroy(&memory->units_translated);
    used_destroy(&memory->channels_dirty);
    *memory = (struct memory_model){0};
}

/* The scalar and the instruction cache that a unit shares with its neighbour. */
static uint32_t pair_of(const struct memory_model *memory, uint32_t at)
{
    return at - at % memory->units % UNITS_PER_SQC;
}

void memory_acquire(struct memory_model *memory)
{
    for (uint32_t i = 0; i < memory->units_used.count; i++) {
        uint32_t at = memory->units_used.list[i], pair = pair_of(memory, at);
        cache_clear(&memory->tcp[at]);
        cache_clear(&memory->sqc[pair]);
        cache_clear(&memory->icache[pair]);
    }
    used_forget(&memory->units_used);
}

void memory_clear(struct memory_model *memory)
{
    memory_acquire(memory);
    for (uint32_t i = 0; i < memory->units_translated.count; i++)
        memory->utcl1[memory->units_translated.list[i]] = (struct translations){0};
    used_forget(&memory->units_translated);
    caches_clear(memory->tcc, tcc_count(memory));
    used_forget(&memory->channels_dirty);
}

/* An L2 channel's own totals, and shorthands for counting in them. */
#define CHANNEL(name) (SRC_##name - SRC_CHANNEL_FIRST)

/* A channel's counts, and what the dispatch has asked of it. */
struct channel {
    uint64_t *totals;
    struct channel_work *work;
};

/* One dirty sector goes to memory: half a sector when only one half was written. */
static void sector_write_back(uint64_t dirty_bytes, const struct channel *channel)
{
    bool whole = (uint32_t)dirty_bytes && dirty_bytes >> 32;
    if (!dirty_bytes)
        return;
    channel->totals[whole ? CHANNEL(EA_WRITE_64) : CHANNEL(EA_WRITE_32)]++;
    channel->work->writes++;
}

static bool line_write_back(struct cache_line *line, const struct channel *channel)
{
    if (!line->dirty_bytes[0] && !line->dirty_bytes[1])
        return false;
    for (int i = 0; i < CACHE_SECTORS; i++) {
        sector_write_back(line->dirty_bytes[i], channel);
        line->dirty_bytes[i] = 0;
    }
    return true;
}

static uint64_t set_write_back(struct cache_line *lines, uint32_t ways,
                               const struct channel *channel)
{
    uint64_t written = 0;
    for (uint32_t way = 0; lines && way < ways; way++)
        written += line_write_back(&lines[way], channel);
    return written;
}

static void channel_release(struct cache *tcc, const struct channel *channel)
{
    for (uint32_t set = 0; set < tcc->set_count; set++)
        channel->totals[CHANNEL(TCC_RELEASE)] +=
            set_write_back(cache_set_lines(tcc, set), tcc->way_count, channel);
}

void memory_release(struct memory_model *memory, uint64_t (*channel)[SRC_CHANNEL_COUNT],
                    struct channel_work *work)
{
    for (uint32_t i = 0; i < memory->channels_dirty.count; i++) {
        uint32_t at = memory->channels_dirty.list[i];
        channel_release(&memory->tcc[at], &(struct channel){channel[at], &work[at]});
    }
    used_forget(&memory->channels_dirty);
}

/* A line left the L2 for another one. */
static void victim_leave(struct cache_line *victim, const struct channel *channel)
{
    if (!victim->number)
        return;
    channel->totals[CHANNEL(TCC_EVICT)]++;
    if (line_write_back(victim, channel))
        channel->totals[CHANNEL(TCC_EVICT_DIRTY)]++;
}

enum tcc_request { TCC_REQUEST_READ, TCC_REQUEST_WRITE, TCC_REQUEST_ATOMIC };

/* Where a request comes from, and where its counts go. */
struct client {
    struct memory_model *memory;
    uint32_t xcc;
    bool scalar;
    const struct memory_totals *totals;
};

/* Sectors that a request wants and the line does not hold come from memory in one transaction. */
static void sectors_fetch(struct cache_line *line, uint32_t wanted, const struct channel *channel)
{
    uint32_t missing = wanted & ~(uint32_t)line->sectors;
    line->sectors |= (uint8_t)wanted;
    if (!missing)
        return;
    channel->totals[missing == 3 ? CHANNEL(EA_READ_128) : CHANNEL(EA_READ_64)]++;
    channel->work->reads++;
}

/* A request for `wanted` 64-byte sectors of a line; the bytes are those of the sector at `va`.
 * Reads and atomics fetch what is not valid; writes only mark the bytes they bring. A request
 * hits when all its sectors are valid, or, for writes, when the line is there. */
static bool tcc_access(const struct client *client, uint64_t va, enum tcc_request request,
                       uint32_t wanted, uint64_t bytes)
{
    static const uint8_t counts[] = {CHANNEL(TCC_READ), CHANNEL(TCC_WRITE), CHANNEL(TCC_ATOMIC)};
    struct memory_model *memory = client->memory;
    uint32_t channels = memory->model->tcc_channels;
    uint64_t block = va / CHANNEL_BLOCK_BYTES, channel = block & (channels - 1);
    uint64_t local =
        (block >> memory->channel_shift) * CHANNEL_BLOCK_BYTES + va % CHANNEL_BLOCK_BYTES;
    uint32_t at = client->xcc * channels + (uint32_t)channel;
    struct cache *tcc = &memory->tcc[at];
    const struct channel own = {client->totals->channel[channel], &client->totals->work[channel]};
    uint64_t *totals = own.totals;
    uint32_t sector = cache_sector(tcc, local);
    bool write = request == TCC_REQUEST_WRITE;

    struct cache_line *line, victim;
    bool there = cache_reach(tcc, local, &line, &victim);
    bool hit = there && (write || (line->sectors & wanted) == wanted);
    totals[counts[request]]++;
    totals[client->scalar ? CHANNEL(TCC_SCALAR) : CHANNEL(TCC_VECTOR)]++;
    totals[hit ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)]++;
    if (!there)
        victim_leave(&victim, &own);
    if (!write)
        sectors_fetch(line, wanted, &own);
    if (request != TCC_REQUEST_READ) {
        line->dirty_bytes[sector] |= bytes;
        used_note(&memory->channels_dirty, at);
    }
    if (line->dirty_bytes[sector] == UINT64_MAX) /* fully written: nothing left to fetch */
        line->sectors |= (uint8_t)(1u << sector);
    return hit;
}

/* The sectors of its line that a first-level cache fetches: all of it. In a cache of 64-byte lines
 * that is the half of an L2 line where it lies. */
static uint32_t sectors_wanted(const struct memory_model *memory, const struct cache *cache,
                               uint64_t va)
{
    if (cache->line_bytes == CACHE_SECTORS * CACHE_SECTOR_BYTES)
        return 3;
    return 1u << cache_sector(&memory->tcc[0], va);
}

/* Reads through a first-level cache; true when it must go on to L2. */
static bool first_level_miss(struct cache *cache, uint64_t va)
{
    struct cache_line *line;
    return !cache_reach(cache, va, &line, NULL);
}

static bool read_l2(const struct client *client, const struct cache *from, uint64_t va)
{
    return tcc_access(client, va, TCC_REQUEST_READ, sectors_wanted(client->memory, from, va), 0);
}

static void vector_read(const struct client *client, struct cache *tcp,
                        const struct perf_line_access *access, uint64_t *cu)
{
    if (access->flags & ACCESS_GLC) /* coherent: never served from L1 */
        cache_remove(tcp, access->line_va);
    if (!first_level_miss(tcp, access->line_va))
        return;
    uint64_t cycles = read_l2(client, tcp, access->line_va) ? L2_HIT_CYCLES : L2_MISS_CYCLES;
    cu[SRC_TCP_READ_MISS]++;
    cu[SRC_TCP_READ_LATENCY] += cycles;
}

static void vector_write(const struct client *client, const struct perf_line_access *access,
                         uint64_t *cu)
{
    uint64_t bytes = (uint64_t)access->bytes_mask_hi << 32 | access->bytes_mask_lo;
    cu[SRC_TCP_WRITE]++; /* the L1 writes through and allocates nothing */
    cu[SRC_TCP_WRITE_LATENCY] += L2_WRITE_CYCLES;
    tcc_access(client, access->line_va, TCC_REQUEST_WRITE, 0, bytes);
}

static void vector_atomic(const struct client *client, struct cache *tcp,
                          const struct perf_line_access *access, uint64_t *cu)
{
    uint64_t bytes = (uint64_t)access->bytes_mask_hi << 32 | access->bytes_mask_lo;
    bool returns = access->flags & ACCESS_GLC; /* done in L2; GLC asks for the old value */
    uint32_t sector = 1u << cache_sector(&client->memory->tcc[0], access->line_va);
    cache_remove(tcp, access->line_va);
    bool hit = tcc_access(client, access->line_va, TCC_REQUEST_ATOMIC, sector, bytes);
    uint64_t cycles = (hit ? L2_HIT_CYCLES : L2_MISS_CYCLES) + access->conflicts;
    cu[returns ? SRC_TCP_ATOMIC_RET : SRC_TCP_ATOMIC_NORET]++;
    cu[returns ? SRC_TCP_READ_LATENCY : SRC_TCP_WRITE_LATENCY] += cycles;
}

/* Scalar data and instructions: a cache that two compute units share. What a miss takes. */
static uint64_t shared_read(const struct client *client, struct cache *cache, uint64_t va,
                            uint64_t *hit, uint64_t *miss)
{
    if (!first_level_miss(cache, va)) {
        *hit += 1;
        return 0;
    }
    *miss += 1;
    return read_l2(client, cache, va) ? L2_HIT_CYCLES : L2_MISS_CYCLES;
}

bool translation_miss(struct translations *utcl1, uint64_t va)
{
    uint64_t page = (va >> PAGE_SHIFT) + 1;
    uint32_t at = 0;
    if (utcl1->pages[0] == page)
        return false;
    while (at < TRANSLATIONS - 1 && utcl1->pages[at] != page)
        at++;
    bool missed = utcl1->pages[at] != page;
    for (; at > 0; at--)
        utcl1->pages[at] = utcl1->pages[at - 1];
    utcl1->pages[0] = page;
    return missed;
}

/* What the address unit did for a line of a vector instruction. */
static void address_count(struct translations *utcl1, const struct perf_line_access *access,
                          uint64_t *cu)
{
    static const uint8_t lanes[] = {SRC_TCP_READ_LANES, SRC_TCP_WRITE_LANES};
    bool coalesced = access->flags & ACCESS_COALESCED, write = access->kind == ACCESS_WRITE;
    uint32_t to =
        access->kind == ACCESS_ATOMIC
            ? (access->flags & ACCESS_GLC ? SRC_TCP_ATOMIC_RET_LANES : SRC_TCP_ATOMIC_NORET_LANES)
            : lanes[write];
    cu[to] += access->lanes;
    if (access->flags & ACCESS_NOWHERE)
        return;
    cu[SRC_TCP_TAGS] += access->tags;
    bool missed = translation_miss(utcl1, access->line_va);
    cu[SRC_UTCL1_MISS] += missed;
    if (access->tags > missed)
        cu[SRC_UTCL1_HIT] += access->tags - (uint64_t)missed;
    cu[SRC_TA_COALESCED] += coalesced && (access->flags & ACCESS_FIRST);
    if (!(access->flags & ACCESS_BUFFER))
        return;
    cu[SRC_TCP_BUFFER_TAGS] += access->tags;
    if (coalesced && access->kind != ACCESS_ATOMIC)
        cu[write ? SRC_TCP_BUFFER_WRITE_COALESCED : SRC_TCP_BUFFER_READ_COALESCED] += access->tags;
}

/* A line through the caches of its unit, which these are. */
struct first_level {
    struct cache *tcp, *sqc, *icache;
    struct translations *utcl1;
};

static void line_access(const struct client *client, const struct first_level *caches,
                        const struct perf_line_access *access, uint64_t *cu)
{
    uint64_t first_touch_hits = 0;
    if (access->kind <= ACCESS_ATOMIC) {
        address_count(caches->utcl1, access, cu);
        if (access->flags & ACCESS_NOWHERE)
            return;
    }
    switch ((enum perf_access_kind)access->kind) {
    case ACCESS_READ:
        vector_read(client, caches->tcp, access, cu);
        break;
    case ACCESS_WRITE:
        vector_write(client, access, cu);
        break;
    case ACCESS_ATOMIC:
        vector_atomic(client, caches->tcp, access, cu);
        break;
    case ACCESS_SCALAR_READ:
        cu[SRC_SQC_LATENCY] += SCALAR_HIT_CYCLES;
        cu[SRC_SQC_LATENCY] +=
            shared_read(client, caches->sqc, access->line_va, &cu[SRC_SQC_HIT], &cu[SRC_SQC_MISS]);
        break;
    case ACCESS_FETCH: /* fetches that miss nothing are hits: perf.c counts those */
        cu[SRC_IFETCH_LATENCY] += shared_read(client, caches->icache, access->line_va,
                                              &first_touch_hits, &cu[SRC_ICACHE_MISS]);
        break;
    case ACCESS_INVALIDATE:
        cache_clear(caches->tcp);
        break;
    }
}

void memory_group(struct memory_model *memory, const struct perf_group *group, uint32_t unit,
                  const struct memory_totals *totals)
{
    uint32_t at = group->xcc * memory->units + unit, pair = pair_of(memory, at);
    const struct client vector = {memory, group->xcc, false, totals};
    const struct client scalar = {memory, group->xcc, true, totals};
    const struct first_level caches = {&memory->tcp[at], &memory->sqc[pair], &memory->icache[pair],
                                       &memory->utcl1[at]};
    bool all = group->wants & PERF_WANT_MEMORY;
    if (!(group->wants & PERF_WANT_L2) || !group->accesses)
        return;
    used_note(&memory->units_used, at);
    used_note(&memory->units_translated, at);
    for (uint64_t i = 0; i < group->access_count; i++) {
        const struct perf_line_access *access = &group->accesses[i];
        if (all || !(access->flags & ACCESS_SAMPLED)) /* not for time alone */
            line_access(access->kind >= ACCESS_SCALAR_READ ? &scalar : &vector, &caches, access,
                        totals->cu);
    }
}
