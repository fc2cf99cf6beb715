#include "perf/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* MI200: consecutive 256-byte blocks go to consecutive L2 channels. */
enum { CHANNEL_BLOCK_BYTES = 256 };
enum { SQC_BYTES = 16 * 1024, SQC_LINE_BYTES = 64, SQC_WAYS = 4, UNITS_PER_SQC = 2 };
enum { ACCESS_GLC = 1 };

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
    memory->tcc = caches_create(tcc_count(memory), model->tcc_bytes / model->tcc_channels,
                                model->tcc_line_bytes, model->tcc_ways);
    if (memory->tcp && memory->sqc && memory->tcc)
        return 0;
    memory_destroy(memory);
    return -ENOMEM;
}

void memory_destroy(struct memory_model *memory)
{
    caches_destroy(memory->tcp, tcp_count(memory));
    caches_destroy(memory->sqc, tcp_count(memory));
    caches_destroy(memory->tcc, tcc_count(memory));
    memory->tcp = memory->sqc = memory->tcc = NULL;
}

void memory_acquire(struct memory_model *memory)
{
    caches_clear(memory->tcp, tcp_count(memory));
    caches_clear(memory->sqc, tcp_count(memory));
}

void memory_clear(struct memory_model *memory)
{
    memory_acquire(memory);
    caches_clear(memory->tcc, tcc_count(memory));
}

/* An L2 channel's own totals, and shorthands for counting in them. */
#define CHANNEL(name) (SRC_##name - SRC_CHANNEL_FIRST)

/* One dirty sector goes to memory: half a sector when only one half was written. */
static void sector_write_back(uint64_t dirty_bytes, uint64_t *totals)
{
    if (!dirty_bytes)
        return;
    if ((uint32_t)dirty_bytes && dirty_bytes >> 32)
        totals[CHANNEL(EA_WRITE_64)]++;
    else
        totals[CHANNEL(EA_WRITE_32)]++;
}

static bool line_write_back(struct cache_line *line, uint64_t *totals)
{
    if (!line->dirty_bytes[0] && !line->dirty_bytes[1])
        return false;
    for (int i = 0; i < CACHE_SECTORS; i++) {
        sector_write_back(line->dirty_bytes[i], totals);
        line->dirty_bytes[i] = 0;
    }
    totals[CHANNEL(TCC_WRITEBACK)]++;
    return true;
}

void memory_release(struct memory_model *memory, uint32_t xcc,
                    uint64_t (*channel)[SRC_CHANNEL_COUNT])
{
    uint32_t channels = memory->model->tcc_channels;
    for (uint32_t i = 0; i < channels; i++) {
        struct cache *tcc = &memory->tcc[xcc * channels + i];
        uint32_t lines = tcc->set_count * tcc->way_count;
        for (uint32_t line = 0; line < lines; line++)
            line_write_back(&tcc->lines[line], channel[i]);
    }
}

static struct cache_line *tcc_line(struct cache *tcc, uint64_t address, uint64_t *totals)
{
    struct cache_line victim, *line = cache_insert(tcc, address, &victim);
    if (!victim.number)
        return line;
    totals[CHANNEL(TCC_EVICT)]++;
    if (line_write_back(&victim, totals))
        totals[CHANNEL(TCC_EVICT_DIRTY)]++;
    return line;
}

enum tcc_request { TCC_REQUEST_READ, TCC_REQUEST_WRITE, TCC_REQUEST_ATOMIC };

/* A request for one 64-byte sector. Reads and atomics fetch the sector when it is not valid;
 * writes only mark the bytes they bring. A line is counted as hit when the sector is valid, or,
 * for writes, when the line is there. */
