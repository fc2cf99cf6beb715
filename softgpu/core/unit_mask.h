/*
 * Which compute units of a GPU a queue may use, as the kernel's driver counts them: neighbouring
 * bits lie in different XCCs, then in different shader engines, then in different arrays. In this
 * order work-groups are dealt out, too.
 */
#ifndef CORE_UNIT_MASK_H
#define CORE_UNIT_MASK_H

#include <stdbool.h>
#include <stdint.h>

enum { GPU_UNITS_MAX = 320, UNIT_MASK_WORDS = GPU_UNITS_MAX / 64 };

struct unit_mask {
    uint64_t words[UNIT_MASK_WORDS]; /* all 0: the queue has no mask, and every unit */
};

/* Of the first `limit` units those in the mask; 0: none of them is. */
uint32_t unit_mask_count(const struct unit_mask *mask, uint32_t limit);

/* The number of the n-th unit in the mask, from 0; there are more than n. */
uint32_t unit_mask_find(const struct unit_mask *mask, uint32_t n);

bool unit_mask_has(const struct unit_mask *mask, uint32_t unit);

#endif
