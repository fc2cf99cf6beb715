/*
 * Typed buffer accesses and transfers between memory and LDS, executed, against conversions written
 * down a second time here: bit by bit, and by exponent and fraction.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wave/kernel_runner.h"

enum { LANES = 64, ELEMENT_BYTES = 16, STEP = LANES * ELEMENT_BYTES };
enum { LOADS_AT = 0x10000, NARROW_AT = 0x40000, STORES_AT = 0x80000, BUFFER_BYTES = 0x100000 };
enum { TEXT_BYTES = 60000 };

static const struct {
    const char *name;
    unsigned bytes, count, bits[4];
} data_formats[] = {{"8", 1, 1, {8}},
                    {"16", 2, 1, {16}},
                    {"8_8", 2, 2, {8, 8}},
                    {"32", 4, 1, {32}},
                    {"16_16", 4, 2, {16, 16}},
                    {"10_11_11", 4, 3, {11, 11, 10}},
                    {"11_11_10", 4, 3, {10, 11, 11}},
                    {"10_10_10_2", 4, 4, {2, 10, 10, 10}},
                    {"2_10_10_10", 4, 4, {10, 10, 10, 2}},
                    {"8_8_8_8", 4, 4, {8, 8, 8, 8}},
                    {"32_32", 8, 2, {32, 32}},
                    {"16_16_16_16", 8, 4, {16, 16, 16, 16}},
                    {"32_32_32", 12, 3, {32, 32, 32}},
                    {"32_32_32_32", 16, 4, {32, 32, 32, 32}}};
enum { DATA_FORMATS = sizeof data_formats / sizeof data_formats[0] };
static const char *const number_formats[] = {"UNORM", "SNORM", "USCALED", "SSCALED",
                                             "UINT",  "SINT",  NULL,      "FLOAT"};
enum { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, NUMBER_FORMATS = 8 };

static bool exists(unsigned data, unsigned number)
{
    bool wide = data_formats[data].bits[0] == 32, small = data_formats[data].bits[0] < 16;
    if (!number_formats[number])
        return false;
    if (number == 7)
        return !small || data_formats[data].count == 3;
    return !wide || number == UINT || number == SINT;
}

static uint64_t bits_at(const uint8_t *bytes, unsigned at, unsigned count)
{
    uint64_t value = 0;
    for (unsigned n = 0; n < count; n++)
        value |= (uint64_t)(bytes[(at + n) / 8] >> (at + n) % 8 & 1) << n;
    return value;
}

/* Exponent of five bits, or eight in 32; a sign unless it is a small float. */
static double float_value(uint64_t raw, unsigned bits)
{
    unsigned exponent_bits = bits == 32 ? 8 : 5, sign_bits = bits >= 16;
    unsigned fraction_bits = bits - exponent_bits - sign_bits;
    int exponent = (int)(raw >> fraction_bits & ((1u << exponent_bits) - 1));
    int bias = (1 << (exponent_bits - 1)) - 1;
    double fraction = (double)(raw & ((1u << fraction_bits) - 1)) / (1u << fraction_bits);
    double sign = sign_bits && raw >> (bits - 1) ? -1 : 1;
    if (exponent == (1 << exponent_bits) - 1)
        return fraction != 0 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1 + fraction, exponent - bias) : ldexp(fraction, 1 - bias));
}

/* The component's value as the register holds it: a number, or an integer's bits. */
static double component(unsigned data, unsigned number, unsigned n, const uint8_t *element)
{
    unsigned at = 0, bits = data_formats[data].bits[n];
    if (n >= data_formats[data].count)
        return n == 3 ? 1 : 0;
    for (unsigned i = 0; i < n; i++)
        at += data_formats[data].bits[i];
    uint64_t raw = bits_at(element, at, bits);
    double value = (double)raw;
    if (number == SNORM || number == SSCALED || number == SINT)
        value -= raw >> (bits - 1) ? ldexp(1, (int)bits) : 0;
    if (number == UNORM)
        return value / (ldexp(1, (int)bits) - 1);
    if (number == SNORM)
        return fmax(value / (ldexp(1, (int)bits - 1) - 1), -1);
    return number == 7 ? float_value(raw, bits) : value;
}

