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
    check_waiting_kernels(checks, crocprof, programs)
    checks.exit()


if __name__ == "__main__":
    main()
