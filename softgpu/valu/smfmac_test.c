/*
 * Matrix instructions on sparse matrices against a triple loop over the dense matrix that A stands
 * for. Where each element lies is what AMD's matrix instruction calculator answers for k, i and j.
 */
#include <math.h>

#include "isa/decode.h"
#include "valu/test/float8_reference.h"
#include "valu/test/wave_double.h"

enum { A_REG = 8, B_REG = 16, INDEX_REG = 24, D_REG = 96 };

struct shape {
    uint16_t op;
    int m, k, bits; /* bits of an element of A and B */
    char type;      /* f: half, b: bfloat16, i: integer, 8: 8-bit floats */
    bool wide_a, wide_b;
};
static const struct shape shapes[] = {
    {OP_V_SMFMAC_F32_16X16X32_F16, 16, 32, 16, 'f', false, false},
    {OP_V_SMFMAC_F32_32X32X16_F16, 32, 16, 16, 'f', false, false},
    {OP_V_SMFMAC_F32_16X16X32_BF16, 16, 32, 16, 'b', false, false},
    {OP_V_SMFMAC_F32_32X32X16_BF16, 32, 16, 16, 'b', false, false},
    {OP_V_SMFMAC_I32_16X16X64_I8, 16, 64, 8, 'i', false, false},
    {OP_V_SMFMAC_I32_32X32X32_I8, 32, 32, 8, 'i', false, false},
    {OP_V_SMFMAC_F32_16X16X64_BF8_BF8, 16, 64, 8, '8', true, true},
    {OP_V_SMFMAC_F32_16X16X64_BF8_FP8, 16, 64, 8, '8', true, false},
    {OP_V_SMFMAC_F32_16X16X64_FP8_BF8, 16, 64, 8, '8', false, true},
    {OP_V_SMFMAC_F32_16X16X64_FP8_FP8, 16, 64, 8, '8', false, false},
    {OP_V_SMFMAC_F32_32X32X32_BF8_BF8, 32, 32, 8, '8', true, true},
    {OP_V_SMFMAC_F32_32X32X32_BF8_FP8, 32, 32, 8, '8', true, false},
    {OP_V_SMFMAC_F32_32X32X32_FP8_BF8, 32, 32, 8, '8', false, true},
    {OP_V_SMFMAC_F32_32X32X32_FP8_FP8, 32, 32, 8, '8', false, false},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* What is multiplied: the kept elements of a row of A with their positions, and B, C. */
static struct {
    double a[32][32]; /* [i][n]: numbers 2c and 2c + 1 are kept of the four from k = 4c on */
    int at[32][32];   /* where among the four */
    double b[64][32], c[32][32];
} matrix;

/* A code of the shape's elements and what it is worth: small integers, or anything but NaN. */
static uint32_t element_draw(const struct shape *s, bool wide, bool small, double *value)
{
    const uint32_t any = (uint32_t)random_bits();
    const int integer = (int)(any % 15) - 7;
    if (s->type == 'i') {
        const int wider = small ? integer : (int8_t)any;
        *value = wider;
        return (uint32_t)wider & 0xff;
    }
    if (s->type == '8') {
        uint32_t byte = small ? 0 : any & 0xff;
        while (small && float8_value(byte, wide) != integer)
            byte++;
        byte = byte == 0x80 ? 1 : byte;
        *value = float8_value(byte, wide);
        return byte;
    }
    if (s->type == 'b') {
        const uint32_t code =
            small ? float_bits((float)integer) >> 16 : (any & 0x807f) | (100 + any % 50) << 7;
        *value = float_of(code << 16);
        return code;
    }
    const int exponent = (int)(any % 6) - 3, mantissa = small ? 0 : (int)(any >> 8 & 0x3ff);
    *value = ldexp(1 + mantissa / 1024., exponent) * (any >> 31 ? -1 : 1);
    return (any >> 31) << 15 | (uint32_t)(exponent + 15) << 10 | (uint32_t)mantissa;
}

static void field_put(uint32_t *row, int lane, int bit, int bits, uint32_t value)
{
    const uint32_t mask = (1u << bits) - 1;
    uint32_t *word = &row[bit / 32 * WAVE_LANES + lane];
    *word = (*word & ~(mask << bit % 32)) | (value & mask) << bit % 32;
}

/* k to lanes: 4 or 8 kept elements of A, 8 or 16 elements of B in a lane. */
static void operands_draw(const struct shape *s, bool small, bool any_positions, int index_bit)
{
    const int per_lane = 128 / s->bits;
    for (int i = 0; i < s->m; i++)
        for (int chunk = 0; chunk < s->k / 4; chunk++) {
            const int lane = i + s->m * (4 * chunk / per_lane), place = chunk % (per_lane / 4);
            int first = (int)random_below(3),
                second = first + 1 + (int)random_below(3u - (uint32_t)first);
            if (any_positions) {
                first = (int)random_below(4);
                second = (int)random_below(4);
            }
            matrix.at[i][2 * chunk] = first;
            matrix.at[i][2 * chunk + 1] = second;
            for (int n = 0; n < 2; n++)
                field_put(registers[A_REG], lane, (2 * place + n) * s->bits, s->bits,
                          element_draw(s, s->wide_a, small, &matrix.a[i][2 * chunk + n]));
            field_put(registers[INDEX_REG], lane, index_bit + 4 * place, 4,
                      (uint32_t)(first | second << 2));
        }
    for (int k = 0; k < s->k; k++)
        for (int j = 0; j < s->m; j++)
            field_put(registers[B_REG], j + s->m * (k / per_lane), k % per_lane * s->bits, s->bits,
                      element_draw(s, s->wide_b, small, &matrix.b[k][j]));
}

static uint32_t *result_at(const struct shape *s, lane_row *d, int i, int j)
{
    return s->m == 16 ? &d[i % 4][16 * (i / 4) + j] : &d[4 * (i / 8) + i % 4][32 * (i / 4 % 2) + j];
}

static void sums_draw(const struct shape *s, lane_row *d, bool small)
{
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->m; j++) {
            const int32_t any = (int32_t)random_bits();
            const float c = small ? (float)(any % 1000) : ldexpf((float)any, -20 - any % 16);
            matrix.c[i][j] = s->type == 'i' ? any : (double)c;
            *result_at(s, d, i, j) = s->type == 'i' ? (uint32_t)any : float_bits(c);
        }
}

