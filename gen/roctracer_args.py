#!/usr/bin/env python3
"""Makes the tables that describe the arguments of ROCtracer's callback data.

    roctracer_args.py API_FOLDER HIP_PROF_STR_H|none OUT.inc

HSA's functions come from data/api, HIP's from the header of the installed release, whose structures
are what callbacks get. tool/roctracer/arguments/arguments.c defines the macros, so that the
compiler, which knows the types, computes offsets, sizes and formats.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_headers  # noqa: E402
import api_model  # noqa: E402
import hip_legacy  # noqa: E402


def hip_calls(path):
    """[(name, [(parameter, whether the structure has room for what it points to)])]"""
    with open(path, encoding="utf-8") as f:
        behind = set(re.findall(r"data->args\.(\w+\.\w+)__val = \*", f.read()))
    return [(name, [(p, "%s.%s" % (name, p) in behind) for p in params if p in filled])
            for name, (number, params, filled) in sorted(hip_legacy.legacy_functions(path).items())
            if number > 0 and params]


def hip_ids(path):
    return sorted(name for name, (number, _, _) in hip_legacy.legacy_functions(path).items()
                  if number > 0 and name not in ("FIRST", "LAST", "NUMBER"))


def argument_rows(family, name, params):
    if not params:
        return []
    return ["static const struct call_argument %s_%s[] = {" % (family, name)] + \
        ["    %s(%s, %s)," % ("BEHIND" if is_behind else family.upper() + "_ARGUMENT", name, p)
         for p, is_behind in params] + ["};"]


def hip_table(names, rows):
    out = ["static const struct call hip_calls[] = {"]
    for name in names:
        count = len(rows.get(name, ()))
        out.append("    HIP_ROW(%s, %d)," % (name, count) if count else
                   "    HIP_ROW_PLAIN(%s)," % name)
    return out + ["};"]


def hsa_table(functions):
    out = ["static const struct call hsa_calls[] = {"]
    for f in functions:
        rows = "hsa_%s" % f.name if f.params else "NULL"
        tail = "_VOID(%s, %s, %d)" % (f.name, rows, len(f.params)) if f.returns_void else \
            "(%s, %s, %d, %s)" % (f.name, rows, len(f.params), f.returns)
        out.append("    HSA_ROW%s," % tail)
    return out + ["};"]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    folder, header, target = sys.argv[1:]
    functions = api_headers.roctracer_functions(api_model.load(folder))
    out = ["/* Made by gen/roctracer_args.py; do not edit. */"]
    hsa = {f.name: [(api_headers.ROCTRACER_NAMES.get((f.name, p.name), p.name), False)
                    for p in f.params] for f in functions}
    hip = dict(hip_calls(header)) if header != "none" else {}
    for family, rows in (("hsa", hsa), ("hip", hip)):
        for name, params in rows.items():
            out += argument_rows(family, name, params)
    out += hsa_table(functions)
    if hip:
        out += ["#define HAS_HIP_CALLS"] + hip_table(hip_ids(header), hip)
    with open(target, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("roctracer_args.py: %s" % e)
