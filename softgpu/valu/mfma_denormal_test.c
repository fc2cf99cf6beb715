/*
 * Denormals in matrix instructions, GPU by GPU. AMD (MIOpen's "MI200 MFMA behavior specifics",
 * PyTorch's note on numerical accuracy): those of f16 and bf16 flush denormals of what comes in and
 * goes out to zero on MI200 and on no other GPU; those of f32 do not. Every element of a matrix is
 * the same here, so a result is c + k * a * b, by hand.
 */
#include <math.h>

#include "isa/decode.h"
#include "valu/test/wave_double.h"

enum { A_REG = 8, B_REG = 16, C_REG = 32, D_REG = 96, VGPR = 256, MODE_USUAL = 0x2f0 };
enum { ON_908 = 1 << GPU_GFX908, ON_90A = 1 << GPU_GFX90A, ON_942 = 1 << GPU_GFX942 };
enum { HALF, BRAIN, SINGLE };

/* Opcodes of VOP3P, the depth of a block's sum, the sources' format. */
static const struct shape {
    uint8_t opcode, k, format, gpus;
} shapes[] = {
    {0x48, 4, HALF, ON_908 | ON_90A | ON_942},
    {0x49, 4, HALF, ON_908 | ON_90A | ON_942},
    {0x4a, 4, HALF, ON_908 | ON_90A | ON_942},
    {0x4c, 8, HALF, ON_908 | ON_90A | ON_942},
    {0x4d, 16, HALF, ON_908 | ON_90A | ON_942},
    {0x68, 2, BRAIN, ON_908 | ON_90A},
    {0x69, 2, BRAIN, ON_908 | ON_90A},
    {0x6b, 2, BRAIN, ON_908 | ON_90A},
    {0x6c, 4, BRAIN, ON_908 | ON_90A},
    {0x6d, 8, BRAIN, ON_908 | ON_90A},
    {0x63, 4, BRAIN, ON_90A},
    {0x64, 4, BRAIN, ON_90A},
    {0x65, 4, BRAIN, ON_90A},
    {0x66, 8, BRAIN, ON_90A},
    {0x67, 16, BRAIN, ON_90A},
    {0x5d, 4, BRAIN, ON_942},
    {0x5e, 4, BRAIN, ON_942},
    {0x5f, 4, BRAIN, ON_942},
    {0x60, 8, BRAIN, ON_942},
    {0x61, 16, BRAIN, ON_942},
    {0x45, 4, SINGLE, ON_908 | ON_90A | ON_942},
    {0x42, 1, SINGLE, ON_908 | ON_90A | ON_942},
};

/* Codes of a and b, c, and what MI200 takes them for. */
static const struct numbers {
    uint8_t format;
    uint32_t a, b, c;
    double value_a, value_b, flushed_a, flushed_b;
} cases[] = {
    /* 1023 * 2^-24, the largest denormal, times 1; the least one, negative, times 2; c = 2^-10 and
       0 */
    {HALF, 0x03ff, 0x3c00, 0x3a800000, 1023 * 0x1p-24, 1, 0, 1},
    {HALF, 0x4000, 0x8001, 0, 2, -0x1p-24, 2, 0},
    {HALF, 0x0200, 0x0200, 0, 0x1p-15, 0x1p-15, 0, 0},
    /* the least normal numbers */
    {HALF, 0x0400, 0x8400, 0, 0x1p-14, -0x1p-14, 0x1p-14, -0x1p-14},
    /* c is a denormal of f32, and so is the result */
    {HALF, 0, 0x3c00, 1, 0, 1, 0, 1},
    {HALF, 0x0001, 0, 0x807fffff, 0x1p-24, 0, 0, 0},
    /* 2^-133 times 2^100; c = 0 and 2^-25 */
    {BRAIN, 0x0001, 0x7180, 0, 0x1p-133, 0x1p100, 0, 0x1p100},
    {BRAIN, 0x7180, 0x807f, 0x33000000, 0x1p100, -127 * 0x1p-133, 0x1p100, 0},
    {BRAIN, 0x0080, 0x7180, 0, 0x1p-126, 0x1p100, 0x1p-126, 0x1p100},
    {BRAIN, 0, 0x3f80, 0x007fffff, 0, 1, 0, 1},
    /* 2^-70 times itself, which is a denormal of f32 */
    {BRAIN, 0x1c80, 0x1c80, 0, 0x1p-70, 0x1p-70, 0x1p-70, 0x1p-70},
    /* a denormal of f32 times 2^100 and 1, which no GPU flushes */
    {SINGLE, 3, 0x71800000, 0, 3 * 0x1p-149, 0x1p100, 3 * 0x1p-149, 0x1p100},
    {SINGLE, 0x00400000, 0x3f800000, 1, 0x1p-127, 1, 0x1p-127, 1},
};

static void fill(uint16_t first, int rows, uint32_t value)
{
    for (int r = 0; r < rows; r++)
        for (int lane = 0; lane < WAVE_LANES; lane++)
            registers[first + r][lane] = accumulators[first + r][lane] = value;
}

static double flushed(double x)
{
    return fabs(x) < 0x1p-126 ? 0 : x;
}

static void check(enum gpu_gen gen, const struct shape *s, const struct numbers *n, uint32_t mode)
{
    const uint32_t words[2] = {0xd3800000 | (uint32_t)s->opcode << 16 | D_REG,
                               (VGPR + A_REG) | (VGPR + B_REG) << 9 |
                                   (uint32_t)(VGPR + C_REG) << 18};
    const bool flush = gen == GPU_GFX90A && s->format != SINGLE;
    const double a = flush ? n->flushed_a : n->value_a, b = flush ? n->flushed_b : n->value_b;
    const double c = (double)float_of(n->c), sum = (flush ? flushed(c) : c) + s->k * a * b;
    const float want = (float)(flush ? flushed(sum) : sum);
    struct inst i;
    assert_int_equal(isa_decode(gen, words, 2, &i), 2);
    valu_mode_set(&wave, mode);
    fill(A_REG, 4, s->format == SINGLE ? n->a : n->a | n->a << 16);
    fill(B_REG, 4, s->format == SINGLE ? n->b : n->b | n->b << 16);
    fill(C_REG, 32, n->c);
    run(&i);
    lane_row *d = i.dst.kind == OPND_AGPR ? accumulators : registers;
    for (int r = 0; r < i.dst.dwords; r++)
        for (int lane = 0; lane < WAVE_LANES; lane++)
            if (want == 0) /* of which sign is nobody's promise */
                assert_int_equal(d[D_REG + r][lane] & 0x7fffffff, 0);
            else
                assert_int_equal(d[D_REG + r][lane], float_bits(want));
}

/* MODE, which may flush denormals or not, does not matter. */
static void all_cases(void)
{
    static const enum gpu_gen gens[] = {GPU_GFX908, GPU_GFX90A, GPU_GFX942};
    int checked = 0;
    for (size_t g = 0; g < sizeof gens / sizeof *gens; g++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
                if (!(shapes[s].gpus >> gens[g] & 1) || shapes[s].format != cases[n].format)
                    continue;
                check(gens[g], &shapes[s], &cases[n], checked % 2 ? MODE_USUAL : 0x200);
                checked++;
            }
    assert_true(checked > 200);
}
static void denormals_by_gpu(void **state)
{
    (void)state;
    each_build(all_cases);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(denormals_by_gpu)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
