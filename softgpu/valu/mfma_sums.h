/*
 * How matrix instructions add up, for each type (docs/decisions/0026-matrix-rounding.md).
 *
 * Steps: f32 fuses a multiply and an add for each k; integers wrap.
 * Pairs, f16 and bf16 of gfx908 and gfx90a: products are rounded to f32, neighbours are added, then
 *     their sums (a bf16 instruction of gfx908 has a pair only), then C; every sum is rounded to
 *     nearest. A product that is exactly zero is +0.
 * Fused, gfx942's f16, bf16, xf32 and 8-bit floats: the exponents of a group's products, as those
 *     of the factors say, are compared; each product is cut off, towards zero, 24 binary digits
 *     below the largest one's first, and the rest is added exactly. The sum and C are aligned to
 * the larger exponent of the two, the sum cut off downwards at 31 digits, C downwards at 24, and
 *     what they add up to is rounded to nearest. 8-bit floats have two such sums, of even and of
 *     odd k, which are cut off downwards at 24 digits before they are added; there a C that begins
 *     more than 25 digits below counts as zero.
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
    MFMA_BF16_1K, /* MI200's alone */
    MFMA_XF32,
    MFMA_F8,
    MFMA_F16_FUSED,
    MFMA_BF16_FUSED,
    MFMA_F64
};

/* Integers go two k at a time, as halves of a dword. */
enum { STEPS_PER_LANE_MAX = 8, STEPS_MAX = 32 };

/* A or B: one row of 64 lanes for each step that a lane holds elements for. Fused sums ask for the
 * elements' exponents, as f32 has them: that of the least normal number for denormals, that of
 * 2^-126 for zeros of any format. */
struct elements {
    u32 row[STEPS_PER_LANE_MAX][WAVE_LANES] __attribute__((aligned(64)));
    u32 exponent[STEPS_PER_LANE_MAX][WAVE_LANES] __attribute__((aligned(64)));
};
enum { TO_EXPONENT = STEPS_PER_LANE_MAX * WAVE_LANES }; /* from an element */

/* What each step of a block multiplies: the first row's element of A, the first column's of B. */
struct steps {
    const u32 *a[STEPS_MAX], *b[STEPS_MAX];
    int count;
    bool any; /* fused: factors that vectors are not for */
};

KERNEL_INLINE bool type_fused(const enum mfma_type type)
{
    return type == MFMA_XF32 || type == MFMA_F8 || type == MFMA_F16_FUSED ||
           type == MFMA_BF16_FUSED;
}
KERNEL_INLINE bool type_flushes(const enum mfma_type type)
{
    return type == MFMA_F16_FLUSH || type == MFMA_BF16_FLUSH || type == MFMA_BF16_1K;
}

/* How many steps are added up before C comes to it, of those that are not fused. */
KERNEL_INLINE int type_group(const enum mfma_type type)
{
    if (type == MFMA_F32 || type == MFMA_I8)
        return 1;
    return type == MFMA_BF16 || type == MFMA_BF16_FLUSH ? 2 : 4;
}

/* What MI200 takes C for: what is below the least normal number has no sign either. */
KERNEL_INLINE vec_u32 addend_of(vec_u32 c, const enum mfma_type type)
{
    const vec_u32 normal = (vec_u32)((c & INF32) != 0);
    return c & (normal | (type_flushes(type) ? 0 : ~0u));
}

/* Rounded; zero has no sign unless it was too small a number. */
KERNEL_INLINE vec_f32 product_of(vec_u32 a, vec_u32 b)
{
    return vector_fma_f32((vec_f32)a, (vec_f32)b, (vec_f32){0});
}
/* Of f16, whose products f32 holds: one of the two needs no rounding of its own. */
KERNEL_INLINE vec_f32 pair_f16(const vec_u32 *a, const vec_u32 *b)
{
#if defined(__AVX2__)
    return vector_fma_f32((vec_f32)a[0], (vec_f32)b[0], product_of(a[1], b[1]));
#else
    return (vec_f32)a[0] * (vec_f32)b[0] + ((vec_f32)a[1] * (vec_f32)b[1] + 0.0f);
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
    return (vec_u32)((vec_f32)sum + (pair_f16(a, b) + pair_f16(a + 2, b + 2)));
}

/* Exponents as f32 has them; products may have one that is too large or too small for it. */
enum { BIAS = 127, FRACTION = 23, PRODUCT_DIGITS = 24, SUM_DIGITS = 31 };
/* The nonzero elements' exponents, and the largest one of all. */
struct exponent_range {
    u32 least, most;
};
KERNEL_INLINE struct exponent_range exponents_find(struct elements *e, int steps, const u32 lowest)
{
    struct exponent_range r = {255, 0};
    u32 least[WAVE_LANES], most[WAVE_LANES];
    LANES least[l] = 255, most[l] = 0;
    for (int n = 0; n < steps; n++)
        LANES
        {
            const u32 magnitude = e->row[n][l] & ~SIGN32, own = magnitude >> FRACTION;
            const u32 exponent = magnitude == 0 ? 1 : own < lowest ? lowest : own;
            const u32 nonzero = magnitude == 0 ? 255 : exponent;
            e->exponent[n][l] = exponent;
            least[l] = nonzero < least[l] ? nonzero : least[l];
            most[l] = exponent > most[l] ? exponent : most[l];
        }
    LANES
    {
        r.least = least[l] < r.least ? least[l] : r.least;
        r.most = most[l] > r.most ? most[l] : r.most;
    }
    return r;
}
/* Whether f32 holds every product, and the powers of two that vectors scale them by. */
KERNEL_INLINE bool products_plain(struct exponent_range a, struct exponent_range b)
{
    return a.most < 255 && b.most < 255 && a.most + b.most <= 2 * BIAS + 120 &&
           a.least + b.least >= 2 * BIAS - 90;
}

