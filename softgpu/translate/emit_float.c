/*
 * Floating-point operations. MXCSR is the wave's, as it is in the interpreter; what the interpreter
 * multiplies by one, so that denormals are flushed and NaNs quieted as it says, is here, too.
 */
#include "translate/emit.h"

#define ONE32      UINT32_C(0x3f800000)
#define SIGN32     UINT32_C(0x80000000)
#define EXPONENT32 UINT32_C(0x7f800000)

static unsigned times_one(struct emitter *e, unsigned host)
{
    return emit_form(e, X86_VMULPS, host, x86_constant32(e->x, ONE32));
}

/* a * b + c: c's register is the sum's where c is the destination, else a's copy is. */
static unsigned fused(struct emitter *e, bool into_c, unsigned a_or_c, unsigned b,
                      struct x86_rm rest)
{
    x86_vector(e->x, into_c ? X86_VFMADD231PS : X86_VFMADD213PS, a_or_c, b, rest,
               (struct x86_option){0});
    return a_or_c;
}
static bool is_destination(const struct emitter *e, int n)
{
    const struct inst *i = e->inst;
    return i->src[n].kind == i->dst.kind && i->src[n].index == i->dst.index;
}
static bool signs_of(const struct emitter *e, int n)
{
    return (e->inst->neg | e->inst->abs) >> n & 1;
}
EMIT(fma)
{
    bool accumulates = e->operation->flags & ACCUMULATES;
    bool is_kept = result_is_partial(e); /* some of the destination */
    if (!is_kept && (accumulates || (is_destination(e, 2) && !signs_of(e, 2)))) {
        int first = source_is_scalar(e->inst, 0) ? 1 : 0;
        unsigned a = source_host(e, first, 0);
        struct x86_rm b = source_rm(e, !first, 0);
        unsigned c = values_take_row(&e->values, operand_place(&e->inst->dst));
        /* A factor that was the destination itself is in the register that it was in. */
        emit_result(e, fused(e, true, c, a, b));
        return;
    }
    unsigned a = source_copy(e, 0, 0), b = source_host(e, 1, 0);
    emit_result(e, fused(e, false, a, b, source_rm(e, 2, 0)));
}

EMIT(min_max)
{
    int first = source_is_scalar(e->inst, 0) ? 1 : 0;
    unsigned a = source_host(e, first, 0);
    unsigned r = emit_form_imm(e, X86_VRANGEPS, a, source_rm(e, !first, 0), e->operation->argument);
    emit_result(e, times_one(e, r));
}

EMIT(min_max3)
{
    const unsigned argument = e->operation->argument;
    unsigned a = source_host(e, 0, 0);
    unsigned ab = emit_form_imm(e, X86_VRANGEPS, a, source_rm(e, 1, 0), argument);
    unsigned r = emit_form_imm(e, X86_VRANGEPS, ab, source_rm(e, 2, 0), argument);
    emit_result(e, times_one(e, r));
}

static unsigned most(struct emitter *e, unsigned a, unsigned b)
{
    enum { RANGE_MAX = 5 };
    return emit_form_imm(e, X86_VRANGEPS, a, x86_reg(b), RANGE_MAX);
}
static unsigned compared(struct emitter *e, unsigned a, unsigned b, unsigned predicate)
{
    return emit_test(e, X86_VCMPPS, a, x86_reg(b), x86_imm(predicate));
}
static void blend(struct emitter *e, unsigned host, unsigned other, unsigned k)
{
    x86_vector(e->x, X86_VPBLENDMD, host, host, x86_reg(other), x86_masked(k));
    emit_mask_done(e, k);
    emit_done(e, other);
}
/* As med_f32() in valu/: the greater of those that are left without the greatest; with a NaN among
 * them their minimum. */
