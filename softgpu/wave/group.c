#include "wave/group.h"

#include "wave/code.h"
#include "wave/fetch_path.h"
#include "wave/step.h"

/* A group's, until others have the thread; turns in step that count as one. */
enum { GROUP_ROUNDS = 4, ROUND_TURNS = 8 };

/* Turns in step behind a barrier (step.h). Each is a phase of reads or one of writes: MAGMA's
 * cpotf2_smlpin_anywidth_kernel copies 8 rows by reads of LDS and generic stores in turn. */
enum { STEP_TURNS = 64 };

static void wave_run(struct wave *wave)
{
    const struct inst *inst = wave->pc;
    wave->stop = WAVE_RUNNING;
    wave->in_step = false;
    wave->slice_left = WAVE_SLICE_INSTRUCTIONS;
    while (--wave->slice_left >= 0) {
        /* Acquire: pairs with slot_publish(); the decoder fills a slot before its exec. */
        inst_exec_fn *exec = __atomic_load_n(&inst->exec, __ATOMIC_ACQUIRE);
        uint64_t mask = wave_exec(wave);
        const struct inst *next = exec(wave, inst);
        wave_count(wave, inst, mask);
        if (__builtin_expect(!next, 0))
            return;
        inst = next;
    }
    wave->slice_left++; /* of an instruction that is not executed any more */
    wave->pc = inst;
    wave->stop = WAVE_SLICE;
}

/* A turn in step with the group's other waves ends before a write of what it has read, and before a
 * read of what it has written. Those of a slot that is still to be decoded are seen when it is
 * executed again. */
static bool step_ends(const struct wave *wave, const struct inst *inst)
{
    return wave->in_step && wave->touched & step_conflicts(inst);
}
static void step_begin(struct wave *wave)
{
    wave->in_step = wave->group->turns_in_step > 0;
    wave->touched = 0;
}

static __attribute__((noinline)) void wave_run_in_step(struct wave *wave)
{
    const struct inst *inst = wave->pc;
    step_begin(wave);
    wave->stop = WAVE_RUNNING;
    wave->slice_left = WAVE_SLICE_INSTRUCTIONS;
    while (--wave->slice_left >= 0) {
        inst_exec_fn *exec = __atomic_load_n(&inst->exec, __ATOMIC_ACQUIRE);
        uint64_t mask = wave_exec(wave);
        if (step_ends(wave, inst)) {
            code_note_held(engine_code(wave->group->engine), inst);
            break;
        }
        const struct inst *next = exec(wave, inst);
        wave_count(wave, inst, mask);
        if (!next)
            return;
        wave->touched |= next != inst ? step_touches(inst) : 0;
        inst = next;
    }
    wave->slice_left++;
    wave->pc = inst;
    wave->stop = WAVE_SLICE;
}

static void executed_note(struct wave *wave, const struct inst *inst, const struct inst *next)
{
    if (wave->group->wants & PERF_WANT_FETCH && !fetch_has(&wave->group->fetches, inst))
        fetch_note(wave, inst);
    if (wave->group->is_traced && (next || wave->stop != WAVE_FAULT))
        step_note(wave, inst, next);
}

/* A slot's first execution only decodes it, and comes back to it: that is no fetch. Whatever else
 * comes back to itself has been fetched. */
static inline const struct inst *single_fetching(struct wave *wave, const struct inst *inst,
                                                 inst_exec_fn *exec, int32_t *left)
{
    struct fetch_log *fetches = &wave->group->fetches;
    wave->slice_left = 0;
    *left -= 1;
    const struct inst *next = exec(wave, inst);
    if (next != inst && !fetch_has(fetches, inst))
        fetch_note(wave, inst);
    return next;
}

/* One instruction, or a run of which it is known what it fetches. */
static inline const struct inst *execute_fetching(struct wave *wave, const struct inst *inst,
                                                  inst_exec_fn *exec, int32_t *left)
{
    const struct fetch_path *path = fetch_path_of(inst, exec);
    if (!path)
        return single_fetching(wave, inst, exec, left);
    wave->slice_left = *left - 1;
    fetch_run_begin(wave, inst, path);
    const struct inst *next = exec(wave, inst);
    fetch_run_end(wave, (uint32_t)(*left - wave->slice_left));
    *left = wave->slice_left;
    return next;
}

/* The same while instruction fetches are counted. */
static __attribute__((noinline)) void wave_run_fetching(struct wave *wave)
{
    struct fetch_log *fetches = &wave->group->fetches;
    const struct inst *inst = wave->pc;
    int32_t left = WAVE_SLICE_INSTRUCTIONS;
    wave->stop = WAVE_RUNNING;
    fetches->last_window = wave->fetch_window;
    fetches->window = NULL;
    step_begin(wave);
    while (left > 0 && !step_ends(wave, inst)) {
        inst_exec_fn *exec = __atomic_load_n(&inst->exec, __ATOMIC_ACQUIRE);
        uint64_t mask = wave_exec(wave);
        const struct inst *next = execute_fetching(wave, inst, exec, &left);
        wave_count(wave, inst, mask);
        if (wave->in_step && next != inst)
            wave->touched |= step_touches(inst);
        inst = next;
        if (!inst)
            break;
    }
    wave->slice_left = left;
    wave->fetch_window = fetches->last_window;
    if (!inst)
        return;
    wave->pc = inst;
    wave->stop = WAVE_SLICE;
}

