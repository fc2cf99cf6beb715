/*
 * Copies of elements by global loads and stores on each level of the host: full waves whose
 * elements follow each other, and waves that miss that by little. So many waves that most of their
 * memory is not sampled for modelled time, which is looked at by another way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "valu/valu.h"
#include "wave/host_levels.h"
#include "wave/kernel_runner.h"
#include "wave/wave.h"

enum { GROUPS = 4096, SLOT_BYTES = 2048, HEADER_BYTES = 4096, AREA_BYTES = GROUPS * SLOT_BYTES };
enum { SHAPES = 6, ELEMENT_DWORDS_MAX = 4 };

/* How a group's elements lie in its slot: v3 is a lane's offset. By the group's number, s3: 0 and 1
 * plainly, 2 lanes 40 and 41 swapped, 3 lane 63 somewhere else, 4 all at lane 0's, 5 lane 7 absent.
 */
#define SHAPE                                                                                      \
    "v_mov_b32 v4, v0\n"                                                                           \
    "s_cmp_eq_u32 s3, 2\n"                                                                         \
    "s_cselect_b32 s4, 1, 0\n"                                                                     \
    "v_xor_b32 v5, s4, v0\n"                                                                       \
    "v_and_b32 v6, 0x3e, v0\n"                                                                     \
    "v_cmp_eq_u32 vcc, 40, v6\n"                                                                   \
    "v_cndmask_b32 v4, v4, v5, vcc\n"                                                              \
    "s_cmp_eq_u32 s3, 3\n"                                                                         \
    "s_cselect_b32 s4, 64, 63\n"                                                                   \
    "v_mov_b32 v5, s4\n"                                                                           \
    "v_cmp_eq_u32 vcc, 63, v0\n"                                                                   \
    "v_cndmask_b32 v4, v4, v5, vcc\n"                                                              \
    "s_cmp_eq_u32 s3, 4\n"                                                                         \
    "s_cselect_b32 s4, 0, 64\n"                                                                    \
    "v_mov_b32 v5, s4\n"                                                                           \
    "v_cmp_eq_u32 vcc, 0, v5\n"                                                                    \
    "v_cndmask_b32 v4, v4, 0, vcc\n"                                                               \
    "s_cmp_eq_u32 s3, 5\n"                                                                         \
    "s_cselect_b32 s4, 7, 64\n"                                                                    \
    "v_cmp_ne_u32 vcc, s4, v0\n"                                                                   \
    "s_and_b64 exec, exec, vcc\n"

/* s[8:9]: to, s[6:7]: from, both of the group's slot. */
#define BEGIN                                                                                      \
    "s_load_dwordx2 s[12:13], s[0:1], 0x0\n"                                                       \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_load_dwordx4 s[4:7], s[12:13], 0x200\n"                                                     \
    "s_load_dwordx2 s[8:9], s[12:13], 0x210\n"                                                     \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "s_lshl_b32 s10, s2, 11\n"                                                                     \
    "s_add_u32 s6, s6, s10\n"                                                                      \
    "s_addc_u32 s7, s7, 0\n"                                                                       \
    "s_add_u32 s8, s8, s10\n"                                                                      \
    "s_addc_u32 s9, s9, 0\n"                                                                       \
    "s_mul_hi_u32 s3, s2, 0x2aaaaaab\n" /* s2 / 6 */                                               \
    "s_mul_i32 s3, s3, 6\n"                                                                        \
    "s_sub_u32 s3, s2, s3\n"

static const char scalar_format[] = BEGIN SHAPE "v_mul_u32_u24 v3, %u, v4\n"
                                                "global_load_%s v[8:%u], v3, s[6:7] offset:16\n"
                                                "s_waitcnt vmcnt(0)\n"
                                                "global_store_%s v3, v[8:%u], s[8:9] offset:16\n"
                                                "s_endpgm\n";
static const char pair_format[] = BEGIN SHAPE "v_mul_u32_u24 v3, %u, v4\n"
                                              "v_mov_b32 v11, s7\n"
                                              "v_add_co_u32 v10, vcc, s6, v3\n"
                                              "v_addc_co_u32 v11, vcc, 0, v11, vcc\n"
                                              "v_mov_b32 v13, s9\n"
                                              "v_add_co_u32 v12, vcc, s8, v3\n"
                                              "v_addc_co_u32 v13, vcc, 0, v13, vcc\n"
                                              "global_load_%s v[16:%u], v[10:11], off offset:16\n"
                                              "s_waitcnt vmcnt(0)\n"
                                              "global_store_%s v[12:13], v[16:%u], off offset:16\n"
                                              "s_endpgm\n";

