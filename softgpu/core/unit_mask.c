#include "core/unit_mask.h"

uint32_t unit_mask_count(const struct unit_mask *mask, uint32_t limit)
{
    uint32_t count = 0;
    for (uint32_t at = 0; at < limit && at < GPU_UNITS_MAX; at += 64) {
        uint64_t word = mask->words[at / 64];
        if (limit - at < 64)
            word &= (UINT64_C(1) << (limit - at)) - 1;
        if (word) /* mostly there is no mask, and not every host counts bits by an instruction */
            count += (uint32_t)__builtin_popcountll(word);
    }
    return count;
}

uint32_t unit_mask_find(const struct unit_mask *mask, uint32_t n)
{
    uint32_t at = 0, count = (uint32_t)__builtin_popcountll(mask->words[0]);
    while (n >= count && at + 1 < UNIT_MASK_WORDS) {
        n -= count;
        count = (uint32_t)__builtin_popcountll(mask->words[++at]);
    }
    uint64_t word = mask->words[at];
    while (n-- > 0)
        word &= word - 1;
    return at * 64 + (uint32_t)__builtin_ctzll(word);
}

bool unit_mask_has(const struct unit_mask *mask, uint32_t unit)
{
    return unit < GPU_UNITS_MAX && mask->words[unit / 64] >> unit % 64 & 1;
}
