/* Floating-point operations on one lane. */
#ifndef VALU_CORE_FLOAT_H
#define VALU_CORE_FLOAT_H

#include "valu/kernel.h"

#define EXP32(u) ((u) >> 23 & 0xff)
#define EXP64(u) ((u32)((u) >> 52) & 0x7ff)
#define INF32    UINT32_C(0x7f800000)
#define INF64    UINT64_C(0x7ff0000000000000)
#define SIGN32   UINT32_C(0x80000000)
#define SIGN64   UINT64_C(0x8000000000000000)
#define NAN32    UINT32_C(0xffc00000)
#define NAN64    UINT64_C(0xfff8000000000000)

/* Choices are made by masks, because the vectoriser takes chains of ?: over floats for control
 * flow. */
KERNEL_INLINE f32 select32(bool condition, f32 yes, f32 no)
{
    const u32 m = 0u - (u32)condition;
    return f32_of((bits32(yes) & m) | (bits32(no) & ~m));
}
KERNEL_INLINE f64 select64(bool condition, f64 yes, f64 no)
{
    const u64 m = UINT64_C(0) - (u64)condition;
    return f64_of((bits64(yes) & m) | (bits64(no) & ~m));
}

KERNEL_INLINE f32 flush32(f32 x)
{
    const u32 u = bits32(x);
    return f32_of(EXP32(u) ? u : u & SIGN32);
}
KERNEL_INLINE f32 flush32_if(f32 x, u32 flush)
{
    const u32 u = bits32(x);
    return f32_of(EXP32(u) ? u : u & (SIGN32 | ~flush));
}
KERNEL_INLINE bool nan32(f32 x)
{
    return (bits32(x) & ~SIGN32) > INF32;
}
KERNEL_INLINE bool nan64(f64 x)
{
    return (bits64(x) & ~SIGN64) > INF64;
}
/* These integers have the order of the floats that they stand for; -0 sorts below +0, as min and
 * max want. */
KERNEL_INLINE i32 order32(f32 x)
{
    const i32 i = (i32)bits32(x);
    return i ^ (i32)((u32)(i >> 31) >> 1);
}
KERNEL_INLINE i64 order64(f64 x)
{
    const i64 i = (i64)bits64(x);
    return i ^ (i64)((u64)(i >> 63) >> 1);
}
KERNEL_INLINE i32 order16(u32 x)
{
    const i32 i = (i16)x;
    return i ^ (i >> 15 & 0x7fff);
}

/* A NaN sorts behind every number (LAST), so the number is picked; where both are NaN, either. */
#define MINMAX(NAME, T, KEY, BITS, ORDER, NAN, SELECT, NUMBER, ONE, OP, LAST)                      \
    KERNEL_INLINE T NAME(T a, T b, struct lane_env e)                                              \
    {                                                                                              \
        const KEY ka = NAN(a) ? LAST : ORDER(a), kb = NAN(b) ? LAST : ORDER(b);                    \
        const bool wins_a = NAN(a) & ((BITS(a) & e.NUMBER) == 0);                                  \
        const bool wins_b = NAN(b) & ((BITS(b) & e.NUMBER) == 0);                                  \
        T r = SELECT(ka OP kb, a, b);                                                              \
        r = SELECT(wins_b, b, r);                                                                  \
        r = SELECT(wins_a, a, r);                                                                  \
        return r * e.ONE;                                                                          \
    }
MINMAX(min_f32, f32, i32, bits32, order32, nan32, select32, number32, one32, <, INT32_MAX)
MINMAX(max_f32, f32, i32, bits32, order32, nan32, select32, number32, one32, >, INT32_MIN)
MINMAX(min_f64, f64, i64, bits64, order64, nan64, select64, number64, one64, <, INT64_MAX)
MINMAX(max_f64, f64, i64, bits64, order64, nan64, select64, number64, one64, >, INT64_MIN)

/* The median of three: the greater of those that are left without the greatest, which is found by
 * a comparison, for which both zeros are one. With a NaN among them the hardware answers their
 * minimum. */
