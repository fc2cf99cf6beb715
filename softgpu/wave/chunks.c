/* Full waves' elements in chunks (chunk_vectors.h) wherever they begin. Compiled with AVX2 and
 * without. */
#include "wave/chunks.h"

#include "wave/chunk_vectors.h"

#define NAME_OF(stem, level)    stem##_##level
#define LEVEL_NAME(stem, level) NAME_OF(stem, level)

/*
 * Lanes [first, end) lie in whole vectors of chunks whose addresses are aligned, as only those are
 * one access; the few around them are accessed one by one. Elements that never begin a chunk are
 * misaligned themselves: nothing is promised of them.
 */
struct vector_lanes {
    size_t first, end;
};

CONSTANT_DWORDS struct vector_lanes vector_lanes(const uint8_t *memory, unsigned dwords)
{
    size_t first = 0;
    while (first < CHUNK_LANES && (uintptr_t)(memory + first * dwords * 4) % CHUNK_BYTES != 0)
        first++;
    first %= CHUNK_LANES;
    return (struct vector_lanes){first, WAVE_LANES - (WAVE_LANES - first) % VECTOR_LANES};
}

CONSTANT_DWORDS void load(lane_row *rows, const uint8_t *memory, unsigned dwords)
{
    struct vector_lanes vectors = vector_lanes(memory, dwords);
    size_t lane = WAVE_LANES;
    while (lane-- > vectors.end)
        lane_load_dwords(rows, (unsigned)lane, memory + lane * dwords * 4, dwords);
    for (lane = vectors.end; lane > vectors.first;) {
        lane -= VECTOR_LANES;
        vector_load(rows, lane, memory, dwords);
    }
    while (lane-- > 0)
        lane_load_dwords(rows, (unsigned)lane, memory + lane * dwords * 4, dwords);
}

CONSTANT_DWORDS void store(const lane_row *rows, uint8_t *memory, unsigned dwords)
{
    struct vector_lanes vectors = vector_lanes(memory, dwords);
    size_t lane = 0;
    for (; lane < vectors.first; lane++)
        lane_store_dwords(rows, (unsigned)lane, memory + lane * dwords * 4, dwords);
    for (; lane < vectors.end; lane += VECTOR_LANES)
        vector_store(rows, lane, memory, dwords);
    for (; lane < WAVE_LANES; lane++)
        lane_store_dwords(rows, (unsigned)lane, memory + lane * dwords * 4, dwords);
}

void LEVEL_NAME(chunks_load, CHUNKS_LEVEL)(lane_row *rows, const void *memory, unsigned dwords)
{
    if (dwords == 1)
        load(rows, memory, 1);
    else if (dwords == 2)
        load(rows, memory, 2);
    else if (dwords == 3)
        load(rows, memory, 3);
    else
        load(rows, memory, 4);
}

void LEVEL_NAME(chunks_store, CHUNKS_LEVEL)(const lane_row *rows, void *memory, unsigned dwords)
{
    if (dwords == 1)
        store(rows, memory, 1);
    else if (dwords == 2)
        store(rows, memory, 2);
    else if (dwords == 3)
        store(rows, memory, 3);
    else
        store(rows, memory, 4);
}
