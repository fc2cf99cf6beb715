#include "perf/memory.h"
#include "perf/memory_inside.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { SQC_BYTES = 16 * 1024, ICACHE_BYTES = 32 * 1024, SQC_LINE_BYTES = 64 };

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

static bool l2s_create(struct memory_model *memory)
{
    const struct gpu_model *model = memory->model;
    memory->tcc = calloc(model->xcc_count, sizeof *memory->tcc);
    memory->seen = calloc(model->xcc_count, sizeof *memory->seen);
    for (uint32_t i = 0; i < model->xcc_count; i++) {
        if (!memory->tcc || !memory->seen)
            return false;
        memory->seen[i].counts = calloc(model->tcc_channels, sizeof *memory->seen[i].counts);
        if (!memory->seen[i].counts || l2_sets_create(&memory->tcc[i], model->tcc_bytes,
                                                      model->tcc_line_bytes, model->tcc_ways) < 0)
            return false;
    }
    return true;
}

static void l2s_destroy(struct memory_model *memory)
{
    for (uint32_t i = 0; memory->tcc && i < memory->model->xcc_count; i++)
        l2_sets_destroy(&memory->tcc[i]);
    for (uint32_t i = 0; memory->seen && i < memory->model->xcc_count; i++)
        free(memory->seen[i].counts);
    free(memory->tcc);
    free(memory->seen);
}

static uint32_t tcp_count(const struct memory_model *memory)
{
    return memory->model->xcc_count * memory->units;
}

#define LEVEL(name)                                                                                \
    {                                                                                              \
        entries_run_##name, stream_look_##name, l2_release_##name, sample_look_##name              \
    }
static const struct memory_level levels[] = {
    LEVEL(portable),
#ifdef __x86_64__
    LEVEL(avx2),
    LEVEL(avx512),
#endif
};

/* The best one of the host, or a lower one that CROCGPU_HOST_ISA names. */
static const struct memory_level *level_choose(void)
{
    unsigned level = 0;
#ifdef __x86_64__
    enum { PORTABLE, AVX2, AVX512 };
    const char *named = getenv("CROCGPU_HOST_ISA");
    const unsigned most = !named                           ? AVX512
                          : strcmp(named, "portable") == 0 ? PORTABLE
                          : strcmp(named, "avx2") == 0     ? AVX2
                                                           : AVX512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt"))
        level = __builtin_cpu_supports("avx512bw") ? AVX512 : AVX2;
    level = level < most ? level : most;
#endif
    return &levels[level];
}

sample_look_fn *sample_look_of_host(void)
{
    return level_choose()->sample_look;
}

static struct l2_view l2_view_of(struct memory_model *memory, uint32_t xcc)
{
    const struct l2_sets *l2 = &memory->tcc[xcc];
    const bool reads_lines = memory->model->tcp_line_bytes > CACHE_SECTOR_BYTES;
    const uint32_t sectors = 1u << l2->line_shift > CACHE_SECTOR_BYTES ? L2_SECTORS_ALL : 1;
    return (struct l2_view){.sets = l2->sets,
                            .seen = memory->seen[xcc].counts,
                            .set_mask = l2->set_mask,
                            .line_shift = l2->line_shift,
                            .number_shift = l2->number_shift,
                            .block_shift = l2->block_shift,
                            .dirty_listed =
                                memory->blocks_dirty.is_listed + (size_t)xcc * memory->l2_blocks,
                            .block_valid = (uint8_t)(L2_VALID * sectors),
                            .block_full = (uint8_t)((L2_VALID + L2_DIRTY + L2_FULL) * sectors),
                            .channels = memory->model->tcc_channels - 1,
                            .sectors = (1u << l2->line_shift) / CACHE_SECTOR_BYTES - 1,
                            .reads = reads_lines ? L2_SECTORS_ALL : 0,
                            .mixes = memory->model->tcc_mixes,
                            .joins = !reads_lines && sectors == L2_SECTORS_ALL};
}

/* What is the same for all groups. */
static bool paths_create(struct memory_model *memory)
{
    const struct gpu_model *model = memory->model;
    memory->paths = calloc(model->xcc_count, sizeof *memory->paths);
    for (uint32_t xcc = 0; memory->paths && xcc < model->xcc_count; xcc++)
        memory->paths[xcc] =
            (struct path){.memory = memory,
                          .tcc = &memory->tcc[xcc],
                          .l2 = l2_view_of(memory, xcc),
                          .first_block = xcc * memory->l2_blocks,
                          .read_bytes = model->tcp_line_bytes,
                          .block_reads = CACHE_BLOCK_BYTES / model->tcp_line_bytes};
    return memory->paths != NULL;
}

