/*
 * Row operations written with intrinsics, because compilers do not find them: lane masks, masked
 * stores, half floats. One implementation for each host instruction set.
 */
#ifndef VALU_SIMD_H
#define VALU_SIMD_H

#include <immintrin.h>

#include "valu/kernel.h"

#if defined(__AVX512F__)

/* Whole vectors are stored: hosts forward those to the loads that follow, masked ones they do not,
 * and AMD's take some ten cycles over each. */
KERNEL_INLINE void row_store_masked(u32 *d, const u32 *s, u64 exec)
{
    for (int k = 0; k < 4; k++)
        _mm512_store_si512(d + 16 * k, _mm512_mask_blend_epi32((__mmask16)(exec >> (16 * k)),
                                                               _mm512_load_si512(d + 16 * k),
                                                               _mm512_load_si512(s + 16 * k)));
}
/* Bit l: lane l is not zero. */
KERNEL_INLINE u64 mask_of_row(const u32 *s)
{
    u64 mask = 0;
    for (int k = 0; k < 4; k++) {
        const __m512i x = _mm512_load_si512(s + 16 * k);
        mask |= (u64)_mm512_test_epi32_mask(x, x) << (16 * k);
    }
    return mask;
}
KERNEL_INLINE void row_of_mask(u32 *d, u64 mask)
{
    for (int k = 0; k < 4; k++)
        _mm512_store_si512(d + 16 * k, _mm512_maskz_set1_epi32((__mmask16)(mask >> (16 * k)), -1));
}

#else

KERNEL_INLINE void row_of_mask(u32 *d, u64 mask)
{
    const u32 low = (u32)mask, high = (u32)(mask >> 32);
    for (int l = 0; l < 32; l++)
        d[l] = 0u - (low >> l & 1);
    for (int l = 0; l < 32; l++)
        d[32 + l] = 0u - (high >> l & 1);
}
KERNEL_INLINE void row_store_masked(u32 *d, const u32 *s, u64 exec)
{
    u32 m[WAVE_LANES] __attribute__((aligned(64)));
    row_of_mask(m, exec);
    for (int l = 0; l < WAVE_LANES; l++)
        d[l] = (s[l] & m[l]) | (d[l] & ~m[l]);
}
/* Lanes hold 0 or ~0 here, so the sign bits are the mask. */
KERNEL_INLINE u64 mask_of_row(const u32 *s)
{
    u64 mask = 0;
#if defined(__AVX2__)
    for (int k = 0; k < 8; k++)
        mask |= (u64)(u32)_mm256_movemask_ps(_mm256_load_ps((const float *)s + 8 * k)) << (8 * k);
#else
    for (int k = 0; k < 16; k++)
        mask |= (u64)(u32)_mm_movemask_ps(_mm_load_ps((const float *)s + 4 * k)) << (4 * k);
#endif
    return mask;
}

#endif

/* The low halves alone. */
KERNEL_INLINE void row_store_low(u32 *d, u32 *s, u64 exec)
{
    LANES s[l] = (s[l] & 0xffff) | (d[l] & 0xffff0000);
    row_store_masked(d, s, exec);
}

/* Half floats: the low 16 bits of each lane <-> f32. Conversion to half rounds as MXCSR says.
 * rows_of_halves: both halves of each lane; `flush`: denormals are zeros, without a sign. */
