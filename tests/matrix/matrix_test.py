"""However a program ends: what is on disk afterwards, by tool.

    matrix_test.py BIN LIB PROGRAM TOOL KERNELS [--root ROOT] [WAY or TOOL ...]
    matrix_test.py BIN LIB PROGRAM TOOL KERNELS together COUNT [SEED [SECONDS]]

A row is a way to end; a column a tool, or several in one process. What each must have kept is a pair
(kernels, marks) of all processes together, NOTHING, or READABLE: whatever is there can be read, and is
no more than there was. ROOT: another release's runtime, the main rows. `together`: COUNT random rows
with random tools, delays and threads; each is made of a number, by which it can be run again.
"""
import csv
import glob
import multiprocessing.pool
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

BIN, LIB, WAYS, TOOL, KERNELS = sys.argv[1:6]
K, M, LATER, MANY, STATUS = 7, 100, 30, 40000, 23
NOTHING, READABLE = "nothing", "readable"
ALL, MOST, LIMIT = (K, M), (K, M + MANY), (2 * K, M + 5 * MANY)

# Without files of its own a tool that is not told of the end has nothing.
UNTOLD = {"sdk_buffered": NOTHING, "sdk_callback": NOTHING}
UNSURE = {"sdk_buffered": READABLE, "sdk_callback": READABLE}
# of the kernel that never ends only the call is seen
CALL_SEEN = {"roctracer": (K + 1, M)}
# way: (status or statuses, what every tool has kept, exceptions to that by tool)
ROWS = {
    "exit": (STATUS, ALL, {}),
    "_exit": (STATUS, ALL, UNTOLD),
    "quick_exit": (STATUS, ALL, {}),
    "thread": (STATUS, ALL, {}),
    "pthread_exit": (STATUS, (K, M + LATER), {}),
    "exec": (STATUS, (2 * K, 2 * M), {"sdk_buffered": ALL, "sdk_callback": ALL}),
    "fork_first": (STATUS, (K, M + LATER), {}),
    "fork_last": (STATUS, (K, M + LATER), {}),
    # A child that is killed by a signal: the SDK's tools are told where one of the process has a
    # buffer with a record, crocprof and the tracer tool in any case.
    "fork_killed": (STATUS, (K, M + LATER), {"sdk_callback": ALL, "sdk_callback beside": READABLE}),
    "abort": (-signal.SIGABRT, ALL, {}),
    "uncaught": (-signal.SIGABRT, ALL, {}),
    "through": (STATUS, (K, M + LATER), {}),
    "pipe": (-signal.SIGPIPE, ALL, {}),
    "fault": (-signal.SIGSEGV, ALL, {}),
    "work": (STATUS, ALL, CALL_SEEN),
    "shut_down": (STATUS, ALL, CALL_SEEN),
    "second_life": (STATUS, (2 * K, 2 * M), {"roctracer": (2 * K + 1, 2 * M)}),
    "chained": (STATUS, (K, M + LATER), {}),
    "chained_fault": (-signal.SIGSEGV, ALL, {}),
    "many": ({-signal.SIGTERM, -signal.SIGHUP, -signal.SIGUSR1, -signal.SIGINT}, ALL, {}),
    "two_exits": (STATUS, MOST, {}),
    # a tool that _exit or exec finds in the middle of being told is not waited for
    "exit_and_exit_now": (STATUS, MOST, UNSURE),
    "exit_and_exec": ({STATUS, 0}, MOST, UNSURE),
    "exit_and_signal": ({STATUS, -signal.SIGTERM}, MOST, {}),
    "9": (-signal.SIGKILL, READABLE, UNTOLD),
    "killed": (-signal.SIGKILL, READABLE, UNTOLD),
}
KILLED = ("9", "killed")
# signal(7): whose default action ends the process; SIGKILL and SIGABRT are above.
for number in ("HUP INT QUIT ILL TRAP BUS FPE USR1 SEGV USR2 PIPE ALRM TERM STKFLT XCPU XFSZ VTALRM "
               "PROF IO PWR SYS").split():
    value = int(getattr(signal, "SIG" + number, 16))
    ROWS[str(value)] = (-value, ALL, {})
# Under another release. ROCr 6.4 has no second life above the software GPU (docs/status.md).
MAIN = ("exit _exit quick_exit exec fork_first fork_killed abort uncaught through fault work shut_down "
        "chained many exit_and_exit_now killed 15").split()


def lines_of(path, cut):
    """Of a process that was killed, the last line may lack its end."""
    with open(path, encoding="utf-8") as text:
        lines = text.read().split("\n")
    assert cut or lines[-1] == "", "%s: the last line has no end" % path
    return lines[:-1]


def of_tool(folder, cut):
    rows = [tuple(map(int, line.split())) for path in glob.glob(folder + "/*_tool.txt")
            for line in lines_of(path, cut)]
    return tuple(map(sum, zip(*rows))) if rows else None


