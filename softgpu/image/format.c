#include "image/format_parts.h"

#include <math.h>
#include <string.h>

#include "image/float_bits.h"
#include "image/rows.h"

enum { HALF_INF = 0x7c00, FORMATS = 64 };
static const double SRGB_GREATEST = 255;

static const struct format_parts parts[FORMATS] = {
    [0] = {4, 1, {32}},
    [1] = {1, 1, {8}},
    [2] = {2, 1, {16}},
    [3] = {2, 2, {8, 8}},
    [4] = {4, 1, {32}},
    [5] = {4, 2, {16, 16}},
    [6] = {4, 3, {11, 11, 10}},
    [7] = {4, 3, {10, 11, 11}},
    [8] = {4, 4, {2, 10, 10, 10}},
    [9] = {4, 4, {10, 10, 10, 2}},
    [10] = {4, 4, {8, 8, 8, 8}},
    [11] = {8, 2, {32, 32}},
    [12] = {8, 4, {16, 16, 16, 16}},
    [13] = {12, 3, {32, 32, 32}},
    [14] = {16, 4, {32, 32, 32, 32}},
    [16] = {2, 3, {5, 6, 5}},
    [17] = {2, 4, {5, 5, 5, 1}},
    [18] = {2, 4, {1, 5, 5, 5}},
    [19] = {2, 4, {4, 4, 4, 4}},
    [20] = {4, 2, {24, 8}},
    [21] = {4, 2, {8, 24}},
    [57] = {1, 2, {4, 4}},
    [58] = {2, 3, {5, 5, 6}},
};

const struct format_parts *format_parts_of(const struct data_format *format)
{
    return &parts[format->data & (FORMATS - 1)];
}

bool format_is_integer(const struct data_format *format)
{
    return format->number == NUMBER_UINT || format->number == NUMBER_SINT;
}

uint32_t format_bytes(const struct data_format *format)
{
    const struct format_parts *layout = format_parts_of(format);
    if (format->data == FORMAT_DATA_INVALID)
        return layout->bytes;
    bool is_float = format->number == NUMBER_FLOAT, is_srgb = format->number == NUMBER_SRGB;
    bool wide = layout->bits[0] == 32, packed_float = layout->bits[1] == 11;
    if (format->number == NUMBER_RESERVED || (wide && !is_float && !format_is_integer(format)))
        return 0;
    if (format->number > NUMBER_FLOAT && (!is_srgb || layout->bits[0] != 8 || layout->count == 3))
        return 0;
    if (is_srgb && layout->count > 1 && layout->bits[1] != 8)
        return 0;
    if (is_float && !wide && layout->bits[0] != 16 && !packed_float)
        return 0;
    return layout->bytes;
}

uint16_t format_half_of(float value)
{
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

float format_of_half(uint16_t bits)
{
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
}

/* The 10- and 11-bit floats are halves without sign and low digits. */
uint32_t format_small_float_store(uint32_t component, unsigned bits)
{
    float value = f32_of(component);
    uint16_t half = format_half_of(value);
    unsigned shift = bits == 11 ? F11_SHIFT : F10_SHIFT;
    if (isnan(value))
        return (1u << bits) - 1;
    if (signbit(value))
        return 0;
    /* Towards zero: what rounding to a half had added is taken back. */
    if (half < HALF_INF && format_of_half(half) > value)
        half--;
    return half >> shift;
}

/* IEC 61966-2-1. */
static double srgb_to_linear(double value)
{
    return value <= 0.04045 ? value / 12.92 : pow((value + 0.055) / 1.055, 2.4);
}

static double linear_to_srgb(double value)
{
    return value <= 0.0031308 ? value * 12.92 : 1.055 * pow(value, 1 / 2.4) - 0.055;
}

uint32_t format_srgb_load(uint32_t raw)
{
    return f32_bits((float)srgb_to_linear(raw / SRGB_GREATEST));
}

/* Clamped to what the component holds; a NaN becomes 0. */
uint32_t format_srgb_store(uint32_t component)
{
    double value = nearbyint(linear_to_srgb(f32_of(component)) * SRGB_GREATEST);
    return value > 0 ? (uint32_t)(value < SRGB_GREATEST ? value : SRGB_GREATEST) : 0;
}

enum format_number format_number_of(const struct data_format *format, unsigned component)
{
    return format->number == NUMBER_SRGB && component == 3 ? NUMBER_UNORM : format->number;
}

uint32_t format_one(const struct data_format *format)
{
    return format_is_integer(format) ? 1 : f32_bits(1);
}

const image_row image_zeros;
static const image_row ones = {[0 ... IMAGE_LANES - 1] = 1};
static const image_row float_ones = {[0 ... IMAGE_LANES - 1] = 0x3f800000};

unsigned format_components_of(const struct data_format *format, unsigned mask)
{
    unsigned components = 0;
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        const unsigned select = format->select[n] & 7;
        components |= mask >> n & 1 && select >= SELECT_X ? 1u << (select - SELECT_X) : 0;
    }
    return components;
}

void format_select_rows(const struct data_format *format, const image_row *components,
                        const uint32_t *selected[FORMAT_COMPONENTS_MAX])
{
    const bool valid = format->data != FORMAT_DATA_INVALID;
    const uint32_t *values[8] = {[SELECT_1] = format_is_integer(format) ? ones : float_ones};
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        values[SELECT_X + n] = components[n];
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++) {
        const uint32_t *value = values[format->select[n] & 7];
        selected[n] = valid && value ? value : image_zeros;
    }
}
