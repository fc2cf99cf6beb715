#include "image/filter.h"

#include <math.h>
#include <string.h>

#include "image/float_bits.h"

enum { FRACTION_LOG2 = 8, FRACTION_ONE = 1 << FRACTION_LOG2, OUTSIDE = -1 };
/* Beyond this every clamp mode that does not repeat has long reached the edge. */
static const double TEXEL_LIMIT = 1 << 20;

/* Texels along an axis, the second with `weight` / 256. */
struct taps {
    unsigned count;
    int32_t at[2]; /* OUTSIDE: the border */
    unsigned weight;
};

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

static int32_t remainder_of(int32_t value, int32_t period)
{
    int32_t rest = value % period;
    return rest < 0 ? rest + period : rest;
}

/* Which texel an index means. */
static int32_t texel_clamped(int32_t index, int32_t size, enum image_clamp clamp)
{
    if (clamp == CLAMP_WRAP)
        return remainder_of(index, size);
    if (clamp == CLAMP_MIRROR) {
        int32_t rest = remainder_of(index, 2 * size);
        return rest < size ? rest : 2 * size - 1 - rest;
    }
    if (mirrors_once(clamp) && index < 0)
        index = -1 - index;
    if (index >= 0 && index < size)
        return index;
    if (clamp == CLAMP_LAST_TEXEL || clamp == CLAMP_MIRROR_ONCE_LAST_TEXEL)
        return index < 0 ? 0 : size - 1;
    return OUTSIDE;
}

/* The coordinate in texels, near enough to the image for 32-bit arithmetic. */
static double texel_position(double coordinate, int32_t size, enum image_clamp clamp, bool texels)
{
    double period = clamp == CLAMP_MIRROR ? 2 * size : size;
    double at = texels ? coordinate : coordinate * size;
    if (!isfinite(at))
        at = isnan(at) || repeats(clamp) ? 0 : at;
    if (repeats(clamp))
        return at - period * floor(at / period);
    if (half_border(clamp)) {
        at = clamp == CLAMP_HALF_BORDER ? at : fabs(at);
        return at < 0 ? 0 : at > size ? size : at;
    }
    return at < -TEXEL_LIMIT ? -TEXEL_LIMIT : at > TEXEL_LIMIT ? TEXEL_LIMIT : at;
}

static struct taps axis_nearest(double at, int32_t size, enum image_clamp clamp, bool truncate,
                                int offset)
{
    int32_t fixed = (int32_t)(truncate ? floor(at * FRACTION_ONE) : nearbyint(at * FRACTION_ONE));
    int32_t index = (fixed >> FRACTION_LOG2) + offset;
    if (half_border(clamp) && index == size)
        index--; /* the coordinate was clamped to the image's end */
    return (struct taps){.count = 1, .at = {texel_clamped(index, size, clamp)}};
}

static struct taps axis_linear(double at, int32_t size, enum image_clamp clamp, int offset)
{
    int32_t fixed = (int32_t)nearbyint(at * FRACTION_ONE) - FRACTION_ONE / 2;
    int32_t first = (fixed >> FRACTION_LOG2) + offset;
    return (struct taps){
        .count = 2,
        .at = {texel_clamped(first, size, clamp), texel_clamped(first + 1, size, clamp)},
        .weight = (unsigned)fixed & (FRACTION_ONE - 1)};
}

static struct taps axis_taps(const struct image_resource *image,
                             const struct image_sampler *sampler, const struct image_point *point,
                             unsigned axis)
{
    int32_t size = (int32_t)image->size[axis];
    enum image_clamp clamp = sampler->clamp[axis];
    bool linear = point->linear;
    if (axis >= image_dimensions(image))
        return (struct taps){.count = 1};
    if (axis == 2 && !sampler->depth_as_plane)
        linear = sampler->depth_linear;
    double at =
        texel_position(point->at[axis], size, clamp, sampler->unnormalized || point->unnormalized);
    return linear ? axis_linear(at, size, clamp, point->offset[axis])
                  : axis_nearest(at, size, clamp, sampler->truncate, point->offset[axis]);
}

static uint16_t layer_of(const struct image_resource *image, float layer)
{
    float last = (float)(image->layers - 1), nearest = nearbyintf(layer);
    return (uint16_t)(nearest > 0 ? nearest < last ? nearest : last : 0);
}

