"""merge and rocpd: processes of a job in one database, on one clock.

    merge_test.py CROCPROF PROGRAMS
"""
import csv
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from fractions import Fraction

from crocprof_run import Checks

SHIFT_NS = 5_000_000_000_000
DRIFT = 2e-5


class Job:
    """Recordings of ranks that ran one after the other."""

    def __init__(self, crocprof, programs, directory, checks):
        self.crocprof, self.directory, self.checks = crocprof, directory, checks
        self.rocpd = os.path.join(os.path.dirname(crocprof), "rocpd")
        self.program = os.path.join(programs, "endings")

    def record(self, rank, launches):
        path = os.path.join(self.directory, "rank%d" % rank)
        environment = dict(os.environ, OMPI_COMM_WORLD_RANK=str(rank), OMPI_COMM_WORLD_SIZE="3")
        subprocess.run([self.crocprof, "-d", path, "-f", "csv,rocpd", "--no-summary", "--pmc", "SQ_WAVES", "--", self.program,
                        str(launches), "1", "return"], capture_output=True, timeout=120, env=environment, check=False)
        return glob.glob(os.path.join(path, "*_results.db"))[0]

    def run(self, *words, status=0, program=None):
        result = subprocess.run([program or self.crocprof, *words], capture_output=True, text=True, timeout=120, cwd=self.directory)
        self.checks.equal("status of %r (%s)" % (words, result.stderr), result.returncode, status)
        return result.stdout, result.stderr


