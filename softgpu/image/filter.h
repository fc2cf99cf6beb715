/*
 * Sampling: which texels a coordinate means, and with what weights. Coordinates are rounded to
 * 1/256 texel, so that weights are multiples of 1/256 on each axis.
 */
#ifndef IMAGE_FILTER_H
#define IMAGE_FILTER_H

#include "image/resource.h"

enum { IMAGE_TAPS_MAX = 8 };

struct image_tap {
    uint16_t at[3]; /* x, y, and z or the layer */
    bool is_border;
    float weight;
};

struct image_footprint {
    unsigned count;
    struct image_tap taps[IMAGE_TAPS_MAX];
};

/* Where an image is sampled. */
struct image_point {
    float at[3];       /* as many as the image has dimensions */
    float layer;       /* counts whole layers; the nearest is taken */
    int8_t offset[3];  /* texels, added to what the coordinate means */
    bool linear;       /* filter across x and y */
    bool unnormalized; /* coordinates count texels */
};

void image_footprint_make(const struct image_resource *image, const struct image_sampler *sampler,
                          const struct image_point *point, struct image_footprint *out);

/* The four texels of a linear footprint in x and y, as gather4 returns them: (0,1), (1,1), (1,0),
 * (0,0); all of them, whatever their weights. */
void image_gather_make(const struct image_resource *image, const struct image_sampler *sampler,
                       const struct image_point *point, struct image_footprint *out);

/* What a texel outside the image holds, before the resource's select[] is applied. */
void image_border(const struct image_resource *image, const struct image_sampler *sampler,
                  uint32_t components[FORMAT_COMPONENTS_MAX]);

/* 1 where the comparison of the sampler's function holds, else 0. */
bool image_compare(const struct image_sampler *sampler, float reference, float texel);

/* The level of detail after the sampler's and the image's limits. */
float image_lod(const struct image_resource *image, const struct image_sampler *sampler, float lod);

#endif
