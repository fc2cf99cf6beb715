/*
 * A queue of ours on each device that is counted, made with the runtime's own functions, so that
 * neither the program nor tracing sees it. Packets complete into signals of our own (see
 * intercept/hsa/signals.h): whoever waits looks at the word, the completion thread does it for
 * those who do not wait.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/thread.h"
#include "base/wait.h"
#include "intercept/hsa/agents.h"
#include "intercept/hsa/completion.h"
#include "intercept/hsa/counting.h"
#include "intercept/hsa/instance.h"
#include "intercept/hsa/interrupt.h"
#include "intercept/hsa/packet.h"
#include "intercept/hsa/signals.h"
#include "model/counting.h"

/* Twice as many slots as packets in flight: a packet's end is seen before the device gives its slot
 * back, by an empty header, which would take away what already stands there. */
enum {
    IN_FLIGHT_MAX = 64,
    QUEUE_PACKETS = 2 * IN_FLIGHT_MAX,
    FLIGHTS_PER_BLOCK = 16,
    LOOKS_BEFORE_SLEEP = 64,
    LOOK_NS = 20 * WAIT_NS_PER_US,
};

/* One runtime's queue on one device. Never freed: a packet may be in flight when all else ends. */
struct device {
    struct device *next;
    rocprofiler_agent_id_t agent;
    const struct hsa_agent_entry *entry;
    hsa_queue_t *queue;
    struct inflight_lane lane; /* its `failed` also serves those who wait themselves */
    /* Packets whose end was not seen yet; submitters and waiters add and subtract (relaxed: only
     * the bound matters, the packet's own words are ordered by the write index). */
    _Atomic uint32_t used;
};

struct counting_flight {
    struct inflight work; /* first */
    struct device *device;
    amd_signal_t *signal;
    void (*done)(void *data, bool failed);
    void *data;
    struct counting_flight *next_free;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the two lists; a leaf */
static struct device *devices;
static struct counting_flight *free_flights;

static bool has_failed(const struct device *device)
{
    return atomic_load_explicit(&device->lane.failed, memory_order_acquire);
}

/* A program may have shut the runtime down without our being told. */
static bool runtime_is_up(const struct hsa_instance *runtime)
{
    uint16_t major;
    return runtime->real.hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) ==
           HSA_STATUS_SUCCESS;
}

static struct device *device_find(rocprofiler_agent_id_t agent)
{
    pthread_mutex_lock(&lock);
    struct device *device = devices;
    while (device && device->agent.handle != agent.handle)
        device = device->next;
    pthread_mutex_unlock(&lock);
    return device;
}

/* False: another thread was faster. */
static bool device_list(struct device *device)
{
    bool first = true;
    pthread_mutex_lock(&lock);
    for (struct device *other = devices; other; other = other->next)
        first = first && other->agent.handle != device->agent.handle;
    if (first) {
        device->next = devices;
        devices = device;
    }
    pthread_mutex_unlock(&lock);
    return first;
}

static void queue_error(hsa_status_t status, hsa_queue_t *source, void *data)
{
    struct device *device = data;
    (void)source;
    atomic_store_explicit(&device->lane.failed, true, memory_order_release);
    log_error("counting", "the device refused a counting packet (HSA status 0x%x)",
              (unsigned)status);
}

static const struct hsa_agent_entry *agent_entry(rocprofiler_agent_id_t agent)
{
    const struct hsa_agents *agents = &hsa_instance_primary()->agents;
    for (uint32_t i = 0; i < agents->count; i++) {
        if (agents->entries[i].gpu && agents->entries[i].id.handle == agent.handle)
            return &agents->entries[i];
    }
    return NULL;
}

static bool queue_make(struct device *device)
{
    const struct hsa_calls *real = &device->entry->runtime->real;
    thread_own_work_begin();
    bool made = real->hsa_queue_create(device->entry->hsa, QUEUE_PACKETS, HSA_QUEUE_TYPE_MULTI,
                                       queue_error, device, UINT32_MAX, UINT32_MAX,
                                       &device->queue) == HSA_STATUS_SUCCESS;
    /* Readings should not wait behind the program's kernels. */
    if (made && real->hsa_amd_queue_set_priority)
        real->hsa_amd_queue_set_priority(device->queue, HSA_AMD_QUEUE_PRIORITY_HIGH);
    thread_own_work_end();
    return made;
}

static void queue_end(const struct device *device)
{
    thread_own_work_begin();
    device->entry->runtime->real.hsa_queue_destroy(device->queue);
    thread_own_work_end();
}

static struct device *device_make(rocprofiler_agent_id_t agent)
{
    const struct hsa_agent_entry *entry = agent_entry(agent);
    struct device *device = entry && completion_start() ? calloc(1, sizeof *device) : NULL;
    if (!device)
        return NULL;
    device->agent = agent;
    device->entry = entry;
    if (!queue_make(device)) {
        free(device);
        return NULL;
    }
    if (device_list(device))
        return device;
    queue_end(device);
    free(device);
    return device_find(agent);
}

static bool queue_open(rocprofiler_agent_id_t agent, uint64_t *hsa_agent)
{
    struct device *device = device_find(agent);
    if (!runtime_is_up(hsa_instance_primary()))
        return false;
    if (!device)
        device = device_make(agent);
    if (!device) {
        log_error("counting", "the HSA runtime gives no queue for counting");
        return false;
    }
    *hsa_agent = device->entry->hsa.handle;
    return !has_failed(device);
}

