"""The kernels that execute cases: their text, what they read, where they write.

Vector cases: 64 lanes each. Scalar cases: all that a scalar instruction can write before and after, and a register in
vector registers before and after, several times: code that was executed once is translated (CROCGPU_TRANSLATE)."""
import struct

from operands import LANES
from scalar_cases import DATA_BASE, LOADED, SINGLES, STATE

PASSES = 3

ENTRY = """.amdgcn_target "amdgcn-amd-amdhsa--{arch}"
.text
.globl cases
.p2align 8
.type cases,@function
cases:
"""
VECTOR_HEAD = """  s_load_dwordx4 s[8:11], s[4:5], 0x0
  v_lshlrev_b32_e32 v0, 3, v0
  s_waitcnt lgkmcnt(0)
"""
VECTOR_CASE = """  global_load_dwordx2 v[2:3], v0, s[8:9]
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
SCALAR_HEAD = """  s_load_dwordx4 s[8:11], s[4:5], 0x0
  v_lshlrev_b32_e32 v0, 3, v0
  s_waitcnt lgkmcnt(0)
  s_mov_b64 s[56:57], s[8:9]
  s_mov_b32 s54, {passes}
  s_getpc_b64 s[52:53]
  s_mov_b64 s[8:9], s[56:57]
"""
# Read are SINGLES and SCC at s[16:27], LOADED, data.
# s[28:31]: an address, or a buffer
SCALAR_CASE = """  s_load_dwordx16 s[16:31], s[8:9], 0x0
  s_load_dwordx16 s[32:47], s[8:9], 0x40
  s_setreg_imm32_b32 hwreg(HW_REG_MODE, 0, 10), 0x{mode:x}
  v_mov_b32_e32 v4, 0
  v_mov_b32_e32 v5, 0
  s_waitcnt lgkmcnt(0)
  s_add_u32 s28, s8, {data}
  s_addc_u32 s29, s9, 0
  s_mov_b64 vcc, s[22:23]
  s_mov_b32 m0, s26
  s_mov_b64 exec, s[24:25]
  s_cmp_lg_u32 s27, 0
  s_nop 4
  v_mov_b32_e32 v4, {watched}
  {line}
  {follow}
  s_nop 4
  v_mov_b32_e32 v5, {watched}
  s_mov_b64 s[48:49], exec
  s_mov_b64 exec, -1
  s_cselect_b32 s50, 1, 0
  s_getreg_b32 s51, hwreg(HW_REG_MODE, 0, 10)
{moves}  global_store_dwordx2 v0, v[4:5], s[10:11]
  s_mov_b64 exec, 1
{stores}  s_mov_b64 exec, -1
  s_waitcnt vmcnt(0)
  s_add_u32 s8, s8, {in_bytes}
  s_addc_u32 s9, s9, 0
  s_add_u32 s10, s10, {out_bytes}
  s_addc_u32 s11, s11, 0
"""
SCALAR_TAIL = """  s_sub_u32 s54, s54, 1
  s_cmp_eq_u32 s54, 0
  s_cbranch_scc1 end
  s_sleep 1
  s_setpc_b64 s[52:53]
end:
"""
DESCRIPTOR = """  s_endpgm
.size cases, .-cases
.rodata
.p2align 6
.amdhsa_kernel cases
  .amdhsa_user_sgpr_private_segment_buffer 1
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_next_free_vgpr 48
  .amdhsa_next_free_sgpr 64
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
    .sgpr_count: 64
    .vgpr_count: 48
    .max_flat_workgroup_size: 64
    .args:
      - {{.size: 8, .offset: 0, .value_kind: global_buffer, .address_space: global}}
      - {{.size: 8, .offset: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
"""




def halves(name, number):
    return {name + "_low": number & 0xffffffff, name + "_high": number >> 32}


def whole(text, arch):
    """arch: as the assembler calls it."""
    accum = "  .amdhsa_accum_offset 48\n" if arch in ("gfx90a", "gfx940") else ""
    text = ENTRY.format(arch=arch) + text + DESCRIPTOR.format(arch=arch, accum=accum)
    if arch == "gfx940":
        text = text.replace("  .amdhsa_user_sgpr_private_segment_buffer 1\n", "").replace("s[8:11], s[4:5]", "s[8:11], s[0:1]")
    return text


class VectorKernel:
    IN_BYTES = OUT_BYTES = 4 * 8 * LANES # of a case; out: result, s[22:23], vcc, exec of each lane
    PASSES = 1

    @staticmethod
    def assembly(cases, arch):
        return whole(VECTOR_HEAD + "".join(VECTOR_CASE.format(
            line=case.line, mode=case.mode.bits(), **halves("mask", case.mask), **halves("scalar", case.scalar_value),
            **halves("exec", case.execute)) for case in cases), arch)

    @staticmethod
    def read_by(case):
        return b"".join(struct.pack("<%dQ" % LANES, *lanes)
                        for lanes in [case.sources.get(slot, [0] * LANES) for slot in range(3)] + [case.old])


class ScalarKernel:
    IN_BYTES, OUT_BYTES = 256, 8 * LANES + 128
    PASSES = PASSES
    # where the registers are when the instruction has run
    HELD = {"exec_lo": "s48", "exec_hi": "s49", "scc": "s50", "mode": "s51"}

    @classmethod
    def assembly(cls, cases, arch):
        moves = "".join("  v_mov_b32_e32 v%d, %s\n" % (6 + n, cls.HELD.get(name, name)) for n, name in enumerate(STATE))
        stores = "".join("  global_store_dwordx4 v0, v[%d:%d], s[10:11] offset:%d\n" % (6 + n, 9 + n, 8 * LANES + 4 * n)
                         for n in range(0, 32, 4))
        text = "".join(SCALAR_CASE.format(
            line=case.line, follow=case.follow, watched=case.watched, mode=case.before["mode"], moves=moves, stores=stores,
            data=128 + 4 * DATA_BASE, in_bytes=cls.IN_BYTES, out_bytes=cls.OUT_BYTES) for case in cases)
        return whole(SCALAR_HEAD.format(passes=cls.PASSES) + text + SCALAR_TAIL, arch)

    @staticmethod
    def read_by(case):
        b = case.before
        registers = [b[n] for n in SINGLES] + [b["scc"], 0, 0, case.records, 0x27000] + [b[n] for n in LOADED]
        return struct.pack("<64I", *registers, *case.data)

    @staticmethod
    def differences(case, out, at, arch):
        """(what, reference, GPU) of one pass, whose answers begin at `at`."""
        got = dict(zip(STATE, struct.unpack_from("<%dI" % len(STATE), out, at + 8 * LANES)))
        for name, wanted in case.after.items():
            if got[name] != wanted and arch not in case.open_on.get(name, ()):
                yield name, wanted, got[name]
        lanes = struct.unpack_from("<%dI" % (2 * LANES), out, at)
        for n, (when, state) in enumerate((("before", case.before), ("after", case.after))):
            for lane in range(LANES):
                executes = (state["exec_lo"] | state["exec_hi"] << 32) >> lane & 1
                wanted = state[case.watched] if executes else 0
                if lanes[2 * lane + n] != wanted:
                    yield "lane %d's copy of %s %s" % (lane, case.watched, when), wanted, lanes[2 * lane + n]
