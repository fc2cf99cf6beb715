/*
 * Scalar instructions whose code is shorter than their handler's call: what compilers put between
 * vector instructions, around branches and where EXEC changes. RBX is the wave.
 */
#include "isa_ops.h"
#include "translate/run.h"

#define WAVE(member) ((int32_t)offsetof(struct wave, member))

enum kind {
    KIND_NONE,
    KIND_MOVE,
    KIND_LOGIC, /* SCC: is it not 0 */
    KIND_NOT,
    KIND_SHIFT,
    KIND_SUM,   /* SCC: the condition */
    KIND_CARRY, /* and in */
    KIND_PRODUCT,
    KIND_SELECT,
    KIND_COMPARE,
    KIND_SAVE /* EXEC */
};

static const struct scalar_code {
    uint8_t kind, wide, operation, condition;
    bool complement; /* of the second source; of KIND_SAVE: of EXEC */
} codes[OP_COUNT] = {
    [OP_S_MOV_B32] = {KIND_MOVE, false, 0, 0, false},
    [OP_S_MOV_B64] = {KIND_MOVE, true, 0, 0, false},
    [OP_S_AND_B32] = {KIND_LOGIC, false, X86_AND, 0, false},
    [OP_S_AND_B64] = {KIND_LOGIC, true, X86_AND, 0, false},
    [OP_S_OR_B32] = {KIND_LOGIC, false, X86_OR, 0, false},
    [OP_S_OR_B64] = {KIND_LOGIC, true, X86_OR, 0, false},
    [OP_S_XOR_B32] = {KIND_LOGIC, false, X86_XOR, 0, false},
    [OP_S_XOR_B64] = {KIND_LOGIC, true, X86_XOR, 0, false},
    [OP_S_ANDN2_B32] = {KIND_LOGIC, false, X86_AND, 0, true},
    [OP_S_ANDN2_B64] = {KIND_LOGIC, true, X86_AND, 0, true},
    [OP_S_ORN2_B32] = {KIND_LOGIC, false, X86_OR, 0, true},
    [OP_S_ORN2_B64] = {KIND_LOGIC, true, X86_OR, 0, true},
    [OP_S_NOT_B32] = {KIND_NOT, false, 0, 0, false},
    [OP_S_NOT_B64] = {KIND_NOT, true, 0, 0, false},
    [OP_S_LSHL_B32] = {KIND_SHIFT, false, X86_SHIFT_LEFT, 0, false},
    [OP_S_LSHL_B64] = {KIND_SHIFT, true, X86_SHIFT_LEFT, 0, false},
    [OP_S_LSHR_B32] = {KIND_SHIFT, false, X86_SHIFT_RIGHT, 0, false},
    [OP_S_LSHR_B64] = {KIND_SHIFT, true, X86_SHIFT_RIGHT, 0, false},
    [OP_S_ASHR_I32] = {KIND_SHIFT, false, X86_SHIFT_SIGNED, 0, false},
    [OP_S_ASHR_I64] = {KIND_SHIFT, true, X86_SHIFT_SIGNED, 0, false},
    [OP_S_ADD_U32] = {KIND_SUM, false, X86_ADD, JUMP_BELOW, false},
    [OP_S_SUB_U32] = {KIND_SUM, false, X86_SUB, JUMP_BELOW, false},
    [OP_S_ADD_I32] = {KIND_SUM, false, X86_ADD, JUMP_OVERFLOW, false},
    [OP_S_SUB_I32] = {KIND_SUM, false, X86_SUB, JUMP_OVERFLOW, false},
    [OP_S_ADDC_U32] = {KIND_CARRY, false, X86_ADC, JUMP_BELOW, false},
    [OP_S_SUBB_U32] = {KIND_CARRY, false, X86_SBB, JUMP_BELOW, false},
    [OP_S_MUL_I32] = {KIND_PRODUCT, false, 0, 0, false},
    [OP_S_CSELECT_B32] = {KIND_SELECT, false, 0, 0, false},
    [OP_S_CSELECT_B64] = {KIND_SELECT, true, 0, 0, false},
    [OP_S_CMP_EQ_I32] = {KIND_COMPARE, false, X86_CMP, JUMP_EQUAL, false},
    [OP_S_CMP_LG_I32] = {KIND_COMPARE, false, X86_CMP, JUMP_NOT_EQUAL, false},
    [OP_S_CMP_GT_I32] = {KIND_COMPARE, false, X86_CMP, JUMP_GREATER, false},
    [OP_S_CMP_GE_I32] = {KIND_COMPARE, false, X86_CMP, JUMP_GREATER_EQUAL, false},
    [OP_S_CMP_LT_I32] = {KIND_COMPARE, false, X86_CMP, JUMP_LESS, false},
    [OP_S_CMP_LE_I32] = {KIND_COMPARE, false, X86_CMP, JUMP_LESS_EQUAL, false},
    [OP_S_CMP_EQ_U32] = {KIND_COMPARE, false, X86_CMP, JUMP_EQUAL, false},
    [OP_S_CMP_LG_U32] = {KIND_COMPARE, false, X86_CMP, JUMP_NOT_EQUAL, false},
    [OP_S_CMP_GT_U32] = {KIND_COMPARE, false, X86_CMP, JUMP_ABOVE, false},
    [OP_S_CMP_GE_U32] = {KIND_COMPARE, false, X86_CMP, JUMP_ABOVE_EQUAL, false},
    [OP_S_CMP_LT_U32] = {KIND_COMPARE, false, X86_CMP, JUMP_BELOW, false},
    [OP_S_CMP_LE_U32] = {KIND_COMPARE, false, X86_CMP, JUMP_BELOW_EQUAL, false},
    [OP_S_CMP_EQ_U64] = {KIND_COMPARE, true, X86_CMP, JUMP_EQUAL, false},
    [OP_S_CMP_LG_U64] = {KIND_COMPARE, true, X86_CMP, JUMP_NOT_EQUAL, false},
    [OP_S_AND_SAVEEXEC_B64] = {KIND_SAVE, true, X86_AND, 0, false},
    [OP_S_OR_SAVEEXEC_B64] = {KIND_SAVE, true, X86_OR, 0, false},
    [OP_S_XOR_SAVEEXEC_B64] = {KIND_SAVE, true, X86_XOR, 0, false},
    [OP_S_ANDN2_SAVEEXEC_B64] = {KIND_SAVE, true, X86_AND, 0, true},
    [OP_S_ORN2_SAVEEXEC_B64] = {KIND_SAVE, true, X86_OR, 0, true},
};