static void flights_make(void)
{
    const struct hsa_instance *runtime = hsa_instance_primary();
    amd_signal_t *signals = signals_block_make(runtime, FLIGHTS_PER_BLOCK);
    struct counting_flight *block = calloc(FLIGHTS_PER_BLOCK, sizeof *block);
    if (!signals || !block) {
        signals_block_free(runtime, signals);
        free(block);
        return;
    }
    pthread_mutex_lock(&lock);
    for (int i = 0; i < FLIGHTS_PER_BLOCK; i++) {
        block[i].signal = &signals[i];
        block[i].next_free = free_flights;
        free_flights = &block[i];
    }
    pthread_mutex_unlock(&lock);
}

static struct counting_flight *flight_pop(void)
{
    pthread_mutex_lock(&lock);
    struct counting_flight *flight = free_flights;
    if (flight)
        free_flights = flight->next_free;
    pthread_mutex_unlock(&lock);
    return flight;
}

static struct counting_flight *flight_take(void)
{
    struct counting_flight *flight = flight_pop();
    if (flight)
        return flight;
    flights_make();
    return flight_pop();
}

/* Only of a packet that ended: the device writes to the signal no more. */
static void flight_return(struct counting_flight *flight)
{
    atomic_fetch_sub_explicit(&flight->device->used, 1, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    flight->next_free = free_flights;
    free_flights = flight;
    pthread_mutex_unlock(&lock);
}

struct room {
    struct device *device;
    bool is_taken;
};

static bool taken_or_failed(void *argument)
{
    struct room *room = argument;
    _Atomic uint32_t *used = &room->device->used;
    room->is_taken = atomic_fetch_add_explicit(used, 1, memory_order_relaxed) < IN_FLIGHT_MAX;
    if (!room->is_taken)
        atomic_fetch_sub_explicit(used, 1, memory_order_relaxed);
    return room->is_taken || has_failed(room->device);
}

/* A place in the ring; false when none became free in time. */
static bool room_take(struct device *device)
{
    struct room room = {.device = device};
    wait_until(taken_or_failed, &room, WAIT_NS_PER_S, LOOK_NS);
    return room.is_taken;
}

static void flight_complete(struct inflight *work, bool failed)
{
    struct counting_flight *flight = (struct counting_flight *)(void *)work;
    flight->done(flight->data, failed);
    if (!failed)
        flight_return(flight);
}

static bool flight_has_ended(const struct counting_flight *flight)
{
    /* Acquire, pairs with the device's decrement: what the packet wrote is there. */
    return __atomic_load_n(&flight->signal->value, __ATOMIC_ACQUIRE) < 1;
}

static bool work_has_ended(struct inflight *work)
{
    return flight_has_ended((const struct counting_flight *)(void *)work);
}

static struct counting_flight *queue_submit(rocprofiler_agent_id_t agent, const void *packet,
                                            void (*done)(void *data, bool failed), void *data)
{
    struct device *device = device_find(agent);
    if (!device || has_failed(device) || !runtime_is_up(device->entry->runtime) ||
        !room_take(device))
        return NULL;
    struct counting_flight *flight = flight_take();
    if (!flight) {
        atomic_fetch_sub_explicit(&device->used, 1, memory_order_relaxed);
        return NULL;
    }
    flight->device = device;
    flight->done = done;
    flight->data = data;
    flight->work = (struct inflight){.lane = &device->lane,
                                     .urgent = true,
                                     .ended = work_has_ended,
                                     .complete = flight_complete};
    flight->work.rings = interrupt_request(device->entry->runtime, flight->signal, done != NULL);
    signal_arm(flight->signal);
    packet_put(&device->entry->runtime->real, device->queue, packet, flight->signal);
    if (done)
        completion_post(&flight->work);
    return flight;
}

static bool ended_or_failed(void *argument)
{
    const struct counting_flight *flight = argument;
    return flight_has_ended(flight) || has_failed(flight->device);
}

static bool flight_wait(struct counting_flight *flight, uint64_t limit_ns)
{
    /* Most packets end within microseconds. */
    for (unsigned turn = 0; turn < LOOKS_BEFORE_SLEEP && !ended_or_failed(flight);)
        wait_step(&turn);
    wait_until(ended_or_failed, flight, limit_ns, LOOK_NS);
    if (!flight_has_ended(flight))
        return false;
    flight_return(flight);
    return true;
}

static void queue_drain(rocprofiler_agent_id_t agent, uint64_t limit_ns)
{
    struct device *device = device_find(agent);
    if (device)
        completion_lane_drain(&device->lane, limit_ns);
}

static const struct counting_queue_ops hsa_queues = {queue_open, queue_submit, flight_wait,
                                                     queue_drain};

/* ---- runtimes come and go */

/* What belonged to a runtime that is gone, or to the parent of this process, is left alone. */
static void queues_forget(void)
{
    for (struct device *device = devices; device; device = device->next)
        atomic_store_explicit(&device->lane.failed, true, memory_order_release);
    devices = NULL;
    free_flights = NULL;
}

static void on_fork_child(void)
{
    pthread_mutex_init(&lock, NULL);
    queues_forget();
}

static void fork_watch(void)
{
    pthread_atfork(NULL, NULL, on_fork_child);
}

void hsa_counting_begin(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fork_watch);
    pthread_mutex_lock(&lock);
    queues_forget();
    pthread_mutex_unlock(&lock);
    hsa_counting_memory_renew();
    counting_queue_register(&hsa_queues);
}

void hsa_counting_end(void)
{
    counting_queue_register(NULL);
    counting_memory_register(NULL);
    pthread_mutex_lock(&lock);
    struct device *leaving = devices;
    queues_forget();
    pthread_mutex_unlock(&lock);
    for (; leaving; leaving = leaving->next)
        queue_end(leaving);
}
