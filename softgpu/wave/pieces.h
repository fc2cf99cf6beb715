/*
 * Loads of 16 bytes for each lane where lanes follow each other by fours: rows of a tile, each of
 * 64 bytes or more, wherever they begin. A full wave of them needs sixteen places instead of 64.
 */
#ifndef WAVE_PIECES_H
#define WAVE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "wave/group.h"

enum { PIECE_LANES = 4, PIECE_BYTES = 16 * PIECE_LANES };

/* The least and the greatest of the pieces' offsets. */
struct piece_extent {
    uint32_t low, high;
};

/* False: some lanes do not follow, or the last piece lies below the first one, where loads would
 * have to go the other way (lanes.h). */
bool pieces_find(const uint32_t *offsets, struct piece_extent *out);

/* Four rows from the lanes' elements at memory + offset, the last lane's first. `va` is memory's.
 */
void pieces_load(struct wave *wave, const struct inst *inst, const uint8_t *memory, uint64_t va,
                 const uint32_t *offsets);

/* pieces_levels.c, compiled with AVX2 and without. */
#define DECLARE_PIECES(level)                                                                      \
    bool pieces_find_##level(const uint32_t *offsets, struct piece_extent *out);                   \
    void pieces_load_##level(lane_row *rows, const uint8_t *memory, const uint32_t *offsets);
DECLARE_PIECES(avx2)
DECLARE_PIECES(portable)

#endif
