#!/usr/bin/env python3
"""Makes the wrappers of one API table that begins with its size: every library's but HSA's.

    table_wrappers.py API_FOLDER STEM OUT.c

A library may be in the process more than once, and every copy offers a table with functions of its
own. A wrapper must know which one to call, so there are as many small wrappers a function as
TABLE_COPIES_MAX; they share one function that does the tracing.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_headers  # noqa: E402
import api_model  # noqa: E402
from hip_handles import event_use, graph_use, stream_use  # noqa: E402

COPIES = 2  # the generated file asserts that it is TABLE_COPIES_MAX

# Return type -> member of the family's return-value union.
RETVALS = {
    "hip": {"const char *": "const_charp", "void **": "voidpp"},
    "marker": {"int": "int32_t"},
    "rccl": {"const char *": "const_charp"},
    "rocdecode": {"const char *": "const_charp"},
    "hipfile": {"const char *": "const_charp"},
    "rocjpeg": {"const char *": "const_charp", "RocJpegStatus": "rocJpegStatus"},
}

HEAD = """/* Made by gen/table_wrappers.py from data/api; do not edit. */
#include <rocprofiler-sdk/callback_tracing.h>

#include "base/code_table.h"
#include "intercept/hip/events.h"
#include "intercept/hip/graphs.h"
#include "intercept/hip/streams.h"
#include "intercept/table/table.h"
#include "model/trace.h"

_Static_assert(TABLE_COPIES_MAX == {copies}, "gen/table_wrappers.py makes as many");
enum {{ FUNCTIONS = {count} }};

/* Written under the lock of table.c before the wrapper is reachable, constant while it is. */
static void *next_functions[FUNCTIONS * TABLE_COPIES_MAX];
"""

# Locals end in _ since parameters are called data, result and so on.
TRACED = """
typedef {returns}(*fn_{name})({params});

static __attribute__((noinline)) {returns}traced_{name}({params}{comma}fn_{name} next_,
    const struct trace_set *set_)
{{
    rocprofiler_callback_tracing_{family}_api_data_t payload_;
    struct trace_frame frame_;
    if (trace_set_wants_args(set_)) {{
        payload_.size = sizeof payload_;
{fills}
        payload_.retval = (__typeof__(payload_.retval)){{0}};
    }}
{keeps}    trace_api_enter(&frame_, set_, TRACE_{domain}, {id}, &payload_);
    {assign}next_({names});
    TRACE_CALL_MAY_BE_LEFT();
{retval}    trace_api_exit(&frame_);
{last}}}
"""

# A call that involves a stream, an instantiated graph or an event may be of interest for that alone.
TRACED_HANDLE = """
typedef {returns}(*fn_{name})({params});

