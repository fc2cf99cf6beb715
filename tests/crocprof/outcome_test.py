"""Never nothing without a word: what is said where nothing could be collected, where the files are, and
how crocprof itself ends.

    outcome_test.py CROCPROF PROGRAMS CC
"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks, Profile

QUIET = ["--no-summary"]


def said(checks, what, profile, status, *words):
    checks.equal(what + ": status", profile.status, status)
    lines = [l for l in profile.stderr.splitlines() if l.startswith("crocprof: ") and "no GPU in" not in l]
    checks.true("%s: a line: %s" % (what, profile.stderr), any(all(w in l for w in words) for l in lines))
    return lines


def check_nothing(checks, crocprof, directory, cc):
    static = os.path.join(directory, "static")
    subprocess.run([cc, "-static", "-x", "c", "-o", static, "-"], input="int main(void) { return 3; }", text=True,
                   check=True)
    script = os.path.join(directory, "script")
    with open(script, "w", encoding="utf-8") as f:
        f.write("#!%s -x\n" % static)
    os.chmod(script, 0o755)
    with Profile(crocprof, [], ["true"]) as p:
        lines = said(checks, "no GPU call", p, 0, "nothing was collected", "no GPU call")
        checks.equal("no GPU call: one line", len(lines), 1)
    for file in (static, script):
        with Profile(crocprof, [], [file]) as p:
            lines = said(checks, "static", p, 3, file, "linked statically", "link it dynamically")
            checks.equal("static: one line", len(lines), 1)
    with Profile(crocprof, [], ["sh", "-c", 'exec "$0"', static]) as p:
        said(checks, "exec of a static program", p, 3, static, "which it became", "linked statically")
    with Profile(crocprof, [], ["sh", "-c", "exec env -i true"]) as p:
        said(checks, "exec without environment", p, 0, "true", "without LD_PRELOAD")
    rights = os.path.join(directory, "rights")
    shutil.copy("/bin/true", rights)
    if os.geteuid() == 0:
        os.chown(rights, 65534, 65534)
        os.chmod(rights, 0o4755)
        with Profile(crocprof, [], [rights]) as p:
            said(checks, "setuid", p, 0, rights, "rights of its own")


def check_no_code(checks, crocprof, programs):
    """A program that was compiled for another GPU than there is."""
    os.environ["CROCGPU_DEVICES"] = "gfx906" # the tests' programs are for gfx90a
    with Profile(crocprof, QUIET, [os.path.join(programs, "endings"), "3", "2", "return"]) as p:
        del os.environ["CROCGPU_DEVICES"]
        checks.true("no code: status %d" % p.status, p.status not in (0, 23))
        line = [l for l in p.stderr.splitlines() if "hipErrorNoBinaryForGpu)" in l][:1]
        checks.true("no code: said: " + p.stderr, line and all(
            w in line[0] for w in ("has code for gfx90a", "is gfx906", "--offload-arch=gfx906")))
        checks.true("no code: and how: " + p.stderr, "crocgpu hipcc" in p.stderr)


def check_files(checks, crocprof, programs):
    done = subprocess.run([crocprof, os.path.join(programs, "endings"), "3", "2", "return"], capture_output=True,
                          text=True, timeout=60)
    checks.equal("tables only: status", done.returncode, 23)
    checks.true("tables only: " + done.stderr, "add_one" in done.stderr and "files: " not in done.stderr)
    with Profile(crocprof, QUIET, [os.path.join(programs, "endings"), "3", "2", "return"]) as p:
        lines = said(checks, "files", p, 23, "files: " + p.directory)
        named = lines[-1].split("_*: ")[1].split(", ")
        checks.equal("files: all are named", sorted(named),
                     sorted(f.split("_", 1)[1] for f in os.listdir(p.directory)))
    with tempfile.TemporaryDirectory() as directory:
        for options, name in (([], "n"), (["-d", "./sub//x/."], "sub/x/n")):
            done = subprocess.run([crocprof, *QUIET, "-f", "csv", "-o", "./n", *options, os.path.join(programs, "endings"),
                                   "3", "2", "return"], capture_output=True, text=True, timeout=60, cwd=directory)
            path = os.path.join(os.path.realpath(directory), name)
            checks.true("files: %s: %s" % (path, done.stderr), "files: %s_*: " % path in done.stderr)
            checks.true("files: they are there", os.path.exists(path + "_kernel_trace.csv"))
    with Profile(crocprof, QUIET + ["--no-hip-trace", "--no-kernel-trace", "--no-memory-copy-trace"],
                 [os.path.join(programs, "endings"), "3", "2", "return"]) as p:
        said(checks, "nothing traced", p, 23, "nothing was collected", "nothing of what is traced")
    with Profile(crocprof, QUIET, ["sh", "-c", '"$0" 3 2 return; exec "$0" 3 2 _exit', os.path.join(programs, "endings")]) as p:
        lines = said(checks, "files of two", p, 23, "files: ")
        checks.equal("files of two: lines", len(lines), 2)


def check_quality(checks, crocprof, programs):
    """What the device says of its counters: the same as crocgpu's list, and shown."""
    crocgpu = os.path.join(os.path.dirname(crocprof), "crocgpu")
    for device in ("gfx90a", "gfx942"):
        stated = {}
        text = subprocess.run([crocgpu, "--devices", device, "cat",
                               "/sys/class/kfd/kfd/topology/nodes/1/measurement_quality"],
                              capture_output=True, text=True, timeout=60).stdout
        for line in text.splitlines()[1:]:
            quality, block, events = line.split()
            for part in events.split(","):
                first, last = (part.split("-") + [part])[:2]
                for event in range(int(first), int(last) + 1):
                    stated[block, event] = quality
        listed = {}
        for line in subprocess.run([crocgpu, "events", device], capture_output=True, text=True,
                                   timeout=60).stdout.splitlines():
            _, block, event, quality, _ = line.split()
            if quality != "none":
                listed[block, int(event)] = quality
        checks.true("quality of %d events" % len(listed), len(listed) > 100)
        checks.equal("quality on " + device, stated, listed)
    with Profile(crocprof, ["-f", "rocpd", "-e", "SQ_WAVES,SQC_TC_STALL,GRBM_GUI_ACTIVE"],
                 [os.path.join(programs, "geometry"), "4x1x1:64x1x1"]) as p:
        lines = [line.split() for line in p.stderr.splitlines()]
        checks.true("quality: titles: " + p.stderr,
                    ["calls", "SQ_WAVES", "SQC_TC_STALL", "~GRBM_GUI_ACTIVE", "kernel"] in lines)
        touch = [line[:3] for line in lines if line[4:] and line[4].startswith("touch")]
        checks.equal("quality: no number where nothing is counted", touch, [["1", "4", "-"]])
        checks.true("quality: the device: " + p.stderr,
                    any(l[:1] == ["device:"] and "gfx90a," in l and "wall" in l for l in lines))
        checks.true("quality: said before: " + p.stderr, "does not count, and reads as 0: SQC_TC_STALL" in p.stderr)
        checks.equal("quality: in the database", p.query(
            "SELECT name FROM pmc_info WHERE description LIKE '%reads 0)'"), [("SQC_TC_STALL",)])