static bool is_integer(unsigned number)
{
    return number == UINT || number == SINT;
}

/* The register with that component; NaNs are compared as such. */
static void assert_register(uint32_t got, double want, unsigned number)
{
    float value;
    memcpy(&value, &got, 4);
    if (is_integer(number))
        assert_int_equal(got, (uint32_t)(int64_t)want);
    else if (isnan(want))
        assert_true(isnan(value));
    else
        assert_true(value == (float)want && signbit(value) == signbit((float)want));
}

static void fill(uint8_t *bytes, size_t count)
{
    static const uint8_t corners[] = {0, 0x7f, 0x80, 0xff, 0x3c, 0x7c, 0x01, 0xfc};
    for (size_t n = 0; n < count; n++)
        bytes[n] = n / 64 % 3 == 0 ? corners[(unsigned)rand() % 8] : (uint8_t)rand();
}

static struct kernel_runner *runner_with(const char *gpu, const char *text)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    return runner;
}

static struct dispatch_result run(struct kernel_runner *runner, uint32_t lds_bytes)
{
    struct dispatch_result result;
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, lds_bytes, 0}),
                     0);
    assert_true(kernel_runner_wait(runner, &result));
    return result;
}

/* s[8:11] a raw buffer of all memory from s[4:5] on; v0 the lane, v1 = 16 * lane. */
#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"          \
    "s_mov_b32 s8, s4\ns_and_b32 s9, s5, 0xffff\ns_mov_b32 s10, 0x100000\n"                        \
    "s_mov_b32 s11, 0x00027fac\nv_lshlrev_b32 v1, 4, v0\n"

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};
__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->used +=
        (size_t)vsnprintf(text->bytes + text->used, TEXT_BYTES - text->used, format, arguments);
    va_end(arguments);
    assert_true(text->used < TEXT_BYTES);
}

/* Every format: all lanes load four components, store them as they are, and back in the format. */
static void every_format(void **state)
{
    (void)state;
    static struct text text;
    unsigned step = 0;
    put(&text, PROLOGUE);
    for (unsigned data = 0; data < DATA_FORMATS; data++) {
        for (unsigned number = 0; number < NUMBER_FORMATS; number++) {
            if (!exists(data, number))
                continue;
            char format[80];
            snprintf(format, sizeof format, "format:[BUF_DATA_FORMAT_%s,BUF_NUM_FORMAT_%s]",
                     data_formats[data].name, number_formats[number]);
            put(&text, "tbuffer_load_format_xyzw v[8:11], v1, s[8:11], 0 %s offen\n", format);
            put(&text, "tbuffer_load_format_d16_xyzw v[12:13], v1, s[8:11], 0 %s offen\n", format);
            put(&text, "s_mov_b32 s12, 0x%x\n", LOADS_AT + step * STEP);
            put(&text, "buffer_store_dwordx4 v[8:11], v1, s[8:11], s12 offen\n");
            put(&text, "s_mov_b32 s12, 0x%x\n", NARROW_AT + step * STEP);
            put(&text, "buffer_store_dwordx2 v[12:13], v1, s[8:11], s12 offen\n");
            put(&text, "s_mov_b32 s12, 0x%x\n", STORES_AT + step * STEP);
            put(&text, "tbuffer_store_format_xyzw v[8:11], v1, s[8:11], s12 %s offen\n", format);
            step++;
        }
    }
    put(&text, "s_endpgm\n");
    struct kernel_runner *runner = runner_with("gfx90a", text.bytes);
    uint8_t *memory = kernel_runner_buffer(runner);
    fill(memory, STEP);
    memset(memory + STORES_AT, 0xee, step * STEP);
    assert_int_equal(run(runner, 0).fault, FAULT_NONE);
    step = 0;
    for (unsigned data = 0; data < DATA_FORMATS; data++) {
        for (unsigned number = 0; number < NUMBER_FORMATS; number++) {
            if (!exists(data, number))
                continue;
            for (unsigned lane = 0; lane < LANES; lane++) {
                size_t at = step * STEP + lane * ELEMENT_BYTES;
                const uint8_t *element = memory + lane * ELEMENT_BYTES;
                for (unsigned n = 0; n < 4; n++) {
                    double want = component(data, number, n, element);
                    uint32_t got;
                    uint16_t narrow;
                    memcpy(&got, memory + LOADS_AT + at + 4 * n, 4);
                    assert_register(got, want, number);
                    memcpy(&narrow, memory + NARROW_AT + at + 2 * n, 2);
                    if (is_integer(number))
                        assert_int_equal(narrow, (uint16_t)(int64_t)want);
                    else if (fabs(want) < 2048 && want == (double)(int)want)
                        assert_true(float_value(narrow, 16) == want);
                    else if (fabs(want) < 65504)
                        assert_true(fabs(float_value(narrow, 16) - want) <=
                                    ldexp(fabs(want), -11) + ldexp(1, -25));
                    /* What went in comes out: the value, where several bit patterns have one. */
                    const uint8_t *stored = memory + STORES_AT + at;
                    if (n < data_formats[data].count)
                        assert_register(got, component(data, number, n, stored), number);
                }
                for (unsigned n = data_formats[data].bytes; n < ELEMENT_BYTES; n++)
                    assert_int_equal(memory[STORES_AT + at + n], 0xee);
            }
            step++;
        }
    }
    kernel_runner_destroy(runner);
}

