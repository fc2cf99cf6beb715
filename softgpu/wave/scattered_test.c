/*
 * Random loads and stores of global memory by lanes at any places, of which some may be off: bytes,
 * words and dwords, into either half of a register and into the address' own; strings of bytes and
 * words; addresses that rise, fall, or do neither; with 64-bit addresses, with a scalar base and
 * through a buffer, on each level of the host. What lies outside faults. And atomics of lanes that
 * meet in few places.
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

enum {
    LANES = 64,
    CASES = 14,
    ROUNDS = 16,
    OUTSIDE_ROUNDS = 12,
    MEETING_ROUNDS = 4,
    ROW_BYTES = 4 * LANES
};
enum { ROWS_AT = 0x10000, ROWS_STEP = 0x1000, LOW_ROW = 0, HIGH_ROW, DATA_ROW, CASE_ROWS = 8 };
enum { AREA_AT = 0x100000, AREA_BYTES = 0x8000, BUFFER_BYTES = AREA_AT + 0x10000 };

enum half { WHOLE, LOW, HIGH };
enum form { ADDRESSES, SCALAR_BASE, BUFFER, FORMS };

static const struct access {
    const char *name;
    uint8_t bytes;
    bool store, sign;
    enum half half;
} accesses[] = {
    {"load_ubyte", 1, false, false, WHOLE},      {"load_sbyte", 1, false, true, WHOLE},
    {"load_ushort", 2, false, false, WHOLE},     {"load_sshort", 2, false, true, WHOLE},
    {"load_ubyte_d16", 1, false, false, LOW},    {"load_ubyte_d16_hi", 1, false, false, HIGH},
    {"load_sbyte_d16", 1, false, true, LOW},     {"load_sbyte_d16_hi", 1, false, true, HIGH},
    {"load_short_d16", 2, false, false, LOW},    {"load_short_d16_hi", 2, false, false, HIGH},
    {"load_dword", 4, false, false, WHOLE},      {"load_dwordx2", 8, false, false, WHOLE},
    {"load_dwordx3", 12, false, false, WHOLE},   {"load_dwordx4", 16, false, false, WHOLE},
    {"store_byte", 1, true, false, WHOLE},       {"store_short", 2, true, false, WHOLE},
    {"store_byte_d16_hi", 1, true, false, HIGH}, {"store_short_d16_hi", 2, true, false, HIGH},
    {"store_dword", 4, true, false, WHOLE},      {"store_dwordx2", 8, true, false, WHOLE},
    {"store_dwordx3", 12, true, false, WHOLE},   {"store_dwordx4", 16, true, false, WHOLE},
};
enum { ACCESSES = sizeof accesses / sizeof *accesses };

static struct scattered_case {
    const struct access *access;
    enum form form;
    bool to_address; /* the row of addresses is loaded over */
    uint32_t immediate;
    uint64_t lanes;     /* that are on */
    uint32_t at[LANES]; /* in the area */
} cases[CASES];

/* Else it is not known whose store is the last one. */
static bool lanes_are_apart(const struct scattered_case *c)
{
    for (unsigned a = 0; a < LANES; a++)
        for (unsigned b = 0; b < a; b++)
            if (c->at[a] < c->at[b] + c->access->bytes && c->at[b] < c->at[a] + c->access->bytes)
                return false;
    return true;
}

static void places_fill(struct scattered_case *c)
{
    enum { STRING, RISING, FALLING, ANY, KINDS };
    const uint32_t bytes = c->access->bytes, unit = bytes == 12 ? 4 : bytes;
    const uint32_t kind = below(KINDS), most = (AREA_BYTES - c->immediate - bytes) / unit;
    const uint32_t step = bytes / unit + below(most / LANES - bytes / unit + 1);
    const uint32_t first = below(4) ? below(most - LANES * (bytes / unit) + 1) : 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const uint32_t number = kind == STRING    ? first + lane * (bytes / unit)
                                : kind == RISING  ? lane * step + below(step - bytes / unit + 1)
                                : kind == FALLING ? (LANES - 1 - lane) * step
                                                  : below(most + 1);
        c->at[lane] = c->immediate + number * unit;
    }
    if (kind == STRING && below(4) == 0)
        c->at[below(LANES)] = c->immediate + below(most + 1) * unit;
}

