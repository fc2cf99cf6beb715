/* The steps of divisions on one lane. */
#ifndef VALU_CORE_DIV_H
#define VALU_CORE_DIV_H

#include "valu/core_float.h"

/*
 * v_div_scale: scales the numerator (c) or the denominator (b), whichever a is, so that the
 * Newton steps of a division neither overflow nor lose bits to denormals; the mask tells
 * v_div_fmas to scale the quotient back.
 */
KERNEL_INLINE f32 div_scale_f32(f32 a, f32 b, f32 c, bool *rescale)
{
    const u32 eb = EXP32(bits32(b)), ec = EXP32(bits32(c));
    const f64 quotient = __builtin_fabs((f64)c / (f64)b);
    const bool none = (b == 0) | (c == 0);
    const bool huge = (i32)(ec - eb) >= 96;
    const bool tiny_quotient = quotient < 0x1p-126;
    const bool tiny_reciprocal = __builtin_fabsf(b) > 0x1p126f;
    const bool small_numerator = ec <= 23;
    const f32 up = (f32)((f64)a * 0x1p64), down = (f32)((f64)a * 0x1p-64);
    f32 r = small_numerator ? up : a;
    r = tiny_quotient ? (a == c ? up : a) : r;
    r = tiny_reciprocal ? down : r;
    r = tiny_reciprocal & tiny_quotient ? (a == b ? down : a) : r;
    r = eb == 0 ? up : r;
    r = huge ? (a == b ? up : a) : r;
    *rescale = (huge | ((eb != 0) & tiny_quotient)) & (none ^ 1);
    return none ? f32_of(NAN32) : r;
}

/* The scale is part of the one rounding, or denormal quotients would be rounded twice. */
static inline u32 div_fmas_rescaled_f32(f32 a, f32 b, f32 c, f32 one)
{
    const __float128 scale = EXP32(bits32(c)) > 127 ? 0x1p64 : 0x1p-64;
    return bits32((f32)(((__float128)a * b + c) * scale) * one);
}

/* v_div_fixup: the special cases of numerator (c) / denominator (b) around the quotient a. */
KERNEL_INLINE u32 div_fixup_f32(f32 a, f32 b, f32 c, f64 one)
{
    const u32 ub = bits32(b), uc = bits32(c), sign = (ub ^ uc) & SIGN32;
    const bool zero_b = b == 0, zero_c = c == 0;
    const bool inf_b = (ub & ~SIGN32) == INF32, inf_c = (uc & ~SIGN32) == INF32;
    const f32 least = (f32)(one * select64(sign, -0x1p-200, 0x1p-200));
    /* Newton steps that overflowed end in a NaN. */
    const f32 most = (f32)(one * select64(sign, -0x1p200, 0x1p200));
    u32 r = nan32(a) ? bits32(most) : (bits32(a) & ~SIGN32) | sign;
    r = (i32)(EXP32(uc) - EXP32(ub)) < -150 ? bits32(least) : r;
    r = inf_b | zero_c ? sign : r;
    r = zero_b | inf_c ? (INF32 | sign) : r;
    r = (zero_b & zero_c) | (inf_b & inf_c) ? NAN32 : r;
    r = nan32(b) ? (ub | 0x400000) : r;
    return nan32(c) ? (uc | 0x400000) : r;
}

/* As div_scale_f32; the quotient is compared through the operands' scaled mantissas, because a
 * double has no wider type to divide in. */
KERNEL_INLINE f64 div_scale_f64(f64 a, f64 b, f64 c, bool *rescale)
{
    const i32 eb = (i32)EXP64(bits64(b)), ec = (i32)EXP64(bits64(c));
    const f64 mb = __builtin_fabs(frexp_mant_f64(b)), mc = __builtin_fabs(frexp_mant_f64(c));
    const i32 distance = frexp_exp_f64(c) - frexp_exp_f64(b);
    const bool none = (b == 0) | (c == 0);
    const bool huge = ec - eb >= 768;
    const bool tiny_quotient = (distance < -1022) | ((distance == -1022) & (mc < mb));
    const bool tiny_reciprocal = __builtin_fabs(b) > 0x1p1022;
    const bool small_numerator = ec <= 53;
    const f64 up = a * 0x1p128, down = a * 0x1p-128;
    f64 r = small_numerator ? up : a;
    r = tiny_quotient ? (a == c ? up : a) : r;
    r = tiny_reciprocal ? down : r;
    r = tiny_reciprocal & tiny_quotient ? (a == b ? down : a) : r;
    r = eb == 0 ? up : r;
    r = huge ? (a == b ? up : a) : r;
    *rescale = (huge | ((eb != 0) & tiny_quotient)) & (none ^ 1);
    return none ? f64_of(NAN64) : r;
}

static inline f64 div_fmas_rescaled_f64(f64 a, f64 b, f64 c, f64 one)
{
    const __float128 scale = EXP64(bits64(c)) > 1023 ? 0x1p128 : 0x1p-128;
    return (f64)(((__float128)a * b + c) * scale) * one;
}
KERNEL_INLINE u64 div_fixup_f64(f64 a, f64 b, f64 c, f64 one)
{
    const u64 ub = bits64(b), uc = bits64(c), sign = (ub ^ uc) & SIGN64;
    const bool zero_b = b == 0, zero_c = c == 0;
    const bool inf_b = (ub & ~SIGN64) == INF64, inf_c = (uc & ~SIGN64) == INF64;
    const f64 least = select64(sign, -0x1p-1000, 0x1p-1000) * (one * 0x1p-1000);
    const f64 most = select64(sign, -0x1p1000, 0x1p1000) * (one * 0x1p1000);
    u64 r = nan64(a) ? bits64(most) : (bits64(a) & ~SIGN64) | sign;
    r = (i32)(EXP64(uc) - EXP64(ub)) < -1075 ? bits64(least) : r;
    r = inf_b | zero_c ? sign : r;
    r = zero_b | inf_c ? (INF64 | sign) : r;
    r = (zero_b & zero_c) | (inf_b & inf_c) ? NAN64 : r;
    r = nan64(b) ? (ub | UINT64_C(1) << 51) : r;
    return nan64(c) ? (uc | UINT64_C(1) << 51) : r;
}

#endif
