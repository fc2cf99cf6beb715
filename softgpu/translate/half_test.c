/*
 * Fused sums of halves, translated: sums in the middle of two halves, and as little beside that as
 * there can be, which a float does not tell from it. What is expected is computed in integers.
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

enum { A, B, C, D, E, ROWS };
enum { INSTRUCTIONS = 2, ROUNDS = 2000, LEFT = 1000, SIGN = 0x8000, LARGEST = 0x7bff };
enum { DIGITS = 10, ONE = 0x3c00, BIAS = 15 };

static uint32_t random_state = 1;
static uint32_t below(uint32_t n)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)random_state * n >> 32);
}

static struct state {
    struct wave wave;
    lane_row v[ROWS];
} state;

/* In units of 2^-24. */
static int64_t whole(uint32_t half)
{
    const uint32_t exponent = half >> DIGITS & 31, digits = half & ((1 << DIGITS) - 1);
    const int64_t size = exponent ? (int64_t)(digits | 1 << DIGITS) << (exponent - 1) : digits;
    return half & SIGN ? -size : size;
}
/* Of units of 2^-48, to nearest even. */
static uint32_t half_of(__int128 sum, uint32_t sign_of_zero)
{
    enum { UNITS = 24 };
    const uint32_t sign = sum == 0 ? sign_of_zero : sum < 0 ? SIGN : 0;
    unsigned __int128 size = (unsigned __int128)(sum < 0 ? -sum : sum);
    unsigned lost = UNITS, exponent = 0;
    while (size >> lost >> (DIGITS + 1)) {
        lost++;
        exponent++;
    }
    const unsigned __int128 rest = size & (((unsigned __int128)1 << lost) - 1);
    const unsigned __int128 middle = (unsigned __int128)1 << (lost - 1);
    uint32_t half = (uint32_t)(size >> lost) + (exponent << DIGITS);
    half += rest > middle || (rest == middle && half & 1);
    return sign | (half > LARGEST ? LARGEST + 1 : half);
}
static uint32_t fused(uint32_t a, uint32_t b, uint32_t c)
{
    enum { UNITS_OF_C = 24 };
    const __int128 sum = (__int128)whole(a) * whole(b) + ((__int128)whole(c) << UNITS_OF_C);
    return half_of(sum, (a ^ b) & c & SIGN);
}

static uint32_t any_half(void)
{
    return below(LARGEST + 1) | (below(2) ? SIGN : 0);
}
/* c and half of its last digit, or 2^-20 of that more or less; or anything. */
static void lane_fill(uint32_t *a, uint32_t *b, uint32_t *c)
{
    static const uint32_t about_one[] = {0x3800 + 0x3fe, ONE, 0x3c01};
    enum { KINDS = 3, BY_ONE = 2 };
    *c = any_half();
    *a = any_half();
    *b = any_half();
    if (below(4) == 0)
        return;
    if (below(2))
        *c &= SIGN | 0x3ff; /* a denormal */
    const uint32_t exponent = *c >> DIGITS & 31;
    const int apart = (int)(exponent ? exponent : 1) - BIAS - DIGITS - 1; /* of the product */
    const int of_a = apart / 2, of_b = apart - of_a;
    const uint32_t n = below(KINDS), m = n == BY_ONE ? 1 : below(KINDS);
    *a = (about_one[n] + (uint32_t)of_a * (1 << DIGITS)) | (below(2) ? SIGN : 0);
    *b = (about_one[m] + (uint32_t)of_b * (1 << DIGITS)) | (below(2) ? SIGN : 0);
}

static void rows_fill(void)
{
    memset(&state, 0, sizeof state);
    for (int lane = 0; lane < WAVE_LANES; lane++)
        for (int part = 0; part < 32; part += 16) {
            uint32_t a, b, c;
            lane_fill(&a, &b, &c);
            state.v[A][lane] |= a << part;
            state.v[B][lane] |= b << part;
            state.v[C][lane] |= c << part;
        }
    state.wave.s64[SREG_EXEC / 2] = ~UINT64_C(0);
    valu_mode_set(&state.wave, 0x2f0);
    state.wave.slice_left = LEFT;
    state.wave.v = state.v;
}

static bool is_number(uint32_t half)
{
    return (half & ~(uint32_t)SIGN) <= LARGEST;
}
static void half_check(uint32_t a, uint32_t b, uint32_t c, uint32_t got)
{
    if (is_number(c) && got != fused(a, b, c))
        fail_msg("%04x * %04x + %04x: %04x instead of %04x", a, b, c, got, fused(a, b, c));
}
/* d = a * b + c, e = a * b + d. */
static void rows_check(bool packed)
{
    for (int lane = 0; lane < WAVE_LANES; lane++)
        for (int part = 0; part < (packed ? 32 : 16); part += 16) {
            uint32_t x[ROWS];
            for (int row = 0; row < ROWS; row++)
                x[row] = state.v[row][lane] >> part & 0xffff;
            half_check(x[A], x[B], x[C], x[D]);
            half_check(x[A], x[B], x[D], x[E]);
        }
}

static const struct inst *plain_stub(struct wave *w, const struct inst *i)
{
    (void)w;
    return i;
}
static void sums_try(bool packed)
{
    static const uint32_t words[2][INSTRUCTIONS][2] = {
        {{0xd2060003, 0x040a0300}, {0xd2060004, 0x040e0300}},  /* v_fma_f16, by llvm-mc */
        {{0xd38e4003, 0x1c0a0300}, {0xd38e4004, 0x1c0e0300}}}; /* v_pk_fma_f16 */
    struct inst slots[INSTRUCTIONS];
    const struct inst *const insts[INSTRUCTIONS] = {&slots[0], &slots[1]};
    struct x86 x = {0};
    for (int n = 0; n < INSTRUCTIONS; n++)
        assert_true(isa_decode(GPU_GFX90A, words[packed][n], 2, &slots[n]));
    assert_int_equal(translate_run(&x, insts, INSTRUCTIONS, plain_stub, NULL), INSTRUCTIONS);
    void *code = translated_map(&x);
    assert_non_null(code);
    inst_exec_fn *run;
    memcpy(&run, &code, sizeof run);
    for (int n = 0; n < ROUNDS; n++) {
        rows_fill();
        valu_enter(&state.wave);
        const struct inst *next = run(&state.wave, insts[0]);
        valu_leave();
        assert_ptr_not_equal(next, insts[0]);
        rows_check(packed);
    }
    translated_unmap(code, x.count);
    x86_free(&x);
}

static void level_try(const char *level)
{
    if (valu_build_select(level) != 0)
        skip(); /* this host has it not */
    sums_try(false);
    sums_try(true);
}
static void test_avx512(void **unused)
{
    (void)unused;
    level_try("avx512");
}
static void test_avx2(void **unused)
{
    (void)unused;
    level_try("avx2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_avx512),
        cmocka_unit_test(test_avx2),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
