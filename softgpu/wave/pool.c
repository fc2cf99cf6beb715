/* The threads that run groups, and the groups that wait for one. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "isa_ops.h"
#include "wave/access.h"
#include "wave/engine.h"
#include "wave/series.h"
#include "wave/time_note.h"

static void park(struct engine *engine, struct workgroup *group)
{
    group->next = NULL;
    *engine->parked_tail = group;
    engine->parked_tail = &group->next;
}

static struct workgroup *unpark(struct engine *engine)
{
    struct workgroup *group = engine->parked_head;
    if (!group)
        return NULL;
    engine->parked_head = group->next;
    if (!engine->parked_head)
        engine->parked_tail = &engine->parked_head;
    return group;
}

static void dispatch_fail_memory(struct dispatch *dispatch)
{
    log_error("softgpu", "out of memory for the work-groups of a dispatch");
    dispatch->failed = true;
    dispatch->result.fault = FAULT_TRAP;
}

/*
 * Groups that a thread takes at one locking of the engine, one after another in one place, because
 * a group of one wave takes less time than its taking and its retirement. A batch has groups of a
 * dispatch that have turned out to be short, and leaves most of what is left to the other threads.
 */
struct batch {
    struct dispatch *dispatch;
    uint64_t next, end; /* groups that have not started */
    uint64_t ended;     /* the first of those that have, and are not given back yet */
    bool all_short;
    uint64_t longest;              /* cycles of issue of one of its groups */
    uint64_t longest_log;          /* of accesses: entries that there is room for */
    struct series_count in_series; /* of its groups: these took less time */
};
/* A short group takes some tenths of a millisecond of the host's: a few of them are a batch. Of the
 * shortest ones more are, until they take as long as one: what a thread has taken waits when the
 * host gives its processor to others. */
enum { SHORT_CYCLES = 16384, BATCH_SHORT = 16, SERIES_FASTER = 8 };
/* What a batch logs of its accesses is about so much, that it is still in the host's cache, and in
 * memory that the C library keeps, when the batch retires: a hundred kilobytes. */
enum { BATCH_ENTRIES = 4096 };

/* Under lock. */
static struct workgroup *place_take(struct engine *engine, struct dispatch *dispatch)
{
    struct workgroup *group = group_take(engine, dispatch);
    if (!group)
        dispatch_fail_memory(dispatch);
    return group;
}

/* Under lock; each group is set up by group_prepare(), without it. */
static struct workgroup *batch_take(struct engine *engine, struct dispatch *dispatch,
                                    struct batch *batch)
{
    struct workgroup *group = place_take(engine, dispatch);
    if (!group)
        return NULL;
    uint64_t first = dispatch->group_next, count = batch_size(engine, dispatch);
    dispatch->group_next += count;
    dispatch->in_flight += (uint32_t)count;
    *batch = (struct batch){dispatch, first, first + count, first, true, 0, 0, {0, 0}};
    if (!dispatch->result.begin_ticks && !dispatch->request.is_untimed)
        dispatch->result.begin_ticks =
            dispatch->request.begin_ticks ? dispatch->request.begin_ticks : gpu_clock_ticks();
    return group;
}

/* The next group of a batch, in the place of the one before. */
static bool group_prepare(struct engine *engine, struct workgroup *group, uint64_t index)
{
    struct dispatch *dispatch = group->dispatch;
    group->index = index;
    group->wants = perf_wants(engine->perf);
    group->is_traced = false;
    if (group_reserve(group, &dispatch->launch) < 0)
        return false;
    group_start(group, engine->model, index);
    time_note_begin(group, engine->perf, dispatch->group_total);
    if (group->wants & PERF_WANT_TRACE) {
        const struct unit_place at = group_place(group);
        group->is_traced =
            perf_trace_level(engine->perf, at.xcc, at.se, at.sh, at.cu) == TRACE_STEPS;
    }
    return true;
}

/* Under lock. A new batch, or a parked group, whose batch is empty. */
static struct workgroup *pick(struct worker *worker, struct batch *batch)
{
    struct engine *engine = worker->engine;
    struct dispatch *dispatch = NULL;
    if (!worker->last_was_new || !engine->parked_head)
        dispatch = dispatch_with_new_group(engine);
    worker->last_was_new = dispatch != NULL;
    if (dispatch)
        return batch_take(engine, dispatch, batch);
    struct workgroup *group = unpark(engine);
    if (group)
        *batch = (struct batch){
            group->dispatch, group->index + 1, group->index + 1, group->index, false, 0, 0, {0, 0}};
    return group;
}

