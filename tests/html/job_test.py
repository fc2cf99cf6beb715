"""merge -f html: a page with a row for each rank says what the ranks' databases say.

    job_test.py CROCPROF PROGRAMS
"""
import glob
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

from browser import Browser, program_find

here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "..", "crocprof"))
from crocprof_run import Checks  # noqa: E402


def record(crocprof, program, directory, rank, launches):
    path = os.path.join(directory, "rank%d" % rank)
    environment = dict(os.environ, PMI_RANK=str(rank), PMI_SIZE="3")
    subprocess.run([crocprof, "-d", path, "-f", "rocpd", "--no-summary", "--", program, str(launches), "1", "return"],
                   capture_output=True, timeout=120, env=environment, check=False)
    return glob.glob(os.path.join(path, "*_results.db"))[0]


def query(path, sql):
    with sqlite3.connect(path) as database:
        return database.execute(sql).fetchall()


def elsewhere(path):
    """As another machine's process with the same number would have recorded it: a clock that is 5000 s ahead."""
    with sqlite3.connect(path) as database:
        process, = [n for n, in database.execute("SELECT name FROM sqlite_master WHERE name LIKE 'rocpd_info_process_%'")]
        node = process.replace("process", "node")
        database.execute("UPDATE \"%s\" SET hostname = 'elsewhere', machine_id = 'elsewhere'" % node)
        database.execute("UPDATE \"%s\" SET extdata = json_set(extdata, '$.crocprof_boot', 'another', '$.crocprof_clock[1]', "
                         "json_extract(extdata, '$.crocprof_clock[1]') + 5000000000000, '$.crocprof_clock[3]', "
                         "json_extract(extdata, '$.crocprof_clock[3]') + 5000000000000)" % process)
        for table in ("region", "kernel_dispatch", "memory_copy"):
            database.execute("UPDATE \"%s\" SET start = start + 5000000000000, \"end\" = \"end\" + 5000000000000" %
                             process.replace("info_process", table))


def drifted(page, wanted):
    """How far each rank's sum of times may be from its own clock's. That of another machine is stretched onto the job's, by as much as the
    two went apart while it recorded (a few ppm by the readings' own jitter), and each of its times is rounded."""
    drifts = page.value("croc.ranks.map((r) => r.drift)")
    return [0 if not drift else abs(drift) * time + kernels for drift, (_, kernels, _, time) in zip(drifts, wanted)]


def check_page(checks, page, parts):
    checks.equal("errors", page.errors() + [page.value("croc.error")], [None])
    checks.equal("nothing is fetched", page.requests(), [])
    rows = page.value("croc.ranks.map((r) => [r.rank, r.kernels, r.calls])")
    wanted = []
    for rank, part in enumerate(parts):
        kernels, time = query(part, "SELECT count(*), sum(duration) FROM kernels")[0]
        wanted.append([str(rank), kernels, query(part, "SELECT count(*) FROM rocpd_region")[0][0], time])
    checks.equal("ranks", rows, [rank[:3] for rank in wanted])
    off = drifted(page, wanted)
    shown = page.value("croc.ranks.map((r) => r.kernelTime)")
    checks.true("kernel time of ranks: %s of %s, %s off" % (shown, wanted, off),
                all(abs(time - rank[3]) <= most for time, rank, most in zip(shown, wanted, off)))
    checks.equal("rows that are shown", page.value("[...document.querySelectorAll('#ranks tbody tr')].map((r) => r.cells[0].textContent)"),
                 ["rank 0", "rank 1", "rank 2"])
    sums = {name: [count, total] for name, count, total in page.value("croc.kernels.map((s) => [croc.texts[s.name], s.count, s.total])")}
    names = {}
    for part in parts:
        for name, count, total in query(part, "SELECT name, count(*), sum(duration) FROM kernels GROUP BY name"):
            before = names.setdefault(name, [0, 0])
            names[name] = [before[0] + count, before[1] + total]
    checks.equal("kernels of all", {name: count for name, (count, _) in sums.items()}, {name: count for name, (count, _) in names.items()})
    checks.true("times of kernels: %s of %s" % (sums, names), all(abs(sums[name][1] - names[name][1]) <= sum(off) for name in names))
    busy = page.value("croc.ranks.map((r) => r.busy.kernels.reduce((a, b) => a + b, 0) * Number(r.stretch))")
    for (rank, _, _, time), shown in zip(wanted, busy):
        stretch = page.value("Number(croc.ranks[%s].stretch)" % rank)
        count = page.value("croc.ranks[%s].busy.kernels.length" % rank)
        checks.true("activity of rank %s: %d of %d" % (rank, shown, time), abs(shown - time) < stretch * count / 63 + 1)


def main():
    if not program_find():
        sys.exit(77)
    checks = Checks()
    crocprof, program = os.path.abspath(sys.argv[1]), os.path.join(os.path.abspath(sys.argv[2]), "endings")
    directory = tempfile.mkdtemp()
    try:
        parts = [record(crocprof, program, directory, rank, launches) for rank, launches in ((0, 40), (1, 3), (2, 3))]
        elsewhere(parts[1])
        broken = os.path.join(directory, "broken.db")
        open(broken, "wb").close()
        merged = subprocess.run([crocprof, "merge", "-f", "html", "-o", "job", broken, *parts, parts[0]], cwd=directory, capture_output=True,
                                text=True, timeout=120, check=False)
        checks.equal("what is left out is a failure: " + merged.stderr, merged.returncode, 1)
        checks.true("named: " + merged.stderr, "broken.db" in merged.stderr and "there already" in merged.stderr)
        with Browser() as browser:
            page = browser.open(os.path.join(directory, "job_results.html"), 1200, 900)
            check_page(checks, page, parts)
            checks.true("notes: %r" % merged.stdout, page.value("[...document.querySelectorAll('#notes li')].map((n) => n.textContent)")
                        == [line for line in merged.stdout.splitlines() if line.startswith("rank ") and ("began" in line or "spent" in line)])
            checks.true("one clock: %s" % page.value("croc.ranks.map((r) => r.begin)"), page.value("croc.ranks.every((r) => r.begin < 60e9)"))
            checks.true("whose tracks they are", page.value("croc.tracks.some((t) => processText(t.process) === 'rank 2')"))
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
