#include "wave/contiguous.h"

#include "wave/chunks.h"
#include "wave/host_levels.h"

ALWAYS_INLINE uint32_t offset_differences(const uint32_t *low, uint32_t step)
{
    uint32_t differs = 0;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        differs |= low[lane] ^ (low[0] + lane * step);
    return differs;
}

ALWAYS_INLINE uint32_t differences(const uint32_t *row)
{
    uint32_t differs = 0;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        differs |= row[lane] ^ row[0];
    return differs;
}

ALWAYS_INLINE uint32_t differences_of(const uint32_t *row, uint64_t lanes, uint32_t value)
{
    uint32_t differs = 0;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        differs |= lanes >> lane & 1 ? row[lane] ^ value : 0;
    return differs;
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static uint32_t offsets_##level(const uint32_t *low, uint32_t step)                    \
    {                                                                                              \
        return offset_differences(low, step);                                                      \
    }                                                                                              \
    options static uint32_t uniform_##level(const uint32_t *row)                                   \
    {                                                                                              \
        return differences(row);                                                                   \
    }                                                                                              \
    options static uint32_t same_##level(const uint32_t *row, uint64_t lanes, uint32_t value)      \
    {                                                                                              \
        return differences_of(row, lanes, value);                                                  \
    }                                                                                              \
    options static uint32_t pairs_##level(const uint32_t *low, const uint32_t *high,               \
                                          uint32_t step)                                           \
    {                                                                                              \
        return offset_differences(low, step) | differences(high);                                  \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

bool lanes_contiguous(const uint32_t *low, const uint32_t *high, uint32_t step)
{
    /* Most waves that are not contiguous say so at once. */
    const uint32_t last = low[WAVE_LANES - 1];
    if (low[1] - low[0] != step || last < low[0] || last - low[0] != (WAVE_LANES - 1) * step)
        return false;
    return (high ? CALL_LEVEL(pairs, low, high, step) : CALL_LEVEL(offsets, low, step)) == 0;
}

bool lanes_same(const uint32_t *row, uint64_t lanes)
{
    if (lanes == ~UINT64_C(0))
        return CALL_LEVEL(uniform, row) == 0;
    return CALL_LEVEL(same, row, lanes, row[__builtin_ctzll(lanes)]) == 0;
}

void rows_load(lane_row *rows, const void *memory, unsigned dwords)
{
    if (host_level == LEVEL_PORTABLE)
        chunks_load_portable(rows, memory, dwords);
    else
        chunks_load_avx2(rows, memory, dwords);
}

void rows_store(const lane_row *rows, void *memory, unsigned dwords)
{
    if (host_level == LEVEL_PORTABLE)
        chunks_store_portable(rows, memory, dwords);
    else
        chunks_store_avx2(rows, memory, dwords);
}
