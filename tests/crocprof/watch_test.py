"""crocprof stat and crocprof top: several runs, and programs while they run.

    watch_test.py CROCPROF PROGRAMS

What counts exactly must not vary between runs; means and deviations are computed here again from each run's values. `top` is
looked at through a terminal of its own (a pseudo-terminal) and without one.
"""
import contextlib
import fcntl
import glob
import json
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time

from crocprof_run import Checks

CROCPROF, PROGRAMS = sys.argv[1:]
BIN = os.path.dirname(CROCPROF)
SDK = os.path.join(os.path.dirname(BIN), "lib", "librocprofiler-sdk.so.1")
SERVICE = os.path.join(PROGRAMS, "until_input_ends")
REGIONS = os.path.join(PROGRAMS, "regions")  # ten launches of one wave, three of them in a pause
MIXTURE = os.path.join(PROGRAMS, "mixture")  # eleven kernels
ENTER, LEAVE, CURSOR = "\033[?1049h", "\033[?1049l", "\033[?25h"
checks = Checks()


def run(*words, **options):
    return subprocess.run([CROCPROF, *words], capture_output=True, text=True, timeout=120, **options)


# ---- stat

def stat_of_runs():
    with tempfile.TemporaryDirectory() as d:
        done = run("stat", "-r", "3", "-w", "1", "-e", "SQ_WAVES", "--json", d + "/json", "sh", "-c",
                   f"echo x >> {d}/log; exec {REGIONS}", env=dict(os.environ, TMPDIR=d))
        checks.equal(f"stat: status {done.stderr}", done.returncode, 0)
        checks.equal("stat: the program's output", done.stdout, 4 * "regions: ok\n")
        with open(d + "/log", encoding="ascii") as file:
            checks.equal("stat: runs", file.read(), 4 * "x\n")
        with open(d + "/json", encoding="utf-8") as file:
            found = json.load(file)
        checks.equal("stat: nothing stays", sorted(os.listdir(d)), ["json", "log"])
        checks.equal("stat: counts", (found["runs"], found["warmups"]), (3, 1))
        kernel = "add_one(unsigned int*)"
        waves = [one for one in found["counters"] if one["counter"] == "SQ_WAVES" and one["kernel"] == kernel]
        checks.equal("stat: seven launches of one wave, each time", [one["value"]["values"] for one in waves],
                     [3 * [7]])
        checks.equal("stat: no deviation", waves and waves[0]["value"]["deviation"], 0)
        for one in [found["wall_ns"]] + [row["total_ns"] for row in found["times"]]:
            values = one["values"]
            checks.true("stat: mean", abs(one["mean"] - statistics.mean(values)) <= 1e-9 * max(values))
            checks.true("stat: deviation", abs(one["deviation"] - statistics.stdev(values)) <= 1e-6 * max(values))
            checks.equal("stat: extremes", (one["min"], one["max"]), (min(values), max(values)))
        modelled = [row for row in found["times"] if row["domain"] == "KERNEL_MODELLED" and row["name"] == kernel]
        checks.equal("stat: modelled times do not differ", [(one["calls"]["values"], one["total_ns"]["deviation"],
                                                            one["total_ns"]["mean"] > 0) for one in modelled],
                     [(3 * [7], 0, True)])
        checks.equal("stat: they stand first", found["times"][0]["domain"], "KERNEL_MODELLED")
        calls = {row["name"]: row["calls"]["values"] for row in found["times"]}
        checks.equal("stat: launches", calls.get(kernel), 3 * [7])
        checks.true("stat: a table", re.search(r"^ +7 +0 +0\.00%% +7 +7 +7  %s$" % re.escape(kernel),
                                               done.stderr, re.M))


def stat_of_nothing():
    """What does not start has no row."""
    done = run("stat", "-r", "3", "no_such_program")
    checks.equal("stat: what is not there", (done.returncode, "no_such_program: No such file" in done.stderr, "wall time" in done.stderr),
                 (127, True, False))


def stat_that_differs():
    """Three runs, the second of which does nothing on the GPU."""
    with tempfile.TemporaryDirectory() as d:
        script = f"echo x >> {d}/log; if [ $(wc -l <{d}/log) != 2 ]; then exec {REGIONS}; fi"
        done = run("stat", "-r", "3", "--json", "-", "sh", "-c", script)
        text = done.stdout[done.stdout.index('{"program"'):]
        calls = {row["name"]: row["calls"]["values"] for row in json.loads(text)["times"]}
        checks.equal("stat: a run without kernels", calls.get("add_one(unsigned int*)"), [7, 0, 7])


def stat_with_input():
    with tempfile.TemporaryFile("w+") as file:
        file.write("skipped\nthe line\n")
        file.flush()
        os.lseek(file.fileno(), len("skipped\n"), os.SEEK_SET)
        done = run("stat", "-r", "3", "cat", stdin=file)
        checks.equal("stat: each run's input", done.stdout, 3 * "the line\n")


