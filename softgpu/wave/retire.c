/* The end of groups, in order, and of dispatches. */
#include <stdlib.h>
#include <string.h>

#include "core/time_source.h"
#include "gfx90a_regs.h" /* generated */
#include "wave/engine.h"

enum {
    RETIRE_AT_ONCE = 16 /* records; the command processor's accesses wait meanwhile */
};

/* Under lock, by who retires: how many are next in order and ready, which they are no longer. Their
 * slots are not used again before group_retired moves on. */
static uint64_t groups_ready_take(struct dispatch *dispatch)
{
    uint64_t end = dispatch->group_retired;
    while (end < dispatch->group_next) {
        uint16_t *run = &dispatch->ready[end % dispatch->window];
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
    group->record.moves = group->accesses.moves;
    group->record.blocks = group->blocks.items;
    group->record.block_count = group->blocks.count;
    group->record.steps = group->steps.items;
    group->record.step_count = group->steps.count;
    group->record.steps_lost = group->steps.lost;
}

/* A short log's memory stays with its slot, of so many of a ring, which keep megabytes at most. */
static void accesses_free(struct finished_group *group, bool keeps)
{
    enum { KEPT_ENTRIES = 256 };
    const struct access_log *log = &group->accesses;
    if (!keeps || group->kept || log->capacity > KEPT_ENTRIES) {
        free(log->items);
        return;
    }
    group->kept = log->items;
    group->kept_capacity = log->capacity;
}

static void logs_free(struct finished_group *group, bool keeps)
{
    enum { BLOCKS_KEPT = 32 };
    if (group->blocks.capacity > BLOCKS_KEPT) {
        free(group->blocks.items);
        group->blocks = (struct block_log){.items = NULL};
    }
    if (group->is_like)
        return;
    if (group->accesses.items)
        accesses_free(group, keeps);
    if (group->steps.items)
        free(group->steps.items);
    if (group->accesses.moves)
        free(group->accesses.moves);
    group->accesses.items = NULL;
    group->accesses.moves = NULL;
    group->steps.items = NULL;
}

/* Groups on their way to perf. */
struct hand_over {
    const struct dispatch *dispatch;
    uint64_t next, end;
    struct finished_group *full; /* whose record it was */
    uint32_t repeats;            /* of the last one that are left */
    bool is_over;                /* perf knows that no more are to come */
};

/* The record of one becomes that of the group behind it, which did the same. */
static void record_repeat(struct perf_group *record, const struct dispatch *dispatch)
{
    const struct launch *launch = &dispatch->launch;
    const struct gpu_model *model = dispatch->engine->model;
    if (record->moves)
        perf_accesses_move(record->moves);
    record->group_index++;
    record_place(record, launch, model);
}

/* The same of one that has blocks of its own. */
static void record_like(struct perf_group *record, const struct finished_group *group,
                        const struct hand_over *over)
{
    record->group_index = over->next - 1;
    record_repeat(record, over->dispatch);
    record->blocks = group->blocks.items;
    record->block_count = group->blocks.count;
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
        record_repeat(&over->full->record, dispatch);
    } else {
        struct finished_group *head = &dispatch->finished[over->next % dispatch->window];
        over->repeats = head->repeats;
        if (head->is_like)
            record_like(&over->full->record, head, over);
        else
            record_complete(over->full = head);
    }
    struct perf_group *record = &over->full->record;
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
        const uint64_t slot = (first + n) % dispatch->window;
        struct finished_group *group = &dispatch->finished[slot];
        logs_free(group, slot < RETIRE_WINDOW_LOGGED_MAX);
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
    if (closes)
        dispatch->begun = false; /* perf has ended it */
    groups_logs_free(dispatch, dispatch->group_retired, count);
    pthread_mutex_lock(&engine->lock);
    dispatch->group_retired += count;
    dispatch->retiring = false;
    left_tell(engine);
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
    if (dispatch->request.is_untimed)
        return;
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

void groups_ended(struct dispatch *dispatch, uint64_t first, uint64_t count)
{
    _Static_assert(BATCH_MAX <= UINT16_MAX, "a run is a batch, or part of one");
    if (count > 0)
        dispatch->ready[first % dispatch->window] = (uint16_t)count;
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

/* Groups are counted in the order of their retirement, and modelled time is in the result: a late
 * dispatch is one whose place in that order nobody sees, and whose times nobody reads. */
bool dispatch_may_be_late(const struct engine *engine, const struct dispatch *dispatch)
{
    return dispatch->request.is_untimed && !dispatch->request.is_counted && !engine->retire_busy &&
           dispatch->group_next == dispatch->group_total && dispatch->in_flight == 0 &&
           !dispatch->failed && !dispatch->aborted && !perf_wants(engine->perf) &&
           !atomic_load_explicit(&engine->late, memory_order_relaxed);
}

void dispatch_end_early(struct engine *engine, struct dispatch *dispatch)
{
    groups_ready_take(dispatch); /* all that are left */
    dispatch_unlink(engine, dispatch);
    pthread_mutex_unlock(&engine->lock);
    dispatch->request.done(dispatch->request.arg, &dispatch->result);
    atomic_store_explicit(&engine->late, dispatch, memory_order_release);
}

void engine_settle(struct engine *engine)
{
    if (!atomic_load_explicit(&engine->late, memory_order_relaxed))
        return;
    struct dispatch *dispatch = atomic_exchange_explicit(&engine->late, NULL, memory_order_acquire);
    if (!dispatch)
        return;
    const uint64_t first = dispatch->group_retired;
    struct hand_over over = {.dispatch = dispatch, .next = first, .end = dispatch->group_total};
    while (!over.is_over)
        groups_hand_over(engine, dispatch, &over, true);
    groups_logs_free(dispatch, first, dispatch->group_total - first);
    dispatch->group_retired = dispatch->group_total;
    dispatch_give(dispatch);
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
        left_wait(engine);
    engine->retire_busy = true;
    bool mine = claim_end(engine, dispatch);
    if (mine) {
        pthread_mutex_unlock(&engine->lock);
        if (dispatch->begun)
            dispatch->result.model_cycles = perf_dispatch_end(engine->perf, dispatch->sequence);
        pthread_mutex_lock(&engine->lock);
    }
    *next = retire_ready(engine, &done);
    left_tell(engine);
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
