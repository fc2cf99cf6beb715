"""Ranks of an MPI job, processes that wait for each other, Kokkos' tools, nested regions, benchmark modes.

    jobs_test.py CROCPROF PROGRAMS

Ranks are processes of Open MPI's mpirun where that is installed, and otherwise none is tested that way. Which files
there must be follows from the arguments.
"""
import csv
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks, Profile

CROCPROF, PROGRAMS = sys.argv[1:]
PROGRAM = os.path.join(PROGRAMS, "kokkos_like")
ROOT = ["--allow-run-as-root"] if os.getuid() == 0 else []
MPIRUN = shutil.which("mpirun")
LAUNCHES = 5  # and six in a pause
HOLDER = """
import fcntl, os, sys
file = open(sys.argv[1] + "/crocprof-siblings-%d-%d" % (os.getuid(), os.getppid()), "w")
fcntl.flock(file, fcntl.LOCK_SH)
print("held", flush=True)
sys.stdin.read()
"""
checks = Checks()


def run(words, directory=None, **variables):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, cwd=directory,
                          env=dict(os.environ, **variables))


def names(directory):
    return sorted(os.path.relpath(f, directory) for f in glob.glob(directory + "/**/*.csv", recursive=True)
                  if f.endswith("kernel_trace.csv"))


def kernels_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return [row["Kernel_Name"] for row in csv.DictReader(file) if "fill" not in row["Kernel_Name"]]


def ranks_by_mpirun():
    """In both orders: the profiler in each rank, and the launcher in the profiler."""
    mpirun = [MPIRUN, *ROOT, "--oversubscribe", "-np", "2"]
    options = ["-f", "csv", "--no-summary", "-d", "out", "-o", "r%rank%of%size%"]
    for what, words in (("inside", [*mpirun, CROCPROF, *options, PROGRAM]),
                        ("outside", [CROCPROF, *options, *mpirun, PROGRAM])):
        with tempfile.TemporaryDirectory() as d:
            done = run(words, d)
            checks.equal(f"mpirun {what}: status {done.stderr}", done.returncode, 0)
            ranks = [n for n in names(d) if "of2" in n]
            checks.equal(f"mpirun {what}: files", ranks, [f"out/r{n}of2_kernel_trace.csv" for n in (0, 1)])
            checks.equal(f"mpirun {what}: launches", [len(kernels_of(os.path.join(d, n))) for n in ranks],
                         2 * [LAUNCHES])
    with tempfile.TemporaryDirectory() as d:
        done = run([*mpirun, CROCPROF, *options, "--profile-mpi-ranks", "1-3", PROGRAM], d)
        checks.equal("one rank: status", done.returncode, 0)
        checks.equal("one rank: programs", done.stdout.count("kokkos_like: ok"), 2)
        checks.equal("one rank: files", names(d), ["out/r1of2_kernel_trace.csv"])


def ranks_by_variables():
    """As Slurm and MPICH start them, and a launcher that nobody knows."""
    options = ["-f", "csv", "--no-summary", "-d", ".", "-o", "r%r", "--profile-mpi-ranks", "2,4-5"]
    own = ["--mpi-world-rank-variable", "MY_RANK", "--mpi-world-size-variable", "MY_SIZE"]
    for pair, more in ((("SLURM_PROCID", "SLURM_NTASKS"), []), (("PMI_RANK", "PMI_SIZE"), []),
                       (("MY_RANK", "MY_SIZE"), own)):
        with tempfile.TemporaryDirectory() as d:
            for rank in (1, 2):
                done = run([CROCPROF, *options, *more, PROGRAM], d, **{pair[0]: str(rank), pair[1]: "8"})
                checks.equal(f"{pair[0]} {rank}: status", done.returncode, 0)
                checks.equal(f"{pair[0]} {rank}: why there is nothing: {done.stderr}", rank == 1,
                             "rank 1 is none of --profile-mpi-ranks 2,4-5" in done.stderr and "no GPU call" not in done.stderr)
            checks.equal(f"{pair[0]}: files", names(d), ["r2_kernel_trace.csv"])


