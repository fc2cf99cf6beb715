/* Kernels through the whole engine, against what their text says they do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "wave/kernel_runner.h"

enum { BUFFER_BYTES = 1 << 16, ITEMS = 1000, GROUP = 256 };

/* v1 = byte offset of the work-item's dword, v0 = flat work-item id, s[4:5] = buffer */
#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "s_lshl_b32 s6, s2, 8\n"                                                                       \
    "v_and_b32 v0, 0x3ff, v0\n"                                                                    \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "v_add_u32 v2, s6, v0\n"                                                                       \
    "v_lshlrev_b32 v1, 2, v2\n"
#define EPILOGUE "global_store_dword v1, v3, s[4:5]\ns_endpgm\n"

static const struct kernel_geometry one_wave = {64, 64, 0, 0};

static struct kernel_runner *runner_with(int threads, const char *text)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(threads, BUFFER_BYTES, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    return runner;
}

static struct dispatch_result run(struct kernel_runner *runner, unsigned slot,
                                  struct kernel_geometry geometry)
{
    struct dispatch_result result;
    assert_int_equal(kernel_runner_start(runner, slot, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    return result;
}

/* A partial last group writes its own work-items and nothing behind them. */
static void partial_groups(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(2, PROLOGUE "v_mul_lo_u32 v3, v2, 7\n" EPILOGUE);
    uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(run(runner, 0, (struct kernel_geometry){ITEMS, GROUP, 0, 0}).fault,
                     FAULT_NONE);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(words[i], 7 * i);
    for (uint32_t i = ITEMS; i < ITEMS + GROUP; i++)
        assert_int_equal(words[i], 0);
    kernel_runner_destroy(runner);
}

/* Sum of 0..99 in a scalar loop, then bit tricks whose results C can state. */
static void scalar_alu(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        1, "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
           "s_mov_b32 s8, 0\ns_mov_b32 s9, 0\n"
           "loop: s_add_u32 s8, s8, s9\ns_add_u32 s9, s9, 1\ns_cmp_lt_u32 s9, 0x64\n"
           "s_cbranch_scc1 loop\n"
           "s_mov_b32 s10, 0x00f0\n"
           "s_ff1_i32_b32 s11, s10\ns_flbit_i32_b32 s12, s10\ns_bcnt1_i32_b32 s13, s10\n"
           "s_bfe_i32 s14, s10, 0x40004\ns_brev_b32 s15, s10\n"
           "s_mov_b32 s16, -1\ns_add_u32 s17, s16, 2\ns_addc_u32 s18, 0, 0\n"
           "s_movk_i32 s19, 0x8000\ns_mul_hi_u32 s20, s16, s16\n"
           "s_waitcnt lgkmcnt(0)\nv_mov_b32 v9, 0\n"
           "v_mov_b32 v2, s8\nv_mov_b32 v3, s11\nv_mov_b32 v4, s12\nv_mov_b32 v5, s13\n"
           "global_store_dwordx4 v9, v[2:5], s[4:5]\n"
           "v_mov_b32 v2, s14\nv_mov_b32 v3, s15\nv_mov_b32 v4, s17\nv_mov_b32 v5, s18\n"
           "global_store_dwordx4 v9, v[2:5], s[4:5] offset:16\n"
           "v_mov_b32 v2, s19\nv_mov_b32 v3, s20\n"
           "global_store_dwordx2 v9, v[2:3], s[4:5] offset:32\ns_endpgm\n");
    const uint32_t *words = kernel_runner_buffer(runner);
    static const uint32_t expected[] = {4950,       4, 24, 4,          (uint32_t)-1,
                                        0x0f000000, 1, 1,  0xffff8000, 0xfffffffe};
    assert_int_equal(run(runner, 0, one_wave).fault, FAULT_NONE);
    assert_memory_equal(words, expected, sizeof expected);
    kernel_runner_destroy(runner);
}

/* Four waves turn a group around in LDS; without the barrier they would read stale words. */
static void lds_and_barrier(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        2,
        PROLOGUE "v_lshlrev_b32 v4, 2, v0\nds_write_b32 v4, v2\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                 "v_sub_u32 v5, 0x3fc, v4\nds_read_b32 v3, v5\ns_waitcnt lgkmcnt(0)\n" EPILOGUE);
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(run(runner, 0, (struct kernel_geometry){4 * GROUP, GROUP, 1024, 0}).fault,
                     FAULT_NONE);
    for (uint32_t i = 0; i < 4 * GROUP; i++)
        assert_int_equal(words[i], i / GROUP * GROUP + (GROUP - 1 - i % GROUP));
    kernel_runner_destroy(runner);
}

/* A half that is loaded takes all of its register, as rocBLAS's kernels want: each half comes into
 * one of its own, and v_or_b32 joins them. */
static void halves_take_whole_registers(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        1, PROLOGUE "v_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, 0x12345678\nds_write_b32 v4, v5\n"
                    "s_waitcnt lgkmcnt(0)\nv_mov_b32 v6, -1\nv_mov_b32 v7, -1\n"
                    "ds_read_u16_d16 v6, v4\nds_read_u16_d16_hi v7, v4 offset:2\n"
                    "s_waitcnt lgkmcnt(0)\nv_or_b32 v6, v6, v7\n"
                    "global_store_dword v4, v6, s[4:5]\ns_waitcnt vmcnt(0)\n"
                    "v_mov_b32 v3, -1\nv_mov_b32 v8, -1\n"
                    "global_load_short_d16 v3, v4, s[4:5]\n"
                    "global_load_short_d16_hi v8, v4, s[4:5] offset:2\ns_waitcnt vmcnt(0)\n"
                    "v_or_b32 v3, v3, v8\n" EPILOGUE);
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(run(runner, 0, (struct kernel_geometry){GROUP, GROUP, 1024, 0}).fault,
                     FAULT_NONE);
    for (uint32_t i = 0; i < GROUP; i++)
        assert_int_equal(words[i], 0x12345678);
    kernel_runner_destroy(runner);
}

