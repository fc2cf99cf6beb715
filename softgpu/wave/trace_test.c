/*
 * Thread traces of kernels, read with a decoder that knows the fields from AMD's register headers
 * alone. Which instruction has which name, that branches say whether they were taken, that waits
 * have no name, and how user data looks was seen in traces of a gfx950.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "perf/perf.h"
#include "wave/kernel_runner.h"

/* SQ_THREAD_TRACE_* and GRBM_GFX_INDEX. */
enum {
    GRBM_GFX_INDEX = 0xc200,
    TT_BASE = 0xc330,
    TT_SIZE = 0xc331,
    TT_MASK = 0xc332,
    TT_TOKEN_MASK = 0xc333,
    TT_CTRL = 0xc335,
    TT_MODE = 0xc336,
    TT_BASE2 = 0xc337,
    TT_TOKEN_MASK2 = 0xc338,
    TT_WPTR = 0xc339,
    TT_STATUS = 0xc33a,
    TT_CNTR = 0xc33c,
    TT_USERDATA_2 = 0xc342
};
enum { MODE_ON = 1 << 25 | 1 << 21 | 1 << 18, MODE_OFF = 1 << 25 | 1 << 18 };
enum { TOKENS_ALL = 0xbc6f, TOKENS_OCCUPANCY = 0x906f, UNITS_PER_ENGINE = 13, ENGINES = 8 };
#define BROADCAST 0xe0000000u
static const uint64_t BASE = 0x7f5566000000;

enum { MISC, TIMESTAMP, REG, WAVE_START, WAVE_END = 6, INST = 10, INST_PC, INST_USERDATA, ISSUE };
enum { REG_CS = 15 };

static const char *const inst_names[32] = {
    "SMEM_RD", "SALU_32", "VMEM_RD", "VMEM_WR", "FLAT_WR", "VALU_32", "LDS",     "PC",
    "?8",      "?9",      "?10",     "?11",     "JUMP",    "NEXT",    "FLAT_RD", "OTHER",
    "SMEM_WR", "SALU_64", "VALU_64", "?19",     "?20",     "?21",     "?22",     "?23",
    "?24",     "?25",     "?26",     "?27",     "MATRIX",  "?29",     "?30",     "?31"};

/* What a trace says. */
struct reading {
    uint32_t tokens[16];
    uint32_t starts_in[16], lanes_of_all, lanes_min; /* waves, by compute unit */
    uint32_t live;                                   /* waves begun and not ended */
    char insts[2][1024];                             /* of the two waves of a group */
    uint32_t immediates, reg_c342[8], reg_count, userdata;
    uint32_t cs[128], cs_seen;
    uint64_t pc, first_time, last_time;
};

static uint64_t field(uint64_t token, int first, int last)
{
    return token >> first & ((2ull << (last - first)) - 1);
}

static void wave_read(struct reading *r, uint64_t token, int begins)
{
    static uint8_t alive[16][4][16]; /* unit, SIMD, place */
    uint8_t *place = &alive[field(token, 6, 9)][field(token, 14, 15)][field(token, 10, 13)];
    assert_int_equal(*place, !begins); /* nobody begins where another one is */
    *place = begins != 0;
    r->live += begins ? 1 : UINT32_MAX;
    if (!begins)
        return;
    uint32_t lanes = (uint32_t)field(token, 22, 28);
    r->starts_in[field(token, 6, 9)]++;
    r->lanes_of_all += lanes;
    r->lanes_min = lanes < r->lanes_min ? lanes : r->lanes_min;
}

static void token_read(struct reading *r, uint64_t token)
{
    /* The two waves of the traced group are on SIMDs 0 and 1. */
    char *insts = r->insts[field(token, 9, 10) & 1];
    switch (token & 15) {
    case REG:
        assert_int_equal(field(token, 10, 13), 3); /* user data */
        assert_int_equal(field(token, 15, 15), 1); /* a write */
        assert_int_equal(field(token, 16, 31), TT_USERDATA_2);
        r->reg_c342[r->reg_count++ & 7] = (uint32_t)(token >> 32);
        break;
    case WAVE_START:
    case WAVE_END:
        wave_read(r, token, (token & 15) == WAVE_START);
        break;
    case INST:
        strcat(strcat(insts, inst_names[field(token, 11, 15)]), " ");
        break;
    case INST_PC:
        r->pc = field(token, 16, 55);
        break;
    case INST_USERDATA:
        r->userdata = (uint32_t)field(token, 16, 47);
        break;
    case ISSUE:
        for (int place = 0; place < 10; place++)
            r->immediates += field(token, 8 + 2 * place, 9 + 2 * place) == 3;
        break;
    case REG_CS:
        r->cs[field(token, 9, 15)] = (uint32_t)field(token, 16, 47);
        r->cs_seen++;
        break;
    default:
        break;
    }
}

