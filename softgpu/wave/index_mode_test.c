/*
 * Vector registers that are numbered by M0 (s_set_gpr_idx_on and what belongs to it, as compilers
 * index arrays in registers on gfx9): random instructions against the same on an array of the host.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wave/kernel_runner.h"

enum { LANES = 64, BUFFER_BYTES = 0x20000, TEXT_BYTES = 0x10000, STEPS = 120 };
enum { FIRST = 8, REGISTERS = 48, BASES = 16, ROWS_AT = 0x1000, OUT_AT = 0x8000 };
enum { SRC0 = 1, SRC1 = 2, SRC2 = 4, DST = 8 };

struct play {
    uint32_t v[REGISTERS][LANES];
    unsigned by, select;
    char *at;
};

static unsigned any_register(void)
{
    return FIRST + (unsigned)rand() % BASES;
}

/* The row that an operand means. */
static uint32_t *row(struct play *p, unsigned reg, unsigned operand)
{
    return p->v[reg - FIRST + (p->select & operand ? p->by : 0)];
}

static void step_move(struct play *p)
{
    const unsigned d = any_register(), a = any_register();
    p->at += sprintf(p->at, "v_mov_b32 v%u, v%u\n", d, a);
    memcpy(row(p, d, DST), row(p, a, SRC0), sizeof p->v[0]);
}

static void step_subtract(struct play *p)
{
    const unsigned d = any_register(), a = any_register(), b = any_register();
    p->at += sprintf(p->at, "v_sub_u32 v%u, v%u, v%u\n", d, a, b);
    for (unsigned l = 0; l < LANES; l++)
        row(p, d, DST)[l] = row(p, a, SRC0)[l] - row(p, b, SRC1)[l];
}

/* A scalar and a constant have no number that moves. */
static void step_scalar(struct play *p)
{
    const unsigned d = any_register(), b = any_register();
    const bool constant = rand() & 1;
    p->at += sprintf(p->at, "v_xor_b32 v%u, %s, v%u\n", d, constant ? "17" : "s10", b);
    for (unsigned l = 0; l < LANES; l++)
        row(p, d, DST)[l] = (constant ? 17u : 0x12345u) ^ row(p, b, SRC1)[l];
}

static void step_three(struct play *p)
{
    const unsigned d = any_register(), a = any_register(), b = any_register(), c = any_register();
    p->at += sprintf(p->at, "v_lshl_add_u32 v%u, v%u, v%u, v%u\n", d, a, b, c);
    for (unsigned l = 0; l < LANES; l++)
        row(p, d, DST)[l] = (row(p, a, SRC0)[l] << (row(p, b, SRC1)[l] & 31)) + row(p, c, SRC2)[l];
}

static void step(struct play *p)
{
    void (*const kinds[])(struct play *) = {step_move, step_subtract, step_scalar, step_three};
    kinds[rand() % 4](p);
}

/* One stretch of the mode: on, a few instructions with changes in between, off. */
static void stretch(struct play *p)
{
    p->by = (unsigned)rand() % (REGISTERS - BASES + 1);
    p->select = (unsigned)rand() & 15;
    p->at += sprintf(p->at, "s_mov_b32 s6, 0x%x\ns_set_gpr_idx_on s6, %u\n",
                     p->by | (unsigned)rand() << 8, p->select); /* the low byte counts */
    for (unsigned n = (unsigned)rand() % 5; n > 0; n--) {
        step(p);
        if (rand() % 4 == 0) {
            p->select = (unsigned)rand() & 15;
            p->at += sprintf(p->at, "s_set_gpr_idx_mode %u\n", p->select);
        } else if (rand() % 4 == 0) {
            p->by = (unsigned)rand() % (REGISTERS - BASES + 1);
            p->at += sprintf(p->at, "s_mov_b32 s7, 0x%x\ns_set_gpr_idx_idx s7\n", p->by);
        }
    }
    p->at += sprintf(p->at, "s_set_gpr_idx_off\n");
    p->by = p->select = 0;
    step(p);
}