def query(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


def tables(path):
    return [name for name, in query(path, "SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'rocpd_%'")]


def check_whole(checks, job, parts):
    out, said = job.run("merge", "-o", "whole", *parts)
    whole = os.path.join(job.directory, "whole.db")
    checks.true("all of them: %r" % said, "3 of 3 recordings" in said)
    checks.equal("integrity", query(whole, "PRAGMA integrity_check"), [("ok",)])
    for view in ("kernels", "regions", "memory_copies", "counters_collection", "rocpd_event", "processes"):
        each = sorted(map(repr, sum((query(part, "SELECT * FROM " + view) for part in parts), [])))
        checks.equal(view, sorted(map(repr, query(whole, "SELECT * FROM " + view))), each)
    ranks = [line.split()[0] for line in out.splitlines()[1:4]]
    checks.equal("ranks by number: %s" % out, ranks, ["0", "1", "2"])
    checks.true("the last to begin: " + out, "rank 0 began" in out and "rank 2 began" not in out)
    checks.true("whose kernels took longest: " + out, "times the mean in kernels" in out)
    checks.equal("launches", [int(line.split()[3]) for line in out.splitlines()[1:4]],
                 [len(query(part, "SELECT 1 FROM kernels")) for part in reversed(parts)])
    job.run("convert", "whole.db", "-o", "w", "-d", "converted")
    with open(os.path.join(job.directory, "converted", "w_kernel_trace.csv"), encoding="utf-8") as file:
        found = sorted(file)
    wanted = []
    for part in parts:
        with open(part.replace("_results.db", "_kernel_trace.csv"), encoding="utf-8") as file:
            wanted += list(file)[1 if wanted else 0:]
    checks.equal("the CSV files of all", found, sorted(wanted))
    return whole


def other_machine(path, to):
    """A copy as another machine would have recorded it: another start, a clock that is apart and drifts."""
    shutil.copy(path, to)
    with sqlite3.connect(to) as database:
        tables_of = {name.rsplit("_", 5)[0]: name for name in tables(path)}
        process = tables_of["rocpd_info_process"]
        clock = json.loads(database.execute("SELECT extdata FROM \"%s\"" % process).fetchone()[0])["crocprof_clock"]
        base = clock[1]
        for table in ("region", "kernel_dispatch", "memory_copy", "memory_allocate"):
            database.execute("UPDATE \"%s\" SET start = start + ?1 + CAST((start - ?2) * ?3 AS INTEGER), \"end\" = \"end\" + ?1 + "
                             "CAST((\"end\" - ?2) * ?3 AS INTEGER)" % tables_of["rocpd_" + table], (SHIFT_NS, base, DRIFT))
        there = [clock[0], base + SHIFT_NS, clock[2], clock[3] + SHIFT_NS + int((clock[3] - base) * DRIFT)]
        database.execute("UPDATE \"%s\" SET extdata = ?" % process,
                         (json.dumps({"crocprof_boot": "another", "crocprof_clock": there}),))
        database.execute("UPDATE \"%s\" SET hostname = 'elsewhere', machine_id = 'elsewhere'" % tables_of["rocpd_info_node"])


def check_clocks(checks, job, parts):
    """Times of the other machine come back to what they were, as exactly as its clock was read."""
    far = os.path.join(job.directory, "far_results.db")
    other_machine(parts[1], far)
    far_span = query(far, "SELECT min(start) FROM regions")[0][0] - query(parts[1], "SELECT min(start) FROM regions")[0][0]
    checks.true("it is far: %d" % far_span, abs(far_span - SHIFT_NS) < 10**9)
    out, _ = job.run("merge", "-o", "clocks", parts[0], far)
    guid = query(parts[1], "SELECT DISTINCT guid FROM kernels")[0][0]
    found = query(os.path.join(job.directory, "clocks.db"), "SELECT start, \"end\" FROM regions WHERE guid = '%s' ORDER BY id" % guid)
    wanted = query(parts[1], "SELECT start, \"end\" FROM regions ORDER BY id")
    apart = max(abs(f - w) for row, other in zip(found, wanted) for f, w in zip(row, other))
    # Where the two read the time of day a moment apart from their own clock they differ; drift is much less than that.
    first, there = (json.loads(query(path, "SELECT extdata FROM rocpd_info_process")[0][0])["crocprof_clock"]
                    for path in (parts[0], far))
    rate = lambda clock: Fraction(clock[2] - clock[0], clock[3] - clock[1])  # noqa: E731
    starts = [first[1] + (there[0] + rate(there) * (start - there[1]) - first[0]) / rate(first)
              for start, in query(far, "SELECT start FROM regions ORDER BY id")]
    exact = max(abs(float(row[0] - start)) for row, start in zip(found, starts))
    checks.true("by the clocks that were read, apart by %f ns" % exact, exact < 1000)
    checks.true("as many calls", len(found) == len(wanted) > 0)
    checks.true("apart by %d ns" % apart, apart < 50_000_000)
    checks.true("the other host is named: " + out, "elsewhere" in out and "5000000" in out.replace("-4999999", "5000000"))


def check_broken(checks, job, parts):
    broken = os.path.join(job.directory, "broken.db")
    with open(parts[0], "rb") as source, open(broken, "wb") as file:
        file.write(source.read()[:40000])
    old = os.path.join(job.directory, "old.db")
    shutil.copy(parts[2], old)
    with sqlite3.connect(old) as database:
        table, = [name for name in tables(old) if name.startswith("rocpd_metadata_")]
        database.execute("UPDATE \"%s\" SET value = '3.0.3' WHERE tag = 'schema_version'" % table)
    _, said = job.run("merge", "-o", "rest", parts[0], "missing.db", broken, parts[0], old, parts[1], status=1)
    for name in ("missing.db", "broken.db", "old.db"):
        checks.true("%s is named: %s" % (name, said), name in said)
    checks.true("twice is once: " + said, "there already" in said and "2 of 6 recordings" in said)
    rest = os.path.join(job.directory, "rest.db")
    checks.equal("the rest", len(query(rest, "SELECT * FROM processes")), 2)
    checks.equal("integrity of the rest", query(rest, "PRAGMA integrity_check"), [("ok",)])
    job.run("merge", "-o", "rest", *parts, status=1)
    checks.equal("what is there stays", len(query(rest, "SELECT * FROM processes")), 2)
    job.run("merge", "-o", "none", broken, status=1)
    checks.true("nothing is left of nothing", not os.path.exists(os.path.join(job.directory, "none.db")))
    job.run("merge", "-d", "/proc/nowhere", *parts, status=2)


def check_archive(checks, job, parts):
    """One OTF2 archive: a group of locations for each rank, and as many kernels as there were."""
    job.run("merge", "-f", "otf2", "-o", "archive", *parts)
    if not shutil.which("otf2-print"):
        return
    path = os.path.join(job.directory, "archive_results.otf2")
    text = subprocess.run(["otf2-print", "-G", path], capture_output=True, text=True, timeout=120, check=True).stdout
    groups = [line for line in text.splitlines() if line.startswith("LOCATION_GROUP") and "Type: PROCESS" in line]
    checks.equal("a group for each rank", sorted(line.split("rank ")[1][0] for line in groups), ["0", "1", "2"])
    queues = [line for line in text.splitlines() if line.startswith("LOCATION ") and "queue" in line]
    checks.equal("a queue for each rank: %r" % queues, len(queues), 3)
    events = subprocess.run(["otf2-print", path], capture_output=True, text=True, timeout=120, check=True).stdout
    name = query(parts[0], "SELECT name FROM kernels ORDER BY id DESC LIMIT 1")[0][0]
    found = sum(line.startswith("ENTER") and name in line for line in events.splitlines())
    wanted = sum(query(part, "SELECT count(*) FROM kernels WHERE name = '%s'" % name)[0][0] for part in parts)
    checks.equal("kernels in the archive", found, wanted)
    checks.equal("no database is left", glob.glob(os.path.join(job.directory, "archive*.db")), [])


def check_rocpd(checks, job, parts):
    """ROCm's names and options."""
    rocpd = lambda *words, **more: job.run(*words, program=job.rocpd, **more)  # noqa: E731
    rocpd("merge", "-i", *parts, "-o", "m", "-d", "rocpd")
    m = os.path.join(job.directory, "rocpd", "m.db")
    checks.equal("merged", len(query(m, "SELECT * FROM processes")), 3)
    rocpd("package", "-i", *parts, "-o", "p", "-d", "rocpd", "--consolidate")
    package = os.path.join(job.directory, "rocpd", "p.rpdb")
    checks.equal("a package", len(glob.glob(os.path.join(package, "*.db"))), 3)
    kernels = query(m, "SELECT count(*) FROM kernels")[0][0]
    for inputs in ([m], [os.path.join(package, "index.yaml")], [package], parts, [os.path.join(job.directory, "rank*", "*.db")]):
        out, _ = rocpd("query", "--query", "SELECT count(*) AS n FROM kernels", "--format", "csv", "-i", *inputs)
        checks.equal("kernels of %r" % inputs, out.split(), ['"n"', str(kernels)])
    rocpd("convert", "-i", *parts, "-f", "csv", "pftrace", "-o", "c", "-d", "rocpd")
    with open(os.path.join(job.directory, "rocpd", "c_kernel_trace.csv"), encoding="utf-8") as file:
        checks.equal("converted", len(list(csv.DictReader(file))), kernels)
    checks.true("a trace", os.path.exists(os.path.join(job.directory, "rocpd", "c_results.pftrace")))
    rows = json.loads(rocpd("summary", "-f", "json", "-i", m)[0])
    checks.equal("summary", sum(row["calls"] for row in rows if row["domain"] == "KERNEL_DISPATCH"), kernels)
    by_rank = json.loads(rocpd("summary", "--summary-by-rank", "-f", "json", "-i", m)[0])
    checks.equal("by rank", len({row["pid"] for row in by_rank}), 3)
    for words, says in (([], "which command"), (["mege"], "did you mean merge"), (["merge"], "which databases"),
                        (["query", "-i", m], "query: which?"), (["summary", "-f", "pdf", "-i", m], "pdf is not written"),
                        (["convert", "-i", m], "which format")):
        checks.true("%r says %r" % (words, says), says in rocpd(*words, status=2)[1])
    checks.true("help", "package" in rocpd("--help")[0])


def main():
    checks = Checks()
    directory = tempfile.mkdtemp()
    try:
        job = Job(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), directory, checks)
        parts = [job.record(2, 60), job.record(1, 3), job.record(0, 3)]
        check_whole(checks, job, parts)
        check_clocks(checks, job, parts)
        check_broken(checks, job, parts)
        check_archive(checks, job, parts)
        check_rocpd(checks, job, parts)
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
