/*
 * What memory and LDS compute with floats, in every rounding mode and with denormals kept and
 * flushed: nobody but LDS looks at MODE, and that at nothing but its denormals of single precision.
 * By what LLVM's back end knows of it when it decides which atomics may be instructions.
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

enum { LANES = 64, BUFFER_BYTES = 0x40000, TEXT_BYTES = 0x8000 };
enum { MODE_AT = 0x800, TARGETS_AT = 0x1000, OPERANDS_AT = 0x10000 };
enum since { GFX908, GFX90A, GFX942 };
enum kind { ADD_F32, ADD_F64, MIN_F64, MAX_F64, COMPARE_F64, ADD_F16, ADD_BF16 };

/* v[4:5] data, v[6:7] another operand, v1 the place in LDS or memory. */
static const struct row {
    const char *text;
    enum kind kind;
    enum since since;
    bool lds;
} rows[] = {
    {"ds_add_f32 v1, v4", ADD_F32, GFX908, true},
    {"ds_add_rtn_f32 v8, v1, v4", ADD_F32, GFX908, true},
    {"ds_add_f64 v1, v[4:5]", ADD_F64, GFX90A, true},
    {"ds_min_f64 v1, v[4:5]", MIN_F64, GFX908, true},
    {"ds_max_rtn_f64 v[8:9], v1, v[4:5]", MAX_F64, GFX908, true},
    {"ds_cmpst_rtn_f64 v[8:9], v1, v[6:7], v[4:5]", COMPARE_F64, GFX908, true},
    {"ds_pk_add_f16 v1, v4", ADD_F16, GFX942, true},
    {"ds_pk_add_bf16 v1, v4", ADD_BF16, GFX942, true},
    {"global_atomic_add_f32 v1, v4, s[6:7]", ADD_F32, GFX908, false},
    {"buffer_atomic_add_f32 v4, v1, s[16:19], 0 offen", ADD_F32, GFX908, false},
    {"global_atomic_pk_add_f16 v1, v4, s[6:7]", ADD_F16, GFX908, false},
    {"global_atomic_pk_add_bf16 v1, v4, s[6:7]", ADD_BF16, GFX942, false},
    {"flat_atomic_add_f32 v[10:11], v4", ADD_F32, GFX942, false},
    {"global_atomic_add_f64 v1, v[4:5], s[6:7]", ADD_F64, GFX90A, false},
    {"flat_atomic_add_f64 v[10:11], v[4:5]", ADD_F64, GFX90A, false},
    {"global_atomic_min_f64 v1, v[4:5], s[6:7]", MIN_F64, GFX90A, false},
    {"global_atomic_max_f64 v1, v[4:5], s[6:7]", MAX_F64, GFX90A, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"          \
    "v_lshlrev_b32 v1, 3, v0\nv_lshlrev_b32 v2, 4, v0\ns_load_dword s14, s[4:5], 0x800\n"          \
    "s_add_u32 s6, s4, 0x1000\ns_addc_u32 s7, s5, 0\ns_add_u32 s10, s4, 0x10000\n"                 \
    "s_addc_u32 s11, s5, 0\ns_mov_b32 s18, -1\ns_mov_b32 s19, 0x27000\ns_mov_b32 m0, -1\n"         \
    "s_waitcnt lgkmcnt(0)\ns_setreg_b32 hwreg(HW_REG_MODE, 0, 8), s14\n"
#define ROW_BEGIN                                                                                  \
    "global_load_dwordx4 v[4:7], v2, s[10:11]\nglobal_load_dwordx2 v[14:15], v1, s[6:7]\n"         \
    "s_mov_b32 s16, s6\ns_and_b32 s17, s7, 0xffff\nv_mov_b32 v11, s7\n"                            \
    "v_add_co_u32 v10, vcc, s6, v1\nv_addc_co_u32 v11, vcc, 0, v11, vcc\n"                         \
    "s_waitcnt vmcnt(0)\nds_write_b64 v1, v[14:15]\ns_waitcnt lgkmcnt(0)\n"
#define ROW_END                                                                                    \
    "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n%ss_add_u32 s6, s6, 0x200\ns_addc_u32 s7, s7, 0\n"           \
    "s_add_u32 s10, s10, 0x400\ns_addc_u32 s11, s11, 0\n"
#define LDS_OUT                                                                                    \
    "ds_read_b64 v[14:15], v1\ns_waitcnt lgkmcnt(0)\n"                                             \
    "global_store_dwordx2 v1, v[14:15], s[6:7]\ns_waitcnt vmcnt(0)\n"

struct lane {
    uint64_t old, data, other;
};

/* ---- what is expected, computed in the host's usual state ---- */

static uint32_t flushed(uint32_t u)
{
    return u & 0x7f800000 ? u : u & 0x80000000;
}

static uint32_t sum_f32(uint32_t a, uint32_t b, bool flush)
{
    float x, y;
    uint32_t u;
    a = flush ? flushed(a) : a;
    b = flush ? flushed(b) : b;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    x += y;
    memcpy(&u, &x, 4);
    return flush ? flushed(u) : u;
}

/* Of bf16 the sum is exact in double precision, and of finite ones no NaN. */
static uint32_t sum_bf16(uint32_t a, uint32_t b)
{
    float x, y;
    a <<= 16;
    b <<= 16;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    const float sum = (float)((double)x + (double)y);
    uint32_t u;
    memcpy(&u, &sum, 4);
    return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

static uint32_t sum_f16(uint32_t a, uint32_t b)
{
    const uint16_t bits[2] = {(uint16_t)a, (uint16_t)b};
    _Float16 x[2];
    uint16_t u;
    memcpy(x, bits, sizeof x);
    const _Float16 sum = (_Float16)((double)x[0] + (double)x[1]);
    memcpy(&u, &sum, 2);
    return u;
}

static uint64_t made_f64(enum kind kind, const struct lane *lane)
{
    double old, data, other;
    memcpy(&old, &lane->old, 8);
    memcpy(&data, &lane->data, 8);
    memcpy(&other, &lane->other, 8);
    const double made = kind == ADD_F64   ? old + data
                        : kind == MIN_F64 ? (old < data ? old : data)
                        : kind == MAX_F64 ? (old > data ? old : data)
                        : old == other    ? data
                                          : old;
    uint64_t u;
    memcpy(&u, &made, 8);
    return u;
}

static uint64_t made_of(const struct row *row, enum since gpu, uint32_t mode,
                        const struct lane *lane)
{
    const uint64_t beside = lane->old & UINT64_C(0xffffffff00000000);
    const uint32_t a = (uint32_t)lane->old, b = (uint32_t)lane->data;
    switch (row->kind) {
    case ADD_F32: /* LDS by MODE; an MI100's and MI200's memory always flushes, an MI300's never */
        return beside | sum_f32(a, b, row->lds ? (mode >> 4 & 3) == 0 : gpu != GFX942);
    case ADD_F16:
        return beside | sum_f16(a & 0xffff, b & 0xffff) | sum_f16(a >> 16, b >> 16) << 16;
    case ADD_BF16:
        return beside | sum_bf16(a & 0xffff, b & 0xffff) | sum_bf16(a >> 16, b >> 16) << 16;
    default:
        return made_f64(row->kind, lane);
    }
}

/* ---- operands ---- */

static uint64_t random_bits(unsigned count)
{
    const uint64_t bits = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
    return bits & ((UINT64_C(1) << count) - 1);
}

/* Finite, of exponents near each other or denormal. */
static uint64_t number(unsigned exponent_bits, unsigned fraction_bits)
{
    const uint64_t bias = (UINT64_C(1) << (exponent_bits - 1)) - 1;
    const uint64_t exponent = rand() % 3 ? bias + (uint64_t)(rand() % 12) : (uint64_t)(rand() % 2);
    return random_bits(1) << (exponent_bits + fraction_bits) | exponent << fraction_bits |
           random_bits(fraction_bits);
}

static uint64_t operand(enum kind kind)
{
    switch (kind) {
    case ADD_F32:
        return number(8, 23);
    case ADD_F16:
        return number(5, 10) | number(5, 10) << 16;
    case ADD_BF16:
        return number(8, 7) | number(8, 7) << 16;
    default:
        return number(11, 52);
    }
}

static struct lane lane_make(enum kind kind)
{
    struct lane lane = {operand(kind), operand(kind), operand(kind)};
    if (kind < ADD_F64 || kind > COMPARE_F64)
        lane.old |= UINT64_C(0x1234567800000000);
    else if (rand() & 1)
        lane.other = lane.old;
    return lane;
}

/* ---- the kernel ---- */

static void kernel_load(struct kernel_runner *runner, enum since gpu)
{
    static char text[TEXT_BYTES];
    char *at = text + sprintf(text, PROLOGUE);
    for (unsigned n = 0; n < ROWS; n++)
        if (rows[n].since <= gpu)
            at += sprintf(at, ROW_BEGIN "%s" ROW_END, rows[n].text, rows[n].lds ? LDS_OUT : "");
    strcpy(at, "s_endpgm\n");
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
}

static void mode_check(struct kernel_runner *runner, enum since gpu, uint32_t mode)
{
    const struct kernel_geometry geometry = {.grid = LANES, .group_size = LANES, .lds_bytes = 512};
    static struct lane lanes[ROWS][LANES];
    uint8_t *memory = kernel_runner_buffer(runner);
    struct dispatch_result result;
    memcpy(memory + MODE_AT, &mode, sizeof mode);
    for (unsigned n = 0, at = 0; n < ROWS; n++)
        for (unsigned l = 0; rows[n].since <= gpu && l < LANES; at++, l++) {
            lanes[n][l] = lane_make(rows[n].kind);
            memcpy(memory + TARGETS_AT + 8 * at, &lanes[n][l].old, 8);
            memcpy(memory + OPERANDS_AT + 16 * at, &lanes[n][l].data, 16);
        }
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    for (unsigned n = 0, at = 0; n < ROWS; n++)
        for (unsigned l = 0; rows[n].since <= gpu && l < LANES; at++, l++) {
            const struct lane *lane = &lanes[n][l];
            const uint64_t want = made_of(&rows[n], gpu, mode, lane);
            uint64_t got;
            memcpy(&got, memory + TARGETS_AT + 8 * at, 8);
            if (got != want)
                fail_msg("GPU %d MODE %02x %s: old %llx data %llx other %llx: %llx, not %llx", gpu,
                         mode, rows[n].text, (unsigned long long)lane->old,
                         (unsigned long long)lane->data, (unsigned long long)lane->other,
                         (unsigned long long)got, (unsigned long long)want);
        }
}

static void modes_check(const char *name, enum since gpu)
{
    enum { TIMES = 4 }; /* the first ones are interpreted */
    static const uint8_t denormals[] = {0xf0, 0xc0, 0x30, 0x00};
    struct kernel_runner *runner;
    srand(gpu + 1);
    assert_int_equal(kernel_runner_create_on(name, 1, BUFFER_BYTES, &runner), 0);
    kernel_load(runner, gpu);
    for (unsigned n = 0; n < TIMES * sizeof denormals; n++)
        for (uint32_t round = 0; round < 16; round++)
            mode_check(runner, gpu, denormals[n % sizeof denormals] | round);
    kernel_runner_destroy(runner);
}

static void rounds_to_the_nearest(void **state)
{
    (void)state;
    modes_check("gfx908", GFX908);
    modes_check("gfx90a", GFX90A);
    modes_check("gfx942", GFX942);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rounds_to_the_nearest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