struct copy {
    uint32_t dwords, offset;
    bool scalar;
};

static uint32_t lane_element(uint32_t shape, uint32_t lane)
{
    if (shape == 2 && (lane == 40 || lane == 41))
        return lane ^ 1;
    if (shape == 3 && lane == 63)
        return 64;
    return shape == 4 ? 0 : lane;
}

/* What the copy leaves, lane by lane. */
static void expected_write(uint8_t *to, const uint8_t *from, const struct copy *copy)
{
    uint32_t bytes = 4 * copy->dwords;
    for (uint32_t group = 0; group < GROUPS; group++) {
        for (uint32_t lane = 0; lane < WAVE_LANES; lane++) {
            uint32_t shape = group % SHAPES;
            size_t at = (size_t)group * SLOT_BYTES + copy->offset + 16 +
                        (size_t)lane_element(shape, lane) * bytes;
            if (shape != 5 || lane != 7)
                memcpy(to + at, from + at, bytes);
        }
    }
}

static void copy_load(struct kernel_runner *runner, const struct copy *copy)
{
    static const char *const names[] = {"", "dword", "dwordx2", "dwordx3", "dwordx4"};
    char text[4096];
    const char *name = names[copy->dwords];
    uint32_t last = (copy->scalar ? 8 : 16) + copy->dwords - 1;
    snprintf(text, sizeof text, copy->scalar ? scalar_format : pair_format, 4 * copy->dwords, name,
             last, name, last);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
}

static void copy_try(struct kernel_runner *runner, const struct copy *copy, uint8_t *expected)
{
    struct dispatch_result result;
    uint8_t *buffer = kernel_runner_buffer(runner);
    uint8_t *from = buffer + HEADER_BYTES, *to = from + AREA_BYTES + SLOT_BYTES;
    uint64_t arguments[3] = {0, (uintptr_t)from + copy->offset, (uintptr_t)to + copy->offset};
    memcpy(buffer + 0x200, arguments, sizeof arguments);
    memset(to, 0, AREA_BYTES);
    memset(expected, 0, AREA_BYTES);
    expected_write(expected, from, copy);
    assert_int_equal(
        kernel_runner_start(runner, 0, (struct kernel_geometry){GROUPS * 64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, 0);
    if (memcmp(to, expected, AREA_BYTES) != 0)
        fail_msg("level %d, %u dwords, offset %u, %s", host_level, copy->dwords, copy->offset,
                 copy->scalar ? "scalar base" : "pairs");
}

static void level_try(enum host_level level, const char *name)
{
    static uint8_t expected[AREA_BYTES];
    struct kernel_runner *runner;
    if (valu_build_select(name) < 0)
        return; /* not this CPU */
    assert_int_equal(kernel_runner_create(2, HEADER_BYTES + 2 * (AREA_BYTES + SLOT_BYTES), &runner),
                     0);
    host_level = level; /* handlers are chosen when the kernel is decoded */
    uint8_t *from = (uint8_t *)kernel_runner_buffer(runner) + HEADER_BYTES;
    for (size_t i = 0; i < AREA_BYTES; i++)
        from[i] = (uint8_t)(i * 37 + i / 251);
    for (uint32_t n = 0; n < 2 * ELEMENT_DWORDS_MAX; n++) {
        static const uint32_t offsets[] = {0, 16, 240, 4, 8, 2};
        struct copy copy = {n / 2 + 1, 0, n % 2};
        copy_load(runner, &copy);
        for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
            copy.offset = offsets[i];
            copy_try(runner, &copy, expected);
        }
    }
    kernel_runner_destroy(runner);
}

static void test_copies_on_each_level(void **state)
{
    (void)state;
    level_try(LEVEL_PORTABLE, "portable");
    level_try(LEVEL_AVX2, "avx2");
    level_try(LEVEL_AVX512, "avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_copies_on_each_level)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
