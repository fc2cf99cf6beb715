/*
 * Image instructions, executed: every form of address and every kind of image on each GPU that has
 * them, against texels that the test finds and adds up itself.
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

enum { LANES = 64, BUFFER_BYTES = 0x100000, OUT_AT = 0x80000, TEXT_BYTES = 8192 };
enum { ADDRESS_AT = 0x4000, REGISTERS = 16, IMAGE_AT = 0x10000, DESCRIPTORS_AT = 0x1000 };
enum { FORMAT_8_8_8_8 = 10, FORMAT_32 = 4, FORMAT_32_32 = 11, UNORM = 0, UINT = 4, FLOAT = 7 };
enum { TYPE_1D = 8, TYPE_2D, TYPE_3D, TYPE_CUBE, TYPE_1D_ARRAY, TYPE_2D_ARRAY, TYPE_2D_MSAA };
enum { WRAP = 0, CLAMP = 2, BORDER = 6, XYZW = 0xfac };

/* Scalar registers: s[8:15] the image, s[16:19] the sampler. Vector registers: v[16:31] come from
 * the address table, one row of 64 dwords for each; v[8:12] go out. */
#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"          \
    "s_load_dwordx8 s[8:15], s[4:5], 0x1000\ns_load_dwordx4 s[16:19], s[4:5], 0x1020\n"            \
    "v_lshlrev_b32 v1, 2, v0\ns_add_u32 s6, s4, 0x4000\ns_addc_u32 s7, s5, 0\n"                    \
    "global_load_dword v16, v1, s[6:7]\nglobal_load_dword v17, v1, s[6:7] offset:256\n"            \
    "global_load_dword v18, v1, s[6:7] offset:512\nglobal_load_dword v19, v1, s[6:7] offset:768\n" \
    "global_load_dword v20, v1, s[6:7] offset:1024\n"                                              \
    "global_load_dword v21, v1, s[6:7] offset:1280\n"                                              \
    "global_load_dword v22, v1, s[6:7] offset:1536\n"                                              \
    "global_load_dword v23, v1, s[6:7] offset:1792\n"                                              \
    "v_mov_b32 v8, 0x77\nv_mov_b32 v9, 0x77\nv_mov_b32 v10, 0x77\nv_mov_b32 v11, 0x77\n"           \
    "v_mov_b32 v12, 0x77\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
#define EPILOGUE                                                                                   \
    "\ns_waitcnt vmcnt(0)\nv_lshlrev_b32 v2, 5, v0\ns_add_u32 s6, s4, 0x80000\n"                   \
    "s_addc_u32 s7, s5, 0\nglobal_store_dwordx4 v2, v[8:11], s[6:7]\n"                             \
    "global_store_dword v2, v12, s[6:7] offset:16\ns_endpgm\n"

struct setup {
    const char *gpu;
    struct kernel_runner *runner;
    uint8_t *memory;
};

static struct setup setup_make(const char *gpu)
{
    struct setup s = {.gpu = gpu};
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &s.runner), 0);
    s.memory = kernel_runner_buffer(s.runner);
    return s;
}

