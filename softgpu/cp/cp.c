/*
 * The command processor's thread. It owns every queue: driver threads hand it commands and wait,
 * so no queue is ever touched by two threads and no lock is held while packets execute.
 *
 * Each turn goes once over all queues, then lends the thread to the wave engines, and when nothing
 * moved: spins for a moment (a host that waits for a kernel usually launches the next one at
 * once), then arms the doorbells, looks at the rings once more, and sleeps on a futex.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>

#include "base/wait.h"
#include "cp/internal.h"

enum {
    SPIN_NS = 20 * 1000,        /* 20 us of idle spinning keeps back-to-back launches below 2 us */
    WAY_NS = 20 * 1000,         /* whom an event woke has our processor so long ... */
    YIELD_LONG_NS = 200 * 1000, /* ... or until it sleeps again, which is after some 10 us */
    YIELD_SELDOM = 32,          /* a yield that was long: none for so many times as long */
    COLLECT_NS = 5 * 1000,      /* an event waits so long for the same one of the next packet */
    BLOCKED_MIN_NS = 20 * 1000, /* barriers and polls on memory the host writes: no doorbell */
    BLOCKED_MAX_NS = 200 * 1000,
    HELD_MIN_NS = 5 * 1000,     /* doorbells that are not armed yet, because one rang just now */
    POLL_MIN_NS = 50 * 1000,    /* when doorbells go unnoticed */
    POLL_MAX_NS = 4000 * 1000,  /* 1 ms cost 2.2 % of a core when idle, 4 ms 0.6 % */
    WAIT_SLEEP_NS = 1000 * 1000 /* the end of a dispatch kicks: this is only a safety net */
};

struct command {
    int (*run)(struct cp *cp, struct command *command);
    struct cp_device *device;
    const struct cp_queue_config *config;
    uint32_t queue_id;
    int status;
    bool done;
    struct command *next;
};

struct cp {
    struct cp_events events;

    /* There are commands, or the thread shall end. Writers: driver threads and the CP thread, under
     * `lock` (release). Reader: the CP thread in each turn (acquire), which then takes the lock. */
    atomic_bool asked;
    pthread_mutex_t lock; /* everything below */
    pthread_cond_t command_done;
    struct command *commands;
    bool running, stop;
    pthread_t thread;

    struct cp_device *devices;  /* CP thread, while it runs */
    uint64_t no_yield_until_ns; /* CP thread: others compute */
};

/* What a turn over all queues found. */
struct turn {
    bool moved;   /* something was executed */
    bool blocked; /* somebody waits for memory that the host writes */
    bool waiting; /* somebody waits for dispatches */
};

void cp_kick(struct cp *cp)
{
    cp_events_wake(&cp->events);
}

static void device_events_raise(struct cp_device *device)
{
    uint32_t count = device->raised_count;
    device->raised_count = 0;
    device->raised_since_ns = 0;
    for (uint32_t i = 0; i < count; i++)
        cp_events_raise(device->events, device->raised[i]);
}

static void queue_turn(struct cp_queue *queue, struct turn *turn)
{
    struct cp_device *device = queue->device;
    if (queue->failed || queue->config.percent == 0)
        return;
    uint64_t packets = queue->fetch + queue->retire; /* a step says how it ended, not what it did */
    vm_reader_enter(&device->access.reader);
    enum step step = queue->config.type == CP_QUEUE_SDMA ? sdma_step(queue) : aql_step(queue);
    vm_reader_leave(&device->access.reader);
    turn->moved |= step == STEP_MORE || step == STEP_SLICE || step == STEP_ERROR ||
                   queue->fetch + queue->retire != packets;
    turn->blocked |= step == STEP_BLOCKED;
    turn->waiting |= step == STEP_WAIT;
    if (step == STEP_ERROR)
        queue_fail(queue);
}

/* A marker mostly stands behind the packet that a host waits for. Whom an event wakes is often put
 * onto our processor at once, and then the marker would wait for it, and wake it again. */
static bool may_collect(struct cp_device *device, uint64_t now_ns)
{
    if (device->raised_since_ns == 0)
        device->raised_since_ns = now_ns;
    return now_ns - device->raised_since_ns < COLLECT_NS && device->raised_count < RAISED_MAX / 2 &&
           !atomic_load_explicit(&device->in_flight, memory_order_relaxed);
}

