/*
 * Where an image's texels lie: gfx9's swizzle modes for images of one level. Memory is cut into
 * blocks of 256 bytes, 4 KB or 64 KB; inside, the bits of x, y and z interleave, and in the XOR
 * modes the bits that choose a pipe and a bank are mixed with those above them. So each bit of a
 * coordinate flips a set of bits of the offset.
 */
#ifndef IMAGE_LAYOUT_H
#define IMAGE_LAYOUT_H

#include "image/resource.h"

enum { LAYOUT_BITS = 14 }; /* of a coordinate: images have up to 16384 texels */

struct image_layout {
    uint64_t base;
    uint64_t bytes;                    /* of the whole image */
    uint64_t row_bytes, plane_bytes;   /* linear: of a row and of a layer or slice of depth */
    uint32_t row_blocks, plane_blocks; /* else: blocks of a row, of a layer or slice of blocks */
    uint8_t block_log2;                /* bytes; 0: linear */
    uint8_t texel_bytes, texel_log2;
    uint8_t extent_log2[3];         /* of a block, in texels */
    uint8_t bits[3];                /* that coordinates have */
    uint16_t flips[3][LAYOUT_BITS]; /* what each bit of x, y and z flips inside the block */
};

/* `address_config`: GB_ADDR_CONFIG. False: a mode that gfx9 does not have for this image. */
bool image_layout_make(const struct image_resource *image, uint32_t address_config,
                       struct image_layout *out);

/* The texel's address; x, y and z (a slice, or the layer) are inside the image. */
uint64_t image_texel(const struct image_layout *layout, uint32_t x, uint32_t y, uint32_t z);

#endif
