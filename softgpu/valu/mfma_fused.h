/*
 * Fused sums of gfx942's f16, bf16, xf32 and 8-bit floats (docs/decisions/0026-matrix-rounding.md),
 * by vectors whose lanes are columns of the result.
 *
 * The exponents of a group's products, as those of the factors say, are compared; each product is
 * cut off, towards zero, 24 binary digits below the largest one's first, and the rest is added
 * exactly. The sum and C are aligned to the larger exponent of the two, the sum cut off downwards
 * at 31 digits, C downwards at 24, and what they add up to is rounded to nearest. 8-bit floats have
 * two such sums, of even and of odd k, which are cut off downwards at 24 digits before they are
 * added; there a C that begins more than 25 digits below counts as zero.
 *
 * Four rows' exponents are added and compared as bytes of one vector. C and the products are whole
 * numbers then, in units of 24 digits below the largest product's exponent or of 29 below C's: the
 * conversion back to f32 is all of the rounding. quad_wide() is for a C that is no number and for
 * products so small that bytes do not say how small, group_exponents() and mfma_any.h for what is
 * left.
 */
#ifndef VALU_MFMA_FUSED_H
#define VALU_MFMA_FUSED_H

#include "valu/mfma_operands.h"

/* A or B: an element is an f32; its exponent, as f32 has it, is that of the least normal number for
 * denormals, and that of 2^-126 for zeros of any format. In bytes, `BYTE_ABOVE` less than it is
 * beyond the largest one that there is; of B those of four steps of a lane in a dword, of A those
 * of one step of four lanes, which are rows, for each four steps in turn.
 */
struct elements {
    u32 row[STEPS_PER_LANE_MAX][WAVE_LANES] __attribute__((aligned(64)));
    u32 bytes[STEPS_PER_LANE_MAX / 4][WAVE_LANES] __attribute__((aligned(64)));
    u32 exponent[STEPS_PER_LANE_MAX][WAVE_LANES] __attribute__((aligned(64))); /* if asked for */
    /* 8-bit floats as whole numbers, two steps in a dword; and as they were. */
    u32 pairs[STEPS_PER_LANE_MAX / 2][WAVE_LANES] __attribute__((aligned(64)));
    u32 raw[STEPS_PER_LANE_MAX / 4][WAVE_LANES] __attribute__((aligned(64)));
};
enum { /* from an element */
       TO_BYTES = STEPS_PER_LANE_MAX * WAVE_LANES,
       TO_EXPONENT = TO_BYTES + STEPS_PER_LANE_MAX / 4 * WAVE_LANES,
       TO_PAIRS = TO_EXPONENT + STEPS_PER_LANE_MAX * WAVE_LANES
};

/* Exponents as f32 has them; products may have one that is too large or too small for it. */
enum { BIAS = 127, FRACTION = 23, PRODUCT_DIGITS = 24, SUM_DIGITS = 31, UNITS_OF_C = 29 };
/* Bytes: the largest sum of two is -2; less than BYTE_LEAST may be any lower exponent; infinities
 * and NaNs make sums of 0 or more. No sum is too large or too small for a byte. */
enum { BYTE_ABOVE = 1, BYTE_LEAST = -63, BYTE_SPECIAL = 63, BYTE_ZERO = 128 };
#define BYTES_SIGNS 0x80808080
/* Vectors scale by powers of two of exponents that are no less, nor larger: C must not vanish. */
enum { GROUP_MAX = 16 };
enum { TOP_LEAST = -100, TOP_MOST = 24, PLAIN_MOST = 120, PLAIN_LEAST = -90 };

/* Where the elements of a group of steps lie that four rows by one vector of columns have: one step
 * after the other of a lane, then those of the next lanes, `m` further. Blocks of 4 x 4, whose rows
 * are each four lanes' own, have one lane's alone. */