static void case_fill(struct scattered_case *c)
{
    do {
        c->access = &accesses[below(ACCESSES)];
        c->form = (enum form)below(FORMS);
        c->immediate = below(2) ? 16 * below(64) : 0;
        c->to_address = !c->access->store && below(4) == 0;
        c->lanes = ~UINT64_C(0);
        if (below(2))
            c->lanes = random_dword() | (uint64_t)random_dword() << 32;
        if (below(8) == 0)
            c->lanes &= UINT64_C(0x1001) << below(48);
        places_fill(c);
    } while (c->access->store && !lanes_are_apart(c));
}

/* s[8:9]: the area, s[12:15] a buffer of it. */
static void access_put(const struct scattered_case *c)
{
    static const char *const widths[] = {"v%u", "v[%u:%u]", "v[%u:%u]", "v[%u:%u]"};
    const unsigned dwords = (c->access->bytes + 3u) / 4, to = c->to_address ? 2 : 8;
    char data[32];
    snprintf(data, sizeof data, widths[dwords - 1], to, to + dwords - 1);
    if (c->form == BUFFER)
        put("buffer_%s %s, v2, s[12:15], 0 offen offset:%u\n", c->access->name, data, c->immediate);
    else if (c->access->store)
        put("global_%s %s, %s, %s offset:%u\n", c->access->name,
            c->form == SCALAR_BASE ? "v2" : "v[2:3]", data,
            c->form == SCALAR_BASE ? "s[8:9]" : "off", c->immediate);
    else
        put("global_%s %s, %s, %s offset:%u\n", c->access->name, data,
            c->form == SCALAR_BASE ? "v2" : "v[2:3]", c->form == SCALAR_BASE ? "s[8:9]" : "off",
            c->immediate);
}

/* The data's rows go to the registers that are loaded, before the addresses. */
static void case_put(const struct scattered_case *c, unsigned number)
{
    put("s_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n", ROWS_AT + number * ROWS_STEP);
    for (unsigned n = 0; n < 4; n++)
        put("global_load_dword v%u, v1, s[6:7] offset:%u\n", 8 + n, (DATA_ROW + n) * ROW_BYTES);
    put("global_load_dword v2, v1, s[6:7]\nglobal_load_dword v3, v1, s[6:7] offset:%u\n",
        HIGH_ROW * ROW_BYTES);
    put("s_waitcnt vmcnt(0)\ns_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n",
        (uint32_t)c->lanes, (uint32_t)(c->lanes >> 32));
    access_put(c);
    put("s_waitcnt vmcnt(0)\n");
    for (unsigned n = 0; n < 4 && c->to_address; n++)
        put("v_mov_b32 v%u, v%u\n", 8 + n, 2 + n);
    put("s_mov_b64 exec, -1\n");
    for (unsigned n = 0; n < 4; n++)
        put("global_store_dword v1, v%u, s[6:7] offset:%u\n", 8 + n, (DATA_ROW + n) * ROW_BYTES);
}

/* Of lanes that are off it may be any address. */
static void rows_put(const struct scattered_case *c, uint64_t area_va, uint32_t (*rows)[LANES])
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint64_t va = c->at[lane] - c->immediate + (c->form == ADDRESSES ? area_va : 0);
        if (!(c->lanes >> lane & 1))
            va = random_dword() | (uint64_t)random_dword() << 32;
        rows[LOW_ROW][lane] = (uint32_t)va;
        rows[HIGH_ROW][lane] = (uint32_t)(va >> 32);
        for (unsigned n = 0; n < 4; n++)
            rows[DATA_ROW + n][lane] = random_dword();
    }
}

