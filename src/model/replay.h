/*
 * Kernels that are executed several times (decision 0024): what interception, which repeats them,
 * and session, which knows contexts, tell each other. The tool's callbacks are an event of the
 * domain KERNEL_REPLAY.
 */
#ifndef MODEL_REPLAY_H
#define MODEL_REPLAY_H

#include "model/trace.h"

/* As trace_event_open, for more that is to be said of other work: under its ids. */
bool trace_event_open_beside(struct trace_event *event, enum trace_domain domain, int32_t operation,
                             const struct trace_event *other);

/* The user data of the event's subscribers, of which the domain admits one. */
rocprofiler_user_data_t trace_event_user_data(const struct trace_event *event);

/* A launch whose kernel is repeated, on its thread's stack; session's. */
enum { TRACE_REPLAY_STOPPED_MAX = TRACE_SUBSCRIBERS_MAX };
struct trace_replay {
    bool is_entering;
    uint32_t stopped_count;
    uint64_t stopped[TRACE_REPLAY_STOPPED_MAX]; /* handles of contexts */
};

/* Around all passes of one launch, and around the ENTER callbacks of each, on the launching thread.
 * They do not nest: a kernel that a callback launches is not repeated. False: it is inside. */
bool trace_replay_begin(struct trace_replay *mine);
void trace_replay_end(void);
void trace_replay_entering(bool is_entering);

/* For the payload. Status CONTEXT_NOT_STARTED outside of a PASS's ENTER and for contexts that are
 * not started. */
rocprofiler_status_t trace_replay_context_start(rocprofiler_context_id_t context);
rocprofiler_status_t trace_replay_context_stop(rocprofiler_context_id_t context);

/* The context is stopped for this thread's passes. */
bool trace_replay_is_stopped(rocprofiler_context_id_t context);

#endif
