"""Commands that read recordings: convert, report, script, query. What they say is what record said, or what the CSV
files of the same run say.

    recordings_test.py CROCPROF PROGRAMS
"""
import csv
import glob
import io
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks

TRACES = ["--hsa-trace", "--memory-allocation-trace", "--pmc", "SQ_WAVES,SQ_INSTS_VALU"]


class Commands:
    def __init__(self, crocprof, checks):
        self.crocprof, self.checks = crocprof, checks

    def run(self, *words, status=0, says=None, **kwargs):
        result = subprocess.run([self.crocprof, *words], capture_output=True, text=True, timeout=120, **kwargs)
        self.checks.equal("status of %r (%s)" % (words, result.stderr), result.returncode, status)
        if says is not None:
            self.checks.true("%r says %r: %r" % (words, says, result.stderr), says in result.stderr)
            lines = [line for line in result.stderr.splitlines() if line.startswith("crocprof: ")]
            self.checks.equal("lines of %r: %r" % (words, result.stderr), len(lines), 1)
        return result.stdout


def record(crocprof, directory, program, *options):
    result = subprocess.run([crocprof, "-d", directory, "-f", "csv,rocpd", *options, "--", *program],
                            capture_output=True, text=True, timeout=120)
    database, = glob.glob(os.path.join(directory, "*_results.db"))
    return database, result.stderr


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return sorted(file)


def check_convert(checks, commands, database, directory):
    """The CSV files of the run, and of the database that a database was converted to."""
    made = [os.path.join(directory, name) for name in ("once", "twice", "thrice")]
    commands.run("convert", database, "-d", made[0], "--stats", says="once/")
    commands.run("convert", "-f", "rocpd", "-d", made[1], "-o", "x", database)
    commands.run("convert", "-d", made[2], os.path.join(made[1], "x_results.db"))
    files = glob.glob(os.path.join(os.path.dirname(database), "*.csv"))
    checks.true("there are files", len(files) >= 6)
    for path in files:
        name = os.path.basename(path)
        checks.equal(name, lines_of(os.path.join(made[0], name)), lines_of(path))
        kind = name.split("_", 1)[1]
        checks.equal(name + " over a second database", lines_of(os.path.join(made[2], "x_" + kind)), lines_of(path))
    commands.run("convert", database, "-d", made[0], says="once/")
    checks.equal("nothing is replaced", len(glob.glob(os.path.join(made[0], "*-2_kernel_trace.csv"))), 1)
    commands.run("convert", database, "-f", "pftrace,csv", "-d", os.path.join(directory, "a", "b"), "-o", "n")
    checks.true("a trace", os.path.getsize(os.path.join(directory, "a", "b", "n_results.pftrace")) > 1000)


def check_kfd(checks, commands, directory, program):
    """Events of the driver: shared memory that goes to the GPU and back, and is freed."""
    database, said = record(commands.crocprof, os.path.join(directory, "kfd"), program, "--kfd-trace", "-f", "json", "--stats")
    made = os.path.join(directory, "kfd", "converted")
    commands.run("convert", database, "-d", made, "-f", "csv,json", "--stats")
    rows = lines_of(glob.glob(os.path.join(directory, "kfd", "*_kfd_trace.csv"))[0])
    checks.equal("kfd, pages went there and back, and went", len(rows), 1 + 3)
    for kind in ("kfd_trace.csv", "kfd_stats.csv", "domain_stats.csv"):
        first, second = (lines_of(glob.glob(os.path.join(d, "*_" + kind))[0]) for d in (os.path.join(directory, "kfd"), made))
        checks.equal("kfd, " + kind, second, first)
    events = []
    for d in (os.path.join(directory, "kfd"), made):
        with open(glob.glob(os.path.join(d, "*_results.json"))[0], encoding="utf-8") as file:
            tool, = json.load(file)["rocprofiler-sdk-tool"]
        nodes = {agent["id"]["handle"]: agent["node_id"] for agent in tool["agents"]}
        events.append([{key: nodes.get(value["handle"]) if "agent" in key else value for key, value in one.items()}
                       for one in tool["buffer_records"]["kfd"]])
    checks.equal("kfd, json", events[1], events[0])
    report = commands.run("report", database)
    tables = said[said.index("\ndevice: "):]
    checks.true("kfd, the tables of the run:\n%s\nnot:\n%s" % (tables, report),
                tables.startswith(report) and "KFD_PAGE_MIGRATE_PREFETCH" in report)
    found = [json.loads(line) for line in commands.run("script", "-f", "json", "--kinds=kfd", database).splitlines()]
    checks.equal("kfd, lines", [(k["start"], k["end"], k["start_address"], k["error"], k["name"]) for k in found],
                 [(e["start_timestamp"], e["end_timestamp"], e["start_address"]["handle"], e["error_code"], name)
                  for e, name in zip(events[0], 2 * ["KFD_PAGE_MIGRATE_PREFETCH"] + ["KFD_EVENT_UNMAP_FROM_GPU_UNMAP_FROM_CPU"])])


