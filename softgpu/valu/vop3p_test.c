/*
 * Every VOP3P instruction with every combination of op_sel, op_sel_hi, neg_lo, neg_hi and clamp, on
 * registers, scalars and inline constants, encoded and decoded. What to expect is written from
 * LLVM's descriptions of modifiers and constants (AMDGPUModifierSyntax, getInlineEncodingV216) and
 * the ISA manuals' formulas:
 * - packed: op_sel and neg_lo make the sources of the low result, op_sel_hi and neg_hi of the high
 * one; signs are for floats only. Inline integers are 32 bits, floats f16 in the low half, or f32
 * if the operation takes integers;
 * - dot2: the two products take their factors as the two results of a packed operation would; the
 * 32-bit addend knows neg_lo alone. f32 denormals count as zeros, on gfx90a f16 ones, too;
 * - mix: op_sel_hi says that a source is a half, op_sel which; neg_hi takes the absolute value.
 */
#include "valu/reference.h"

#include <stdio.h>

#include "isa/decode.h"
#include "isa/tables.h"
#include "valu/test/wave_double.h"

enum shape { HALVES, FLOAT_HALVES, PAIRS, MOVE_PAIR, DOT2, FLOAT_DOT2, DOT_SMALL, MIX };
enum { DST = 32, LANE_STEP = 16, MIXES_TO_F32 = 0, MIXES_LOW, MIXES_HIGH };

struct description {
    uint16_t op;
    uint8_t shape, sources;
    uint8_t detail; /* MIX: where the result goes; DOT_SMALL: bits of an element */
    bool is_signed; /* integers */
    int64_t (*integer)(const int64_t *s);
    struct value (*real)(const struct value *s, int mode);
    int8_t extreme; /* FLOAT_HALVES: -1 minimum, 1 maximum */
};

#define INTEGER(NAME, EXPR)                                                                        \
    static int64_t NAME(const int64_t *s)                                                          \
    {                                                                                              \
        return EXPR;                                                                               \
    }
INTEGER(sum_of, s[0] + s[1])
INTEGER(difference_of, s[0] - s[1])
INTEGER(product_of, s[0] * s[1])
INTEGER(fused_of, s[0] * s[1] + s[2])
INTEGER(least_of, s[0] < s[1] ? s[0] : s[1])
INTEGER(greatest_of, s[0] > s[1] ? s[0] : s[1])
INTEGER(shifted_left, s[1] * (INT64_C(1) << (s[0] & 15)))
INTEGER(shifted_right, floor_divide(s[1], (int)(s[0] & 15)))
static struct value real_sum(const struct value *s, int mode)
{
    return add(s[0], s[1], mode);
}
static struct value real_product(const struct value *s, int mode)
{
    (void)mode;
    return multiply(s[0], s[1]);
}
static struct value real_fused(const struct value *s, int mode)
{
    return add(multiply(s[0], s[1]), s[2], mode);
}