struct quad_factors {
    const u32 *a, *b;
};
struct layout {
    int m, per_lane;
};
KERNEL_INLINE int step_at(const int step, const struct layout y)
{
    return step % y.per_lane * WAVE_LANES + step / y.per_lane * y.m;
}
KERNEL_INLINE vec_u32 a_vector(const u32 *a, const int row, const struct layout y)
{
    return y.m == 4 ? vector_quads(vector_load(a), row) : vector_splat(a[row]);
}
/* The bytes of four rows, and those of columns, four times. */
KERNEL_INLINE const u32 *bytes_at(const u32 *elements, const int step, const struct layout y)
{
    return elements + TO_BYTES + step % y.per_lane / 4 * WAVE_LANES + step / y.per_lane * y.m;
}
KERNEL_INLINE vec_u32 a_bytes(const u32 *a, const int step, const struct layout y)
{
    const u32 *at = bytes_at(a, step, y);
    const int part = step % y.per_lane % 4;
    return y.m == 4 ? vector_quads(vector_load(at), part) : vector_splat(at[part]);
}
/* Which byte is a step's: halves are in the order that takes the fewest instructions. */
KERNEL_INLINE int byte_of_step(const int step, const int per_lane)
{
    return per_lane == 4 ? step % 2 * 2 + step % 4 / 2 : step % 4;
}
KERNEL_INLINE vec_u32 b_bytes(const u32 *b, const int step, const struct layout y)
{
    return vector_bytes_own(vector_load(bytes_at(b, step, y)),
                            byte_of_step(step % y.per_lane, y.per_lane));
}

/* Products cut off and added up, in units of 24 binary digits below `top`. */
struct fused {
    vec_i32 sum;
    vec_i32 top; /* the largest exponent; not that of a number of f32 where all products are 0 */
};

/* The even k's sum and the odd ones'. */
KERNEL_INLINE struct fused fused_join(struct fused a, struct fused b)
{
    const vec_i32 top = vector_max_i32(a.top, b.top);
    return (struct fused){
        vector_shift_down(a.sum, top - a.top) + vector_shift_down(b.sum, top - b.top), top};
}