/* One group of four waves, each of whose items stores what the text has left in v3. */
static void every_item_gets(uint32_t value, const char *text)
{
    struct kernel_runner *runner = runner_with(1, text);
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(run(runner, 0, (struct kernel_geometry){GROUP, GROUP, 1024, 0}).fault,
                     FAULT_NONE);
    for (uint32_t i = 0; i < GROUP; i++)
        assert_int_equal(words[i], value);
    kernel_runner_destroy(runner);
}

/* A program that lacks a barrier, and is right on hardware: all waves read what all have written,
 * then each overwrites its part. Counted or not, turns are the same. */
static void all_read_before_any_writes(const char *write, const char *read, const char *tail)
{
    char text[4096];
    snprintf(text, sizeof text,
             PROLOGUE "v_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, 1\nv_mov_b32 v6, 0\nv_mov_b32 v3, 0\n"
                      "s_mov_b64 s[8:9], src_shared_base\nv_mov_b32 v10, v4\nv_mov_b32 v11, s9\n"
                      "v_mov_b32 v12, 0\nv_mov_b32 v13, s9\n"
                      "v_mov_b32 v8, 0\n%s v5%s\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier\n"
                      ".rept 32\n%s\nv_add_u32 v6, 32, v6\nv_add_u32 v12, 32, v12\n"
                      "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v3, v3, v7\n.endr\n"
                      "%s v8%s\ns_waitcnt vmcnt(0) lgkmcnt(0)\n" EPILOGUE,
             write, tail, read, write, tail);
    every_item_gets(32, text);
}
static void waves_go_on_in_step(void **state)
{
    (void)state;
    all_read_before_any_writes("ds_write_b32 v4,", "ds_read_b32 v7, v6", "");
    all_read_before_any_writes("global_store_dword v4,", "global_load_dword v7, v6, s[4:5]",
                               ", s[4:5]");
    all_read_before_any_writes("ds_write_b32 v4,", "flat_load_dword v7, v[12:13]", "");
    all_read_before_any_writes("flat_store_dword v[10:11],", "ds_read_b32 v7, v6", "");
}

