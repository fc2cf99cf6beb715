/* What a group has done, for its retirement. One that did what the one before in its place did has
 * no record of its own: it is counted. */
#include <stddef.h>
#include <string.h>

#include "perf/clock.h"
#include "wave/engine.h"
#include "wave/host_levels.h"

enum { SIMD_MAX = 8, QUAD = 4 };

/* Groups of this dispatch that share the compute unit with the group. */
static uint64_t groups_beside(const struct dispatch *dispatch, const struct workgroup *group)
{
    uint64_t units = dispatch->launch.units, own = group->index % units;
    uint64_t groups = (dispatch->group_total - own + units - 1) / units;
    return groups < dispatch->launch.capacity ? groups : dispatch->launch.capacity;
}

/* The tallies that are not zero, which a kernel has a dozen of. Returns how many. */
static uint32_t tallies_used(const uint64_t counts[TALLY_SLOTS], uint8_t used[TALLY_SLOTS])
{
    enum { LINE = 8 };
    uint32_t n = 0;
    for (uint32_t first = 0; first < TALLY_SLOTS; first += LINE) {
        uint64_t any = 0;
        for (uint32_t t = first; t < first + LINE; t++)
            any |= counts[t];
        for (uint32_t t = first; any && t < first + LINE; t++) {
            used[n] = (uint8_t)t;
            n += counts[t] != 0;
        }
    }
    return n;
}

static bool same_counts(const struct wave *a, const struct wave *b)
{
    return memcmp(a->counts, b->counts, sizeof a->counts) == 0;
}

/* `vector` is a type of the level's width, which divides what is compared and copied. */
typedef uint64_t vector_32 __attribute__((vector_size(32), aligned(8), may_alias));
typedef uint64_t vector_64 __attribute__((vector_size(64), aligned(8), may_alias));
typedef vector_64 vector_avx512;
typedef vector_32 vector_avx2, vector_portable;
_Static_assert(TALLY_SLOTS % 8 == 0, "whole vectors");

/* copy: by vectors, because memcpy() of a constant size may be a string instruction, which starts
 * slowly; the barrier keeps the loop what it is. */
