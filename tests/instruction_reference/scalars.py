"""What scalar instructions do, from AMD's and LLVM's descriptions.

SCALAR[name] = (kind of the result or None, kinds of the sources, function, what becomes of SCC). The function gets the
sources as numbers, and `s`: SCC and the destination as they were. SCC: KEPT, NONZERO (of the result), or a
function like the first one. EXEC_WRITERS[name] = (function of source and EXEC, does the destination get the old EXEC)."""
from integers import M16, M32, M64, signed

KEPT, NONZERO = None, "nonzero"
U, I, B, L, Q, F, G = "u32", "i32", "b32", "b64", "i64", "field32", "field64"


def outside(x):
    return not -1 << 31 <= x < 1 << 31


def signed_extracted(x, field, width):
    """x is signed: above it there is its sign."""
    at, size = field & width - 1, field >> 16 & 127
    return signed(x >> at, size) if size else 0


def unsigned_extracted(x, field, width):
    at, size = field & width - 1, field >> 16 & 127
    return x >> at & (1 << size) - 1


def quads(x, width):
    return [x >> n & 15 != 0 for n in range(0, width, 4)]


def whole_quads(x, width):
    return sum(15 << 4 * n for n, there in enumerate(quads(x, width)) if there)


def quad_mask(x, width):
    return sum(1 << n for n, there in enumerate(quads(x, width)) if there)


def reversed_bits(x, width):
    return int("{:0{}b}".format(x, width)[::-1], 2)


def first_one(x):
    return (x & -x).bit_length() - 1 if x else -1


def leading_zeros(x, width):
    return width - x.bit_length() if x else -1


def sign_run(x, width):
    """How many leading bits are like the sign; -1: all."""
    x = ~x if x < 0 else x
    return width - x.bit_length() if x else -1


def doubled_bits(x):
    return sum(3 << 2 * n for n in range(32) if x >> n & 1)


def absolute_difference(a, b):
    """Of the difference in 32 bits: 0x80000000 stays what it is."""
    return abs(signed(a - b, 32))


def without_bit(old, at):
    return old & ~(1 << at)


SCALAR = {
    "s_add_u32": (U, [U, U], lambda a, b, s: a + b, lambda a, b, s: a + b > M32),
    "s_sub_u32": (U, [U, U], lambda a, b, s: a - b, lambda a, b, s: a < b),
    "s_add_i32": (I, [I, I], lambda a, b, s: a + b, lambda a, b, s: outside(a + b)),
    "s_sub_i32": (I, [I, I], lambda a, b, s: a - b, lambda a, b, s: outside(a - b)),
    "s_addc_u32": (U, [U, U], lambda a, b, s: a + b + s.scc, lambda a, b, s: a + b + s.scc > M32),
    "s_subb_u32": (U, [U, U], lambda a, b, s: a - b - s.scc, lambda a, b, s: a < b + s.scc),
    "s_absdiff_i32": (I, [I, I], lambda a, b, s: absolute_difference(a, b), NONZERO),
    "s_mul_i32": (I, [I, I], lambda a, b, s: a * b, KEPT),
    "s_mul_hi_u32": (U, [U, U], lambda a, b, s: a * b >> 32, KEPT),
    "s_mul_hi_i32": (I, [I, I], lambda a, b, s: a * b >> 32, KEPT),
    "s_pack_ll_b32_b16": (B, [B, B], lambda a, b, s: a & M16 | b << 16, KEPT),
    "s_pack_lh_b32_b16": (B, [B, B], lambda a, b, s: a & M16 | b & ~M16, KEPT),
    "s_pack_hh_b32_b16": (B, [B, B], lambda a, b, s: a >> 16 | b & ~M16, KEPT),
    "s_bfm_b32": (B, [B, B], lambda a, b, s: ((1 << (a & 31)) - 1) << (b & 31), KEPT),
    "s_bfm_b64": (L, [B, B], lambda a, b, s: ((1 << (a & 63)) - 1) << (b & 63), KEPT),
    "s_bfe_u32": (U, [U, F], lambda a, b, s: unsigned_extracted(a, b, 32), NONZERO),
    "s_bfe_i32": (I, [I, F], lambda a, b, s: signed_extracted(a, b, 32), NONZERO),
    "s_bfe_u64": (L, [L, G], lambda a, b, s: unsigned_extracted(a, b, 64), NONZERO),
    "s_bfe_i64": (Q, [Q, G], lambda a, b, s: signed_extracted(a, b, 64), NONZERO),
    "s_ashr_i32": (I, [I, B], lambda a, b, s: a >> (b & 31), NONZERO),
    "s_ashr_i64": (Q, [Q, B], lambda a, b, s: a >> (b & 63), NONZERO),
    "s_bcnt0_i32_b32": (I, [B], lambda a, s: bin(a ^ M32).count("1"), NONZERO),
    "s_bcnt0_i32_b64": (I, [L], lambda a, s: bin(a ^ M64).count("1"), NONZERO),
    "s_bcnt1_i32_b32": (I, [B], lambda a, s: bin(a).count("1"), NONZERO),
    "s_bcnt1_i32_b64": (I, [L], lambda a, s: bin(a).count("1"), NONZERO),
    "s_ff0_i32_b32": (I, [B], lambda a, s: first_one(a ^ M32), KEPT),
    "s_ff0_i32_b64": (I, [L], lambda a, s: first_one(a ^ M64), KEPT),
    "s_ff1_i32_b32": (I, [B], lambda a, s: first_one(a), KEPT),
    "s_ff1_i32_b64": (I, [L], lambda a, s: first_one(a), KEPT),
    "s_flbit_i32_b32": (I, [B], lambda a, s: leading_zeros(a, 32), KEPT),
    "s_flbit_i32_b64": (I, [L], lambda a, s: leading_zeros(a, 64), KEPT),
    "s_flbit_i32": (I, [I], lambda a, s: sign_run(a, 32), KEPT),
    "s_flbit_i32_i64": (I, [Q], lambda a, s: sign_run(a, 64), KEPT),
    "s_sext_i32_i8": (I, [B], lambda a, s: signed(a, 8), KEPT),
    "s_sext_i32_i16": (I, [B], lambda a, s: signed(a, 16), KEPT),
    "s_abs_i32": (I, [I], lambda a, s: abs(a), NONZERO),
    "s_bitreplicate_b64_b32": (L, [B], lambda a, s: doubled_bits(a), KEPT),
    "s_bitcmp0_b32": (None, [B, B], None, lambda a, b, s: not a >> (b & 31) & 1),
    "s_bitcmp1_b32": (None, [B, B], None, lambda a, b, s: a >> (b & 31) & 1),
    "s_bitcmp0_b64": (None, [L, B], None, lambda a, b, s: not a >> (b & 63) & 1),
    "s_bitcmp1_b64": (None, [L, B], None, lambda a, b, s: a >> (b & 63) & 1),
    "s_cmp_eq_u64": (None, [L, L], None, lambda a, b, s: a == b),
    "s_cmp_lg_u64": (None, [L, L], None, lambda a, b, s: a != b),
}
for kind, letter in ((I, "i32"), (U, "u32")):
    SCALAR["s_min_" + letter] = (kind, [kind, kind], lambda a, b, s: min(a, b), lambda a, b, s: a < b)
    SCALAR["s_max_" + letter] = (kind, [kind, kind], lambda a, b, s: max(a, b), lambda a, b, s: a > b)
