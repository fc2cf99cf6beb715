/* What rows.h says of formats. */
#include "image/rows_levels.h"

#include <math.h>
#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

#include "image/float_bits.h"
#include "image/format_parts.h"

/* ---- halves ---- */

#ifdef __F16C__
enum { HALVES = 8 };

static void halves_widen(uint32_t *row)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane += HALVES) {
        const __m256i at = _mm256_load_si256((const __m256i *)(row + lane));
        const __m128i halves =
            _mm_packus_epi32(_mm256_castsi256_si128(at), _mm256_extracti128_si256(at, 1));
        _mm256_store_ps((float *)(row + lane), _mm256_cvtph_ps(halves));
    }
}

static void halves_narrow(const uint32_t *from, uint32_t *to)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane += HALVES) {
        const __m256 at = _mm256_load_ps((const float *)(from + lane));
        const __m128i halves = _mm256_cvtps_ph(at, _MM_FROUND_CUR_DIRECTION);
        _mm256_store_si256((__m256i *)(to + lane), _mm256_cvtepu16_epi32(halves));
    }
}
#else
static void halves_widen(uint32_t *row)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        row[lane] = f32_bits(format_of_half((uint16_t)row[lane]));
}

static void halves_narrow(const uint32_t *from, uint32_t *to)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        to[lane] = format_half_of(f32_of(from[lane]));
}
#endif

/* ---- from memory ---- */

static uint32_t bits_greatest(unsigned bits)
{
    return (uint32_t)((1ull << bits) - 1);
}

static void row_extend(uint32_t *row, unsigned bits)
{
    const unsigned up = 32 - bits;
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        row[lane] = (uint32_t)((int32_t)(row[lane] << up) >> up);
}

static void row_float(uint32_t *row)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        row[lane] = f32_bits((float)(int32_t)row[lane]);
}

/* Numerator and denominator have 24 bits at most, so that a quotient that is no float lies further
 * from the middle of two than a double's last digit: rounding once and twice are the same. */
static void row_share(uint32_t *row, float of)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
        const float value = f32_of(row[lane]) / of;
        row[lane] = f32_bits(value < -1 ? -1 : value);
    }
}

static void row_decode(uint32_t *row, unsigned bits, enum format_number number)
{
    if (number == NUMBER_SNORM || number == NUMBER_SSCALED || number == NUMBER_SINT)
        row_extend(row, bits);
    switch (number) {
    case NUMBER_UNORM:
        row_float(row);
        row_share(row, (float)bits_greatest(bits));
        break;
    case NUMBER_SNORM:
        row_float(row);
        row_share(row, (float)bits_greatest(bits - 1));
        break;
    case NUMBER_USCALED:
    case NUMBER_SSCALED:
        row_float(row);
        break;
    case NUMBER_FLOAT:
        halves_widen(row);
        break;
    case NUMBER_SRGB:
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            row[lane] = format_srgb_load(row[lane]);
        break;
    default:
        break;
    }
}

static void row_take(const uint32_t *element, unsigned first, unsigned bits, uint32_t *out)
{
    const uint32_t mask = bits_greatest(bits);
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        out[lane] = element[lane] >> first & mask;
}

static void row_shift(uint32_t *row, unsigned up)
{
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        row[lane] <<= up;
}

/* `bits` of a float: a half's, or fewer. */
static unsigned half_shift(unsigned bits)
{
    return bits == 11 ? F11_SHIFT : bits == 10 ? F10_SHIFT : 0;
}

void LEVEL_NAME(format_rows_decode, ROWS_LEVEL)(const struct data_format *format,
                                                const image_row *elements, unsigned wanted,
                                                image_row components[FORMAT_COMPONENTS_MAX])
{
    const struct format_parts *parts = format_parts_of(format);
    const uint32_t one = format_one(format);
    for (unsigned n = parts->count; n < FORMAT_COMPONENTS_MAX; n++) {
        for (unsigned lane = 0; wanted >> n & 1 && lane < IMAGE_LANES; lane++)
            components[n][lane] = n == 3 ? one : 0;
    }
    for (unsigned n = 0, at = 0; n < parts->count; at += parts->bits[n++]) {
        const unsigned bits = parts->bits[n];
        if (!(wanted >> n & 1))
            continue;
        if (bits == 32) {
            memcpy(components[n], elements[n], sizeof(image_row));
            continue;
        }
        const enum format_number number = format_number_of(format, n);
        row_take(elements[at / 32], at % 32, bits, components[n]);
        if (number == NUMBER_FLOAT && half_shift(bits))
            row_shift(components[n], half_shift(bits));
        row_decode(components[n], bits, number);
    }
}

