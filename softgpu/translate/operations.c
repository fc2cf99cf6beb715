/* Which GPU instructions are translated, and by what. */
#include "isa_ops.h"
#include "translate/emit.h"
#include "wave/wave.h"

/* clang-format off */
#define ROW(NAME, ...) [OP_##NAME] = {__VA_ARGS__},
#define ONE(NAME, EMIT, FORM, ARGUMENT, FLAGS)                                                     \
    ROW(NAME, .emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,             \
        .sources = {1}, .dwords = 1)
#define TWO(NAME, EMIT, FORM, ARGUMENT, FLAGS)                                                     \
    ROW(NAME, .emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,             \
        .sources = {1, 1}, .dwords = 1)
#define THREE(NAME, EMIT, FORM, ARGUMENT, FLAGS)                                                   \
    ROW(NAME, .emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,             \
        .sources = {1, 1, 1}, .dwords = 1)
#define DOUBLE(NAME, EMIT, FORM, ARGUMENT, A, B, C, DWORDS, FLAGS, NEEDS)                          \
    ROW(NAME, .emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = FLAGS,             \
        .needs = NEED_ONE_STATE | (NEEDS), .sources = {A, B, C}, .dwords = DWORDS)
#define COMPARE(NAME, EMIT, FORM, ARGUMENT, DWORDS, FLAGS, NEEDS)                                  \
    ROW(V_CMP_##NAME, .emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT,                     \
        .flags = COMPARES | WRITES_MASK | (FLAGS), .needs = NEEDS, .sources = {DWORDS, DWORDS})
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
#define COMPARES_FLOAT_OF(S, EMIT, FORM, DWORDS, FLAGS, NEEDS)                                               \
    COMPARE(EQ_##S, EMIT, FORM, 0x00, DWORDS, SIGNS | (FLAGS), NEEDS)                                        \
    COMPARE(LT_##S, EMIT, FORM, 0x11, DWORDS, SIGNS | (FLAGS), NEEDS)                                        \
    COMPARE(LE_##S, EMIT, FORM, 0x12, DWORDS, SIGNS | (FLAGS), NEEDS)                                        \
    COMPARE(U_##S, EMIT, FORM, 0x03, DWORDS, SIGNS | (FLAGS), NEEDS)                                         \
    COMPARE(NEQ_##S, EMIT, FORM, 0x04, DWORDS, SIGNS | (FLAGS), NEEDS)                                       \
    COMPARE(NLT_##S, EMIT, FORM, 0x15, DWORDS, SIGNS | (FLAGS), NEEDS)                                       \
    COMPARE(NLE_##S, EMIT, FORM, 0x16, DWORDS, SIGNS | (FLAGS), NEEDS)                                       \
    COMPARE(O_##S, EMIT, FORM, 0x07, DWORDS, SIGNS | (FLAGS), NEEDS)                                         \
    COMPARE(NLG_##S, EMIT, FORM, 0x08, DWORDS, SIGNS | (FLAGS), NEEDS)                                       \
    COMPARE(NGE_##S, EMIT, FORM, 0x19, DWORDS, SIGNS | (FLAGS), NEEDS)                                       \
    COMPARE(NGT_##S, EMIT, FORM, 0x1a, DWORDS, SIGNS | (FLAGS), NEEDS)                                       \
    COMPARE(F_##S, EMIT, FORM, 0x0b, DWORDS, SIGNS | (FLAGS), NEEDS)                                         \
    COMPARE(LG_##S, EMIT, FORM, 0x0c, DWORDS, SIGNS | (FLAGS), NEEDS)                                        \
    COMPARE(GE_##S, EMIT, FORM, 0x1d, DWORDS, SIGNS | (FLAGS), NEEDS)                                        \
    COMPARE(GT_##S, EMIT, FORM, 0x1e, DWORDS, SIGNS | (FLAGS), NEEDS)                                        \
    COMPARE(TRU_##S, EMIT, FORM, 0x0f, DWORDS, SIGNS | (FLAGS), NEEDS)
#define COMPARES_FLOAT(S, EMIT, FORM, DWORDS, NEEDS) COMPARES_FLOAT_OF(S, EMIT, FORM, DWORDS, 0, NEEDS)
#define HALF(NAME, EMIT, FORM, ARGUMENT, A, B, C, FLAGS, NEEDS)                                    \
    ROW(NAME, .emit = emit_##EMIT, .form = FORM, .argument = ARGUMENT, .flags = HALVES | (FLAGS),  \
        .needs = NEEDS, .sources = {A, B, C}, .dwords = 1)
#define PAIR(NAME, EMIT, FORM, A, B, C, FLAGS, NEEDS)                                              \
    ROW(NAME, .emit = emit_##EMIT, .form = FORM, .flags = PAIRS | (FLAGS), .needs = NEEDS,         \
        .sources = {A, B, C}, .dwords = 1)
#define COMPARES_WORD(S, FORM)                                                                     \
    COMPARE(EQ_##S, word_compare, FORM, 0, 1, HALVES, 0)                                           \
    COMPARE(LT_##S, word_compare, FORM, 1, 1, HALVES, 0)                                           \
    COMPARE(LE_##S, word_compare, FORM, 2, 1, HALVES, 0)                                           \
    COMPARE(F_##S, word_compare, FORM, 3, 1, HALVES, 0)                                            \
    COMPARE(NE_##S, word_compare, FORM, 4, 1, HALVES, 0)                                           \
    COMPARE(GE_##S, word_compare, FORM, 5, 1, HALVES, 0)                                           \
    COMPARE(GT_##S, word_compare, FORM, 6, 1, HALVES, 0)                                           \
    COMPARE(T_##S, word_compare, FORM, 7, 1, HALVES, 0)
/* clang-format on */

/* Functions of three bits, as tables. */
enum { TABLE_AND_OR = 0xea, TABLE_OR3 = 0xfe, TABLE_CHOOSE = 0xca };
enum { RANGE_MIN = 4, RANGE_MAX = 5 };
enum { ROUND_EVEN = 8, ROUND_DOWN, ROUND_UP, ROUND_TO_ZERO }; /* no exception for inexact ones */

static const struct operation operations[OP_COUNT] = {
#include "translate/operations.def"
};

unsigned operation_mask_out(const struct operation *operation, const struct inst *inst)
{
    const struct operand *to = &inst->sdst;
    if (to->kind == OPND_NONE && operation->flags & COMPARES)
        to = &inst->dst;
    return to->kind == OPND_SREG ? to->index : SREG_VCC;
}
/* Which VCC tells to scale, whatever the third source is. */
static bool reads_vcc(const struct inst *inst)
{
    return inst->op == OP_V_DIV_FMAS_F32 || inst->op == OP_V_DIV_FMAS_F64;
}
unsigned operation_mask_in(const struct inst *inst)
{
    if (reads_vcc(inst))
        return SREG_VCC;
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
    if (operation->flags & READS_MASK && !reads_vcc(inst) && inst->src[2].kind != OPND_SREG &&
        inst->src[2].kind != OPND_NONE)
        return false;
    return operation->flags & COMPARES || inst->dst.kind == OPND_VGPR ||
           inst->dst.kind == OPND_AGPR;
}

/* The encoding asks for nothing that the emitters do not know. */
static bool modifiers_are_known(const struct operation *operation, const struct inst *inst)
{
    const uint32_t known = operation->flags & DOT ? IF_CLAMP | IF_FLUSH_F16 : 0;
    if (inst->omod || inst->flags & (IF_CLAMP | IF_FLUSH_F16) & ~known ||
        !modifier_is_known(operation, inst))
        return false;
    if (operation->flags & PACKED)
        return inst->format == FMT_VOP3P && !inst->abs;
    if (operation->flags & (PAIRS | MIXED | DOT))
        return inst->modifier == MOD_NONE;
    if (inst->format == FMT_VOP3P && !(inst->klass == CLASS_VALU && operation->emit == emit_move))
        return false;
    return operation->flags & SIGNS || !(inst->neg | inst->abs | inst->neg_hi);
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