/* The same where memory is loaded into LDS behind the reads. */
static void waves_read_before_memory_comes(void **state)
{
    (void)state;
    every_item_gets(32, PROLOGUE
                    "v_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, 1\nv_mov_b32 v6, 0\nv_mov_b32 v3, 0\n"
                    "ds_write_b32 v4, v5\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                    ".rept 32\nds_read_b32 v7, v6\nv_add_u32 v6, 32, v6\ns_waitcnt lgkmcnt(0)\n"
                    "v_add_u32 v3, v3, v7\n.endr\n"
                    "s_mov_b64 s[12:13], s[4:5]\ns_mov_b32 s14, -1\ns_mov_b32 s15, 0x27000\n"
                    "v_readfirstlane_b32 s16, v4\ns_mov_b32 m0, s16\n"
                    "buffer_load_dword off, s[12:15], 0 lds\ns_waitcnt vmcnt(0)\n" EPILOGUE);
}

/* The same with one word that all read and the first wave then overwrites. */
static void waves_read_before_one_writes(void **state)
{
    (void)state;
    every_item_gets(7, PROLOGUE
                    "v_mov_b32 v4, 0\nv_mov_b32 v5, 7\nds_write_b32 v4, v5\n"
                    "s_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v3, v4\ns_waitcnt lgkmcnt(0)\n"
                    "v_add_u32 v6, v3, v3\nv_cmpx_eq_u32 vcc, 0, v0\nds_write_b32 v4, v6\n"
                    "s_mov_b64 exec, -1\ns_waitcnt lgkmcnt(0)\ns_barrier\n" EPILOGUE);
}

/* One without a barrier where each wave has written, and all read what all have: the first wave's
 * turn ends before it reads what others have still to write. */
static void all_write_before_any_reads(const char *write, const char *read, const char *tail)
{
    char text[4096];
    snprintf(text, sizeof text,
             PROLOGUE "v_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, 1\nv_mov_b32 v6, 0\nv_mov_b32 v3, 0\n"
                      "v_mov_b32 v8, 0\n%s v8%s\ns_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier\n"
                      "%s v5%s\ns_waitcnt vmcnt(0) lgkmcnt(0)\n.rept 32\n%s\nv_add_u32 v6, 32, v6\n"
                      "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_add_u32 v3, v3, v7\n.endr\n" EPILOGUE,
             write, tail, write, tail, read);
    every_item_gets(32, text);
}
static void waves_write_before_one_reads(void **state)
{
    (void)state;
    all_write_before_any_reads("ds_write_b32 v4,", "ds_read_b32 v7, v6", "");
    all_write_before_any_reads("global_store_dword v4,", "global_load_dword v7, v6, s[4:5]",
                               ", s[4:5]");
}

/* The same where each wave has copied eight rows from LDS by generic stores, which may be to LDS.
 */
static void waves_copy_before_one_reads(void **state)
{
    (void)state;
    every_item_gets(32, PROLOGUE
                    "v_lshlrev_b32 v4, 2, v0\nv_mov_b32 v5, 1\nv_mov_b32 v6, 0\nv_mov_b32 v3, 0\n"
                    "v_mov_b32 v9, s5\nv_add_co_u32 v8, vcc, s4, v1\n"
                    "v_addc_co_u32 v9, vcc, 0, v9, vcc\nv_mov_b32 v10, 0x1000\n"
                    "ds_write_b32 v4, v5\ns_waitcnt lgkmcnt(0)\ns_barrier\n"
                    ".rept 8\nds_read_b32 v7, v4\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
                    "flat_store_dword v[8:9], v7\nv_add_co_u32 v8, vcc, v10, v8\n"
                    "v_addc_co_u32 v9, vcc, 0, v9, vcc\n.endr\n"
                    "v_mov_b32 v6, 0x7000\n.rept 32\nglobal_load_dword v7, v6, s[4:5]\n"
                    "v_add_u32 v6, 32, v6\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
                    "v_add_u32 v3, v3, v7\n.endr\n" EPILOGUE);
}

/* Every work-item draws a ticket: each number once. */
static void atomics_return_old(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        2, PROLOGUE "v_mov_b32 v4, 0\nv_mov_b32 v5, 1\ns_mov_b32 s8, 0x8000\n"
                    "s_add_u32 s8, s4, s8\ns_addc_u32 s9, s5, 0\n"
                    "global_atomic_add v3, v4, v5, s[8:9] glc\ns_waitcnt vmcnt(0)\n" EPILOGUE);
    uint32_t *words = kernel_runner_buffer(runner), seen[ITEMS] = {0};
    assert_int_equal(run(runner, 0, (struct kernel_geometry){ITEMS, GROUP, 0, 0}).fault,
                     FAULT_NONE);
    assert_int_equal(words[0x8000 / 4], ITEMS);
    for (uint32_t i = 0; i < ITEMS; i++) {
        assert_in_range(words[i], 0, ITEMS - 1);
        assert_int_equal(seen[words[i]]++, 0);
    }
    kernel_runner_destroy(runner);
}

