/* Lanes' numbers in the vectors of chunk_vectors.h, as large as the level has them. */
#ifndef WAVE_LANE_VECTORS_H
#define WAVE_LANE_VECTORS_H

#include "wave/chunk_vectors.h"

#ifdef __AVX2__
static inline vector least(vector a, vector b)
{
    return (vector)_mm256_min_epu32((__m256i)a, (__m256i)b);
}
static inline vector greatest(vector a, vector b)
{
    return (vector)_mm256_max_epu32((__m256i)a, (__m256i)b);
}
#else
static inline vector least(vector a, vector b)
{
    const vector below = (vector)(a < b);
    return (a & below) | (b & ~below);
}
static inline vector greatest(vector a, vector b)
{
    const vector above = (vector)(a > b);
    return (a & above) | (b & ~above);
}
#endif

/* Of all that a vector has. */
static inline uint32_t vector_least(vector v)
{
    v = least(v, SHUFFLE(v, v, 2, 3, 0, 1));
    v = least(v, SHUFFLE(v, v, 1, 0, 3, 2));
    return v[0] < v[VECTOR_LANES - 1] ? v[0] : v[VECTOR_LANES - 1];
}
static inline uint32_t vector_greatest(vector v)
{
    v = greatest(v, SHUFFLE(v, v, 2, 3, 0, 1));
    v = greatest(v, SHUFFLE(v, v, 1, 0, 3, 2));
    return v[0] > v[VECTOR_LANES - 1] ? v[0] : v[VECTOR_LANES - 1];
}

/* ~0 where a lane is on; of as many as a vector has, `lanes` are the lowest bits. */
static inline vector masks_of(uint64_t lanes)
{
    vector bit;
    for (unsigned n = 0; n < VECTOR_LANES; n++)
        bit[n] = 1u << n;
    return (vector)(((uint32_t)lanes & bit) != 0);
}
static inline vector chosen(vector masks, vector yes, vector no)
{
    return (yes & masks) | (no & ~masks);
}

/* A row's lanes that are on get the values. */
static inline void row_put(uint32_t *row, uint64_t lanes, const uint32_t *values)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        row_vector *to = (row_vector *)(row + lane);
        const vector from = *(const row_vector *)(values + lane);
        *to = ~lanes ? chosen(masks_of(lanes >> lane), from, *to) : from;
    }
}

#endif
