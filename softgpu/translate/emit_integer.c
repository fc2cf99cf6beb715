/* Integer operations of one dword. */
#include "translate/emit.h"

enum { TERNARY_NOT_C = 0x55, TERNARY_XNOR = 0xc3 };

EMIT(move)
{
    emit_result(e, source_copy(e, 0, 0));
}
EMIT(move_wide)
{
    unsigned low = source_copy(e, 0, 0);
    emit_result_wide(e, low, source_copy(e, 0, 1));
}

/* Each half of the result picks its dword of its own source. */
EMIT(move_packed)
{
    unsigned low = source_copy(e, 0, e->inst->op_sel & 1);
    emit_result_wide(e, low, source_copy(e, 1, e->inst->op_sel >> 1 & 1));
}

EMIT(complement)
{
    struct x86_rm a = source_rm(e, 0, 0);
    unsigned dst = values_temporary(&e->values);
    x86_vector(e->x, X86_VPTERNLOGD, dst, dst, a, x86_imm(TERNARY_NOT_C));
    emit_result(e, dst);
}

/* Only the last source of a host instruction may be a scalar without a register of its own. */
EMIT(binary)
{
    const struct operation *op = e->operation;
    bool swap = op->flags & REVERSED || (op->flags & COMMUTES && source_is_scalar(e->inst, 0));
    int first = swap ? 1 : 0;
    unsigned a = source_host(e, first, 0);
    emit_result(e, emit_form(e, op->form, a, source_rm(e, !first, 0)));
}

EMIT(xnor)
{
    unsigned dst = source_copy(e, 0, 0), b = source_host(e, 1, 0);
    x86_vector(e->x, X86_VPTERNLOGD, dst, b, x86_reg(b), x86_imm(TERNARY_XNOR));
    emit_result(e, dst);
}

/* Any function of three bits: the argument is its table. */
EMIT(logic3)
{
    unsigned dst = source_copy(e, 0, 0), b = source_host(e, 1, 0);
    x86_vector(e->x, X86_VPTERNLOGD, dst, b, source_rm(e, 2, 0), x86_imm(e->operation->argument));
    emit_result(e, dst);
}

struct shift {
    enum x86_form by_constant, by_vector;
};
static const struct shift left = {X86_VPSLLD_IMM, X86_VPSLLVD},
                          right = {X86_VPSRLD_IMM, X86_VPSRLVD},
                          arithmetic = {X86_VPSRAD_IMM, X86_VPSRAVD};

/* Counts are taken modulo 32, which the host's are not. */
static unsigned shifted(struct emitter *e, struct shift shift, unsigned value, int count)
{
    enum { COUNT_BITS = 31 };
    if (source_is_constant(e->inst, count))
        return emit_shift_imm(e, shift.by_constant, value, e->inst->src[count].value & COUNT_BITS);
    unsigned bits = values_temporary(&e->values);
    emit_copy(e, bits, x86_constant32(e->x, COUNT_BITS));
    x86_vector(e->x, X86_VPANDD, bits, bits, source_rm(e, count, 0), (struct x86_option){0});
    return emit_form(e, shift.by_vector, value, x86_reg(bits));
}
EMIT(shift_left)
{
    emit_result(e, shifted(e, left, source_host(e, 1, 0), 0));
}
EMIT(shift_right)
{
    emit_result(e, shifted(e, right, source_host(e, 1, 0), 0));
}
EMIT(shift_arithmetic)
{
    emit_result(e, shifted(e, arithmetic, source_host(e, 1, 0), 0));
}

static unsigned sum(struct emitter *e)
{
    int first = source_is_scalar(e->inst, 0) ? 1 : 0;
    unsigned a = source_host(e, first, 0);
    return emit_form(e, X86_VPADDD, a, source_rm(e, !first, 0));
}
EMIT(add3)
{
    unsigned ab = sum(e);
    emit_result(e, emit_form(e, X86_VPADDD, ab, source_rm(e, 2, 0)));
}
EMIT(lshl_add)
{
    unsigned a = shifted(e, left, source_host(e, 0, 0), 1);
    emit_result(e, emit_form(e, X86_VPADDD, a, source_rm(e, 2, 0)));
}
EMIT(add_lshl)
{
    emit_result(e, shifted(e, left, sum(e), 2));
}
EMIT(lshl_or)
{
    unsigned a = shifted(e, left, source_host(e, 0, 0), 1);
    emit_result(e, emit_form(e, X86_VPORD, a, source_rm(e, 2, 0)));
}
EMIT(xad)
{
    unsigned a = source_host(e, 0, 0);
    unsigned ab = emit_form(e, X86_VPXORD, a, source_rm(e, 1, 0));
    emit_result(e, emit_form(e, X86_VPADDD, ab, source_rm(e, 2, 0)));
}

EMIT(three)
{
    unsigned a = source_host(e, 0, 0);
    unsigned ab = emit_form(e, e->operation->form, a, source_rm(e, 1, 0));
    emit_result(e, emit_form(e, e->operation->form, ab, source_rm(e, 2, 0)));
}
/* max(min(a, b), min(max(a, b), c)); the form is the minimum's, the argument the maximum's. */
EMIT(med3)
{
    enum x86_form min = e->operation->form, max = e->operation->argument;
    unsigned a = source_host(e, 0, 0), b = source_host(e, 1, 0);
    unsigned low = emit_form(e, min, a, x86_reg(b)), high = emit_form(e, max, a, x86_reg(b));
    unsigned rest = emit_form(e, min, high, source_rm(e, 2, 0));
    emit_result(e, emit_form(e, max, low, x86_reg(rest)));
}

