/* A segment: its vector instructions, strip after strip. */
#include "translate/linear.h"
#include "translate/run.h"
#include "valu/valu.h"

#define WAVE(member) ((int32_t)offsetof(struct wave, member))

/* Lanes that are off: 64 - popcount(EXEC), which RAX has, for each vector instruction. What the run
 * loop counts for the first instruction is left to it. */
static void count_idle_lanes(struct x86 *x, const struct segment *segment, bool first)
{
    const int32_t vectors = (int32_t)segment->vectors - first;
    if (vectors == 0)
        return;
    x86_gpr_imm32(x, R10, WAVE_LANES);
    x86_gpr_popcount(x, RAX, RAX);
    x86_gpr_sub(x, R10, RAX);
    x86_gpr_multiply(x, R10, vectors);
    x86_add64(x, RDI, WAVE(idle_lanes), R10);
}

/* No other instruction of the segment reads it as a value (run.c). */
bool mask_is_unread(const struct run *run, const struct segment *segment, unsigned n)
{
    const struct operation *operation = operation_find(run->insts[n]);
    const unsigned pair = operation_mask_out(operation, run->insts[n]);
    for (unsigned m = n + 1; m < segment->first + segment->count; m++) {
        const struct operation *later = operation_find(run->insts[m]);
        if (run->roles[m] != ROLE_VECTOR)
            continue;
        if (later->flags & READS_MASK && operation_mask_in(run->insts[m]) == pair)
            return false;
        if (later->flags & WRITES_MASK && operation_mask_out(later, run->insts[m]) == pair)
            return true;
    }
    return false;
}

static void flushing_state_make(struct x86 *x)
{
    x86_load32(x, RAX, RDI, WAVE(fp_state_32));
    x86_gpr_or_imm(x, RAX, MXCSR_FLUSH);
    x86_store32(x, RSP, FRAME_STATE, RAX);
}
static void state_switch(struct x86 *x, bool *flushing, bool wanted)
{
    if (*flushing != wanted)
        x86_load_state(x, wanted ? RSP : RDI, wanted ? FRAME_STATE : WAVE(fp_state_32));
    *flushing = wanted;
}

static bool is_of_floats(const struct inst *inst)
{
    enum {
        FLOATS = 1 << TYPE_F16 | 1 << TYPE_F32 | 1 << TYPE_F64 | 1 << TYPE_PK16 | 1 << TYPE_PKF32
    };
    unsigned types = 1u << inst->dst.type;
    for (int n = 0; n < 3; n++)
        types |= 1u << inst->src[n].type;
    return types & FLOATS;
}
/* Whether all instructions that the state matters to want the one that flushes: it is then loaded
 * once for all strips, as hosts take long over it. */
static bool flushes_throughout(const struct run *run, const struct segment *segment)
{
    bool some = false;
    for (unsigned n = segment->first; n < segment->first + segment->count; n++) {
        if (run->roles[n] != ROLE_VECTOR)
            continue;
        const bool flushes = operation_find(run->insts[n])->needs & NEED_FLUSH;
        if (!flushes && is_of_floats(run->insts[n]))
            return false;
        some |= flushes;
    }
    return some;
}

/* False: the instruction is left to the strip. */
static bool strip_passes(struct emitter *e, const struct strips_plan *plan, unsigned n,
                         struct linear_state *linear)
{
    struct linear_operation operation;
    if (!plan || !plan->direct[n])
        return false;
    linear_find(linear, e->inst, e->mask_unread, &operation);
    for (unsigned dword = 0; dword < operation.dwords; dword++)
        values_drop(&e->values, (struct place){.index = (uint16_t)(operation.dst + dword)});
    linear_apply(linear, &operation);
    return true;
}

/* The emitter's values say afterwards what the strip asks for. */
static void strip_emit(struct emitter *e, const struct run *run, const struct segment *segment,
                       bool masked, struct lds_known *known, struct lds_detours *detours,
                       const struct strips_plan *plan)
{
    const bool flushes = flushes_throughout(run, segment);
    bool flushing = flushes;
    struct x86 *x = e->x;
    struct linear_state linear;
    unsigned span = segment->spans;
    values_begin(&e->values, x, masked);
    if (plan) {
        linear = *plan->before;
        e->values.linear = &linear.registers;
    }
    for (unsigned n = segment->first; n < segment->first + segment->count; n++) {
        e->inst = run->insts[n];
        e->operation = operation_find(e->inst);
        e->mask_unread = run->roles[n] == ROLE_VECTOR && e->operation->flags & WRITES_MASK &&
                         mask_is_unread(run, segment, n);
        if (strip_passes(e, plan, n - segment->first, &linear))
            continue;
        if (run->roles[n] == ROLE_VECTOR) {
            if (is_of_floats(e->inst))
                state_switch(x, &flushing, e->operation->needs & NEED_FLUSH);
            e->operation->emit(e);
        } else if (run->roles[n] == ROLE_LDS) {
            lds_emit(e, segment->part, known, detours);
        } else if (run->roles[n] == ROLE_SPAN) {
            span_emit(e, span++);
        }
        lds_forget(known, e->inst);
        if (plan && run->roles[n] == ROLE_VECTOR)
            linear_forget(&linear, e->inst);
        values_next(&e->values);
    }
    if (!segment->forgets)
        values_flush(&e->values);
    state_switch(x, &flushing, flushes);
}

