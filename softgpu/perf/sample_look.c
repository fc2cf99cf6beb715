/*
 * What groups have left behind for modelled time passes a sampled L2, block by block, and the L1s
 * of sampled units, line by line. Compiled for each level of the host.
 */
#include "perf/sample_look.h"

#include "perf/l2_mix.h"
#include "perf/memory_inside.h"

/* The L2 */

/* What is the same for all blocks that a group has touched. */
struct blocks_path {
    struct dispatch_sample *sample;
    struct sampled_cache *l2;
    uint64_t *touches, *placed;  /* [channel] of its XCC */
    uint64_t weight;             /* sample_weight() */
    uint32_t channels;           /* - 1: they are a power of two */
    bool reads_lines, has_lines; /* of 128 bytes: the L1, the L2 */
    bool mixes;
};

static struct blocks_path blocks_path_of(struct dispatch_sample *sample, uint32_t xcc)
{
    const struct gpu_model *model = sample->model;
    const size_t first = (size_t)xcc * model->tcc_channels;
    return (struct blocks_path){.sample = sample,
                                .l2 = &sample->l2[xcc],
                                .touches = sample->touches + first,
                                .placed = sample->placed + first,
                                .weight = sample_weight(sample->limit),
                                .channels = model->tcc_channels - 1,
                                .reads_lines = model->tcp_line_bytes > SAMPLE_SECTOR_BYTES,
                                .has_lines = model->tcc_line_bytes > SAMPLE_SECTOR_BYTES,
                                .mixes = model->tcc_mixes};
}

/* The number of the set, ready to be used. */
static inline uint32_t set_of(const struct dispatch_sample *sample, struct sampled_cache *cache,
                              uint32_t position)
{
    uint32_t set = (uint32_t)((uint64_t)position * cache->sets / SAMPLE_POSITIONS);
    if (__builtin_expect(cache->generations[set] == sample->generation, 1))
        return set;
    cache->generations[set] = sample->generation;
    cache->filled[set] = 0;
    cache->used[cache->used_count++] = set;
    return set;
}

