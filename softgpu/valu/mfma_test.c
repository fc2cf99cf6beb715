/*
 * Matrix instructions against a triple loop: over matrices of small integers, which every format
 * holds exactly, and over any numbers, whose sums round as test/mfma_reference.h says. The register
 * layout is the one AMD documents for its matrix cores.
 */
#include <math.h>

#include "isa/decode.h"
#include "valu/test/mfma_numbers.h"
#include "valu/test/mfma_reference.h"
#include "valu/test/wave_double.h"

enum { A_REG = 8, B_REG = 16, C_REG = 32, D_REG = 96 };

struct shape {
    uint16_t op;
    int m, k, blocks, bits; /* bits of an element of A and B */
    char type;              /* f: float, b: bfloat16, i: integer, x: xf32, 8: 8-bit floats */
};
static const struct shape shapes[] = {
    {OP_V_MFMA_F32_32X32X1F32, 32, 1, 2, 32, 'f'},
    {OP_V_MFMA_F32_16X16X1F32, 16, 1, 4, 32, 'f'},
    {OP_V_MFMA_F32_4X4X1F32, 4, 1, 16, 32, 'f'},
    {OP_V_MFMA_F32_32X32X2F32, 32, 2, 1, 32, 'f'},
    {OP_V_MFMA_F32_16X16X4F32, 16, 4, 1, 32, 'f'},
    {OP_V_MFMA_F32_32X32X4F16, 32, 4, 2, 16, 'f'},
    {OP_V_MFMA_F32_16X16X4F16, 16, 4, 4, 16, 'f'},
    {OP_V_MFMA_F32_4X4X4F16, 4, 4, 16, 16, 'f'},
    {OP_V_MFMA_F32_32X32X8F16, 32, 8, 1, 16, 'f'},
    {OP_V_MFMA_F32_16X16X16F16, 16, 16, 1, 16, 'f'},
    {OP_V_MFMA_F32_32X32X2BF16, 32, 2, 2, 16, 'b'},
    {OP_V_MFMA_F32_4X4X2BF16, 4, 2, 16, 16, 'b'},
    {OP_V_MFMA_F32_32X32X4BF16, 32, 4, 1, 16, 'b'},
    {OP_V_MFMA_F32_16X16X8BF16, 16, 8, 1, 16, 'b'},
    {OP_V_MFMA_F32_32X32X8BF16_1K, 32, 8, 1, 16, 'b'},
    {OP_V_MFMA_F32_16X16X4BF16_1K, 16, 4, 4, 16, 'b'},
    {OP_V_MFMA_F32_16X16X2BF16, 16, 2, 4, 16, 'b'},
    {OP_V_MFMA_F32_32X32X4BF16_1K, 32, 4, 2, 16, 'b'},
    {OP_V_MFMA_F32_4X4X4BF16_1K, 4, 4, 16, 16, 'b'},
    {OP_V_MFMA_F32_16X16X16BF16_1K, 16, 16, 1, 16, 'b'},
    {OP_V_MFMA_F32_32X32X4_2B_F16, 32, 4, 2, 16, 'f'},
    {OP_V_MFMA_F32_16X16X4_4B_F16, 16, 4, 4, 16, 'f'},
    {OP_V_MFMA_F32_4X4X4_16B_F16, 4, 4, 16, 16, 'f'},
    {OP_V_MFMA_F32_32X32X8_F16, 32, 8, 1, 16, 'f'},
    {OP_V_MFMA_F32_16X16X16_F16, 16, 16, 1, 16, 'f'},
    {OP_V_MFMA_F32_32X32X4_2B_BF16, 32, 4, 2, 16, 'b'},
    {OP_V_MFMA_F32_16X16X4_4B_BF16, 16, 4, 4, 16, 'b'},
    {OP_V_MFMA_F32_4X4X4_16B_BF16, 4, 4, 16, 16, 'b'},
    {OP_V_MFMA_F32_32X32X8_BF16, 32, 8, 1, 16, 'b'},
    {OP_V_MFMA_F32_16X16X16_BF16, 16, 16, 1, 16, 'b'},
    {OP_V_MFMA_I32_16X16X4I8, 16, 4, 4, 8, 'i'},
    {OP_V_MFMA_I32_4X4X4I8, 4, 4, 16, 8, 'i'},
    {OP_V_MFMA_I32_32X32X8I8, 32, 8, 1, 8, 'i'},
    {OP_V_MFMA_I32_32X32X4I8, 32, 4, 2, 8, 'i'},
    {OP_V_MFMA_I32_16X16X16I8, 16, 16, 1, 8, 'i'},
    {OP_V_MFMA_I32_32X32X16_I8, 32, 16, 1, 8, 'i'},
    {OP_V_MFMA_I32_16X16X32_I8, 16, 32, 1, 8, 'i'},
    {OP_V_MFMA_F32_16X16X8_XF32, 16, 8, 1, 32, 'x'},
    {OP_V_MFMA_F32_32X32X4_XF32, 32, 4, 1, 32, 'x'},
    {OP_V_MFMA_F32_16X16X32_BF8_BF8, 16, 32, 1, 8, '8'},
    {OP_V_MFMA_F32_16X16X32_BF8_FP8, 16, 32, 1, 8, '8'},
    {OP_V_MFMA_F32_16X16X32_FP8_BF8, 16, 32, 1, 8, '8'},
    {OP_V_MFMA_F32_16X16X32_FP8_FP8, 16, 32, 1, 8, '8'},
    {OP_V_MFMA_F32_32X32X16_BF8_BF8, 32, 16, 1, 8, '8'},
    {OP_V_MFMA_F32_32X32X16_BF8_FP8, 32, 16, 1, 8, '8'},
    {OP_V_MFMA_F32_32X32X16_FP8_BF8, 32, 16, 1, 8, '8'},
    {OP_V_MFMA_F32_32X32X16_FP8_FP8, 32, 16, 1, 8, '8'},
};