#define DEFINE_LEVEL(level, options)                                                               \
    options static bool differ_##level(const struct wave *waves, uint32_t count,                   \
                                       const uint64_t *counts)                                     \
    {                                                                                              \
        enum { VECTORS = TALLY_SLOTS * 8 / sizeof(vector_##level) };                               \
        const vector_##level *known = (const vector_##level *)(const void *)counts;                \
        vector_##level differs = {0};                                                              \
        for (uint32_t i = 0; i < count; i++) {                                                     \
            const vector_##level *own = (const vector_##level *)(const void *)waves[i].counts;     \
            _Pragma("GCC unroll 32") for (uint32_t n = 0; n < VECTORS; n++) differs |=             \
                own[n] ^ known[n];                                                                 \
        }                                                                                          \
        uint64_t any = 0;                                                                          \
        for (uint32_t n = 0; n < sizeof differs / sizeof any; n++)                                 \
            any |= differs[n];                                                                     \
        return any != 0;                                                                           \
    }                                                                                              \
    options static void copy_##level(void *to, const void *from, size_t bytes)                     \
    {                                                                                              \
        vector_##level *line = to;                                                                 \
        const vector_##level *old = from;                                                          \
        for (size_t n = 0; n < bytes / sizeof *line; n++) {                                        \
            line[n] = old[n];                                                                      \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }                                                                                              \
    options static __attribute__((noinline)) bool counts_take_##level(                             \
        const struct executed *known, struct wave *wave, uint64_t lanes)                           \
    {                                                                                              \
        const uint16_t *const end = known->quad + known->quads;                                    \
        vector_32 left = {0};                                                                      \
        for (struct wave *behind = wave + known->waves; wave < behind; wave++) {                   \
            lanes += wave->idle_lanes;                                                             \
            for (const uint16_t *at = known->quad; at < end; at++) {                               \
                char *own = (char *)wave->counts + *at;                                            \
                const char *all = (const char *)known->counts + *at;                               \
                vector_32 rest =                                                                   \
                    *(vector_32 *)(void *)own - *(const vector_32 *)(const void *)all;             \
                *(vector_32 *)(void *)own = rest;                                                  \
                left |= rest;                                                                      \
            }                                                                                      \
        }                                                                                          \
        lanes -= known->record.valu_lanes;                                                         \
        return !(left[0] | left[1] | left[2] | left[3] | lanes);                                   \
    }                                                                                              \
    options static void counts_drop_##level(struct wave *wave, uint32_t waves)                     \
    {                                                                                              \
        enum { VECTORS = TALLY_SLOTS * 8 / sizeof(vector_##level) };                               \
        const vector_##level zero = {0};                                                           \
        for (struct wave *end = wave + waves; wave < end; wave++) {                                \
            vector_##level *own = (vector_##level *)(void *)wave->counts;                          \
            _Pragma("GCC unroll 32") for (uint32_t n = 0; n < VECTORS; n++) own[n] = zero;         \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

/* What the clock makes of a wave's counts; returns its tallies. */
static uint32_t wave_clock(const struct clock_cost *costs, const struct wave *wave,
                           struct clock_wave *time, uint8_t used[TALLY_SLOTS])
{
    uint32_t count = tallies_used(wave->counts, used);
    *time = (struct clock_wave){0};
    for (uint32_t n = 0; n < count; n++)
        clock_wave_add(time, costs, (enum inst_tally)used[n], wave->counts[used[n]]);
    return count;
}

static void tallies_record(const uint64_t *counts, const uint8_t *used, uint32_t count,
                           uint64_t factor, struct perf_group *record)
{
    for (uint32_t n = 0; n < count; n++) {
        perf_group_count(record, (enum inst_tally)used[n], counts[used[n]] * factor);
        if (used[n] < TALLY_SALU) /* those before are of VALU and MFMA */
            record->valu_lanes += counts[used[n]] * factor * WAVE_LANES;
    }
}

/* Of waves that have executed different things. */
static __attribute__((noinline)) void sums_record(const struct workgroup *group,
                                                  struct perf_group *record)
{
    uint8_t used[TALLY_SLOTS];
    uint64_t sums[TALLY_SLOTS] = {0};
    for (uint32_t i = 0; i < group->wave_count; i++)
        for (uint32_t t = 0; t < TALLY_SLOTS; t++)
            sums[t] += group->waves[i].counts[t];
    tallies_record(sums, used, tallies_used(sums, used), 1, record);
}

/* Waves of a group mostly execute the same, so that the wave before knows. Returns whether all did.
 */
static bool record_instructions(const struct engine *engine, const struct workgroup *group,
                                struct clock_wave *times, struct perf_group *record)
{
    const struct clock_cost *costs = clock_costs_of(engine->model->gen);
    uint8_t used[TALLY_SLOTS], others[TALLY_SLOTS];
    bool same = true;
    uint32_t count = wave_clock(costs, &group->waves[0], &times[0], used);
    for (uint32_t i = 1; i < group->wave_count; i++) {
        const struct wave *wave = &group->waves[i];
        if (same_counts(wave, wave - 1)) {
            times[i] = times[i - 1];
            continue;
        }
        same = false;
        wave_clock(costs, wave, &times[i], others);
    }
    if (same)
        tallies_record(group->waves[0].counts, used, count, group->wave_count, record);
    else
        sums_record(group, record);
    return same;
}

static uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* The clock of perf/README.md: the waves of a SIMD issue one after another and wait together. */
static void record_times(const struct engine *engine, const struct workgroup *group,
                         const struct clock_wave *times, struct perf_group *record)
{
    uint64_t issue[SIMD_MAX] = {0}, matrix[SIMD_MAX] = {0};
    for (uint32_t i = 0; i < group->wave_count; i++) {
        uint32_t simd = i % engine->model->simd_per_cu;
        uint64_t load = clock_wave_load_wait(&times[i]), other = clock_wave_other_wait(&times[i]);
        issue[simd] += times[i].issue_cycles;
        matrix[simd] += times[i].matrix_cycles;
        record->simd_cycles = greater(record->simd_cycles, greater(issue[simd], matrix[simd]));
        record->longest_load_wait = greater(record->longest_load_wait, load);
        record->longest_other_wait = greater(record->longest_other_wait, other);
        record->issue_cycles += times[i].issue_cycles;
        record->load_wait_cycles += load;
        record->wait_cycles += load + other;
    }
}

/* Did all waves execute that run, with all lanes, and nothing else? */
static inline bool group_was(const struct workgroup *group, uint32_t whole)
{
    uint64_t idle = 0;
    uint32_t differ = 0;
    for (uint32_t i = 0; i < group->wave_count; i++) {
        differ |= wave_whole(&group->waves[i]) ^ whole;
        idle |= group->waves[i].idle_lanes;
    }
    return !(idle | differ);
}

/* The run, or 0: it is not so. */
static uint32_t group_whole(const struct workgroup *group)
{
    const uint32_t whole = wave_whole(&group->waves[0]);
    return group_was(group, whole) ? whole : 0;
}

static void executed_find(const struct engine *engine, struct workgroup *group,
                          struct executed *executed)
{
    struct clock_wave times[WAVES_PER_GROUP_MAX];
    memset(&executed->record, 0, offsetof(struct perf_group, tallies));
    bool same = record_instructions(engine, group, times, &executed->record);
    record_times(engine, group, times, &executed->record);
    executed->waves = same ? group->wave_count : 0;
    executed->sums_id = 0;
    executed->whole = same ? group_whole(group) : 0;
    memcpy(executed->counts, group->waves[0].counts, sizeof executed->counts);
    executed->total = executed->quads = 0;
    for (uint32_t at = 0; at < TALLY_SLOTS; at += QUAD) {
        uint64_t sum = 0;
        for (uint32_t n = at; n < at + QUAD; n++)
            sum += executed->counts[n];
        executed->total += sum;
        executed->quad[executed->quads] = (uint16_t)(at * sizeof executed->counts[0]);
        executed->quads += sum > 0;
    }
}

static __attribute__((noinline)) void counts_put_back(struct workgroup *group)
{
    const struct executed *known = &group->executed;
    for (uint32_t i = 0; i < group->wave_count; i++)
        for (uint32_t t = 0; t < TALLY_SLOTS; t++)
            group->waves[i].counts[t] += known->counts[t];
}

/*
 * Did each wave execute what is known, with so many lanes at work in all? Then its counts are 0
 * behind this. The waves' counts come to no more than what they have consumed of their slices:
 * where that is what the known ones come to and those that are not 0 are equal, all others are 0.
 */
static __attribute__((noinline)) bool counts_compare(struct workgroup *group, uint64_t lanes)
{
    struct executed *known = &group->executed;
    if (known->total * known->waves != group->consumed)
        return false;
    if (CALL_LEVEL(counts_take, known, group->waves, lanes)) {
        known->whole = group_whole(group);
        return true;
    }
    counts_put_back(group);
    return false;
}

/* The same, mostly without a look at the counts: a run's are always the same. */
static inline bool counts_take(struct workgroup *group, uint64_t lanes)
{
    const struct executed *known = &group->executed;
    if (known->waves != group->wave_count)
        return false;
    if (!known->whole || lanes != known->record.valu_lanes || !group_was(group, known->whole))
        return counts_compare(group, lanes);
    CALL_LEVEL(counts_drop, group->waves, known->waves);
    return true;
}

static uint64_t idle_lanes(const struct workgroup *group)
{
    uint64_t idle = 0;
    for (uint32_t i = 0; i < group->wave_count; i++)
        idle += group->waves[i].idle_lanes;
    return idle;
}

/* The same, however many lanes were at work; where the slices say nothing, all counts are looked
 * at. */
static bool executed_is_known(struct workgroup *group)
{
    const struct executed *known = &group->executed;
    if (known->waves != group->wave_count)
        return false;
    if (known->total * known->waves == group->consumed)
        return counts_take(group, known->record.valu_lanes - idle_lanes(group));
    return !CALL_LEVEL(differ, group->waves, group->wave_count, known->counts);
}

/* The fields that follow from what the waves executed; zeros in the others. */
static void record_executed(const struct workgroup *group, struct perf_group *record)
{
    enum { LINE = sizeof(vector_64), HEAD = offsetof(struct perf_group, tallies) };
    _Static_assert((HEAD + LINE - 1) / LINE * LINE <= sizeof *record, "copied by whole lines");
    const struct perf_group *known = &group->executed.record;
    CALL_LEVEL(copy, record, known, (HEAD + LINE - 1) / LINE * LINE);
    for (uint32_t n = 0; n < known->tally_count; n++) {
        record->tallies[n] = known->tallies[n];
        record->counts[n] = known->counts[n];
    }
    record->valu_lanes -= idle_lanes(group);
}

/* Groups that follow each other in a place mostly have the same sums: one look tells who sums up.
 */
static void sums_name(struct engine *engine, struct executed *executed, struct perf_group *record)
{
    const uint8_t *sums = (const uint8_t *)record + PERF_SUMS_AT;
    if (!executed->sums_id || memcmp(executed->sums, sums, PERF_SUMS_BYTES) != 0) {
        executed->sums_id =
            atomic_fetch_add_explicit(&engine->sums_ids, 1, memory_order_relaxed) + 1;
        memcpy(executed->sums, sums, PERF_SUMS_BYTES);
    }
    record->sums_id = executed->sums_id;
}

void record_place(struct perf_group *record, const struct launch *launch,
                  const struct gpu_model *model)
{
    const struct unit_place place = launch_place(launch, model, record->group_index);
    record->round = record->group_index / launch->units;
    record->xcc = place.xcc;
    record->se = place.se;
    record->sh = place.sh;
    record->cu = place.cu;
    record->array_units = launch_array_units(launch, model, &place);
}

static void record_group(struct engine *engine, struct workgroup *group, struct perf_group *record)
{
    record_executed(group, record);
    record->dispatch_seq = group->dispatch->sequence;
    record->group_index = group->index;
    record->units = group->launch->units;
    record_place(record, group->launch, engine->model);
    record->waves = group->wave_count;
    record->work_items = group->work_items;
    record->capacity = group->launch->capacity;
    record->limit = group->launch->limit;
    record->wants = group->wants;
    record->sample_limit = group->sample_limit;
    record->sample_slot = group->sample_slot;
    record->is_sampled = group->is_sampled;
    memcpy(record->lds_samples, group->lds_samples, sizeof record->lds_samples);
    record->flat_lds_insts = group->flat_lds_insts;
    record->flat_lds_only = group->flat_lds_only;
    record->lds = group->lds_counts;
    record->fetches = group->fetches.count;
    record->scalar_repeats = group->accesses.scalar_repeats;
    record->beside = groups_beside(group->dispatch, group);
    perf_group_time(record);
    sums_name(engine, &group->executed, record);
}

/* As many blocks that were looked at, which are few where they are the same: arguments. */
static __attribute__((noinline)) bool same_blocks(const struct block_log *a,
                                                  const struct block_log *b)
{
    enum { MOST = 4 };
    if (a->count > MOST)
        return false;
    for (uint64_t n = 0; n < a->count; n++) {
        const struct perf_block *x = &a->items[n], *y = &b->items[n];
        if (x->va != y->va || x->number != y->number || x->position != y->position ||
            x->kind != y->kind || x->sectors != y->sectors || x->halves != y->halves ||
            x->repeats != y->repeats || x->memory != y->memory)
            return false;
    }
    return true;
}

/* Did the group begin as the one with the record, and was nothing looked at of both but blocks? */
static __attribute__((noinline)) bool began_alike(const struct workgroup *group,
                                                  const struct finished_group *full)
{
    const struct perf_group *record = &full->record;
    bool looked_at = group->wants || record->wants || group->is_sampled || record->is_sampled ||
                     group->is_traced || group->accesses.count || full->accesses.count ||
                     full->steps.count || full->steps.lost;
    return !looked_at && record->waves == group->wave_count &&
           record->work_items == group->work_items &&
           record->beside == groups_beside(group->dispatch, group);
}

/* Would the group's record be the head's, but for its place? Not while counters want to know what
 * it accessed. */
static inline bool is_repeat(struct workgroup *group, const struct finished_group *head)
{
    const struct perf_group *record = &group->full->record;
    uint64_t differ = (record->flat_lds_insts ^ group->flat_lds_insts) |
                      (record->flat_lds_only ^ group->flat_lds_only) |
                      (group->sample_limit ^ record->sample_limit) |
                      (group->blocks.count ^ head->blocks.count) | group->wants;
    return !differ && (!group->blocks.count || same_blocks(&group->blocks, &head->blocks)) &&
           (group->is_alike || began_alike(group, group->full)) &&
           counts_take(group, record->valu_lanes);
}

/* The slot is the group's: the window keeps every other one's index apart. Its memory for blocks
 * becomes the group's, and the other way. */
static struct finished_group *slot_take(struct workgroup *group, bool is_like)
{
    struct dispatch *dispatch = group->dispatch;
    struct finished_group *slot = &dispatch->finished[group->index % dispatch->window];
    struct perf_block *items = slot->blocks.items;
    const uint64_t capacity = slot->blocks.capacity;
    slot->repeats = 0;
    slot->is_like = is_like;
    slot->blocks = group->blocks;
    group->blocks = (struct block_log){.items = items, .capacity = capacity};
    group->head = slot;
    return slot;
}

void group_record_like(struct workgroup *group)
{
    slot_take(group, true);
}

void group_record_known(struct engine *engine, struct workgroup *group)
{
    struct finished_group *slot = slot_take(group, false);
    group->full = slot;
    record_group(engine, group, &slot->record);
    slot->accesses = group->accesses;
    group->accesses = (struct access_log){
        .items = slot->kept, .capacity = slot->kept_capacity, .expected = slot->accesses.count};
    slot->kept = NULL;
    slot->kept_capacity = 0;
    slot->steps = group->steps;
    group->steps = (struct step_log){0};
}

static __attribute__((noinline)) uint64_t record_make(struct engine *engine,
                                                      struct workgroup *group)
{
    if (!executed_is_known(group))
        executed_find(engine, group, &group->executed);
    group_record_known(engine, group);
    return group->full->record.issue_cycles;
}

uint64_t group_record(struct engine *engine, struct workgroup *group, bool follows)
{
    group->is_repeat = follows && is_repeat(group, group->head);
    if (!group->is_repeat)
        return record_make(engine, group);
    group->head->repeats++;
    return group->full->record.issue_cycles;
}
