/* Where the sources of the instruction being translated are. */
#include "translate/emit.h"
#include "wave/wave.h"

#define SIGN16 UINT32_C(0x8000)
#define SIGN32 UINT32_C(0x80000000)
#define SIGN64 UINT64_C(0x8000000000000000)

bool source_is_scalar(const struct inst *inst, int n)
{
    return inst->src[n].kind == OPND_SREG || inst->src[n].kind == OPND_CONST;
}
bool source_is_constant(const struct inst *inst, int n)
{
    return inst->src[n].kind == OPND_CONST;
}

struct place operand_place(const struct operand *operand)
{
    return (struct place){.accumulation = operand->kind == OPND_AGPR, .index = operand->index};
}

static struct place dword_place(const struct operand *operand, int dword)
{
    struct place place = operand_place(operand);
    place.index = (uint16_t)(place.index + dword);
    return place;
}

static struct x86_rm scalar_rm(struct emitter *e, const struct operand *operand, int dword)
{
    if (operand->kind == OPND_CONST)
        return x86_constant32(e->x, (uint32_t)(operand->value >> 32 * dword));
    return x86_memory(RDI, (int32_t)(4 * (operand->index + (unsigned)dword)), true);
}

/* Everything else is a temporary: signs change it. */
static bool has_signs(const struct emitter *e, int n)
{
    bool accumulator = n == 2 && e->operation->flags & ACCUMULATES;
    return e->operation->flags & SIGNS && !accumulator && (e->inst->neg | e->inst->abs) >> n & 1;
}

static bool is_half(const struct operand *operand)
{
    return operand->type == TYPE_F16 || operand->type == TYPE_B16 || operand->type == TYPE_I16 ||
           operand->type == TYPE_U16;
}
static unsigned with_signs(struct emitter *e, int n, unsigned host, bool wide)
{
    bool negate = e->inst->neg >> n & 1, absolute = e->inst->abs >> n & 1;
    uint32_t bit = is_half(&e->inst->src[n]) ? SIGN16 : SIGN32;
    struct x86_rm sign = wide ? x86_constant64(e->x, SIGN64) : x86_constant32(e->x, bit);
    struct x86_rm rest = wide ? x86_constant64(e->x, ~SIGN64) : x86_constant32(e->x, ~bit);
    unsigned dst;
    if (absolute && !negate)
        dst = emit_form(e, wide ? X86_VPANDQ : X86_VPANDD, host, rest);
    else if (absolute)
        dst = emit_form(e, wide ? X86_VPORQ : X86_VPORD, host, sign);
    else
        dst = emit_form(e, wide ? X86_VPXORQ : X86_VPXORD, host, sign);
    values_release(&e->values, host);
    return dst;
}

static const struct operand *operand_of(const struct emitter *e, int n)
{
    bool accumulator = n == 2 && e->operation->flags & ACCUMULATES;
    return accumulator ? &e->inst->dst : &e->inst->src[n];
}

unsigned source_host(struct emitter *e, int n, int dword)
{
    const struct operand *operand = operand_of(e, n);
    unsigned host;
    if (operand->kind == OPND_SREG || operand->kind == OPND_CONST) {
        host = values_temporary(&e->values);
        emit_copy(e, host, scalar_rm(e, operand, dword));
    } else {
        host = values_row(&e->values, dword_place(operand, dword));
    }
    host = source_modified(e, n, host);
    return has_signs(e, n) ? with_signs(e, n, host, false) : host;
}

struct x86_rm source_rm(struct emitter *e, int n, int dword)
{
    const struct operand *operand = operand_of(e, n);
    bool scalar = operand->kind == OPND_SREG || operand->kind == OPND_CONST;
    if (scalar && !has_signs(e, n) && !source_is_modified(e, n))
        return scalar_rm(e, operand, dword);
    return x86_reg(source_host(e, n, dword));
}

