/*
 * Every operation against the reference: random and special values in all lanes, partial EXEC,
 * all kinds of sources, all modifiers, all builds of the vector ALU the CPU can run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "valu/reference.h"
#include "valu/valu.h"

#define S(n)   signed_bits(s[n], type_bits(src[n] == 'a' ? *dst : src[n]))
#define SAT(x) ((uint64_t)(clamp ? saturate_to(*dst, (x)) : (int64_t)(x)))
/* A name in SA is one that clamp changes. */
#define SAT_CARRY(x)  (*mask = outside_u32(x), SAT((int64_t)(x)))
#define SAT_HALVES(x) (clamp ? halves_bounded((x), mode) : (x))
#define MODE          (how.mode)
#define F             (type_format(*dst) ? type_format(*dst) : type_format(*src))
#define SOURCE(n)     type_format(src[n] == 'a' ? *dst : src[n])
#define V(n)          unpack(SOURCE(n), s[n], rounding_of(SOURCE(n), mode).flush_in)
#define ZERO(n)       (!V(n).mantissa && V(n).kind == VALUE_NUMBER)
#define ROUND(v)      round_value(F, (v), how)
#define R(OP, DST, SRC, EXPR)                                                                      \
    static uint64_t value_##OP(const uint64_t *s, int lane, uint32_t mode, bool clamp, bool *mask) \
    {                                                                                              \
        static const char dst[] = DST, src[] = SRC;                                                \
        const struct rounding how = F ? rounding_of(F, mode) : (struct rounding){0, 0, 0, 0, 0};   \
        (void)dst, (void)src, (void)how, (void)lane, (void)mode, (void)clamp, (void)mask;          \
        return (uint64_t)(EXPR);                                                                   \
    }
#include "valu/reference_float.def"
#include "valu/reference_int.def"
#undef R
#define R(OP, DST, SRC, EXPR)                                                                      \
    {OP_##OP, #OP, DST, SRC, #EXPR[0] == 'S' && #EXPR[1] == 'A', value_##OP},
static const struct reference references[] = {
#include "valu/reference_float.def"
#include "valu/reference_int.def"
};
#undef R
enum { REFERENCE_COUNT = sizeof references / sizeof references[0] };

static lane_row registers[256], expected[256];
static struct wave wave;

static uint64_t random_state = 0x9e3779b97f4a7c15;
static uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state * UINT64_C(0x2545f4914f6cdd1d);
}
static uint32_t random_below(uint32_t n)
{
    return (uint32_t)((random_bits() >> 32) % n);
}

/* A float at the borders of its format, or near 1 so that sums cancel. */
static uint64_t random_float(const struct format *f)
{
    const uint64_t inf = format_inf(f), one = (uint64_t)f->bias << (f->precision - 1);
    const uint64_t borders[] = {0,
                                1,
                                2,
                                (UINT64_C(1) << (f->precision - 1)) - 1,
                                UINT64_C(1) << (f->precision - 1),
                                one,
                                one + 1,
                                one - 1,
                                inf - 1,
                                inf,
                                inf + 1,
                                inf | UINT64_C(1) << (f->precision - 2),
                                one + (UINT64_C(1) << (f->precision - 2)),
                                one - (UINT64_C(1) << (f->precision - 1))};
    const uint64_t sign = random_bits() & format_sign(f);
    switch (random_below(4)) {
    case 0:
        return borders[random_below(sizeof borders / sizeof *borders)] | sign;
    case 1: /* a few binades around 1 */
        return (one - (UINT64_C(3) << (f->precision - 1)) +
                random_bits() % (UINT64_C(6) << (f->precision - 1))) |
               sign;
    case 2: /* small integers and fractions */
        return (one + ((uint64_t)random_below(16) << (f->precision - 3))) | sign;
    default:
        return random_bits() >> (64 - f->bits);
    }
}
static uint64_t random_integer(int bits)
{
    static const uint64_t borders[] = {0,
                                       1,
                                       2,
                                       31,
                                       32,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x7fffff,
                                       0x800000,
                                       0xffffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       INT64_MAX,
                                       UINT64_C(1) << 63,
                                       UINT64_MAX};
    uint64_t x = random_bits() >> random_below(64);
    if (random_below(3) == 0)
        x = borders[random_below(sizeof borders / sizeof *borders)];
    return bits == 64 ? x : x & ((UINT64_C(1) << bits) - 1);
}
static uint64_t random_value(char type)
{
    const struct format *f = type_format(type);
    return f ? random_float(f) : random_integer(type_bits(type));
}

