"""More counters than one run can collect: several runs, one result.

    passes_test.py CROCPROF PROGRAMS FULL_DISK
"""
import glob
import os
import re
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
        checks.true("each pass is announced: " + p.stderr,
                    "pass 1 of 2\n" in p.stderr and "pass 2 of 2\n" in p.stderr)
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
            checks.true("difference: it is said: " + p.stderr, "the passes differ" in p.stderr)
            touched = [v for (k, n), v in values_of(p.rows("counter_collection")).items()
                       if k.startswith("touch")]
            checks.equal("difference: what agrees is merged", [len(v) for v in touched],
                         [len(COUNTERS)])


def check_pauses(checks, crocprof, programs):
    """roctxProfilerPause and regions choose the same launches in each run: seven of ten, or those of the regions."""
    regions = os.path.join(programs, "regions")
    for options in ([], ["--selected-regions"], ["--selected-regions-ref-count"], ["-P", "0:3600:1"], ["--no-marker-trace"]):
        with Profile(crocprof, ["-e", "SQ_WAVES", "-e", "GRBM_COUNT", *options], [regions]) as p:
            checks.true("pauses %r: the same launches: %s" % (options, p.stderr), p.status == 0 and "differ" not in p.stderr)
            launched = sorted(row["Dispatch_Id"] for row in p.rows("kernel_trace"))
            for counter in ("SQ_WAVES", "GRBM_COUNT"):
                counted = sorted(row["Dispatch_Id"] for row in p.rows("counter_collection") if row["Counter_Name"] == counter)
                checks.true("pauses %r: %s of the launches: %d" % (options, counter, len(counted)), counted == launched != [])


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


def check_piped_input(checks, crocprof, programs):
    """A pipe whose writer keeps it open: each run reads the same, and nobody waits for its end."""
    script = 'read words; exec "%s" $words' % os.path.join(programs, "geometry")
    with tempfile.TemporaryDirectory() as directory:
        running = subprocess.Popen([crocprof, "-d", directory, "-e", ",".join(COUNTERS), "sh", "-c", script],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True)
        running.stdin.write("4x1x1:64x1x1\n")
        running.stdin.flush()
        done, stderr = running.stdout.read(), running.stderr.read()
        checks.equal("piped input: status", running.wait(timeout=60), 0)
        running.stdin.close()
        checks.true("piped input: " + done, "geometry: ok" in done)
        checks.true("piped input: the same launches: " + stderr, "differ" not in stderr)
    # the program says what it has read; half of it comes when the first run has ended
    log = os.path.join(tempfile.gettempdir(), "read")
    script = 'cat >>"%s"; echo >>"%s"' % (log, log)
    text = "".join("line %d\n" % i for i in range(50000))
    done = subprocess.run([crocprof, "-e", ",".join(COUNTERS), "sh", "-c", script], input=text, text=True,
                          capture_output=True, timeout=120)
    with open(log, encoding="utf-8") as f:
        checks.true("piped input: all of it, twice", f.read() == 2 * (text + "\n"))
    os.unlink(log)
    env = dict(os.environ, CROCPROF_INPUT_MAX_BYTES="1000")
    done = subprocess.run([crocprof, "-e", ",".join(COUNTERS), "sh", "-c", "wc -c >&2"], input=text, text=True,
                          capture_output=True, timeout=120, env=env)
    checks.true("piped input: what is too long is said: " + done.stderr,
                "cannot be kept whole" in done.stderr and "\n%d\n" % len(text) in done.stderr)


def check_kept(checks, crocprof, programs):
    """What was counted stays: when a pass crashes, the others are there; when it is interrupted, those
    before are written."""
    geometry, first, second = os.path.join(programs, "geometry"), COUNTERS[0], COUNTERS[4]
    options = ["-e", "SQ_WAVES", "-e", first, "-e", second] # the first line is the last pass
    with tempfile.TemporaryDirectory() as directory:
        count = 'n=$(($(cat "%s/n" 2>/dev/null)+1)); echo $n >"%s/n";' % (directory, directory)
        run = '"%s" 4x1x1:64x1x1 || exit 3;' % geometry
        script = count + 'if [ $n = 2 ]; then kill -SEGV $$; fi;' + run
        with Profile(crocprof, options, ["sh", "-c", script]) as p:
            checks.equal("crash of a pass: status", p.status, -signal.SIGSEGV)
            checks.true("crash of a pass: said: " + p.stderr,
                        "pass 2 of 3 was ended by a signal" in p.stderr and second in p.stderr)
            names = {r["Counter_Name"] for r in p.rows("counter_collection")}
            checks.equal("crash of a pass: the others' counters", names, {first, "SQ_WAVES"})
        os.unlink(os.path.join(directory, "n"))
        script = count + 'if [ $n = 3 ]; then kill -KILL $$; fi;' + run
        with Profile(crocprof, options + ["-f", "csv,rocpd"], ["sh", "-c", script]) as p:
            checks.equal("killed last pass: status", p.status, -signal.SIGKILL)
            names = {r["Counter_Name"] for r in p.rows("counter_collection")}
            checks.equal("killed last pass: what was counted before", names, {first, second})
        os.unlink(os.path.join(directory, "n"))
        script = count + run + 'if [ $n = 2 ]; then kill -TERM $PPID; exec sleep 20; fi'
        with Profile(crocprof, options + ["-f", "csv,rocpd"], ["sh", "-c", script]) as p:
            checks.equal("interrupted pass: status", p.status, -signal.SIGTERM)
            checks.true("interrupted pass: said: " + p.stderr, re.search(
                r"ended in pass 2 of 3 \(Terminated\).*: SQ_WAVES, %s\n" % second, p.stderr))
            rows = p.rows("counter_collection")
            with Profile(crocprof, ["-e", first + "," + second], [geometry, "4x1x1:64x1x1"]) as whole:
                checks.equal("interrupted pass: values", values_of(rows),
                             values_of(whole.rows("counter_collection")))
            checks.equal("interrupted pass: in the database", p.query(
                "SELECT count(*) FROM counters_collection")[0][0], len(rows))
            checks.true("interrupted pass: where: " + p.stderr,
                        "files: " + p.directory in p.stderr.splitlines()[-1])


