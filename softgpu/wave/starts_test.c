/*
 * Where runs begin: at loops, also those whose branch is in another page, behind barriers, and
 * where waves in step have stopped. What is executed there is the same either way; without a run it
 * would be interpreted, each time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa_ops.h"
#include "valu/valu.h"
#include "wave/code_internal.h"
#include "wave/group.h"
#include "wave/host_levels.h"
#include "wave/kernel_runner.h"

enum { ITEMS = 128, ROUNDS = 20000 };

/* The instructions that are looked for stand in it once. A page has 1024 dwords. */
static const char text[] = "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
                           "v_and_b32 v0, 0x3ff, v0\n"
                           "v_lshlrev_b32 v1, 2, v0\n"
                           "v_mov_b32 v2, 0\n"
                           "s_movk_i32 s8, 20000\n"
                           "loop:\n"
                           "v_mul_u32_u24 v9, 3, v2\n"
                           "v_add_u32 v2, 1, v2\n"
                           "ds_read_b32 v3, v1\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "v_or_b32 v3, v3, v2\n"
                           "ds_write_b32 v1, v3 offset:1024\n" /* behind a read */
                           "s_waitcnt lgkmcnt(0)\n"
                           "s_barrier\n"
                           "v_mul_hi_u32_u24 v8, v2, v2\n"
                           "v_add_u32 v9, v8, v9\n"
                           "s_branch over\n"
                           ".fill 1100, 4, 0xbf800000\n"
                           "over:\n"
                           "v_add_u32 v9, v8, v9\n"
                           "s_sub_u32 s8, s8, 1\n"
                           "s_cmp_lg_u32 s8, 0\n"
                           "s_cbranch_scc1 loop\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "ds_read_b32 v3, v1 offset:1024\n"
                           "s_waitcnt lgkmcnt(0)\n"
                           "global_store_dword v1, v3, s[4:5]\n"
                           "s_endpgm\n";

static bool run_begins_at(struct engine *engine, enum isa_op op)
{
    const struct code *code = engine_code(engine);
    const struct code_region *region = atomic_load_explicit(&code->regions, memory_order_acquire);
    for (; region; region = region->next)
        for (size_t n = 0; n < (size_t)region->page_count * PAGE_DWORDS; n++)
            if (region->copies[n / PAGE_DWORDS] && region->slots[n].op == op)
                return region->slots[n].path != NULL;
    return false;
}

static void level_run(enum host_level level, const char *name)
{
    static const enum isa_op begins[] = {OP_V_MUL_U32_U24, OP_DS_WRITE_B32, OP_V_MUL_HI_U32_U24};
    const struct kernel_geometry geometry = {ITEMS, ITEMS, 2048, 0};
    const enum host_level before = host_level;
    struct kernel_runner *runner;
    struct dispatch_result result;
    if (valu_build_select(name) < 0)
        return; /* not this CPU */
    host_level = level;
    assert_int_equal(kernel_runner_create(1, 4096, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    for (unsigned round = 0; round < 3; round++) {
        assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
        assert_true(kernel_runner_wait(runner, &result));
        assert_int_equal(result.fault, FAULT_NONE);
    }
    const uint32_t *words = kernel_runner_buffer(runner);
    for (unsigned item = 0; item < ITEMS; item++)
        assert_int_equal(words[item], ROUNDS);
    for (unsigned n = 0; n < sizeof begins / sizeof *begins; n++)
        assert_true(run_begins_at(kernel_runner_engine(runner), begins[n]));
    kernel_runner_destroy(runner);
    host_level = before;
}

static void runs_begin_where_waves_go_on(void **state)
{
    (void)state;
    level_run(LEVEL_AVX2, "avx2");
    level_run(LEVEL_AVX512, "avx512");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(runs_begin_where_waves_go_on)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
