/*
 * Writes and atomics of LDS by lanes that are off, that meet in one place, and that lie at the end
 * of the LDS, across it and behind it: nothing of an element that does not lie inside is written,
 * and 0 comes back of it. Against one lane after the other, from the lowest one up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "wave/each_level.h"
#include "wave/kernel_runner.h"

enum { LANES = 64, LDS_BYTES = 512, ROWS = 6, BUFFER_BYTES = 0x10000 };
enum { LDS_AT = 0x1000, OPERANDS_AT = 0x2000, EXEC_AT = 0x3000, RESULT_AT = 0x4000 };

/* v2 has addresses, v[4:5] and v[6:7] operands; what comes back is in v[8:9]. */
#define BEGIN                                                                                      \
    "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_add_u32 s4, s4, 0x1000\n"         \
    "s_addc_u32 s5, s5, 0\ns_load_dwordx2 s[6:7], s[4:5], 0x2000\nv_lshlrev_b32 v1, 2, v0\n"       \
    "global_load_dword v10, v1, s[4:5]\nglobal_load_dword v11, v1, s[4:5] offset:256\n"            \
    "s_add_u32 s4, s4, 0x1000\ns_addc_u32 s5, s5, 0\nglobal_load_dword v2, v1, s[4:5]\n"           \
    "global_load_dword v4, v1, s[4:5] offset:256\nglobal_load_dword v5, v1, s[4:5] offset:512\n"   \
    "global_load_dword v6, v1, s[4:5] offset:768\nglobal_load_dword v7, v1, s[4:5] offset:1024\n"  \
    "v_mov_b32 v8, 0x77\nv_mov_b32 v9, 0x77\ns_mov_b32 m0, -1\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"    \
    "ds_write_b32 v1, v10\nds_write_b32 v1, v11 offset:256\ns_waitcnt lgkmcnt(0)\n"                \
    "s_mov_b64 exec, s[6:7]\n"
#define END                                                                                        \
    "\ns_waitcnt lgkmcnt(0)\ns_mov_b64 exec, -1\nds_read_b32 v10, v1\n"                            \
    "ds_read_b32 v11, v1 offset:256\ns_waitcnt lgkmcnt(0)\ns_add_u32 s4, s4, 0x2000\n"             \
    "s_addc_u32 s5, s5, 0\nglobal_store_dword v1, v10, s[4:5]\n"                                   \
    "global_store_dword v1, v11, s[4:5] offset:256\nglobal_store_dword v1, v8, s[4:5] "            \
    "offset:512\n"                                                                                 \
    "global_store_dword v1, v9, s[4:5] offset:768\ns_endpgm\n"

enum kind { WRITE, ADD, OR, MAX, SWAP, COMPARE, INC, ADD_FLOAT, MASKED };
static const struct trial {
    const char *text;
    enum kind kind;
    uint32_t bytes, at, second_at; /* second_at: a second element, of the second operand */
    uint32_t shift;                /* of the operand's bits */
    bool comes_back;
} trials[] = {
    {"ds_write_b8 v2, v4 offset:3", WRITE, 1, 3, 0, 0, false},
    {"ds_write_b8_d16_hi v2, v4", WRITE, 1, 0, 0, 16, false},
    {"ds_write_b16 v2, v4 offset:5", WRITE, 2, 5, 0, 0, false},
    {"ds_write_b16_d16_hi v2, v4", WRITE, 2, 0, 0, 16, false},
    {"ds_write_b32 v2, v4 offset:8", WRITE, 4, 8, 0, 0, false},
    {"ds_write_b64 v2, v[4:5] offset:16", WRITE, 8, 16, 0, 0, false},
    {"ds_write2_b32 v2, v4, v6 offset0:1 offset1:5", WRITE, 4, 4, 20, 0, false},
    {"ds_write2_b64 v2, v[4:5], v[6:7] offset0:2 offset1:1", WRITE, 8, 16, 8, 0, false},
    {"ds_add_u32 v2, v4 offset:12", ADD, 4, 12, 0, 0, false},
    {"ds_add_rtn_u32 v8, v2, v4", ADD, 4, 0, 0, 0, true},
    {"ds_add_rtn_u64 v[8:9], v2, v[4:5] offset:8", ADD, 8, 8, 0, 0, true},
    {"ds_add_f32 v2, v4", ADD_FLOAT, 4, 0, 0, 0, false},
    {"ds_or_rtn_b32 v8, v2, v4", OR, 4, 0, 0, 0, true},
    {"ds_max_rtn_i32 v8, v2, v4", MAX, 4, 0, 0, 0, true},
    {"ds_wrxchg_rtn_b64 v[8:9], v2, v[4:5]", SWAP, 8, 0, 0, 0, true},
    {"ds_cmpst_rtn_b32 v8, v2, v4, v6", COMPARE, 4, 0, 0, 0, true},
    {"ds_cmpst_rtn_b64 v[8:9], v2, v[4:5], v[6:7] offset:4", COMPARE, 8, 4, 0, 0, true},
    {"ds_inc_rtn_u32 v8, v2, v4", INC, 4, 0, 0, 0, true},
    {"ds_mskor_rtn_b32 v8, v2, v4, v6", MASKED, 4, 0, 0, 0, true},
};
static const struct trial *trial;

static uint64_t float_sum(uint32_t a, uint32_t b)
{
    float x, y;
    uint32_t sum;
    memcpy(&x, &a, 4);
    memcpy(&y, &b, 4);
    x += y;
    memcpy(&sum, &x, 4);
    return sum;
}

