/* What scattered.h says. Values come to vectors in registers: a row that was stored dword by dword
 * would have to reach the host's cache before its next reader could load it as a vector (18
 * instead of 13 ns for a wave on a Zen 5, whose gathers take 21 to 26). */
#include "wave/chunk_vectors.h"
#include "wave/lane_vectors.h"
#include "wave/scattered.h"

#define NAME_OF(stem, level)    stem##_##level
#define LEVEL_NAME(stem, level) NAME_OF(stem, level)

struct scattered_extent LEVEL_NAME(scattered_extent, CHUNKS_LEVEL)(const uint32_t *offsets,
                                                                   uint64_t lanes)
{
    const uint32_t any = offsets[__builtin_ctzll(lanes)];
    const vector none = {0};
    vector low = none + any, high = low;
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        vector at = *(const row_vector *)(offsets + lane);
        if (~lanes)
            at = chosen(masks_of(lanes >> lane), at, none + any);
        low = least(low, at);
        high = greatest(high, at);
    }
    return (struct scattered_extent){vector_least(low), vector_greatest(high)};
}

/* Values of four bytes at most, of as many lanes as a vector has. */
CONSTANT_DWORDS vector values_load(const uint8_t *memory, const uint32_t *offsets, unsigned bytes)
{
    uint32_t value[VECTOR_LANES];
#pragma GCC unroll 8
    for (unsigned n = VECTOR_LANES; n-- > 0;) {
        const uint8_t *at = memory + offsets[n];
        value[n] = bytes == 4   ? single_load_32(at)
                   : bytes == 2 ? single_load_16(at)
                                : single_load_8(at);
    }
#ifdef __AVX2__
    return (vector)_mm256_setr_epi32((int)value[0], (int)value[1], (int)value[2], (int)value[3],
                                     (int)value[4], (int)value[5], (int)value[6], (int)value[7]);
#else
    return (vector){value[0], value[1], value[2], value[3]};
#endif
}

/* Four lanes' elements of 8 or 16 bytes, as rows. */
CONSTANT_DWORDS void quads_load(quad *row, const uint8_t *memory, const uint32_t *offsets,
                                unsigned dwords)
{
    if (dwords == 2) {
        const uint64_t d = single_load_64(memory + offsets[3]);
        const uint64_t c = single_load_64(memory + offsets[2]);
        const uint64_t b = single_load_64(memory + offsets[1]);
        const uint64_t a = single_load_64(memory + offsets[0]);
        const quad low = quad_of(a, b), high = quad_of(c, d);
        row[0] = __builtin_shuffle(low, high, (quad){0, 2, 4, 6});
        row[1] = __builtin_shuffle(low, high, (quad){1, 3, 5, 7});
        return;
    }
    __m128 d = (__m128)single_load_quad(memory + offsets[3]);
    __m128 c = (__m128)single_load_quad(memory + offsets[2]);
    __m128 b = (__m128)single_load_quad(memory + offsets[1]);
    __m128 a = (__m128)single_load_quad(memory + offsets[0]);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    row[0] = (quad)a;
    row[1] = (quad)b;
    row[2] = (quad)c;
    row[3] = (quad)d;
}

CONSTANT_DWORDS void load_quads_of(lane_row *rows, const uint8_t *memory, const uint32_t *offsets,
                                   unsigned dwords)
{
    for (unsigned lane = WAVE_LANES; lane > 0;) {
        quad row[4];
        lane -= CHUNK_LANES;
        quads_load(row, memory, offsets + lane, dwords);
#pragma GCC unroll 4
        for (unsigned n = 0; n < dwords; n++)
            *(single_quad *)&rows[n][lane] = row[n];
    }
}

