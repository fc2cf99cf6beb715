/*
 * 2^x, the logarithm, the reciprocal square root, sine and cosine: the operations of
 * valu/core_trans.h in its order, and so its bits. Strips do not depend on each other, so that the
 * host computes several at once.
 */
#include <string.h>

#include "translate/emit.h"
#include "valu/trans_constants.h"

enum { EQUAL = 0x00, LESS = 0x11, LESS_EQUAL = 0x12, NOT_LESS = 0x15, NOT_LESS_EQUAL = 0x16 };
enum { TO_NEAREST = 8 };
#define INFINITY32 UINT32_C(0x7f800000)
#define NAN32      UINT32_C(0xffc00000)
#define SIGN32     UINT32_C(0x80000000)
/* NaNs are quieted, zeros give -infinity, +infinity itself, what is negative no number. */
#define LOG_ANSWERS UINT32_C(0x03530422)

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}
static struct x86_rm number(struct emitter *e, float value)
{
    return x86_constant32(e->x, bits_of(value));
}
static unsigned number_host(struct emitter *e, float value)
{
    unsigned host = values_temporary(&e->values);
    emit_copy(e, host, number(e, value));
    return host;
}
/* dst = form(dst, a, b), as the host's fused operations define it. */
static void fused(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}
/* Horner's scheme, the last coefficient first. */
static unsigned polynomial(struct emitter *e, unsigned x, const float *coefficients, int count)
{
    unsigned p = number_host(e, coefficients[0]);
    for (int n = 1; n < count; n++)
        fused(e, X86_VFMADD213PS, p, x, number(e, coefficients[n]));
    return p;
}

static void op(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}
/* Where a and b are related so, the host register becomes the other one, or a constant. */
static void choose(struct emitter *e, unsigned host, unsigned other, unsigned a, struct x86_rm b,
                   unsigned predicate)
{
    unsigned k = emit_test(e, X86_VCMPPS, a, b, x86_imm(predicate));
    x86_vector(e->x, X86_VPBLENDMD, host, host, x86_reg(other), x86_masked(k));
    emit_mask_done(e, k);
}

/* p 2^whole, which is about one before; without the host's instruction in two steps, as 2^128 times
 * 0.9 is a number. */
static unsigned scaled(struct emitter *e, unsigned p, unsigned whole)
{
    enum { BIAS = 127, MANTISSA = 23 };
    if (!e->x->level->vector_masks)
        return emit_form(e, X86_VSCALEFPS, p, x86_reg(whole));
    unsigned second = emit_form(e, X86_VCVTTPS2DQ, 0, x86_reg(whole));
    unsigned first = emit_shift_imm(e, X86_VPSRAD_IMM, second, 1);
    op(e, X86_VPSUBD, second, second, x86_reg(first));
    unsigned steps[2] = {first, second};
    for (int n = 0; n < 2; n++) {
        op(e, X86_VPADDD, steps[n], steps[n], x86_constant32(e->x, BIAS));
        x86_shift(e->x, X86_VPSLLD_IMM, steps[n], steps[n], MANTISSA);
        op(e, X86_VMULPS, p, p, x86_reg(steps[n]));
        emit_done(e, steps[n]);
    }
    return p;
}
/* Where a lane of the mask, a vector, is not 0. */
static size_t jump_if_some(struct emitter *e, unsigned mask, enum x86_condition condition)
{
    op(e, X86_VTESTPS, mask, 0, x86_reg(mask));
    emit_done(e, mask);
    return x86_jump_if(e->x, condition);
}

/* The logarithm of x, which may have none. With AVX2 where all are positive and no denormals that
 * is all. */
static void log_or_special(struct emitter *e, unsigned r, unsigned x)
{
    enum { LEAST = 0x00800000, COUNT = 0x7f000000, ASIDE = 3 };
    if (!e->x->level->vector_masks) {
        x86_vector(e->x, X86_VFIXUPIMMPS, r, x, x86_constant32(e->x, LOG_ANSWERS), x86_imm(0));
        return;
    }
    unsigned rare = emit_form(e, X86_VPADDD, x, x86_constant32(e->x, SIGN32 - LEAST));
    op(e, X86_VPCMPGTD, rare, rare, x86_constant32(e->x, SIGN32 + COUNT - 1));
    values_aside(&e->values, ASIDE);
    const size_t end = jump_if_some(e, rare, JUMP_EQUAL);
    emit_flush(e, x);
    unsigned other = emit_form(e, X86_VADDPS, x, x86_reg(x));
    choose(e, r, other, x, x86_constant32(e->x, INFINITY32), NOT_LESS);
    emit_copy(e, other, x86_constant32(e->x, NAN32));
    choose(e, r, other, x, x86_constant32(e->x, 0), LESS);
    emit_copy(e, other, x86_constant32(e->x, INFINITY32 | SIGN32));
    choose(e, r, other, x, x86_constant32(e->x, 0), EQUAL);
    emit_done(e, other);
    x86_land(e->x, end);
    values_aside_over(&e->values);
}

