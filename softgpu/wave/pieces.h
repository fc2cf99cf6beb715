/*
 * Loads and stores of one, two or four dwords for each lane where lanes follow each other by fours:
 * rows of a tile, wherever they begin. A wave of them needs sixteen places instead of 64. Lanes
 * that are off, whose addresses mean nothing, are taken for what would follow.
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

/* Where they lie: at the host's and the GPU's address, and the lanes' offsets from there. */
struct piece_place {
    uint8_t *host;
    uint64_t va;
    const uint32_t *offsets; /* all lanes', or `of_all` */
    uint64_t lanes;          /* that are on */
    bool aligned;            /* every piece is at a multiple of 16 */
    uint32_t of_all[WAVE_LANES];
};
/* Finds `offsets` and `lanes`. False: elements of 12 bytes, some lanes do not follow, or the last
 * piece lies below the first one, where accesses would have to go the other way (lanes.h). */
bool pieces_find(const uint32_t *offsets, uint64_t lanes, uint32_t element_bytes,
                 struct piece_place *place, struct piece_extent *extent);
/* Finds the host's address for place->va and the offsets, and tells whoever looks at accesses.
 * False: not in one mapping, or an element is not aligned. */
bool pieces_translate(struct wave *wave, const struct inst *inst, const struct piece_extent *extent,
                      uint32_t element_bytes, struct piece_place *place);

/* Loads them, the last lane's element first; stores them, the first lane's first. */
void pieces_load(struct wave *wave, const struct inst *inst, const struct piece_place *place,
                 unsigned dwords);
void pieces_store(struct wave *wave, const struct inst *inst, const struct piece_place *place,
                  unsigned dwords);

/* pieces_levels.c, compiled with AVX2 and without. */
#define DECLARE_PIECES(level)                                                                      \
    bool pieces_find_##level(const uint32_t *offsets, uint32_t element_bytes,                      \
                             struct piece_extent *out);                                            \
    void pieces_load_##level(lane_row *rows, const uint8_t *memory, const uint32_t *offsets,       \
                             unsigned dwords);                                                     \
    /* The offsets of all lanes, as if those that are off were parts of their pieces. False: one   \
     * that is on is none. */                                                                      \
    bool pieces_complete_##level(const uint32_t *offsets, uint64_t lanes, uint32_t element_bytes,  \
                                 uint32_t *of_all);                                                \
    /* Of the lanes that are on. */                                                                \
    void pieces_merge_##level(uint32_t *row, const uint32_t *from, uint64_t lanes);                \
    /* Single dwords, aligned as such. */                                                          \
    void pieces_load_dwords_##level(uint32_t *row, const uint8_t *memory, const uint32_t *offsets);
DECLARE_PIECES(avx2)
DECLARE_PIECES(portable)

#endif