static uint32_t wanted(const struct shape *s, int i, int j)
{
    uint32_t integer = (uint32_t)(int32_t)(s->type == 'i' ? matrix.c[i][j] : 0);
    float sum = (float)matrix.c[i][j];
    for (int n = 0; n < s->k / 2; n++) {
        const double a = matrix.a[i][n], b = matrix.b[n / 2 * 4 + matrix.at[i][n]][j];
        if (s->type == 'i')
            integer += (uint32_t)((int)a * (int)b);
        else
            sum = fmaf((float)a, (float)b, sum);
    }
    return s->type == 'i' ? integer : float_bits(sum);
}

static struct inst instruction_of(const struct shape *s)
{
    struct inst i = {.op = s->op, .format = FMT_VOP3P, .klass = CLASS_MFMA, .src_count = 3};
    i.src[0] = vgpr(A_REG);
    i.src[1] = vgpr(B_REG);
    i.src[2] = vgpr(INDEX_REG);
    return i;
}

static void shape_run(const struct shape *s, bool small, bool any_positions)
{
    struct inst i = instruction_of(s);
    const int sets = s->bits == 16 ? 4 : 2, set_bits = 128 / s->bits;
    i.mfma.cbsz = (uint8_t)random_below(2);
    i.mfma.abid = (uint8_t)random_below((uint32_t)sets);
    for (int lane = 0; lane < WAVE_LANES; lane++)
        registers[INDEX_REG][lane] = (uint32_t)random_bits(); /* the sets that are not in use */
    operands_draw(s, small, any_positions, i.mfma.cbsz ? 0 : i.mfma.abid * set_bits);
    const bool accumulators_hold_d = random_below(2);
    i.dst = (struct operand){.kind = accumulators_hold_d ? OPND_AGPR : OPND_VGPR, .index = D_REG};
    lane_row *d = (accumulators_hold_d ? accumulators : registers) + D_REG;
    sums_draw(s, d, small);
    wave.s64[SREG_EXEC / 2] = random_bits(); /* ignored */
    run(&i);
    for (int x = 0; x < s->m; x++)
        for (int y = 0; y < s->m; y++)
            assert_int_equal(*result_at(s, d, x, y), wanted(s, x, y));
}

