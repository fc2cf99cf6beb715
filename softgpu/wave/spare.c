/* Groups and dispatches that have ended, kept for the next ones. */
#include <stdlib.h>

#include "wave/engine.h"

struct workgroup *group_take(struct engine *engine, struct dispatch *dispatch)
{
    struct workgroup *group = engine->free_groups;
    if (group) {
        engine->free_groups = group->next;
        engine->free_count--;
    } else {
        group = calloc(1, sizeof *group);
    }
    if (!group)
        return NULL;
    group->dispatch = dispatch;
    group->launch = &dispatch->launch;
    group->engine = engine;
    engine->resident++;
    engine->resident_waves += dispatch->launch.waves_per_group;
    return group;
}

void group_discard(struct engine *engine, struct workgroup *group)
{
    engine->resident--;
    engine->resident_waves -= group->launch->waves_per_group;
    if (engine->free_count >= FREE_GROUPS_MAX) {
        group_free(group);
        return;
    }
    group->next = engine->free_groups;
    engine->free_groups = group;
    engine->free_count++;
}

void groups_free(struct engine *engine)
{
    while (engine->free_groups) {
        struct workgroup *group = engine->free_groups;
        engine->free_groups = group->next;
        group_free(group);
    }
}

void finished_free(struct dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->capacity; i++) {
        free(dispatch->finished[i].kept);
        free(dispatch->finished[i].blocks.items);
    }
    free(dispatch->finished);
    dispatch->finished = NULL;
    dispatch->capacity = 0;
}

static void dispatch_free(struct dispatch *dispatch)
{
    if (dispatch)
        finished_free(dispatch);
    free(dispatch);
}

struct dispatch *dispatch_take(struct engine *engine)
{
    struct dispatch *dispatch =
        atomic_exchange_explicit(&engine->spare, NULL, memory_order_acquire);
    if (!dispatch)
        dispatch = calloc(1, sizeof *dispatch);
    else
        *dispatch =
            (struct dispatch){.finished = dispatch->finished, .capacity = dispatch->capacity};
    if (dispatch)
        dispatch->engine = engine;
    return dispatch;
}

static void group_logs_drop(struct finished_group *group)
{
    if (group->is_like)
        return;
    free(group->accesses.items);
    free(group->accesses.moves);
    free(group->steps.items);
}

/* Of groups that were recorded and have not retired. */
static void logs_drop(struct dispatch *dispatch)
{
    uint64_t i = dispatch->group_retired;
    while (i < dispatch->group_next) {
        const uint64_t end = i + dispatch->ready[i % dispatch->window];
        i += end == i; /* not recorded */
        while (i < end) {
            struct finished_group *group = &dispatch->finished[i % dispatch->window];
            group_logs_drop(group);
            i += 1 + group->repeats;
        }
    }
}

void dispatch_give(struct dispatch *dispatch)
{
    struct engine *engine = dispatch->engine;
    logs_drop(dispatch);
    if (dispatch->capacity <= RETIRE_WINDOW_MAX)
        dispatch = atomic_exchange_explicit(&engine->spare, dispatch, memory_order_acq_rel);
    dispatch_free(dispatch);
}

void dispatches_free(struct engine *engine)
{
    while (engine->dispatches) {
        struct dispatch *dispatch = engine->dispatches;
        engine->dispatches = dispatch->next;
        logs_drop(dispatch);
        dispatch_free(dispatch);
    }
    dispatch_free(atomic_exchange_explicit(&engine->spare, NULL, memory_order_acquire));
}
