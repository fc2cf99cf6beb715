/*
 * Random buffer accesses (MUBUF) by every kind of descriptor: with strides, swizzled, with the
 * lane's number in the index, raw and structured ranges, and what lies outside; against AMD's rules
 * for addresses and ranges, written down here once more.
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

enum { LANES = 64, CASES = 40, ROUNDS = 8, TEXT_BYTES = 60000, ROW = 4 * LANES };
enum { TABLE_AT = 0x1000, TABLE_STEP = 32, ROWS_AT = 0x10000, ROWS_STEP = 0x1000 };
enum { INDEX_ROW, OFFSET_ROW, DATA_ROW, OUT_ROW = DATA_ROW + 4, ROWS = OUT_ROW + 4 };
enum { AREA_AT = 0x100000, AREA_BYTES = 0x400000, BUFFER_BYTES = AREA_AT + AREA_BYTES + 0x1000 };
enum { BASE = AREA_AT + 0x1000, UNSWIZZLED_FORMAT = 4 };

/* v1 = 4 * lane. */
#define PROLOGUE                                                                                   \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\nv_and_b32 v0, 0x3ff, v0\n"          \
    "v_lshlrev_b32 v1, 2, v0\n"

enum kind { LOAD, STORE, ADD };
static const struct access {
    const char *name;
    enum kind kind;
    unsigned bytes;
    bool is_signed;
} accesses[] = {{"load_ubyte v8", LOAD, 1, false},
                {"load_sbyte v8", LOAD, 1, true},
                {"load_ushort v8", LOAD, 2, false},
                {"load_sshort v8", LOAD, 2, true},
                {"load_dword v8", LOAD, 4, false},
                {"load_dwordx2 v[8:9]", LOAD, 8, false},
                {"load_dwordx3 v[8:10]", LOAD, 12, false},
                {"load_dwordx4 v[8:11]", LOAD, 16, false},
                {"store_byte v8", STORE, 1, false},
                {"store_short v8", STORE, 2, false},
                {"store_dword v8", STORE, 4, false},
                {"store_dwordx2 v[8:9]", STORE, 8, false},
                {"store_dwordx3 v[8:10]", STORE, 12, false},
                {"store_dwordx4 v[8:11]", STORE, 16, false},
                {"atomic_add v8", ADD, 4, false}};
enum { ACCESSES = sizeof accesses / sizeof accesses[0] };

struct buffer_case {
    const struct access *access;
    bool indexed, with_offset, swizzle, add_lane;
    uint32_t inst_offset, scalar_offset, stride, stride_high, records, index_stride_code;
    uint64_t exec;
    uint32_t (*rows)[LANES]; /* in the kernel's memory */
};

static struct buffer_case cases[CASES];
static uint8_t area[AREA_BYTES];

static uint32_t below(uint32_t limit)
{
    return (uint32_t)rand() % limit;
}

/* Where dword `number` of the lane's element is, from the area's start on; false: outside the
 * buffer. */
static bool place(const struct buffer_case *c, unsigned lane, unsigned number, size_t *at)
{
    const uint32_t index_stride = 8u << c->index_stride_code;
    const bool numbered = c->add_lane && (c->swizzle || !c->indexed);
    const uint32_t own = c->indexed ? c->rows[INDEX_ROW][lane] : 0;
    const uint32_t index = own + (numbered ? lane : 0);
    const uint32_t offset = c->inst_offset + (c->with_offset ? c->rows[OFFSET_ROW][lane] : 0);
    const uint64_t stride = c->stride + (numbered ? c->stride_high << 14 : 0);
    const unsigned bytes = c->access->bytes < 4 ? c->access->bytes : 4;
    *at = BASE - AREA_AT + c->scalar_offset;
    if (c->swizzle)
        *at += index / index_stride * index_stride * stride +
               (uint64_t)(offset / 4 + number) * 4 * index_stride + index % index_stride * 4 +
               offset % 4;
    else
        *at += index * stride + offset + 4 * number;
    if (c->indexed && c->stride)
        return own < c->records;
    if (c->add_lane && !c->indexed)
        return true;
    return (uint64_t)offset + c->scalar_offset + 4 * number + bytes <= c->records;
}

