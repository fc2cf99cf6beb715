#!/usr/bin/env python3
"""Single instructions on the software GPU against references written from their descriptions, bit for bit.

instruction_reference.py --runner RUNNER --crocgpu CROCGPU [--arch gfx90a] [--root ROOT] [--seed 1]
                         [--rounds 1] [--only TEXT] [--work DIR]

Each round tests every instruction that LLVM's assembler has for the GPU once (every encoding it has) with
64 lanes of drawn operands. A difference prints the instruction, operands, both results and how to repeat
it. The last line says how many instructions ran; the exit status is 0, 1, or 77 without the tools."""
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
from operands import LANES, width_of  # noqa: E402
from results import same  # noqa: E402

SCRIPTS = os.path.join(HERE, "../../scripts")
RETARGET = os.path.join(HERE, "../counters/retarget.py")
CASES_A_KERNEL, ROUNDS_AT_ONCE = 400, 4
NAMES_AT_LEAST = 850 # each GPU has more: fewer means that the assembler takes what we write no longer
IN_BYTES, OUT_BYTES = 4 * 8 * LANES, 4 * 8 * LANES  # a case's; out: result, s[22:23], vcc, exec of each lane

HEAD = """.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl cases
.p2align 8
.type cases,@function
cases:
  s_load_dwordx4 s[8:11], s[4:5], 0x0
  v_lshlrev_b32_e32 v0, 3, v0
  s_waitcnt lgkmcnt(0)
"""
CASE = """  global_load_dwordx2 v[2:3], v0, s[8:9]
  global_load_dwordx2 v[4:5], v0, s[8:9] offset:512
  global_load_dwordx2 v[6:7], v0, s[8:9] offset:1024
  global_load_dwordx2 v[8:9], v0, s[8:9] offset:1536
  s_mov_b32 s20, 0x{mask_low:x}
  s_mov_b32 s21, 0x{mask_high:x}
  s_mov_b64 vcc, s[20:21]
  s_mov_b64 s[22:23], 0
  s_mov_b32 s24, 0x{scalar_low:x}
  s_mov_b32 s25, 0x{scalar_high:x}
  s_mov_b32 s26, 0x{exec_low:x}
  s_mov_b32 s27, 0x{exec_high:x}
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0x{mode:x}
  s_waitcnt vmcnt(0)
  s_nop 4
  s_mov_b64 exec, s[26:27]
  s_nop 4
  {line}
  s_nop 7
  s_mov_b64 s[28:29], exec
  s_mov_b64 exec, -1
  s_nop 4
  v_mov_b32_e32 v10, s22
  v_mov_b32_e32 v11, s23
  v_mov_b32_e32 v12, vcc_lo
  v_mov_b32_e32 v13, vcc_hi
  v_mov_b32_e32 v14, s28
  v_mov_b32_e32 v15, s29
  global_store_dwordx2 v0, v[8:9], s[10:11]
  global_store_dwordx2 v0, v[10:11], s[10:11] offset:512
  global_store_dwordx2 v0, v[12:13], s[10:11] offset:1024
  global_store_dwordx2 v0, v[14:15], s[10:11] offset:1536
  s_waitcnt vmcnt(0)
  s_add_u32 s8, s8, 2048
  s_addc_u32 s9, s9, 0
  s_add_u32 s10, s10, 2048
  s_addc_u32 s11, s11, 0
"""
TAIL = """  s_endpgm
.size cases, .-cases
.rodata
.p2align 6
.amdhsa_kernel cases
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 16
  .amdhsa_next_free_sgpr 40
{accum}  .amdhsa_kernarg_size 16
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 1]
amdhsa.target: amdgcn-amd-amdhsa--{arch}
amdhsa.kernels:
  - .name: cases
    .symbol: cases.kd
    .kernarg_segment_size: 16
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 40
    .vgpr_count: 16
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""


def halves(name, number):
    return {name + "_low": number & 0xffffffff, name + "_high": number >> 32}


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

    def assembly(self, cases):
        parts = [HEAD.format(arch=self.assembled_for)]
        for case in cases:
            parts.append(CASE.format(line=case.line, mode=case.mode.bits(), **halves("mask", case.mask),
                                     **halves("scalar", case.scalar_value), **halves("exec", case.execute)))
        accum = "  .amdhsa_accum_offset 16\n" if self.assembled_for in ("gfx90a", "gfx940") else ""
        if self.assembled_for == "gfx940":
            parts.append(TAIL.replace("  .amdhsa_user_sgpr_private_segment_buffer 1\n", "").format(
                arch=self.assembled_for, accum=accum))
            return "".join(parts).replace("s[8:11], s[4:5]", "s[8:11], s[0:1]")
        return "".join(parts + [TAIL.format(arch=self.assembled_for, accum=accum)])

    def object_of(self, base, cases):
        with open(base + ".s", "w", encoding="utf-8") as file:
            file.write(self.assembly(cases))
        subprocess.run([self.options.llvm_mc, "-arch=amdgcn", "-mcpu=" + self.assembled_for, "-triple=amdgcn-amd-amdhsa",
                        "-filetype=obj", base + ".s", "-o", base + ".o"], check=True)
        subprocess.run([self.options.lld, "-shared", base + ".o", "-o", base + ".co"], check=True)
        if self.assembled_for != self.options.arch:
            subprocess.run([sys.executable, RETARGET, base + ".co", base + ".co"], check=True)

    def gpu(self, batches):
        """Runs all kernels in one process."""
        environment, command = dict(os.environ), [self.options.crocgpu, self.options.runner]
        environment["CROCGPU_DEVICES"] = self.options.arch
        if self.options.root: # the launcher would load this machine's loader
            command = [os.path.join(SCRIPTS, "debian_run.sh"), self.options.root, self.options.runner]
            environment["LD_PRELOAD"] = os.path.join(os.path.dirname(os.path.abspath(self.options.crocgpu)),
                                                     "../lib/libcrocgpu.so")
        lines = "".join("%s.co %s.in %s.out %d\n" % (b, b, b, len(c) * OUT_BYTES) for b, c in batches)
        done = subprocess.run(command, input=lines, universal_newlines=True, env=environment, check=False)
        return done.returncode

    def report(self, name, case, lane, where, wanted, got):
        self.differences += 1
        if self.differences > 40:
            return
        sources = " ".join("v%d=%016x" % (2 + 2 * slot, lanes[lane]) for slot, lanes in sorted(case.sources.items()))
        print("DIFFERENT on %s: %s\n  lane %d: %s s24=%x old=%016x mask bit %d mode %03x\n  %s: reference %x, GPU %x\n"
              "  again: instruction_reference.py --arch %s --seed %d --rounds %d --only %s" % (
                  self.options.arch, case.line, lane, sources, case.scalar_value, case.old[lane], case.mask >> lane & 1,
                  case.mode.bits(), where, wanted, got, self.options.arch, self.options.seed, self.options.rounds, name))

    def compare(self, drawn, out):
        for number, (name, case) in enumerate(drawn):
            rows = [struct.unpack_from("<%dQ" % LANES, out, number * OUT_BYTES + 512 * n) for n in range(4)]
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
                        self.report(name, case, lane, kind if where == "mask" else where, wanted, got)
                        break
                else:
                    continue
                break # one lane of an instruction says enough

    def round(self, rng_seed):
        drawn = []
        for name, function in families():
            if self.options.only in name:
                drawn.append((name, function(random.Random("%s %d" % (name, rng_seed)))))
        return self.known(drawn)

    def some_rounds(self, seeds):
        """Draws, assembles, runs, compares. False if the runner failed."""
        drawn = [d for seed in seeds for d in self.round(seed)]
        batches = []
        for at in range(0, len(drawn), CASES_A_KERNEL):
            base, some = os.path.join(self.work, "cases%d" % at), drawn[at:at + CASES_A_KERNEL]
            self.object_of(base, [case for _, case in some])
            with open(base + ".in", "wb") as file:
                for _, case in some:
                    for lanes in [case.sources.get(slot, [0] * LANES) for slot in range(3)] + [case.old]:
                        file.write(struct.pack("<%dQ" % LANES, *lanes))
            batches.append((base, some))
        status = self.gpu(batches)
        if status:
            print("the runner ended with status %d" % status)
            return False
        for base, some in batches:
            with open(base + ".out", "rb") as file:
                self.compare(some, file.read())
        self.instructions += len(drawn)
        self.names |= {name for name, _ in drawn}
        return True

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
