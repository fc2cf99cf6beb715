/* The end of groups, in order, and of dispatches. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/time_source.h"
#include "gfx90a_regs.h" /* generated */
#include "perf/clock.h"
#include "wave/engine.h"
#include "wave/host_levels.h"

enum {
    SIMD_MAX = 8,
    RETIRE_AT_ONCE = 16 /* records; the command processor's accesses wait meanwhile */
};

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

static void executed_find(const struct engine *engine, struct workgroup *group,
                          struct executed *executed)
{
    struct clock_wave times[WAVES_PER_GROUP_MAX];
    memset(&executed->record, 0, offsetof(struct perf_group, tallies));
    bool same = record_instructions(engine, group, times, &executed->record);
    record_times(engine, group, times, &executed->record);
    executed->waves = same ? group->wave_count : 0;
    executed->sums_id = 0;
    memcpy(executed->counts, group->waves[0].counts, sizeof executed->counts);
}

/* The fields that follow from what the waves executed; zeros in the others. */
static void record_executed(const struct engine *engine, struct workgroup *group,
                            struct perf_group *record)
{
    enum { LINE = sizeof(vector_64), HEAD = offsetof(struct perf_group, tallies) };
    _Static_assert((HEAD + LINE - 1) / LINE * LINE <= sizeof *record, "copied by whole lines");
    struct executed *executed = &group->executed;
    if (executed->waves != group->wave_count ||
        CALL_LEVEL(differ, group->waves, group->wave_count, executed->counts))
        executed_find(engine, group, executed);
    const struct perf_group *known = &executed->record;
    CALL_LEVEL(copy, record, known, (HEAD + LINE - 1) / LINE * LINE);
    for (uint32_t n = 0; n < known->tally_count; n++) {
        record->tallies[n] = known->tallies[n];
        record->counts[n] = known->counts[n];
    }
    for (uint32_t i = 0; i < group->wave_count; i++)
        record->valu_lanes -= group->waves[i].idle_lanes;
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

static void record_place(struct perf_group *record, const struct launch *launch,
                         const struct gpu_model *model, const struct unit_place *place)
{
    record->xcc = place->xcc;
    record->se = place->se;
    record->sh = place->sh;
    record->cu = place->cu;
    record->array_units = launch_array_units(launch, model, place);
}

static void record_group(struct engine *engine, struct workgroup *group, struct perf_group *record)
{
    record_executed(engine, group, record);
    record->dispatch_seq = group->dispatch->sequence;
    record->group_index = group->index;
    record->round = group->index / group->launch->units;
    record->units = group->launch->units;
    record_place(record, group->launch, engine->model, &group->place);
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
    record->beside = groups_beside(group->dispatch, group);
    perf_group_time(record);
    sums_name(engine, &group->executed, record);
}

/* Under lock, by who retires: how many are next in order and ready, which they are no longer. Their
 * slots are not used again before group_retired moves on. */
static uint64_t groups_ready_take(struct dispatch *dispatch)
{
    uint64_t end = dispatch->group_retired;
    while (end < dispatch->group_next) {
        uint8_t *run = &dispatch->ready[end % dispatch->window];
        if (!*run)
            break;
        end += *run;
        *run = 0;
    }
    return end - dispatch->group_retired;
}

/* Registers of the compute state that the launch has set, as the thread trace shows them. */
static void trace_begin(struct engine *engine, const struct dispatch *dispatch)
{
    const struct launch *launch = &dispatch->launch;
    const struct perf_trace_register registers[] = {
        {REG_GFX90A_COMPUTE_NUM_THREAD_X, launch->size[0]},
        {REG_GFX90A_COMPUTE_NUM_THREAD_Y, launch->size[1]},
        {REG_GFX90A_COMPUTE_NUM_THREAD_Z, launch->size[2]},
        {REG_GFX90A_COMPUTE_PGM_LO, (uint32_t)(launch->entry_va >> 8)},
        {REG_GFX90A_COMPUTE_PGM_HI, (uint32_t)(launch->entry_va >> 40)},
        {REG_GFX90A_COMPUTE_PGM_RSRC1, launch->rsrc1},
        {REG_GFX90A_COMPUTE_PGM_RSRC2, launch->rsrc2},
        {REG_GFX90A_COMPUTE_DISPATCH_INITIATOR, 1},
    };
    perf_trace_launch(engine->perf, registers, sizeof registers / sizeof registers[0]);
}

static void record_complete(struct finished_group *group)
{
    group->record.accesses = group->accesses.items;
    group->record.access_count = group->accesses.count;
    group->record.blocks = group->blocks.items;
    group->record.block_count = group->blocks.count;
    group->record.steps = group->steps.items;
    group->record.step_count = group->steps.count;
    group->record.steps_lost = group->steps.lost;
}

static void logs_free(struct finished_group *group)
{
    if (group->accesses.items)
        free(group->accesses.items);
    if (group->blocks.items)
        free(group->blocks.items);
    if (group->steps.items)
        free(group->steps.items);
    group->accesses.items = NULL;
    group->blocks.items = NULL;
    group->steps.items = NULL;
}

/* Groups on their way to perf. */
struct hand_over {
    const struct dispatch *dispatch;
    uint64_t next, end;
    struct finished_group *head; /* of whose record the last one was */
    uint32_t repeats;            /* of the head's that are left */
    bool is_over;                /* perf knows that no more are to come */
};

/* The record of one becomes that of the group behind it, which did the same. */
static void record_repeat(struct perf_group *record, const struct dispatch *dispatch)
{
    const struct launch *launch = &dispatch->launch;
    const struct gpu_model *model = dispatch->engine->model;
    struct unit_place place = launch_place(launch, model, ++record->group_index);
    record->round = record->group_index / launch->units;
    record_place(record, launch, model, &place);
}

/* Repeats of the first round come one by one, because each tells where it ran; those of later ones
 * with the first of them. */
static const struct perf_group *record_next(void *arg)
{
    struct hand_over *over = arg;
    const struct dispatch *dispatch = over->dispatch;
    over->is_over = over->next == over->end;
    if (over->is_over)
        return NULL;
    if (over->repeats > 0) {
        over->repeats--;
        record_repeat(&over->head->record, dispatch);
    } else {
        over->head = &dispatch->finished[over->next % dispatch->window];
        over->repeats = over->head->repeats;
        record_complete(over->head);
    }
    struct perf_group *record = &over->head->record;
    record->repeats = over->next >= record->units ? over->repeats : 0;
    over->repeats -= record->repeats;
    over->next += 1 + record->repeats;
    return record;
}

/* Some of the next ones; `closes`: nothing comes behind the last of all. */
static void groups_hand_over(struct engine *engine, struct dispatch *dispatch,
                             struct hand_over *over, bool closes)
{
    if (!dispatch->begun)
        trace_begin(engine, dispatch);
    const struct perf_retirement retirement = {.dispatch_seq = dispatch->sequence,
                                               .begins = !dispatch->begun,
                                               .is_counted = dispatch->request.is_counted,
                                               .ends = closes,
                                               .next = record_next,
                                               .arg = over,
                                               .count = RETIRE_AT_ONCE};
    dispatch->result.model_cycles = perf_retire(engine->perf, &retirement);
    dispatch->begun = true;
}

static void groups_logs_free(const struct dispatch *dispatch, uint64_t first, uint64_t count)
{
    for (uint64_t n = 0; n < count; n++) {
        struct finished_group *group = &dispatch->finished[(first + n) % dispatch->window];
        logs_free(group);
        n += group->repeats;
    }
}

/* Under lock, dropped meanwhile; gives the groups' slots back with it held. True: nothing is left
 * of the dispatch, and nobody else ends it. */
static bool retire_in_order(struct engine *engine, struct dispatch *dispatch, uint64_t count)
{
    /* No group fails it or is taken any more. */
    bool closes = dispatch->group_retired + count == dispatch->group_total &&
                  dispatch->in_flight == 0 && !dispatch->failed && !dispatch->aborted;
    dispatch->retiring = true;
    pthread_mutex_unlock(&engine->lock);
    struct hand_over over = {.dispatch = dispatch,
                             .next = dispatch->group_retired,
                             .end = dispatch->group_retired + count};
    while (!over.is_over)
        groups_hand_over(engine, dispatch, &over, closes);
    groups_logs_free(dispatch, dispatch->group_retired, count);
    pthread_mutex_lock(&engine->lock);
    dispatch->group_retired += count;
    dispatch->retiring = false;
    pthread_cond_broadcast(&engine->left);
    return closes && !dispatch->aborted;
}

/*
 * Under lock, by the thread that set `retire_busy`, which is given back when no group is left to be
 * retired. A thread whose group ends meanwhile need not wait for it: it marks the group under
 * `lock`, which is held from the last look at all groups until `retire_busy` is false. What has
 * come to its end by that goes to `done`. Returns another dispatch of which nothing is left, for
 * dispatch_try_end(); NULL: none.
 */
static struct dispatch *retire_ready(struct engine *engine, struct dispatch **done)
{
    struct dispatch *dispatch = engine->dispatches;
    while (dispatch) {
        uint64_t count = groups_ready_take(dispatch);
        if (count > 0 && retire_in_order(engine, dispatch, count)) {
            dispatch_unlink(engine, dispatch);
            dispatch->next = NULL;
            *done = dispatch;
            done = &dispatch->next;
        }
        dispatch = count > 0 ? engine->dispatches : dispatch->next;
    }
    engine->retire_busy = false;
    return ended_dispatch(engine);
}

static void end_time_set(const struct engine *engine, struct dispatch *dispatch)
{
    struct dispatch_result *result = &dispatch->result;
    if (dispatch->request.begin_ticks && result->begin_ticks)
        result->end_ticks =
            result->begin_ticks + ticks_of_cycles(engine->model, result->model_cycles);
    else
        result->end_ticks = gpu_clock_ticks();
    if (!result->begin_ticks)
        result->begin_ticks = result->end_ticks;
}

/* Of dispatches that are in no list any more, oldest first. Without lock. */
static void dispatches_report(struct engine *engine, struct dispatch *done)
{
    while (done) {
        struct dispatch *dispatch = done;
        done = dispatch->next;
        end_time_set(engine, dispatch);
        dispatch->request.done(dispatch->request.arg, &dispatch->result);
        dispatch_give(dispatch);
    }
}

/* Blocks that were looked at, which are few where they are the same: arguments. */
static bool same_blocks(const struct block_log *a, const struct block_log *b)
{
    enum { MOST = 4 };
    if (a->count != b->count || a->count > MOST)
        return false;
    for (uint64_t n = 0; n < a->count; n++) {
        const struct perf_block *x = &a->items[n], *y = &b->items[n];
        if (x->va != y->va || x->number != y->number || x->position != y->position ||
            x->kind != y->kind || x->sectors != y->sectors || x->halves != y->halves ||
            x->repeats != y->repeats)
            return false;
    }
    return true;
}

/* What was looked at of the group, and of the one with the record: nothing but the same blocks. */
static bool same_notes(const struct workgroup *group, const struct finished_group *head)
{
    const struct perf_group *record = &head->record;
    bool looked_at = group->wants || record->wants || group->is_sampled || record->is_sampled ||
                     group->is_traced || group->accesses.count || head->accesses.count ||
                     head->steps.count || head->steps.lost;
    return !looked_at && group->sample_limit == record->sample_limit &&
           same_blocks(&group->blocks, &head->blocks);
}

/* Would the group's record be the head's, but for its place? */
static bool is_repeat(const struct workgroup *group, const struct finished_group *head)
{
    const struct perf_group *record = &head->record;
    const struct executed *executed = &group->executed;
    uint64_t idle_lanes = 0;
    if (executed->waves != group->wave_count || record->waves != group->wave_count ||
        record->work_items != group->work_items || !same_notes(group, head))
        return false;
    for (uint32_t i = 0; i < group->wave_count; i++)
        idle_lanes += group->waves[i].idle_lanes;
    return executed->record.valu_lanes - idle_lanes == record->valu_lanes &&
           record->flat_lds_insts == group->flat_lds_insts &&
           record->flat_lds_only == group->flat_lds_only &&
           record->beside == groups_beside(group->dispatch, group) &&
           !CALL_LEVEL(differ, group->waves, group->wave_count, executed->counts);
}

uint64_t group_record(struct engine *engine, struct workgroup *group, bool follows)
{
    struct dispatch *dispatch = group->dispatch;
    struct finished_group *slot = &dispatch->finished[group->index % dispatch->window];
    struct finished_group *head = &dispatch->finished[group->head % dispatch->window];
    if (follows && is_repeat(group, head)) {
        head->repeats++;
        return head->record.issue_cycles;
    }
    group->head = group->index;
    slot->repeats = 0;
    /* The slot is ours: the window keeps every other group's index apart. */
    record_group(engine, group, &slot->record);
    slot->accesses = group->accesses;
    group->accesses = (struct access_log){0};
    slot->blocks = group->blocks;
    group->blocks = (struct block_log){0};
    slot->steps = group->steps;
    group->steps = (struct step_log){0};
    return slot->record.issue_cycles;
}

void groups_ended(struct dispatch *dispatch, uint64_t first, uint64_t count)
{
    _Static_assert(BATCH_MAX <= UINT8_MAX, "a run is a batch, or part of one");
    if (count > 0)
        dispatch->ready[first % dispatch->window] = (uint8_t)count;
    dispatch->in_flight -= (uint32_t)count;
    if (count > 0)
        dispatch->engine->slices_without_end = 0;
}

void groups_retire(struct engine *engine)
{
    struct dispatch *ended = NULL, *done = NULL;
    if (!engine->retire_busy) {
        engine->retire_busy = true;
        ended = retire_ready(engine, &done);
    }
    pthread_mutex_unlock(&engine->lock);
    dispatches_report(engine, done);
    if (ended)
        dispatch_try_end(engine, ended);
}

void dispatch_unlink(struct engine *engine, struct dispatch *dispatch)
{
    struct dispatch **link = &engine->dispatches;
    while (*link && *link != dispatch)
        link = &(*link)->next;
    if (*link)
        *link = dispatch->next;
    if (engine->rotor == dispatch)
        engine->rotor = dispatch->next;
    if (!engine->dispatches)
        engine->resident_extra = 0;
}

/* Several threads may see the end at once: the one that unlinks the dispatch ends it. */
static bool claim_end(struct engine *engine, struct dispatch *dispatch)
{
    struct dispatch *d = engine->dispatches;
    while (d && d != dispatch)
        d = d->next;
    if (!d || d->aborted || d->in_flight > 0 || !(d->failed || d->group_retired == d->group_total))
        return false;
    dispatch_unlink(engine, dispatch);
    return true;
}

/* Of a dispatch that failed, or had no groups. */
static bool dispatch_end(struct engine *engine, struct dispatch *dispatch, struct dispatch **next)
{
    struct dispatch *done = NULL;
    pthread_mutex_lock(&engine->lock);
    while (engine->retire_busy)
        pthread_cond_wait(&engine->left, &engine->lock);
    engine->retire_busy = true;
    bool mine = claim_end(engine, dispatch);
    if (mine) {
        pthread_mutex_unlock(&engine->lock);
        if (dispatch->begun)
            dispatch->result.model_cycles = perf_dispatch_end(engine->perf, dispatch->sequence);
        pthread_mutex_lock(&engine->lock);
    }
    *next = retire_ready(engine, &done);
    pthread_cond_broadcast(&engine->left);
    pthread_mutex_unlock(&engine->lock);
    if (mine) {
        dispatch->next = done;
        done = dispatch;
    }
    dispatches_report(engine, done);
    return mine;
}

bool dispatch_try_end(struct engine *engine, struct dispatch *dispatch)
{
    bool ended = false;
    while (dispatch)
        ended |= dispatch_end(engine, dispatch, &dispatch);
    return ended;
}
