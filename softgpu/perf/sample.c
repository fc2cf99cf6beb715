#include "perf/sample.h"

#include <stdlib.h>
#include <string.h>

#include "perf/memory.h"
#include "perf/sample_look.h"

static uint32_t channels_of(const struct gpu_model *model)
{
    return model->xcc_count * model->tcc_channels;
}

static bool cache_allocate(struct sampled_cache *cache, uint32_t size_bytes)
{
    cache->sets = size_bytes / SAMPLE_BLOCK_BYTES / BLOCK_WAYS;
    cache->blocks = calloc((size_t)cache->sets * BLOCK_WAYS, sizeof cache->blocks[0]);
    cache->generations = calloc(cache->sets, sizeof cache->generations[0]);
    cache->filled = calloc(cache->sets, sizeof cache->filled[0]);
    cache->used = calloc(cache->sets, sizeof cache->used[0]);
    return cache->blocks && cache->generations && cache->filled && cache->used;
}

static void cache_free(struct sampled_cache *cache)
{
    free(cache->blocks);
    free(cache->generations);
    free(cache->filled);
    free(cache->used);
}

static bool caches_allocate(struct dispatch_sample *sample)
{
    for (uint32_t i = 0; i < sample->model->xcc_count; i++)
        if (!cache_allocate(&sample->l2[i], sample->model->tcc_bytes))
            return false;
    if (!sample->model->side_bytes)
        return true;
    sample->side = calloc(1, sizeof *sample->side);
    return sample->side && cache_allocate(sample->side, sample->model->side_bytes);
}

static bool l1_allocate(struct dispatch_sample *sample)
{
    const struct gpu_model *model = sample->model;
    for (uint32_t i = 0; i < sample->slots; i++)
        if (cache_create(&sample->l1[i], model->tcp_bytes, model->tcp_line_bytes, model->tcp_ways) <
            0)
            return false;
    return true;
}

struct dispatch_sample *dispatch_sample_create(const struct gpu_model *model, bool all)
{
    struct dispatch_sample *sample = calloc(1, sizeof *sample);
    if (!sample)
        return NULL;
    sample->model = model;
    sample->look = sample_look_of_host();
    sample->is_used = true; /* not ready to be used */
    sample->units = model->se_count * model->sh_per_se * model->cu_per_sh;
    sample->slots = all ? model->xcc_count * sample->units : SAMPLE_UNITS;
    sample->l2 = calloc(model->xcc_count, sizeof sample->l2[0]);
    sample->l1 = calloc(sample->slots, sizeof sample->l1[0]);
    sample->translations = calloc(sample->slots, sizeof sample->translations[0]);
    sample->touches = calloc(channels_of(model), sizeof sample->touches[0]);
    sample->placed = sample->touches; /* unless blocks lie elsewhere in memory */
    if (model->tcc_mixes)
        sample->placed = calloc(channels_of(model), sizeof sample->placed[0]);
    sample->asked = calloc(channels_of(model), sizeof sample->asked[0]);
    if (sample->l2 && sample->l1 && sample->translations && sample->touches && sample->placed &&
        sample->asked && caches_allocate(sample) && l1_allocate(sample))
        return sample;
    dispatch_sample_destroy(sample);
    return NULL;
}

void dispatch_sample_destroy(struct dispatch_sample *sample)
{
    if (!sample)
        return;
    for (uint32_t i = 0; sample->l2 && i < sample->model->xcc_count; i++)
        cache_free(&sample->l2[i]);
    if (sample->side)
        cache_free(sample->side);
    free(sample->side);
    for (uint32_t i = 0; sample->l1 && i < sample->slots; i++)
        cache_destroy(&sample->l1[i]);
    free(sample->l2);
    free(sample->l1);
    free(sample->translations);
    if (sample->placed != sample->touches)
        free(sample->placed);
    free(sample->touches);
    free(sample->asked);
    free(sample);
}

static void clear(struct dispatch_sample *sample)
{
    for (uint32_t i = 0; i < sample->slots; i++)
        cache_clear(&sample->l1[i]);
    memset(sample->translations, 0, sample->slots * sizeof sample->translations[0]);
    memset(sample->touches, 0, channels_of(sample->model) * sizeof sample->touches[0]);
    memset(sample->placed, 0, channels_of(sample->model) * sizeof sample->placed[0]);
    memset(sample->asked, 0, channels_of(sample->model) * sizeof sample->asked[0]);
    memset(sample->rounds, 0, sizeof sample->rounds);
    for (uint32_t i = 0; i < sample->model->xcc_count; i++)
        sample->l2[i].used_count = 0;
    if (sample->side)
        sample->side->used_count = 0;
    sample->generation++;
    sample->now = 0;
    sample->touched = sample->entered = sample->side_bytes = 0;
    memset(sample->homes, 0, sizeof sample->homes);
    memset(sample->uncached, 0, sizeof sample->uncached);
    sample->is_used = false;
}

