/*
 * The host's vectors, as wide as the build allows, for what is written by vectors and not by lanes:
 * matrices and register pairs.
 *
 * A register pair holds the low dwords of its lanes in one row and the high ones in the next. A
 * vector of each becomes two vectors of whole values, one of the even lanes and one of the odd
 * ones, which takes one instruction for each, in and out.
 */
#ifndef VALU_VECTOR_H
#define VALU_VECTOR_H

#include <immintrin.h>

#include "valu/core_float.h"

#if defined(__AVX512F__)
#define VECTOR_BYTES 64
#elif defined(__AVX2__)
#define VECTOR_BYTES 32
#else
#define VECTOR_BYTES 16
#endif
enum { VECTOR_LANES = VECTOR_BYTES / 4, ROW_VECTORS = WAVE_LANES / VECTOR_LANES };

#define VECTOR_OF(T) T __attribute__((vector_size(VECTOR_BYTES), may_alias))
typedef VECTOR_OF(uint8_t) vec_u8;
typedef VECTOR_OF(u32) vec_u32;
typedef VECTOR_OF(i32) vec_i32;
typedef VECTOR_OF(f32) vec_f32;
typedef VECTOR_OF(u64) vec_u64;
typedef VECTOR_OF(i64) vec_i64;
typedef VECTOR_OF(f64) vec_f64;

#define UNROLL _Pragma("GCC unroll 64")
#define ROLLED _Pragma("GCC unroll 1")

KERNEL_INLINE vec_u32 vector_load(const u32 *p)
{
    return *(const vec_u32 *)p;
}
KERNEL_INLINE void vector_store(u32 *p, vec_u32 x)
{
    *(vec_u32 *)p = x;
}
KERNEL_INLINE vec_u32 vector_splat(u32 x)
{
    return x - (vec_u32){0};
}
KERNEL_INLINE vec_u64 vector_splat64(u64 x)
{
    return x - (vec_u64){0};
}

/* Lanes 0, 2, 4 ... of a pair of rows, and lanes 1, 3, 5 ...; their inverse gives rows again. */
struct vector_pair {
    vec_u64 even, odd;
};
struct vector_rows {
    vec_u32 low, high;
};
#if defined(__AVX512F__)
KERNEL_INLINE vec_u32 even_dwords(vec_u32 first, vec_u32 second)
{
    return (vec_u32)_mm512_mask_moveldup_ps((__m512)first, 0xaaaa, (__m512)second);
}
KERNEL_INLINE vec_u32 odd_dwords(vec_u32 first, vec_u32 second)
{
    return (vec_u32)_mm512_mask_movehdup_ps((__m512)second, 0x5555, (__m512)first);
}
#elif defined(__AVX2__)
KERNEL_INLINE vec_u32 even_dwords(vec_u32 first, vec_u32 second)
{
    return (vec_u32)_mm256_blend_ps((__m256)first, _mm256_moveldup_ps((__m256)second), 0xaa);
}
KERNEL_INLINE vec_u32 odd_dwords(vec_u32 first, vec_u32 second)
{
    return (vec_u32)_mm256_blend_ps(_mm256_movehdup_ps((__m256)first), (__m256)second, 0xaa);
}
#else
KERNEL_INLINE vec_u32 even_dwords(vec_u32 first, vec_u32 second)
{
    return __builtin_shuffle(first, second, (vec_u32){0, 4, 2, 6});
}
KERNEL_INLINE vec_u32 odd_dwords(vec_u32 first, vec_u32 second)
{
    return __builtin_shuffle(first, second, (vec_u32){1, 5, 3, 7});
}
#endif
KERNEL_INLINE struct vector_pair vector_pair_of(struct vector_rows r)
{
    return (struct vector_pair){(vec_u64)even_dwords(r.low, r.high),
                                (vec_u64)odd_dwords(r.low, r.high)};
}
KERNEL_INLINE struct vector_rows vector_rows_of(struct vector_pair p)
{
    return (struct vector_rows){even_dwords((vec_u32)p.even, (vec_u32)p.odd),
                                odd_dwords((vec_u32)p.even, (vec_u32)p.odd)};
}
KERNEL_INLINE struct vector_pair pair_load(const u32 *rows)
{
    return vector_pair_of((struct vector_rows){vector_load(rows), vector_load(rows + WAVE_LANES)});
}
KERNEL_INLINE void pair_store(u32 *rows, struct vector_pair p)
{
    const struct vector_rows r = vector_rows_of(p);
    vector_store(rows, r.low);
    vector_store(rows + WAVE_LANES, r.high);
}