static void all_shapes(void)
{
    for (int n = 0; n < 4 * SHAPES; n++)
        shape_run(&shapes[n % SHAPES], true, false);
}
static void small_integers(void **state)
{
    (void)state;
    each_build(all_shapes);
}

static void all_shapes_any(void)
{
    for (int n = 0; n < 8 * SHAPES; n++)
        shape_run(&shapes[n % SHAPES], false, n % 2);
}
static void sums_that_round(void **state)
{
    (void)state;
    each_build(all_shapes_any);
}

/* By hand: row 3 of A begins with 0, 2, 0, 3 and column 5 of B with 1, 2, 3, 4. */
static void one_row(void)
{
    const struct shape *s = &shapes[4]; /* 16 x 16 x 64, i8 */
    struct inst i = instruction_of(s);
    i.dst = vgpr(D_REG);
    memset(registers, 0, sizeof registers);
    registers[A_REG][3] = 2 | 3 << 8;
    registers[INDEX_REG][3] = (uint32_t)(1 | 3 << 2) << 16;
    registers[B_REG][5] = 0x04030201;
    registers[D_REG + 3][5] = 1000;
    i.mfma.abid = 1;
    run(&i);
    assert_int_equal(registers[D_REG + 3][5], 1016);
    i.mfma.cbsz = 1; /* the first set: both factors meet the first of four */
    run(&i);
    assert_int_equal(registers[D_REG + 3][5], 1016 + 2 + 3);
}
static void a_row_by_hand(void **state)
{
    (void)state;
    each_build(one_row);
}

/* D over what it is made of: all is read before anything is written. */
static void overlapping(void)
{
    static const uint16_t places[] = {A_REG - 1, B_REG - 3, INDEX_REG - 2};
    for (int n = 0; n < 3 * SHAPES; n++) {
        const struct shape *s = &shapes[n % SHAPES];
        struct inst i = instruction_of(s);
        lane_row before[16];
        i.dst = vgpr(places[n / SHAPES]);
        operands_draw(s, true, false, 0);
        for (uint16_t r = 0; r < 16; r++)
            memcpy(before[r], registers[i.dst.index + r], sizeof before[r]);
        for (int x = 0; x < s->m; x++)
            for (int y = 0; y < s->m; y++)
                matrix.c[x][y] = s->type == 'i' ? (double)(int32_t)*result_at(s, before, x, y)
                                                : (double)float_of(*result_at(s, before, x, y));
        run(&i);
        for (int x = 0; x < s->m; x++)
            for (int y = 0; y < s->m; y++) {
                const uint32_t got = *result_at(s, registers + i.dst.index, x, y);
                const uint32_t want = wanted(s, x, y);
                if (s->type == 'i' || !isnan(float_of(want)))
                    assert_int_equal(got, want);
                else
                    assert_true(isnan(float_of(got)));
            }
    }
}
static void result_over_sources(void **state)
{
    (void)state;
    each_build(overlapping);
}

/* The encodings are llvm-mc's. The indices lie in a vector register, also where A and D do not. */
static void decoded(void **state)
{
    (void)state;
    /* v_smfmac_f32_16x16x32_f16 a[4:7], a[2:3], v[8:11], v1 cbsz:1 abid:2 */
    static const uint32_t words[2] = {0xd3e29104, 0x0c061102};
    struct inst i;
    assert_int_equal(isa_decode(GPU_GFX942, words, 2, &i), 2);
    assert_int_equal(i.op, OP_V_SMFMAC_F32_16X16X32_F16);
    assert_int_equal(i.dst.kind, OPND_AGPR);
    assert_int_equal(i.dst.index, 4);
    assert_int_equal(i.dst.dwords, 4);
    assert_int_equal(i.src[0].kind, OPND_AGPR);
    assert_int_equal(i.src[1].kind, OPND_VGPR);
    assert_int_equal(i.src[2].kind, OPND_VGPR);
    assert_int_equal(i.src[2].index, 1);
    assert_int_equal(i.mfma.cbsz, 1);
    assert_int_equal(i.mfma.abid, 2);
    assert_int_equal(i.tally, TALLY_MFMA_F16_SPARSE_X32); /* not that of a dense matrix as large */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_integers), cmocka_unit_test(sums_that_round),
        cmocka_unit_test(a_row_by_hand),  cmocka_unit_test(result_over_sources),
        cmocka_unit_test(decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