static const float exp2_coefficients[] = {EXP2_6, EXP2_5, EXP2_4, EXP2_3,
                                          EXP2_2, EXP2_1, EXP2_0, 1};

/* Of whatever x is, which is changed. */
static unsigned exp2_any(struct emitter *e, unsigned x)
{
    emit_flush(e, x);
    unsigned t = number_host(e, -200), most = number_host(e, 200);
    op(e, X86_VMAXPS, t, t, x86_reg(x)); /* a NaN stays */
    op(e, X86_VMINPS, t, most, x86_reg(t));
    emit_done(e, most);
    unsigned whole = emit_form_imm(e, X86_VRNDSCALEPS, 0, x86_reg(t), TO_NEAREST);
    op(e, X86_VSUBPS, t, t, x86_reg(whole));
    unsigned p = polynomial(e, t, exp2_coefficients, 8);
    emit_done(e, t);
    unsigned r = scaled(e, p, whole);
    emit_done(e, whole);
    unsigned special =
        emit_test(e, X86_VCMPPS, x, x86_constant32(e->x, INFINITY32), x86_imm(NOT_LESS));
    x86_vector(e->x, X86_VADDPS, r, x, x86_reg(x), x86_masked(special));
    emit_mask_done(e, special);
    emit_done(e, x);
    emit_flush(e, r);
    return r;
}

/* Where no lane's size is above 125: then 2^x is no denormal, and what is left is to add to its
 * exponent. */
static void exp2_near(struct emitter *e, unsigned r, unsigned x, unsigned size)
{
    enum { DENORMAL = 0x7fffff, MANTISSA = 23 };
    unsigned whole = emit_form_imm(e, X86_VRNDSCALEPS, 0, x86_reg(x), TO_NEAREST);
    unsigned t = emit_form(e, X86_VSUBPS, x, x86_reg(whole));
    op(e, X86_VPCMPGTD, size, size, x86_constant32(e->x, DENORMAL));
    op(e, X86_VPANDD, t, t, x86_reg(size));
    unsigned p = polynomial(e, t, exp2_coefficients, 8);
    op(e, X86_VCVTTPS2DQ, whole, 0, x86_reg(whole));
    x86_shift(e->x, X86_VPSLLD_IMM, whole, whole, MANTISSA);
    op(e, X86_VPADDD, r, p, x86_reg(whole));
    emit_done(e, p);
    emit_done(e, t);
    emit_done(e, whole);
}

/* With AVX2 what special values and denormals take is as much as the rest, and behind a branch. */
static void exp2_branching(struct emitter *e)
{
    enum { NEAR = 0x42fa0000, ASIDE = 7 };
    unsigned x = source_host(e, 0, 0), r = values_temporary(&e->values);
    unsigned size = emit_form(e, X86_VPANDD, x, x86_constant32(e->x, ~SIGN32));
    values_aside(&e->values, ASIDE);
    unsigned far = emit_form(e, X86_VPCMPGTD, size, x86_constant32(e->x, NEAR));
    const size_t some = jump_if_some(e, far, JUMP_NOT_EQUAL);
    exp2_near(e, r, x, size);
    const size_t end = x86_jump(e->x);
    x86_land(e->x, some);
    emit_copy(e, size, x86_reg(x));
    unsigned any = exp2_any(e, size);
    emit_copy(e, r, x86_reg(any));
    emit_done(e, any);
    x86_land(e->x, end);
    values_aside_over(&e->values);
    emit_result(e, r);
}

EMIT(exp2)
{
    if (e->x->level->vector_masks)
        exp2_branching(e);
    else
        emit_result(e, exp2_any(e, source_copy(e, 0, 0)));
}

