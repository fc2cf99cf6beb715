#!/usr/bin/env python3
"""Makes the tables that describe the arguments of ROCtracer's callback data.

    roctracer_args.py API_FOLDER HIP_PROF_STR_H|none OUT.inc

HSA's and libhsakmt's functions come from data/api, HIP 5.2's from the header of the installed release, whose
structures are what callbacks get: tool/roctracer/arguments/arguments.c defines the macros, so that the
compiler, which knows the types, computes offsets, sizes and formats. For later releases of HIP
data/api/hip_tracer_*.list says where arguments lie, and data/api/hip_*.api their types.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_headers  # noqa: E402
import api_model  # noqa: E402
import hip_lists  # noqa: E402
import kfd_header  # noqa: E402


def hip_calls(path):
    """[(name, [(parameter, whether the structure has room for what it points to)])]"""
    with open(path, encoding="utf-8") as f:
        behind = set(re.findall(r"data->args\.(\w+\.\w+)__val = \*", f.read()))
    return [(name, [(p, "%s.%s" % (name, p) in behind) for p in params if p in filled])
            for name, (number, params, filled) in sorted(hip_lists.legacy_functions(path).items())
            if number > 0 and params]


def hip_ids(path):
    return sorted(name for name, (number, _, _) in hip_lists.legacy_functions(path).items()
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


def kfd_table(functions):
    out, rows = [], ["static const struct call kfd_calls[] = {"]
    for f in functions:
        if f.params:
            places = ["    KFD_ARGUMENT(%s, %s, %s)," %
                      (f.name, p.name, p.name + (".Value" if p.type in kfd_header.VALUE_TYPES else ""))
                      for p in f.params]
            out += ["static const struct call_argument kfd_%s[] = {" % f.name] + places + ["};"]
        rows.append("    KFD_ROW(%s, %s, %d)," % (f.name, "kfd_" + f.name if f.params else "NULL",
                                                 len(f.params)))
    return out + rows + ["};"]


# What a value of a type is shown as, and its size. Other types are pointers if they are as large as
# one and HIP's own, numbers (enumerations) if they have 4 bytes, and structures otherwise.
SCALARS = {"int": ("SIGNED", 4), "long": ("SIGNED", 8), "long long": ("SIGNED", 8),
           "unsigned int": ("UNSIGNED", 4), "unsigned": ("UNSIGNED", 4), "size_t": ("UNSIGNED", 8),
           "unsigned long": ("UNSIGNED", 8), "unsigned long long": ("UNSIGNED", 8),
           "uint64_t": ("UNSIGNED", 8), "unsigned short": ("UNSIGNED", 2),
           "unsigned char": ("UNSIGNED", 1), "float": ("FLOAT", 4), "dim3": ("DIM3", 12)}
# Opaque pointers of HIP, whose size no list says when they stand behind a pointer.
POINTERS = {"hipStream_t", "hipEvent_t", "hipModule_t", "hipFunction_t", "hipCtx_t", "hipGraph_t",
            "hipGraphExec_t", "hipGraphNode_t", "hipDeviceptr_t", "hipArray_t", "hipMemPool_t"}


def value_format(type_, size):
    plain = type_.replace("const ", "").strip()
    if plain in SCALARS:
        return SCALARS[plain][0]
    if type_.endswith("*"):
        return "STRING" if type_ == "const char *" else "POINTER"
    if size == 8 and (plain in POINTERS or plain.endswith("_t") or "(*" in plain):
        return "POINTER"
    return "UNSIGNED" if size == 4 else "STRUCT"


def behind(type_):
    """(format, size) of what a pointer leads to and the structure has room for, or None."""
    if not type_.endswith("*") or type_ == "const char *":
        return None
    target = type_[:-1].replace("const ", "").strip()
    if target.endswith("*") or target in POINTERS:
        return "POINTER", 8
    return SCALARS.get(target)


def release_argument(name, type_, offset, size):
    row = ".name = \"%s\", .offset = %d, .format = FORMAT_%s, .size_bytes = %d" \
        % (name, offset, value_format(type_, size), size)
    inner = behind(type_)
    if inner:
        place = (offset + 8 + inner[1] - 1) // inner[1] * inner[1] if inner[1] <= 8 else offset + 8
        row += ", .behind_format = FORMAT_%s, .behind_offset = %d, .behind_size_bytes = %d" \
            % (inner[0], place, inner[1])
        return row, place + inner[1]
    return row, offset + size


class Release:
    """The calls of one list; equal rows of arguments are shared by all lists."""

    def __init__(self, path, sdk):
        self.releases, self.size, functions = hip_lists.read_list(path)
        self.stem = "hip_%d_%d_calls" % self.releases[0]
        self.calls = {}
        for number, (name, places) in sorted(functions.items()):
            function = sdk.get(hip_lists.RENAMED.get(name, name))
            if function is None or len(function.params) != len(places):
                self.calls[number] = (name, (), 16) # its types are not known: no arguments
                continue
            rows = [release_argument(place[0], p.type, *place[1:])
                    for p, place in zip(function.params, places)]
            for (_, end), (_, begin, _) in zip(rows, places[1:]):
                assert end <= begin, (path, name) # the rule for what stands behind pointers holds
            self.calls[number] = (name, tuple(r for r, _ in rows), max([e for _, e in rows] + [16]))

    def table(self, shared):
        out = ["static const struct call %s[] = {" % self.stem]
        for number, (name, rows, end) in self.calls.items():
            out.append("    [%d] = {.name = \"%s\", .arguments = %s, .argument_count = %d, "
                       ".data_size_bytes = %d},"
                       % (number, name, shared.setdefault(rows, "hip_arguments_%d" % len(shared))
                          if rows else "NULL", len(rows), min(end, self.size)))
        return out + ["};"]


def release_tables(folder):
    sdk, shared, tables, releases = hip_lists.operations(folder), {}, [], []
    for path in hip_lists.list_paths(folder):
        release = Release(path, sdk)
        tables += release.table(shared)
        releases += ["    {%d, %d, %s, %d}," % (major, minor, release.stem, max(release.calls) + 1)
                     for major, minor in release.releases]
    arguments = []
    for rows, name in shared.items():
        arguments += ["static const struct call_argument %s[] = {" % name] + \
            ["    {%s}," % row for row in rows] + ["};"]
    return arguments + tables + ["static const struct hip_release hip_releases[] = {"] + releases + \
        ["};"]


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
    out += hsa_table(functions) + kfd_table(api_model.load_thunk(folder).functions)
    if hip:
        out += ["#define HAS_HIP_CALLS"] + hip_table(hip_ids(header), hip)
    out += release_tables(folder)
    with open(target, "w", encoding="utf-8") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("roctracer_args.py: %s" % e)
