/* Which instructions can be done with the bases of linear registers, and what they make of them. */
#include "translate/linear_shapes.h"

#include <string.h>

#include "isa_ops.h"

#define COMPARISONS(type, wide, is_signed, less, less_equal, greater, greater_equal)               \
    [OP_V_CMP_LT_##type] = {SHAPE_COMPARE, less, wide, is_signed},                                 \
    [OP_V_CMP_LE_##type] = {SHAPE_COMPARE, less_equal, wide, is_signed},                           \
    [OP_V_CMP_GT_##type] = {SHAPE_COMPARE, greater, wide, is_signed},                              \
    [OP_V_CMP_GE_##type] = {SHAPE_COMPARE, greater_equal, wide, is_signed}
#define UNSIGNED JUMP_BELOW, JUMP_BELOW_EQUAL, JUMP_ABOVE, JUMP_ABOVE_EQUAL
#define SIGNED   JUMP_LESS, JUMP_LESS_EQUAL, JUMP_GREATER, JUMP_GREATER_EQUAL
#define COMPARISONS_OF(type, wide, is_signed, conditions)                                          \
    COMPARISONS(type, wide, is_signed, conditions)

static const struct linear_row rows[OP_COUNT] = {
    [OP_V_MOV_B32] = {SHAPE_MOVE, 0, false, false},
    [OP_V_ADD_U32] = {SHAPE_ADD, 0, false, false},
    [OP_V_ADD_CO_U32] = {SHAPE_ADD, 0, false, false},
    [OP_V_ADDC_CO_U32] = {SHAPE_ADD, 0, false, false},
    [OP_V_SUB_U32] = {SHAPE_SUB, 0, false, false},
    [OP_V_SUBREV_U32] = {SHAPE_SUB, 0, false, false},
    [OP_V_SUB_CO_U32] = {SHAPE_SUB, 0, false, false},
    [OP_V_SUBB_CO_U32] = {SHAPE_SUB, 0, false, false},
    [OP_V_SUBREV_CO_U32] = {SHAPE_SUB, 0, false, false},
    [OP_V_SUBBREV_CO_U32] = {SHAPE_SUB, 0, false, false},
    [OP_V_LSHLREV_B32] = {SHAPE_SHIFT, 0, false, false},
    [OP_V_LSHL_ADD_U32] = {SHAPE_LSHL_ADD, 0, false, false},
    [OP_V_ADD_LSHL_U32] = {SHAPE_ADD_LSHL, 0, false, false},
    [OP_V_ADD3_U32] = {SHAPE_ADD3, 0, false, false},
    [OP_V_MUL_LO_U32] = {SHAPE_MULTIPLY, 0, false, false},
    [OP_V_AND_B32] = {SHAPE_AND, 0, false, false},
    [OP_V_ASHRREV_I32] = {SHAPE_SIGN, 0, false, false},
    [OP_V_LSHLREV_B64] = {SHAPE_SHIFT_WIDE, 0, true, false},
    [OP_V_LSHL_ADD_U64] = {SHAPE_LSHL_ADD_WIDE, 0, true, false},
    [OP_V_MAD_U64_U32] = {SHAPE_MAD_WIDE, 0, true, false},
    COMPARISONS_OF(U32, false, false, UNSIGNED),
    COMPARISONS_OF(U64, true, false, UNSIGNED),
    COMPARISONS_OF(I32, false, true, SIGNED),
    COMPARISONS_OF(I64, true, true, SIGNED),
};

const struct linear_row *linear_row_of(const struct inst *inst)
{
    const struct linear_row *row = inst->op < OP_COUNT ? &rows[inst->op] : NULL;
    if (!row || !row->shape || inst->modifier != MOD_NONE || inst->op_sel ||
        (row->shape != SHAPE_COMPARE && inst->dst.kind != OPND_VGPR) || !operation_find(inst))
        return NULL;
    return row;
}

const struct linear *linear_of(const struct linears *registers, unsigned index)
{
    for (unsigned n = 0; n < registers->count; n++)
        if (registers->of[n].index == index)
            return &registers->of[n];
    return NULL;
}

/* ---- sources ---- */

static bool term_of_row(const struct linear_state *state, unsigned index, unsigned dwords,
                        struct linear_term *term)
{
    const struct linear *low = linear_of(&state->registers, index);
    const struct linear *high = dwords == 2 ? linear_of(&state->registers, index + 1) : low;
    if (!low || !high || (dwords == 2 && high->step))
        return false;
    *term = (struct linear_term){
        .kind = TERM_SLOT, .slots = {low->slot, high->slot}, .step = low->step, .factor = 1};
    return true;
}

static bool term_find(const struct linear_state *state, const struct operand *operand,
                      unsigned dwords, struct linear_term *term)
{
    switch (operand->kind) {
    case OPND_VGPR:
        return term_of_row(state, operand->index, dwords, term);
    case OPND_SREG:
        if (operand->index + dwords > SREG_COUNT)
            return false;
        *term = (struct linear_term){.kind = TERM_SCALAR, .index = operand->index, .factor = 1};
        for (unsigned n = 0; n < dwords; n++)
            term->narrow |= state->narrow[operand->index + n];
        return true;
    case OPND_CONST:
        *term =
            (struct linear_term){.kind = TERM_CONSTANT,
                                 .value = dwords == 2 ? operand->value : (uint32_t)operand->value,
                                 .factor = 1};
        return true;
    default:
        return false;
    }
}

/* The source is a number that is known now, and below `limit`. */
static bool constant_below(const struct operand *operand, uint32_t limit, uint32_t *value)
{
    *value = (uint32_t)operand->value;
    return operand->kind == OPND_CONST && *value < limit;
}

static bool terms_find(const struct linear_state *state, const struct inst *inst, unsigned first,
                       unsigned count, struct linear_operation *operation)
{
    for (unsigned n = 0; n < count; n++)
        if (!term_find(state, &inst->src[first + n], operation->wide ? 2 : 1, &operation->terms[n]))
            return false;
    operation->count = (uint8_t)count;
    return true;
}

/* ---- what becomes of them ---- */

static bool sum_find(struct linear_operation *operation)
{
    uint64_t step = 0;
    for (unsigned n = 0; n < operation->count; n++)
        step += (uint64_t)operation->terms[n].step * operation->terms[n].factor;
    operation->kind = LINEAR_SUM;
    operation->step = (uint32_t)step;
    return step <= LINEAR_STEP_MAX;
}

static bool difference_find(const struct inst *inst, struct linear_operation *operation)
{
    if (operation_find(inst)->flags & REVERSED) {
        struct linear_term first = operation->terms[0];
        operation->terms[0] = operation->terms[1];
        operation->terms[1] = first;
    }
    operation->kind = LINEAR_DIFFERENCE;
    operation->step = operation->terms[0].step - operation->terms[1].step;
    return operation->terms[0].step >= operation->terms[1].step;
}

enum { SHIFTS_WIDE = 21 };

/* Terms from `first` on are shifted to the left, by a number that is known. */
static bool shifted(const struct operand *by, struct linear_operation *operation, unsigned count)
{
    uint32_t bits;
    if (!constant_below(by, SHIFTS_WIDE, &bits))
        return false;
    for (unsigned n = 0; n < count; n++)
        operation->terms[n].factor = 1u << bits;
    return true;
}

static bool multiply_find(const struct linear_state *state, const struct inst *inst,
                          struct linear_operation *operation)
{
    for (unsigned n = 0; n < 2; n++) {
        uint32_t factor;
        if (!constant_below(&inst->src[n], LINEAR_STEP_MAX, &factor))
            continue;
        if (!terms_find(state, inst, 1 - n, 1, operation))
            return false;
        operation->terms[0].factor = factor;
        return sum_find(operation);
    }
    return false;
}

/* With as many low bits as no lane exceeds. */
static bool and_find(const struct linear_state *state, const struct inst *inst,
                     struct linear_operation *operation)
{
    for (unsigned n = 0; n < 2; n++) {
        const struct operand *mask = &inst->src[n];
        const uint32_t bits = (uint32_t)mask->value;
        if (mask->kind != OPND_CONST || bits & (bits + 1))
            continue;
        operation->kind = LINEAR_BELOW;
        if (!terms_find(state, inst, 1 - n, 1, operation) ||
            !term_find(state, mask, 1, &operation->terms[1]))
            return false;
        operation->step = operation->terms[0].step;
        return operation->terms[0].kind == TERM_SLOT;
    }
    return false;
}

static bool sign_find(const struct linear_state *state, const struct inst *inst,
                      struct linear_operation *operation)
{
    enum { SIGN_BIT = 31 };
    uint32_t bits;
    operation->kind = LINEAR_SIGN;
    operation->step = 0;
    return constant_below(&inst->src[0], SIGN_BIT + 1, &bits) && bits == SIGN_BIT &&
           terms_find(state, inst, 1, 1, operation);
}

/* The product is the same in all lanes, or one factor is known. */
static bool mad_find(const struct linear_state *state, const struct inst *inst,
                     struct linear_operation *operation)
{
    struct linear_term *terms = operation->terms;
    uint32_t factors[2] = {0};
    operation->kind = LINEAR_PRODUCT;
    operation->count = 3;
    if (!term_find(state, &inst->src[0], 1, &terms[0]) ||
        !term_find(state, &inst->src[1], 1, &terms[1]) ||
        !term_find(state, &inst->src[2], 2, &terms[2]))
        return false;
    for (unsigned n = 0; n < 2; n++)
        if (!constant_below(&inst->src[n], LINEAR_STEP_MAX, &factors[n]) && terms[1 - n].step)
            return false;
    const uint64_t step =
        (uint64_t)terms[0].step * factors[1] + (uint64_t)terms[1].step * factors[0] + terms[2].step;
    operation->step = (uint32_t)step;
    return step <= LINEAR_STEP_MAX;
}

static bool compare_find(const struct linear_state *state, const struct inst *inst,
                         struct linear_operation *operation)
{
    operation->kind = LINEAR_COMPARE;
    return terms_find(state, inst, 0, 2, operation) &&
           !(operation->terms[0].step && operation->terms[1].step);
}

static bool shape_find(const struct linear_state *state, const struct inst *inst,
                       enum linear_shape shape, struct linear_operation *operation)
{
    switch (shape) {
    case SHAPE_MOVE:
        if (!terms_find(state, inst, 0, 1, operation) || !sum_find(operation))
            return false;
        if (operation->terms[0].kind == TERM_SLOT)
            operation->kind = LINEAR_SAME;
        return true;
    case SHAPE_ADD:
        return terms_find(state, inst, 0, 2, operation) && sum_find(operation);
    case SHAPE_SUB:
        return terms_find(state, inst, 0, 2, operation) && difference_find(inst, operation);
    case SHAPE_SHIFT:
    case SHAPE_SHIFT_WIDE:
        return terms_find(state, inst, 1, 1, operation) && shifted(&inst->src[0], operation, 1) &&
               sum_find(operation);
    case SHAPE_LSHL_ADD:
    case SHAPE_LSHL_ADD_WIDE:
        operation->count = 2;
        return term_find(state, &inst->src[0], operation->wide ? 2 : 1, &operation->terms[0]) &&
               term_find(state, &inst->src[2], operation->wide ? 2 : 1, &operation->terms[1]) &&
               shifted(&inst->src[1], operation, 1) && sum_find(operation);
    case SHAPE_ADD_LSHL:
        return terms_find(state, inst, 0, 2, operation) && shifted(&inst->src[2], operation, 2) &&
               sum_find(operation);
    case SHAPE_ADD3:
        return terms_find(state, inst, 0, 3, operation) && sum_find(operation);
    case SHAPE_MULTIPLY:
        return multiply_find(state, inst, operation);
    case SHAPE_AND:
        return and_find(state, inst, operation);
    case SHAPE_SIGN:
        return sign_find(state, inst, operation);
    case SHAPE_MAD_WIDE:
        return mad_find(state, inst, operation);
    default:
        return compare_find(state, inst, operation);
    }
}

static bool masks_find(const struct linear_state *state, const struct inst *inst, bool unread,
                       struct linear_operation *operation)
{
    const struct operation *what = operation_find(inst);
    operation->carry = LINEAR_NO_SLOT;
    if (what->flags & READS_MASK) {
        operation->carry = state->masks[operation_mask_in(inst)];
        if (operation->carry == LINEAR_NO_SLOT)
            return false;
    }
    operation->writes_mask = what->flags & WRITES_MASK && !unread;
    if (operation->writes_mask)
        operation->mask = (uint8_t)operation_mask_out(what, inst);
    return true;
}

bool linear_find(const struct linear_state *state, const struct inst *inst, bool unread,
                 struct linear_operation *operation)
{
    const struct linear_row *row = linear_row_of(inst);
    if (!row || state->registers.count + 2 > LINEAR_REGISTERS ||
        state->registers.slots + 3 > LINEAR_SLOTS)
        return false;
    *operation = (struct linear_operation){.wide = row->wide,
                                           .dwords = row->shape == SHAPE_COMPARE ? 0
                                                     : row->wide                 ? 2
                                                                                 : 1,
                                           .dst = (uint8_t)inst->dst.index,
                                           .slot = state->registers.slots,
                                           .condition = row->condition,
                                           .is_signed = row->is_signed};
    operation->mask_slot = (uint8_t)(operation->slot + operation->dwords);
    return masks_find(state, inst, unread, operation) &&
           inst->dst.index + operation->dwords <= VGPR_ROWS &&
           shape_find(state, inst, (enum linear_shape)row->shape, operation);
}

static void forget(struct linear_state *state, unsigned first, unsigned dwords)
{
    struct linears *registers = &state->registers;
    for (unsigned n = 0; n < registers->count;)
        if (registers->of[n].index >= first && registers->of[n].index < first + dwords)
            registers->of[n] = registers->of[--registers->count];
        else
            n++;
}

void linear_apply(struct linear_state *state, const struct linear_operation *operation)
{
    struct linears *registers = &state->registers;
    const bool same = operation->kind == LINEAR_SAME || operation->kind == LINEAR_BELOW;
    forget(state, operation->dst, operation->dwords);
    for (unsigned n = 0; n < operation->dwords; n++)
        registers->of[registers->count++] = (struct linear){
            .index = (uint8_t)(operation->dst + n),
            .slot = same ? operation->terms[0].slots[0] : (uint8_t)(operation->slot + n),
            .stale = true,
            .step = n ? 0 : operation->step};
    registers->slots = (uint8_t)(registers->slots + operation->dwords + operation->writes_mask);
    if (operation->writes_mask)
        state->masks[operation->mask] = operation->mask_slot;
}

void linear_forget(struct linear_state *state, const struct inst *inst)
{
    if (inst->dst.kind == OPND_VGPR)
        forget(state, inst->dst.index, inst->dst.dwords ? inst->dst.dwords : 1);
}

void linear_forget_masks(struct linear_state *state)
{
    memset(state->masks, LINEAR_NO_SLOT, sizeof state->masks);
}

void linear_note_scalar(struct linear_state *state, const struct inst *inst)
{
    if (inst->dst.kind != OPND_SREG)
        return;
    for (unsigned n = inst->dst.index; n < inst->dst.index + inst->dst.dwords; n++)
        if (n < SREG_COUNT)
            state->narrow[n] = inst->dst.dwords == 1;
}
