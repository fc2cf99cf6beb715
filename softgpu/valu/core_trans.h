/*
 * Transcendental functions on one lane, in single precision with fused multiply-adds, so that every
 * build gives the same bits. The error stays below 0.9 ULP (the ISA manual allows 1): what rounds
 * is small beside the last addition. The polynomials interpolate at Chebyshev points. The
 * hardware's single-precision units flush denormal inputs and results whatever MODE says; compilers
 * know and scale around it.
 */
#ifndef VALU_CORE_TRANS_H
#define VALU_CORE_TRANS_H

#include "valu/core_float.h"

KERNEL_INLINE f32 rcp_f32(f32 x)
{
    return flush32(1.0f / flush32(x));
}
KERNEL_INLINE f32 sqrt_f32(f32 x)
{
    return __builtin_sqrtf(flush32(x));
}
KERNEL_INLINE f32 rsq_f32(f32 x)
{
    return (f32)(1.0 / __builtin_sqrt((f64)flush32(x)));
}

KERNEL_INLINE f32 exponent_f32(i32 n) /* 2^n of normal numbers */
{
    return f32_of((u32)(n + 127) << 23);
}

/* An integer at most half away, give or take a rounding, in every rounding mode; |x| < 2^22. */
KERNEL_INLINE i32 near_i32(f32 x)
{
    return (i32)(x + f32_of(bits32(0.5f) | (bits32(x) & SIGN32)));
}

/* 2^x = 2^n (1 + t P(t)), |t| <= 0.5; the scale in two steps, as 2^128 times 0.9 is a number. */
KERNEL_INLINE f32 exp2_f32_wide(f32 x) /* denormal results kept */
{
    const f32 bounded = select32(x > 200, 200, select32(x > -200, x, -200));
    const i32 n = near_i32(bounded), first = n >> 1;
    const f32 t = bounded - (f32)n;
    f32 p = 0x1.00a582p-16f;
    p = fma_f32(p, t, 0x1.444p-13f);
    p = fma_f32(p, t, 0x1.5d879ep-10f);
    p = fma_f32(p, t, 0x1.3b2a1cp-7f);
    p = fma_f32(p, t, 0x1.c6b08ep-5f);
    p = fma_f32(p, t, 0x1.ebfbe0p-3f);
    p = fma_f32(p, t, 0x1.62e430p-1f);
    const f32 r = fma_f32(p, t, 1) * exponent_f32(first) * exponent_f32(n - first);
    return select32(x != x, x + x, r);
}
KERNEL_INLINE f32 exp2_f32(f32 x)
{
    return flush32(exp2_f32_wide(flush32(x)));
}

/* log2 of a normal number: x = m 2^n, m in [sqrt(1/2), sqrt(2)); n + f L(f), f = m - 1. */
KERNEL_INLINE f32 log2_series(f32 x)
{
    const u32 u = bits32(x);
    const i32 n = (i32)(u - 0x3f3504f3) >> 23;
    const f32 f = f32_of(u - ((u32)n << 23)) - 1;
    f32 p = -0x1.b84fb6p-4f;
    p = fma_f32(p, f, 0x1.7a63a0p-3f);
    p = fma_f32(p, f, -0x1.87f6a2p-3f);
    p = fma_f32(p, f, 0x1.a38c68p-3f);
    p = fma_f32(p, f, -0x1.eab7aap-3f);
    p = fma_f32(p, f, 0x1.277a52p-2f);
    p = fma_f32(p, f, -0x1.715a70p-2f);
    p = fma_f32(p, f, 0x1.ec70aap-2f);
    /* The first two terms, and what their sum loses; the second part of the first. */
    const f32 first = 0x1.715476p+0f, second = -0x1.715470p-1f;
    const f32 most = fma_f32(second, f, first), lost = fma_f32(second, f, first - most);
    const f32 rest = f * fma_f32(p, f * f, lost + 0x1.3b977ap-26f);
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
    f32 p = 0x1.48cadap+5f;
    p = fma_f32(p, q, -0x1.32bcc6p+6f);
    p = fma_f32(p, q, 0x1.466b92p+6f);
    p = fma_f32(p, q, -0x1.4abbcep+5f);
    /* 2 pi in two parts: the second one joins the small rest. */
    const f32 rest = u * fma_f32(p, q, -0x1.777a5cp-23f);
    return fma_f32(u, 0x1.921fb6p+2f, rest);
}
KERNEL_INLINE f32 cos_series(f32 u)
{
    const f32 q = u * u, first = -0x1.3bd3ccp+4f; /* less 2 pi squared */
    const f32 most = fma_f32(first, q, 1), lost = fma_f32(first, q, 1 - most);
    f32 p = -0x1.a1e84cp+4f;
    p = fma_f32(p, q, 0x1.e1ec72p+5f);
    p = fma_f32(p, q, -0x1.55d3c2p+6f);
    p = fma_f32(p, q, 0x1.03c1f0p+6f);
    p = fma_f32(p, q, -0x1.37c6c6p-21f);
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
    const bool beyond = size > 0.16f;
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
    const bool beyond = size > 0.125f;
    const f32 rest = 0.25f - size;
    const f32 r = select32(beyond, sin_series(rest), cos_series(size));
    const f32 with_sign = f32_of(bits32(r) ^ (__builtin_fabsf(t) > 0.25f ? SIGN32 : 0));
    const bool finite = (bits32(x) & ~SIGN32) < INF32;
    return select32(inside, with_sign, select32(finite, 1, f32_of(NAN32)));
}

#endif