static __attribute__((noinline)) {returns}traced_{name}({params}{comma}fn_{name} next_,
    const struct trace_set *set_)
{{
    rocprofiler_callback_tracing_{family}_api_data_t payload_;
{scopes}    struct trace_frame frame_;
    payload_.size = sizeof payload_;
{fills}
    payload_.retval = (__typeof__(payload_.retval)){{0}};
    if (set_ != NULL)
        trace_api_enter(&frame_, set_, TRACE_{domain}, {id}, &payload_);
{enters}    {assign}next_({names});
    TRACE_CALL_MAY_BE_LEFT();
{exits}{retval}    if (set_ != NULL)
        trace_api_exit(&frame_);
{last}}}
"""

COPY = """
CODE_TABLE_ENTRY static {returns}copy{copy}_{name}({params})
{{
    const struct trace_set *set_ = trace_set_load(TRACE_{domain}, {id});
    fn_{name} next_ = (fn_{name})next_functions[{id} * TABLE_COPIES_MAX + {copy}];

    if (__builtin_expect(set_ == NULL, 1){unwanted})
        {call}next_({names});
    else
        {call}traced_{name}({names}{comma}next_, set_);
}}
"""


def fill(function, param):
    place = "payload_.args.%s.%s" % (function.name, param.name)
    if param.type == "dim3":
        return ["%s.%s = %s.%s;" % (place, axis, param.name, axis) for axis in "xyz"]
    # An argument structure may keep a pointer without the prototype's const.
    return ["%s = (__typeof__(%s))%s;" % (place, place, param.name)
            if "(*" not in param.type and "*" in param.type else "%s = %s;" % (place, param.name)]


def handles(f):
    """(what, condition that nobody wants it) of the handles that a call involves, outer one first."""
    stream = stream_use(f)
    if stream:
        yield "stream", ("trace_set_load(TRACE_HIP_STREAM, ROCPROFILER_HIP_STREAM_%s) == NULL"
                         % stream[0])
    if graph_use(f):
        yield "graph", "!hip_graph_is_wanted(%d)" % f.id
    if event_use(f):
        yield "event", "!hip_event_is_wanted(%d)" % f.id


def handle_pieces(f):
    involved = list(handles(f))
    succeeded = "result_ == hipSuccess" if f.returns == "hipError_t" else "true"
    return {
        "traced": TRACED_HANDLE if involved else TRACED,
        "unwanted": "".join(" && " + unwanted for _, unwanted in involved),
        "scopes": "".join("    struct hip_%s_scope %s_;\n" % (what, what) for what, _ in involved),
        "enters": "".join("    hip_%s_enter(&%s_, %d, &payload_.args);\n" % (what, what, f.id)
                          for what, _ in involved),
        "exits": "".join("    hip_%s_exit(&%s_, %d, &payload_.args, %s);\n"
                         % (what, what, f.id, succeeded) for what, _ in reversed(involved)),
    }


def pieces(table, f):
    void = f.returns_void
    fills = [line for p in f.params for line in fill(f, p)]
    member = RETVALS.get(table.family, {}).get(f.returns, f.returns)
    return {
        "returns": f.returns + ("" if f.returns.endswith("*") else " "), "name": f.name,
        "params": ", ".join(api_headers.portable(p.decl) for p in f.params),
        "comma": ", " if f.params else "", "family": table.family,
        "domain": table.stem.upper() + "_API", "id": f.id,
        "names": ", ".join(p.name for p in f.params),
        "fills": "\n".join("        " + line for line in fills)
                 or "        payload_.args.%s.no_args.empty = 0;" % f.name,
        "keeps": "".join("    TRACE_KEEP(%s);\n" % n for n in [p.name for p in f.params] + ["next_"]),
        "assign": "" if void else "%s result_ = " % f.returns,
        "retval": "" if void else "    payload_.retval.%s_retval = result_;\n" % member,
        "last": "" if void else "    return result_;\n",
        "call": "" if void else "return ",
        **handle_pieces(f),
    }


def function_text(table, f):
    values = pieces(table, f)
    text = values["traced"].format(**values)
    for copy in range(COPIES):
        text += COPY.format(copy=copy, **values)
    return re.sub(r"\(\)\n\{", "(void)\n{", text).replace(")();", ")(void);")


def table_text(table):
    out = [HEAD.format(copies=COPIES, count=len(table.functions))]
    out += [function_text(table, f) for f in table.functions]
    out.append("\nstatic const struct table_function functions[FUNCTIONS] = {")
    out += ["    {%d, %d}," % (f.slots[0], f.id) for f in table.functions]
    out.append("};\n\nCODE_TABLE(wrappers_%s," % table.stem)
    out += ["    CODE(wrappers_%s, copy%d_%s)" % (table.stem, c, f.name)
            for f in table.functions for c in range(COPIES)]
    out.append(");\n\nstatic void *wrapper_at(uint32_t function, int copy)\n{\n"
               "    return code_table_at(wrappers_%s, function * TABLE_COPIES_MAX + (uint32_t)copy);\n"
               "}\n" % table.stem)
    out.append("static void *tables[TABLE_COPIES_MAX];\n")
    has_handles = any(True for f in table.functions for _ in handles(f))
    if has_handles:
        out.append("static bool handle_is_configured(int32_t operation)\n{\n"
                   "    return hip_stream_is_configured(operation) ||\n"
                   "           hip_graph_is_configured(operation) ||\n"
                   "           hip_event_is_configured(operation);\n}\n")
    out.append("const struct table_wrappers table_wrappers_%s = {\n"
               "    .name = \"%s\",\n    .domain = TRACE_%s_API,\n    .functions = functions,\n"
               "    .wrapper = wrapper_at,\n    .function_count = FUNCTIONS,\n    .next = next_functions,\n"
               "    .tables = tables,\n%s};"
               % (table.stem, table.stem, table.stem.upper(),
                  "    .also_configured = handle_is_configured,\n" if has_handles else ""))
    return "\n".join(out) + "\n"


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, stem, target = sys.argv[1:]
    table = [t for t in api_model.load(folder) if t.stem == stem][0]
    with open(target, "w", encoding="utf-8") as f:
        f.write(table_text(table))


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("table_wrappers.py: %s" % e)
