#!/usr/bin/env python3
"""Makes the tables that fill the SDK's HIP arguments from what a tracer callback gets.

    hip_tracer.py API_FOLDER OUT.c

From data/api/hip_tracer_*.list (where a release puts arguments) and data/api/hip_*.api (what the
SDK calls them); by name where both have it and by position else.
"""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import api_model  # noqa: E402
from api_texts import api_texts  # noqa: E402
from hip_lists import RENAMED, operations, read_lists  # noqa: E402


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
    """What releases share: functions and runs of copies, each once."""

    def __init__(self, texts):
        self.texts, self.functions = texts, {(0, 0, 0): 0}
        self.runs, self.copies = {(): 0}, []

    def run(self, copies):
        if copies not in self.runs:
            self.runs[copies] = len(self.copies)
            self.copies += copies
        return self.runs[copies]

    def function(self, name, copies):
        row = (self.texts.place(name), self.run(copies), len(copies))
        return self.functions.setdefault(row, len(self.functions))


def release_numbers(functions, sdk, pools):
    numbers = []
    for number in range(max(functions) + 1):
        name, places = functions.get(number, ("", []))
        function = sdk.get(RENAMED.get(name, name))
        found = tuple((function.name, p, offset, size) for p, offset, size in pairs(function, places))
        numbers.append(pools.function(name, found))
    return numbers


def main():
    folder, target = sys.argv[1:3]
    sdk = operations(folder)
    pools, tables, entries = Pools(api_texts(folder)), [], []
    for releases, size, functions in read_lists(folder):
        table = "functions_%d_%d" % releases[0]
        tables.append("static const uint16_t %s[] = {%s};"
                      % (table, ", ".join(map(str, release_numbers(functions, sdk, pools)))))
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
    out += ["};", "const struct hip_tracer_function hip_tracer_functions[] = {"]
    out += ["    {%d, %d, %d}," % row for row in pools.functions] + ["};"]
    out += tables + ["const struct hip_tracer_release hip_tracer_releases[] = {"] + entries
    out += ["};", "const uint32_t hip_tracer_release_count = %d;" % len(entries)]
    with open(target, "w", encoding="ascii") as f:
        f.write("\n".join(out) + "\n")


if __name__ == "__main__":
    try:
        main()
    except api_model.ApiError as e:
        sys.exit("hip_tracer.py: %s" % e)