/* Time in ticks of four cycles. A reset is followed by one token and the time a tick later. */
static struct reading read_trace(const uint8_t *bytes, size_t count)
{
    static const uint8_t sizes[16] = {2, 8, 8, 4, 2, 6, 2, 2, 2, 2, 2, 8, 6, 4, 8, 6};
    struct reading r = {.lanes_min = UINT32_MAX};
    uint64_t time = 0;
    assert_int_equal(count % 32, 0);
    for (size_t at = 0; at < count;) {
        uint64_t token = 0;
        uint32_t type = bytes[at] & 15, size = sizes[type];
        assert_true(at + size <= count);
        memcpy(&token, bytes + at, size);
        at += size;
        r.tokens[type]++;
        if (type == TIMESTAMP)
            time = (token >> 16) / 4 - 1;
        else if (type == MISC && field(token, 13, 15) == 0)
            time += field(token, 4, 11);
        else if (type != MISC)
            time += token >> 4 & 1;
        assert_true(type != TIMESTAMP || time >= r.last_time);
        r.last_time = time;
        if (type == TIMESTAMP && !r.first_time)
            r.first_time = time;
        token_read(&r, token);
    }
    return r;
}

static void set(struct perf *perf, uint32_t reg, uint32_t value)
{
    assert_true(perf_reg_write(perf, 1, reg, value));
}

static uint32_t get(struct perf *perf, uint32_t reg)
{
    uint32_t value;
    assert_true(perf_reg_read(perf, 0, reg, &value));
    return value;
}

static void trace_begin(struct perf *perf, uint32_t engine, uint32_t unit, uint32_t tokens,
                        uint32_t pages)
{
    set(perf, GRBM_GFX_INDEX, 0x40000000 | engine << 16);
    set(perf, TT_MASK, 0xcf80 | unit);
    set(perf, TT_TOKEN_MASK, tokens);
    set(perf, TT_TOKEN_MASK2, UINT32_MAX);
    set(perf, TT_STATUS, 0);
    set(perf, TT_BASE, (uint32_t)(BASE >> 12));
    set(perf, TT_BASE2, (uint32_t)(BASE >> 44));
    set(perf, TT_SIZE, pages);
    set(perf, TT_CTRL, 1u << 31);
    set(perf, TT_MODE, MODE_ON);
}

/* Ends the trace of an engine; its bytes, which follow each other from BASE on. */
static uint8_t *trace_end(struct perf *perf, uint32_t engine, size_t *count)
{
    struct perf_trace_chunk chunk;
    uint8_t *all = NULL;
    set(perf, GRBM_GFX_INDEX, 0x40000000 | engine << 16);
    set(perf, TT_MODE, MODE_OFF);
    *count = 0;
    while (perf_trace_take(perf, &chunk)) {
        assert_int_equal(chunk.engine, engine);
        assert_int_equal(chunk.va, BASE + *count);
        all = realloc(all, *count + chunk.size_bytes);
        memcpy(all + *count, chunk.bytes, chunk.size_bytes);
        *count += chunk.size_bytes;
        free(chunk.bytes);
    }
    assert_int_equal(get(perf, TT_WPTR) * 32, *count);
    return all;
}

/* Each work-item has a byte of its own: threads of the host share none, which TSan would tell. */
#define KERNEL                                                                                     \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\n"                                                         \
    "s_mov_b32 s6, 3\ns_mov_b32 s7, 0x12345\n"                                                     \
    "v_mov_b32 v1, s2\nv_lshl_add_u32 v2, v1, 9, v0\n"                                             \
    "s_waitcnt lgkmcnt(0)\n"                                                                       \
    "loop: s_sub_u32 s6, s6, 1\ns_cmp_lg_u32 s6, 0\ns_cbranch_scc1 loop\n"                         \
    "global_load_ubyte v3, v2, s[4:5]\ns_waitcnt vmcnt(0)\n"                                       \
    "ds_write_b8 v0, v3\nglobal_store_byte v2, v3, s[4:5]\n"                                       \
    "s_mov_b32 m0, 0xabcd\ns_ttracedata\ns_barrier\ns_nop 0\n"                                     \
    "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 16\ns_addc_u32 s9, s9, 0\ns_setpc_b64 s[8:9]\ns_nop "   \
    "0\n"                                                                                          \
    "s_endpgm\n"