def stat_that_fails():
    done = run("stat", "-r", "3", "sh", "-c", "exit 3")
    checks.equal("stat: the program's status", done.returncode, 3)
    for words, status, why in ((["stat", "-r", "0", "true"], 2, "from 1 to"),
                               (["stat", "-r", "2", "/none/such"], 127, "No such file"),
                               (["stat"], 2, "which program"),
                               (["stat", "-d", "out", "true"], 2, "--output-directory: no files"),
                               (["stat", "-S", "true"], 2, "--summary: there are no other tables"),
                               (["stat", "--json", "/etc/passwd/file", "-r", "1", REGIONS], 2, "/etc/passwd/file"),
                               (["stat", "-e", "SQ_WAVEZ", REGIONS], 2, "did you mean SQ_WAVES")):
        done = run(*words)
        checks.equal(f"{words}: {done.stderr}", (done.returncode, why in done.stderr), (status, True))
    checks.equal("stat: one run, not several, of what cannot start", run("stat", "/none/such").stderr.count(
        "No such file"), 1)


# ---- top

class Terminal:
    """A command in a terminal of 30 lines and 100 columns."""

    def __init__(self, *words, **variables):
        self.main, self.side = pty.openpty()
        fcntl.ioctl(self.side, termios.TIOCSWINSZ, struct.pack("HHHH", 30, 100, 0, 0))
        self.before = termios.tcgetattr(self.side)
        self.text = ""
        self.process = subprocess.Popen(words, stdin=self.side, stdout=self.side, stderr=self.side, start_new_session=True,
                                        env=dict(os.environ, TERM="xterm", **variables), preexec_fn=self.control)

    @staticmethod
    def control():
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    def read_until(self, pattern, seconds=60):
        deadline = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            if time.monotonic() > deadline or not select.select([self.main], [], [], 0.2)[0]:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    return False
                continue
            self.text += os.read(self.main, 65536).decode("utf-8", "replace")
        return True

    def keys(self, text):
        os.write(self.main, text.encode())

    def end(self):
        status = self.process.wait(60)
        while select.select([self.main], [], [], 0.1)[0]:
            self.text += os.read(self.main, 65536).decode("utf-8", "replace")
        after = termios.tcgetattr(self.side)
        os.close(self.main)
        os.close(self.side)
        return status, after == self.before


def pages(text):
    return [page.split("\033[J")[0].replace("\033[K", "") for page in text.split("\033[H")[1:]]


def top_in_a_terminal(how):
    with tempfile.TemporaryDirectory() as d:
        terminal = Terminal(CROCPROF, "top", "--interval", "200", SERVICE, TMPDIR=d)
        # The service sees keys, too, if it reads its terminal: it ends with its input, so it gets none of ours.
        checks.true(f"top {how}: kernels on the page", terminal.read_until(r"kernels [1-9]\d*/s[\s\S]*count\(unsigned int"))
        checks.true(f"top {how}: keys come at once", not termios.tcgetattr(terminal.side)[3] & termios.ICANON)
        if how == "q":
            terminal.keys("q")
        elif how == "Ctrl-C":
            terminal.keys("\x03")
        elif how == "Ctrl-Z":
            terminal.keys("\x1a")
            checks.true("top: stopped", terminal.read_until(re.escape(LEAVE)))
            while "T" not in state(terminal.process.pid):
                time.sleep(0.01)
            checks.equal("top: the stopped one's terminal", termios.tcgetattr(terminal.side), terminal.before)
            os.kill(terminal.process.pid, signal.SIGCONT)
            checks.true("top: again", terminal.read_until(re.escape(LEAVE) + r"[\s\S]*" + re.escape(ENTER)))
            terminal.process.send_signal(signal.SIGTERM)
        else:
            terminal.process.send_signal(getattr(signal, how))
        status, restored = terminal.end()
        checks.equal(f"top {how}: status, terminal", (status, restored), (0, True))
        checks.true(f"top {how}: the page goes", terminal.text.rindex(LEAVE) > terminal.text.rindex(ENTER) and
                    CURSOR in terminal.text)
        for page in pages(terminal.text):
            lines = page.split("\r\n")
            checks.true(f"top {how}: fits the terminal", len(lines) <= 30 and all(len(x) <= 100 for x in lines))
        checks.equal(f"top {how}: nothing stays", os.listdir(d), [])