def check_window(checks, commands, database, directory):
    rows = list(csv.DictReader(open(glob.glob(os.path.join(os.path.dirname(database), "*_kernel_trace.csv"))[0],
                                    encoding="utf-8")))
    rows.sort(key=lambda row: int(row["Start_Timestamp"]))
    begin, end = rows[1]["Start_Timestamp"], rows[2]["End_Timestamp"]
    out = os.path.join(directory, "window")
    commands.run("convert", database, "-d", out, "-o", "w", "--begin", begin, "--end", end)
    with open(os.path.join(out, "w_kernel_trace.csv"), encoding="utf-8") as file:
        kept = sorted(int(row["Dispatch_Id"]) for row in csv.DictReader(file))
    wanted = sorted(int(row["Dispatch_Id"]) for row in rows
                    if int(row["End_Timestamp"]) >= int(begin) and int(row["Start_Timestamp"]) <= int(end))
    checks.equal("kernels of a time window", kept, wanted)
    checks.true("not all of them", len(kept) < len(rows))
    everything = commands.run("script", database).count("\n")
    checks.equal("all of the time", commands.run("script", "--begin=0%", "--end=100%", database).count("\n"), everything)
    checks.true("half of it", 0 < commands.run("script", "--end=50%", database).count("\n") < everything)


def check_report(checks, commands, database, said, other):
    tables = said[said.index("\ndevice: "):]
    checks.true("what the device says of its times: %s" % tables, "(by its own word its times are " in tables.splitlines()[1])
    report = commands.run("report", database)
    checks.true("the tables of the run:\n%s\nnot:\n%s" % (tables, report), tables.startswith(report))
    one = commands.run("report", "--summary", "-u", "nsec", database)
    checks.true("one table: %s" % one, one.count("total ns") == 1 and "KERNEL_DISPATCH" in one)
    twice = commands.run("report", database, other)
    count = lambda text: [int(line.split()[0]) for line in text.splitlines() if "add_one" in line][0]  # noqa: E731
    checks.equal("two recordings together", count(twice), 2 * count(report))
    checks.equal("two one by one", commands.run("report", "--each", database, other).count("process "), 2)


def check_script(checks, commands, database):
    with sqlite3.connect(database) as d:
        wanted = sum(d.execute("SELECT count(*) FROM " + view).fetchone()[0]
                     for view in ("regions_and_samples", "kernels", "memory_copies", "memory_allocations", "counters_collection"))
        kernels = d.execute("SELECT start, duration, pid, tid, name, dispatch_id FROM kernels ORDER BY start").fetchall()
        ranges = d.execute("SELECT count(*) FROM regions_and_samples WHERE category LIKE 'MARKER%'").fetchone()[0]
    lines = commands.run("script", database).splitlines()
    checks.equal("a line for each record", len(lines), wanted)
    times = [int(line.split()[0]) for line in lines]
    checks.equal("by time", times, sorted(times))
    found = [json.loads(line) for line in commands.run("script", "-f", "json", "--kinds=kernel", database).splitlines()]
    checks.equal("kernels as JSON", [(k["start"], k["end"] - k["start"], k["pid"], k["tid"], k["name"], k["dispatch"]) for k in found],
                 kernels)
    checks.equal("kernels as text", [line.split(" : ")[1] for line in lines if line.split()[4] == "kernel"],
                 [k[4] for k in kernels])
    checks.equal("markers", commands.run("script", "--kinds=marker", database).count("\n"), ranges)


