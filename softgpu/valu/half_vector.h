/*
 * Half precision at the host's vector width: halves are widened, computed with and rounded back in
 * registers. For what programs do all day: sums, products and fused multiply-adds in the usual
 * mode, which rounds to the nearest, beyond the largest half too, and keeps denormals. Everything
 * else goes the way of half.h, and so does all of it where the host does not convert halves.
 */
#ifndef VALU_HALF_VECTOR_H
#define VALU_HALF_VECTOR_H

#include "valu/half.h"
#include "valu/vector.h"

#if defined(__F16C__)
#define HAVE_HALF_VECTORS 1

KERNEL_INLINE bool half_mode_usual(struct lane_env e)
{
    return e.nearest && !(e.flush16_in | e.flush16_out | e.bounded16);
}

/* A row of halves in dwords, their high parts ignored, as far as one vector of f32 goes; and rows
 * of two halves each, which are twice as many. */
#if defined(__AVX512F__)
typedef __m256i half_register;
KERNEL_INLINE vec_f32 half_widen(half_register x)
{
    return (vec_f32)_mm512_cvtph_ps(x);
}
KERNEL_INLINE half_register half_narrow(vec_f32 x)
{
    return _mm512_cvtps_ph((__m512)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
KERNEL_INLINE vec_f32 half_load(const u32 *p)
{
    return half_widen(_mm512_cvtepi32_epi16((__m512i)vector_load(p)));
}
KERNEL_INLINE vec_u32 half_dwords(vec_f32 x)
{
    return (vec_u32)_mm512_cvtepu16_epi32(half_narrow(x));
}
KERNEL_INLINE half_register half_part(vec_u32 x, const int n)
{
    return n ? _mm512_extracti64x4_epi64((__m512i)x, 1) : _mm512_castsi512_si256((__m512i)x);
}
KERNEL_INLINE vec_u32 half_whole(half_register low, half_register high)
{
    return (vec_u32)_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
#else
typedef __m128i half_register;
KERNEL_INLINE vec_f32 half_widen(half_register x)
{
    return (vec_f32)_mm256_cvtph_ps(x);
}
KERNEL_INLINE half_register half_narrow(vec_f32 x)
{
    return _mm256_cvtps_ph((__m256)x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
KERNEL_INLINE half_register half_part(vec_u32 x, const int n)
{
    return n ? _mm256_extracti128_si256((__m256i)x, 1) : _mm256_castsi256_si128((__m256i)x);
}
KERNEL_INLINE vec_u32 half_whole(half_register low, half_register high)
{
    return (vec_u32)_mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
KERNEL_INLINE vec_f32 half_load(const u32 *p)
{
    const vec_u32 x = vector_load(p) & 0xffff;
    return half_widen(_mm_packus_epi32(half_part(x, 0), half_part(x, 1)));
}
KERNEL_INLINE vec_u32 half_dwords(vec_f32 x)
{
    return (vec_u32)_mm256_cvtepu16_epi32(half_narrow(x));
}
#endif

/*
 * fma_f16() of vectors. The product is exact. The sum is rounded to odd: towards zero, and its last
 * bit set where it is not exact, so that rounding it again gives what one rounding would. It is not
 * exact where rounding it up and down differs; f32 never overflows here.
 */
#if defined(__AVX512F__)
KERNEL_INLINE vec_f32 half_fma(vec_f32 a, vec_f32 b, vec_f32 c)
{
    enum { QUIET = _MM_FROUND_NO_EXC };
    const __m512 p = (__m512)(a * b), q = (__m512)c;
    const __m512 up = _mm512_add_round_ps(p, q, _MM_FROUND_TO_POS_INF | QUIET);
    const __m512 down = _mm512_add_round_ps(p, q, _MM_FROUND_TO_NEG_INF | QUIET);
    const __m512i cut = (__m512i)_mm512_add_round_ps(p, q, _MM_FROUND_TO_ZERO | QUIET);
    /* An exact zero is +0 to the nearest and towards zero alike; a NaN is not unequal. */
    const __mmask16 inexact = _mm512_cmp_ps_mask(up, down, _CMP_NEQ_OQ);
    return (vec_f32)_mm512_mask_or_epi32(cut, inexact, cut, _mm512_set1_epi32(1));
}
#else
KERNEL_INLINE vec_f32 half_fma(vec_f32 a, vec_f32 b, vec_f32 c)
{
    const vec_f32 p = a * b, s = p + c, t = s - p;
    const vec_f32 error = (p - (s - t)) + (c - t);
    const vec_u32 u = (vec_u32)s, even = (u & 1) - 1;
    const vec_u32 finite = (vec_u32)((vec_u32)(u & INF32) != INF32);
    const vec_u32 inexact = (vec_u32)(error != 0) & finite & even;
    /* One away from zero if the error has the sum's sign, else one towards it. */
    const vec_u32 inward = (vec_u32)((VECTOR_OF(i32))((vec_u32)error ^ u) >> 31);
    return (vec_f32)(u + ((inward | 1) & inexact));
}
#endif

#define HALF_SOURCE(P, SCALAR) ((SCALAR) ? half_load(splat_) : half_load((P) + l))
#define HALF_SPLAT(P, SCALAR)                                                                      \
    u32 splat_[VECTOR_LANES] __attribute__((aligned(VECTOR_BYTES)));                               \
    if (SCALAR)                                                                                    \
    vector_store(splat_, vector_splat((P)[0]))

/* NAME_body(): by vectors in the usual mode, else NAME_by_rows_body(). C is the third source. */
#define HALF_BODY(NAME, C, VEXPR)                                                                  \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        if (__builtin_expect(!half_mode_usual(e), 0)) {                                            \
            NAME##_by_rows_body(d_, m_, a_, b_, c_, w, sa);                                        \
            return;                                                                                \
        }                                                                                          \
        HALF_SPLAT(a_, sa);                                                                        \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const vec_f32 a = HALF_SOURCE(a_, sa), b = HALF_SOURCE(b_, false), c = C;              \
            (void)c;                                                                               \
            vector_store(d_ + l, half_dwords(VEXPR));                                              \
        }                                                                                          \
    }
/* NAME_pairs(): both halves of packed sources, in the usual mode. */
#define HALF_PAIRS(NAME, CPAIR, VEXPR)                                                             \
    static void NAME##_pairs(KERNEL_ARGS)                                                          \
    {                                                                                              \
        (void)m_, (void)c_, (void)w;                                                               \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const vec_u32 x = vector_load(a_ + l), y = vector_load(b_ + l), z = CPAIR;             \
            half_register part[2];                                                                 \
            UNROLL for (int n = 0; n < 2; n++)                                                     \
            {                                                                                      \
                const vec_f32 a = half_widen(half_part(x, n)), b = half_widen(half_part(y, n));    \
                const vec_f32 c = half_widen(half_part(z, n));                                     \
                (void)c;                                                                           \
                part[n] = half_narrow(VEXPR);                                                      \
            }                                                                                      \
            vector_store(d_ + l, half_whole(part[0], part[1]));                                    \
        }                                                                                          \
    }
#define HVBODY2(NAME, EXPR, VEXPR) HBODY2(NAME##_by_rows, EXPR) HALF_BODY(NAME, a, VEXPR)
#define HVBODY3(NAME, EXPR, VEXPR)                                                                 \
    HBODY3(NAME##_by_rows, EXPR)                                                                   \
    HALF_BODY(NAME, HALF_SOURCE(c_, false), VEXPR)
#define HALF_PAIRS2(NAME, VEXPR) HALF_PAIRS(NAME, x, VEXPR)
#define HALF_PAIRS3(NAME, VEXPR) HALF_PAIRS(NAME, vector_load(c_ + l), VEXPR)
#define PAIRS_OF(NAME)           NAME##_pairs

#else
#define HVBODY2(NAME, EXPR, VEXPR) HBODY2(NAME, EXPR)
#define HVBODY3(NAME, EXPR, VEXPR) HBODY3(NAME, EXPR)
#define HALF_PAIRS2(NAME, VEXPR)
#define HALF_PAIRS3(NAME, VEXPR)
#define PAIRS_OF(NAME) NULL
#endif

#endif
