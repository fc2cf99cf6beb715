/*
 * Transcendental functions against the C library in a wider type, within the ISA manual's error,
 * and divisions as compilers write them against IEEE division.
 */
#include <math.h>

#include "valu/test/wave_double.h"

enum { X = 2, Y = 4, Z = 6, RESULT = 8 };

static double ulps_apart(float got, double wanted)
{
    const float nearest = (float)wanted;
    if (isnan(wanted) || isnan(got))
        return isnan(wanted) && isnan(got) ? 0 : INFINITY;
    if (got == nearest)
        return 0;
    if (isinf(got) || isinf(nearest))
        return INFINITY;
    const double unit = ldexp(1, ilogb(wanted == 0 ? 0x1p-126 : wanted) - 23);
    return fabs(got - wanted) / fmax(unit, 0x1p-149);
}

static double recip(double x)
{
    return 1 / x;
}
static double recip_sqrt(double x)
{
    return 1 / sqrt(x);
}
static double sine(double x)
{
    return fabs(x) > 256 && isfinite(x) ? 0 : sin(2 * M_PI * fmod(x, 1));
}
static double cosine(double x)
{
    return fabs(x) > 256 && isfinite(x) ? 1 : cos(2 * M_PI * fmod(x, 1));
}

static const struct {
    uint16_t op, half_op;
    double (*function)(double);
    double limit_ulps, limit_absolute;
} functions[] = {
    {OP_V_RCP_F32, OP_V_RCP_F16, recip, 1, 0},
    {OP_V_RSQ_F32, OP_V_RSQ_F16, recip_sqrt, 1, 0},
    {OP_V_SQRT_F32, OP_V_SQRT_F16, sqrt, 1, 0},
    {OP_V_EXP_F32, OP_V_EXP_F16, exp2, 1, 0},
    {OP_V_LOG_F32, OP_V_LOG_F16, log2, 1, 0},
    {OP_V_SIN_F32, OP_V_SIN_F16, sine, 1, 0x1p-40},
    {OP_V_COS_F32, OP_V_COS_F16, cosine, 1, 0x1p-40},
};

/* Single-precision units flush denormals on both sides. */
static double flushed(double x)
{
    return fabs(x) < 0x1p-126 ? copysign(0, x) : x;
}

static float argument(void)
{
    static const float special[] = {
        0,   -0.0f, INFINITY, -INFINITY, NAN, 1,    -1,   0x1p-140f,   0.25f,       0.5f, 0.75f,
        256, -256,  257,      0x1p127f,  128, -126, -127, 0.49999997f, -0.49999997f};
    if (random_below(4) == 0)
        return special[random_below(sizeof special / sizeof *special)];
    if (random_below(2))
        return float_of((uint32_t)random_bits());
    return ((float)random_below(1u << 24) / (1 << 17) - 64) * (random_below(2) ? 1 : 0.01f);
}

static void single_functions(void)
{
    for (int round = 0; round < 200; round++)
        for (size_t n = 0; n < sizeof functions / sizeof *functions; n++) {
            for (int l = 0; l < WAVE_LANES; l++)
                registers[X][l] = float_bits(argument());
            run_vop3(functions[n].op, RESULT, 1, X, 0, 0);
            for (int l = 0; l < WAVE_LANES; l++) {
                const double x = flushed(float_of(registers[X][l]));
                const double wanted = flushed(functions[n].function(x));
                const float got = float_of(registers[RESULT][l]);
                if (fabs(got - wanted) <= functions[n].limit_absolute)
                    continue;
                if (ulps_apart(got, wanted) > functions[n].limit_ulps)
                    fail_msg("function %zu of %a: %a, not %a", n, x, (double)got, wanted);
            }
        }
}
static void singles(void **state)
{
    (void)state;
    each_build(single_functions);
}