/* The same while they are traced: no run of instructions is executed as one. */
static __attribute__((noinline)) void wave_run_noting(struct wave *wave)
{
    const struct inst *inst = wave->pc;
    wave->stop = WAVE_RUNNING;
    wave->group->fetches.last_window = wave->fetch_window;
    wave->group->fetches.window = NULL;
    wave->slice_left = 0;
    step_begin(wave);
    for (int left = WAVE_SLICE_INSTRUCTIONS; left > 0 && inst && !step_ends(wave, inst); left--) {
        inst_exec_fn *exec = __atomic_load_n(&inst->exec, __ATOMIC_ACQUIRE);
        uint64_t mask = wave_exec(wave);
        const struct inst *next = exec(wave, inst);
        wave_count(wave, inst, mask);
        if (next != inst) {
            executed_note(wave, inst, next);
            wave->touched |= step_touches(inst);
        }
        inst = next;
    }
    wave->fetch_window = wave->group->fetches.last_window;
    if (!inst)
        return;
    wave->pc = inst;
    wave->stop = WAVE_SLICE;
}

static void barrier_release(struct workgroup *group)
{
    for (uint32_t i = 0; i < group->wave_count; i++) {
        if (group->waves[i].stop == WAVE_BARRIER)
            group->waves[i].stop = WAVE_SLICE;
    }
    group->waves_at_barrier = 0;
    group->turns_in_step = group->waves_live > 1 ? STEP_TURNS : 0;
}

static void wave_stopped(struct workgroup *group, struct wave *wave)
{
    if (wave->stop == WAVE_DONE)
        group->waves_live--;
    else
        wave->resumed = true;
    if (wave->stop == WAVE_BARRIER)
        group->waves_at_barrier++;
    /* A wave that ended does not hold up those that wait. */
    if (group->waves_at_barrier > 0 && group->waves_at_barrier == group->waves_live)
        barrier_release(group);
}

/* One round over the group's waves. Returns whether any did more than sleep; NULL-able *faulting.
 */
static bool group_round(struct workgroup *group, struct wave **faulting)
{
    bool worked = false;
    for (uint32_t i = 0; i < group->wave_count; i++) {
        struct wave *wave = &group->waves[i];
        if (wave->stop == WAVE_DONE || wave->stop == WAVE_BARRIER)
            continue;
        if (wave->stop == WAVE_GWS && !gws_may_pass(engine_gws(group->engine), &wave->gws))
            continue;
        if (group->wave_count > 1)
            valu_switch(wave);
        if (__builtin_expect(group->is_traced, 0))
            wave_run_noting(wave);
        else if (__builtin_expect(group->wants & PERF_WANT_FETCH, 0))
            wave_run_fetching(wave);
        else if (group->turns_in_step > 0)
            wave_run_in_step(wave);
        else
            wave_run(wave);
        group->consumed += (uint32_t)(WAVE_SLICE_INSTRUCTIONS - wave->slice_left);
        worked |= wave->stop != WAVE_SLEEP;
        if (wave->stop == WAVE_FAULT) {
            *faulting = wave;
            return true;
        }
        wave_stopped(group, wave);
    }
    return worked;
}

static __attribute__((noinline)) enum group_state rounds_run(struct workgroup *group,
                                                             struct wave **faulting)
{
    enum group_state state = GROUP_SLICE;
    int left = GROUP_ROUNDS * ROUND_TURNS; /* other groups want the thread, too */
    while (left > 0 && state == GROUP_SLICE) {
        left -= group->turns_in_step > 0 ? 1 : ROUND_TURNS;
        bool worked = group_round(group, faulting);
        group->turns_in_step -= group->turns_in_step > 0;
        if (*faulting)
            state = GROUP_FAULT;
        else if (group->waves_live == 0)
            state = GROUP_DONE;
        else if (!worked)
            state = GROUP_IDLE;
    }
    return state;
}

/* The slice of a group's only wave, if nothing is to be noted of it: most of them end in it. */
static enum group_state single_run(struct workgroup *group, struct wave **faulting)
{
    struct wave *wave = &group->waves[0];
    wave_run(wave);
    group->consumed += (uint32_t)(WAVE_SLICE_INSTRUCTIONS - wave->slice_left);
    if (__builtin_expect(wave->stop == WAVE_DONE, 1)) {
        group->waves_live = 0;
        return GROUP_DONE;
    }
    if (wave->stop == WAVE_FAULT) {
        *faulting = wave;
        return GROUP_FAULT;
    }
    wave_stopped(group, wave);
    return wave->stop == WAVE_SLEEP ? GROUP_IDLE : GROUP_SLICE;
}

static bool is_single(const struct workgroup *group)
{
    return group->wave_count == 1 && group->waves[0].stop == WAVE_SLICE &&
           !(group->wants & PERF_WANT_FETCH) && !group->is_traced;
}

enum group_state group_run(struct workgroup *group, struct wave **faulting)
{
    const uint64_t consumed = group->consumed;
    *faulting = NULL;
    enum group_state state = is_single(group) ? single_run(group, faulting) : GROUP_SLICE;
    if (__builtin_expect(state == GROUP_SLICE, 0))
        state = rounds_run(group, faulting);
    group->heat += group->consumed - consumed;
    return state;
}
