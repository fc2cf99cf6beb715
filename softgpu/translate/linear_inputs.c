/*
 * What addresses are made of, from accesses of memory backwards: the registers that must be linear
 * where the run begins, and by which step, for its accesses to follow each other. It is a guess;
 * the run looks whether it is true, each time.
 */
#include <string.h>

#include "translate/linear_shapes.h"
#include "translate/run.h"

enum { STEP_NONE = -1, STEP_ANY = -2 };

struct wants {
    int32_t step[VGPR_ROWS + 1];
    bool accesses; /* there are any */
};

static void want(struct wants *wants, const struct operand *operand, unsigned dword, int32_t step)
{
    if (operand->kind != OPND_VGPR || operand->index + dword >= VGPR_ROWS)
        return;
    int32_t *is = &wants->step[operand->index + dword];
    if (*is < 0)
        *is = step;
}
static void want_pair(struct wants *wants, const struct operand *operand, int32_t step)
{
    want(wants, operand, 0, step);
    want(wants, operand, 1, 0);
}

/* Taken back: the instruction writes them. Returns what was wanted of the first one. */
static int32_t written(struct wants *wants, const struct inst *inst)
{
    int32_t step = STEP_NONE;
    if (inst->dst.kind != OPND_VGPR)
        return step;
    for (unsigned n = 0; n < (inst->dst.dwords ? inst->dst.dwords : 1u); n++) {
        if (inst->dst.index + n >= VGPR_ROWS)
            break;
        int32_t *is = &wants->step[inst->dst.index + n];
        if (*is != STEP_NONE && step == STEP_NONE)
            step = n ? STEP_ANY : *is;
        *is = STEP_NONE;
    }
    return step;
}

static int32_t divided(int32_t step, const struct operand *by, bool shift)
{
    enum { SHIFTS = 31 };
    if (step <= 0 || by->kind != OPND_CONST)
        return step;
    if (shift)
        return step >> (by->value & SHIFTS);
    return by->value ? (int32_t)((uint32_t)step / by->value) : step;
}

static void want_mad(struct wants *wants, const struct inst *inst, int32_t step)
{
    const bool alone = inst->src[2].kind != OPND_VGPR;
    want_pair(wants, &inst->src[2], step);
    for (unsigned n = 0; n < 2; n++) {
        const struct operand *other = &inst->src[1 - n];
        const bool carries = alone && other->kind == OPND_CONST;
        want(wants, &inst->src[n], 0, carries ? divided(step, other, false) : 0);
    }
}

static void want_difference(struct wants *wants, const struct inst *inst, int32_t step)
{
    const unsigned reversed = operation_find(inst)->flags & REVERSED ? 1 : 0;
    want(wants, &inst->src[reversed], 0, step);
    want(wants, &inst->src[1 - reversed], 0, 0);
}

static void want_sources(struct wants *wants, const struct inst *inst, enum linear_shape shape,
                         int32_t step)
{
    const struct operand *src = inst->src;
    const bool alone = src[2].kind != OPND_VGPR;
    switch (shape) {
    case SHAPE_SUB:
        want_difference(wants, inst, step);
        return;
    case SHAPE_SHIFT:
        want(wants, &src[1], 0, divided(step, &src[0], true));
        return;
    case SHAPE_SHIFT_WIDE:
        want_pair(wants, &src[1], divided(step, &src[0], true));
        return;
    case SHAPE_LSHL_ADD:
        want(wants, &src[2], 0, step);
        want(wants, &src[0], 0, alone ? divided(step, &src[1], true) : 0);
        return;
    case SHAPE_LSHL_ADD_WIDE:
        want_pair(wants, &src[2], step);
        want_pair(wants, &src[0], alone ? divided(step, &src[1], true) : 0);
        return;
    case SHAPE_ADD_LSHL:
        want(wants, &src[0], 0, divided(step, &src[2], true));
        want(wants, &src[1], 0, divided(step, &src[2], true));
        return;
    case SHAPE_MULTIPLY:
        want(wants, &src[0], 0, divided(step, &src[1], false));
        want(wants, &src[1], 0, divided(step, &src[0], false));
        return;
    case SHAPE_SIGN:
        want(wants, &src[1], 0, STEP_ANY);
        return;
    case SHAPE_MAD_WIDE:
        want_mad(wants, inst, step);
        return;
    default: /* all alike; of sums only one source steps, whose other ones are mostly known */
        for (unsigned n = 0; n < 3; n++)
            if (src[n].type != TYPE_MASK64)
                want(wants, &src[n], 0, step);
        return;
    }
}

static void want_before(struct wants *wants, const struct run *run, unsigned n)
{
    const struct inst *inst = run->insts[n];
    const struct linear_row *row = linear_row_of(inst);
    const int32_t step = written(wants, inst);
    if (linear_access(run, inst)) {
        want(wants, &inst->src[0], 0, (int32_t)linear_access_bytes(inst));
        if (!(inst->flags & IF_SADDR))
            want(wants, &inst->src[0], 1, 0);
        wants->accesses = true;
    } else if (row && step != STEP_NONE) {
        want_sources(wants, inst, (enum linear_shape)row->shape, step);
    }
}

bool linear_inputs_find(const struct run *run, struct linear_inputs *inputs)
{
    struct wants wants = {.accesses = false};
    for (unsigned index = 0; index < VGPR_ROWS; index++)
        wants.step[index] = STEP_NONE;
    inputs->count = 0;
    for (unsigned round = 0; round < (run_loops(run) ? 2 : 1); round++)
        for (unsigned n = run->count; n-- > 0;)
            want_before(&wants, run, n);
    for (unsigned index = 0; wants.accesses && index < VGPR_ROWS; index++) {
        if (wants.step[index] == STEP_NONE)
            continue;
        if (inputs->count == LINEAR_INPUTS)
            return false;
        inputs->of[inputs->count].index = (uint8_t)index;
        inputs->of[inputs->count++].step =
            wants.step[index] == STEP_ANY ? 1 : (uint32_t)wants.step[index];
    }
    return inputs->count > 0;
}
