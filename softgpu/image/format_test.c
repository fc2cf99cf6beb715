/*
 * Formats that images have and buffers do not: every element of 16 bits, and what stands beside
 * them, against shares worked out from masks, and sRGB's curve from its definition, run backwards.
 * The formats of buffers are tried by wave/typed_test.c.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "image/float_bits.h"
#include "image/format.h"
#include "image/rows_host.h"

/* IMG_DATA_FORMAT, and the mask of each component from X on. */
static const struct {
    uint8_t data;
    uint32_t masks[4];
} packed[] = {{16, {0x001f, 0x07e0, 0xf800, 0}},      /* 5_6_5 */
              {17, {0x001f, 0x03e0, 0x7c00, 0x8000}}, /* 1_5_5_5 */
              {18, {0x0001, 0x003e, 0x07c0, 0xf800}}, /* 5_5_5_1 */
              {19, {0x000f, 0x00f0, 0x0f00, 0xf000}}, /* 4_4_4_4 */
              {58, {0x001f, 0x03e0, 0xfc00, 0}}};     /* 6_5_5 */

static struct data_format format_of(unsigned data, enum format_number number)
{
    return (struct data_format){.data = (uint8_t)data,
                                .number = (uint8_t)number,
                                .select = {SELECT_X, SELECT_Y, SELECT_Z, SELECT_W}};
}

/* Elements of one dword at most, of all lanes, to components as a register has them, by the level's
 * functions, and back. */
struct texels {
    image_row components[FORMAT_COMPONENTS_MAX], selected[FORMAT_COMPONENTS_MAX], back;
};

static void texels_load(const struct image_rows *level, const struct data_format *format,
                        const image_row elements, struct texels *out)
{
    const uint32_t *selected[FORMAT_COMPONENTS_MAX];
    image_row given[FORMAT_COMPONENTS_MAX] = {{0}};
    memcpy(given[0], elements, sizeof given[0]);
    level->decode(format, given, 15, out->components);
    format_select_rows(format, out->components, selected);
    for (unsigned n = 0; n < FORMAT_COMPONENTS_MAX; n++)
        memcpy(out->selected[n], selected[n], sizeof out->selected[n]);
    image_row encoded[FORMAT_COMPONENTS_MAX];
    level->encode(format, selected, FORMAT_COMPONENTS_MAX, encoded);
    memcpy(out->back, encoded[0], sizeof out->back);
}

static void each_level(void run(const struct image_rows *level))
{
    for (unsigned n = 0; n < ROWS_LEVELS; n++) {
        if (rows_level(n))
            run(rows_level(n));
    }
}

static void sixteen_bits_on(const struct image_rows *level)
{
    for (size_t row = 0; row < sizeof packed / sizeof packed[0]; row++) {
        struct data_format format = format_of(packed[row].data, NUMBER_UNORM);
        assert_int_equal(format_bytes(&format), 2);
        for (uint32_t first = 0; first < 0x10000; first += IMAGE_LANES) {
            image_row elements;
            struct texels got;
            for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
                elements[lane] = first + lane;
            texels_load(level, &format, elements, &got);
            for (unsigned n = 0; n < 4; n++) {
                uint32_t mask = packed[row].masks[n];
                for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
                    double want = mask ? (double)(elements[lane] & mask) / mask : 1;
                    assert_true(f32_of(got.selected[n][lane]) == (float)want);
                }
            }
            assert_memory_equal(got.back, elements, sizeof elements);
        }
    }
}

static void sixteen_bits(void **state)
{
    (void)state;
    each_level(sixteen_bits_on);
}

