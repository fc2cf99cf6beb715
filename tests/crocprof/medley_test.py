"""The same in every format: random programs (tests/programs/medley.cpp: threads, streams, copies, allocations, events, graphs, odd
markers, a forked child) in CSV, JSON, rocpd, Perfetto, OTF2 and HTML as each of these is read by others, and after `convert`.

    medley_test.py CROCPROF PROGRAMS TRACE_PROTO [SEED [RUNS]]
"""
import csv
import glob
import json
import os
import re
import sqlite3
import subprocess
import sys
import tempfile

from crocprof_run import Checks
from formats_test import Archive, Results, Trace, times
from html_read import Page

FORMATS = "csv,json,pftrace,rocpd,otf2,html"
APIS = ("hip_api", "hsa_api")
TRACES = ["--hip-trace", "--hsa-trace", "--marker-trace", "--kernel-trace", "--memory-copy-trace", "--memory-allocation-trace",
          "--scratch-memory-trace", "--hip-event-trace", "--hip-graph-trace"]
COUNTED = ["--pmc", "SQ_WAVES,TCC_HIT,TCC_REQ_sum,SQ_INSTS_VALU,GRBM_COUNT"]
# What a record has in CSV files, by its name in the others.
COLUMNS = {"id": "Correlation_Id", "thread": "Thread_Id", "queue": "Queue_Id", "stream": "Stream_Id", "dispatch": "Dispatch_Id",
           "event": "Event", "source_queue": "Source_Queue_Id", "bytes": "Allocation_Size", "address": "Address",
           "exec": "Graph_Exec_Id", "kernels": "Kernel_Dispatch_Count", "agent": "Agent_Id"}
NAMES = {"graph_launch": "Graph_Exec_Id", **{api: "Function" for api in (*APIS, "marker_api")}, "kernel": "Kernel_Name", "memory_copy": "Direction",
         "memory_allocation": "Operation", "scratch_memory": "Operation", "hip_event": "Operation"}


