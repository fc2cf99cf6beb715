"""However a program ends: what is on disk afterwards, by tool.

    matrix_test.py BIN LIB PROGRAM TOOL KERNELS [WAY or TOOL ...] | [together COUNT]

A row is a way to end; a column a tool. What each must have kept is a pair (kernels, markers) of all
processes together, NOTHING, or READABLE: whatever is there can be read.
"""
import csv
import glob
import multiprocessing.pool
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile

BIN, LIB, WAYS, TOOL, KERNELS = sys.argv[1:6]
ONLY = sys.argv[6:]
K, M, LATER, STATUS = 7, 100, 30, 23
NOTHING, READABLE = "nothing", "readable"
ALL = (K, M)

# Without files of its own a tool that is not told of the end has nothing.
UNTOLD = {"sdk_buffered": NOTHING, "sdk_callback": NOTHING}
# way: (status, what every tool has kept, exceptions to that by tool)
ROWS = {
    "exit": (STATUS, ALL, {}),
    "_exit": (STATUS, ALL, UNTOLD),
    "quick_exit": (STATUS, ALL, {}),
    "thread": (STATUS, ALL, {}),
    "pthread_exit": (STATUS, (K, M + LATER), {}),
    "exec": (STATUS, (2 * K, 2 * M), {"sdk_buffered": ALL, "sdk_callback": ALL}),
    "fork_first": (STATUS, (K, M + LATER), {}),
    "fork_last": (STATUS, (K, M + LATER), {}),
    # a child without records has no thread that could end its tools at a signal
    "fork_killed": (STATUS, (K, M + LATER), {"sdk_callback": READABLE}),
    "abort": (-signal.SIGABRT, ALL, {}),
    "uncaught": (-signal.SIGABRT, ALL, {}),
    "through": (STATUS, (K, M + LATER), {}),
    "pipe": (-signal.SIGPIPE, ALL, {}),
    "fault": (-signal.SIGSEGV, ALL, {}),
    # of the kernel that never ends only the call is seen
    "work": (STATUS, ALL, {"roctracer": (K + 1, M)}),
    "shut_down": (STATUS, ALL, {"roctracer": (K + 1, M)}),
    "second_life": (STATUS, (2 * K, 2 * M), {"roctracer": (2 * K + 1, 2 * M)}),
    "chained": (STATUS, (K, M + LATER), {}),
    "chained_fault": (-signal.SIGSEGV, ALL, {}),
    "many": (None, ALL, {}),
    "9": (-signal.SIGKILL, READABLE, {}),
}
# signal(7): whose default action ends the process; SIGKILL and SIGABRT are above.
for number in ("HUP INT QUIT ILL TRAP BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM "
               "PROF IO PWR SYS").split():
    value = int(getattr(signal, "SIG" + number, 16))
    ROWS[str(value)] = (-value, ALL, {})


def lines_of(pattern):
    for path in sorted(glob.glob(pattern)):
        with open(path, encoding="utf-8") as text:
            yield from text.read().splitlines()


def of_tool(folder):
    rows = [tuple(map(int, line.split())) for line in lines_of(folder + "/*_tool.txt")]
    return tuple(map(sum, zip(*rows))) if rows else None


def csv_rows(folder, table):
    total = 0
    for path in glob.glob(folder + "/*_%s.csv" % table):
        with open(path, newline="", encoding="utf-8") as text:
            rows = list(csv.reader(text))
        assert all(len(row) == len(rows[0]) for row in rows), path
        total += len(rows) - 1
    return total


def database_rows(folder, table):
    total = 0
    for path in glob.glob(folder + "/*_results.db"):
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            known = database.execute("SELECT name FROM sqlite_master WHERE name = ?", [table])
            if known.fetchall():
                total += database.execute("SELECT count(*) FROM " + table).fetchall()[0][0]
    return total


def of_crocprof(rows):
    return lambda folder: (rows(folder, "kernel_trace"), rows(folder, "marker_api_trace"))


# The tracer tool's markers are another library's: it sees the question that goes with each.
def of_roctracer(folder):
    calls = [line.split(" ", 2)[2] for line in lines_of(folder + "/*_hsa_api_trace.txt")]
    return (sum(call.startswith("hsa_queue_add_write_index_relaxed(") for call in calls),
            sum(call.startswith("hsa_system_get_info(1,") for call in calls))


CROCGPU = [BIN + "/crocgpu"]
# name: (command before the program's, environment, what is on disk)
TOOLS = {
    "sdk_buffered": (CROCGPU, {"LD_PRELOAD": TOOL, "MATRIX_KIND": "buffered"}, of_tool),
    "sdk_callback": (CROCGPU, {"LD_PRELOAD": TOOL, "MATRIX_KIND": "callback"}, of_tool),
    "roctracer": (CROCGPU, {"LD_PRELOAD": LIB + "/roctracer/libroctracer_tool.so",
                            "ROCTRACER_DOMAIN": "hsa", "ROCP_OUTPUT_DIR": "."}, of_roctracer),
    "csv": ([BIN + "/crocprof", "-o", "."], {}, of_crocprof(csv_rows)),
    "sqlite": ([BIN + "/crocprof", "-o", "."], {}, of_crocprof(database_rows)),
}


def verdict(way, tool, folder):
    _, kept, exceptions = ROWS[way]
    kept = exceptions.get(tool, kept)
    found = TOOLS[tool][2](folder)
    if kept == NOTHING:
        return "%s kept %s" % (tool, found) if found is not None else None
    return "%s kept %s of %s" % (tool, found, kept) if kept not in (found, READABLE) else None


def environment_of(tools):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP", "ROCTRACER"))}
    preloads = [TOOLS[t][1]["LD_PRELOAD"] for t in tools if "LD_PRELOAD" in TOOLS[t][1]]
    for tool in tools:
        env.update(TOOLS[tool][1])
    return dict(env, LD_PRELOAD=":".join(preloads)) if preloads else env


def run(case):
    """Of (way, tools): they are in one process together."""
    way, tools = case
    status = ROWS[way][0]
    folder = tempfile.mkdtemp()
    try:
        # A pipe that everybody of the process holds: its end is the end of the last child.
        done = subprocess.run([*TOOLS[tools[-1]][0], WAYS, KERNELS, way], env=environment_of(tools),
                              cwd=folder, capture_output=True, text=True, timeout=60)
        wrong = [verdict(way, tool, folder) for tool in tools]
        if status is not None and done.returncode != status:
            wrong.append("status %d" % done.returncode)
        wrong = [what for what in wrong if what]
        return "%s: %s\n%s" % (way, "; ".join(wrong), done.stderr) if wrong else None
    except (AssertionError, sqlite3.Error, subprocess.TimeoutExpired) as error:
        return "%s, %s: %s" % (way, tools, error)
    finally:
        shutil.rmtree(folder)


def together(count):
    """make soak: several tools in one process, crocprof last."""
    for _ in range(count):
        tools = [random.choice(["sdk_buffered", "sdk_callback"]), "roctracer", "csv", "sqlite"]
        yield random.choice(list(ROWS)), [t for t in tools if t == "sqlite" or random.random() < 0.8]


def main():
    if ONLY[:1] == ["together"]:
        cases = list(together(int(ONLY[1])))
    else:
        cases = [(way, [tool]) for way in ROWS for tool in TOOLS
                 if not ONLY or way in ONLY or tool in ONLY]
    with multiprocessing.pool.ThreadPool(4) as pool:
        failures = [failure for failure in pool.imap(run, cases) if failure]
    print("\n".join(failures))
    print("%d of %d are right" % (len(cases) - len(failures), len(cases)))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