/* Shares of the widest components, and back: 24 bits, all of them on one level. */
static void shares_on(const struct image_rows *level)
{
    static const struct {
        uint8_t data, number;
        unsigned bits;
    } rows[] = {{20, NUMBER_UNORM, 24}, {2, NUMBER_UNORM, 16}, {2, NUMBER_SNORM, 16},
                {9, NUMBER_SNORM, 10},  {1, NUMBER_SNORM, 8},  {2, NUMBER_SSCALED, 16},
                {2, NUMBER_USCALED, 16}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct data_format format = format_of(rows[row].data, (enum format_number)rows[row].number);
        const uint32_t end = 1u << rows[row].bits, step = end > 0x10000 ? 37 : 1;
        for (uint32_t first = 0; first < end; first += IMAGE_LANES * step) {
            image_row elements;
            struct texels got;
            for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
                elements[lane] = (first + lane * step) & (end - 1);
            texels_load(level, &format, elements, &got);
            for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
                const unsigned up = 32 - rows[row].bits;
                const double number =
                    rows[row].number == NUMBER_UNORM || rows[row].number == NUMBER_USCALED
                        ? (double)elements[lane]
                        : (double)((int32_t)(elements[lane] << up) >> up);
                const double of = rows[row].number == NUMBER_UNORM   ? end - 1.0
                                  : rows[row].number == NUMBER_SNORM ? end / 2 - 1.0
                                                                     : 1;
                const bool least = rows[row].number == NUMBER_SNORM && number / of < -1;
                const double want = least ? -1 : number / of;
                assert_true(f32_of(got.selected[0][lane]) == (float)want);
                if (!least) /* which stands for the same as the next one */
                    assert_int_equal(got.back[lane], elements[lane]);
            }
        }
    }
}

static void shares(void **state)
{
    (void)state;
    each_level(shares_on);
}

/* Every half, and a register's halves. */
static void halves_on(const struct image_rows *level)
{
    struct data_format format = format_of(2, NUMBER_FLOAT);
    for (uint32_t first = 0; first < 0x10000; first += IMAGE_LANES) {
        image_row elements, both;
        struct texels got;
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            elements[lane] = first + lane;
        texels_load(level, &format, elements, &got);
        level->narrow(&format, got.selected[1], got.selected[0], both); /* 0 below */
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
            _Float16 half;
            uint16_t bits = (uint16_t)elements[lane];
            memcpy(&half, &bits, 2);
            if (half != half) { /* NaNs become quiet */
                bits |= 0x200;
                assert_true(f32_of(got.selected[0][lane]) != f32_of(got.selected[0][lane]));
            } else {
                assert_true(f32_of(got.selected[0][lane]) == (float)half);
            }
            assert_int_equal(got.back[lane], bits);
            assert_int_equal(both[lane], (uint32_t)bits << 16);
        }
        level->widen(&format, both, 16, got.back);
        assert_memory_equal(got.back, got.selected[0], sizeof got.back);
    }
    struct data_format integers = format_of(2, NUMBER_SINT);
    image_row row = {0x8000fffe}, wide;
    level->widen(&integers, row, 16, wide);
    assert_int_equal(wide[0], 0xffff8000);
    integers.number = NUMBER_UINT;
    level->widen(&integers, row, 0, wide);
    assert_int_equal(wide[0], 0xfffe);
    level->narrow(&integers, row, row, wide);
    assert_int_equal(wide[0], 0xfffefffe);
}

static void halves(void **state)
{
    (void)state;
    each_level(halves_on);
}

/* What no component holds is clamped; NaN is 0. */
static void clamps_on(const struct image_rows *level)
{
    static const float values[] = {-INFINITY, -3, -1, -0.6f, NAN, 0.6f, 1, 3, INFINITY, 300};
    static const struct {
        enum format_number number;
        uint32_t want[10];
    } rows[] = {{NUMBER_UNORM, {0, 0, 0, 0, 0, 153, 255, 255, 255, 255}},
                {NUMBER_SNORM, {0x81, 0x81, 0x81, 0xb4, 0, 76, 127, 127, 127, 127}},
                {NUMBER_USCALED, {0, 0, 0, 0, 0, 0, 1, 3, 255, 255}},
                {NUMBER_SSCALED, {0x80, 0xfd, 0xff, 0, 0, 0, 1, 3, 127, 127}},
                {NUMBER_SRGB, {0, 0, 0, 0, 0, 203, 255, 255, 255, 255}}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct data_format format = format_of(1, rows[row].number);
        image_row given = {0}, elements[FORMAT_COMPONENTS_MAX];
        const uint32_t *components[FORMAT_COMPONENTS_MAX] = {given, given, given, given};
        for (unsigned n = 0; n < 10; n++)
            given[n] = f32_bits(values[n]);
        level->encode(&format, components, 1, elements);
        for (unsigned n = 0; n < 10; n++)
            assert_int_equal(elements[0][n], rows[row].want[n]);
    }
}

