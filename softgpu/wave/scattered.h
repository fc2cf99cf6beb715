/*
 * Loads and stores of lanes that lie at any places of one mapping, by their offsets from one
 * address: one look-up for the wave, and no pointer for each lane. Lanes that are off are not
 * accessed, and their offsets mean nothing.
 */
#ifndef WAVE_SCATTERED_H
#define WAVE_SCATTERED_H

#include <stdbool.h>
#include <stdint.h>

#include "wave/access.h"

/* The least and the greatest offset of the lanes that are on. */
struct scattered_extent {
    uint32_t low, high;
};

struct scattered_place {
    uint8_t *host; /* of offset 0, which need not be mapped */
    uint64_t va;   /* likewise */
    const uint32_t *offsets;
    uint64_t lanes;   /* that are on, of which there is one unless some are outside */
    uint64_t outside; /* others that are on: they read 0, and what they store goes nowhere */
    struct scattered_extent extent;
    lane_row kept; /* room for offsets that no register has */
};
/* Finds the extent of offsets that the caller has set, of the lanes that he has. */
void scattered_find(struct scattered_place *place);
/* Finds the host's address for place->va, and tells whoever looks at accesses. False: not in one
 * mapping, and nothing has happened. */
bool scattered_translate(struct wave *wave, const struct inst *inst, uint32_t element_bytes,
                         struct scattered_place *place);

/* In the order that lanes.h says. The row of offsets may be one that is loaded. */
void scattered_load(struct wave *wave, const struct inst *inst, const struct scattered_place *place,
                    const struct element *element);
void scattered_store(struct wave *wave, const struct inst *inst,
                     const struct scattered_place *place, const struct element *element);

/* The same between memory and any rows. */
void scattered_load_rows(lane_row *rows, const struct scattered_place *place,
                         const struct element *element);
void scattered_store_rows(const lane_row *rows, const struct scattered_place *place,
                          const struct element *element);

/* scattered_levels.c, compiled with AVX2 and without. */
#define DECLARE_SCATTERED(level)                                                                   \
    struct scattered_extent scattered_extent_##level(const uint32_t *offsets, uint64_t lanes);     \
    /* Of all lanes, from the last one down. */                                                    \
    void scattered_load_##level(lane_row *rows, const uint8_t *memory, const uint32_t *offsets,    \
                                unsigned dwords);                                                  \
    void scattered_load_small_##level(uint32_t *row, const uint8_t *memory,                        \
                                      const uint32_t *offsets, const struct element *element);     \
    /* The same of elements behind each other. */                                                  \
    void scattered_load_string_##level(uint32_t *row, const uint8_t *memory,                       \
                                       const struct element *element);
DECLARE_SCATTERED(avx2)
DECLARE_SCATTERED(portable)

#endif
