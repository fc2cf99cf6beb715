/*
 * Elements behind each other in memory, to and from rows of registers. Memory is accessed in chunks
 * of 16 bytes, loads from the last one down, stores from the first one up, so that who sees a later
 * element's store sees the earlier ones'. What becomes of a chunk happens in registers.
 *
 * Compiled with AVX2 and without. A vector is one chunk, with AVX2 two: then its halves' lanes lie
 * four apart, and no permutation crosses from one half to the other.
 */
#ifndef WAVE_CHUNK_VECTORS_H
#define WAVE_CHUNK_VECTORS_H

#include <immintrin.h>

#include "wave/lanes.h"

enum { CHUNK_BYTES = sizeof(quad), CHUNK_LANES = CHUNK_BYTES / 4 };

#ifdef __AVX2__

typedef uint32_t vector __attribute__((vector_size(32)));
enum { VECTOR_LANES = 2 * CHUNK_LANES };

/* Indices of one half, 0..3 of `v` and 4..7 of `w`, made those of both. */
#define INDEX(i) ((i) < 4 ? (i) : (i) + 4)
#define SHUFFLE(v, w, i, j, k, l)                                                                  \
    __builtin_shuffle(v, w,                                                                        \
                      (vector){INDEX(i), INDEX(j), INDEX(k), INDEX(l), INDEX(i) + 4, INDEX(j) + 4, \
                               INDEX(k) + 4, INDEX(l) + 4})

/* The instructions by name: the halves' loads must be two, the upper one's first, and a compiler
 * that may not join them would move them through registers. */
static inline void vectors_load_apart(vector *v, const uint8_t *lower, const uint8_t *upper,
                                      unsigned dwords)
{
    const single_quad *low = (const single_quad *)lower, *high = (const single_quad *)upper;
#pragma GCC unroll 4
    for (unsigned n = dwords; n-- > 0;)
        __asm__ volatile("vbroadcasti128 %1, %0" : "=x"(v[n]) : "m"(high[n]));
#pragma GCC unroll 4
    for (unsigned n = dwords; n-- > 0;)
        __asm__ volatile("vinserti128 $0, %1, %0, %0" : "+x"(v[n]) : "m"(low[n]));
}
static inline void vectors_load(vector *v, const uint8_t *memory, unsigned dwords)
{
    vectors_load_apart(v, memory, memory + dwords * CHUNK_BYTES, dwords);
}

static inline void vectors_store(uint8_t *memory, const vector *v, unsigned dwords)
{
    single_quad *chunk = (single_quad *)memory;
#pragma GCC unroll 4
    for (unsigned n = 0; n < dwords; n++)
        single_store_quad(&chunk[n], (quad)_mm256_castsi256_si128((__m256i)v[n]));
#pragma GCC unroll 4
    for (unsigned n = 0; n < dwords; n++)
        __asm__ volatile("vextracti128 $1, %1, %0" : "=m"(chunk[dwords + n]) : "x"(v[n]));
}

#else

typedef quad vector;
enum { VECTOR_LANES = CHUNK_LANES };
#define SHUFFLE(v, w, i, j, k, l) __builtin_shuffle(v, w, (quad){i, j, k, l})

static inline void vectors_load(vector *v, const uint8_t *memory, unsigned dwords)
{
#pragma GCC unroll 4
    for (unsigned n = dwords; n-- > 0;)
        v[n] = single_load_quad(memory + n * CHUNK_BYTES);
}
/* One chunk's worth is one piece: where the other half begins does not matter. */
static inline void vectors_load_apart(vector *v, const uint8_t *memory, const uint8_t *same,
                                      unsigned dwords)
{
    (void)same;
    vectors_load(v, memory, dwords);
}

static inline void vectors_store(uint8_t *memory, const vector *v, unsigned dwords)
{
#pragma GCC unroll 4
    for (unsigned n = 0; n < dwords; n++)
        single_store_quad(memory + n * CHUNK_BYTES, v[n]);
}

