/*
 * The functions of core_trans.h on the host's vectors: the same operations in the same order, so
 * the same bits. Compilers turn the choices of the lane by lane form into arithmetic on masks, and
 * work on one vector after the other, whose chains of dependent instructions are longer than a
 * host looks ahead: so here every step is taken for a bundle of vectors before the next one.
 */
#ifndef VALU_TRANS_VECTOR_H
#define VALU_TRANS_VECTOR_H

#include "valu/core_trans.h"
#include "valu/vector.h"

#if defined(__AVX2__)
#define HAVE_TRANS_VECTORS 1

enum { BUNDLE = 4, BUNDLE_LANES = BUNDLE * VECTOR_LANES };
struct bundle {
    vec_f32 v[BUNDLE];
};
#define EACH UNROLL for (int n = 0; n < BUNDLE; n++)

enum { NEAREST = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC };

#if defined(__AVX512F__)
enum { HAVE_FIXUP = 1 }; /* special values take one instruction */
typedef __mmask16 vec_where;
#define VECTOR_COMPARE(a, b, RELATION) _mm512_cmp_ps_mask((__m512)(a), (__m512)(b), RELATION)
KERNEL_INLINE vec_f32 vector_select(vec_where where, vec_f32 yes, vec_f32 no)
{
    return (vec_f32)_mm512_mask_blend_ps(where, (__m512)no, (__m512)yes);
}
KERNEL_INLINE vec_where where_above(vec_u32 a, vec_u32 b) /* as signed integers */
{
    return _mm512_cmpgt_epi32_mask((__m512i)a, (__m512i)b);
}
KERNEL_INLINE vec_where where_either(vec_where a, vec_where b)
{
    return (vec_where)(a | b);
}
KERNEL_INLINE bool where_any(vec_where where)
{
    return where != 0;
}
KERNEL_INLINE vec_f32 vector_min(vec_f32 a, vec_f32 b) /* a NaN: b */
{
    return (vec_f32)_mm512_min_ps((__m512)a, (__m512)b);
}
KERNEL_INLINE vec_f32 vector_max(vec_f32 a, vec_f32 b)
{
    return (vec_f32)_mm512_max_ps((__m512)a, (__m512)b);
}
KERNEL_INLINE vec_f32 vector_near(vec_f32 x)
{
    return (vec_f32)_mm512_roundscale_ps((__m512)x, NEAREST);
}
KERNEL_INLINE vec_f32 vector_to_f32(vec_i32 x)
{
    return (vec_f32)_mm512_cvtepi32_ps((__m512i)x);
}
KERNEL_INLINE vec_f32 vector_sqrt(vec_f32 x)
{
    return (vec_f32)_mm512_sqrt_ps((__m512)x);
}
/* As flush32_if(). */
KERNEL_INLINE vec_f32 vector_flush_if(vec_f32 x, u32 flush)
{
    const __m512i bits = (__m512i)vector_splat(INF32 | ~flush);
    const __mmask16 normal = _mm512_test_epi32_mask((__m512i)x, bits);
    const __m512i sign = _mm512_and_si512((__m512i)x, _mm512_set1_epi32((int)SIGN32));
    return (vec_f32)_mm512_mask_mov_epi32(sign, normal, (__m512i)x);
}
/* x 2^n, rounded once; x is about one. */
KERNEL_INLINE struct bundle bundle_scale(struct bundle x, struct bundle exponent)
{
    EACH x.v[n] = (vec_f32)_mm512_scalef_ps((__m512)x.v[n], (__m512)exponent.v[n]);
    return x;
}
#else
enum { HAVE_FIXUP = 0 };
typedef vec_f32 vec_where;
#define VECTOR_COMPARE(a, b, RELATION) (vec_f32) _mm256_cmp_ps((__m256)(a), (__m256)(b), RELATION)
KERNEL_INLINE vec_f32 vector_select(vec_where where, vec_f32 yes, vec_f32 no)
{
    return (vec_f32)_mm256_blendv_ps((__m256)no, (__m256)yes, (__m256)where);
}
KERNEL_INLINE vec_where where_above(vec_u32 a, vec_u32 b) /* as signed integers */
{
    return (vec_where)((vec_i32)a > (vec_i32)b);
}
KERNEL_INLINE vec_where where_either(vec_where a, vec_where b)
{
    return (vec_where)((vec_u32)a | (vec_u32)b);
}
KERNEL_INLINE bool where_any(vec_where where)
{
    return _mm256_movemask_ps((__m256)where) != 0;
}
KERNEL_INLINE vec_f32 vector_min(vec_f32 a, vec_f32 b) /* a NaN: b */
{
    return (vec_f32)_mm256_min_ps((__m256)a, (__m256)b);
}
KERNEL_INLINE vec_f32 vector_max(vec_f32 a, vec_f32 b)
{
    return (vec_f32)_mm256_max_ps((__m256)a, (__m256)b);
}
KERNEL_INLINE vec_f32 vector_near(vec_f32 x)
{
    return (vec_f32)_mm256_round_ps((__m256)x, NEAREST);
}
KERNEL_INLINE vec_f32 vector_to_f32(vec_i32 x)
{
    return (vec_f32)_mm256_cvtepi32_ps((__m256i)x);
}
KERNEL_INLINE vec_f32 vector_sqrt(vec_f32 x)
{
    return (vec_f32)_mm256_sqrt_ps((__m256)x);
}
KERNEL_INLINE vec_f32 vector_flush_if(vec_f32 x, u32 flush)
{
    const vec_u32 zero = (vec_u32)(((vec_u32)x & (INF32 | ~flush)) == 0);
    return (vec_f32)((vec_u32)x & ~(zero & ~SIGN32));
}
KERNEL_INLINE struct bundle bundle_scale(struct bundle x, struct bundle exponent)
{
    vec_i32 first[BUNDLE], second[BUNDLE];
    EACH second[n] = (vec_i32)_mm256_cvttps_epi32((__m256)exponent.v[n]);
    EACH first[n] = second[n] >> 1;
    EACH second[n] = (second[n] - first[n] + 127) << 23;
    EACH x.v[n] *= (vec_f32)((first[n] + 127) << 23);
    EACH x.v[n] *= (vec_f32)second[n];
    return x;
}
#endif

