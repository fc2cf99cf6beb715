#!/usr/bin/env python3
"""Makes the HSA interception's C from data/api/hsa_*.api.

    hsa_wrappers.py API_FOLDER OUT_FOLDER

hsa_functions.h   the enum of all functions of all tables, where each sits in a runtime's table per
                  generation, and the typed pointers to the runtime's own functions
hsa_wrappers_T.c  for table T one wrapper a function and the list that installs them
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402

# Our name of the table -> its pointer's place in the runtime's root table.
ROOT_PLACES = {"hsa_core": 0, "hsa_amd_ext": 1, "hsa_finalize_ext": 2, "hsa_image_ext": 3}

NOTICE = "/* Made by gen/hsa_wrappers.py from data/api; do not edit. */\n"


def hsa_tables(folder):
    return [t for t in api_model.load(folder) if t.family == "hsa"]


def pointer_decl(function, name):
    params = ", ".join(p.decl for p in function.params) or "void"
    return "%s (*%s)(%s)" % (function.returns, name, params)


def stable_prefix(table):
    """Slots before the first one that a later generation inserted in between."""
    for f in table.functions:
        if f.slots[0] != f.slots[1]:
            return f.slots[1]
    return len(table.functions)


def functions_header(tables):
    out = [NOTICE, "#ifndef INTERCEPT_HSA_FUNCTIONS_H\n#define INTERCEPT_HSA_FUNCTIONS_H\n",
           "#include <rocprofiler-sdk/hsa.h>\n",
           "/* Came with the queue information of ROCm 6. */",
           "#if HSA_AMD_INTERFACE_VERSION_MINOR < 6",
           "typedef uint32_t hsa_queue_info_attribute_t;",
           "#endif\n",
           "/* (name, table, slot in tables of major version 1, of 2 and later; -1: not there) */",
           "#define HSA_FUNCTIONS(X) \\"]
    for t in tables:
        for f in t.functions:
            slots = [-1 if s is None else s for s in f.slots]
            out.append("    X(%s, %s, %d, %d) \\" % (f.name, t.table.upper(), *slots))
    out.append("")
    for column, generation in enumerate(("1", "2")):
        out.append("/* (name, table, slot) of those in tables of major version %s */" % generation)
        out.append("#define HSA_FUNCTIONS_%s(X) \\" % generation)
        for t in tables:
            out += ["    X(%s, %s, %d) \\" % (f.name, t.table.upper(), f.slots[column])
                    for f in t.functions if f.slots[column] is not None]
        out.append("")
    out.append("/* (table, place in the root table, slots of major version 1, of those before the "
               "first insertion) */")
    out.append("#define HSA_TABLES(X) \\")
    for t in sorted(tables, key=lambda t: ROOT_PLACES[t.stem]):
        first = sum(f.slots[0] is not None for f in t.functions)
        out.append("    X(%s, %d, %d, %d) \\" % (t.table.upper(), ROOT_PLACES[t.stem], first,
                                               stable_prefix(t)))
    out.append("")
    out.append("/* The runtime's own functions; NULL where its table has none. */")
    out.append("struct hsa_runtime {")
    for t in tables:
        out += ["    %s;" % pointer_decl(f, f.name) for f in t.functions]
    out.append("};\n\n#endif")
    return "\n".join(out) + "\n"


# Locals end in _ since parameters are called data, result and so on.
WRAPPER = """
CODE_TABLE_ENTRY static {returns}wrap_{name}({params})
{{
    const struct trace_set *set_ = trace_set_load(TRACE_{domain}, {id});

    if (__builtin_expect(set_ == NULL, 1))
        {tail}hsa_next.{name}({names});{tail_end}
    rocprofiler_callback_tracing_hsa_api_data_t payload_;
    struct trace_frame frame_;
    if (trace_set_wants_args(set_)) {{
        payload_.size = sizeof payload_;
{fills}
    }}
    trace_api_enter(&frame_, set_, TRACE_{domain}, {id}, &payload_);
    {assign}hsa_next.{name}({names});
{retval}    trace_api_exit(&frame_);
{last}}}
"""


def wrapper(table, f):
    void = f.returns_void
    fills = "\n".join("        payload_.args.%s.%s = %s;" % (f.name, p.name, p.name) for p in f.params)
    fills = fills or "        payload_.args.%s.no_args.empty = 0;" % f.name
    return WRAPPER.format(
        returns=f.returns + ("" if f.returns.endswith("*") else " "), name=f.name,
        params=", ".join(p.decl for p in f.params) or "void",
        domain=table.stem.upper() + "_API", id=f.id,
        tail="" if void else "return ",
        tail_end="" if not void else "",
        names=", ".join(p.name for p in f.params), fills=fills,
        assign="" if void else "%s result_ = " % f.returns,
        retval="" if void else "    payload_.retval.%s_retval = result_;\n" % f.returns,
        last="" if void else "    return result_;\n")


def void_fix(text):
    """A void wrapper's pass-through needs braces and a return of its own."""
    lines = []
    for line in text.split("\n"):
        if line.startswith("        hsa_next."):
            lines[-1] += " {"
            lines += [line, "        return;", "    }"]
        else:
            lines.append(line)
    return "\n".join(lines)


def wrappers_source(table):
    out = [NOTICE, '#include "base/code_table.h"\n#include "intercept/hsa/wrappers.h"\n', '#include "model/trace.h"']
    for f in table.functions:
        text = wrapper(table, f)
        out.append(void_fix(text) if f.returns_void else text)
    code = "code_" + table.table
    out.append("CODE_TABLE(%s," % code)
    out += ["    CODE(%s, wrap_%s)" % (code, f.name) for f in table.functions]
    out.append(");\n\nconst struct hsa_api_wrappers hsa_wrappers_%s = {" % table.table)
    out.append("    TRACE_%s_API, HSA_FN_%s, %d, %s\n};" % (
        table.stem.upper(), table.functions[0].name, len(table.functions), code))
    return "\n".join(out) + "\n"


def main():
    tables = hsa_tables(sys.argv[1])
    files = {"hsa_functions.h": functions_header(tables)}
    for t in tables:
        files["hsa_wrappers_%s.c" % t.table] = wrappers_source(t)
    os.makedirs(sys.argv[2], exist_ok=True)
    for name, text in files.items():
        with open(os.path.join(sys.argv[2], name), "w", encoding="utf-8") as f:
            f.write(text)


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hsa_wrappers.py: %s" % e)
