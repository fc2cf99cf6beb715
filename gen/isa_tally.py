"""Which tally of softgpu/isa/tally.h an instruction is counted as, from its mnemonic.

The events SQ_INSTS_VALU_* name arithmetic by operation and type. Fixed by measurements that
rocprofiler-compute publishes (an MI250 counting one instruction of each kind; MI210 and MI300X
counting a copy kernel): v_cmp_*_i32 is INT32 and v_cmp_*_i64 and v_lshl_add_u64 are INT64;
v_mov_b32, v_lshlrev_b64 and v_min_f64 are none of them. So: what is typed i or u is integer
arithmetic, what is typed b is not, and minima are no additions. Packed operations count as the
operation they pack, dot products and 16-bit integers as nothing.
"""
import re

FLOAT_OPERATIONS = [
    (r"v_(pk_)?(add|sub|subrev)_f", "ADD"),
    (r"v_(pk_)?mul_(legacy_)?f", "MUL"),
    (r"v_(pk_)?(fma|fmac|mad|mac|fmaak|fmamk|madak|madmk|div_fmas)_(legacy_)?f", "FMA"),
    (r"v_fma_mix(lo|hi)?_f", "FMA"),
    (r"v_(rcp|rcp_iflag|rsq|sqrt|log|log_legacy|exp|exp_legacy|sin|cos)_f", "TRANS"),
]
# Input type of a matrix instruction; (rows x columns x depth) times blocks.
MATRIX_TYPES = [(r"bf16_1k$|_bf16$", "BF16_1K"), (r"bf16$", "BF16"), (r"_?xf32$", "XF32"),
                (r"(bf8|fp8)$", "F8"), (r"_?i8$", "I8"), (r"_?f16$", "F16"), (r"_?f64$", "F64"),
                (r"_?f32$", "F32")]
BLOCKS = {"4x4x": 16, "16x16x": 4, "32x32x": 2}
# One block only: depths of the dense instructions that have a single block.
SINGLE = {"F32": {"16x16x4", "32x32x2"}, "F16": {"16x16x16", "32x32x8"}, "BF16": {"16x16x8", "32x32x4"},
          "BF16_1K": {"16x16x16", "32x32x8"}, "I8": {"16x16x16", "32x32x8", "16x16x32", "32x32x16"},
          "F64": {"16x16x4"}, "XF32": {"16x16x8", "32x32x4"},
          "F8": {"16x16x32", "32x32x16"}}


def matrix_tally(mnemonic):
    kind = next(name for pattern, name in MATRIX_TYPES if re.search(pattern, mnemonic))
    shape = re.search(r"(\d+)x(\d+)x(\d+)", mnemonic)
    rows, columns, depth = map(int, shape.groups())
    blocks = BLOCKS["%dx%dx" % (rows, columns)]
    if kind == "F64" and rows == 4:
        blocks = 4
    if mnemonic.startswith("v_smfmac") or shape.group(0) in SINGLE[kind]:
        blocks = 1
    sparse = "_SPARSE" if mnemonic.startswith("v_smfmac") else ""
    return "MFMA_%s%s_X%d" % (kind, sparse, 2 * rows * columns * depth * blocks // 512)


def vector_tally(mnemonic):
    if mnemonic.startswith("v_cvt_"):
        return "VALU_CVT"
    for pattern, operation in FLOAT_OPERATIONS:
        if re.match(pattern, mnemonic):
            return "VALU_%s_F%s" % (operation, re.search(r"_f(16|32|64)$", mnemonic).group(1))
    integer = re.search(r"_[iu](32|64)(_[iu]\d+|_b32)?$", mnemonic)
    if integer and not re.match(r"v_(frexp|dot)", mnemonic) and not mnemonic.startswith("v_cmp_class"):
        return "VALU_INT" + integer.group(1)
    return "VALU_OTHER"


def scalar_memory_tally(mnemonic):
    dwords = re.search(r"_load_dword(?:x(\d+))?$", mnemonic)
    if dwords:
        return "SMEM_READ_" + (dwords.group(1) or "1")
    if "atomic" in mnemonic:
        return "SMEM_ATOMIC"
    if "store" in mnemonic:
        return "SMEM_WRITE"
    return "SMEM_TIME" if "time" in mnemonic else "SMEM_CACHE"


def vector_memory_tally(fmt, mnemonic):
    prefix = fmt if fmt in ("FLAT", "GLOBAL", "SCRATCH") else "IMAGE" if fmt == "MIMG" else "BUFFER"
    if re.match(r"buffer_(wbinvl1|inv$)", mnemonic):
        return "L1_INVALIDATE"
    if re.match(r"buffer_(wbl2|invl2)", mnemonic):
        return "L2_CONTROL"
    if "atomic" in mnemonic:
        return prefix + "_ATOMIC"  # decoding turns it into _ATOMIC_RETURN
    return prefix + ("_WRITE" if "store" in mnemonic else "_READ")


def lds_tally(mnemonic):
    if re.match(r"ds_(swizzle|permute|bpermute|nop|gws)", mnemonic):
        return "LDS_PERMUTE"
    if mnemonic.startswith("ds_read"):
        return "LDS_READ"
    if mnemonic.startswith("ds_write"):
        return "LDS_WRITE"
    returns = "_rtn" in mnemonic or re.match(r"ds_(append|consume|ordered)", mnemonic)
    return "LDS_ATOMIC_RETURN" if returns else "LDS_ATOMIC"


def tally_of(fmt, mnemonic, klass):
    if klass == "VALU":
        return vector_tally(mnemonic)
    if klass == "MFMA":
        return matrix_tally(mnemonic)
    if fmt == "SMEM":
        return scalar_memory_tally(mnemonic)
    if fmt in ("FLAT", "GLOBAL", "SCRATCH", "MUBUF", "MTBUF", "MIMG"):
        return vector_memory_tally(fmt, mnemonic)
    if fmt == "DS":
        return lds_tally(mnemonic)
    if mnemonic.startswith("s_endpgm"):
        return "ENDPGM"
    return "INTERNAL" if klass == "OTHER" else klass
