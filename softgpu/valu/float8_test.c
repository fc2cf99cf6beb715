/*
 * Conversions of gfx942's 8-bit floats: from all codes, and to them from everything near a code,
 * near the middle of two, and at random. What is expected comes from the values of the codes, by
 * search.
 */
#include "isa/decode.h"
#include "valu/test/float8_reference.h"
#include "valu/test/wave_double.h"

enum { A_REG = 8, B_REG = 9, D_REG = 96, LARGEST = 0x7f, NOT_A_NUMBER = 0x80, MODE_USUAL = 0x2f0 };

static bool wide; /* bf8; else fp8 */

/* The code whose value is nearest, of two the even one; what rounds to beyond the largest is NaN,
 * or the largest. The format without a limit would go on with one more code. */
static uint32_t nearest(double x, bool saturate)
{
    const uint32_t sign = x < 0 ? 0x80 : 0;
    const double m = fabs(x),
                 beyond = float8_value(LARGEST, wide) * 2 - float8_value(LARGEST - 1, wide);
    if (isnan(x) || isinf(x))
        return NOT_A_NUMBER;
    uint32_t low = 0;
    while (low < LARGEST && float8_value(low + 1, wide) <= m)
        low++;
    const double below = float8_value(low, wide);
    const double above = low < LARGEST ? float8_value(low + 1, wide) : beyond;
    const double middle = (below + above) / 2;
    const uint32_t code = m > middle || (m == middle && low & 1) ? low + 1 : low;
    if (code > LARGEST)
        return saturate ? LARGEST | sign : NOT_A_NUMBER;
    return code ? code | sign : 0;
}

/* The seed's high 20 (fp8) or 21 bits (bf8) are added to what a normal number loses; what a
 * denormal has below that counts nothing. */
static uint32_t by_seed(double x, uint32_t seed, bool saturate)
{
    const int digits = wide ? 2 : 3, lowest = wide ? -15 : -7;
    int exponent;
    if (isnan(x) || isinf(x))
        return NOT_A_NUMBER;
    frexp(x, &exponent);
    exponent = exponent - 1 < lowest ? lowest : exponent - 1;
    const double unit = ldexp(1, exponent - 23), step = ldexp(1, exponent - digits);
    const double sum = floor(fabs(x) / unit) + (seed >> (9 + digits));
    const double rounded = floor(sum * unit / step) * step;
    if (rounded > float8_value(LARGEST, wide))
        return saturate ? LARGEST | (x < 0 ? 0x80 : 0) : NOT_A_NUMBER;
    return nearest(x < 0 ? -rounded : rounded, saturate);
}

static struct inst conversion(uint16_t fp8, uint16_t bf8, uint8_t format)
{
    struct inst i = {.op = wide ? bf8 : fp8, .format = format, .dst = vgpr(D_REG)};
    i.src[0] = vgpr_typed(A_REG, TYPE_F32, 1);
    i.src[1] = vgpr_typed(B_REG, TYPE_F32, 1);
    return i;
}

static void both_formats(void (*test)(void))
{
    for (int n = 0; n < 2; n++) {
        wide = n;
        test();
    }
}

/* From each code, whatever MODE says about denormals and whatever else the register holds. */
static void widen_all(void)
{
    static const uint32_t modes[] = {MODE_USUAL, 0x200, 0x2ff};
    for (uint32_t base = 0; base < 256 * 3; base += WAVE_LANES) {
        struct inst i = conversion(OP_V_CVT_F32_FP8, OP_V_CVT_F32_BF8, FMT_VOP1);
        struct inst pair = conversion(OP_V_CVT_PK_F32_FP8, OP_V_CVT_PK_F32_BF8, FMT_VOP1);
        valu_mode_set(&wave, modes[base / 256]);
        pair.dst.index += 2;
        for (uint32_t l = 0; l < WAVE_LANES; l++)
            registers[A_REG][l] = ((base + l) & 0xff) | ((base + 3 * l + 7) & 0xff) << 8 | l << 20;
        run(&i);
        run(&pair);
        for (uint32_t l = 0; l < WAVE_LANES; l++) {
            const uint32_t first = (base + l) & 0xff, second = (base + 3 * l + 7) & 0xff;
            const double want[] = {float8_value(first, wide), float8_value(second, wide)};
            for (int n = 0; n < 3; n++) {
                const uint32_t got = registers[D_REG + (n ? n + 1 : 0)][l];
                const double value = want[n == 2];
                if (isnan(value))
                    assert_true(isnan(float_of(got)));
                else
                    assert_int_equal(got, float_bits((float)value));
            }
        }
    }
}
static void from_every_code(void **state)
{
    (void)state;
    wide = false;
    each_build(widen_all);
    wide = true;
    each_build(widen_all);
}

