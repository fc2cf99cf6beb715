#include "image/format.h"
#include "image/float_bits.h"

#include <math.h>
#include <string.h>

enum { F11_SHIFT = 4, F10_SHIFT = 5, HALF_INF = 0x7c00, FORMATS = 64 };

/* Components from the lowest bits up. */
static const struct layout {
    uint8_t bytes, count, bits[FORMAT_COMPONENTS_MAX];
} layouts[FORMATS] = {
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

bool format_is_integer(const struct data_format *format)
{
    return format->number == NUMBER_UINT || format->number == NUMBER_SINT;
}

uint32_t format_bytes(const struct data_format *format)
{
    const struct layout *layout = &layouts[format->data & (FORMATS - 1)];
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

static uint16_t half_of(float value)
{
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static float of_half(uint16_t bits)
{
    _Float16 half;
    memcpy(&half, &bits, sizeof half);
    return (float)half;
}

/* The 10- and 11-bit floats are halves without sign and low digits. */
static uint32_t float_load(uint32_t raw, unsigned bits)
{
    if (bits == 32)
        return raw;
    unsigned shift = bits == 11 ? F11_SHIFT : bits == 10 ? F10_SHIFT : 0;
    return f32_bits(of_half((uint16_t)(raw << shift)));
}

static uint32_t float_store(uint32_t component, unsigned bits)
{
    float value = f32_of(component);
    if (bits == 32)
        return component;
    uint16_t half = half_of(value);
    if (bits == 16)
        return half;
    unsigned shift = bits == 11 ? F11_SHIFT : F10_SHIFT;
    if (isnan(value))
        return (1u << bits) - 1;
    if (signbit(value))
        return 0;
    /* Towards zero: what rounding to a half had added is taken back. */
    if (half < HALF_INF && of_half(half) > value)
        half--;
    return half >> shift;
}

static int32_t sign_extended(uint32_t raw, unsigned bits)
{
    return (int32_t)(raw << (32 - bits)) >> (32 - bits);
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

static uint32_t component_load(uint32_t raw, unsigned bits, enum format_number number)
{
    double greatest = (double)((1ull << bits) - 1);
    switch (number) {
    case NUMBER_UNORM:
        return f32_bits((float)(raw / greatest));
    case NUMBER_SRGB:
        return f32_bits((float)srgb_to_linear(raw / greatest));
    case NUMBER_SNORM: {
        double value = sign_extended(raw, bits) / (double)((1ull << (bits - 1)) - 1);
        return f32_bits((float)(value < -1 ? -1 : value));
    }
    case NUMBER_USCALED:
        return f32_bits((float)raw);
    case NUMBER_SSCALED:
        return f32_bits((float)sign_extended(raw, bits));
    case NUMBER_SINT:
        return (uint32_t)sign_extended(raw, bits);
    case NUMBER_FLOAT:
        return float_load(raw, bits);
    default:
        return raw;
    }
}

/* Clamped to the component's range; a NaN becomes 0. */
static int64_t clamped(double value, double low, double high)
{
    if (isnan(value))
        return 0;
    return (int64_t)(value < low ? low : value > high ? high : value);
}

static uint32_t component_store(uint32_t component, unsigned bits, enum format_number number)
{
    double value = f32_of(component);
    double unsigned_max = (double)((1ull << bits) - 1);
    double signed_max = (double)((1ull << (bits - 1)) - 1);
    switch (number) {
    case NUMBER_UNORM:
        return (uint32_t)clamped(nearbyint(value * unsigned_max), 0, unsigned_max);
    case NUMBER_SRGB:
        return (uint32_t)clamped(nearbyint(linear_to_srgb(value) * unsigned_max), 0, unsigned_max);
    case NUMBER_SNORM:
        return (uint32_t)clamped(nearbyint(value * signed_max), -signed_max, signed_max);
    case NUMBER_USCALED:
        return (uint32_t)clamped(value, 0, unsigned_max);
    case NUMBER_SSCALED:
        return (uint32_t)clamped(value, -signed_max - 1, signed_max);
    case NUMBER_FLOAT:
        return float_store(component, bits);
    default:
        return component;
    }
}

/* Alpha is linear in sRGB, too. */
static enum format_number number_of(const struct data_format *format, unsigned component)
{
    return format->number == NUMBER_SRGB && component == 3 ? NUMBER_UNORM : format->number;
}

static uint32_t one_of(const struct data_format *format)
{
    return format_is_integer(format) ? 1 : f32_bits(1);
}

void format_decode(const struct data_format *format, const uint8_t *element,
                   uint32_t components[FORMAT_COMPONENTS_MAX])
{
    const struct layout *layout = &layouts[format->data & (FORMATS - 1)];
    memset(components, 0, FORMAT_COMPONENTS_MAX * sizeof *components);
    if (format->data == FORMAT_DATA_INVALID)
        return;
    components[3] = one_of(format);
    for (unsigned n = 0, at = 0; n < layout->count; at += layout->bits[n++]) {
        uint32_t dword = 0;
        unsigned bits = layout->bits[n], first = at / 32 * 4;
        memcpy(&dword, element + first, layout->bytes < 4 ? layout->bytes : 4);
        uint32_t raw = dword >> at % 32 & (uint32_t)((1ull << bits) - 1);
        components[n] = component_load(raw, bits, number_of(format, n));
    }
}

void format_select(const struct data_format *format, uint32_t components[FORMAT_COMPONENTS_MAX])
{
    uint32_t values[8] = {[SELECT_1] = one_of(format)};
    memcpy(&values[SELECT_X], components, FORMAT_COMPONENTS_MAX * sizeof *components);
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        components[n] = values[format->select[n] & 7];
}

void format_load(const struct data_format *format, const uint8_t *element,
                 uint32_t components[FORMAT_COMPONENTS_MAX])
{
    format_decode(format, element, components);
    if (format->data != FORMAT_DATA_INVALID)
        format_select(format, components);
}

void format_store(const struct data_format *format, const uint32_t *components, unsigned count,
                  uint8_t *element)
{
    const struct layout *layout = &layouts[format->data & (FORMATS - 1)];
    uint32_t values[8] = {0}, dwords[4] = {0};
    /* The first wins where several are made of one. */
    for (unsigned n = count; n-- > 0;)
        values[format->select[n] & 7] = components[n];
    for (unsigned n = 0, at = 0; n < layout->count; at += layout->bits[n++]) {
        unsigned bits = layout->bits[n];
        uint32_t raw = component_store(values[SELECT_X + n], bits, number_of(format, n));
        dwords[at / 32] |= (raw & (uint32_t)((1ull << bits) - 1)) << at % 32;
    }
    memcpy(element, dwords, layout->bytes);
}

uint16_t format_narrow(const struct data_format *format, uint32_t component)
{
    return format_is_integer(format) ? (uint16_t)component : half_of(f32_of(component));
}

uint32_t format_widen(const struct data_format *format, uint16_t narrow)
{
    if (format->number == NUMBER_SINT)
        return (uint32_t)(int32_t)(int16_t)narrow;
    return format->number == NUMBER_UINT ? narrow : f32_bits(of_half(narrow));
}
