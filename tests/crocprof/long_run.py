"""Many launches through every streaming writer: nothing is lost, and memory does not grow with them.

    long_run.py CROCPROF PROGRAMS [COUNT]
"""
import os
import subprocess
import sys

from crocprof_run import Checks, Profile

LIMIT_KB = 64 << 10


def peak_of(text):
    return int(text.split("VmHWM:")[1].split()[0])


def main():
    crocprof, programs = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 50000
    checks = Checks()
    program = os.path.join(programs, "launches")
    crocgpu = os.path.join(os.path.dirname(crocprof), "crocgpu")
    alone = peak_of(subprocess.run([crocgpu, program, "1000"], capture_output=True, text=True, timeout=60).stdout)
    with Profile(crocprof, ["--no-summary", "-f", "csv,rocpd,pftrace"], [program, str(count)],
                 timeout=60 + count // 2000) as p:
        checks.equal("status", p.status, 0)
        peak = peak_of(p.result.stdout)
        print("%d launches: %d MB, %d MB without the profiler" % (count, peak >> 10, alone >> 10))
        checks.true("memory: %d KB, %d KB without the profiler" % (peak, alone), peak - alone < LIMIT_KB)
        for table in ("kernel_trace", "hip_api_trace"):
            files = [f for f in os.listdir(p.directory) if f.endswith("_%s.csv" % table)]
            with open(os.path.join(p.directory, files[0]), encoding="utf-8") as f:
                name = "empty()" if table == "kernel_trace" else '"hipLaunchKernel"'
                checks.equal("rows of " + table, sum(name in line for line in f), count)
        checks.equal("kernels in the database", p.query("SELECT count(*) FROM kernels"), [(count,)])
    checks.exit()


if __name__ == "__main__":
    main()
