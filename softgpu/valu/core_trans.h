/*
 * Transcendental functions on one lane, in single precision with fused multiply-adds, so that every
 * build gives the same bits. The error stays below 0.97 ULP where results round to the nearest (the
 * ISA manual allows 1): what rounds is small beside the last addition. Measured with all 2^32
 * inputs against double precision: exp 0.801, log 0.888, sin 0.965, cos 0.689, rsq 0.501. The
 * polynomials interpolate at Chebyshev points. The hardware's single-precision units flush denormal
 * inputs and results whatever MODE says; compilers know and scale around it.
 */
#ifndef VALU_CORE_TRANS_H
#define VALU_CORE_TRANS_H

#include "valu/core_float.h"
#include "valu/trans_constants.h"

KERNEL_INLINE f32 rcp_f32(f32 x)
{
    return flush32(1.0f / flush32(x));
}
KERNEL_INLINE f32 sqrt_f32(f32 x)
{
    return __builtin_sqrtf(flush32(x));
}
/* The square root and the division round twice; what is left of 1 - x r r, which the two parts of
 * the product x r give almost exactly, mends that. Zeros, infinities and what is negative have no
 * such rest. */
KERNEL_INLINE f32 rsq_f32(f32 a)
{
    const f32 x = flush32(a), r = 1.0f / __builtin_sqrtf(x);
    const f32 g = x * r, lost = fma_f32(x, r, -g);
    const f32 left = fma_f32(-lost, r, fma_f32(-g, r, 1));
    return select32(left == left, fma_f32(r * 0.5f, left, r), r);
}

KERNEL_INLINE f32 exponent_f32(i32 n) /* 2^n of normal numbers */
{
    return f32_of((u32)(n + 127) << 23);
}

/* The nearest integer, the even one of two, in every rounding mode; |x| < 2^22. */
KERNEL_INLINE i32 near_i32(f32 x)
{
    const i32 whole = (i32)x;
    const f32 size = __builtin_fabsf(x - (f32)whole);
    const bool up = (size > 0.5f) | ((size == 0.5f) & (whole & 1));
    return whole + (up ? 1 | ((i32)bits32(x) >> 31) : 0);
}

/* 2^x = 2^n (1 + t P(t)), |t| <= 0.5; the scale in two steps, as 2^128 times 0.9 is a number. */
KERNEL_INLINE f32 exp2_f32_wide(f32 x) /* denormal results kept */
{
    const f32 bounded = select32(x > 200, 200, select32(x > -200, x, -200));
    const i32 n = near_i32(bounded), first = n >> 1;
    const f32 t = bounded - (f32)n;
    f32 p = EXP2_6;
    p = fma_f32(p, t, EXP2_5);
    p = fma_f32(p, t, EXP2_4);
    p = fma_f32(p, t, EXP2_3);
    p = fma_f32(p, t, EXP2_2);
    p = fma_f32(p, t, EXP2_1);
    p = fma_f32(p, t, EXP2_0);
    const f32 r = fma_f32(p, t, 1) * exponent_f32(first) * exponent_f32(n - first);
    return select32(x < f32_of(INF32), r, x + x);
}
KERNEL_INLINE f32 exp2_f32(f32 x)
{
    return flush32(exp2_f32_wide(flush32(x)));
}

/* log2 of a normal number: x = m 2^n, m in [sqrt(1/2), sqrt(2)); n + f L(f), f = m - 1. The first
 * two terms are apart, and so is what their sum loses, and the second part of the first. */
