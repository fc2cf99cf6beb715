/*
 * Sampling: which texels a coordinate means, and with what weights. Coordinates are rounded to
 * 1/256 texel, so that weights are multiples of 1/256 on each axis.
 */
#ifndef IMAGE_FILTER_H
#define IMAGE_FILTER_H

#include "image/resource.h"

/* How a coordinate along one axis chooses texels. */
struct image_axis {
    int32_t size;
    enum image_clamp clamp;
    bool counts_texels; /* the coordinate does; else it is 1 at the far end */
    bool linear;        /* between two texels */
    bool truncate;      /* nearest: rounds down, not to 1/256 texel first */
};
/* `linear`: across x and y. */
struct image_axis image_axis_of(const struct image_resource *image,
                                const struct image_sampler *sampler, unsigned axis,
                                bool counts_texels, bool linear);

/* What a texel outside the image holds, before the resource's select[] is applied. */
void image_border(const struct image_resource *image, const struct image_sampler *sampler,
                  uint32_t components[FORMAT_COMPONENTS_MAX]);

/* 1 where the comparison of the sampler's function holds, else 0. */
bool image_compare(const struct image_sampler *sampler, float reference, float texel);

/* The level of detail after the sampler's and the image's limits. */
float image_lod(const struct image_resource *image, const struct image_sampler *sampler, float lod);

#endif
