/* A run's accesses and strips, without its numbers (series.h). */
#include "translate/series.h"

#include "isa_ops.h"
#include "translate/emit.h"
#include "translate/frame.h"
#include "translate/linear.h"

enum { ROWS = 64 }; /* registers that are looked at; a run that writes others has no series */

struct maker {
    struct x86 *x;
    const struct run *run;
    struct series *series;
    series_access_find_fn *find;
    struct linear_state now;
    /* Rows that have been written so far, and those that were read before: a wave finds there what
     * the one before it has left. */
    uint64_t written, early;
    uint8_t loads; /* scalar ones */
    bool stored;   /* a store stands before */
    /* Scalars that strips have read: they find what the wave before has left, which is the same as
     * long as nobody behind them writes it. */
    bool read[SREG_COUNT];
};

static void step_add(struct maker *m, unsigned n, enum series_role role)
{
    m->series->steps[n].role = (uint8_t)role;
}

/* False: there are too many of them. */
static bool note_add(struct maker *m, unsigned n, enum series_role role, uint8_t *count,
                     unsigned most)
{
    if (*count == most)
        return false;
    step_add(m, n, role);
    m->series->notes[m->series->note_count++] = (uint8_t)n;
    (*count)++;
    return true;
}

static bool scalars_write(const struct maker *m, unsigned first, unsigned dwords)
{
    for (unsigned n = first; n < first + dwords && n < SREG_COUNT; n++)
        if (m->read[n])
            return false;
    return true;
}

static void scalars_read(struct maker *m, const struct operand *from, unsigned dwords)
{
    for (unsigned n = from->index; from->kind == OPND_SREG && n < from->index + dwords; n++)
        if (n < SREG_COUNT)
            m->read[n] = true;
}

/* Of an instruction of scalars; EXEC is no strip's. */
static bool scalar_add(struct maker *m, unsigned n, enum series_role role)
{
    const struct inst *inst = m->run->insts[n];
    step_add(m, n, role);
    linear_note_scalar(&m->now, inst);
    return inst->dst.kind != OPND_SREG || scalars_write(m, inst->dst.index, inst->dst.dwords);
}

static bool rows_write(struct maker *m, const struct operand *to)
{
    const unsigned dwords = to->dwords ? to->dwords : 1;
    if (to->kind != OPND_VGPR || to->index + dwords > ROWS)
        return false;
    for (unsigned n = to->index; n < to->index + dwords; n++)
        m->written |= UINT64_C(1) << n;
    return true;
}

static bool rows_read(struct maker *m, const struct operand *from, unsigned dwords)
{
    if (from->kind == OPND_AGPR)
        return false;
    for (unsigned n = from->index; from->kind == OPND_VGPR && n < from->index + dwords; n++)
        if (n < ROWS && !(m->written >> n & 1))
            m->early |= UINT64_C(1) << n;
    return true;
}

/* ---- what stands alone ---- */

static void access_code(struct maker *m, unsigned n, series_access_fn *access)
{
    enum { SPAN = sizeof(struct series_span) };
    struct x86 *x = m->x;
    const int32_t at = m->series->accesses * SPAN;
    x86_load64(x, RAX, RSP, FRAME_LIMITS);
    x86_load64(x, RDX, RAX, at + (int32_t)offsetof(struct series_span, host));
    x86_load64(x, RCX, RAX, at + (int32_t)offsetof(struct series_span, ahead));
    x86_gpr_move(x, RDI, RBX);
    x86_lea(x, RSI, RBP, (int32_t)(m->run->at[n] * sizeof(struct inst)));
    x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)access);
    x86_call(x, RAX);
}

/* A register of the data is a number that has no row yet. */
static bool data_is_number(const struct maker *m, const struct operand *data)
{
    for (unsigned n = data->index; n < data->index + (unsigned)data->dwords; n++) {
        const struct linear *linear = linear_of(&m->now.registers, n);
        if (linear && linear->stale)
            return true;
    }
    return false;
}

static bool access_add(struct maker *m, unsigned n)
{
    const struct inst *inst = m->run->insts[n];
    series_access_fn *access = linear_access(m->run, inst) ? m->find(inst) : NULL;
    const bool load = inst->flags & IF_LOAD;
    if (!access || !linear_address_follows(&m->now, inst))
        return false;
    if (load
            ? !rows_write(m, &inst->dst)
            : data_is_number(m, &inst->src[1]) || !rows_read(m, &inst->src[1], inst->src[1].dwords))
        return false;
    access_code(m, n, access);
    m->stored |= !load;
    linear_forget(&m->now, inst);
    return note_add(m, n, SERIES_ACCESS, &m->series->accesses, SERIES_ACCESSES);
}

/* From an address in a pair and an offset that is known; behind a store it may read what that has
 * written. */
static bool is_plain_load(const struct maker *m, const struct inst *inst)
{
    enum { SMEM_DWORDS = 2 };
    return inst->format == FMT_SMEM && inst->flags & IF_LOAD &&
           !(inst->flags & (IF_ATOMIC | IF_SOFFSET)) && inst->src[0].kind == OPND_SREG &&
           inst->src[0].dwords == 2 && inst->dwords == SMEM_DWORDS && inst->dst.kind == OPND_SREG &&
           inst->dst.index + inst->dst.dwords <= SREG_EXEC && !m->stored;
}

static bool number_note(struct maker *m, unsigned n, const struct linear_operation *operation)
{
    const struct inst *inst = m->run->insts[n];
    const struct operation *what = operation_find(inst);
    linear_apply(&m->now, operation);
    step_add(m, n, SERIES_NUMBER);
    return (operation->dwords == 0 || rows_write(m, &inst->dst)) &&
           (!(what->flags & WRITES_MASK) || scalars_write(m, operation_mask_out(what, inst), 2));
}

