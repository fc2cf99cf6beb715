"""crocprof attach, and rocprofv3 --pid: into a program that runs and out of it again.

    attach_test.py CROCPROF PROGRAMS

The program launches one kernel a round; what is recorded must be of it, complete, and no more than there was. Ends
with 77 where ptrace is not allowed.
"""
import csv
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks

CROCPROF, PROGRAMS = sys.argv[1:]
BIN = os.path.dirname(CROCPROF)
SDK = os.path.join(os.path.dirname(BIN), "lib", "librocprofiler-sdk.so.1")
PROGRAM = os.path.join(PROGRAMS, "until_input_ends")
ON_COMMAND = os.path.join(PROGRAMS, "on_command")
NOBODY = 65534
KERNEL = "count(unsigned int*)"
checks = Checks()


class Process:
    """A program, which ends with its input."""

    def __init__(self, program, **options):
        # Kernels of queues that are older than the attachment are seen so (README of rocattach).
        env = dict(os.environ, LD_PRELOAD=SDK, ROCP_TOOL_ATTACH="1")
        self.process = subprocess.Popen([BIN + "/crocgpu", program], env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)
        self.pid = self.process.pid

    def find(self):
        while children := self.children():
            self.pid = int(children[0])

    def children(self):
        with open(f"/proc/{self.pid}/task/{self.pid}/children", encoding="ascii") as f:
            return f.read().split()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        checks.equal("the program's result", self.process.stdout.read(), self.last_words)
        self.said = self.process.stderr.read()
        checks.equal("the program's status", self.process.wait(60), 0)


class Service(Process):
    """Launches all the time."""
    last_words = "until_input_ends: ok\n"

    def __init__(self, **options):
        super().__init__(PROGRAM, **options)
        assert self.process.stdout.readline() == "ready\n"
        self.find()