static inline uint64_t place_bits(const struct perf_block *access)
{
    return (uint64_t)access->memory << VM_PLACE_TYPE_SHIFT;
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

static inline struct sampled_block *block_find(const struct blocks_path *path, uint32_t set,
                                               const struct perf_block *access, uint8_t home)
{
    const uint64_t number = access->va / SAMPLE_BLOCK_BYTES + 1;
    struct sampled_block *blocks = path->l2->blocks + (size_t)set * BLOCK_WAYS, *place;
    const uint32_t filled = path->l2->filled[set];
    for (uint32_t way = 0; way < filled; way++)
        if (blocks[way].number == number)
            return &blocks[way];
    if (filled < BLOCK_WAYS) {
        place = &blocks[path->l2->filled[set]++];
    } else {
        place = block_oldest(blocks);
        sample_write_back(path->sample, place);
    }
    path->sample->entered += path->weight;
    *place = (struct sampled_block){.number = number, .home = home};
    return place;
}

/* A first-level cache of 128-byte lines asks for both sectors of a line. */
static inline uint32_t sectors_wanted(const struct blocks_path *path,
                                      const struct perf_block *access)
{
    uint32_t wanted = access->sectors;
    if (path->reads_lines && access->kind == ACCESS_READ)
        wanted |= (wanted & 0x5) << 1 | (wanted & 0xa) >> 1;
    return wanted;
}

/* Sectors of one line come in one transaction. */
static inline uint32_t transactions(const struct blocks_path *path, uint32_t sectors)
{
    return sample_bits(path->has_lines ? (sectors | sectors >> 1) & 0x5 : sectors);
}

/* Of memory that the L2 does not hold: all goes on, but for loads that the L1 serves, which blocks
 * do not tell. */
static void block_pass(const struct blocks_path *path, const struct perf_block *access,
                       uint32_t wanted, uint8_t at)
{
    struct home_sample *home = &path->sample->homes[at], *loads = &path->sample->uncached[at];
    uint32_t written = access->halves, sectors = (written | written >> 1) & 0x55;
    if (access->kind == ACCESS_READ) {
        loads->reads += path->weight * transactions(path, wanted);
        loads->read_bytes += path->weight * sample_bits(wanted) * SAMPLE_SECTOR_BYTES;
    }
    home->writes += path->weight * sample_bits(access->kind == ACCESS_ATOMIC ? written : sectors);
    home->write_bytes += path->weight * sample_bits(written) * SAMPLE_HALF_BYTES;
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

static inline void block_read(const struct blocks_path *path, struct sampled_block *block,
                              const struct perf_block *access, uint32_t wanted, uint8_t at)
{
    struct dispatch_sample *sample = path->sample;
    const uint32_t missing = wanted & ~(uint32_t)block->sectors;
    block->sectors |= (uint8_t)wanted;
    if (!missing)
        return;
    /* Scalar reads of memory elsewhere are of a kernel's arguments and packet, which begin their
     * mappings: such blocks are always sampled, and stand for themselves. Weighed like others they
     * would keep the link busy for longer than small kernels take. */
    const bool is_arguments = access->kind == ACCESS_SCALAR_READ && at != HOME_OWN;
    const uint64_t weight = is_arguments ? 1 : path->weight;
    struct home_sample *home = &sample->homes[at];
    home->reads += weight * transactions(path, missing);
    home->read_bytes += weight * sample_bits(missing) * SAMPLE_SECTOR_BYTES;
    if (sample->side && at == HOME_OWN)
        sample->side_bytes +=
            weight * sample_bits(side_has(sample, access, missing)) * SAMPLE_SECTOR_BYTES;
}

static inline void block_cached(const struct blocks_path *path, const struct perf_block *access,
                                uint32_t wanted, uint8_t at)
{
    const uint32_t set = set_of(path->sample, path->l2, access->position);
    struct sampled_block *block = block_find(path, set, access, at);
    block->used = ++path->sample->now;
    if (access->kind != ACCESS_WRITE)
        block_read(path, block, access, wanted, at);
    if (!access->halves)
        return;
    const uint32_t dirty = block->dirty |= access->halves, both = dirty & dirty >> 1;
    for (uint32_t i = 0; i < SAMPLE_BLOCK_BYTES / SAMPLE_SECTOR_BYTES; i++) /* fully written: */
        block->sectors |= (uint8_t)((both >> 2 * i & 1) << i); /* nothing left to fetch */
}

/* Scalar reads are noted wave by wave, though a cache of theirs has most of them: they make no
 * requests here, and of uncached memory, too, they come once. */
static inline void block_access(const struct blocks_path *path, const struct perf_block *access)
{
    const bool scalar = access->kind == ACCESS_SCALAR_READ;
    if (access->position >= path->sample->limit)
        return;
    const uint32_t wanted = sectors_wanted(path, access);
    const uint64_t requests = scalar ? 0 : path->weight * sample_bits(wanted);
    path->sample->touched += requests;
    if (path->mixes) {
        path->touches[l2_block_mixed(access->number) & path->channels] += requests;
        path->placed[access->mixed & path->channels] += requests;
    } else {
        path->touches[access->number & path->channels] += requests;
    }
    const uint8_t at = (uint8_t)vm_place_home(place_bits(access));
    if (vm_place_type(place_bits(access)) == MEMORY_UC && !scalar)
        block_pass(path, access, wanted, at);
    else
        block_cached(path, access, wanted, at);
}

/* The L1 */

/* An instruction whose lines are looked at one after another. */
struct instruction {
    struct group_sample *seen;
    bool loads, nowhere;
    uint64_t reads; /* requests that it waits for */
};

/* Where a group's lines go through. */
struct lines_path {
    struct cache *l1;
    struct translations *translations;
    uint64_t *asked; /* [channel] of its XCC */
    uint32_t channels;
};

static inline void instruction_end(const struct instruction *inst)
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
CACHE_INLINE void request(const struct lines_path *path, uint64_t va)
{
    path->asked[va / SAMPLE_BLOCK_BYTES & path->channels]++;
}

/* Whether the L1 lacks a line, which it holds from now on. */
CACHE_INLINE bool line_lacks(const struct lines_path *path, const struct cache_shape *shape,
                             uint32_t ways, uint64_t va, bool glc)
{
    const uint64_t line = va >> shape->line_shift;
    struct cache_set *set = cache_single_at(path->l1, shape, line);
    uint32_t way;
    if (glc) /* coherent: never served from L1 */
        cache_set_remove(set, ways, line + 1);
    return !cache_set_reach(set, ways, line + 1, &way, NULL);
}

static void line_atomic(const struct lines_path *path, const struct perf_line_access *access,
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

/* Behind an entry: those of the same instruction, as far as they say the same but for their lines.
 */
static inline bool goes_on(const struct perf_line_access *access,
                           const struct perf_line_access *next)
{
    return next->kind == access->kind && next->flags == (access->flags & ~ACCESS_FIRST);
}

/* Loads' lines. Sums are here meanwhile: what is written might be they. */
CACHE_INLINE const struct perf_line_access *
reads_look(const struct lines_path *path, const struct cache_shape *shape, uint32_t ways, bool glc,
           const struct perf_line_access *access, const struct perf_line_access *end,
           struct instruction *inst)
{
    const struct perf_line_access *const first = access;
    uint64_t tags = 0, misses = 0, lacked = 0, uncached = 0, uncached_lacked = 0;
    do {
        for (uint32_t n = 0; n <= access->more; n++) {
            const uint64_t va = access->line_va + SAMPLE_SECTOR_BYTES * n;
            misses += translation_miss(path->translations, va);
            const bool lacks = line_lacks(path, shape, ways, va, glc);
            tags += access->tags;
            lacked += lacks;
            path->asked[va / SAMPLE_BLOCK_BYTES & path->channels] += lacks;
            if (__builtin_expect(vm_place_type(va) == MEMORY_UC, 0)) {
                uncached++;
                uncached_lacked += lacks;
            }
        }
        access++;
    } while (access < end && goes_on(first, access));
    inst->seen->data_cycles += inst->loads ? tags : 0;
    inst->seen->address_cycles += tags;
    inst->seen->translation_misses += misses;
    inst->seen->reads += lacked;
    inst->seen->uncached += uncached;
    inst->seen->uncached_reads += uncached_lacked;
    inst->reads += lacked;
    return access;
}

/* Those of stores and of atomics. */
static const struct perf_line_access *writes_look(const struct lines_path *path,
                                                  const struct perf_line_access *access,
                                                  struct instruction *inst)
{
    struct group_sample *seen = inst->seen;
    const uint32_t lines = 1u + access->more;
    seen->data_cycles += inst->loads ? lines * access->tags : 0;
    seen->address_cycles += lines * access->tags;
    for (uint32_t n = 0; n < lines; n++) {
        const uint64_t va = access->line_va + SAMPLE_SECTOR_BYTES * n;
        seen->translation_misses += translation_miss(path->translations, va);
        if (access->kind == ACCESS_ATOMIC)
            line_atomic(path, access, inst);
        else
            request(path, va);
    }
    seen->writes += access->kind == ACCESS_WRITE ? lines : 0;
    return access + 1;
}

/* Entries of one instruction: all of its loads' that are alike, or one. */
CACHE_INLINE const struct perf_line_access *
instruction_look(const struct lines_path *path, const struct cache_shape *shape, uint32_t ways,
                 const struct perf_line_access *access, const struct perf_line_access *end,
                 struct instruction *inst)
{
    if (__builtin_expect(access->flags & ACCESS_NOWHERE, 0)) {
        inst->seen->data_cycles += inst->loads ? (1u + access->more) * access->tags : 0;
        return access + 1;
    }
    if (access->kind != ACCESS_READ)
        return writes_look(path, access, inst);
    return access->flags & ACCESS_GLC ? reads_look(path, shape, ways, true, access, end, inst)
                                      : reads_look(path, shape, ways, false, access, end, inst);
}

static inline struct instruction instruction_begin(struct round_sample *round,
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

CACHE_INLINE void entries_look(const struct lines_path *path, uint32_t ways,
                               const struct perf_group *group, struct round_sample *round)
{
    const struct perf_line_access *access = group->accesses;
    const struct perf_line_access *const end = access + (access ? group->access_count : 0);
    struct instruction inst = {.seen = &round->seen[0]};
    struct cache_shape shape = cache_shape_of(path->l1);
    while (access < end) {
        if (__builtin_expect(access->kind == ACCESS_INVALIDATE, 0)) {
            cache_clear(path->l1);
            shape = cache_shape_of(path->l1);
        }
        if (!(access->flags & ACCESS_SAMPLED) || access->kind > ACCESS_ATOMIC) {
            access++;
            continue;
        }
        if (access->flags & ACCESS_FIRST) {
            instruction_end(&inst);
            inst = instruction_begin(round, access);
        }
        access = instruction_look(path, &shape, ways, access, end, &inst);
    }
    instruction_end(&inst);
}

static void lines_look(struct dispatch_sample *sample, const struct perf_group *group,
                       uint32_t unit, struct round_sample *round)
{
    const uint32_t slot = sample->slots > SAMPLE_UNITS ? unit : group->sample_slot;
    const uint32_t channels = sample->model->tcc_channels;
    const struct lines_path path = {&sample->l1[slot], &sample->translations[slot],
                                    sample->asked + (size_t)(unit / sample->units) * channels,
                                    channels - 1};
    if (path.l1->way_count == 64)
        entries_look(&path, 64, group, round);
    else
        entries_look(&path, path.l1->way_count, group, round);
}

void PERF_LEVEL_NAME(sample_look)(struct dispatch_sample *sample, const struct perf_group *group,
                                  uint32_t unit)
{
    const struct blocks_path path = blocks_path_of(sample, unit / sample->units);
    for (uint64_t i = 0; i < group->block_count; i++)
        block_access(&path, &group->blocks[i]);
    if (group->is_sampled)
        lines_look(sample, group, unit, &sample->rounds[group->round > 0]);
}