/* What one host computes, every host computes. */
static void same_bits_in_every_build(void **state)
{
    static const uint16_t ops[] = {OP_V_EXP_F32, OP_V_LOG_F32, OP_V_SIN_F32, OP_V_COS_F32,
                                   OP_V_RSQ_F32};
    static const uint32_t modes[] = {0x2f0, 0x2f5, 0x2fa, 0x2ff, 0x2c0}; /* roundings, flushing */
    (void)state;
    for (int round = 0; round < 2500; round++) {
        lane_row first;
        bool is_first = true;
        for (int l = 0; l < WAVE_LANES; l++)
            registers[X][l] = float_bits(argument());
        for (size_t n = 0; n < 3; n++) {
            if (valu_build_select(build_names[n]) != 0)
                continue;
            wave_reset(modes[round % 5]);
            run_vop3(ops[round / 5 % 5], RESULT, 1, X, 0, 0);
            if (is_first)
                memcpy(first, registers[RESULT], sizeof first);
            is_first = false;
            for (int l = 0; l < WAVE_LANES; l++)
                assert_true(isnan(float_of(first[l])) ? isnan(float_of(registers[RESULT][l]))
                                                      : first[l] == registers[RESULT][l]);
        }
    }
}

/* In every rounding mode: what is infinite is no overflow that rounding might keep finite. */
static void infinities(void)
{
    static const uint32_t modes[] = {0x2f0, 0x2f5, 0x2fa, 0x2ff};
    for (int n = 0; n < 4; n++) {
        wave_reset(modes[n]);
        for (int l = 0; l < WAVE_LANES; l++)
            registers[X][l] = float_bits(l % 2 ? INFINITY : -INFINITY);
        run_vop3(OP_V_EXP_F32, RESULT, 1, X, 0, 0);
        run_vop3(OP_V_LOG_F32, Y, 1, X, 0, 0);
        for (int l = 0; l < WAVE_LANES; l++) {
            assert_int_equal(registers[RESULT][l], l % 2 ? float_bits(INFINITY) : 0);
            assert_true(l % 2 ? registers[Y][l] == float_bits(INFINITY)
                              : isnan(float_of(registers[Y][l])));
        }
    }
}
static void infinite(void **state)
{
    (void)state;
    each_build(infinities);
}

/* All 65536 halves; within one unit of the last of 11 bits. */
static void half_functions(void)
{
    for (size_t n = 0; n < sizeof functions / sizeof *functions; n++)
        for (uint32_t first = 0; first < 65536; first += WAVE_LANES) {
            for (uint32_t l = 0; l < WAVE_LANES; l++)
                registers[X][l] = first + l;
            run_vop3(OP_V_CVT_F32_F16, Y, 1, X, 0, 0);
            run_vop3(functions[n].half_op, Z, 1, X, 0, 0);
            run_vop3(OP_V_CVT_F32_F16, RESULT, 1, Z, 0, 0);
            for (int l = 0; l < WAVE_LANES; l++) {
                const double x = float_of(registers[Y][l]);
                const double wanted = functions[n].function(x),
                             got = float_of(registers[RESULT][l]);
                if (isnan(wanted) ? isnan(got)
                    : isinf(got)  ? fabs(wanted) >= 65504
                                  : fabs(got - wanted) <= fmax(0x1p-24, fabs(wanted) * 0x1p-11))
                    continue;
                fail_msg("function %zu of half %04x = %a: %a, not %a", n, first + (uint32_t)l, x,
                         got, wanted);
            }
        }
}
static void halves(void **state)
{
    (void)state;
    each_build(half_functions);
}

static void double_functions(void)
{
    static const struct {
        uint16_t op;
        double (*function)(double);
    } cases[] = {{OP_V_RCP_F64, recip}, {OP_V_SQRT_F64, sqrt}, {OP_V_RSQ_F64, recip_sqrt}};
    for (int n = 0; n < 300; n++) {
        for (int l = 0; l < WAVE_LANES; l++)
            lane64_set(X, l, random_below(8) ? random_bits() : double_bits(argument()));
        run_vop3(cases[n % 3].op, RESULT, 1, X, 0, 0);
        for (int l = 0; l < WAVE_LANES; l++) {
            const double wanted = cases[n % 3].function(double_of(lane64(X, l)));
            const double got = double_of(lane64(RESULT, l));
            assert_true(isnan(wanted) ? isnan(got)
                                      : got == wanted || fabs(got / wanted - 1) < 0x1p-50);
        }
    }
}
static void doubles(void **state)
{
    (void)state;
    each_build(double_functions);
}

