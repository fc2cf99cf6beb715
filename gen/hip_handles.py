#!/usr/bin/env python3
"""Makes the lists of HIP functions that make, end or use a stream, an instantiated graph or an event,
from data/api/hip_runtime.api.

    hip_handles.py API_FOLDER OUT.c
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402

GRAPH_ROLES = {"hipGraphExecDestroy": "EXEC_DESTROY", "hipGraphLaunch": "EXEC_LAUNCH",
               "hipGraphLaunch_spt": "EXEC_LAUNCH"}

# LAST: the event is gone.
EVENT_ROLES = {"hipEventRecord": "RECORD", "hipEventRecord_spt": "RECORD",
               "hipEventRecordWithFlags": "RECORD", "hipStreamWaitEvent": "WAIT",
               "hipStreamWaitEvent_spt": "WAIT", "hipEventDestroy": "LAST"}


def parameter(function, kind):
    return next((p.name for p in function.params if p.type == kind), None)


def stream_use(function):
    """(role, parameter), or None. No function has two streams."""
    if function.table.stem != "hip_runtime":
        return None
    for p in function.params:
        if p.type == "hipStream_t":
            return ("DESTROY" if function.name == "hipStreamDestroy" else "SET"), p.name
        if p.type == "hipStream_t *":
            return "CREATE", p.name
    return None


def graph_use(function):
    """(role, parameter), or None. Whoever gives an instantiated graph back has made it."""
    if function.table.stem != "hip_runtime":
        return None
    made = parameter(function, "hipGraphExec_t *")
    if made:
        return "EXEC_CREATE", made
    role = GRAPH_ROLES.get(function.name)
    return (role, parameter(function, "hipGraphExec_t")) if role else None


def event_use(function):
    """(role, parameter), or None."""
    if function.table.stem != "hip_runtime" or function.name not in EVENT_ROLES:
        return None
    return EVENT_ROLES[function.name], parameter(function, "hipEvent_t")


def uses_text(name, prefix, use_of, functions):
    out = ["const struct %s_use %s_uses[ROCPROFILER_HIP_RUNTIME_API_ID_LAST] = {" % (name, name)]
    for f in functions:
        use = use_of(f)
        if use:
            out.append("    [%d] = {ROCPROFILER_%s%s, offsetof(rocprofiler_hip_api_args_t, %s.%s)},"
                       % (f.id, prefix, use[0], f.name, use[1]))
    return "\n".join(out + ["};", ""])


def main():
    folder, target = sys.argv[1:3]
    functions = [f for table in api_model.load(folder) for f in table.functions]
    with open(target, "w", encoding="ascii") as f:
        f.write("/* Made by gen/hip_handles.py from data/api; do not edit. */\n"
                '#include "intercept/hip/events.h"\n#include "intercept/hip/graphs.h"\n'
                '#include "intercept/hip/streams.h"\n\n'
                "#include <stddef.h>\n\n")
        f.write(uses_text("hip_stream", "HIP_STREAM_", stream_use, functions) + "\n")
        f.write(uses_text("hip_graph", "HIP_GRAPH_OPERATION_", graph_use, functions) + "\n")
        f.write(uses_text("hip_event", "HIP_EVENT_", event_use, functions))


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hip_handles.py: %s" % e)