static unsigned dwords_of(const struct buffer_case *c)
{
    return (c->access->bytes + 3) / 4;
}

/* Which of two lanes' bytes stay is another test's question. */
static bool lanes_meet(const struct buffer_case *c)
{
    static uint8_t used[AREA_BYTES];
    bool meet = false;
    memset(used, 0, sizeof used);
    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned n = 0; n < dwords_of(c); n++) {
            size_t at;
            if (!(c->exec >> lane & 1) || !place(c, lane, n, &at))
                continue;
            assert_true(at + 4 <= AREA_BYTES);
            for (unsigned i = 0; i < (c->access->bytes < 4 ? c->access->bytes : 4); i++)
                meet |= used[at + i]++ != 0;
        }
    }
    return meet;
}

static void rows_fill(struct buffer_case *c)
{
    const unsigned unit = c->access->bytes < 4 ? c->access->bytes : 4;
    const uint32_t step = below(3) * 16, first = below(64) / unit * unit;
    const bool far_index = c->indexed && c->stride, far_offset = !far_index && !c->add_lane;
    for (unsigned lane = 0; lane < LANES; lane++) {
        c->rows[INDEX_ROW][lane] = below(2) ? lane : below(50);
        c->rows[OFFSET_ROW][lane] = step ? first + lane * step : below(0x400) / unit * unit;
        if (far_index && below(16) == 0)
            c->rows[INDEX_ROW][lane] = 0xffffff00 + below(256);
        if (far_offset && below(16) == 0)
            c->rows[OFFSET_ROW][lane] = 0xffffe000 + below(256) * 4;
        for (unsigned row = DATA_ROW; row < OUT_ROW; row++)
            c->rows[row][lane] = (uint32_t)rand();
    }
}

/* A load of a tile: by fours lanes follow each other, mostly; rows rise, or do not; the last ones
 * may end outside. */
static void tile_fill(struct buffer_case *c)
{
    static const uint8_t loads[] = {4, 5, 7, 7}; /* of 1, 2 and 4 dwords */
    *c = (struct buffer_case){.access = &accesses[loads[below(4)]], .rows = c->rows, .exec = ~0ull};
    rows_fill(c);
    const uint32_t bytes = c->access->bytes, step = 4 * bytes + 16 * below(40);
    const uint32_t unit = below(4) ? 16 : 4, wild = below(LANES);
    const bool rises = below(8), orders = below(4);
    uint32_t end = 0;
    for (unsigned lane = 0; lane < LANES; lane++) {
        const unsigned piece = rises ? lane / 4 : LANES / 4 - 1 - lane / 4;
        uint32_t *offset = &c->rows[OFFSET_ROW][lane];
        *offset = piece * step + lane % 4 * bytes;
        if (!orders && lane % 4 == 0)
            *offset = below(0x4000) / unit * unit;
        else if (!orders)
            *offset = offset[-1] + bytes;
        end = *offset > end ? *offset : end;
    }
    if (below(4) == 0)
        c->rows[OFFSET_ROW][wild] = below(2) ? below(0x1000) : 0xffffff00 + 4 * below(64);
    if (below(8) == 0)
        c->exec ^= 1ull << below(LANES);
    c->with_offset = true;
    c->stride_high = UNSWIZZLED_FORMAT;
    c->inst_offset = below(3) ? below(64) * unit : 0;
    c->scalar_offset = below(3) ? below(64) * unit : 0;
    c->records = end + c->inst_offset + c->scalar_offset + bytes;
    c->records += below(2) ? 0x1000 : 4 * below(8) - 4 * below(8);
}

