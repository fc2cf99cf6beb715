"""What integer instructions do, from AMD's and LLVM's descriptions. Sources and results are plain bits.

INTEGER[name] = (type of the result, types of the sources, function, may clamp)"""

M16, M32, M64 = 0xffff, 0xffffffff, 0xffffffffffffffff


def signed(x, bits):
    x &= (1 << bits) - 1
    return x - (1 << bits) if x >> (bits - 1) else x


def limited(x, low, high):
    return max(low, min(high, x))


def s32(x):
    return signed(x, 32)


def s24(x):
    return signed(x, 24)


def u24(x):
    return x & 0xffffff


def bytes_of(x, count=4):
    return [x >> 8 * n & 255 for n in range(count)]


def absolute_differences(a, b, c, masked=False):
    return c + sum(abs(x - y) for x, y in zip(bytes_of(a), bytes_of(b)) if not masked or y)


def quad(a, b, c, masked):
    """Four sums of four bytes: a's window moves by a byte; sums of 16 bits, whose carries are lost."""
    result = 0
    for n in range(4):
        term = absolute_differences(a >> 8 * n & M32, b, c >> 16 * n & M16, masked)
        result |= (term & M16) << 16 * n
    return result


def leading_zeros(x):
    return 32 - x.bit_length() if x else M32


def leading_signs(x):
    """Distance of the first bit unlike the sign, from the top; -1 if there is none."""
    y = x ^ M32 if x >> 31 else x
    return 32 - y.bit_length() if y else M32


def permuted(a, b, selector):
    pair, result = bytes_of(b) + bytes_of(a), 0
    for n, how in enumerate(bytes_of(selector)):
        if how >= 13:
            byte = 255
        elif how == 12:
            byte = 0
        elif how >= 8:
            byte = 255 if pair[2 * (how - 8) + 1] & 128 else 0
        else:
            byte = pair[how]
        result |= byte << 8 * n
    return result


def middle(a, b, c):
    return sorted((a, b, c))[1]


def dot(a, b, c, width, is_signed):
    mask = (1 << width) - 1
    for at in range(0, 32, width):
        x, y = a >> at & mask, b >> at & mask
        c += signed(x, width) * signed(y, width) if is_signed else x * y
    return c


