#include "session/counting/concurrent.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/wait.h"
#include "session/counting/device.h"

/* As long as a kernel that is counted alone may hold up others (intercept/hsa/serialize.h). */
#define TURN_LIMIT_NS (10 * WAIT_NS_PER_S)

/* OFF -> CHANGING -> ON -> CHANGING -> OFF. Whoever made it CHANGING ends that. */
enum counters_state { COUNTERS_OFF, COUNTERS_CHANGING, COUNTERS_ON };

/* One for each GPU that was ever counted so; kept. */
struct shared_device {
    struct shared_device *next;
    rocprofiler_agent_id_t agent;
    enum counters_state state;
    struct counting_slot *power; /* while not OFF: its configuration is what runs */
    uint32_t together, alone;    /* kernels on their way */
    bool is_unwanted;            /* off as soon as the last one has ended */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all of this; a leaf */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct shared_device *devices;
/* Writers: who enters with counters (relaxed). Readers: who enters alone (relaxed: the hardware has
 * one owner at a time, and owners change under a lock). */
static _Atomic bool is_used;

bool concurrent_is_used(void)
{
    return atomic_load_explicit(&is_used, memory_order_relaxed);
}

/* Under the lock. NULL: no memory. */
static struct shared_device *device_get(rocprofiler_agent_id_t agent)
{
    struct shared_device *device = devices;
    while (device && device->agent.handle != agent.handle)
        device = device->next;
    if (!device && (device = calloc(1, sizeof *device))) {
        device->agent = agent;
        device->next = devices;
        devices = device;
    }
    return device;
}

/* Under the lock. The same events in the same registers. */
static bool runs(const struct shared_device *device, const struct counting_config *config)
{
    const struct counting_config *running = device->power->config;
    return running->catalog == config->catalog && running->plan_count == config->plan_count &&
           !memcmp(running->plan, config->plan, config->plan_count * sizeof *config->plan);
}

static void state_set(struct shared_device *device, enum counters_state state)
{
    pthread_mutex_lock(&lock);
    struct counting_slot *former = state == COUNTERS_OFF ? device->power : NULL;
    device->state = state;
    if (former)
        device->power = NULL;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (former)
        counting_slot_release(former);
}

/* ---- on and off */

static void stopped(void *data, bool failed)
{
    struct shared_device *device = data;
    if (failed)
        log_warning("counting", "the counters of a GPU did not stop");
    state_set(device, COUNTERS_OFF);
}

/* The device is CHANGING. Nobody waits, because this may be the completion thread. */
static void stop_begin(struct shared_device *device)
{
    const struct counting_queue_ops *ops = device_queues();
    if (!ops || !ops->submit(device->agent, &device->power->after, stopped, device))
        stopped(device, ops != NULL);
}

/* Under the lock. True: the caller calls stop_begin() without it. */
static bool stop_is_due(struct shared_device *device, bool is_wanted)
{
    if (device->state != COUNTERS_ON || device->together > 0 || (is_wanted && !device->is_unwanted))
        return false;
    device->state = COUNTERS_CHANGING;
    return true;
}

/* The device is CHANGING. */
static bool start(struct shared_device *device, struct counting_config *config)
{
    const struct counting_queue_ops *ops = device_queues();
    uint64_t hsa_agent;
    if (!ops || !ops->open(device->agent, &hsa_agent))
        return false;
    struct counting_slot *slot = counting_slot_acquire(config, COUNTING_SLOT_SWITCH, hsa_agent);
    struct counting_flight *flight =
        slot ? ops->submit(device->agent, &slot->before, NULL, NULL) : NULL;
    if (flight && ops->flight_wait(flight, TURN_LIMIT_NS)) {
        device->power = slot;
        return true;
    }
    if (slot && !flight) /* otherwise the device may still use it */
        counting_slot_release(slot);
    log_error("counting", "%s does not start its counters", config->agent->info->name);
    return false;
}

/* ---- kernels */

enum step { STEP_ENTERED, STEP_WAIT, STEP_START, STEP_STOP };

/* Under the lock: what the kernel has to do next. */
static enum step step_of(struct shared_device *device, const struct counting_config *config)
{
    if (device->state == COUNTERS_CHANGING)
        return STEP_WAIT;
    if (config && device->state == COUNTERS_ON && runs(device, config)) {
        device->together++;
        device->is_unwanted = false;
        return STEP_ENTERED;
    }
    if (device->state == COUNTERS_ON)
        return stop_is_due(device, false) ? STEP_STOP : STEP_WAIT;
    if (!config) {
        device->alone++;
        return STEP_ENTERED;
    }
    if (device->alone > 0)
        return STEP_WAIT;
    device->state = COUNTERS_CHANGING;
    return STEP_START;
}

bool concurrent_enter(rocprofiler_agent_id_t agent, struct counting_config *config)
{
    const struct timespec deadline = wait_deadline(CLOCK_REALTIME, TURN_LIMIT_NS);
    if (config)
        atomic_store_explicit(&is_used, true, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    struct shared_device *device = device_get(agent);
    enum step step = device ? STEP_WAIT : STEP_START;
    bool goes_on = device != NULL;
    while (goes_on && (step = step_of(device, config)) != STEP_ENTERED) {
        if (step == STEP_WAIT) {
            goes_on = pthread_cond_timedwait(&changed, &lock, &deadline) == 0;
            continue;
        }
        pthread_mutex_unlock(&lock);
        if (step == STEP_STOP)
            stop_begin(device);
        else
            state_set(device, (goes_on = start(device, config)) ? COUNTERS_ON : COUNTERS_OFF);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    if (step == STEP_WAIT)
        log_warning("counting", "a kernel is not counted: those with other counters do not end");
    return step == STEP_ENTERED;
}

void concurrent_leave(rocprofiler_agent_id_t agent, bool is_alone)
{
    pthread_mutex_lock(&lock);
    struct shared_device *device = device_get(agent);
    uint32_t *count = is_alone ? &device->alone : &device->together;
    if (*count > 0) /* 0: a forked child */
        --*count;
    bool stops = stop_is_due(device, true);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (stops)
        stop_begin(device);
}

bool concurrent_turn_take(const struct counting_slot *slot, bool together,
                          enum concurrent_turn *turn)
{
    if (!slot->memory || (!together && !concurrent_is_used()))
        return true;
    bool alone = slot->kind != COUNTING_SLOT_BETWEEN;
    if (!concurrent_enter(slot->config->agent->id, alone ? NULL : slot->config))
        return false;
    *turn = alone ? TURN_ALONE : TURN_TOGETHER;
    return true;
}

void concurrent_turn_end(const struct counting_slot *slot, enum concurrent_turn *turn)
{
    if (*turn == TURN_NONE) /* nothing is written: who submits kernels reads the line */
        return;
    concurrent_leave(slot->config->agent->id, *turn == TURN_ALONE);
    *turn = TURN_NONE;
}

void concurrent_stop(void)
{
    pthread_mutex_lock(&lock);
    struct shared_device *device = devices;
    pthread_mutex_unlock(&lock);
    for (; device; device = device->next) {
        pthread_mutex_lock(&lock);
        device->is_unwanted = true;
        bool stops = stop_is_due(device, true);
        pthread_mutex_unlock(&lock);
        if (stops)
            stop_begin(device);
    }
}

/* ---- the runtime, the process */

void concurrent_disarm(void)
{
    const struct timespec deadline = wait_deadline(CLOCK_REALTIME, TURN_LIMIT_NS);
    concurrent_stop();
    pthread_mutex_lock(&lock);
    for (struct shared_device *device = devices; device; device = device->next)
        while (device->state == COUNTERS_CHANGING &&
               pthread_cond_timedwait(&changed, &lock, &deadline) == 0)
            ;
    for (struct shared_device *device = devices; device; device = device->next) {
        device->state = COUNTERS_OFF; /* its queues are gone, with their kernels */
        device->power = NULL;
        device->together = device->alone = 0;
    }
    pthread_mutex_unlock(&lock);
}

void concurrent_on_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&changed, NULL);
    for (struct shared_device *device = devices; device; device = device->next) {
        device->state = COUNTERS_OFF;
        device->power = NULL;
        device->together = device->alone = 0;
    }
}