static void any_fill(struct buffer_case *c)
{
    static const uint32_t strides[] = {0, 4, 8, 12, 36, 64, 100};
    c->access = &accesses[below(ACCESSES)];
    c->indexed = below(2);
    c->with_offset = below(2);
    c->swizzle = below(2);
    c->add_lane = below(2);
    c->inst_offset = below(3) ? below(64) * 4 : 0;
    c->scalar_offset = below(3) ? below(64) * 4 : 0;
    c->stride = strides[below(sizeof strides / sizeof strides[0])];
    c->stride_high = c->add_lane ? below(3) : UNSWIZZLED_FORMAT;
    c->index_stride_code = below(4);
    c->records = below(4) ? below(0x600) : below(120);
    c->exec = below(4) ? ~0ull : (uint64_t)rand() << 32 | (uint64_t)rand();
    rows_fill(c);
    for (unsigned tries = 0; c->access->kind == STORE && lanes_meet(c); tries++) {
        c->stride = 16 + 4 * below(8);
        c->indexed = true;
        if (tries > 20)
            c->access = &accesses[below(8)]; /* a load */
        rows_fill(c);
    }
}

static void case_fill(struct buffer_case *c)
{
    if (below(4) == 0)
        tile_fill(c);
    else
        any_fill(c);
}

static void table_fill(const struct buffer_case *c, uint64_t memory_va, uint32_t *table)
{
    const uint64_t base = memory_va + BASE;
    table[0] = (uint32_t)base;
    table[1] = (uint32_t)(base >> 32 & 0xffff) | c->stride << 16 | (uint32_t)c->swizzle << 31;
    table[2] = c->records;
    table[3] =
        0x7fac | c->stride_high << 15 | c->index_stride_code << 21 | (uint32_t)c->add_lane << 23;
    table[4] = c->scalar_offset;
    table[6] = (uint32_t)c->exec;
    table[7] = (uint32_t)(c->exec >> 32);
}

struct text {
    char bytes[TEXT_BYTES];
    size_t used;
};
__attribute__((format(printf, 2, 3))) static void put(struct text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    text->used +=
        (size_t)vsnprintf(text->bytes + text->used, TEXT_BYTES - text->used, format, arguments);
    va_end(arguments);
    assert_true(text->used < TEXT_BYTES);
}

static void case_put(struct text *text, const struct buffer_case *c, unsigned number)
{
    const char *address = c->indexed       ? c->with_offset ? "v[2:3]" : "v2"
                          : c->with_offset ? "v3"
                                           : "off";
    const unsigned table = TABLE_AT + number * TABLE_STEP;
    put(text, "s_load_dwordx4 s[8:11], s[4:5], 0x%x\ns_load_dword s12, s[4:5], 0x%x\n", table,
        table + 16);
    put(text, "s_load_dwordx2 s[14:15], s[4:5], 0x%x\n", table + 24);
    put(text, "s_add_u32 s6, s4, 0x%x\ns_addc_u32 s7, s5, 0\n", ROWS_AT + number * ROWS_STEP);
    put(text, "global_load_dword v2, v1, s[6:7]\nglobal_load_dword v3, v1, s[6:7] offset:256\n");
    for (unsigned n = 0; n < 4; n++)
        put(text, "global_load_dword v%u, v1, s[6:7] offset:%u\n", 8 + n, (DATA_ROW + n) * ROW);
    put(text, "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_mov_b64 exec, s[14:15]\n");
    put(text, "buffer_%s, %s, s[8:11], s12 %s %s offset:%u\n", c->access->name, address,
        c->indexed ? "idxen" : "", c->with_offset ? "offen" : "", c->inst_offset);
    put(text, "s_waitcnt vmcnt(0)\ns_mov_b64 exec, -1\n");
    for (unsigned n = 0; n < 4; n++)
        put(text, "global_store_dword v1, v%u, s[6:7] offset:%u\n", 8 + n, (OUT_ROW + n) * ROW);
}

