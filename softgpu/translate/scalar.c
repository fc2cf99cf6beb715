/*
 * Scalar instructions between vector ones. They are executed before their segment's vector
 * instructions, as code or by the interpreter's handlers: that is the same where nothing before
 * them in the segment reads what they write, or writes what they read.
 */
#include "isa_ops.h"
#include "translate/run.h"

/* Those that only have the operands that they name, and SCC. EXEC is nobody's destination. */
static const bool plain[OP_COUNT] = {
#define SCALAR(name) [OP_##name] = true,
    /* clang-format off */
    SCALAR(S_MOV_B32) SCALAR(S_MOV_B64) SCALAR(S_MOVK_I32) SCALAR(S_ADD_U32) SCALAR(S_SUB_U32)
    SCALAR(S_ADD_I32) SCALAR(S_SUB_I32) SCALAR(S_ADDC_U32) SCALAR(S_SUBB_U32) SCALAR(S_MIN_I32)
    SCALAR(S_MIN_U32) SCALAR(S_MAX_I32) SCALAR(S_MAX_U32) SCALAR(S_CSELECT_B32)
    SCALAR(S_CSELECT_B64) SCALAR(S_AND_B32) SCALAR(S_AND_B64) SCALAR(S_OR_B32) SCALAR(S_OR_B64)
    SCALAR(S_XOR_B32) SCALAR(S_XOR_B64) SCALAR(S_ANDN2_B32) SCALAR(S_ANDN2_B64) SCALAR(S_ORN2_B32)
    SCALAR(S_ORN2_B64) SCALAR(S_NOT_B32) SCALAR(S_NOT_B64) SCALAR(S_LSHL_B32) SCALAR(S_LSHL_B64)
    SCALAR(S_LSHR_B32) SCALAR(S_LSHR_B64) SCALAR(S_ASHR_I32) SCALAR(S_ASHR_I64) SCALAR(S_BFM_B32)
    SCALAR(S_BFE_U32) SCALAR(S_BFE_I32) SCALAR(S_BFE_U64) SCALAR(S_MUL_I32) SCALAR(S_MUL_HI_U32)
    SCALAR(S_MUL_HI_I32) SCALAR(S_LSHL1_ADD_U32) SCALAR(S_LSHL2_ADD_U32) SCALAR(S_LSHL3_ADD_U32)
    SCALAR(S_LSHL4_ADD_U32) SCALAR(S_PACK_LL_B32_B16) SCALAR(S_BREV_B32) SCALAR(S_SEXT_I32_I8)
    SCALAR(S_SEXT_I32_I16) SCALAR(S_ABS_I32) SCALAR(S_CMP_EQ_I32) SCALAR(S_CMP_LG_I32)
    SCALAR(S_CMP_GT_I32) SCALAR(S_CMP_GE_I32) SCALAR(S_CMP_LT_I32) SCALAR(S_CMP_LE_I32)
    SCALAR(S_CMP_EQ_U32) SCALAR(S_CMP_LG_U32) SCALAR(S_CMP_GT_U32) SCALAR(S_CMP_GE_U32)
    SCALAR(S_CMP_LT_U32) SCALAR(S_CMP_LE_U32) SCALAR(S_CMP_EQ_U64) SCALAR(S_CMP_LG_U64)
/* clang-format on */
#undef SCALAR
};

bool scalar_is_known(const struct inst *inst)
{
    if (inst->op >= OP_COUNT || !plain[inst->op])
        return false;
    return inst->dst.kind == OPND_NONE || inst->dst.kind == OPND_SCC ||
           (inst->dst.kind == OPND_SREG && inst->dst.index + inst->dst.dwords <= SREG_EXEC);
}

/* Reads no mask of the run's. */
static bool source_fits(const struct run *run, const struct operand *operand)
{
    if (operand->kind == OPND_VCCZ)
        return !run_writes_mask(run, SREG_VCC, 2);
    return operand->kind != OPND_SREG || !run_writes_mask(run, operand->index, operand->dwords);
}

bool scalar_fits(const struct run *run, const struct inst *inst)
{
    for (int n = 0; n < 3; n++)
        if (!source_fits(run, &inst->src[n]))
            return false;
    return inst->dst.kind != OPND_SREG || !run_touches(run, inst->dst.index, inst->dst.dwords);
}

/* One after another: code, or calls of the handlers. */
void scalars_emit(struct x86 *x, const struct run *run, const struct segment *segment)
{
    for (unsigned n = segment->first; n < segment->first + segment->count; n++) {
        const struct inst *inst = run->insts[n];
        if (run->roles[n] != ROLE_SCALAR)
            continue;
        if (scalar_code_exists(inst)) {
            scalar_code_emit(x, inst);
            continue;
        }
        x86_gpr_move(x, RDI, RBX);
        x86_lea(x, RSI, RBP, (int32_t)(run->at[n] * sizeof(struct inst)));
        x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)inst->exec);
        x86_call(x, RAX);
    }
}
