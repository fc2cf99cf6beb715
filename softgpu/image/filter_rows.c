/*
 * What rows.h says of filters. Coordinates are multiplied exactly and rounded to 1/256 texel, in
 * double precision: so are the whole numbers that texels' indices are on their way.
 */
#include "image/rows_levels.h"

#include <float.h>
#include <math.h>

#include "image/float_bits.h"

/* Beyond this every clamp mode that does not repeat has long reached the edge. */
static const double TEXEL_LIMIT = 1 << 20;
static const double FRACTION = 256;
static const float WEIGHT_ONE = 1;

typedef double double_row[IMAGE_LANES] __attribute__((aligned(64)));

static bool repeats(enum image_clamp clamp)
{
    return clamp == CLAMP_WRAP || clamp == CLAMP_MIRROR;
}

static bool half_border(enum image_clamp clamp)
{
    return clamp == CLAMP_HALF_BORDER || clamp == CLAMP_MIRROR_ONCE_HALF_BORDER;
}

static bool mirrors_once(enum image_clamp clamp)
{
    return clamp == CLAMP_MIRROR_ONCE_LAST_TEXEL || clamp == CLAMP_MIRROR_ONCE_HALF_BORDER ||
           clamp == CLAMP_MIRROR_ONCE_BORDER;
}

static void row_scale(const uint32_t *coordinates, double by, double *at)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double value = f32_of(coordinates[lane]) * by;
        at[lane] = value == value ? value : 0;
    }
}

/* To 0 up to `period`; infinity is 0. */
static void row_wrap(double *at, double period)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double value = fabs(at[lane]) <= DBL_MAX ? at[lane] : 0;
        at[lane] = value - period * floor(value / period);
    }
}

static void row_limit(double *at, double low, double high)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double value = at[lane] < low ? low : at[lane];
        at[lane] = value > high ? high : value;
    }
}

static void row_absolute(double *at)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        at[lane] = fabs(at[lane]);
}

/* Coordinates in texels, near enough to the image for what follows. */
static void row_positions(const struct image_axis *axis, const uint32_t *coordinates, double *at)
{
    const double size = axis->size, period = axis->clamp == CLAMP_MIRROR ? 2 * size : size;
    row_scale(coordinates, axis->counts_texels ? 1 : size, at);
    if (repeats(axis->clamp)) {
        row_wrap(at, period);
        row_limit(at, 0, period); /* what was too large to have digits behind the point */
    } else if (half_border(axis->clamp)) {
        if (axis->clamp == CLAMP_MIRROR_ONCE_HALF_BORDER)
            row_absolute(at);
        row_limit(at, 0, size);
    } else {
        row_limit(at, -TEXEL_LIMIT, TEXEL_LIMIT);
    }
}

static void row_nearest(const struct image_axis *axis, double *at)
{
    if (axis->truncate)
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            at[lane] = floor(at[lane]);
    else
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            at[lane] = floor(nearbyint(at[lane] * FRACTION) / FRACTION);
}

/* The first of two, and what the second weighs. */
static void row_linear(double *at, float *weight)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double place = nearbyint(at[lane] * FRACTION) / FRACTION - 0.5;
        at[lane] = floor(place);
        weight[lane] = (float)(place - at[lane]);
    }
}

static void row_move(double *at, const int32_t *texels)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        at[lane] += texels[lane];
}

/* Coordinates that were clamped to the image's end. */
static void row_end(double *at, double size)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        at[lane] = at[lane] == size ? size - 1 : at[lane];
}

static void texels_put(const double *at, int32_t *texels)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        texels[lane] = (int32_t)at[lane];
}

static void texels_repeated(const struct image_axis *axis, const double *index, int32_t *texels)
{
    const double size = axis->size, period = axis->clamp == CLAMP_MIRROR ? 2 * size : size;
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double rest = index[lane] - period * floor(index[lane] / period);
        texels[lane] = (int32_t)(rest < size ? rest : period - 1 - rest);
    }
}

/* Which texels indices mean. */
static void row_texels(const struct image_axis *axis, double *index, int32_t *texels)
{
    const double last = axis->size - 1;
    if (repeats(axis->clamp)) {
        texels_repeated(axis, index, texels);
        return;
    }
    if (mirrors_once(axis->clamp))
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            index[lane] = index[lane] < 0 ? -1 - index[lane] : index[lane];
    if (axis->clamp == CLAMP_LAST_TEXEL || axis->clamp == CLAMP_MIRROR_ONCE_LAST_TEXEL)
        row_limit(index, 0, last);
    else
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            index[lane] = index[lane] > last ? -1 : index[lane];
    texels_put(index, texels);
}

