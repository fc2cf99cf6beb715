"""Nothing is lost and nothing changed, however the program ends.

    endings_test.py CROCPROF PROGRAMS REPEAT
"""
import os
import signal
import sys

from crocprof_run import Checks, Profile

LAUNCHES, COPIES = 37, 5
STATUS = 23
WAYS = {"return": STATUS, "exit": STATUS, "_exit": STATUS, "quick_exit": STATUS,
        "thread": STATUS, "thread_exit": STATUS,
        "abort": -signal.SIGABRT, "term": -signal.SIGTERM}


def run_one(checks, crocprof, program, way, expected):
    with Profile(crocprof, [], [program, str(LAUNCHES), str(COPIES), way]) as p:
        checks.equal("%s: status" % way, p.status, expected)
        kernels = p.rows("kernel_trace")
        checks.equal("%s: kernels" % way, len(kernels), LAUNCHES)
        checks.equal("%s: dispatch ids" % way,
                     sorted(int(r["Dispatch_Id"]) for r in kernels),
                     list(range(1, LAUNCHES + 1)))
        copies = p.rows("memory_copy_trace")
        checks.equal("%s: copies" % way,
                     sum(r["Direction"] == "MEMORY_COPY_HOST_TO_DEVICE" for r in copies), COPIES)
        checks.equal("%s: kernels in the database" % way,
                     p.query("SELECT count(*) FROM kernels"), [(LAUNCHES,)])


def main():
    crocprof, programs, repeat = sys.argv[1], sys.argv[2], int(sys.argv[3])
    checks = Checks()
    for _ in range(repeat):
        for way, status in WAYS.items():
            run_one(checks, crocprof, os.path.join(programs, "endings"), way, status)
    checks.exit()


if __name__ == "__main__":
    main()