KERNEL_INLINE vec_f32 vector_flush(vec_f32 x)
{
    return vector_flush_if(x, ~0u);
}
KERNEL_INLINE vec_f32 vector_const(f32 x)
{
    return (vec_f32)vector_splat(bits32(x));
}
KERNEL_INLINE vec_f32 vector_abs(vec_f32 x)
{
    return (vec_f32)((vec_u32)x & ~SIGN32);
}
KERNEL_INLINE vec_f32 vector_fma_c(vec_f32 a, vec_f32 b, f32 c)
{
    return vector_fma_f32(a, b, vector_const(c));
}
KERNEL_INLINE struct bundle bundle_of(f32 x)
{
    struct bundle r;
    EACH r.v[n] = vector_const(x);
    return r;
}
KERNEL_INLINE struct bundle bundle_load(const u32 *p)
{
    struct bundle r;
    EACH r.v[n] = (vec_f32)vector_load(p + n * VECTOR_LANES);
    return r;
}
KERNEL_INLINE void bundle_store(u32 *p, struct bundle x)
{
    EACH vector_store(p + n * VECTOR_LANES, (vec_u32)x.v[n]);
}
KERNEL_INLINE struct bundle bundle_flush_if(struct bundle x, u32 flush)
{
    EACH x.v[n] = vector_flush_if(x.v[n], flush);
    return x;
}
KERNEL_INLINE struct bundle bundle_flush(struct bundle x)
{
    return bundle_flush_if(x, ~0u);
}
/* Whether a lane's bits, taken for an unsigned integer, are outside [least, least + count); few
 * programs have special values, so that these are worth a branch and no more. */
KERNEL_INLINE bool bundle_some_outside(struct bundle x, u32 least, u32 count)
{
    const vec_u32 last = vector_splat(0x80000000 + count - 1);
    vec_where outside[BUNDLE];
    EACH outside[n] = where_above((vec_u32)x.v[n] + (0x80000000 - least), last);
    for (int n = 1; n < BUNDLE; n++)
        outside[0] = where_either(outside[0], outside[n]);
    return __builtin_expect(where_any(outside[0]), 0);
}
KERNEL_INLINE struct bundle bundle_abs(struct bundle x)
{
    EACH x.v[n] = vector_abs(x.v[n]);
    return x;
}
/* A step of Horner's scheme. */
KERNEL_INLINE struct bundle bundle_step(struct bundle p, struct bundle x, f32 c)
{
    EACH p.v[n] = vector_fma_c(p.v[n], x.v[n], c);
    return p;
}

