/*
 * HIP_GRAPH: instantiated graphs, from their instantiation to their destruction, and their
 * launches. Shared by all ways of seeing HIP calls; internal to intercept.
 */
#ifndef INTERCEPT_HIP_GRAPHS_H
#define INTERCEPT_HIP_GRAPHS_H

#include <stdbool.h>
#include <stdint.h>

#include "intercept/launched.h"
#include "model/trace.h"

/* Made by gen/hip_handles.py, by operation of HIP_RUNTIME_API. */
struct hip_graph_use {
    uint16_t role; /* rocprofiler_hip_graph_operation_t; NONE: no instantiated graph is involved */
    uint16_t offset; /* of the graph, or the pointer to it, in the arguments */
};
extern const struct hip_graph_use hip_graph_uses[ROCPROFILER_HIP_RUNTIME_API_ID_LAST];

/* Does that call have to be seen, for anybody who may ever listen to HIP_GRAPH; just now? False for
 * numbers that are no operation. */
bool hip_graph_is_configured(int32_t operation);
bool hip_graph_is_wanted(int32_t operation);

/* One call, from enter to exit, on one thread. */
struct hip_graph_scope {
    struct trace_event event; /* open between enter and exit when `entered` */
    rocprofiler_callback_tracing_hip_graph_data_t data;
    uint64_t start_ns;
    struct launched outer;
    bool entered, wanted;
    bool made_up; /* a launch of what nobody saw made: it was told of now */
};
void hip_graph_enter(struct hip_graph_scope *scope, int32_t operation,
                     const rocprofiler_hip_api_args_t *args);
void hip_graph_exit(struct hip_graph_scope *scope, int32_t operation,
                    const rocprofiler_hip_api_args_t *args, bool succeeded);

#endif