static const struct description descriptions[] = {
    {OP_V_PK_MAD_I16, HALVES, 3, 0, true, fused_of, NULL, 0},
    {OP_V_PK_MUL_LO_U16, HALVES, 2, 0, false, product_of, NULL, 0},
    {OP_V_PK_ADD_I16, HALVES, 2, 0, true, sum_of, NULL, 0},
    {OP_V_PK_SUB_I16, HALVES, 2, 0, true, difference_of, NULL, 0},
    {OP_V_PK_LSHLREV_B16, HALVES, 2, 0, false, shifted_left, NULL, 0},
    {OP_V_PK_LSHRREV_B16, HALVES, 2, 0, false, shifted_right, NULL, 0},
    {OP_V_PK_ASHRREV_I16, HALVES, 2, 0, true, shifted_right, NULL, 0},
    {OP_V_PK_MAX_I16, HALVES, 2, 0, true, greatest_of, NULL, 0},
    {OP_V_PK_MIN_I16, HALVES, 2, 0, true, least_of, NULL, 0},
    {OP_V_PK_MAD_U16, HALVES, 3, 0, false, fused_of, NULL, 0},
    {OP_V_PK_ADD_U16, HALVES, 2, 0, false, sum_of, NULL, 0},
    {OP_V_PK_SUB_U16, HALVES, 2, 0, false, difference_of, NULL, 0},
    {OP_V_PK_MAX_U16, HALVES, 2, 0, false, greatest_of, NULL, 0},
    {OP_V_PK_MIN_U16, HALVES, 2, 0, false, least_of, NULL, 0},
    {OP_V_PK_FMA_F16, FLOAT_HALVES, 3, 0, false, NULL, real_fused, 0},
    {OP_V_PK_ADD_F16, FLOAT_HALVES, 2, 0, false, NULL, real_sum, 0},
    {OP_V_PK_MUL_F16, FLOAT_HALVES, 2, 0, false, NULL, real_product, 0},
    {OP_V_PK_MIN_F16, FLOAT_HALVES, 2, 0, false, NULL, NULL, -1},
    {OP_V_PK_MAX_F16, FLOAT_HALVES, 2, 0, false, NULL, NULL, 1},
    {OP_V_FMA_MIX_F32, MIX, 3, MIXES_TO_F32, false, NULL, real_fused, 0},
    {OP_V_FMA_MIXLO_F16, MIX, 3, MIXES_LOW, false, NULL, real_fused, 0},
    {OP_V_FMA_MIXHI_F16, MIX, 3, MIXES_HIGH, false, NULL, real_fused, 0},
    {OP_V_DOT2_F32_F16, FLOAT_DOT2, 3, 0, false, NULL, NULL, 0},
    {OP_V_DOT2_I32_I16, DOT2, 3, 0, true, NULL, NULL, 0},
    {OP_V_DOT2_U32_U16, DOT2, 3, 0, false, NULL, NULL, 0},
    {OP_V_DOT4_I32_I8, DOT_SMALL, 3, 8, true, NULL, NULL, 0},
    {OP_V_DOT4_U32_U8, DOT_SMALL, 3, 8, false, NULL, NULL, 0},
    {OP_V_DOT8_I32_I4, DOT_SMALL, 3, 4, true, NULL, NULL, 0},
    {OP_V_DOT8_U32_U4, DOT_SMALL, 3, 4, false, NULL, NULL, 0},
    {OP_V_PK_FMA_F32, PAIRS, 3, 0, false, NULL, real_fused, 0},
    {OP_V_PK_MUL_F32, PAIRS, 2, 0, false, NULL, real_product, 0},
    {OP_V_PK_ADD_F32, PAIRS, 2, 0, false, NULL, real_sum, 0},
    {OP_V_PK_MOV_B32, MOVE_PAIR, 2, 0, false, NULL, NULL, 0},
};
enum { DESCRIPTION_COUNT = sizeof descriptions / sizeof *descriptions };

/* One encoded instruction: the fields as the assembler has them. */
struct trial {
    const struct description *what;
    enum gpu_gen gen;
    uint32_t op_sel, op_sel_hi, neg_lo, neg_hi;
    bool clamp;
    uint32_t source[3]; /* the encoding's 9 bits */
};

static int chosen(uint32_t field, int n)
{
    return field >> n & 1;
}

/* What an inline constant is to a source, before anything is chosen from it. */
static uint64_t inline_constant(const struct trial *t, int n)
{
    static const uint32_t singles[] = {0x3f000000, 0xbf000000, 0x3f800000, 0xbf800000, 0x40000000,
                                       0xc0000000, 0x40800000, 0xc0800000, 0x3e22f983};
    static const uint16_t halves[] = {0x3800, 0xb800, 0x3c00, 0xbc00, 0x4000,
                                      0xc000, 0x4400, 0xc400, 0x3118};
    const uint32_t code = t->source[n];
    const enum shape shape = (enum shape)t->what->shape;
    if (code <= 192)
        return code - 128;
    if (code <= 208)
        return (uint32_t)(192 - (int)code);
    const bool half = shape == FLOAT_HALVES || (shape == FLOAT_DOT2 && n < 2) ||
                      (shape == MIX && chosen(t->op_sel_hi, n));
    return half ? halves[code - 240] : singles[code - 240];
}
/* The register pair, scalar pair or constant of a source. */
static uint64_t source_whole(const struct trial *t, int n, int lane)
{
    const uint32_t code = t->source[n];
    if (code >= 256)
        return lane64((uint16_t)(code - 256), lane);
    return code < 128 ? wave.s64[code / 2] >> code % 2 * 32 : inline_constant(t, n);
}

