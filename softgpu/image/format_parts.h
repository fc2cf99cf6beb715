/* Inside of format.c and format_rows.c: where components lie, and numbers of which each is
 * converted by itself. */
#ifndef IMAGE_FORMAT_PARTS_H
#define IMAGE_FORMAT_PARTS_H

#include "image/format.h"

enum { F11_SHIFT = 4, F10_SHIFT = 5 }; /* floats of 11 and 10 bits, made halves */

/* Components from the lowest bits up; none lies across two dwords. */
struct format_parts {
    uint8_t bytes, count, bits[FORMAT_COMPONENTS_MAX];
};
const struct format_parts *format_parts_of(const struct data_format *format);
/* Alpha is linear in sRGB, too. */
enum format_number format_number_of(const struct data_format *format, unsigned component);
/* What stands for 1 in a component. */
uint32_t format_one(const struct data_format *format);

/* sRGB has 8 bits. */
uint32_t format_srgb_load(uint32_t raw);
uint32_t format_srgb_store(uint32_t component);
/* To 10 or 11 bits. */
uint32_t format_small_float_store(uint32_t component, unsigned bits);
uint16_t format_half_of(float value);
float format_of_half(uint16_t bits);

#endif