/* Regions of decoded code stay where they are: a thread that runs group after group of a kernel
 * finds their code once, as long as nothing is mapped or unmapped. */
static bool code_find(struct worker *worker, struct workgroup *group)
{
    struct code_entry *entry = &worker->entry;
    uint64_t va = group->launch->entry_va, generation = worker->reader.generation;
    if (entry->pc && entry->va == va && entry->generation == generation)
        return true;
    struct wave *first = &group->waves[0];
    entry->pc = NULL;
    if (!code_enter(group->engine->code, group->reader, first, va))
        return false;
    *entry = (struct code_entry){va, generation, first->code_va, first->code, first->pc};
    return true;
}

static bool enter_code(struct worker *worker, struct workgroup *group)
{
    if (!code_find(worker, group))
        return false;
    for (uint32_t i = 0; i < group->wave_count; i++) {
        group->waves[i].code = worker->entry.code;
        group->waves[i].code_va = worker->entry.code_va;
        group->waves[i].pc = worker->entry.pc;
    }
    return true;
}

static void record_fault(struct dispatch *dispatch, const struct wave *wave)
{
    struct dispatch_result *result = &dispatch->result;
    if (result->fault != FAULT_NONE)
        return; /* the first one is reported */
    result->fault = wave->fault.kind;
    result->fault_va = wave->fault.va;
    result->fault_pc_va = wave->fault.pc_va;
    if (!wave->fault.inst || wave->fault.kind == FAULT_MEMORY_EXEC)
        return;
    memcpy(result->raw, wave->fault.inst->raw, sizeof result->raw);
    snprintf(result->mnemonic, sizeof result->mnemonic, "%s", isa_op_names[wave->fault.inst->op]);
}

static void batch_record(struct engine *engine, struct workgroup *group, struct batch *batch)
{
    const uint64_t entries = group->accesses.capacity;
    batch->longest_log = entries > batch->longest_log ? entries : batch->longest_log;
    uint64_t cycles = group_record(engine, group, group->index > batch->ended);
    batch->longest = cycles > batch->longest ? cycles : batch->longest;
}

/* The last group of the batch that begins as this one did. */
static uint64_t alike_last(const struct workgroup *group, const struct batch *batch)
{
    return (batch->end < group->alike_end ? batch->end : group->alike_end) - 1;
}

/* The group has ended: the next one of its batch goes on in its place, if it begins as this one
 * did.
 */
static bool next_is_alike(struct worker *worker, struct workgroup *group, struct batch *batch)
{
    struct engine *engine = worker->engine;
    bool is_hot = group->heat >= engine->hot_instructions && code_is_fresh(engine->code);
    if (batch->next >= batch->end || batch->next >= group->alike_end || is_hot ||
        perf_wants(engine->perf) != group->wants)
        return false;
    if (__builtin_expect(group->wants, 0))
        access_log_place(group);
    batch_record(engine, group, batch);
    const struct series_count count =
        series_run(engine, group, worker->entry.pc, alike_last(group, batch));
    batch->in_series.groups += count.groups;
    batch->in_series.repeats += count.repeats;
    group_start_alike(group);
    batch->next += count.groups + 1;
    return true;
}

static bool slice_begin(struct worker *worker, struct workgroup *group, const struct batch *batch)
{
    if (group->slices++ > 0)
        return true;
    if (!enter_code(worker, group))
        return false;
    group_remember(group, worker->engine->model, batch->dispatch->group_total, batch->end);
    return true;
}

/* A slice of the group, and where it ends, of those of the batch that are alike. Returns how the
 * last one's ended. */
