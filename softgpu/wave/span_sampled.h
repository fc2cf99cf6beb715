/* Which spans of memory touch blocks that modelled time looks at (perf/sampling.h). */
#ifndef WAVE_SPAN_SAMPLED_H
#define WAVE_SPAN_SAMPLED_H

#include <immintrin.h>

#include "perf/sampling.h"
#include "wave/host_levels.h"

/* Whether one of up to eight blocks that follow each other is sampled, as sample_position() has it,
 * all at once: positions are the low 16 bits of a product. */
ALWAYS_INLINE bool blocks_sampled(uint32_t first, uint32_t count, uint32_t limit)
{
    _Static_assert(SAMPLE_POSITIONS == 1 << 16 && SAMPLE_REGION_BLOCKS <= 1 << 16, "of 16 bits");
    const __m128i number = _mm_set_epi16(7, 6, 5, 4, 3, 2, 1, 0);
    __m128i block = _mm_add_epi16(_mm_set1_epi16((short)first), number);
    block = _mm_and_si128(block, _mm_set1_epi16(SAMPLE_REGION_BLOCKS - 1));
    __m128i position = _mm_mullo_epi16(block, _mm_set1_epi16((short)SAMPLE_FACTOR));
    __m128i above = _mm_subs_epu16(position, _mm_set1_epi16((short)(limit - 1)));
    uint32_t below = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi16(above, _mm_setzero_si128()));
    return below & ((1u << 2 * count) - 1);
}

/* Whether a block of memory that the bytes touch is sampled. */
ALWAYS_INLINE bool span_sampled(uint64_t va, uint32_t bytes, uint64_t origin, uint32_t limit)
{
    const uint32_t within = (uint32_t)va % SAMPLE_BLOCK_BYTES;
    if (!limit)
        return false;
    if (bytes > SAMPLE_BLOCK_BYTES && origin % SAMPLE_BLOCK_BYTES == 0)
        return blocks_sampled((uint32_t)((va - origin) / SAMPLE_BLOCK_BYTES),
                              (within + bytes + SAMPLE_BLOCK_BYTES - 1) / SAMPLE_BLOCK_BYTES,
                              limit);
    uint64_t end = va + bytes;
    bool sampled = sample_position(va - origin) < limit;
    for (uint64_t at = (va | (SAMPLE_BLOCK_BYTES - 1)) + 1; at < end; at += SAMPLE_BLOCK_BYTES)
        sampled |= sample_position(at - origin) < limit;
    return sampled;
}

#endif
