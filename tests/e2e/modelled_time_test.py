"""CROCGPU_TIME=model: kernels take as long in every run, with any number of host threads, and no time of
the device lies where the host's clock forbids it.

    modelled_time_test.py CROCGPU CROCPROF EXAMPLES PROGRAMS
"""
import csv
import glob
import os
import subprocess
import sys
import tempfile

CROCGPU, CROCPROF, EXAMPLES, PROGRAMS = sys.argv[1:]
failures = []


def check(what, good):
    if not good:
        failures.append(what)


def gpu(threads, arguments):
    return subprocess.run([CROCGPU, "--time", "model"] + arguments, env=dict(os.environ, CROCGPU_THREADS=threads),
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120)


def rows(directory, table):
    rows_of = []
    for path in glob.glob(os.path.join(directory, "*_%s.csv" % table)):
        with open(path, encoding="utf-8") as f:
            rows_of += list(csv.DictReader(f))
    return rows_of


def span(row):
    return int(row["Start_Timestamp"]), int(row["End_Timestamp"])


def relations(what, directory, kernels):
    calls = {r["Correlation_Id"]: span(r) for r in rows(directory, "hip_api_trace")}
    last = max(end for _, end in calls.values())
    before = 0
    for kernel in sorted(kernels, key=lambda r: int(r["Dispatch_Id"])):
        start, end = span(kernel)
        check("%s: start %d, end %d" % (what, start, end), start < end <= last)
        check("%s: begins before the one before it ends" % what, start >= before)
        before = end
        if kernel["Correlation_Id"] in calls:
            check("%s: begins before its call" % what, start >= calls[kernel["Correlation_Id"]][0])


def durations(program, threads):
    with tempfile.TemporaryDirectory() as directory:
        run = gpu(threads, [CROCPROF, "-d", directory, "-f", "csv", "--no-summary", program])
        check("%s: status %d: %s" % (program, run.returncode, run.stderr), run.returncode == 0)
        kernels = rows(directory, "kernel_trace")
        check("%s: kernels" % program, kernels)
        relations("%s, %s threads" % (os.path.basename(program), threads), directory, kernels)
        return [(k["Kernel_Name"], span(k)[1] - span(k)[0]) for k in kernels]


first = durations(os.path.join(EXAMPLES, "reduction"), "1")
again = durations(os.path.join(EXAMPLES, "reduction"), "3")
check("%s, then %s" % (first, again), sorted(first) == sorted(again))

# A kernel lasts as many cycles as the counters see it busy: ticks of 10 ns, to the next one.
with tempfile.TemporaryDirectory() as directory:
    run = gpu("2", [CROCPROF, "-d", directory, "-f", "csv", "--no-summary", "-e", "GRBM_GUI_ACTIVE",
                    os.path.join(EXAMPLES, "reduction")])
    spans = {r["Dispatch_Id"]: span(r) for r in rows(directory, "kernel_trace")}
    counted = rows(directory, "counter_collection")
    check("counted: %s" % run.stderr, run.returncode == 0 and counted and len(counted) == len(spans))
    for row in counted:
        start, end = spans[row["Dispatch_Id"]]
        more_ns = end - start - float(row["Counter_Value"]) / 1.7
        check("%s: %d ns, %s cycles" % (row["Kernel_Name"], end - start, row["Counter_Value"]), -1 <= more_ns <= 11)


# Beside wall times the tables show those of instructions alone, the same and in the same order in every run,
# whatever is counted.
def ranked(threads, options=()):
    run = subprocess.run([CROCGPU, CROCPROF, "--summary-units", "nsec", *options, os.path.join(EXAMPLES, "reduction")],
                         env=dict(os.environ, CROCGPU_THREADS=threads), text=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, timeout=120)
    lines = run.stdout.splitlines()
    heads = [i for i, line in enumerate(lines) if line.endswith("kernel") and "modelled ns" in line]
    check("a column of modelled time: %s" % run.stdout, len(heads) == 1)
    table = lines[heads[0] + 1:] if heads else []
    table = [line.split(None, 8) for line in table[:table.index("")]]
    return [(cells[8], int(cells[0]), int(cells[1])) for cells in table]


shown = ranked("1")
check("tables: %s" % shown, len(shown) >= 2 and shown == ranked("3"))
counted = ranked("2", ["-e", "GRBM_GUI_ACTIVE,TCC_HIT"])
check("tables, counted: %s, not counted: %s" % (counted, shown), counted == shown)
check("ranked by modelled time: %s" % shown, shown == sorted(shown, key=lambda row: -row[2]))

clocks = [gpu(threads, [os.path.join(PROGRAMS, "device_clocks")]) for threads in ("1", "2")]
for run in clocks:
    check("device_clocks: status %d: %s" % (run.returncode, run.stdout + run.stderr), run.returncode == 0)
    check("device_clocks: three rounds alike", len(set(run.stdout.splitlines())) == 1)
check("device_clocks: %s" % [r.stdout for r in clocks], clocks[0].stdout == clocks[1].stdout)

wrong = subprocess.run([CROCGPU, "--time", "later", "true"], stderr=subprocess.PIPE, text=True)
check("a wrong word: %s" % wrong.stderr, wrong.returncode == 2 and "--time later" in wrong.stderr)
for failure in failures:
    print(failure)
sys.exit(bool(failures))
