#include "perf/memory.h"
#include "perf/memory_inside.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SQC_BYTES = 16 * 1024, ICACHE_BYTES = 32 * 1024, SQC_LINE_BYTES = 64, SQC_WAYS = 4 };

static struct cache *caches_create(uint32_t count, uint32_t size_bytes, uint32_t line_bytes,
                                   uint32_t ways, bool has_state)
{
    struct cache *caches = calloc(count, sizeof *caches);
    if (!caches)
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        if (cache_create(&caches[i], size_bytes, line_bytes, ways, has_state) == 0)
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

int memory_create(struct memory_model *memory, const struct gpu_model *model)
{
    uint32_t channels = model->tcc_channels;
    *memory = (struct memory_model){.model = model,
                                    .units = model->se_count * model->sh_per_se * model->cu_per_sh};
    if (channels & (channels - 1))
        return -EINVAL;
    memory->tcp = caches_create(tcp_count(memory), model->tcp_bytes, model->tcp_line_bytes,
                                model->tcp_ways, false);
    memory->sqc = caches_create(tcp_count(memory), SQC_BYTES, SQC_LINE_BYTES, SQC_WAYS, false);
    memory->icache =
        caches_create(tcp_count(memory), ICACHE_BYTES, SQC_LINE_BYTES, SQC_WAYS, false);
    memory->utcl1 = calloc(tcp_count(memory), sizeof *memory->utcl1);
    memory->tcc = caches_create(model->xcc_count, model->tcc_bytes, model->tcc_line_bytes,
                                model->tcc_ways, true);
    memory->l2_blocks = model->tcc_bytes / model->tcc_ways / CACHE_BLOCK_BYTES;
    bool listed = used_create(&memory->units_used, tcp_count(memory)) &&
                  used_create(&memory->units_translated, tcp_count(memory)) &&
                  used_create(&memory->blocks_dirty, model->xcc_count * memory->l2_blocks);
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
    caches_destroy(memory->tcc, memory->model->xcc_count);
    free(memory->utcl1);
    used_destroy(&memory->units_used);
    used_destroy(&memory->units_translated);
    used_destroy(&memory->blocks_dirty);
    *memory = (struct memory_model){0};
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
    caches_clear(memory->tcc, memory->model->xcc_count);
    used_forget(&memory->blocks_dirty);
}

static void line_release(void *arg, struct cache_state *state, uint32_t lines)
{
    const struct channel *channel = arg;
    if (line_write_back(state, lines, channel))
        channel->totals[CHANNEL(TCC_RELEASE)] += lines;
    memset(state->dirty_bytes, 0, sizeof state->dirty_bytes);
}

void memory_release(struct memory_model *memory, uint64_t (*channel)[SRC_CHANNEL_COUNT],
                    struct channel_work *work)
{
    uint32_t channels = memory->model->tcc_channels;
    for (uint32_t i = 0; i < memory->blocks_dirty.count; i++) {
        uint32_t xcc = memory->blocks_dirty.list[i] / memory->l2_blocks;
        uint32_t block = memory->blocks_dirty.list[i] % memory->l2_blocks;
        uint32_t at = xcc * channels + block % channels;
        struct cache *tcc = &memory->tcc[xcc];
        struct channel own = {channel[at], &work[at]};
        for (uint32_t n = 0; n < 1u << tcc->block_shift; n++)
            cache_set_visit(tcc, (block << tcc->block_shift) + n, line_release, &own);
    }
    used_forget(&memory->blocks_dirty);
}
