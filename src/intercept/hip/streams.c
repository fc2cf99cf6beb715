#include "intercept/hip/streams.h"

#include <string.h>

#include "base/fork_lock.h"
#include "intercept/hip/handles.h"

enum {
    CREATE = ROCPROFILER_HIP_STREAM_CREATE,
    DESTROY = ROCPROFILER_HIP_STREAM_DESTROY,
    SET = ROCPROFILER_HIP_STREAM_SET,
};

static struct handles streams = HANDLES_OF("streams");
FORK_LOCK(streams_kept, streams.lock)

/* 0 is the null stream. */
static bool stream_find(uintptr_t handle, uint64_t *number)
{
    *number = 0;
    return handle == 0 || handle_find(&streams, handle, number);
}

static uint16_t role_of(int32_t operation)
{
    return operation >= 0 && operation < ROCPROFILER_HIP_RUNTIME_API_ID_LAST
               ? hip_stream_uses[operation].role
               : 0;
}

bool hip_stream_is_configured(int32_t operation)
{
    return role_of(operation) != 0 && trace_domain_is_configured(TRACE_HIP_STREAM);
}

static bool is_heard(uint16_t role)
{
    return trace_set_load(TRACE_HIP_STREAM, role) != NULL;
}

/* What is made and destroyed is followed while nobody listens, too: else a stream that HIP puts
 * where another one was would have that one's number. */
bool hip_stream_is_wanted(int32_t operation)
{
    uint16_t role = role_of(operation);
    if (role != SET)
        return role != 0 && trace_domain_is_configured(TRACE_HIP_STREAM);
    return is_heard(SET);
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
    /* one that was made before we were there: of its end somebody may hear, else nothing is left */
    if (!stream_find(handle, &number) &&
        (!is_heard(role_of(operation)) || !handle_add(&streams, handle, &number))) {
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
    if (!place || !handle_add(&streams, *place, &number))
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
        handle_remove(&streams, (uintptr_t)scope->data.stream_value.ptr,
                      scope->data.stream_id.handle);
        moment_report(scope, DESTROY);
    }
}