int memory_create(struct memory_model *memory, const struct gpu_model *model)
{
    uint32_t channels = model->tcc_channels;
    *memory = (struct memory_model){.model = model,
                                    .level = level_choose(),
                                    .units = model->se_count * model->sh_per_se * model->cu_per_sh};
    if (channels & (channels - 1))
        return -EINVAL;
    memory->tcp =
        caches_create(tcp_count(memory), model->tcp_bytes, model->tcp_line_bytes, model->tcp_ways);
    memory->sqc = caches_create(tcp_count(memory), SQC_BYTES, SQC_LINE_BYTES, SQC_WAYS);
    memory->icache = caches_create(tcp_count(memory), ICACHE_BYTES, SQC_LINE_BYTES, SQC_WAYS);
    memory->shared_waits = calloc(tcp_count(memory), sizeof *memory->shared_waits);
    memory->utcl1 = calloc(tcp_count(memory), sizeof *memory->utcl1);
    const bool has_l2 = l2s_create(memory);
    memory->l2_blocks = model->tcc_bytes / model->tcc_ways / CACHE_BLOCK_BYTES;
    bool listed = used_create(&memory->units_used, tcp_count(memory)) &&
                  used_create(&memory->units_translated, tcp_count(memory)) &&
                  used_create(&memory->blocks_dirty, model->xcc_count * memory->l2_blocks);
    if (listed && has_l2 && memory->tcp && memory->sqc && memory->icache && memory->shared_waits &&
        memory->utcl1 && paths_create(memory))
        return 0;
    memory_destroy(memory);
    return -ENOMEM;
}

void memory_destroy(struct memory_model *memory)
{
    caches_destroy(memory->tcp, tcp_count(memory));
    caches_destroy(memory->sqc, tcp_count(memory));
    caches_destroy(memory->icache, tcp_count(memory));
    l2s_destroy(memory);
    free(memory->shared_waits);
    free(memory->utcl1);
    free(memory->paths);
    used_destroy(&memory->units_used);
    used_destroy(&memory->units_translated);
    used_destroy(&memory->blocks_dirty);
    *memory = (struct memory_model){0};
}

void memory_acquire(struct memory_model *memory)
{
    for (uint32_t i = 0; i < memory->units_used.count; i++) {
        uint32_t at = memory->units_used.list[i], shared = shared_of(memory, at);
        cache_clear(&memory->tcp[at]);
        cache_clear(&memory->sqc[shared]);
        cache_clear(&memory->icache[shared]);
        memory->shared_waits[shared] = (struct shared_waits){0};
    }
    used_forget(&memory->units_used);
}

void memory_clear(struct memory_model *memory)
{
    memory_acquire(memory);
    for (uint32_t i = 0; i < memory->units_translated.count; i++)
        memory->utcl1[memory->units_translated.list[i]] = (struct translations){0};
    used_forget(&memory->units_translated);
    for (uint32_t i = 0; i < memory->model->xcc_count; i++)
        l2_sets_clear(&memory->tcc[i]);
    used_forget(&memory->blocks_dirty);
}

/* One by one; where that asks for nothing new of the caches that units share, the like of it would
 * not either. */
static void entries_pass(const struct path *path, const struct perf_group *group)
{
    const uint64_t *cu = path->totals->cu;
    const uint64_t before = cu[SRC_SQC_MISS] + cu[SRC_ICACHE_MISS];
    path->sqc->passed = path->utcl1->passed = 0;
    path->memory->level->entries_run(path, group);
    if (group->moves && cu[SRC_SQC_MISS] + cu[SRC_ICACHE_MISS] == before)
        path->sqc->passed = group->moves->stream.still;
}

/* Of that unit, whose group's requests count there. */
static struct path *path_of(struct memory_model *memory, uint32_t at,
                            const struct memory_totals *totals)
{
    const uint32_t xcc = at / memory->units, shared = shared_of(memory, at);
    struct path *path = &memory->paths[xcc];
    channels_seen_for(memory, xcc, totals);
    path->tcp = &memory->tcp[at];
    path->sqc = &memory->sqc[shared];
    path->icache = &memory->icache[shared];
    path->utcl1 = &memory->utcl1[at];
    path->l2.generation = path->tcc->generation;
    path->totals = totals;
    return path;
}

/* What a unit has counted of the caches that it shares. */
struct shared_counts {
    uint64_t hits, misses, latency, fetch_misses, fetch_latency;
};

