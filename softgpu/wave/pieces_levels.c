/* What pieces.h says, in vectors of one piece, with AVX2 of two. */
#include "wave/chunk_vectors.h"
#include "wave/pieces.h"

#define NAME_OF(stem, level)    stem##_##level
#define LEVEL_NAME(stem, level) NAME_OF(stem, level)

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

static inline struct piece_extent extent_of(vector low, vector high)
{
    struct piece_extent extent = {low[0], high[0], 0};
    for (unsigned n = 0; n < VECTOR_LANES; n += PIECE_LANES) {
        extent.low = low[n] < extent.low ? low[n] : extent.low;
        extent.high = high[n] > extent.high ? high[n] : extent.high;
    }
    return extent;
}

bool LEVEL_NAME(pieces_find, CHUNKS_LEVEL)(const uint32_t *offsets, uint32_t element_bytes,
                                           struct piece_extent *out)
{
    vector steps = {0}, differs = steps, low = ~steps, high = steps, apart = steps;
    for (unsigned n = 0; n < VECTOR_LANES; n++)
        steps[n] = n % PIECE_LANES;
    steps *= element_bytes;
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        const vector at = *(const row_vector *)(offsets + lane);
        const vector first = SHUFFLE(at, at, 0, 0, 0, 0);
        differs |= at ^ (first + steps);
        low = least(low, first);
        high = greatest(high, first);
        apart |= first - offsets[0];
    }
    *out = extent_of(low, high);
    for (unsigned n = 0; n < VECTOR_LANES; n += PIECE_LANES)
        out->apart |= apart[n];
    return vector_is_zero(differs) && offsets[WAVE_LANES - 1] > offsets[0];
}

/* Unrolled before anything else, or the arrays stay in memory. */
CONSTANT_DWORDS void load(lane_row *rows, const uint8_t *memory, const uint32_t *offsets,
                          unsigned dwords)
{
    for (unsigned lane = WAVE_LANES; lane > 0;) {
        vector element[4] = {{0}}, row[4];
        lane -= VECTOR_LANES;
        vectors_load_apart(element, memory + offsets[lane],
                           memory + offsets[lane + VECTOR_LANES - PIECE_LANES], dwords);
        split(row, element, dwords);
#pragma GCC unroll 4
        for (unsigned n = 0; n < dwords; n++)
            *(row_vector *)&rows[n][lane] = row[n];
    }
}

void LEVEL_NAME(pieces_load, CHUNKS_LEVEL)(lane_row *rows, const uint8_t *memory,
                                           const uint32_t *offsets, unsigned dwords)
{
    if (dwords == 1)
        load(rows, memory, offsets, 1);
    else if (dwords == 2)
        load(rows, memory, offsets, 2);
    else
        load(rows, memory, offsets, 4);
}
