/*
 * What an image instruction's descriptors say, as gfx9 has them: the image resource in eight scalar
 * registers (T#), the sampler in four (S#).
 */
#ifndef IMAGE_RESOURCE_H
#define IMAGE_RESOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "image/format.h"

/* SQ_RSRC_IMG_*: TYPE of the resource. */
enum image_type { IMAGE_1D = 8, IMAGE_2D, IMAGE_3D, IMAGE_CUBE, IMAGE_1D_ARRAY, IMAGE_2D_ARRAY };

struct image_resource {
    uint64_t base;
    uint32_t size[3];     /* texels; 1 where the type has no such dimension */
    uint32_t layers;      /* of arrays and cubes; else 1 */
    uint32_t first_layer; /* lies before layer 0 of this view */
    uint32_t pitch;       /* texels from row to row, linear images only */
    struct data_format format;
    uint8_t type; /* enum image_type */
    uint8_t swizzle_mode;
    uint8_t border_swizzle; /* BC_SWIZZLE */
    float min_lod;
};

/* SQ_TEX_*: CLAMP_X, CLAMP_Y, CLAMP_Z of the sampler. */
enum image_clamp {
    CLAMP_WRAP,
    CLAMP_MIRROR,
    CLAMP_LAST_TEXEL,
    CLAMP_MIRROR_ONCE_LAST_TEXEL,
    CLAMP_HALF_BORDER,
    CLAMP_MIRROR_ONCE_HALF_BORDER,
    CLAMP_BORDER,
    CLAMP_MIRROR_ONCE_BORDER
};
enum image_blend { BLEND_WEIGHTED, BLEND_LEAST, BLEND_GREATEST };
enum image_border { BORDER_TRANSPARENT_BLACK, BORDER_OPAQUE_BLACK, BORDER_OPAQUE_WHITE };

struct image_sampler {
    uint8_t clamp[3];                   /* enum image_clamp */
    bool unnormalized;                  /* coordinates count texels */
    bool truncate;                      /* nearest: rounds down, not to 1/256 texel first */
    bool magnify_linear, minify_linear; /* across x and y */
    bool depth_as_plane, depth_linear;  /* across z: like x and y, or by itself */
    uint8_t compare;                    /* DEPTH_COMPARE_FUNC */
    uint8_t blend;                      /* enum image_blend */
    uint8_t border;                     /* enum image_border */
    float min_lod, max_lod, lod_bias;
};

/* False: something that no runtime asks for and that is not modelled (mip levels, samples,
 * compression, formats of neither HIP nor OpenCL). */
bool image_resource_read(const uint32_t words[8], struct image_resource *out);
/* False: anisotropic filters, borders from a palette, blends that do not exist. */
bool image_sampler_read(const uint32_t words[4], struct image_sampler *out);

/* Dimensions that coordinates of the image have, without the layer. */
unsigned image_dimensions(const struct image_resource *image);
bool image_has_layers(const struct image_resource *image);

#endif
