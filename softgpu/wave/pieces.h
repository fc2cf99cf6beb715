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

/* False: elements of 12 bytes, some lanes do not follow, or the last piece lies below the first
 * one, where loads would have to go the other way (lanes.h). */
bool pieces_find(const uint32_t *offsets, uint32_t element_bytes, struct piece_extent *out);
/* Where they lie: at the host's and the GPU's address, and the lanes' offsets from there. */
struct piece_place {
    const uint8_t *host;
    uint64_t va;
    const uint32_t *offsets;
};
/* Finds the host's address for place->va and the offsets, and tells whoever looks at accesses.
 * False: not in one mapping, or not aligned. */
bool pieces_translate(struct wave *wave, const struct inst *inst, const struct piece_extent *extent,
                      uint32_t element_bytes, struct piece_place *place);

/* Loads them, the last lane's element first. */
void pieces_load(struct wave *wave, const struct inst *inst, const struct piece_place *place,
                 unsigned dwords);

/* pieces_levels.c, compiled with AVX2 and without. */
#define DECLARE_PIECES(level)                                                                      \
    bool pieces_find_##level(const uint32_t *offsets, uint32_t element_bytes,                      \
                             struct piece_extent *out);                                            \
    void pieces_load_##level(lane_row *rows, const uint8_t *memory, const uint32_t *offsets,       \
                             unsigned dwords);
DECLARE_PIECES(avx2)
DECLARE_PIECES(portable)

#endif
