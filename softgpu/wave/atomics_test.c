/*
 * Every atomic instruction of memory and LDS, one operation in each lane, on random operands and on
 * those around which it turns: what is in memory behind it and what comes back, against the
 * operations of AMD's instruction set documents, written down here once more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wave/atomic_value.h"
#include "wave/kernel_runner.h"

enum { LANES = 64, ROWS_MAX = 64, BUFFER_BYTES = 0x100000, TEXT_BYTES = 0x10000 };
enum { TARGET_AT = 0x10000, OPERANDS_AT = 0x20000, OLD_AT = 0x40000 };

typedef uint64_t (*oracle)(uint64_t old, uint64_t data, uint64_t compare, unsigned bits);

static int64_t of_signed(uint64_t v, unsigned bits)
{
    return bits == 32 ? (int32_t)v : (int64_t)v;
}

#define ORACLE(name, result)                                                                       \
    static uint64_t name(uint64_t old, uint64_t data, uint64_t compare, unsigned bits)             \
    {                                                                                              \
        (void)old;                                                                                 \
        (void)compare;                                                                             \
        (void)bits;                                                                                \
        return result;                                                                             \
    }
ORACLE(swap, data)
ORACLE(cmpswap, old == compare ? data : old)
ORACLE(add, old + data)
ORACLE(sub, old - data)
ORACLE(rsub, data - old)
ORACLE(smin, of_signed(old, bits) < of_signed(data, bits) ? old : data)
ORACLE(smax, of_signed(old, bits) > of_signed(data, bits) ? old : data)
ORACLE(umin, old < data ? old : data)
ORACLE(umax, old > data ? old : data)
ORACLE(and, (old & data))
ORACLE(or, old | data)
ORACLE(xor, old ^ data)
ORACLE(inc, old >= data ? 0 : old + 1)
ORACLE(dec, old == 0 || old > data ? data : old - 1)
ORACLE(mskor, (old & ~data) | compare)
ORACLE(wrap, old >= data ? old - data : old + compare)

#define FLOATS(name, type, bits_of, result)                                                        \
    static uint64_t name(uint64_t old_bits, uint64_t data_bits, uint64_t compare, unsigned bits)   \
    {                                                                                              \
        type old, data, made;                                                                      \
        bits_of made_bits;                                                                         \
        (void)compare;                                                                             \
        (void)bits;                                                                                \
        memcpy(&old, &old_bits, sizeof old);                                                       \
        memcpy(&data, &data_bits, sizeof data);                                                    \
        made = result;                                                                             \
        memcpy(&made_bits, &made, sizeof made);                                                    \
        return made_bits;                                                                          \
    }
FLOATS(add_f32, float, uint32_t, old + data)
FLOATS(min_f32, float, uint32_t, old < data ? old : data)
FLOATS(max_f32, float, uint32_t, old > data ? old : data)
FLOATS(add_f64, double, uint64_t, old + data)
FLOATS(min_f64, double, uint64_t, old < data ? old : data)
FLOATS(max_f64, double, uint64_t, old > data ? old : data)

/* What an operation reads beside the address: data; data and a comparand in one tuple; two operands
 * with the comparand in the first one (DS). */
enum shape { DATA, TUPLE, COMPARAND_FIRST, TWO };
enum since { GFX906, GFX908, GFX90A };

struct row {
    const char *name;
    unsigned bits;
    oracle want;
    enum shape shape;
    enum since since;
    bool is_float;
};

