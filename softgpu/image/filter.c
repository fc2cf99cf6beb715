#include "image/filter.h"

#include <math.h>
#include <string.h>

#include "image/float_bits.h"

struct image_axis image_axis_of(const struct image_resource *image,
                                const struct image_sampler *sampler, unsigned axis,
                                bool counts_texels, bool linear)
{
    return (struct image_axis){
        .size = (int32_t)image->size[axis],
        .clamp = sampler->clamp[axis],
        .counts_texels = counts_texels || sampler->unnormalized,
        .linear = axis == 2 && !sampler->depth_as_plane ? sampler->depth_linear : linear,
        .truncate = sampler->truncate};
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