class Run:
    """Records of one process, as its CSV files have them: kind -> dictionaries of name, start, end and what else there is."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.records = {kind: [self.record(row, name) for row in self.rows(kind + "_trace")] for kind, name in NAMES.items()}
        self.counters = self.rows("counter_collection")
        if not self.records["kernel"]:  # only counted
            by_id = {row["Dispatch_Id"]: row for row in self.counters}
            self.records["counted"] = [self.record(row, "Kernel_Name") for row in by_id.values()]

    def rows(self, table):
        path = self.prefix + "_" + table + ".csv"
        if not os.path.exists(path):
            return []
        with open(path, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    @staticmethod
    def record(row, name):
        found = {"name": row[name], "start": int(row["Start_Timestamp"]), "end": int(row["End_Timestamp"])}
        for key, column in COLUMNS.items():
            if column in row:
                text = row[column]
                found[key] = text if key == "agent" else int(text, 16 if text.startswith("0x") else 10)
        return found


class Together:
    """Records of several processes."""

    def __init__(self, runs):
        kinds = {kind for run in runs for kind in run.records}
        self.records = {kind: [record for run in runs for record in run.records.get(kind, [])] for kind in kinds}
        self.counters = [row for run in runs for row in run.counters]


def rows_of(records, keys):
    return sorted(tuple(record[key] for key in keys.split()) for record in records)


class Judge:
    """Holds what a format says against the CSV files."""

    def __init__(self, checks, run, what):
        self.checks, self.run, self.what = checks, run, what

    def same(self, kind, found, keys):
        found, wanted = sorted(found), rows_of(self.run.records[kind], keys)
        if found == wanted:
            return
        missing, more = list(wanted), []
        for row in found:
            if row in missing:
                missing.remove(row)
            else:
                more.append(row)
        self.checks.equal("%s, %s (%s): missing, and more" % (self.what, kind, keys), (missing[:4], more[:4]), ([], []))

    def threads(self, found):
        """What threads are called: of those that had not ended yet when they were first seen, the program."""
        self.checks.true("%s, threads: %r" % (self.what, found), set(found.values()) <= {"medley", None} and "medley" in found.values()
                         and set(found) <= {r["thread"] for r in self.run.records["hip_api"] + self.run.records["hsa_api"]})

    def counters(self, found, columns):
        wanted = sorted(tuple(columns(row)) + (row["Counter_Name"], float(row["Counter_Value"])) for row in self.run.counters)
        self.checks.equal("%s, counters" % self.what, sorted(found), wanted)


def json_judge(judge, prefix):
    results = Results(prefix + "_results.json")
    for api in APIS:
        judge.same(api, [(results.names(r)[1], *times(r), r["thread_id"], r["correlation_id"]["internal"]) for r in results.buffers[api]],
                   "name start end thread id")
    judge.same("memory_copy", [(results.names(r)[1], *times(r), r["correlation_id"]["internal"], r["stream_id"]["handle"])
                               for r in results.buffers["memory_copy"]], "name start end id stream")
    judge.same("scratch_memory", [(results.names(r)[1], *times(r), r["queue_id"]["handle"], r["thread_id"])
                                  for r in results.buffers["scratch_memory"]], "name start end queue thread")
    judge.same("marker_api", [(results.messages[r["correlation_id"]["internal"]], *times(r), r["thread_id"],
                               r["correlation_id"]["internal"]) for r in results.buffers["marker_api"]], "name start end thread id")
    judge.same("memory_allocation", [(results.names(r)[1], *times(r), r["allocation_size"], int(r["address"], 16),
                                      r["correlation_id"]["internal"]) for r in results.buffers["memory_allocation"]],
               "name start end bytes address id")
    judge.same("hip_event", [(results.names(r)[1], *times(r), r["queue_id"]["handle"], r["source_queue_id"]["handle"], r["thread_id"],
                              r["hip_event_handle"], r["correlation_id"]["internal"], results.agent(r, "agent_id"))
                             for r in results.buffers.get("hip_event", [])],
               "name start end queue source_queue thread event id agent")
    judge.same("kernel", [(results.kernel(r["dispatch_info"])["formatted_kernel_name"], *times(r), r["dispatch_info"]["queue_id"]["handle"],
                           r["stream_id"]["handle"], r["dispatch_info"]["dispatch_id"], r["correlation_id"]["internal"])
                          for r in results.buffers["kernel_dispatch"]], "name start end queue stream dispatch id")
    names = {c["id"]["handle"]: c["name"] for c in results.data["counters"]}
    judge.counters([(record["dispatch_data"]["dispatch_info"]["dispatch_id"], names[value["counter_id"]["handle"]], value["value"])
                    for record in results.data["callback_records"]["counter_collection"] for value in record["records"]],
                   lambda row: (int(row["Dispatch_Id"]),))


def pftrace_judge(judge, prefix, proto):
    trace = Trace(prefix + "_results.pftrace", proto)
    judge.checks.equal(judge.what + ", nothing is left open", trace.unfinished, [])
    for kind, category in {**{k: k for k in NAMES}, "kernel": "kernel_dispatch"}.items():
        if kind == "graph_launch":
            continue
        has_id, slices = kind not in ("marker_api", "memory_allocation", "scratch_memory"), trace.slices + trace.instants
        judge.same(kind, [(s["name"], s["begin"], s["begin"] if s["end"] is None else s["end"], *([s["flow"]] if has_id else []))
                          for s in slices if s["category"] == category], "name start end" + (" id" if has_id else ""))
    judge.threads({t["tid"]: t["name"] for t in trace.tracks.values() if t["tid"]})
    judge.same("hip_event", [(s["begin"], s["end"], s["notes"]["source_queue_id"], s["notes"]["hip_event_handle"])
                             for s in trace.slices if s["category"] == "hip_event"], "start end source_queue event")
    judge.checks.true(judge.what + ", events are beside their queues", all(
        re.fullmatch(r"Agent \d+ queue \d+ events", trace.tracks[s["track"]]["name"])
        for s in trace.slices if s["category"] == "hip_event"))
    at = re.compile(r"Agent \[\d+\] PMC (.*)")
    judge.counters([(time, at.fullmatch(name)[1], value) for name, time, value in trace.values if at.fullmatch(name)
                    and (time, at.fullmatch(name)[1]) in {(int(r["Start_Timestamp"]), r["Counter_Name"]) for r in judge.run.counters}],
                   lambda row: (int(row["Start_Timestamp"]),))


def otf2_judge(judge, prefix):
    archive = Archive(prefix + "_results.otf2")
    judge.checks.equal(judge.what + ", what is wrong", archive.problems, [])
    for kind, category in {**{k: k for k in NAMES}, "kernel": "kernel_dispatch"}.items():
        if kind in ("graph_launch", "scratch_memory"):
            continue
        judge.same(kind, [(s["name"], s["begin"], s["end"], s["correlation_id"]) for s in archive.slices if s["category"] == category],
                   "name start end id")
    judge.threads({int(words[1]): words[2] for words in (name.split() for name in archive.locations.values())
                   if words[0] == "Thread" and len(words) == 3})
    for kind, value in (("kernel", "dispatch_id"), ("memory_allocation", "bytes"), ("hip_event", "hip_event_handle")):
        category = {"kernel": "kernel_dispatch"}.get(kind, kind)
        judge.same(kind, [(s["begin"], s["end"], s[value]) for s in archive.slices if s["category"] == category],
                   "start end " + {"dispatch_id": "dispatch", "hip_event_handle": "event"}.get(value, value))
    judge.same("hip_event", [(s["begin"], s["end"], int(re.fullmatch(r"Agent \d+ queue (\d+) events( \(\d+\))?",
                                                                     archive.locations[s["location"]])[1]))
                             for s in archive.slices if s["category"] == "hip_event"], "start end queue")
    judge.same("kernel", [(s["begin"], s["end"], int(re.fullmatch(r"Agent \d+ queue (\d+)( \(\d+\))?", archive.locations[s["location"]])[1]))
                          for s in archive.slices if s["category"] == "kernel_dispatch"], "start end queue")
    judge.counters([(time, name, value) for name, value, time in archive.values], lambda row: (int(row["End_Timestamp"]),))


def html_judge(judge, prefix):
    page = Page(prefix + "_results.html")
    judge.checks.true(judge.what + ", complete", page.is_complete)
    kinds = {"marker": "marker_api", "kernel": "kernel", "copy": "memory_copy", "allocation": "memory_allocation",
             "scratch": "scratch_memory", "event": "hip_event"}
    keys = {"marker": "thread id", "kernel": "queue stream dispatch id", "copy": "id stream", "allocation": "id bytes address", "scratch": "",
            "event": "queue source_queue thread event id"}

    def rows(kind):
        return [{**row, "end": row["start"] + row["length"]} for row in page.rows[kind]]

    for kind, of in kinds.items():
        names = "name start end " + keys[kind]
        judge.same(of, rows_of(rows(kind), names), names)
    for api in APIS:
        domain = api.split("_", maxsplit=1)[0].upper()
        judge.same(api, rows_of([r for r in rows("api") if r["domain"].startswith(domain)], "name start end thread id"),
                   "name start end thread id")
    if "counted" in judge.run.records:
        judge.same("counted", rows_of(rows("counted"), "name start end dispatch"), "name start end dispatch")
    judge.counters([(r["dispatch"], r["counter"], r["value"]) for r in page.rows["counter"]], lambda row: (int(row["Dispatch_Id"]),))


def rocpd_judge(judge, prefix):
    with sqlite3.connect(prefix + "_results.db") as database:
        def ask(sql):
            return database.execute(sql).fetchall()

        judge.threads({t: name for t, name in ask("SELECT tid, name FROM rocpd_info_thread") if name})
        for api in APIS:
            judge.same(api, ask("SELECT name, start, \"end\", tid, stack_id FROM regions WHERE category LIKE '%s%%_API%%'"
                                % api.split("_", maxsplit=1)[0].upper()), "name start end thread id")
        judge.same("marker_api", ask("SELECT coalesce(json_extract(extdata, '$.message'), name), start, \"end\", tid, stack_id FROM "
                                     "regions_and_samples WHERE category LIKE 'MARKER%'"), "name start end thread id")
        judge.same("kernel" if "counted" not in judge.run.records else "counted",
                   ask("SELECT name, start, \"end\", queue_id, dispatch_id, stack_id FROM kernels"), "name start end queue dispatch id")
        judge.same("memory_copy", ask("SELECT name, start, \"end\", stream_id, stack_id FROM memory_copies"), "name start end stream id")
        judge.same("memory_allocation", ask("SELECT start, \"end\", size, coalesce(address, 0), stack_id FROM memory_allocations"),
                   "start end bytes address id")
        judge.same("scratch_memory", ask("SELECT start, \"end\" FROM scratch_memory"), "start end")
        judge.same("hip_event", ask("SELECT name, start, \"end\", tid, stack_id, CAST(json_extract(extdata, '$.hip_event.queue_id') AS INT), "
                                    "CAST(json_extract(extdata, '$.hip_event.hip_event_handle') AS INT) FROM regions "
                                    "WHERE category = 'HIP_EVENT'"), "name start end thread id queue event")
        judge.counters(ask("SELECT dispatch_id, counter_name, value FROM counters_collection"), lambda row: (int(row["Dispatch_Id"]),))
        if judge.run.records["graph_launch"]:
            judge.same("graph_launch", ask("SELECT start, \"end\", tid, graph_exec_id, kernel_dispatch_count FROM graph_launches"),
                       "start end thread exec kernels")


def csv_judge(checks, what, prefix, run):
    """Each file, line by line, in any order; what a database does not keep is named."""
    for path in glob.glob(run.prefix + "_*.csv"):
        with open(path, encoding="utf-8", newline="") as one, open(prefix + path[len(run.prefix):], encoding="utf-8", newline="") as other:
            first, second = sorted(map(tuple, csv.reader(one))), sorted(map(tuple, csv.reader(other)))
        checks.equal("%s, %s" % (what, os.path.basename(path)), [row for row in second if row not in first][:3], [])
        checks.equal("%s, %s: rows" % (what, os.path.basename(path)), len(second), len(first))


def judge_all(checks, run, what, prefix, proto):
    json_judge(Judge(checks, run, what + "json"), prefix)
    pftrace_judge(Judge(checks, run, what + "pftrace"), prefix, proto)
    otf2_judge(Judge(checks, run, what + "otf2"), prefix)
    html_judge(Judge(checks, run, what + "html"), prefix)
    rocpd_judge(Judge(checks, run, what + "rocpd"), prefix)


def merged_check(checks, crocprof, directory, databases, runs, what):
    """A database, an archive and a page of all processes; and what is made of that database."""
    def run(*words):
        done = subprocess.run([crocprof, *words], capture_output=True, text=True, timeout=100, cwd=directory)
        checks.equal("%s: %s" % (words, done.stderr), done.returncode, 0)

    together = Together(runs)
    for format_, name, judge in (("rocpd", "all_results.db", rocpd_judge), ("otf2", "archive", otf2_judge), ("html", "page", html_judge)):
        run("merge", "-f", format_, "-o", name, *databases)
        judge(Judge(checks, together, what + "merged, " + format_), os.path.join(directory, name.replace("_results.db", "")))
    run("convert", "-f", "otf2,html", "-o", "again", "all_results.db")
    otf2_judge(Judge(checks, together, what + "merged and converted, otf2"), os.path.join(directory, "again"))
    html_judge(Judge(checks, together, what + "merged and converted, html"), os.path.join(directory, "again"))


def run_check(checks, crocprof, command, options, proto):
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([crocprof, "-d", directory, "-f", FORMATS, "--stats", "--no-summary", *options, "--", *command],
                              capture_output=True, text=True, timeout=300)
        checks.equal("status of %r: %s" % (command, done.stderr), done.returncode, 0)
        databases = sorted(glob.glob(os.path.join(directory, "*_results.db")))
        checks.equal("processes", len(databases), 2)
        kinds, runs = set(), []
        for database in databases:
            prefix = database[:-len("_results.db")]
            run, what = Run(prefix), "%s: " % " ".join([*options[-2:], *command[1:]])
            kinds |= {kind for kind, records in run.records.items() if records}
            runs.append(run)
            judge_all(checks, run, what, prefix, proto)
            made = os.path.join(directory, "made", os.path.basename(prefix))
            done = subprocess.run([crocprof, "convert", "-f", FORMATS, "--stats", "-d", os.path.dirname(made), database],
                                  capture_output=True, text=True, timeout=100)
            checks.equal("convert: " + done.stderr, done.returncode, 0)
            csv_judge(checks, what + "converted, ", made, run)
            judge_all(checks, run, what + "converted, ", made, proto)
        merged_check(checks, crocprof, directory, databases, runs, what)
    return kinds


def main():
    crocprof, programs, proto = sys.argv[1:4]
    words = sys.argv[4:] + ["7", "1"][len(sys.argv) - 4:]
    seed, runs = int(words[0]), int(words[1])
    checks, kinds = Checks(), set()
    for turn in range(runs):
        for options in (TRACES, [*TRACES, *COUNTED], COUNTED):
            kinds |= run_check(checks, crocprof, [os.path.join(programs, "medley"), str(seed + turn)], options, proto)
    checks.equal("kinds that never came", sorted(set(NAMES) - kinds - {"scratch_memory"}), [])
    checks.exit()


if __name__ == "__main__":
    main()