/* Private memory by its own instruction and through the generic aperture is the same memory. */
static void private_memory(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        2, PROLOGUE
        "v_mov_b32 v4, 12\nscratch_store_dword v4, v2, off\n"
        "s_mov_b64 s[8:9], src_private_base\nv_mov_b32 v7, s9\nv_mov_b32 v6, 12\n"
        "s_waitcnt vmcnt(0)\nflat_load_dword v3, v[6:7]\ns_waitcnt vmcnt(0) lgkmcnt(0)\n" EPILOGUE);
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(run(runner, 0, (struct kernel_geometry){ITEMS, GROUP, 0, 64}).fault,
                     FAULT_NONE);
    for (uint32_t i = 0; i < ITEMS; i++)
        assert_int_equal(words[i], i);
    kernel_runner_destroy(runner);
}

/* Groups count themselves in and out, and note how many were in at once. Each sleeps a while, so
 * that the engine would start all of them. */
static uint32_t most_groups_at_once(uint32_t group_waves, uint32_t scratch_waves)
{
    enum { GROUPS = 30 };
    struct kernel_runner *runner = runner_with(
        2, PROLOGUE "v_cmp_eq_u32 vcc, 0, v0\ns_and_b64 exec, exec, vcc\ns_cbranch_execz end\n"
                    "v_mov_b32 v4, 0\nv_mov_b32 v5, 1\n"
                    "global_atomic_add v6, v4, v5, s[4:5] glc\ns_waitcnt vmcnt(0)\n"
                    "v_add_u32 v6, 1, v6\nglobal_atomic_umax v4, v6, s[4:5] offset:4\n"
                    "s_movk_i32 s8, 40\nagain: s_sleep 1\ns_sub_u32 s8, s8, 1\n"
                    "s_cmp_lg_u32 s8, 0\ns_cbranch_scc1 again\n"
                    "global_atomic_add v4, v5, s[4:5] offset:8\n"
                    "global_atomic_sub v4, v5, s[4:5]\nend: s_barrier\ns_endpgm\n");
    const uint32_t *words = kernel_runner_buffer(runner);
    struct kernel_geometry geometry = {GROUPS * 64 * group_waves, 64 * group_waves, 0, 64};
    kernel_runner_limit_scratch(runner, scratch_waves);
    assert_int_equal(run(runner, 0, geometry).fault, FAULT_NONE);
    assert_int_equal(words[0], 0);
    assert_int_equal(words[2], GROUPS);
    uint32_t most = words[1];
    kernel_runner_destroy(runner);
    return most;
}

static void waves_without_private_memory_wait(void **state)
{
    (void)state;
    assert_true(most_groups_at_once(1, 0) > 7);
    assert_in_range(most_groups_at_once(1, 5), 1, 5);
    assert_in_range(most_groups_at_once(4, 8), 1, 2);
    assert_in_range(most_groups_at_once(4, 9), 1, 2);
    assert_int_equal(most_groups_at_once(4, 3), 1); /* less than one group needs: one at a time */
}

/* Elements of 1, 2, 3 and 4 dwords and of 1 and 2 bytes go in and out, full waves and partial ones.
 */