/* global_, flat_ and buffer_atomic_. */
#define BOTH(name, shape)                                                                          \
    {#name, 32, name, shape, GFX906, false},                                                       \
    {                                                                                              \
#name "_x2", 64, name, shape, GFX906, false                                                \
    }
static const struct row memory_rows[] = {
    BOTH(swap, DATA),
    BOTH(cmpswap, TUPLE),
    BOTH(add, DATA),
    BOTH(sub, DATA),
    BOTH(smin, DATA),
    BOTH(umin, DATA),
    BOTH(smax, DATA),
    BOTH(umax, DATA),
    BOTH(and, DATA),
    BOTH(or, DATA),
    BOTH(xor, DATA),
    BOTH(inc, DATA),
    BOTH(dec, DATA),
    {"add_f64", 64, add_f64, DATA, GFX90A, true},
    {"min_f64", 64, min_f64, DATA, GFX90A, true},
    {"max_f64", 64, max_f64, DATA, GFX90A, true},
};
#define DS(name, suffix, shape)                                                                    \
    {#name "_rtn_" suffix "32", 32, name, shape, GFX906, false},                                   \
    {                                                                                              \
#name "_rtn_" suffix "64", 64, name, shape, GFX906, false                                  \
    }
static const struct row lds_rows[] = {
    DS(add, "u", DATA),
    DS(sub, "u", DATA),
    DS(rsub, "u", DATA),
    DS(inc, "u", DATA),
    DS(dec, "u", DATA),
    DS(and, "b", DATA),
    DS(or, "b", DATA),
    DS(xor, "b", DATA),
    DS(mskor, "b", TWO),
    {"min_rtn_i32", 32, smin, DATA, GFX906, false},
    {"min_rtn_i64", 64, smin, DATA, GFX906, false},
    {"max_rtn_i32", 32, smax, DATA, GFX906, false},
    {"max_rtn_i64", 64, smax, DATA, GFX906, false},
    {"min_rtn_u32", 32, umin, DATA, GFX906, false},
    {"min_rtn_u64", 64, umin, DATA, GFX906, false},
    {"max_rtn_u32", 32, umax, DATA, GFX906, false},
    {"max_rtn_u64", 64, umax, DATA, GFX906, false},
    {"wrxchg_rtn_b32", 32, swap, DATA, GFX906, false},
    {"wrxchg_rtn_b64", 64, swap, DATA, GFX906, false},
    {"cmpst_rtn_b32", 32, cmpswap, COMPARAND_FIRST, GFX906, false},
    {"cmpst_rtn_b64", 64, cmpswap, COMPARAND_FIRST, GFX906, false},
    {"cmpst_rtn_f32", 32, cmpswap, COMPARAND_FIRST, GFX906, true},
    {"cmpst_rtn_f64", 64, cmpswap, COMPARAND_FIRST, GFX906, true},
    {"wrap_rtn_b32", 32, wrap, TWO, GFX906, false},
    {"add_rtn_f32", 32, add_f32, DATA, GFX906, true},
    {"min_rtn_f32", 32, min_f32, DATA, GFX906, true},
    {"max_rtn_f32", 32, max_f32, DATA, GFX906, true},
    {"min_rtn_f64", 64, min_f64, DATA, GFX906, true},
    {"max_rtn_f64", 64, max_f64, DATA, GFX906, true},
    {"add_rtn_f64", 64, add_f64, DATA, GFX90A, true},
};

enum family { GLOBAL, FLAT, BUFFER, LDS };

struct lane {
    uint64_t old, data, compare;
};

struct setup {
    const char *gpu;
    enum since generation;
    struct kernel_runner *runner;
    uint8_t *memory;
    uint64_t exec;
    struct lane (*lanes)[LANES]; /* of a row each */
};

/* s[4:5] the buffer, s[6:7] targets, s[10:11] operands, s[12:13] what came back; a row of 64 each.
 */
#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"          \
    "v_lshlrev_b32 v1, 3, v0\nv_lshlrev_b32 v2, 4, v0\ns_mov_b64 s[20:21], exec\n"                 \
    "s_add_u32 s6, s4, 0x10000\ns_addc_u32 s7, s5, 0\ns_add_u32 s10, s4, 0x20000\n"                \
    "s_addc_u32 s11, s5, 0\ns_add_u32 s12, s4, 0x40000\ns_addc_u32 s13, s5, 0\n"                   \
    "s_mov_b32 s18, -1\ns_mov_b32 s19, 0x27000\ns_mov_b32 m0, -1\n"
#define ROW_BEGIN                                                                                  \
    "global_load_dwordx4 v[4:7], v2, s[10:11]\nglobal_load_dwordx2 v[14:15], v1, s[6:7]\n"         \
    "v_mov_b32 v8, 0\nv_mov_b32 v9, 0\ns_mov_b32 s16, s6\ns_and_b32 s17, s7, 0xffff\n"             \
    "v_mov_b32 v11, s7\nv_add_co_u32 v10, vcc, s6, v1\nv_addc_co_u32 v11, vcc, 0, v11, vcc\n"      \
    "s_waitcnt vmcnt(0)\nds_write_b64 v1, v[14:15]\ns_waitcnt lgkmcnt(0)\n"                        \
    "s_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n"
#define ROW_END                                                                                    \
    "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n%ss_mov_b64 exec, s[20:21]\n"                                \
    "ds_read_b64 v[14:15], v1\ns_waitcnt lgkmcnt(0)\n%s"                                           \
    "global_store_dwordx2 v1, v[8:9], s[12:13]\ns_add_u32 s6, s6, 0x200\ns_addc_u32 s7, s7, 0\n"   \
    "s_add_u32 s10, s10, 0x400\ns_addc_u32 s11, s11, 0\ns_add_u32 s12, s12, 0x200\n"               \
    "s_addc_u32 s13, s13, 0\n"

static const char *registers(unsigned first, unsigned dwords, char *text)
{
    sprintf(text, dwords == 1 ? "v%u" : "v[%u:%u]", first, first + dwords - 1);
    return text;
}

static int instruction(const struct row *row, enum family family, char *text)
{
    char to[16], data[16], second[16];
    const unsigned dwords = row->bits / 32;
    registers(8, dwords, to);
    if (family == LDS) {
        bool swapped = row->shape == COMPARAND_FIRST;
        registers(swapped ? 6 : 4, dwords, data);
        registers(swapped ? 4 : 6, dwords, second);
        return sprintf(text, "ds_%s %s, v1, %s%s%s", row->name, to, data,
                       row->shape == DATA ? "" : ", ", row->shape == DATA ? "" : second);
    }
    registers(4, row->shape == TUPLE ? 2 * dwords : dwords, data);
    const char *move = row->shape == TUPLE && dwords == 1 ? "v_mov_b32 v5, v6\n" : "";
    switch (family) {
    case GLOBAL:
        return sprintf(text, "%sglobal_atomic_%s %s, v1, %s, s[6:7] glc", move, row->name, to,
                       data);
    case FLAT:
        return sprintf(text, "%sflat_atomic_%s %s, v[10:11], %s glc", move, row->name, to, data);
    default: /* what comes back takes the data's place */
        return sprintf(text, "%sbuffer_atomic_%s %s, v1, s[16:19], 0 offen glc", move, row->name,
                       data);
    }
}

static void kernel_load(struct setup *s, enum family family, const struct row *rows, unsigned count)
{
    static char text[TEXT_BYTES];
    char *at = text + sprintf(text, PROLOGUE);
    for (unsigned n = 0; n < count; n++) {
        if (rows[n].since > s->generation)
            continue;
        const char *back = family != BUFFER     ? ""
                           : rows[n].bits == 32 ? "v_mov_b32 v8, v4\n"
                                                : "v_mov_b32 v8, v4\nv_mov_b32 v9, v5\n";
        const char *store = family == LDS ? "global_store_dwordx2 v1, v[14:15], s[6:7]\n" : "";
        at += sprintf(at, ROW_BEGIN, (uint32_t)s->exec, (uint32_t)(s->exec >> 32));
        at += instruction(&rows[n], family, at);
        at += sprintf(at, ROW_END, back, store);
        assert_true(at < text + TEXT_BYTES - 2048);
    }
    strcpy(at, "s_endpgm\n");
    if (kernel_runner_load(s->runner, 0, text) != 0)
        fail_msg("%s: family %d does not assemble", s->gpu, family);
}

static uint64_t random64(void)
{
    return (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
}

static uint64_t cut(uint64_t v, unsigned bits)
{
    return bits == 32 ? (uint32_t)v : v;
}

/* Any number, or one next to the other or to an end of the numbers. */
static uint64_t operand(uint64_t other, unsigned bits)
{
    const uint64_t top = UINT64_C(1) << (bits - 1);
    const uint64_t ends[] = {0, top, other};
    if (rand() % 3 == 0)
        return cut(random64(), bits);
    return cut(ends[rand() % 3] + (uint64_t)(rand() % 3) - 1, bits);
}

/* Sums of these are exact. */
static uint64_t operand_float(unsigned bits)
{
    const double value = (rand() % 4097 - 2048) / 8.0;
    const float narrow = (float)value;
    uint64_t made = 0;
    memcpy(&made, bits == 32 ? (const void *)&narrow : (const void *)&value, bits / 8);
    return value == 0 ? 0 : made;
}

static struct lane lane_make(const struct row *row)
{
    struct lane lane;
    lane.data = row->is_float ? operand_float(row->bits) : operand(0, row->bits);
    lane.old = row->is_float ? operand_float(row->bits) : operand(lane.data, row->bits);
    lane.compare = rand() & 1      ? lane.old
                   : row->is_float ? operand_float(row->bits)
                                   : operand(lane.old, row->bits);
    return lane;
}

/* What stands beside a dword. */
static uint64_t beside(const struct row *row)
{
    return row->bits == 32 ? UINT64_C(0x1234567800000000) : 0;
}

static void lanes_fill(struct setup *s, const struct row *row, unsigned at)
{
    for (unsigned l = 0; l < LANES; l++) {
        struct lane lane = s->lanes[at][l] = lane_make(row);
        uint64_t pair[2] = {lane.data, lane.compare}, target = lane.old | beside(row);
        memcpy(s->memory + OPERANDS_AT + 16 * (LANES * at + l), pair, 16);
        memcpy(s->memory + TARGET_AT + 8 * (LANES * at + l), &target, 8);
    }
}

static void lanes_check(const struct setup *s, const struct row *row, unsigned at)
{
    for (unsigned l = 0; l < LANES; l++) {
        const struct lane lane = s->lanes[at][l];
        const bool active = s->exec >> l & 1;
        uint64_t now, back, want = lane.old, want_back = active ? lane.old : 0;
        if (active)
            want = cut(row->want(lane.old, lane.data, lane.compare, row->bits), row->bits);
        memcpy(&now, s->memory + TARGET_AT + 8 * (LANES * at + l), 8);
        memcpy(&back, s->memory + OLD_AT + 8 * (LANES * at + l), 8);
        if (now != (want | beside(row)) || back != want_back)
            fail_msg("%s %s lane %u: old %llx data %llx compare %llx: %llx, not %llx; back %llx",
                     s->gpu, row->name, l, (unsigned long long)lane.old,
                     (unsigned long long)lane.data, (unsigned long long)lane.compare,
                     (unsigned long long)now, (unsigned long long)(want | beside(row)),
                     (unsigned long long)back);
    }
}

/* The first rounds of a kernel are interpreted, those behind them translated. */
static void family_check(struct setup *s, enum family family, const struct row *rows,
                         unsigned count)
{
    enum { ROUNDS = 8 };
    const struct kernel_geometry geometry = {.grid = LANES, .group_size = LANES, .lds_bytes = 1024};
    s->exec = random64() | 1;
    kernel_load(s, family, rows, count);
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct dispatch_result result;
        for (unsigned n = 0, at = 0; n < count; n++)
            if (rows[n].since <= s->generation)
                lanes_fill(s, &rows[n], at++);
        assert_int_equal(kernel_runner_start(s->runner, 0, geometry), 0);
        assert_true(kernel_runner_wait(s->runner, &result));
        assert_int_equal(result.fault, FAULT_NONE);
        for (unsigned n = 0, at = 0; n < count; n++)
            if (rows[n].since <= s->generation)
                lanes_check(s, &rows[n], at++);
    }
}

static void as_the_documents_say(const char *gpu, enum since generation)
{
    struct setup s = {.gpu = gpu, .generation = generation};
    srand(generation + 1);
    s.lanes = calloc(ROWS_MAX, sizeof *s.lanes);
    assert_non_null(s.lanes);
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &s.runner), 0);
    s.memory = kernel_runner_buffer(s.runner);
    for (enum family family = GLOBAL; family <= BUFFER; family++)
        family_check(&s, family, memory_rows, sizeof memory_rows / sizeof memory_rows[0]);
    family_check(&s, LDS, lds_rows, sizeof lds_rows / sizeof lds_rows[0]);
    kernel_runner_destroy(s.runner);
    free(s.lanes);
}

