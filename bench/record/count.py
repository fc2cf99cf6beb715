#!/usr/bin/env python3
"""What a traced call executes in the program's thread, in instructions beyond the plain call.

    count.py BUILD_FOLDER [--functions] [KIND ...]

Runs croc_bench (a function of two arguments) and tables_bench (hipMemcpy through the generated
wrappers) under callgrind. The counts do not depend on what else the machine does.
"""
import collections
import os
import re
import subprocess
import sys
import tempfile

CALLS = 4096  # CALLS_COUNTED in calls.h
PROGRAMS = [("bin/croc_bench", "calls_counted", ["stopped", "callback", "buffered", "nested", "in record", "two callbacks",
                                           "both services", "external id", "listener"]),
            ("bench/tables_bench", "calls_counted_hip",
             ["stopped", "callback", "buffered", "arguments"])]


def functions(path):
    """Self cost by function, from callgrind's file."""
    names, costs, current, skip = {}, collections.Counter(), None, False
    for line in open(path, encoding="utf-8"):
        match = re.match(r"(c?)fn=\((\d+)\)(?: (.*))?", line)
        if match:
            if match.group(3):
                names[match.group(2)] = match.group(3).strip()
            if not match.group(1):
                current = match.group(2)
        elif line.startswith("calls="):
            skip = True
        elif re.match(r"[+\-*\d]", line):
            if not skip:
                costs[current] += int(line.split()[-1]) if len(line.split()) > 1 else 0
            skip = False
    return {names[key]: cost for key, cost in costs.items()}


def count(folder, program, function, kind):
    clock = os.path.abspath(os.path.join(folder, "bench/still_clock.so"))
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "out")
        subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out,
                        "--toggle-collect=" + function, os.path.join(folder, program), "calls", kind],
                       env=dict(os.environ, LD_PRELOAD=clock), check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return functions(out)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--functions"]
    for path, function, kinds in PROGRAMS:
        plain = sum(count(arguments[0], path, function, "plain call").values())
        for kind in kinds:
            if arguments[1:] and kind not in arguments[1:]:
                continue
            costs = count(arguments[0], path, function, kind)
            print("%-13s %-13s %6.1f" % (os.path.basename(path), kind,
                                         (sum(costs.values()) - plain) / CALLS))
            for name in sorted(costs, key=costs.get, reverse=True) if "--functions" in sys.argv else []:
                if costs[name] / CALLS >= 0.05:
                    print("    %8.2f  %s" % (costs[name] / CALLS, name))


if __name__ == "__main__":
    main()