/* What one lane's registers hold afterwards, and what it does to the area. */
static void lane_want(const struct buffer_case *c, unsigned lane, uint32_t *want)
{
    const unsigned bytes = c->access->bytes < 4 ? c->access->bytes : 4;
    for (unsigned n = 0; n < 4; n++)
        want[n] = c->rows[DATA_ROW + n][lane];
    for (unsigned n = 0; n < dwords_of(c) && c->exec >> lane & 1; n++) {
        size_t at;
        uint32_t value = 0;
        const bool inside = place(c, lane, n, &at);
        if (inside)
            memcpy(&value, area + at, bytes);
        if (c->access->kind == LOAD) {
            const unsigned shift = c->access->is_signed ? 32 - 8 * bytes : 0;
            want[n] = shift ? (uint32_t)((int32_t)(value << shift) >> shift) : value;
            continue;
        }
        value = c->access->kind == ADD ? value + want[n] : want[n];
        if (inside)
            memcpy(area + at, &value, bytes);
    }
}

static void case_check(const struct buffer_case *c)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        uint32_t want[4];
        lane_want(c, lane, want);
        for (unsigned n = 0; n < 4; n++) {
            if (c->rows[OUT_ROW + n][lane] == want[n])
                continue;
            print_error("buffer_%s index %d offset %d swizzle %d add_lane %d stride %u + %u << 14 "
                        "records %u: lane %u dword %u is %x, not %x\n",
                        c->access->name, c->indexed, c->with_offset, c->swizzle, c->add_lane,
                        c->stride, c->stride_high, c->records, lane, n, c->rows[OUT_ROW + n][lane],
                        want[n]);
            fail();
        }
    }
}

static void round_run(const char *gpu)
{
    static struct text text;
    struct kernel_runner *runner;
    struct dispatch_result result;
    text.used = 0;
    put(&text, PROLOGUE);
    assert_int_equal(kernel_runner_create_on(gpu, 1, BUFFER_BYTES, &runner), 0);
    uint8_t *memory = kernel_runner_buffer(runner);
    for (unsigned n = 0; n < CASES; n++) {
        cases[n].rows = (uint32_t(*)[LANES])(memory + ROWS_AT + n * ROWS_STEP);
        case_fill(&cases[n]);
        table_fill(&cases[n], (uintptr_t)memory, (uint32_t *)(memory + TABLE_AT + n * TABLE_STEP));
        case_put(&text, &cases[n], n);
    }
    put(&text, "s_endpgm\n");
    for (size_t n = 0; n < AREA_BYTES; n++)
        area[n] = memory[AREA_AT + n] = (uint8_t)rand();
    assert_int_equal(kernel_runner_load(runner, 0, text.bytes), 0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
    for (unsigned n = 0; n < CASES; n++)
        case_check(&cases[n]);
    assert_memory_equal(memory + AREA_AT, area, AREA_BYTES);
    kernel_runner_destroy(runner);
}

static void random_descriptors(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        srand(round + 1);
        round_run(round % 2 ? "gfx908" : "gfx90a");
    }
}

/* An index that leads as far as 32 bits of bytes do not reach: no memory is there. */
static void far_records(void **state)
{
    (void)state;
    struct kernel_runner *runner;
    struct dispatch_result result;
    assert_int_equal(kernel_runner_create(1, 0x10000, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0,
                                        PROLOGUE
                                        "s_mov_b32 s8, s4\ns_or_b32 s9, s5, 0x80000\n"
                                        "s_mov_b32 s10, 0x20000001\ns_mov_b32 s11, 0x27000\n"
                                        "v_mov_b32 v2, 0x20000000\n"
                                        "buffer_load_dword v3, v2, s[8:11], 0 idxen\ns_endpgm\n"),
                     0);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, 0, 0}), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_MEMORY_READ);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_descriptors),
                                       cmocka_unit_test(far_records)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
