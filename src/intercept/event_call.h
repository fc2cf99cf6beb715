/*
 * A call that records an event or waits for one, while it submits its packets: the HIP side opens
 * it on the calling thread, the HSA side takes the packet that does it. Internal to intercept;
 * neither room knows the other.
 */
#ifndef INTERCEPT_EVENT_CALL_H
#define INTERCEPT_EVENT_CALL_H

#include <rocprofiler-sdk/fwd.h>
#include <stdbool.h>
#include <stdint.h>

struct event_call {
    uint64_t event;        /* the hipEvent_t */
    uint64_t source_queue; /* WAIT: where it was recorded; 0: unknown */
    uint64_t queue;        /* of the packet, when `taken` */
    int32_t operation;     /* rocprofiler_hip_event_operation_t; NONE: no call is open */
    bool taken;
};

/* By value, as launched.h. */
extern __thread struct event_call event_call_here
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* A call begins; returns what was open around it, for event_call_end. */
static inline struct event_call event_call_begin(int32_t operation, uint64_t event,
                                                 uint64_t source_queue)
{
    const struct event_call outer = event_call_here;
    event_call_here =
        (struct event_call){.event = event, .source_queue = source_queue, .operation = operation};
    return outer;
}

static inline struct event_call event_call_end(struct event_call outer)
{
    const struct event_call ended = event_call_here;
    event_call_here = outer;
    return ended;
}

/* Its packet is still to come. */
static inline bool event_call_is_open(void)
{
    return event_call_here.operation != ROCPROFILER_HIP_EVENT_NONE && !event_call_here.taken;
}

static inline void event_call_take(uint64_t queue)
{
    event_call_here.taken = true;
    event_call_here.queue = queue;
}

#endif