/* `moved`: the next turn comes at once. */
static void events_raise(struct cp *cp, bool moved)
{
    for (struct cp_device *device = cp->devices; device; device = device->next)
        if (device->raised_count > 0 && !(moved && may_collect(device, wait_now_ns())))
            device_events_raise(device);
}

static struct turn queues_turn(struct cp *cp)
{
    struct turn turn = {0};
    for (struct cp_device *device = cp->devices; device; device = device->next)
        for (struct cp_queue *queue = device->queues; queue; queue = queue->next)
            queue_turn(queue, &turn);
    return turn;
}

/* A kernel that has ended is counted here, behind the packet that stood behind it: whoever waits
 * for that has gone on. */
static bool engines_help(struct cp *cp)
{
    bool helped = false;
    for (struct cp_device *device = cp->devices; device; device = device->next)
        engine_settle(device->engine);
    for (struct cp_device *device = cp->devices; device; device = device->next)
        if (atomic_load_explicit(&device->in_flight, memory_order_relaxed))
            helped |= engine_help(device->engine);
    return helped;
}

/* Runs what driver threads asked for; false: the thread shall end. */
static bool commands_run(struct cp *cp)
{
    if (!atomic_load_explicit(&cp->asked, memory_order_acquire))
        return true;
    pthread_mutex_lock(&cp->lock);
    atomic_store_explicit(&cp->asked, false, memory_order_release);
    struct command *list = cp->commands;
    cp->commands = NULL;
    bool stop = cp->stop;
    pthread_mutex_unlock(&cp->lock);
    while (list) {
        struct command *command = list;
        list = command->next;
        command->status = command->run(cp, command);
        pthread_mutex_lock(&cp->lock);
        command->done = true; /* its owner may free it from here on */
        pthread_cond_broadcast(&cp->command_done);
        pthread_mutex_unlock(&cp->lock);
    }
    return !stop;
}

/* What must be polled is polled less the longer nothing happened. */
static uint64_t poll_interval(uint64_t idle_ns, uint64_t least_ns, uint64_t most_ns)
{
    uint64_t interval = idle_ns / 8;
    if (interval < least_ns)
        return least_ns;
    return interval < most_ns ? interval : most_ns;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Nothing moved for idle_ns. Returns when there may be something to do; true: something moved. */
static bool idle_sleep(struct cp *cp, uint32_t seen, uint64_t idle_ns)
{
    uint64_t sleep_ns = cp->events.ops.doorbell_arm(cp->events.driver);
    struct turn turn = queues_turn(cp); /* a doorbell may have rung before it was armed */
    events_raise(cp, turn.moved);
    if (turn.moved)
        return true;
    if (sleep_ns == 0)
        sleep_ns = poll_interval(idle_ns, POLL_MIN_NS, POLL_MAX_NS);
    else if (sleep_ns != UINT64_MAX)
        sleep_ns = poll_interval(idle_ns, least(HELD_MIN_NS, sleep_ns), sleep_ns);
    if (turn.waiting)
        sleep_ns = least(sleep_ns, WAIT_SLEEP_NS);
    if (turn.blocked)
        sleep_ns = least(sleep_ns, poll_interval(idle_ns, BLOCKED_MIN_NS, BLOCKED_MAX_NS));
    cp_events_sleep(&cp->events, seen, sleep_ns);
    return false;
}

/* Whom an event woke is often put onto our processor. Linux lets it run there at once, or not
 * before we stop, as it counts our shares: one of six counted launches waited 90 us so. Where
 * others compute a yield lasts for milliseconds, and a nap, whose timer costs 8 us, is the better
 * way: that is found out by yielding, seldom enough to cost 3 %. */
static void give_way(struct cp *cp, uint32_t seen)
{
    uint64_t now_ns = wait_now_ns();
    if (now_ns < cp->no_yield_until_ns) {
        cp_events_sleep(&cp->events, seen, WAY_NS);
        return;
    }
    sched_yield();
    uint64_t taken_ns = wait_now_ns() - now_ns;
    if (taken_ns > YIELD_LONG_NS)
        cp->no_yield_until_ns = now_ns + taken_ns * YIELD_SELDOM;
}

/* Since something moved. */
struct idle {
    uint64_t since_ns;
    bool gave_way;
};

/* True: something moved. */
static bool idle_spend(struct cp *cp, uint32_t seen, struct idle *idle)
{
    if (!idle->gave_way && cp->events.ops.waiters_called(cp->events.driver)) {
        give_way(cp, seen);
        *idle = (struct idle){.gave_way = true};
        return false;
    }
    uint64_t now = wait_now_ns();
    if (idle->since_ns == 0)
        idle->since_ns = now;
    if (now - idle->since_ns >= SPIN_NS)
        return idle_sleep(cp, seen, now - idle->since_ns);
    __builtin_ia32_pause();
    return false;
}

static void *cp_main(void *arg)
{
    struct cp *cp = arg;
    struct idle idle = {0};
    pthread_setname_np(pthread_self(), "crocgpu-cp");
    prctl(PR_SET_TIMERSLACK, 1000ul); /* sleeps of 5 us, not of 55 */
    for (;;) {
        uint32_t seen = cp_events_kicks(&cp->events);
        if (!commands_run(cp))
            return NULL;
        cp_events_posted_raise(&cp->events);
        bool moved = queues_turn(cp).moved;
        events_raise(cp, moved);
        moved |= engines_help(cp);
        if (moved || idle_spend(cp, seen, &idle))
            idle = (struct idle){0};
    }
}

/* The program's signal handlers must not run on our thread. */
static int thread_start(struct cp *cp)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int status = pthread_create(&cp->thread, NULL, cp_main, cp);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    cp->running = status == 0;
    return -status;
}