static void element_widths(void **state)
{
    (void)state;
    static const struct {
        const char *load, *store;
        uint32_t bytes;
    } widths[] = {{"ubyte", "byte", 1},       {"ushort", "short", 2},
                  {"dword", "dword", 4},      {"dwordx2", "dwordx2", 8},
                  {"dwordx3", "dwordx3", 12}, {"dwordx4", "dwordx4", 16}};
    for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 PROLOGUE "v_mul_u32_u24 v6, v2, %u\n"
                          "global_load_%s v%s, v6, s[4:5]\ns_waitcnt vmcnt(0)\n"
                          "v_add_u32 v6, 0x4000, v6\n"
                          "global_store_%s v6, v%s, s[4:5]\ns_endpgm\n",
                 widths[i].bytes, widths[i].load,
                 widths[i].bytes <= 4    ? "[8]"
                 : widths[i].bytes == 8  ? "[8:9]"
                 : widths[i].bytes == 12 ? "[8:10]"
                                         : "[8:11]",
                 widths[i].store,
                 widths[i].bytes <= 4    ? "[8]"
                 : widths[i].bytes == 8  ? "[8:9]"
                 : widths[i].bytes == 12 ? "[8:10]"
                                         : "[8:11]");
        struct kernel_runner *runner = runner_with(2, text);
        uint8_t *bytes = kernel_runner_buffer(runner);
        for (uint32_t n = 0; n < 0x4000; n++)
            bytes[n] = (uint8_t)(n * 37 + n / 256);
        assert_int_equal(run(runner, 0, (struct kernel_geometry){ITEMS, GROUP, 0, 0}).fault,
                         FAULT_NONE);
        assert_memory_equal(bytes + 0x4000, bytes, ITEMS * widths[i].bytes);
        for (uint32_t n = 0; n < 64; n++)
            assert_int_equal(bytes[0x4000 + ITEMS * widths[i].bytes + n], 0);
        kernel_runner_destroy(runner);
    }
}

/* 64 work-items count into 16 LDS bins: each gets four. */
static void lds_atomics(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        1, PROLOGUE
        "v_and_b32 v4, 15, v0\nv_lshlrev_b32 v4, 2, v4\nv_mov_b32 v5, 1\n"
        "ds_add_u32 v4, v5\nds_add_rtn_u32 v6, v4, v5 offset:64\n"
        "ds_max_u32 v4, v0 offset:128\ns_waitcnt lgkmcnt(0)\n"
        "ds_read_b32 v3, v4\nds_read_b32 v7, v4 offset:128\ns_waitcnt lgkmcnt(0)\n"
        "v_lshlrev_b32 v7, 8, v7\nv_lshlrev_b32 v6, 16, v6\nv_or3_b32 v3, v3, v6, v7\n" EPILOGUE);
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(run(runner, 0, (struct kernel_geometry){64, 64, 256, 0}).fault, FAULT_NONE);
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(words[i], 4 | (48 + i % 16) << 8 | (i / 16) << 16);
    kernel_runner_destroy(runner);
}

/* Full waves with one element behind the other in LDS, of every width, up to its last byte and past
 * it: there, writes vanish and reads give 0. A group has its LDS in pieces of 512 bytes. */
static void lds_widths(void **state)
{
    (void)state;
    static const unsigned dwords[] = {1, 2, 3, 4};
    for (size_t n = 0; n < 4; n++) {
        unsigned d = dwords[n], bytes = 4 * d, last = 7 + d;
        unsigned lds_bytes = (64 * bytes + 511) / 512 * 512, at = lds_bytes - 64 * bytes;
        char text[2048];
        snprintf(text, sizeof text,
                 PROLOGUE "v_mul_u32_u24 v4, v0, %u\nv_mov_b32 v30, v2\nv_add_u32 v31, 0x100, v2\n"
                          "v_add_u32 v32, 0x200, v2\nv_add_u32 v33, 0x300, v2\n"
                          "ds_write_b%u v4, v[30:%u] offset:%u\n" /* up to the LDS's end */
                          "ds_write_b%u v4, v[30:%u] offset:%u\n" /* one element on */
                          "s_waitcnt lgkmcnt(0)\n"
                          "ds_read_b%u v[8:%u], v4 offset:%u\ns_waitcnt lgkmcnt(0)\n"
                          "v_lshlrev_b32 v1, 4, v0\nglobal_store_dwordx4 v1, v[8:11], s[4:5]\n"
                          "s_endpgm\n",
                 bytes, 32 * d, 29 + d, at, 32 * d, 29 + d, at + bytes, 32 * d, last, at + bytes);
        struct kernel_runner *runner = runner_with(1, text);
        const uint32_t *words = kernel_runner_buffer(runner);
        const struct kernel_geometry geometry = {64, 64, lds_bytes - 511, 0};
        assert_int_equal(run(runner, 0, geometry).fault, FAULT_NONE);
        /* Lane i wrote element i, then element i + 1: each holds its writer's number. */
        for (uint32_t i = 0; i < 64; i++) {
            for (unsigned k = 0; k < d; k++)
                assert_int_equal(words[4 * i + k], i < 63 ? 0x100 * k + i : 0);
        }
        kernel_runner_destroy(runner);
    }
}