KERNEL_INLINE f32 med_f32(f32 a, f32 b, f32 c, struct lane_env e)
{
    const f32 ab = max_f32(a, b, e), most = max_f32(ab, c, e);
    const f32 rest = select32(most == b * e.one32, max_f32(a, c, e), ab);
    const f32 median = select32(most == a * e.one32, max_f32(b, c, e), rest);
    const f32 least = min_f32(min_f32(a, b, e), c, e);
    return select32(nan32(a) | nan32(b) | nan32(c), least, median);
}

/* The builtins are fused in every build: those without the instruction call the C library's. */
KERNEL_INLINE f32 fma_f32(f32 a, f32 b, f32 c)
{
    return __builtin_fmaf(a, b, c);
}
KERNEL_INLINE f64 fma_f64(f64 a, f64 b, f64 c)
{
    return __builtin_fma(a, b, c);
}
KERNEL_INLINE f32 mul_legacy_f32(f32 a, f32 b)
{
    return a == 0 || b == 0 ? 0 : a * b;
}

/*
 * Rounding to integral values: without the instruction GCC rounds by adding and taking away a large
 * number, which is wrong in directed modes, so the portable build goes through integers.
 */
#if defined(__SSE4_1__)
#define trunc_f32 __builtin_truncf
#define floor_f32 __builtin_floorf
#define ceil_f32  __builtin_ceilf
#define trunc_f64 __builtin_trunc
#define floor_f64 __builtin_floor
#define ceil_f64  __builtin_ceil
#else
#define INTEGRAL(T, INTEGER, BITS, OF, SIGN, LIMIT, SELECT, FABS)                                  \
    KERNEL_INLINE T trunc_##T(T x)                                                                 \
    {                                                                                              \
        const bool small = FABS(x) < LIMIT;                                                        \
        const T r = (T)(INTEGER)SELECT(small, x, 0);                                               \
        return SELECT(small, OF((BITS(r) & ~SIGN) | (BITS(x) & SIGN)), x);                         \
    }                                                                                              \
    KERNEL_INLINE T floor_##T(T x)                                                                 \
    {                                                                                              \
        const T t = trunc_##T(x);                                                                  \
        return SELECT(t > x, t - 1, t);                                                            \
    }                                                                                              \
    KERNEL_INLINE T ceil_##T(T x)                                                                  \
    {                                                                                              \
        const T t = trunc_##T(x);                                                                  \
        return SELECT(t < x, t + 1, t);                                                            \
    }
INTEGRAL(f32, i32, bits32, f32_of, SIGN32, 0x1p23f, select32, __builtin_fabsf)
INTEGRAL(f64, i64, bits64, f64_of, SIGN64, 0x1p52, select64, __builtin_fabs)
#endif

/* Rounds to nearest even whatever MXCSR says, by the distance to the integer below. */
KERNEL_INLINE f32 round_even_f32(f32 x)
{
    const f32 below = floor_f32(x), distance = x - below;
    const f32 odd = below - 2 * floor_f32(below * 0.5f);
    const f32 step = select32(distance > 0.5f, 1, select32(distance == 0.5f, odd, 0));
    const f32 r = f32_of((bits32(below + step) & ~SIGN32) | (bits32(x) & SIGN32));
    return select32(__builtin_fabsf(x) < 0x1p23f, r, x);
}
KERNEL_INLINE f64 round_even_f64(f64 x)
{
    const f64 below = floor_f64(x), distance = x - below;
    const f64 odd = below - 2 * floor_f64(below * 0.5);
    const f64 step = select64(distance > 0.5, 1, select64(distance == 0.5, odd, 0));
    const f64 r = f64_of((bits64(below + step) & ~SIGN64) | (bits64(x) & SIGN64));
    return select64(__builtin_fabs(x) < 0x1p52, r, x);
}