void LEVEL_NAME(scattered_load, CHUNKS_LEVEL)(lane_row *rows, const uint8_t *memory,
                                              const uint32_t *offsets, unsigned dwords)
{
    if (dwords == 2)
        load_quads_of(rows, memory, offsets, 2);
    else if (dwords == 4)
        load_quads_of(rows, memory, offsets, 4);
    else if (dwords == 3)
        for (unsigned lane = WAVE_LANES; lane-- > 0;)
            lane_load_dwords(rows, lane, memory + offsets[lane], 3);
    else
        for (unsigned lane = WAVE_LANES; lane > 0;) {
            lane -= VECTOR_LANES;
            *(row_vector *)&rows[0][lane] = values_load(memory, offsets + lane, 4);
        }
}

typedef int32_t signed_vector __attribute__((vector_size(sizeof(vector))));

/* Makes of values what lane_load_small() does. */
static void row_extend(uint32_t *row, const struct element *element)
{
    const int up = element->sign ? 32 - 8 * element->bytes : 0;
    if (!element->sign && !element->d16)
        return;
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        vector value = *(row_vector *)(row + lane);
        value = (vector)((signed_vector)(value << up) >> up);
        if (element->d16)
            value = element->high ? value << 16 : value & 0xffff;
        *(row_vector *)(row + lane) = value;
    }
}

CONSTANT_DWORDS void load_values(uint32_t *row, const uint8_t *memory, const uint32_t *offsets,
                                 unsigned bytes)
{
    for (unsigned lane = WAVE_LANES; lane > 0;) {
        lane -= VECTOR_LANES;
        *(row_vector *)(row + lane) = values_load(memory, offsets + lane, bytes);
    }
}

void LEVEL_NAME(scattered_load_small, CHUNKS_LEVEL)(uint32_t *row, const uint8_t *memory,
                                                    const uint32_t *offsets,
                                                    const struct element *element)
{
    if (element->bytes == 1)
        load_values(row, memory, offsets, 1);
    else
        load_values(row, memory, offsets, 2);
    row_extend(row, element);
}

/* Eight bytes, or four words. */
enum { WORD_BYTES = 8, WORD_BITS = 64 };
typedef uint8_t word_of_bytes __attribute__((vector_size(WORD_BYTES)));
typedef uint16_t word_of_halves __attribute__((vector_size(WORD_BYTES)));
typedef uint32_t dwords_of_bytes __attribute__((vector_size(4 * WORD_BYTES)));
typedef dwords_of_bytes row_of_bytes __attribute__((aligned(4), may_alias));
typedef quad row_of_halves __attribute__((aligned(4), may_alias));

CONSTANT_DWORDS void word_widen(uint32_t *row, uint64_t word, unsigned bytes)
{
    if (bytes == 1)
        *(row_of_bytes *)row = __builtin_convertvector((word_of_bytes)word, dwords_of_bytes);
    else
        *(row_of_halves *)row = __builtin_convertvector((word_of_halves)word, quad);
}

/* By aligned words of the host, which are parted in registers. */
CONSTANT_DWORDS void load_string_of(uint32_t *row, const uint8_t *memory, unsigned bytes)
{
    const unsigned before = (uintptr_t)memory % WORD_BYTES, down = 8 * before;
    const uint8_t *word = memory - before + (size_t)WAVE_LANES * bytes;
    uint64_t above = before ? single_load_64(word) : 0;
    for (unsigned lane = WAVE_LANES; lane > 0;) {
        lane -= WORD_BYTES / bytes;
        word -= WORD_BYTES;
        const uint64_t here = single_load_64(word);
        /* Twice, for a shift by all bits is none. */
        word_widen(row + lane, here >> down | above << 1 << (WORD_BITS - 1 - down), bytes);
        above = here;
    }
}

void LEVEL_NAME(scattered_load_string, CHUNKS_LEVEL)(uint32_t *row, const uint8_t *memory,
                                                     const struct element *element)
{
    if (element->bytes == 1)
        load_string_of(row, memory, 1);
    else
        load_string_of(row, memory, 2);
    row_extend(row, element);
}