static uint32_t half_of(const struct trial *t, int n, int lane, bool high)
{
    const uint32_t whole = (uint32_t)source_whole(t, n, lane);
    return whole >> 16 * chosen(high ? t->op_sel_hi : t->op_sel, n) & 0xffff;
}
static uint32_t float_half_of(const struct trial *t, int n, int lane, bool high)
{
    return half_of(t, n, lane, high) ^ (uint32_t)chosen(high ? t->neg_hi : t->neg_lo, n) << 15;
}

static uint64_t clamped(const struct format *f, uint64_t x, bool clamp)
{
    if (!clamp)
        return x;
    if (is_nan(f, x))
        return wave.mode & MODE_DX10_CLAMP ? 0 : x;
    const uint64_t one = (uint64_t)f->bias << (f->precision - 1);
    return x & format_sign(f) ? 0 : x > one ? one : x;
}
static int64_t bounded(int64_t x, int bits, bool is_signed)
{
    const int64_t low = is_signed ? -(INT64_C(1) << (bits - 1)) : 0;
    return saturate(x, low, low + (INT64_C(1) << bits) - 1);
}

static uint32_t integer_half(const struct trial *t, int lane, bool high)
{
    int64_t s[3] = {0};
    for (int n = 0; n < t->what->sources; n++) {
        const uint32_t x = half_of(t, n, lane, high);
        s[n] = t->what->is_signed ? signed_bits(x, 16) : (int64_t)x;
    }
    const int64_t exact = t->what->integer(s);
    const bool saturates = t->what->integer == sum_of || t->what->integer == difference_of ||
                           t->what->integer == fused_of;
    return (uint16_t)(t->clamp && saturates ? bounded(exact, 16, t->what->is_signed) : exact);
}
static uint32_t float_half(const struct trial *t, int lane, bool high)
{
    const struct rounding how = rounding_of(&half_format, wave.mode);
    uint32_t bits[3] = {0};
    struct value s[3];
    for (int n = 0; n < t->what->sources; n++) {
        bits[n] = float_half_of(t, n, lane, high);
        s[n] = unpack(&half_format, bits[n], how.flush_in);
    }
    const uint64_t x =
        t->what->extreme
            ? extreme(&half_format, bits[0], bits[1], t->what->extreme > 0, wave.mode, how)
            : round_value(&half_format, t->what->real(s, how.mode), how);
    return (uint32_t)clamped(&half_format, x, t->clamp);
}
static uint32_t float_of_pair(const struct trial *t, int lane, bool high)
{
    const struct rounding how = rounding_of(&single_format, wave.mode);
    struct value s[3];
    for (int n = 0; n < t->what->sources; n++) {
        const uint64_t whole = source_whole(t, n, lane);
        uint32_t x = (uint32_t)(whole >> 32 * chosen(high ? t->op_sel_hi : t->op_sel, n));
        x ^= (uint32_t)chosen(high ? t->neg_hi : t->neg_lo, n) << 31;
        s[n] = unpack(&single_format, x, how.flush_in);
    }
    const uint64_t x = round_value(&single_format, t->what->real(s, how.mode), how);
    return (uint32_t)clamped(&single_format, x, t->clamp);
}
static uint32_t mixed(const struct trial *t, int lane, uint32_t old)
{
    const struct rounding how = rounding_of(&single_format, wave.mode);
    const struct rounding narrow = rounding_of(&half_format, wave.mode);
    struct value s[3];
    for (int n = 0; n < 3; n++) {
        const bool half = chosen(t->op_sel_hi, n);
        uint32_t x = (uint32_t)source_whole(t, n, lane);
        if (half)
            x = x >> 16 * chosen(t->op_sel, n) & 0xffff;
        s[n] = half ? unpack(&half_format, x, false) : unpack(&single_format, x, how.flush_in);
        s[n].negative = s[n].negative && !chosen(t->neg_hi, n);
        s[n].negative ^= chosen(t->neg_lo, n);
    }
    uint64_t x = round_value(&single_format, t->what->real(s, how.mode), how);
    if (t->what->detail == MIXES_TO_F32)
        return (uint32_t)clamped(&single_format, x, t->clamp);
    x = round_value(&half_format, unpack(&single_format, x, false),
                    (struct rounding){narrow.mode, false, false, true, narrow.bounded});
    x = clamped(&half_format, x, t->clamp);
    return t->what->detail == MIXES_LOW ? (old & 0xffff0000) | (uint32_t)x
                                        : (old & 0xffff) | (uint32_t)x << 16;
}
static uint32_t dotted(const struct trial *t, int lane)
{
    const bool is_signed = t->what->is_signed;
    const uint32_t a = (uint32_t)source_whole(t, 0, lane), b = (uint32_t)source_whole(t, 1, lane);
    const uint32_t c = (uint32_t)source_whole(t, 2, lane);
    int64_t sum = is_signed ? (int32_t)c : (int64_t)c;
    if (t->what->shape == DOT_SMALL)
        sum += dot(a, b, t->what->detail, is_signed);
    for (int high = 0; t->what->shape == DOT2 && high < 2; high++) {
        const uint32_t x = half_of(t, 0, lane, high), y = half_of(t, 1, lane, high);
        sum += is_signed ? signed_bits(x, 16) * signed_bits(y, 16) : (int64_t)x * y;
    }
    return (uint32_t)(t->clamp ? bounded(sum, 32, is_signed) : sum);
}
static uint32_t float_dotted(const struct trial *t, int lane)
{
    const struct rounding how = {(int)(wave.mode >> MODE_ROUND_32_SHIFT & 3), true, true, false,
                                 false};
    const bool flush = t->gen == GPU_GFX90A;
    struct value product[2];
    for (int high = 0; high < 2; high++)
        product[high] = multiply(unpack(&half_format, float_half_of(t, 0, lane, high), flush),
                                 unpack(&half_format, float_half_of(t, 1, lane, high), flush));
    const uint32_t c = (uint32_t)source_whole(t, 2, lane) ^ (uint32_t)chosen(t->neg_lo, 2) << 31;
    const uint64_t both = round_value(&single_format, add(product[0], product[1], how.mode), how);
    return (uint32_t)round_value(
        &single_format,
        add(unpack(&single_format, both, true), unpack(&single_format, c, true), how.mode), how);
}