KERNEL_INLINE struct bundle bundle_rsq(struct bundle a)
{
    EACH
    {
        const vec_f32 x = vector_flush(a.v[n]), r = 1 / vector_sqrt(x);
        const vec_f32 g = x * r, lost = vector_fma_f32(x, r, -g);
        const vec_f32 left = vector_fma_f32(-lost, r, vector_fma_c(-g, r, 1));
        const vec_f32 better = vector_fma_f32(r * 0.5f, left, r);
        a.v[n] = vector_select(VECTOR_COMPARE(left, left, _CMP_EQ_OQ), better, r);
    }
    return a;
}

KERNEL_INLINE struct bundle bundle_exp2_wide(struct bundle x)
{
    struct bundle whole, t, p = bundle_of(EXP2_6);
    EACH t.v[n] = vector_max(vector_const(-200), x.v[n]); /* a NaN stays */
    EACH t.v[n] = vector_min(vector_const(200), t.v[n]);
    EACH whole.v[n] = vector_near(t.v[n]);
    EACH t.v[n] -= whole.v[n];
    p = bundle_step(p, t, EXP2_5);
    p = bundle_step(p, t, EXP2_4);
    p = bundle_step(p, t, EXP2_3);
    p = bundle_step(p, t, EXP2_2);
    p = bundle_step(p, t, EXP2_1);
    p = bundle_step(p, t, EXP2_0);
    p = bundle_scale(bundle_step(p, t, 1), whole);
    if (bundle_some_outside(bundle_abs(x), 0, INF32))
        EACH
        {
            const vec_f32 infinity = vector_const(f32_of(INF32));
            const vec_where special = VECTOR_COMPARE(x.v[n], infinity, _CMP_NLT_UQ);
            p.v[n] = vector_select(special, x.v[n] + x.v[n], p.v[n]);
        }
    return p;
}
KERNEL_INLINE struct bundle bundle_exp2(struct bundle x)
{
    return bundle_flush(bundle_exp2_wide(bundle_flush(x)));
}

/* The logarithm r of x, which may have none. */
KERNEL_INLINE vec_f32 log2_or_special(vec_f32 r, vec_f32 x)
{
#if defined(__AVX512F__)
    /* NaNs are quieted, zeros give -infinity, +infinity itself, what is negative no number. */
    const __m512i answers = _mm512_set1_epi32(0x03530422);
    return (vec_f32)_mm512_fixupimm_ps((__m512)r, (__m512)x, answers, 0);
#else
    const vec_f32 zero = {0}, infinity = vector_const(f32_of(INF32));
    const vec_where above = VECTOR_COMPARE(x, zero, _CMP_NLE_UQ); /* or a NaN */
    const vec_where ordinary = VECTOR_COMPARE(x, infinity, _CMP_LT_OQ);
    const vec_where none = VECTOR_COMPARE(x, zero, _CMP_EQ_OQ);
    const vec_f32 below = vector_select(none, -infinity, vector_const(f32_of(NAN32)));
    return vector_select(above, vector_select(ordinary, r, x + x), below);
#endif
}
KERNEL_INLINE struct bundle bundle_log2_normal(struct bundle x)
{
    const vec_f32 first = vector_const(LOG2_FIRST), second = vector_const(LOG2_SECOND);
    struct bundle f, whole, most, p = bundle_of(LOG2_9);
    EACH
    {
        const vec_u32 u = (vec_u32)x.v[n];
        const vec_i32 exponent = (vec_i32)(u - LOG2_BOUNDARY) >> 23;
        f.v[n] = (vec_f32)(u - ((vec_u32)exponent << 23)) - 1;
        whole.v[n] = vector_to_f32(exponent);
    }
    p = bundle_step(p, f, LOG2_8);
    p = bundle_step(p, f, LOG2_7);
    p = bundle_step(p, f, LOG2_6);
    p = bundle_step(p, f, LOG2_5);
    p = bundle_step(p, f, LOG2_4);
    p = bundle_step(p, f, LOG2_3);
    p = bundle_step(p, f, LOG2_2);
    EACH most.v[n] = vector_fma_f32(second, f.v[n], first);
    EACH
    {
        const vec_f32 lost = vector_fma_f32(second, f.v[n], first - most.v[n]);
        p.v[n] = vector_fma_f32(p.v[n], f.v[n] * f.v[n], lost + LOG2_FIRST_REST);
    }
    EACH p.v[n] *= f.v[n];
    EACH p.v[n] = vector_fma_f32(f.v[n], most.v[n], p.v[n]);
    EACH p.v[n] += whole.v[n];
    if (HAVE_FIXUP || bundle_some_outside(x, 0x800000, INF32 - 0x800000))
        EACH p.v[n] = log2_or_special(p.v[n], x.v[n]);
    return p;
}
KERNEL_INLINE struct bundle bundle_log2(struct bundle x)
{
    return bundle_log2_normal(bundle_flush(x));
}

