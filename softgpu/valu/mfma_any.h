/*
 * Fused sums (mfma_fused.h) of any factors, one result at a time: of infinities, NaNs, and products
 * that f32 has no exponent for.
 */
#ifndef VALU_MFMA_ANY_H
#define VALU_MFMA_ANY_H

#include <math.h>

#include "valu/mfma_fused.h"

enum { FACTOR_DIGITS = 10 /* behind the point, of the widest */ };

/* A group's factors. */
struct factors {
    u32 a[GROUP_MAX], b[GROUP_MAX], a_exponent[GROUP_MAX], b_exponent[GROUP_MAX];
    int count;
};
/* A whole number of units of 2^(exponent - 24). */
struct whole {
    i64 digits;
    int exponent;
};

KERNEL_INLINE i64 shift_down(i64 x, int digits)
{
    return x >> (digits > 63 ? 63 : digits);
}

/* A factor as a whole number of 2^-10 of what its exponent stands for. */
static i64 factor_digits(u32 factor, u32 exponent)
{
    return (i64)((f64)f32_of(factor) / (f64)f32_of(exponent << FRACTION) * (1 << FACTOR_DIGITS));
}

/* What comes of infinities and NaNs; products that are too large are infinities if there are no
 * others. */
static bool special_sum(const struct factors *f, u32 c, u32 *result)
{
    bool above = false, below = false;
    f64 sum = f32_of(c);
    for (int k = 0; k < f->count; k++) {
        const f64 product = (f64)f32_of(f->a[k]) * (f64)f32_of(f->b[k]);
        sum += product;
        above |= product >= 0x1p128;
        below |= product <= -0x1p128;
    }
    if (__builtin_isfinite(sum) && (above || below))
        sum = above && below ? (f64)NAN : above ? (f64)INFINITY : -(f64)INFINITY;
    if (__builtin_isfinite(sum))
        return false;
    *result = sum != sum ? 0x7fc00000 : sum > 0 ? INF32 : INF32 | SIGN32;
    return true;
}

/* Every `stride`-th product from `first` on. */
static struct whole products_sum(const struct factors *f, int first, int stride)
{
    struct whole sum = {0, -2 * BIAS};
    int exponents[GROUP_MAX];
    for (int k = first; k < f->count; k += stride) {
        exponents[k] = (int)(f->a_exponent[k] + f->b_exponent[k]) - 2 * BIAS;
        sum.exponent = exponents[k] > sum.exponent ? exponents[k] : sum.exponent;
    }
    for (int k = first; k < f->count; k += stride) {
        const i64 product = factor_digits(f->a[k], f->a_exponent[k]) *
                            factor_digits(f->b[k], f->b_exponent[k]) *
                            (1 << (PRODUCT_DIGITS - 2 * FACTOR_DIGITS));
        const int below = sum.exponent - exponents[k];
        sum.digits += product < 0 ? -shift_down(-product, below) : shift_down(product, below);
    }
    return sum;
}

static struct whole products_join(struct whole a, struct whole b)
{
    const int exponent = a.exponent > b.exponent ? a.exponent : b.exponent;
    return (struct whole){shift_down(a.digits, exponent - a.exponent) +
                              shift_down(b.digits, exponent - b.exponent),
                          exponent};
}

static struct whole addend_whole(u32 c)
{
    const u32 field = c >> FRACTION & 255;
    const i64 magnitude = ((c & 0x7fffff) | (field ? 0x800000 : 0)) * 2;
    return (struct whole){c & SIGN32 ? -magnitude : magnitude, (int)(field ? field : 1) - BIAS};
}

static u32 fused_any(const struct factors *f, u32 c, const bool f8)
{
    u32 special;
    if (special_sum(f, c, &special))
        return special;
    const struct whole p =
        f8 ? products_join(products_sum(f, 0, 2), products_sum(f, 1, 2)) : products_sum(f, 0, 1);
    const struct whole addend = addend_whole(c);
    const int exponent = p.exponent > addend.exponent ? p.exponent : addend.exponent;
    const int below = exponent - addend.exponent, finer = SUM_DIGITS - PRODUCT_DIGITS;
    const i64 digits = f8 && below > PRODUCT_DIGITS + 1 ? 0 : shift_down(addend.digits, below);
    const i64 sum = shift_down(p.digits << finer, exponent - p.exponent) + (digits << finer);
    return bits32((f32)__builtin_ldexp((f64)sum, exponent - SUM_DIGITS));
}

/* Four rows by one vector. */
KERNEL_INLINE void quad_any(vec_u32 *c, struct quad_factors from, const struct layout y,
                            const int count, const bool f8)
{
    for (int n = 0; n < 4 * VECTOR_LANES; n++) {
        const int row = n / VECTOR_LANES, lane = n % VECTOR_LANES;
        struct factors f = {.count = count};
        for (int j = 0; j < count; j++) {
            const u32 *a = from.a + step_at(j, y) + row + (y.m == 4 ? lane / 4 * 4 : 0);
            const u32 *b = from.b + step_at(j, y) + lane;
            f.a[j] = *a;
            f.b[j] = *b;
            f.a_exponent[j] = a[TO_EXPONENT];
            f.b_exponent[j] = b[TO_EXPONENT];
        }
        c[row][lane] = fused_any(&f, c[row][lane], f8);
    }
}

#endif
