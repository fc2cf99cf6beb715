#include "wave/series_note.h"

#include <stdlib.h>
#include <string.h>

#include "perf/cache.h"
#include "wave/access.h"
#include "wave/fetch_path.h"
#include "wave/time_note.h"

/* Which entries of the log move, and how far: those of each access, and those in between. */
enum { MOVES_MOST = 2 * WAVES_PER_GROUP_MAX * SERIES_ACCESSES + 1 };
struct mover {
    struct workgroup *group;
    const struct series_plan *plan;
    uint32_t count;
    bool whole; /* all by whole blocks: entries say the same of the bytes within these */
    struct perf_move each[MOVES_MOST];
};

/* Of the entries that have been added. */
static void entries_move(struct mover *mover, int64_t step)
{
    const uint32_t end = (uint32_t)mover->group->accesses.count;
    struct perf_move *last = mover->count ? &mover->each[mover->count - 1] : NULL;
    if (end == (last ? last->end : 0))
        return;
    mover->whole &= step % CACHE_BLOCK_BYTES == 0;
    if (last && last->step == step)
        last->end = end;
    else
        mover->each[mover->count++] = (struct perf_move){end, step};
}

static void access_note(struct mover *mover, struct wave *wave, const struct inst *inst,
                        const struct series_place *place)
{
    const uint64_t at = mover->group->index - mover->plan->first;
    if (mover->group->wants & PERF_WANT_MEMORY)
        fetch_note_before(wave, inst); /* as the log of the access does */
    entries_move(mover, 0);
    access_log_span(wave, inst, place->va + (uint64_t)place->step * at, 4 * dwords_moved(inst));
    entries_move(mover, place->step);
}

static void wave_note(struct mover *mover, struct wave *wave)
{
    const struct series *series = mover->plan->series;
    const struct series_place *place = mover->plan->places[wave->wave_in_group];
    const struct series_load *load = mover->plan->loads;
    for (unsigned n = 0; n < series->note_count; n++) {
        const struct series_step *step = &series->steps[series->notes[n]];
        if (step->role == SERIES_LOAD) {
            access_log_scalar(wave, step->inst, load->va, load->bytes);
            load++;
        } else {
            access_note(mover, wave, step->inst, place++);
        }
    }
}

/* As the run loop does it (group.c), of a wave that begins. */
static void wave_note_fetching(struct mover *mover, struct wave *wave)
{
    const struct series *series = mover->plan->series;
    mover->group->fetches.last_window = 0;
    fetch_run_begin(wave, series->steps[0].inst, mover->plan->path);
    wave_note(mover, wave);
    fetch_run_end(wave, series->count);
}

/* False: there is no memory for it. */
static bool moves_keep(const struct mover *mover)
{
    const size_t bytes = mover->count * sizeof mover->each[0];
    struct access_log *log = &mover->group->accesses;
    struct perf_moves *moves = malloc(sizeof *moves + bytes);
    if (!moves)
        return false;
    moves->accesses = log->items;
    moves->stream = (struct perf_stream){.is_known = false};
    moves->count = mover->count;
    memcpy(moves->each, mover->each, bytes);
    log->moves = moves;
    return true;
}

static void times_note(struct workgroup *group, const struct series_plan *plan, uint32_t number,
                       bool sampled)
{
    const struct series *series = plan->series;
    const struct series_place *place = plan->places[number];
    const struct series_load *load = plan->loads;
    const uint64_t at = group->index - plan->first;
    for (unsigned n = 0; n < series->note_count; n++) {
        const struct series_step *step = &series->steps[series->notes[n]];
        if (step->role == SERIES_LOAD) {
            time_note_span(group, step->inst, load->va, time_origin_scalar(group, load->va),
                           load->bytes);
            load++;
        } else if (sampled) {
            const uint64_t va = place->va + (uint64_t)place->step * at;
            time_note_span(group, step->inst, va, time_origin(group, va),
                           WAVE_LANES * 4 * dwords_moved(step->inst));
            place++;
        }
    }
}

void series_note_next(struct workgroup *group, const struct series_plan *plan, bool sampled)
{
    for (uint32_t w = 0; w < plan->waves; w++)
        times_note(group, plan, w, sampled);
}

bool series_note(struct workgroup *group, const struct series_plan *plan)
{
    struct mover mover;
    mover.group = group;
    mover.plan = plan;
    mover.count = 0;
    mover.whole = true;
    if (group->wants)
        group_wanted_clear(group);
    for (uint32_t w = 0; w < plan->waves; w++)
        if (group->wants & PERF_WANT_FETCH)
            wave_note_fetching(&mover, &group->waves[w]);
        else
            wave_note(&mover, &group->waves[w]);
    entries_move(&mover, 0);
    if (!mover.count)
        return !(group->wants & PERF_WANT_L2);
    access_log_place(group);
    return mover.whole && moves_keep(&mover);
}
