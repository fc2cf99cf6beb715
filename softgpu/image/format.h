/*
 * Formats of typed buffers and of images: how an element's bytes become up to four components, and
 * back (rows.h). Component registers hold f32 bits for normalised, scaled and floating formats,
 * else an integer. Buffers know the first 16 data formats, and none of sRGB.
 */
#ifndef IMAGE_FORMAT_H
#define IMAGE_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

enum format_number {
    NUMBER_UNORM,
    NUMBER_SNORM,
    NUMBER_USCALED,
    NUMBER_SSCALED,
    NUMBER_UINT,
    NUMBER_SINT,
    NUMBER_RESERVED,
    NUMBER_FLOAT,
    NUMBER_SRGB = 9
};

/* What selects a component of the result: a constant, or one of the element's. */
enum format_select { SELECT_0, SELECT_1, SELECT_X = 4, SELECT_Y, SELECT_Z, SELECT_W };

enum { FORMAT_DATA_INVALID = 0, FORMAT_COMPONENTS_MAX = 4, FORMAT_BYTES_MAX = 16 };

struct data_format {
    uint8_t data;   /* BUF_DATA_FORMAT, IMG_DATA_FORMAT */
    uint8_t number; /* enum format_number */
    uint8_t select[FORMAT_COMPONENTS_MAX];
};

/* Bytes of an element; 0 when the hardware has no such format. The invalid data format counts as a
 * dword that reads 0. */
uint32_t format_bytes(const struct data_format *format);
bool format_is_integer(const struct data_format *format);

#endif