/* ---- one instruction, its registers and its expected outcome ---- */

struct trial {
    const struct reference *ref;
    struct inst inst;
    int source_count;
    uint16_t mask_in; /* scalar pair */
};

enum { DST_REG = 32, MASK_IN = 40, MASK_OUT = 44 };

static enum operand_type operand_type_of(char t)
{
    switch (t) {
    case 'w':
    case 'W':
        return TYPE_U16;
    case 's':
    case 'S':
        return TYPE_I16;
    case 'h':
    case 'H':
        return TYPE_F16;
    case 'f':
        return TYPE_F32;
    case 'd':
        return TYPE_F64;
    case 'U':
    case 'I':
        return TYPE_U64;
    default:
        return TYPE_U32;
    }
}

static void write_lane(lane_row *rows, int reg, int lane, char type, uint64_t x)
{
    const int bits = type_bits(type);
    if (bits == 16) /* the half nobody asks for must not matter */
        x |= random_bits() << 16;
    rows[reg][lane] = (uint32_t)x;
    if (bits == 64)
        rows[reg + 1][lane] = (uint32_t)(x >> 32);
}

static void source_random(struct trial *t, int n, bool vgpr_only)
{
    const char type = t->ref->src[n];
    struct operand *o = &t->inst.src[n];
    const uint16_t reg = (uint16_t)(8 + 4 * n);
    o->type = (uint8_t)operand_type_of(type);
    o->dwords = type_bits(type) == 64 ? 2 : 1;
    for (int l = 0; l < WAVE_LANES; l++)
        write_lane(registers, reg, l, type, random_value(type));
    o->kind = OPND_VGPR;
    o->index = reg;
    if (vgpr_only || random_below(3))
        return;
    const uint64_t x = random_value(type);
    if (random_below(2)) {
        o->kind = OPND_SREG;
        wave.s64[reg / 2] = x;
    } else {
        o->kind = OPND_CONST;
        o->value = x;
    }
}

static void wave_random(void)
{
    static const uint8_t denormals[] = {0xf0, 0xf0, 0x30, 0xc0, 0x00, 0xd0, 0xe0};
    memset(&wave, 0, sizeof wave);
    wave.v = wave.a = registers;
    wave.vgpr_count = 256;
    const uint32_t choice = random_below(5);
    wave.s64[SREG_EXEC / 2] = choice < 2    ? ~UINT64_C(0)
                              : choice == 2 ? random_bits()
                              : choice == 3 ? random_bits() & random_bits()
                                            : 0;
    uint32_t mode = denormals[random_below(sizeof denormals)] |
                    (random_bits() & (MODE_IEEE | MODE_DX10_CLAMP | MODE_FP16_OVFL));
    if (random_below(2))
        mode |= random_below(16); /* directed roundings */
    valu_mode_set(&wave, mode);
    wave.s64[SREG_VCC / 2] = random_bits();
    wave.s64[MASK_IN / 2] = random_bits();
}

static void modifiers_random(struct trial *t)
{
    struct inst *i = &t->inst;
    bool any_float = false;
    for (int n = 0; n < t->source_count; n++)
        any_float |= type_format(t->ref->src[n]) != NULL;
    for (int n = 0; any_float && n < t->source_count; n++) {
        if (!type_format(t->ref->src[n]))
            continue;
        i->neg |= (uint8_t)(random_below(2) << n);
        i->abs |= (uint8_t)(random_below(2) << n);
    }
    const bool float_result = type_format(*t->ref->dst) != NULL;
    if ((float_result || t->ref->clamps) && random_below(2))
        i->flags |= IF_CLAMP;
    if (float_result && random_below(2))
        i->omod = (uint8_t)random_below(4);
}

/* Halves of 16-bit operands in the VOP3 encoding. */
static void halves_random(struct trial *t)
{
    for (int n = 0; n < t->source_count; n++)
        if (type_bits(t->ref->src[n]) == 16)
            t->inst.op_sel |= (uint8_t)(random_below(2) << n);
    if (type_bits(*t->ref->dst) == 16)
        t->inst.op_sel |= (uint8_t)(random_below(2) << 3);
}

static bool narrow(const struct reference *ref)
{
    bool fits = strlen(ref->src) <= 2 && type_bits(*ref->dst) < 64 && !strchr("WSH", *ref->dst);
    for (const char *c = ref->src; *c; c++)
        fits = fits && type_bits(*c) < 64 && *c != 'm' && *c != 'a';
    return fits;
}