/* 32-bit offsets from a scalar base do not wrap around it, however evenly they are spaced. */
static void offsets_do_not_wrap(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        1, "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\ns_waitcnt lgkmcnt(0)\n"
           "v_lshlrev_b32 v1, 2, v0\nv_add_u32 v1, 0xffffff80, v1\n"
           "global_load_dword v2, v1, s[4:5]\ns_endpgm\n");
    uint64_t base = (uint64_t)(uintptr_t)kernel_runner_buffer(runner);
    struct dispatch_result result = run(runner, 0, one_wave);
    assert_int_equal(result.fault, FAULT_MEMORY_READ);
    assert_int_equal(result.fault_va, base + 0xffffff80);
    kernel_runner_destroy(runner);
}

static void faults_name_the_place(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        1, "v_mov_b32 v2, 0x1000\nv_mov_b32 v3, 0\nglobal_load_dword v4, v[2:3], off\ns_endpgm\n");
    struct dispatch_result result = run(runner, 0, one_wave);
    assert_int_equal(result.fault, FAULT_MEMORY_READ);
    assert_int_equal(result.fault_va, 0x1000);
    assert_string_equal(result.mnemonic, "global_load_dword");
    assert_int_equal(kernel_runner_load(runner, 0, "s_nop 0\n.long 0xfeedface\ns_endpgm\n"), 0);
    result = run(runner, 0, one_wave);
    assert_int_equal(result.fault, FAULT_ILLEGAL_INSTRUCTION);
    assert_int_equal(result.raw[0], 0xfeedface);
    /* After a fault the engine goes on. */
    assert_int_equal(kernel_runner_load(runner, 0, "s_endpgm\n"), 0);
    assert_int_equal(run(runner, 0, one_wave).fault, FAULT_NONE);
    kernel_runner_destroy(runner);
}

/* New code at an old address runs, not what was decoded there before. */
static void rewritten_code(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(1, PROLOGUE "v_mov_b32 v3, 17\n" EPILOGUE);
    const uint32_t *words = kernel_runner_buffer(runner);
    run(runner, 0, one_wave);
    assert_int_equal(words[5], 17);
    assert_int_equal(kernel_runner_load(runner, 0, PROLOGUE "v_mov_b32 v3, 18\n" EPILOGUE), 0);
    run(runner, 0, one_wave);
    assert_int_equal(words[5], 18);
    kernel_runner_destroy(runner);
}

/* Programs of all sizes come and go at one address: the long one runs over the end of the short
 * one's mapping. */
static void longer_mapping(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(1, PROLOGUE "v_mov_b32 v3, 17\n" EPILOGUE);
    const uint32_t *words = kernel_runner_buffer(runner);
    assert_int_equal(kernel_runner_remap(runner, 4096), 0);
    assert_int_equal(run(runner, 0, one_wave).fault, FAULT_NONE);
    assert_int_equal(words[5], 17);
    assert_int_equal(kernel_runner_remap(runner, 65536), 0);
    assert_int_equal(kernel_runner_load(runner, 0,
                                        PROLOGUE "v_mov_b32 v3, 0\n.rept 3000\n"
                                                 "v_add_u32 v3, 0x101, v3\n.endr\n" EPILOGUE),
                     0);
    struct dispatch_result result = run(runner, 0, one_wave);
    assert_int_equal(result.fault, FAULT_NONE);
    assert_int_equal(words[5], 3000 * 0x101);
    kernel_runner_destroy(runner);
}

/* One thread: a kernel that spins, with and without s_sleep, does not stop the one that frees it.
 */