static enum group_state slices_run(struct worker *worker, struct workgroup *group,
                                   struct batch *batch, struct wave **faulting)
{
    struct engine *engine = worker->engine;
    enum group_state state = GROUP_FAULT;
    vm_reader_enter(&worker->reader);
    group->reader = &worker->reader;
    if (slice_begin(worker, group, batch)) {
        valu_enter(&group->waves[0]);
        do
            state = group_run(group, faulting);
        while (state == GROUP_DONE && next_is_alike(worker, group, batch));
        valu_leave();
    } else {
        *faulting = &group->waves[0];
        (*faulting)->fault.kind = FAULT_MEMORY_EXEC;
        (*faulting)->fault.va = (*faulting)->fault.pc_va = group->launch->entry_va;
    }
    access_log_place(group);
    vm_reader_leave(&worker->reader);
    if (group->heat >= engine->hot_instructions) {
        group->heat = 0;
        code_translate(engine->code);
    }
    return state;
}

/* No group has ended for long: perhaps they wait for one that has not started. */
static void note_slice(struct engine *engine, enum group_state state)
{
    engine->slices_without_end++;
    if (state == GROUP_IDLE || engine->slices_without_end > 16 * engine->resident) {
        engine->resident_extra = engine->resident_extra < 1 << 14 ? engine->resident_extra * 2 + 1
                                                                  : engine->resident_extra;
        engine->slices_without_end = 0;
    }
}

/* Under lock: no more of the batch will run. The groups between `ended` and `next` have ended. */
static void batch_give_back(struct batch *batch)
{
    groups_ended(batch->dispatch, batch->ended, batch->next - batch->ended);
    batch->dispatch->in_flight -= (uint32_t)(batch->end - batch->next);
    batch->ended = batch->next = batch->end;
}

/* Under lock: a group has not ended in its slice, and waits or goes; those behind it in the batch
 * get another place, or go, too. */
static struct workgroup *slice_end(struct engine *engine, struct workgroup *group,
                                   struct batch *batch, enum group_state state,
                                   const struct wave *faulting)
{
    struct dispatch *dispatch = batch->dispatch;
    groups_ended(dispatch, batch->ended, group->index - batch->ended);
    batch->ended = batch->next;
    batch->all_short = false;
    if (state == GROUP_FAULT) {
        record_fault(dispatch, faulting);
        dispatch->failed = true;
    }
    if (dispatch->failed || dispatch->aborted) {
        dispatch->in_flight--;
        group_discard(engine, group);
        batch_give_back(batch);
        left_tell(engine);
        return NULL;
    }
    note_slice(engine, state);
    park(engine, group);
    group = batch->next < batch->end ? place_take(engine, dispatch) : NULL;
    if (!group)
        batch_give_back(batch);
    return group;
}

/* The size of the dispatch's next batches: they grow as long as their groups are short. */
static uint32_t batch_next(const struct batch *batch)
{
    uint64_t size = 2 * (uint64_t)batch->dispatch->batch;
    uint64_t most = SHORT_CYCLES / (batch->longest + 1);
    most = most > BATCH_SHORT ? most : BATCH_SHORT;
    if (batch->in_series.groups)
        most *= SERIES_FASTER;
    if (!batch->all_short || batch->longest > SHORT_CYCLES)
        return 1;
    if (!batch->in_series.repeats && batch->longest_log * most > BATCH_ENTRIES)
        most = BATCH_ENTRIES / batch->longest_log + 1;
    size = size < most ? size : most;
    return (uint32_t)(size < BATCH_MAX ? size : BATCH_MAX);
}

/* Under lock, which it gives back. The place is free, unless it is NULL. */
static void batch_end(struct worker *worker, struct workgroup *group, struct batch *batch)
{
    struct engine *engine = worker->engine;
    struct dispatch *dispatch = batch->dispatch;
    dispatch->batch = batch_next(batch);
    engine->in_series.groups += batch->in_series.groups;
    engine->in_series.repeats += batch->in_series.repeats;
    batch_give_back(batch);
    if (group)
        group_discard(engine, group);
    left_tell(engine);
    slot_leave(engine, worker != &engine->helper);
    if (worker == &engine->helper && dispatch_may_be_late(engine, dispatch)) {
        dispatch_end_early(engine, dispatch);
        return;
    }
    struct dispatch *failed = dispatch->failed || dispatch->aborted ? dispatch : NULL;
    groups_retire(engine);
    if (failed)
        dispatch_try_end(engine, failed);
}