void dispatch_sample_begin(struct dispatch_sample *sample)
{
    if (sample->is_used)
        clear(sample);
    sample->limit = SAMPLE_POSITIONS;
}

static void l2_write_back(struct dispatch_sample *sample, struct sampled_cache *l2)
{
    for (uint32_t i = 0; i < l2->used_count; i++) {
        struct sampled_block *blocks = l2->blocks + (size_t)l2->used[i] * BLOCK_WAYS;
        /* Sets of blocks that were sampled no longer are represented by the others. */
        bool sampled = (uint64_t)l2->used[i] * SAMPLE_POSITIONS / l2->sets < sample->limit;
        for (uint32_t way = 0; sampled && way < l2->filled[l2->used[i]]; way++)
            sample_write_back(sample, &blocks[way]);
    }
}

void dispatch_sample_end(struct dispatch_sample *sample)
{
    for (uint32_t xcc = 0; xcc < sample->model->xcc_count; xcc++)
        l2_write_back(sample, &sample->l2[xcc]);
}

void dispatch_sample_uncached(struct dispatch_sample *sample, uint64_t left, uint64_t of)
{
    for (int i = 0; i < MEMORY_HOMES; i++) {
        const struct home_sample *loads = &sample->uncached[i];
        if (!loads->reads)
            continue;
        double part = of ? (double)left / (double)of : 1;
        sample->homes[i].reads += (uint64_t)((double)loads->reads * part);
        sample->homes[i].read_bytes += (uint64_t)((double)loads->read_bytes * part);
    }
    memset(sample->uncached, 0, sizeof sample->uncached);
}

/* Returns whether there was anything to take note of. */
static bool executed_add(const struct perf_group *group, uint64_t groups,
                         struct round_sample *round)
{
    bool any = group->flat_lds_insts != 0;
    for (uint32_t i = 0; i < group->tally_count; i++) {
        uint32_t tally = group->tallies[i];
        uint64_t count = groups * group->counts[i];
        bool is_memory = tally - SAMPLE_TALLY_FIRST < SAMPLE_TALLIES;
        bool is_lds = perf_lds_kind(tally) != PERF_LDS_FLAT;
        if (is_memory)
            round->executed[tally - SAMPLE_TALLY_FIRST] += count;
        if (is_lds)
            round->lds_executed[perf_lds_kind(tally)] += count;
        any |= is_memory | is_lds;
    }
    round->lds_executed[PERF_LDS_FLAT] += groups * group->flat_lds_insts;
    return any;
}

void dispatch_sample_executed(struct dispatch_sample *sample, const struct perf_group *group,
                              const uint32_t rounds[2])
{
    for (int i = 0; i < 2; i++)
        if (rounds[i])
            sample->is_used |= executed_add(group, rounds[i], &sample->rounds[i]);
}

bool dispatch_sample_is_settled(const struct perf_group *group)
{
    if (group->is_sampled || group->block_count > BLOCK_WAYS)
        return false;
    for (uint64_t i = 0; i < group->block_count; i++)
        if (group->blocks[i].kind != ACCESS_SCALAR_READ)
            return false;
    return true;
}

void dispatch_sample_group(struct dispatch_sample *sample, const struct perf_group *group,
                           uint32_t unit)
{
    struct round_sample *round = &sample->rounds[group->round > 0];
    if (group->sample_limit && group->sample_limit < sample->limit)
        sample->limit = group->sample_limit;
    sample->is_used |= group->block_count != 0 || group->access_count != 0;
    sample->look(sample, group, unit);
    if (!group->is_sampled)
        return;
    for (uint32_t i = 0; i < PERF_LDS_KINDS; i++) {
        sample->is_used |= group->lds_samples[i].instructions != 0;
        round->lds_seen[i].instructions += group->lds_samples[i].instructions;
        round->lds_seen[i].cycles += group->lds_samples[i].cycles;
    }
}

/* What was looked at stands for all that was executed of its kind. */
static void seen_scale(struct group_sample *to, const struct group_sample *seen, uint64_t executed)
{
    /* of equal members */
    uint64_t *sums = (uint64_t *)to, count = seen->instructions;
    const uint64_t *from = (const uint64_t *)seen;
    for (size_t i = 0; count && i < sizeof *to / sizeof *sums; i++)
        sums[i] += from[i] / count * executed + from[i] % count * executed / count;
}

struct group_sample round_estimate(const struct round_sample *round, struct perf_lds_sample *lds)
{
    struct group_sample sum = {0};
    for (uint32_t i = 0; i < SAMPLE_TALLIES; i++)
        if (round->executed[i])
            seen_scale(&sum, &round->seen[i], round->executed[i]);
    *lds = (struct perf_lds_sample){0};
    for (uint32_t i = 0; i < PERF_LDS_KINDS; i++) {
        const struct perf_lds_sample *seen = &round->lds_seen[i];
        if (!seen->instructions)
            continue;
        lds->instructions += round->lds_executed[i];
        lds->cycles += seen->cycles * round->lds_executed[i] / seen->instructions;
    }
    return sum;
}