static enum fault_kind run(struct setup *s, const char *instruction)
{
    char text[TEXT_BYTES];
    struct dispatch_result result;
    snprintf(text, sizeof text, PROLOGUE "%s" EPILOGUE, instruction);
    if (kernel_runner_load(s->runner, 0, text) != 0)
        fail_msg("%s: %s does not assemble", s->gpu, instruction);
    assert_int_equal(kernel_runner_start(s->runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(s->runner, &result));
    return result.fault;
}

/* A linear image: rows of 256 bytes. */
static void image_set(struct setup *s, unsigned type, unsigned data, unsigned number,
                      const unsigned size[3], unsigned select)
{
    uint32_t *words = (uint32_t *)(s->memory + DESCRIPTORS_AT);
    uint64_t base = (uintptr_t)s->memory + IMAGE_AT;
    unsigned bytes = data == FORMAT_32_32 ? 8 : 4;
    memset(words, 0, 48);
    words[0] = (uint32_t)(base >> 8);
    words[1] = (uint32_t)(base >> 40) | data << 20 | number << 26;
    words[2] = (size[0] - 1) | (size[1] - 1) << 14;
    words[3] = select | type << 28;
    words[4] = (size[2] - 1) | (256 / bytes - 1) << 13;
}

static void sampler_set(struct setup *s, unsigned clamp, bool linear, bool texels)
{
    uint32_t *words = (uint32_t *)(s->memory + DESCRIPTORS_AT + 32);
    words[0] = clamp * 0x49 | (uint32_t)texels << 15;
    words[1] = 4095 << 12;
    words[2] = linear ? 5 << 20 : 0;
    words[3] = 0;
}

static uint32_t *address(struct setup *s, unsigned reg)
{
    return (uint32_t *)(s->memory + ADDRESS_AT + reg * 4 * LANES);
}

static uint32_t float_bits(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

static uint16_t half_bits(float value)
{
    _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, 2);
    return bits;
}

static const uint32_t *result(const struct setup *s, unsigned lane)
{
    return (const uint32_t *)(s->memory + OUT_AT + 32 * lane);
}

static uint32_t *texel(struct setup *s, unsigned x, unsigned y, unsigned z, unsigned height)
{
    return (uint32_t *)(s->memory + IMAGE_AT + 256 * (z * height + y) + 4 * x);
}

static void fill(struct setup *s)
{
    for (unsigned n = 0; n < 0x4000; n++)
        ((uint32_t *)(s->memory + IMAGE_AT))[n] = (uint32_t)rand() * 2654435761u;
}

/* Each kind of image: what lies outside reads 0, alpha stands for itself. */
static void loads(void **state)
{
    struct setup s = setup_make(*state);
    static const struct {
        unsigned type, size[3];
        const char *modifiers;
        const char *registers;
        unsigned coordinates;
    } rows[] = {{TYPE_1D, {37, 1, 1}, "", "v16", 1},
                {TYPE_2D, {37, 21, 1}, "", "v[16:17]", 2},
                {TYPE_3D, {17, 9, 6}, "", "v[16:18]", 3},
                {TYPE_2D_ARRAY, {17, 9, 6}, "da", "v[16:18]", 3}};
    fill(&s);
    for (size_t row = 0; row < 4; row++) {
        const unsigned *size = rows[row].size;
        char text[256];
        image_set(&s, rows[row].type, FORMAT_8_8_8_8, UINT, size, XYZW);
        for (unsigned lane = 0; lane < LANES; lane++) {
            for (unsigned n = 0; n < 3; n++)
                address(&s, n)[lane] = (unsigned)rand() % (size[n] + 2) - 1;
        }
        snprintf(text, sizeof text, "image_load v[8:11], %s, s[8:15] dmask:0xf unorm %s",
                 rows[row].registers, rows[row].modifiers);
        assert_int_equal(run(&s, text), FAULT_NONE);
        for (unsigned lane = 0; lane < LANES; lane++) {
            unsigned at[3] = {0};
            bool inside = true;
            for (unsigned n = 0; n < rows[row].coordinates; n++) {
                at[n] = address(&s, n)[lane];
                inside &= at[n] < size[n];
            }
            uint32_t want = inside ? *texel(&s, at[0], at[1], at[2], size[1]) : 0;
            for (unsigned n = 0; n < 4; n++)
                assert_int_equal(result(&s, lane)[n], want >> 8 * n & 255);
        }
    }
    kernel_runner_destroy(s.runner);
}

/* The mask, packed halves, 16-bit addresses, raw elements, and a mip level that does not exist. */
static void load_forms(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {60, 30, 1};
    fill(&s);
    image_set(&s, TYPE_2D, FORMAT_8_8_8_8, UNORM, size, XYZW);
    for (unsigned lane = 0; lane < LANES; lane++) {
        address(&s, 0)[lane] = lane % 60;
        address(&s, 1)[lane] = lane % 30;
        address(&s, 2)[lane] = lane & 1;                      /* mip level */
        address(&s, 4)[lane] = lane % 60 | (lane % 30) << 16; /* both in one */
    }
    assert_int_equal(run(&s, "image_load v[8:9], v[16:17], s[8:15] dmask:0xa unorm"), FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t raw = *texel(&s, lane % 60, lane % 30, 0, 30);
        assert_true(float_of(result(&s, lane)[0]) == (float)((raw >> 8 & 255) / 255.0));
        assert_true(float_of(result(&s, lane)[1]) == (float)((raw >> 24) / 255.0));
        assert_int_equal(result(&s, lane)[2], 0x77);
    }
    assert_int_equal(run(&s, "image_load v[8:9], v20, s[8:15] dmask:0xf unorm a16 d16"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t raw = *texel(&s, lane % 60, lane % 30, 0, 30);
        for (unsigned n = 0; n < 4; n++) {
            uint16_t got = (uint16_t)(result(&s, lane)[n / 2] >> 16 * (n & 1));
            assert_int_equal(got, half_bits((float)((raw >> 8 * n & 255) / 255.0)));
        }
        assert_int_equal(result(&s, lane)[2], 0x77);
    }
    assert_int_equal(run(&s, "image_load_pck v8, v[16:17], s[8:15] dmask:0x1 unorm\n"
                             "image_load_mip_pck v9, v[16:18], s[8:15] dmask:0x1 unorm"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t raw = *texel(&s, lane % 60, lane % 30, 0, 30);
        assert_int_equal(result(&s, lane)[0], raw);
        assert_int_equal(result(&s, lane)[1], lane & 1 ? 0 : raw);
    }
    kernel_runner_destroy(s.runner);
}

/* Components in another order, clamped and rounded; nothing outside the image changes. */
static void stores(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {40, 5, 1};
    const float values[4] = {-1, 0.25f, 2, 1}; /* 0, 64, 255, 255 */
    image_set(&s, TYPE_2D, FORMAT_8_8_8_8, UNORM, size, 6 | 5 << 3 | 4 << 6 | 7 << 9); /* BGRA */
    memset(s.memory + IMAGE_AT, 0xee, 256 * 6);
    for (unsigned lane = 0; lane < LANES; lane++) {
        address(&s, 0)[lane] = lane % 44;
        address(&s, 1)[lane] = lane / 44 * 4;
        for (unsigned n = 0; n < 4; n++)
            address(&s, 4 + n)[lane] = float_bits(values[n]);
    }
    assert_int_equal(run(&s, "image_store v[20:23], v[16:17], s[8:15] dmask:0xf unorm"),
                     FAULT_NONE);
    for (unsigned y = 0; y < 6; y++) {
        for (unsigned x = 0; x < 64; x++) {
            bool stored = (y == 0 && x < 40) || (y == 4 && x < LANES - 44);
            assert_int_equal(*texel(&s, x, y, 0, 5), stored ? 0xff0040ff : 0xeeeeeeee);
        }
    }
    assert_int_equal(run(&s, "image_store_pck v20, v[16:17], s[8:15] dmask:0x1 unorm"), FAULT_NONE);
    assert_int_equal(*texel(&s, 3, 0, 0, 5), float_bits(-1));
    kernel_runner_destroy(s.runner);
}

#define SOME "s_mov_b32 exec_lo, 0x5a00ff01\ns_mov_b32 exec_hi, 0x80f00a50\n"
static const uint64_t some_lanes = 0x80f00a505a00ff01;

/* Lanes that are off keep their registers and store nothing, whatever their coordinates are; the
 * view of an array begins behind its first layers. */
static void lanes_off(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {17, 9, 6}, first = 2;
    fill(&s);
    image_set(&s, TYPE_2D_ARRAY, FORMAT_8_8_8_8, UINT, size, XYZW);
    ((uint32_t *)(s.memory + DESCRIPTORS_AT))[5] = first;
    sampler_set(&s, CLAMP, false, true);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool on = some_lanes >> lane & 1;
        for (unsigned n = 0; n < 3; n++) {
            const unsigned limit = n == 2 ? size[n] - first : size[n];
            const unsigned at = on ? (unsigned)rand() % limit : (unsigned)rand();
            address(&s, n)[lane] = at;
            address(&s, 3 + n)[lane] = float_bits((float)at + (n < 2 ? 0.5f : 0));
        }
    }
    assert_int_equal(run(&s, SOME "image_load v[8:9], v[16:18], s[8:15] dmask:0xa unorm da\n"
                                  "image_load v11, v[16:18], s[8:15] dmask:0x9 unorm da d16\n"
                                  "v_mov_b32 v4, v19\nv_mov_b32 v5, v20\nv_mov_b32 v6, v21\n"
                                  "image_sample v10, v[4:6], s[8:15], s[16:19] dmask:0x4 da\n"
                                  "s_mov_b64 exec, -1"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint32_t *got = result(&s, lane);
        const unsigned *at[3] = {&address(&s, 0)[lane], &address(&s, 1)[lane],
                                 &address(&s, 2)[lane]};
        if (!(some_lanes >> lane & 1)) {
            assert_true(got[0] == 0x77 && got[1] == 0x77 && got[2] == 0x77 && got[3] == 0x77);
            continue;
        }
        const uint32_t want = *texel(&s, *at[0], *at[1], *at[2] + first, size[1]);
        assert_int_equal(got[0], want >> 8 & 255);
        assert_int_equal(got[1], want >> 24);
        assert_int_equal(got[2], want >> 16 & 255);
        assert_int_equal(got[3], (want & 255) | (want >> 24) << 16);
    }
    memset(s.memory + IMAGE_AT, 0xee, 256 * 9 * 6);
    for (unsigned lane = 0; lane < LANES; lane++) {
        address(&s, 0)[lane] = lane % 16;
        address(&s, 1)[lane] = lane / 16;
        address(&s, 2)[lane] = 3;
        address(&s, 4)[lane] = lane;
    }
    assert_int_equal(run(&s, SOME "image_store v20, v[16:18], s[8:15] dmask:0x1 unorm da\n"
                                  "s_mov_b64 exec, -1"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool on = some_lanes >> lane & 1;
        assert_int_equal(*texel(&s, lane % 16, lane / 16, 3 + first, 9), on ? lane : 0xeeeeeeee);
    }
    kernel_runner_destroy(s.runner);
}

static void atomics(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {8, 4, 1};
    image_set(&s, TYPE_2D, FORMAT_32, UINT, size, XYZW);
    memset(s.memory + IMAGE_AT, 0, 4096);
    for (unsigned lane = 0; lane < LANES; lane++) {
        address(&s, 0)[lane] = lane % 9; /* 8 lies outside */
        address(&s, 1)[lane] = 2;
        address(&s, 4)[lane] = 1 + lane;
        address(&s, 5)[lane] = 0;
    }
    assert_int_equal(run(&s, "image_atomic_add v20, v[16:17], s[8:15] dmask:0x1 unorm"),
                     FAULT_NONE);
    for (unsigned x = 0; x < 8; x++) {
        uint32_t want = 0;
        for (unsigned lane = x; lane < LANES; lane += 9)
            want += 1 + lane;
        assert_int_equal(*texel(&s, x, 2, 0, 4), want);
    }
    memset(s.memory + IMAGE_AT, 0, 4096);
    assert_int_equal(run(&s,
                         "image_atomic_cmpswap v[20:21], v[16:17], s[8:15] dmask:0x3 unorm glc\n"
                         "s_waitcnt vmcnt(0)\nv_mov_b32 v8, v20"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) { /* the first of each texel swaps */
        uint32_t want = lane % 9 == 8 || lane < 9 ? 0 : 1 + lane % 9;
        assert_int_equal(result(&s, lane)[0], want);
    }
    image_set(&s, TYPE_2D, FORMAT_32_32, UINT, size, XYZW);
    memset(s.memory + IMAGE_AT, 0xff, 4096);
    assert_int_equal(run(&s, "image_atomic_umin v[20:21], v[16:17], s[8:15] dmask:0x3 unorm"),
                     FAULT_NONE);
    assert_int_equal(*(uint64_t *)(s.memory + IMAGE_AT + 512), 1); /* lane 0's, the least */
    /* As wide as an element, or not at all. */
    assert_int_equal(run(&s, "image_atomic_add v20, v[16:17], s[8:15] dmask:0x1 unorm"),
                     FAULT_ILLEGAL_INSTRUCTION);
    kernel_runner_destroy(s.runner);
}

static void resource_info(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {300, 200, 7};
    image_set(&s, TYPE_2D_ARRAY, FORMAT_32, FLOAT, size, XYZW);
    for (unsigned lane = 0; lane < LANES; lane++)
        address(&s, 0)[lane] = lane & 1;
    assert_int_equal(run(&s, "image_get_resinfo v[8:11], v16, s[8:15] dmask:0xf unorm da"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint32_t *got = result(&s, lane);
        assert_int_equal(got[3], 1);
        for (unsigned n = 0; n < 3; n++)
            assert_int_equal(got[n], lane & 1 ? 0 : size[n]);
    }
    kernel_runner_destroy(s.runner);
}

/* 32-bit floats of which each is its own place: x + 100 y + 1000 z. */
static void fill_places(struct setup *s, const unsigned size[3])
{
    for (unsigned z = 0; z < size[2]; z++) {
        for (unsigned y = 0; y < size[1]; y++) {
            for (unsigned x = 0; x < size[0]; x++)
                *texel(s, x, y, z, size[1]) =
                    float_bits((float)x + 100 * (float)y + 1000 * (float)z);
        }
    }
}

/* Linear filters of a linear function, nearest ones, on images of each kind. Steps of 1/8 texel. */
static void samples(void **state)
{
    struct setup s = setup_make(*state);
    static const struct {
        unsigned type, size[3];
        const char *modifiers, *registers;
        unsigned coordinates, filtered;
    } rows[] = {{TYPE_1D, {32, 1, 1}, "", "v16", 1, 1},
                {TYPE_2D, {32, 16, 1}, "", "v[16:17]", 2, 2},
                {TYPE_3D, {16, 8, 4}, "", "v[16:18]", 3, 3},
                {TYPE_2D_ARRAY, {16, 8, 4}, "da", "v[16:18]", 3, 2}};
    for (unsigned n = 0; n < 16; n++) {
        bool linear = n & 1, texels = n & 2;
        const unsigned *size = rows[n / 4].size;
        char text[256];
        image_set(&s, rows[n / 4].type, FORMAT_32, FLOAT, size, XYZW);
        sampler_set(&s, CLAMP, linear, texels);
        fill_places(&s, size);
        for (unsigned lane = 0; lane < LANES; lane++) {
            for (unsigned axis = 0; axis < 3; axis++) {
                unsigned steps = 8 * (size[axis] - 1) + 1;
                float at = 0.5f + (float)((unsigned)rand() % steps) / 8; /* between the centres */
                bool layer = axis == 2 && rows[n / 4].filtered == 2;
                at = layer ? (float)((unsigned)rand() % size[2]) : at;
                if (!linear && !layer)
                    at = floorf(at) + 0.375f;
                address(&s, axis)[lane] = float_bits(texels || layer ? at : at / (float)size[axis]);
            }
        }
        snprintf(text, sizeof text, "image_sample v[8:11], %s, s[8:15], s[16:19] dmask:0xf %s",
                 rows[n / 4].registers, rows[n / 4].modifiers);
        assert_int_equal(run(&s, text), FAULT_NONE);
        for (unsigned lane = 0; lane < LANES; lane++) {
            static const double worth[3] = {1, 100, 1000};
            double want = 0;
            for (unsigned axis = 0; axis < rows[n / 4].coordinates; axis++) {
                bool layer = axis == 2 && rows[n / 4].filtered == 2;
                double at = float_of(address(&s, axis)[lane]) * (texels || layer ? 1 : size[axis]);
                want += worth[axis] * (layer ? at : linear ? at - 0.5 : floor(at));
            }
            assert_true(fabs(float_of(result(&s, lane)[0]) - want) < 1e-3);
            assert_true(float_of(result(&s, lane)[3]) == 1);
        }
    }
    kernel_runner_destroy(s.runner);
}

static bool has_extended(const struct setup *s)
{
    return strcmp(s->gpu, "gfx90a") != 0; /* which has image_sample alone */
}

/* What stands before and behind the coordinates. The sampler counts texels, magnifies to the
 * nearest and minifies linearly: at (5.25, 3.5) 305 or 304.75. */
static void sample_forms(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {16, 8, 1};
    static const struct {
        const char *text;
        uint32_t whole; /* the first register, unless 0 */
        float registers[8];
        float want[4];
        unsigned count;
    } rows[] = {
        {"image_sample_l v8, v[16:18], S dmask:0x1", 0, {5.25f, 3.5f, 1}, {304.75f}, 1},
        {"image_sample_l v8, v[16:18], S dmask:0x1", 0, {5.25f, 3.5f, -1}, {305}, 1},
        {"image_sample_lz v8, v[16:17], S dmask:0x1", 0, {5.25f, 3.5f}, {305}, 1},
        {"image_sample_d v8, v[16:21], S dmask:0x1", 0, {4, 0, 0, 4, 5.25f, 3.5f}, {304.75f}, 1},
        {"image_sample_d v8, v[16:21], S dmask:0x1", 0, {.5f, 0, 0, .5f, 5.25f, 3.5f}, {305}, 1},
        {"image_sample_cd v8, v[16:21], S dmask:0x1", 0, {0, 0, 3, 0, 5.25f, 3.5f}, {304.75f}, 1},
        {"image_sample_d_cl v8, v[16:22], S dmask:0x1",
         0,
         {0, 0, 0, 0, 5.25f, 3.5f, 1},
         {304.75f},
         1},
        {"image_sample_cl v8, v[16:18], S dmask:0x1", 0, {5.25f, 3.5f, 2}, {304.75f}, 1},
        {"image_sample_b v8, v[16:18], S dmask:0x1", 0, {3, 5.25f, 3.5f}, {305}, 1},
        {"image_sample_lz_o v8, v[16:18], S dmask:0x1", 0x0000023f, {0, 5.25f, 3.5f}, {504}, 1},
        {"image_sample_l_o v8, v[16:19], S dmask:0x1",
         0x00003f01,
         {0, 5.25f, 3.5f, 1},
         {205.75f},
         1},
        {"image_sample_c_lz v8, v[16:18], S dmask:0x1", 0, {305, 5.25f, 3.5f}, {1}, 1},
        {"image_sample_c_lz v8, v[16:18], S dmask:0x1", 0, {306, 5.25f, 3.5f}, {0}, 1},
        /* three quarters of texel 305, one of 304 are not less */
        {"image_sample_c_l v8, v[16:19], S dmask:0x1", 0, {305, 5.25f, 3.5f, 1}, {0.75f}, 1},
        {"image_sample_c_d_o v8, v[16:23], S dmask:0x1",
         1,
         {0, 306, 4, 4, 4, 4, 5.25f, 3.5f},
         {.75f},
         1},
        {"image_gather4_lz v[8:11], v[16:17], S dmask:0x1",
         0,
         {5.25f, 3.5f},
         {404, 405, 305, 304},
         4},
        {"image_gather4_lz_o v[8:11], v[16:18], S dmask:0x1",
         2,
         {0, 5.25f, 3.5f},
         {406, 407, 307, 306},
         4},
        {"image_gather4_c_lz v[8:11], v[16:18], S dmask:0x1",
         0,
         {400, 5.25f, 3.5f},
         {1, 1, 0, 0},
         4},
    };
    image_set(&s, TYPE_2D, FORMAT_32, FLOAT, size, XYZW);
    fill_places(&s, size);
    sampler_set(&s, CLAMP, false, true);
    uint32_t *sampler = (uint32_t *)(s.memory + DESCRIPTORS_AT + 32);
    sampler[0] |= 3 << 12; /* less or equal */
    sampler[2] = 1 << 22;
    for (size_t row = 0; has_extended(&s) && row < sizeof rows / sizeof rows[0]; row++) {
        char text[256];
        const char *operands = strstr(rows[row].text, ", S ");
        for (unsigned n = 0; n < 8; n++) {
            for (unsigned lane = 0; lane < LANES; lane++)
                address(&s, n)[lane] = n == 0 && rows[row].whole
                                           ? rows[row].whole
                                           : float_bits(rows[row].registers[n]);
        }
        snprintf(text, sizeof text, "%.*s, s[8:15], s[16:19] %s", (int)(operands - rows[row].text),
                 rows[row].text, operands + 4);
        assert_int_equal(run(&s, text), FAULT_NONE);
        for (unsigned n = 0; n < rows[row].count; n++) {
            if (float_of(result(&s, 63)[n]) != rows[row].want[n])
                fail_msg("%s: %u is %f, not %f", rows[row].text, n,
                         (double)float_of(result(&s, 63)[n]), (double)rows[row].want[n]);
        }
    }
    kernel_runner_destroy(s.runner);
}

/* Coordinates of a quad's lanes tell the level of detail: two or half a texel apart. */
static void quads(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {64, 32, 1};
    image_set(&s, TYPE_2D, FORMAT_32, FLOAT, size, XYZW);
    fill_places(&s, size);
    sampler_set(&s, CLAMP, false, true);
    *(uint32_t *)(s.memory + DESCRIPTORS_AT + 40) = 1 << 22;
    for (unsigned lane = 0; lane < LANES; lane++) {
        float apart = lane < 32 ? 2 : 0.5f;
        address(&s, 0)[lane] = float_bits(10.25f + apart * (float)(lane & 1));
        address(&s, 1)[lane] = float_bits(10.5f + apart * (float)(lane >> 1 & 1));
    }
    assert_int_equal(run(&s, "image_sample v8, v[16:17], s[8:15], s[16:19] dmask:0x1"), FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        double x = float_of(address(&s, 0)[lane]), y = float_of(address(&s, 1)[lane]);
        double want = lane < 32 ? x - 0.5 + 100 * (y - 0.5) : floor(x) + 100 * floor(y);
        assert_true(fabs(float_of(result(&s, lane)[0]) - want) < 1e-3);
    }
    if (has_extended(&s)) {
        assert_int_equal(run(&s, "image_get_lod v[8:9], v[16:17], s[8:15], s[16:19] dmask:0x3"),
                         FAULT_NONE);
        for (unsigned lane = 0; lane < LANES; lane++) {
            assert_true(float_of(result(&s, lane)[0]) == (lane < 32 ? 1 : 0)); /* MIN_LOD */
            assert_true(float_of(result(&s, lane)[1]) == (lane < 32 ? 1 : -1));
        }
    }
    kernel_runner_destroy(s.runner);
}

/* 16-bit addresses and results; the status that TFE asks for. */
static void narrow(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {16, 8, 1};
    image_set(&s, TYPE_2D, FORMAT_32, FLOAT, size, XYZW);
    fill_places(&s, size);
    sampler_set(&s, CLAMP, true, true);
    for (unsigned lane = 0; lane < LANES; lane++) {
        address(&s, 0)[lane] = half_bits(5.25f) | (uint32_t)half_bits(3.5f) << 16;
        address(&s, 1)[lane] = 0;
        address(&s, 4)[lane] = 5;
        address(&s, 5)[lane] = 3;
    }
    assert_int_equal(run(&s, "image_sample v8, v16, s[8:15], s[16:19] dmask:0x1 a16\n"
                             "image_sample v10, v16, s[8:15], s[16:19] dmask:0x9 a16 d16"),
                     FAULT_NONE);
    for (unsigned lane = 0; lane < LANES; lane++) {
        assert_true(float_of(result(&s, lane)[0]) == 304.75f);
        assert_int_equal(result(&s, lane)[2], half_bits(304.75f) | (uint32_t)half_bits(1) << 16);
    }
    if (has_extended(&s)) {
        assert_int_equal(run(&s, "image_load v[8:9], v[20:21], s[8:15] dmask:0x1 unorm tfe"),
                         FAULT_NONE);
        assert_true(float_of(result(&s, 9)[0]) == 305);
        assert_int_equal(result(&s, 9)[1], 0);
        assert_int_equal(result(&s, 9)[2], 0x77);
    }
    kernel_runner_destroy(s.runner);
}

/* Beyond the edge: the border's colours, in the image's order of components. */
static void borders(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {4, 4, 1};
    static const struct {
        unsigned border, select;
        float want[4];
    } rows[] = {{0, XYZW, {0, 0, 0, 0}},
                {0, 4 | 1 << 9, {0, 0, 0, 1}}, /* X 0 0 1 */
                {1, XYZW, {0, 0, 0, 1}},
                {2, XYZW, {1, 1, 1, 1}}};
    for (size_t row = 0; row < 4; row++) {
        image_set(&s, TYPE_2D, FORMAT_8_8_8_8, UNORM, size, rows[row].select);
        sampler_set(&s, BORDER, true, true);
        *(uint32_t *)(s.memory + DESCRIPTORS_AT + 44) = rows[row].border << 30;
        for (unsigned lane = 0; lane < LANES; lane++)
            address(&s, 0)[lane] = address(&s, 1)[lane] = float_bits(-9);
        assert_int_equal(run(&s, "image_sample v[8:11], v[16:17], s[8:15], s[16:19] dmask:0xf"),
                         FAULT_NONE);
        for (unsigned n = 0; n < 4; n++)
            assert_true(float_of(result(&s, 1)[n]) == rows[row].want[n]);
    }
    kernel_runner_destroy(s.runner);
}

/* Descriptors that ask for what is not modelled end the kernel by the instruction's name. */
static void refused(void **state)
{
    struct setup s = setup_make(*state);
    const unsigned size[3] = {4, 4, 1};
    static const struct {
        unsigned word;
        uint32_t bits;
    } rows[] = {{3, 1 << 16},    /* two levels */
                {3, 1 << 12},    /* the second of them */
                {3, 6u << 28},   /* more samples than one */
                {6, 1 << 21},    /* compression */
                {1, 8u << 26},   /* a number format that does not exist */
                {3, 14 << 20},   /* a swizzle mode that gfx9 does not have */
                {8, 1 << 9},     /* anisotropic, with the next */
                {11, 3u << 30}}; /* a border from the palette */
    for (size_t row = 0; row < sizeof rows / sizeof rows[0]; row++) {
        image_set(&s, TYPE_2D, FORMAT_32, FLOAT, size, XYZW);
        sampler_set(&s, BORDER, true, true);
        uint32_t *words = (uint32_t *)(s.memory + DESCRIPTORS_AT);
        words[10] |= rows[row].word == 8 ? 10 << 20 : 0;
        assert_int_equal(run(&s, "image_sample v8, v[16:17], s[8:15], s[16:19] dmask:0x1"),
                         FAULT_NONE);
        words[rows[row].word] |= rows[row].bits;
        assert_int_equal(run(&s, "image_sample v8, v[16:17], s[8:15], s[16:19] dmask:0x1"),
                         FAULT_ILLEGAL_INSTRUCTION);
    }
    image_set(&s, TYPE_CUBE, FORMAT_32, FLOAT, size, XYZW);
    sampler_set(&s, CLAMP, true, true);
    assert_int_equal(run(&s, "image_sample v8, v[16:18], s[8:15], s[16:19] dmask:0x1 da"),
                     FAULT_ILLEGAL_INSTRUCTION);
    /* An image where no memory is. */
    image_set(&s, TYPE_2D, FORMAT_32, FLOAT, size, XYZW);
    ((uint32_t *)(s.memory + DESCRIPTORS_AT))[0] = 1;
    ((uint32_t *)(s.memory + DESCRIPTORS_AT))[1] &= ~255u;
    memset(address(&s, 0), 0, 4 * LANES);
    memset(address(&s, 1), 0, 4 * LANES);
    assert_int_equal(run(&s, "image_load v8, v[16:17], s[8:15] dmask:0x1 unorm"),
                     FAULT_MEMORY_READ);
    assert_int_equal(run(&s, "image_store v20, v[16:17], s[8:15] dmask:0x1 unorm"),
                     FAULT_MEMORY_WRITE);
    kernel_runner_destroy(s.runner);
}

#define ON(gpu)                                                                                    \
    cmocka_unit_test_prestate(loads, gpu), cmocka_unit_test_prestate(load_forms, gpu),             \
        cmocka_unit_test_prestate(stores, gpu), cmocka_unit_test_prestate(lanes_off, gpu),         \
        cmocka_unit_test_prestate(atomics, gpu), cmocka_unit_test_prestate(resource_info, gpu),    \
        cmocka_unit_test_prestate(samples, gpu), cmocka_unit_test_prestate(sample_forms, gpu),     \
        cmocka_unit_test_prestate(quads, gpu), cmocka_unit_test_prestate(narrow, gpu),             \
        cmocka_unit_test_prestate(borders, gpu), cmocka_unit_test_prestate(refused, gpu)

int main(void)
{
    static char gfx906[] = "gfx906", gfx90a[] = "gfx90a";
    const struct CMUnitTest tests[] = {ON(gfx906), ON(gfx90a)};
    return cmocka_run_group_tests_name("image", tests, NULL, NULL);
}
