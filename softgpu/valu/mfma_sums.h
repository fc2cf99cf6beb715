/*
 * How matrix instructions add up, for each type but the fused ones (mfma_fused.h,
 * docs/decisions/0026-matrix-rounding.md).
 *
 * Steps: f32 fuses a multiply and an add for each k; integers wrap.
 * Pairs, f16 and bf16 of gfx908 and gfx90a: products are rounded to f32, neighbours are added, then
 *     their sums (a bf16 instruction of gfx908 has a pair only), then C; every sum is rounded to
 *     nearest. A product that is exactly zero is +0.
 */
#ifndef VALU_MFMA_SUMS_H
#define VALU_MFMA_SUMS_H

#include "valu/vector.h"

enum mfma_type {
    MFMA_F32,
    MFMA_F16,
    MFMA_BF16,
    MFMA_I8,
    MFMA_F16_FLUSH, /* MI200's, for which denormals are zeros, those of C and D too */
    MFMA_BF16_FLUSH,
    MFMA_BF16_1K,      /* MI200's alone */
    MFMA_BF16_1K_NEAR, /* the same of numbers that are near enough to 1, see numbers_near() */
    MFMA_F64
};

/* What the host has to flush. Sums of f16 are zero or multiples of their products' last digits, far
 * from denormals, once C is none. */
KERNEL_INLINE bool type_flushes(const enum mfma_type type)
{
    return type == MFMA_BF16_FLUSH || type == MFMA_BF16_1K || type == MFMA_BF16_1K_NEAR;
}

/* Whether all of A's or B's bf16 are zero or of exponents -56 to 63: f32 holds their products, so
 * that one of two needs no rounding of its own, and these are multiples of 2^-126, so that none of
 * their sums is flushed, which would leave a sign. Nearly all matrices' are. */
KERNEL_INLINE bool numbers_near(const u32 *rows, const int dwords)
{
    enum { LEAST = (127 - 56) << 7, END = (127 + 64) << 7 };
    const u16 *numbers = (const u16 *)rows;
    u16 far = 0;
    for (int n = 0; n < 2 * dwords * WAVE_LANES; n++) {
        const u16 magnitude = numbers[n] & 0x7fff;
        far |= magnitude && (u16)(magnitude - LEAST) >= END - LEAST;
    }
    return far == 0;
}

/* How many steps are added up before C comes to it. */
KERNEL_INLINE int type_group(const enum mfma_type type)
{
    if (type == MFMA_F32 || type == MFMA_I8)
        return 1;
    return type == MFMA_BF16 || type == MFMA_BF16_FLUSH ? 2 : 4;
}

/* What MI200 takes C for: what is below the least normal number has no sign either. Where denormals
 * stay a zero has none: sums of f16 are never -0 then, whatever zeros are added to them. */
KERNEL_INLINE vec_u32 addend_of(vec_u32 c, const enum mfma_type type)
{
    if (type == MFMA_F16)
        return (vec_u32)((vec_f32)c + 0.0f);
    if (type == MFMA_F16_FLUSH || type == MFMA_BF16_FLUSH || type == MFMA_BF16_1K ||
        type == MFMA_BF16_1K_NEAR)
        return vector_with_bits(c, INF32);
    return c;
}

/* Rounded; zero has no sign unless it was too small a number. */
KERNEL_INLINE vec_f32 product_of(vec_u32 a, vec_u32 b)
{
    return vector_fma_f32((vec_f32)a, (vec_f32)b, (vec_f32){0});
}
/* Of numbers whose products f32 holds. The sign of a product that is zero is seen in a sum that was
 * flushed, with a sign, alone, which those of f16 never are. */
KERNEL_INLINE vec_f32 pair_exact(const vec_u32 *a, const vec_u32 *b, const enum mfma_type type)
{
    vec_f32 second = (vec_f32)a[1] * (vec_f32)b[1];
    if (type == MFMA_BF16_1K_NEAR)
        second = product_of(a[1], b[1]);
#if defined(__AVX2__)
    return vector_fma_f32((vec_f32)a[0], (vec_f32)b[0], second);
#else
    return (vec_f32)a[0] * (vec_f32)b[0] + second;
#endif
}
KERNEL_INLINE vec_f32 pair_bf16(const vec_u32 *a, const vec_u32 *b)
{
    return product_of(a[0], b[0]) + product_of(a[1], b[1]);
}

KERNEL_INLINE vec_u32 group_add(const vec_u32 *a, const vec_u32 *b, vec_u32 sum,
                                const enum mfma_type type)
{
    if (type == MFMA_I8)
        return sum + vector_dot2_i16(a[0], b[0]);
    if (type == MFMA_F32)
        return (vec_u32)vector_fma_f32((vec_f32)a[0], (vec_f32)b[0], (vec_f32)sum);
    if (type == MFMA_BF16 || type == MFMA_BF16_FLUSH)
        return (vec_u32)((vec_f32)sum + pair_bf16(a, b));
    if (type == MFMA_BF16_1K)
        return (vec_u32)((vec_f32)sum + (pair_bf16(a, b) + pair_bf16(a + 2, b + 2)));
    return (vec_u32)((vec_f32)sum + (pair_exact(a, b, type) + pair_exact(a + 2, b + 2, type)));
}

#endif
