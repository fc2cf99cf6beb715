#include "intercept/hip/events.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fork_lock.h"

enum {
    RECORD = ROCPROFILER_HIP_EVENT_RECORD,
    WAIT = ROCPROFILER_HIP_EVENT_WAIT,
    DESTROY = ROCPROFILER_HIP_EVENT_LAST,
    BUCKETS = 1024, /* programs keep pools of thousands */
};

/* The queue of an event's last record. */
struct recorded {
    struct recorded *next;
    uintptr_t event;
    uint64_t queue;
};
static struct recorded *buckets[BUCKETS];                /* under `lock` */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
FORK_LOCK(lock_kept, lock)

/* The place of the pointer to it, or of the one behind the last. Under the lock. */
static struct recorded **place_of(uintptr_t event)
{
    struct recorded **place = &buckets[(event >> 4) * 2654435761u % BUCKETS];
    while (*place && (*place)->event != event)
        place = &(*place)->next;
    return place;
}

static uint64_t queue_of(uintptr_t event)
{
    pthread_mutex_lock(&lock);
    const struct recorded *found = *place_of(event);
    uint64_t queue = found ? found->queue : 0;
    pthread_mutex_unlock(&lock);
    return queue;
}

/* Without memory its waits say that the source is unknown. */
static void queue_note(uintptr_t event, uint64_t queue)
{
    pthread_mutex_lock(&lock);
    struct recorded **place = place_of(event);
    if (!*place)
        *place = calloc(1, sizeof **place);
    if (*place) {
        (*place)->event = event;
        (*place)->queue = queue;
    }
    pthread_mutex_unlock(&lock);
}

static void queue_forget(uintptr_t event)
{
    pthread_mutex_lock(&lock);
    struct recorded **place = place_of(event), *gone = *place;
    if (gone)
        *place = gone->next;
    pthread_mutex_unlock(&lock);
    free(gone);
}

static uint16_t role_of(int32_t operation)
{
    return operation >= 0 && operation < ROCPROFILER_HIP_RUNTIME_API_ID_LAST
               ? hip_event_uses[operation].role
               : 0;
}

bool hip_event_is_configured(int32_t operation)
{
    return role_of(operation) != 0 && trace_domain_is_configured(TRACE_HIP_EVENT);
}

/* Who hears of waits is told where the event was recorded, and events are forgotten while nobody
 * listens, too: else one that HIP puts where another was would have that one's queue. */
bool hip_event_is_wanted(int32_t operation)
{
    uint16_t role = role_of(operation);
    if (role == DESTROY)
        return trace_domain_is_configured(TRACE_HIP_EVENT);
    return role != 0 && (trace_set_load(TRACE_HIP_EVENT, role) != NULL ||
                         (role == RECORD && trace_set_load(TRACE_HIP_EVENT, WAIT) != NULL));
}

static uintptr_t argument(int32_t operation, const rocprofiler_hip_api_args_t *args)
{
    uintptr_t value;
    memcpy(&value, (const char *)args + hip_event_uses[operation].offset, sizeof value);
    return value;
}

void hip_event_enter(struct hip_event_scope *scope, int32_t operation,
                     const rocprofiler_hip_api_args_t *args)
{
    uint16_t role = role_of(operation);
    scope->wanted = hip_event_is_wanted(operation);
    if (!scope->wanted)
        return;
    uintptr_t event = argument(operation, args);
    if (role == DESTROY)
        queue_forget(event);
    else
        scope->outer = event_call_begin(role, event, role == WAIT ? queue_of(event) : 0);
}

void hip_event_exit(struct hip_event_scope *scope, int32_t operation,
                    const rocprofiler_hip_api_args_t *args, bool succeeded)
{
    uint16_t role = role_of(operation);
    if (!scope->wanted || role == DESTROY)
        return;
    const struct event_call ended = event_call_end(scope->outer);
    if (role == RECORD && succeeded && ended.taken)
        queue_note(argument(operation, args), ended.queue);
}