/* Hands a command to the CP thread and waits for its end; starts the thread on first use. */
static int command_call(struct cp *cp, struct command *command)
{
    int status = 0;
    pthread_mutex_lock(&cp->lock);
    if (!cp->running)
        status = thread_start(cp);
    if (status == 0) {
        struct command **end = &cp->commands;
        while (*end)
            end = &(*end)->next;
        *end = command;
        atomic_store_explicit(&cp->asked, true, memory_order_release);
        cp_events_wake(&cp->events);
        while (!command->done)
            pthread_cond_wait(&cp->command_done, &cp->lock);
        status = command->status;
    }
    pthread_mutex_unlock(&cp->lock);
    return status;
}

int cp_create(const struct cp_driver_ops *ops, void *driver, struct cp **out)
{
    struct cp *cp = calloc(1, sizeof *cp);
    if (!cp)
        return -ENOMEM;
    cp->events.ops = *ops;
    cp->events.driver = driver;
    pthread_mutex_init(&cp->lock, NULL);
    pthread_cond_init(&cp->command_done, NULL);
    *out = cp;
    return 0;
}

void cp_destroy(struct cp *cp)
{
    if (!cp)
        return;
    while (cp->devices)
        cp_device_destroy(cp->devices);
    pthread_mutex_lock(&cp->lock);
    cp->stop = true;
    atomic_store_explicit(&cp->asked, true, memory_order_release);
    bool running = cp->running;
    pthread_mutex_unlock(&cp->lock);
    if (running) {
        cp_events_wake(&cp->events);
        pthread_join(cp->thread, NULL);
    }
    pthread_cond_destroy(&cp->command_done);
    pthread_mutex_destroy(&cp->lock);
    free(cp);
}

static int device_add(struct cp *cp, struct command *command)
{
    command->device->next = cp->devices;
    cp->devices = command->device;
    return 0;
}

static int device_remove(struct cp *cp, struct command *command)
{
    struct cp_device *device = command->device;
    for (struct cp_device **at = &cp->devices; *at; at = &(*at)->next) {
        if (*at == device) {
            *at = device->next;
            break;
        }
    }
    device_events_raise(device);
    while (device->queues) {
        struct cp_queue *queue = device->queues;
        device->queues = queue->next;
        queue_destroy(queue);
    }
    return 0;
}

