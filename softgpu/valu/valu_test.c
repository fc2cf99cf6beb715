/* The vector ALU's frame: choice of build, floating-point state, lane crossing. */
#include "isa/decode.h"
#include "valu/test/wave_double.h"

static void registers_number(void)
{
    for (uint32_t r = 0; r < 256; r++)
        for (uint32_t l = 0; l < WAVE_LANES; l++)
            registers[r][l] = r << 8 | l;
}

static void unknown_operations_have_no_handler(void **state)
{
    (void)state;
    struct inst i = {.op = OP_S_ADD_U32, .format = FMT_SOP2};
    assert_null(valu_handler(&i));
    i = (struct inst){.op = OP_V_ADD_F32, .format = FMT_VOP2, .dst = vgpr(0), .src_count = 2};
    i.src[0].kind = OPND_LDS_DIRECT;
    i.src[1] = vgpr(1);
    assert_null(valu_handler(&i));
    i.src[0] = vgpr(1);
    i.modifier = MOD_DPP;
    i.dpp.ctrl = 0x100; /* row_shl:0 does not exist */
    assert_null(valu_handler(&i));
}

static uint32_t sum_of(float a, float b, uint32_t mode)
{
    uint32_t ua, ub;
    memcpy(&ua, &a, 4);
    memcpy(&ub, &b, 4);
    struct inst i = {.op = OP_V_ADD_F32, .format = FMT_VOP2, .src_count = 2};
    i.dst = vgpr(3);
    i.src[0] = constant(ua);
    i.src[1] = vgpr(4);
    for (int l = 0; l < WAVE_LANES; l++)
        registers[4][l] = ub;
    valu_mode_set(&wave, mode);
    run(&i);
    return registers[3][17];
}
static void rounding_and_denormals(void)
{
    assert_int_equal(sum_of(1, 0x1p-30f, 0xf0), 0x3f800000);
    assert_int_equal(sum_of(1, 0x1p-30f, 0xf1), 0x3f800001);
    assert_int_equal(sum_of(1, 0x1p-30f, 0xf2), 0x3f800000);
    assert_int_equal(sum_of(-1, -0x1p-30f, 0xf2), 0xbf800001);
    assert_int_equal(sum_of(-1, -0x1p-30f, 0xf3), 0xbf800000);
    assert_int_equal(sum_of(0x1p-127f, 0, 0xf0), 0x00400000);
    assert_int_equal(sum_of(0x1p-127f, 0, 0xe0), 0);          /* sources flushed */
    assert_int_equal(sum_of(0x1p-126f, -0x1p-127f, 0xd0), 0); /* results flushed */
    assert_int_equal(sum_of(0x1p-127f, 0x1p-126f, 0xd0), 0x00c00000);
}
static void modes_follow_the_register(void **state)
{
    (void)state;
    const uint32_t before = __builtin_ia32_stmxcsr();
    each_build(rounding_and_denormals);
    assert_int_equal(__builtin_ia32_stmxcsr() & ~0x3fu, before & ~0x3fu);
}

static void lanes(void)
{
    registers_number();
    struct inst i = {.op = OP_V_READLANE_B32, .format = FMT_VOP3, .dst = sgpr(5), .src_count = 2};
    i.src[0] = vgpr(7);
    i.src[1] = constant(64 + 9); /* taken modulo 64 */
    wave.s64[SREG_EXEC / 2] = 0;
    run(&i);
    assert_int_equal(wave.s[5], 7 << 8 | 9);
    i.op = OP_V_READFIRSTLANE_B32;
    run(&i); /* no lane enabled: lane 0 */
    assert_int_equal(wave.s[5], 7 << 8);
    wave.s64[SREG_EXEC / 2] = UINT64_C(1) << 40 | UINT64_C(1) << 50;
    run(&i);
    assert_int_equal(wave.s[5], 7 << 8 | 40);
    i.op = OP_V_WRITELANE_B32;
    i.dst = vgpr(8);
    i.src[0] = sgpr(5);
    i.src[1] = constant(3);
    run(&i);
    for (uint32_t l = 0; l < WAVE_LANES; l++)
        assert_int_equal(registers[8][l], l == 3 ? 7 << 8 | 40 : 8 << 8 | l);
    i = (struct inst){.op = OP_V_SWAP_B32, .format = FMT_VOP1, .dst = vgpr(10), .src_count = 1};
    i.src[0] = vgpr(11);
    run(&i);
    for (uint32_t l = 0; l < WAVE_LANES; l++) {
        const int on = l == 40 || l == 50;
        assert_int_equal(registers[10][l], (on ? 11u : 10u) << 8 | l);
        assert_int_equal(registers[11][l], (on ? 10u : 11u) << 8 | l);
    }
}
static void lane_crossing(void **state)
{
    (void)state;
    each_build(lanes);
}