/* The sequence of compilers: scale, Newton steps, scale back, fix up. X / Y. */
static void divide(bool wide)
{
    enum { D = 10, N = 12, R = 14, E = 16, Q = 18, T = 20, ONE = 22, ND = 24 };
    const uint16_t scale = wide ? OP_V_DIV_SCALE_F64 : OP_V_DIV_SCALE_F32;
    const uint16_t fma_op = wide ? OP_V_FMA_F64 : OP_V_FMA_F32;
    run_vop3(scale, D, 3, Y, Y, X);
    run_vop3(scale, N, 3, X, Y, X); /* leaves the mask in VCC */
    run_vop3(wide ? OP_V_RCP_F64 : OP_V_RCP_F32, R, 1, D, 0, 0);
    for (int l = 0; l < WAVE_LANES; l++) {
        const uint64_t sign = wide ? UINT64_C(1) << 63 : 0x80000000;
        lane64_set(ONE, l, wide ? double_bits(1) : float_bits(1));
        lane64_set(ND, l, lane64(D, l) ^ sign);
    }
    for (int step = 0; step < 2; step++) {
        run_vop3(fma_op, E, 3, ND, R, ONE);
        run_vop3(fma_op, R, 3, E, R, R);
    }
    for (int l = 0; l < WAVE_LANES; l++)
        lane64_set(T, l, 0);
    run_vop3(wide ? OP_V_MUL_F64 : OP_V_MUL_F32, Q, 2, N, R, 0);
    run_vop3(fma_op, E, 3, ND, Q, N);
    if (!wide) {
        run_vop3(fma_op, Q, 3, E, R, Q);
        run_vop3(fma_op, E, 3, ND, Q, N);
    }
    run_vop3(wide ? OP_V_DIV_FMAS_F64 : OP_V_DIV_FMAS_F32, T, 3, E, R, Q);
    run_vop3(wide ? OP_V_DIV_FIXUP_F64 : OP_V_DIV_FIXUP_F32, RESULT, 3, T, Y, X);
}
/* All lanes alike in their exponents, at and around the limits from which on something is scaled.
 */