static void on_gfx906(void **state)
{
    (void)state;
    as_the_documents_say("gfx906", GFX906);
}

static void on_gfx908(void **state)
{
    (void)state;
    as_the_documents_say("gfx908", GFX908);
}

static void on_gfx90a(void **state)
{
    (void)state;
    as_the_documents_say("gfx90a", GFX90A);
}

static _Float16 half_of(uint32_t bits)
{
    const uint16_t low = (uint16_t)bits;
    _Float16 half;
    memcpy(&half, &low, sizeof half);
    return half;
}

/* What global_atomic_pk_add_f16 adds, against sums that are exact and rounded once. */
static void halves(void **state)
{
    (void)state;
    const enum host_level before = host_level;
    for (unsigned n = 0; n < 400000; n++) {
        const uint32_t a = (uint32_t)rand() * 2654435761u, other = (uint32_t)rand() * 2654435761u;
        const uint32_t b = n % 3 ? other : a ^ (other & 0x80038003); /* near it, or its negative */
        host_level = n % 2 ? LEVEL_PORTABLE : before;
        const uint32_t sum = atomic_sum_halves(a, b);
        for (unsigned shift = 0; shift < 32; shift += 16) {
            const _Float16 got = half_of(sum >> shift);
            const _Float16 want =
                (_Float16)((double)half_of(a >> shift) + (double)half_of(b >> shift));
            if (want != want ? got == got : memcmp(&got, &want, sizeof got) != 0)
                fail_msg("%x + %x is %x", a, b, sum);
        }
    }
    host_level = before;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(on_gfx906), cmocka_unit_test(on_gfx908),
                                       cmocka_unit_test(on_gfx90a), cmocka_unit_test(halves)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