U, I, B, H, S, L, Q = "u32", "i32", "b32", "u16", "i16", "u64", "i64"
# A field's sum may be out of range: the result is cut, or limited when the instruction clamps.
INTEGER = {
    "v_mov_b32": (B, [B], lambda a: a),
    "v_not_b32": (B, [B], lambda a: ~a),
    "v_bfrev_b32": (B, [B], lambda a: int("{:032b}".format(a)[::-1], 2)),
    "v_ffbh_u32": (B, [B], leading_zeros),
    "v_ffbl_b32": (B, [B], lambda a: (a & -a).bit_length() - 1 if a else M32),
    "v_ffbh_i32": (B, [B], leading_signs),
    "v_sat_pk_u8_i16": (H, [B], lambda a: limited(signed(a, 16), 0, 255) | limited(signed(a >> 16, 16), 0, 255) << 8),
    "v_mul_i32_i24": (I, [B, B], lambda a, b: s24(a) * s24(b)),
    "v_mul_hi_i32_i24": (I, [B, B], lambda a, b: s24(a) * s24(b) >> 32),
    "v_mul_u32_u24": (U, [B, B], lambda a, b: u24(a) * u24(b)),
    "v_mul_hi_u32_u24": (U, [B, B], lambda a, b: u24(a) * u24(b) >> 32),
    "v_min_i32": (I, [I, I], min), "v_max_i32": (I, [I, I], max),
    "v_min_u32": (U, [U, U], min), "v_max_u32": (U, [U, U], max),
    "v_lshrrev_b32": (B, [B, B], lambda a, b: b >> (a & 31)),
    "v_lshlrev_b32": (B, [B, B], lambda a, b: b << (a & 31)),
    "v_ashrrev_i32": (B, [B, B], lambda a, b: s32(b) >> (a & 31)),
    "v_and_b32": (B, [B, B], lambda a, b: a & b), "v_or_b32": (B, [B, B], lambda a, b: a | b),
    "v_xor_b32": (B, [B, B], lambda a, b: a ^ b), "v_xnor_b32": (B, [B, B], lambda a, b: ~(a ^ b)),
    "v_add_u32": (U, [U, U], lambda a, b: a + b, True), "v_sub_u32": (U, [U, U], lambda a, b: a - b, True),
    "v_subrev_u32": (U, [U, U], lambda a, b: b - a, True),
    "v_add_u16": (H, [H, H], lambda a, b: a + b, True), "v_sub_u16": (H, [H, H], lambda a, b: a - b, True),
    "v_subrev_u16": (H, [H, H], lambda a, b: b - a, True), "v_mul_lo_u16": (H, [H, H], lambda a, b: a * b),
    "v_lshlrev_b16": (H, [H, H], lambda a, b: b << (a & 15)),
    "v_lshrrev_b16": (H, [H, H], lambda a, b: b >> (a & 15)),
    "v_ashrrev_i16": (H, [H, H], lambda a, b: signed(b, 16) >> (a & 15)),
    "v_max_u16": (H, [H, H], max), "v_min_u16": (H, [H, H], min),
    "v_max_i16": (S, [S, S], max), "v_min_i16": (S, [S, S], min),
    "v_mad_i32_i24": (I, [B, B, I], lambda a, b, c: s24(a) * s24(b) + c, True),
    "v_mad_u32_u24": (U, [B, B, U], lambda a, b, c: u24(a) * u24(b) + c, True),
    "v_bfe_u32": (B, [B, B, B], lambda a, b, c: a >> (b & 31) & ((1 << (c & 31)) - 1)),
    "v_bfe_i32": (B, [B, B, B], lambda a, b, c: signed(s32(a) >> (b & 31), c & 31) if c & 31 else 0),
    "v_bfi_b32": (B, [B, B, B], lambda a, b, c: (a & b) | (~a & c)),
    "v_bfm_b32": (B, [B, B], lambda a, b: ((1 << (a & 31)) - 1) << (b & 31)),
    "v_lerp_u8": (B, [B, B, B], lambda a, b, c: sum(
        ((x + y + (z & 1)) >> 1) << 8 * n for n, (x, y, z) in enumerate(zip(bytes_of(a), bytes_of(b), bytes_of(c))))),
    "v_alignbit_b32": (B, [B, B, B], lambda a, b, c: (a << 32 | b) >> (c & 31)),
    "v_alignbyte_b32": (B, [B, B, B], lambda a, b, c: (a << 32 | b) >> 8 * (c & 3)),
    "v_min3_i32": (I, [I, I, I], min), "v_max3_i32": (I, [I, I, I], max), "v_med3_i32": (I, [I, I, I], middle),
    "v_min3_u32": (U, [U, U, U], min), "v_max3_u32": (U, [U, U, U], max), "v_med3_u32": (U, [U, U, U], middle),
    "v_min3_i16": (S, [S, S, S], min), "v_max3_i16": (S, [S, S, S], max), "v_med3_i16": (S, [S, S, S], middle),
    "v_min3_u16": (H, [H, H, H], min), "v_max3_u16": (H, [H, H, H], max), "v_med3_u16": (H, [H, H, H], middle),
    "v_sad_u8": (U, [B, B, U], absolute_differences, True),
    "v_sad_hi_u8": (U, [B, B, U], lambda a, b, c: (absolute_differences(a, b, 0) << 16) + c, True),
    "v_sad_u16": (U, [B, B, U], lambda a, b, c: c + abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16)), True),
    "v_sad_u32": (U, [B, B, U], lambda a, b, c: c + abs(a - b), True),
    "v_msad_u8": (U, [B, B, U], lambda a, b, c: absolute_differences(a, b, c, True), True),
    "v_qsad_pk_u16_u8": (L, [L, B, L], lambda a, b, c: quad(a, b, c, False)),
    "v_mqsad_pk_u16_u8": (L, [L, B, L], lambda a, b, c: quad(a, b, c, True)),
    "v_perm_b32": (B, [B, B, B], permuted),
    "v_xad_u32": (B, [B, B, B], lambda a, b, c: (a ^ b) + c),
    "v_lshl_add_u32": (B, [B, B, B], lambda a, b, c: (a << (b & 31)) + c),
    "v_add_lshl_u32": (B, [B, B, B], lambda a, b, c: ((a + b) & M32) << (c & 31)),
    "v_add3_u32": (B, [B, B, B], lambda a, b, c: a + b + c),
    "v_lshl_or_b32": (B, [B, B, B], lambda a, b, c: a << (b & 31) | c),
    "v_and_or_b32": (B, [B, B, B], lambda a, b, c: a & b | c), "v_or3_b32": (B, [B, B, B], lambda a, b, c: a | b | c),
    "v_mad_u16": (H, [H, H, H], lambda a, b, c: a * b + c, True),
    "v_mad_i16": (S, [S, S, S], lambda a, b, c: a * b + c, True),
    "v_mad_u32_u16": (U, [H, H, U], lambda a, b, c: a * b + c, True),
    "v_mad_i32_i16": (I, [S, S, I], lambda a, b, c: a * b + c, True),
    "v_mul_lo_u32": (B, [B, B], lambda a, b: a * b),
    "v_mul_hi_u32": (B, [U, U], lambda a, b: a * b >> 32), "v_mul_hi_i32": (B, [I, I], lambda a, b: a * b >> 32),
    "v_add_i32": (I, [I, I], lambda a, b: a + b, True), "v_sub_i32": (I, [I, I], lambda a, b: a - b, True),
    "v_add_i16": (S, [S, S], lambda a, b: a + b, True), "v_sub_i16": (S, [S, S], lambda a, b: a - b, True),
    "v_bcnt_u32_b32": (B, [B, B], lambda a, b: bin(a).count("1") + b),
    "v_lshlrev_b64": (L, [B, L], lambda a, b: b << (a & 63)), "v_lshrrev_b64": (L, [B, L], lambda a, b: b >> (a & 63)),
    "v_ashrrev_i64": (L, [B, L], lambda a, b: signed(b, 64) >> (a & 63)),
    "v_lshl_add_u64": (L, [L, B, L], lambda a, b, c: (a << (b & 7)) + c),
    "v_mov_b64": (L, [L], lambda a: a),
    "v_cvt_pk_u16_u32": (B, [U, U], lambda a, b: min(a, M16) | min(b, M16) << 16),
    "v_cvt_pk_i16_i32": (B, [I, I], lambda a, b: limited(a, -0x8000, 0x7fff) & M16 |
                         (limited(b, -0x8000, 0x7fff) & M16) << 16),
    "v_pack_b32_f16": (B, ["b16", "b16"], lambda a, b: a | b << 16),
    "v_dot4_i32_i8": (I, [B, B, I], lambda a, b, c: dot(a, b, c, 8, True), True),
    "v_dot8_i32_i4": (I, [B, B, I], lambda a, b, c: dot(a, b, c, 4, True), True),
    "v_dot4_u32_u8": (U, [B, B, U], lambda a, b, c: dot(a, b, c, 8, False), True),
    "v_dot8_u32_u4": (U, [B, B, U], lambda a, b, c: dot(a, b, c, 4, False), True),
    "v_dot4c_i32_i8": (I, [B, B, "acc"], lambda a, b, c: dot(a, b, s32(c), 8, True)),
    "v_dot8c_i32_i4": (I, [B, B, "acc"], lambda a, b, c: dot(a, b, s32(c), 4, True)),
    "v_dot2c_i32_i16": (I, [B, B, "acc"], lambda a, b, c: dot(a, b, s32(c), 16, True)),
}
# 64-bit multiply and add; the mask is the carry.
WIDE = {"v_mad_u64_u32": (L, [U, U, L], lambda a, b, c: a * b + c), "v_mad_i64_i32": (Q, [I, I, Q], lambda a, b, c: a * b + c)}
# With a carry: (sum, whether it left the range).
CARRY = {
    "v_add_co_u32": lambda a, b, c: (a + b, a + b > M32), "v_sub_co_u32": lambda a, b, c: (a - b, a < b),
    "v_subrev_co_u32": lambda a, b, c: (b - a, b < a), "v_addc_co_u32": lambda a, b, c: (a + b + c, a + b + c > M32),
    "v_subb_co_u32": lambda a, b, c: (a - b - c, a < b + c), "v_subbrev_co_u32": lambda a, b, c: (b - a - c, b < a + c),
}
# One half of a packed instruction; sums may clamp to the range of the type.
PACKED = {
    "v_pk_add_u16": (H, 2, lambda a, b: a + b, True), "v_pk_sub_u16": (H, 2, lambda a, b: a - b, True),
    "v_pk_add_i16": (S, 2, lambda a, b: a + b, True), "v_pk_sub_i16": (S, 2, lambda a, b: a - b, True),
    "v_pk_mad_u16": (H, 3, lambda a, b, c: a * b + c, True), "v_pk_mad_i16": (S, 3, lambda a, b, c: a * b + c, True),
    "v_pk_mul_lo_u16": (H, 2, lambda a, b: a * b, False), "v_pk_lshlrev_b16": (H, 2, lambda a, b: b << (a & 15), False),
    "v_pk_lshrrev_b16": (H, 2, lambda a, b: b >> (a & 15), False),
    "v_pk_ashrrev_i16": (S, 2, lambda a, b: b >> (a & 15), False),
    "v_pk_max_u16": (H, 2, max, False), "v_pk_min_u16": (H, 2, min, False),
    "v_pk_max_i16": (S, 2, max, False), "v_pk_min_i16": (S, 2, min, False),
}
DOT2 = {"v_dot2_i32_i16": (I, S), "v_dot2_u32_u16": (U, H)}
