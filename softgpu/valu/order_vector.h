/*
 * Minima, maxima and medians on the host's vectors where no source is a NaN, which has rules of its
 * own; a vector that has one goes lane by lane.
 */
#ifndef VALU_ORDER_VECTOR_H
#define VALU_ORDER_VECTOR_H

#include "valu/trans_vector.h"

#if defined(__AVX2__)
#define HAVE_ORDER_VECTORS 1

/* -0 lies below +0. */
#if defined(__AVX512F__)
enum { RANGE_MIN = 4, RANGE_MAX = 5 };
#define LEAST_F32(a, b)     (vec_f32) _mm512_range_ps((__m512)(a), (__m512)(b), RANGE_MIN)
#define MOST_F32(a, b)      (vec_f32) _mm512_range_ps((__m512)(a), (__m512)(b), RANGE_MAX)
#define LEAST_F64(a, b)     (vec_f64) _mm512_range_pd((__m512d)(a), (__m512d)(b), RANGE_MIN)
#define MOST_F64(a, b)      (vec_f64) _mm512_range_pd((__m512d)(a), (__m512d)(b), RANGE_MAX)
#define UNORDERED_F64(a, b) (_mm512_cmp_pd_mask((__m512d)(a), (__m512d)(b), _CMP_UNORD_Q) != 0)
#else
/* Of two zeros the host takes the second one: in both orders, and one sign bit is enough for a
 * minimum, both are it for a maximum. Equal numbers have equal bits otherwise; denormals that count
 * as zeros keep a sign and no more. */
#define EITHER_ORDER(T, HOST, SOURCE, a, b, OP)                                                    \
    (T)((vec_u32)HOST((SOURCE)(a), (SOURCE)(b)) OP(vec_u32) HOST((SOURCE)(b), (SOURCE)(a)))
#define LEAST_F32(a, b) EITHER_ORDER(vec_f32, _mm256_min_ps, __m256, a, b, |)
#define MOST_F32(a, b)  EITHER_ORDER(vec_f32, _mm256_max_ps, __m256, a, b, &)
#define LEAST_F64(a, b) EITHER_ORDER(vec_f64, _mm256_min_pd, __m256d, a, b, |)
#define MOST_F64(a, b)  EITHER_ORDER(vec_f64, _mm256_max_pd, __m256d, a, b, &)
#define UNORDERED_F64(a, b)                                                                        \
    (_mm256_movemask_pd(_mm256_cmp_pd((__m256d)(a), (__m256d)(b), _CMP_UNORD_Q)) != 0)
#endif

KERNEL_INLINE vec_f32 least_f32(vec_f32 a, vec_f32 b)
{
    return LEAST_F32(a, b);
}
KERNEL_INLINE vec_f32 most_f32(vec_f32 a, vec_f32 b)
{
    return MOST_F32(a, b);
}
KERNEL_INLINE vec_f64 least_f64(vec_f64 a, vec_f64 b)
{
    return LEAST_F64(a, b);
}
KERNEL_INLINE vec_f64 most_f64(vec_f64 a, vec_f64 b)
{
    return MOST_F64(a, b);
}
KERNEL_INLINE bool vectors_unordered(vec_f32 a, vec_f32 b)
{
    return __builtin_expect(where_any(VECTOR_COMPARE(a, b, _CMP_UNORD_Q)), 0);
}
/* As med_f32(). */
KERNEL_INLINE vec_f32 vector_med_f32(vec_f32 a, vec_f32 b, vec_f32 c)
{
    const vec_f32 ab = most_f32(a, b), most = most_f32(ab, c);
    const vec_where is_a = VECTOR_COMPARE(most, a, _CMP_EQ_OQ);
    const vec_where is_b = VECTOR_COMPARE(most, b, _CMP_EQ_OQ);
    return vector_select(is_a, most_f32(b, c), vector_select(is_b, most_f32(a, c), ab));
}

/* NAME_body() of f32; C: the third source, or another once more. */
#define ORDER_F32(NAME, C, VEXPR, EXPR)                                                            \
    static __attribute__((noinline)) void NAME##_lanes(                                            \
        u32 *d_, const u32 *a_, const u32 *b_, const u32 *c_, const struct wave *w, const bool sa) \
    {                                                                                              \
        const struct lane_env e = env_of(w);                                                       \
        for (int l = 0; l < VECTOR_LANES; l++) {                                                   \
            const f32 a = f32_of(a_[sa ? 0 : l]), b = f32_of(b_[l]), c = f32_of(c_[l]);            \
            (void)c;                                                                               \
            d_[l] = bits32(EXPR);                                                                  \
        }                                                                                          \
    }                                                                                              \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const u32 *const third_ = C;                                                               \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const vec_f32 a = (vec_f32)(sa ? vector_splat(a_[0]) : vector_load(a_ + l));           \
            const vec_f32 b = (vec_f32)vector_load(b_ + l), c = (vec_f32)vector_load(third_ + l);  \
            if (vectors_unordered(a, b) || (third_ != b_ && vectors_unordered(c, c)))              \
                NAME##_lanes(d_ + l, sa ? a_ : a_ + l, b_ + l, third_ + l, w, sa);                 \
            else                                                                                   \
                vector_store(d_ + l, (vec_u32)((VEXPR)*e.one32));                                  \
        }                                                                                          \
    }
#define ORDER_F64(NAME, FUNCTION, EXPR)                                                            \
    static __attribute__((noinline)) void NAME##_lanes(u32 *d_, const u32 *a_, const u32 *b_,      \
                                                       const struct wave *w, const bool sa)        \
    {                                                                                              \
        const struct lane_env e = env_of(w);                                                       \
        for (int l = 0; l < VECTOR_LANES; l++) {                                                   \
            const f64 a = sa ? SCALAR_f64(a_) : LOAD_f64(a_, l), b = LOAD_f64(b_, l);              \
            STORE_f64(d_, l, EXPR);                                                                \
        }                                                                                          \
    }                                                                                              \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const struct vector_pair a = PAIR_SOURCE(a_, false, sa), b = pair_load(b_ + l);        \
            const vec_f64 even = FUNCTION((vec_f64)a.even, (vec_f64)b.even) * e.one64;             \
            const vec_f64 odd = FUNCTION((vec_f64)a.odd, (vec_f64)b.odd) * e.one64;                \
            if (UNORDERED_F64(a.even, b.even) || UNORDERED_F64(a.odd, b.odd))                      \
                NAME##_lanes(d_ + l, sa ? a_ : a_ + l, b_ + l, w, sa);                             \
            else                                                                                   \
                pair_store(d_ + l, (struct vector_pair){(vec_u64)even, (vec_u64)odd});             \
        }                                                                                          \
    }
#endif

#endif