static bool is_loadable(const struct operand *operand, bool wide)
{
    return operand->kind == OPND_CONST ||
           (operand->kind == OPND_SREG && operand->index + wide < SREG_COUNT);
}

bool scalar_code_exists(const struct inst *inst)
{
    const struct scalar_code *code = &codes[inst->op < OP_COUNT ? inst->op : OP_INVALID];
    const struct operand *dst = &inst->dst;
    const bool one = code->kind == KIND_MOVE || code->kind == KIND_NOT || code->kind == KIND_SAVE;
    if (code->kind == KIND_NONE || !is_loadable(&inst->src[0], code->wide) ||
        (!one && !is_loadable(&inst->src[1], code->wide && code->kind != KIND_SHIFT)))
        return false;
    return code->kind == KIND_COMPARE ||
           (dst->kind == OPND_SREG && dst->index + code->wide < SREG_COUNT);
}

static int32_t home(unsigned index)
{
    return WAVE(s) + (int32_t)(4 * index);
}

static void load(struct x86 *x, enum x86_gpr gpr, const struct operand *operand, bool wide)
{
    if (operand->kind == OPND_SREG)
        (wide ? x86_load64 : x86_load32)(x, gpr, RBX, home(operand->index));
    else if (wide)
        x86_gpr_imm64(x, gpr, operand->value);
    else
        x86_gpr_imm32(x, gpr, (uint32_t)operand->value);
}

