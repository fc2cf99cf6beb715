/*
 * Random loads and stores of global memory by lanes that follow each other by fours, mostly, and of
 * which some may be off: each lane's dwords are those that lie at its address, and nothing else
 * changes. With 64-bit addresses and with a scalar base, on each level of the host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "wave/each_level.h"
#include "wave/kernel_runner.h"

enum { LANES = 64, CASES = 16, ROUNDS = 36, ROW_BYTES = 4 * LANES };
enum { ROWS_AT = 0x10000, ROWS_STEP = 0x1000, LOW_ROW = 0, HIGH_ROW, DATA_ROW, CASE_ROWS = 8 };
enum { AREA_AT = 0x100000, AREA_BYTES = 0x40000, BUFFER_BYTES = AREA_AT + AREA_BYTES + 0x1000 };

struct access_case {
    uint32_t dwords, immediate;
    bool scalar_base, store;
    uint64_t lanes;     /* that are on */
    uint32_t at[LANES]; /* in the area */
};
static struct access_case cases[CASES];

/* Mostly on, or whatever; or whole pieces. */
static uint64_t random_lanes(void)
{
    uint64_t lanes = 0;
    const uint32_t kind = below(3), rare = kind == 0 ? 16 : 2;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const bool on = kind == 2 && lane % 4 ? lanes >> (lane - 1) & 1 : below(rare) != 0;
        lanes |= (uint64_t)on << lane;
    }
    return lanes;
}

/* Else it is not known whose store is the last one. */
static bool lanes_are_apart(const struct access_case *c)
{
    for (unsigned a = 0; a < LANES; a++)
        for (unsigned b = 0; b < a; b++)
            if (c->at[a] < c->at[b] + 4 * c->dwords && c->at[b] < c->at[a] + 4 * c->dwords)
                return false;
    return true;
}

static void case_fill(struct access_case *c)
{
    static const uint32_t widths[] = {1, 2, 4, 4, 3};
    c->dwords = widths[below(5)];
    c->immediate = below(2) ? 4 * below(64) : 0;
    c->scalar_base = below(2);
    c->store = below(3) == 0;
    c->lanes = ~UINT64_C(0);
    if (below(2))
        c->lanes = below(2) ? ~(UINT64_C(0xf) << below(61)) : random_lanes();
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
    c->store &= lanes_are_apart(c);
}

static void case_put(const struct access_case *c, unsigned number)
{
    static const char *const names[] = {NULL, "dword", "dwordx2", "dwordx3", "dwordx4"};
    static const char *const data[] = {NULL, "v8", "v[8:9]", "v[8:10]", "v[8:11]"};
    const char *address = c->scalar_base ? "v2" : "v[2:3]",
               *base = c->scalar_base ? "s[8:9]" : "off";
    put("s_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n", ROWS_AT + number * ROWS_STEP);
    put("global_load_dword v2, v1, s[6:7]\nglobal_load_dword v3, v1, s[6:7] offset:%u\n",
        HIGH_ROW * ROW_BYTES);
    for (unsigned n = 0; n < 4; n++)
        put("global_load_dword v%u, v1, s[6:7] offset:%u\n", 8 + n, (DATA_ROW + n) * ROW_BYTES);
    put("s_waitcnt vmcnt(0)\ns_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n",
        (uint32_t)c->lanes, (uint32_t)(c->lanes >> 32));
    if (c->store)
        put("global_store_%s %s, %s, %s offset:%u\n", names[c->dwords], address, data[c->dwords],
            base, c->immediate);
    else
        put("global_load_%s %s, %s, %s offset:%u\n", names[c->dwords], data[c->dwords], address,
            base, c->immediate);
    put("s_waitcnt vmcnt(0)\ns_mov_b64 exec, -1\n");
    for (unsigned n = 0; n < 4; n++)
        put("global_store_dword v1, v%u, s[6:7] offset:%u\n", 8 + n, (DATA_ROW + n) * ROW_BYTES);
}