/* The definition of the formats without infinities: exponent fields of 4 and 5 bits, bias 8 and 16.
 */
static float f8_value(uint32_t byte, bool wide)
{
    const int digits = wide ? 2 : 3, bias = wide ? 16 : 8;
    const int exponent = (int)(byte & 0x7f) >> digits, fraction = (int)byte & ((1 << digits) - 1);
    const float magnitude =
        exponent ? ldexpf((float)(fraction + (1 << digits)), exponent - bias - digits)
                 : ldexpf((float)fraction, 1 - bias - digits);
    if (byte == 0x80)
        return NAN;
    return byte & 0x80 ? -magnitude : magnitude;
}
/* Whether A's or B's elements are bf8, by the end of the name: "bf8_fp8". */
static bool f8_wide(const struct shape *s, uint16_t base)
{
    const char *name = isa_op_names[s->op];
    return name[strlen(name) - (base == A_REG ? 7 : 3)] == 'b';
}
static uint32_t f8_find(float value, bool wide)
{
    uint32_t byte = 0;
    while (f8_value(byte, wide) != value)
        byte++; /* every small integer is there */
    return byte;
}

/* No more than eleven binary digits of f32. */
static float xf32_value(float x)
{
    int exponent;
    frexp(x, &exponent);
    const double unit = ldexp(1, exponent - 11 > -136 ? exponent - 11 : -136);
    return isfinite(x) ? (float)(trunc(x / unit) * unit) : x;
}

static int a[16][32][32], b[16][32][32],
    c[16][32][32]; /* [block][i][k], [block][k][j], [block][i][j] */

static void element_store(uint16_t base, int lane, int element, const struct shape *s, int value)
{
    uint32_t x = (uint32_t)value;
    if (s->type == '8') {
        x = f8_find((float)value, f8_wide(s, base));
    } else if (s->bits == 32) {
        x = float_bits((float)value);
    } else if (s->type == 'b') {
        x = float_bits((float)value) >> 16;
    } else if (s->type == 'f') { /* small integers as halves: shift the float's fields */
        const uint32_t u = float_bits((float)value);
        x = value ? (u >> 16 & 0x8000) | (((u >> 23 & 0xff) - 112) << 10 | (u >> 13 & 0x3ff)) : 0;
    }
    const int bit = element * s->bits;
    const uint32_t mask = s->bits == 32 ? ~0u : (1u << s->bits) - 1;
    uint32_t *word = &registers[base + bit / 32][lane];
    *word = (*word & ~(mask << bit % 32)) | (x & mask) << bit % 32;
}

