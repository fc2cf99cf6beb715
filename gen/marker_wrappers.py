#!/usr/bin/env python3
"""Makes the wrappers of the marker library's functions, and the list that installs them.

    marker_wrappers.py API_FOLDER OUT.inc
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402

WRAPPER = """static {proto}
{{
    const struct trace_set *set = trace_set_load({domain}, {id});
    if (__builtin_expect(!set, 1))
        {ret}next_{name}({args});{bare}
    rocprofiler_callback_tracing_marker_api_data_t data;
    data.size = sizeof data;
{fill}    struct trace_frame frame;
    trace_api_enter(&frame, set, {domain}, {id}, &data);
    {assign}next_{name}({args});
{result}    trace_api_exit(&frame);
{last}}}
"""


def retval(function):
    return {"int": "int32_t_retval", "roctx_range_id_t": "roctx_range_id_t_retval"}[
        function.returns]


def wrapper(function):
    name = function.name
    void = function.returns_void
    args = ", ".join(p.name for p in function.params)
    params = ", ".join(p.decl for p in function.params) or "void"
    fill = "".join("    data.args.%s.%s = %s;\n" % (name, p.name, p.name) for p in function.params)
    pointer = "static %s (*next_%s)(%s);\n" % (function.returns, name, params)
    return pointer + WRAPPER.format(
        proto=api_model.join_type(function.returns, "wrap_" + name) + "(" + params + ")",
        domain="TRACE_%s_API" % function.table.stem.upper(),
        id=function.table.enum_prefix + name, name=name, args=args,
        ret="{ " if void else "return ", bare=" return; }" if void else "",
        fill=fill, assign="" if void else "%s value = " % function.returns,
        result="" if void else "    data.retval.%s = value;\n" % retval(function),
        last="" if void else "    return value;\n")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    tables = [t for t in api_model.load(sys.argv[1]) if t.family == "marker" and t.struct != "-"]
    out = ["/* Made by gen/marker_wrappers.py from data/api. */"]
    out += [wrapper(f) for t in tables for f in t.functions]
    out.append("/* X(table, struct, slot, domain, operation, function) */\n"
               "#define MARKER_FUNCTIONS(X) \\")
    for index, t in enumerate(tables):
        for f in t.functions:
            out.append("    X(%d, %s, %s_fn, TRACE_%s_API, %s%s, %s) \\"
                       % (index, t.struct, f.name, t.stem.upper(), t.enum_prefix, f.name, f.name))
    with open(sys.argv[2], "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n\n")


if __name__ == "__main__":
    main()