static void spinning_kernel(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(
        1, "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\ns_waitcnt lgkmcnt(0)\n"
           "spin: global_load_dword v2, v1, s[4:5] glc\ns_waitcnt vmcnt(0)\n"
           "v_readfirstlane_b32 s8, v2\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 spin\ns_endpgm\n");
    assert_int_equal(
        kernel_runner_load(runner, 1,
                           "s_load_dwordx2 s[4:5], s[0:1], 0x0\nv_mov_b32 v1, 0\nv_mov_b32 v2, 1\n"
                           "s_waitcnt lgkmcnt(0)\nglobal_store_dword v1, v2, s[4:5]\ns_endpgm\n"),
        0);
    struct dispatch_result result;
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){1024, 64, 0, 0}), 0);
    assert_int_equal(kernel_runner_start(runner, 1, one_wave), 0);
    assert_true(kernel_runner_wait(runner, &result));
    kernel_runner_destroy(runner);
}

/* s[4:5] = buffer, s2 = group; resource 5 by M0 and offset together. */
#define GWS_PROLOGUE                                                                               \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_mov_b32 m0, 0x30000\ns_waitcnt lgkmcnt(0)\n"

static void gws_set(struct kernel_runner *runner, unsigned value)
{
    char text[256];
    kernel_runner_allow_gws(runner);
    snprintf(text, sizeof text,
             GWS_PROLOGUE "v_mov_b32 v2, %u\nds_gws_init v2 offset:2 gds\ns_endpgm\n", value);
    assert_int_equal(kernel_runner_load(runner, 1, text), 0);
    assert_int_equal(run(runner, 1, (struct kernel_geometry){64, 64, 0, 0}).fault, FAULT_NONE);
}

/* Far more groups than host threads, or than the window of finished groups, meet three times: each
 * publishes a number, and after the barrier reads that of the group behind it. */
static void gws_barrier_of_all_groups(void **state)
{
    (void)state;
    enum { GROUPS = 700, ROUNDS = 3 };
    struct kernel_runner *runner = runner_with(
        2, GWS_PROLOGUE
        "v_mov_b32 v10, 0\n"
        "s_mov_b32 s7, 0x2bb\n" /* GROUPS - 1 */
        "v_mov_b32 v2, s7\n"
        "s_lshl_b32 s8, s2, 2\n"                                              /* own slot */
        "s_add_u32 s9, s2, 1\ns_cmp_lt_u32 s2, s7\ns_cselect_b32 s9, s9, 0\n" /* the next group */
        "s_lshl_b32 s9, s9, 2\n"
        "v_mov_b32 v3, s8\nv_mov_b32 v4, s9\ns_mov_b32 s10, 3\nv_mov_b32 v5, s2\n"
        "round: global_store_dword v3, v5, s[4:5]\ns_waitcnt vmcnt(0)\n"
        "ds_gws_barrier v2 offset:2 gds\ns_waitcnt lgkmcnt(0)\n"
        "global_load_dword v5, v4, s[4:5] glc\ns_waitcnt vmcnt(0)\n"
        "ds_gws_barrier v2 offset:2 gds\ns_waitcnt lgkmcnt(0)\n"
        "s_sub_u32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc1 round\n"
        "global_store_dword v3, v5, s[4:5]\ns_endpgm\n");
    gws_set(runner, GROUPS - 1);
    struct dispatch_result result = run(runner, 0, (struct kernel_geometry){64 * GROUPS, 64, 0, 0});
    assert_int_equal(result.fault, FAULT_NONE);
    const uint32_t *words = kernel_runner_buffer(runner);
    for (uint32_t i = 0; i < GROUPS; i++)
        assert_int_equal(words[i], (i + ROUNDS) % GROUPS);
    kernel_runner_destroy(runner);
}

/* A semaphore of one place makes a plain load, wait, store sequence exact. */
static void gws_semaphore_excludes(void **state)
{
    (void)state;
    enum { GROUPS = 300 };
    struct kernel_runner *runner = runner_with(
        2, GWS_PROLOGUE "v_mov_b32 v1, 0\nds_gws_sema_p offset:2 gds\ns_waitcnt lgkmcnt(0)\n"
                        "global_load_dword v2, v1, s[4:5] glc\ns_waitcnt vmcnt(0)\ns_sleep 1\n"
                        "v_add_u32 v2, 1, v2\nglobal_store_dword v1, v2, s[4:5]\n"
                        "s_waitcnt vmcnt(0)\nds_gws_sema_v offset:2 gds\ns_endpgm\n");
    gws_set(runner, 1);
    struct kernel_geometry geometry = {64 * GROUPS, 64, 0, 0};
    assert_int_equal(run(runner, 0, geometry).fault, FAULT_NONE);
    assert_int_equal(*(uint32_t *)kernel_runner_buffer(runner), GROUPS);
    kernel_runner_destroy(runner);
}

