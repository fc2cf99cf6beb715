#include "intercept/hip/streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/log.h"

enum { STREAMS_MAX = 4096 };
enum {
    CREATE = ROCPROFILER_HIP_STREAM_CREATE,
    DESTROY = ROCPROFILER_HIP_STREAM_DESTROY,
    SET = ROCPROFILER_HIP_STREAM_SET,
};

/* ---- numbers of streams: 0 is the null stream; a handle that HIP uses again gets a new one */

#define GONE UINTPTR_MAX

/* Writers: whoever makes or ends a stream, under the lock (the number, then release the handle).
 * Readers: every call on a stream (acquire the handle). An empty place ends a search. */
static struct {
    _Atomic uintptr_t handle; /* 0: empty; written last, read first */
    _Atomic uint64_t number;  /* written and read relaxed: the handle orders it */
} places[STREAMS_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a leaf */
static uint64_t number_last;

static uint32_t place_first(uintptr_t handle)
{
    return (uint32_t)((handle >> 4) * 2654435761u % STREAMS_MAX);
}

static bool stream_find(uintptr_t handle, uint64_t *number)
{
    *number = 0;
    if (handle == 0)
        return true;
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        uint32_t place = (place_first(handle) + i) % STREAMS_MAX;
        uintptr_t found = atomic_load_explicit(&places[place].handle, memory_order_acquire);
        if (found == 0)
            return false;
        if (found == handle) {
            *number = atomic_load_explicit(&places[place].number, memory_order_relaxed);
            return true;
        }
    }
    return false;
}

/* Its place, or one that is free; -1: none. Under the lock. */
static int place_for(uintptr_t handle)
{
    int free_place = -1;
    for (uint32_t i = 0; i < STREAMS_MAX; i++) {
        uint32_t place = (place_first(handle) + i) % STREAMS_MAX;
        uintptr_t found = atomic_load_explicit(&places[place].handle, memory_order_relaxed);
        if (found == handle)
            return (int)place;
        if (free_place < 0 && (found == 0 || found == GONE))
            free_place = (int)place;
        if (found == 0)
            break;
    }
    return free_place;
}

/* A new number also for a handle that is known: its stream is another one. */
static bool stream_add(uintptr_t handle, uint64_t *number)
{
    static _Atomic bool warned; /* any thread, relaxed: once is enough */
    pthread_mutex_lock(&lock);
    int place = place_for(handle);
    if (place >= 0) {
        *number = ++number_last;
        atomic_store_explicit(&places[place].number, *number, memory_order_relaxed);
        atomic_store_explicit(&places[place].handle, handle, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    if (place < 0 && !atomic_exchange_explicit(&warned, true, memory_order_relaxed))
        log_warning("intercept", "more than %d HIP streams exist: some are not reported",
                    STREAMS_MAX);
    return place >= 0;
}

static void stream_remove(uintptr_t handle)
{
    pthread_mutex_lock(&lock);
    int place = place_for(handle);
    if (place >= 0 && atomic_load_explicit(&places[place].handle, memory_order_relaxed) == handle)
        atomic_store_explicit(&places[place].handle, GONE, memory_order_release);
    pthread_mutex_unlock(&lock);
}

/* ---- calls */

static uint16_t role_of(int32_t operation)
{
    return operation >= 0 && operation < ROCPROFILER_HIP_RUNTIME_API_ID_LAST
               ? hip_stream_uses[operation].role
               : 0;
}

bool hip_stream_is_configured(int32_t operation)
{
    uint16_t role = role_of(operation);
    return role != 0 && trace_is_configured(TRACE_HIP_STREAM, role);
}

bool hip_stream_is_wanted(int32_t operation)
{
    uint16_t role = role_of(operation);
    return role != 0 && trace_set_load(TRACE_HIP_STREAM, role) != NULL;
}

static uintptr_t argument(int32_t operation, const rocprofiler_hip_api_args_t *args)
{
    uintptr_t value;
    memcpy(&value, (const char *)args + hip_stream_uses[operation].offset, sizeof value);
    return value;
}

static void data_fill(struct hip_stream_scope *scope, uintptr_t handle, uint64_t number)
{
    memset(&scope->data, 0, sizeof scope->data);
    scope->data.size = sizeof scope->data;
    scope->data.stream_id.handle = number;
    scope->data.stream_value.ptr = (void *)handle;
}

void hip_stream_enter(struct hip_stream_scope *scope, int32_t operation,
                      const rocprofiler_hip_api_args_t *args)
{
    uint64_t number;
    scope->entered = false;
    scope->wanted = hip_stream_is_wanted(operation);
    if (!scope->wanted || role_of(operation) == CREATE)
        return;
    uintptr_t handle = argument(operation, args);
    /* one that was made before anybody listened */
    if (!stream_find(handle, &number) && !stream_add(handle, &number)) {
        scope->wanted = false;
        return;
    }
    data_fill(scope, handle, number);
    if (role_of(operation) != SET)
        return;
    scope->entered = trace_event_open(&scope->event, TRACE_HIP_STREAM, SET);
    if (scope->entered)
        trace_event_call(&scope->event, SET, ROCPROFILER_CALLBACK_PHASE_ENTER, &scope->data);
}

static void moment_report(struct hip_stream_scope *scope, int32_t role)
{
    if (!trace_event_open(&scope->event, TRACE_HIP_STREAM, role))
        return;
    trace_event_call(&scope->event, role, ROCPROFILER_CALLBACK_PHASE_NONE, &scope->data);
    trace_event_release(&scope->event);
}

static void created(struct hip_stream_scope *scope, const uintptr_t *place)
{
    uint64_t number;
    if (!place || !stream_add(*place, &number))
        return;
    data_fill(scope, *place, number);
    moment_report(scope, CREATE);
}

void hip_stream_exit(struct hip_stream_scope *scope, int32_t operation,
                     const rocprofiler_hip_api_args_t *args, bool succeeded)
{
    if (scope->entered) {
        trace_event_call(&scope->event, SET, ROCPROFILER_CALLBACK_PHASE_EXIT, &scope->data);
        trace_event_release(&scope->event);
    }
    if (!scope->wanted || !succeeded)
        return;
    if (role_of(operation) == CREATE)
        created(scope, (const uintptr_t *)argument(operation, args));
    if (role_of(operation) == DESTROY) {
        stream_remove((uintptr_t)scope->data.stream_value.ptr);
        moment_report(scope, DESTROY);
    }
}