/* What v_mov_b32_dpp makes of lane numbers; -1: not written (no bound_ctrl). */
static void expect_dpp(uint16_t ctrl, int (*from)(int lane))
{
    for (int bound = 0; bound < 2; bound++) {
        wave_reset(0xf0);
        registers_number();
        struct inst i = {.op = OP_V_MOV_B32,
                         .format = FMT_VOP1,
                         .modifier = MOD_DPP,
                         .dst = vgpr(1),
                         .src_count = 1};
        i.src[0] = vgpr(2);
        i.dpp.ctrl = ctrl;
        i.dpp.row_mask = i.dpp.bank_mask = 0xf;
        i.flags = bound ? IF_DPP_BOUND_CTRL : 0;
        run(&i);
        for (uint32_t l = 0; l < WAVE_LANES; l++) {
            const int f = from((int)l);
            const uint32_t outside = bound ? 0 : 1 << 8 | l;
            assert_int_equal(registers[1][l], f < 0 ? outside : 2u << 8 | (uint32_t)f);
        }
    }
}
static int quad_reversed(int l)
{
    return l / 4 * 4 + 3 - l % 4;
}
static int row_left_3(int l)
{
    return l % 16 + 3 < 16 ? l + 3 : -1;
}
static int row_right_5(int l)
{
    return l % 16 >= 5 ? l - 5 : -1;
}
static int row_rotate_1(int l)
{
    return l % 16 ? l - 1 : l + 15;
}
static int wave_left(int l)
{
    return l < 63 ? l + 1 : -1;
}
static int mirrored(int l)
{
    return l / 16 * 16 + 15 - l % 16;
}
static int half_mirrored(int l)
{
    return l / 8 * 8 + 7 - l % 8;
}
static int from_row_before(int l)
{
    return l / 16 * 16 - 1;
}
static int from_31(int l)
{
    return l / 32 ? 31 : -1;
}
static void dpp_controls(void)
{
    expect_dpp(0x1b, quad_reversed);
    expect_dpp(0x103, row_left_3);
    expect_dpp(0x115, row_right_5);
    expect_dpp(0x121, row_rotate_1);
    expect_dpp(0x130, wave_left);
    expect_dpp(0x140, mirrored);
    expect_dpp(0x141, half_mirrored);
    expect_dpp(0x142, from_row_before);
    expect_dpp(0x143, from_31);
}
static void dpp(void **state)
{
    (void)state;
    each_build(dpp_controls);
}

/* v_fma_mix with inline constants, encoded as llvm-mc does. */
static void mixed_precision(void)
{
    static const struct {
        uint32_t words[2];
        float wanted;
    } cases[] = {
        /* v1, v2, 1.0 op_sel_hi:[1,1,0]: halves times halves plus a float */
        {{0xd3a00000, 0x1bca0501}, 2 * 3 + 1},
        /* v1, 0.5, -v3 op_sel_hi:[0,0,1]: floats minus a half */
        {{0xd3a04000, 0x840de101}, 1.5f * 0.5f - 4},
        /* v1, v2, 4.0 op_sel:[1,0,0] op_sel_hi:[1,1,1]: the constant as a half */
        {{0xd3a04800, 0x1bda0501}, 5 * 3 + 4},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        struct inst i;
        assert_int_equal(isa_decode(GPU_GFX90A, cases[n].words, 2, &i), 2);
        assert_int_equal(i.op, OP_V_FMA_MIX_F32);
        for (int l = 0; l < WAVE_LANES; l++) {
            registers[1][l] = n == 1 ? 0x3fc00000 : 0x45004000; /* 1.5, or halves 5 and 2 */
            registers[2][l] = 0x4200;                           /* half 3 */
            registers[3][l] = 0x4400;                           /* half 4 */
        }
        run(&i);
        for (int l = 0; l < WAVE_LANES; l++)
            assert_true(float_of(registers[0][l]) == cases[n].wanted);
    }
}
static void fma_mix(void **state)
{
    (void)state;
    each_build(mixed_precision);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_operations_have_no_handler),
        cmocka_unit_test(modes_follow_the_register),
        cmocka_unit_test(lane_crossing),
        cmocka_unit_test(dpp),
        cmocka_unit_test(fma_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