#endif

#define CONSTANT_DWORDS __attribute__((always_inline)) static inline

CONSTANT_DWORDS bool vector_is_zero(vector v)
{
#ifdef __AVX2__
    return _mm256_testz_si256((__m256i)v, (__m256i)v);
#else
    return (quad_low(v) | quad_high(v)) == 0;
#endif
}

/* Elements of `dwords` to one vector for each of their dwords. */
CONSTANT_DWORDS void split(vector *row, const vector *element, unsigned dwords)
{
    vector a = element[0], b = element[1], c = element[2], d = element[3];
    if (dwords == 1) {
        row[0] = a;
    } else if (dwords == 2) {
        row[0] = SHUFFLE(a, b, 0, 2, 4, 6);
        row[1] = SHUFFLE(a, b, 1, 3, 5, 7);
    } else if (dwords == 3) {
        row[0] = SHUFFLE(SHUFFLE(a, b, 0, 3, 6, 6), c, 0, 1, 2, 5);
        row[1] = SHUFFLE(SHUFFLE(a, b, 1, 4, 7, 7), c, 0, 1, 2, 6);
        row[2] = SHUFFLE(SHUFFLE(a, b, 2, 5, 5, 5), c, 0, 1, 4, 7);
    } else {
        vector ab_low = SHUFFLE(a, b, 0, 4, 1, 5), ab_high = SHUFFLE(a, b, 2, 6, 3, 7);
        vector cd_low = SHUFFLE(c, d, 0, 4, 1, 5), cd_high = SHUFFLE(c, d, 2, 6, 3, 7);
        row[0] = SHUFFLE(ab_low, cd_low, 0, 1, 4, 5);
        row[1] = SHUFFLE(ab_low, cd_low, 2, 3, 6, 7);
        row[2] = SHUFFLE(ab_high, cd_high, 0, 1, 4, 5);
        row[3] = SHUFFLE(ab_high, cd_high, 2, 3, 6, 7);
    }
}

/* And back. */
CONSTANT_DWORDS void join(vector *element, const vector *row, unsigned dwords)
{
    vector x = row[0], y = row[1], z = row[2];
    if (dwords == 2) {
        element[0] = SHUFFLE(x, y, 0, 4, 1, 5);
        element[1] = SHUFFLE(x, y, 2, 6, 3, 7);
    } else if (dwords == 3) {
        element[0] = SHUFFLE(SHUFFLE(x, y, 0, 4, 4, 1), z, 0, 1, 4, 3);
        element[1] = SHUFFLE(SHUFFLE(x, y, 5, 5, 2, 6), z, 0, 5, 2, 3);
        element[2] = SHUFFLE(SHUFFLE(x, y, 3, 3, 7, 7), z, 6, 0, 2, 7);
    } else { /* 1: as it is; 4: the transposition undoes itself */
        split(element, row, dwords);
    }
}

typedef vector row_vector __attribute__((aligned(4), may_alias));

/* Unrolled before anything else, or the arrays stay in memory. */
CONSTANT_DWORDS void vector_load(lane_row *rows, size_t lane, const uint8_t *memory,
                                 unsigned dwords)
{
    vector element[4] = {{0}}, row[4];
    vectors_load(element, memory + lane * dwords * 4, dwords);
    split(row, element, dwords);
#pragma GCC unroll 4
    for (unsigned n = 0; n < dwords; n++)
        *(row_vector *)&rows[n][lane] = row[n];
}

CONSTANT_DWORDS void vector_store(const lane_row *rows, size_t lane, uint8_t *memory,
                                  unsigned dwords)
{
    vector element[4], row[4] = {{0}};
#pragma GCC unroll 4
    for (unsigned n = 0; n < dwords; n++)
        row[n] = *(const row_vector *)&rows[n][lane];
    join(element, row, dwords);
    vectors_store(memory + lane * dwords * 4, element, dwords);
}

#endif