static uint64_t made_of(uint64_t old, uint64_t data, uint64_t other)
{
    switch (trial->kind) {
    case ADD:
        return old + data;
    case OR:
        return old | data;
    case MAX:
        return (int32_t)old > (int32_t)data ? old : data;
    case COMPARE:
        return old == data ? other : old;
    case INC:
        return old >= data ? 0 : old + 1;
    case ADD_FLOAT:
        return float_sum((uint32_t)old, (uint32_t)data);
    case MASKED:
        return (old & ~data) | other;
    default:
        return data >> trial->shift;
    }
}

struct operands {
    uint32_t address[LANES], data[2][LANES], other[2][LANES];
};

static uint64_t operand_of(const uint32_t rows[2][LANES], unsigned lane)
{
    return trial->bytes == 8 ? rows[0][lane] | (uint64_t)rows[1][lane] << 32 : rows[0][lane];
}

/* What is behind one lane's access, the second of two if `second`: LDS, and what comes back. */
static void lane_expect(const struct operands *o, unsigned lane, bool second, uint8_t *lds,
                        uint32_t *result)
{
    const uint64_t data = operand_of(o->data, lane), other = operand_of(o->other, lane);
    const uint32_t at = o->address[lane] + (second ? trial->second_at : trial->at);
    uint64_t old = 0;
    if ((uint64_t)at + trial->bytes <= LDS_BYTES) {
        memcpy(&old, lds + at, trial->bytes);
        const uint64_t made = second ? other : made_of(old, data, other);
        memcpy(lds + at, &made, trial->bytes);
    }
    if (!trial->comes_back)
        return;
    result[lane] = (uint32_t)old;
    if (trial->bytes == 8)
        result[LANES + lane] = (uint32_t)(old >> 32);
}

/* Lanes of a row, of few places, or anywhere; at the end, and with sums that wrap around. */
static uint32_t address_make(unsigned manner, unsigned lane)
{
    const uint32_t place = manner == 0 ? lane : manner == 1 ? random_dword() % 4 : random_dword();
    const uint32_t step = trial->bytes < 4 ? trial->bytes : 4;
    if (manner == 3 && random_dword() % 4 == 0)
        return random_dword() % 8 ? LDS_BYTES - random_dword() % 40 : 0 - random_dword() % 24;
    return place * trial->bytes % (LDS_BYTES - 64) / step * step;
}

static void operands_make(struct operands *o)
{
    const unsigned manner = random_dword() % 4;
    for (unsigned lane = 0; lane < LANES; lane++) {
        o->address[lane] = address_make(manner, lane);
        for (unsigned n = 0; n < 2; n++) {
            o->data[n][lane] = random_dword() % 3 ? random_dword() % 4 : random_dword();
            o->other[n][lane] = random_dword();
        }
        if (trial->kind == ADD_FLOAT) /* small whole numbers */
            o->data[0][lane] = 0x3f800000 + (random_dword() % 4 << 22);
    }
}

static struct kernel_runner *runner;

static void round_run(void)
{
    uint8_t *memory = kernel_runner_buffer(runner);
    struct operands *o = (struct operands *)(memory + OPERANDS_AT);
    uint8_t lds[LDS_BYTES];
    uint32_t result[2 * LANES];
    struct dispatch_result end;
    uint64_t exec = random_dword() % 2 ? ~0ull : (uint64_t)random_dword() << 32 | random_dword();
    operands_make(o);
    for (unsigned n = 0; n < LDS_BYTES / 4; n++)
        ((uint32_t *)lds)[n] = trial->kind == ADD_FLOAT ? 0x40000000 : random_dword() % 8;
    for (unsigned n = 0; n < 2 * LANES; n++)
        result[n] = 0x77;
    memcpy(memory + LDS_AT, lds, sizeof lds);
    memcpy(memory + EXEC_AT, &exec, sizeof exec);
    assert_int_equal(kernel_runner_start(runner, 0, (struct kernel_geometry){64, 64, LDS_BYTES, 0}),
                     0);
    assert_true(kernel_runner_wait(runner, &end));
    assert_int_equal(end.fault, FAULT_NONE);
    for (unsigned n = 0; n < (trial->second_at ? 2 : 1) * LANES; n++) {
        if (exec >> n % LANES & 1)
            lane_expect(o, n % LANES, n >= LANES, lds, result);
    }
    if (memcmp(memory + RESULT_AT, lds, sizeof lds) != 0)
        fail_msg("%s: LDS, exec %llx", trial->text, (unsigned long long)exec);
    if (memcmp(memory + RESULT_AT + LDS_BYTES, result, sizeof result) != 0)
        fail_msg("%s: what comes back, exec %llx", trial->text, (unsigned long long)exec);
}

/* A runner for each level: what a level did not translate is not tried again. */
static void trials_run(void)
{
    enum { ROUNDS = 60 };
    for (size_t n = 0; n < sizeof trials / sizeof trials[0]; n++) {
        trial = &trials[n];
        text_length = 0;
        put(BEGIN "v_add_u32 v12, v2, v4\nv_xor_b32 v13, v12, v2\n%s\nv_add_u32 v12, v13, v12" END,
            trial->text); /* among others, or it is not translated */
        assert_int_equal(kernel_runner_create(1, BUFFER_BYTES, &runner), 0);
        assert_int_equal(kernel_runner_load(runner, 0, text), 0);
        kernel_runner_set_timed(runner, false); /* who looks at LDS has other code */
        for (unsigned round = 0; round < ROUNDS; round++)
            round_run();
        kernel_runner_destroy(runner);
    }
}

static void edges(void **state)
{
    (void)state;
    each_level(1, trials_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(edges)};
    return cmocka_run_group_tests_name("lds_edges", tests, NULL, NULL);
}
