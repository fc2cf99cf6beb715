"""--replay-mode kernel: counters that need several passes, from one run of the program.

    replay_mode_test.py CROCPROF PROGRAMS EXAMPLES
"""
import collections
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from crocprof_run import Checks, Profile

# More events of sequencers and of the L2 than one pass has registers for.
COUNTERS = ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_LDS", "SQ_INSTS_VMEM_RD",
            "SQ_INSTS_VMEM_WR", "SQ_INSTS_SMEM", "SQ_INSTS_FLAT", "SQ_INSTS", "TCC_HIT", "TCC_MISS", "TCC_REQ",
            "TCC_READ", "TCC_WRITE", "TCC_ATOMIC"]
# Launches of replayed.cpp: those of one thread, and those that write pinned or managed memory.
ALONE, SHARED = range(1, 8), range(8, 16)


def values_of(rows):
    values = collections.defaultdict(dict)
    for row in rows:
        dispatch, counter = int(row["Dispatch_Id"]), row["Counter_Name"]
        assert counter not in values[dispatch], (dispatch, counter)
        values[dispatch][counter] = float(row["Counter_Value"])
    return values


def counted(checks, crocprof, options, command, word):
    with Profile(crocprof, options + ["-e", ",".join(COUNTERS)], command) as p:
        checks.equal("status " + p.stderr, p.status, 0)
        checks.true("the program's own check: " + p.result.stdout, word in p.result.stdout)
        return values_of(p.rows("counter_collection")), p.stderr


def repeated_kernels(checks, crocprof, program):
    several, said = counted(checks, crocprof, [], [program], "replayed: ok")
    checks.true("several runs: " + said, "2 runs of the program" in said)
    one, said = counted(checks, crocprof, ["--replay-mode", "kernel"], [program], "replayed: ok")
    checks.true("one run: " + said, "runs of the program" not in said)
    checks.true("it says why some are not repeated: " + said, "the host or another device uses as well" in said)
    checks.equal("launches", sorted(one), sorted(several))
    fewer_passes_are_told(checks, said, 2)
    for dispatch in ALONE:
        checks.equal(f"dispatch {dispatch}", one[dispatch], several[dispatch])
    # One pass each, and not always the same one: several launches have all counters.
    for dispatch in SHARED:
        checks.true(f"dispatch {dispatch} has one pass", 0 < len(one[dispatch]) < len(COUNTERS))
    for half in (SHARED[:4], SHARED[4:]):
        checks.equal("all counters in four launches", sorted({c for d in half for c in one[d]}), sorted(COUNTERS))
    for dispatch in SHARED:
        checks.equal(f"values of {dispatch}", one[dispatch], {c: several[dispatch][c] for c in one[dispatch]})


def fewer_passes_are_told(checks, said, passes):
    """Pinned and managed memory has one pass a launch; a copying thread may end a loop of another one's kernel."""
    sentence = re.search(r"(\d+) of 30 launches had fewer passes than their counters need, and lack those of the "
                         r"others \((\d+) of (\d+) passes\)", said)
    checks.true("it says how many launches had fewer passes: " + said, sentence)
    if not sentence:
        return
    launches, lacking, wanted = (int(n) for n in sentence.groups())
    checks.true(f"8 launches, or some more: {launches}", 8 <= launches <= 8 + 3)
    checks.equal("passes wanted", wanted, 30 * passes)
    checks.true(f"passes missing: {lacking}", launches <= lacking <= launches * (passes - 1))
    checks.equal("in the closing lines and in the tables", said.count(sentence.group(0)), 2)
    reasons = re.search(r"(\d+) of 30 launches ran not as often as asked for: .*it writes memory that the host or "
                        r"another device uses as well \((\d+)\)", said)
    checks.true("and why: " + said, reasons and int(reasons.group(1)) == launches and int(reasons.group(2)) >= 8)


