#!/usr/bin/env python3
"""Random HIP kernels on the software GPU against the host's own computation, bit for bit.

random_kernels.py --seeds 1-20 --runner RUNNER [--crocgpu CROCGPU] [--levels O0,O1,O2,O3,Os]
                  [--arch gfx90a] [--root ROOT] [--work DIR] [--clang clang++-15] [--skip N,N] [--csmith]

Each seed is a program (generate.py, or csmith.py), compiled for the GPU at every level and once for the host. A
program whose results differ is reduced: steps it fails without are left out. --root: under the runtime
of another Debian release, which gfx942 needs; LLVM 15 knows that GPU as gfx940. --gpu-clang: another compiler
for the GPU's side, whose instructions differ by release. The last line says how
many ran and how many failed; the exit status is 0, 1, or 77 if there is no compiler."""
import argparse
import concurrent.futures
import os
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from csmith import CsmithProgram  # noqa: E402
from generate import Program  # noqa: E402

LEVELS = "O0,O1,O2,O3,Os"
COMMON = ["-ffp-contract=off", "-fwrapv", "-w", "-I" + HERE]
# What the programs of a generator are compiled by; "{arch}" is the GPU.
GPU = {Program: ["-std=c++17", "-x", "hip", "--cuda-device-only", "--no-gpu-bundle-output", "-nogpuinc", "-nogpulib",
                 "--offload-arch={arch}"],
       CsmithProgram: ["-std=gnu11", "-x", "c", "--target=amdgcn-amd-amdhsa", "-nogpulib", "-ffreestanding",
                       "-fno-strict-aliasing", "-mcpu={arch}"]} # csmith has pointers to members of unions
HOST = {Program: ["-std=c++17", "-x", "c++", "-O0", "-fPIC", "-shared", "-fno-math-errno"],
        CsmithProgram: ["-std=gnu11", "-x", "c", "-O0", "-fPIC", "-shared", "-fsanitize=float-cast-overflow",
                        "-fsanitize-trap=float-cast-overflow"]}
RUN_LIMIT_S = 300
COMPILE_LIMIT_S = 100
HOST_LIMIT_S = 1 # the GPU is slower
HOST_RUN = """import ctypes, sys
out = (ctypes.c_uint64 * 8192)()
ctypes.CDLL(sys.argv[1]).program(None, None, out, None, None)"""
DEBIAN_RUN = os.path.join(HERE, "../../scripts/debian_run.sh")
RETARGET = os.path.join(HERE, "../counters/retarget.py")


