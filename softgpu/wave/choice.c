/* Which dispatch gets a thread next: what of them is left to start, and what has ended. */
#include "wave/engine.h"

static uint32_t device_waves(const struct engine *engine)
{
    return engine->model->cu_active * engine->model->simd_per_cu * engine->model->waves_per_simd;
}

uint32_t groups_resident_max(const struct engine *engine, const struct dispatch *dispatch)
{
    return device_waves(engine) /
           (dispatch->launch.waves_per_group ? dispatch->launch.waves_per_group : 1);
}

/*
 * Whether one more group may exist. Few do, for the host's caches; but groups may wait for each
 * other, so the limit grows while slices pass and no group ends, up to what the device holds:
 * waves, because another dispatch's groups may be larger or smaller.
 */
static bool has_room(const struct engine *engine, const struct dispatch *dispatch)
{
    const uint32_t wanted = 2 * (uint32_t)(engine->thread_count + 1) + engine->resident_extra;
    return engine->resident < wanted &&
           engine->resident_waves + dispatch->launch.waves_per_group <= device_waves(engine);
}

/* The runtime gave private memory for so many waves. One group always runs, that all may end. */
static bool scratch_is_full(const struct dispatch *dispatch)
{
    uint64_t waves = (uint64_t)(dispatch->in_flight + 1) * dispatch->launch.waves_per_group;
    return dispatch->request.scratch_waves && dispatch->in_flight > 0 &&
           waves > dispatch->request.scratch_waves;
}

static bool may_start_group(const struct engine *engine, const struct dispatch *dispatch)
{
    if (dispatch->failed || dispatch->aborted || dispatch->group_next >= dispatch->group_total)
        return false;
    if (dispatch->group_next - dispatch->group_retired >= dispatch->window)
        return false;
    if (scratch_is_full(dispatch))
        return false;
    return dispatch->in_flight == 0 || has_room(engine, dispatch);
}

/* Round-robin over the dispatches, so that a later one need not wait for an earlier one's end. */
struct dispatch *dispatch_with_new_group(struct engine *engine)
{
    struct dispatch *first = engine->rotor ? engine->rotor : engine->dispatches, *d = first;
    if (!first)
        return NULL;
    do {
        struct dispatch *next = d->next ? d->next : engine->dispatches;
        if (may_start_group(engine, d)) {
            engine->rotor = next;
            return d;
        }
        d = next;
    } while (d != first);
    return NULL;
}

/* How many groups of the dispatch, if private memory is there for so many. */
static uint64_t scratch_room(const struct dispatch *dispatch)
{
    const uint32_t waves = dispatch->launch.waves_per_group;
    if (!dispatch->request.scratch_waves || !waves)
        return UINT64_MAX;
    uint64_t groups = dispatch->request.scratch_waves / waves;
    return groups > dispatch->in_flight ? groups - dispatch->in_flight : 1;
}

uint64_t batch_size(const struct engine *engine, const struct dispatch *dispatch)
{
    uint64_t left = dispatch->group_total - dispatch->group_next, size = dispatch->batch;
    uint64_t window = dispatch->window - (dispatch->group_next - dispatch->group_retired);
    /* As much for all threads, and for what waits behind a slow one. */
    const uint64_t parts = 2 * (uint64_t)engine->execute_limit, room = dispatch->window / parts;
    uint64_t share = left / parts, scratch = scratch_room(dispatch);
    size = size < window ? size : window;
    size = size < share ? size : share;
    size = size < room ? size : room;
    size = size < scratch ? size : scratch;
    /* Those of a cooperative launch wait for each other. */
    return size && !dispatch->launch.gws ? size : 1;
}

struct dispatch *ended_dispatch(struct engine *engine)
{
    for (struct dispatch *d = engine->dispatches; d; d = d->next) {
        bool nothing_left = d->failed || d->group_retired == d->group_total;
        if (nothing_left && d->in_flight == 0 && !d->aborted)
            return d;
    }
    return NULL;
}

void slot_leave(struct engine *engine, bool returns)
{
    engine->executing--;
    bool free = engine->executing + returns < engine->execute_limit;
    if (free && engine->idle_threads > 0 &&
        (engine->parked_head || dispatch_with_new_group(engine)))
        pthread_cond_signal(&engine->work);
}
