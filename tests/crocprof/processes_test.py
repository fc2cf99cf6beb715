"""Processes that fork, exec, and have numbers that others have: each has files of its own, with all of
its own and nothing of another's.

    processes_test.py CROCPROF PROGRAMS FULL_DISK
"""
import glob
import os
import re
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys

from crocprof_run import Checks, Profile

CALLS, STATUS = 20000, 23
CHILD_ENDS = {"exit": STATUS, "_exit": STATUS, "quick_exit": STATUS, "abort": -signal.SIGABRT,
              "term": -signal.SIGTERM, "exec": 0}
EXECS = ["execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat",
         "handler"]


# Rows of the CSV files: rows of the database
COUNTED = {"kernel_trace": "kernels", "memory_copy_trace": "memory_copies",
           "hip_api_trace": "regions_and_samples WHERE category LIKE 'HIP_%'",
           "hsa_api_trace": "regions_and_samples WHERE category LIKE 'HSA_%'",
           "marker_api_trace": "regions_and_samples WHERE category LIKE 'MARKER_%'",
           "memory_allocation_trace": "memory_allocations", "counter_collection": "counters_collection"}


def sets(profile):
    """{"PID" or "PID-2": number of rows by table}, the database's and the CSV files' being equal."""
    found = {}
    for path in glob.glob(profile.directory + "/*_results.db"):
        name = os.path.basename(path)[:-len("_results.db")]
        with sqlite3.connect(path) as database:
            counts = {t: database.execute("SELECT count(*) FROM " + of).fetchone()[0]
                      for t, of in COUNTED.items()}
        for table, count in counts.items():
            csv = os.path.join(profile.directory, "%s_%s.csv" % (name, table))
            with open(csv, encoding="utf-8") if os.path.exists(csv) else open(os.devnull) as lines:
                rows = max(0, sum(1 for _ in lines) - 1)
            assert rows == count, (path, table, rows, count)
        found[name] = {t: c for t, c in counts.items() if c}
    return found


def calls_of(profile, function, table="hip_api_trace"):
    """{process id in the rows: its calls}, and no row that is broken or there twice."""
    counts, seen = {}, set()
    for row in profile.rows(table):
        key = (row["Process_Id"], row["Correlation_Id"])
        assert None not in row.values() and key not in seen, row
        seen.add(key)
        if row["Function"] == function:
            counts[int(row["Process_Id"])] = counts.get(int(row["Process_Id"]), 0) + 1
    return counts


def check_fork(checks, crocprof, program):
    for way, status in CHILD_ENDS.items():
        with Profile(crocprof, ["--no-summary"],
                     [program, "fork", str(CALLS), str(CALLS), way]) as p:
            what = "child that ends by " + way
            parent, child = map(int, re.search(r"parent (\d+) child (\d+)", p.result.stdout).groups())
            checks.equal(what + ": status", p.status, 0)
            checks.true("%s: its status: %s" % (what, p.result.stdout),
                        "status %d\n" % status in p.result.stdout)
            checks.equal(what + ": calls", calls_of(p, "hipPeekAtLastError"),
                         {parent: CALLS, child: CALLS})
            checks.equal(what + ": files", sorted(sets(p)), sorted([str(parent), str(child)]))


def check_idle_child(checks, crocprof, program):
    """A child that traces nothing leaves no files and no tables."""
    with Profile(crocprof, [], [program, "fork", "10", "0", "exit"]) as p:
        checks.equal("idle child: files", len(sets(p)), 1)
        checks.equal("idle child: tables", p.stderr.count("HIP function"), 1)


def check_before(checks, crocprof, program):
    """Children that start HIP themselves, as Python's multiprocessing has them."""
    with Profile(crocprof, ["-e", "SQ_WAVES"], [program, "before", "3", "4"]) as p:
        checks.equal("children with GPUs: status", p.status, 0)
        rows = {n: (t["kernel_trace"], t["counter_collection"]) for n, t in sets(p).items()}
        checks.equal("children with GPUs: kernels and counters", list(rows.values()), 4 * [(4, 4)])
        checks.equal("children with GPUs: tables", p.stderr.count(" kernel\n"), 8)


def check_whole(checks, crocprof, program):
    """Each process's tables are one write, so that those of others do not come between them."""
    with Profile(crocprof, [], ["true"]) as base:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) # a packet is a write
        running = subprocess.Popen([crocprof, "-d", base.directory, program, "before", "3", "4"],
                                   stdout=subprocess.DEVNULL, stderr=theirs)
        theirs.close()
        writes = list(iter(lambda: ours.recv(1 << 20).decode(), ""))
        ours.close()
        checks.equal("whole tables: status", running.wait(timeout=120), 0)
        tables = [w for w in writes if " kernel\n" in w]
        checks.equal("whole tables: writes", len(tables), 4)
        checks.true("whole tables: %r" % writes, all(
            w.startswith("\nprocess ") and w.endswith("\n") and "HIP function\n" in w for w in tables))
        checks.equal("whole tables: nothing beside them", [w for w in writes if "calls " in w], tables)