/* Group 0 lets the others go: three places by a register's value, the rest all at once. */
static void gws_semaphore_releases(void **state)
{
    (void)state;
    enum { GROUPS = 20 };
    struct kernel_runner *runner = runner_with(
        2, GWS_PROLOGUE
        "v_mov_b32 v1, 0\nv_mov_b32 v2, 1\nv_mov_b32 v8, 3\ns_cmp_eq_u32 s2, 0\n"
        "s_cbranch_scc1 first\n"
        "global_atomic_add v1, v2, s[4:5] offset:4\ns_waitcnt vmcnt(0)\n"
        "ds_gws_sema_p offset:2 gds\ns_waitcnt lgkmcnt(0)\n"
        "s_mov_b64 exec, 1\nglobal_atomic_add v1, v2, s[4:5]\ns_endpgm\n"
        "first: ds_gws_sema_br v8 offset:2 gds\n"
        "three: s_sleep 1\nglobal_load_dword v4, v1, s[4:5] glc\ns_waitcnt vmcnt(0)\n"
        "v_readfirstlane_b32 s6, v4\ns_cmp_lg_u32 s6, 3\ns_cbranch_scc1 three\n"
        "all: s_sleep 1\nglobal_load_dword v4, v1, s[4:5] offset:4 glc\ns_waitcnt vmcnt(0)\n"
        "v_readfirstlane_b32 s6, v4\ns_cmp_lg_u32 s6, 0x4c0\ns_cbranch_scc1 all\n" /* 19 * 64 */
        "again: ds_gws_sema_release_all offset:2 gds\ns_sleep 1\n"
        "global_load_dword v4, v1, s[4:5] glc\ns_waitcnt vmcnt(0)\n"
        "v_readfirstlane_b32 s6, v4\ns_cmp_lg_u32 s6, 19\ns_cbranch_scc1 again\ns_endpgm\n");
    gws_set(runner, 0);
    struct kernel_geometry geometry = {64 * GROUPS, 64, 0, 0};
    assert_int_equal(run(runner, 0, geometry).fault, FAULT_NONE);
    kernel_runner_destroy(runner);
}

static void gws_needs_the_drivers_leave(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(1, "ds_gws_barrier v0 gds\ns_endpgm\n");
    struct dispatch_result result = run(runner, 0, one_wave);
    assert_int_equal(result.fault, FAULT_ILLEGAL_INSTRUCTION);
    assert_string_equal(result.mnemonic, "ds_gws_barrier");
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(partial_groups),
        cmocka_unit_test(scalar_alu),
        cmocka_unit_test(lds_and_barrier),
        cmocka_unit_test(halves_take_whole_registers),
        cmocka_unit_test(waves_go_on_in_step),
        cmocka_unit_test(waves_read_before_memory_comes),
        cmocka_unit_test(waves_write_before_one_reads),
        cmocka_unit_test(waves_copy_before_one_reads),
        cmocka_unit_test(waves_read_before_one_writes),
        cmocka_unit_test(atomics_return_old),
        cmocka_unit_test(private_memory),
        cmocka_unit_test(waves_without_private_memory_wait),
        cmocka_unit_test(element_widths),
        cmocka_unit_test(lds_atomics),
        cmocka_unit_test(faults_name_the_place),
        cmocka_unit_test(rewritten_code),
        cmocka_unit_test(longer_mapping),
        cmocka_unit_test(spinning_kernel),
        cmocka_unit_test(lds_widths),
        cmocka_unit_test(offsets_do_not_wrap),
        cmocka_unit_test(gws_barrier_of_all_groups),
        cmocka_unit_test(gws_semaphore_excludes),
        cmocka_unit_test(gws_semaphore_releases),
        cmocka_unit_test(gws_needs_the_drivers_leave),
    };
    return cmocka_run_group_tests_name("wave engine", tests, NULL, NULL);
}