KERNEL_INLINE f32 log2_series(f32 x)
{
    const u32 u = bits32(x);
    const i32 n = (i32)(u - LOG2_BOUNDARY) >> 23;
    const f32 f = f32_of(u - ((u32)n << 23)) - 1;
    f32 p = LOG2_9;
    p = fma_f32(p, f, LOG2_8);
    p = fma_f32(p, f, LOG2_7);
    p = fma_f32(p, f, LOG2_6);
    p = fma_f32(p, f, LOG2_5);
    p = fma_f32(p, f, LOG2_4);
    p = fma_f32(p, f, LOG2_3);
    p = fma_f32(p, f, LOG2_2);
    const f32 most = fma_f32(LOG2_SECOND, f, LOG2_FIRST);
    const f32 lost = fma_f32(LOG2_SECOND, f, LOG2_FIRST - most);
    const f32 rest = f * fma_f32(p, f * f, lost + LOG2_FIRST_REST);
    return fma_f32(f, most, rest) + (f32)n;
}
/* Of numbers that are no denormals: those of halves are none as floats. */
KERNEL_INLINE f32 log2_f32_normal(f32 x)
{
    const f32 special = select32(x == 0, f32_of(INF32 | SIGN32), select32(x > 0, x, f32_of(NAN32)));
    const bool ordinary = (x > 0) & (x < f32_of(INF32));
    const f32 r = log2_series(select32(ordinary, x, 1));
    return select32(x != x, x + x, select32(ordinary, r, special));
}
KERNEL_INLINE f32 log2_f32(f32 x)
{
    return log2_f32_normal(flush32(x));
}

/* sin(2 pi u), |u| <= 0.16, and cos(2 pi u), |u| <= 0.125. */
KERNEL_INLINE f32 sin_series(f32 u)
{
    const f32 q = u * u;
    f32 p = SIN_4;
    p = fma_f32(p, q, SIN_3);
    p = fma_f32(p, q, SIN_2);
    p = fma_f32(p, q, SIN_1);
    const f32 rest = u * fma_f32(p, q, SIN_0_REST);
    return fma_f32(u, SIN_0, rest);
}
KERNEL_INLINE f32 cos_series(f32 u)
{
    const f32 q = u * u;
    const f32 most = fma_f32(COS_1, q, 1), lost = fma_f32(COS_1, q, 1 - most);
    f32 p = COS_5;
    p = fma_f32(p, q, COS_4);
    p = fma_f32(p, q, COS_3);
    p = fma_f32(p, q, COS_2);
    p = fma_f32(p, q, COS_1_REST);
    return most + fma_f32(p, q, lost);
}

/* The distance to the next half turn, whose sine has the same size; all of it is exact. */
KERNEL_INLINE f32 half_turn_distance(f32 t)
{
    const f32 size = __builtin_fabsf(t);
    return select32(size > 0.25f, __builtin_fabsf(0.5f - size), size);
}
/* The sources are in turns; beyond 256 turns the hardware gives up: sine 0, cosine 1. Each becomes
 * the other one of what is left to the quarter. */
KERNEL_INLINE f32 sin_f32(f32 x)
{
    const bool inside = __builtin_fabsf(x) <= 256;
    const f32 bounded = select32(inside, x, 0), t = bounded - (f32)near_i32(bounded);
    const f32 size = half_turn_distance(t);
    const bool beyond = size > SIN_LIMIT;
    const f32 rest = 0.25f - size;
    const f32 r = select32(beyond, cos_series(rest), sin_series(size));
    const bool finite = (bits32(x) & ~SIGN32) < INF32;
    const f32 special = select32(finite, 0, f32_of(NAN32));
    const f32 with_sign = f32_of(bits32(r) ^ (bits32(t) & SIGN32));
    return select32(inside, select32(x == 0, x, with_sign), special);
}
KERNEL_INLINE f32 cos_f32(f32 x)
{
    const bool inside = __builtin_fabsf(x) <= 256;
    const f32 bounded = select32(inside, x, 0), t = bounded - (f32)near_i32(bounded);
    const f32 size = half_turn_distance(t);
    const bool beyond = size > COS_LIMIT;
    const f32 rest = 0.25f - size;
    const f32 r = select32(beyond, sin_series(rest), cos_series(size));
    const f32 with_sign = f32_of(bits32(r) ^ (__builtin_fabsf(t) > 0.25f ? SIGN32 : 0));
    const bool finite = (bits32(x) & ~SIGN32) < INF32;
    return select32(inside, with_sign, select32(finite, 1, f32_of(NAN32)));
}

#endif