static void matrices_random(void)
{
    for (int block = 0; block < 16; block++)
        for (int i = 0; i < 32; i++)
            for (int j = 0; j < 32; j++) {
                a[block][i][j] = (int)random_below(15) - 7;
                b[block][i][j] = (int)random_below(15) - 7;
                c[block][i][j] = (int)random_below(2001) - 1000;
            }
}

/* Register and lane of a result. */
static void result_at(const struct shape *s, int block, int i, int j, int *reg, int *lane)
{
    static const int rows_at_once[] = {[4] = 1, [16] = 16, [32] = 8}; /* covered by 4 registers */
    if (s->m == 4) {
        *reg = i;
        *lane = 4 * block + j;
        return;
    }
    *reg = s->m * s->m / 64 * block + i / rows_at_once[s->m] * 4 + i % 4;
    *lane = i % rows_at_once[s->m] / 4 * s->m + j;
}

static void operands_place(const struct shape *s)
{
    const int groups = 64 / s->m, per_lane = s->k * s->blocks / groups;
    for (int lane = 0; lane < 64; lane++)
        for (int e = 0; e < per_lane; e++) {
            const int block = s->blocks > 1 ? lane / s->m : 0;
            const int k = s->blocks > 1 ? e : lane / s->m * per_lane + e;
            element_store(A_REG, lane, e, s, a[block][lane % s->m][k]);
            element_store(B_REG, lane, e, s, b[block][k][lane % s->m]);
        }
    for (int block = 0; block < s->blocks; block++)
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->m; j++) {
                int reg, lane;
                result_at(s, block, i, j, &reg, &lane);
                registers[C_REG + reg][lane] =
                    s->type == 'i' ? (uint32_t)c[block][i][j] : float_bits((float)c[block][i][j]);
            }
}

static void result_check(const struct shape *s, int cbsz, int abid)
{
    for (int block = 0; block < s->blocks; block++)
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->m; j++) {
                const int from = block >> cbsz << cbsz | abid;
                int reg, lane, sum = c[block][i][j];
                for (int k = 0; k < s->k; k++)
                    sum += a[from][i][k] * b[block][k][j];
                result_at(s, block, i, j, &reg, &lane);
                const uint32_t got = accumulators[D_REG + reg][lane];
                assert_int_equal(got, s->type == 'i' ? (uint32_t)sum : float_bits((float)sum));
            }
}

static void all_shapes(void)
{
    for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
        const struct shape *s = &shapes[n];
        struct inst i = {.op = s->op, .format = FMT_VOP3P, .klass = CLASS_MFMA, .src_count = 3};
        i.dst = (struct operand){.kind = OPND_AGPR, .index = D_REG};
        i.src[0] = vgpr(A_REG);
        i.src[1] = vgpr(B_REG);
        i.src[2] = vgpr(C_REG);
        i.mfma.cbsz = s->blocks > 1 ? (uint8_t)random_below(2) : 0;
        i.mfma.abid = i.mfma.cbsz ? (uint8_t)random_below(2) : 0;
        matrices_random();
        operands_place(s);
        wave.s64[SREG_EXEC / 2] = random_bits(); /* ignored */
        run(&i);
        result_check(s, i.mfma.cbsz, i.mfma.abid);
    }
}
static void single_and_integer(void **state)
{
    (void)state;
    each_build(all_shapes);
}

