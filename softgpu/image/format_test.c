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

static void sixteen_bits(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof packed / sizeof packed[0]; row++) {
        struct data_format format = format_of(packed[row].data, NUMBER_UNORM);
        assert_int_equal(format_bytes(&format), 2);
        for (uint32_t raw = 0; raw < 0x10000; raw++) {
            uint8_t element[FORMAT_BYTES_MAX] = {(uint8_t)raw, (uint8_t)(raw >> 8)}, back[16];
            uint32_t got[4];
            format_load(&format, element, got);
            for (unsigned n = 0; n < 4; n++) {
                uint32_t mask = packed[row].masks[n];
                double want = mask ? (double)(raw & mask) / mask : 1;
                assert_true(f32_of(got[n]) == (float)want);
            }
            format_store(&format, got, 4, back);
            assert_memory_equal(back, element, 2);
        }
    }
}

/* 24 bits beside 8. */
static void depths(void **state)
{
    (void)state;
    const uint8_t element[FORMAT_BYTES_MAX] = {0x56, 0x34, 0x12, 0x80};
    uint32_t got[4];
    struct data_format low = format_of(20, NUMBER_UINT), high = format_of(21, NUMBER_UINT);
    format_load(&low, element, got);
    assert_int_equal(got[0], 0x123456);
    assert_int_equal(got[1], 0x80);
    format_load(&high, element, got);
    assert_int_equal(got[0], 0x56);
    assert_int_equal(got[1], 0x801234);
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
    for (unsigned code = 0; code < 256; code++) {
        uint8_t element[FORMAT_BYTES_MAX] = {(uint8_t)code, 0, 255, (uint8_t)code}, back[16];
        uint32_t got[4];
        format_load(&format, element, got);
        assert_true(fabs(code_of(f32_of(got[0])) - code / 255.0) < 1e-5);
        assert_true(f32_of(got[1]) == 0 && f32_of(got[2]) == 1);
        assert_true(f32_of(got[3]) == (float)(code / 255.0)); /* alpha has no curve */
        format_store(&format, got, 4, back);
        assert_memory_equal(back, element, 4);
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
    const uint32_t values[4] = {7, 8, 9, 10};
    uint8_t element[FORMAT_BYTES_MAX] = {0};
    uint32_t got[4];
    format_store(&grey, values, 4, element);
    assert_int_equal(element[0], 7);
    format_load(&grey, element, got);
    assert_true(got[0] == 7 && got[1] == 7 && got[2] == 7 && got[3] == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_bits),
        cmocka_unit_test(depths),
        cmocka_unit_test(srgb),
        cmocka_unit_test(formats_that_do_not_exist),
        cmocka_unit_test(shared_components),
    };
    return cmocka_run_group_tests_name("format", tests, NULL, NULL);
}