unsigned source_copy(struct emitter *e, int n, int dword)
{
    struct x86_rm rm = source_rm(e, n, dword);
    unsigned host = values_temporary(&e->values);
    emit_copy(e, host, rm);
    return host;
}

static struct x86_rm scalar_pair_rm(struct emitter *e, const struct operand *operand)
{
    if (operand->kind == OPND_CONST)
        return x86_constant64(e->x, operand->value);
    return x86_memory(RDI, 4 * operand->index, true);
}

unsigned source_pair_host(struct emitter *e, int n, unsigned half)
{
    const struct operand *operand = operand_of(e, n);
    unsigned host;
    if (operand->kind == OPND_SREG || operand->kind == OPND_CONST) {
        struct x86_rm rm = scalar_pair_rm(e, operand);
        rm.broadcast = false; /* the instruction is one */
        host = values_temporary(&e->values);
        x86_vector(e->x, X86_VPBROADCASTQ, host, 0, rm, (struct x86_option){0});
    } else {
        host = values_pair(&e->values, operand_place(operand), half);
    }
    return has_signs(e, n) ? with_signs(e, n, host, true) : host;
}

struct x86_rm source_pair_rm(struct emitter *e, int n, unsigned half)
{
    const struct operand *operand = operand_of(e, n);
    bool scalar = operand->kind == OPND_SREG || operand->kind == OPND_CONST;
    if (scalar && !has_signs(e, n))
        return scalar_pair_rm(e, operand);
    return x86_reg(source_pair_host(e, n, half));
}

unsigned emit_form(struct emitter *e, enum x86_form form, unsigned a, struct x86_rm b)
{
    unsigned dst = values_temporary(&e->values);
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
    return dst;
}
unsigned emit_form_imm(struct emitter *e, enum x86_form form, unsigned a, struct x86_rm b,
                       unsigned imm)
{
    unsigned dst = values_temporary(&e->values);
    x86_vector(e->x, form, dst, a, b, x86_imm(imm));
    return dst;
}
unsigned emit_shift_imm(struct emitter *e, enum x86_form form, unsigned a, unsigned bits)
{
    unsigned dst = values_temporary(&e->values);
    x86_shift(e->x, form, dst, a, bits);
    return dst;
}

void emit_copy(struct emitter *e, unsigned dst, struct x86_rm rm)
{
    bool broadcast = rm.kind != X86_REGISTER && rm.broadcast;
    rm.broadcast = false;
    x86_vector(e->x, broadcast ? X86_VPBROADCASTD : X86_VMOVDQA32_LOAD, dst, 0, rm,
               (struct x86_option){0});
}

void emit_done(struct emitter *e, unsigned host)
{
    values_release(&e->values, host);
}

void emit_mask_done(struct emitter *e, unsigned k)
{
    values_mask_release(&e->values, k);
}

unsigned emit_test(struct emitter *e, enum x86_form form, unsigned a, struct x86_rm b,
                   struct x86_option option)
{
    unsigned k = values_mask_temporary(&e->values);
    x86_vector(e->x, form, k, a, b, option);
    return k;
}

unsigned emit_exec(const struct emitter *e)
{
    return e->values.masked ? MASK_EXEC : 0;
}

void emit_result(struct emitter *e, unsigned host)
{
    result_modified(e, host);
    values_set_row(&e->values, operand_place(&e->inst->dst), host);
}
void emit_result_wide(struct emitter *e, unsigned low, unsigned high)
{
    values_set_row(&e->values, dword_place(&e->inst->dst, 0), low);
    values_set_row(&e->values, dword_place(&e->inst->dst, 1), high);
}
void emit_result_pair(struct emitter *e, const unsigned halves[2])
{
    values_set_pair(&e->values, operand_place(&e->inst->dst), halves[0], halves[1]);
}
void emit_mask_result(struct emitter *e, unsigned mask)
{
    mask_modified(e, mask);
    values_set_mask(&e->values, operation_mask_out(e->operation, e->inst), mask);
}
