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
import uuid
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
        names = (("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"), ("FLUX_TASK_RANK", "FLUX_JOB_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"))[rank]
        environment = dict(os.environ, **{names[0]: str(rank), names[1]: "3"})
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


def check_modelled(checks, job, parts, out):
    """Kernels' time by the device's model tells ranks apart, however the database was made; ranks without a recording are named."""
    sums = [query(part, "SELECT sum(json_extract(extdata, '$.modelled_ns')) FROM rocpd_kernel_dispatch")[0][0] for part in reversed(parts)]
    most = max(range(3), key=lambda rank: sums[rank])
    note = "rank %d spent %.2f times the mean in kernels (%.3f ms of %.3f ms, modelled)" % (
        most, sums[most] * 3 / sum(sums), sums[most] / 1e6, sum(sums) / 3e6)
    indexed = os.path.join(job.directory, "indexed.db")  # which no pages are copied of
    shutil.copy(parts[0], indexed)
    with sqlite3.connect(indexed) as database:
        table, = [name for name in tables(indexed) if name.startswith("rocpd_kernel_dispatch_")]
        database.execute("CREATE INDEX i ON \"%s\"(start)" % table)
    for words, files in (((), parts), (("-f", "html", "-o", "modelled"), parts), (("-f", "otf2", "-o", "modelled"), parts),
                         (("-o", "by_rows"), [indexed, *parts[1:]])):
        said = job.run("merge", *words, *files)[0] if words else out
        column = said.splitlines()[0].split("  ")
        column = [name.strip() for name in column if name.strip()].index("modelled ms")
        checks.equal("%s: modelled times: %s" % (words, said), [float(line.split()[column]) for line in said.splitlines()[1:4]],
                     [ns / 1e6 for ns in sums])
        checks.true("%s: who did more (%s): %s" % (words, note, said), note in said)
    said = job.run("merge", "-o", "two", parts[0], parts[2])[0]
    checks.true("who has no recording: " + said, "no recording of rank 1 of 3:" in said)


