/* Contexts that a tool stops for passes of a replayed kernel, on the thread that launches it. */
#include "model/replay.h"
#include "session/session.h"

/* This thread's replay; NULL: none. A pointer, since a library that is loaded late has little room
 * for threads' variables. */
static __thread struct trace_replay *replay __attribute__((tls_model("initial-exec")));

bool trace_replay_begin(struct trace_replay *mine)
{
    if (replay)
        return false;
    mine->is_entering = false;
    mine->stopped_count = 0;
    replay = mine;
    return true;
}

void trace_replay_end(void)
{
    replay = NULL;
}

void trace_replay_entering(bool is_entering)
{
    replay->is_entering = is_entering;
}

static uint32_t place_of(rocprofiler_context_id_t context)
{
    uint32_t at = 0;
    while (at < replay->stopped_count && replay->stopped[at] != context.handle)
        at++;
    return at;
}

bool trace_replay_is_stopped(rocprofiler_context_id_t context)
{
    return replay && replay->stopped_count > 0 && place_of(context) < replay->stopped_count;
}

static rocprofiler_status_t may_change(rocprofiler_context_id_t context)
{
    if (!context_find(context))
        return ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_FOUND;
    return replay && replay->is_entering && context_is_active(context)
               ? ROCPROFILER_STATUS_SUCCESS
               : ROCPROFILER_STATUS_ERROR_CONTEXT_NOT_STARTED;
}

rocprofiler_status_t trace_replay_context_start(rocprofiler_context_id_t context)
{
    rocprofiler_status_t status = may_change(context);
    uint32_t at = status == ROCPROFILER_STATUS_SUCCESS ? place_of(context) : 0;
    if (status == ROCPROFILER_STATUS_SUCCESS && at < replay->stopped_count)
        replay->stopped[at] = replay->stopped[--replay->stopped_count];
    return status;
}

rocprofiler_status_t trace_replay_context_stop(rocprofiler_context_id_t context)
{
    rocprofiler_status_t status = may_change(context);
    if (status != ROCPROFILER_STATUS_SUCCESS || trace_replay_is_stopped(context))
        return status;
    if (replay->stopped_count == TRACE_REPLAY_STOPPED_MAX)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    replay->stopped[replay->stopped_count++] = context.handle;
    return status;
}