LOGIC = {"and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn2": lambda a, b: a & ~b,
         "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b),
         "xnor": lambda a, b: ~(a ^ b)}
for kind, width in ((B, 32), (L, 64)):
    for how, function in LOGIC.items():
        SCALAR["s_%s_b%d" % (how, width)] = (kind, [kind, kind], lambda a, b, s, f=function: f(a, b), NONZERO)
    SCALAR["s_lshl_b%d" % width] = (kind, [kind, B], lambda a, b, s, w=width: a << (b & w - 1), NONZERO)
    SCALAR["s_lshr_b%d" % width] = (kind, [kind, B], lambda a, b, s, w=width: a >> (b & w - 1), NONZERO)
    SCALAR["s_cselect_b%d" % width] = (kind, [kind, kind], lambda a, b, s: a if s.scc else b, KEPT)
    SCALAR["s_mov_b%d" % width] = (kind, [kind], lambda a, s: a, KEPT)
    SCALAR["s_cmov_b%d" % width] = (kind, [kind], lambda a, s: a if s.scc else s.old, KEPT)
    SCALAR["s_not_b%d" % width] = (kind, [kind], lambda a, s: ~a, NONZERO)
    SCALAR["s_wqm_b%d" % width] = (kind, [kind], lambda a, s, w=width: whole_quads(a, w), NONZERO)
    SCALAR["s_quadmask_b%d" % width] = (kind, [kind], lambda a, s, w=width: quad_mask(a, w), NONZERO)
    SCALAR["s_brev_b%d" % width] = (kind, [kind], lambda a, s, w=width: reversed_bits(a, w), KEPT)
    SCALAR["s_bitset0_b%d" % width] = (kind, [B], lambda a, s, w=width: without_bit(s.old, a & w - 1), KEPT)
    SCALAR["s_bitset1_b%d" % width] = (kind, [B], lambda a, s, w=width: s.old | 1 << (a & w - 1), KEPT)
for n in range(1, 5):
    SCALAR["s_lshl%d_add_u32" % n] = (U, [U, U], lambda a, b, s, n=n: (a << n) + b, lambda a, b, s, n=n: (a << n) + b > M32)
COMPARED = {"eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "gt": lambda a, b: a > b, "ge": lambda a, b: a >= b,
            "lt": lambda a, b: a < b, "le": lambda a, b: a <= b}
# With a constant of 16 bits, which is signed or not as the kind is; the register is source and destination.
WITH_CONSTANT = {
    "s_movk_i32": (I, lambda k, s: k, KEPT),
    "s_cmovk_i32": (I, lambda k, s: k if s.scc else s.old, KEPT),
    "s_addk_i32": (I, lambda k, s: s.old + k, lambda k, s: outside(signed(s.old, 32) + k)),
    "s_mulk_i32": (I, lambda k, s: s.old * k, KEPT),
}
for kind in (I, U):
    for how, function in COMPARED.items():
        SCALAR["s_cmp_%s_%s" % (how, kind)] = (None, [kind, kind], None, lambda a, b, s, f=function: f(a, b))
        WITH_CONSTANT["s_cmpk_%s_%s" % (how, kind)] = (
            kind, None, lambda k, s, f=function, i=kind == I: f(signed(s.old, 32) if i else s.old, k))
EXEC_WRITERS = {"s_%s_saveexec_b64" % how: (function, True) for how, function in LOGIC.items()}
EXEC_WRITERS.update({
    "s_andn1_saveexec_b64": (lambda a, e: ~a & e, True), "s_orn1_saveexec_b64": (lambda a, e: ~a | e, True),
    "s_andn1_wrexec_b64": (lambda a, e: ~a & e, False), "s_andn2_wrexec_b64": (lambda a, e: a & ~e, False)})
