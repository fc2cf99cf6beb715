/*
 * Transcendental functions on one lane. Single precision is evaluated in double, which keeps the
 * error below 0.51 ULP (the ISA manual allows 1) with short series and no fma. The hardware's
 * single-precision units flush denormal inputs and results whatever MODE says; compilers know
 * and scale around it.
 */
#ifndef VALU_CORE_TRANS_H
#define VALU_CORE_TRANS_H

#include "valu/core_float.h"

#define LN2          0.693147180559945309417
#define TWO_OVER_LN2 2.8853900817779268
#define TAU          6.283185307179586476925

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

/* 2^x, |x| bounded by the caller; the series of e^(r ln 2), |r| <= 0.5, is good to 2^-36. */
KERNEL_INLINE f64 exp2_series(f64 x)
{
    const i32 n = (i32)(x + (select64(x < 0, -0.5, 0.5)));
    const f64 t = (x - n) * LN2;
    f64 r = 2.7557319223985893e-06;
    r = r * t + 2.48015873015873e-05;
    r = r * t + 0.0001984126984126984;
    r = r * t + 0.001388888888888889;
    r = r * t + 0.008333333333333333;
    r = r * t + 0.041666666666666664;
    r = r * t + 0.16666666666666666;
    r = r * t + 0.5;
    r = r * t + 1;
    r = r * t + 1;
    return r * pow2_f64(n);
}
KERNEL_INLINE f32 exp2_f32_wide(f32 x) /* denormal results kept */
{
    const f64 bounded = select64(x > 200, 200, select64(x > -200, x, -200));
    const f32 r = (f32)exp2_series(bounded);
    return select32(x != x, x + x, r);
}
KERNEL_INLINE f32 exp2_f32(f32 x)
{
    return flush32(exp2_f32_wide(flush32(x)));
}

/* log2 of a positive finite float: x = m 2^n, m in [sqrt(1/2), sqrt(2)), atanh series in
 * (m - 1) / (m + 1), whose first dropped term is below 2^-38 of the first. */
KERNEL_INLINE f64 log2_series(f64 x)
{
    const u64 u = bits64(x);
    const i32 n = (i32)((u >> 32) - 0x3fe6a09e) >> 20;
    const f64 m = f64_of(u - ((u64)(i64)n << 52));
    const f64 s = (m - 1) / (m + 1), q = s * s;
    f64 r = 0.07692307692307693;
    r = r * q + 0.09090909090909091;
    r = r * q + 0.1111111111111111;
    r = r * q + 0.14285714285714285;
    r = r * q + 0.2;
    r = r * q + 0.3333333333333333;
    r = r * q + 1;
    return n + r * s * TWO_OVER_LN2;
}
KERNEL_INLINE f32 log2_f32_wide(f32 x) /* denormal arguments taken at their value */
{
    const f32 special = select32(x == 0, f32_of(INF32 | SIGN32), select32(x > 0, x, f32_of(NAN32)));
    const bool ordinary = (x > 0) & (x < f32_of(INF32));
    const f32 r = (f32)log2_series(select64(ordinary, x, 1));
    return select32(x != x, x + x, select32(ordinary, r, special));
}
KERNEL_INLINE f32 log2_f32(f32 x)
{
    return log2_f32_wide(flush32(x));
}

/* sin(2 pi t) for |t| <= 0.25. */
KERNEL_INLINE f64 sin_series(f64 t)
{
    const f64 x = t * TAU, q = x * x;
    f64 r = -7.647163731819816e-13;
    r = r * q + 1.6059043836821613e-10;
    r = r * q - 2.505210838544172e-08;
    r = r * q + 2.7557319223985893e-06;
    r = r * q - 0.0001984126984126984;
    r = r * q + 0.008333333333333333;
    r = r * q - 0.16666666666666666;
    r = r * q + 1;
    return r * x;
}
/* A phase in turns folded into [-0.25, 0.25] with the same sine. */
KERNEL_INLINE f64 fold_turns(f64 x)
{
    const f64 t = x - (i32)(x + (select64(x < 0, -0.5, 0.5)));
    const f64 half = select64(t < 0, -0.5, 0.5);
    return select64((t > 0.25) | (t < -0.25), half - t, t);
}
/* The sources are in turns; beyond 256 turns the hardware gives up: sine 0, cosine 1. */
KERNEL_INLINE f32 sin_f32(f32 x)
{
    const bool inside = __builtin_fabsf(x) <= 256;
    const f32 r = (f32)sin_series(fold_turns(select64(inside, x, 0)));
    const bool finite = (bits32(x) & ~SIGN32) < INF32;
    const f32 special = select32(finite, 0, f32_of(NAN32));
    return select32(inside, select32(x == 0, x, r), special);
}
KERNEL_INLINE f32 cos_f32(f32 x)
{
    const bool inside = __builtin_fabsf(x) <= 256;
    const f64 quarter = select64(inside, __builtin_fabsf(x), 0) + 0.25;
    const f32 r = (f32)sin_series(fold_turns(quarter));
    const bool finite = (bits32(x) & ~SIGN32) < INF32;
    return select32(inside, r, select32(finite, 1, f32_of(NAN32)));
}

#endif
