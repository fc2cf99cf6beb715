/* Integer operations of two dwords, which stay in registers of low and of high dwords. */
#include "translate/emit.h"

/*
 * Shifts by a vector of counts. The host's give 0 for counts of 32 and more, negative ones among
 * them, so that of the two parts of the dword into which bits move the wrong one vanishes by
 * itself.
 */
struct counts {
    unsigned bits, rest, beyond; /* n modulo 64; 32 - n; n - 32 */
};
static struct counts counts_of(struct emitter *e, int n, uint32_t modulo)
{
    struct counts c;
    unsigned thirty_two = values_temporary(&e->values);
    c.bits = values_temporary(&e->values);
    emit_copy(e, c.bits, x86_constant32(e->x, modulo));
    x86_vector(e->x, X86_VPANDD, c.bits, c.bits, source_rm(e, n, 0), (struct x86_option){0});
    emit_copy(e, thirty_two, x86_constant32(e->x, 32));
    c.rest = emit_form(e, X86_VPSUBD, thirty_two, x86_reg(c.bits));
    c.beyond = emit_form(e, X86_VPSUBD, c.bits, x86_reg(thirty_two));
    emit_done(e, thirty_two);
    return c;
}
static void counts_done(struct emitter *e, struct counts c)
{
    emit_done(e, c.bits);
    emit_done(e, c.rest);
    emit_done(e, c.beyond);
}

enum { OR3 = 0xfe };
struct wide {
    unsigned low, high;
};

static struct wide left_by_vector(struct emitter *e, struct wide a, struct counts c)
{
    unsigned high = emit_form(e, X86_VPSLLVD, a.high, x86_reg(c.bits));
    unsigned across = emit_form(e, X86_VPSRLVD, a.low, x86_reg(c.rest));
    unsigned beyond = emit_form(e, X86_VPSLLVD, a.low, x86_reg(c.beyond));
    x86_vector(e->x, X86_VPTERNLOGD, high, across, x86_reg(beyond), x86_imm(OR3));
    struct wide r = {emit_form(e, X86_VPSLLVD, a.low, x86_reg(c.bits)), high};
    emit_done(e, across);
    emit_done(e, beyond);
    counts_done(e, c);
    return r;
}
static struct wide right_by_vector(struct emitter *e, struct wide a, struct counts c)
{
    unsigned low = emit_form(e, X86_VPSRLVD, a.low, x86_reg(c.bits));
    unsigned across = emit_form(e, X86_VPSLLVD, a.high, x86_reg(c.rest));
    unsigned beyond = emit_form(e, X86_VPSRLVD, a.high, x86_reg(c.beyond));
    x86_vector(e->x, X86_VPTERNLOGD, low, across, x86_reg(beyond), x86_imm(OR3));
    return (struct wide){low, emit_form(e, X86_VPSRLVD, a.high, x86_reg(c.bits))};
}

static unsigned zero(struct emitter *e)
{
    unsigned dst = values_temporary(&e->values);
    x86_vector(e->x, X86_VPXORD, dst, dst, x86_reg(dst), (struct x86_option){0});
    return dst;
}
/* a << bits | b >> (32 - bits), or the other way round; bits is not 0. */
static unsigned across(struct emitter *e, enum x86_form form, unsigned a, enum x86_form other,
                       unsigned b, unsigned bits)
{
    unsigned dst = emit_shift_imm(e, form, a, bits), rest = emit_shift_imm(e, other, b, 32 - bits);
    x86_vector(e->x, X86_VPORD, dst, dst, x86_reg(rest), (struct x86_option){0});
    return dst;
}
static unsigned same(struct emitter *e, unsigned host)
{
    unsigned dst = values_temporary(&e->values);
    emit_copy(e, dst, x86_reg(host));
    return dst;
}

static struct wide left_by_constant(struct emitter *e, struct wide a, unsigned n)
{
    if (n == 0)
        return (struct wide){same(e, a.low), same(e, a.high)};
    if (n >= 32)
        return (struct wide){zero(e), emit_shift_imm(e, X86_VPSLLD_IMM, a.low, n - 32)};
    return (struct wide){emit_shift_imm(e, X86_VPSLLD_IMM, a.low, n),
                         across(e, X86_VPSLLD_IMM, a.high, X86_VPSRLD_IMM, a.low, n)};
}
/* `form`: what the high dword is shifted by. */
static struct wide right_by_constant(struct emitter *e, struct wide a, unsigned n,
                                     enum x86_form form)
{
    if (n == 0)
        return (struct wide){same(e, a.low), same(e, a.high)};
    if (n < 32)
        return (struct wide){across(e, X86_VPSRLD_IMM, a.low, X86_VPSLLD_IMM, a.high, n),
                             emit_shift_imm(e, form, a.high, n)};
    unsigned high = form == X86_VPSRAD_IMM ? emit_shift_imm(e, form, a.high, 31) : zero(e);
    return (struct wide){emit_shift_imm(e, form, a.high, n - 32), high};
}