void LEVEL_NAME(filter_rows_axis, ROWS_LEVEL)(const struct image_axis *axis,
                                              const uint32_t *coordinates, const int32_t *texels,
                                              struct image_taps *taps)
{
    double_row at, second;
    row_positions(axis, coordinates, at);
    if (axis->linear)
        row_linear(at, taps->weight);
    else
        row_nearest(axis, at);
    if (texels)
        row_move(at, texels);
    if (!axis->linear && half_border(axis->clamp))
        row_end(at, axis->size);
    taps->count = axis->linear ? 2 : 1;
    if (axis->linear) {
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            second[lane] = at[lane] + 1;
        row_texels(axis, second, taps->at[1]);
    }
    row_texels(axis, at, taps->at[0]);
}

void LEVEL_NAME(filter_rows_layers, ROWS_LEVEL)(uint32_t layers, const uint32_t *coordinates,
                                                struct image_taps *taps)
{
    const float last = (float)(layers - 1);
    taps->count = 1;
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        float nearest = nearbyintf(f32_of(coordinates[lane]));
        nearest = nearest > 0 ? nearest : 0;
        taps->at[0][lane] = (int32_t)(nearest < last ? nearest : last);
    }
}

/* `weight` times that of texel `n` of two along an axis. */
static void weights_multiply(const struct image_taps *taps, unsigned n, float *weight)
{
    if (taps->count == 1)
        return;
    if (n)
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            weight[lane] *= taps->weight[lane];
    else
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            weight[lane] *= WEIGHT_ONE - taps->weight[lane];
}

struct image_taken LEVEL_NAME(filter_rows_taken, ROWS_LEVEL)(const struct image_taps taps[3],
                                                             unsigned n, float *weight)
{
    const unsigned number[3] = {n & 1, n >> 1 & 1, n >> 2};
    const int32_t *x = taps[0].at[number[0]], *y = taps[1].at[number[1]],
                  *z = taps[2].at[number[2]];
    uint8_t takes[IMAGE_LANES], outside[IMAGE_LANES];
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        weight[lane] = WEIGHT_ONE;
    for (unsigned axis = 0; axis < 3; axis++)
        weights_multiply(&taps[axis], number[axis], weight);
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        takes[lane] = weight[lane] > 0;
        outside[lane] = (x[lane] | y[lane] | z[lane]) < 0;
    }
    const uint64_t lanes = flags_to_bits(takes);
    return (struct image_taken){lanes, lanes & flags_to_bits(outside)};
}

static void add_weighted(struct image_sums *sums, const uint32_t *component, const float *weight)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double value = (double)f32_of(component[lane]) * weight[lane];
        sums->value[lane] += weight[lane] > 0 ? value : 0;
    }
}

/* The least or the greatest of those with a weight. */
static void add_extreme(struct image_sums *sums, const uint32_t *component, const float *weight)
{
    const bool least = sums->blend == BLEND_LEAST;
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const double value = f32_of(component[lane]), kept = sums->value[lane];
        if (weight[lane] > 0 && (!sums->some[lane] || (least ? value < kept : value > kept)))
            sums->value[lane] = value;
        sums->some[lane] |= weight[lane] > 0 ? ~0u : 0;
    }
}

void LEVEL_NAME(filter_rows_add, ROWS_LEVEL)(struct image_sums *sums, const uint32_t *component,
                                             const float *weight)
{
    if (sums->blend == BLEND_WEIGHTED)
        add_weighted(sums, component, weight);
    else
        add_extreme(sums, component, weight);
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const uint32_t whole = weight[lane] == WEIGHT_ONE ? ~0u : 0;
        sums->whole[lane] |= whole;
        sums->only[lane] |= component[lane] & whole;
    }
}

void LEVEL_NAME(filter_rows_sum, ROWS_LEVEL)(const struct image_sums *sums, uint32_t *component)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const uint32_t sum = f32_bits((float)sums->value[lane]);
        component[lane] = sums->whole[lane] ? sums->only[lane] : sum;
    }
}