EMIT(med3_float)
{
    enum { EQUAL = 0, UNORDERED = 3, RANGE_MIN = 4 };
    unsigned a = source_copy(e, 0, 0), b = source_copy(e, 1, 0), c = source_copy(e, 2, 0);
    unsigned r = most(e, a, b), greatest = most(e, r, c);
    unsigned is_b = compared(e, greatest, b, EQUAL);
    blend(e, r, most(e, a, c), is_b);
    unsigned is_a = compared(e, greatest, a, EQUAL);
    emit_done(e, greatest);
    blend(e, r, most(e, b, c), is_a);
    unsigned nan = compared(e, a, b, UNORDERED), nan_c = compared(e, c, c, UNORDERED);
    x86_mask_or(e->x, nan, nan, nan_c);
    emit_mask_done(e, nan_c);
    unsigned ab = emit_form_imm(e, X86_VRANGEPS, a, x86_reg(b), RANGE_MIN);
    emit_done(e, a);
    emit_done(e, b);
    unsigned least = emit_form_imm(e, X86_VRANGEPS, ab, x86_reg(c), RANGE_MIN);
    blend(e, r, least, nan);
    emit_result(e, times_one(e, r));
}
/* Never one. */
EMIT(fract)
{
    enum { ROUND_DOWN = 9, NOT_LESS = 0x1d };
    unsigned a = source_host(e, 0, 0);
    unsigned whole = emit_form_imm(e, X86_VRNDSCALEPS, 0, x86_reg(a), ROUND_DOWN);
    unsigned r = emit_form(e, X86_VSUBPS, a, x86_reg(whole));
    unsigned one = emit_test(e, X86_VCMPPS, r, x86_constant32(e->x, ONE32), x86_imm(NOT_LESS));
    struct x86_rm below = x86_constant32(e->x, ONE32 - 1);
    below.broadcast = false;
    x86_vector(e->x, X86_VPBROADCASTD, r, 0, below, x86_masked(one));
    emit_result(e, r);
}

EMIT(unary)
{
    emit_result(e, emit_form(e, e->operation->form, 0, source_rm(e, 0, 0)));
}
EMIT(round)
{
    struct x86_rm a = source_rm(e, 0, 0);
    emit_result(e, times_one(e, emit_form_imm(e, X86_VRNDSCALEPS, 0, a, e->operation->argument)));
}

/* Denormals become zeros of their sign, whatever the mode says. */
void emit_flush(struct emitter *e, unsigned host)
{
    unsigned k =
        emit_test(e, X86_VPTESTNMD, host, x86_constant32(e->x, EXPONENT32), (struct x86_option){0});
    x86_vector(e->x, X86_VPANDD, host, host, x86_constant32(e->x, SIGN32), x86_masked(k));
    emit_mask_done(e, k);
}
EMIT(reciprocal)
{
    unsigned a = source_copy(e, 0, 0), one = values_temporary(&e->values);
    emit_flush(e, a);
    emit_copy(e, one, x86_constant32(e->x, ONE32));
    unsigned r = emit_form(e, X86_VDIVPS, one, x86_reg(a));
    emit_flush(e, r);
    emit_result(e, r);
}
EMIT(square_root)
{
    unsigned a = source_copy(e, 0, 0);
    emit_flush(e, a);
    emit_result(e, emit_form(e, X86_VSQRTPS, 0, x86_reg(a)));
}

/* Truncated; too large is the largest, a NaN 0. */
EMIT(i32_of_f32)
{
    enum { UNORDERED = 3, GREATER_EQUAL = 0x1d };
    unsigned a = source_host(e, 0, 0);
    unsigned large =
        emit_test(e, X86_VCMPPS, a, x86_constant32(e->x, 0x4f000000), x86_imm(GREATER_EQUAL));
    unsigned nan = emit_test(e, X86_VCMPPS, a, x86_reg(a), x86_imm(UNORDERED));
    unsigned r = emit_form(e, X86_VCVTTPS2DQ, 0, x86_reg(a));
    struct x86_rm most = x86_constant32(e->x, INT32_MAX);
    most.broadcast = false;
    x86_vector(e->x, X86_VPBROADCASTD, r, 0, most, x86_masked(large));
    x86_vector(e->x, X86_VPXORD, r, r, x86_reg(r), x86_masked(nan));
    emit_result(e, r);
}
/* The host's maximum is its second source if the first one is a NaN. */
EMIT(u32_of_f32)
{
    unsigned a = source_host(e, 0, 0);
    unsigned bounded = emit_form(e, X86_VMAXPS, a, x86_constant32(e->x, 0));
    emit_result(e, emit_form(e, X86_VCVTTPS2UDQ, 0, x86_reg(bounded)));
}
EMIT(f32_of_byte)
{
    unsigned a = source_host(e, 0, 0);
    unsigned shifted = emit_shift_imm(e, X86_VPSRLD_IMM, a, 8 * e->operation->argument);
    unsigned byte = emit_form(e, X86_VPANDD, shifted, x86_constant32(e->x, 0xff));
    emit_result(e, emit_form(e, X86_VCVTDQ2PS, 0, x86_reg(byte)));
}