def check_storm(checks, crocprof, program):
    """Children that come while other threads record and the delivery thread writes; half of them are
    killed by a signal."""
    with Profile(crocprof, ["--no-summary", "--no-hip-trace", "--hsa-trace"],
                 [program, "storm", "3", "30", "50"]) as p:
        parent, made = map(int, re.search(r"parent (\d+) made (\d+)", p.result.stdout).groups())
        counts = calls_of(p, "hsa_system_get_info", "hsa_api_trace")
        checks.equal("storm: status", p.status, 0)
        checks.true("storm: the parent's: %d of %d" % (counts[parent], made),
                    made <= counts.pop(parent) < made + 10) # HIP makes some itself
        checks.equal("storm: the children's", sorted(counts.values()), 30 * [50])
        checks.equal("storm: files", len(sets(p)), 31)


def check_daemon(checks, crocprof, program):
    """Its parent ends inside of the C library."""
    with Profile(crocprof, ["--no-summary"], [program, "daemon", "1000", "300"]) as p:
        checks.equal("daemon: status", p.status, 0)
        checks.equal("daemon: calls", sorted(calls_of(p, "hipPeekAtLastError").values()), [300, 1000])


def check_raw(checks, crocprof, program):
    """A child that fork()'s handlers know nothing of: nothing of it, and no waiting."""
    with Profile(crocprof, ["--no-summary"], [program, "raw", "200000"]) as p:
        checks.equal("raw child: status", p.status, 0)
        checks.equal("raw child: the parent's calls", list(calls_of(p, "hipPeekAtLastError").values()),
                     [10])
        checks.true("raw child: said: " + p.stderr, "not made by fork()" in p.stderr)


def check_exec(checks, crocprof, program, other):
    for how in EXECS:
        with Profile(crocprof, ["--no-summary"], [program, "exec", how, "6", "/bin/true"]) as p:
            checks.equal(how + ": status", p.status, 0)
            checks.equal(how + ": kernels", [t["kernel_trace"] for t in sets(p).values()], [6])
    with Profile(crocprof, [], [program, "exec", "execvp", "6", other, "37", "5", "return"]) as p:
        found = sets(p)
        first, second = sorted(found, key=len)
        checks.equal("exec: status", p.status, STATUS)
        checks.equal("exec: names", second, first + "-2")
        checks.equal("exec: kernels", [found[n]["kernel_trace"] for n in (first, second)], [6, 37])
        checks.equal("exec: tables of both", p.stderr.count(" kernel\n"), 2)


def check_exec_that_fails(checks, crocprof, program):
    """Nothing is lost and nothing doubled, whether the failure could be foreseen or not."""
    for what, file, parts in (("no such file", "/nonexistent", [12]),
                              ("no program", os.path.abspath(__file__) + ".not", [6, 6])):
        with Profile(crocprof, [], ["true"]) as base:
            if parts != [12]:
                file = os.path.join(base.directory, "garbage")
                with open(file, "w", encoding="utf-8") as f:
                    f.write("garbage")
                os.chmod(file, 0o755)
            with Profile(crocprof, ["--no-summary"], [program, "exec_fails", "execve", "6", file]) as p:
                checks.equal(what + ": status", p.status, STATUS)
                checks.equal(what + ": kernels", [t["kernel_trace"] for t in sets(p).values()], parts)
    with Profile(crocprof, ["--no-summary"], [program, "vfork", "6", "/bin/true"]) as p:
        checks.equal("vfork: kernels", [t["kernel_trace"] for t in sets(p).values()], [12])


def check_taken_names(checks, crocprof, other):
    """Files, and links, that are there when a process comes to report: exec keeps the shell's number."""
    with Profile(crocprof, [], ["true"]) as p:
        directory = os.path.join(p.directory, "out")
        os.mkdir(directory)
        script = ('echo old > "$0/$$_kernel_trace.csv"; ln -s "$0/target" "$0/$$-2_results.db";'
                  'exec "$@"')
        done = subprocess.run([crocprof, "-d", directory, "sh", "-c", script, directory, other, "3", "2",
                               "return"], capture_output=True, text=True, timeout=120)
        checks.equal("taken names: status", done.returncode, STATUS)
        files = sorted(os.listdir(directory))
        pid = files[0].split("-")[0].split("_")[0]
        with open(os.path.join(directory, pid + "_kernel_trace.csv"), encoding="utf-8") as f:
            checks.equal("taken names: the old file", f.read(), "old\n")
        checks.true("taken names: no link is followed", "target" not in files)
        checks.true("taken names: %r" % files, pid + "-3_kernel_trace.csv" in files and
                    pid + "-3_results.db" in files)