static void double_shapes(void)
{
    struct inst i = {
        .op = OP_V_MFMA_F64_16X16X4F64, .format = FMT_VOP3P, .klass = CLASS_MFMA, .src_count = 3};
    i.dst = vgpr(D_REG);
    i.src[0] = vgpr_typed(A_REG, TYPE_F64, 2);
    i.src[1] = vgpr_typed(B_REG, TYPE_F64, 2);
    i.src[2] = vgpr_typed(C_REG, TYPE_B256, 8);
    matrices_random();
    for (int x = 0; x < 16; x++)
        for (int y = 0; y < 16; y++) {
            if (y < 4) {
                lane64_set(A_REG, 16 * y + x, double_bits(a[0][x][y]));
                lane64_set(B_REG, 16 * y + x, double_bits(b[0][y][x]));
            }
            lane64_set((uint16_t)(C_REG + x / 4 * 2), x % 4 * 16 + y, double_bits(c[0][x][y]));
        }
    run(&i);
    for (int x = 0; x < 16; x++)
        for (int y = 0; y < 16; y++) {
            double sum = c[0][x][y];
            for (int k = 0; k < 4; k++)
                sum += a[0][x][k] * b[0][k][y];
            assert_true(double_of(lane64((uint16_t)(D_REG + x / 4 * 2), x % 4 * 16 + y)) == sum);
        }
    i.op = OP_V_MFMA_F64_4X4X4F64;
    i.src[2] = constant(0);
    for (int block = 0; block < 4; block++)
        for (int x = 0; x < 4; x++)
            for (int k = 0; k < 4; k++) {
                lane64_set(A_REG, 16 * k + 4 * block + x, double_bits(a[block][x][k]));
                lane64_set(B_REG, 16 * k + 4 * block + x, double_bits(b[block][k][x]));
            }
    run(&i);
    for (int block = 0; block < 4; block++)
        for (int x = 0; x < 4; x++)
            for (int y = 0; y < 4; y++) {
                double sum = 0;
                for (int k = 0; k < 4; k++)
                    sum += a[block][x][k] * b[block][k][y];
                assert_true(double_of(lane64(D_REG, 16 * x + 4 * block + y)) == sum);
            }
}
static void double_precision(void **state)
{
    (void)state;
    each_build(double_shapes);
}

static float fa[16][32][32], fb[16][32][32], fc[16][32][32]; /* as a, b and c */

/* One element of A or B at random into its register; returns its value. */
static float element_random(const struct shape *s, uint16_t base, int lane, int element)
{
    const bool half = s->bits == 16 && s->type == 'f';
    const uint32_t x = half           ? any_f16()
                       : s->bits == 8 ? any_f8()
                                      : any_f32() >> (s->bits == 16 ? 16 : 0);
    const int bit = element * s->bits;
    const uint32_t mask = s->bits == 32 ? ~0u : (1u << s->bits) - 1;
    uint32_t *word = &registers[base + bit / 32][lane];
    *word = (*word & ~(mask << bit % 32)) | x << bit % 32;
    if (s->type == '8')
        return f8_value(x, f8_wide(s, base));
    if (s->type == 'x')
        return xf32_value(float_of(x));
    return half ? half_value(x) : float_of(s->bits == 16 ? x << 16 : x);
}

static void operands_random(const struct shape *s, uint16_t c_reg)
{
    const int groups = 64 / s->m, per_lane = s->k * s->blocks / groups;
    for (int lane = 0; lane < 64; lane++)
        for (int e = 0; e < per_lane; e++) {
            const int block = s->blocks > 1 ? lane / s->m : 0;
            const int k = s->blocks > 1 ? e : lane / s->m * per_lane + e;
            fa[block][lane % s->m][k] = element_random(s, A_REG, lane, e);
            fb[block][k][lane % s->m] = element_random(s, B_REG, lane, e);
        }
    for (int block = 0; block < s->blocks; block++)
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->m; j++) {
                int reg, lane;
                result_at(s, block, i, j, &reg, &lane);
                registers[c_reg + reg][lane] = any_addend();
                fc[block][i][j] = float_of(registers[c_reg + reg][lane]);
            }
}

static struct mfma_model model_of(const struct shape *s, bool flush)
{
    const char *name = isa_op_names[s->op];
    const bool newer = strstr(name, "_f16") || strstr(name, "_bf16"); /* gfx942's names */
    struct mfma_model m = {.sums = SUMS_STEPS, .group = 1, .least_a = -126, .least_b = -126};
    if (s->bits == 16) {
        m.sums = newer ? SUMS_FUSED : SUMS_PAIRS;
        m.group = newer ? (s->k < 8 ? 4 : 8) : s->type == 'f' || strstr(name, "_1k") ? 4 : 2;
        m.flush = flush || strstr(name, "_1k");
        m.least_a = m.least_b = s->type == 'f' ? -14 : -126;
    } else if (s->type == 'x') {
        m.sums = SUMS_FUSED;
        m.group = 4;
    } else if (s->type == '8') {
        m.sums = SUMS_FUSED_8;
        m.group = 16;
        m.least_a = f8_wide(s, A_REG) ? -15 : -7;
        m.least_b = f8_wide(s, B_REG) ? -15 : -7;
    }
    return m;
}

