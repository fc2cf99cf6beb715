"""A job of two ranks under mpirun, through merge into every output: the same numbers in all of them.

    mpi_test.py CROCPROF PROGRAMS
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

from crocprof_run import Checks

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "html"))
from browser import Browser, program_find  # noqa: E402

RANKS = 2


def query(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


def kernels_of(path):
    """Launches and nanoseconds of each kernel."""
    return {name: (count, total) for name, count, total in query(path, "SELECT name, count(*), sum(duration) FROM kernels GROUP BY name")}


def added(parts):
    sums = {}
    for part in parts:
        for name, (count, total) in kernels_of(part).items():
            before = sums.get(name, (0, 0))
            sums[name] = (before[0] + count, before[1] + total)
    return sums


def csv_kernels(path):
    sums = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            before = sums.get(row["Kernel_Name"], (0, 0))
            sums[row["Kernel_Name"]] = (before[0] + 1, before[1] + int(row["End_Timestamp"]) - int(row["Start_Timestamp"]))
    return sums


def json_kernels(path):
    with open(path, encoding="utf-8") as file:
        tool, = json.load(file)["rocprofiler-sdk-tool"]
    names = {symbol["kernel_id"]: symbol["formatted_kernel_name"] for symbol in tool["kernel_symbols"]}
    sums = {}
    for row in tool["buffer_records"]["kernel_dispatch"]:
        name = names[row["dispatch_info"]["kernel_id"]]
        before = sums.get(name, (0, 0))
        sums[name] = (before[0] + 1, before[1] + row["end_timestamp"] - row["start_timestamp"])
    return sums


def archive_kernels(path, names):
    """By the events of the archive: an ENTER and a LEAVE for each."""
    text = subprocess.run(["otf2-print", path], capture_output=True, text=True, timeout=120, check=True).stdout
    sums, began = {}, {}
    for line in text.splitlines():
        words = line.split()
        if len(words) < 3 or words[0] not in ("ENTER", "LEAVE"):
            continue
        name = next((n for n in names if 'Region: "%s"' % n in line), None)
        if name is None:
            continue
        if words[0] == "ENTER":
            began[words[1]] = int(words[2])
        else:
            before = sums.get(name, (0, 0))
            sums[name] = (before[0] + 1, before[1] + int(words[2]) - began.pop(words[1]))
    return sums


def page_kernels(checks, path):
    with Browser() as browser:
        page = browser.open(path, 1000, 800)
        checks.equal("errors of the page", page.errors() + [page.value("croc.error")], [None])
        checks.equal("ranks of the page", page.value("croc.ranks.map((r) => r.rank)"), [str(r) for r in range(RANKS)])
        rows = page.value("croc.kernels.map((s) => [croc.texts[s.name], s.count, s.total])")
    return {name: (count, total) for name, count, total in rows}


def check_job(checks, run, directory, parts):
    wanted = added(parts)
    checks.true("kernels ran: %r" % wanted, sum(count for count, _ in wanted.values()) > 0)
    listed = run("merge", "-o", "all", *parts)
    checks.equal("ranks: " + listed, [line.split()[0] for line in listed.splitlines()[1:1 + RANKS]], [str(r) for r in range(RANKS)])
    checks.equal("database", kernels_of(os.path.join(directory, "all.db")), wanted)
    run("merge", "-f", "package", "-o", "all", *parts)
    packed = json.loads(run("query", "-f", "json", "-q", "SELECT name, count(*) AS n, sum(duration) AS ns FROM kernels GROUP BY name",
                            "all.rpdb/index.yaml"))
    checks.equal("package", {row["name"]: (row["n"], row["ns"]) for row in packed}, wanted)
    run("convert", "-f", "csv,json", "-o", "all", "all.db")
    checks.equal("CSV", csv_kernels(os.path.join(directory, "all_kernel_trace.csv")), wanted)
    run("merge", "-f", "otf2", "-o", "job", *parts)
    if shutil.which("otf2-print"):
        checks.equal("archive", archive_kernels(os.path.join(directory, "job_results.otf2"), list(wanted)), wanted)
    run("merge", "-f", "html", "-o", "page", *parts)
    if program_find():
        checks.equal("page", page_kernels(checks, os.path.join(directory, "page_results.html")), wanted)


def main():
    if not shutil.which("mpirun"):
        sys.exit(77)
    checks = Checks()
    crocprof, program = os.path.abspath(sys.argv[1]), os.path.join(os.path.abspath(sys.argv[2]), "geometry")
    directory = tempfile.mkdtemp()

    def run(*words):
        result = subprocess.run([crocprof, *words], capture_output=True, text=True, timeout=120, cwd=directory, check=False)
        checks.equal("status of %r (%s)" % (words, result.stderr), result.returncode, 0)
        return result.stdout

    try:
        job = subprocess.run(["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(RANKS), crocprof, "-d", "parts", "-o",
                              "r%rank%", "-f", "rocpd", "--no-summary", "--", program, "4x64", "2x64"],
                             cwd=directory, capture_output=True, text=True, timeout=120, check=False)
        parts = sorted(glob.glob(os.path.join(directory, "parts", "r*_results.db")))
        checks.equal("a part of each rank: " + job.stderr, [os.path.basename(part)[:2] for part in parts], ["r0", "r1"])
        if len(parts) == RANKS:
            check_job(checks, run, directory, parts)
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
