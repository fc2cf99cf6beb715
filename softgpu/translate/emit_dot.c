/*
 * Sums of products of a dword's parts, and multiply-adds that flush denormals whatever MODE says,
 * for which the host's floating-point state is another one.
 */
#include "translate/emit.h"

#define SIGN32 UINT32_C(0x80000000)
enum { WORD_BITS = 16, BYTE_BITS = 8 };

static void op(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}

/* The odd bytes, and the even ones, as words. */
static unsigned odd_bytes(struct emitter *e, unsigned host, bool is_signed)
{
    return emit_shift_imm(e, is_signed ? X86_VPSRAW_IMM : X86_VPSRLW_IMM, host, BYTE_BITS);
}
static unsigned even_bytes(struct emitter *e, unsigned host, bool is_signed)
{
    if (!is_signed)
        return emit_form(e, X86_VPANDD, host, x86_constant32(e->x, 0x00ff00ff));
    unsigned words = emit_shift_imm(e, X86_VPSLLW_IMM, host, BYTE_BITS);
    x86_shift(e->x, X86_VPSRAW_IMM, words, words, BYTE_BITS);
    return words;
}
/* sum + c where it is no number of 32 bits: the nearest one, whose sign is the sum's. */
static void add_bounded(struct emitter *e, unsigned sum, unsigned c)
{
    enum { SIGN = 31, LESS = 1, TABLE_OVERFLOWS = 0x42 };
    if (!e->operation->argument) {
        op(e, X86_VPADDD, sum, sum, x86_reg(c));
        unsigned over = emit_test(e, X86_VPCMPUD, sum, x86_reg(c), x86_imm(LESS));
        struct x86_rm most = x86_constant32(e->x, UINT32_MAX);
        most.broadcast = false;
        x86_vector(e->x, X86_VPBROADCASTD, sum, 0, most, x86_masked(over));
        return;
    }
    unsigned limit = emit_shift_imm(e, X86_VPSRAD_IMM, c, SIGN),
             other = values_temporary(&e->values);
    op(e, X86_VPXORD, limit, limit, x86_constant32(e->x, INT32_MAX));
    emit_copy(e, other, x86_reg(sum));
    op(e, X86_VPADDD, sum, sum, x86_reg(c));
    /* Both addends' signs are not the sum's. */
    x86_vector(e->x, X86_VPTERNLOGD, other, c, x86_reg(sum), x86_imm(TABLE_OVERFLOWS));
    unsigned over = emit_test(e, X86_VPMOVD2M, 0, x86_reg(other), (struct x86_option){0});
    x86_vector(e->x, X86_VPBLENDMD, sum, sum, x86_reg(limit), x86_masked(over));
}
static void result_dot(struct emitter *e, unsigned sum)
{
    unsigned c = source_host(e, 2, 0);
    if (e->inst->flags & IF_CLAMP)
        add_bounded(e, sum, c);
    else
        op(e, X86_VPADDD, sum, sum, x86_reg(c));
    emit_result(e, sum);
}
/* The argument: whether they have signs. */
EMIT(dot4)
{
    const bool is_signed = e->operation->argument;
    unsigned a = source_host(e, 0, 0), b = source_host(e, 1, 0);
    unsigned sum = odd_bytes(e, a, is_signed), other = odd_bytes(e, b, is_signed);
    op(e, X86_VPMADDWD, sum, sum, x86_reg(other));
    unsigned even = even_bytes(e, a, is_signed), rest = even_bytes(e, b, is_signed);
    op(e, X86_VPMADDWD, even, even, x86_reg(rest));
    op(e, X86_VPADDD, sum, sum, x86_reg(even));
    emit_done(e, other);
    emit_done(e, even);
    emit_done(e, rest);
    result_dot(e, sum);
}
/* Without clamp: the sum may be 2^31. */
EMIT(dot2_signed)
{
    unsigned a = source_pairs(e, 0);
    result_dot(e, emit_form(e, X86_VPMADDWD, a, x86_reg(source_pairs(e, 1))));
}
bool accepts_unclamped(const struct inst *inst)
{
    return !(inst->flags & IF_CLAMP);
}

/* Product and sum round one after the other. */
EMIT(mad)
{
    unsigned a = source_copy(e, 0, 0);
    op(e, X86_VMULPS, a, a, source_rm(e, 1, 0));
    op(e, X86_VADDPS, a, a, source_rm(e, 2, 0));
    emit_result(e, a);
}

/* A half as a float; gfx90a takes denormal ones for zeros. */
static unsigned half_widened(struct emitter *e, unsigned pairs, bool high)
{
    enum { LEAST_NORMAL = 0x38800000, LESS = 1 };
    unsigned r = values_temporary(&e->values);
    if (high)
        x86_shift(e->x, X86_VPSRLD_IMM, r, pairs, WORD_BITS);
    op(e, X86_VPMOVDW, high ? r : pairs, 0, x86_reg(r));
    op(e, X86_VCVTPH2PS, r, 0, x86_reg(r));
    if (!(e->inst->flags & IF_FLUSH_F16))
        return r;
    unsigned size = emit_form(e, X86_VPANDD, r, x86_constant32(e->x, ~SIGN32));
    unsigned k = emit_test(e, X86_VPCMPD, size, x86_constant32(e->x, LEAST_NORMAL), x86_imm(LESS));
    x86_vector(e->x, X86_VPANDD, r, r, x86_constant32(e->x, SIGN32), x86_masked(k));
    emit_mask_done(e, k);
    emit_done(e, size);
    return r;
}
/* As in valu/: products are exact, and added from left to right. */
EMIT(dot2_half)
{
    unsigned a = source_pairs(e, 0), b = source_pairs(e, 1), sums[2];
    for (int high = 0; high < 2; high++) {
        sums[high] = half_widened(e, a, high);
        unsigned other = half_widened(e, b, high);
        op(e, X86_VMULPS, sums[high], sums[high], x86_reg(other));
        emit_done(e, other);
    }
    op(e, X86_VADDPS, sums[0], sums[0], x86_reg(sums[1]));
    op(e, X86_VADDPS, sums[0], sums[0], source_rm(e, 2, 0));
    emit_result(e, sums[0]);
}
/* v_dot2_f32_f16, of VOP3P, ignores CLAMP. */
bool accepts_plain_sum(const struct inst *inst)
{
    const bool clamps = inst->flags & IF_CLAMP && inst->format != FMT_VOP3P;
    return !clamps && !(inst->neg >> 2 & 1);
}
