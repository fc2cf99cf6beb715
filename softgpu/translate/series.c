/* A run's accesses and strips, without its numbers (series.h). */
#include "translate/series.h"

#include "isa_ops.h"
#include "translate/emit.h"
#include "translate/frame.h"
#include "translate/linear.h"

enum { ROWS = 64 }; /* registers that are looked at; a run that writes others has no series */

/* Accesses and strips that are executed strip by strip as one: its loads come before its stores. */
struct phase {
    unsigned first, count; /* of the maker's instructions */
    uint8_t accesses;      /* before it */
    bool fenced;           /* stores before it are seen first */
    bool loads, stores;    /* it has some, */
    bool loaded, stored;   /* for which a wait has stood since */
};

struct maker {
    const struct run *run;
    struct series *series;
    struct linear_state now;
    /* What becomes code: accesses and vector instructions, in phases. */
    uint8_t insts[TRANSLATE_RUN_MAX];
    unsigned count;
    struct phase phases[SERIES_ACCESSES + 1];
    unsigned phase_count;
    /* Rows that have been written so far, and those that were read before: a wave finds there what
     * the one before it has left. */
    uint64_t written, early;
    uint8_t loads; /* scalar ones */
    bool stored;   /* a store stands before, */
    bool waits;    /* and a wait behind it, for which no fence does yet */
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

/* Does a register of the operand have a number that its row has not? */
static bool is_number(const struct maker *m, const struct operand *from, unsigned dwords)
{
    for (unsigned n = from->index; from->kind == OPND_VGPR && n < from->index + dwords; n++) {
        const struct linear *linear = linear_of(&m->now.registers, n);
        if (linear && linear->stale)
            return true;
    }
    return false;
}

/* A strip's loads and stores are in the order of the program. Those of other strips are not: what
 * has to be is parted, a load from a store before it, and whatever a wait stands between but for a
 * store that waits for loads. */
static bool phase_ends(const struct phase *phase, bool load)
{
    return load ? phase->stores || phase->loaded : phase->stored;
}

static void phase_begin(struct maker *m)
{
    m->phases[m->phase_count++] =
        (struct phase){.first = m->count, .accesses = m->series->accesses, .fenced = m->waits};
    m->waits = false;
}

static void phase_wait(struct maker *m)
{
    struct phase *phase = &m->phases[m->phase_count - 1];
    phase->loaded |= phase->loads;
    phase->stored |= phase->stores;
    m->waits |= m->stored;
}

static void phase_add(struct maker *m, unsigned n)
{
    m->insts[m->count++] = (uint8_t)n;
    m->phases[m->phase_count - 1].count++;
}

static void phase_access(struct maker *m, unsigned n, bool load)
{
    if (phase_ends(&m->phases[m->phase_count - 1], load))
        phase_begin(m);
    struct phase *phase = &m->phases[m->phase_count - 1];
    phase->loads |= load;
    phase->stores |= !load;
    m->stored |= !load;
    phase_add(m, n);
}

static bool access_add(struct maker *m, unsigned n)
{
    const struct inst *inst = m->run->insts[n];
    const struct operand *data = &inst->src[1];
    const bool load = inst->flags & IF_LOAD;
    if (!linear_access(m->run, inst) || !linear_address_follows(&m->now, inst) ||
        m->series->accesses == SERIES_ACCESSES)
        return false;
    if (load ? !rows_write(m, &inst->dst)
             : is_number(m, data, data->dwords) || !rows_read(m, data, data->dwords))
        return false;
    phase_access(m, n, load);
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

/* Does it leave some of what a register has? Mixed sums that become a half do (emit_half.c). */
static bool keeps_some(const struct operation *operation, const struct inst *inst)
{
    return operation->flags & (ACCUMULATES | KEEPS_HIGH | HALVES) || inst->modifier != MOD_NONE ||
           inst->op_sel || (operation->flags & MIXED && operation->argument);
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
        if (operation->sources[k] && (is_number(m, &inst->src[k], operation->sources[k]) ||
                                      !rows_read(m, &inst->src[k], operation->sources[k])))
            return false;
    }
    if (keeps_some(operation, inst) &&
        (is_number(m, &inst->dst, inst->dst.dwords) || !rows_read(m, &inst->dst, inst->dst.dwords)))
        return false;
    step_add(m, n, SERIES_STRIP);
    phase_add(m, n);
    linear_forget(&m->now, inst);
    return rows_write(m, &inst->dst);
}

static bool vector_add(struct maker *m, const struct segment *segment, unsigned n, bool direct)
{
    const struct inst *inst = m->run->insts[n];
    struct linear_operation operation;
    if (!direct)
        return strip_add(m, n);
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
    return true;
}

static bool segment_add(struct maker *m, const struct segment *segment)
{
    if (segment->matrices)
        return false;
    if (segment->cut)
        return cut_add(m, segment->first);
    if (segment->waits)
        phase_wait(m);
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

/* ---- code ---- */

static void phase_emit(struct x86 *x, const struct maker *m, const struct phase *phase, bool last)
{
    const struct inst *insts[TRANSLATE_RUN_MAX];
    struct run run = {.insts = insts, .count = phase->count, .needs = m->run->needs};
    const struct segment segment = {
        .count = phase->count, .spans = phase->accesses, .forgets = last};
    for (unsigned n = 0; n < phase->count; n++) {
        const unsigned from = m->insts[phase->first + n];
        insts[n] = m->run->insts[from];
        run.roles[n] = m->series->steps[from].role == SERIES_ACCESS ? ROLE_SPAN : ROLE_VECTOR;
    }
    if (phase->fenced)
        x86_fence(x);
    x86_gpr_move(x, RDI, RBX);
    segment_rest_emit(x, &run, &segment, NULL); /* no register is a number alone */
}

static void code_emit(struct x86 *x, const struct maker *m)
{
    x86_frame_enter(x, FRAME_BYTES);
    x86_gpr_move(x, RBP, RDX);
    for (unsigned n = 0; n < m->phase_count; n++)
        phase_emit(x, m, &m->phases[n], n + 1 == m->phase_count);
    x86_frame_leave(x, FRAME_BYTES);
    x86_return(x);
    x86_constants_flush(x);
}

void series_emit(struct x86 *x, const struct run *run, struct series *series)
{
    struct linear_inputs inputs;
    struct maker m = {.run = run, .series = series};
    if (!series->whole || !linear_inputs_find(run, &inputs)) {
        series->whole = 0;
        return;
    }
    inputs_begin(&m, &inputs);
    series->count = (uint8_t)run->count;
    series->offset = x->count;
    for (unsigned n = 0; n < run->count; n++)
        series->steps[n] = (struct series_step){run->insts[n], run->insts[n]->exec, SERIES_NOTHING};
    phase_begin(&m);
    if (segments_add(&m))
        code_emit(x, &m);
    else
        series->whole = 0;
}
