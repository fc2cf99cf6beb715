/*
 * Data-parallel primitives: which lane each lane reads under a DPP control, for all 512 controls.
 * The maps are made once by dpp_init().
 */
#ifndef VALU_DPP_H
#define VALU_DPP_H

#include "valu/simd.h"

enum { DPP_CONTROLS = 512 };

struct dpp_map {
    u64 valid;    /* lanes whose source lies inside the row or wave */
    bool defined; /* the control exists on gfx9 */
    uint8_t from[WAVE_LANES];
};
extern struct dpp_map dpp_maps[DPP_CONTROLS];

void dpp_init(void);

/* Lanes that read a lane inside bounds and enabled in EXEC. */
KERNEL_INLINE u64 dpp_readable(uint16_t ctrl, u64 exec)
{
    const struct dpp_map *map = &dpp_maps[ctrl % DPP_CONTROLS];
    if (exec == ~UINT64_C(0))
        return map->valid;
    lane_row enabled, moved;
    row_of_mask(enabled, exec);
    row_gather(moved, enabled, map->from);
    return map->valid & mask_of_row(moved);
}

/* Unreadable lanes give zero, which bound_ctrl asks for; without it they are not written. */
KERNEL_INLINE void dpp_permute(u32 *d, const u32 *s, uint16_t ctrl, u64 exec)
{
    const u64 readable = dpp_readable(ctrl, exec);
    lane_row moved;
    row_gather(moved, s, dpp_maps[ctrl % DPP_CONTROLS].from);
    row_fill(d, 0);
    row_store_masked(d, moved, readable);
}

/* Lanes the instruction writes. */
KERNEL_INLINE u64 dpp_written(const struct inst *i, u64 exec)
{
    u64 lanes = 0;
    for (int row = 0; row < 4; row++)
        for (int bank = 0; bank < 4; bank++)
            if (i->dpp.row_mask >> row & 1 && i->dpp.bank_mask >> bank & 1)
                lanes |= UINT64_C(0xf) << (16 * row + 4 * bank);
    if (!(i->flags & IF_DPP_BOUND_CTRL))
        lanes &= dpp_readable(i->dpp.ctrl, exec);
    return lanes & exec;
}

#endif