def seeds_of(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


class Tester:
    def __init__(self, options, work):
        self.options, self.work, self.given_up = options, work, 0
        self.generator = CsmithProgram if options.csmith else Program
        self.target = self.target_known()

    def target_known(self):
        """The GPU as the compiler knows it: releases before 18 have gfx942's instructions as gfx940's."""
        asked = subprocess.run([self.options.gpu_clang, "--target=amdgcn-amd-amdhsa", "--print-supported-cpus"],
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True, check=False)
        known = self.options.arch != "gfx942" or "gfx942" in asked.stdout
        return self.options.arch if known else "gfx940"

    def compile(self, clang, arguments):
        try:
            done = subprocess.run([clang] + COMMON + arguments, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=COMPILE_LIMIT_S, universal_newlines=True, check=False)
        except subprocess.TimeoutExpired:
            return "fatal error: error in backend: it takes more than %d s" % COMPILE_LIMIT_S
        return done.stdout if done.returncode else ""

    def is_unfit(self, library):
        """Programs of csmith's need not end, and may convert floats to integers that cannot hold them."""
        if self.generator is not CsmithProgram:
            return False
        try:
            done = subprocess.run([sys.executable, "-c", HOST_RUN, library], timeout=HOST_LIMIT_S, check=False)
        except subprocess.TimeoutExpired:
            return True
        return done.returncode in (-signal.SIGILL, -signal.SIGTRAP)

    def build(self, seed, levels, skip):
        """The runner's lines for one program; what does not compile is told at once. None: it is left out."""
        base = os.path.join(self.work, "seed%d%s" % (seed, "".join("_%d" % n for n in skip)))
        with open(base + ".hip", "w", encoding="utf-8") as file:
            file.write(self.generator(seed, skip).text())
        jobs = {"host": HOST[self.generator] + [base + ".hip", "-o", base + ".so"]}
        for level in levels:
            jobs[level] = [word.format(arch=self.target) for word in GPU[self.generator]] + [
                "-" + level, base + ".hip", "-o", "%s_%s.co" % (base, level)]
        lines = []
        for name, arguments in jobs.items():
            error = self.compile(self.options.clang if name == "host" else self.options.gpu_clang, arguments)
            if "fatal error: error in backend" in error: # LLVM's, and says nothing of us
                print("seed %d %s: LLVM gives up: %s" % (seed, name, error[error.index("fatal error"):].split("\n")[0]))
                self.given_up += 1
                continue
            if error:
                print("seed %d %s does not compile:\n%s" % (seed, name, error[-2000:]))
                return []
            if name == "host" and self.is_unfit(base + ".so"):
                return None
            if self.target != self.options.arch and name != "host":
                subprocess.run([sys.executable, RETARGET] + ["%s_%s.co" % (base, name)] * 2, check=True)
            if name != "host":
                lines.append("seed:%d:%s %s.so %s_%s.co" % (seed, name, base, base, name))
        return lines

    def run(self, lines):
        """What the runner says of each line, by the line's label."""
        command = ([self.options.crocgpu] if self.options.crocgpu else []) + [self.options.runner]
        environment = dict(os.environ)
        if self.options.crocgpu:
            environment["CROCGPU_DEVICES"] = self.options.arch
        if self.options.root: # the launcher would load this machine's loader
            command = [DEBIAN_RUN, self.options.root, self.options.runner]
            environment["LD_PRELOAD"] = os.path.join(os.path.dirname(os.path.abspath(self.options.crocgpu)),
                                                     "../lib/libcrocgpu.so")
        labels = [line.split()[0] for line in lines]
        try:
            done = subprocess.run(command, input="\n".join(lines) + "\n", stdout=subprocess.PIPE, timeout=RUN_LIMIT_S,
                                  stderr=subprocess.STDOUT, universal_newlines=True, env=environment, check=False)
            output, status = done.stdout, "ended with status %d" % done.returncode
        except subprocess.TimeoutExpired as late:
            output, status = (late.stdout or b"").decode(errors="replace"), "took more than %d s" % RUN_LIMIT_S
        said = {}
        for line in output.splitlines():
            label = line.split(": ")[0]
            if label in labels:
                said[label] = line[len(label) + 2:]
        silent = [label for label in labels if label not in said]
        if silent: # it died of the first one; the others get another runner
            said[silent[0]] = "the runner %s: %s" % (status, output[-500:].replace("\n", " | "))
            if silent[1:]:
                said.update(self.run([line for line in lines if line.split()[0] in silent[1:]]))
        return said

    def fails(self, seed, level, skip):
        lines = self.build(seed, [level], skip)
        answer = self.run(lines)["seed:%d:%s" % (seed, level)] if lines else "same"
        return None if answer == "same" else answer

    def reduce(self, seed, level, answer):
        """Leaves out steps, the last first, as long as something differs."""
        skip = list(self.options.skip)
        for step in reversed(range(self.generator(seed, ()).steps)):
            less = self.fails(seed, level, skip + [step]) if step not in skip else None
            if less:
                skip, answer = skip + [step], less
        return sorted(skip), answer

    def report(self, seed, level, answer, reduce):
        other = "--gpu-clang %s " % self.options.gpu_clang
        again = "random_kernels.py %s%s--seeds %d --levels %s --arch %s" % (
            "--csmith " * self.options.csmith, other * (self.options.gpu_clang != self.options.clang), seed, level,
            self.options.arch)
        print("FAILED seed %d -%s on %s: %s\n  again: %s" % (seed, level, self.options.arch, answer, again))
        if self.options.reduce and reduce:
            skip, answer = self.reduce(seed, level, answer)
            print("  reduced: %s\n  again: %s --skip %s" % (answer, again, ",".join(map(str, skip)) or "''"))
        sys.stdout.flush()


def work_through(tester, options):
    levels, seeds = options.levels.split(","), list(seeds_of(options.seeds))
    ran, failed, reduced = 0, 0, set()  # one level of a seed is reduced
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for at in range(0, len(seeds), options.batch):
            batch = seeds[at:at + options.batch]
            built = list(pool.map(lambda seed: tester.build(seed, levels, options.skip), batch))
            built = [lines for lines in built if lines is not None]
            ran += len(built) * len(levels)
            failed += sum(len(levels) for lines in built if not lines)
            said = tester.run([line for lines in built for line in lines]) if any(built) else {}
            for label, answer in sorted(said.items()):
                if answer == "same":
                    continue
                failed += 1
                _, seed, level = label.split(":")
                tester.report(int(seed), level, answer, seed not in reduced)
                reduced.add(seed)
            if not options.keep:
                for name in os.listdir(tester.work):
                    os.remove(os.path.join(tester.work, name))
    print("%d kernels on %s, %d failed" % (ran - tester.given_up, options.arch, failed))
    if not options.csmith and tester.given_up > ran // 10: # of ours it knows all but a few
        print("%d of %d kernels were given up by LLVM: a level of optimisation is not tested" % (tester.given_up, ran))
        failed += tester.given_up
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="1-20")
    parser.add_argument("--levels", default=LEVELS)
    parser.add_argument("--arch", default="gfx90a")
    parser.add_argument("--runner", required=True)
    parser.add_argument("--crocgpu", help="empty: the runner finds a GPU by itself")
    parser.add_argument("--root", help="of another Debian release (scripts/debian_root.sh)")
    parser.add_argument("--clang", default="clang++-15")
    parser.add_argument("--gpu-clang", help="for the GPU's side; without it --clang")
    parser.add_argument("--work", help="folder for programs, kept; otherwise a temporary one")
    parser.add_argument("--skip", type=lambda s: [int(n) for n in s.split(",") if n], default=[])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--csmith", action="store_true", help="programs by csmith instead of generate.py's")
    parser.add_argument("--no-reduce", dest="reduce", action="store_false")
    options = parser.parse_args()
    options.gpu_clang = options.gpu_clang or options.clang
    for program in [options.clang, options.gpu_clang] + ["csmith"] * options.csmith:
        if not shutil.which(program):
            print("no %s: skipped" % program)
            return 77
    options.keep = bool(options.work)
    if options.keep:
        os.makedirs(options.work, exist_ok=True)
        return work_through(Tester(options, options.work), options) != 0
    with tempfile.TemporaryDirectory() as work:
        return work_through(Tester(options, work), options) != 0


if __name__ == "__main__":
    sys.exit(main())
