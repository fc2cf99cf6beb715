#include "perf/sample.h"

#include <stdlib.h>
#include <string.h>

#include "perf/l2_mix.h"
#include "perf/memory.h"

enum { BLOCK_WAYS = 16, SECTORS = SAMPLE_BLOCK_BYTES / SAMPLE_SECTOR_BYTES };

struct sampled_block {
    uint64_t number; /* + 1 */
    uint32_t used;   /* when */
    uint8_t sectors; /* that hold valid data */
    uint8_t dirty;   /* halves of sectors */
    uint8_t home;    /* enum memory_home */
};

struct sampled_cache {            /* an L2, or the cache in front of the memory */
    struct sampled_block *blocks; /* [set][BLOCK_WAYS] */
    uint32_t *generations;        /* [set]: another than the sample's means empty */
    uint8_t *filled;              /* [set]: so many of its blocks hold something, the first ones */
    uint32_t *used, used_count;   /* the sets that are not */
    uint32_t sets;
};

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

/* The L2 */

/* Of a byte. */
static uint32_t bits(uint32_t mask)
{
    static const uint8_t counts[] = {0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4};
    return counts[mask & 15] + counts[mask >> 4 & 15];
}

/* What was written of a block goes to memory, sector by sector. */
static void block_write_back(struct dispatch_sample *sample, struct sampled_block *block)
{
    uint32_t weight = sample_weight(sample->limit), dirty = block->dirty;
    uint32_t sectors = (dirty | dirty >> 1) & 0x55;
    struct home_sample *home = &sample->homes[block->home];
    home->writes += (uint64_t)weight * bits(sectors);
    home->write_bytes += (uint64_t)weight * bits(dirty) * SAMPLE_HALF_BYTES;
    block->dirty = 0;
}

/* The number of the set, ready to be used. */
static uint32_t set_of(const struct dispatch_sample *sample, struct sampled_cache *l2,
                       uint32_t position)
{
    uint32_t set = (uint32_t)((uint64_t)position * l2->sets / SAMPLE_POSITIONS);
    if (l2->generations[set] == sample->generation)
        return set;
    l2->generations[set] = sample->generation;
    l2->filled[set] = 0;
    l2->used[l2->used_count++] = set;
    return set;
}

static enum memory_type type_of(const struct perf_block *access)
{
    return vm_place_type((uint64_t)access->memory << VM_PLACE_TYPE_SHIFT);
}

static uint8_t home_of(const struct perf_block *access)
{
    return (uint8_t)vm_place_home((uint64_t)access->memory << VM_PLACE_TYPE_SHIFT);
}

/* The place of the least recently used block of a set that is full. */
static struct sampled_block *block_oldest(struct sampled_block *blocks)
{
    struct sampled_block *oldest = &blocks[0];
    for (uint32_t way = 1; way < BLOCK_WAYS; way++)
        if (blocks[way].used < oldest->used)
            oldest = &blocks[way];
    return oldest;
}

static struct sampled_block *block_find(struct dispatch_sample *sample, struct sampled_cache *l2,
                                        uint32_t set, const struct perf_block *access)
{
    uint64_t number = access->va / SAMPLE_BLOCK_BYTES + 1;
    struct sampled_block *blocks = l2->blocks + (size_t)set * BLOCK_WAYS, *place;
    uint32_t filled = l2->filled[set];
    for (uint32_t way = 0; way < filled; way++)
        if (blocks[way].number == number)
            return &blocks[way];
    if (filled < BLOCK_WAYS) {
        place = &blocks[l2->filled[set]++];
    } else {
        place = block_oldest(blocks);
        block_write_back(sample, place);
    }
    sample->entered += sample_weight(sample->limit);
    *place = (struct sampled_block){.number = number, .home = home_of(access)};
    return place;
}