static void store(struct x86 *x, const struct operand *operand, enum x86_gpr gpr, bool wide)
{
    (wide ? x86_store64 : x86_store32)(x, RBX, home(operand->index), gpr);
}

/* From the host's flags. RAX is gone. */
static void scc_set(struct x86 *x, enum x86_condition condition)
{
    x86_set_if(x, condition, RAX);
    x86_store32(x, RBX, WAVE(scc), RAX);
}

/* RAX op RCX, with the carry of SCC where the operation has one. */
static void sources_load(struct x86 *x, const struct scalar_code *code, const struct inst *inst)
{
    load(x, RAX, &inst->src[0], code->wide);
    load(x, RCX, &inst->src[1], code->wide && code->kind != KIND_SHIFT);
    if (code->complement)
        x86_gpr_not(x, code->wide, RCX);
    if (code->kind != KIND_CARRY)
        return;
    x86_load32(x, RDX, RBX, WAVE(scc));
    x86_gpr_add_imm(x, RDX, -1);
}

static void save_emit(struct x86 *x, const struct scalar_code *code, const struct inst *inst)
{
    load(x, RAX, &inst->src[0], true);
    x86_load64(x, RCX, RBX, home(SREG_EXEC));
    x86_gpr_move(x, RDX, RCX);
    if (code->complement)
        x86_gpr_not(x, true, RDX);
    x86_gpr_do(x, (enum x86_operation)code->operation, true, RAX, RDX);
    store(x, &inst->dst, RCX, true);
    x86_store64(x, RBX, home(SREG_EXEC), RAX);
    x86_gpr_do(x, X86_TEST, true, RAX, RAX);
    scc_set(x, JUMP_NOT_EQUAL);
}

/* Of one source, or whose result leaves SCC alone; false: another one. */
static bool simple_emit(struct x86 *x, const struct scalar_code *code, const struct inst *inst)
{
    switch (code->kind) {
    case KIND_MOVE:
        load(x, RAX, &inst->src[0], code->wide);
        break;
    case KIND_PRODUCT:
        sources_load(x, code, inst);
        x86_gpr_multiply_by(x, RAX, RCX);
        break;
    case KIND_SELECT:
        sources_load(x, code, inst);
        x86_compare32_imm(x, RBX, WAVE(scc), 0);
        x86_gpr_move_if(x, JUMP_EQUAL, RAX, RCX);
        break;
    default:
        return false;
    }
    store(x, &inst->dst, RAX, code->wide);
    return true;
}

void scalar_code_emit(struct x86 *x, const struct inst *inst)
{
    const struct scalar_code *code = &codes[inst->op];
    const enum x86_operation operation = (enum x86_operation)code->operation;
    if (code->kind == KIND_SAVE) {
        save_emit(x, code, inst);
        return;
    }
    if (simple_emit(x, code, inst))
        return;
    if (code->kind == KIND_NOT) {
        load(x, RAX, &inst->src[0], code->wide);
        x86_gpr_not(x, code->wide, RAX);
    } else {
        sources_load(x, code, inst);
        if (code->kind == KIND_SHIFT)
            x86_gpr_shift(x, (enum x86_shift)operation, code->wide, RAX);
        else
            x86_gpr_do(x, operation, code->wide, RAX, RCX);
    }
    if (code->kind != KIND_COMPARE)
        store(x, &inst->dst, RAX, code->wide);
    if (code->kind == KIND_NOT || code->kind == KIND_SHIFT || code->kind == KIND_LOGIC) {
        x86_gpr_do(x, X86_TEST, code->wide, RAX, RAX);
        scc_set(x, JUMP_NOT_EQUAL);
    } else {
        scc_set(x, (enum x86_condition)code->condition);
    }
}
