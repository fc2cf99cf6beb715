"""Never nothing without a word: what is said where nothing could be collected, where the files are, and
how crocprof itself ends.

    outcome_test.py CROCPROF PROGRAMS CC
"""
import fcntl
import glob
import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time

from crocprof_run import Checks, Profile

QUIET = ["--no-summary"]


def said(checks, what, profile, status, *words):
    checks.equal(what + ": status", profile.status, status)
    lines = [l for l in profile.stderr.splitlines() if l.startswith("crocprof: ") and "no GPU in" not in l]
    checks.true("%s: a line: %s" % (what, profile.stderr), any(all(w in l for w in words) for l in lines))
    return lines


def check_living(checks, crocprof, directory):
    """A process that lives longer than the program is named: not that there was no GPU call. Twenty
    times: it may just become another program, in which moment one in six was not seen before."""
    for turn in range(20):
        fifo = os.path.join(directory, "end%d" % turn)
        os.mkfifo(fifo)
        with Profile(crocprof, [], ["sh", "-c", 'cat "$0" >/dev/null 2>&1 & echo $!', fifo]) as p:
            lines = said(checks, "a daemon", p, 0, "process %s (" % p.result.stdout.strip(), "goes on", p.directory)
            checks.equal("a daemon: one line", len(lines), 1)
        with open(fifo, "w", encoding="utf-8"):
            pass


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
    done = subprocess.run([crocprof, "--no-summary", os.path.join(programs, "endings"), "3", "2", "return"],
                          capture_output=True, text=True, timeout=60)
    checks.equal("no tables and no files: status", done.returncode, 23)
    checks.true("no tables and no files: " + done.stderr, "crocprof: nothing is shown: no tables" in done.stderr)
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
            if quality == "cycles": # at which byte of signals, of which clock
                checks.equal("cycles on " + device, (block, events[-6:]), ("56", "000000"))
                continue
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
    with Profile(crocprof, ["-f", "rocpd", "-e", "SQ_WAVES,SDMA_SEM_IDLE,GRBM_GUI_ACTIVE"],
                 [os.path.join(programs, "geometry"), "4x1x1:64x1x1"]) as p:
        lines = [line.split() for line in p.stderr.splitlines()]
        checks.true("quality: titles: " + p.stderr,
                    ["calls", "SQ_WAVES", "SDMA_SEM_IDLE", "~GRBM_GUI_ACTIVE", "kernel"] in lines)
        touch = [line[:3] for line in lines if line[4:] and line[4].startswith("touch")]
        checks.equal("quality: no number where nothing is counted", touch, [["1", "4", "-"]])
        checks.true("quality: the device: " + p.stderr,
                    any(l[:1] == ["device:"] and "gfx90a," in l and "wall" in l for l in lines))
        checks.true("quality: said before: " + p.stderr, "does not count, and reads as 0: SDMA_SEM_IDLE" in p.stderr)
        checks.equal("quality: in the database", p.query(
            "SELECT name FROM pmc_info WHERE description LIKE '%reads 0)'"), [("SDMA_SEM_IDLE",)])


# Another name of SQ's registers, as gfx9 has it.
OF_SQ_CS = """rocprofiler-sdk:
  counters-schema-version: 1
  counters:
    - name: OWN_WAVES
      description: waves
      definitions: [{architectures: [gfx90a], block: SQ_CS, event: 4}]
"""


def check_quality_of_shared(checks, crocprof, programs):
    """A block that has another one's registers counts as well as that."""
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(OF_SQ_CS)
        file.flush()
        with Profile(crocprof, ["-E", file.name, "-e", "OWN_WAVES,SQ_WAVES"],
                     [os.path.join(programs, "geometry"), "4x1x1:64x1x1"]) as p:
            lines = [line.split() for line in p.stderr.splitlines()]
            touch = [line[:3] for line in lines if line[3:] and line[3].startswith("touch")]
            checks.true("shared registers: titles: " + p.stderr,
                        ["calls", "OWN_WAVES", "SQ_WAVES", "kernel"] in lines)
            checks.equal("shared registers: values", touch, [["1", "4", "4"]])


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


