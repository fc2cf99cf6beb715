#!/usr/bin/env python3
"""Makes the tables that fill the SDK's HIP arguments from what a tracer callback gets.

    hip_tracer.py API_FOLDER OUT.c

From data/api/hip_tracer_*.list (where a release puts arguments) and data/api/hip_*.api (what the
SDK calls them); by name where both have it and by position else.
"""
import glob
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402
from hip_legacy import RENAMED, operations  # noqa: E402


def read_list(path):
    """size of the structure, and id -> (function, [(argument, offset, size)])"""
    size, functions = 0, {}
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if not words or words[0] == "#":
                continue
            if words[0] == "size":
                size = int(words[1])
                continue
            places = [w.split(":") for w in words[2:]]
            functions[int(words[0])] = (words[1], [(a, int(o), int(s)) for a, o, s in places])
    return size, functions


def pairs(sdk, places):
    """(SDK parameter, offset, size) of every argument that both sides have."""
    by_name = {name: (offset, size) for name, offset, size in places}
    for position, param in enumerate(sdk.params if sdk else []):
        place = by_name.get(param.name)
        if place is None and len(places) == len(sdk.params):
            place = places[position][1:]
        if place:
            yield param.name, place[0], place[1]


def release_text(path, sdk):
    suffix = re.search(r"hip_tracer_(\w+)\.list$", path)[1]
    size, functions = read_list(path)
    copies, rows = [], []
    for number, (name, places) in sorted(functions.items()):
        function = sdk.get(RENAMED.get(name, name))
        found = list(pairs(function, places))
        rows.append('    [%d] = {"%s", %d, %d},' % (number, name, len(copies), len(found)))
        copies += ["    COPY(%s, %s, %d, %d)," % (function.name, p, offset, bytes_)
                   for p, offset, bytes_ in found]
    text = ["static const struct hip_tracer_copy copies_%s[] = {" % suffix] + copies + ["};"]
    text += ["static const struct hip_tracer_function functions_%s[] = {" % suffix] + rows + ["};"]
    major, minor = suffix.split("_")
    entry = ("    {%s, %s, %d, sizeof functions_%s / sizeof functions_%s[0], functions_%s, copies_%s},"
             % (major, minor, size, suffix, suffix, suffix, suffix))
    return "\n".join(text), entry


def main():
    folder, target = sys.argv[1:3]
    sdk = operations(folder)
    texts = [release_text(p, sdk)
             for p in sorted(glob.glob(os.path.join(folder, "hip_tracer_*.list")))]
    out = ["/* Made by gen/hip_tracer.py from data/api; do not edit. */",
           '#include "intercept/hip/tracer.h"\n', "#include <stddef.h>\n",
           "#define COPY(function, argument, from, size) \\",
           "    {from, offsetof(rocprofiler_hip_api_args_t, function.argument), \\",
           "     size < sizeof(((rocprofiler_hip_api_args_t *)0)->function.argument) \\",
           "         ? size : sizeof(((rocprofiler_hip_api_args_t *)0)->function.argument)}\n"]
    out += [text for text, _ in texts]
    out += ["const struct hip_tracer_release hip_tracer_releases[] = {"] + [e for _, e in texts]
    out += ["};", "const uint32_t hip_tracer_release_count = %d;" % len(texts)]
    with open(target, "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hip_tracer.py: %s" % e)
