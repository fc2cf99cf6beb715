/* Inside of the files that are built once for each level: ROWS_LEVEL names it. */
#ifndef IMAGE_ROWS_LEVELS_H
#define IMAGE_ROWS_LEVELS_H

#include "core/flag_bits.h"
#include "image/rows.h"

#define NAME_OF(stem, level)    stem##_##level
#define LEVEL_NAME(stem, level) NAME_OF(stem, level)

#define DECLARE_ROWS(level)                                                                        \
    void LEVEL_NAME(format_rows_decode, level)(const struct data_format *format,                   \
                                               const image_row *elements, unsigned wanted,         \
                                               image_row components[FORMAT_COMPONENTS_MAX]);       \
    void LEVEL_NAME(format_rows_encode, level)(const struct data_format *format,                   \
                                               const uint32_t *const *components, unsigned count,  \
                                               image_row *elements);                               \
    void LEVEL_NAME(format_rows_widen, level)(const struct data_format *format,                    \
                                              const uint32_t *row, unsigned shift,                 \
                                              uint32_t *component);                                \
    void LEVEL_NAME(format_rows_narrow, level)(const struct data_format *format,                   \
                                               const uint32_t *low, const uint32_t *high,          \
                                               uint32_t *row);                                     \
    uint64_t LEVEL_NAME(texel_rows_inside, level)(const uint32_t *const at[3],                     \
                                                  const uint32_t limit[3]);                        \
    void LEVEL_NAME(texel_rows_offsets, level)(const struct image_layout *layout,                  \
                                               const uint32_t *const at[3], uint32_t *offsets);    \
    void LEVEL_NAME(filter_rows_axis, level)(const struct image_axis *axis,                        \
                                             const uint32_t *coordinates, const int32_t *texels,   \
                                             struct image_taps *taps);                             \
    void LEVEL_NAME(filter_rows_layers, level)(uint32_t layers, const uint32_t *coordinates,       \
                                               struct image_taps *taps);                           \
    struct image_taken LEVEL_NAME(filter_rows_taken, level)(const struct image_taps taps[3],       \
                                                            unsigned n, float *weight);            \
    void LEVEL_NAME(filter_rows_add, level)(struct image_sums * sums, const uint32_t *component,   \
                                            const float *weight);                                  \
    void LEVEL_NAME(filter_rows_sum, level)(const struct image_sums *sums, uint32_t *component);
DECLARE_ROWS(ROWS_LEVEL)

#endif
