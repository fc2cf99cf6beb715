"""Modelled time against an MI210: what each kernel of tests/programs/speeds moves or computes in a
second, by the clock that counters see, is 0.7 to 1.4 of what is published of the hardware.

    speeds_test.py CROCPROF SPEEDS
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crocprof"))
from crocprof_run import Checks, Profile  # noqa: E402

CLOCK_HZ = 1.7e9
PUBLISHED = {  # in a second
    "triad": 1.35e12,      # bytes; STREAM-like programs on an MI210: 1.3 to 1.4 TB/s of 1.64
    "resident": 3.7e12,    # bytes; measured from L2: 3.5 to 4 TB/s
    "local": 22.6e12,      # bytes; 128 a cycle and unit
    "fma64": 22.6e12,      # operations: AMD's data sheet, as the next two
    "mfma64": 45.3e12,
    "mfma16": 181e12,
}


def main():
    crocprof, program = sys.argv[1:3]
    checks = Checks()
    with Profile(crocprof, ["--no-summary", "-e", "GRBM_GUI_ACTIVE"], [program]) as p:
        checks.equal("status", p.status, 0)
        amounts = dict(line.split()[1:] for line in p.stdout.splitlines()
                       if line.startswith("speed "))
        cycles = {row["Kernel_Name"].split("::")[-1].split("(")[0]: float(row["Counter_Value"])
                  for row in p.rows("counter_collection")}
    checks.equal("kernels", sorted(cycles), sorted(PUBLISHED))
    for kernel, published in PUBLISHED.items():
        ratio = float(amounts[kernel]) * CLOCK_HZ / cycles[kernel] / published
        print("%-10s %8.0f cycles: %.2f of what is published" % (kernel, cycles[kernel], ratio))
        checks.true(kernel, 0.7 <= ratio <= 1.4)
    checks.exit()


main()
