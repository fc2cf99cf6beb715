/* The end of groups, in order, and of dispatches. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "gfx90a_regs.h" /* generated */
#include "perf/clock.h"
#include "wave/engine.h"

enum { SIMD_MAX = 8 };

/* Groups of this dispatch that share the compute unit with the group. */
static uint64_t groups_beside(const struct dispatch *dispatch, const struct workgroup *group)
{
    uint64_t units = dispatch->launch.units, own = group->index % units;
    uint64_t groups = (dispatch->group_total - own + units - 1) / units;
    return groups < dispatch->launch.capacity ? groups : dispatch->launch.capacity;
}

struct wave_time {
    uint64_t issue_cycles, wait_cycles;
};

static void tally_record(const struct workgroup *group, uint32_t tally, uint64_t sum,
                         struct wave_time times[WAVES_PER_GROUP_MAX], struct perf_group *record)
{
    const struct clock_cost cost = clock_costs[tally];
    for (uint32_t i = 0; i < group->wave_count; i++) {
        uint64_t count = group->waves[i].counts[tally];
        times[i].issue_cycles += count * cost.issue_cycles;
        times[i].wait_cycles += count * cost.wait_cycles;
    }
    perf_group_count(record, tally, sum);
}

/* Over the group's waves. */
static void sum_tallies(const struct workgroup *group, uint64_t sums[TALLY_SLOTS])
{
    memcpy(sums, group->waves[0].counts, TALLY_SLOTS * sizeof sums[0]);
    for (uint32_t i = 1; i < group->wave_count; i++) {
        for (uint32_t t = 0; t < TALLY_SLOTS; t++)
            sums[t] += group->waves[i].counts[t];
    }
}

static void record_instructions(const struct workgroup *group,
                                struct wave_time times[WAVES_PER_GROUP_MAX],
                                struct perf_group *record)
{
    uint64_t sums[TALLY_SLOTS];
    sum_tallies(group, sums);
    for (uint32_t t = 0; t < TALLY_COUNT; t++) {
        if (sums[t])
            tally_record(group, t, sums[t], times, record);
    }
    for (uint32_t i = 0; i < group->wave_count; i++)
        record->valu_lanes += group->waves[i].lanes[CLASS_VALU] + group->waves[i].lanes[CLASS_MFMA];
}

/*
 * The clock of perf/README.md: the waves of a SIMD issue one after another and wait together, and
 * groups share their unit. A wave is resident for as long as its group: until its SIMD has issued
 * everything and its longest wait is over.
 */
static void record_times(const struct engine *engine, const struct workgroup *group,
                         const struct wave_time *times, struct perf_group *record)
{
    uint64_t issue[SIMD_MAX] = {0}, busiest = 0, longest_wait = 0;
    uint64_t beside = groups_beside(group->dispatch, group);
    for (uint32_t i = 0; i < group->wave_count; i++) {
        uint64_t *simd = &issue[i % engine->model->simd_per_cu];
        *simd += times[i].issue_cycles;
        busiest = *simd > busiest ? *simd : busiest;
        longest_wait = times[i].wait_cycles > longest_wait ? times[i].wait_cycles : longest_wait;
        record->issue_cycles += times[i].issue_cycles;
        record->wait_cycles += times[i].wait_cycles;
    }
    uint64_t alone = busiest + longest_wait, together = busiest * beside;
    uint64_t resident = alone > together ? alone : together;
    record->wave_cycles = resident * group->wave_count;
    record->busy_cycles = (resident + beside - 1) / beside;
}

static void record_group(const struct engine *engine, const struct workgroup *group,
                         struct perf_group *record)
{
    memset(record, 0, offsetof(struct perf_group, tallies));
    record->dispatch_seq = group->dispatch->sequence;
    record->group_index = group->index;
    record->xcc = group->xcc;
    record->se = group->se;
    record->sh = group->sh;
    record->cu = group->cu;
    record->waves = group->wave_count;
    record->work_items = group->work_items;
    record->capacity = group->launch->capacity;
    record->limit = group->launch->limit;
    record->flat_lds_insts = group->flat_lds_insts;
    record->flat_lds_only = group->flat_lds_only;
    record->lds = group->lds_counts;
    record->fetches = group->fetches.count;
    struct wave_time times[WAVES_PER_GROUP_MAX];
    memset(times, 0, group->wave_count * sizeof times[0]);
    record_instructions(group, times, record);
    record_times(engine, group, times, record);
}