/* Lane masks: their bits from `lane` on, a constant where loops are unrolled, are those of a vector
 * that holds 0 or ~0, or whose sign bits matter alone. */
#if defined(__AVX512F__)
KERNEL_INLINE vec_u32 vector_of_mask(u64 mask, const int lane)
{
    return (vec_u32)_mm512_movm_epi32((__mmask16)(mask >> lane));
}
KERNEL_INLINE u64 mask_of_vector(vec_u32 x)
{
    return _mm512_movepi32_mask((__m512i)x);
}
#else
KERNEL_INLINE vec_u32 vector_of_mask(u64 mask, const int lane)
{
#if defined(__AVX2__)
    const vec_u32 first = {1, 2, 4, 8, 16, 32, 64, 128};
#else
    const vec_u32 first = {1, 2, 4, 8};
#endif
    const vec_u32 bits = first << (u32)(lane % 32);
    return (vec_u32)((vector_splat((u32)(mask >> (lane & 32))) & bits) == bits);
}
KERNEL_INLINE u64 mask_of_vector(vec_u32 x)
{
#if defined(__AVX2__)
    return (u32)_mm256_movemask_ps((__m256)x);
#else
    return (u32)_mm_movemask_ps((__m128)x);
#endif
}
#endif

/* A row of dwords as pairs: what shares lanes with values of two dwords. */
KERNEL_INLINE struct vector_pair pair_of_dwords(vec_u32 x)
{
    return (struct vector_pair){(vec_u64)x & UINT32_MAX, (vec_u64)x >> 32};
}
KERNEL_INLINE struct vector_pair pair_of_scalar(u64 x)
{
    return (struct vector_pair){vector_splat64(x), vector_splat64(x)};
}
/* One dword for each lane of masks, 0 or ~0. */
KERNEL_INLINE vec_u32 dwords_of_masks(vec_u64 even, vec_u64 odd)
{
    return even_dwords((vec_u32)even, (vec_u32)odd);
}
/* Products of the low dwords. */
KERNEL_INLINE vec_u64 vector_product_u32(vec_u64 a, vec_u64 b)
{
#if defined(__AVX512F__)
    return (vec_u64)_mm512_mul_epu32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_u64)_mm256_mul_epu32((__m256i)a, (__m256i)b);
#else
    return (vec_u64)_mm_mul_epu32((__m128i)a, (__m128i)b);
#endif
}

/*
 * The body of an operation on pairs: EXPR for vectors a, b and c of T, first the even lanes, then
 * the odd ones. DWORD_A and DWORD_B say that a source is one dword, which is 64 bits wide here. A
 * vector's lanes are loaded from every row before any is stored.
 */
#define PAIR_SOURCE(P, DWORD, SCALAR)                                                              \
    ((SCALAR)  ? pair_of_scalar((DWORD) ? (P)[0] : SCALAR_u64(P))                                  \
     : (DWORD) ? pair_of_dwords(vector_load((P) + l))                                              \
               : pair_load((P) + l))
#define PAIR_BODY(NAME, T, DWORD_A, DWORD_B, PC, EXPR)                                             \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const struct vector_pair pa = PAIR_SOURCE(a_, DWORD_A, sa);                            \
            const struct vector_pair pb = PAIR_SOURCE(b_, DWORD_B, false);                         \
            const struct vector_pair pc = PC;                                                      \
            struct vector_pair r;                                                                  \
            {                                                                                      \
                const T a = (T)pa.even, b = (T)pb.even, c = (T)pc.even;                            \
                (void)c;                                                                           \
                r.even = (vec_u64)(EXPR);                                                          \
            }                                                                                      \
            {                                                                                      \
                const T a = (T)pa.odd, b = (T)pb.odd, c = (T)pc.odd;                               \
                (void)c;                                                                           \
                r.odd = (vec_u64)(EXPR);                                                           \
            }                                                                                      \
            pair_store(d_ + l, r);                                                                 \
        }                                                                                          \
    }
