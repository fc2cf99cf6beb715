#include "image/resource.h"

#include <string.h>

enum { XY_FILTER_POINT, XY_FILTER_BILINEAR };
enum { Z_FILTER_NONE, Z_FILTER_POINT, Z_FILTER_LINEAR };
enum { BORDER_REGISTER = 3, BLENDS = 3, TYPE_MSAA = 14, LINEAR_MODE = 0, BASE_SHIFT = 8 };

static uint32_t field(uint32_t word, unsigned low, unsigned width)
{
    return word >> low & ((1u << width) - 1);
}

/* Fixed-point levels of detail: 4 or 5 digits, sign included, before the point, 8 behind it. */
static float fixed_lod(uint32_t raw)
{
    return (float)raw / 256;
}

static float fixed_bias(uint32_t raw)
{
    return (float)((int32_t)(raw << 18) >> 18) / 256;
}

unsigned image_dimensions(const struct image_resource *image)
{
    switch (image->type) {
    case IMAGE_1D:
    case IMAGE_1D_ARRAY:
        return 1;
    case IMAGE_3D:
        return 3;
    default:
        return 2;
    }
}

bool image_has_layers(const struct image_resource *image)
{
    return image->type >= IMAGE_CUBE;
}

/* One level, one sample, no metadata. */
static bool resource_is_plain(const uint32_t words[8])
{
    uint32_t base_level = field(words[3], 12, 4), last_level = field(words[3], 16, 4);
    uint32_t type = words[3] >> 28, max_mip = words[5] >> 28;
    bool compressed = field(words[6], 21, 1);
    return type >= IMAGE_1D && type < TYPE_MSAA && !base_level && !last_level && !max_mip &&
           !compressed;
}

bool image_resource_read(const uint32_t words[8], struct image_resource *out)
{
    *out = (struct image_resource){.base = (words[0] | (uint64_t)field(words[1], 0, 8) << 32)
                                           << BASE_SHIFT,
                                   .size = {field(words[2], 0, 14) + 1, 1, 1},
                                   .layers = 1,
                                   .first_layer = field(words[5], 0, 13),
                                   .pitch = field(words[4], 13, 16) + 1,
                                   .format = {.data = (uint8_t)field(words[1], 20, 6),
                                              .number = (uint8_t)field(words[1], 26, 4)},
                                   .type = (uint8_t)(words[3] >> 28),
                                   .swizzle_mode = (uint8_t)field(words[3], 20, 5),
                                   .border_swizzle = (uint8_t)(words[4] >> 29),
                                   .min_lod = fixed_lod(field(words[1], 8, 12))};
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        out->format.select[n] = (uint8_t)field(words[3], 3 * n, 3);
    if (!resource_is_plain(words) || out->format.data == FORMAT_DATA_INVALID ||
        !format_bytes(&out->format))
        return false;
    uint32_t depth = field(words[4], 0, 13) + 1;
    if (image_dimensions(out) > 1)
        out->size[1] = field(words[2], 14, 14) + 1;
    if (image_dimensions(out) > 2)
        out->size[2] = depth;
    if (!image_has_layers(out))
        return true;
    if (depth <= out->first_layer)
        return false;
    out->layers = depth - out->first_layer;
    return true;
}

bool image_sampler_read(const uint32_t words[4], struct image_sampler *out)
{
    uint32_t magnify = field(words[2], 20, 2), minify = field(words[2], 22, 2);
    uint32_t depth = field(words[2], 24, 2), border = words[3] >> 30;
    bool anisotropic = field(words[0], 9, 3) && (magnify | minify) > XY_FILTER_BILINEAR;
    bool uses_border = false;
    *out = (struct image_sampler){.unnormalized = field(words[0], 15, 1),
                                  .truncate = field(words[0], 27, 1),
                                  .magnify_linear = magnify & XY_FILTER_BILINEAR,
                                  .minify_linear = minify & XY_FILTER_BILINEAR,
                                  .depth_as_plane = depth == Z_FILTER_NONE,
                                  .depth_linear = depth == Z_FILTER_LINEAR,
                                  .compare = (uint8_t)field(words[0], 12, 3),
                                  .blend = (uint8_t)field(words[0], 29, 2),
                                  .border = (uint8_t)border,
                                  .min_lod = fixed_lod(field(words[1], 0, 12)),
                                  .max_lod = fixed_lod(field(words[1], 12, 12)),
                                  .lod_bias = fixed_bias(field(words[2], 0, 14))};
    for (unsigned n = 0; n < 3; n++) {
        out->clamp[n] = (uint8_t)field(words[0], 3 * n, 3);
        uses_border |= out->clamp[n] >= CLAMP_HALF_BORDER;
    }
    return !anisotropic && out->blend < BLENDS && !(uses_border && border == BORDER_REGISTER);
}