static uint32_t small_loaded(const struct access *a, const uint8_t *from)
{
    uint32_t value = a->bytes == 1 ? from[0] : from[0] | (uint32_t)from[1] << 8;
    if (a->sign)
        value = a->bytes == 1 ? (uint32_t)(int8_t)value : (uint32_t)(int16_t)value;
    return a->half == WHOLE ? value : a->half == LOW ? value & 0xffff : value << 16;
}

/* What the access does, to memory or to the data. */
static void case_do(const struct scattered_case *c, uint8_t *area, uint32_t (*data)[LANES])
{
    const struct access *a = c->access;
    const unsigned dwords = (a->bytes + 3u) / 4;
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint8_t *at = area + c->at[lane];
        if (!(c->lanes >> lane & 1))
            continue;
        if (a->store && a->bytes < 4) {
            const uint32_t value = data[0][lane] >> (a->half == HIGH ? 16 : 0);
            memcpy(at, &value, a->bytes);
        } else if (a->bytes < 4) {
            data[0][lane] = small_loaded(a, at);
        }
        for (unsigned n = 0; n < dwords && a->bytes >= 4; n++)
            if (a->store)
                memcpy(at + 4 * n, &data[n][lane], 4);
            else
                memcpy(&data[n][lane], at + 4 * n, 4);
    }
}

static void prologue_put(void)
{
    text_length = 0;
    put("s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"
        "v_lshlrev_b32 v1, 2, v0\ns_add_u32 s8, s4, 0x%x\ns_addc_u32 s9, s5, 0\n"
        "s_mov_b32 s12, s8\ns_and_b32 s13, s9, 0xffff\ns_movk_i32 s14, 0x7fff\n"
        "s_add_u32 s14, s14, 1\ns_mov_b32 s15, 0x00027000\n",
        AREA_AT);
}

static unsigned program_run(struct kernel_runner *runner)
{
    struct dispatch_result result;
    put("s_endpgm\n");
    assert_int_equal(kernel_runner_load(runner, 0, text), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    return result.fault;
}

static void round_run(void)
{
    static uint8_t area_wanted[AREA_BYTES];
    static uint32_t wanted[CASES][4][LANES];
    struct kernel_runner *runner;
    uint32_t(*rows[CASES])[LANES];
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner), *area = memory + AREA_AT;
    prologue_put();
    for (size_t n = 0; n < AREA_BYTES; n++)
        area[n] = area_wanted[n] = (uint8_t)below(256);
    for (unsigned n = 0; n < CASES; n++) {
        struct scattered_case *c = &cases[n];
        rows[n] = (uint32_t(*)[LANES])(memory + ROWS_AT + n * ROWS_STEP);
        case_fill(c);
        rows_put(c, (uintptr_t)area, rows[n]);
        case_put(c, n);
        memcpy(wanted[n], rows[n][DATA_ROW], sizeof wanted[n]);
        case_do(c, area_wanted, wanted[n]);
    }
    assert_int_equal(program_run(runner), FAULT_NONE);
    for (unsigned n = 0; n < CASES; n++) {
        const unsigned dwords = cases[n].to_address ? (cases[n].access->bytes + 3u) / 4 : 4;
        if (memcmp(rows[n][DATA_ROW], wanted[n], dwords * sizeof wanted[n][0]) != 0)
            fail_msg("%s, form %d, to its address %d, immediate %u, lanes 0x%llx",
                     cases[n].access->name, cases[n].form, cases[n].to_address, cases[n].immediate,
                     (unsigned long long)cases[n].lanes);
    }
    assert_memory_equal(area, area_wanted, AREA_BYTES);
    kernel_runner_destroy(runner);
}

static void every_lane_has_its_own(void **state)
{
    (void)state;
    each_level(ROUNDS, round_run);
}

/* One lane lies outside the mapping, as a whole or in part, or is its last element: it is on and
 * faults, or off and does not. */
