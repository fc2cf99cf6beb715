"""More counters than one run can collect: several runs, one result.

    passes_test.py CROCPROF PROGRAMS
"""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks, Profile

# Six hardware events in the four registers of a TCC channel; the ratio shares two of them.
COUNTERS = ["TCC_HIT_sum", "TCC_MISS_sum", "TCC_REQ_sum", "TCC_READ_sum", "TCC_WRITE_sum",
            "TCC_TAG_STALL_sum", "L2CacheHit", "SQ_WAVES"]
LAUNCHES = ["4x1x1:64x1x1", "7x1x1:256x1x1", "3x1x1:65x1x1"]


def values_of(rows):
    """{(kernel, how often it ran before): {counter: value}}, in dispatch order."""
    seen, launches, of = {}, {}, {}
    for row in sorted(rows, key=lambda r: int(r["Dispatch_Id"])):
        dispatch, kernel = int(row["Dispatch_Id"]), row["Kernel_Name"]
        if dispatch not in of:
            of[dispatch] = (kernel, launches.get(kernel, 0))
            launches[kernel] = launches.get(kernel, 0) + 1
        seen.setdefault(of[dispatch], {})[row["Counter_Name"]] = float(row["Counter_Value"])
    return seen


def left_over():
    return glob.glob(os.path.join(tempfile.gettempdir(), "crocprof-*"))


def check_values(checks, crocprof, command):
    """Every value is the one that a run of its own gives."""
    single = {}
    for counter in COUNTERS:
        with Profile(crocprof, ["-e", counter], command) as p:
            for launch, values in values_of(p.rows("counter_collection")).items():
                single.setdefault(launch, {}).update(values)
    with Profile(crocprof, ["-e", ",".join(COUNTERS)], command) as p:
        checks.equal("status", p.status, 0)
        checks.true("it is said: " + p.stderr, "2 runs of the program" in p.stderr)
        checks.true("the runs agree: " + p.stderr, "differ" not in p.stderr)
        checks.equal("the program speaks once", p.result.stdout.count("geometry: ok"), 1)
        checks.equal("values", values_of(p.rows("counter_collection")), single)
        checks.equal("rows", len(p.rows("counter_collection")), len(single) * len(COUNTERS))
        checks.equal("rows of the database", p.query(
            "SELECT count(*) FROM counters_collection")[0][0], len(single) * len(COUNTERS))
        checks.equal("one process's files", len(glob.glob(p.directory + "/*_kernel_trace.csv")), 1)
    checks.true("no counter of one run only: %d launches" % len(single),
                all(len(v) == len(COUNTERS) for v in single.values()))


def check_difference(checks, crocprof, programs):
    """A program that does something else in each run."""
    with tempfile.TemporaryDirectory() as directory:
        flag = os.path.join(directory, "ran")
        script = ('if [ -e "%s" ]; then set -- 4x1x1:64x1x1; else set -- 4x1x1:64x1x1 2x1x1:64x1x1; fi;'
                  ' touch "%s"; exec "%s" "$@"') % (flag, flag, os.path.join(programs, "geometry"))
        with Profile(crocprof, ["-e", ",".join(COUNTERS)], ["sh", "-c", script]) as p:
            checks.equal("difference: status", p.status, 0)
            checks.true("difference: it is said: " + p.stderr, "the runs differ" in p.stderr)
            touched = [v for (k, n), v in values_of(p.rows("counter_collection")).items()
                       if k.startswith("touch")]
            checks.equal("difference: what agrees is merged", [len(v) for v in touched],
                         [len(COUNTERS)])


def check_input(checks, crocprof, programs):
    """Each run reads the same standard input, if that is a file."""
    script = 'read words; exec "%s" $words' % os.path.join(programs, "geometry")
    with tempfile.TemporaryDirectory() as directory, tempfile.TemporaryFile("w+") as words:
        words.write("4x1x1:64x1x1\n")
        words.seek(0)
        done = subprocess.run([crocprof, "-d", directory, "-e", ",".join(COUNTERS), "sh", "-c",
                               script], stdin=words, capture_output=True, text=True, timeout=120)
        checks.equal("input: status", done.returncode, 0)
        checks.true("input: the same launches: " + done.stderr, "differ" not in done.stderr)