class OnCommand(Process):
    """Does what it is told."""
    last_words = ""

    def __init__(self):
        super().__init__(ON_COMMAND)
        self.do("launch 1")
        self.find()

    def do(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            checks.equal(line, self.process.stdout.readline(), "done\n")


class Attached:
    """crocprof attach, until it is told to leave."""

    def __init__(self, service, *words):
        self.process = subprocess.Popen([CROCPROF, "attach", str(service.pid), *words], stdin=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        checks.true("attached: " + line, "attached to process" in line)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.said = self.process.communicate("\n", timeout=60)[1]
        checks.equal("leaving: " + self.said, self.process.returncode, 0)


def crocprof(*words, name="crocprof", **options):
    done = subprocess.run([os.path.join(BIN, name), *words], capture_output=True, text=True, timeout=60,
                          stdin=subprocess.DEVNULL, **options)
    if "you may not trace it" in done.stderr and os.getuid() == 0 and "user" not in options:
        print("ptrace is not allowed here")
        sys.exit(77)
    return done


def rows(directory, table):
    found = []
    for path in glob.glob(f"{directory}/**/*_{table}.csv", recursive=True):
        with open(path, newline="", encoding="utf-8") as file:
            found += list(csv.DictReader(file))
    return found


def twice_and_other_traces():
    """The second time to another place; a third time with other traces is refused and says so."""
    with Service() as service, tempfile.TemporaryDirectory() as d:
        pid = str(service.pid)
        for place in ("a", "b"):
            done = crocprof("attach", pid, "--attach-duration-msec", "300", "-f", "csv", "-d", f"{d}/{place}")
            checks.equal(f"{place}: status {done.stderr}", done.returncode, 0)
            checks.true(f"{place}: the table is printed here", KERNEL in done.stderr)
            checks.true(f"{place}: says where", f"files are in {d}/{place}" in done.stderr)
            kernels = rows(f"{d}/{place}", "kernel_trace")
            checks.true(f"{place}: kernels", len(kernels) > 1)
            checks.equal(f"{place}: names", {r["Kernel_Name"] for r in kernels}, {KERNEL})
            table = re.search(r"^ *(\d+) .* %s$" % re.escape(KERNEL), done.stderr, re.M)
            checks.equal(f"{place}: table and file", table and int(table.group(1)), len(kernels))
            checks.true(f"{place}: calls", any(r["Function"] == "hipLaunchKernel"
                                               for r in rows(f"{d}/{place}", "hip_api_trace")))
        done = crocprof("attach", pid, "--attach-duration-msec", "100", "--hsa-trace", "-d", f"{d}/c")
        checks.equal("other traces: refused", (done.returncode, rows(f"{d}/c", "kernel_trace")), (127, []))


def as_rocprofv3():
    with Service() as service, tempfile.TemporaryDirectory() as d:
        done = crocprof("--attach", str(service.pid), "--kernel-trace", "--attach-duration-msec", "300",
                        "--attach-children=no", "--attach-sync-output", "-f", "csv", name="rocprofv3", cwd=d)
        host = os.uname().nodename
        checks.equal(f"rocprofv3: status {done.stderr}", done.returncode, 0)
        checks.equal("rocprofv3: place", glob.glob(d + "/**/*kernel_trace.csv", recursive=True),
                     [f"{d}/{host}/{service.pid}_kernel_trace.csv"])


def counters():
    """A launch has one wave of 64 lanes; what needs two runs is refused."""
    with Service() as service, tempfile.TemporaryDirectory() as d:
        done = crocprof("attach", str(service.pid), "--attach-duration-msec", "300", "-e", "SQ_WAVES", "-f", "csv", "-d", d)
        values = {(r["Counter_Name"], float(r["Counter_Value"])) for r in rows(d, "counter_collection")}
        checks.equal(f"counters: {done.stderr}", values, {("SQ_WAVES", 1.0)})
        done = crocprof("attach", str(service.pid), "-e", "TCC_HIT,TCC_MISS,TCC_REQ,TCC_READ,TCC_WRITE")
        checks.equal("counters of two runs", (done.returncode, "take 2 runs" in done.stderr), (2, True))


def markers_while_attached():
    """They are in the file while the profiler is there, the second time as well, few and many."""
    few, many = 10, 30000
    with OnCommand() as service, tempfile.TemporaryDirectory() as d:
        for place, marks in (("a", few), ("b", few), ("c", many), ("d", many)):
            with Attached(service, "--marker-trace", "--kernel-trace", "-f", "csv", "-d", f"{d}/{place}"):
                service.do(f"mark {marks}")
                deadline = time.time() + 20
                while (there := len(rows(f"{d}/{place}", "marker_api_trace"))) < marks and time.time() < deadline:
                    time.sleep(0.2)
                checks.equal(f"{place}: markers while attached", there, marks)
            checks.equal(f"{place}: markers", len(rows(f"{d}/{place}", "marker_api_trace")), marks)


def files_of(directory):
    return {path: os.stat(path).st_size for path in glob.glob(directory + "/**", recursive=True) if os.path.isfile(path)}


def late_records():
    """A kernel that ends when the profiler has left is nobody's; the next attachment has what belongs to it."""
    with OnCommand() as service, tempfile.TemporaryDirectory() as d:
        with Attached(service, "--kernel-trace", "-f", "csv", "-d", d + "/a"):
            service.do("launch 2", "begin")
        before = files_of(d)
        service.do("end")
        with Attached(service, "--kernel-trace", "-f", "csv", "-d", d + "/b"):
            service.do("launch 3")
        checks.equal("late: files that were complete", {k: v for k, v in files_of(d).items() if "/a/" in k}, before)
        checks.equal("late: launches", [len(rows(f"{d}/{place}", "kernel_trace")) for place in "ab"], [2, 3])
    checks.true("late: it is said: " + service.said, "1 records came after the profiler had left" in service.said)


def left(how):
    """In each way to leave, or with the process's end, the files are complete."""
    with tempfile.TemporaryDirectory() as d:
        service = Service()
        done = subprocess.Popen([CROCPROF, "attach", str(service.pid), "-f", "csv", "-d", d], stdin=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True)
        checks.true(f"{how}: attached", "attached to process" in done.stderr.readline())
        time.sleep(0.2)
        if how == "end":
            service.__exit__()
        elif how == "line":
            done.stdin.write("\n")
            done.stdin.flush()
        else:
            done.send_signal(getattr(signal, how))
        text = done.communicate(timeout=60)[1]
        checks.equal(f"{how}: status", done.returncode, 0)
        checks.true(f"{how}: {text}", ("has ended" if how == "end" else "goes on without") in text)
        checks.true(f"{how}: table {text}", KERNEL in text)
        checks.true(f"{how}: files", len(rows(d, "kernel_trace")) > 0)
        if how != "end":
            service.__exit__()


def refused():
    dead = subprocess.Popen(["true"])
    dead.wait()
    for words, status, why in ((["attach", str(dead.pid)], 2, "there is no such process"),
                               (["attach", "x"], 2, "not the number of a process"),
                               (["attach", "0"], 2, "not the number of a process"),
                               (["attach"], 2, "usage"),
                               (["-p", str(dead.pid), "true"], 2, "which?"),
                               (["-p", str(dead.pid), "-P", "1:1:1"], 2, "does not go with --pid"),
                               (["attach", "1", "-d", "/proc/x"], 2, "/proc/x")):
        done = crocprof(*words)
        checks.equal(f"{words}: {done.stderr}", (done.returncode, why in done.stderr, done.stderr.count("\n")),
                     (status, True, 1))


def no_gpu_program():
    """A process that has no GPU runtime is attached to and has nothing to say; one under crocprof has a profiler."""
    with tempfile.TemporaryDirectory() as d:
        process = subprocess.Popen(["sleep", "60"])
        done = crocprof("attach", str(process.pid), "--attach-duration-msec", "50", "-d", d)
        checks.true(f"sleep: {done.returncode} {done.stderr}", "Traceback" not in done.stderr)
        checks.equal("sleep lives on", process.poll(), None)
        process.kill()
        process.wait()


def other_users():
    """Only root can try: a user may not attach to root's processes, and theirs cannot write everywhere."""
    if os.getuid() != 0:
        return
    with tempfile.TemporaryDirectory() as d:
        os.chmod(d, 0o755)
        with Service() as service:
            done = crocprof("attach", str(service.pid), user=NOBODY, extra_groups=[])
            if "crocprof:" in done.stderr:  # it may not even see this program
                checks.equal("root's process", (done.returncode, "belongs to another user" in done.stderr), (2, True))
        process = subprocess.Popen(["sleep", "60"], user=NOBODY, extra_groups=[])
        done = crocprof("attach", str(process.pid), "-d", d)
        checks.equal("nobody's process", (done.returncode, "cannot write there" in done.stderr), (2, True))
        process.kill()
        process.wait()


place = tempfile.mkdtemp()
os.environ["TMPDIR"] = tempfile.tempdir = place  # others have things of ours elsewhere
twice_and_other_traces()
markers_while_attached()
late_records()
as_rocprofv3()
counters()
for way in ("SIGINT", "SIGTERM", "line", "end"):
    left(way)
refused()
no_gpu_program()
other_users()
checks.equal("nothing stays", os.listdir(place), [])
os.rmdir(place)
checks.exit()