static void exponents_alike(void)
{
    static const uint32_t denominators[] = {1, 2, 30, 100, 127, 200, 252, 253, 254};
    static const int differences[] = {-127, -101, -100, -99, -1, 0, 94, 95, 96, 127};
    const uint32_t y = denominators[random_below(sizeof denominators / sizeof *denominators)];
    const int x = (int)y + differences[random_below(sizeof differences / sizeof *differences)];
    const uint32_t in_range = x < 0 ? 23 + random_below(3) : x > 254 ? 254 : (uint32_t)x;
    for (int l = 0; l < WAVE_LANES; l++) {
        registers[X][l] = ((uint32_t)random_bits() & 0x807fffff) | in_range << 23;
        registers[Y][l] = ((uint32_t)random_bits() & 0x807fffff) | y << 23;
    }
}
/* The same of doubles. */
static void wide_exponents_alike(void)
{
    static const int denominators[] = {1, 2, 60, 1023, 2000, 2043, 2044, 2045, 2046};
    static const int differences[] = {-1080, -1075, -1023, -1022, -1001, -1000, -999,
                                      -1,    0,     766,   767,   768,   769};
    const int y = denominators[random_below(sizeof denominators / sizeof *denominators)];
    const int x = y + differences[random_below(sizeof differences / sizeof *differences)];
    const int in_range = x < 0 ? 53 + (int)random_below(3) : x > 2046 ? 2046 : x;
    const uint64_t rest = UINT64_C(0x800fffffffffffff);
    for (int l = 0; l < WAVE_LANES; l++) {
        lane64_set(X, l, (random_bits() & rest) | (uint64_t)in_range << 52);
        lane64_set(Y, l, (random_bits() & rest) | (uint64_t)y << 52);
    }
}
static void single_divisions(void)
{
    for (int round = 0; round < 800; round++) {
        for (int l = 0; l < WAVE_LANES; l++) {
            registers[X][l] = float_bits(argument());
            registers[Y][l] = float_bits(argument());
            if (round % 3 == 0) /* everywhere, denormals included */
                registers[X][l] = (uint32_t)random_bits(),
                registers[Y][l] = (uint32_t)random_bits();
            if (round % 3 == 1) /* quotients around the bottom of the range */
                registers[Y][l] = float_bits(fabsf(float_of(registers[X][l])) * 0x1p120f *
                                             (float)(1 + random_below(1000)));
        }
        if (round % 2)
            exponents_alike();
        divide(false);
        for (int l = 0; l < WAVE_LANES; l++) {
            const float a = float_of(registers[X][l]), b = float_of(registers[Y][l]);
            const float wanted = a / b, got = float_of(registers[RESULT][l]);
            if (isnan(wanted) ? !isnan(got) : float_bits(wanted) != float_bits(got))
                fail_msg("%a / %a: %a, not %a", (double)a, (double)b, (double)got, (double)wanted);
        }
    }
}
static void double_divisions(void)
{
    for (int round = 0; round < 1200; round++) {
        for (int l = 0; l < WAVE_LANES; l++) {
            lane64_set(X, l, round % 2 ? random_bits() : double_bits(argument()));
            lane64_set(Y, l, round % 3 ? random_bits() : double_bits(argument()));
        }
        if (round % 4 == 3)
            wide_exponents_alike();
        divide(true);
        for (int l = 0; l < WAVE_LANES; l++) {
            const double a = double_of(lane64(X, l)), b = double_of(lane64(Y, l));
            const double wanted = a / b, got = double_of(lane64(RESULT, l));
            if (isnan(wanted) ? !isnan(got) : double_bits(wanted) != double_bits(got))
                fail_msg("%a / %a: %a, not %a", a, b, got, wanted);
        }
    }
}
static void divisions(void **state)
{
    (void)state;
    each_build(single_divisions);
    each_build(double_divisions);
}

static const long double two_over_pi = 0.636619772367581343075535053490057448L;

/* The segment of so many bits of 2/pi that a number with this exponent needs. */
static double segment_of(uint32_t exponent, uint32_t number)
{
    double result;
    uint32_t words[2];
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        wave.v[X][lane] = 0x1234567 + (uint32_t)lane;
        wave.v[X + 1][lane] = exponent << 20;
        wave.v[Y][lane] = number;
    }
    run_vop3(OP_V_TRIG_PREOP_F64, RESULT, 2, X, Y, 0);
    words[0] = wave.v[RESULT][63];
    words[1] = wave.v[RESULT + 1][63];
    memcpy(&result, words, sizeof result);
    return result;
}

/* Segments have 53 bits each; a number from 2^54 on begins with those that many binary places
 * further. Two are 2/pi to more places than a long double has. */
static void segments(void)
{
    enum { BIAS = 1023, FIRST = 1077, PLACES = 53 };
    assert_true((long double)segment_of(BIAS, 0) + segment_of(BIAS, 1) == two_over_pi);
    for (uint32_t further = 0; further <= 9; further++) {
        long double before = floorl(ldexpl(two_over_pi, (int)further));
        long double rest = ldexpl(two_over_pi, (int)further) - before;
        double wanted = (double)ldexpl(floorl(ldexpl(rest, PLACES)), -PLACES - (int)further);
        assert_true(segment_of(FIRST + further, 0) == wanted);
    }
    for (uint32_t further = 0; further < 800; further += 37)
        assert_true(segment_of(FIRST + further, 1) == segment_of(FIRST + further + PLACES, 0));
}

static void segments_of_two_over_pi(void **state)
{
    (void)state;
    each_build(segments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(singles),
        cmocka_unit_test(infinite),
        cmocka_unit_test(same_bits_in_every_build),
        cmocka_unit_test(halves),
        cmocka_unit_test(doubles),
        cmocka_unit_test(divisions),
        cmocka_unit_test(segments_of_two_over_pi),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
