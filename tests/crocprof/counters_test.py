"""Counters against the launch geometry, which is the oracle.

    counters_test.py CROCPROF PROGRAMS
"""
import math
import os
import sys

from crocprof_run import Checks, Profile

LAUNCHES = [((1, 1, 1), (1, 1, 1)), ((1, 1, 1), (64, 1, 1)), ((3, 1, 1), (65, 1, 1)),
            ((7, 1, 1), (256, 1, 1)), ((2, 3, 4), (8, 4, 3)), ((5, 1, 1), (1000, 1, 1)),
            ((1, 9, 1), (16, 16, 1))]


def product(values):
    return math.prod(values)


def waves(grid, block):
    return product(grid) * -(-product(block) // 64)


def text(grid, block):
    return "x".join(map(str, grid)) + ":" + "x".join(map(str, block))


def check_waiting_kernels(checks, crocprof, programs):
    """Counting runs kernels one at a time; kernels that wait for each other must end all the same."""
    os.environ["CROCPROF_SERIALIZE_LIMIT_MS"] = "300"
    for program in ("spin", "wait_value"):
        with Profile(crocprof, ["-e", "SQ_WAVES"], [os.path.join(programs, program)]) as p:
            checks.equal(program + ": status", p.status, 0)
            checks.true(program + ": it is said", "wait for each other" in p.stderr)
            names = {r["Kernel_Name"].split("(")[0] for r in p.rows("counter_collection")}
            traced = {r["Kernel_Name"].split("(")[0] for r in p.rows("kernel_trace")}
            checks.equal(program + ": every kernel has counters", names, traced)
    del os.environ["CROCPROF_SERIALIZE_LIMIT_MS"]


def values_of_touch(p):
    """{counter: value} of the program's one launch."""
    return {r["Counter_Name"]: float(r["Counter_Value"]) for r in p.rows("counter_collection")
            if r["Kernel_Name"].startswith("touch")}


def check_instances(checks, crocprof, programs):
    """NAME[n] for every n adds up to NAME; all of them are one event of the hardware."""
    names = ["TCC_REQ[%d]" % n for n in range(32)]
    command = [os.path.join(programs, "geometry"), "7x1x1:256x1x1"]
    with Profile(crocprof, ["-e", ",".join(names + ["TCC_REQ"])], command) as p:
        checks.equal("instances: status", p.status, 0)
        checks.true("instances: one run: " + p.stderr, "runs of the program" not in p.stderr)
        values = values_of_touch(p)
        checks.equal("instances: names", sorted(values), sorted(names + ["TCC_REQ"]))
        checks.true("instances: requests", values.get("TCC_REQ", 0) > 0)
        checks.equal("instances: sum", sum(values.get(n, 0) for n in names), values.get("TCC_REQ"))


def check_shared_level(checks, crocprof, programs):
    """A level beside its total takes no register of its own: 2 + 6 of the eight of the SQ."""
    six = ["SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_LDS", "SQ_INSTS_SMEM",
           "SQ_BUSY_CYCLES"]
    names = ["SQ_LEVEL_WAVES", "SQ_LEVEL_WAVES_ACCUM"] + six
    command = [os.path.join(programs, "geometry"), "7x1x1:256x1x1"]
    with Profile(crocprof, ["-e", ",".join(names)], command) as p:
        checks.equal("shared level: status", p.status, 0)
        checks.true("shared level: one run: " + p.stderr, "runs of the program" not in p.stderr)
        values = values_of_touch(p)
        checks.equal("shared level: names", sorted(values), sorted(names))
        checks.equal("shared level: waves", values.get("SQ_WAVES"), 28.0)
        checks.true("shared level: every wave lived a cycle",
                    values.get("SQ_LEVEL_WAVES_ACCUM", 0) >= 28)


def main():
    crocprof, programs = sys.argv[1:3]
    checks = Checks()
    command = [os.path.join(programs, "geometry")] + [text(g, b) for g, b in LAUNCHES]
    with Profile(crocprof, ["-e", "SQ_WAVES,TCC_HIT_sum,TCC_MISS_sum,TCC_REQ_sum"], command) as p:
        checks.equal("status", p.status, 0)
        rows = [r for r in p.rows("counter_collection") if r["Kernel_Name"].startswith("touch")]
        of = {}
        for r in rows:
            of.setdefault(int(r["Dispatch_Id"]), {})[r["Counter_Name"]] = float(r["Counter_Value"])
            checks.equal("a counter is one row", list(of[int(r["Dispatch_Id"])]).count(
                r["Counter_Name"]), 1)
        checks.equal("dispatches counted", len(of), len(LAUNCHES))
        for (grid, block), dispatch in zip(LAUNCHES, sorted(of)):
            values = of[dispatch]
            checks.equal("SQ_WAVES of " + text(grid, block), values.get("SQ_WAVES"),
                         float(waves(grid, block)))
            checks.equal("hits + misses of " + text(grid, block),
                         values.get("TCC_HIT_sum", 0) + values.get("TCC_MISS_sum", 0),
                         values.get("TCC_REQ_sum"))
            checks.true("requests of " + text(grid, block), values.get("TCC_REQ_sum", 0) > 0)
        traced = {int(r["Dispatch_Id"]): r for r in p.rows("kernel_trace")}
        for (grid, block), dispatch in zip(LAUNCHES, sorted(of)):
            row = traced.get(dispatch, {})
            got = tuple(int(row.get("Grid_Size_" + d, -1)) for d in "XYZ")
            checks.equal("grid of " + text(grid, block), got,
                         tuple(g * b for g, b in zip(grid, block)))
    check_instances(checks, crocprof, programs)
    check_shared_level(checks, crocprof, programs)
    check_waiting_kernels(checks, crocprof, programs)
    checks.exit()


if __name__ == "__main__":
    main()