/* Products cut off and added up, in units of 24 binary digits below `top`. */
struct fused {
    vec_i32 sum;
    vec_i32 top; /* the largest exponent; not that of a number of f32 where all products are 0 */
};

KERNEL_INLINE vec_u32 factor_of(const u32 *a, const int m, int v, int row)
{
    return m == 4 ? vector_quads(vector_load(a + v * VECTOR_LANES), row)
                  : vector_splat(a[v * VECTOR_LANES / m * 4]);
}
KERNEL_INLINE vec_u32 row_of(const u32 *b, const int m, int v)
{
    return vector_load(b + (m == 4 ? v * VECTOR_LANES : v * VECTOR_LANES % m));
}

/* `count` steps, of which each is `stride` behind the last. `row`: of a block of 4 x 4. */
KERNEL_INLINE struct fused fused_products(const u32 *const *a, const u32 *const *b, int a_at,
                                          const int m, const int v, const int row, const int count,
                                          const int stride)
{
    enum { LEAST = BIAS - 100 }; /* less than what plain products have */
    vec_f32 product[8];
    vec_i32 top = {0}, sum = {0};
    UNROLL for (int k = 0; k < count; k++)
    {
        const u32 *from = a[k * stride] + a_at, *to = b[k * stride];
        const vec_i32 exponent =
            (vec_i32)(factor_of(from + TO_EXPONENT, m, v, row) + row_of(to + TO_EXPONENT, m, v));
        product[k] = (vec_f32)factor_of(from, m, v, row) * (vec_f32)row_of(to, m, v);
        top = vector_max_i32(top, exponent);
    }
    top -= BIAS;
    const vec_i32 limited = vector_max_i32(top, (vec_i32)vector_splat(LEAST));
    const vec_f32 scale = (vec_f32)((2 * BIAS + PRODUCT_DIGITS - limited) << FRACTION);
    UNROLL for (int k = 0; k < count; k++) sum += vector_truncate(product[k] * scale);
    return (struct fused){sum, top};
}

/* The even k's sum and the odd ones'. */
KERNEL_INLINE struct fused fused_join(struct fused a, struct fused b)
{
    const vec_i32 top = vector_max_i32(a.top, b.top);
    return (struct fused){
        vector_shift_down(a.sum, top - a.top) + vector_shift_down(b.sum, top - b.top), top};
}

/* The two are whole numbers of 31 digits below the larger exponent: `high` times 128, and `low` of
 * the products' alone. They are added as two numbers that f32 holds, which rounds once. */
KERNEL_INLINE vec_u32 fused_finish(vec_u32 c, struct fused p, const bool f8)
{
    const vec_i32 field = (vec_i32)(c >> FRACTION & 255), denormal = field == 0;
    const vec_i32 magnitude = (vec_i32)((c & 0x7fffff) | (0x800000 & ~(vec_u32)denormal))
                              << (PRODUCT_DIGITS - FRACTION);
    const vec_i32 negative = (vec_i32)c < 0;
    const vec_i32 exponent_c = field - denormal, exponent_p = p.top;
    const vec_i32 exponent = vector_max_i32(exponent_c, exponent_p);
    const vec_i32 below_c = exponent - exponent_c, below_p = exponent - exponent_p;
    vec_i32 digits = (magnitude ^ negative) - negative;
    if (f8)
        digits &= below_c <= PRODUCT_DIGITS + 1;
    const vec_i32 extra = below_p - (SUM_DIGITS - PRODUCT_DIGITS);
    const vec_i32 lost = vector_max_i32(extra, (vec_i32){0}), spare = lost - extra;
    const vec_i32 kept = vector_shift_down(p.sum, lost);
    const vec_i32 low = (kept << spare) & 127;
    const vec_i32 high = vector_shift_down(digits, below_c) + vector_shift_down(kept, 7 - spare);
    const vec_f32 fine = vector_f32_of_i32((high & 255) << 7 | low) * 0x1p-7f;
    const vec_f32 sum = vector_f32_of_i32(high & ~255) + fine;
    const vec_f32 power = (vec_f32)(exponent << FRACTION);
    const vec_u32 result = (vec_u32)(sum * 0x1p-24f * power);
    const vec_u32 special = (vec_u32)(field == 255);
    const vec_u32 quiet = c | ((vec_u32)((c & 0x7fffff) != 0) & 0x400000);
    return (result & ~special) | (quiet & special);
}

/* Steps from `k` on. */
KERNEL_INLINE vec_u32 fused_add(const struct steps *s, int k, int a_at, const int m, const int v,
                                const int row, const int count, vec_u32 sum, const bool f8)
{
    const u32 *const *a = s->a + k, *const *b = s->b + k;
    if (!f8)
        return fused_finish(sum, fused_products(a, b, a_at, m, v, row, count, 1), false);
    const struct fused even = fused_products(a, b, a_at, m, v, row, count / 2, 2);
    const struct fused odd = fused_products(a + 1, b + 1, a_at, m, v, row, count / 2, 2);
    return fused_finish(sum, fused_join(even, odd), true);
}

#endif