def groups_of_counters(checks, crocprof, program):
    """Lines of --pmc, groups that otherwise take turns, jobs that are passes: one run, and each launch of one
    thread has all of them."""
    groups = [["SQ_WAVES", "SQ_INSTS_VALU"], ["TCC_HIT", "TCC_MISS"], ["TCC_READ"]]
    wanted, _ = counted_of(checks, crocprof, [w for g in groups for w in ("-e", ",".join(g))], program)
    ways = {"lines": ([w for g in groups for w in ("-e", ",".join(g))], None),
            "turns": ([], {"jobs": [{"pmc_groups": groups, "pmc_group_interval": 2}]}),
            "jobs": ([], {"job_replay_mode": "kernel", "jobs": [{"pmc": g} for g in groups]})}
    for way, (options, jobs) in ways.items():
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            if jobs:
                file.write(json.dumps(jobs))
                file.flush()
                options = ["-i", file.name]
            seen, said = counted_of(checks, crocprof, ["--replay-mode", "kernel", *options], program)
        checks.true(f"{way}: one run: " + said, "runs of the program" not in said)
        for dispatch in ALONE:
            checks.equal(f"{way}: dispatch {dispatch}", seen[dispatch], wanted[dispatch])
        for dispatch in SHARED:
            checks.true(f"{way}: dispatch {dispatch} has one group", sorted(seen[dispatch]) in map(sorted, groups))
        fewer_passes_are_told(checks, said, len(groups))


def counted_of(checks, crocprof, options, program):
    with Profile(crocprof, options, [program]) as p:
        checks.equal("status " + p.stderr, p.status, 0)
        checks.true("the program's own check: " + p.stdout, "replayed: ok" in p.stdout)
        return values_of(p.rows("counter_collection")), p.stderr


def lines_of_rocprofv3(checks, crocprof, program):
    """Files of one run, without a folder for each --pmc."""
    rocprofv3 = os.path.join(os.path.dirname(crocprof), "rocprofv3")
    with tempfile.TemporaryDirectory() as directory:
        done = subprocess.run([rocprofv3, "--replay-mode", "kernel", "--kernel-replay-beta-enabled", "--pmc", "SQ_WAVES",
                               "--pmc", "TCC_HIT", "-f", "csv", "-d", directory, "--", program],
                              capture_output=True, text=True, timeout=120)
        files = [f for _, _, names in os.walk(directory) for f in names if f.endswith("counter_collection.csv")]
        checks.equal("rocprofv3: status " + done.stderr, done.returncode, 0)
        checks.equal("rocprofv3: one file", len(files), 1)
        checks.equal("rocprofv3: in no folder of its own", [d for d in os.listdir(directory) if d.startswith("pass_")], [])


def interrupted(checks, crocprof, program):
    """The signal comes while the launching thread copies memory, most of the time: the report is completed."""
    for launches in (3, 6, 10):
        with tempfile.TemporaryDirectory() as directory:
            run = subprocess.Popen([crocprof, "--replay-mode", "kernel", "-e", ",".join(COUNTERS), "-f", "csv", "-d",
                                    directory, "--", "stdbuf", "-oL", program, "large", "96", "1000"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True)
            while f"launch {launches}:" not in run.stdout.readline():
                pass
            begun = time.monotonic()
            os.killpg(run.pid, signal.SIGINT)
            said = run.communicate(timeout=60)[1]
            took = time.monotonic() - begun
            checks.true(f"interrupted: it ended by the signal: {run.returncode}", run.returncode in (-signal.SIGINT, 130))
            checks.true("interrupted: its report is complete: " + said, "before it could complete" not in said)
            rows = [f for f in os.listdir(directory) if f.endswith("counter_collection.csv")]
            checks.equal("interrupted: it has counters", len(rows), 1)
            checks.true(f"interrupted: nobody waited for somebody who cannot come ({took:.1f} s)", took < 9)


def other_programs(checks, crocprof, examples):
    """Their own results are checked by themselves."""
    for name in ("vector_add", "reduction"):
        program = [os.path.join(examples, name)]
        several, _ = counted(checks, crocprof, [], program, "ok")
        one, _ = counted(checks, crocprof, ["--replay-mode", "kernel"], program, "ok")
        checks.equal(name, one, several)


def filtered_kernels(checks, crocprof, program):
    options = ["--replay-mode", "kernel", "--kernel-include-regex", "^sum"]
    one, said = counted(checks, crocprof, options, [program], "replayed: ok")
    checks.true("all launches had their passes: " + said, "fewer passes" not in said)
    checks.equal("one kernel, all counters", [sorted(v) for v in one.values()], [sorted(COUNTERS)])


def main():
    crocprof, programs, examples = sys.argv[1:]
    checks = Checks()
    replayed = os.path.join(programs, "replayed")
    repeated_kernels(checks, crocprof, replayed)
    filtered_kernels(checks, crocprof, replayed)
    groups_of_counters(checks, crocprof, replayed)
    lines_of_rocprofv3(checks, crocprof, replayed)
    interrupted(checks, crocprof, replayed)
    other_programs(checks, crocprof, examples)
    checks.exit()


if __name__ == "__main__":
    main()