def check_replaced(checks, crocprof, programs):
    """-o NAME again: what crocprof has made under it goes, what somebody else has put there does not."""
    endings = os.path.join(programs, "endings")

    def run(directory, *command):
        subprocess.run([crocprof, "--no-summary", "-f", "csv,rocpd,json,pftrace,html,otf2", "-d",
                        directory, "-o", "name", *command],
                       capture_output=True, timeout=60, check=False)
        return sorted(f for f in os.listdir(directory) if not f.startswith("."))

    with tempfile.TemporaryDirectory() as directory:
        first = run(directory, endings, "3", "2", "return")
        checks.true("replaced: %r" % first, "name_results.db" in first and "name_kernel_trace.csv" in first)
        two = run(directory, "sh", "-c", '"$0" 3 2 return; "$0" 5 2 return', endings)
        checks.equal("replaced: two processes", two,
                     sorted(first + [f.replace("name_", "name-2_") for f in first]))
        checks.equal("replaced: one again", run(directory, endings, "7", "2", "return"), first)
        with open(os.path.join(directory, "name_kernel_trace.csv"), encoding="utf-8") as f:
            checks.equal("replaced: the new one's rows", len(f.readlines()), 8)
        with open(os.path.join(directory, "name_kernel_trace.csv"), "a", encoding="utf-8") as f:
            f.write("mine\n")
        third = run(directory, endings, "3", "2", "return")
        checks.equal("replaced: not what was changed", third, two)
        with open(os.path.join(directory, "name_kernel_trace.csv"), encoding="utf-8") as f:
            checks.equal("replaced: the changed one stays", f.readlines()[-1], "mine\n")