def csv_rows(folder, table, cut):
    found = []
    for path in glob.glob(folder + "/*_%s.csv" % table):
        rows = list(csv.DictReader(lines_of(path, cut), strict=True))
        assert all(None not in row and None not in row.values() for row in rows), path
        found += rows
    return found


def of_csv(folder, cut):
    marks = csv_rows(folder, "marker_api_trace", cut)
    return (len(csv_rows(folder, "kernel_trace", cut)),
            sum(row["Function"] == "matrix" for row in marks))


def count_of(database, table, condition="1"):
    known = database.execute("SELECT name FROM sqlite_master WHERE name = ?", [table]).fetchall()
    return database.execute("SELECT count(*) FROM %s WHERE %s" % (table, condition)).fetchall()[0][0] \
        if known else 0


def of_rocpd(folder, cut):
    kernels, marks = 0, 0
    for path in glob.glob(folder + "/*_results.db"):
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchall() == [("ok",)], path
            kernels += count_of(database, "kernels")
            marks += count_of(database, "regions_and_samples",
                              "json_extract(extdata, '$.message') = 'matrix'")
    return kernels, marks


# The tracer tool's marks are another library's: it sees the question that goes with each.
LINE = re.compile(r"\d+:\d+ \d+:\d+ (\w+\(.*\) = .*) :\d+")


def of_roctracer(folder, cut):
    calls = []
    for path in glob.glob(folder + "/*_hsa_api_trace.txt"):
        matches = [(line, LINE.fullmatch(line)) for line in lines_of(path, cut)]
        assert all(match for _, match in matches), [line for line, match in matches if not match][:3]
        calls += [match.group(1) for _, match in matches]
    return (sum(call.startswith("hsa_queue_add_write_index_relaxed(") for call in calls),
            sum(call.startswith("hsa_system_get_info(1,") for call in calls))


def packets_of(data, cut, path):
    """Messages of a trace's field 1, each with its length in front."""
    at, packets = 0, 0
    while at < len(data):
        head = re.compile(rb"\x0a([\x80-\xff]{0,4}[\x00-\x7f])").match(data, at)
        size = sum((byte & 127) << 7 * i for i, byte in enumerate(head.group(1))) if head else 0
        if not head or head.end() + size > len(data):
            assert cut and (head or len(data) - at < 6), "%s: no packet at %d" % (path, at)
            break
        at = head.end() + size
        packets += 1
    return packets


def of_perfetto(folder, cut):
    """Only whether it is whole."""
    for path in glob.glob(folder + "/*.pftrace"):
        with open(path, "rb") as file:
            packets = packets_of(file.read(), cut, path)
        assert cut or packets, path
    return READABLE


CROCGPU = [BIN + "/crocgpu"]
# calls of HSA: so many records that files are written before the end
CROCPROF = [BIN + "/crocprof", "--hsa-trace", "-f", "csv,rocpd,pftrace", "-d", "."]
TRACER = {"LD_PRELOAD": LIB + "/roctracer/libroctracer_tool.so", "ROCTRACER_DOMAIN": "hsa",
          "ROCP_OUTPUT_DIR": "."}
# name: (command before the program's, environment, what is on disk)
TOOLS = {
    "sdk_buffered": (CROCGPU, {"LD_PRELOAD": TOOL, "MATRIX_KIND": "buffered"}, of_tool),
    "sdk_callback": (CROCGPU, {"LD_PRELOAD": TOOL, "MATRIX_KIND": "callback"}, of_tool),
    "roctracer": (CROCGPU, TRACER, of_roctracer),
    "roctracer_perfetto": (CROCGPU, dict(TRACER, ROCTRACER_PLUGIN_LIB="libperfetto_plugin.so"),
                           of_perfetto),
    "csv": (CROCPROF, {}, of_csv),
    "rocpd": (CROCPROF, {}, of_rocpd),
    "pftrace": (CROCPROF, {}, of_perfetto),
}
OF_CROCPROF = ["csv", "rocpd", "pftrace"]
COLUMNS = [["sdk_buffered"], ["sdk_callback"], ["roctracer"], OF_CROCPROF,
           ["sdk_callback", "roctracer", *OF_CROCPROF]]
MAIN_COLUMNS = [COLUMNS[0], COLUMNS[2], COLUMNS[4]]


def verdict(way, tool, folder, beside):
    _, kept, exceptions = ROWS[way]
    kept = exceptions.get(tool + " beside" * beside, exceptions.get(tool, kept))
    found = TOOLS[tool][2](folder, way in KILLED)
    if kept == NOTHING:
        return "%s kept %s" % (tool, found) if found is not None else None
    if kept == READABLE and isinstance(found, tuple):
        return "%s kept %s" % (tool, found) if found > LIMIT else None
    return "%s kept %s of %s" % (tool, found, kept) if READABLE not in (kept, found) and found != kept \
        else None


def preloads_of(tools):
    return list(dict.fromkeys(TOOLS[t][1]["LD_PRELOAD"] for t in tools if "LD_PRELOAD" in TOOLS[t][1]))


