"""kill -9 of the program, of crocprof, of both, SIGTERM and abort: every format has what was streamed.

    killed_test.py CROCPROF PROGRAMS KILL_AT_LIBRARY
"""
import csv
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks, Profile

FORMATS = ["csv", "json", "rocpd", "pftrace", "otf2", "html"]
AT_END = ["json", "otf2", "html"]
LAUNCHES = 10000000  # more than anybody waits for
ROWS_END, STREAMED_BYTES, DEADLINE_S = "_results.crocprof", 1 << 20, 60
LATE_MAX, LATEST = 16, 256  # launches that may be missing, and among how many of the last
QUIET_S = 20  # its launches fill the library's buffer in minutes


def processes_below(pid):
    with open("/proc/%d/task/%d/children" % (pid, pid), encoding="ascii") as file:
        return [int(word) for word in file.read().split()]


class Killed:
    """A run that is killed once a megabyte of rows is there."""

    def __init__(self, crocprof, programs, formats, whom):
        self.directory = tempfile.mkdtemp()
        command = [crocprof, "--no-summary", "-f", ",".join(formats), "-d", self.directory, "--",
                   os.path.join(programs, "launches"), str(LAUNCHES)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as run:
            self.wait_for_rows(run)
            program = processes_below(run.pid)
            if whom == "both":
                os.kill(run.pid, signal.SIGSTOP)  # it cannot do anything in between
            for pid in (program if whom in ("program", "both") else []) + ([run.pid] if whom != "program" else []):
                os.kill(pid, signal.SIGKILL)
            self.stderr = run.stderr.read()  # until the last of them is gone
            self.status = run.wait()

    def wait_for_rows(self, run):
        deadline = time.time() + DEADLINE_S
        while time.time() < deadline and run.poll() is None:
            if any(os.path.getsize(p) > STREAMED_BYTES for p in glob.glob(self.directory + "/*" + ROWS_END)):
                return
            time.sleep(0.05)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.directory)

    def file(self, end):
        paths = glob.glob(os.path.join(self.directory, "*" + end))
        return paths[0] if len(paths) == 1 else None


def csv_ids(path):
    """Of whole lines: the last one may have been cut."""
    with open(path, newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["Grid_Size_Z"] is not None]
    return [int(row["Dispatch_Id"]) for row in rows]


def ids_of(name, path):
    """Dispatch ids that a file has, in its order. A Perfetto trace is looked at elsewhere."""
    if name == "csv":
        return csv_ids(path)
    if name == "json":
        with open(path, encoding="utf-8") as file:
            records = json.load(file)["rocprofiler-sdk-tool"][0]["buffer_records"]["kernel_dispatch"]
        return [record["dispatch_info"]["dispatch_id"] for record in records]
    if name == "rocpd":
        with sqlite3.connect(path) as database:
            return [i for i, in database.execute("SELECT dispatch_id FROM kernels ORDER BY start")]
    if name == "otf2":
        text = subprocess.run(["otf2-print", path], capture_output=True, text=True, timeout=120).stdout
        return [int(i) for i in re.findall(r'"dispatch_id" <\d+>; UINT64; (\d+)', text)]
    return None


ENDS = {"csv": "_kernel_trace.csv", "json": "_results.json", "rocpd": "_results.db", "otf2": "_results.otf2",
        "html": "_results.html"}


def check_no_gaps(checks, what, ids):
    """They count from 1. Records of one thread come in order; now and then another one notes a launch, which comes up to some tens of
    launches later: of the last ones some may be left out."""
    left_out = set(range(1, max(ids) + 1)) - set(ids)
    checks.equal(what + ": each once", len(set(ids)), len(ids))
    checks.true("%s: none left out but of the last: %r of %d" % (what, sorted(left_out)[:50], max(ids)),
                len(left_out) <= LATE_MAX and all(i > max(ids) - LATEST for i in left_out))


