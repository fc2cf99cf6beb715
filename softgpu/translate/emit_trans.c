/*
 * 2^x, the logarithm and the reciprocal square root: the operations of valu/core_trans.h in its
 * order, and so its bits. Strips do not depend on each other, so that the host computes several at
 * once.
 */
#include <string.h>

#include "translate/emit.h"
#include "valu/trans_constants.h"

enum { NOT_LESS = 0x15, EQUAL = 0x00, TO_NEAREST = 8 };
#define INFINITY32 UINT32_C(0x7f800000)
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

EMIT(exp2)
{
    static const float coefficients[] = {EXP2_6, EXP2_5, EXP2_4, EXP2_3, EXP2_2, EXP2_1, EXP2_0, 1};
    unsigned x = source_copy(e, 0, 0);
    emit_flush(e, x);
    unsigned above = emit_form(e, X86_VMAXPS, number_host(e, -200), x86_reg(x)); /* a NaN stays */
    unsigned t = emit_form(e, X86_VMINPS, number_host(e, 200), x86_reg(above));
    unsigned whole = emit_form_imm(e, X86_VRNDSCALEPS, 0, x86_reg(t), TO_NEAREST);
    unsigned rest = emit_form(e, X86_VSUBPS, t, x86_reg(whole));
    unsigned p = polynomial(e, rest, coefficients, 8);
    unsigned r = emit_form(e, X86_VSCALEFPS, p, x86_reg(whole));
    unsigned special =
        emit_test(e, X86_VCMPPS, x, x86_constant32(e->x, INFINITY32), x86_imm(NOT_LESS));
    x86_vector(e->x, X86_VADDPS, r, x, x86_reg(x), x86_masked(special));
    emit_flush(e, r);
    emit_result(e, r);
}

EMIT(log2)
{
    static const float coefficients[] = {LOG2_9, LOG2_8, LOG2_7, LOG2_6,
                                         LOG2_5, LOG2_4, LOG2_3, LOG2_2};
    unsigned x = source_copy(e, 0, 0);
    emit_flush(e, x);
    unsigned exponent = emit_form(e, X86_VPSUBD, x, x86_constant32(e->x, LOG2_BOUNDARY));
    x86_shift(e->x, X86_VPSRAD_IMM, exponent, exponent, 23);
    unsigned scale = emit_shift_imm(e, X86_VPSLLD_IMM, exponent, 23);
    unsigned mantissa = emit_form(e, X86_VPSUBD, x, x86_reg(scale));
    unsigned f = emit_form(e, X86_VSUBPS, mantissa, number(e, 1));
    unsigned p = polynomial(e, f, coefficients, 8);
    unsigned first = number_host(e, LOG2_FIRST), most = number_host(e, LOG2_SECOND);
    fused(e, X86_VFMADD213PS, most, f, x86_reg(first));
    unsigned short_of = emit_form(e, X86_VSUBPS, first, x86_reg(most));
    unsigned lost = number_host(e, LOG2_SECOND);
    fused(e, X86_VFMADD213PS, lost, f, x86_reg(short_of));
    unsigned least = emit_form(e, X86_VADDPS, lost, number(e, LOG2_FIRST_REST));
    fused(e, X86_VFMADD213PS, p, emit_form(e, X86_VMULPS, f, x86_reg(f)), x86_reg(least));
    unsigned r = emit_form(e, X86_VMULPS, p, x86_reg(f));
    fused(e, X86_VFMADD231PS, r, f, x86_reg(most));
    unsigned whole = emit_form(e, X86_VCVTDQ2PS, 0, x86_reg(exponent));
    unsigned sum = emit_form(e, X86_VADDPS, r, x86_reg(whole));
    x86_vector(e->x, X86_VFIXUPIMMPS, sum, x, x86_constant32(e->x, LOG_ANSWERS), x86_imm(0));
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