/* The register for lane 0..3 of v8; the dword that storing it in the format gives. */
static uint32_t stored_as(const char *format, float value, const char *mode)
{
    char text[1024];
    uint32_t bits, got;
    memcpy(&bits, &value, 4);
    snprintf(text, sizeof text,
             PROLOGUE "%sv_mov_b32 v8, 0x%x\ns_mov_b64 exec, 1\n"
                      "tbuffer_store_format_x v8, v1, s[8:11], 0 format:[%s] offen\ns_endpgm\n",
             mode, bits, format);
    struct kernel_runner *runner = runner_with("gfx90a", text);
    assert_int_equal(run(runner, 0).fault, FAULT_NONE);
    memcpy(&got, kernel_runner_buffer(runner), 4);
    kernel_runner_destroy(runner);
    return got;
}

/* Stores clamp and round to nearest, whatever the wave's rounding mode is. */
static void stores_clamp_and_round(void **state)
{
    (void)state;
    static const struct {
        const char *format;
        float value;
        uint32_t want;
    } rows[] = {{"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", -1.5f, 0},
                {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", 0.5f, 128}, /* 127.5 */
                {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", 2, 255},
                {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_UNORM", NAN, 0},
                {"BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SNORM", -7, 0x8001},
                {"BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_SNORM", INFINITY, 0x7fff},
                {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_USCALED", 300, 255},
                {"BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_SSCALED", -300, 0x80},
                {"BUF_DATA_FORMAT_16,BUF_NUM_FORMAT_FLOAT", 1e6f, 0x7c00},
                {"BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT", 1, 15 << 6},
                {"BUF_DATA_FORMAT_10_11_11,BUF_NUM_FORMAT_FLOAT", -1, 0},
                {"BUF_DATA_FORMAT_11_11_10,BUF_NUM_FORMAT_FLOAT", 1.99999f, 15 << 5 | 31}};
    for (size_t n = 0; n < sizeof rows / sizeof rows[0]; n++)
        assert_int_equal(stored_as(rows[n].format, rows[n].value, ""), rows[n].want);
    /* Rounding towards zero in MODE. */
    assert_int_equal(stored_as(rows[1].format, 0.5f, "s_setreg_imm32_b32 hwreg(1, 0, 4), 15\n"),
                     128);
}

/* MUBUF takes format and component order from the descriptor; beyond the buffer bytes are 0. */
static void descriptor_formats(void **state)
{
    (void)state;
    /* dst_sel Z, Y, X, 1; 8_8_8_8 unorm; 48 elements of 4 bytes */
    struct kernel_runner *runner = runner_with(
        "gfx90a",
        PROLOGUE "s_or_b32 s9, s9, 0x40000\ns_mov_b32 s10, 48\ns_mov_b32 s11, 0x5032e\n"
                 "buffer_load_format_xyzw v[8:11], v0, s[8:11], 0 idxen\ns_waitcnt vmcnt(0)\n"
                 "buffer_load_format_x v12, v0, s[8:11], 0 idxen\n"
                 "buffer_load_format_d16_hi_x v12, v0, s[8:11], 0 idxen\n"
                 "s_mov_b32 s12, 0x400\nbuffer_store_format_xyz v[8:10], v0, s[8:11], s12 idxen\n"
                 "v_add_u32 v2, 0x10000, v1\nglobal_store_dwordx4 v2, v[8:11], s[4:5]\n"
                 "v_add_u32 v2, 0x20000, v1\nglobal_store_dword v2, v12, s[4:5]\ns_endpgm\n");
    uint8_t *memory = kernel_runner_buffer(runner);
    fill(memory, 256);
    memset(memory + 0x400, 0xee, 256);
    assert_int_equal(run(runner, 0).fault, FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned order[3] = {2, 1, 0};
        for (unsigned n = 0; n < 4; n++) {
            uint32_t got;
            memcpy(&got, memory + 0x10000 + 16 * lane + 4 * n, 4);
            double want = n == 3 ? 1 : lane < 48 ? memory[4 * lane + order[n]] / 255.0 : 0;
            assert_register(got, want, UNORM);
            uint8_t stored = memory[0x400 + 4 * lane + n];
            assert_int_equal(stored, lane >= 48 ? 0xee : n < 3 ? memory[4 * lane + n] : 0);
        }
        uint32_t got;
        memcpy(&got, memory + 0x20000 + 16 * lane, 4);
        double want = lane < 48 ? memory[4 * lane + 2] / 255.0 : 0;
        assert_true(fabs(float_value(got >> 16, 16) - want) <= ldexp(1, -11));
    }
    kernel_runner_destroy(runner);
}

static void invalid_formats(void **state)
{
    (void)state;
    /* An empty descriptor is legal: it reads 0. */
    struct kernel_runner *runner =
        runner_with("gfx90a", PROLOGUE "s_mov_b32 s11, 0\nv_mov_b32 v8, 7\nv_mov_b32 v9, 7\n"
                                       "buffer_load_format_xy v[8:9], v0, s[8:11], 0 offen\n"
                                       "global_store_dwordx2 v1, v[8:9], s[4:5]\ns_endpgm\n");
    uint32_t *words = kernel_runner_buffer(runner);
    words[0] = words[1] = 9;
    assert_int_equal(run(runner, 0).fault, FAULT_NONE);
    assert_int_equal(words[0] | words[1], 0);
    assert_int_equal(kernel_runner_load(runner, 0,
                                        PROLOGUE
                                        "tbuffer_load_format_x v8, v1, s[8:11], 0 "
                                        "format:[BUF_DATA_FORMAT_8,BUF_NUM_FORMAT_FLOAT] offen\n"
                                        "s_endpgm\n"),
                     0);
    struct dispatch_result result = run(runner, 0);
    assert_int_equal(result.fault, FAULT_ILLEGAL_INSTRUCTION);
    assert_string_equal(result.mnemonic, "tbuffer_load_format_x");
    kernel_runner_destroy(runner);
}

/* Each form of load into LDS: what it loads, and the dword that lane 5's element at `at` makes. */
static void loads_into_lds(void **state)
{
    (void)state;
    static const struct {
        const char *gpu, *text;
        unsigned bytes;
        bool sign;
    } forms[] = {
        {"gfx90a", "buffer_load_dword v2, s[8:11], s13 offen offset:32 lds\n", 4, false},
        {"gfx90a", "buffer_load_ubyte v2, s[8:11], s13 offen offset:32 lds\n", 1, false},
        {"gfx90a", "buffer_load_sbyte v2, s[8:11], s13 offen offset:32 lds\n", 1, true},
        {"gfx90a", "buffer_load_ushort v2, s[8:11], s13 offen offset:32 lds\n", 2, false},
        {"gfx90a", "buffer_load_sshort v2, s[8:11], s13 offen offset:32 lds\n", 2, true},
        {"gfx90a", "buffer_load_format_x v2, s[8:11], s13 offen offset:32 lds\n", 4, false},
        {"gfx90a", "global_load_dword v3, s[14:15] offset:32 lds\n", 4, false},
        {"gfx906", "global_load_sbyte v3, s[14:15] offset:32 lds\n", 1, true},
        {"gfx942", "global_load_lds_dword v3, s[14:15] offset:32\n", 4, false},
        {"gfx942", "global_load_lds_sshort v3, s[14:15] offset:32\n", 2, true},
        {"gfx942", "buffer_load_dword v2, s[8:11], s13 offen offset:32 lds\n", 4, false},
    };
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        char text[2048];
        /* Lane n loads from 0x100 + 12 * n + 32 to LDS 0x40 + 32 + 4 * n; lanes 3 and 60 do not. */
        snprintf(text, sizeof text,
                 PROLOGUE
                 "s_mov_b32 s11, 0x00024fac\ns_movk_i32 s13, 0x100\n"
                 "s_add_u32 s14, s4, 0x100\ns_addc_u32 s15, s5, 0\n"
                 "v_mul_u32_u24 v2, v0, 12\nv_mov_b32 v3, v2\n"
                 "v_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, -1\n"
                 "ds_write_b32 v4, v5\nds_write_b32 v4, v5 offset:256\n"
                 "s_mov_b32 m0, 0x50040\n"
                 "s_mov_b32 exec_lo, 0xfffffff7\ns_mov_b32 exec_hi, 0xefffffff\n"
                 "%s"
                 "s_waitcnt vmcnt(0)\ns_mov_b64 exec, -1\n"
                 "ds_read_b32 v6, v4\nds_read_b32 v7, v4 offset:256\ns_waitcnt lgkmcnt(0)\n"
                 "v_add_u32 v8, 0x10000, v4\nglobal_store_dword v8, v6, s[4:5]\n"
                 "global_store_dword v8, v7, s[4:5] offset:256\ns_endpgm\n",
                 forms[f].text);
        struct kernel_runner *runner = runner_with(forms[f].gpu, text);
        uint8_t *memory = kernel_runner_buffer(runner);
        fill(memory, 2048);
        assert_int_equal(run(runner, 512).fault, FAULT_NONE);
        for (unsigned word = 0; word < 128; word++) {
            uint32_t got, want = UINT32_MAX;
            unsigned lane = word - (0x40 + 32) / 4;
            if (lane < LANES && lane != 3 && lane != 60) {
                want = (uint32_t)bits_at(memory + 0x100 + 12 * lane + 32, 0, 8 * forms[f].bytes);
                if (forms[f].sign && want >> (8 * forms[f].bytes - 1))
                    want |= UINT32_MAX << 8 * forms[f].bytes;
            }
            memcpy(&got, memory + 0x10000 + 4 * word, 4);
            assert_int_equal(got, want);
        }
        kernel_runner_destroy(runner);
    }
}

/* LDS to memory without a register; what lies outside the LDS does nothing. A buffer with the
 * lane's number in the index has no range. */
static void lds_to_memory_and_bounds(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        "gfx90a", PROLOGUE
        "v_lshlrev_b32 v4, 2, v0\nv_add_u32 v5, 0x1000, v0\nds_write_b32 v4, v5 offset:256\n"
        "s_mov_b32 m0, 272\ns_or_b32 s9, s9, 0x40000\ns_mov_b32 s10, 50\n"
        /* stride 4, add the lane's number */
        "s_mov_b32 s11, 0x807fac\n"
        "buffer_store_lds_dword s[8:11], 0 offset:4 lds\n"
        "s_mov_b32 m0, 0x1f0\nbuffer_load_dword off, s[8:11], 0 lds\ns_waitcnt vmcnt(0)\n"
        "ds_read_b32 v6, v4 offset:256\ns_waitcnt lgkmcnt(0)\n"
        "v_add_u32 v8, 0x10000, v4\nglobal_store_dword v8, v6, s[4:5]\ns_endpgm\n");
    uint32_t *words = kernel_runner_buffer(runner);
    memset(words, 0xee, 512);
    assert_int_equal(run(runner, 512).fault, FAULT_NONE);
    for (unsigned n = 0; n < 64; n++) {
        uint32_t lds = n + 5 < 64 ? 0x1000 + n + 5 : 0; /* 16 + 4 bytes on */
        assert_int_equal(words[n + 1], lds);
    }
    assert_int_equal(words[0], 0xeeeeeeee);
    for (unsigned n = 0; n < 64; n++) {
        uint32_t want = n < 60 ? 0x1000 + n : words[n - 60];
        assert_int_equal(words[0x10000 / 4 + n], want);
    }
    kernel_runner_destroy(runner);
}

/* The element of one lane goes beyond the buffer: each of its dwords is inside or outside. */
static void check_cut(unsigned dwords, unsigned kept)
{
    enum { CUT_LANE = 20, DATA_AT = 0x400, RESULTS_AT = 0x10000 };
    const unsigned records = DATA_AT + CUT_LANE * ELEMENT_BYTES + 4 * kept;
    char text[1024];
    snprintf(text, sizeof text,
             PROLOGUE "s_mov_b32 s10, %u\ns_movk_i32 s12, 0x400\n"
                      "v_mov_b32 v8, 7\nv_mov_b32 v9, 7\nv_mov_b32 v10, 7\nv_mov_b32 v11, 7\n"
                      "buffer_load_dwordx%u v[8:%u], v1, s[8:11], s12 offen\ns_waitcnt vmcnt(0)\n"
                      "v_or_b32 v12, 0x100, v0\nv_or_b32 v13, 0x200, v0\n"
                      "v_or_b32 v14, 0x300, v0\nv_or_b32 v15, 0x400, v0\n"
                      "buffer_store_dwordx%u v[12:%u], v1, s[8:11], s12 offen\n"
                      "v_add_u32 v2, 0x10000, v1\nglobal_store_dwordx4 v2, v[8:11], s[4:5]\n"
                      "s_endpgm\n",
             records, dwords, 7 + dwords, dwords, 11 + dwords);
    struct kernel_runner *runner = runner_with("gfx90a", text);
    uint8_t *memory = kernel_runner_buffer(runner);
    uint32_t before[LANES * 4], after[LANES * 4], loaded[LANES * 4];
    fill(memory + DATA_AT, sizeof before);
    memcpy(before, memory + DATA_AT, sizeof before);
    assert_int_equal(run(runner, 0).fault, FAULT_NONE);
    memcpy(after, memory + DATA_AT, sizeof after);
    memcpy(loaded, memory + RESULTS_AT, sizeof loaded);
    for (unsigned word = 0; word < LANES * 4; word++) {
        const unsigned lane = word / 4, n = word % 4;
        const bool inside = DATA_AT + 4 * word + 4 <= records;
        assert_int_equal(loaded[word], n >= dwords ? 7 : inside ? before[word] : 0);
        assert_int_equal(after[word], n < dwords && inside ? 0x100 * (n + 1) | lane : before[word]);
    }
    kernel_runner_destroy(runner);
}

static void dwords_at_the_end(void **state)
{
    (void)state;
    for (unsigned dwords = 2; dwords <= 4; dwords++) {
        for (unsigned kept = 0; kept < dwords; kept++)
            check_cut(dwords, kept);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format),       cmocka_unit_test(stores_clamp_and_round),
        cmocka_unit_test(descriptor_formats), cmocka_unit_test(invalid_formats),
        cmocka_unit_test(loads_into_lds),     cmocka_unit_test(lds_to_memory_and_bounds),
        cmocka_unit_test(dwords_at_the_end),
    };
    return cmocka_run_group_tests_name("typed buffers and LDS transfers", tests, NULL, NULL);
}
