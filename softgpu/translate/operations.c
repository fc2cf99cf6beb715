/* Which GPU instructions are translated, and by what. */
#include "isa_ops.h"
#include "translate/emit.h"
#include "wave/wave.h"

/* clang-format off */
#define ONE(NAME, EMIT, FORM, ARGUMENT, FLAGS)                                                     \
    [OP_##NAME] = {.emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,        \
                   .sources = {1, 0, 0}, .dwords = 1},
#define TWO(NAME, EMIT, FORM, ARGUMENT, FLAGS)                                                     \
    [OP_##NAME] = {.emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,        \
                   .sources = {1, 1, 0}, .dwords = 1},
#define THREE(NAME, EMIT, FORM, ARGUMENT, FLAGS)                                                   \
    [OP_##NAME] = {.emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,        \
                   .sources = {1, 1, 1}, .dwords = 1},
#define PRODUCT_HIGH(NAME, FORM)                                                                   \
    [OP_##NAME] = {.emit = emit_mul_hi, .form = FORM, .needs = NEED_ODD_LANES,                     \
                   .sources = {1, 1, 0}, .dwords = 1},
#define CONSTANT(NAME, EMIT, ARGUMENT, ACCEPTS)                                                    \
    [OP_##NAME] = {.emit = emit_##EMIT, .argument = ARGUMENT, .sources = {1, 1, 1}, .dwords = 1,   \
                   .accepts = ACCEPTS},
#define WIDE(NAME, EMIT, A, B, C, FLAGS, ACCEPTS)                                                  \
    [OP_##NAME] = {.emit = emit_##EMIT, .flags = FLAGS, .sources = {A, B, C}, .dwords = 2,         \
                   .accepts = ACCEPTS},
#define DOUBLE(NAME, EMIT, FORM, C, FLAGS)                                                         \
    [OP_##NAME] = {.emit = emit_##EMIT, .form = FORM, .flags = SIGNS | (FLAGS),                    \
                   .needs = NEED_ONE_STATE, .sources = {2, 2, C}, .dwords = 2},
#define PACKED_F32(NAME, EMIT, FORM, C)                                                            \
    [OP_##NAME] = {.emit = emit_##EMIT, .form = FORM, .flags = PACKED, .sources = {2, 2, C},       \
                   .dwords = 2},
#define COMPARE(NAME, EMIT, FORM, ARGUMENT, DWORDS, FLAGS, NEEDS)                                  \
    [OP_V_CMP_##NAME] = {.emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT,                  \
                         .flags = COMPARES | WRITES_MASK | (FLAGS), .needs = NEEDS,                \
                         .sources = {DWORDS, DWORDS, 0}},