def check_ends(checks, crocprof):
    """Exit status and death by a signal are the last run's; nothing is left in the file system."""
    many = ["-e", ",".join(COUNTERS)]
    done = subprocess.run([crocprof, *many, "sh", "-c", "exit 7"], capture_output=True, timeout=120)
    checks.equal("status of the program", done.returncode, 7)
    done = subprocess.run([crocprof, *many, "sh", "-c", "kill -KILL $$"], capture_output=True,
                          timeout=120)
    checks.equal("signal of the program", done.returncode, -signal.SIGKILL)
    running = subprocess.Popen([crocprof, *many, "sleep", "60"], stderr=subprocess.PIPE, text=True)
    for line in running.stderr:
        if "runs of the program" in line:
            break
    time.sleep(0.5)
    running.terminate()
    checks.equal("SIGTERM reaches the program", running.wait(timeout=30), -signal.SIGTERM)
    running.stderr.close()


def check_ignored(checks, crocprof, directory):
    """What the caller ignores stays ignored in every run, as nohup and background jobs want it."""
    mask = 1 << signal.SIGHUP - 1 | 1 << signal.SIGINT - 1
    children = 1 << signal.SIGCHLD - 1 # of which shells make their own
    log = os.path.join(directory, "ignored")

    def ignore():
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGCHLD):
            signal.signal(number, signal.SIG_IGN)

    done = subprocess.run([crocprof, "-e", ",".join(COUNTERS), "grep", "SigIgn", "/proc/self/status"],
                          capture_output=True, text=True, timeout=120, preexec_fn=ignore)
    checks.equal("ignored signals: status, " + done.stderr, done.returncode, 0)
    checks.equal("ignored signals: one run is shown", done.stdout.count("SigIgn"), 1)
    checks.equal("ignored signals: all of them", int(done.stdout.split()[1], 16) & (mask | children),
                 mask | children)
    script = 'grep SigIgn /proc/self/status >> "%s"; exit 9' % log
    done = subprocess.run([crocprof, "-e", ",".join(COUNTERS), "sh", "-c", script],
                          capture_output=True, text=True, timeout=120, preexec_fn=ignore)
    checks.equal("ignored signals: the program's status", done.returncode, 9)
    with open(log, encoding="utf-8") as lines:
        ignored = [int(line.split()[1], 16) & mask for line in lines]
    checks.equal("ignored signals: in both runs", ignored, [mask, mask])


def started(crocprof, script, log):
    """Runs the shell script, which logs its beginning, and waits for that of the first run."""
    running = subprocess.Popen([crocprof, "-e", ",".join(COUNTERS), "sh", "-c",
                                'echo begun >> "%s"; %s' % (log, script)], stderr=subprocess.PIPE,
                               text=True, start_new_session=True)
    for _ in range(600):
        if os.path.exists(log):
            break
        time.sleep(0.1)
    return running


def begun(log):
    with open(log, encoding="utf-8") as lines:
        return len(lines.readlines())


def check_one_interrupt(checks, crocprof, directory):
    """One Ctrl-C is enough, also for a program that handles it."""
    log = os.path.join(directory, "interrupted")
    script = 'trap "exit 5" INT; touch "%s.ready"; while :; do sleep 0.1; done' % log
    running = started(crocprof, script, log)
    while not os.path.exists(log + ".ready"):
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    errors = running.communicate(timeout=60)[1]
    checks.equal("interrupt: status", running.returncode, 5)
    checks.equal("interrupt: runs", begun(log), 1)
    checks.true("interrupt: said: " + errors, "ended in run 1 of 2" in errors)


def state_of(pid):
    with open("/proc/%d/stat" % pid, encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def check_between_runs(checks, crocprof, directory):
    """A signal that comes when the first run's program has ended and the second has not begun."""
    log = os.path.join(directory, "between")
    running = started(crocprof, 'kill -STOP $PPID', log)
    while state_of(running.pid) != "T":
        time.sleep(0.05)
    with open("/proc/%d/task/%d/children" % (running.pid, running.pid), encoding="utf-8") as f:
        child = int(f.read().split()[0])
    while state_of(child) != "Z":
        time.sleep(0.05)
    running.send_signal(signal.SIGTERM)
    running.send_signal(signal.SIGCONT)
    errors = running.communicate(timeout=60)[1]
    checks.equal("between runs: runs", begun(log), 1)
    checks.true("between runs: said: " + errors, "ended in run 1 of 2" in errors)


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["TMPDIR"] = tempfile.tempdir = temporary
        check_values(checks, crocprof, [os.path.join(programs, "geometry")] + LAUNCHES)
        check_difference(checks, crocprof, programs)
        check_input(checks, crocprof, programs)
        check_ends(checks, crocprof)
        check_ignored(checks, crocprof, temporary)
        check_one_interrupt(checks, crocprof, temporary)
        check_between_runs(checks, crocprof, temporary)
        checks.equal("left behind", left_over(), [])
    checks.exit()


if __name__ == "__main__":
    main()