/* Packed f32: for each half of the result, which dword of a source, and its sign. */
static struct x86_rm packed_rm(struct emitter *e, int n, int half)
{
    const struct inst *i = e->inst;
    int dword = (half ? i->op_sel_hi : i->op_sel) >> n & 1;
    bool negate = (half ? i->neg_hi : i->neg) >> n & 1;
    struct x86_rm rm = source_rm(e, n, dword);
    if (!negate)
        return rm;
    unsigned host = values_temporary(&e->values);
    emit_copy(e, host, rm);
    if (rm.kind == X86_REGISTER)
        emit_done(e, rm.reg);
    x86_vector(e->x, X86_VPXORD, host, host, x86_constant32(e->x, SIGN32), (struct x86_option){0});
    return x86_reg(host);
}
static unsigned packed_host(struct emitter *e, int n, int half)
{
    struct x86_rm rm = packed_rm(e, n, half);
    if (rm.kind == X86_REGISTER)
        return rm.reg;
    unsigned host = values_temporary(&e->values);
    emit_copy(e, host, rm);
    return host;
}
EMIT(packed)
{
    unsigned r[2];
    for (int half = 0; half < 2; half++) {
        unsigned a = packed_host(e, 0, half);
        r[half] = emit_form(e, e->operation->form, a, packed_rm(e, 1, half));
    }
    emit_result_wide(e, r[0], r[1]);
}
EMIT(packed_fma)
{
    unsigned r[2];
    for (int half = 0; half < 2; half++) {
        unsigned a = packed_host(e, 0, half), b = packed_host(e, 1, half);
        r[half] = values_temporary(&e->values);
        emit_copy(e, r[half], x86_reg(a));
        fused(e, false, r[half], b, packed_rm(e, 2, half));
    }
    emit_result_wide(e, r[0], r[1]);
}

/* Double precision. */
EMIT(binary_pair)
{
    unsigned r[2];
    int first = source_is_scalar(e->inst, 0) ? 1 : 0;
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, first, half);
        r[half] = emit_form(e, e->operation->form, a, source_pair_rm(e, !first, half));
    }
    emit_result_pair(e, r);
}
EMIT(fma_pair)
{
    bool into_c = e->operation->flags & ACCUMULATES || (is_destination(e, 2) && !signs_of(e, 2));
    unsigned a[2], b[2], r[2];
    struct x86_rm c[2];
    for (unsigned half = 0; half < 2; half++) {
        a[half] = source_pair_host(e, 0, half);
        b[half] = source_pair_host(e, 1, half);
        if (!into_c)
            c[half] = source_pair_rm(e, 2, half);
    }
    if (into_c)
        values_take_pair(&e->values, operand_place(&e->inst->dst), r);
    for (unsigned half = 0; half < 2; half++) {
        if (into_c) {
            x86_vector(e->x, X86_VFMADD231PD, r[half], a[half], x86_reg(b[half]),
                       (struct x86_option){0});
            continue;
        }
        r[half] = values_temporary(&e->values);
        emit_copy(e, r[half], x86_reg(a[half]));
        x86_vector(e->x, X86_VFMADD213PD, r[half], b[half], c[half], (struct x86_option){0});
    }
    emit_result_pair(e, r);
}
