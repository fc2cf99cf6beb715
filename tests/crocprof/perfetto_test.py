"""--format pftrace: the trace that Perfetto opens says what the CSV files say.

    perfetto_test.py CROCPROF PROGRAMS TRACE_PROTO
"""
import glob
import os
import shutil
import sys

from crocprof_run import Checks, Profile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "perfetto"))
from decode import Trace  # noqa: E402


def rows_of(profile, table, name, category):
    """(name, begin, end) of every CSV row, as slices have them."""
    return sorted((r[name], int(r["Start_Timestamp"]), int(r["End_Timestamp"]), category)
                  for r in profile.rows(table))


def check_tracks(checks, trace):
    """Readers look for the process of a slice through the parents of its track, of a thread's, too, as Perfetto writes them."""
    tracks = {s["track"] for s in trace.slices} | {i["track"] for i in trace.instants}
    for uuid in tracks:
        track, above = trace.tracks[uuid], uuid
        while trace.tracks[above]["parent"] is not None:
            above = trace.tracks[above]["parent"]
        checks.true("a process's: %r" % track, trace.tracks[above]["is_process"])
        checks.true("a thread's own: %r" % track, track["tid"] is None or (
            track["parent"] == above and track["pid"] == trace.tracks[above]["pid"]))
    checks.true("threads among them", any(trace.tracks[uuid]["tid"] is not None for uuid in tracks))


def check_trace(checks, p, trace):
    """Returns how many slices of each kind there are."""
    slices = sorted((s["name"], s["begin"], s["end"], s["category"]) for s in trace.slices)
    domain = "hip_api"
    markers = rows_of(p, "marker_api_trace", "Function", "marker_api")
    kinds = {"calls": rows_of(p, "hip_api_trace", "Function", domain),
             "kernels": rows_of(p, "kernel_trace", "Kernel_Name", "kernel_dispatch"),
             "copies": rows_of(p, "memory_copy_trace", "Direction", "memory_copy"),
             "ranges": [m for m in markers if m[1] != m[2]]}
    checks.equal("slices", slices, sorted(sum(kinds.values(), [])))
    checks.equal("moments", [(i["name"], i["begin"]) for i in trace.instants],
                 [m[:2] for m in markers if m[1] == m[2]])
    checks.equal("nothing is left open", trace.unfinished, [])
    threads = {trace.tracks[s["track"]]["tid"] for s in trace.slices if s["category"] == domain}
    checks.equal("threads", threads, {int(r["Thread_Id"]) for r in p.rows("hip_api_trace")})
    calls = {int(r["Correlation_Id"]): r["Function"] for r in p.rows("hip_api_trace")}
    for row in p.rows("kernel_trace"):
        number = int(row["Correlation_Id"])
        checks.equal("an arrow leads to the kernel", trace.flows.get(number),
                     [calls[number], row["Kernel_Name"]])
    return {kind: len(rows) for kind, rows in kinds.items()}


def main():
    crocprof, programs, proto = sys.argv[1:4]
    if not shutil.which("protoc"):
        print("protoc is missing")
        return 77
    checks = Checks()
    for command, kinds, status in ((["markers"], {"calls", "kernels", "ranges"}, 0),
                                   (["endings", "10", "3", "thread"],
                                    {"calls", "kernels", "copies"}, 23)):
        with Profile(crocprof, ["--format", "csv,pftrace"],
                     [os.path.join(programs, command[0]), *command[1:]]) as p:
            checks.equal("status", p.status, status)
            paths = glob.glob(os.path.join(p.directory, "*_results.pftrace"))
            checks.equal("one trace", len(paths), 1)
            check_tracks(checks, Trace(paths[0], proto))
            counts = check_trace(checks, p, Trace(paths[0], proto))
            checks.equal("kinds", {kind for kind, count in counts.items() if count}, kinds)
    checks.exit()
    return 0


if __name__ == "__main__":
    sys.exit(main())