static char *rows_moved(char *at, const char *instruction, const char *base)
{
    at += sprintf(at, "s_add_u32 s8, s4, %s\ns_addc_u32 s9, s5, 0\n", base);
    for (unsigned n = 0; n < REGISTERS; n++) {
        bool is_store = strcmp(instruction, "global_store_dword") == 0;
        at += is_store ? sprintf(at, "%s v1, v%u, s[8:9]\n", instruction, FIRST + n)
                       : sprintf(at, "%s v%u, v1, s[8:9]\n", instruction, FIRST + n);
        at += sprintf(at, "s_add_u32 s8, s8, 0x100\ns_addc_u32 s9, s9, 0\n");
    }
    return at;
}

static void as_an_array_of_the_host(const char *gpu)
{
    static char text[TEXT_BYTES];
    static struct play p;
    struct kernel_runner *runner;
    struct dispatch_result result;
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    for (unsigned n = 0; n < REGISTERS * LANES; n++)
        p.v[n / LANES][n % LANES] = (uint32_t)rand() << 16 ^ (uint32_t)rand();
    memcpy(memory + ROWS_AT, p.v, sizeof p.v);
    p.at = text + sprintf(text, "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n"
                                "v_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"
                                "s_mov_b32 s10, 0x12345\n");
    p.at = rows_moved(p.at, "global_load_dword", "0x1000");
    p.at += sprintf(p.at, "s_waitcnt vmcnt(0)\n");
    for (unsigned n = 0; n < STEPS; n++)
        stretch(&p);
    p.at = rows_moved(p.at, "global_store_dword", "0x8000");
    strcpy(p.at, "s_endpgm\n");
    assert_true(p.at < text + TEXT_BYTES - 64);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    const struct kernel_geometry geometry = {LANES, LANES, 0, 0};
    for (unsigned round = 0; round < 4; round++) { /* behind the first ones it may be translated */
        memset(memory + OUT_AT, 0, sizeof p.v);
        assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
        assert_true(kernel_runner_wait(runner, &result) && result.fault == FAULT_NONE);
        assert_memory_equal(memory + OUT_AT, p.v, sizeof p.v);
    }
    kernel_runner_destroy(runner);
}

static void on_each_gpu(void **state)
{
    (void)state;
    srand(11);
    for (unsigned n = 0; n < 3; n++) {
        as_an_array_of_the_host("gfx906");
        as_an_array_of_the_host("gfx908");
        as_an_array_of_the_host("gfx90a");
    }
}

/* What a kernel stores that adds so much, in the mode, to a register which M0 chooses. */
static void sum_of(struct kernel_runner *runner, unsigned added)
{
    char text[512];
    struct dispatch_result result;
    const uint32_t *out = kernel_runner_buffer(runner);
    sprintf(text,
            "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"
            "v_and_b32 v0, 0x3ff, v0\n"
            "v_lshlrev_b32 v1, 2, v0\n"
            "v_mov_b32 v9, 7\n"
            "s_mov_b32 s6, 1\n"
            "s_set_gpr_idx_on s6, 9\n"
            "v_add_u32 v9, %u, v9\n" /* the destination is v10 */
            "s_set_gpr_idx_off\n"
            "s_waitcnt lgkmcnt(0)\n"
            "global_store_dword v1, v10, s[4:5]\n"
            "s_endpgm\n",
            added);
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){LANES, LANES, 0, 0}),
                     0);
    assert_true(kernel_runner_wait(runner, &result) && result.fault == FAULT_NONE);
    assert_int_equal(out[0], added + 7);
    assert_int_equal(out[LANES - 1], added + 7);
}

/* Other code where there was some before, as where a code object is loaded in another one's place.
 */
static void code_that_was_replaced(void **state)
{
    (void)state;
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    for (unsigned added = 1; added < 4; added++)
        sum_of(runner, added);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_each_gpu),
                                       cmocka_unit_test(code_that_was_replaced)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
