"""What the device does for HIP's events (--hip-event-trace) in CSV, JSON and rocpd, and read back: tests/programs/events.cpp, whose eleven
records and eight waits across streams reach the device, is the judge. medley_test.py compares all formats.

    hip_events_test.py CROCPROF PROGRAMS
"""
import collections
import glob
import json
import os
import subprocess
import sys

from crocprof_run import Checks, Profile

KINDS = {"HIP_EVENT_RECORD": 11, "HIP_EVENT_WAIT": 8}
CALLS = {"HIP_EVENT_RECORD": "hipEventRecord", "HIP_EVENT_WAIT": "hipStreamWaitEvent"}


def rows_check(checks, rows, calls):
    checks.equal("how many", collections.Counter(r["Operation"] for r in rows), KINDS)
    for row in rows:
        call = calls.get(row["Correlation_Id"])
        checks.true("of its call: %s" % row, call and call["Function"] == CALLS[row["Operation"]])
        checks.true("after its call began: %s" % row, call and int(call["Start_Timestamp"]) <= int(row["Start_Timestamp"])
                    <= int(row["End_Timestamp"]))
        is_wait = row["Operation"] == "HIP_EVENT_WAIT"
        checks.equal("queues: %s" % row, row["Queue_Id"] != row["Source_Queue_Id"], is_wait)
    checks.equal("events", len({r["Event"] for r in rows}), 3)


def row_numbers(row):
    return tuple(int(row[c]) for c in ("Queue_Id", "Source_Queue_Id", "Thread_Id", "Event", "Correlation_Id", "Start_Timestamp", "End_Timestamp"))


def json_check(checks, path, rows):
    with open(path, encoding="utf-8") as file:
        tool = json.load(file)["rocprofiler-sdk-tool"][0]
    records = tool["buffer_records"]["hip_event"]
    checks.equal("json", sorted((r["queue_id"]["handle"], r["source_queue_id"]["handle"], r["thread_id"], r["hip_event_handle"],
                                 r["correlation_id"]["internal"], r["start_timestamp"], r["end_timestamp"]) for r in records),
                 sorted(map(row_numbers, rows)))
    names = tool["strings"]["buffer_records"][38]
    checks.equal("json, names", (names["kind"], collections.Counter(names["operations"][r["operation"]] for r in records)),
                 ("HIP_EVENT", KINDS))
    checks.equal("json, agents", {a["agent_id"]["handle"] for a in records}, {a["id"]["handle"] for a in tool["agents"] if a["type"] == 2})


def lines_of(directory, table):
    with open(glob.glob(os.path.join(directory, "*_%s.csv" % table))[0], encoding="utf-8") as file:
        return sorted(file)


def alone_check(checks, crocprof, program):
    """A recording of nothing else is reported, shown as lines and converted."""
    with Profile(crocprof, ["--hip-event-trace", "--no-hip-trace", "--no-kernel-trace", "-f", "csv,rocpd", "--stats"], [program]) as p:
        database = glob.glob(os.path.join(p.directory, "*.db"))[0]
        made = os.path.join(p.directory, "made")

        def run(*words):
            done = subprocess.run([crocprof, *words, database], capture_output=True, text=True, check=False)
            checks.equal("%s: %s" % (words, done.stderr), done.returncode, 0)
            return done.stdout

        table = {line.split()[-1]: int(line.split()[0]) for line in run("report").splitlines() if "HIP_EVENT_" in line}
        checks.equal("the table of a recording", table, KINDS)
        checks.true("of the run: " + p.stderr, all("  %s" % name in p.stderr for name in KINDS))
        lines = [json.loads(line) for line in run("script", "-f", "json").splitlines()]
        checks.equal("lines", sorted((k["name"], k["queue"], k["source_queue"], k["tid"], k["event"], k["start"], k["end"]) for k in lines),
                     sorted((r["Operation"], *row_numbers(r)[:4], *row_numbers(r)[5:]) for r in p.rows("hip_event_trace")))
        run("convert", "-f", "csv", "--stats", "-d", made)
        for name in ("hip_event_trace", "hip_event_stats", "domain_stats"):
            checks.equal("converted, " + name, lines_of(made, name), lines_of(p.directory, name))


def main():
    crocprof, program = sys.argv[1], os.path.join(sys.argv[2], "events")
    checks = Checks()
    with Profile(crocprof, ["--hip-event-trace", "--hip-trace", "-f", "csv,json,rocpd", "--stats", "--no-summary"], [program]) as p:
        rows = p.rows("hip_event_trace")
        rows_check(checks, rows, {r["Correlation_Id"]: r for r in p.rows("hip_api_trace")})
        json_check(checks, glob.glob(os.path.join(p.directory, "*_results.json"))[0], rows)
        checks.equal("rocpd", sorted(p.query("SELECT name, tid, stack_id, start, \"end\" FROM regions WHERE category = 'HIP_EVENT'")),
                     sorted((r["Operation"], *(int(r[c]) for c in ("Thread_Id", "Correlation_Id", "Start_Timestamp", "End_Timestamp")))
                            for r in rows))
        database = glob.glob(os.path.join(p.directory, "*.db"))[0]
        again = os.path.join(p.directory, "again")
        converted = subprocess.run([crocprof, "convert", "-f", "csv", "--stats", "-d", again, database], capture_output=True, text=True, check=False)
        checks.equal("convert: " + converted.stderr, converted.returncode, 0)
        with open(glob.glob(os.path.join(again, "*hip_api_trace.csv"))[0], encoding="utf-8") as file:
            checks.equal("spans are no calls", len(file.readlines()) - 1, len(p.rows("hip_api_trace")))
        for table in ("hip_event_trace", "hip_event_stats"):
            checks.equal("converted: " + table, lines_of(again, table), lines_of(p.directory, table))
        lines = subprocess.run([crocprof, "script", "--kinds", "event", database], capture_output=True, text=True, check=False).stdout
        checks.equal("script", collections.Counter(line.split()[-1] for line in lines.splitlines()), KINDS)
    with Profile(crocprof, ["--hip-trace", "-f", "csv", "--no-summary"], [program]) as p:
        checks.equal("not unless they are asked for", p.rows("hip_event_trace"), [])
    alone_check(checks, crocprof, program)
    checks.exit()


if __name__ == "__main__":
    main()