/* Under retire_lock and lock: what is next in order, when it is ready. Its slot is not used again
 * before group_retired moves on. */
static struct finished_group *next_finished(struct dispatch *dispatch)
{
    struct finished_group *slot = &dispatch->finished[dispatch->group_retired % dispatch->window];
    if (dispatch->group_retired >= dispatch->group_next || !slot->ready)
        return NULL;
    return slot;
}

/* Registers of the compute state that the launch has set, as the thread trace shows them. */
static void begin(struct engine *engine, const struct dispatch *dispatch)
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
    perf_dispatch_begin(engine->perf, dispatch->sequence, dispatch->request.is_counted);
}

static void retire_in_order(struct engine *engine, struct dispatch *dispatch)
{
    struct finished_group *next;
    while ((next = next_finished(dispatch))) {
        pthread_mutex_unlock(&engine->lock);
        if (!dispatch->begun)
            begin(engine, dispatch);
        dispatch->begun = true;
        next->record.accesses = next->accesses.items;
        next->record.access_count = next->accesses.count;
        next->record.steps = next->steps.items;
        next->record.step_count = next->steps.count;
        next->record.steps_lost = next->steps.lost;
        perf_group_retire(engine->perf, &next->record);
        free(next->accesses.items);
        free(next->steps.items);
        pthread_mutex_lock(&engine->lock);
        next->ready = false;
        next->accesses = (struct access_log){0};
        next->steps = (struct step_log){0};
        dispatch->group_retired++;
    }
}

void group_finish(struct engine *engine, struct workgroup *group)
{
    struct dispatch *dispatch = group->dispatch;
    struct finished_group *slot = &dispatch->finished[group->index % dispatch->window];
    /* The slot is ours: the window keeps every other group's index apart. */
    record_group(engine, group, &slot->record);
    slot->accesses = group->accesses;
    group->accesses = (struct access_log){0};
    slot->steps = group->steps;
    group->steps = (struct step_log){0};
    pthread_mutex_lock(&engine->retire_lock);
    pthread_mutex_lock(&engine->lock);
    slot->ready = true;
    engine->slices_without_end = 0;
    retire_in_order(engine, dispatch);
    dispatch->running--;
    group_discard(engine, group);
    pthread_cond_broadcast(&engine->left);
    bool last = dispatch->in_flight == 0 &&
                (dispatch->failed || dispatch->group_retired == dispatch->group_total);
    pthread_mutex_unlock(&engine->lock);
    pthread_mutex_unlock(&engine->retire_lock);
    if (last)
        dispatch_try_end(engine, dispatch);
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

void dispatch_free(struct dispatch *dispatch)
{
    for (uint64_t i = dispatch->group_retired; i < dispatch->group_next; i++) {
        free(dispatch->finished[i % dispatch->window].accesses.items);
        free(dispatch->finished[i % dispatch->window].steps.items);
    }
    free(dispatch->finished);
    free(dispatch);
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

bool dispatch_try_end(struct engine *engine, struct dispatch *dispatch)
{
    pthread_mutex_lock(&engine->retire_lock);
    pthread_mutex_lock(&engine->lock);
    bool mine = claim_end(engine, dispatch);
    pthread_mutex_unlock(&engine->lock);
    if (mine && dispatch->begun)
        perf_dispatch_end(engine->perf, dispatch->sequence);
    pthread_mutex_unlock(&engine->retire_lock);
    if (!mine)
        return false;
    dispatch->result.end_ticks = gpu_clock_ticks();
    if (!dispatch->result.begin_ticks)
        dispatch->result.begin_ticks = dispatch->result.end_ticks;
    dispatch->request.done(dispatch->request.arg, &dispatch->result);
    dispatch_free(dispatch);
    return true;
}