static bool number_add(struct maker *m, unsigned n)
{
    const struct inst *inst = m->run->insts[n];
    struct linear_operation operation;
    linear_forget_masks(&m->now);
    if (!linear_find(&m->now, inst, false, &operation))
        return false;
    return number_note(m, n, &operation);
}

static bool call_add(struct maker *m, unsigned n)
{
    const struct inst *inst = m->run->insts[n];
    if (inst->format == FMT_FLAT)
        return access_add(m, n);
    if (is_plain_load(m, inst))
        return scalar_add(m, n, SERIES_LOAD) &&
               note_add(m, n, SERIES_LOAD, &m->loads, SERIES_LOADS);
    return scalar_code_exists(inst) ? scalar_add(m, n, SERIES_NUMBER) : number_add(m, n);
}

static bool cut_add(struct maker *m, unsigned n)
{
    switch (m->run->roles[n]) {
    case ROLE_BRANCH:
        step_add(m, n, SERIES_BRANCH);
        return true;
    case ROLE_LAST:
        return m->run->insts[n]->op == OP_S_ENDPGM;
    default:
        return call_add(m, n);
    }
}

/* ---- segments ---- */

/* Does it leave some of what a register has? */
static bool keeps_some(const struct operation *operation, const struct inst *inst)
{
    return operation->flags & (ACCUMULATES | KEEPS_HIGH | HALVES) || inst->modifier != MOD_NONE ||
           inst->op_sel;
}

/* Reads and writes vector registers, constants and scalars alone, each strip its own lanes. */
static bool strip_add(struct maker *m, unsigned n)
{
    const struct inst *inst = m->run->insts[n];
    const struct operation *operation = operation_find(inst);
    if (operation->flags & (READS_MASK | WRITES_MASK) || far_lanes(inst))
        return false;
    for (int k = 0; k < 3; k++) {
        scalars_read(m, &inst->src[k], operation->sources[k]);
        if (operation->sources[k] && !rows_read(m, &inst->src[k], operation->sources[k]))
            return false;
    }
    if (keeps_some(operation, inst) && !rows_read(m, &inst->dst, inst->dst.dwords))
        return false;
    step_add(m, n, SERIES_STRIP);
    return rows_write(m, &inst->dst);
}

static bool vector_add(struct maker *m, const struct segment *segment, unsigned n, bool direct)
{
    const struct inst *inst = m->run->insts[n];
    struct linear_operation operation;
    if (!direct) {
        linear_forget(&m->now, inst);
        return strip_add(m, n);
    }
    linear_find(&m->now, inst, linear_mask_unread(m->run, segment, n), &operation);
    return number_note(m, n, &operation);
}

static bool strips_add(struct maker *m, const struct segment *segment)
{
    const struct linear_state before = m->now;
    struct strips_plan plan;
    linear_plan_make(m->run, segment, &before, &plan);
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (m->run->roles[n] == ROLE_VECTOR &&
            !vector_add(m, segment, n, plan.direct[n - segment->first]))
            return false;
    if (!plan.left)
        return true;
    x86_gpr_move(m->x, RDI, RBX);
    segment_rest_emit(m->x, m->run, segment, &plan);
    return !plan.loads_numbers;
}

static bool segment_add(struct maker *m, const struct segment *segment)
{
    if (segment->cut)
        return cut_add(m, segment->first);
    if (segment->waits && m->stored)
        frame_wait_emit(m->x);
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (m->run->roles[n] == ROLE_SCALAR && !scalar_add(m, n, SERIES_NUMBER))
            return false;
    linear_forget_masks(&m->now);
    return !segment->strips || strips_add(m, segment);
}

static bool segments_add(struct maker *m)
{
    for (unsigned k = 0; k < m->run->segment_count; k++)
        if (!segment_add(m, &m->run->segments[k]))
            return false;
    return m->series->accesses > 0 && !(m->early & m->written);
}

static void inputs_begin(struct maker *m, const struct linear_inputs *inputs)
{
    struct linears *registers = &m->now.registers;
    for (unsigned n = 0; n < inputs->count; n++)
        registers->of[registers->count++] = (struct linear){
            .index = inputs->of[n].index, .slot = registers->slots++, .step = inputs->of[n].step};
}

void series_emit(struct x86 *x, const struct run *run, struct series *series,
                 series_access_find_fn *find)
{
    struct linear_inputs inputs;
    struct maker m = {.x = x, .run = run, .series = series, .find = find};
    const struct x86 begin = *x;
    if (!series->whole || !linear_inputs_find(run, &inputs)) {
        series->whole = 0;
        return;
    }
    inputs_begin(&m, &inputs);
    series->count = (uint8_t)run->count;
    series->offset = x->count;
    for (unsigned n = 0; n < run->count; n++)
        series->steps[n] = (struct series_step){run->insts[n], run->insts[n]->exec, SERIES_NOTHING};
    x86_frame_enter(x, FRAME_BYTES);
    x86_store64(x, RSP, FRAME_LIMITS, RDX);
    x86_store8_imm(x, RBX, WAVE(stores_pending), 0); /* as waves begin */
    const bool good = segments_add(&m);
    x86_frame_leave(x, FRAME_BYTES);
    x86_return(x);
    if (good) {
        x86_constants_flush(x);
        return;
    }
    series->whole = 0;
    x->count = begin.count;
    x->constant_count = begin.constant_count;
    x->fixup_count = begin.fixup_count;
}
