"""Launches of HIP's graphs (--hip-graph-trace) in CSV and rocpd: tests/programs/graph.cpp, which launches one graph of three kernels
twenty times behind a memset, is the judge.

    graphs_test.py CROCPROF PROGRAMS
"""
import collections
import glob
import os
import sqlite3
import subprocess
import sys

from crocprof_run import Checks, Profile

LAUNCHES, NODES = 20, 3
VERSION = "select value from rocpd_metadata where tag = 'schema_version'"
OF_GRAPH = ("select graph_exec_id, graph_node_id, count(*) from rocpd_kernel_dispatch where graph_exec_id group by 1, 2 "
            "order by 2")


def launches_check(checks, what, profile, has_calls):
    rows = profile.rows("graph_launch_trace")
    checks.equal(what + ": launches", len(rows), LAUNCHES)
    checks.equal(what + ": kernels of each", {r["Kernel_Dispatch_Count"] for r in rows}, {str(NODES)})
    checks.equal(what + ": graphs", len({r["Graph_Exec_Id"] for r in rows}), 1)
    checks.true(what + ": times", all(int(r["Start_Timestamp"]) < int(r["End_Timestamp"]) for r in rows))
    calls = {r["Correlation_Id"]: r for r in profile.rows("hip_api_trace") if r["Function"] == "hipGraphLaunch"}
    checks.equal(what + ": calls", len(calls), LAUNCHES if has_calls else 0)
    for row in rows if has_calls else ():
        call = calls.get(row["Correlation_Id"])
        checks.true(what + ": of its call", call and int(call["Start_Timestamp"]) <= int(row["Start_Timestamp"])
                    and int(row["End_Timestamp"]) <= int(call["End_Timestamp"]))


def database_check(checks, what, profile, exec_id):
    checks.equal(what + ": version", profile.query(VERSION), [("3.0.2",)])
    checks.equal(what + ": nodes", profile.query(OF_GRAPH), [(exec_id, node, LAUNCHES) for node in range(NODES)])
    checks.equal(what + ": nodes in the order of their launch",
                 profile.query("select count(*) from rocpd_kernel_dispatch a join rocpd_event ea on ea.id = a.event_id "
                               "join rocpd_event eb on eb.stack_id = ea.stack_id join rocpd_kernel_dispatch b on "
                               "b.event_id = eb.id where a.graph_node_id < b.graph_node_id and a.id > b.id"), [(0,)])
    checks.equal(what + ": launches", profile.query("select count(*), sum(kernel_dispatch_count), min(agent_type), "
                                                    "min(duration) > 0 from graph_launches"),
                 [(LAUNCHES, LAUNCHES * NODES, "GPU", 1)])
    checks.equal(what + ": not as regions", profile.query("select count(*) from regions where name like 'HIP_GRAPH%'"), [(0,)])
    checks.equal(what + ": whole", profile.query("pragma integrity_check") + profile.query("pragma foreign_key_check"),
                 [("ok",)])


def traced(checks, rocprofv3, program):
    """By its own name, and where calls of HIP are wanted."""
    for options, has_calls in ((["--hip-graph-trace", "--kernel-trace"], False), (["--hip-runtime-trace", "--kernel-trace"], True),
                               (["--runtime-trace"], True)):
        with Profile(rocprofv3, [*options, "-f", "csv", "rocpd", "-o", "x"], [program]) as p:
            what = " ".join(options)
            checks.equal(what, p.status, 0)
            launches_check(checks, what, p, has_calls)
            database_check(checks, what, p, int(p.rows("graph_launch_trace")[0]["Graph_Exec_Id"]))


def not_traced(checks, rocprofv3, programs):
    """A recording without graphs is of schema 3.0, whatever was wanted."""
    for options, name in ((["--hip-trace", "--hip-graph-trace=no"], "graph"), (["--hip-trace"], "copy_2d")):
        with Profile(rocprofv3, [*options, "-f", "csv", "rocpd", "-o", "x"], [os.path.join(programs, name)]) as p:
            checks.equal(name + ": none", (p.status, p.rows("graph_launch_trace")), (0, []))
            checks.equal(name + ": version", p.query(VERSION), [("3",)])