def check_containers(checks, crocprof, other):
    """Processes that all have the number 2, behind crocprof, at once."""
    unshare = ["unshare", "--fork", "--pid"]
    if not shutil.which("unshare") or subprocess.run(unshare + ["true"], capture_output=True).returncode:
        print("no pid namespaces here: two processes with one number are tested by files alone")
        return
    with Profile(crocprof, [], ["true"]) as p:
        running = [subprocess.Popen([*unshare, crocprof, "--no-summary", "-d", p.directory, other,
                                     "37", "5", "return"], stderr=subprocess.DEVNULL)
                   for _ in range(3)]
        checks.equal("containers: status", [r.wait(timeout=200) for r in running], 3 * [STATUS])
        found = sets(p)
        checks.equal("containers: names", sorted(found), ["2", "2-2", "2-3"])
        checks.equal("containers: kernels", [t["kernel_trace"] for t in found.values()], 3 * [37])


def lines_of(stderr):
    return [line for line in stderr.splitlines() if line.startswith("crocprof: ") and "no GPU" not in line
            and not line.startswith("crocprof: files: ")]


def check_full_disk(checks, crocprof, program, other, full_disk):
    """One line for each format, and the program's own status."""
    for what, command, status, reports in (
            ("at the end", [other, "3", "2", "return"], STATUS, 1),
            ("at _exit", [other, "3", "2", "_exit"], STATUS, 1),
            ("at a signal", [other, "3", "2", "term"], -signal.SIGTERM, 1),
            ("at an exec", [program, "exec", "execv", "6", "/bin/true"], 0, 1),
            ("in a child, too", [program, "fork", "10", "10", "_exit"], 0, 2)):
        formats = (("csv", "No space left"), ("rocpd", "full"), ("pftrace", "No space left"),
                   ("json", "No space left"), ("otf2", "No space left"), ("html", "No space left"))
        for name, words in formats if reports == 2 else formats[:1]:
            with Profile(crocprof, [], ["true"]) as base:
                env = dict(os.environ, LD_PRELOAD=full_disk, FULL_DISK=base.directory)
                done = subprocess.run([crocprof, "--no-summary", "-f", name, "-d", base.directory,
                                       *command], capture_output=True, text=True, timeout=120, env=env)
                lines = lines_of(done.stderr)
                checks.equal("full disk %s, %s: status" % (what, name), done.returncode, status)
                checks.equal("full disk %s, %s: %r" % (what, name, done.stderr), len(lines), reports)
                checks.true("full disk %s, %s: %r" % (what, name, lines),
                            all(words in line for line in lines))


def check_closed_pipe(checks, crocprof, other):
    """Nobody reads what we say: that ends no program."""
    for way, status in (("return", STATUS), ("_exit", STATUS), ("term", -signal.SIGTERM)):
        reader, writer = os.pipe()
        os.close(reader)
        # Python ignores SIGPIPE, and its children inherit that
        done = subprocess.run([crocprof, other, "3", "2", way], stdout=subprocess.DEVNULL, stderr=writer,
                              timeout=120, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        os.close(writer)
        checks.equal("closed pipe, %s: status" % way, done.returncode, status)


def check_lost_directory(checks, crocprof, program):
    """A file where the directory was when a child wants to write to it."""
    with Profile(crocprof, [], ["true"]) as base:
        directory = os.path.join(base.directory, "gone")
        done = subprocess.run([crocprof, "--no-summary", "-f", "csv", "-d", directory, "sh", "-c",
                               'rmdir "$1"; : >"$1"; exec "$0" fork 10 10 exit', program, directory],
                              capture_output=True, text=True, timeout=120)
        checks.equal("lost directory: status", done.returncode, 0)
        checks.equal("lost directory: %r" % done.stderr, len(lines_of(done.stderr)), 2)


def main():
    crocprof, programs, full_disk = sys.argv[1:4]
    program, other = os.path.join(programs, "processes"), os.path.join(programs, "endings")
    checks = Checks()
    check_fork(checks, crocprof, program)
    check_idle_child(checks, crocprof, program)
    check_before(checks, crocprof, program)
    check_whole(checks, crocprof, program)
    check_storm(checks, crocprof, program)
    check_daemon(checks, crocprof, program)
    check_raw(checks, crocprof, program)
    check_exec(checks, crocprof, program, other)
    check_exec_that_fails(checks, crocprof, program)
    check_taken_names(checks, crocprof, other)
    check_containers(checks, crocprof, other)
    check_full_disk(checks, crocprof, program, other, full_disk)
    check_closed_pipe(checks, crocprof, other)
    check_lost_directory(checks, crocprof, program)
    checks.exit()


if __name__ == "__main__":
    main()