static uint64_t expected(const struct trial *t, int lane, uint64_t old)
{
    switch (t->what->shape) {
    case HALVES:
        return integer_half(t, lane, false) | (uint64_t)integer_half(t, lane, true) << 16;
    case FLOAT_HALVES:
        return float_half(t, lane, false) | (uint64_t)float_half(t, lane, true) << 16;
    case PAIRS:
        return float_of_pair(t, lane, false) | (uint64_t)float_of_pair(t, lane, true) << 32;
    case MOVE_PAIR:
        return (uint32_t)(source_whole(t, 0, lane) >> 32 * chosen(t->op_sel, 0)) |
               (source_whole(t, 1, lane) >> 32 * chosen(t->op_sel, 1)) << 32;
    case MIX:
        return mixed(t, lane, (uint32_t)old);
    case FLOAT_DOT2:
        return float_dotted(t, lane);
    default:
        return dotted(t, lane);
    }
}

/* Which NaN comes out is the hardware's business. */
static bool same_result(const struct trial *t, uint64_t actual, uint64_t wanted)
{
    const bool halves = t->what->shape == FLOAT_HALVES ||
                        (t->what->shape == MIX && t->what->detail != MIXES_TO_F32);
    const bool singles = t->what->shape == PAIRS || t->what->shape == FLOAT_DOT2 ||
                         (t->what->shape == MIX && t->what->detail == MIXES_TO_F32);
    const struct format *f = halves ? &half_format : &single_format;
    for (int at = 0; actual != wanted && (halves || singles) && at < 64; at += f->bits) {
        const uint64_t mask = (UINT64_C(1) << f->bits) - 1;
        if (is_nan(f, actual >> at & mask) && is_nan(f, wanted >> at & mask))
            wanted = (wanted & ~(mask << at)) | (actual & mask << at);
    }
    return actual == wanted;
}