/* A first-level cache of 128-byte lines asks for both sectors of a line. */
static uint32_t sectors_wanted(const struct gpu_model *model, const struct perf_block *access)
{
    uint32_t wanted = access->sectors;
    if (model->tcp_line_bytes > SAMPLE_SECTOR_BYTES && access->kind == ACCESS_READ)
        wanted |= (wanted & 0x5) << 1 | (wanted & 0xa) >> 1;
    return wanted;
}

/* Sectors of one line come in one transaction. */
static uint32_t transactions(const struct gpu_model *model, uint32_t sectors)
{
    return model->tcc_line_bytes > SAMPLE_SECTOR_BYTES ? bits((sectors | sectors >> 1) & 0x5)
                                                       : bits(sectors);
}

/* Of memory that the L2 does not hold: all goes on, but for loads that the L1 serves, which blocks
 * do not tell. */
static void block_pass(struct dispatch_sample *sample, const struct perf_block *access,
                       uint32_t wanted)
{
    struct home_sample *home = &sample->homes[home_of(access)];
    struct home_sample *loads = &sample->uncached[home_of(access)];
    uint64_t weight = sample_weight(sample->limit);
    uint32_t written = access->halves, sectors = (written | written >> 1) & 0x55;
    if (access->kind == ACCESS_READ) {
        loads->reads += weight * transactions(sample->model, wanted);
        loads->read_bytes += weight * bits(wanted) * SAMPLE_SECTOR_BYTES;
    }
    home->writes += weight * bits(access->kind == ACCESS_ATOMIC ? written : sectors);
    home->write_bytes += weight * bits(written) * SAMPLE_HALF_BYTES;
}

/* Those sectors that the cache in front of the memory holds; it holds the others from now on. What
 * is written goes through it: all of it is taken to be the memory's work, sooner or later. */
static uint32_t side_has(struct dispatch_sample *sample, const struct perf_block *access,
                         uint32_t sectors)
{
    struct sampled_cache *side = sample->side;
    uint32_t set = set_of(sample, side, access->position), way = 0, had;
    struct sampled_block *blocks = side->blocks + (size_t)set * BLOCK_WAYS, *block;
    uint64_t number = access->va / SAMPLE_BLOCK_BYTES + 1;
    while (way < side->filled[set] && blocks[way].number != number)
        way++;
    if (way == BLOCK_WAYS)
        block = block_oldest(blocks);
    else
        block = &blocks[way];
    if (block->number != number || way == side->filled[set])
        *block = (struct sampled_block){.number = number};
    side->filled[set] += way == side->filled[set] && way < BLOCK_WAYS;
    had = block->sectors & sectors;
    block->sectors |= (uint8_t)sectors;
    block->used = sample->now;
    return had;
}

/* Scalar reads of memory elsewhere are of a kernel's arguments and packet, which begin their
 * mappings: such blocks are always sampled, and stand for themselves. Weighed like others they
 * would keep the link busy for longer than small kernels take. */
static bool is_arguments(const struct perf_block *access)
{
    return access->kind == ACCESS_SCALAR_READ && home_of(access) != HOME_OWN;
}

static void block_cached(struct dispatch_sample *sample, uint32_t xcc,
                         const struct perf_block *access, uint32_t wanted)
{
    struct sampled_cache *l2 = &sample->l2[xcc];
    struct sampled_block *block =
        block_find(sample, l2, set_of(sample, l2, access->position), access);
    block->used = ++sample->now;
    if (access->kind != ACCESS_WRITE) {
        struct home_sample *home = &sample->homes[home_of(access)];
        uint64_t weight = is_arguments(access) ? 1 : sample_weight(sample->limit);
        uint32_t missing = wanted & ~(uint32_t)block->sectors;
        home->reads += weight * transactions(sample->model, missing);
        home->read_bytes += weight * bits(missing) * SAMPLE_SECTOR_BYTES;
        block->sectors |= (uint8_t)wanted;
        if (sample->side && missing && home_of(access) == HOME_OWN)
            sample->side_bytes +=
                weight * bits(side_has(sample, access, missing)) * SAMPLE_SECTOR_BYTES;
    }
    block->dirty |= access->halves;
    for (uint32_t i = 0; i < SECTORS; i++) /* fully written: nothing left to fetch */
        block->sectors |= (uint8_t)((block->dirty >> 2 * i & 3) == 3 ? 1u << i : 0);
}