static void tcc_access(struct memory_model *memory, uint32_t xcc, uint64_t va,
                       enum tcc_request request, uint64_t bytes,
                       uint64_t (*channel_totals)[SRC_CHANNEL_COUNT])
{
    static const uint8_t counts[] = {CHANNEL(TCC_READ), CHANNEL(TCC_WRITE), CHANNEL(TCC_ATOMIC)};
    uint32_t channels = memory->model->tcc_channels;
    uint64_t block = va / CHANNEL_BLOCK_BYTES, channel = block & (channels - 1);
    uint64_t local =
        (block >> memory->channel_shift) * CHANNEL_BLOCK_BYTES + va % CHANNEL_BLOCK_BYTES;
    struct cache *tcc = &memory->tcc[xcc * channels + channel];
    uint64_t *totals = channel_totals[channel];
    uint32_t sector = cache_sector(tcc, local);
    bool write = request == TCC_REQUEST_WRITE;

    struct cache_line *line = cache_find(tcc, local);
    bool hit = line && (write || line->sectors >> sector & 1);
    totals[counts[request]]++;
    totals[hit ? CHANNEL(TCC_HIT) : CHANNEL(TCC_MISS)]++;
    if (!line)
        line = tcc_line(tcc, local, totals);
    if (!hit && !write)
        totals[CHANNEL(EA_READ)]++;
    if (!write)
        line->sectors |= (uint8_t)(1u << sector);
    if (request != TCC_REQUEST_READ)
        line->dirty_bytes[sector] |= bytes;
    if (line->dirty_bytes[sector] == UINT64_MAX) /* fully written: nothing left to fetch */
        line->sectors |= (uint8_t)(1u << sector);
}

/* Reads through a first-level cache; true when it must go on to L2. */
static bool first_level_read(struct cache *cache, uint64_t va)
{
    struct cache_line victim, *line = cache_find(cache, va);
    uint8_t sector = (uint8_t)(1u << cache_sector(cache, va));
    if (line && (line->sectors & sector))
        return false;
    if (!line)
        line = cache_insert(cache, va, &victim);
    line->sectors |= sector;
    return true;
}

static void vector_read(struct memory_model *memory, uint32_t xcc, struct cache *tcp,
                        const struct perf_line_access *access, const struct memory_totals *totals)
{
    totals->cu[SRC_TCP_READ]++;
    if (access->flags & ACCESS_GLC) /* coherent: never served from L1 */
        cache_remove(tcp, access->line_va);
    if (!first_level_read(tcp, access->line_va))
        return;
    totals->cu[SRC_TCP_READ_MISS]++;
    tcc_access(memory, xcc, access->line_va, TCC_REQUEST_READ, 0, totals->channel);
}

static void scalar_read(struct memory_model *memory, uint32_t xcc, struct cache *sqc,
                        const struct perf_line_access *access, const struct memory_totals *totals)
{
    if (!first_level_read(sqc, access->line_va)) {
        totals->cu[SRC_SQC_HIT]++;
        return;
    }
    totals->cu[SRC_SQC_MISS]++;
    tcc_access(memory, xcc, access->line_va, TCC_REQUEST_READ, 0, totals->channel);
}

void memory_access(struct memory_model *memory, uint32_t xcc, uint32_t unit,
                   const struct perf_line_access *access, const struct memory_totals *totals)
{
    uint32_t at = xcc * memory->units + unit;
    struct cache *tcp = &memory->tcp[at], *sqc = &memory->sqc[at - unit % UNITS_PER_SQC];
    uint64_t bytes = (uint64_t)access->bytes_mask_hi << 32 | access->bytes_mask_lo;

    switch ((enum perf_access_kind)access->kind) {
    case ACCESS_READ:
        vector_read(memory, xcc, tcp, access, totals);
        break;
    case ACCESS_WRITE: /* the L1 writes through and allocates nothing */
        totals->cu[SRC_TCP_WRITE]++;
        tcc_access(memory, xcc, access->line_va, TCC_REQUEST_WRITE, bytes, totals->channel);
        break;
    case ACCESS_ATOMIC: /* done in L2; GLC asks for the old value */
        totals->cu[SRC_TCP_ATOMIC]++;
        totals->cu[access->flags & ACCESS_GLC ? SRC_TCP_ATOMIC_RET : SRC_TCP_ATOMIC_NORET]++;
        cache_remove(tcp, access->line_va);
        tcc_access(memory, xcc, access->line_va, TCC_REQUEST_ATOMIC, bytes, totals->channel);
        break;
    case ACCESS_SCALAR_READ:
        scalar_read(memory, xcc, sqc, access, totals);
        break;
    }
}