KERNEL_INLINE struct bundle bundle_sin_series(struct bundle u)
{
    struct bundle q, p = bundle_of(SIN_4);
    EACH q.v[n] = u.v[n] * u.v[n];
    p = bundle_step(p, q, SIN_3);
    p = bundle_step(p, q, SIN_2);
    p = bundle_step(p, q, SIN_1);
    p = bundle_step(p, q, SIN_0_REST);
    EACH p.v[n] *= u.v[n];
    EACH p.v[n] = vector_fma_f32(u.v[n], vector_const(SIN_0), p.v[n]);
    return p;
}
KERNEL_INLINE struct bundle bundle_cos_series(struct bundle u)
{
    const vec_f32 one = vector_const(1), first = vector_const(COS_1);
    struct bundle q, p = bundle_of(COS_5);
    EACH q.v[n] = u.v[n] * u.v[n];
    p = bundle_step(p, q, COS_4);
    p = bundle_step(p, q, COS_3);
    p = bundle_step(p, q, COS_2);
    p = bundle_step(p, q, COS_1_REST);
    EACH
    {
        const vec_f32 most = vector_fma_f32(first, q.v[n], one);
        const vec_f32 lost = vector_fma_f32(first, q.v[n], one - most);
        p.v[n] = most + vector_fma_f32(p.v[n], q.v[n], lost);
    }
    return p;
}

/* The two series, where `size` is beyond the limit of what it is to the quarter. */
KERNEL_INLINE struct bundle bundle_either(struct bundle size, const f32 limit, const bool sine)
{
    struct bundle rest, near, far;
    EACH rest.v[n] = 0.25f - size.v[n];
    near = sine ? bundle_sin_series(size) : bundle_cos_series(size);
    far = sine ? bundle_cos_series(rest) : bundle_sin_series(rest);
    EACH
    {
        const vec_where beyond = where_above((vec_u32)size.v[n], vector_splat(bits32(limit)));
        near.v[n] = vector_select(beyond, far.v[n], near.v[n]);
    }
    return near;
}
/* Beyond 256 turns: `far`, or no number; with `zero`, zeros are what they were. */
KERNEL_INLINE struct bundle turns_bounded(struct bundle x, struct bundle r, f32 far, bool zero)
{
    if (!bundle_some_outside(bundle_abs(x), 1, bits32(256)))
        return r;
    EACH
    {
        const vec_f32 size = vector_abs(x.v[n]), infinity = vector_const(f32_of(INF32));
        const vec_where inside = VECTOR_COMPARE(size, vector_const(256), _CMP_LE_OQ);
        const vec_where finite = VECTOR_COMPARE(size, infinity, _CMP_LT_OQ);
        const vec_where none = VECTOR_COMPARE(size, (vec_f32){0}, _CMP_EQ_OQ);
        const vec_f32 nan = vector_const(f32_of(NAN32));
        const vec_f32 near = zero ? vector_select(none, x.v[n], r.v[n]) : r.v[n];
        r.v[n] = vector_select(inside, near, vector_select(finite, vector_const(far), nan));
    }
    return r;
}
/* What is left of x to the next whole turn, and its size to the next half turn. */
KERNEL_INLINE struct bundle bundle_turn(struct bundle x, struct bundle *size)
{
    EACH x.v[n] -= vector_near(x.v[n]);
    EACH
    {
        const vec_f32 whole = vector_abs(x.v[n]);
        size->v[n] = vector_min(whole, vector_abs(vector_const(0.5f) - whole));
    }
    return x;
}
KERNEL_INLINE struct bundle bundle_sin(struct bundle x)
{
    struct bundle size, t = bundle_turn(x, &size), r = bundle_either(size, SIN_LIMIT, true);
    EACH r.v[n] = (vec_f32)((vec_u32)r.v[n] ^ ((vec_u32)t.v[n] & SIGN32));
    return turns_bounded(x, r, 0, true);
}
KERNEL_INLINE struct bundle bundle_cos(struct bundle x)
{
    struct bundle size, t = bundle_turn(x, &size), r = bundle_either(size, COS_LIMIT, false);
    EACH
    {
        /* Beyond a quarter of a turn; the order of floats is that of their bits. */
        const vec_u32 sign = (bits32(0.25f) - (vec_u32)vector_abs(t.v[n])) & SIGN32;
        r.v[n] = (vec_f32)((vec_u32)r.v[n] ^ sign);
    }
    return turns_bounded(x, r, 1, false);
}
#endif

#endif