/* SDWA chooses the byte or the half; clamp bounds to 0 and 1; a lane that is off keeps what it has.
 */
static void widen_selected(void)
{
    struct inst i = conversion(OP_V_CVT_F32_FP8, OP_V_CVT_F32_BF8, FMT_VOP1);
    struct inst pair = conversion(OP_V_CVT_PK_F32_FP8, OP_V_CVT_PK_F32_BF8, FMT_VOP1);
    for (uint8_t select = 0; select < 7; select++) {
        const int bytes = select < 4 ? 1 : 2, shift = select < 4    ? 8 * select
                                                      : select == 5 ? 16
                                                                    : 0;
        const uint64_t exec = random_bits();
        i.modifier = pair.modifier = MOD_SDWA;
        i.sdwa.src0_sel = pair.sdwa.src0_sel = select;
        i.sdwa.dst_sel = pair.sdwa.dst_sel = 6;
        pair.dst.index = D_REG + 2;
        pair.flags = IF_CLAMP;
        wave.s64[SREG_EXEC / 2] = exec;
        for (int l = 0; l < WAVE_LANES; l++) {
            registers[A_REG][l] = (uint32_t)random_bits() & 0x7f7f7f7f;
            for (int r = 0; r < 4; r++)
                registers[D_REG + r][l] = 0xdead;
        }
        run(&i);
        run(&pair);
        for (int l = 0; l < WAVE_LANES; l++) {
            const uint32_t field = registers[A_REG][l] >> shift;
            const double first = float8_value(field & 0xff, wide);
            const double second = bytes == 2 ? float8_value(field >> 8 & 0xff, wide) : 0;
            const bool on = exec >> l & 1;
            assert_int_equal(registers[D_REG][l], on ? float_bits((float)first) : 0xdead);
            assert_int_equal(registers[D_REG + 2][l],
                             on ? float_bits((float)fmin(first, 1)) : 0xdead);
            assert_int_equal(registers[D_REG + 3][l],
                             on ? float_bits((float)fmin(second, 1)) : 0xdead);
        }
    }
    wave.s64[SREG_EXEC / 2] = ~UINT64_C(0);
}
static void selected_both(void)
{
    both_formats(widen_selected);
}
static void from_parts_of_a_register(void **state)
{
    (void)state;
    each_build(selected_both);
}

/* Numbers worth a look: code n's value, the middle to the next one, and some floats about both;
 * then anything at all. */
static uint32_t interesting(uint32_t n)
{
    static const uint32_t specials[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001,
                                        0x80000000, 1,          0x807fffff, 0x7f7fffff, 0xff7fffff};
    enum { ABOUT = 7 };
    const uint32_t codes = 129 * 2 * ABOUT; /* the last two are the code beyond the largest */
    if (n >= codes)
        return n - codes < 10 ? specials[n - codes] : (uint32_t)random_bits();
    const uint32_t code = n / (2 * ABOUT), middle = n / ABOUT % 2;
    const double step = float8_value(LARGEST, wide) - float8_value(LARGEST - 1, wide);
    const double value =
        code <= LARGEST ? float8_value(code, wide) : float8_value(LARGEST, wide) + step;
    const double next = code < LARGEST ? float8_value(code + 1, wide) : value + step;
    const float f = (float)(middle ? (value + next) / 2 : value);
    return (float_bits(f) + n % ABOUT - ABOUT / 2) ^ (random_below(2) << 31);
}
enum { INTERESTING = 129 * 14 + 10 + 6000 };

static void narrow_rounds(bool saturate)
{
    struct inst i = conversion(OP_V_CVT_PK_FP8_F32, OP_V_CVT_PK_BF8_F32, FMT_VOP3);
    valu_mode_set(&wave, (random_below(2) ? MODE_USUAL : 0x203) | (saturate ? 1u << 23 : 0));
    for (uint32_t base = 0; base < INTERESTING; base += WAVE_LANES) {
        const bool high = random_below(2);
        i.op_sel = high ? 8 : 0;
        i.neg = (uint8_t)random_below(4);
        i.abs = (uint8_t)random_below(4);
        for (uint32_t l = 0; l < WAVE_LANES; l++) {
            registers[A_REG][l] = interesting(base + l);
            registers[B_REG][l] = interesting(random_below(INTERESTING));
            registers[D_REG][l] = 0x12345678;
        }
        run(&i);
        for (int l = 0; l < WAVE_LANES; l++) {
            uint32_t want = 0;
            for (int n = 0; n < 2; n++) {
                uint32_t x = registers[A_REG + n][l];
                x = i.abs >> n & 1 ? x & 0x7fffffff : x;
                x ^= (uint32_t)(i.neg >> n & 1) << 31;
                want |= nearest(float_of(x), saturate) << 8 * n;
            }
            want = high ? want << 16 | 0x5678 : want | 0x12340000;
            assert_int_equal(registers[D_REG][l], want);
        }
    }
}
static void narrow_both(void)
{
    for (int n = 0; n < 4; n++) {
        wide = n & 1;
        narrow_rounds(n & 2);
    }
}
static void to_the_nearest_code(void **state)
{
    (void)state;
    each_build(narrow_both);
}

