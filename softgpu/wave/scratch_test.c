/*
 * Private memory at random offsets, on each level of the host: lanes that are on find what they
 * have stored, those that are off may have any offset, and one that is on and lies outside is a
 * fault, at its address. And FLAT accesses whose lanes go to private memory, LDS and global memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "wave/each_level.h"
#include "wave/kernel_runner.h"

enum { LANES = 64, PRIVATE_BYTES = 64, ROUNDS = 60, BUFFER_BYTES = 0x10000 };
enum { OFFSETS_AT = 0x1000, DATA_AT = 0x1100, OUT_AT = 0x1200 };

struct access_case {
    uint64_t lanes; /* that are on */
    uint32_t offset[LANES], data[LANES];
    unsigned bad; /* the lowest lane that is on and outside; LANES: none */
};

static void case_fill(struct access_case *c)
{
    static const uint32_t outside[] = {PRIVATE_BYTES - 3, PRIVATE_BYTES, 0x10000, 0xfffffffc};
    c->lanes = ~UINT64_C(0);
    if (below(2))
        c->lanes = random_dword() | (uint64_t)random_dword() << 32;
    c->bad = LANES;
    for (unsigned lane = LANES; lane-- > 0;) {
        const bool on = c->lanes >> lane & 1;
        c->offset[lane] = on ? 4 * below(PRIVATE_BYTES / 4) : random_dword();
        c->data[lane] = random_dword();
    }
    for (unsigned n = below(3); n > 0; n--) {
        const unsigned lane = below(LANES);
        c->offset[lane] = outside[below(4)];
        if (c->lanes >> lane & 1 && lane < c->bad)
            c->bad = lane;
    }
}

static void case_put(const struct access_case *c)
{
    text_length = 0;
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
        "v_lshlrev_b32 v1, 2, v0\ns_add_u32 s6, s4, 0x1000\ns_addc_u32 s7, s5, 0\n"
        "global_load_dword v4, v1, s[6:7]\nglobal_load_dword v2, v1, s[6:7] offset:256\n"
        "v_mov_b32 v3, 0\ns_waitcnt vmcnt(0)\n");
    put("s_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n", (uint32_t)c->lanes,
        (uint32_t)(c->lanes >> 32));
    put("scratch_store_dword v4, v2, off\ns_waitcnt vmcnt(0)\nscratch_load_dword v3, v4, off\n"
        "s_waitcnt vmcnt(0)\ns_mov_b64 exec, -1\nglobal_store_dword v1, v3, s[6:7] offset:512\n"
        "s_endpgm\n");
}

static void round_run(void)
{
    struct access_case c;
    struct kernel_runner *runner;
    struct dispatch_result result;
    const struct kernel_geometry geometry = {LANES, LANES, 0, PRIVATE_BYTES};
    case_fill(&c);
    case_put(&c);
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    memcpy(memory + OFFSETS_AT, c.offset, sizeof c.offset);
    memcpy(memory + DATA_AT, c.data, sizeof c.data);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, c.bad < LANES ? FAULT_MEMORY_WRITE : FAULT_NONE);
    const uint32_t *out = (const uint32_t *)(memory + OUT_AT);
    for (unsigned lane = 0; lane < LANES && c.bad == LANES; lane++)
        assert_int_equal(out[lane], c.lanes >> lane & 1 ? c.data[lane] : 0);
    if (c.bad < LANES)
        assert_int_equal((uint32_t)result.fault_va, c.offset[c.bad]);
    kernel_runner_destroy(runner);
}

/* Where a lane's element is: 4 * lane bytes into its private memory, the LDS, or the buffer. */
enum place { PRIVATE, SHARED, GLOBAL, PLACES };
enum { GLOBAL_AT = 0x2000, APART_BYTES = 4 * LANES };

/* v[4:5]: the addresses. The apertures' upper halves are in s[10:13]. */
static void places_put(void)
{
    text_length = 0;
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_mov_b64 s[10:11], src_private_base\n"
        "s_mov_b64 s[12:13], src_shared_base\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
        "v_lshlrev_b32 v1, 2, v0\ns_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n"
        "global_load_dword v6, v1, s[6:7]\nglobal_load_dword v2, v1, s[6:7] offset:256\n",
        OFFSETS_AT);
    put("s_add_u32 s8, s4, 0x%x\ns_addc_u32 s9, s5, 0\nv_add_co_u32 v4, vcc, s8, v1\n"
        "v_mov_b32 v5, s9\nv_addc_co_u32 v5, vcc, 0, v5, vcc\ns_waitcnt vmcnt(0)\n",
        GLOBAL_AT);
    put("v_cmp_ne_u32 s[14:15], %u, v6\nv_cndmask_b32 v4, v1, v4, s[14:15]\n"
        "v_mov_b32 v7, s11\nv_cndmask_b32 v5, v7, v5, s[14:15]\n",
        PRIVATE);
    put("v_cmp_ne_u32 s[14:15], %u, v6\nv_cndmask_b32 v4, v1, v4, s[14:15]\n"
        "v_mov_b32 v7, s13\nv_cndmask_b32 v5, v7, v5, s[14:15]\n",
        SHARED);
    put("v_mov_b32 v3, 0\nflat_store_dword v[4:5], v2\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
        "flat_load_dword v3, v[4:5]\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
        "global_store_dword v1, v3, s[6:7] offset:512\ns_endpgm\n");
}

static void places_run(void)
{
    struct kernel_runner *runner;
    struct dispatch_result result;
    uint32_t place[LANES], data[LANES];
    const unsigned first = below(PLACES), kinds = 2 + below(2);
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    for (unsigned lane = 0; lane < LANES; lane++) {
        place[lane] = (first + below(kinds)) % PLACES;
        data[lane] = random_dword();
    }
    memcpy(memory + OFFSETS_AT, place, sizeof place);
    memcpy(memory + DATA_AT, data, sizeof data);
    places_put();
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(
        kernel_runner_start(runner, 0,
                            (struct kernel_geometry){LANES, LANES, APART_BYTES, APART_BYTES}),
        0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    assert_memory_equal(memory + OUT_AT, data, sizeof data);
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t there;
        memcpy(&there, memory + GLOBAL_AT + 4 * lane, sizeof there);
        assert_int_equal(there, place[lane] == GLOBAL ? data[lane] : 0);
    }
    kernel_runner_destroy(runner);
}

static void lanes_in_several_places(void **state)
{
    (void)state;
    each_level(12, places_run);
}

static void every_lane_has_its_own(void **state)
{
    (void)state;
    each_level(ROUNDS, round_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_lane_has_its_own),
                                       cmocka_unit_test(lanes_in_several_places)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
