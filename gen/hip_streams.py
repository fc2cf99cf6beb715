#!/usr/bin/env python3
"""Makes the list of HIP functions that make, end or use a stream, from data/api/hip_runtime.api.

    hip_streams.py API_FOLDER OUT.c
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402


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


def main():
    folder, target = sys.argv[1:3]
    out = ["/* Made by gen/hip_streams.py from data/api; do not edit. */",
           '#include "intercept/hip/streams.h"\n', "#include <stddef.h>\n",
           "const struct hip_stream_use hip_stream_uses[ROCPROFILER_HIP_RUNTIME_API_ID_LAST] = {"]
    for table in api_model.load(folder):
        for f in table.functions:
            use = stream_use(f)
            if use:
                out.append("    [%d] = {ROCPROFILER_HIP_STREAM_%s, "
                           "offsetof(rocprofiler_hip_api_args_t, %s.%s)}," % (f.id, use[0], f.name,
                                                                              use[1]))
    with open(target, "w", encoding="ascii") as f:
        f.write("\n".join(out + ["};", ""]))


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hip_streams.py: %s" % e)