def state(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rsplit(")", 1)[1].split()[0]


def top_of_a_program_that_ends():
    terminal = Terminal(CROCPROF, "top", "--interval", "100", REGIONS)
    status, restored = terminal.end()
    checks.equal("top of a program: status", (status, restored), (0, True))
    checks.true("top of a program: its output, behind the page", "regions: ok" in terminal.text.rsplit(LEAVE, 1)[1])
    last = pages(terminal.text)[-1]
    checks.true(f"top of a program: seven launches in all {last}", re.search(r" 7  add_one\(unsigned int\*\)", last))


def modelled_means(directory):
    """[(kernel, launches, mean of modelled time in us)] of a recording, the greatest sum first."""
    done = run("-d", directory, "-f", "rocpd", "--no-summary", "--", MIXTURE)
    checks.equal(f"a recording: {done.stderr}", done.returncode, 0)
    path, = glob.glob(os.path.join(directory, "**", "*.db"), recursive=True)
    with contextlib.closing(sqlite3.connect(path)) as base:
        return base.execute("SELECT k.display_name, count(*), avg(json_extract(d.extdata, '$.modelled_ns')) / 1000 FROM "
                            "rocpd_kernel_dispatch d JOIN rocpd_info_kernel_symbol k ON k.id = d.kernel_id GROUP BY 1 "
                            "ORDER BY sum(json_extract(d.extdata, '$.modelled_ns')) DESC").fetchall()


def top_by_modelled_time():
    """Kernels by modelled time, which another run of the program has, too. One update, at the program's end, has all."""
    terminal = Terminal(CROCPROF, "top", "--interval", "600000", "--", MIXTURE)
    status, _ = terminal.end()
    checks.equal("top by modelled time: status", status, 0)
    page = pages(terminal.text)[-1]
    part = page.replace("\r\r", "\r").split("  kernel\r\n")[1].split("\r\n\r\n")[0].split("\r\n")
    shown = [line.split(None, 6) for line in part]
    with tempfile.TemporaryDirectory() as directory:
        means = modelled_means(directory)
    total = sum(launches * mean for _, launches, mean in means)
    checks.true(f"top by modelled time: many kernels {page}", 10 < len(shown) == len(means))
    for words, (kernel, launches, mean) in zip(shown, means):
        share, modelled, calls, name = words[0], float(words[1]), int(words[5]), words[6]
        checks.true(f"top by modelled time: {words}, not {kernel}, {launches}, {mean}",
                    kernel.startswith(name.rstrip()) and calls == launches and abs(modelled - mean) <= 0.02 * mean and
                    abs(float(share.rstrip("%")) - 100 * launches * mean / total) <= 1)
    done = run("top", "--interval", "600000", "--", MIXTURE, stdin=subprocess.DEVNULL)
    most = re.search(r"most by modelled time: (.*) (\d+\.\d)%$", done.stdout.strip().splitlines()[-1])
    checks.true(f"top by modelled time, a line: {done.stdout}", most and most[1] == means[0][0])


def top_of_a_process():
    env = dict(os.environ, LD_PRELOAD=SDK, ROCP_TOOL_ATTACH="1")
    with subprocess.Popen([BIN + "/crocgpu", SERVICE], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as service:
        service.stdout.readline()
        pid = service.pid
        while True:
            with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
                children = file.read().split()
            if not children:
                break
            pid = int(children[0])
        done = run("top", "--interval", "200", "-n", "4", str(pid), stdin=subprocess.DEVNULL)
        if "you may not trace it" not in done.stderr:
            checks.equal(f"top of a process: {done.stderr}", done.returncode, 0)
            lines = done.stdout.splitlines()
            checks.equal("top of a process: a line each", len(lines), 4)
            checks.true(f"top of a process: kernels {lines}",
                        any(re.search(r"kernels [1-9]\d*/s .*most by modelled time: count\(unsigned int\*\) 100\.0%", x) for x in lines))
        service.stdin.close()
        checks.equal("top of a process: it lives on", service.stdout.read(), "until_input_ends: ok\n")


def top_refused():
    for words, status, why in ((["top"], 2, "which program"), (["top", "--interval", "1", "true"], 2, "at least"),
                               (["top", "999999999"], 2, "no such process"), (["top", "/none/such"], 127, "No such file"),
                               (["top", "-p", "1", "true"], 2, "crocprof top PID"),
                               (["top", "-f", "csv", "true"], 2, "no files")):
        done = run(*words, stdin=subprocess.DEVNULL)
        checks.equal(f"{words}: {done.stderr}", (done.returncode, why in done.stderr), (status, True))


place = tempfile.mkdtemp()
os.environ["TMPDIR"] = tempfile.tempdir = place  # others have things of ours elsewhere
stat_of_runs()
stat_of_nothing()
stat_that_differs()
stat_with_input()
stat_that_fails()
for way in ("q", "Ctrl-C", "Ctrl-Z", "SIGTERM", "SIGHUP"):
    top_in_a_terminal(way)
top_of_a_program_that_ends()
top_by_modelled_time()
top_of_a_process()
top_refused()
checks.equal("nothing stays", [name for name in os.listdir(place) if name.startswith("crocprof")], [])
shutil.rmtree(place)
checks.exit()