static void sums_check(const struct shape *s, const lane_row *d, const struct inst *inst)
{
    const struct mfma_model model = model_of(s, inst->flags & IF_FLUSH_F16);
    for (int block = 0; block < s->blocks; block++)
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->m; j++) {
                const int from = block >> inst->mfma.cbsz << inst->mfma.cbsz | inst->mfma.abid;
                int reg, lane;
                float column[32];
                for (int k = 0; k < s->k; k++)
                    column[k] = fb[block][k][j];
                const float want =
                    mfma_reference(&model, fa[from][i], column, s->k, fc[block][i][j]);
                result_at(s, block, i, j, &reg, &lane);
                if (isnan(want)) /* whose payload is nobody's promise */
                    assert_true(isnan(float_of(d[reg][lane])));
                else
                    assert_int_equal(d[reg][lane], float_bits(want));
            }
}

/* Where C lies beside D: the same registers, one before, a few behind; and A under both. */
static void any_numbers_of(const struct shape *s, int distance, bool flush)
{
    const uint16_t d_reg = D_REG, c_reg = (uint16_t)(D_REG + distance);
    struct inst i = {.op = s->op, .format = FMT_VOP3P, .klass = CLASS_MFMA, .src_count = 3};
    if (flush)
        i.flags |= IF_FLUSH_F16;
    i.dst = vgpr(d_reg);
    i.src[0] = vgpr(A_REG);
    i.src[1] = vgpr(B_REG);
    i.src[2] = vgpr(c_reg);
    while (s->blocks >> (i.mfma.cbsz + 1) && random_below(3))
        i.mfma.cbsz++;
    i.mfma.abid = (uint8_t)random_below(1u << i.mfma.cbsz);
    operands_random(s, c_reg);
    run(&i);
    sums_check(s, registers + d_reg, &i);
}
static void any_numbers(void)
{
    static const int distances[] = {0, 1, -3, 4};
    for (int n = 0; n < 4 * (int)(sizeof shapes / sizeof *shapes) * SPREADS; n++) {
        const struct shape *s = &shapes[n / (4 * SPREADS)];
        const bool pairs = model_of(s, false).sums == SUMS_PAIRS;
        spread = (enum spread)(n / 4 % SPREADS);
        if (s->type != 'i')
            any_numbers_of(s, distances[n % 4], pairs && n % 2);
    }
}
static void sums_that_round(void **state)
{
    (void)state;
    each_build(any_numbers);
}

/* A million and more of gfx942's fused sums in each build, which vectors add in several ways. */
static void many_fused(void)
{
    enum { ROUNDS = 10 };
    for (int n = 0; n < ROUNDS * SPREADS * (int)(sizeof shapes / sizeof *shapes); n++) {
        const struct shape *s = &shapes[n / (ROUNDS * SPREADS)];
        spread = (enum spread)(n % SPREADS);
        if (model_of(s, false).sums >= SUMS_FUSED)
            any_numbers_of(s, n % 3, false);
    }
}
static void fused_sums(void **state)
{
    (void)state;
    each_build(many_fused);
}

