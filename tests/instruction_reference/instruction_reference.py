#!/usr/bin/env python3
"""Single instructions on the software GPU against references written from their descriptions, bit for bit.

instruction_reference.py --runner RUNNER --crocgpu CROCGPU [--arch gfx90a] [--root ROOT] [--seed 1]
                         [--rounds 1] [--only TEXT] [--work DIR]

Each round tests every instruction that LLVM's assembler has for the GPU once (every encoding it has) with
64 lanes of drawn operands; a scalar one 24 times. A difference prints the instruction, operands, both results
and how to repeat it. The last line says how many instructions ran; the exit status is 0, 1, or 77 without the tools."""
import argparse
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from families import families  # noqa: E402
from kernels import ScalarKernel, VectorKernel  # noqa: E402
from operands import LANES, width_of  # noqa: E402
from results import same  # noqa: E402
from scalar_cases import ScalarCase  # noqa: E402

SCRIPTS = os.path.join(HERE, "../../scripts")
RETARGET = os.path.join(HERE, "../counters/retarget.py")
CASES_A_KERNEL, ROUNDS_AT_ONCE, SCALAR_DRAWS = 400, 4, 24
NAMES_AT_LEAST = 1000 # each GPU has more: fewer means that the assembler takes what we write no longer


class Tester:
    def __init__(self, options, work):
        self.options, self.work = options, work
        self.assembled_for = "gfx940" if options.arch == "gfx942" else options.arch
        self.differences = self.lanes = self.instructions = 0
        self.names = set()

    def known(self, drawn):
        """Those of (name, case) whose instruction the assembler takes."""
        text = "\n".join(case.line for _, case in drawn) + "\n"
        done = subprocess.run([self.options.llvm_mc, "-arch=amdgcn", "-mcpu=" + self.assembled_for, "-filetype=null"],
                              input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, universal_newlines=True, check=False)
        wrong = {int(n) for n in re.findall(r"^<stdin>:(\d+):\d+: error", done.stderr, re.M)}
        if self.options.verbose:
            for n, line in sorted(set(re.findall(r"^<stdin>:(\d+):\d+: (error: .*)", done.stderr, re.M))):
                print("%s: %s" % (drawn[int(n) - 1][1].line, line))
        return [d for n, d in enumerate(drawn, 1) if n not in wrong]

    def object_of(self, base, kernel, cases):
        with open(base + ".s", "w", encoding="utf-8") as file:
            file.write(kernel.assembly(cases, self.assembled_for))
        subprocess.run([self.options.llvm_mc, "-arch=amdgcn", "-mcpu=" + self.assembled_for, "-triple=amdgcn-amd-amdhsa",
                        "-filetype=obj", base + ".s", "-o", base + ".o"], check=True)
        subprocess.run([self.options.lld, "-shared", base + ".o", "-o", base + ".co"], check=True)
        if self.assembled_for != self.options.arch:
            subprocess.run([sys.executable, RETARGET, base + ".co", base + ".co"], check=True)

    def gpu(self, kernel, batches):
        """Runs all kernels in one process. Those that run their cases again do so as translated code."""
        environment, command = dict(os.environ), [self.options.crocgpu, self.options.runner]
        environment["CROCGPU_DEVICES"] = self.options.arch
        if kernel.PASSES > 1:
            environment["CROCGPU_TRANSLATE"] = "always"
        if self.options.root: # the launcher would load this machine's loader
            command = [os.path.join(SCRIPTS, "debian_run.sh"), self.options.root, self.options.runner]
            environment["LD_PRELOAD"] = os.path.join(os.path.dirname(os.path.abspath(self.options.crocgpu)),
                                                     "../lib/libcrocgpu.so")
        lines = "".join("%s.co %s.in %s.out %d\n" % (b, b, b, len(c) * kernel.OUT_BYTES * kernel.PASSES) for b, c in batches)
        done = subprocess.run(command, input=lines, universal_newlines=True, env=environment, check=False)
        return done.returncode

    def report(self, name, line, details):
        self.differences += 1
        if self.differences > 40:
            return
        print("DIFFERENT on %s: %s\n  %s\n  again: instruction_reference.py --arch %s --seed %d --rounds %d --only %s" % (
            self.options.arch, line, details, self.options.arch, self.options.seed, self.options.rounds, name))

    def compare_lanes(self, drawn, out):
        for number, (name, case) in enumerate(drawn):
            rows = [struct.unpack_from("<%dQ" % LANES, out, number * VectorKernel.OUT_BYTES + 512 * n) for n in range(4)]
            masks = {"s[22:23]": rows[1][0], "vcc": rows[2][0], "exec": rows[3][0]}
            for lane in range(LANES):
                for where, kind, shift, wanted in case.wanted(lane):
                    self.lanes += 1
                    if where == "mask":
                        got, equal = masks[kind] >> lane & 1, (masks[kind] >> lane & 1) == wanted
                    else:
                        got = rows[0][lane] >> shift & (1 << width_of(kind)) - 1
                        equal = same(kind, wanted, got)
                    if not equal:
                        sources = " ".join("v%d=%016x" % (2 + 2 * slot, lanes[lane])
                                           for slot, lanes in sorted(case.sources.items()))
                        self.report(name, case.line, "lane %d: %s s24=%x old=%016x mask bit %d mode %03x\n"
                                    "  %s: reference %x, GPU %x" % (
                                        lane, sources, case.scalar_value, case.old[lane], case.mask >> lane & 1,
                                        case.mode.bits(), kind if where == "mask" else where, wanted, got))
                        break
                else:
                    continue
                break # one lane of an instruction says enough

    def compare_registers(self, drawn, out):
        for number, (name, case) in enumerate(drawn):
            for n in range(ScalarKernel.PASSES):
                at = (n * len(drawn) + number) * ScalarKernel.OUT_BYTES
                self.lanes += len(case.after)
                different = ["%s: reference %x, GPU %x" % d for d in ScalarKernel.differences(case, out, at, self.options.arch)]
                if different:
                    self.report(name, case.line, "%s\n  pass %d: %s" % (" ".join(
                        "%s=%x" % pair for pair in case.before.items()), n + 1, "; ".join(different[:6])))
                    break

    def round(self, rng_seed):
        drawn = []
        for name, function in families():
            if self.options.only in name:
                drawn.append((name, function(random.Random("%s %d" % (name, rng_seed)))))
                for n in range(1, SCALAR_DRAWS if name.startswith("s_") else 1):
                    drawn.append((name, function(random.Random("%s %d %d" % (name, rng_seed, n)))))
        return self.known(drawn)

    def executed(self, kernel, drawn, compare):
        """Assembles, runs, compares. False if the runner failed."""
        batches = []
        for at in range(0, len(drawn), CASES_A_KERNEL):
            base, some = os.path.join(self.work, "%s%d" % (kernel.__name__, at)), drawn[at:at + CASES_A_KERNEL]
            self.object_of(base, kernel, [case for _, case in some])
            with open(base + ".in", "wb") as file:
                for _, case in some:
                    file.write(kernel.read_by(case))
            batches.append((base, some))
        status = self.gpu(kernel, batches) if batches else 0
        if status:
            print("the runner ended with status %d" % status)
            return False
        for base, some in batches:
            with open(base + ".out", "rb") as file:
                compare(some, file.read())
        return True

    def some_rounds(self, seeds):
        """False if the runner failed."""
        drawn = [d for seed in seeds for d in self.round(seed)]
        scalar = [d for d in drawn if isinstance(d[1], ScalarCase)]
        vector = [d for d in drawn if not isinstance(d[1], ScalarCase)]
        self.instructions += len(drawn)
        self.names |= {name for name, _ in drawn}
        return self.executed(VectorKernel, vector, self.compare_lanes) and self.executed(
            ScalarKernel, scalar, self.compare_registers)

    def run(self):
        seeds = range(self.options.seed, self.options.seed + self.options.rounds)
        for at in range(0, len(seeds), ROUNDS_AT_ONCE):
            if not self.some_rounds(seeds[at:at + ROUNDS_AT_ONCE]):
                return 1
        print("%d instructions (%d names) on %s, %d results, %d instructions differ" % (
            self.instructions, len(self.names), self.options.arch, self.lanes, self.differences))
        return self.differences != 0 or (not self.options.only and len(self.names) < NAMES_AT_LEAST)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arch", default="gfx90a")
    parser.add_argument("--runner", required=True)
    parser.add_argument("--crocgpu", required=True)
    parser.add_argument("--root", help="of another Debian release (scripts/debian_root.sh)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--work", help="folder for kernels and operands, kept")
    parser.add_argument("--verbose", action="store_true", help="say what the assembler does not take")
    parser.add_argument("--llvm-mc", default="llvm-mc-15")
    parser.add_argument("--lld", default="ld.lld-15")
    options = parser.parse_args()
    for tool in (options.llvm_mc, options.lld):
        if not shutil.which(tool):
            print("no %s: skipped" % tool)
            return 77
    if options.work:
        os.makedirs(options.work, exist_ok=True)
        return Tester(options, options.work).run()
    with tempfile.TemporaryDirectory() as work:
        return Tester(options, work).run()


if __name__ == "__main__":
    sys.exit(main())