/* The same of doubles with signs applied to the sources. */
KERNEL_INLINE struct vector_pair pair_with_signs(const u32 *rows, u32 keep, u32 flip)
{
    const vec_u32 high = (vector_load(rows + WAVE_LANES) & keep) ^ flip;
    return vector_pair_of((struct vector_rows){vector_load(rows), high});
}
#define PAIR_SIGNS(P, N) pair_with_signs((P) + l, s->keep[N], s->flip[N])
#define PAIR_SIGNED(NAME, PC, EXPR)                                                                \
    static void NAME##_with_signs(u32 *d_, const u32 *a_, const u32 *b_, const u32 *c_,            \
                                  const struct wave *w, const struct source_signs *s_)             \
    {                                                                                              \
        const struct source_signs signs_ = *s_, *const s = &signs_; /* nothing stored is it */     \
        (void)c_, (void)w;                                                                         \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const struct vector_pair pa = PAIR_SIGNS(a_, 0), pb = PAIR_SIGNS(b_, 1), pc = PC;      \
            vec_u64 r[2];                                                                          \
            UNROLL for (int n = 0; n < 2; n++)                                                     \
            {                                                                                      \
                const vec_f64 a = (vec_f64)(n ? pa.odd : pa.even);                                 \
                const vec_f64 b = (vec_f64)(n ? pb.odd : pb.even);                                 \
                const vec_f64 c = (vec_f64)(n ? pc.odd : pc.even);                                 \
                (void)c;                                                                           \
                r[n] = (vec_u64)(EXPR);                                                            \
            }                                                                                      \
            pair_store(d_ + l, (struct vector_pair){r[0], r[1]});                                  \
        }                                                                                          \
    }
#define PAIR_BODY2(NAME, T, DWORD_A, EXPR) PAIR_BODY(NAME, T, DWORD_A, false, pa, EXPR)
#define PAIR_BODY3(NAME, T, DWORD_B, EXPR)                                                         \
    PAIR_BODY(NAME, T, false, DWORD_B, PAIR_SOURCE(c_, false, false), EXPR)

/* a * b + c, rounded once. */
#if defined(__AVX512F__)
KERNEL_INLINE vec_f32 vector_fma_f32(vec_f32 a, vec_f32 b, vec_f32 c)
{
    return (vec_f32)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}