/* The host's predicates of integers. */
#define COMPARES_INT(S, EMIT, FORM, DWORDS)                                                        \
    COMPARE(EQ_##S, EMIT, FORM, 0, DWORDS, 0, 0)                                                   \
    COMPARE(LT_##S, EMIT, FORM, 1, DWORDS, 0, 0)                                                   \
    COMPARE(LE_##S, EMIT, FORM, 2, DWORDS, 0, 0)                                                   \
    COMPARE(F_##S, EMIT, FORM, 3, DWORDS, 0, 0)                                                    \
    COMPARE(NE_##S, EMIT, FORM, 4, DWORDS, 0, 0)                                                   \
    COMPARE(GE_##S, EMIT, FORM, 5, DWORDS, 0, 0)                                                   \
    COMPARE(GT_##S, EMIT, FORM, 6, DWORDS, 0, 0)                                                   \
    COMPARE(T_##S, EMIT, FORM, 7, DWORDS, 0, 0)
/* Those of floats, all of them quiet. */
#define COMPARES_FLOAT(S, EMIT, FORM, DWORDS, NEEDS)                                               \
    COMPARE(EQ_##S, EMIT, FORM, 0x00, DWORDS, SIGNS, NEEDS)                                        \
    COMPARE(LT_##S, EMIT, FORM, 0x11, DWORDS, SIGNS, NEEDS)                                        \
    COMPARE(LE_##S, EMIT, FORM, 0x12, DWORDS, SIGNS, NEEDS)                                        \
    COMPARE(U_##S, EMIT, FORM, 0x03, DWORDS, SIGNS, NEEDS)                                         \
    COMPARE(NEQ_##S, EMIT, FORM, 0x04, DWORDS, SIGNS, NEEDS)                                       \
    COMPARE(NLT_##S, EMIT, FORM, 0x15, DWORDS, SIGNS, NEEDS)                                       \
    COMPARE(NLE_##S, EMIT, FORM, 0x16, DWORDS, SIGNS, NEEDS)                                       \
    COMPARE(O_##S, EMIT, FORM, 0x07, DWORDS, SIGNS, NEEDS)                                         \
    COMPARE(NLG_##S, EMIT, FORM, 0x08, DWORDS, SIGNS, NEEDS)                                       \
    COMPARE(NGE_##S, EMIT, FORM, 0x19, DWORDS, SIGNS, NEEDS)                                       \
    COMPARE(NGT_##S, EMIT, FORM, 0x1a, DWORDS, SIGNS, NEEDS)                                       \
    COMPARE(F_##S, EMIT, FORM, 0x0b, DWORDS, SIGNS, NEEDS)                                         \
    COMPARE(LG_##S, EMIT, FORM, 0x0c, DWORDS, SIGNS, NEEDS)                                        \
    COMPARE(GE_##S, EMIT, FORM, 0x1d, DWORDS, SIGNS, NEEDS)                                        \
    COMPARE(GT_##S, EMIT, FORM, 0x1e, DWORDS, SIGNS, NEEDS)                                        \
    COMPARE(TRU_##S, EMIT, FORM, 0x0f, DWORDS, SIGNS, NEEDS)
/* clang-format on */

enum { TABLE_AND_OR = 0xea, TABLE_OR3 = 0xfe, TABLE_CHOOSE = 0xca };
enum { RANGE_MIN = 4, RANGE_MAX = 5 };
enum { ROUND_EVEN = 8, ROUND_DOWN, ROUND_UP, ROUND_TO_ZERO }; /* no exception for inexact ones */

static const struct operation operations[OP_COUNT] = {
    ONE(V_MOV_B32, move, 0, 0, 0) ONE(V_ACCVGPR_READ_B32, move, 0, 0, 0) ONE(
        V_ACCVGPR_WRITE_B32, move, 0, 0, 0) ONE(V_ACCVGPR_MOV_B32, move, 0, 0, 0) ONE(V_NOT_B32,
                                                                                      not, 0, 0, 0)
        ONE(V_FFBH_U32, ffbh, 0, 0, 0) TWO(V_ADD_U32, binary, X86_VPADDD, 0, COMMUTES) TWO(
            V_SUB_U32, binary, X86_VPSUBD, 0, 0) TWO(V_SUBREV_U32, binary, X86_VPSUBD, 0, REVERSED)
            TWO(V_ADD_I32, binary, X86_VPADDD, 0, COMMUTES) TWO(
                V_SUB_I32, binary, X86_VPSUBD,
                0, 0) TWO(V_AND_B32, binary, X86_VPANDD, 0,
                          COMMUTES) TWO(V_OR_B32, binary, X86_VPORD, 0, COMMUTES)
                TWO(V_XOR_B32, binary, X86_VPXORD, 0, COMMUTES) TWO(V_XNOR_B32, xnor, 0, 0, 0) TWO(
                    V_MIN_U32, binary,
                    X86_VPMINUD, 0,
                    COMMUTES) TWO(V_MAX_U32, binary, X86_VPMAXUD, 0,
                                  COMMUTES) TWO(V_MIN_I32, binary, X86_VPMINSD, 0, COMMUTES)
                    TWO(V_MAX_I32, binary, X86_VPMAXSD, 0, COMMUTES) TWO(
                        V_LSHLREV_B32, shift_left,
                        0, 0, 0) TWO(V_LSHRREV_B32, shift_right, 0, 0,
                                     0) TWO(V_ASHRREV_I32, shift_arithmetic, 0, 0, 0)
                        TWO(V_MUL_LO_U32, binary, X86_VPMULLD, 0, COMMUTES) PRODUCT_HIGH(
                            V_MUL_HI_U32, X86_VPMULUDQ) PRODUCT_HIGH(V_MUL_HI_I32, X86_VPMULDQ)
                            TWO(V_MUL_U32_U24, mul_u24,
                                0, 0, 0) TWO(V_MUL_I32_I24, mul_i24, 0, 0,
                                             0) THREE(V_MAD_U32_U24, mad_u24, 0, 0, 0)
                                THREE(V_MAD_I32_I24, mad_i24, 0, 0,
                                      0) THREE(V_ADD3_U32, add3, 0, 0, 0)
                                    THREE(V_LSHL_ADD_U32, lshl_add, 0, 0,
                                          0) THREE(V_ADD_LSHL_U32, add_lshl, 0, 0, 0)
                                        THREE(V_LSHL_OR_B32, lshl_or, 0, 0, 0) THREE(
                                            V_XAD_U32, xad,
                                            0, 0,
                                            0) THREE(V_AND_OR_B32, logic3, 0, TABLE_AND_OR,
                                                     0) THREE(V_OR3_B32, logic3, 0, TABLE_OR3, 0)
                                            THREE(V_BFI_B32, logic3, 0, TABLE_CHOOSE, 0) THREE(
                                                V_MIN3_U32,
                                                three, X86_VPMINUD,
                                                0, 0) THREE(V_MAX3_U32, three, X86_VPMAXUD, 0, 0)
                                                THREE(V_MIN3_I32, three, X86_VPMINSD, 0, 0) THREE(
                                                    V_MAX3_I32,
                                                    three, X86_VPMAXSD,
                                                    0,
                                                    0) THREE(V_MED3_U32, med3, X86_VPMINUD,
                                                             X86_VPMAXUD,
                                                             0)
                                                    THREE(V_MED3_I32, med3, X86_VPMINSD,
                                                          X86_VPMAXSD,
                                                          0) CONSTANT(V_BFE_U32, bfe_u32, 0,
                                                                      accepts_constant_field)
                                                        CONSTANT(V_BFE_I32, bfe_i32, 0,
                                                                 accepts_constant_field)
                                                            CONSTANT(V_ALIGNBIT_B32, alignbit, 1,
                                                                     accepts_constant_shift)
                                                                CONSTANT(V_ALIGNBYTE_B32, alignbit,
                                                                         8,
                                                                         accepts_constant_shift)

                                                                    WIDE(
                                                                        V_MOV_B64, move_wide, 2, 0,
                                                                        0, 0,
                                                                        NULL) WIDE(V_LSHLREV_B64,
                                                                                   shift_left_wide,
                                                                                   1, 2, 0, 0, NULL)
                                                                        WIDE(V_LSHRREV_B64,
                                                                             shift_right_wide, 1, 2,
                                                                             0, 0, NULL)
                                                                            WIDE(
                                                                                V_ASHRREV_I64,
                                                                                shift_arithmetic_wide,
                                                                                1, 2, 0, 0,
                                                                                accepts_constant_count)
                                                                                WIDE(
                                                                                    V_LSHL_ADD_U64,
                                                                                    lshl_add_wide,
                                                                                    2, 1, 2, 0,
                                                                                    NULL)[OP_V_MAD_U64_U32] =
                                                                                    {.emit =
                                                                                         emit_mad_wide,
                                                                                     .flags =
                                                                                         WRITES_MASK,
                                                                                     .needs =
                                                                                         NEED_ODD_LANES,
                                                                                     .sources = {1,
                                                                                                 1,
                                                                                                 2},
                                                                                     .dwords = 2},

    TWO(V_CNDMASK_B32, select, 0, 0, READS_MASK) TWO(V_ADD_CO_U32, add_carry, 0, 0, WRITES_MASK)
        TWO(V_ADDC_CO_U32, add_carry, 0, 0, WRITES_MASK | READS_MASK) TWO(
            V_SUB_CO_U32, sub_carry, 0, 0, WRITES_MASK) TWO(V_SUBB_CO_U32, sub_carry, 0, 0,
                                                            WRITES_MASK | READS_MASK)
            TWO(V_SUBREV_CO_U32, sub_carry, 0, 0, WRITES_MASK | REVERSED) TWO(
                V_SUBBREV_CO_U32, sub_carry, 0, 0, WRITES_MASK | READS_MASK | REVERSED)
                COMPARES_INT(I32, compare, X86_VPCMPD, 1) COMPARES_INT(U32, compare, X86_VPCMPUD, 1)
                    COMPARES_INT(I64, compare_wide, X86_VPCMPD, 2) COMPARES_INT(U64, compare_wide,
                                                                                X86_VPCMPUD, 2)
                        COMPARES_FLOAT(F32, compare, X86_VCMPPS, 1, 0)
                            COMPARES_FLOAT(F64, compare_pair, X86_VCMPPD, 2, NEED_ONE_STATE)

                                TWO(V_ADD_F32, binary, X86_VADDPS, 0, SIGNS | COMMUTES)
                                    TWO(V_SUB_F32, binary, X86_VSUBPS, 0, SIGNS)
                                        TWO(V_SUBREV_F32, binary, X86_VSUBPS, 0, SIGNS | REVERSED)
                                            TWO(V_MUL_F32, binary, X86_VMULPS, 0, SIGNS | COMMUTES)
                                                THREE(V_FMA_F32, fma, 0, 0, SIGNS)
                                                    THREE(V_FMAMK_F32, fma, 0, 0, 0)
                                                        THREE(V_FMAAK_F32, fma, 0, 0, 0)
                                                            TWO(V_FMAC_F32, fma, 0, 0,
                                                                SIGNS | ACCUMULATES)[OP_V_MIN_F32] =
                                                                {.emit = emit_min_max,
                                                                 .argument = RANGE_MIN,
                                                                 .flags = SIGNS,
                                                                 .needs = NEED_IEEE,
                                                                 .sources = {1, 1, 0},
                                                                 .dwords = 1},
    [OP_V_MAX_F32] = {.emit = emit_min_max,
                      .argument = RANGE_MAX,
                      .flags = SIGNS,
                      .needs = NEED_IEEE,
                      .sources = {1, 1, 0},
                      .dwords = 1},
    ONE(V_FLOOR_F32, round, 0, ROUND_DOWN, SIGNS) ONE(V_CEIL_F32, round, 0, ROUND_UP, SIGNS) ONE(
        V_TRUNC_F32, round, 0, ROUND_TO_ZERO, SIGNS) ONE(V_RNDNE_F32, round, 0, ROUND_EVEN, SIGNS)
        ONE(V_RCP_F32, reciprocal, 0, 0, SIGNS) ONE(V_RCP_IFLAG_F32, reciprocal, 0, 0, SIGNS) ONE(
            V_SQRT_F32, square_root, 0, 0, SIGNS) ONE(V_CVT_F32_I32, unary, X86_VCVTDQ2PS, 0, 0)
            ONE(V_CVT_F32_U32, unary, X86_VCVTUDQ2PS, 0, 0) ONE(
                V_CVT_I32_F32, i32_of_f32, 0, 0, SIGNS) ONE(V_CVT_U32_F32, u32_of_f32, 0, 0, SIGNS)
                ONE(V_CVT_F32_UBYTE0, f32_of_byte, 0, 0, 0)
                    ONE(V_CVT_F32_UBYTE1, f32_of_byte, 0, 1, 0)
                        ONE(V_CVT_F32_UBYTE2, f32_of_byte, 0, 2, 0)
                            ONE(V_CVT_F32_UBYTE3, f32_of_byte, 0, 3, 0)
                                PACKED_F32(V_PK_ADD_F32, packed, X86_VADDPS, 0)
                                    PACKED_F32(V_PK_MUL_F32, packed, X86_VMULPS, 0)
                                        PACKED_F32(V_PK_FMA_F32, packed_fma, 0, 2)

                                            DOUBLE(V_ADD_F64, binary_pair, X86_VADDPD, 0, 0)
                                                DOUBLE(V_MUL_F64, binary_pair, X86_VMULPD, 0, 0)
                                                    DOUBLE(V_FMA_F64, fma_pair, 0, 2, 0) DOUBLE(
                                                        V_FMAC_F64, fma_pair, 0, 0, ACCUMULATES)};

unsigned operation_mask_out(const struct operation *operation, const struct inst *inst)
{
    const struct operand *to = &inst->sdst;
    if (to->kind == OPND_NONE && operation->flags & COMPARES)
        to = &inst->dst;
    return to->kind == OPND_SREG ? to->index : SREG_VCC;
}
unsigned operation_mask_in(const struct inst *inst)
{
    return inst->src[2].kind == OPND_SREG ? inst->src[2].index : SREG_VCC;
}

static bool source_is_known(const struct inst *inst, int n, unsigned dwords)
{
    const struct operand *operand = &inst->src[n];
    if (operand->kind == OPND_SREG)
        return operand->index + dwords <= SREG_COUNT;
    return operand->kind == OPND_VGPR || operand->kind == OPND_AGPR || operand->kind == OPND_CONST;
}

static bool operands_are_known(const struct operation *operation, const struct inst *inst)
{
    for (int n = 0; n < 3; n++)
        if (operation->sources[n] && !source_is_known(inst, n, operation->sources[n]))
            return false;
    if (operation->flags & READS_MASK && inst->src[2].kind != OPND_SREG &&
        inst->src[2].kind != OPND_NONE)
        return false;
    return operation->flags & COMPARES || inst->dst.kind == OPND_VGPR ||
           inst->dst.kind == OPND_AGPR;
}

/* The encoding asks for nothing that the emitters do not know. */
static bool modifiers_are_known(const struct operation *operation, const struct inst *inst)
{
    if (inst->modifier != MOD_NONE || inst->omod || inst->flags & (IF_CLAMP | IF_FLUSH_F16))
        return false;
    if (operation->flags & PACKED)
        return inst->format == FMT_VOP3P && !inst->abs;
    if (inst->format == FMT_VOP3P && !(inst->klass == CLASS_VALU && operation->emit == emit_move))
        return false;
    return !(inst->format == FMT_VOP3 && inst->op_sel) &&
           (operation->flags & SIGNS || !(inst->neg | inst->abs | inst->neg_hi));
}

bool operation_exists(unsigned op)
{
    return op < OP_COUNT && operations[op].emit;
}

const struct operation *operation_find(const struct inst *inst)
{
    const struct operation *operation = inst->op < OP_COUNT ? &operations[inst->op] : NULL;
    if (!operation || !operation->emit || !operands_are_known(operation, inst) ||
        !modifiers_are_known(operation, inst))
        return NULL;
    /* A mask goes to ordinary scalar registers: who writes EXEC changes what runs. */
    if (operation->flags & WRITES_MASK && operation_mask_out(operation, inst) + 2 > SREG_M0)
        return NULL;
    return operation->accepts && !operation->accepts(inst) ? NULL : operation;
}
