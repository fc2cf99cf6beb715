/*
 * Transcendental functions, translated and interpreted, in every rounding mode. Where all lanes of
 * a strip are ordinary translated code branches around what the others take: so among ordinary ones
 * stand some that are not, which random numbers seldom are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "isa/decode.h"
#include "translate/translate.h"
#include "valu/valu.h"
#include "wave/wave.h"

enum { ROWS = 4, INSTRUCTIONS = 2, ROUNDS = 200, LEFT = 1000 };

static uint32_t random_state = 1;
static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)random_state * n >> 32);
}

static struct state {
    struct wave wave;
    lane_row v[ROWS];
} interpreted, translated;

/* Zeros, denormals, the ends of what is ordinary, infinities, a NaN; else 0.25 to 1, and -5 to -4.
 */
static uint32_t input(void)
{
    static const uint32_t edges[] = {0,          1,          0x80000001, 0x007fffff, 0x807fffff,
                                     0x00800000, 0x80000000, 0xc2fa0000, 0xc2fa0001, 0xc2fc0001,
                                     0x42fa0001, 0x43000000, 0xc3150000, 0xc3800001, 0x43800001,
                                     0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0xbf800000};
    enum { EDGES = sizeof edges / sizeof *edges, QUARTER = 0x3e800000, MINUS_FOUR = 0xc0800000 };
    if (below(16) == 0)
        return edges[below(EDGES)];
    return below(2) ? QUARTER + below(0x01000000) : (uint32_t)MINUS_FOUR + below(0x00200000);
}

static void states_fill(uint32_t mode)
{
    memset(&interpreted, 0, sizeof interpreted);
    for (int lane = 0; lane < WAVE_LANES; lane++)
        for (int row = 0; row < INSTRUCTIONS; row++)
            interpreted.v[row][lane] = input();
    interpreted.wave.s64[SREG_EXEC / 2] = below(3) ? ~UINT64_C(0) : UINT64_C(0x8000ff00ffffff);
    valu_mode_set(&interpreted.wave, mode);
    interpreted.wave.slice_left = LEFT;
    translated = interpreted;
    interpreted.wave.v = interpreted.v;
    translated.wave.v = translated.v;
}

/* What a run executes that was not made for the wave's mode. */
static const struct inst *plain_stub(struct wave *w, const struct inst *i)
{
    (void)w;
    return i;
}

static void states_try(inst_exec_fn *run, const struct inst *const insts[INSTRUCTIONS])
{
    valu_enter(&translated.wave);
    const struct inst *next = run(&translated.wave, insts[0]);
    valu_leave();
    if (next == insts[0])
        return;
    valu_enter(&interpreted.wave);
    for (int n = 0; n < INSTRUCTIONS; n++)
        valu_handler(insts[n])(&interpreted.wave, insts[n]);
    valu_leave();
    for (int row = 0; row < INSTRUCTIONS; row++)
        for (int lane = 0; lane < WAVE_LANES; lane++)
            if (interpreted.v[2 + row][lane] != translated.v[2 + row][lane])
                fail_msg("op %u of %08x: %08x instead of %08x", insts[0]->op,
                         interpreted.v[row][lane], translated.v[2 + row][lane],
                         interpreted.v[2 + row][lane]);
}

/* vN+2 = op(vN), twice. */
static void operation_try(uint32_t op)
{
    static const uint32_t modes[] = {0x2f0, 0x2f5, 0x2fa, 0x2ff, 0x2c0};
    struct inst slots[INSTRUCTIONS];
    const struct inst *const insts[INSTRUCTIONS] = {&slots[0], &slots[1]};
    struct x86 x = {0};
    for (uint32_t n = 0; n < INSTRUCTIONS; n++) {
        const uint32_t words[4] = {0x7e000100 | (2 + n) << 17 | op << 9 | n};
        assert_true(isa_decode(GPU_GFX90A, words, 1, &slots[n]));
    }
    assert_int_equal(translate_run(&x, insts, INSTRUCTIONS, plain_stub, NULL), INSTRUCTIONS);
    void *code = translated_map(&x);
    assert_non_null(code);
    inst_exec_fn *run;
    memcpy(&run, &code, sizeof run);
    for (unsigned n = 0; n < ROUNDS; n++) {
        states_fill(modes[n % 5]);
        states_try(run, insts);
    }
    translated_unmap(code, x.count);
    x86_free(&x);
}

static void operations_try(const char *level)
{
    static const uint32_t ops[] = {0x20, 0x21, 0x22, 0x24, 0x27, 0x29, 0x2a}; /* of VOP1 */
    if (valu_build_select(level) != 0)
        skip(); /* this host has it not */
    for (unsigned n = 0; n < sizeof ops / sizeof *ops; n++)
        operation_try(ops[n]);
}
static void test_avx512(void **state)
{
    (void)state;
    operations_try("avx512");
}
static void test_avx2(void **state)
{
    (void)state;
    operations_try("avx2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx512),
        cmocka_unit_test(test_avx2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