/* ---- to memory ---- */

struct row_range {
    double low, high;
    double scale; /* by which values are multiplied and then rounded; 0: cut off */
};

/* Clamped to what the component holds; a NaN becomes 0. */
static inline uint32_t clamped(double value, double low, double high)
{
    value = value == value ? value : 0;
    value = value < low ? low : value;
    return (uint32_t)(int32_t)(value > high ? high : value);
}

static void row_encode_range(const uint32_t *component, const struct row_range *range,
                             uint32_t *out)
{
    const double low = range->low, high = range->high, scale = range->scale;
    if (scale != 0)
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            out[lane] = clamped(nearbyint((double)f32_of(component[lane]) * scale), low, high);
    else
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            out[lane] = clamped(f32_of(component[lane]), low, high);
}

static struct row_range range_of(unsigned bits, enum format_number number)
{
    const double greatest = bits_greatest(bits), greatest_signed = bits_greatest(bits - 1);
    switch (number) {
    case NUMBER_UNORM:
        return (struct row_range){0, greatest, greatest};
    case NUMBER_SNORM:
        return (struct row_range){-greatest_signed, greatest_signed, greatest_signed};
    case NUMBER_USCALED:
        return (struct row_range){0, greatest, 0};
    default:
        return (struct row_range){-greatest_signed - 1, greatest_signed, 0};
    }
}

static void row_encode(const uint32_t *component, unsigned bits, enum format_number number,
                       uint32_t *out)
{
    if (number == NUMBER_UINT || number == NUMBER_SINT) {
        memcpy(out, component, sizeof(image_row));
    } else if (number == NUMBER_SRGB) {
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            out[lane] = format_srgb_store(component[lane]);
    } else if (number == NUMBER_FLOAT && bits < 16) {
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            out[lane] = format_small_float_store(component[lane], bits);
    } else if (number == NUMBER_FLOAT) {
        halves_narrow(component, out);
    } else {
        const struct row_range range = range_of(bits, number);
        row_encode_range(component, &range, out);
    }
}

static void row_add(const uint32_t *raw, unsigned first, unsigned bits, uint32_t *element)
{
    const uint32_t mask = bits_greatest(bits);
    for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
        element[lane] |= (raw[lane] & mask) << first;
}

void LEVEL_NAME(format_rows_encode, ROWS_LEVEL)(const struct data_format *format,
                                                const uint32_t *const *components, unsigned count,
                                                image_row *elements)
{
    const struct format_parts *parts = format_parts_of(format);
    const uint32_t *values[8] = {0};
    /* The first wins where several are made of one. */
    for (unsigned n = count; n-- > 0;)
        values[format->select[n] & 7] = components[n];
    memset(elements, 0, (parts->bytes + 3u) / 4 * sizeof *elements);
    for (unsigned n = 0, at = 0; n < parts->count; at += parts->bits[n++]) {
        const uint32_t *value = values[SELECT_X + n];
        const unsigned bits = parts->bits[n];
        image_row raw;
        if (!value)
            continue; /* 0 is bits of 0 in every format */
        if (bits == 32) {
            memcpy(elements[n], value, sizeof(image_row));
            continue;
        }
        row_encode(value, bits, format_number_of(format, n), raw);
        row_add(raw, at % 32, bits, elements[at / 32]);
    }
}

/* ---- 16-bit registers ---- */

void LEVEL_NAME(format_rows_widen, ROWS_LEVEL)(const struct data_format *format,
                                               const uint32_t *row, unsigned shift,
                                               uint32_t *component)
{
    row_take(row, shift, 16, component);
    if (format->number == NUMBER_SINT)
        row_extend(component, 16);
    else if (format->number != NUMBER_UINT)
        halves_widen(component);
}

static void row_narrow(const struct data_format *format, const uint32_t *component, uint32_t *out)
{
    if (format_is_integer(format))
        row_take(component, 0, 16, out);
    else
        halves_narrow(component, out);
}

void LEVEL_NAME(format_rows_narrow, ROWS_LEVEL)(const struct data_format *format,
                                                const uint32_t *low, const uint32_t *high,
                                                uint32_t *row)
{
    image_row above;
    row_narrow(format, low, row);
    if (!high)
        return;
    row_narrow(format, high, above);
    row_add(above, 16, 16, row);
}