KERNEL_INLINE f32 fract_f32(f32 x)
{
    const f32 r = x - floor_f32(x);
    return r >= 1 ? 0x1.fffffep-1f : r;
}
KERNEL_INLINE f64 fract_f64(f64 x)
{
    const f64 r = x - floor_f64(x);
    return r >= 1 ? 0x1.fffffffffffffp-1 : r;
}

KERNEL_INLINE f64 pow2_f64(i32 n) /* -1022..1023 */
{
    return f64_of((u64)(u32)(n + 1023) << 52);
}
KERNEL_INLINE i32 clamp_range(i32 x, i32 low, i32 high)
{
    return x < low ? low : x > high ? high : x;
}
KERNEL_INLINE f32 ldexp_f32(f32 x, i32 n)
{
    return (f32)((f64)x * pow2_f64(clamp_range(n, -400, 400)));
}
/* At most one of the three products rounds: the steps keep 53 bits above the denormals. */
KERNEL_INLINE f64 ldexp_f64(f64 x, i32 n)
{
    n = clamp_range(n, -2200, 2200);
    for (int k = 0; k < 2; k++) {
        const i32 step = n > 1023 ? 1023 : n < -1022 ? -1022 + 53 : 0;
        x *= pow2_f64(step);
        n -= step;
    }
    return x * pow2_f64(clamp_range(n, -1022, 1023));
}

KERNEL_INLINE i32 frexp_exp_f32(f32 x)
{
    const u32 m = bits32(x) & ~SIGN32;
    const f32 scaled = f32_of(m << 0);
    const u32 normal = bits32((f32)((f64)scaled * 0x1p64));
    const bool denormal = m < 0x800000;
    const i32 exponent = denormal ? (i32)EXP32(normal) - 64 : (i32)EXP32(m);
    return (m == 0) | (m >= INF32) ? 0 : exponent - 126;
}
KERNEL_INLINE f32 frexp_mant_f32(f32 x)
{
    const u32 u = bits32(x), m = u & ~SIGN32;
    const u32 normal = m < 0x800000 ? bits32((f32)((f64)x * 0x1p64)) : u;
    const u32 r = (normal & 0x807fffff) | 126u << 23;
    return (m == 0) | (m >= INF32) ? x : f32_of(r);
}
KERNEL_INLINE i32 frexp_exp_f64(f64 x)
{
    const u64 m = bits64(x) & ~SIGN64;
    const u64 normal = bits64(x * 0x1p64);
    const i32 exponent = EXP64(m) ? (i32)EXP64(m) : (i32)EXP64(normal) - 64;
    return (m == 0) | (m >= INF64) ? 0 : exponent - 1022;
}
KERNEL_INLINE f64 frexp_mant_f64(f64 x)
{
    const u64 u = bits64(x), m = u & ~SIGN64;
    const u64 normal = EXP64(m) ? u : bits64(x * 0x1p64);
    const u64 r = (normal & UINT64_C(0x800fffffffffffff)) | UINT64_C(1022) << 52;
    return (m == 0) | (m >= INF64) ? x : f64_of(r);
}

/* The bits of v_cmp_class: one is set for the class a value belongs to. Those of numbers go from
 * the zeros, bits 5 and 6, down for negative ones and up for others. */
#define CLASS_OF(NAME, T, SIGN, INF, QUIET, MIN_NORMAL)                                            \
    KERNEL_INLINE u32 NAME(T u)                                                                    \
    {                                                                                              \
        const T m = u & (T)~SIGN;                                                                  \
        const u32 size = (u32)(m != 0) + (u32)(m >= MIN_NORMAL) + (u32)(m >= INF);                 \
        const u32 number = u & SIGN ? 5 - size : 6 + size;                                         \
        return 1u << (m > INF ? (u & QUIET ? 1 : 0) : number);                                     \
    }
CLASS_OF(class_f16, u32, 0x8000u, 0x7c00u, 0x200u, 0x400u)
CLASS_OF(class_f32, u32, SIGN32, INF32, 0x400000u, 0x800000u)
CLASS_OF(class_f64, u64, SIGN64, INF64, (UINT64_C(1) << 51), (UINT64_C(1) << 52))