#if defined(__AVX512F__)
KERNEL_INLINE void row_of_half(f32 *d, const u32 *s)
{
    for (int k = 0; k < 4; k++)
        _mm512_store_ps(d + 16 * k,
                        _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_load_si512(s + 16 * k))));
}
KERNEL_INLINE void rows_of_halves(f32 *low, f32 *high, const u32 *s, const bool flush)
{
    const __m512i even =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
    for (int k = 0; k < 4; k++) {
        __m512i x = _mm512_load_si512(s + 16 * k);
        if (flush)
            x = _mm512_maskz_mov_epi16(_mm512_test_epi16_mask(x, _mm512_set1_epi16(0x7c00)), x);
        const __m512 first = _mm512_cvtph_ps(_mm512_castsi512_si256(x));
        const __m512 second = _mm512_cvtph_ps(_mm512_extracti64x4_epi64(x, 1));
        _mm512_store_ps(low + 16 * k, _mm512_permutex2var_ps(first, even, second));
        _mm512_store_ps(high + 16 * k, _mm512_permutex2var_ps(first, odd, second));
    }
}
KERNEL_INLINE void half_of_row(u32 *d, const f32 *s)
{
    for (int k = 0; k < 4; k++)
        _mm512_store_si512(d + 16 * k, _mm512_cvtepu16_epi32(_mm512_cvtps_ph(
                                           _mm512_load_ps(s + 16 * k), _MM_FROUND_CUR_DIRECTION)));
}
#elif defined(__F16C__)
KERNEL_INLINE void row_of_half(f32 *d, const u32 *s)
{
    const __m256i low16 = _mm256_set1_epi32(0xffff);
    for (int k = 0; k < 8; k++) {
        const __m256i x = _mm256_and_si256(_mm256_load_si256((const __m256i *)(s + 8 * k)), low16);
        const __m128i h =
            _mm_packus_epi32(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
        _mm256_store_ps(d + 8 * k, _mm256_cvtph_ps(h));
    }
}
KERNEL_INLINE void rows_of_halves(f32 *low, f32 *high, const u32 *s, const bool flush)
{
    enum { EVEN = 0x88, ODD = 0xdd, MIDDLE_SWAPPED = 0xd8 };
    const __m256i exponent = _mm256_set1_epi16(0x7c00), zero = _mm256_setzero_si256();
    for (int k = 0; k < 8; k++) {
        __m256i x = _mm256_load_si256((const __m256i *)(s + 8 * k));
        if (flush)
            x = _mm256_andnot_si256(_mm256_cmpeq_epi16(_mm256_and_si256(x, exponent), zero), x);
        const __m256 first = _mm256_cvtph_ps(_mm256_castsi256_si128(x));
        const __m256 second = _mm256_cvtph_ps(_mm256_extracti128_si256(x, 1));
        const __m256d even = (__m256d)_mm256_shuffle_ps(first, second, EVEN);
        const __m256d odd = (__m256d)_mm256_shuffle_ps(first, second, ODD);
        _mm256_store_ps(low + 8 * k, (__m256)_mm256_permute4x64_pd(even, MIDDLE_SWAPPED));
        _mm256_store_ps(high + 8 * k, (__m256)_mm256_permute4x64_pd(odd, MIDDLE_SWAPPED));
    }
}
KERNEL_INLINE void half_of_row(u32 *d, const f32 *s)
{
    for (int k = 0; k < 8; k++)
        _mm256_store_si256((__m256i *)(d + 8 * k),
                           _mm256_cvtepu16_epi32(_mm256_cvtps_ph(_mm256_load_ps(s + 8 * k),
                                                                 _MM_FROUND_CUR_DIRECTION)));
}
#else
KERNEL_INLINE f32 half_to_f32(u32 h)
{
    const u32 sign = (h & 0x8000) << 16, magnitude = h & 0x7fff;
    /* Denormals by way of an integer: MXCSR may flush a denormal f32. */
    const f32 tiny = (f32)(i32)magnitude * 0x1p-24f;
    u32 bits = magnitude < 0x400 ? bits32(tiny) : (magnitude << 13) + ((127 - 15) << 23);
    bits = magnitude >= 0x7c00 ? (magnitude << 13 | 0x7f800000) : bits;
    bits |= magnitude > 0x7c00 ? 0x400000 : 0;
    return f32_of(bits | sign);
}
KERNEL_INLINE u32 half_from_f32(f32 x, u32 rounding)
{
    const u32 bits = bits32(x), sign = bits >> 16 & 0x8000, magnitude = bits & 0x7fffffff;
    const u32 exponent = magnitude >> 23;
    /* Normal halves drop 13 bits; below 2^-14 one more for each binade. */
    const u32 below = exponent < 113 ? 113 - exponent : 0;
    const u32 shift = below > 13 ? 27 : 13 + below;
    const u32 mantissa = exponent ? (magnitude & 0x7fffff) | 0x800000 : magnitude & 0x7fffff;
    const u32 base = exponent < 113 ? 0 : (exponent - 113) << 10;
    const u32 kept = mantissa >> shift, lost = mantissa & ((1u << shift) - 1);
    const u32 tie = 1u << (shift - 1);
    const u32 nearest = lost > tie || (lost == tie && (kept & 1));
    const u32 away = lost != 0;
    const bool negative = sign != 0;
    /* MXCSR order: nearest, down, up, zero. */
    const u32 up = rounding == 0   ? nearest
                   : rounding == 1 ? (negative ? away : 0)
                   : rounding == 2 ? (negative ? 0 : away)
                                   : 0;
    u32 half = base + kept + up;
    const bool to_max =
        rounding == 3 || (rounding == 1 && !negative) || (rounding == 2 && negative);
    half = half >= 0x7c00 ? (to_max ? 0x7bffu : 0x7c00u) : half;
    half = magnitude == 0x7f800000 ? 0x7c00 : half;
    half = magnitude > 0x7f800000 ? (0x7e00 | (magnitude >> 13 & 0x3ff)) : half;
    return half | sign;
}
KERNEL_INLINE void row_of_half(f32 *d, const u32 *s)
{
    LANES d[l] = half_to_f32(s[l]);
}
KERNEL_INLINE void rows_of_halves(f32 *low, f32 *high, const u32 *s, const bool flush)
{
    const u32 wanted = flush ? 0x7c00 : ~0u;
    LANES low[l] = s[l] & 0xffff & wanted ? half_to_f32(s[l] & 0xffff) : 0;
    LANES high[l] = s[l] >> 16 & wanted ? half_to_f32(s[l] >> 16) : 0;
}
KERNEL_INLINE void half_of_row(u32 *d, const f32 *s)
{
    const u32 rounding = __builtin_ia32_stmxcsr() >> MXCSR_ROUND_SHIFT & 3;
    LANES d[l] = half_from_f32(s[l], rounding);
}
#endif

/* Lanes of the mask; zero in the others. */
KERNEL_INLINE void row_keep(u32 *d, const u32 *s, u64 lanes)
{
#if defined(__AVX512F__)
    for (int k = 0; k < 4; k++)
        _mm512_store_si512(d + 16 * k, _mm512_maskz_mov_epi32((__mmask16)(lanes >> (16 * k)),
                                                              _mm512_load_si512(s + 16 * k)));
#else
    u32 m[WAVE_LANES] __attribute__((aligned(64)));
    row_of_mask(m, lanes);
    for (int l = 0; l < WAVE_LANES; l++)
        d[l] = s[l] & m[l];
#endif
}

KERNEL_INLINE void row_copy(u32 *d, const u32 *s)
{
    LANES d[l] = s[l];
}
/* d[l] = s[from[l]]; d is another row. */
#if defined(__AVX512F__)
KERNEL_INLINE void row_gather(u32 *d, const u32 *s, const uint8_t *from)
{
    const __m512i s0 = _mm512_load_si512(s), s1 = _mm512_load_si512(s + 16);
    const __m512i s2 = _mm512_load_si512(s + 32), s3 = _mm512_load_si512(s + 48);
    for (int k = 0; k < 4; k++) {
        const __m512i index = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)from + k));
        const __mmask16 upper = _mm512_test_epi32_mask(index, _mm512_set1_epi32(32));
        const __m512i low = _mm512_permutex2var_epi32(s0, index, s1);
        const __m512i high = _mm512_permutex2var_epi32(s2, index, s3);
        _mm512_store_si512(d + 16 * k, _mm512_mask_mov_epi32(low, upper, high));
    }
}
#else
KERNEL_INLINE void row_gather(u32 *d, const u32 *s, const uint8_t *from)
{
    for (int l = 0; l < WAVE_LANES; l++)
        d[l] = s[from[l]];
}
#endif
KERNEL_INLINE void row_fill(u32 *d, u32 x)
{
    LANES d[l] = x;
}

#endif
