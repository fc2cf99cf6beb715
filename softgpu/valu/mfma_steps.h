/*
 * Matrix instructions whose sums are of steps or pairs (mfma_sums.h): a lane's elements, a row for
 * each step, and where results are. Of mfma.c, and of mfma_plain.c, which has the usual operands.
 */
#ifndef VALU_MFMA_STEPS_H
#define VALU_MFMA_STEPS_H

#include "valu/half.h"
#include "valu/mfma_operands.h"
#include "valu/mfma_sums.h"

/* Handlers for operands whose places are known when they are compiled; NULL: it has others. */
inst_exec_fn *VALU(valu_mfma_plain)(const struct inst *i, const struct mfma *x,
                                    enum mfma_type type);

/* Registers whose results are summed up at once: as many as the host's registers hold. */
#if VECTOR_BYTES == 64
enum { TILE_REGS = 4 };
#else
enum { TILE_REGS = 1 };
#endif

/* A or B: one row of 64 lanes for each step that a lane holds elements for. Integers go two k at a
 * time, as halves of a dword. */
typedef u32 element_rows[STEPS_PER_LANE_MAX][WAVE_LANES] __attribute__((aligned(64)));

KERNEL_INLINE void elements_load(u32 (*e)[WAVE_LANES], const int steps, const enum mfma_type type,
                                 const u32 *rows)
{
    const int bits = type == MFMA_F32 ? 32 : 16; /* of what one step takes from a register */
    if (type == MFMA_F16 || type == MFMA_F16_FLUSH) {
        for (int n = 0; n < steps; n += 2)
            rows_of_halves((f32 *)e[n], (f32 *)e[n + 1], rows + n / 2 * WAVE_LANES,
                           type == MFMA_F16_FLUSH); /* below 2^-14 */
        return;
    }
    for (int n = 0; n < steps; n++) {
        const u32 *row = rows + n * bits / 32 * WAVE_LANES;
        const int shift = n * bits % 32;
        u32 *to = e[n];
        if (type == MFMA_F32) {
            LANES to[l] = row[l];
        } else if (type == MFMA_I8) {
            LANES to[l] = ((u32)((i32)(row[l] >> shift << 24) >> 24) & 0xffff) |
                          (u32)((i32)(row[l] >> shift << 16) >> 24) << 16;
        } else {
            LANES to[l] = row[l] >> shift << 16;
        }
    }
}

/* The row of the result that a block's register has in its first lanes. */
KERNEL_INLINE int row_first(int reg, const int m)
{
    return reg % 4 + (reg & ~3) * (WAVE_LANES / m);
}

#endif