static struct wide source_wide(struct emitter *e, int n)
{
    unsigned low = source_host(e, n, 0);
    return (struct wide){low, source_host(e, n, 1)};
}
static void result_wide(struct emitter *e, struct wide value)
{
    emit_result_wide(e, value.low, value.high);
}

EMIT(shift_left_wide)
{
    struct wide a = source_wide(e, 1);
    if (source_is_constant(e->inst, 0))
        result_wide(e, left_by_constant(e, a, e->inst->src[0].value & 63));
    else
        result_wide(e, left_by_vector(e, a, counts_of(e, 0, 63)));
}
EMIT(shift_right_wide)
{
    struct wide a = source_wide(e, 1);
    if (source_is_constant(e->inst, 0))
        result_wide(e, right_by_constant(e, a, e->inst->src[0].value & 63, X86_VPSRLD_IMM));
    else
        result_wide(e, right_by_vector(e, a, counts_of(e, 0, 63)));
}
EMIT(shift_arithmetic_wide)
{
    struct wide a = source_wide(e, 1);
    result_wide(e, right_by_constant(e, a, e->inst->src[0].value & 63, X86_VPSRAD_IMM));
}

/* k: the lanes whose sum is less than what was added to it. */
static unsigned carries(struct emitter *e, unsigned total, struct x86_rm part)
{
    enum { LESS = 1 };
    return emit_test(e, X86_VPCMPUD, total, part, x86_imm(LESS));
}
/* Adds one in the lanes of k. */
static void increment(struct emitter *e, unsigned host, unsigned k)
{
    x86_vector(e->x, X86_VPADDD, host, host, x86_constant32(e->x, 1), x86_masked(k));
}
static struct wide add_wide(struct emitter *e, struct wide a, int n, unsigned *carry_low)
{
    struct x86_rm low = source_rm(e, n, 0);
    struct wide r = {.low = emit_form(e, X86_VPADDD, a.low, low)};
    *carry_low = carries(e, r.low, low);
    r.high = emit_form(e, X86_VPADDD, a.high, source_rm(e, n, 1));
    return r;
}

EMIT(lshl_add_wide)
{
    struct wide a = source_wide(e, 0);
    if (source_is_constant(e->inst, 1))
        a = left_by_constant(e, a, e->inst->src[1].value & 7);
    else
        a = left_by_vector(e, a, counts_of(e, 1, 7));
    unsigned carry;
    struct wide r = add_wide(e, a, 2, &carry);
    increment(e, r.high, carry);
    result_wide(e, r);
}

/* All 64 bits of the products; `form` says of which kind. */
static struct wide product_wide(struct emitter *e, enum x86_form form)
{
    unsigned a = source_host(e, 0, 0), b = source_host(e, 1, 0);
    struct wide product = {.low = emit_form(e, X86_VPMULLD, a, x86_reg(b)),
                           .high = emit_form(e, form, a, x86_reg(b))};
    unsigned a_odd = emit_shift_imm(e, X86_VPSRLQ_IMM, a, 32);
    unsigned b_odd = emit_shift_imm(e, X86_VPSRLQ_IMM, b, 32);
    unsigned odd = emit_form(e, form, a_odd, x86_reg(b_odd));
    emit_done(e, a_odd);
    emit_done(e, b_odd);
    x86_shift(e->x, X86_VPSRLQ_IMM, product.high, product.high, 32);
    x86_vector(e->x, X86_VPBLENDMD, product.high, product.high, x86_reg(odd), x86_masked(MASK_ODD));
    emit_done(e, odd);
    return product;
}

static void result_overflow(struct emitter *e, unsigned k)
{
    if (emit_exec(e))
        x86_mask_and(e->x, k, k, MASK_EXEC);
    emit_mask_result(e, k);
}

/* a * b + c. The high dword overflows when it is less than c's, or by the low one's carry. */
EMIT(mad_wide)
{
    struct wide product = product_wide(e, X86_VPMULUDQ);
    unsigned carry;
    struct wide r = add_wide(e, product, 2, &carry);
    unsigned over = carries(e, r.high, source_rm(e, 2, 1));
    increment(e, r.high, carry);
    unsigned wrapped = emit_test(e, X86_VPTESTNMD, r.high, x86_reg(r.high), x86_masked(carry));
    x86_mask_or(e->x, over, over, wrapped);
    result_wide(e, r);
    result_overflow(e, over);
}

/* It is overflow when both addends have the other sign than the sum. */
EMIT(mad_wide_signed)
{
    struct wide product = product_wide(e, X86_VPMULDQ);
    unsigned carry;
    struct wide r = add_wide(e, product, 2, &carry);
    increment(e, r.high, carry);
    unsigned one = emit_form(e, X86_VPXORD, product.high, x86_reg(r.high));
    unsigned other = emit_form(e, X86_VPXORD, r.high, source_rm(e, 2, 1));
    unsigned both = emit_form(e, X86_VPANDD, one, x86_reg(other));
    unsigned over = emit_test(e, X86_VPMOVD2M, 0, x86_reg(both), (struct x86_option){0});
    result_wide(e, r);
    result_overflow(e, over);
}
