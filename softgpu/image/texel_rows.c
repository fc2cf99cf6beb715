/* What rows.h says of places. */
#include "image/rows_levels.h"

uint64_t LEVEL_NAME(texel_rows_inside, ROWS_LEVEL)(const uint32_t *const at[3],
                                                   const uint32_t limit[3])
{
    const uint32_t *x = at[0], *y = at[1], *z = at[2];
    const uint32_t x_limit = limit[0], y_limit = limit[1], z_limit = limit[2];
    uint8_t flags[IMAGE_LANES];
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        flags[lane] = (x[lane] < x_limit) & (y[lane] < y_limit) & (z[lane] < z_limit);
    return flags_to_bits(flags);
}

static void linear_offsets(const struct image_layout *layout, const uint32_t *const at[3],
                           uint32_t *restrict offsets)
{
    const uint32_t *x = at[0], *y = at[1], *z = at[2];
    const uint32_t row = (uint32_t)layout->row_bytes, plane = (uint32_t)layout->plane_bytes;
    const uint32_t texel = layout->texel_bytes;
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        offsets[lane] = x[lane] * texel + y[lane] * row + z[lane] * plane;
}

/* A bit of a coordinate, and what it flips. */
struct flip {
    uint32_t axis, bit, flips;
};

static unsigned flips_collect(const struct image_layout *layout, struct flip *out)
{
    unsigned count = 0;
    for (unsigned axis = 0; axis < 3; axis++) {
        for (unsigned bit = 0; bit < layout->bits[axis]; bit++) {
            if (layout->flips[axis][bit])
                out[count++] = (struct flip){axis, 1u << bit, layout->flips[axis][bit]};
        }
    }
    return count;
}

/* As many lanes as stay in registers of the host while all bits of their coordinates are tried. */
typedef uint32_t lanes __attribute__((vector_size(64), aligned(4), may_alias));
enum { LANES_TOGETHER = sizeof(lanes) / sizeof(uint32_t) };

void LEVEL_NAME(texel_rows_offsets, ROWS_LEVEL)(const struct image_layout *layout,
                                                const uint32_t *const at[3], uint32_t *offsets)
{
    const uint8_t *extent_log2 = layout->extent_log2;
    struct flip flips[3 * LAYOUT_BITS];
    if (!layout->block_log2) {
        linear_offsets(layout, at, offsets);
        return;
    }
    const unsigned flip_count = flips_collect(layout, flips);
    for (unsigned lane = 0; lane < IMAGE_LANES; lane += LANES_TOGETHER) {
        const lanes place[3] = {*(const lanes *)(at[0] + lane), *(const lanes *)(at[1] + lane),
                                *(const lanes *)(at[2] + lane)};
        const lanes block = (place[0] >> extent_log2[0]) +
                            (place[1] >> extent_log2[1]) * layout->row_blocks +
                            (place[2] >> extent_log2[2]) * layout->plane_blocks;
        lanes offset = block << layout->block_log2;
        for (unsigned n = 0; n < flip_count; n++) {
            const struct flip *flip = &flips[n];
            offset ^= (lanes)((place[flip->axis] & flip->bit) != 0) & flip->flips;
        }
        *(lanes *)(offsets + lane) = offset;
    }
}