/* Scalar reads are noted wave by wave, though a cache of theirs has most of them: they make no
 * requests here, and of uncached memory, too, they come once. */
static void block_access(struct dispatch_sample *sample, uint32_t xcc,
                         const struct perf_block *access)
{
    const struct gpu_model *model = sample->model;
    bool scalar = access->kind == ACCESS_SCALAR_READ;
    if (access->position >= sample->limit)
        return;
    uint32_t wanted = sectors_wanted(model, access);
    uint32_t requests = scalar ? 0 : sample_weight(sample->limit) * bits(wanted);
    sample->touched += requests;
    const uint32_t channels = model->tcc_channels, first = xcc * channels;
    if (model->tcc_mixes) {
        sample->touches[first + l2_block_mixed(access->number) % channels] += requests;
        sample->placed[first + access->mixed % channels] += requests;
    } else {
        sample->touches[first + access->number % channels] += requests;
    }
    if (type_of(access) == MEMORY_UC && !scalar)
        block_pass(sample, access, wanted);
    else
        block_cached(sample, xcc, access, wanted);
}

static void l2_write_back(struct dispatch_sample *sample, struct sampled_cache *l2)
{
    for (uint32_t i = 0; i < l2->used_count; i++) {
        struct sampled_block *blocks = l2->blocks + (size_t)l2->used[i] * BLOCK_WAYS;
        /* Sets of blocks that were sampled no longer are represented by the others. */
        bool sampled = (uint64_t)l2->used[i] * SAMPLE_POSITIONS / l2->sets < sample->limit;
        for (uint32_t way = 0; sampled && way < l2->filled[l2->used[i]]; way++)
            block_write_back(sample, &blocks[way]);
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

/* The L1 */

/* An instruction whose lines are looked at one after another. */
struct instruction {
    struct group_sample *seen;
    bool loads, nowhere;
    uint64_t reads; /* requests that it waits for */
};

/* Where a group's lines go through. */
struct path {
    struct cache *l1;
    struct translations *translations;
    uint64_t *asked; /* [channel] of its XCC */
    uint32_t channels;
};

static void instruction_end(const struct instruction *inst)
{
    if (!inst->loads)
        return;
    inst->seen->loads++;
    inst->seen->nowhere += inst->nowhere;
    inst->seen->leaving += inst->reads > 0;
    inst->seen->leaving_reads += inst->reads;
}

/* By the bits that do not depend on where its mapping lies, not mixed as in l2_mix.h: what else has
 * memory must not change how long a dispatch takes. Of a gfx942 half the channels have all then,
 * which bounds less what its sampled blocks say (busiest_channel()). */
static void request(const struct path *path, uint64_t va)
{
    path->asked[va / SAMPLE_BLOCK_BYTES % path->channels]++;
}

static void line_read(const struct path *path, const struct perf_line_access *access, uint64_t va,
                      struct instruction *inst)
{
    struct cache_set *set = cache_set(path->l1, va);
    uint64_t number = cache_number(path->l1, va);
    uint32_t ways = path->l1->way_count, way;
    bool uncached = vm_place_type(va) == MEMORY_UC;
    inst->seen->uncached += uncached;
    if (access->flags & ACCESS_GLC) /* coherent: never served from L1 */
        cache_set_remove(set, ways, number);
    if (cache_set_reach(set, ways, number, &way, NULL))
        return;
    inst->seen->uncached_reads += uncached;
    request(path, va);
    inst->seen->reads++;
    inst->reads++;
}

static void line_atomic(const struct path *path, const struct perf_line_access *access,
                        struct instruction *inst)
{
    bool returns = access->flags & ACCESS_GLC;
    cache_set_remove(cache_set(path->l1, access->line_va), path->l1->way_count,
                     cache_number(path->l1, access->line_va));
    request(path, access->line_va);
    inst->seen->serial_cycles += access->conflicts;
    inst->seen->address_cycles += access->conflicts;
    *(returns ? &inst->seen->reads : &inst->seen->writes) += 1;
    inst->reads += returns;
}

/* A line that an entry of the log stands for. */
static void line_access(const struct path *path, const struct perf_line_access *access, uint64_t va,
                        struct instruction *inst)
{
    struct group_sample *seen = inst->seen;
    seen->data_cycles += inst->loads ? access->tags : 0;
    if (access->flags & ACCESS_NOWHERE)
        return;
    seen->address_cycles += access->tags;
    seen->translation_misses += translation_miss(path->translations, va);
    if (access->kind == ACCESS_READ) {
        line_read(path, access, va, inst);
    } else if (access->kind == ACCESS_ATOMIC) {
        line_atomic(path, access, inst);
    } else {
        seen->writes++;
        request(path, va);
    }
}

static struct instruction instruction_begin(struct round_sample *round,
                                            const struct perf_line_access *access)
{
    uint32_t at = (uint32_t)access->tally - SAMPLE_TALLY_FIRST;
    struct instruction inst = {.seen = &round->seen[at < SAMPLE_TALLIES ? at : 0],
                               .loads =
                                   access->kind == ACCESS_READ ||
                                   (access->kind == ACCESS_ATOMIC && access->flags & ACCESS_GLC),
                               .nowhere = access->flags & ACCESS_NOWHERE};
    inst.seen->instructions++;
    if (access->kind != ACCESS_ATOMIC)
        *(inst.loads ? &inst.seen->read_tags : &inst.seen->write_tags) += access->conflicts;
    return inst;
}

static void accesses_look(const struct path *path, const struct perf_group *group,
                          struct round_sample *round)
{
    struct instruction inst = {.seen = &round->seen[0]};
    for (uint64_t i = 0; group->accesses && i < group->access_count; i++) {
        const struct perf_line_access *access = &group->accesses[i];
        if (access->kind == ACCESS_INVALIDATE)
            cache_clear(path->l1);
        if (!(access->flags & ACCESS_SAMPLED) || access->kind > ACCESS_ATOMIC)
            continue;
        if (access->flags & ACCESS_FIRST) {
            instruction_end(&inst);
            inst = instruction_begin(round, access);
        }
        for (uint32_t n = 0; n <= access->more; n++)
            line_access(path, access, access->line_va + SAMPLE_SECTOR_BYTES * n, &inst);
    }
    instruction_end(&inst);
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
    const uint32_t xcc = unit / sample->units;
    if (group->sample_limit && group->sample_limit < sample->limit)
        sample->limit = group->sample_limit;
    for (uint64_t i = 0; i < group->block_count; i++)
        block_access(sample, xcc, &group->blocks[i]);
    sample->is_used |= group->block_count != 0 || group->access_count != 0;
    if (!group->is_sampled)
        return;
    for (uint32_t i = 0; i < PERF_LDS_KINDS; i++) {
        sample->is_used |= group->lds_samples[i].instructions != 0;
        round->lds_seen[i].instructions += group->lds_samples[i].instructions;
        round->lds_seen[i].cycles += group->lds_samples[i].cycles;
    }
    uint32_t slot = sample->slots > SAMPLE_UNITS ? unit : group->sample_slot;
    uint32_t channels = sample->model->tcc_channels;
    const struct path path = {&sample->l1[slot], &sample->translations[slot],
                              sample->asked + (size_t)xcc * channels, channels};
    accesses_look(&path, group, round);
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