int cp_device_create(struct cp *cp, uint32_t gpu_id, const struct gpu_model *model, struct vm *vm,
                     struct cp_device **out)
{
    struct cp_device *device = calloc(1, sizeof *device);
    int status = -ENOMEM;
    if (!device)
        return -ENOMEM;
    device->cp = cp;
    device->events = &cp->events;
    device->gpu_id = gpu_id;
    device->model = model;
    device->vm = vm;
    status = perf_create(model, &device->perf);
    if (status)
        goto fail_device;
    status = engine_create(model, vm, device->perf, 0, &device->engine);
    if (status)
        goto fail_perf;
    pthread_mutex_init(&device->completion_lock, NULL);
    vm_reader_register(vm, &device->access.reader);
    vm_reader_register(vm, &device->completion_access.reader);
    status = command_call(cp, &(struct command){.run = device_add, .device = device});
    if (status)
        goto fail_readers;
    *out = device;
    return 0;

fail_readers:
    vm_reader_unregister(&device->completion_access.reader);
    vm_reader_unregister(&device->access.reader);
    pthread_mutex_destroy(&device->completion_lock);
    engine_destroy(device->engine);
fail_perf:
    perf_destroy(device->perf);
fail_device:
    free(device);
    return status;
}

void cp_device_destroy(struct cp_device *device)
{
    if (!device)
        return;
    command_call(device->cp, &(struct command){.run = device_remove, .device = device});
    engine_destroy(device->engine);
    queues_bury(device);
    perf_destroy(device->perf);
    vm_reader_unregister(&device->completion_access.reader);
    vm_reader_unregister(&device->access.reader);
    pthread_mutex_destroy(&device->completion_lock);
    free(device);
}

bool cp_device_busy(const struct cp_device *device)
{
    return atomic_load_explicit(&device->in_flight, memory_order_relaxed) > 0;
}

static struct cp_queue **queue_find(struct cp_device *device, uint32_t queue_id)
{
    struct cp_queue **at = &device->queues;
    while (*at && (*at)->config.queue_id != queue_id)
        at = &(*at)->next;
    return at;
}

static int queue_add(struct cp *cp, struct command *command)
{
    (void)cp;
    struct cp_queue **end = queue_find(command->device, command->config->queue_id);
    if (*end)
        return -EEXIST;
    if (command->config->type == CP_QUEUE_PM4) /* a ring of PM4: no runtime creates one */
        return -EOPNOTSUPP;
    *end = queue_create(command->device, command->config);
    if (!*end)
        return -EINVAL;
    scratch_announce(*end);
    return 0;
}

/* A stopped queue keeps its place; what already runs on the engine runs on. */
static int queue_change(struct cp *cp, struct command *command)
{
    (void)cp;
    struct cp_queue *queue = *queue_find(command->device, command->config->queue_id);
    if (!queue)
        return -ENOENT;
    queue->config.percent = command->config->percent;
    queue->config.gws = command->config->gws;
    queue->config.units = command->config->units;
    return 0;
}

static int queue_remove(struct cp *cp, struct command *command)
{
    (void)cp;
    struct cp_queue **at = queue_find(command->device, command->queue_id);
    struct cp_queue *queue = *at;
    if (!queue)
        return -ENOENT;
    *at = queue->next;
    queue_destroy(queue);
    return 0;
}

int cp_queue_create(struct cp_device *device, const struct cp_queue_config *config)
{
    return command_call(device->cp,
                        &(struct command){.run = queue_add, .device = device, .config = config});
}

int cp_queue_update(struct cp_device *device, const struct cp_queue_config *config)
{
    return command_call(device->cp,
                        &(struct command){.run = queue_change, .device = device, .config = config});
}

int cp_queue_destroy(struct cp_device *device, uint32_t queue_id)
{
    return command_call(
        device->cp, &(struct command){.run = queue_remove, .device = device, .queue_id = queue_id});
}

/* The child has no CP thread and, buffers being unmapped in it, no use for the parent's queues.
 * They are forgotten, not freed: the lock they may have been under is unknown. The next command
 * starts a thread of the child's own. */
void cp_after_fork_child(struct cp *cp)
{
    pthread_mutex_init(&cp->lock, NULL);
    pthread_cond_init(&cp->command_done, NULL);
    cp_events_after_fork_child(&cp->events);
    pm4_record_after_fork_child();
    cp->commands = NULL;
    atomic_store_explicit(&cp->asked, false, memory_order_relaxed);
    cp->running = false;
    for (struct cp_device *device = cp->devices; device; device = device->next) {
        pthread_mutex_init(&device->completion_lock, NULL);
        engine_after_fork_child(device->engine);
        device->queues = NULL;
        device->raised_count = 0;
        device->raised_since_ns = 0;
        atomic_store_explicit(&device->in_flight, 0, memory_order_relaxed);
    }
}
