#include "image/rows_levels.h"

const struct image_rows LEVEL_NAME(image_rows, ROWS_LEVEL) = {
    .decode = LEVEL_NAME(format_rows_decode, ROWS_LEVEL),
    .encode = LEVEL_NAME(format_rows_encode, ROWS_LEVEL),
    .widen = LEVEL_NAME(format_rows_widen, ROWS_LEVEL),
    .narrow = LEVEL_NAME(format_rows_narrow, ROWS_LEVEL),
    .inside = LEVEL_NAME(texel_rows_inside, ROWS_LEVEL),
    .offsets = LEVEL_NAME(texel_rows_offsets, ROWS_LEVEL),
    .axis = LEVEL_NAME(filter_rows_axis, ROWS_LEVEL),
    .layers = LEVEL_NAME(filter_rows_layers, ROWS_LEVEL),
    .taken = LEVEL_NAME(filter_rows_taken, ROWS_LEVEL),
    .add = LEVEL_NAME(filter_rows_add, ROWS_LEVEL),
    .sum = LEVEL_NAME(filter_rows_sum, ROWS_LEVEL),
};