EMIT(log2)
{
    static const float coefficients[] = {LOG2_9, LOG2_8, LOG2_7, LOG2_6,
                                         LOG2_5, LOG2_4, LOG2_3, LOG2_2};
    unsigned x = source_copy(e, 0, 0);
    if (!e->x->level->vector_masks) /* else with what is special */
        emit_flush(e, x);
    unsigned exponent = emit_form(e, X86_VPSUBD, x, x86_constant32(e->x, LOG2_BOUNDARY));
    x86_shift(e->x, X86_VPSRAD_IMM, exponent, exponent, 23);
    unsigned scale = emit_shift_imm(e, X86_VPSLLD_IMM, exponent, 23);
    unsigned mantissa = emit_form(e, X86_VPSUBD, x, x86_reg(scale));
    unsigned f = emit_form(e, X86_VSUBPS, mantissa, number(e, 1));
    emit_done(e, scale);
    emit_done(e, mantissa);
    unsigned p = polynomial(e, f, coefficients, 8);
    unsigned first = number_host(e, LOG2_FIRST), most = number_host(e, LOG2_SECOND);
    fused(e, X86_VFMADD213PS, most, f, x86_reg(first));
    unsigned short_of = emit_form(e, X86_VSUBPS, first, x86_reg(most));
    emit_done(e, first);
    unsigned lost = number_host(e, LOG2_SECOND);
    fused(e, X86_VFMADD213PS, lost, f, x86_reg(short_of));
    emit_done(e, short_of);
    op(e, X86_VADDPS, lost, lost, number(e, LOG2_FIRST_REST));
    unsigned square = emit_form(e, X86_VMULPS, f, x86_reg(f));
    fused(e, X86_VFMADD213PS, p, square, x86_reg(lost));
    emit_done(e, square);
    emit_done(e, lost);
    unsigned r = emit_form(e, X86_VMULPS, p, x86_reg(f));
    emit_done(e, p);
    fused(e, X86_VFMADD231PS, r, f, x86_reg(most));
    unsigned whole = emit_form(e, X86_VCVTDQ2PS, 0, x86_reg(exponent));
    unsigned sum = emit_form(e, X86_VADDPS, r, x86_reg(whole));
    emit_done(e, whole);
    emit_done(e, exponent);
    emit_done(e, most);
    emit_done(e, f);
    emit_done(e, r);
    log_or_special(e, sum, x);
    emit_done(e, x);
    emit_result(e, sum);
}

EMIT(reciprocal_root)
{
    unsigned x = source_copy(e, 0, 0);
    emit_flush(e, x);
    unsigned root = emit_form(e, X86_VSQRTPS, 0, x86_reg(x)), one = number_host(e, 1);
    unsigned r = emit_form(e, X86_VDIVPS, one, x86_reg(root));
    emit_done(e, root);
    emit_done(e, one);
    unsigned g = emit_form(e, X86_VMULPS, x, x86_reg(r)), left = values_temporary(&e->values);
    emit_copy(e, left, x86_reg(g));
    fused(e, X86_VFMSUB213PS, x, r, x86_reg(g)); /* what the product lost */
    fused(e, X86_VFNMADD213PS, left, r, number(e, 1));
    fused(e, X86_VFNMADD231PS, left, x, x86_reg(r));
    unsigned better = emit_form(e, X86_VMULPS, r, number(e, 0.5f));
    fused(e, X86_VFMADD213PS, better, left, x86_reg(r));
    unsigned known = emit_test(e, X86_VCMPPS, left, x86_reg(left), x86_imm(EQUAL));
    x86_vector(e->x, X86_VPBLENDMD, r, r, x86_reg(better), x86_masked(known));
    emit_done(e, better);
    emit_done(e, left);
    emit_done(e, x);
    emit_result(e, r);
}

/* sin(2 pi u) and cos(2 pi u) near zero. */
static unsigned sine_series(struct emitter *e, unsigned u)
{
    static const float coefficients[] = {SIN_4, SIN_3, SIN_2, SIN_1, SIN_0_REST};
    unsigned q = emit_form(e, X86_VMULPS, u, x86_reg(u)), p = polynomial(e, q, coefficients, 5);
    op(e, X86_VMULPS, p, p, x86_reg(u));
    fused(e, X86_VFMADD231PS, p, u, number(e, SIN_0));
    emit_done(e, q);
    return p;
}
static unsigned cosine_series(struct emitter *e, unsigned u)
{
    static const float coefficients[] = {COS_5, COS_4, COS_3, COS_2, COS_1_REST};
    unsigned q = emit_form(e, X86_VMULPS, u, x86_reg(u)), p = polynomial(e, q, coefficients, 5);
    unsigned lost = number_host(e, 1), most = values_temporary(&e->values);
    emit_copy(e, most, x86_reg(lost));
    fused(e, X86_VFMADD231PS, most, q, number(e, COS_1));
    op(e, X86_VSUBPS, lost, lost, x86_reg(most));
    fused(e, X86_VFMADD231PS, lost, q, number(e, COS_1));
    fused(e, X86_VFMADD213PS, p, q, x86_reg(lost));
    op(e, X86_VADDPS, p, p, x86_reg(most));
    emit_done(e, q);
    emit_done(e, most);
    emit_done(e, lost);
    return p;
}