/* s_getpc_b64 gives the address behind itself; 16 bytes on lies s_endpgm. */
#define LOOP "SALU_32 SALU_32 "
#define STEPS                                                                                      \
    "SMEM_RD SALU_32 SALU_64 VALU_32 VALU_64 " LOOP "JUMP " LOOP "JUMP " LOOP "NEXT "              \
    "FLAT_RD LDS FLAT_WR SALU_64 SALU_32 SALU_32 SALU_32 PC OTHER "
enum { IMMEDIATES = 5 /* two waits, user data, barrier, nop */, WAVES = 2, ITEMS = 67 };

static struct kernel_runner *runner_with(int threads)
{
    struct kernel_runner *runner;
    assert_int_equal(kernel_runner_create(threads, 1 << 21, &runner), 0);
    assert_int_equal(kernel_runner_load(runner, 0, KERNEL), 0);
    return runner;
}

/* `groups` of a full wave and one of three lanes. */
static void run(struct kernel_runner *runner, uint32_t groups)
{
    struct dispatch_result result;
    const struct kernel_geometry geometry = {groups * ITEMS, ITEMS, 512, 0};
    assert_int_equal(kernel_runner_start(runner, 0, geometry), 0);
    assert_true(kernel_runner_wait(runner, &result));
    assert_int_equal(result.fault, FAULT_NONE);
}

/* One group on each compute unit: all are seen to begin and end, one unit's instructions too. */
static void steps_test(void **state)
{
    enum { ENGINE = 3, UNIT = 5 };
    (void)state;
    for (int threads = 1; threads <= 3; threads += 2) {
        struct kernel_runner *runner = runner_with(threads);
        struct perf *perf = kernel_runner_perf(runner);
        size_t count;
        trace_begin(perf, ENGINE, UNIT, TOKENS_ALL, 64);
        set(perf, GRBM_GFX_INDEX, BROADCAST);
        set(perf, TT_USERDATA_2, 0x434f5200);
        set(perf, TT_USERDATA_2, 0x00080201);
        assert_int_equal(perf_trace_level(perf, 0, ENGINE, 0, UNIT), TRACE_STEPS);
        assert_int_equal(perf_trace_level(perf, 0, ENGINE, 0, UNIT + 1), TRACE_WAVES);
        assert_int_equal(perf_trace_level(perf, 0, ENGINE + 1, 0, UNIT), TRACE_NONE);
        run(runner, ENGINES * UNITS_PER_ENGINE);
        uint8_t *bytes = trace_end(perf, ENGINE, &count);
        struct reading r = read_trace(bytes, count);
        for (uint32_t unit = 0; unit < 16; unit++)
            assert_int_equal(r.starts_in[unit], unit < UNITS_PER_ENGINE ? WAVES : 0);
        assert_int_equal(r.tokens[WAVE_END], UNITS_PER_ENGINE * WAVES);
        assert_int_equal(r.live, 0);
        assert_int_equal(r.lanes_of_all, UNITS_PER_ENGINE * ITEMS);
        assert_int_equal(r.lanes_min, ITEMS - 64);
        assert_string_equal(r.insts[0], STEPS);
        assert_string_equal(r.insts[1], STEPS);
        assert_int_equal(r.immediates, IMMEDIATES * WAVES);
        assert_int_equal(r.tokens[ISSUE], r.tokens[INST] + r.immediates);
        assert_int_equal(r.tokens[INST_USERDATA], WAVES);
        assert_int_equal(r.userdata, 0xabcd);
        assert_int_equal(r.tokens[INST_PC], WAVES);
        assert_int_equal(r.reg_count, 2);
        assert_int_equal(r.reg_c342[0], 0x434f5200);
        assert_int_equal(r.reg_c342[1], 0x00080201);
        assert_int_equal(r.cs[7], ITEMS); /* COMPUTE_NUM_THREAD_X */
        assert_int_equal(r.cs[8], 1);
        assert_int_equal(r.cs[0] & 1, 1); /* DISPATCH_INITIATOR: the compute shader runs */
        uint64_t entry = (uint64_t)r.cs[13] << 40 | (uint64_t)r.cs[12] << 8;
        assert_true((r.pc - entry) % (1ull << 40) < 200); /* s_endpgm is in the kernel */
        assert_int_equal(get(perf, TT_CNTR), get(perf, TT_WPTR));
        assert_int_equal(get(perf, TT_STATUS), 0);
        free(bytes);
        kernel_runner_destroy(runner);
    }
}

