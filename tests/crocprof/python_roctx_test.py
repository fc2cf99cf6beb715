"""The Python module `roctx`: what a Python program marks is in the files.

    python_roctx_test.py CROCPROF
"""
import os
import subprocess
import sys

from crocprof_run import Checks, Profile

SCRIPT = """
import threading
import roctx
from roctx.context_decorators import RoctxProfiler, RoctxRange

@RoctxRange()
def named(depth):
    return depth and named(depth - 1)

@RoctxRange("said")
def said():
    raise KeyError("passes through")

roctx.mark("moment")
assert roctx.rangePush("outer") == 0 and roctx.rangePush("inner") == 1
assert roctx.rangePop() == 1 and roctx.rangePop() == 0
whole = roctx.rangeStart("whole \\u00e4")
threads = [threading.Thread(target=named, args=(2,)) for _ in range(4)]
[t.start() for t in threads] and [t.join() for t in threads]
try:
    said()
except KeyError:
    pass
with RoctxRange("block") as level:
    assert level == 0
with RoctxRange() as nothing:
    pass
roctx.rangeStop(whole)
roctx.mark(None)
for wrong in (5, b"x"):
    try:
        roctx.rangePush(wrong)
        assert False
    except TypeError:
        pass
roctx.mark("cut\\0here")
assert roctx.getThreadId() == threading.get_native_id()
roctx.nameOsThread("main")
roctx.profilerPause()
roctx.mark("in a pause")
with RoctxProfiler():
    roctx.mark("resumed")
roctx.mark("paused again")
print("done")
"""
WANTED = ["block", "cut", "inner", "moment", *12 * ["named"], "outer", "resumed", "said", "whole \u00e4"]


def main():
    crocprof = os.path.abspath(sys.argv[1])
    site = os.path.join(os.path.dirname(os.path.dirname(crocprof)), "lib", "python3", "site-packages")
    os.environ["PYTHONPATH"] = site
    checks = Checks()
    alone = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=60)
    checks.equal("without a profiler: " + alone.stderr, (alone.returncode, alone.stdout), (0, "done\n"))
    for name in ("crocprof", "rocprofv3"):
        command = os.path.join(os.path.dirname(crocprof), name)
        with Profile(command, ["--marker-trace", "-f", "csv", "-o", "x"], [sys.executable, "-c", SCRIPT]) as p:
            checks.equal(name + ": status: " + p.stderr, p.status, 0)
            rows = [row["Function"] for row in p.rows("marker_api_trace") if row["Domain"] != "MARKER_CONTROL_API"]
            checks.equal(name + ": markers", sorted(rows), WANTED)
    checks.exit()


if __name__ == "__main__":
    main()
