/* The end of groups, in order, and of dispatches. */
#include <stdlib.h>

#include "wave/engine.h"

/*
 * Approximate cycles that an instruction of each class holds its wave, latency included. Relative
 * weights in the spirit of the gfx9 optimisation guides (a 64-lane VALU operation issues over four
 * cycles); times derived from them are published as approximate.
 */
static const uint16_t class_cycles[CLASS_COUNT] = {
    [CLASS_VALU] = 4,     [CLASS_MFMA] = 32,    [CLASS_SALU] = 4,     [CLASS_SMEM] = 24,
    [CLASS_VMEM_RD] = 64, [CLASS_VMEM_WR] = 32, [CLASS_FLAT_RD] = 72, [CLASS_FLAT_WR] = 40,
    [CLASS_LDS] = 16,     [CLASS_GDS] = 64,     [CLASS_BRANCH] = 8,   [CLASS_SENDMSG] = 8,
    [CLASS_WAITCNT] = 4,  [CLASS_BARRIER] = 16, [CLASS_EXPORT] = 16,  [CLASS_OTHER] = 4};

static uint64_t wave_cycles(const struct wave *wave)
{
    uint64_t cycles = 0;
    for (int i = 0; i < CLASS_COUNT; i++)
        cycles += wave->counts[i] * class_cycles[i];
    return cycles;
}

static void record_group(const struct engine *engine, const struct workgroup *group,
                         struct perf_group *record)
{
    uint32_t waves_per_simd =
        (group->wave_count + engine->model->simd_per_cu - 1) / engine->model->simd_per_cu;
    uint64_t longest = 0;
    *record = (struct perf_group){.dispatch_seq = group->dispatch->sequence,
                                  .group_index = group->index,
                                  .xcc = group->xcc,
                                  .se = group->se,
                                  .sh = group->sh,
                                  .cu = group->cu,
                                  .waves = group->wave_count,
                                  .work_items = group->work_items,
                                  .lds_bank_conflict_cycles = group->lds_conflict_cycles,
                                  .lds_idx_cycles = group->lds_index_cycles,
                                  .flat_insts = group->flat_insts,
                                  .flat_lds_insts = group->flat_lds_insts};
    for (uint32_t i = 0; i < group->wave_count; i++) {
        const struct wave *wave = &group->waves[i];
        uint64_t cycles = wave_cycles(wave);
        longest = cycles > longest ? cycles : longest;
        for (int c = 0; c < CLASS_COUNT; c++)
            record->insts[c] += wave->counts[c];
        record->valu_lanes += wave->lanes[CLASS_VALU] + wave->lanes[CLASS_MFMA];
        record->wave_cycles += cycles * waves_per_simd;
    }
    record->busy_cycles = longest * waves_per_simd + group->lds_conflict_cycles;
}

/* Under retire_lock and lock: hands over what is next in order, one record at a time. */
static bool next_finished(struct dispatch *dispatch, struct finished_group *out)
{
    struct finished_group *slot = &dispatch->finished[dispatch->group_retired % RETIRE_WINDOW];
    if (dispatch->group_retired >= dispatch->group_next || !slot->ready)
        return false;
    *out = *slot;
    slot->ready = false;
    slot->accesses = (struct access_log){0};
    return true;
}

static void retire_in_order(struct engine *engine, struct dispatch *dispatch)
{
    struct finished_group next;
    while (next_finished(dispatch, &next)) {
        pthread_mutex_unlock(&engine->lock);
        if (!dispatch->begun)
            perf_dispatch_begin(engine->perf, dispatch->sequence);
        dispatch->begun = true;
        next.record.accesses = next.accesses.items;
        next.record.access_count = next.accesses.count;
        perf_group_retire(engine->perf, &next.record);
        free(next.accesses.items);
        pthread_mutex_lock(&engine->lock);
        dispatch->group_retired++;
    }
}

void group_finish(struct engine *engine, struct workgroup *group)
{
    struct dispatch *dispatch = group->dispatch;
    struct finished_group *slot = &dispatch->finished[group->index % RETIRE_WINDOW];
    /* The slot is ours: the window keeps every other group's index apart. */
    record_group(engine, group, &slot->record);
    slot->accesses = group->accesses;
    group->accesses = (struct access_log){0};
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
    for (uint64_t i = dispatch->group_retired; i < dispatch->group_next; i++)
        free(dispatch->finished[i % RETIRE_WINDOW].accesses.items);
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
