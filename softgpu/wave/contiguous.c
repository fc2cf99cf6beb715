#include "wave/contiguous.h"

#include <string.h>

#include "wave/host_levels.h"

/* Elements lie at any byte. */
typedef uint32_t memory_dword __attribute__((aligned(1), may_alias));

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

/* Constant `dwords` make these permutations of vector registers. */
ALWAYS_INLINE void split(uint32_t *restrict rows, const memory_dword *restrict memory,
                         unsigned dwords)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        for (unsigned n = 0; n < dwords; n++)
            rows[n * WAVE_LANES + lane] = memory[lane * dwords + n];
    }
}

ALWAYS_INLINE void join(memory_dword *restrict memory, const uint32_t *restrict rows,
                        unsigned dwords)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
        for (unsigned n = 0; n < dwords; n++)
            memory[lane * dwords + n] = rows[n * WAVE_LANES + lane];
    }
}

#define DEFINE_LEVEL(level, options)                                                               \
    options static uint32_t offsets_##level(const uint32_t *low, uint32_t step)                    \
    {                                                                                              \
        return offset_differences(low, step);                                                      \
    }                                                                                              \
    options static uint32_t pairs_##level(const uint32_t *low, const uint32_t *high,               \
                                          uint32_t step)                                           \
    {                                                                                              \
        return offset_differences(low, step) | differences(high);                                  \
    }                                                                                              \
    options static void split_##level(uint32_t *rows, const void *memory, unsigned dwords)         \
    {                                                                                              \
        if (dwords == 2)                                                                           \
            split(rows, memory, 2);                                                                \
        else if (dwords == 3)                                                                      \
            split(rows, memory, 3);                                                                \
        else                                                                                       \
            split(rows, memory, 4);                                                                \
    }                                                                                              \
    options static void join_##level(void *memory, const uint32_t *rows, unsigned dwords)          \
    {                                                                                              \
        if (dwords == 2)                                                                           \
            join(memory, rows, 2);                                                                 \
        else if (dwords == 3)                                                                      \
            join(memory, rows, 3);                                                                 \
        else                                                                                       \
            join(memory, rows, 4);                                                                 \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

bool lanes_contiguous(const uint32_t *low, const uint32_t *high, uint32_t step)
{
    /* Most waves that are not contiguous say so at once. */
    if (low[1] - low[0] != step || low[WAVE_LANES - 1] < low[0])
        return false;
    return (high ? CALL_LEVEL(pairs, low, high, step) : CALL_LEVEL(offsets, low, step)) == 0;
}

void rows_load(lane_row *rows, const void *memory, unsigned dwords)
{
    if (dwords == 1)
        memcpy(rows, memory, sizeof rows[0]);
    else
        CALL_LEVEL(split, rows[0], memory, dwords);
}

void rows_store(const lane_row *rows, void *memory, unsigned dwords)
{
    if (dwords == 1)
        memcpy(memory, rows, sizeof rows[0]);
    else
        CALL_LEVEL(join, memory, rows[0], dwords);
}