def read_back(checks, crocprof, programs):
    """Tables of a recording with graphs, and every format that it is converted to."""
    with Profile(crocprof, ["-r", "--pmc", "SQ_WAVES", "-f", "rocpd", "-o", "a"], [os.path.join(programs, "graph")]) as p:
        path = glob.glob(p.directory + "/*.db")[0]
        for words in (["report"], ["report", "--each", "-S"], ["script"], ["diff", path], ["analyze"],
                      ["convert", "-d", p.directory + "/made", "--stats", "-f", "csv,json,pftrace,otf2,html,rocpd"]):
            done = subprocess.run([crocprof, *words, path], capture_output=True, text=True, timeout=60)
            checks.equal("%s: %s" % (words, done.stderr), done.returncode, 0)
        made = os.path.join(p.directory, "made", "a_results.db")
        with sqlite3.connect(made) as database:
            checks.equal("launches of the copy", database.execute("select count(*) from graph_launches").fetchall(), [(LAUNCHES,)])


def together(checks, crocprof, programs):
    """Of two processes one has graphs: they are merged, converted and asked together, in either order."""
    with Profile(crocprof, ["-r", "-f", "rocpd", "-o", "a"], [os.path.join(programs, "graph")]) as a, \
            Profile(crocprof, ["-r", "-f", "rocpd", "-o", "b"], [os.path.join(programs, "copy_2d")]) as b:
        paths = [glob.glob(p.directory + "/*.db")[0] for p in (a, b)]
        kernels = sum(p.query("select count(*) from kernels")[0][0] for p in (a, b))
        for order in (paths, paths[::-1]):
            merged = os.path.join(a.directory, "merged%d" % order.index(paths[0]))
            done = subprocess.run([crocprof, "merge", "-d", merged, *order], capture_output=True, text=True, timeout=60)
            checks.equal("merge: " + done.stderr, (done.returncode, "left out" in done.stderr), (0, False))
            with sqlite3.connect(glob.glob(merged + "/*.db")[0]) as database:
                checks.equal("merged", database.execute("select count(*), sum(graph_exec_id > 0) from rocpd_kernel_dispatch").fetchall(),
                             [(kernels, LAUNCHES * NODES)])
                checks.equal("merged, launches", database.execute("select count(*) from graph_launches").fetchall(), [(LAUNCHES,)])
            done = subprocess.run([crocprof, "query", "-f", "csv", "--sql",
                                   "select count(*), sum(graph_exec_id > 0) from rocpd_kernel_dispatch", *order],
                                  capture_output=True, text=True, timeout=60)
            checks.equal("query: " + done.stderr, done.stdout.split("\n")[1:2], ["%d,%d" % (kernels, LAUNCHES * NODES)])
        done = subprocess.run([crocprof, "convert", "-f", "csv", "-d", a.directory, "-o", "again", paths[0]], capture_output=True,
                              text=True, timeout=60)
        checks.equal("convert: " + done.stderr, done.returncode, 0)
        checks.equal("converted", collections.Counter(r["Graph_Exec_Id"] for r in a.rows("graph_launch_trace")).most_common(1)[0][1],
                     LAUNCHES)


def alone(checks, crocprof, program):
    """What reads recordings knows launches of graphs, and says so where there is nothing else."""
    off = ["--no-kernel-trace", "--no-memory-copy-trace", "--no-marker-trace"]
    for options, has_calls in ((["--hip-trace"], True), (["--hip-graph-trace", "--no-hip-trace"], False)):
        with Profile(crocprof, [*options, *off, "-f", "rocpd", "--no-summary"], [program]) as p:
            path = glob.glob(p.directory + "/*.db")[0]

            def done(*words):
                return subprocess.run([crocprof, *words, path], capture_output=True, text=True, timeout=60)
            report = done("report")
            checks.equal("report: " + report.stderr,
                         (report.returncode, " hipGraphLaunch\n" in report.stdout, "only 20 launches of graphs" in report.stderr),
                         (0, has_calls, not has_calls))
            lines = done("script").stdout.splitlines()
            checks.equal("script", [line for line in lines if line.endswith("_EXEC_LAUNCH") and " graph correlation=" in line
                                    and " kernels=3 " in line], [line for line in lines if "HIP_GRAPH" in line])
            checks.equal("script, launches", sum("HIP_GRAPH" in line for line in lines), LAUNCHES)
            for form in ("csv", "json", "html", "pftrace", "otf2"):
                checks.equal("convert to " + form, done("convert", "--stats", "-d", p.directory + "/" + form, "-f", form).returncode, 0)


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    rocprofv3 = os.path.join(os.path.dirname(crocprof), "rocprofv3")
    traced(checks, rocprofv3, os.path.join(programs, "graph"))
    not_traced(checks, rocprofv3, programs)
    read_back(checks, crocprof, programs)
    together(checks, crocprof, programs)
    alone(checks, crocprof, os.path.join(programs, "graph"))
    checks.exit()


if __name__ == "__main__":
    main()