static struct shared_counts shared_counts(const uint64_t *cu)
{
    return (struct shared_counts){cu[SRC_SQC_HIT], cu[SRC_SQC_MISS], cu[SRC_SQC_LATENCY],
                                  cu[SRC_ICACHE_MISS], cu[SRC_IFETCH_LATENCY]};
}

/* What a group has asked of these caches, which had counted this before. */
static void shared_count(struct memory_model *memory, const struct perf_group *group, uint32_t at,
                         uint64_t *cu, const struct shared_counts *before, bool begins)
{
    const struct shared_counts now = shared_counts(cu);
    const uint64_t misses = now.misses - before->misses, hits = now.hits - before->hits;
    const uint64_t fetch_misses = now.fetch_misses - before->fetch_misses;
    const uint64_t fetch_hits = group->fetches > fetch_misses ? group->fetches - fetch_misses : 0;
    cu[SRC_ICACHE_HIT] += fetch_hits;
    if (!begins && !misses && !fetch_misses)
        return;
    const struct shared_asked scalars = {
        misses, hits, now.latency - before->latency - SCALAR_HIT_CYCLES * (misses + hits)};
    const struct shared_asked code = {fetch_misses, fetch_hits,
                                      now.fetch_latency - before->fetch_latency};
    struct shared_waits *waits = &memory->shared_waits[shared_of(memory, at)];
    cu[SRC_SQC_DUPLICATE] += shared_wait_group(&waits->scalars, &scalars, begins);
    cu[SRC_ICACHE_DUPLICATE] += shared_wait_group(&waits->code, &code, begins);
}

static void accesses_pass(struct memory_model *memory, const struct perf_group *group, uint32_t at,
                          const struct memory_totals *totals, bool is_next)
{
    struct path *path = path_of(memory, at, totals);
    path->all = group->wants & PERF_WANT_MEMORY;
    totals->cu[SRC_SQC_HIT] += group->scalar_repeats;
    totals->cu[SRC_SQC_LATENCY] += SCALAR_HIT_CYCLES * group->scalar_repeats;
    used_note(&memory->units_used, at);
    used_note(&memory->units_translated, at);
    if (group->moves && stream_pass(path, group->moves, is_next))
        return;
    if (group->moves && is_next)
        perf_accesses_move(group->moves);
    entries_pass(path, group);
}

void memory_group(struct memory_model *memory, const struct perf_group *group, uint32_t at,
                  const struct memory_totals *totals, bool is_next, bool begins)
{
    const struct shared_counts before = shared_counts(totals->cu);
    if (group->wants & PERF_WANT_L2 && group->accesses)
        accesses_pass(memory, group, at, totals, is_next);
    shared_count(memory, group, at, totals->cu, &before, begins);
}

/* A cache that has no room for what is asked takes nothing until its lines have come; and all
 * caches ask at once, so that none has them before the slowest. */
static void refused_add(const struct shared_wait *wait, uint64_t cycles, uint64_t *cu,
                        uint64_t *hidden, enum perf_source source)
{
    const uint64_t refused = wait->refuses ? cycles : 0;
    cu[source] += refused;
    if (hidden)
        hidden[source] += refused;
}

static uint64_t longest_wait(uint64_t longest, const struct shared_wait *wait)
{
    return wait->cycles > longest ? wait->cycles : longest;
}

void memory_shared_end(struct memory_model *memory, uint64_t cycles, uint64_t (*cu)[SRC_CU_COUNT],
                       uint64_t (*hidden)[SRC_CU_COUNT])
{
    const struct used_list *used = &memory->units_used;
    uint64_t scalars = 0, code = 0;
    for (uint32_t i = 0; i < used->count; i++) {
        const struct shared_waits *waits = &memory->shared_waits[shared_of(memory, used->list[i])];
        scalars = longest_wait(scalars, &waits->scalars);
        code = longest_wait(code, &waits->code);
    }
    scalars = scalars < cycles ? scalars : cycles;
    code = code < cycles ? code : cycles;
    for (uint32_t i = 0; i < used->count; i++) {
        const uint32_t shared = shared_of(memory, used->list[i]);
        struct shared_waits *waits = &memory->shared_waits[shared];
        uint64_t *not_seen = hidden ? hidden[shared] : NULL;
        refused_add(&waits->scalars, scalars, cu[shared], not_seen, SRC_SQC_REFUSED);
        refused_add(&waits->code, code, cu[shared], not_seen, SRC_ICACHE_REFUSED);
        *waits = (struct shared_waits){0};
    }
}

void memory_release(struct memory_model *memory, uint64_t (*channel)[SRC_CHANNEL_COUNT],
                    struct channel_work *work)
{
    memory->level->release(memory, channel, work);
}