/* BLGP: the lane of B that each lane multiplies by, as the instruction set documents list it. */
static int b_from(int pattern, int lane)
{
    static const int broadcast_32[] = {[1] = 0, [2] = 32};
    if (pattern >= 4)
        return 16 * (pattern - 4) + lane % 16;
    if (pattern == 3)
        return (lane + 16) % WAVE_LANES;
    return pattern ? broadcast_32[pattern] + lane % 32 : lane;
}
/* The same results as from a B that was moved by hand. */
static void patterns_of_b(void)
{
    enum { PATTERNS = 8, B_ROWS = 2, RESULT_ROWS = 32 };
    static lane_row want[RESULT_ROWS], moved[B_ROWS];
    for (int n = 0; n < PATTERNS * (int)(sizeof shapes / sizeof *shapes); n++) {
        const struct shape *s = &shapes[n / PATTERNS];
        struct inst i = {.op = s->op, .format = FMT_VOP3P, .klass = CLASS_MFMA, .src_count = 3};
        spread = MANY;
        i.dst = vgpr(D_REG);
        i.src[0] = vgpr(A_REG);
        i.src[1] = vgpr(B_REG);
        i.src[2] = vgpr(C_REG);
        operands_random(s, C_REG);
        i.mfma.blgp = (uint8_t)(n % PATTERNS);
        run(&i);
        memcpy(want, registers + D_REG, sizeof want);
        for (int row = 0; row < B_ROWS; row++)
            for (int lane = 0; lane < WAVE_LANES; lane++)
                moved[row][lane] = registers[B_REG + row][b_from(n % PATTERNS, lane)];
        memcpy(registers + B_REG, moved, sizeof moved);
        i.mfma.blgp = 0;
        run(&i);
        assert_memory_equal(registers + D_REG, want, sizeof want);
    }
}
static void lanes_of_b_are_moved(void **state)
{
    (void)state;
    each_build(patterns_of_b);
}

/* D over A, B and C: the sources are read before anything is written. */
static void overlapping(void)
{
    static const uint16_t places[] = {A_REG, B_REG, C_REG, C_REG + 2, C_REG - 2};
    enum { PLACES = sizeof places / sizeof *places };
    for (size_t n = 0; n < PLACES * sizeof shapes / sizeof *shapes; n++) {
        const struct shape *s = &shapes[n / PLACES];
        const uint16_t place = places[n % PLACES];
        struct inst i = {.op = s->op, .format = FMT_VOP3P, .klass = CLASS_MFMA, .src_count = 3};
        spread = MANY;
        if (s->type == 'i')
            continue;
        i.dst = vgpr(place);
        i.src[0] = vgpr(A_REG);
        i.src[1] = vgpr(B_REG);
        i.src[2] = vgpr(C_REG);
        operands_random(s, C_REG);
        run(&i);
        sums_check(s, registers + place, &i);
    }
}
static void result_over_sources(void **state)
{
    (void)state;
    each_build(overlapping);
}

/* By hand, as each GPU decodes v_mfma_f32_16x16x16 of f16, all elements alike: c + 4 ab four times,
 * on gfx942 c + 8 ab twice. */
static void sums_of(enum gpu_gen gen, uint32_t a_b, float addend, float want)
{
    static const uint32_t words[2] = {0xd3cd0000 | D_REG, (256 + A_REG) | (256 + B_REG) << 9 |
                                                              (uint32_t)(256 + C_REG) << 18};
    struct inst i;
    assert_int_equal(isa_decode(gen, words, 2, &i), 2);
    for (int lane = 0; lane < WAVE_LANES; lane++)
        for (int r = 0; r < 4; r++) {
            registers[C_REG + r][lane] = accumulators[C_REG + r][lane] = float_bits(addend);
            registers[A_REG + r % 2][lane] = a_b >> 16 | (a_b & 0xffff0000);
            registers[B_REG + r % 2][lane] = a_b << 16 | (a_b & 0xffff);
        }
    run(&i);
    const lane_row *d = i.dst.kind == OPND_AGPR ? accumulators : registers;
    for (int lane = 0; lane < WAVE_LANES; lane++)
        assert_int_equal(d[D_REG + lane % 4][lane], float_bits(want));
}
static void all_gpus(void)
{
    static const enum gpu_gen gens[] = {GPU_GFX908, GPU_GFX90A, GPU_GFX942};
    for (int n = 0; n < 3; n++) {
        const float more = gens[n] == GPU_GFX942 ? 0x1p-22f : 0;
        /* one half, which alone would be lost beside 2^24 */
        sums_of(gens[n], 0x3c003800, 0x1p24f, 0x1p24f + 8);
        /* 1.5 * 2^-27: eight of them are more than half of the last digit of 1, four are less */
        sums_of(gens[n], 0x04000a00, 1, 1 + more);
    }
}
static void sums_by_gpu(void **state)
{
    (void)state;
    each_build(all_gpus);
}