STARTER = r"""
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    char *words[] = {argv[2], NULL}, *none[] = {NULL};
    int status = 0;
    pid_t child = 0;
    if (argc < 3)
        return 1;
    if (strcmp(argv[1], "vfork") == 0 && (child = vfork()) == 0) {
        execv(argv[2], words);
        _exit(127);
    }
    if (strncmp(argv[1], "ignored", 7) == 0)
        signal(SIGCHLD, SIG_IGN);
    if (strcmp(argv[1], "ignored program") == 0)
        return execv(argv[2], argv + 2);
    if (strcmp(argv[1], "ignored") == 0)
        posix_spawn(&child, argv[2], NULL, NULL, words, environ);
    if (strcmp(argv[1], "no words") == 0)
        return execve(argv[2], none, environ);
    return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : 40;
}
"""


def check_starts(checks, crocprof, programs, directory, cc):
    """Ways to start a program: vfork, posix_spawn, without a word, with SIGCHLD ignored, in which nobody hears of a status."""
    starter = os.path.join(directory, "starter")
    subprocess.run([cc, "-D_GNU_SOURCE", "-x", "c", "-o", starter, "-"], input=STARTER, text=True, check=True)
    regions = os.path.join(programs, "regions")
    for way, status in (("vfork", 0), ("no words", 0), ("ignored", 40)):
        with Profile(crocprof, QUIET, [starter, way, regions]) as p:
            checks.equal("%s: %s" % (way, p.stderr), (p.status, p.result.stdout, len(p.rows("kernel_trace"))),
                         (status, "regions: ok\n", 8))
    for options in ([], ["--pmc", "SQ_WAVES", "--pmc", "GRBM_COUNT"]):
        done = subprocess.run([starter, "ignored program", crocprof, *QUIET, "-d", os.path.join(directory, "ignored"), *options, "--",
                               "sh", "-c", '"$0"; exit 3', regions], capture_output=True, text=True, timeout=120)
        checks.equal("crocprof with SIGCHLD ignored: %r: %s" % (options, done.stderr), (done.returncode, done.stdout),
                     (3, "regions: ok\n"))


