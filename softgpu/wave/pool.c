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

/* Under lock; the group is set up by group_prepare(), without it. */
static struct workgroup *start_group(struct engine *engine, struct dispatch *dispatch)
{
    struct workgroup *group = group_take(engine);
    if (!group) {
        dispatch_fail_memory(dispatch);
        return NULL;
    }
    group->index = dispatch->group_next++;
    struct finished_group *slot = &dispatch->finished[group->index % dispatch->window];
    slot->ready = false;
    slot->accesses = (struct access_log){0};
    slot->blocks = (struct block_log){0};
    slot->steps = (struct step_log){0};
    dispatch->in_flight++;
    dispatch->running++;
    engine->resident++;
    if (!dispatch->result.begin_ticks)
        dispatch->result.begin_ticks =
            dispatch->request.begin_ticks ? dispatch->request.begin_ticks : gpu_clock_ticks();
    group->dispatch = dispatch;
    group->launch = &dispatch->launch;
    group->engine = engine;
    return group;
}

static bool group_prepare(struct engine *engine, struct workgroup *group)
{
    struct dispatch *dispatch = group->dispatch;
    group->wants = perf_wants(engine->perf);
    if (group_reserve(group, &dispatch->launch) < 0) {
        pthread_mutex_lock(&engine->lock);
        dispatch_fail_memory(dispatch);
        dispatch->running--;
        engine->executing--;
        group_discard(engine, group);
        pthread_mutex_unlock(&engine->lock);
        return false;
    }
    group_start(group, engine->model, &dispatch->request, group->index);
    time_note_begin(group, engine->perf, dispatch->group_total);
    group->is_traced =
        perf_trace_level(engine->perf, group->xcc, group->se, group->sh, group->cu) == TRACE_STEPS;
    return true;
}

static struct workgroup *pick(struct worker *worker)
{
    struct engine *engine = worker->engine;
    struct dispatch *dispatch = NULL;
    if (!worker->last_was_new || !engine->parked_head)
        dispatch = dispatch_with_new_group(engine);
    worker->last_was_new = dispatch != NULL;
    if (dispatch)
        return start_group(engine, dispatch);
    struct workgroup *group = unpark(engine);
    if (group)
        group->dispatch->running++;
    return group;
}

static bool enter_code(struct workgroup *group)
{
    for (uint32_t i = 0; i < group->wave_count; i++) {
        if (!code_enter(group->engine->code, group->reader, &group->waves[i],
                        group->launch->entry_va))
            return false;
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

static enum group_state run_slice(struct worker *worker, struct workgroup *group,
                                  struct wave **faulting)
{
    enum group_state state = GROUP_FAULT;
    vm_reader_enter(&worker->reader);
    group->reader = &worker->reader;
    if (group->slices++ > 0 || enter_code(group)) {
        state = group_run(group, faulting);
    } else {
        *faulting = &group->waves[0];
        (*faulting)->fault.kind = FAULT_MEMORY_EXEC;
        (*faulting)->fault.va = (*faulting)->fault.pc_va = group->launch->entry_va;
    }
    access_log_place(group);
    vm_reader_leave(&worker->reader);
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

static void slice_end(struct engine *engine, struct workgroup *group, enum group_state state,
                      const struct wave *faulting)
{
    struct dispatch *dispatch = group->dispatch;
    pthread_mutex_lock(&engine->lock);
    dispatch->running--;
    if (state == GROUP_FAULT) {
        record_fault(dispatch, faulting);
        dispatch->failed = true;
    }
    bool dropped = dispatch->failed || dispatch->aborted;
    if (dropped) {
        group_discard(engine, group);
        pthread_cond_broadcast(&engine->left);
    } else {
        note_slice(engine, state);
        park(engine, group);
    }
    slot_leave(engine);
    pthread_mutex_unlock(&engine->lock);
    if (dropped)
        dispatch_try_end(engine, dispatch);
}

/* Parked groups of a failed dispatch go without running. */
static bool drop_if_failed(struct engine *engine, struct workgroup *group)
{
    if (!group->dispatch->failed && !group->dispatch->aborted)
        return false;
    group->dispatch->running--;
    group_discard(engine, group);
    pthread_cond_broadcast(&engine->left);
    return true;
}

bool worker_turn(struct worker *worker)
{
    struct engine *engine = worker->engine;
    pthread_mutex_lock(&engine->lock);
    bool full = engine->executing >= engine->execute_limit;
    engine->executing++;
    struct workgroup *group = full ? NULL : pick(worker);
    struct dispatch *ended = NULL;
    bool dropped = group && drop_if_failed(engine, group);
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
    if (worker->last_was_new && !group_prepare(engine, group))
        return true;
    struct wave *faulting = NULL;
    enum group_state state = run_slice(worker, group, &faulting);
    if (state == GROUP_DONE)
        group_finish(engine, group);
    else
        slice_end(engine, group, state, faulting);
    if (state == GROUP_IDLE)
        sched_yield(); /* every wave sleeps: the host program may be who they wait for */
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
