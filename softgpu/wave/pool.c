/* Which group runs next, and the threads that run them. */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "isa_ops.h"
#include "wave/engine.h"

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

uint32_t groups_resident_max(const struct engine *engine, const struct dispatch *dispatch)
{
    uint32_t waves =
        engine->model->cu_active * engine->model->simd_per_cu * engine->model->waves_per_simd;
    return waves / (dispatch->launch.waves_per_group ? dispatch->launch.waves_per_group : 1);
}

/*
 * How many groups may exist at once. Few, for the host's caches; but groups may wait for each
 * other, so the limit grows while slices pass and no group ends, up to what the device holds.
 */
static uint32_t resident_limit(const struct engine *engine, const struct dispatch *dispatch)
{
    uint32_t device = groups_resident_max(engine, dispatch);
    uint32_t wanted = 2 * (uint32_t)(engine->thread_count + 1) + engine->resident_extra;
    return wanted < device ? wanted : device;
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
    return dispatch->in_flight == 0 || engine->resident < resident_limit(engine, dispatch);
}

/* Round-robin over the dispatches, so that a later one need not wait for an earlier one's end. */
static struct dispatch *dispatch_with_new_group(struct engine *engine)
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

static void dispatch_fail_memory(struct dispatch *dispatch)
{
    log_error("softgpu", "out of memory for the work-groups of a dispatch");
    dispatch->failed = true;
    dispatch->result.fault = FAULT_TRAP;
}

/* Under lock; returns with it held, but drops it to set the group up. */
static struct workgroup *start_group(struct engine *engine, struct dispatch *dispatch)
{
    struct workgroup *group = group_take(engine);
    if (!group) {
        dispatch_fail_memory(dispatch);
        return NULL;
    }
    uint64_t index = dispatch->group_next++;
    struct finished_group *slot = &dispatch->finished[index % dispatch->window];
    slot->ready = false;
    slot->accesses = (struct access_log){0};
    slot->steps = (struct step_log){0};
    dispatch->in_flight++;
    dispatch->running++;
    engine->resident++;
    if (!dispatch->result.begin_ticks)
        dispatch->result.begin_ticks = gpu_clock_ticks();
    pthread_mutex_unlock(&engine->lock);
    group->dispatch = dispatch;
    group->launch = &dispatch->launch;
    group->engine = engine;
    group->wants = perf_wants(engine->perf);
    int status = group_reserve(group, &dispatch->launch);
    if (status == 0) {
        group_start(group, engine->model, &dispatch->request, index);
        group->is_traced = perf_trace_level(engine->perf, group->xcc, group->se, group->sh,
                                            group->cu) == TRACE_STEPS;
    }
    pthread_mutex_lock(&engine->lock);
    if (status == 0)
        return group;
    dispatch_fail_memory(dispatch);
    dispatch->running--;
    group_discard(engine, group);
    return NULL;
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
        if (engine->idle_threads > 0)
            pthread_cond_signal(&engine->work);
    }
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

static struct dispatch *ended_dispatch(struct engine *engine)
{
    for (struct dispatch *d = engine->dispatches; d; d = d->next) {
        bool nothing_left = d->failed || d->group_retired == d->group_total;
        if (nothing_left && d->in_flight == 0 && !d->aborted)
            return d;
    }
    return NULL;
}

/* A thread that found all execution slots taken sleeps: it is woken when there is one again. */
static void leave_slot(struct engine *engine)
{
    pthread_mutex_lock(&engine->lock);
    engine->executing--;
    if (engine->idle_threads > 0 && (engine->parked_head || dispatch_with_new_group(engine)))
        pthread_cond_signal(&engine->work);
    pthread_mutex_unlock(&engine->lock);
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
    struct wave *faulting = NULL;
    enum group_state state = run_slice(worker, group, &faulting);
    if (state == GROUP_DONE)
        group_finish(engine, group);
    else
        slice_end(engine, group, state, faulting);
    leave_slot(engine);
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