/* Of exponents by dwords: `count` steps, of which each is `stride` behind the last. */
KERNEL_INLINE struct fused group_products(struct quad_factors from, const int row,
                                          const struct layout y, const int first, const int count,
                                          const int stride)
{
    vec_f32 product[8];
    vec_i32 top = {0}, sum = {0};
    UNROLL for (int n = 0; n < count; n++)
    {
        const int step = step_at(first + n * stride, y);
        const u32 *a = from.a + step, *b = from.b + step;
        const vec_u32 exponent = a_vector(a + TO_EXPONENT, row, y) + vector_load(b + TO_EXPONENT);
        product[n] = (vec_f32)a_vector(a, row, y) * (vec_f32)vector_load(b);
        top = vector_max_i32(top, (vec_i32)exponent);
    }
    top -= BIAS;
    const vec_i32 limited = vector_max_i32(top, (vec_i32)vector_splat(BIAS + TOP_LEAST));
    const vec_f32 scale = (vec_f32)((2 * BIAS + PRODUCT_DIGITS - limited) << FRACTION);
    UNROLL for (int n = 0; n < count; n++) sum += vector_truncate(product[n] * scale);
    return (struct fused){sum, top};
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

/* One row's group, of exponents by dwords. */
KERNEL_INLINE vec_u32 group_exponents(struct quad_factors from, const int row,
                                      const struct layout y, const int count, vec_u32 c,
                                      const bool f8)
{
    if (!f8)
        return fused_finish(c, group_products(from, row, y, 0, count, 1), false);
    const struct fused even = group_products(from, row, y, 0, count / 2, 2);
    const struct fused odd = group_products(from, row, y, 1, count / 2, 2);
    return fused_finish(c, fused_join(even, odd), true);
}

/* What bytes stand for, of all matrices A and B of an instruction. */
struct fused_scale {
    int base;    /* an exponent, as f32 has it, less its byte, which goes from 0 on */
    u32 least;   /* a byte, four times; what has no larger one may be lower yet */
    bool zeros;  /* what has no larger one is zero */
    bool usable; /* or else bytes do not help */
    bool whole; /* there are pairs, whose sums are exact as long as no byte is larger than `near` */
    int near;   /* and whose unit is so many digits below an exponent of byte 0 */
};
/* The largest exponents of A and B, added up: those that bytes are below, and those that there are.
 */
KERNEL_INLINE struct fused_scale fused_scale_of(int above, int most, bool zeros)
{
    const int base = above + 2 * BYTE_ABOVE - BYTE_ZERO - BIAS;
    int least = BIAS + TOP_LEAST - 1 - base - BYTE_ZERO;
    least = least < BYTE_LEAST - 1 ? BYTE_LEAST - 1 : least > 0 ? 0 : least;
    return (struct fused_scale){.base = base,
                                .least = ((u32)least & 0xff) * 0x01010101,
                                .zeros = zeros,
                                .usable = most <= 2 * BIAS + TOP_MOST};
}

/* The largest exponents of four rows' products, 128 more than what bytes say. */
KERNEL_INLINE vec_u32 quad_tops(const u32 *a, const vec_u32 *b, const struct layout y,
                                const int first, const int count, const int stride, u32 least)
{
    vec_u32 top = vector_splat(least);
    UNROLL for (int n = 0; n < count; n++)
    {
        const int step = first + n * stride;
        top = vector_max_i8(top, vector_add_bytes(a_bytes(a, step, y), b[step]));
    }
    return top ^ BYTES_SIGNS;
}
/* Those of a group's even steps and of its odd ones, or of all. */
struct quad_tops {
    vec_u32 first, second;
};
/* Of a group of steps, by one vector of columns: of each four rows in turn. They are found before
 * anything is multiplied, for products have to wait for them. */
KERNEL_INLINE void group_tops(struct quad_tops *tops, struct quad_factors from, const int quads,
                              const struct layout y, const int count, u32 least, const bool f8)
{
    vec_u32 b[GROUP_MAX];
    UNROLL for (int n = 0; n < count; n++) b[n] = b_bytes(from.b, n, y);
    for (int q = 0; q < quads; q++, from.a += 4)
        if (f8) {
            tops[q].first = quad_tops(from.a, b, y, 0, count / 2, 2, least);
            tops[q].second = quad_tops(from.a, b, y, 1, count / 2, 2, least);
        } else {
            tops[q].first = quad_tops(from.a, b, y, 0, count, 1, least);
        }
}
/* One row's, where f32 has exponents. */
KERNEL_INLINE vec_u32 row_top(vec_u32 tops, const int row)
{
    const vec_u32 moved = row == 3 ? tops >> 1 : tops << (FRACTION - 8 * row);
    return moved & 0xff << FRACTION;
}

/* Four rows by one vector: products cut off and added up, and their largest exponents. */
struct quad {
    vec_i32 sum[4];
    vec_u32 top[4]; /* where f32 has exponents, less those of `base` */
};
KERNEL_INLINE struct quad quad_products(struct quad_factors from, const struct layout y,
                                        const int first, const int count, const int stride,
                                        vec_u32 tops, int base)
{
    struct quad q;
    vec_u32 scale[4]; /* of a power of two that is no less than one: zeros stay below one, too */
    UNROLL for (int i = 0; i < 4; i++)
    {
        q.sum[i] = (vec_i32){0};
        q.top[i] = row_top(tops, i);
        scale[i] = ((u32)(BIAS + PRODUCT_DIGITS - base) << FRACTION) - q.top[i];
    }
    UNROLL for (int n = 0; n < count; n++)
    {
        const int step = step_at(first + n * stride, y);
        const u32 *a = from.a + step;
        const vec_f32 b = (vec_f32)vector_load(from.b + step);
        UNROLL for (int i = 0; i < 4; i++)
        {
            const vec_u32 product = (vec_u32)((vec_f32)a_vector(a, i, y) * b);
            q.sum[i] += vector_truncate((vec_f32)(product + scale[i]));
        }
    }
    return q;
}
KERNEL_INLINE vec_u32 vector_shift_up(vec_u32 x, vec_u32 digits)
{
#if defined(__AVX512F__)
    return (vec_u32)_mm512_sllv_epi32((__m512i)x, (__m512i)digits);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_sllv_epi32((__m256i)x, (__m256i)digits);
#else
    for (int n = 0; n < VECTOR_LANES; n++)
        x[n] = digits[n] > 31 ? 0 : x[n] << digits[n];
    return x;
#endif
}

/* C in those units, downwards; of 8-bit floats' what is more than 25 digits below is nothing. */
KERNEL_INLINE vec_i32 addend_floor(vec_f32 x, const bool f8)
{
    const vec_u32 flipped = (vec_u32)x ^ SIGN32; /* least where x is negative and small */
    const vec_u32 half = vector_splat(0x3f000000);
#if defined(__AVX512F__)
    if (f8)
        return (vec_i32)_mm512_maskz_cvt_roundps_epi32(
            _mm512_cmpge_epu32_mask((__m512i)flipped, (__m512i)half), (__m512)x,
            _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#endif
    return vector_floor(f8 ? (vec_f32)((vec_u32)x & ~(vec_u32)(flipped < half)) : x);
}

/* The same of pairs: no product loses a digit beside the largest one, so that all of them are
 * added up, of even and of odd steps, and aligned then. */
KERNEL_INLINE bool tops_are_near(const struct quad_tops *t, const struct fused_scale *s)
{
    const int most = s->near < 0 ? 0 : s->near < 127 ? s->near : 127;
    const vec_u32 near = vector_splat((u32)most * 0x01010101u);
    const vec_u32 tops = vector_max_u8(t->first, t->second);
    return !vector_any(vector_max_u8(tops, near) ^ near);
}
KERNEL_INLINE struct quad quad_whole(struct quad_factors from, const struct layout y,
                                     const int count, vec_u32 tops, int near)
{
    struct quad q;
    UNROLL for (int i = 0; i < 4; i++)
    {
        vec_u32 sum = {0};
        UNROLL for (int n = 0; n < count; n += 2)
        {
            const int at = TO_PAIRS + n % y.per_lane / 2 * WAVE_LANES + n / y.per_lane * y.m;
            sum += vector_dot2_i16(a_vector(from.a + at, i, y), vector_load(from.b + at));
        }
        q.top[i] = row_top(tops, i);
        q.sum[i] = (vec_i32)vector_shift_up(sum, (((u32)near << FRACTION) - q.top[i]) >> FRACTION);
    }
    return q;
}
KERNEL_INLINE struct quad quad_join(struct quad even, struct quad odd)
{
    struct quad q;
    UNROLL for (int i = 0; i < 4; i++)
    {
        const vec_i32 x = (vec_i32)even.top[i] >> FRACTION, y = (vec_i32)odd.top[i] >> FRACTION;
        const struct fused f =
            fused_join((struct fused){even.sum[i], x}, (struct fused){odd.sum[i], y});
        q.sum[i] = f.sum;
        q.top[i] = (vec_u32)f.top << FRACTION;
    }
    return q;
}

/* Odd where a mask's digits are not all zero. */
KERNEL_INLINE vec_i32 vector_odd_where(vec_i32 x, vec_u32 digits, u32 mask)
{
#if defined(__AVX512F__)
    const __mmask16 any = _mm512_test_epi32_mask((__m512i)digits, _mm512_set1_epi32((int)mask));
    return (vec_i32)_mm512_mask_or_epi32((__m512i)x, any, (__m512i)x, _mm512_set1_epi32(1));
#else
    return x | (((digits & mask) != 0) & 1);
#endif
}

/* With C: whole numbers of units 24 digits below the products' largest exponent or 29 below C's,
 * where that is larger. There the two next digits of the products, all that count, are one that is
 * not zero if they are not, which rounds the same way. */
KERNEL_INLINE vec_u32 row_rounded(vec_u32 c, vec_i32 sum, vec_u32 top, int base, const bool f8)
{
    const vec_u32 small = top + ((u32)(base + UNITS_OF_C - PRODUCT_DIGITS) << FRACTION);
    const vec_u32 large = (vec_u32)vector_max_i32((vec_i32)(c & INF32), (vec_i32)small);
    const vec_u32 up = ((u32)(2 * BIAS + UNITS_OF_C) << FRACTION) - large;
    const vec_u32 down = large - ((u32)UNITS_OF_C << FRACTION);
    const vec_u32 lost = (large - small) >> FRACTION;
    const vec_f32 x = (vec_f32)c * (vec_f32)up;
    const vec_i32 total = vector_shift_down(sum, (vec_i32)lost) + addend_floor(x, f8);
    const vec_i32 odd =
        vector_odd_where(total, vector_shift_up((vec_u32)sum, 32 - lost), 0xc0000000);
    return (vec_u32)(vector_f32_of_i32(odd) * (vec_f32)down);
}

/* With any C. Whether all is well: where nobody knows the largest exponent it is only if C is much
 * larger than that can be, or 0 as all the products are. */
KERNEL_INLINE bool quad_of_any_addend(vec_u32 *c, const struct quad *q, const struct fused_scale *s,
                                      const bool f8)
{
    const u32 least = (s->least ^ BYTES_SIGNS) & 0xff;
    vec_u32 lost = {0}, result[4];
    for (int i = 0; i < 4; i++) {
        const vec_i32 byte = (vec_i32)(q->top[i] >> FRACTION);
        const vec_i32 field = (vec_i32)(c[i] >> FRACTION & 255);
        const vec_u32 zero = (vec_u32)((c[i] & ~SIGN32) == 0) & (s->zeros ? ~0u : 0);
        lost |=
            (vec_u32)(byte == (i32)least) & (vec_u32)(field < (i32)least + s->base + 40) & ~zero;
        result[i] = fused_finish(c[i], (struct fused){q->sum[i], byte + s->base}, f8);
    }
    if (vector_any(lost))
        return false;
    for (int i = 0; i < 4; i++)
        c[i] = result[i];
    return true;
}

static __attribute__((noinline)) bool quad_wide(vec_u32 *c, const struct quad *q,
                                                const struct fused_scale *s)
{
    return quad_of_any_addend(c, q, s, false);
}
static __attribute__((noinline)) bool quad_wide_f8(vec_u32 *c, const struct quad *q,
                                                   const struct fused_scale *s)
{
    return quad_of_any_addend(c, q, s, true);
}
/* Copies, so that the usual way keeps everything in registers. */
KERNEL_INLINE bool quad_wide_of(vec_u32 *c, struct quad q, struct fused_scale s, const bool f8)
{
    vec_u32 copy[4] = {c[0], c[1], c[2], c[3]};
    const bool done = f8 ? quad_wide_f8(copy, &q, &s) : quad_wide(copy, &q, &s);
    UNROLL for (int i = 0; i < 4; i++) c[i] = copy[i];
    return done;
}

/* Four rows by one vector, one group. Whether it has been done, by what bytes say. */
KERNEL_INLINE bool quad_group(vec_u32 *c, struct quad_factors from, const struct quad_tops *t,
                              const struct fused_scale f, const struct layout y, const int count,
                              const bool f8, bool whole)
{
    const vec_u8 known = (vec_u8)vector_splat((f.least ^ BYTES_SIGNS) + 0x01010101); /* least */
    vec_u32 tops = t->first;
    struct quad q;
    if (f8) {
        tops = vector_max_u8(tops, t->second);
        if (whole)
            q = quad_whole(from, y, count, tops, f.near);
        else
            q = quad_join(quad_products(from, y, 0, count / 2, 2, t->first, f.base),
                          quad_products(from, y, 1, count / 2, 2, t->second, f.base));
    } else {
        q = quad_products(from, y, 0, count, 1, tops, f.base);
    }
    const vec_u32 special = tops & BYTES_SIGNS;
    vec_u32 result[4], most = {0};
    UNROLL for (int i = 0; i < 4; i++)
    {
        const vec_u32 field = c[i] & INF32;
        most = (vec_u32)vector_max_i32((vec_i32)most, (vec_i32)field);
        result[i] = row_rounded(c[i], q.sum[i], q.top[i], f.base, f8);
    }
    const vec_u32 doubt = ((vec_u32)((vec_u8)tops - known) & BYTES_SIGNS) |
                          ((most + (1u << FRACTION)) & SIGN32); /* C may be no number */
    if (__builtin_expect(vector_any(doubt | special), 0))
        return !vector_any(special) && quad_wide_of(c, q, f, f8);
    UNROLL for (int i = 0; i < 4; i++) c[i] = result[i];
    return true;
}

#endif