def check_ids(checks, what, killed, formats):
    """All but one number of launches is the same."""
    counts = {}
    for name in formats:
        path = killed.file(ENDS[name]) if name in ENDS else None
        checks.true("%s, %s: there is a file: %r" % (what, name, os.listdir(killed.directory)), path or name == "pftrace")
        ids = ids_of(name, path) if path else None
        if ids is None:
            continue
        counts[name] = len(ids)
        checks.true("%s, %s: many launches: %d" % (what, name, len(ids)), len(ids) > 1000)
        check_no_gaps(checks, "%s, %s" % (what, name), ids)
    return counts


def check_program(checks, crocprof, programs):
    """crocprof is still there: it makes what only exists at its end."""
    with Killed(crocprof, programs, FORMATS, "program") as killed:
        checks.equal("program killed: status", killed.status, -signal.SIGKILL)
        checks.true("program killed: said: " + killed.stderr,
                    "a process was killed: json, otf2, html made of the " in killed.stderr)
        counts = check_ids(checks, "program killed", killed, FORMATS)
        checks.equal("program killed: the same in what is made of the same rows", counts["json"], counts["otf2"])
        checks.true("program killed: and at least in the others: %r" % counts,
                    min(counts["csv"], counts["rocpd"]) >= counts["json"])
        checks.equal("program killed: rows are gone", killed.file(ROWS_END), None)
        with open(killed.file("_results.html"), encoding="utf-8") as page:
            checks.true("program killed: the page is whole", page.read().rstrip().endswith("</html>"))


def check_crocprof(checks, crocprof, programs, whom):
    """Nobody is left: the rows are, and any format can be made of them."""
    what = whom + " killed"
    with Killed(crocprof, programs, ["json"], whom) as killed:
        checks.equal(what + ": status", killed.status, -signal.SIGKILL)
        rows = killed.file(ROWS_END)
        checks.true("%s: there are rows: %r" % (what, os.listdir(killed.directory)), rows)
        with open(rows, "rb") as file:
            checks.true(what + ": the file says how to read it", b"crocprof convert" in file.readline())
        os.unlink(killed.file("_results.json"))
        done = subprocess.run([crocprof, "convert", "-f", ",".join(FORMATS), rows], capture_output=True, text=True,
                              timeout=120)
        checks.equal("%s: convert: %s" % (what, done.stderr), done.returncode, 0)
        counts = check_ids(checks, what + ", converted", killed, FORMATS)
        checks.equal("%s: the same everywhere: %r" % (what, counts), len(set(counts.values())), 1)
        checks.true(what + ": and said", " 0 records" not in done.stderr and "killed process" in done.stderr)
        with open(rows, "r+b") as file:
            file.truncate(os.path.getsize(rows) // 2)
        done = subprocess.run([crocprof, "convert", "-f", "csv", "-o", "half", "-d", killed.directory, rows],
                              capture_output=True, text=True, timeout=120)
        half = csv_ids(os.path.join(killed.directory, "half_kernel_trace.csv"))
        checks.equal(what + ": half a file: status", done.returncode, 0)
        checks.true(what + ": half a file: each once, no others: %r" % half[:50],
                    len(set(half)) == len(half) and set(half) <= set(range(1, counts["csv"] + LATE_MAX + 1)))
        checks.true(what + ": less of it: %d" % len(half), 0 < len(half) < counts["csv"])


def check_quiet(checks, crocprof, programs):
    """A program that fills no buffer: what it did is in the files while it runs, and kill -9 leaves it there."""
    with tempfile.TemporaryDirectory() as directory:
        command = [crocprof, "--no-summary", "--kernel-trace", "--marker-trace", "-f", "csv,rocpd,json", "-d", directory, "--",
                   os.path.join(programs, "until_input_ends")]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              text=True) as run:
            deadline, rows = time.time() + QUIET_S, 0
            while time.time() < deadline and rows == 0:
                time.sleep(0.1)
                rows = sum(len(csv_ids(path)) for path in glob.glob(directory + "/*" + ENDS["csv"]))
            checks.true("quiet: rows while it runs", rows > 0)
            os.kill(processes_below(run.pid)[0], signal.SIGKILL)
            said = run.stderr.read()
            checks.equal("quiet: status: " + said, run.wait(), -signal.SIGKILL)
        for name in ("csv", "rocpd", "json"):
            ids = ids_of(name, glob.glob(directory + "/*" + ENDS[name])[0])
            checks.equal("quiet: %s: each once" % name, sorted(ids), list(range(1, len(ids) + 1)))
            checks.true("quiet: %s: %d of %d" % (name, len(ids), rows), len(ids) >= rows > 0)


