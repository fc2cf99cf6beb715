"""Marked ranges appear under their messages, around the kernels they enclose.

    markers_test.py CROCPROF PROGRAMS
"""
import os
import sys

from crocprof_run import Checks, Profile


def times(row):
    return int(row["Start_Timestamp"]), int(row["End_Timestamp"])


def check_many(checks, crocprof, program):
    """Markers are written along the way: what waits in memory has a limit."""
    peaks = {}
    for count in (1000, 300000):
        with Profile(crocprof, ["--no-summary", "-f", "csv"], [program, str(count)]) as p:
            checks.equal("%d markers: status" % count, p.status, 0)
            peaks[count] = int(p.result.stdout.split("VmHWM:")[1].split()[0])
            functions = [r["Function"] for r in p.rows("marker_api_trace")]
            checks.equal("%d markers: rows" % count, (functions.count("many"), functions.count("more")),
                         (count, count))
    checks.true("memory for 600000 markers: %r KB" % peaks, peaks[300000] - peaks[1000] < 16 << 10)


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    with Profile(crocprof, [], [os.path.join(programs, "markers")]) as p:
        checks.equal("status", p.status, 0)
        rows = p.rows("marker_api_trace")
        of = {}
        for row in rows:
            of.setdefault(row["Function"], []).append(times(row))
        checks.equal("messages", {name: len(found) for name, found in of.items()},
                     {"whole program": 1, "loop": 1, "launch": 4, 'copy "back"': 1})
        kernels = sorted(times(r) for r in p.rows("kernel_trace")
                         if r["Kernel_Name"].startswith("add_one"))
        checks.equal("kernels", len(kernels), 4)
        for (start, end), (kernel_start, kernel_end) in zip(sorted(of.get("launch", [])), kernels):
            checks.true("a launch encloses its kernel",
                        start < kernel_start and kernel_end < end)
        for outer, inner in (("whole program", "loop"), ("loop", "launch")):
            for start, end in of.get(inner, []):
                checks.true("%s encloses %s" % (outer, inner),
                            of[outer][0][0] < start <= end < of[outer][0][1])
        for start, end in of.get('copy "back"', []):
            checks.equal("a mark is a moment", start, end)
    check_many(checks, crocprof, os.path.join(programs, "markers"))
    checks.exit()


if __name__ == "__main__":
    main()