static void clamps(void **state)
{
    (void)state;
    each_level(clamps_on);
}

/* 24 bits beside 8. */
static void depths(void **state)
{
    (void)state;
    const image_row elements = {0x80123456};
    struct texels got;
    struct data_format low = format_of(20, NUMBER_UINT), high = format_of(21, NUMBER_UINT);
    texels_load(&image_rows_portable, &low, elements, &got);
    assert_int_equal(got.selected[0][0], 0x123456);
    assert_int_equal(got.selected[1][0], 0x80);
    texels_load(&image_rows_portable, &high, elements, &got);
    assert_int_equal(got.selected[0][0], 0x56);
    assert_int_equal(got.selected[1][0], 0x801234);
}

/* From light to the code: the definition's other direction. */
static double code_of(double light)
{
    return light <= 0.0031308 ? 12.92 * light : 1.055 * pow(light, 1 / 2.4) - 0.055;
}

static void srgb(void **state)
{
    (void)state;
    struct data_format format = format_of(10, NUMBER_SRGB);
    assert_int_equal(format_bytes(&format), 4);
    for (unsigned first = 0; first < 256; first += IMAGE_LANES) {
        image_row elements;
        struct texels got;
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++)
            elements[lane] = (first + lane) * 0x01000001u | 0xff0000;
        texels_load(&image_rows_portable, &format, elements, &got);
        for (unsigned lane = 0; lane < IMAGE_LANES; lane++) {
            const double code = (first + lane) / 255.0;
            assert_true(fabs(code_of(f32_of(got.selected[0][lane])) - code) < 1e-5);
            assert_true(f32_of(got.selected[1][lane]) == 0 && f32_of(got.selected[2][lane]) == 1);
            assert_true(f32_of(got.selected[3][lane]) == (float)code); /* alpha has no curve */
        }
        assert_memory_equal(got.back, elements, sizeof elements);
    }
}

static void formats_that_do_not_exist(void **state)
{
    (void)state;
    static const uint8_t rows[][2] = {{4, NUMBER_UNORM},  {15, NUMBER_UINT}, {34, NUMBER_FLOAT},
                                      {35, NUMBER_UNORM}, {4, NUMBER_SRGB},  {2, NUMBER_SRGB},
                                      {16, NUMBER_FLOAT}, {10, 8},           {10, 10},
                                      {63, NUMBER_UINT},  {17, NUMBER_SRGB}, {8, NUMBER_SRGB}};
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        struct data_format format = format_of(rows[row][0], rows[row][1]);
        assert_int_equal(format_bytes(&format), 0);
    }
}

/* Where several results are made of one component, the first is stored. */
static void shared_components(void **state)
{
    (void)state;
    struct data_format grey = {
        .data = 1, .number = NUMBER_UINT, .select = {SELECT_X, SELECT_X, SELECT_X, SELECT_1}};
    const image_row values[FORMAT_COMPONENTS_MAX] = {{7}, {8}, {9}, {10}};
    const uint32_t *given[] = {values[0], values[1], values[2], values[3]};
    image_row elements[FORMAT_COMPONENTS_MAX];
    struct texels got;
    image_rows_portable.encode(&grey, given, 4, elements);
    assert_int_equal(elements[0][0], 7);
    texels_load(&image_rows_portable, &grey, elements[0], &got);
    for (unsigned n = 0; n < 4; n++)
        assert_int_equal(got.selected[n][0], n < 3 ? 7 : 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_bits),
        cmocka_unit_test(shares),
        cmocka_unit_test(halves),
        cmocka_unit_test(clamps),
        cmocka_unit_test(depths),
        cmocka_unit_test(srgb),
        cmocka_unit_test(formats_that_do_not_exist),
        cmocka_unit_test(shared_components),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
