/*
 * HIP_EVENT: calls that record an event or wait for one. What they submit is seen in ../hsa, which
 * reports it; here is which call, and where an event was recorded last. Shared by all ways of
 * seeing HIP calls; internal to intercept.
 */
#ifndef INTERCEPT_HIP_EVENTS_H
#define INTERCEPT_HIP_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/event_call.h"
#include "model/trace.h"

/* Made by gen/hip_handles.py, by operation of HIP_RUNTIME_API. */
struct hip_event_use {
    uint16_t
        role; /* rocprofiler_hip_event_operation_t; NONE: no event is involved; LAST: it ends */
    uint16_t offset; /* of the event in the arguments */
};
extern const struct hip_event_use hip_event_uses[ROCPROFILER_HIP_RUNTIME_API_ID_LAST];

/* Does that call have to be seen, for anybody who may ever listen to HIP_EVENT; just now? False for
 * numbers that are no operation. */
bool hip_event_is_configured(int32_t operation);
bool hip_event_is_wanted(int32_t operation);

/* One call, from enter to exit, on one thread. */
struct hip_event_scope {
    struct event_call outer;
    bool wanted;
};
void hip_event_enter(struct hip_event_scope *scope, int32_t operation,
                     const rocprofiler_hip_api_args_t *args);
void hip_event_exit(struct hip_event_scope *scope, int32_t operation,
                    const rocprofiler_hip_api_args_t *args, bool succeeded);

#endif