static float axis_weight(const struct taps *taps, unsigned n)
{
    unsigned weight = taps->count == 1 ? FRACTION_ONE
                      : n              ? taps->weight
                                       : FRACTION_ONE - taps->weight;
    return (float)weight / FRACTION_ONE;
}

static void tap_add(struct image_footprint *out, const int32_t at[3], float weight)
{
    struct image_tap tap = {.is_border = at[0] < 0 || at[1] < 0 || at[2] < 0, .weight = weight};
    for (unsigned axis = 0; axis < 3 && !tap.is_border; axis++)
        tap.at[axis] = (uint16_t)at[axis];
    out->taps[out->count++] = tap;
}

void image_footprint_make(const struct image_resource *image, const struct image_sampler *sampler,
                          const struct image_point *point, struct image_footprint *out)
{
    struct taps axes[3];
    for (unsigned axis = 0; axis < 3; axis++)
        axes[axis] = axis_taps(image, sampler, point, axis);
    if (image_has_layers(image))
        axes[2] = (struct taps){.count = 1, .at = {layer_of(image, point->layer)}};
    out->count = 0;
    for (unsigned n = 0; n < IMAGE_TAPS_MAX; n++) {
        unsigned x = n & 1, y = n >> 1 & 1, z = n >> 2;
        if (x >= axes[0].count || y >= axes[1].count || z >= axes[2].count)
            continue;
        float weight =
            axis_weight(&axes[0], x) * axis_weight(&axes[1], y) * axis_weight(&axes[2], z);
        if (weight > 0)
            tap_add(out, (int32_t[]){axes[0].at[x], axes[1].at[y], axes[2].at[z]}, weight);
    }
}

void image_gather_make(const struct image_resource *image, const struct image_sampler *sampler,
                       const struct image_point *point, struct image_footprint *out)
{
    static const uint8_t order[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    struct image_point linear = *point;
    linear.linear = true;
    struct taps x = axis_taps(image, sampler, &linear, 0),
                y = axis_taps(image, sampler, &linear, 1);
    int32_t layer = image_has_layers(image) ? layer_of(image, point->layer) : 0;
    out->count = 0;
    for (unsigned n = 0; n < 4; n++) {
        unsigned row = y.count > 1 ? order[n][1] : 0;
        tap_add(out, (int32_t[]){x.at[order[n][0]], y.at[row], layer}, 1);
    }
}

void image_border(const struct image_resource *image, const struct image_sampler *sampler,
                  uint32_t components[FORMAT_COMPONENTS_MAX])
{
    /* Which component of the colour each of the texel's holds, by BC_SWIZZLE. */
    static const uint8_t orders[8][FORMAT_COMPONENTS_MAX] = {
        {0, 1, 2, 3}, {0, 3, 1, 2}, {3, 2, 1, 0}, {3, 0, 1, 2},
        {2, 1, 0, 3}, {1, 0, 3, 2}, {0, 1, 2, 3}, {0, 1, 2, 3}};
    uint32_t one = format_is_integer(&image->format) ? 1 : f32_bits(1);
    uint32_t alpha = sampler->border == BORDER_TRANSPARENT_BLACK ? 0 : one;
    uint32_t colour = sampler->border == BORDER_OPAQUE_WHITE ? one : 0;
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        components[n] = orders[image->border_swizzle & 7][n] == 3 ? alpha : colour;
}

bool image_compare(const struct image_sampler *sampler, float reference, float texel)
{
    enum { LESS = 1, EQUAL = 2, GREATER = 4, ALWAYS = 7, NEVER = 0 };
    if (sampler->compare == ALWAYS || sampler->compare == NEVER)
        return sampler->compare == ALWAYS;
    return (sampler->compare & LESS && reference < texel) ||
           (sampler->compare & EQUAL && reference == texel) ||
           (sampler->compare & GREATER && reference > texel);
}

float image_lod(const struct image_resource *image, const struct image_sampler *sampler, float lod)
{
    lod = isnan(lod) ? 0 : lod;
    lod = lod < sampler->min_lod ? sampler->min_lod : lod;
    lod = lod > sampler->max_lod ? sampler->max_lod : lod;
    return lod < image->min_lod ? image->min_lod : lod;
}
