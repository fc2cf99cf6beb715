/*
 * Comparisons of every type and condition against the definitions (packed: vop3p_test.c). The
 * conditions of v_cmp are sets of outcomes: less 1, equal 2, greater 4, unordered 8.
 */
#include "valu/reference.h"
#include "valu/test/wave_double.h"

#define FLOATS(S)                                                                                  \
    {OP_V_CMP_F_##S, OP_V_CMPX_F_##S, 0}, {OP_V_CMP_LT_##S, OP_V_CMPX_LT_##S, 1},                  \
        {OP_V_CMP_EQ_##S, OP_V_CMPX_EQ_##S, 2}, {OP_V_CMP_LE_##S, OP_V_CMPX_LE_##S, 3},            \
        {OP_V_CMP_GT_##S, OP_V_CMPX_GT_##S, 4}, {OP_V_CMP_LG_##S, OP_V_CMPX_LG_##S, 5},            \
        {OP_V_CMP_GE_##S, OP_V_CMPX_GE_##S, 6}, {OP_V_CMP_O_##S, OP_V_CMPX_O_##S, 7},              \
        {OP_V_CMP_U_##S, OP_V_CMPX_U_##S, 8}, {OP_V_CMP_NGE_##S, OP_V_CMPX_NGE_##S, 9},            \
        {OP_V_CMP_NLG_##S, OP_V_CMPX_NLG_##S, 10}, {OP_V_CMP_NGT_##S, OP_V_CMPX_NGT_##S, 11},      \
        {OP_V_CMP_NLE_##S, OP_V_CMPX_NLE_##S, 12}, {OP_V_CMP_NEQ_##S, OP_V_CMPX_NEQ_##S, 13},      \
        {OP_V_CMP_NLT_##S, OP_V_CMPX_NLT_##S, 14},                                                 \
    {                                                                                              \
        OP_V_CMP_TRU_##S, OP_V_CMPX_TRU_##S, 15                                                    \
    }
#define INTS(S)                                                                                    \
    {OP_V_CMP_F_##S, OP_V_CMPX_F_##S, 0}, {OP_V_CMP_LT_##S, OP_V_CMPX_LT_##S, 1},                  \
        {OP_V_CMP_EQ_##S, OP_V_CMPX_EQ_##S, 2}, {OP_V_CMP_LE_##S, OP_V_CMPX_LE_##S, 3},            \
        {OP_V_CMP_GT_##S, OP_V_CMPX_GT_##S, 4}, {OP_V_CMP_NE_##S, OP_V_CMPX_NE_##S, 5},            \
        {OP_V_CMP_GE_##S, OP_V_CMPX_GE_##S, 6},                                                    \
    {                                                                                              \
        OP_V_CMP_T_##S, OP_V_CMPX_T_##S, 7                                                         \
    }

struct comparison {
    uint16_t op, opx;
    uint8_t outcomes;
};
static const struct comparison floats[3][16] = {{FLOATS(F16)}, {FLOATS(F32)}, {FLOATS(F64)}};
static const struct comparison ints[6][8] = {{INTS(I16)}, {INTS(U16)}, {INTS(I32)},
                                             {INTS(U32)}, {INTS(I64)}, {INTS(U64)}};

/* Many equal pairs, many NaNs, many zeros of both signs. */
static uint64_t sample(int bits, const struct format *f)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    uint64_t x = random_bits() >> (64 - bits);
    if (f && random_below(4) == 0)
        x = format_inf(f) + random_below(3) - 1;
    if (random_below(3) == 0)
        x = random_below(3);
    return random_below(2) ? x ^ sign : x;
}

static int outcome(const struct format *f, bool is_signed, int bits, uint64_t a, uint64_t b)
{
    if (f) {
        const int order = compared(f, a, b, false);
        return order == 2 ? 8 : order < 0 ? 1 : order ? 4 : 2;
    }
    const __int128 x = is_signed ? (__int128)signed_bits(a, bits) : (__int128)a;
    const __int128 y = is_signed ? (__int128)signed_bits(b, bits) : (__int128)b;
    return x < y ? 1 : x == y ? 2 : 4;
}

static void comparison_check(const struct comparison *c, const struct format *f, bool is_signed,
                             int bits)
{
    struct inst i = {.op = c->op, .format = FMT_VOPC, .src_count = 2};
    i.sdst = (struct operand){.kind = OPND_SREG, .type = TYPE_MASK64, .dwords = 2, .index = 20};
    i.src[0] = vgpr_typed(2, bits == 16 ? TYPE_F16 : TYPE_B32, (uint8_t)(bits > 32 ? 2 : 1));
    i.src[1] = vgpr_typed(4, bits == 16 ? TYPE_F16 : TYPE_B32, (uint8_t)(bits > 32 ? 2 : 1));
    const uint64_t exec = random_below(2) ? ~UINT64_C(0) : random_bits();
    uint64_t wanted = 0;
    wave.s64[SREG_EXEC / 2] = exec;
    wave.s64[10] = random_bits();
    const uint64_t constant_a = sample(bits, f);
    const bool scalar = random_below(3) == 0;
    for (int l = 0; l < WAVE_LANES; l++) {
        const uint64_t a = scalar ? constant_a : sample(bits, f);
        const uint64_t b = random_below(4) ? sample(bits, f) : a;
        lane64_set(2, l, bits == 16 ? a | 0xabcd0000 : a);
        lane64_set(4, l, bits == 16 ? b | 0x12340000 : b);
        if (exec >> l & 1 && outcome(f, is_signed, bits, a, b) & c->outcomes)
            wanted |= UINT64_C(1) << l;
    }
    if (scalar) {
        i.src[0] = constant(constant_a);
        i.src[0].dwords = bits > 32 ? 2 : 1;
    }
    run(&i);
    assert_int_equal(wave.s64[10], wanted);
    assert_int_equal(wave_exec(&wave), exec);
    i.op = c->opx;
    run(&i);
    assert_int_equal(wave.s64[10], wanted);
    assert_int_equal(wave_exec(&wave), wanted);
}

static void all_comparisons(void)
{
    static const struct format *const formats[3] = {&half_format, &single_format, &double_format};
    for (int round = 0; round < 20; round++) {
        for (int t = 0; t < 3; t++)
            for (int c = 0; c < 16; c++)
                comparison_check(&floats[t][c], formats[t], true, formats[t]->bits);
        for (int t = 0; t < 6; t++)
            for (int c = 0; c < 8; c++)
                comparison_check(&ints[t][c], NULL, t % 2 == 0, 16 << t / 2);
    }
}
static void comparisons(void **state)
{
    (void)state;
    each_build(all_comparisons);
}

static int class_bit(const struct format *f, uint64_t u)
{
    const bool negative = u & format_sign(f);
    const struct value v = unpack(f, u, false);
    if (v.kind == VALUE_NAN)
        return is_snan(f, u) ? 0 : 1;
    if (v.kind == VALUE_INF)
        return negative ? 2 : 9;
    if (!v.mantissa)
        return negative ? 5 : 6;
    const bool normal = v.mantissa >> (f->precision - 1);
    return negative ? (normal ? 3 : 4) : (normal ? 8 : 7);
}
static void all_classes(void)
{
    static const struct {
        uint16_t op;
        const struct format *f;
    } cases[] = {{OP_V_CMP_CLASS_F16, &half_format},
                 {OP_V_CMP_CLASS_F32, &single_format},
                 {OP_V_CMP_CLASS_F64, &double_format}};
    for (int n = 0; n < 300; n++) {
        const struct format *f = cases[n % 3].f;
        struct inst i = {.op = cases[n % 3].op, .format = FMT_VOPC, .src_count = 2};
        i.sdst = (struct operand){.kind = OPND_SREG, .type = TYPE_MASK64, .dwords = 2, .index = 20};
        i.src[0] = vgpr_typed(2, TYPE_B32, (uint8_t)(f->bits > 32 ? 2 : 1));
        i.src[1] = vgpr(4);
        uint64_t wanted = 0;
        for (int l = 0; l < WAVE_LANES; l++) {
            const uint64_t a = sample(f->bits, f);
            registers[4][l] = (uint32_t)random_bits() & (uint32_t)random_bits();
            lane64_set(2, l, a);
            wanted |= (uint64_t)(registers[4][l] >> class_bit(f, a) & 1) << l;
        }
        run(&i);
        assert_int_equal(wave.s64[10], wanted);
    }
}
static void classes(void **state)
{
    (void)state;
    each_build(all_classes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparisons),
        cmocka_unit_test(classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
