#include "wave/engine.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "translate/translate.h"
#include "wave/host_levels.h"
#include "wave/time_note.h"

static int cpu_count(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? count : 1;
}

/* One per CPU; of many two are left to the program's thread that waits, which runtimes let spin,
 * and to the packet processor: on 16, 14 threads compute as fast as 16, copy 1.3 to 1.5 times as
 * fast and do a triad 1.1 times. */
int engine_threads_for(int cpus)
{
    enum { MANY = 16, LEFT = 2 };
    return cpus < MANY ? cpus : cpus - LEFT;
}

/* CROCGPU_THREADS, else as many as the CPUs are for. A value that is no number from 1 up is not
 * obeyed, but said.
 */
static int threads_wanted(void)
{
    const char *text = getenv("CROCGPU_THREADS");
    const int cpus = engine_threads_for(cpu_count());
    const int usual = cpus < POOL_THREADS_MAX ? cpus : POOL_THREADS_MAX;
    if (!text || !*text)
        return usual;
    char *end;
    long threads = strtol(text, &end, 10);
    if (*end == 0 && threads > 0)
        return threads < POOL_THREADS_MAX ? (int)threads : POOL_THREADS_MAX;
    log_warning("softgpu", "CROCGPU_THREADS=%s is not a number of threads; using %d", text, usual);
    return usual;
}

/* New code is worth translating then, which takes about a microsecond for each of its instructions.
 */
static uint64_t hot_instructions(void)
{
    static const uint64_t instructions[] = {
        [TRANSLATE_OFF] = UINT64_MAX, [TRANSLATE_HOT] = 50000, [TRANSLATE_AT_ONCE] = 0};
    return instructions[translate_mode()];
}

static void engine_free(struct engine *engine)
{
    groups_free(engine);
    dispatches_free(engine);
    code_destroy(engine->code);
    gws_destroy(&engine->gws);
    pthread_cond_destroy(&engine->work);
    pthread_cond_destroy(&engine->left);
    pthread_mutex_destroy(&engine->lock);
    free(engine);
}

static void locks_init(struct engine *engine)
{
    gws_init(&engine->gws);
    pthread_mutex_init(&engine->lock, NULL);
    pthread_cond_init(&engine->work, NULL);
    pthread_cond_init(&engine->left, NULL);
}

int engine_create(const struct gpu_model *model, struct vm *vm, struct perf *perf, int threads,
                  struct engine **out)
{
    struct engine *engine = calloc(1, sizeof *engine);
    if (!engine)
        return -ENOMEM;
    if (code_create(model->gen, &wave_handlers, &engine->code) < 0) {
        free(engine);
        return -ENOMEM;
    }
    host_level_choose();
    engine->model = model;
    engine->vm = vm;
    engine->perf = perf;
    engine->hot_instructions = hot_instructions();
    engine->parked_tail = &engine->parked_head;
    engine->helper.engine = engine;
    locks_init(engine);
    vm_reader_register(vm, &engine->helper.reader);
    vm_reader_register(vm, &engine->submit_reader);
    threads = threads > 0 ? threads : threads_wanted();
    threads = threads < POOL_THREADS_MAX ? threads : POOL_THREADS_MAX;
    engine->execute_limit = (uint32_t)threads;
    int status = pool_start(engine, threads);
    if (status < 0) {
        vm_reader_unregister(&engine->helper.reader);
        vm_reader_unregister(&engine->submit_reader);
        engine_free(engine);
        return status;
    }
    *out = engine;
    return 0;
}

/* Parked groups of dispatches that will never end. */
static void drop_parked(struct engine *engine)
{
    while (engine->parked_head) {
        struct workgroup *group = engine->parked_head;
        engine->parked_head = group->next;
        group_free(group);
    }
    engine->parked_tail = &engine->parked_head;
}

void engine_destroy(struct engine *engine)
{
    if (!engine)
        return;
    pool_stop(engine);
    engine_settle(engine);
    vm_reader_unregister(&engine->helper.reader);
    vm_reader_unregister(&engine->submit_reader);
    drop_parked(engine);
    engine_free(engine);
}

static int dispatch_prepare(struct engine *engine, struct dispatch *dispatch)
{
    struct launch *launch = &dispatch->launch;
    struct vm_reader *reader = &engine->submit_reader;
    vm_reader_enter(reader);
    int status =
        launch_prepare(launch, engine->model, reader, &dispatch->request, &dispatch->result);
    if (status == 0)
        code_check(engine->code, reader, launch->entry_va);
    vm_reader_leave(reader);
    if (status == -EFAULT) { /* reported through done, like any other bad address */
        dispatch->failed = true;
        return 0;
    }
    dispatch->group_total = (uint64_t)launch->groups[0] * launch->groups[1] * launch->groups[2];
    const bool is_seen = !dispatch->request.is_untimed || perf_wants_time(engine->perf);
    const uint64_t waves = dispatch->group_total * launch->waves_per_group;
    launch->sample_limit = is_seen ? time_limit_first(engine->perf, waves) : 0;
    return status;
}

/* As many groups as the device holds must live at once, because they may wait for each other; those
 * of a cooperative launch all do. Beyond that a window keeps finished groups from piling up behind
 * a slow one. All threads have room in it for what they run and for what waits behind it. */
