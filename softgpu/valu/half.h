/*
 * Half precision: rows of f16 become rows of f32, are computed there, and are rounded once on the
 * way back. Sums, products and square roots of f16 survive that exactly (f32 has more than twice
 * the digits); fma needs the rounding to odd below.
 */
#ifndef VALU_HALF_H
#define VALU_HALF_H

#include "valu/core_trans.h"
#include "valu/simd.h"
#include "valu/trans_vector.h"

KERNEL_INLINE void half_source(f32 *d, const u32 *s, bool scalar, u32 flush)
{
    if (scalar) {
        u32 t[WAVE_LANES] __attribute__((aligned(64)));
        row_fill(t, s[0]);
        row_of_half(d, t);
    } else {
        row_of_half(d, s);
    }
    if (__builtin_expect(flush != 0, 0))
        LANES d[l] = __builtin_fabsf(d[l]) < 0x1p-14f ? f32_of(bits32(d[l]) & SIGN32) : d[l];
}
/* FP16_OVFL: what is too large for a half becomes the largest one in every rounding mode, but what
 * is infinite stays so. */
KERNEL_INLINE u32 bounded_half(u32 h, f32 r)
{
    const bool beyond = (h & 0x7fff) == 0x7c00 && (bits32(r) & ~SIGN32) < INF32;
    return beyond ? h - 1 : h;
}
KERNEL_INLINE void half_result(u32 *d, const f32 *r, u32 flush, u32 bounded)
{
    half_of_row(d, r);
    if (__builtin_expect(bounded != 0, 0))
        LANES d[l] = bounded_half(d[l], r[l]);
    if (__builtin_expect(flush != 0, 0))
        LANES d[l] = d[l] & 0x7c00 ? d[l] : d[l] & 0x8000;
}

/* a * b is exact in f32. The sum is rounded to odd, so that rounding it again to f16 is right;
 * directed roundings compose by themselves. */
KERNEL_INLINE f32 fma_f16(f32 a, f32 b, f32 c, struct lane_env e)
{
    const f32 p = a * b, s = p + c;
    const f32 t = s - p;
    const f32 error = (p - (s - t)) + (c - t);
    const u32 u = bits32(s);
    const u32 inexact = (error == error) & (error != 0) & ((u & ~SIGN32) < INF32);
    const bool outward = (bits32(error) ^ u) >> 31 == 0;
    const u32 odd = u & 1 ? u : outward ? u + 1 : u - 1;
    return f32_of(u ^ ((odd ^ u) & (0 - inexact) & e.nearest));
}

KERNEL_INLINE u32 flush_f16(u32 h, u32 flush)
{
    return h & 0x7c00 ? h : h & (0x8000 | ~flush);
}
KERNEL_INLINE bool nan16(u32 h)
{
    return (h & 0x7fff) > 0x7c00;
}
/* The choice is made on the bits, because conversion to f32 would quiet the signalling NaNs that
 * IEEE mode asks about. */
KERNEL_INLINE u32 pick_f16(u32 a, u32 b, bool first, struct lane_env e)
{
    const u32 number = e.number32 >> 13 & 0x3ff; /* the quiet bit is bit 9 here */
    u32 r = first ? a : b;
    r = nan16(b) ? a : r;
    r = nan16(a) ? b : r;
    r = nan16(b) & ((b & number) == 0) ? b : r;
    r = nan16(a) & ((a & number) == 0) ? a : r;
    return flush_f16(nan16(r) ? r | 0x200 : r, e.flush16_out | e.flush16_in);
}
KERNEL_INLINE u32 min_f16(u32 a, u32 b, struct lane_env e)
{
    return pick_f16(a, b, order16(a) < order16(b), e);
}
KERNEL_INLINE u32 max_f16(u32 a, u32 b, struct lane_env e)
{
    return pick_f16(a, b, order16(a) > order16(b), e);
}
/* Of numbers; `most` has been through pick_f16(). */
KERNEL_INLINE bool equal_f16(u32 most, u32 x, struct lane_env e)
{
    const u32 h = flush_f16(x & 0xffff, e.flush16_out | e.flush16_in);
    return h == most || ((h | most) & 0x7fff) == 0;
}
/* As med_f32(). */
KERNEL_INLINE u32 med_f16(u32 a, u32 b, u32 c, struct lane_env e)
{
    const u32 ab = max_f16(a, b, e), most = max_f16(ab, c, e);
    const u32 rest = equal_f16(most, b, e) ? max_f16(a, c, e) : ab;
    const u32 median = equal_f16(most, a, e) ? max_f16(b, c, e) : rest;
    return nan16(a) | nan16(b) | nan16(c) ? min_f16(min_f16(a, b, e), c, e) : median;
}

#define HALF_ROW(name) f32 name[WAVE_LANES] __attribute__((aligned(64)))
#define HBODY(NAME, SOURCES, LOADS, EXPR)                                                          \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        HALF_ROW(r_);                                                                              \
        SOURCES                                                                                    \
        LANES                                                                                      \
        {                                                                                          \
            LOADS r_[l] = (EXPR);                                                                  \
        }                                                                                          \
        half_result(d_, r_, e.flush16_out, e.bounded16);                                           \
    }
#define HSOURCE_A                                                                                  \
    HALF_ROW(fa_);                                                                                 \
    half_source(fa_, a_, sa, e.flush16_in);
#define HSOURCE_B                                                                                  \
    HALF_ROW(fb_);                                                                                 \
    half_source(fb_, b_, false, e.flush16_in);
#define HSOURCE_C                                                                                  \
    HALF_ROW(fc_);                                                                                 \
    half_source(fc_, c_, false, e.flush16_in);
#define HLOAD_A const f32 a = fa_[l];
#define HLOAD_B const f32 b = fb_[l];
#define HLOAD_C const f32 c = fc_[l];

/* exp2 of a large number is infinite in f32 already: only that makes +infinity of a number here. */
KERNEL_INLINE f32 bounded_power(f32 r, f32 a)
{
    const bool beyond = bits32(r) == INF32 && (bits32(a) & ~SIGN32) < INF32;
    return beyond ? 0x1p127f : r;
}

/* The functions of trans_vector.h. */
#if defined(HAVE_TRANS_VECTORS)
#define HTBODY1(NAME, EXPR, VEXPR)                                                                 \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        HSOURCE_A                                                                                  \
        HALF_ROW(r_);                                                                              \
        for (int l = 0; l < WAVE_LANES; l += BUNDLE_LANES) {                                       \
            const struct bundle a = bundle_load((const u32 *)fa_ + l);                             \
            bundle_store((u32 *)r_ + l, VEXPR);                                                    \
        }                                                                                          \
        if (__builtin_expect(e.bounded16 != 0, 0))                                                 \
            LANES r_[l] = bounded_power(r_[l], fa_[l]);                                            \
        half_result(d_, r_, e.flush16_out, e.bounded16);                                           \
    }
#else
#define HTBODY1(NAME, EXPR, VEXPR) HBODY1(NAME, e.bounded16 ? bounded_power(EXPR, a) : (EXPR))
#endif
#define HBODY1(NAME, EXPR) HBODY(NAME, HSOURCE_A, HLOAD_A, EXPR)
#define HBODY2(NAME, EXPR) HBODY(NAME, HSOURCE_A HSOURCE_B, HLOAD_A HLOAD_B, EXPR)
#define HBODY3(NAME, EXPR) HBODY(NAME, HSOURCE_A HSOURCE_B HSOURCE_C, HLOAD_A HLOAD_B HLOAD_C, EXPR)

#endif