/* A strip without a lane that runs: only the masks that it writes are known, to be 0. */
static void idle_strip_emit(struct x86 *x, const struct run *run, const struct segment *segment)
{
    for (unsigned n = segment->first; n < segment->first + segment->count; n++) {
        const struct operation *operation = operation_find(run->insts[n]);
        if (run->roles[n] != ROLE_VECTOR || !(operation->flags & WRITES_MASK))
            continue;
        int32_t at = (int32_t)(4 * operation_mask_out(operation, run->insts[n]));
        if (x->level->lanes == 16)
            x86_store16_imm(x, R9, at, 0);
        else
            x86_store8_imm(x, R9, at, 0);
    }
}

static bool spans_begin(struct x86 *x, const struct run *run, const struct segment *segment)
{
    unsigned count = 0;
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (run->roles[n] == ROLE_SPAN)
            span_begin(x, run->insts[n], segment->spans + count++);
    if (count)
        x86_gpr_imm32(x, R10, 0);
    return count;
}

/* RDX, R8: the strip's part of the rows; R9: of the masks; RCX: strips left. */
static void strips_emit(struct x86 *x, const struct run *run, const struct segment *segment,
                        bool masked, struct lds_known *known, struct lds_detours *detours,
                        struct strips_plan *plan)
{
    const int8_t lanes = (int8_t)x->level->lanes;
    struct emitter e = {.x = x};
    size_t idle = 0;
    x86_load64(x, RDX, RDI, WAVE(v));
    x86_load64(x, R8, RDI, WAVE(a));
    x86_gpr_move(x, R9, RDI);
    x86_gpr_imm32(x, RCX, WAVE_LANES / x->level->lanes);
    far_rows_emit(x, run, segment);
    if (segment->lds)
        lds_segment_emit(x);
    const bool spans = spans_begin(x, run, segment);
    if (plan)
        linear_lanes_begin(x);
    bool flushing = false;
    state_switch(x, &flushing, flushes_throughout(run, segment));
    size_t loop = x->count;
    if (masked) {
        (lanes == 16 ? x86_load16 : x86_load8)(x, RAX, R9, WAVE(s) + 4 * SREG_EXEC);
        x86_gpr_test32(x, RAX);
        idle = x86_jump_if(x, JUMP_EQUAL);
        x86_mask_from(x, MASK_EXEC, RAX);
    }
    strip_emit(&e, run, segment, masked, known, detours, plan);
    if (e.values.linear_lanes)
        linear_lanes_next(x);
    if (masked) {
        size_t done = x86_jump(x);
        x86_land(x, idle);
        idle_strip_emit(x, run, segment);
        x86_land(x, done);
    }
    x86_gpr_add_imm(x, RDX, (int8_t)(4 * lanes));
    if (e.values.accumulation)
        x86_gpr_add_imm(x, R8, (int8_t)(4 * lanes));
    if (masked || e.values.masks_used)
        x86_gpr_add_imm(x, R9, lanes / 8);
    if (spans)
        x86_gpr_add_imm(x, R10, (int8_t)(4 * lanes));
    x86_gpr_add_imm(x, RCX, -1);
    x86_jump_back_if(x, JUMP_NOT_EQUAL, loop);
    x86_vzeroupper(x);
    state_switch(x, &flushing, false);
}

/* What the run's instructions want to be there. */
static void needs_emit(struct x86 *x, const struct run *run)
{
    if (run->needs & NEED_FLUSH)
        flushing_state_make(x);
    if (run->needs & NEED_ODD_LANES) {
        x86_gpr_imm32(x, RAX, 0xaaaa);
        x86_mask_from(x, MASK_ODD, RAX);
    }
}

void segment_rest_emit(struct x86 *x, const struct run *run, const struct segment *segment,
                       struct strips_plan *plan)
{
    struct lds_known known = {.next_follow = 0};
    needs_emit(x, run);
    strips_emit(x, run, segment, false, &known, NULL, plan); /* which has no transfers of LDS */
}

void segment_emit(struct x86 *x, const struct run *run, const struct segment *segment,
                  struct lds_known *known, struct lds_detours *detours, struct partial *partial)
{
    needs_emit(x, run);
    x86_load64(x, RAX, RDI, WAVE(s) + 4 * SREG_EXEC);
    x86_gpr_compare_imm(x, RAX, -1);
    *partial = (struct partial){segment, x86_jump_if(x, JUMP_NOT_EQUAL), 0, *known};
    strips_emit(x, run, segment, false, known, detours, NULL);
    partial->back = x->count;
}

void segment_partial_emit(struct x86 *x, const struct run *run, struct partial *partial,
                          struct lds_detours *detours)
{
    const struct segment *segment = partial->segment;
    x86_land(x, partial->jump);
    count_idle_lanes(x, segment, segment->first == 0 && run->roles[0] == ROLE_VECTOR);
    strips_emit(x, run, segment, true, &partial->known, detours, NULL);
    x86_jump_back(x, partial->back);
}