static int reserve_window(const struct engine *engine, struct dispatch *dispatch)
{
    const uint64_t most = perf_wants(engine->perf) ? RETIRE_WINDOW_LOGGED_MAX : RETIRE_WINDOW_MAX;
    uint64_t window = 2 * (uint64_t)BATCH_MAX * engine->execute_limit;
    window = window < most ? window : most;
    const uint64_t resident = groups_resident_max(engine, dispatch);
    if (dispatch->launch.gws)
        window += resident;
    window = window > resident ? window : resident;
    dispatch->window =
        (uint32_t)(window < dispatch->group_total ? window : dispatch->group_total + 1);
    if (dispatch->capacity < dispatch->window) {
        finished_free(dispatch);
        dispatch->finished =
            calloc(dispatch->window, sizeof *dispatch->finished + sizeof *dispatch->ready);
        dispatch->capacity = dispatch->finished ? dispatch->window : 0;
    }
    if (!dispatch->finished)
        return -ENOMEM;
    dispatch->ready = (uint16_t *)(dispatch->finished + dispatch->capacity);
    memset(dispatch->ready, 0, dispatch->window * sizeof *dispatch->ready);
    return 0;
}

/*
 * Wakes as many sleeping threads as the dispatch can feed. A single small group is left to the
 * helper (the command processor's thread), which is here anyway: waking another thread costs more
 * than running it.
 */
static void wake_for(struct engine *engine, const struct dispatch *dispatch)
{
    bool small = dispatch->group_total * dispatch->launch.waves_per_group <= 4;
    if (engine->helper_seen && small)
        return;
    uint64_t wanted = dispatch->group_total < 1 ? 1 : dispatch->group_total;
    for (uint32_t i = 0; i < engine->idle_threads && i < wanted; i++)
        pthread_cond_signal(&engine->work);
}

int engine_submit(struct engine *engine, const struct dispatch_request *request)
{
    engine_settle(engine);
    struct dispatch *dispatch = dispatch_take(engine);
    if (!dispatch)
        return -ENOMEM;
    dispatch->request = *request;
    dispatch->batch = 1;
    int status = dispatch_prepare(engine, dispatch);
    if (status == 0)
        status = reserve_window(engine, dispatch);
    if (status < 0) {
        dispatch_give(dispatch);
        return status;
    }
    pthread_mutex_lock(&engine->lock);
    dispatch->sequence = engine->sequence++;
    struct dispatch **link = &engine->dispatches;
    while (*link)
        link = &(*link)->next;
    *link = dispatch;
    wake_for(engine, dispatch);
    pthread_mutex_unlock(&engine->lock);
    return 0;
}

bool engine_help(struct engine *engine)
{
    if (atomic_flag_test_and_set_explicit(&engine->helper_busy, memory_order_acquire))
        return false;
    if (!engine->helper_seen) {
        pthread_mutex_lock(&engine->lock);
        engine->helper_seen = true;
        pthread_mutex_unlock(&engine->lock);
    }
    bool worked = worker_turn(&engine->helper);
    atomic_flag_clear_explicit(&engine->helper_busy, memory_order_release);
    return worked;
}

static struct dispatch *aborted_and_left(struct engine *engine, uint32_t queue_id, bool *waiting)
{
    for (struct dispatch *d = engine->dispatches; d; d = d->next) {
        if (d->request.queue_id != queue_id)
            continue;
        if (d->in_flight == 0 && !d->retiring)
            return d;
        *waiting = true;
    }
    return NULL;
}

/* Under lock, dropped meanwhile: what groups of it have done is counted, and takes its time. */
static void aborted_end(struct engine *engine, struct dispatch *dispatch)
{
    dispatch_unlink(engine, dispatch);
    pthread_mutex_unlock(&engine->lock);
    if (dispatch->begun)
        perf_dispatch_end(engine->perf, dispatch->sequence);
    dispatch_give(dispatch);
    pthread_mutex_lock(&engine->lock);
}

static void discard_parked_of(struct engine *engine, uint32_t queue_id)
{
    struct workgroup **link = &engine->parked_head;
    while (*link) {
        struct workgroup *group = *link;
        if (group->dispatch->request.queue_id != queue_id) {
            link = &group->next;
            continue;
        }
        *link = group->next;
        group->dispatch->in_flight--;
        group_discard(engine, group);
    }
    engine->parked_tail = link;
}

void engine_queue_abort(struct engine *engine, uint32_t queue_id)
{
    pthread_mutex_lock(&engine->lock);
    for (struct dispatch *d = engine->dispatches; d; d = d->next)
        d->aborted |= d->request.queue_id == queue_id;
    discard_parked_of(engine, queue_id);
    for (;;) {
        bool waiting = false;
        struct dispatch *dispatch = aborted_and_left(engine, queue_id, &waiting);
        if (dispatch)
            aborted_end(engine, dispatch);
        else if (waiting)
            left_wait(engine);
        else
            break;
    }
    pthread_mutex_unlock(&engine->lock);
}

void engine_code_invalidate(struct engine *engine)
{
    vm_reader_enter(&engine->submit_reader);
    code_revalidate(engine->code, &engine->submit_reader);
    vm_reader_leave(&engine->submit_reader);
}

void engine_after_fork_child(struct engine *engine)
{
    /* Locks may have been held by threads that do not exist here. */
    locks_init(engine);
    engine->thread_count = 0;
    engine->idle_threads = 0;
    engine->executing = 0;
    engine->left_waiting = 0;
    engine->retire_busy = false;
    atomic_store_explicit(&engine->late, NULL, memory_order_relaxed); /* perf's lock, too */
    atomic_flag_clear_explicit(&engine->helper_busy, memory_order_release);
}
