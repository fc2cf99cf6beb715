/*
 * Elements, coordinates and texels of all lanes of a wave at once: rows, a value of each lane.
 * Lanes that are off take part, and what they give means nothing. Each function is built for each
 * level of the host's vectors; the caller chooses one that its CPU has. They assume that floats are
 * rounded to the nearest.
 */
#ifndef IMAGE_ROWS_H
#define IMAGE_ROWS_H

#include "image/filter.h"
#include "image/layout.h"

enum { IMAGE_LANES = 64 };
typedef uint32_t image_row[IMAGE_LANES] __attribute__((aligned(64)));

extern const image_row image_zeros;

/* Bits of the decoded components that results of `mask` are made of. */
unsigned format_components_of(const struct data_format *format, unsigned mask);
/* What the format's select[] makes of decoded components: each is one of these rows, or a constant.
 */
void format_select_rows(const struct data_format *format, const image_row *components,
                        const uint32_t *selected[FORMAT_COMPONENTS_MAX]);

/* Texels along an axis: one of each lane, or two, the second with a weight, the first with what
 * remains to 1. Below 0: the border. */
struct image_taps {
    unsigned count;
    int32_t at[2][IMAGE_LANES] __attribute__((aligned(64)));
    float weight[IMAGE_LANES] __attribute__((aligned(64)));
};

/* Texel n is number n & 1 of x, n >> 1 & 1 of y, n >> 2 of z. */
enum { IMAGE_TAPS_MAX = 8 };
static inline bool image_tap_exists(const struct image_taps taps[3], unsigned n)
{
    return (n & 1) < taps[0].count && (n >> 1 & 1) < taps[1].count && n >> 2 < taps[2].count;
}

/* Lanes that take a texel, and those of them that take the border. */
struct image_taken {
    uint64_t lanes, border;
};

/* Of one component; begins as zeros but for `blend`. */
struct image_sums {
    enum image_blend blend;
    double value[IMAGE_LANES] __attribute__((aligned(64)));
    image_row some;        /* ~0: something has been added */
    image_row whole, only; /* ~0: it was one texel with a weight of 1, and this is what it has */
};

struct image_rows {
    /* ---- formats (format_rows.c) ---- */

    /* Elements as memory has them, dword by dword, less than one with zeros above, to X, Y, Z and
     * W, before select[] is applied; those of the bits in `wanted`, the others mean nothing. */
    void (*decode)(const struct data_format *format, const image_row *elements, unsigned wanted,
                   image_row components[FORMAT_COMPONENTS_MAX]);
    /* And back, select[] applied: of `count` components; what they do not select becomes 0. */
    void (*encode)(const struct data_format *format, const uint32_t *const *components,
                   unsigned count, image_row *elements);
    /* 16-bit registers (D16): the half of `row` that begins at bit `shift` becomes a component; two
     * components become halves of one register, NULL above: 0. */
    void (*widen)(const struct data_format *format, const uint32_t *row, unsigned shift,
                  uint32_t *component);
    void (*narrow)(const struct data_format *format, const uint32_t *low, const uint32_t *high,
                   uint32_t *row);

    /* ---- places (texel_rows.c) ---- */

    /* The lanes whose coordinates x, y and z are below `limit`. */
    uint64_t (*inside)(const uint32_t *const at[3], const uint32_t limit[3]);
    /* Texels' offsets from the image's base, which has less than 4 GiB; z as image_texel() wants
     * it. */
    void (*offsets)(const struct image_layout *layout, const uint32_t *const at[3],
                    uint32_t *offsets);

    /* ---- filters (filter_rows.c) ---- */

    /* Which texels coordinates along an axis mean; `texels`, unless NULL, are added to them. */
    void (*axis)(const struct image_axis *axis, const uint32_t *coordinates, const int32_t *texels,
                 struct image_taps *taps);
    /* The nearest of the layers. */
    void (*layers)(uint32_t layers, const uint32_t *coordinates, struct image_taps *taps);
    /* Of the texels that three axes make together, number `n` (image_tap_exists()): weights, and
     * which lanes take it. */
    struct image_taken (*taken)(const struct image_taps taps[3], unsigned n, float *weight);
    /* A component of one texel of each lane is added, by its weight; 0 adds nothing. */
    void (*add)(struct image_sums *sums, const uint32_t *component, const float *weight);
    void (*sum)(const struct image_sums *sums, uint32_t *component);
};

extern const struct image_rows image_rows_avx512, image_rows_avx2, image_rows_portable;

#endif