KERNEL_INLINE vec_f64 vector_fma_f64(vec_f64 a, vec_f64 b, vec_f64 c)
{
    return (vec_f64)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
#elif defined(__AVX2__)
KERNEL_INLINE vec_f32 vector_fma_f32(vec_f32 a, vec_f32 b, vec_f32 c)
{
    return (vec_f32)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}
KERNEL_INLINE vec_f64 vector_fma_f64(vec_f64 a, vec_f64 b, vec_f64 c)
{
    return (vec_f64)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
#else
KERNEL_INLINE vec_f32 vector_fma_f32(vec_f32 a, vec_f32 b, vec_f32 c)
{
    for (int n = 0; n < VECTOR_LANES; n++)
        c[n] = fma_f32(a[n], b[n], c[n]);
    return c;
}
KERNEL_INLINE vec_f64 vector_fma_f64(vec_f64 a, vec_f64 b, vec_f64 c)
{
    for (int n = 0; n < VECTOR_LANES / 2; n++)
        c[n] = fma_f64(a[n], b[n], c[n]);
    return c;
}
#endif

/* Four dwords, again and again; they are aligned. */
KERNEL_INLINE vec_u32 vector_quad_load(const u32 *x)
{
    const __m128i quad = _mm_load_si128((const __m128i *)x);
#if defined(__AVX512F__)
    return (vec_u32)_mm512_broadcast_i32x4(quad);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_broadcastsi128_si256(quad);
#else
    return (vec_u32)quad;
#endif
}
/* Lanes that have some of the bits; others are 0. */
KERNEL_INLINE vec_u32 vector_with_bits(vec_u32 x, u32 bits)
{
#if defined(__AVX512F__)
    const __mmask16 some = _mm512_test_epi32_mask((__m512i)x, (__m512i)vector_splat(bits));
    return (vec_u32)_mm512_maskz_mov_epi32(some, (__m512i)x);
#else
    return x & (vec_u32)((x & bits) != 0);
#endif
}

/* The same factor for the even values and the odd ones. */
KERNEL_INLINE struct vector_pair pair_fma_f64(vec_u64 factor, struct vector_pair b,
                                              struct vector_pair c)
{
    return (struct vector_pair){
        (vec_u64)vector_fma_f64((vec_f64)factor, (vec_f64)b.even, (vec_f64)c.even),
        (vec_u64)vector_fma_f64((vec_f64)factor, (vec_f64)b.odd, (vec_f64)c.odd)};
}

/* The larger one. */
KERNEL_INLINE vec_i32 vector_max_i32(vec_i32 a, vec_i32 b)
{
#if defined(__AVX512F__)
    return (vec_i32)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_i32)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    const vec_i32 more = a > b;
    return (a & more) | (b & ~more);
#endif
}
/* Arithmetic shifts to the right by any number of digits, 31 or more of which leave the sign. */
KERNEL_INLINE vec_i32 vector_shift_down(vec_i32 x, vec_i32 digits)
{
#if defined(__AVX512F__)
    return (vec_i32)_mm512_srav_epi32((__m512i)x, (__m512i)digits);
#elif defined(__AVX2__)
    return (vec_i32)_mm256_srav_epi32((__m256i)x, (__m256i)digits);
#else
    for (int n = 0; n < VECTOR_LANES; n++)
        x[n] >>= digits[n] > 31 ? 31 : digits[n];
    return x;
#endif
}
/* To whole numbers, towards zero; from them, to nearest. */
KERNEL_INLINE vec_i32 vector_truncate(vec_f32 x)
{
    return __builtin_convertvector(x, vec_i32);
}
KERNEL_INLINE vec_f32 vector_f32_of_i32(vec_i32 x)
{
    return __builtin_convertvector(x, vec_f32);
}

/* To whole numbers, downwards. */
KERNEL_INLINE vec_i32 vector_floor(vec_f32 x)
{
#if defined(__AVX512F__)
    return (vec_i32)_mm512_cvt_roundps_epi32((__m512)x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
#elif defined(__AVX2__)
    return (vec_i32)_mm256_cvttps_epi32(_mm256_floor_ps((__m256)x));
#else
    const vec_i32 cut = (vec_i32)_mm_cvttps_epi32((__m128)x);
    return cut + (vector_f32_of_i32(cut) > x);
#endif
}
KERNEL_INLINE bool vector_any(vec_u32 x)
{
#if defined(__AVX512F__)
    return _mm512_test_epi32_mask((__m512i)x, (__m512i)x) != 0;
#elif defined(__AVX2__)
    return !_mm256_testz_si256((__m256i)x, (__m256i)x);
#else
    return _mm_movemask_epi8(_mm_cmpeq_epi32((__m128i)x, _mm_setzero_si128())) != 0xffff;
#endif
}

#if defined(__AVX512F__)
#define VECTOR_BYTES_MOVED(x, from)                                                                \
    (vec_u32) _mm512_shuffle_epi8((__m512i)(x), _mm512_broadcast_i32x4(from))
#elif defined(__AVX2__)
#define VECTOR_BYTES_MOVED(x, from)                                                                \
    (vec_u32) _mm256_shuffle_epi8((__m256i)(x), _mm256_broadcastsi128_si256(from))
#endif

/* The largest lane. */
KERNEL_INLINE i32 vector_most(vec_i32 x)
{
#if defined(__AVX512F__)
    return _mm512_reduce_max_epi32((__m512i)x);
#else
    i32 most = x[0];
    for (int n = 1; n < VECTOR_LANES; n++)
        most = x[n] > most ? x[n] : most;
    return most;
#endif
}

KERNEL_INLINE vec_u32 vector_add_bytes(vec_u32 a, vec_u32 b)
{
    return (vec_u32)((vec_u8)a + (vec_u8)b);
}
KERNEL_INLINE vec_u32 vector_min_u8(vec_u32 a, vec_u32 b)
{
#if defined(__AVX512F__)
    return (vec_u32)_mm512_min_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_min_epu8((__m256i)a, (__m256i)b);
#else
    return (vec_u32)_mm_min_epu8((__m128i)a, (__m128i)b);
#endif
}
KERNEL_INLINE vec_u32 vector_min_i16(vec_u32 a, vec_u32 b)
{
#if defined(__AVX512F__)
    return (vec_u32)_mm512_min_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_min_epi16((__m256i)a, (__m256i)b);
#else
    return (vec_u32)_mm_min_epi16((__m128i)a, (__m128i)b);
#endif
}
KERNEL_INLINE vec_u32 vector_max_u8(vec_u32 a, vec_u32 b)
{
#if defined(__AVX512F__)
    return (vec_u32)_mm512_max_epu8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_max_epu8((__m256i)a, (__m256i)b);
#else
    return (vec_u32)_mm_max_epu8((__m128i)a, (__m128i)b);
#endif
}
KERNEL_INLINE vec_u32 vector_max_i8(vec_u32 a, vec_u32 b)
{
#if defined(__AVX512F__)
    return (vec_u32)_mm512_max_epi8((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_max_epi8((__m256i)a, (__m256i)b);
#else
    const vec_u32 signs = vector_splat(0x80808080);
    return vector_max_u8(a ^ signs, b ^ signs) ^ signs;
#endif
}
/* The largest byte. */
KERNEL_INLINE u32 vector_most_u8(vec_u32 x)
{
    const vec_u32 two = vector_max_u8(x, x >> 16);
    return (u32)vector_most((vec_i32)(vector_max_u8(two, two >> 8) & 0xff));
}
/* Each lane gets byte n of its own four times. */
KERNEL_INLINE vec_u32 vector_bytes_own(vec_u32 x, const int n)
{
#if defined(__AVX2__)
    const __m128i from =
        _mm_add_epi8(_mm_set_epi32(0x0c0c0c0c, 0x08080808, 0x04040404, 0), _mm_set1_epi8((char)n));
    return VECTOR_BYTES_MOVED(x, from);
#else
    const vec_u32 byte = x >> (8 * n) & 0xff, two = byte | byte << 8;
    return two | two << 16;
#endif
}
/* Four lanes' bytes: lane n gets each one's byte n, or bytes 0, 2, 1 and 3 if `swapped`. */
KERNEL_INLINE vec_u32 vector_bytes_turned(vec_u32 x, const bool swapped)
{
#if defined(__AVX2__)
    const __m128i plain = _mm_set_epi32(0x0f0b0703, 0x0e0a0602, 0x0d090501, 0x0c080400);
    const __m128i other = _mm_set_epi32(0x0f0b0703, 0x0d090501, 0x0e0a0602, 0x0c080400);
    return VECTOR_BYTES_MOVED(x, swapped ? other : plain);
#else
    const __m128i pairs = _mm_unpacklo_epi8((__m128i)x, _mm_srli_si128((__m128i)x, 8));
    const __m128i all = _mm_unpacklo_epi8(pairs, _mm_srli_si128(pairs, 8));
    return (vec_u32)(swapped ? _mm_shuffle_epi32(all, 0xd8) : all);
#endif
}

/* Each four lanes get what lane n of them has. */
#if defined(__AVX512F__)
#define VECTOR_QUADS(x, n) (vec_u32) _mm512_shuffle_epi32((__m512i)(x), (n)*0x55)
#elif defined(__AVX2__)
#define VECTOR_QUADS(x, n) (vec_u32) _mm256_shuffle_epi32((__m256i)(x), (n)*0x55)
#else
#define VECTOR_QUADS(x, n) (vec_u32) _mm_shuffle_epi32((__m128i)(x), (n)*0x55)
#endif
KERNEL_INLINE vec_u32 vector_quads(vec_u32 x, const int n)
{
    switch (n) {
    case 0:
        return VECTOR_QUADS(x, 0);
    case 1:
        return VECTOR_QUADS(x, 1);
    case 2:
        return VECTOR_QUADS(x, 2);
    default:
        return VECTOR_QUADS(x, 3);
    }
}

/* Of each two qwords that are neighbours the first or the second one, twice. */
#if defined(__AVX512F__)
#define VECTOR_TWICE(x, order) (vec_u64) _mm512_shuffle_epi32((__m512i)(x), order)
#elif defined(__AVX2__)
#define VECTOR_TWICE(x, order) (vec_u64) _mm256_shuffle_epi32((__m256i)(x), order)
#else
#define VECTOR_TWICE(x, order) (vec_u64) _mm_shuffle_epi32((__m128i)(x), order)
#endif
KERNEL_INLINE vec_u64 vector_twice64(vec_u64 x, const int n)
{
    return n ? VECTOR_TWICE(x, 0xee) : VECTOR_TWICE(x, 0x44);
}

/* The products of a dword's two signed halves, added up. */
KERNEL_INLINE vec_u32 vector_dot2_i16(vec_u32 a, vec_u32 b)
{
#if defined(__AVX512F__)
    return (vec_u32)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__)
    return (vec_u32)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#else
    return (vec_u32)_mm_madd_epi16((__m128i)a, (__m128i)b);
#endif
}

#endif