/* High dwords of products: of even lanes by a shift, of odd ones as they are. */
static void high_products(struct emitter *e, unsigned a, unsigned b)
{
    unsigned even = emit_form(e, e->operation->form, a, x86_reg(b));
    unsigned a_odd = emit_shift_imm(e, X86_VPSRLQ_IMM, a, 32);
    unsigned b_odd = emit_shift_imm(e, X86_VPSRLQ_IMM, b, 32);
    unsigned odd = emit_form(e, e->operation->form, a_odd, x86_reg(b_odd));
    x86_shift(e->x, X86_VPSRLQ_IMM, even, even, 32);
    x86_vector(e->x, X86_VPBLENDMD, even, even, x86_reg(odd), x86_masked(MASK_ODD));
    emit_result(e, even);
}

static unsigned low24(struct emitter *e, int n)
{
    return emit_form(e, X86_VPANDD, source_host(e, n, 0), x86_constant32(e->x, 0xffffff));
}
static unsigned signed24(struct emitter *e, int n)
{
    unsigned up = emit_shift_imm(e, X86_VPSLLD_IMM, source_host(e, n, 0), 8);
    x86_shift(e->x, X86_VPSRAD_IMM, up, up, 8);
    return up;
}
static unsigned product(struct emitter *e, unsigned a, unsigned b)
{
    return emit_form(e, X86_VPMULLD, a, x86_reg(b));
}
EMIT(mul_hi)
{
    unsigned a = source_host(e, 0, 0);
    high_products(e, a, source_host(e, 1, 0));
}
/* The argument: whether they have signs. */
EMIT(mul_hi_24)
{
    const bool is_signed = e->operation->argument;
    unsigned a = is_signed ? signed24(e, 0) : low24(e, 0);
    high_products(e, a, is_signed ? signed24(e, 1) : low24(e, 1));
}
EMIT(mul_u24)
{
    unsigned a = low24(e, 0);
    emit_result(e, product(e, a, low24(e, 1)));
}
EMIT(mul_i24)
{
    unsigned a = signed24(e, 0);
    emit_result(e, product(e, a, signed24(e, 1)));
}
EMIT(mad_u24)
{
    unsigned a = low24(e, 0), ab = product(e, a, low24(e, 1));
    emit_result(e, emit_form(e, X86_VPADDD, ab, source_rm(e, 2, 0)));
}
EMIT(mad_i24)
{
    unsigned a = signed24(e, 0), ab = product(e, a, signed24(e, 1));
    emit_result(e, emit_form(e, X86_VPADDD, ab, source_rm(e, 2, 0)));
}

/* Fields whose place and width are constants: all that compilers write. */
bool accepts_constant_field(const struct inst *inst)
{
    return source_is_constant(inst, 1) && source_is_constant(inst, 2);
}
bool accepts_constant_shift(const struct inst *inst)
{
    return source_is_constant(inst, 2);
}
bool accepts_constant_count(const struct inst *inst)
{
    return source_is_constant(inst, 0);
}

EMIT(bfe_u32)
{
    unsigned offset = e->inst->src[1].value & 31, width = e->inst->src[2].value & 31;
    unsigned value = emit_shift_imm(e, X86_VPSRLD_IMM, source_host(e, 0, 0), offset);
    struct x86_rm field = x86_constant32(e->x, (1u << width) - 1);
    emit_result(e, emit_form(e, X86_VPANDD, value, field));
}
/* A field that reaches past the top has the sign that is shifted in. */
EMIT(bfe_i32)
{
    unsigned offset = e->inst->src[1].value & 31, width = e->inst->src[2].value & 31;
    unsigned value = source_host(e, 0, 0), up = offset + width < 32 ? 32 - offset - width : 0;
    unsigned dst = emit_shift_imm(e, X86_VPSLLD_IMM, value, up);
    x86_shift(e->x, X86_VPSRAD_IMM, dst, dst, up + offset);
    if (!width)
        x86_vector(e->x, X86_VPXORD, dst, dst, x86_reg(dst), (struct x86_option){0});
    emit_result(e, dst);
}

/* The argument: bits of a step of the count. */
EMIT(alignbit)
{
    unsigned bits = e->inst->src[2].value * e->operation->argument & 31;
    unsigned high = source_host(e, 0, 0), low = source_host(e, 1, 0);
    if (high == low) {
        emit_result(e, emit_shift_imm(e, X86_VPRORD_IMM, low, bits));
        return;
    }
    unsigned dst = emit_shift_imm(e, X86_VPSRLD_IMM, low, bits);
    if (bits) {
        unsigned up = emit_shift_imm(e, X86_VPSLLD_IMM, high, 32 - bits);
        x86_vector(e->x, X86_VPORD, dst, dst, x86_reg(up), (struct x86_option){0});
    }
    emit_result(e, dst);
}

EMIT(ffbh)
{
    unsigned a = source_host(e, 0, 0);
    unsigned none = emit_test(e, X86_VPTESTNMD, a, x86_reg(a), (struct x86_option){0});
    struct x86_rm ones = x86_constant32(e->x, UINT32_MAX);
    ones.broadcast = false;
    unsigned dst = emit_form(e, X86_VPLZCNTD, 0, x86_reg(a));
    x86_vector(e->x, X86_VPBROADCASTD, dst, 0, ones, x86_masked(none));
    emit_result(e, dst);
}