/* ---- trials ---- */

static uint32_t random_word(void)
{
    static const uint32_t words[] = {0,          0xffffffff, 0x80007fff, 0x7fff8000, 0x3c00bc00,
                                     0x00010400, 0x83ff8400, 0x7c00fc00, 0x7bff7e01, 0x3f800000,
                                     0x80000001, 0x7f800000, 0x00800000, 0xff7fffff, 0x7fc00000};
    const uint32_t x = (uint32_t)random_bits();
    switch (random_below(4)) {
    case 0:
        return words[random_below(sizeof words / sizeof *words)];
    case 1: /* halves near one, so that sums cancel */
        return (x & 0x83ff83ff) + 0x38003c00;
    default:
        return x;
    }
}

static void source_choose(struct trial *t, int n)
{
    const bool pair = t->what->shape == PAIRS || t->what->shape == MOVE_PAIR;
    const bool low_only =
        !chosen(t->op_sel, n) && (t->what->shape == MOVE_PAIR || !chosen(t->op_sel_hi, n));
    const uint32_t kind = random_below(6);
    if (kind == 0) {
        t->source[n] = 8 + 2 * random_below(40);
    } else if (kind < 3 && (!pair || low_only)) {
        const bool integer = t->what->shape == MOVE_PAIR || random_below(2);
        t->source[n] = integer ? 128 + random_below(81) : 240 + random_below(9);
    } else {
        t->source[n] = 256 + 2 + 2 * (uint32_t)n;
    }
}

static void trial_encode(const struct trial *t, uint32_t opcode, uint32_t words[2])
{
    words[0] = 0xd3800000 | opcode << 16 | (uint32_t)t->clamp << 15 |
               (t->op_sel_hi >> 2 & 1) << 14 | t->op_sel << 11 | t->neg_hi << 8 | DST;
    words[1] = t->source[0] | t->source[1] << 9 | t->source[2] << 18 | (t->op_sel_hi & 3) << 27 |
               t->neg_lo << 29;
}

static void state_random(void)
{
    static const uint8_t denormals[] = {0xf0, 0xf0, 0xc0, 0x00, 0xd0, 0xe0, 0x30};
    uint32_t mode =
        denormals[random_below(sizeof denormals)] | (random_bits() & (MODE_IEEE | MODE_DX10_CLAMP));
    if (random_below(2))
        mode |= random_below(16);
    valu_mode_set(&wave, mode);
    for (int r = 0; r < 40; r++)
        for (int l = 0; l < WAVE_LANES; l++)
            registers[r][l] = random_word();
    for (int s = 4; s < 50; s++)
        wave.s64[s] = random_word() | (uint64_t)random_word() << 32;
    wave.s64[SREG_EXEC / 2] = random_below(3) ? ~UINT64_C(0) : random_bits();
}

static void explain(const struct trial *t, int lane, uint64_t actual, uint64_t wanted)
{
    print_error("%s: op_sel %x op_sel_hi %x neg_lo %x neg_hi %x clamp %d mode %03x, sources",
                isa_op_names[t->what->op], t->op_sel, t->op_sel_hi, t->neg_lo, t->neg_hi, t->clamp,
                wave.mode);
    for (int n = 0; n < t->what->sources; n++)
        print_error(" %u=%016llx", t->source[n], (unsigned long long)source_whole(t, n, lane));
    print_error(": %016llx, not %016llx\n", (unsigned long long)actual, (unsigned long long)wanted);
}