def check_faults(checks, crocprof, programs, full_disk, temporary):
    """A disk that is full for what passes leave, nobody who reads what is said: the program
    runs as ever, the last pass's counters are there, and it is said which are not."""
    command = [os.path.join(programs, "geometry"), "4x1x1:64x1x1"]
    last, other = ["SQ_WAVES"], COUNTERS[0]
    options = ["--no-summary", "-f", "csv,rocpd", "-e", "SQ_WAVES", "-e", other]
    full = {"LD_PRELOAD": full_disk, "FULL_DISK": os.path.join(temporary, "crocprof-")}
    with Profile(crocprof, [], ["true"]) as p:
        done = subprocess.run([crocprof, *options, "-d", p.directory, *command], capture_output=True, text=True,
                              timeout=120, env=dict(os.environ, **full))
        checks.equal("full disk: status", done.returncode, 0)
        checks.true("full disk: said: " + done.stderr,
                    "No space left" in done.stderr and "some values are missing" in done.stderr)
        names = {r["Counter_Name"] for r in p.rows("counter_collection")}
        checks.equal("full disk: what the last pass has", sorted(names), last)

    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([crocprof, *options, *command], stdout=subprocess.DEVNULL, stderr=writer, timeout=120,
                          preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
    os.close(writer)
    checks.equal("closed pipe: status", done.returncode, 0)


def check_many(checks, crocprof, programs):
    """More than 256 in one call."""
    events = ["HIT", "MISS", "REQ", "READ", "WRITE", "ATOMIC", "STREAMING_REQ", "PROBE", "TAG_STALL"]
    names = ["TCC_%s[%d]" % (event, i) for event in events for i in range(32)]
    with Profile(crocprof, ["--no-summary", "-f", "csv", "-e", ",".join(names)],
                 [os.path.join(programs, "geometry"), "4x1x1:64x1x1"]) as p:
        checks.equal("many counters: status", p.status, 0)
        touched = [v for (k, n), v in values_of(p.rows("counter_collection")).items()
                   if k.startswith("touch")]
        checks.equal("many counters: all %d of them" % len(names), [sorted(v) for v in touched],
                     [sorted(names)])


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
    checks.true("interrupt: said: " + errors, "ended in pass 1 of 2" in errors)


def check_hangup(checks, crocprof, directory):
    """SIGHUP that ends the program is the end of all runs; one that it handles is its own affair."""
    for trap, status, runs in (("", -signal.SIGHUP, 1), ('trap "exit 5" HUP; ', 5, 2)):
        log = os.path.join(directory, "hangup%d" % runs)
        script = trap + 'touch "%s.$$.ready"; [ $(wc -l <"%s") = 2 ] && exit 5; while :; do sleep 0.1; done' % (log, log)
        running = started(crocprof, script, log)
        while not any(name.endswith(".ready") and "hangup%d" % runs in name for name in os.listdir(directory)):
            time.sleep(0.05)
        running.send_signal(signal.SIGHUP)
        errors = running.communicate(timeout=60)[1]
        checks.equal("hangup %s: status (%s)" % (trap, errors), running.returncode, status)
        checks.equal("hangup %s: runs" % trap, begun(log), runs)
        checks.equal("hangup %s: said: %s" % (trap, errors), "ended in pass 1 of 2 (Hangup)" in errors, runs == 1)


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
    checks.true("between runs: said: " + errors, "ended in pass 1 of 2" in errors)


def main():
    crocprof, programs, full_disk = sys.argv[1:4]
    checks = Checks()
    with tempfile.TemporaryDirectory() as temporary:
        os.environ["TMPDIR"] = tempfile.tempdir = temporary
        check_values(checks, crocprof, [os.path.join(programs, "geometry")] + LAUNCHES)
        check_difference(checks, crocprof, programs)
        check_pauses(checks, crocprof, programs)
        check_input(checks, crocprof, programs)
        check_piped_input(checks, crocprof, programs)
        check_kept(checks, crocprof, programs)
        check_faults(checks, crocprof, programs, full_disk, temporary)
        check_many(checks, crocprof, programs)
        check_ends(checks, crocprof)
        check_ignored(checks, crocprof, temporary)
        check_one_interrupt(checks, crocprof, temporary)
        check_hangup(checks, crocprof, temporary)
        check_between_runs(checks, crocprof, temporary)
        checks.equal("left behind", left_over(), [])
    checks.exit()


if __name__ == "__main__":
    main()
