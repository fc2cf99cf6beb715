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
    row_keep(d, moved, readable);
}

/* Lanes the instruction writes. */
KERNEL_INLINE u64 dpp_written(const struct inst *i, u64 exec)
{
    /* A row has 16 lanes, a bank four of each row: their bits, four times or sixteen times over. */
    static const u64 nibbles[16] = {0x0000, 0x000f, 0x00f0, 0x00ff, 0x0f00, 0x0f0f, 0x0ff0, 0x0fff,
                                    0xf000, 0xf00f, 0xf0f0, 0xf0ff, 0xff00, 0xff0f, 0xfff0, 0xffff};
    const u64 rows = nibbles[i->dpp.row_mask & 15], banks = nibbles[i->dpp.bank_mask & 15];
    u64 lanes = 0;
    for (int row = 0; row < 4; row++)
        lanes |= rows >> (4 * row) & 1 ? banks << (16 * row) : 0;
    if (!(i->flags & IF_DPP_BOUND_CTRL))
        lanes &= dpp_readable(i->dpp.ctrl, exec);
    return lanes & exec;
}

#endif