/* Returns whether the results are right; tells the first that is not. */
static bool trial_run(const struct trial *t, uint32_t opcode, int first_lane)
{
    lane_row before[2]; /* no source lies there */
    uint32_t words[2];
    struct inst i;
    trial_encode(t, opcode, words);
    assert_int_equal(isa_decode(t->gen, words, 2, &i), 2);
    assert_int_equal(i.op, t->what->op);
    const bool wide = i.dst.dwords == 2;
    memcpy(before, registers[DST], sizeof before);
    uint64_t wanted[WAVE_LANES];
    for (int l = first_lane; l < WAVE_LANES; l += LANE_STEP)
        wanted[l] = expected(t, l, registers[DST][l]);
    i.dwords = 1;
    run(&i);
    for (int l = first_lane; l < WAVE_LANES; l += LANE_STEP) {
        const bool active = wave_exec(&wave) >> l & 1;
        const uint64_t old = before[0][l] | (wide ? (uint64_t)before[1][l] << 32 : 0);
        const uint64_t actual = wide ? lane64(DST, l) : registers[DST][l];
        const uint64_t right = active ? wanted[l] : old;
        if (active ? same_result(t, actual, right) : actual == right)
            continue;
        explain(t, l, actual, right);
        return false;
    }
    return true;
}

/* All combinations; two-source operations, which have fewer, several times. */
static unsigned combinations_check(const struct description *what, enum gpu_gen gen,
                                   uint32_t opcode)
{
    const uint32_t bits = what->sources, all = 1u << (4 * bits + 1);
    const uint32_t repeats = bits == 3 ? 1 : 6, mask = (1u << bits) - 1;
    unsigned wrong = 0;
    for (uint32_t n = 0; n < all * repeats && !wrong; n++) {
        struct trial t = {.what = what, .gen = gen, .clamp = n & 1};
        const uint32_t ignored = (uint32_t)random_bits() & ~mask & 7; /* the third source's bits */
        t.op_sel = (n >> 1 & mask) | ignored;
        t.op_sel_hi = (n >> (1 + bits) & mask) | ignored;
        t.neg_lo = n >> (1 + 2 * bits) & mask;
        t.neg_hi = n >> (1 + 3 * bits) & mask;
        if (n % 16 == 0)
            state_random();
        for (int s = 0; s < what->sources; s++)
            source_choose(&t, s);
        wrong += !trial_run(&t, opcode, (int)(n % LANE_STEP));
    }
    return wrong;
}

static const struct description *description_find(uint16_t op)
{
    for (size_t n = 0; n < DESCRIPTION_COUNT; n++)
        if (descriptions[n].op == op)
            return &descriptions[n];
    return NULL;
}

static void every_modifier_of(enum gpu_gen gen)
{
    unsigned wrong = 0, checked = 0;
    for (uint32_t opcode = 0; opcode < 128; opcode++) {
        const struct isa_entry *entry = &isa_entries[isa_index[gen][TABLE_VOP3P][opcode]];
        const bool moves =
            entry->op == OP_V_ACCVGPR_READ_B32 || entry->op == OP_V_ACCVGPR_WRITE_B32;
        if (entry->op == OP_INVALID || entry->klass != CLASS_VALU ||
            moves) /* their modifier bits name the register file */
            continue;
        const struct description *what = description_find(entry->op);
        if (!what)
            fail_msg("%s has no description", isa_op_names[entry->op]);
        wrong += combinations_check(what, gen, opcode);
        checked++;
    }
    assert_true(checked >= 29);
    assert_int_equal(wrong, 0);
}
static void newest(void)
{
    every_modifier_of(GPU_GFX90A);
}
static void gfx90a(void **state)
{
    (void)state;
    each_build(newest);
}
/* What differs here is decoding, so one build will do. */
static void gfx906(void **state)
{
    (void)state;
    assert_int_equal(valu_build_select("portable"), 0);
    wave_reset(0x2f0);
    every_modifier_of(GPU_GFX906);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gfx90a),
        cmocka_unit_test(gfx906),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