static void outside_run(void)
{
    const struct access *a = &accesses[below(ACCESSES)];
    const unsigned lane = below(LANES), dwords = (a->bytes + 3u) / 4;
    const bool is_on = below(4), is_far = below(3) == 0;
    const uint32_t past = below(2) ? below(a->bytes) : 0;
    const uint32_t at = is_far ? 0x70000000 : BUFFER_BYTES - AREA_AT - a->bytes + past;
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    prologue_put();
    put("v_mul_u32_u24 v2, 48, v0\ns_mov_b64 exec, 0\ns_bitset1_b64 exec, %u\n"
        "v_mov_b32 v2, 0x%x\ns_mov_b64 exec, -1\n",
        lane, at);
    if (!is_on)
        put("s_bitset0_b64 exec, %u\n", lane);
    put(a->store ? "global_%s v2, v[8:%u], s[8:9]\n" : "global_%s v[8:%u], v2, s[8:9]\n", a->name,
        8 + dwords - 1);
    put("s_waitcnt vmcnt(0)\n");
    const bool is_outside = is_on && (is_far || past > 0);
    const unsigned wanted = !is_outside ? FAULT_NONE
                            : a->store  ? FAULT_MEMORY_WRITE
                                        : FAULT_MEMORY_READ;
    assert_int_equal(program_run(runner), wanted);
    kernel_runner_destroy(runner);
}

static void what_lies_outside_faults(void **state)
{
    (void)state;
    each_level(OUTSIDE_ROUNDS, outside_run);
}

/* Sums and extremes do not depend on the lanes' order. */
enum { PLACES = 4, OPERATIONS = 6 };
static const char *const operations[OPERATIONS] = {"add", "smin", "smax", "umin", "umax", "or"};

static void operation_put(unsigned operation, uint64_t lanes, uint32_t (*rows)[LANES],
                          uint32_t *places)
{
    const unsigned count = 1 + below(PLACES);
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned at = below(count);
        const uint32_t value = random_dword(), old = places[at];
        const uint32_t results[OPERATIONS] = {
            old + value,
            (int32_t)value < (int32_t)old ? value : old,
            (int32_t)value > (int32_t)old ? value : old,
            value < old ? value : old,
            value > old ? value : old,
            old | value,
        };
        rows[LOW_ROW][lane] = 4 * (operation * PLACES + at);
        rows[DATA_ROW][lane] = value;
        if (lanes >> lane & 1)
            places[at] = results[operation];
    }
    put("s_mov_b64 exec, -1\ns_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n"
        "global_load_dword v2, v1, s[6:7]\nglobal_load_dword v3, v1, s[6:7] offset:%u\n"
        "s_waitcnt vmcnt(0)\ns_mov_b32 exec_lo, 0x%x\ns_mov_b32 exec_hi, 0x%x\n"
        "global_atomic_%s v2, v3, s[8:9]\n",
        ROWS_AT + operation * ROWS_STEP, DATA_ROW * ROW_BYTES, (uint32_t)lanes,
        (uint32_t)(lanes >> 32), operations[operation]);
}

static void meeting_run(void)
{
    struct kernel_runner *runner;
    uint32_t wanted[OPERATIONS * PLACES];
    assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    uint32_t *area = (uint32_t *)(memory + AREA_AT);
    for (unsigned n = 0; n < OPERATIONS * PLACES; n++)
        area[n] = wanted[n] = random_dword();
    prologue_put();
    for (unsigned n = 0; n < OPERATIONS; n++) {
        const uint64_t lanes = below(2) ? ~UINT64_C(0) : random_dword() | UINT64_C(1) << 40;
        operation_put(n, lanes, (uint32_t(*)[LANES])(memory + ROWS_AT + n * ROWS_STEP),
                      wanted + n * PLACES);
    }
    assert_int_equal(program_run(runner), FAULT_NONE);
    assert_memory_equal(area, wanted, sizeof wanted);
    kernel_runner_destroy(runner);
}

static void lanes_meet_in_atomics(void **state)
{
    (void)state;
    each_level(MEETING_ROUNDS, meeting_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lane_has_its_own),
        cmocka_unit_test(what_lies_outside_faults),
        cmocka_unit_test(lanes_meet_in_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