def refused():
    for words, why in ((["--profile-mpi-ranks", "3-1"], "no list of ranks"),
                       (["--profile-mpi-ranks", "all"], "no list of ranks"),
                       (["--mpi-world-rank-variable", "X"], "only of use together"),
                       (["--benchmark-mode", "fast"], "none of")):
        done = run([CROCPROF, *words, PROGRAM])
        checks.equal(f"{words}", (done.returncode, why in done.stderr), (2, True))


def processes_that_wait():
    """Two of one parent: the first to finish ends only when the other, which sleeps, has written its files."""
    script = f"""
'{PROGRAM}' >/dev/null; date +%s%N >first &
(sleep 1; exec '{PROGRAM}' >/dev/null) &
wait
"""
    with tempfile.TemporaryDirectory() as d:
        done = run([CROCPROF, "--process-sync", "-f", "csv", "--no-summary", "-d", "out", "sh", "-c", script], d,
                   TMPDIR=d)
        checks.equal("process-sync: status", done.returncode, 0)
        checks.equal("process-sync: files", len(names(d)), 2)
        checks.equal("process-sync: nothing stays", glob.glob(d + "/crocprof-*"), [])


def siblings_really_wait():
    """The one without anything to wait for holds the lock: the other must still be there after its work."""
    with tempfile.TemporaryDirectory() as d:
        holder = subprocess.Popen([sys.executable, "-c", HOLDER, d], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  text=True)
        checks.equal("sibling: lock", holder.stdout.readline(), "held\n")
        program = subprocess.Popen([CROCPROF, "--process-sync", "-f", "csv", "--no-summary", "-d", d + "/out", PROGRAM],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   env=dict(os.environ, TMPDIR=d))
        while not names(d) or len(kernels_of(os.path.join(d, names(d)[0]))) < LAUNCHES:
            time.sleep(0.01)
        time.sleep(0.2)
        checks.equal("sibling: waits", program.poll(), None)
        holder.stdin.close()
        checks.equal("sibling: ends", (program.wait(60), holder.wait(60)), (0, 0))


def kokkos():
    with Profile(CROCPROF, ["--kokkos-trace", "-f", "csv"], [PROGRAM]) as p:
        checks.equal("kokkos: status", p.status, 0)
        seen = [r["Kernel_Name"] for r in p.rows("kernel_trace") if "fill" not in r["Kernel_Name"]]
        checks.equal("kokkos: names", seen, 2 * ["axpy"] + ["dot"] + 2 * ["add_one(unsigned int*)"])
        markers = {r["Function"] for r in p.rows("marker_api_trace")}
        wanted = {"solve", "first", "second", "axpy", "dot", "an event",
                  "Kokkos::deep_copy HIP[x] <- Host[y] 4096 bytes"}
        checks.equal("kokkos: markers", wanted - markers, set())


def nested_regions():
    for options, count in ((["--selected-regions"], 2), (["--selected-regions-ref-count"], 4)):
        with Profile(CROCPROF, [*options, "-f", "csv"], [PROGRAM]) as p:
            checks.equal(f"{options}", len([r for r in p.rows("kernel_trace") if "fill" not in r["Kernel_Name"]]), count)


def benchmark_modes():
    numbers = re.compile(r"(\d+) records were taken .* (\d+) callbacks came")
    for mode, records, callbacks, files in (("disabled-sdk-contexts", False, False, False),
                                            ("sdk-buffer-overhead", True, False, False),
                                            ("sdk-callback-overhead", False, True, False),
                                            ("tool-runtime-overhead", True, False, False),
                                            ("execution-profile", True, False, True)):
        with Profile(CROCPROF, ["--benchmark-mode", mode, "-f", "csv"], [PROGRAM]) as p:
            found = numbers.search(p.stderr)
            checks.equal(f"{mode}: status", p.status, 0)
            checks.true(f"{mode}: a line", found)
            if found:
                checks.equal(mode, (int(found.group(1)) > 0, int(found.group(2)) > 0, bool(p.rows("kernel_trace"))),
                             (records, callbacks, files))


if MPIRUN:
    ranks_by_mpirun()
ranks_by_variables()
refused()
processes_that_wait()
siblings_really_wait()
kokkos()
nested_regions()
benchmark_modes()
checks.exit()
