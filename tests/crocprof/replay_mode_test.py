"""--replay-mode kernel: counters that need several passes, from one run of the program.

    replay_mode_test.py CROCPROF PROGRAMS EXAMPLES
"""
import collections
import os
import sys

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
    for dispatch in ALONE:
        checks.equal(f"dispatch {dispatch}", one[dispatch], several[dispatch])
    # One pass each, and not always the same one: several launches have all counters.
    for dispatch in SHARED:
        checks.true(f"dispatch {dispatch} has one pass", 0 < len(one[dispatch]) < len(COUNTERS))
    for half in (SHARED[:4], SHARED[4:]):
        checks.equal("all counters in four launches", sorted({c for d in half for c in one[d]}), sorted(COUNTERS))
    for dispatch in SHARED:
        checks.equal(f"values of {dispatch}", one[dispatch], {c: several[dispatch][c] for c in one[dispatch]})


def other_programs(checks, crocprof, examples):
    """Their own results are checked by themselves."""
    for name in ("vector_add", "reduction"):
        program = [os.path.join(examples, name)]
        several, _ = counted(checks, crocprof, [], program, "ok")
        one, _ = counted(checks, crocprof, ["--replay-mode", "kernel"], program, "ok")
        checks.equal(name, one, several)


def filtered_kernels(checks, crocprof, program):
    options = ["--replay-mode", "kernel", "--kernel-include-regex", "^sum"]
    one, _ = counted(checks, crocprof, options, [program], "replayed: ok")
    checks.equal("one kernel, all counters", [sorted(v) for v in one.values()], [sorted(COUNTERS)])


def main():
    crocprof, programs, examples = sys.argv[1:]
    checks = Checks()
    replayed = os.path.join(programs, "replayed")
    repeated_kernels(checks, crocprof, replayed)
    filtered_kernels(checks, crocprof, replayed)
    other_programs(checks, crocprof, examples)
    checks.exit()


if __name__ == "__main__":
    main()