def wait_for(path):
    for _ in range(600):
        if os.path.exists(path):
            return
        time.sleep(0.05)


def check_killed(checks, crocprof, programs, directory):
    """SIGKILL, which nobody can act upon: of the program, and of crocprof."""
    ready = os.path.join(directory, "ready")
    script = '"$0" 2000000 & echo $! >"$1.new"; mv "$1.new" "$1"; wait; exit 9'
    with Profile(crocprof, [], ["true"]) as p:
        running = subprocess.Popen([crocprof, "--no-summary", "-f", "csv,rocpd", "-d", p.directory, "sh", "-c", script,
                                    os.path.join(programs, "launches"), ready], stderr=subprocess.PIPE,
                                   stdout=subprocess.DEVNULL, text=True)
        wait_for(ready)
        while not any("results.db" in f and os.path.getsize(os.path.join(p.directory, f)) > 4000000
                      for f in os.listdir(p.directory)): # some transactions of it
            time.sleep(0.05)
        with open(ready, encoding="utf-8") as f:
            os.kill(int(f.read()), signal.SIGKILL)
        errors = running.communicate(timeout=60)[1]
        checks.equal("killed program: status", running.returncode, 9)
        checks.true("killed program: said: " + errors, "before it could complete its report" in errors)
        checks.true("killed program: where: " + errors, "files: " + p.directory in errors)
        rows = p.rows("kernel_trace")
        checks.true("killed program: %d rows" % len(rows), len(rows) > 100)
        kernels = p.query("SELECT count(*), max(length(name)) FROM kernels")[0]
        checks.true("killed program: %d kernels in the database" % kernels[0], kernels[0] > 100 and kernels[1] > 4)
        checks.equal("killed program: the database is whole", p.query("PRAGMA integrity_check"), [("ok",)])
        checks.equal("killed program: whole rows but the last", [r for r in rows[:-1] if None in r.values()], [])
    running = subprocess.Popen([crocprof, "sh", "-c", 'echo $$ >"$0.new"; mv "$0.new" "$0.pid"; exec sleep 60', ready],
                               stderr=subprocess.DEVNULL)
    wait_for(ready + ".pid")
    running.kill()
    running.wait()
    with open(ready + ".pid", encoding="utf-8") as f:
        pid = int(f.read())
    for _ in range(200):
        if not os.path.exists("/proc/%d" % pid) or open("/proc/%d/stat" % pid).read().split(") ")[1][0] == "Z":
            break
        time.sleep(0.05)
    else:
        checks.true("a killed crocprof leaves no program", False)


def check_signals(checks, crocprof):
    for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGALRM):
        with tempfile.TemporaryDirectory() as directory:
            log = os.path.join(directory, "log")
            running = subprocess.Popen([crocprof, "sh", "-c", 'trap "exit 5" %d; >"$0"; while :; do sleep 0.1; done' %
                                        number, log], stderr=subprocess.DEVNULL)
            wait_for(log)
            running.send_signal(number)
            checks.equal("signal %d reaches the program" % number, running.wait(timeout=30), 5)
    done = subprocess.run([crocprof, "sh", "-c", "kill -SEGV $$"], stderr=subprocess.DEVNULL, timeout=60)
    checks.equal("crash of the program", done.returncode, -signal.SIGSEGV)


def main():
    crocprof, programs, cc = sys.argv[1:4]
    checks = Checks()
    with tempfile.TemporaryDirectory() as directory:
        os.chmod(directory, 0o755)
        check_nothing(checks, crocprof, directory, cc)
        check_no_code(checks, crocprof, programs)
        check_files(checks, crocprof, programs)
        check_quality(checks, crocprof, programs)
        check_replaced(checks, crocprof, programs)
        check_killed(checks, crocprof, programs, directory)
        check_signals(checks, crocprof)
    checks.exit()


if __name__ == "__main__":
    main()