static void sdwa_random(struct trial *t)
{
    struct inst *i = &t->inst;
    i->modifier = MOD_SDWA;
    i->format = FMT_VOP2;
    i->sdwa.dst_sel = (uint8_t)random_below(7);
    i->sdwa.dst_unused = (uint8_t)random_below(3);
    i->sdwa.src0_sel = (uint8_t)random_below(7);
    i->sdwa.src1_sel = (uint8_t)random_below(7);
    i->flags |= (uint32_t)random_bits() & (IF_SRC0_SEXT | IF_SRC1_SEXT);
}
static void dpp_random(struct trial *t)
{
    struct inst *i = &t->inst;
    i->modifier = MOD_DPP;
    i->format = FMT_VOP2;
    i->dpp.ctrl = (uint16_t)(random_below(2) ? random_below(256) : 0x111 + random_below(15));
    i->dpp.row_mask = random_below(2) ? 0xf : (uint8_t)random_below(16);
    i->dpp.bank_mask = random_below(2) ? 0xf : (uint8_t)random_below(16);
    i->flags |= random_below(2) ? IF_DPP_BOUND_CTRL : 0;
}

enum trial_kind { TRIAL_PLAIN, TRIAL_VOP3, TRIAL_SDWA, TRIAL_DPP, TRIAL_KIND_COUNT };

static void trial_make(struct trial *t, const struct reference *ref, enum trial_kind kind)
{
    *t = (struct trial){.ref = ref};
    wave_random();
    for (int r = 0; r < 64; r++)
        for (int l = 0; l < WAVE_LANES; l++)
            registers[r][l] = (uint32_t)random_bits();
    t->inst = (struct inst){.op = ref->op, .format = FMT_VOP3, .dwords = 2, .klass = CLASS_VALU};
    struct inst *i = &t->inst;
    for (const char *c = ref->src; *c; c++) {
        if (*c == 'm') {
            i->src[2] = (struct operand){
                .kind = OPND_SREG, .type = TYPE_MASK64, .dwords = 2, .index = MASK_IN};
        } else if (*c != 'a') {
            source_random(t, t->source_count, kind == TRIAL_SDWA || kind == TRIAL_DPP);
            t->source_count++;
        }
    }
    i->src_count = (uint8_t)strlen(ref->src);
    i->dst = (struct operand){.kind = OPND_VGPR,
                              .type = (uint8_t)operand_type_of(*ref->dst),
                              .dwords = 1,
                              .index = DST_REG};
    if (random_below(3) == 0) /* over a source, or one register beside it */
        i->dst.index = (uint16_t)(8 + random_below(9));
    if (ref->dst[1] == '>')
        i->sdst = (struct operand){
            .kind = OPND_SREG, .type = TYPE_MASK64, .dwords = 2, .index = MASK_OUT};
    if (strchr(ref->src, 'a'))
        for (int l = 0; l < WAVE_LANES; l++)
            write_lane(registers, i->dst.index, l, *ref->dst, random_value(*ref->dst));
    if (kind == TRIAL_VOP3)
        halves_random(t);
    if (kind != TRIAL_PLAIN)
        modifiers_random(t);
    if (kind == TRIAL_SDWA)
        sdwa_random(t);
    if (kind == TRIAL_DPP)
        dpp_random(t);
}

/* ---- the reference's view of a trial ---- */

static int dpp_from(const struct inst *i, int lane)
{
    if (i->dpp.ctrl < 0x100)
        return lane / 4 * 4 + (i->dpp.ctrl >> 2 * (lane % 4)) % 4;
    const int distance = i->dpp.ctrl % 16;
    return lane % 16 < distance ? -1 : lane - distance;
}

static uint64_t field(uint64_t x, int select, bool sign_extend)
{
    if (select == 6)
        return x;
    const int bits = select < 4 ? 8 : 16, low = select < 4 ? 8 * select : 16 * (select - 4);
    x >>= low;
    return sign_extend ? (uint32_t)signed_bits(x, bits) : x % (UINT64_C(1) << bits);
}