def check_terminal(checks, crocprof, programs, directory):
    """Keys of a terminal, impatient ones too: Ctrl-C ends the run as it ends a program, with whole files, also
    when it was stopped in between (by SIGSTOP: a group without a shell ignores Ctrl-Z)."""
    for keys in (["\x03", "\x03", "\x03"], ["stop", "go on", "\x03"]):
        place = tempfile.mkdtemp(dir=directory)
        main, side = pty.openpty()
        running = subprocess.Popen([crocprof, *QUIET, "-f", "csv,json", "-d", place, "--", os.path.join(programs, "launches"), "5000000"],
                                   stdin=side, stdout=side, stderr=side, start_new_session=True,
                                   preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        while not any(f.endswith("kernel_trace.csv") and os.path.getsize(os.path.join(place, f)) > 0 for f in os.listdir(place)):
            time.sleep(0.02)
        for key in keys:
            if key == "go on":
                os.killpg(running.pid, signal.SIGCONT)
            elif key != "stop":
                os.write(main, key.encode())
            else:
                os.killpg(running.pid, signal.SIGSTOP)
                checks.true("it is stopped", os.WIFSTOPPED(os.waitpid(running.pid, os.WUNTRACED)[1]))
        while running.poll() is None:  # what it says has to be read
            if select.select([main], [], [], 0.05)[0]:
                os.read(main, 65536)
        checks.equal("%r: status" % keys, running.returncode, -signal.SIGINT)
        for path in glob.glob(place + "/*_results.json"):
            with open(path, encoding="utf-8") as file:
                whole = json.load(file, object_pairs_hook=lambda pairs: {k: v for k, v in pairs if k == "rocprofiler-sdk-tool"})
                checks.true("%r: JSON is whole" % keys, len(whole["rocprofiler-sdk-tool"]) == 1)  # a million rows, not kept
        checks.equal("%r: one JSON" % keys, len(glob.glob(place + "/*_results.json")), 1)
        os.close(main)
        os.close(side)


PARENT = """
import glob, os, signal, subprocess, sys, time
place, ready, program = sys.argv[1:]
child = subprocess.Popen([program, "10000000"], stdout=subprocess.DEVNULL)
while not any(os.path.getsize(f) > 4000000 for f in glob.glob(place + "/*_results.db")):
    time.sleep(0.02)
child.kill()
while open("/proc/%d/stat" % child.pid).read().rsplit(") ", 1)[1][0] != "Z":
    time.sleep(0.02)
open(ready, "w").close()
time.sleep(60)
"""


def check_zombie(checks, crocprof, programs, directory):
    """A process is killed, and its parent, which outlives the program, has not waited for it: its files are completed."""
    ready = os.path.join(directory, "zombie")
    script = 'python3 -c "$0" "$@" >/dev/null 2>&1 & while [ ! -e "$2" ]; do sleep 0.02; done; echo $!'
    with tempfile.TemporaryDirectory() as place:
        done = subprocess.run([crocprof, "--no-summary", "-f", "rocpd,json", "-d", place, "--", "sh", "-c", script, PARENT, place,
                               ready, os.path.join(programs, "launches")], capture_output=True, text=True, timeout=120)
        parent = int(done.stdout)
        with open("/proc/%d/task/%d/children" % (parent, parent), encoding="ascii") as file:
            zombie = int(file.read())
        with open("/proc/%d/stat" % zombie, encoding="ascii") as file:
            checks.equal("it is a zombie", file.read().rsplit(") ", 1)[1][0], "Z")
        os.kill(parent, signal.SIGTERM)
        found = sorted(os.listdir(place))
        checks.equal("zombie: what is left of it: " + done.stderr, found, ["%d_results.db" % zombie, "%d_results.json" % zombie])


def check_vanished(checks, crocprof, programs, directory):
    """A directory that is removed, moved away or replaced while the program runs."""
    place = os.path.join(directory, "vanishes")
    for how in ("removed", "moved", "replaced", "stays"):
        running = subprocess.Popen([crocprof, *QUIET, "-d", place, "-f", "csv,json,rocpd,otf2,html,pftrace", "--",
                                    os.path.join(programs, "until_input_ends")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        while running.stdout.readline() != "ready\n":
            pass
        seen = []
        while not seen or seen != (os.path.isdir(place) and os.listdir(place)):  # the files are made one after another
            seen = os.path.isdir(place) and os.listdir(place)
            time.sleep(0.5)
        if how == "moved":
            os.rename(place, place + "2")
        elif how != "stays":
            shutil.rmtree(place)
        if how == "replaced":
            os.mkdir(place)
        out, err = running.communicate(timeout=60)
        checks.equal("%s: %s" % (how, err), (running.returncode, out.count("ok"), err.count("was removed or moved")),
                     (0, 1, int(how != "stays")))
        checks.true("moved: the files are there", how != "moved" or "results.json" in " ".join(os.listdir(place + "2")))
        shutil.rmtree(place, ignore_errors=True)


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
        check_living(checks, crocprof, directory)
        check_no_code(checks, crocprof, programs)
        check_files(checks, crocprof, programs)
        check_quality(checks, crocprof, programs)
        check_quality_of_shared(checks, crocprof, programs)
        check_replaced(checks, crocprof, programs)
        check_killed(checks, crocprof, programs, directory)
        check_starts(checks, crocprof, programs, directory, cc)
        check_terminal(checks, crocprof, programs, directory)
        check_zombie(checks, crocprof, programs, directory)
        check_vanished(checks, crocprof, programs, directory)
        check_signals(checks, crocprof)
    checks.exit()


if __name__ == "__main__":
    main()
