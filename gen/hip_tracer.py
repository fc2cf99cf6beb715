#!/usr/bin/env python3
"""Makes the tables that fill the SDK's HIP arguments from what a tracer callback gets.

    hip_tracer.py API_FOLDER OUT.c

From data/api/hip_tracer_*.list (where a release puts arguments) and data/api/hip_*.api (what the
SDK calls them); by name where both have it and by position else.
"""
import glob
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402
from hip_legacy import RENAMED, operations  # noqa: E402


def read_list(path):
    """The releases, the structure's size, and id -> (function, [(argument, offset, size)])"""
    releases, size, functions = [], 0, {}
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if not words or words[0] == "#":
                continue
            if words[0] == "size":
                size = int(words[1])
            elif words[0] == "releases":
                releases = [tuple(map(int, r.split("."))) for r in words[1:]]
            else:
                places = [w.split(":") for w in words[2:]]
                functions[int(words[0])] = (words[1], [(a, int(o), int(n)) for a, o, n in places])
    return releases, size, functions


def pairs(sdk, places):
    """(SDK parameter, offset, size) of every argument that both sides have."""
    by_name = {name: (offset, size) for name, offset, size in places}
    for position, param in enumerate(sdk.params if sdk else []):
        place = by_name.get(param.name)
        if place is None and len(places) == len(sdk.params):
            place = places[position][1:]
        if place:
            yield param.name, place[0], place[1]


class Pools:
    """What releases share: names and runs of copies, each once."""

    def __init__(self):
        self.names, self.name_bytes = {"": 0}, 1
        self.runs, self.copies = {(): 0}, []

    def name(self, text):
        if text not in self.names:
            self.names[text] = self.name_bytes
            self.name_bytes += len(text) + 1
        return self.names[text]

    def run(self, copies):
        if copies not in self.runs:
            self.runs[copies] = len(self.copies)
            self.copies += copies
        return self.runs[copies]


def release_rows(functions, sdk, pools):
    rows = []
    for number in range(max(functions) + 1):
        name, places = functions.get(number, ("", []))
        function = sdk.get(RENAMED.get(name, name))
        found = tuple((function.name, p, offset, size) for p, offset, size in pairs(function, places))
        rows.append("    {%d, %d, %d}," % (pools.name(name), pools.run(found), len(found)))
    return rows


def main():
    folder, target = sys.argv[1:3]
    sdk = operations(folder)
    pools, tables, entries = Pools(), [], []
    for path in sorted(glob.glob(os.path.join(folder, "hip_tracer_*.list"))):
        releases, size, functions = read_list(path)
        table = "functions_%d_%d" % releases[0]
        tables += ["static const struct hip_tracer_function %s[] = {" % table]
        tables += release_rows(functions, sdk, pools) + ["};"]
        entries += ["    {%d, %d, %d, %d, %s}," % (major, minor, size, max(functions) + 1, table)
                    for major, minor in releases]
    out = ["/* Made by gen/hip_tracer.py from data/api; do not edit. */",
           '#include "intercept/hip/tracer.h"\n', "#include <stddef.h>\n",
           "#define COPY(function, argument, from, size) \\",
           "    {from, offsetof(rocprofiler_hip_api_args_t, function.argument), \\",
           "     size < sizeof(((rocprofiler_hip_api_args_t *)0)->function.argument) \\",
           "         ? size : sizeof(((rocprofiler_hip_api_args_t *)0)->function.argument)}\n",
           "const struct hip_tracer_copy hip_tracer_copies[] = {"]
    out += ["    COPY(%s, %s, %d, %d)," % copy for copy in pools.copies]
    out += ["};", "const char hip_tracer_names[] ="]
    out += ['    "%s\\0"' % name for name in pools.names] + ["    ;"]
    out += tables + ["const struct hip_tracer_release hip_tracer_releases[] = {"] + entries
    out += ["};", "const uint32_t hip_tracer_release_count = %d;" % len(entries)]
    with open(target, "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hip_tracer.py: %s" % e)