def start_of(tools, root):
    """(command before the program's, environment)"""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("ROCP", "ROCTRACER", "MATRIX"))}
    for tool in tools:
        env.update(TOOLS[tool][1])
    preloads = preloads_of(tools)
    command = TOOLS[tools[-1]][0]
    if root:
        run = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../scripts/debian_run.sh")
        env.update(MATRIX_RUN=run, MATRIX_ROOT=root, ROCPROF_OUTPUT_PATH=".",
                   ROCPROF_OUTPUT_FILE_NAME="%pid%", ROCPROF_OUTPUT_FORMAT="csv,rocpd,pftrace",
                   ROCPROF_STATS_SUMMARY_PER_DOMAIN="1", **{"ROCPROF_%s_TRACE" % kind: "1" for kind in (
                       "KERNEL", "MEMORY_COPY", "MARKER_API", "HIP_RUNTIME_API", "HIP_COMPILER_API",
                       "HSA_CORE_API", "HSA_AMD_EXT_API")})
        crocprof = [LIB + "/libcrocprof-tool.so"] if command == CROCPROF else []
        preloads = [LIB + "/libcrocgpu.so", *crocprof, *preloads]
        command = [run, root]
    if "csv" in tools:
        env["MATRIX_AWAIT"] = "_marker_api_trace.csv"
    if preloads:
        env["LD_PRELOAD"] = ":".join(preloads)
    return command, env


def run(case):
    """Of (way, tools, settings, root): the tools are in one process together."""
    way, tools, settings, root = case
    status = ROWS[way][0]
    command, env = start_of(tools, root)
    folder = tempfile.mkdtemp()
    try:
        # A pipe that everybody of the process holds: its end is the end of the last child.
        done = subprocess.run([*command, WAYS, KERNELS, way], env=dict(env, **settings), cwd=folder,
                              capture_output=True, text=True, timeout=90)
        wrong = [verdict(way, tool, folder, len(tools) > 1) for tool in tools]
        if done.returncode not in (status if isinstance(status, set) else {status}):
            wrong.append("status %d" % done.returncode)
        wrong = [what for what in wrong if what]
        if wrong:
            return "%s under %s: %s\n%s" % (way, "+".join(tools), "; ".join(wrong), done.stderr)
    except (AssertionError, csv.Error, sqlite3.Error, subprocess.TimeoutExpired) as error:
        return "%s under %s: %s" % (way, "+".join(tools), error)
    finally:
        shutil.rmtree(folder)
    return None


def random_case(seed):
    chance = random.Random(seed)
    way = chance.choice(list(ROWS))
    tools = [tool for tool in (chance.choice(["sdk_buffered", "sdk_callback"]), "roctracer")
             if chance.random() < 0.8] + OF_CROCPROF * (chance.random() < 0.8)
    settings = {"MATRIX_DELAY_US": chance.choice([0, 10, 100, 1000, 10000, 50000]),
                "MATRIX_THREADS": chance.randrange(5), "MATRIX_NOISE": chance.randrange(4)}
    # not where the runtime is taken down, or its destructors run, beside them
    if ROWS[way][0] != STATUS and not way.startswith(("exit_and", "two")) or way in ("_exit", "exec"):
        settings["MATRIX_NOISE_HSA"] = chance.randrange(2)
    return way, tools or ["roctracer"], {k: str(v) for k, v in settings.items()}, None


def run_seed(seed, until):
    """None: it is right. False: there was no time for it."""
    if time.time() > until:
        return False
    failure = run(random_case(seed))
    return failure and "seed %d: %s %s" % (seed, random_case(seed)[2], failure)


def seeds_of(count, first=None, seconds="inf"):
    first = int(first) if first else int(time.time()) * 1000
    print("seeds from %d" % first, flush=True)
    return [(seed, time.time() + float(seconds)) for seed in range(first, first + int(count))]


def main(arguments):
    together = arguments[:1] == ["together"]
    root = arguments[1] if arguments[:1] == ["--root"] else None
    if together:
        cases = seeds_of(*arguments[1:])
    else:
        only = arguments[2:] if root else arguments
        cases = [(way, tools, {}, root) for way in (MAIN if root else ROWS)
                 for tools in (MAIN_COLUMNS if root else COLUMNS)
                 if not only or way in only or set(tools) & set(only)]
        cases += [(way, ["roctracer_perfetto"], {}, root) for way in KILLED if not only and not root]
    right, failures = 0, 0
    with multiprocessing.pool.ThreadPool(os.cpu_count() if together else 4) as pool:
        for failure in pool.imap_unordered((lambda case: run_seed(*case)) if together else run, cases):
            right += failure is None
            failures += bool(failure)
            if failure:
                print(failure, flush=True)
    print("%d of %d are right" % (right, right + failures))
    sys.exit(bool(failures))


if __name__ == "__main__":
    main(sys.argv[6:])