def check_passes(checks, crocprof, programs, kill_at):
    """The last of two passes is killed while it opens its files, before each of its first operations on them: its
    files can be read, and what the first has counted is in files of its own, in every format."""
    second = 'if mkdir "$1"; then exec "$2" 500; else LD_PRELOAD="$LD_PRELOAD:$0" exec "$2" 500; fi'
    for number in (1, 2, 4, 6, 9, 13):
        with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryDirectory() as place:
            environment = dict(os.environ, KILL_AT=str(number), KILL_AT_DIRECTORY=directory, KILL_AT_PROGRAM="launches")
            done = subprocess.run([crocprof, "--no-summary", "-f", "csv,json,rocpd", "-e", "SQ_INSTS_VALU", "-e", "SQ_WAVES",
                                   "-d", directory, "--", "sh", "-c", second, kill_at, os.path.join(place, "first"),
                                   os.path.join(programs, "launches")], env=environment, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, timeout=120)
            check_counted(checks, "passes, killed before operation %d: %s" % (number, done.stderr), directory, done)


def check_counted(checks, what, directory, done):
    checks.equal(what + ": status", done.returncode, -signal.SIGKILL)
    checks.equal(what + ": rows are gone", glob.glob(directory + "/*" + ROWS_END), [])
    counted = {}
    for path in glob.glob(directory + "/*_results.json"):
        with open(path, encoding="utf-8") as file:
            data = json.load(file)["rocprofiler-sdk-tool"][0]
        values = [v["value"] for r in data["callback_records"]["counter_collection"] for v in r["records"]]
        counted[os.path.basename(path).split("_")[0]] = values
    for path in glob.glob(directory + "/*_results.db"):
        with sqlite3.connect(path) as database:
            values = [v for v, in database.execute("SELECT value FROM counters_collection")]
        checks.equal(what + ": the database has the same", values, counted[os.path.basename(path).split("_")[0]])
    checks.equal(what + ": one set of files has what was counted, another one nothing",
                 [(len(values), set(values)) for values in counted.values() if values], [(500, {1.0})])
    for path in glob.glob(directory + "/*_agent_info.csv"):
        checks.true(what + ": agents in " + path, os.path.getsize(path) > 100)


def check_signals(checks, crocprof, programs):
    """Signals that a process can take end with complete files of every format, and no rows are left."""
    for way, status in (("term", -signal.SIGTERM), ("abort", -signal.SIGABRT)):
        with Profile(crocprof, ["--no-summary", "-f", ",".join(FORMATS)],
                     [os.path.join(programs, "endings"), "37", "5", way]) as p:
            checks.equal(way + ": status", p.status, status)
            for name in ("csv", "json", "rocpd", "otf2"):
                paths = glob.glob(os.path.join(p.directory, "*" + ENDS[name]))
                checks.equal("%s, %s" % (way, name), sorted(ids_of(name, paths[0])), list(range(1, 38)))
            checks.equal(way + ": no rows are left", glob.glob(os.path.join(p.directory, "*" + ROWS_END)), [])


def check_refused(checks, crocprof):
    """What is no such file is said."""
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "1" + ROWS_END)
        with open(path, "wb") as file:
            file.write(b"something else\n" * 100)
        done = subprocess.run([crocprof, "convert", "-f", "json", path], capture_output=True, text=True, timeout=60)
        checks.equal("other file: status", done.returncode, 1)
        checks.true("other file: " + done.stderr, "no rows that this version of crocprof has left" in done.stderr)


def main():
    crocprof, programs, kill_at = sys.argv[1:4]
    checks = Checks()
    check_program(checks, crocprof, programs)
    for whom in ("crocprof", "both"):
        check_crocprof(checks, crocprof, programs, whom)
    check_quiet(checks, crocprof, programs)
    check_passes(checks, crocprof, programs, kill_at)
    check_signals(checks, crocprof, programs)
    check_refused(checks, crocprof)
    checks.exit()


if __name__ == "__main__":
    main()