/* Cube map face selection; `major` picks z over y over x on ties. */
#define CUBE_Z(a, b, c)                                                                            \
    (__builtin_fabsf(c) >= __builtin_fabsf(a)) & (__builtin_fabsf(c) >= __builtin_fabsf(b))
#define CUBE_Y(a, b) (__builtin_fabsf(b) >= __builtin_fabsf(a))
KERNEL_INLINE f32 cube_id(f32 a, f32 b, f32 c)
{
    const f32 z = select32(c < 0, 5, 4), y = select32(b < 0, 3, 2), x = select32(a < 0, 1, 0);
    return select32(CUBE_Z(a, b, c), z, select32(CUBE_Y(a, b), y, x));
}
KERNEL_INLINE f32 cube_s(f32 a, f32 b, f32 c)
{
    const f32 z = select32(c < 0, -a, a), x = select32(a < 0, c, -c);
    return select32(CUBE_Z(a, b, c), z, select32(CUBE_Y(a, b), a, x));
}
KERNEL_INLINE f32 cube_t(f32 a, f32 b, f32 c)
{
    const f32 y = select32(b < 0, -c, c);
    return select32(CUBE_Z(a, b, c), -b, select32(CUBE_Y(a, b), y, -b));
}
KERNEL_INLINE f32 cube_major(f32 a, f32 b, f32 c)
{
    return 2 * select32(CUBE_Z(a, b, c), c, select32(CUBE_Y(a, b), b, a));
}

/* Float to integer: truncates, saturates, NaN gives 0. */
KERNEL_INLINE i32 i32_of_f64(f64 x)
{
    const bool high = x >= 0x1p31, low = x < -0x1p31, nan = x != x;
    const i32 inside = (i32)(high | low | nan ? 0 : x);
    return high ? INT32_MAX : low ? INT32_MIN : inside;
}
KERNEL_INLINE u32 u32_of_f64(f64 x)
{
    const bool high = x >= 0x1p32, low = !(x > 0), top = x >= 0x1p31;
    const f64 inside = high | low ? 0 : top ? x - 0x1p31 : x;
    const u32 r = (u32)(i32)inside + (top ? 0x80000000u : 0);
    return high ? UINT32_MAX : low ? 0 : r;
}
KERNEL_INLINE i32 i32_of_f32(f32 x)
{
    const bool high = x >= 0x1p31f, low = x < -0x1p31f, nan = x != x;
    const i32 inside = (i32)(high | low | nan ? 0 : x);
    return high ? INT32_MAX : low ? INT32_MIN : inside;
}
KERNEL_INLINE u32 u32_of_f32(f32 x)
{
    const bool high = x >= 0x1p32f, low = !(x > 0), top = x >= 0x1p31f;
    const f32 inside = high | low ? 0 : top ? x - 0x1p31f : x;
    const u32 r = (u32)(i32)inside + (top ? 0x80000000u : 0);
    return high ? UINT32_MAX : low ? 0 : r;
}
KERNEL_INLINE u32 u8_of_f32(f32 x)
{
    const f32 bounded = x > 255 ? 255 : x > 0 ? x : 0;
    return (u32)(i32)bounded;
}
/* Normalised integers: [-1, 1] or [0, 1] scaled to the full range, NaN gives 0. The product is
 * exact in double precision, so that it is rounded once. */
KERNEL_INLINE i32 snorm16(f32 x)
{
    const f32 bounded = x > 1 ? 1 : x < -1 ? -1 : x == x ? x : 0;
    return (i32)__builtin_rint((f64)bounded * 32767);
}
KERNEL_INLINE u32 unorm16(f32 x)
{
    const f32 bounded = x > 1 ? 1 : x > 0 ? x : 0;
    return (u32)(i32)__builtin_rint((f64)bounded * 65535);
}

#endif