def check_query(checks, commands, database, other):
    with sqlite3.connect(database) as d:
        sql = "SELECT name, count(*), sum(duration) FROM kernels GROUP BY name ORDER BY name"
        wanted = d.execute(sql).fetchall()
        calls = d.execute("SELECT name, count(*) FROM regions WHERE category LIKE 'HIP%' GROUP BY 1").fetchall()
    found = list(csv.reader(io.StringIO(commands.run("query", "-f", "csv", "-q", sql, database))))[1:]
    checks.equal("SQL", [(n, int(c), int(s)) for n, c, s in found], wanted)
    rows = json.loads(commands.run("query", "-f", "json", "-r", "api", database))
    checks.equal("the report api", sorted((r["function"], r["calls"]) for r in rows if r["category"].startswith("HIP")),
                 sorted(calls))
    for report in ("kernels", "markers", "allocations", "counters", "launches", "busy", "processes", "agents"):
        rows = json.loads(commands.run("query", "-f", "json", "-r", report, database))
        checks.true("the report " + report, len(rows) > 0)
    both = json.loads(commands.run("query", "-f", "json", "-r", "kernels", database, other))
    checks.equal("two recordings as one", sorted((r["kernel"], r["calls"]) for r in both), [(n, 2 * c) for n, c, _ in wanted])
    commands.run("query", "-q", "DELETE FROM \"%s\"" % sqlite_table(database), database, status=1, says="readonly")
    commands.run("query", "-r", "kernels", database, database, status=2, says="this recording is there already")
    commands.run("query", "-q", "SELEC", database, status=1, says="syntax error")


def sqlite_table(database):
    with sqlite3.connect(database) as d:
        return d.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_region_%'").fetchone()[0]


def check_wrong_lines(checks, commands, database, directory):
    for words, says in ((["report"], "usage: crocprof report"),
                        (["convert", directory + "/nothing"], "nothing: No such file"),
                        (["convert", "-f", "xml", database], "unknown format xml (known: csv"),
                        (["script", "--kinds", "kernels", database], "--kinds: kernels"),
                        (["query", database], "one of --sql, --script and --report"),
                        (["query", "-r", "kernles", database], "did you mean kernels"),
                        (["report", "--begin", "soon", database], "--begin: soon is neither")):
        commands.run(*words, status=2, says=says)
    commands.run("report", "/etc/passwd", status=1, says="/etc/passwd: no recording")
    commands.run("convert", database, "-d", "/proc/nowhere", status=2, says="/proc/nowhere")
    for words in (["script", database], ["query", "-r", "launches", database], ["report", database]):
        with open("/dev/full", "w") as full:
            result = subprocess.run([commands.crocprof, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=120)
        checks.equal("full disk: %r %r" % (words, result.stderr), (result.returncode, result.stderr.count("No space left")), (1, 1))
    nobody = subprocess.run("'%s' script '%s' '%s' '%s' | head -1; '%s' report '%s' | true" %
                            (commands.crocprof, database, database, database, commands.crocprof, database), shell=True,
                            capture_output=True, text=True, timeout=120)
    checks.equal("a pipe that nobody reads", (nobody.returncode, nobody.stderr, nobody.stdout.count("\n")), (0, "", 1))


def check_damaged(checks, commands, database, directory):
    """Cut short, and of a process that was killed while it recorded."""
    short = os.path.join(directory, "short.db")
    with open(database, "rb") as file:
        data = file.read()
    with open(short, "wb") as file:
        file.write(data[:len(data) * 15 // 16])
    commands.run("report", short, says=short)
    out = os.path.join(directory, "killed")
    process = subprocess.Popen([commands.crocprof, "-d", out, "-f", "rocpd", "--hsa-trace", "--", *check_damaged.program],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    for _ in range(600):
        time.sleep(0.05)
        if glob.glob(os.path.join(out, "*_results.db")):
            break
    time.sleep(0.5)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    paths = glob.glob(os.path.join(out, "*_results.db"))
    checks.equal("databases of a killed process", len(paths), 1)
    text = commands.run("query", "-f", "json", "-r", "processes", *paths)
    checks.equal("whose it was", len(json.loads(text)), 1)


def main():
    crocprof, programs = os.path.abspath(sys.argv[1]), sys.argv[2]
    checks = Checks()
    commands = Commands(crocprof, checks)
    directory = tempfile.mkdtemp()
    check_damaged.program = [os.path.join(programs, "endings"), "100000", "3", "return"]
    program = os.path.join(programs, "markers")
    try:
        database, said = record(crocprof, os.path.join(directory, "run"), [program], *TRACES)
        other, _ = record(crocprof, os.path.join(directory, "other"), [program], *TRACES)
        check_convert(checks, commands, database, directory)
        check_window(checks, commands, database, directory)
        check_report(checks, commands, database, said, other)
        check_script(checks, commands, database)
        check_query(checks, commands, database, other)
        check_kfd(checks, commands, directory, [os.path.join(programs, "prefetch")])
        check_wrong_lines(checks, commands, database, directory)
        check_damaged(checks, commands, database, directory)
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
