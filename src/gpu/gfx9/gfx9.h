/* Tables of the gfx9 family; private to src/gpu. */
#ifndef GPU_GFX9_GFX9_H
#define GPU_GFX9_GFX9_H

#include "gpu/pmc.h"

struct gpu_family {
    const char *architecture;
    const struct gpu_block *blocks;
    uint32_t block_count;
    uint32_t accumulate_low, accumulate_high; /* SQ events */
};

extern const struct gpu_family gfx9_families[];
extern const uint32_t gfx9_family_count;

#endif
