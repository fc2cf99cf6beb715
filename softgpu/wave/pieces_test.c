/*
 * Random loads of global memory by lanes that follow each other by fours, mostly: each lane's
 * dwords are those that lie at its address. With 64-bit addresses and with a scalar base, on each
 * level of the host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "valu/valu.h"
#include "wave/host_levels.h"
#include "wave/kernel_runner.h"
#include "wave/random_text.h"

enum { LANES = 64, CASES = 16, ROUNDS = 36, ROW_BYTES = 4 * LANES };
enum { ROWS_AT = 0x10000, ROWS_STEP = 0x1000, LOW_ROW = 0, HIGH_ROW, OUT_ROW, CASE_ROWS = 8 };
enum { AREA_AT = 0x100000, AREA_BYTES = 0x40000, BUFFER_BYTES = AREA_AT + AREA_BYTES + 0x1000 };

struct load_case {
    uint32_t dwords, immediate;
    bool scalar_base;
    uint32_t at[LANES]; /* in the area */
};
static struct load_case cases[CASES];

static void case_fill(struct load_case *c)
{
    static const uint32_t widths[] = {1, 2, 4, 4, 3};
    c->dwords = widths[below(5)];
    c->immediate = below(2) ? 4 * below(64) : 0;
    c->scalar_base = below(2);
    const uint32_t bytes = 4 * c->dwords, unit = below(3) ? 16 : 4;
    const uint32_t step = 4 * bytes + unit * below(60), first = below(0x1000) / unit * unit;
    const bool rises = below(8), orders = below(4), is_last = below(4) == 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned piece = rises ? lane / 4 : LANES / 4 - 1 - lane / 4;
        c->at[lane] = first + piece * step + lane % 4 * bytes;
        if (!orders)
            c->at[lane] = lane % 4 ? c->at[lane - 1] + bytes : below(0x8000) / unit * unit;
    }
    if (below(4) == 0)
        c->at[below(LANES)] = 4 * below(0x2000);
    const uint32_t up = is_last ? AREA_BYTES - bytes - c->at[LANES - 1] : c->immediate;
    for (unsigned lane = 0; lane < LANES && !(is_last && (!rises || !orders)); lane++)
        c->at[lane] += c->at[lane] + up + bytes <= AREA_BYTES ? up : 0;
    for (unsigned lane = 0; lane < LANES; lane++)
        c->at[lane] = c->at[lane] < c->immediate ? c->immediate : c->at[lane];
}

static void case_put(const struct load_case *c, unsigned number)
{
    static const char *const names[] = {NULL, "dword v8", "dwordx2 v[8:9]", "dwordx3 v[8:10]",
                                        "dwordx4 v[8:11]"};
    put("s_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n", ROWS_AT + number * ROWS_STEP);
    put("global_load_dword v2, v1, s[6:7]\nglobal_load_dword v3, v1, s[6:7] offset:%u\n",
        HIGH_ROW * ROW_BYTES);
    put("v_mov_b32 v8, 0\nv_mov_b32 v9, 0\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0\n");
    put("s_waitcnt vmcnt(0)\nglobal_load_%s, %s, %s offset:%u\ns_waitcnt vmcnt(0)\n",
        names[c->dwords], c->scalar_base ? "v2" : "v[2:3]", c->scalar_base ? "s[8:9]" : "off",
        c->immediate);
    for (unsigned n = 0; n < 4; n++)
        put("global_store_dword v1, v%u, s[6:7] offset:%u\n", 8 + n, (OUT_ROW + n) * ROW_BYTES);
}

static void rows_put(const struct load_case *c, uint64_t area_va, uint32_t (*rows)[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint64_t offset = c->at[lane] - c->immediate;
        const uint64_t va = c->scalar_base ? offset : area_va + offset;
        rows[LOW_ROW][lane] = (uint32_t)va;
        rows[HIGH_ROW][lane] = (uint32_t)(va >> 32);
    }
}

static void case_check(const struct load_case *c, const uint8_t *area, uint32_t (*rows)[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned n = 0; n < 4; n++) {
            uint32_t want = 0;
            if (n < c->dwords)
                memcpy(&want, area + c->at[lane] + 4 * n, sizeof want);
            if (rows[OUT_ROW + n][lane] != want)
                fail_msg("%u dwords, scalar base %d, immediate %u: lane %u dword %u", c->dwords,
                         c->scalar_base, c->immediate, lane, n);
        }
}

static void round_run(void)
{
    struct kernel_runner *runner;
    struct dispatch_result result;
    uint32_t(*rows[CASES])[LANES];
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner), *area = memory + AREA_AT;
    text_length = 0;
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
        "v_lshlrev_b32 v1, 2, v0\ns_add_u32 s8, s4, 0x100000\ns_addc_u32 s9, s5, 0\n");
    for (size_t n = 0; n < AREA_BYTES; n++)
        area[n] = (uint8_t)below(256);
    for (unsigned n = 0; n < CASES; n++) {
        rows[n] = (uint32_t(*)[LANES])(memory + ROWS_AT + n * ROWS_STEP);
        case_fill(&cases[n]);
        rows_put(&cases[n], (uintptr_t)area, rows[n]);
        case_put(&cases[n], n);
    }
    put("s_endpgm\n");
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    for (unsigned n = 0; n < CASES; n++)
        case_check(&cases[n], area, rows[n]);
    kernel_runner_destroy(runner);
}

static void level_run(enum host_level level, const char *name)
{
    const enum host_level before = host_level;
    if (valu_build_select(name) < 0)
        return; /* not this CPU */
    host_level = level;
    for (unsigned round = 0; round < ROUNDS; round++) {
        random_state = round + 1;
        round_run();
    }
    host_level = before;
}

static void every_lane_has_its_own(void **state)
{
    (void)state;
    level_run(LEVEL_PORTABLE, "portable");
    level_run(LEVEL_AVX2, "avx2");
    level_run(LEVEL_AVX512, "avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_lane_has_its_own)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
