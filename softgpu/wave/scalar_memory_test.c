/*
 * Addresses of scalar loads whose components are no multiples of 4: of each the two low bits are
 * ignored, before they are added. Interpreted, translated, and in groups that are done as a series.
 * Atomics beyond the end of a buffer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "wave/kernel_runner.h"

enum { BUFFER_BYTES = 0x20000, DATA_AT = 0x1000, OUT_AT = 0x4000, DWORDS = 64, GROUPS = 96 };
enum { RESULTS = 5 };

/* s[4:5] the data at `base`, s[12:15] a buffer of it; each group stores what it has loaded. */
#define KERNEL                                                                                     \
    "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mul_i32 s3, s2, %u\n"             \
    "s_add_u32 s10, s8, s3\ns_addc_u32 s11, s9, 0\ns_add_u32 s10, s10, 0x4000\n"                   \
    "s_addc_u32 s11, s11, 0\ns_add_u32 s4, s8, 0x%x\ns_addc_u32 s5, s9, 0\ns_mov_b32 s12, s4\n"    \
    "s_and_b32 s13, s5, 0xffff\ns_movk_i32 s14, 0x100\ns_mov_b32 s15, 0x27000\n"                   \
    "s_mov_b32 s6, 0x%x\nv_mov_b32 v0, 0\ns_load_dword s16, s[4:5], 0x%x\n"                        \
    "s_load_dword s17, s[4:5], s6\ns_load_dword s18, s[4:5], s6 offset:0x%x\n"                     \
    "s_buffer_load_dword s19, s[12:15], 0x%x\n"                                                    \
    "s_buffer_load_dword s20, s[12:15], s6 offset:0x%x\ns_waitcnt lgkmcnt(0)\n"                    \
    "v_mov_b32 v2, s16\nv_mov_b32 v3, s17\nv_mov_b32 v4, s18\nv_mov_b32 v5, s19\n"                 \
    "v_mov_b32 v6, s20\nglobal_store_dwordx4 v0, v[2:5], s[10:11]\n"                               \
    "global_store_dword v0, v6, s[10:11] offset:16\ns_endpgm\n"

static void bits_check(struct kernel_runner *runner, uint32_t base, uint32_t offset, uint32_t more)
{
    const struct kernel_geometry geometry = {.grid = 64 * GROUPS, .group_size = 64};
    char text[2048];
    uint8_t *memory = kernel_runner_buffer(runner);
    struct dispatch_result result;
    sprintf(text, KERNEL, 4 * RESULTS, DATA_AT + base, more, offset, offset, offset, offset);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    for (uint32_t n = 0; n < DWORDS; n++)
        memcpy(memory + DATA_AT + 4 * n, &n, 4);
    memset(memory + OUT_AT, 0xff, 4 * RESULTS * GROUPS);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    const uint32_t b = base / 4, o = offset / 4, m = more / 4;
    const uint32_t want[RESULTS] = {b + o, b + m, b + o + m, b + o, b + o + m};
    for (uint32_t group = 0; group < GROUPS; group++)
        for (uint32_t n = 0; n < RESULTS; n++) {
            uint32_t got;
            memcpy(&got, memory + OUT_AT + 4 * (RESULTS * group + n), 4);
            if (got != want[n])
                fail_msg("group %u base %u offset %u and %u, load %u: dword %u, not %u", group,
                         base, offset, more, n, got, want[n]);
        }
}

static void each_component_is_whole(void **state)
{
    static const uint32_t bits[][3] = {{0, 0, 0}, {1, 3, 0}, {2, 2, 0}, {3, 3, 3},
                                       {0, 1, 3}, {3, 0, 1}, {1, 2, 1}, {0, 3, 2}};
    (void)state;
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    for (size_t n = 0; n < sizeof bits / sizeof *bits; n++)
        bits_check(runner, 8 + bits[n][0], 20 + bits[n][1], 40 + bits[n][2]);
    kernel_runner_destroy(runner);
}

/* s[12:15] a buffer of 32 bytes; dwords 6 to 8 of what is there are 6 to 8, the last one beyond. */
#define ATOMICS                                                                                    \
    "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s12, s8, 0x1000\n"        \
    "s_addc_u32 s13, s9, 0\ns_mov_b32 s14, 32\ns_mov_b32 s15, 0x27000\n"                           \
    "s_mov_b32 s16, 0x100\ns_mov_b32 s17, 0x100\ns_mov_b32 s18, 0x100\ns_mov_b32 s19, 0\n"         \
    "s_mov_b32 s20, 0x100\n"                                                                       \
    "s_buffer_atomic_add s16, s[12:15], 0x18 glc\ns_buffer_atomic_add s17, s[12:15], 0x20 glc\n"   \
    "s_buffer_atomic_add_x2 s[18:19], s[12:15], 0x1c glc\ns_buffer_atomic_add s20, s[12:15], "     \
    "0x20\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v0, 0\nv_mov_b32 v2, s16\nv_mov_b32 v3, s17\n"          \
    "v_mov_b32 v4, s18\nv_mov_b32 v5, s19\ns_add_u32 s8, s8, 0x4000\ns_addc_u32 s9, s9, 0\n"       \
    "global_store_dwordx4 v0, v[2:5], s[8:9]\ns_endpgm\n"

/* As of vector memory: nothing is changed, and 0 returned. */
static void atomics_end_with_the_buffer(void **state)
{
    static const uint32_t want[] = {6, 0, 0, 0}, want_memory[] = {6 + 0x100, 7, 8};
    const struct kernel_geometry geometry = {.grid = 1, .group_size = 1};
    struct kernel_runner *runner;
    struct dispatch_result result;
    (void)state;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    assert_int_equal(kernel_runner_load(runner, 0, ATOMICS), 0);
    for (uint32_t n = 0; n < DWORDS; n++)
        memcpy(memory + DATA_AT + 4 * n, &n, 4);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    assert_memory_equal(memory + OUT_AT, want, sizeof want);
    assert_memory_equal(memory + DATA_AT + 4 * 6, want_memory, sizeof want_memory);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_component_is_whole),
                                       cmocka_unit_test(atomics_end_with_the_buffer)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