def check_ranks(checks, job, part):
    """A rank is the first that says how many there are, as in names of files, else the first."""
    path = os.path.join(job.directory, "ranked.db")
    shutil.copy(part, path)
    table, = [name for name in tables(path) if name.startswith("rocpd_info_process_")]
    whole = {"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}
    own = {"ROCPROF_MPI_RANK_VAR": "MINE", "ROCPROF_MPI_SIZE_VAR": "ALL", "MINE": "3"}
    for environment, rank in ((whole, "1"), ({"PMI_RANK": "2", **whole}, "1"), ({"PMI_RANK": "2", "PMI_SIZE": "4", **whole}, "2"),
                              ({"PMI_RANK": "-1", "PMI_SIZE": "4", **whole}, "1"), ({"PMIX_RANK": "4294967295", **whole}, "1"),
                              ({"PMI_RANK": "2"}, "2"), ({**own, **whole}, "1"), ({**own, "ALL": "4", **whole}, "3")):
        with sqlite3.connect(path) as database:
            database.execute('UPDATE "%s" SET environment = ?' % table, (json.dumps(environment),))
        said = job.run("merge", "-f", "html", "-o", "ranked", path)[0]
        checks.equal("rank of %s" % environment, said.splitlines()[1].split()[0], rank)


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
    checks.equal("nobody is missing", [line for line in out.splitlines() if "no recording" in line], [])
    check_modelled(checks, job, parts, out)
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
    job.run("convert", "-f", "rocpd", "-o", "again", "-d", "converted", *parts)
    again = os.path.join(job.directory, "converted", "again_results.db")
    checks.equal("one database of all", len(query(again, "SELECT * FROM processes")), 3)
    checks.equal("with their kernels", len(query(again, "SELECT 1 FROM kernels")), len(query(whole, "SELECT 1 FROM kernels")))
    job.run("convert", "-f", "csv,rocpd", "-o", "both", "-d", "converted", *parts, status=2)
    return whole


def check_many(checks, job, part):
    """So many small ones that the later ones are not copied by pages: each has all of its own."""
    suffix = tables(part)[0][-36:] # the guid
    with open(part, "rb") as file:
        content = file.read()
    many = []
    for number in range(16):
        guid = str(uuid.UUID(int=0x1234 + number))
        many.append(os.path.join(job.directory, "many%d.db" % number))
        with open(many[-1], "wb") as file:
            file.write(content.replace(suffix.encode(), guid.replace("-", "_").encode())
                       .replace(suffix.replace("_", "-").encode(), guid.encode()))
    job.run("merge", "-o", "many", *many)
    whole = os.path.join(job.directory, "many.db")
    checks.equal("many: integrity", query(whole, "PRAGMA integrity_check"), [("ok",)])
    made = {name: query(whole, 'SELECT * FROM "%s"' % name) for name in tables(whole)}
    for one in many:
        for name in tables(one):
            checks.equal("many: " + name, made.pop(name, None), query(one, 'SELECT * FROM "%s"' % name))
    checks.equal("many: nothing else", made, {})
    sequences = sorted(row for one in many for row in query(one, "SELECT name, seq FROM sqlite_sequence WHERE seq > 0"))
    checks.equal("many: ids that were given", sorted(query(whole, "SELECT name, seq FROM sqlite_sequence WHERE seq > 0")), sequences)


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
        database.execute("UPDATE \"%s\" SET value = '4.0.0' WHERE tag = 'schema_version'" % table)
    for name in ("empty.db", "text.db", "foreign.db"):
        open(os.path.join(job.directory, name), "wb").close()
    with open(os.path.join(job.directory, "text.db"), "w", encoding="utf-8") as file:
        file.write("no database\n" * 100)
    with sqlite3.connect(os.path.join(job.directory, "foreign.db")) as database:
        database.execute("CREATE TABLE somebody (elses)")
    far = os.path.join(job.directory, "far.db")
    shutil.copy(parts[2], far)
    with sqlite3.connect(far) as database:
        table, = [name for name in tables(far) if name.startswith("rocpd_kernel_dispatch_")]
        database.execute("UPDATE \"%s\" SET \"end\" = 9223372036854775807" % table)
    job.run("merge", "-f", "html", "-o", "far", *parts[:2], far)
    strangers = ["empty.db", "text.db", "foreign.db"]
    for made in ("otf2", "html"):
        said = job.run("merge", "-f", made, "-o", made, "missing.db", *strangers, *parts, broken, status=1)[1]
        for name in ("missing.db", *strangers, "broken.db"):
            checks.true("%s names %s: %s" % (made, name, said), name in said)
        checks.true("the rest is there", os.path.exists(os.path.join(job.directory, "%s_results.%s" % (made, made))))
        job.run("merge", "-f", made, "-o", "of_none", *strangers, status=1)
        checks.equal("nothing of nothing", glob.glob(os.path.join(job.directory, "of_none*")), [])
    _, said = job.run("merge", "-o", "rest", parts[0], "missing.db", broken, *strangers, parts[0], old, parts[1], status=1)
    for name in ("missing.db", "broken.db", "old.db", *strangers):
        checks.true("%s is named: %s" % (name, said), name in said)
    checks.true("twice is once: " + said, "there already" in said and "2 of 9 recordings" in said)
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


def check_json(checks, job, parts, merged):
    """An element for each process, whose numbers of kernels and dispatches are its own."""
    job.run("convert", "-f", "json", "-o", "files", "-d", "json", *parts)
    job.run("convert", "-f", "json", "-o", "merged", "-d", "json", merged)
    sql = "SELECT K.name, C.value FROM counters_collection C JOIN kernels K ON K.dispatch_id = C.dispatch_id ORDER BY C.dispatch_id"
    wanted = {query(part, "SELECT pid FROM processes")[0][0]: query(part, sql) for part in parts}
    for name in ("files", "merged"):
        with open(os.path.join(job.directory, "json", name + "_results.json"), encoding="utf-8") as file:
            tools = json.load(file)["rocprofiler-sdk-tool"]
        found = {}
        for tool in tools:
            counted = tool["callback_records"]["counter_collection"]
            kernels = [tool["kernel_symbols"][c["dispatch_data"]["dispatch_info"]["kernel_id"]]["formatted_kernel_name"] for c in counted]
            found[tool["metadata"]["pid"]] = [(k, r["value"]) for k, c in zip(kernels, counted) for r in c["records"]]
            sums = {s["domain"]: s["stats"]["count"] for s in tool["summary"]}
            checks.equal("%s, summary" % name, sums["KERNEL_DISPATCH"], len(tool["buffer_records"]["kernel_dispatch"]))
        checks.equal("%s, counters of each process" % name, found, wanted)


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
    check_json(checks, job, parts, m)
    rows = json.loads(rocpd("summary", "-f", "json", "-i", m)[0])
    checks.equal("summary", sum(row["calls"] for row in rows if row["domain"] == "KERNEL_DISPATCH"), kernels)
    by_rank = json.loads(rocpd("summary", "--summary-by-rank", "-f", "json", "-i", m)[0])
    checks.equal("by rank", len({row["pid"] for row in by_rank}), 3)
    for words, says in (([], "which command"), (["mege"], "did you mean merge"), (["merge"], "which databases"),
                        (["query", "-i", m], "query: which?"), (["summary", "-f", "pdf", "-i", m], "pdf is not written"),
                        (["convert", "-i", m], "which format")):
        checks.true("%r says %r" % (words, says), says in rocpd(*words, status=2)[1])
    checks.true("help", "package" in rocpd("--help")[0])


def check_wrappers(checks, job, parts):
    """rocpd2csv and so on are rocpd's commands; formats and options that are not ours say what to do instead."""
    wrapper = lambda name, *words, **more: job.run(*words, program=os.path.join(os.path.dirname(job.crocprof), name), **more)  # noqa: E731
    wrapper("rocpd2csv", parts[1], "-o", "c", "-d", "wrapped")
    wrapper("rocpd2pftrace", "-i", parts[1], "-o", "p", "-d", "wrapped")
    wrapper("rocpd2otf2", "-i", parts[1], "-o", "t", "-d", "wrapped")
    for name in ("c_kernel_trace.csv", "p_results.pftrace", "t_results.otf2"):
        checks.true(name, os.path.exists(os.path.join(job.directory, "wrapped", name)))
    checks.true("a summary", "KERNEL_DISPATCH" in wrapper("rocpd2summary", "-i", parts[1])[0])
    rocpd = lambda *words, **more: job.run(*words, program=job.rocpd, **more)  # noqa: E731
    rocpd("query", "--query", "SELECT name FROM kernels", "-f", "dashboard", "-o", "board", "-d", "wrapped", "-i", parts[1])
    with open(os.path.join(job.directory, "wrapped", "board.html"), encoding="utf-8") as file:
        checks.true("a page with a table", "<table" in file.read())
    ask = ["query", "--query", "SELECT 1", "-i", parts[1]]
    for words, says in (([*ask, "-f", "pdf"], "pdf is not written: write html"), ([*ask, "-f", "clipboard"], "clipboard is not written: write csv"),
                        ([*ask, "--email-to", "a@b.c"], "sends no mail"), ([*ask, "--smtp-port", "25"], "sends no mail"),
                        ([*ask, "--template-path", "t"], "reads no templates"),
                        (["convert", "-f", "csv", "-i", parts[1], "--automerge-limit", "9"], "from 1 to 8"),
                        (["convert", "-f", "csv", "-i", parts[1], "--inclusive", "maybe"], "neither true nor false"),
                        (["convert", "-f", "csv", "-i", parts[1], "--start", "1", "--start-marker", "x"], "one of --start and"),
                        (["convert", "-f", "csv", "-i", parts[1], "--start-marker", "x", "-o", "none"], "there is no marker x")):
        checks.true("%r says %r" % (words, says), says in rocpd(*words, status=2)[1])
    rocpd("convert", "-f", "csv", "-i", parts[1], "--automerge-limit", "8", "-o", "limit", "-d", "wrapped")


def check_window(checks, job, parts):
    """What overlaps a window, and what lies within: the rows that SQL finds."""
    begin, end = query(parts[0], "SELECT min(start), max(\"end\") FROM kernels")[0]
    middle = query(parts[0], "SELECT start + (\"end\" - start) / 2 FROM kernels ORDER BY start LIMIT 1 OFFSET 20")[0][0]
    for name, inclusive, sql in (("overlap", "true", "\"end\" >= %d AND start <= %d"), ("within", "false", "start >= %d AND \"end\" <= %d")):
        job.run("convert", "-f", "csv", "-i", parts[0], "--start", str(middle), "--end", str(end), "--inclusive", inclusive, "-o", name,
                "-d", "window", program=job.rocpd)
        wanted = query(parts[0], "SELECT count(*) FROM kernels WHERE " + sql % (middle, end))[0][0]
        with open(os.path.join(job.directory, "window", name + "_kernel_trace.csv"), encoding="utf-8") as file:
            checks.equal(name, len(list(csv.DictReader(file))), wanted)
    checks.true("a kernel runs in the middle", begin < middle < end)


def check_questions(checks, job, parts):
    """Every view can be asked, of one recording and of several; in a window, both have the rows that SQL finds."""
    rocpd = lambda *words, **more: job.run(*words, program=job.rocpd, **more)  # noqa: E731
    for view, in query(parts[0], "SELECT name FROM sqlite_master WHERE type = 'view'"):
        each = [query(part, 'SELECT count(*) FROM "%s"' % view)[0][0] for part in parts[:2]]
        if view not in ("busy", "top", "top_kernels"):  # those that are sums have no sum
            ask = ["query", "--query", 'SELECT * FROM "%s"' % view, "-f", "json", "-i"]
            checks.equal(view, [len(json.loads(rocpd(*ask, part)[0])) for part in parts[:2]], each)
            checks.equal(view + " of two", len(json.loads(rocpd(*ask, *parts[:2])[0])), sum(each))
    first, last = query(parts[0], """SELECT min(a), max(b) FROM (SELECT min(start) a, max("end") b FROM rocpd_region UNION ALL
        SELECT min(start), max("end") FROM rocpd_kernel_dispatch UNION ALL SELECT min(start), max("end") FROM rocpd_memory_copy UNION ALL
        SELECT min(start), max("end") FROM rocpd_memory_allocate UNION ALL SELECT min(timestamp), max(timestamp) FROM rocpd_sample)""")[0]
    half, (begin, end) = first + (last - first) // 2, query(parts[0], 'SELECT start, "end" FROM kernels ORDER BY start LIMIT 1 OFFSET 20')[0]
    for words, where in ((["--start", "50%"], '"end" >= %d' % half), (["--end", "50%"], "start <= %d" % half),
                         (["--start", str(end), "--end", str(last)], '"end" >= %d' % end),
                         (["--start", str(begin), "--end", str(end), "--inclusive", "false"], 'start >= %d AND "end" <= %d' % (begin, end)),
                         (["--end", "0"], "0")):
        for view in ("kernels", "regions", "memory_copies", "counters_collection"):
            out = rocpd("query", "--query", "SELECT count(*) AS n FROM " + view, "-f", "csv", "-i", parts[0], *words)[0]
            checks.equal("%s in %r" % (view, words), out.split()[1], str(query(parts[0], "SELECT count(*) FROM %s WHERE %s" % (view, where))[0][0]))
        rows = json.loads(rocpd("summary", "-f", "json", "-i", parts[0], *words)[0])
        checks.equal("summary in %r" % words, sum(row["calls"] for row in rows if row["domain"] == "KERNEL_DISPATCH"),
                     query(parts[0], "SELECT count(*) FROM kernels WHERE " + where)[0][0])
    out = job.run("query", "-q", "SELECT count(*) AS n FROM kernels", "-f", "csv", "--begin", str(end), parts[0])[0]
    checks.equal("crocprof query", out.split()[1], str(query(parts[0], 'SELECT count(*) FROM kernels WHERE "end" >= %d' % end)[0][0]))
    for words, says in ((["--start", "x"], "neither nanoseconds nor"), (["--start", "9", "--end", "8"], "the end comes before"),
                        (["--start-marker", "x"], "there is no marker x"), (["--end", "1", "--end-marker", "x"], "one of --end and")):
        for command in (["query", "--query", "SELECT 1"], ["summary"]):
            checks.true("%r says %r" % (words, says), says in rocpd(*command, "-i", parts[0], *words, status=2)[1])
    before = query(parts[1], "SELECT count(*) FROM kernels")
    table, = [name for name in tables(parts[1]) if "kernel_dispatch" in name]
    for inputs in (parts[1:2], parts[:2]):  # nothing that is asked changes a recording
        rocpd("query", "--query", 'DELETE FROM "%s"' % table, "-i", *inputs, status=1)
    checks.equal("recordings stay", query(parts[1], "SELECT count(*) FROM kernels"), before)


def check_summary(checks, job, parts):
    """Domains by name, kernels' names, and options that change nothing."""
    rocpd = lambda *words, **more: job.run(*words, program=job.rocpd, **more)  # noqa: E731
    domains = lambda *words: {row["domain"] for row in json.loads(rocpd("summary", "-f", "json", "-i", parts[0], *words)[0])}  # noqa: E731
    everything = domains()
    hip = {name for name in everything if name.startswith("HIP_")}
    copies = {"MEMORY_COPY"} & everything
    checks.true("HIP's and others: %r" % everything, hip and everything > hip | {"KERNEL_DISPATCH"})
    for words, wanted in ((["HIP"], hip), (["hip", "kernel"], hip | {"KERNEL_DISPATCH"}), (["kernels"], {"KERNEL_DISPATCH"}),
                          (["NONE"], {"KERNEL_DISPATCH"} | copies), (["memory_copies"], copies), (["HI"], set()), (["'"], set())):
        checks.equal("domains of %r" % words, domains("--region-categories", *words), wanted)
    for option, column in (("--mangled-kernels", "kernel_name"), ("--truncate-kernels", "truncated_kernel_name")):
        rows = json.loads(rocpd("summary", "-f", "json", "-i", parts[0], option, "--region-categories", "kernel")[0])
        checks.equal(option, {row["name"] for row in rows},
                     {name for name, in query(parts[0], "SELECT %s FROM kernel_symbols S JOIN kernels K ON K.kernel_id = S.id" % column)})
    said = rocpd("convert", "-f", "pftrace", "-i", parts[1], "-o", "moot", "-d", "rocpd", "--group-by-queue", "--perfetto-backend", "inprocess",
                 "--perfetto-buffer-fill-policy", "ring_buffer", "--perfetto-buffer-size", "4096", "--perfetto-shmem-size-hint", "64")[1]
    checks.equal("each is answered: " + said, said.count("changes nothing"), 5)
    for words, says in ((["--perfetto-buffer-size", "0"], "from 1 to"), (["--perfetto-backend", "system"], "inprocess")):
        checks.true("%r says %r" % (words, says), says in rocpd("convert", "-f", "pftrace", "-i", parts[1], *words, status=2)[1])


def check_markers(checks, job, programs):
    """A window from one marker to another."""
    path = os.path.join(job.directory, "marked")
    subprocess.run([job.crocprof, "-d", path, "-f", "rocpd", "--no-summary", "--", os.path.join(programs, "markers")], capture_output=True,
                   timeout=120, check=True)
    database, = glob.glob(os.path.join(path, "*_results.db"))
    times = {}
    for text, start in query(database, "SELECT json_extract(extdata, '$.message'), start FROM regions_and_samples WHERE category LIKE 'MARKER%'"):
        times.setdefault(text, []).append(start)
    once = sorted((starts[0], text) for text, starts in times.items() if len(starts) == 1 and text)
    (begin, first), (end, last) = once[0], once[-1]
    checks.true("two markers: %r" % once, begin < end)
    job.run("convert", "-f", "csv", "-i", database, "--start-marker", first, "--end-marker", last, "-o", "m", "-d", "marked_window", program=job.rocpd)
    wanted = query(database, "SELECT count(*) FROM kernels WHERE \"end\" >= %d AND start <= %d" % (begin, end))[0][0]
    found = os.path.join(job.directory, "marked_window", "m_kernel_trace.csv")
    rows = list(csv.DictReader(open(found, encoding="utf-8"))) if os.path.exists(found) else []
    checks.equal("kernels between the markers", len(rows), wanted)
    twice = [text for text, starts in times.items() if len(starts) > 1 and text]
    if twice:
        said = job.run("convert", "-f", "csv", "-i", database, "--start-marker", twice[0], "-o", "t", program=job.rocpd, status=2)[1]
        checks.true("which one? %r" % said, " times" in said)


def main():
    checks = Checks()
    directory = tempfile.mkdtemp(suffix="-größe 50%")
    try:
        job = Job(os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), directory, checks)
        parts = [job.record(2, 60), job.record(1, 3), job.record(0, 3)]
        check_ranks(checks, job, parts[0])
        check_whole(checks, job, parts)
        check_many(checks, job, parts[2])
        check_clocks(checks, job, parts)
        check_broken(checks, job, parts)
        check_archive(checks, job, parts)
        check_rocpd(checks, job, parts)
        check_wrappers(checks, job, parts)
        check_window(checks, job, parts)
        check_questions(checks, job, parts)
        check_summary(checks, job, parts)
        check_markers(checks, job, os.path.abspath(sys.argv[2]))
    finally:
        shutil.rmtree(directory)
    checks.exit()


if __name__ == "__main__":
    main()
