#include "intercept/hip/graphs.h"

#include <string.h>

#include "base/fork_lock.h"
#include "intercept/hip/handles.h"
#include "topology/topology.h"

enum {
    CREATE = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_CREATE,
    DESTROY = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_DESTROY,
    LAUNCH = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH,
};

static struct handles graphs = HANDLES_OF("graphs");
FORK_LOCK(graphs_kept, graphs.lock)

static uint16_t role_of(int32_t operation)
{
    return operation >= 0 && operation < ROCPROFILER_HIP_RUNTIME_API_ID_LAST
               ? hip_graph_uses[operation].role
               : 0;
}

bool hip_graph_is_configured(int32_t operation)
{
    return role_of(operation) != 0 && trace_domain_is_configured(TRACE_HIP_GRAPH);
}

/* What is made and destroyed is followed while nobody listens, too: else a graph that HIP puts
 * where another one was would have that one's number. */
bool hip_graph_is_wanted(int32_t operation)
{
    uint16_t role = role_of(operation);
    if (role != LAUNCH)
        return role != 0 && trace_domain_is_configured(TRACE_HIP_GRAPH);
    return trace_set_load(TRACE_HIP_GRAPH, LAUNCH) != NULL ||
           trace_set_load(TRACE_HIP_GRAPH, CREATE) != NULL;
}

static uintptr_t argument(int32_t operation, const rocprofiler_hip_api_args_t *args)
{
    uintptr_t value;
    memcpy(&value, (const char *)args + hip_graph_uses[operation].offset, sizeof value);
    return value;
}

static void data_fill(struct hip_graph_scope *scope, uintptr_t handle, uint64_t number)
{
    memset(&scope->data, 0, sizeof scope->data);
    scope->data.size = sizeof scope->data;
    scope->data.graph_exec_id.handle = number;
    scope->data.graph_exec_value.ptr = (void *)handle;
}

static void moment_report(struct hip_graph_scope *scope, int32_t role)
{
    if (!trace_event_open(&scope->event, TRACE_HIP_GRAPH, role))
        return;
    trace_event_call(&scope->event, role, ROCPROFILER_CALLBACK_PHASE_NONE, &scope->data);
    trace_event_release(&scope->event);
}

/* Who hears of a launch has heard of the graph. */
static void launch_enter(struct hip_graph_scope *scope, bool known)
{
    uintptr_t handle = (uintptr_t)scope->data.graph_exec_value.ptr;
    if (!known && handle != 0)
        scope->made_up = handle_add(&graphs, handle, &scope->data.graph_exec_id.handle);
    if (scope->made_up)
        moment_report(scope, CREATE);
    scope->entered = trace_event_open(&scope->event, TRACE_HIP_GRAPH, LAUNCH);
    if (!scope->entered)
        return;
    trace_event_call(&scope->event, LAUNCH, ROCPROFILER_CALLBACK_PHASE_ENTER, &scope->data);
    scope->outer = launched_begin();
    scope->start_ns = trace_time_ns();
}

void hip_graph_enter(struct hip_graph_scope *scope, int32_t operation,
                     const rocprofiler_hip_api_args_t *args)
{
    scope->entered = scope->made_up = false;
    scope->wanted = hip_graph_is_wanted(operation);
    if (!scope->wanted || role_of(operation) == CREATE)
        return;
    uint64_t number = 0;
    uintptr_t handle = argument(operation, args);
    bool known = handle_find(&graphs, handle, &number);
    data_fill(scope, handle, number);
    if (role_of(operation) == LAUNCH)
        launch_enter(scope, known);
}

/* Where a launch has submitted no kernel: the only GPU there is. */
static rocprofiler_agent_id_t only_gpu(void)
{
    const struct topology *system = topology_system();
    rocprofiler_agent_id_t only = {0};
    uint32_t gpus = 0;
    for (uint32_t i = 0; i < system->agent_count; i++)
        if (system->agents[i]->type == ROCPROFILER_AGENT_TYPE_GPU) {
            only = system->agents[i]->id;
            gpus++;
        }
    return gpus == 1 ? only : (rocprofiler_agent_id_t){0};
}

static void launch_record(struct hip_graph_scope *scope, const struct launched *launched,
                          uint64_t end_ns)
{
    const rocprofiler_buffer_tracing_hip_graph_record_t record = {
        .size = sizeof record,
        .kind = ROCPROFILER_BUFFER_TRACING_HIP_GRAPH,
        .operation = ROCPROFILER_HIP_GRAPH_OPERATION_EXEC_LAUNCH,
        .thread_id = scope->event.thread_id,
        .start_timestamp = scope->start_ns,
        .end_timestamp = end_ns,
        .agent_id = launched->kernels != 0 ? launched->agent : only_gpu(),
        .graph_exec_id = scope->data.graph_exec_id,
        .kernel_dispatch_count = launched->kernels,
    };
    trace_event_record(&scope->event, &record, sizeof record);
}

static void launch_exit(struct hip_graph_scope *scope, bool succeeded)
{
    if (scope->entered) {
        uint64_t end_ns = trace_time_ns();
        const struct launched launched = launched_end(scope->outer);
        trace_event_call(&scope->event, LAUNCH, ROCPROFILER_CALLBACK_PHASE_EXIT, &scope->data);
        if (succeeded)
            launch_record(scope, &launched, end_ns);
        trace_event_release(&scope->event);
    }
    if (!succeeded && scope->made_up) { /* there is no such graph */
        handle_remove(&graphs, (uintptr_t)scope->data.graph_exec_value.ptr,
                      scope->data.graph_exec_id.handle);
        moment_report(scope, DESTROY);
    }
}

static void created(struct hip_graph_scope *scope, const uintptr_t *place)
{
    uint64_t number;
    if (!place || *place == 0 || !handle_add(&graphs, *place, &number))
        return;
    data_fill(scope, *place, number);
    moment_report(scope, CREATE);
}

static void destroyed(struct hip_graph_scope *scope)
{
    handle_remove(&graphs, (uintptr_t)scope->data.graph_exec_value.ptr,
                  scope->data.graph_exec_id.handle);
    moment_report(scope, DESTROY);
}

void hip_graph_exit(struct hip_graph_scope *scope, int32_t operation,
                    const rocprofiler_hip_api_args_t *args, bool succeeded)
{
    uint16_t role = role_of(operation);
    if (!scope->wanted)
        return;
    if (role == LAUNCH)
        launch_exit(scope, succeeded);
    else if (succeeded && role == CREATE)
        created(scope, (const uintptr_t *)argument(operation, args));
    else if (succeeded && role == DESTROY)
        destroyed(scope);
}