static uint64_t source_value(const struct trial *t, int n, int lane)
{
    const struct inst *i = &t->inst;
    const struct operand *o = &i->src[n];
    const char type = t->ref->src[n];
    const int bits = type_bits(type);
    uint64_t x = o->value;
    if (o->kind == OPND_SREG)
        x = wave.s64[o->index / 2];
    if (o->kind == OPND_VGPR) {
        const int from = i->modifier == MOD_DPP && n == 0 ? dpp_from(i, lane) : lane;
        const bool readable = from >= 0 && (from == lane || wave_exec(&wave) >> from & 1);
        x = readable ? registers[o->index][from] |
                           (uint64_t)registers[o->index + (bits == 64)][from] << 32
                     : 0;
    }
    if (bits < 64)
        x = (uint32_t)x;
    if (i->modifier == MOD_SDWA)
        x = field(x, n ? i->sdwa.src1_sel : i->sdwa.src0_sel,
                  i->flags & (n ? IF_SRC1_SEXT : IF_SRC0_SEXT));
    if (i->op_sel >> n & 1)
        x >>= 16;
    if (bits < 64)
        x &= (UINT64_C(1) << bits) - 1;
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    if (i->abs >> n & 1)
        x &= ~sign;
    return i->neg >> n & 1 ? x ^ sign : x;
}

static uint64_t old_value(const struct trial *t, int lane)
{
    const int d = t->inst.dst.index;
    const uint64_t high = type_bits(*t->ref->dst) == 64 ? registers[d + 1][lane] : 0;
    const uint64_t x = registers[d][lane] | high << 32;
    return type_bits(*t->ref->dst) == 16 ? x & 0xffff : x;
}

static uint64_t finished(const struct trial *t, uint64_t x)
{
    const struct inst *i = &t->inst;
    const struct format *f = type_format(*t->ref->dst);
    if (!f)
        return x;
    const struct rounding how = rounding_of(f, wave.mode);
    if (i->omod && !(wave.mode & MODE_IEEE) && how.flush_out) {
        x = round_value(f, scaled(unpack(f, x, how.flush_in), i->omod == 3 ? -1 : i->omod), how);
        x = (x & ~format_sign(f)) == 0 ? 0 : x;
    }
    if (!(i->flags & IF_CLAMP))
        return x;
    if (is_nan(f, x))
        return wave.mode & MODE_DX10_CLAMP ? 0 : x;
    const uint64_t one = (uint64_t)f->bias << (f->precision - 1);
    return x & format_sign(f) ? 0 : x > one ? one : x;
}

static uint32_t placed(const struct trial *t, uint32_t x, uint32_t old)
{
    const struct inst *i = &t->inst;
    const bool half = type_bits(*t->ref->dst) == 16;
    if (i->modifier == MOD_SDWA && i->sdwa.dst_sel < 6) {
        const int select = i->sdwa.dst_sel, bits = select < 4 ? 8 : 16;
        const int low = select < 4 ? 8 * select : 16 * (select - 4);
        const uint32_t mask = (uint32_t)(((UINT64_C(1) << bits) - 1) << low);
        const uint32_t extended = (uint32_t)signed_bits(x, bits) << low;
        return i->sdwa.dst_unused == 2   ? (old & ~mask) | (extended & mask)
               : i->sdwa.dst_unused == 1 ? extended
                                         : extended & mask;
    }
    if (half && i->op_sel & 8)
        return (old & 0xffff) | x << 16;
    return strchr("WSH", *t->ref->dst) ? (old & 0xffff0000) | (x & 0xffff) : half ? x & 0xffff : x;
}

static bool lane_written(const struct trial *t, int lane)
{
    const struct inst *i = &t->inst;
    if (!(wave_exec(&wave) >> lane & 1))
        return false;
    if (i->modifier != MOD_DPP)
        return true;
    const int from = dpp_from(i, lane);
    const bool readable = from >= 0 && wave_exec(&wave) >> from & 1;
    return i->dpp.row_mask >> lane / 16 & 1 && i->dpp.bank_mask >> lane / 4 % 4 & 1 &&
           (readable || i->flags & IF_DPP_BOUND_CTRL);
}

/* Fills expected[] and the mask; a NaN's payload is the hardware's business, so any will do. */
static uint64_t trial_expect(const struct trial *t, uint64_t *any_nan)
{
    uint64_t mask_out = 0;
    memcpy(expected, registers, sizeof expected);
    *any_nan = 0;
    for (int l = 0; l < WAVE_LANES; l++) {
        uint64_t s[3] = {0};
        bool mask = false;
        int n = 0;
        for (const char *c = t->ref->src; *c; c++, n++)
            s[n] = *c == 'm'   ? wave.s64[MASK_IN / 2] >> l & 1
                   : *c == 'a' ? old_value(t, l)
                               : source_value(t, n, l);
        if (!lane_written(t, l))
            continue;
        const uint64_t raw = t->ref->value(s, l, wave.mode, t->inst.flags & IF_CLAMP, &mask);
        const uint64_t x = finished(t, raw);
        const struct format *f = type_format(*t->ref->dst);
        if (f && is_nan(f, x))
            *any_nan |= UINT64_C(1) << l;
        const int d = t->inst.dst.index;
        expected[d][l] = placed(t, (uint32_t)x, registers[d][l]);
        if (type_bits(*t->ref->dst) == 64)
            expected[d + 1][l] = (uint32_t)(x >> 32);
        mask_out |= (uint64_t)mask << l;
    }
    return mask_out;
}