/* Of zeros, and where the hardware gives up. With AVX2 that is behind a branch. */
static void turn_or_special(struct emitter *e, unsigned r, unsigned x, unsigned size, unsigned t)
{
    enum { TURNS = 0x43800000, ASIDE = 2 };
    const bool sine = e->operation->argument, branches = e->x->level->vector_masks;
    size_t end = 0;
    if (branches) {
        values_aside(&e->values, ASIDE);
        unsigned rare = emit_form(e, X86_VPCMPGTD, size, x86_constant32(e->x, TURNS));
        if (sine) { /* of +0 it is that */
            unsigned zero = emit_form(e, X86_VPCMPEQD, x, x86_constant32(e->x, SIGN32));
            op(e, X86_VPORD, rare, rare, x86_reg(zero));
            emit_done(e, zero);
        }
        end = jump_if_some(e, rare, JUMP_EQUAL);
    }
    if (sine)
        choose(e, r, x, size, x86_constant32(e->x, 0), EQUAL);
    emit_copy(e, t, number(e, sine ? 0 : 1));
    choose(e, r, t, size, x86_constant32(e->x, TURNS), NOT_LESS_EQUAL);
    emit_copy(e, t, x86_constant32(e->x, NAN32));
    choose(e, r, t, size, x86_constant32(e->x, INFINITY32), NOT_LESS);
    if (branches)
        x86_land(e->x, end);
    values_aside_over(&e->values);
}

/* The argument: whether it is the sine. What is left of x to the next whole turn, and the size of
 * it to the next half one; each is the other one of what is left to the quarter. Beyond 256 turns
 * the hardware gives up. */
EMIT(turn)
{
    enum { GREATER = 6, QUARTER = 0x3e800000 };
    const bool sine = e->operation->argument;
    unsigned x = source_host(e, 0, 0);
    unsigned t = emit_form_imm(e, X86_VRNDSCALEPS, 0, x86_reg(x), TO_NEAREST);
    op(e, X86_VSUBPS, t, x, x86_reg(t));
    unsigned whole = emit_form(e, X86_VPANDD, t, x86_constant32(e->x, ~SIGN32));
    unsigned size = emit_form(e, X86_VSUBPS, whole, number(e, 0.5f));
    op(e, X86_VPANDD, size, size, x86_constant32(e->x, ~SIGN32));
    op(e, X86_VMINPS, size, whole, x86_reg(size));
    if (!sine) { /* beyond a quarter: the order of floats is that of their bits */
        emit_copy(e, t, x86_constant32(e->x, QUARTER));
        op(e, X86_VPSUBD, t, t, x86_reg(whole));
    }
    emit_done(e, whole);
    unsigned r = sine ? sine_series(e, size) : cosine_series(e, size);
    unsigned rest = values_temporary(&e->values);
    if (sine) { /* the cosine is the same of what is negative */
        op(e, X86_VSUBPS, rest, size, number(e, 0.25f));
    } else {
        emit_copy(e, rest, number(e, 0.25f));
        op(e, X86_VSUBPS, rest, rest, x86_reg(size));
    }
    unsigned far = sine ? cosine_series(e, rest) : sine_series(e, rest);
    unsigned beyond =
        emit_test(e, X86_VPCMPD, size, number(e, sine ? SIN_LIMIT : COS_LIMIT), x86_imm(GREATER));
    x86_vector(e->x, X86_VPBLENDMD, r, r, x86_reg(far), x86_masked(beyond));
    emit_mask_done(e, beyond);
    emit_done(e, far);
    emit_done(e, rest);
    op(e, X86_VPANDD, t, t, x86_constant32(e->x, SIGN32));
    op(e, X86_VPXORD, r, r, x86_reg(t));
    op(e, X86_VPANDD, size, x, x86_constant32(e->x, ~SIGN32));
    turn_or_special(e, r, x, size, t);
    emit_result(e, r);
}
