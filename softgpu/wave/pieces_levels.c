/* What pieces.h says, in vectors of one piece, with AVX2 of two. */
#include "wave/chunk_vectors.h"
#include "wave/lane_vectors.h"
#include "wave/pieces.h"

#define NAME_OF(stem, level)    stem##_##level
#define LEVEL_NAME(stem, level) NAME_OF(stem, level)

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

bool LEVEL_NAME(pieces_complete, CHUNKS_LEVEL)(const uint32_t *offsets, uint64_t lanes,
                                               uint32_t element_bytes, uint32_t *of_all)
{
    const unsigned first_on = (unsigned)__builtin_ctzll(lanes);
    const uint32_t begin = offsets[first_on] - first_on % PIECE_LANES * element_bytes;
    vector steps = {0}, differs = steps;
    for (unsigned n = 0; n < VECTOR_LANES; n++)
        steps[n] = n % PIECE_LANES;
    steps *= element_bytes;
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        const vector on = masks_of(lanes >> lane);
        const vector at = *(const row_vector *)(offsets + lane) - steps;
        vector first = steps - steps + begin; /* where no lane of four is on */
        first = chosen(SHUFFLE(on, on, 3, 3, 3, 3), SHUFFLE(at, at, 3, 3, 3, 3), first);
        first = chosen(SHUFFLE(on, on, 2, 2, 2, 2), SHUFFLE(at, at, 2, 2, 2, 2), first);
        first = chosen(SHUFFLE(on, on, 1, 1, 1, 1), SHUFFLE(at, at, 1, 1, 1, 1), first);
        first = chosen(SHUFFLE(on, on, 0, 0, 0, 0), SHUFFLE(at, at, 0, 0, 0, 0), first);
        differs |= (at ^ first) & on;
        *(row_vector *)(of_all + lane) = first + steps;
    }
    return vector_is_zero(differs);
}

void LEVEL_NAME(pieces_merge, CHUNKS_LEVEL)(uint32_t *row, const uint32_t *from, uint64_t lanes)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        row_vector *to = (row_vector *)(row + lane);
        *to = chosen(masks_of(lanes >> lane), *(const row_vector *)(from + lane), *to);
    }
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

/* Four dwords from anywhere, of the one or two aligned chunks that have them, the upper one first.
 */
#ifdef __AVX2__
static inline __m128i dwords_at(const uint8_t *memory)
{
    static const uint32_t from[CHUNK_LANES][VECTOR_LANES]
        __attribute__((aligned(32))) = {{0, 1, 2, 3}, {1, 2, 3, 4}, {2, 3, 4, 5}, {3, 4, 5, 6}};
    const uintptr_t at = (uintptr_t)memory, behind = at + CHUNK_BYTES - sizeof(uint32_t);
    vector chunks;
    vectors_load_apart(&chunks, (const uint8_t *)(at & -(uintptr_t)CHUNK_BYTES),
                       (const uint8_t *)(behind & -(uintptr_t)CHUNK_BYTES), 1);
    const __m256i lanes =
        _mm256_load_si256((const __m256i *)from[at / sizeof(uint32_t) % CHUNK_LANES]);
    return _mm256_castsi256_si128(_mm256_permutevar8x32_epi32((__m256i)chunks, lanes));
}
#else
static inline __m128i dwords_at(const uint8_t *memory)
{
    const int d = (int)single_load_32(memory + 12), c = (int)single_load_32(memory + 8);
    const int b = (int)single_load_32(memory + 4), a = (int)single_load_32(memory);
    return _mm_setr_epi32(a, b, c, d);
}
#endif

void LEVEL_NAME(pieces_load_dwords, CHUNKS_LEVEL)(uint32_t *row, const uint8_t *memory,
                                                  const uint32_t *offsets)
{
    for (unsigned lane = WAVE_LANES; lane > 0;) {
        lane -= PIECE_LANES;
        _mm_storeu_si128((__m128i *)(row + lane), dwords_at(memory + offsets[lane]));
    }
}