/* The same run writes the same trace, whatever the number of host threads. */
static void deterministic_test(void **state)
{
    uint8_t *traces[3];
    size_t counts[3];
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct kernel_runner *runner = runner_with(1 + i);
        struct perf *perf = kernel_runner_perf(runner);
        trace_begin(perf, 0, 0, TOKENS_ALL, 1024);
        run(runner, 1000);
        run(runner, 5);
        traces[i] = trace_end(perf, 0, &counts[i]);
        kernel_runner_destroy(runner);
    }
    for (int i = 1; i < 3; i++) {
        assert_int_equal(counts[i], counts[0]);
        /* But for the addresses of the code: they are the host's. */
        struct reading first = read_trace(traces[0], counts[0]);
        struct reading other = read_trace(traces[i], counts[i]);
        assert_memory_equal(first.tokens, other.tokens, sizeof first.tokens);
        assert_true(first.last_time == other.last_time);
    }
    assert_true(read_trace(traces[0], counts[0]).last_time >
                read_trace(traces[0], counts[0]).first_time);
    for (int i = 0; i < 3; i++)
        free(traces[i]);
}

static void occupancy_test(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(2);
    struct perf *perf = kernel_runner_perf(runner);
    size_t count;
    trace_begin(perf, 7, 0, TOKENS_OCCUPANCY, 1024);
    run(runner, 3000);
    uint8_t *bytes = trace_end(perf, 7, &count);
    struct reading r = read_trace(bytes, count);
    assert_int_equal(r.tokens[WAVE_START], 3000 / ENGINES * WAVES);
    assert_int_equal(r.tokens[WAVE_END], r.tokens[WAVE_START]);
    assert_int_equal(r.live, 0);
    assert_int_equal(r.tokens[INST] + r.tokens[ISSUE] + r.tokens[INST_PC], 0);
    assert_true(r.tokens[INST_USERDATA] > 0);
    free(bytes);
    kernel_runner_destroy(runner);
}

/* What does not fit is counted and said; what was written is whole, and a new trace starts anew. */
static void full_test(void **state)
{
    (void)state;
    struct kernel_runner *runner = runner_with(2);
    struct perf *perf = kernel_runner_perf(runner);
    size_t count;
    trace_begin(perf, 0, 0, TOKENS_ALL, 1);
    run(runner, 2000);
    uint8_t *bytes = trace_end(perf, 0, &count);
    assert_true(count <= 4096 && count > 4096 - 64);
    assert_true(get(perf, TT_CNTR) > get(perf, TT_WPTR));
    assert_int_equal(get(perf, TT_STATUS) >> 31, 1);
    free(bytes);
    trace_begin(perf, 0, 0, TOKENS_ALL, 0); /* no buffer at all */
    run(runner, 10);
    bytes = trace_end(perf, 0, &count);
    assert_int_equal(count, 0);
    assert_int_equal(get(perf, TT_STATUS) >> 31, 1);
    free(bytes);
    trace_begin(perf, 0, 0, TOKENS_ALL, 64);
    assert_int_equal(get(perf, TT_STATUS), 0);
    run(runner, 10);
    bytes = trace_end(perf, 0, &count);
    assert_int_equal(get(perf, TT_CNTR), get(perf, TT_WPTR));
    assert_int_equal(get(perf, TT_STATUS), 0);
    free(bytes);
    set(perf, TT_CTRL, 1u << 31);
    assert_int_equal(get(perf, TT_WPTR), 0);
    kernel_runner_destroy(runner);
}

/* Nothing outside of a trace is in it, and a fault to memory is the engine's. */
static void outside_test(void **state)
{
    struct perf_trace_chunk chunk;
    (void)state;
    struct kernel_runner *runner = runner_with(2);
    struct perf *perf = kernel_runner_perf(runner);
    size_t count;
    run(runner, 100);
    trace_begin(perf, 2, 0, TOKENS_ALL, 64);
    uint8_t *bytes = trace_end(perf, 2, &count);
    struct reading r = read_trace(bytes, count);
    assert_int_equal(r.tokens[WAVE_START], 0);
    assert_int_equal(r.tokens[TIMESTAMP], 1);
    free(bytes);
    run(runner, 100);
    assert_false(perf_trace_take(perf, &chunk));
    trace_begin(perf, 2, 0, TOKENS_ALL, 64);
    set(perf, TT_MODE, MODE_OFF);
    assert_true(perf_trace_take(perf, &chunk));
    perf_trace_fault(perf, &chunk);
    free(chunk.bytes);
    assert_int_equal(get(perf, TT_STATUS), 1 << 28);
    kernel_runner_destroy(runner);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_test),     cmocka_unit_test(deterministic_test),
        cmocka_unit_test(occupancy_test), cmocka_unit_test(full_test),
        cmocka_unit_test(outside_test),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