/* Mismatches are told once for each operation and counted; the test fails at the end. */
static int mismatches;
static const struct reference *last_told;

static void explain(const struct trial *t, int reg, int lane, const char *build, uint64_t actual,
                    uint64_t wanted)
{
    uint64_t s[3] = {0};
    const struct inst *i = &t->inst;
    mismatches++;
    if (last_told == t->ref)
        return;
    last_told = t->ref;
    printf("%s %s: v%d[%d] mode %03x format %d modifier %d neg %x abs %x op_sel %x omod %d flags "
           "%x dst v%d: %llx, not %llx\n",
           build, t->ref->name, reg, lane, wave.mode, i->format, i->modifier, i->neg, i->abs,
           i->op_sel, i->omod, i->flags, i->dst.index, (unsigned long long)actual,
           (unsigned long long)wanted);
    for (int n = 0; n < t->source_count; n++) {
        s[n] = source_value(t, n, lane);
        printf("  source %d kind %d: %016llx\n", n, i->src[n].kind, (unsigned long long)s[n]);
    }
}

static void lanes_compare(const struct trial *t, lane_row *actual, uint64_t any_nan,
                          const char *build)
{
    const struct format *f = type_format(*t->ref->dst);
    const int d = t->inst.dst.index;
    for (int r = 0; r < 64; r++) {
        for (int l = 0; l < WAVE_LANES; l++) {
            if (actual[r][l] == expected[r][l])
                continue;
            if (any_nan >> l & 1 && (r == d || (r == d + 1 && f->bits == 64))) {
                uint64_t x = actual[d][l] | (f->bits == 64 ? (uint64_t)actual[d + 1][l] << 32 : 0);
                if (f->bits == 16 && t->inst.op_sel & 8)
                    x >>= 16;
                if (t->inst.modifier == MOD_SDWA || is_nan(f, f->bits == 16 ? x & 0xffff : x))
                    continue;
            }
            explain(t, r, l, build, actual[r][l], expected[r][l]);
            return;
        }
    }
}

static void trial_run(const struct trial *t, const char *build)
{
    static lane_row before[64];
    uint64_t any_nan;
    const uint64_t mask = trial_expect(t, &any_nan);
    struct wave w = wave;
    static lane_row after[256];
    memcpy(before, registers, sizeof before);
    memcpy(after, registers, sizeof after);
    w.v = w.a = after;
    inst_exec_fn *handler = valu_handler(&t->inst);
    if (!handler)
        fail_msg("no handler for %s", t->ref->name);
    valu_enter(&w);
    const struct inst *next = handler(&w, &t->inst);
    valu_leave();
    assert_ptr_equal(next, &t->inst + t->inst.dwords);
    lanes_compare(t, after, any_nan, build);
    if (t->ref->dst[1] == '>' && w.s64[MASK_OUT / 2] != mask) {
        explain(t, -1, 0, build, w.s64[MASK_OUT / 2], mask);
    }
}

static bool trial_possible(const struct reference *ref, enum trial_kind kind)
{
    return kind == TRIAL_PLAIN || kind == TRIAL_VOP3 || narrow(ref);
}

static void build_check(const char *build)
{
    if (valu_build_select(build) != 0)
        skip();
    mismatches = 0;
    last_told = NULL;
    for (int r = 0; r < REFERENCE_COUNT; r++)
        for (int kind = 0; kind < TRIAL_KIND_COUNT; kind++)
            for (int n = 0; n < 40 && trial_possible(&references[r], kind); n++) {
                struct trial t;
                trial_make(&t, &references[r], kind);
                trial_run(&t, build);
            }
    assert_int_equal(mismatches, 0);
}
static void avx512(void **state)
{
    (void)state;
    build_check("avx512");
}
static void avx2(void **state)
{
    (void)state;
    build_check("avx2");
}
static void portable(void **state)
{
    (void)state;
    build_check("portable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(portable),
        cmocka_unit_test(avx2),
        cmocka_unit_test(avx512),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