static void narrow_by_seed(bool saturate)
{
    struct inst i = conversion(OP_V_CVT_SR_FP8_F32, OP_V_CVT_SR_BF8_F32, FMT_VOP3);
    valu_mode_set(&wave, (random_below(2) ? MODE_USUAL : 0x203) | (saturate ? 1u << 23 : 0));
    for (uint32_t base = 0; base < INTERESTING; base += WAVE_LANES) {
        const uint32_t byte = random_below(4);
        i.op_sel = (uint8_t)(byte << 2);
        i.neg = (uint8_t)random_below(2);
        i.abs = (uint8_t)random_below(2);
        for (uint32_t l = 0; l < WAVE_LANES; l++) {
            registers[A_REG][l] = interesting(base + l);
            registers[B_REG][l] = (uint32_t)random_bits();
            registers[D_REG][l] = 0x12345678;
        }
        run(&i);
        for (int l = 0; l < WAVE_LANES; l++) {
            uint32_t x = registers[A_REG][l];
            x = (i.abs ? x & 0x7fffffff : x) ^ (uint32_t)i.neg << 31;
            const uint32_t want = by_seed(float_of(x), registers[B_REG][l], saturate);
            assert_int_equal(registers[D_REG][l],
                             (0x12345678 & ~(0xffu << 8 * byte)) | want << 8 * byte);
        }
    }
}
static void seed_both(void)
{
    for (int n = 0; n < 4; n++) {
        wide = n & 1;
        narrow_by_seed(n & 2);
    }
}
static void by_chance(void **state)
{
    (void)state;
    each_build(seed_both);
}

/* Of all seeds as many go up as the number lies above the code below it: 5/16 of the way. */
static void seeds_that_go_up(void)
{
    struct inst i = conversion(OP_V_CVT_SR_FP8_F32, OP_V_CVT_SR_BF8_F32, FMT_VOP3);
    const int digits = wide ? 2 : 3;
    const uint32_t low = (uint32_t)(wide ? 16 : 8) << digits; /* the code of 1 */
    int up = 0;
    valu_mode_set(&wave, MODE_USUAL);
    for (uint32_t n = 0; n < 1024; n += WAVE_LANES) {
        for (uint32_t l = 0; l < WAVE_LANES; l++) {
            registers[A_REG][l] = float_bits(1 + ldexpf(5.f / 16, -digits));
            registers[B_REG][l] = (n + l) << 22; /* of 1024 seeds the high ten bits */
            registers[D_REG][l] = 0;
        }
        run(&i);
        for (int l = 0; l < WAVE_LANES; l++) {
            assert_in_range(registers[D_REG][l], low, low + 1);
            up += registers[D_REG][l] == low + 1;
        }
    }
    assert_int_equal(up, 1024 * 5 / 16);
}
static void chance_both(void)
{
    both_formats(seeds_that_go_up);
}
static void as_often_as_it_should(void **state)
{
    (void)state;
    each_build(chance_both);
}

/* v_cvt_sr_bf8_f32 v1, -|v2|, v3 op_sel:[0,0,1,1], as llvm-mc encodes it: the last byte. */
static void decoded(void **state)
{
    (void)state;
    static const uint32_t words[2] = {0xd2a56101, 0x20020702};
    struct inst i;
    assert_int_equal(isa_decode(GPU_GFX942, words, 2, &i), 2);
    wave_reset(MODE_USUAL);
    registers[2][0] = float_bits(-1);
    registers[3][0] = 0;
    registers[1][0] = 0x11223344;
    run(&i);
    assert_int_equal(registers[1][0], 0xc0223344); /* -1: exponent field 16 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(from_every_code),       cmocka_unit_test(from_parts_of_a_register),
        cmocka_unit_test(to_the_nearest_code),   cmocka_unit_test(by_chance),
        cmocka_unit_test(as_often_as_it_should), cmocka_unit_test(decoded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
