/*
 * Loads of one, two or four dwords for each lane where lanes follow each other by fours: rows of a
 * tile, wherever they begin. A full wave of them needs sixteen places instead of 64.
 */
#ifndef WAVE_PIECES_H
#define WAVE_PIECES_H

#include <stdbool.h>
#include <stdint.h>

#include "wave/group.h"

enum { PIECE_LANES = 4 };

/* The least and the greatest of the pieces' offsets, and the bits of how far they are from the
 * first one. */
struct piece_extent {
    uint32_t low, high, apart;
};

/* False: some lanes do not follow, or the last piece lies below the first one, where loads would
 * have to go the other way (lanes.h). */
bool pieces_find(const uint32_t *offsets, uint32_t element_bytes, struct piece_extent *out);
/* Chunks of 16 bytes are read at once, and of less than that have to be aligned. */
static inline bool pieces_fit(const struct piece_extent *extent, const uint8_t *memory,
                              uint32_t element_bytes)
{
    return element_bytes == 16 || ((extent->apart | ((uintptr_t)memory + extent->low)) & 15) == 0;
}

/* Rows from the lanes' elements at memory + offset, the last lane's first. `va` is memory's. */
void pieces_load(struct wave *wave, const struct inst *inst, const uint8_t *memory, uint64_t va,
                 const uint32_t *offsets, unsigned dwords);

/* pieces_levels.c, compiled with AVX2 and without. */
#define DECLARE_PIECES(level)                                                                      \
    bool pieces_find_##level(const uint32_t *offsets, uint32_t element_bytes,                      \
                             struct piece_extent *out);                                            \
    void pieces_load_##level(lane_row *rows, const uint8_t *memory, const uint32_t *offsets,       \
                             unsigned dwords);
DECLARE_PIECES(avx2)
DECLARE_PIECES(portable)

#endif