/* One group of a batch, and those that are alike, for a slice. */
static enum group_state batch_slice(struct worker *worker, struct workgroup *group,
                                    struct batch *batch, struct wave **faulting)
{
    struct engine *engine = worker->engine;
    if (worker->last_was_new && !group_prepare(engine, group, batch->next++)) {
        pthread_mutex_lock(&engine->lock);
        dispatch_fail_memory(batch->dispatch);
        pthread_mutex_unlock(&engine->lock);
        return GROUP_SLICE; /* and dropped */
    }
    enum group_state state = slices_run(worker, group, batch, faulting);
    if (state == GROUP_DONE)
        batch_record(engine, group, batch);
    return state;
}

/* Runs a group that was taken, and the rest of its batch. */
static void batch_run(struct worker *worker, struct workgroup *group, struct batch *batch)
{
    struct engine *engine = worker->engine;
    enum group_state state;
    bool idle = false;
    for (;;) {
        struct wave *faulting = NULL;
        state = batch_slice(worker, group, batch, &faulting);
        idle |= state == GROUP_IDLE;
        bool more = batch->next < batch->end;
        if (state == GROUP_DONE && more)
            continue;
        pthread_mutex_lock(&engine->lock);
        if (state != GROUP_DONE)
            group = slice_end(engine, group, batch, state, faulting);
        if (state == GROUP_DONE || !group)
            break; /* still locked: a dispatch none of whose groups is ours may end */
        pthread_mutex_unlock(&engine->lock);
    }
    batch_end(worker, group, batch);
    if (idle)
        sched_yield(); /* every wave sleeps: the host program may be who they wait for */
}

/* Parked groups of a failed dispatch go without running. */
static bool drop_if_failed(struct engine *engine, struct workgroup *group)
{
    if (!group->dispatch->failed && !group->dispatch->aborted)
        return false;
    group->dispatch->in_flight--;
    group_discard(engine, group);
    left_tell(engine);
    return true;
}

bool worker_turn(struct worker *worker)
{
    struct engine *engine = worker->engine;
    struct batch batch;
    pthread_mutex_lock(&engine->lock);
    bool full = engine->executing >= engine->execute_limit;
    engine->executing++;
    struct workgroup *group = full ? NULL : pick(worker, &batch);
    struct dispatch *ended = NULL;
    bool dropped = group && !worker->last_was_new && drop_if_failed(engine, group);
    bool runs = group && !dropped;
    if (!runs) {
        engine->executing--;
        ended = ended_dispatch(engine);
    }
    pthread_mutex_unlock(&engine->lock);
    if (ended && dispatch_try_end(engine, ended))
        return true;
    if (!runs)
        return dropped;
    batch_run(worker, group, &batch);
    return true;
}

static void *pool_thread(void *arg)
{
    struct worker *worker = arg;
    struct engine *engine = worker->engine;
    vm_reader_register(engine->vm, &worker->reader);
    for (;;) {
        while (worker_turn(worker))
            continue;
        pthread_mutex_lock(&engine->lock);
        /* Whoever adds work signals under the lock; look again before sleeping. */
        bool stop = engine->stopping;
        bool full = engine->executing >= engine->execute_limit;
        bool nothing = !engine->parked_head && !dispatch_with_new_group(engine);
        if (!stop && !ended_dispatch(engine) && (full || nothing)) {
            engine->idle_threads++;
            pthread_cond_wait(&engine->work, &engine->lock);
            engine->idle_threads--;
        }
        pthread_mutex_unlock(&engine->lock);
        if (stop)
            break;
    }
    vm_reader_unregister(&worker->reader);
    return NULL;
}

int pool_start(struct engine *engine, int threads)
{
    for (int i = 0; i < threads; i++) {
        struct worker *worker = &engine->workers[i];
        worker->engine = engine;
        int error = pthread_create(&worker->thread, NULL, pool_thread, worker);
        if (error)
            return engine->thread_count > 0 ? 0 : -error;
        engine->thread_count++;
    }
    return 0;
}

void pool_stop(struct engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->stopping = true;
    pthread_cond_broadcast(&engine->work);
    pthread_mutex_unlock(&engine->lock);
    for (int i = 0; i < engine->thread_count; i++)
        pthread_join(engine->workers[i].thread, NULL);
    engine->thread_count = 0;
}