/* Of lanes that are off it may be any address. */
static void rows_put(const struct access_case *c, uint64_t area_va, uint32_t (*rows)[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint64_t offset = c->at[lane] - c->immediate;
        uint64_t va = c->scalar_base ? offset : area_va + offset;
        if (!(c->lanes >> lane & 1))
            va = random_dword() | (uint64_t)random_dword() << 32;
        rows[LOW_ROW][lane] = (uint32_t)va;
        rows[HIGH_ROW][lane] = (uint32_t)(va >> 32);
        for (unsigned n = 0; n < 4; n++)
            rows[DATA_ROW + n][lane] = random_dword();
    }
}

/* What the access does, to memory or to the data. */
static void case_do(const struct access_case *c, uint8_t *area, uint32_t (*data)[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++)
        for (unsigned n = 0; n < c->dwords && c->lanes >> lane & 1; n++)
            if (c->store)
                memcpy(area + c->at[lane] + 4 * n, &data[n][lane], 4);
            else
                memcpy(&data[n][lane], area + c->at[lane] + 4 * n, 4);
}

static void round_run(void)
{
    static uint8_t area_wanted[AREA_BYTES];
    static uint32_t wanted[CASES][4][LANES];
    struct kernel_runner *runner;
    struct dispatch_result result;
    uint32_t(*rows[CASES])[LANES];
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner), *area = memory + AREA_AT;
    text_length = 0;
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
        "v_lshlrev_b32 v1, 2, v0\ns_add_u32 s8, s4, 0x100000\ns_addc_u32 s9, s5, 0\n");
    for (size_t n = 0; n < AREA_BYTES; n++)
        area[n] = area_wanted[n] = (uint8_t)below(256);
    for (unsigned n = 0; n < CASES; n++) {
        rows[n] = (uint32_t(*)[LANES])(memory + ROWS_AT + n * ROWS_STEP);
        case_fill(&cases[n]);
        rows_put(&cases[n], (uintptr_t)area, rows[n]);
        case_put(&cases[n], n);
        memcpy(wanted[n], rows[n][DATA_ROW], sizeof wanted[n]);
        case_do(&cases[n], area_wanted, wanted[n]);
    }
    put("s_endpgm\n");
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    for (unsigned n = 0; n < CASES; n++)
        if (memcmp(rows[n][DATA_ROW], wanted[n], sizeof wanted[n]) != 0)
            fail_msg("%s of %u dwords, scalar base %d, immediate %u, lanes 0x%llx",
                     cases[n].store ? "store" : "load", cases[n].dwords, cases[n].scalar_base,
                     cases[n].immediate, (unsigned long long)cases[n].lanes);
    assert_memory_equal(area, area_wanted, AREA_BYTES);
    kernel_runner_destroy(runner);
}

static void every_lane_has_its_own(void **state)
{
    (void)state;
    each_level(ROUNDS, round_run);
}

/* One lane's address is 4 GB further: nothing is mapped there. */
static void high_halves_matter(void **state)
{
    (void)state;
    for (unsigned lane = 0; lane < LANES; lane += 7) {
        struct kernel_runner *runner;
        struct dispatch_result result;
        assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
        text_length = 0;
        put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
            "v_lshlrev_b32 v1, 3, v0\nv_and_b32 v2, 24, v1\nv_sub_u32 v1, v1, v2\n"
            "v_lshrrev_b32 v2, 1, v2\nv_add3_u32 v2, v1, v2, s4\nv_mov_b32 v3, s5\n"
            "s_mov_b64 exec, 0\n");
        put("s_bitset1_b64 exec, %u\nv_add_u32 v3, 1, v3\ns_mov_b64 exec, -1\n", lane);
        put("s_bitset0_b64 exec, %u\n", lane % 2 ? 1 : 63);
        put("global_load_dword v4, v[2:3], off\ns_waitcnt vmcnt(0)\ns_endpgm\n");
        assert_int_equal(kernel_runner_load(runner, 0, text), 0);
        assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
        assert_true(kernel_runner_wait(runner, &result));
        assert_int_equal(result.fault, FAULT_MEMORY_READ);
        kernel_runner_destroy(runner);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_lane_has_its_own),
                                       cmocka_unit_test(high_halves_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