static double any_f64(void)
{
    const uint64_t bits = random_bits(), exponent = random_below(8) ? 990 + bits % 60 : 0;
    return double_of((bits & UINT64_C(0x800fffffffffffff)) | exponent << 52);
}
static double da[16][4], db[4][16], dc[16][16];

static void any_doubles(unsigned negate)
{
    static const int distances[] = {0, 2, -4, 100};
    for (int n = 0; n < 8; n++) {
        const bool small = n % 2;
        const uint16_t c_reg = (uint16_t)(D_REG + distances[n / 2]);
        struct inst i = {.op = small ? OP_V_MFMA_F64_4X4X4_4B_F64 : OP_V_MFMA_F64_16X16X4_F64,
                         .format = FMT_VOP3P,
                         .klass = CLASS_MFMA,
                         .src_count = 3};
        const bool a_negative = negate & 1, b_negative = negate & 2, c_negative = negate & 4;
        i.neg = (uint8_t)negate;
        i.dst = vgpr(D_REG);
        i.src[0] = vgpr_typed(A_REG, TYPE_F64, 2);
        i.src[1] = vgpr_typed(B_REG, TYPE_F64, 2);
        i.src[2] = vgpr_typed(c_reg, small ? TYPE_F64 : TYPE_B256, small ? 2 : 8);
        for (int x = 0; x < 16; x++)
            for (int y = 0; y < 16; y++) {
                if (y < 4) {
                    lane64_set(A_REG, 16 * y + x, double_bits(da[x][y] = any_f64()));
                    lane64_set(B_REG, 16 * y + x, double_bits(db[y][x] = any_f64()));
                }
                dc[x][y] = any_f64();
                if (!small || x < 4)
                    lane64_set((uint16_t)(c_reg + x / 4 * 2), x % 4 * 16 + y,
                               double_bits(dc[x][y]));
            }
        run(&i);
        for (int x = 0; x < (small ? 4 : 16); x++)
            for (int y = 0; y < 16; y++) {
                /* 4 x 4: four blocks' columns beside each other */
                double sum = c_negative ? -dc[x][y] : dc[x][y];
                for (int k = 0; k < 4; k++) {
                    const double a_k = da[small ? y / 4 * 4 + x : x][k];
                    sum = fma(a_negative ? -a_k : a_k, b_negative ? -db[k][y] : db[k][y], sum);
                }
                assert_true(lane64((uint16_t)(D_REG + x / 4 * 2), x % 4 * 16 + y) ==
                            double_bits(sum));
            }
    }
}
static void any_signs(void)
{
    for (unsigned negate = 0; negate < 8; negate++)
        any_doubles(negate);
}
static void doubles_that_round(void **state)
{
    (void)state;
    each_build(any_signs);
}

/* Of gfx942's double precision the bits that elsewhere are B's lane groups. The encodings are
 * llvm-mc's.
 */
static void signs_decoded(void **state)
{
    (void)state;
    /* v_mfma_f64_4x4x4_4b_f64 v[0:1], v[0:1], v[2:3], v[2:3] neg:[1,0,1]; on gfx90a: blgp:5 */
    static const uint32_t words[2] = {0xd3ef0000, 0xa40a0500};
    struct inst i;
    assert_int_equal(isa_decode(GPU_GFX942, words, 2, &i), 2);
    assert_int_equal(i.neg, 5);
    assert_int_equal(i.mfma.blgp, 0);
    assert_non_null(valu_handler(&i));
    assert_int_equal(isa_decode(GPU_GFX90A, words, 2, &i), 2);
    assert_int_equal(i.neg, 0);
    assert_int_equal(i.mfma.blgp, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_and_integer),  cmocka_unit_test(double_precision),
        cmocka_unit_test(sums_that_round),     cmocka_unit_test(fused_sums),
        cmocka_unit_test(result_over_sources), cmocka_unit_test(lanes_of_b_are_moved),
        cmocka_unit_test(sums_by_gpu),         cmocka_unit_test(doubles_that_round),
        cmocka_unit_test(signs_decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
