/*
 * A run once more, for all lanes and with linear registers (linear.h): what can be done with their
 * bases comes before a segment's strips, which have the rest, and accesses of memory whose elements
 * follow each other are called with an address. Rows are written only where somebody may look at
 * them. Where something is not as expected the run goes on as the other one, at the same segment,
 * of which nothing has been done yet but its scalar instructions.
 */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "isa_ops.h"
#include "translate/frame.h"
#include "translate/linear.h"
#include "translate/series.h"
#include "wave/step.h"

/* The second body is a loop's, which begins with what the first one has left. */
enum { SEGMENTS = 2 * TRANSLATE_RUN_MAX + 1, BODIES = 2 };

struct linear_frame {
    struct linear_state now;
    struct linears before[BODIES][SEGMENTS];
    unsigned body; /* that is being emitted */
    struct {       /* where a segment is left to the other run */
        size_t jump;
        unsigned segment;
        const struct linears *before;
    } bails[BODIES * (LINEAR_JUMPS * TRANSLATE_RUN_MAX + SEGMENTS)];
    unsigned bail_count;
    struct { /* where an access is left to its handler */
        size_t jump, back;
        unsigned n;
        struct linears stale;
    } slows[BODIES * TRANSLATE_RUN_MAX];
    unsigned slow_count;
    size_t enters[2 * LINEAR_INPUTS];
    unsigned enter_count;
    bool exec_is_known; /* to be all lanes */
    /* Rows that the body has written so far, if that is known: those of the first registers. */
    uint64_t written;
    bool written_is_known;
};
enum { WRITTEN_ROWS = 64 }; /* of which `written` says so */

span_fn *linear_access(const struct run *run, const struct inst *inst)
{
    if (!run->spans || inst->format != FMT_FLAT || inst->src[0].kind != OPND_VGPR)
        return NULL;
    return run->spans(inst);
}

static void written_add(struct linear_frame *l, const struct operand *to)
{
    const unsigned dwords = to->dwords ? to->dwords : 1;
    if (to->kind == OPND_AGPR)
        l->written_is_known = false;
    for (unsigned n = to->index; to->kind == OPND_VGPR && n < to->index + dwords; n++)
        if (n < WRITTEN_ROWS)
            l->written |= UINT64_C(1) << n;
        else
            l->written_is_known = false;
}

static void bail_add(struct linear_frame *l, size_t jump, unsigned segment)
{
    l->bails[l->bail_count].jump = jump;
    l->bails[l->bail_count].before = &l->before[l->body][segment];
    l->bails[l->bail_count++].segment = segment;
}

static void exec_check_emit(struct frame *f, struct linear_frame *l, unsigned k)
{
    if (l->exec_is_known)
        return;
    x86_compare64_imm(f->x, RBX, WAVE(s) + 4 * SREG_EXEC, -1);
    bail_add(l, x86_jump_if(f->x, JUMP_NOT_EQUAL), k);
    l->exec_is_known = true;
}

/* ---- segments ---- */

/* Masks of a segment: which are written by numbers, which have to do with strips; those that would
 * be both are left to strips. */
struct mask_plan {
    bool written[SREG_COUNT], touched[SREG_COUNT], banned[SREG_COUNT];
};

static void strip_touches(struct mask_plan *masks, const struct inst *inst)
{
    const struct operation *operation = operation_find(inst);
    if (operation->flags & READS_MASK)
        masks->touched[operation_mask_in(inst)] = true;
    if (operation->flags & WRITES_MASK)
        masks->touched[operation_mask_out(operation, inst)] = true;
}

static bool masks_conflict(struct mask_plan *masks)
{
    bool conflict = false;
    for (unsigned pair = 0; pair < SREG_COUNT; pair++) {
        const bool touched = masks->touched[pair] || (pair && masks->touched[pair - 1]) ||
                             (pair + 1 < SREG_COUNT && masks->touched[pair + 1]);
        if (masks->written[pair] && touched)
            masks->banned[pair] = conflict = true;
    }
    return conflict;
}

bool linear_mask_unread(const struct run *run, const struct segment *segment, unsigned n)
{
    return operation_find(run->insts[n])->flags & WRITES_MASK && mask_is_unread(run, segment, n);
}

static void plan_try(const struct run *run, const struct segment *segment,
                     const struct linear_state *before, struct mask_plan *masks,
                     struct strips_plan *plan)
{
    struct linear_state state = *before;
    struct linear_operation operation;
    plan->left = 0;
    memset(masks->written, false, sizeof masks->written);
    memset(masks->touched, false, sizeof masks->touched);
    for (unsigned n = segment->first; n < segment->first + segment->count; n++) {
        const struct inst *inst = run->insts[n];
        if (run->roles[n] != ROLE_VECTOR)
            continue;
        const bool direct =
            linear_find(&state, inst, linear_mask_unread(run, segment, n), &operation) &&
            !(operation.writes_mask && masks->banned[operation.mask]);
        plan->direct[n - segment->first] = direct;
        if (direct) {
            linear_apply(&state, &operation);
            if (operation.writes_mask)
                masks->written[operation.mask] = true;
        } else {
            plan->left++;
            linear_forget(&state, inst);
            strip_touches(masks, inst);
        }
    }
}

void linear_plan_make(const struct run *run, const struct segment *segment,
                      const struct linear_state *before, struct strips_plan *plan)
{
    struct mask_plan masks = {.banned = {false}};
    *plan = (struct strips_plan){.before = before};
    do
        plan_try(run, segment, before, &masks, plan);
    while (masks_conflict(&masks));
}

/* What the plan says is done with numbers; nothing that others see before all of it is known to be
 * right. */
static void direct_emit(struct frame *f, struct linear_frame *l, unsigned k,
                        const struct strips_plan *plan)
{
    const struct segment *segment = &f->run->segments[k];
    struct linear_operation operation, masks[TRANSLATE_RUN_MAX];
    size_t jumps[LINEAR_JUMPS];
    unsigned mask_count = 0;
    for (unsigned n = segment->first; n < segment->first + segment->count; n++) {
        if (f->run->roles[n] != ROLE_VECTOR)
            continue;
        if (!plan->direct[n - segment->first]) {
            written_add(l, &f->run->insts[n]->dst);
            linear_forget(&l->now, f->run->insts[n]);
            continue;
        }
        linear_find(&l->now, f->run->insts[n], linear_mask_unread(f->run, segment, n), &operation);
        const unsigned count = linear_emit(f->x, &operation, jumps);
        for (unsigned jump = 0; jump < count; jump++)
            bail_add(l, jumps[jump], k);
        linear_apply(&l->now, &operation);
        if (operation.writes_mask)
            masks[mask_count++] = operation;
    }
    for (unsigned n = 0; n < mask_count; n++)
        if (l->now.masks[masks[n].mask] == masks[n].mask_slot) /* the last one */
            linear_mask_emit(f->x, &masks[n]);
}

/* Rows of registers first to last become what they should be. */
static void rows_emit(struct frame *f, struct linear_frame *l, unsigned first, unsigned last)
{
    struct linears *registers = &l->now.registers;
    linear_restore_emit(f->x, registers, first, last);
    for (unsigned n = 0; n < registers->count; n++) {
        struct linear *linear = &registers->of[n];
        if (!linear->stale || linear->index < first || linear->index > last)
            continue;
        written_add(l, &(struct operand){.kind = OPND_VGPR, .index = linear->index});
        linear->stale = false;
    }
}

static void strips_segment_emit(struct frame *f, struct linear_frame *l, unsigned k)
{
    const struct segment *segment = &f->run->segments[k];
    struct linear_state before;
    struct strips_plan plan;
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (f->run->roles[n] == ROLE_SCALAR)
            linear_note_scalar(&l->now, f->run->insts[n]);
    if (!segment->strips)
        return;
    linear_forget_masks(&l->now);
    exec_check_emit(f, l, k);
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (f->run->roles[n] == ROLE_VECTOR && far_lanes(f->run->insts[n]))
            rows_emit(f, l, f->run->insts[n]->src[0].index, f->run->insts[n]->src[0].index);
    before = l->now;
    linear_plan_make(f->run, segment, &before, &plan);
    direct_emit(f, l, k, &plan);
    if (!plan.left)
        return;
    x86_gpr_move(f->x, RDI, RBX);
    segment_rest_emit(f->x, f->run, segment, &plan);
}

/* ---- cuts ---- */

static void access_emit(struct frame *f, struct linear_frame *l, unsigned k, span_fn *access)
{
    const unsigned n = f->run->segments[k].first;
    const struct inst *inst = f->run->insts[n];
    const struct operand *data = &inst->src[1];
    exec_check_emit(f, l, k);
    if (!(inst->flags & IF_LOAD) && data->kind == OPND_VGPR)
        rows_emit(f, l, data->index, data->index + data->dwords - 1u);
    if (step_touches(inst))
        frame_touches_note(f->x, step_touches(inst));
    linear_address_emit(f->x, &l->now, inst);
    x86_gpr_move(f->x, RDI, RBX);
    frame_slot_emit(f, RSI, n);
    x86_gpr_imm64(f->x, RAX, (uint64_t)(uintptr_t)access);
    x86_call(f->x, RAX);
    x86_gpr_do(f->x, X86_TEST, true, RAX, RAX);
    l->slows[l->slow_count].jump = x86_jump_if(f->x, JUMP_EQUAL);
    if (counts_in_order(inst))
        x86_add64_imm(f->x, RBX, frame_count_at(inst->tally), 1);
    l->slows[l->slow_count].back = f->x->count;
    l->slows[l->slow_count].n = n;
    l->slows[l->slow_count++].stale = l->now.registers;
    for (unsigned m = 0; m < l->now.registers.count; m++) /* the handler's call writes them */
        l->written_is_known &= l->now.registers.of[m].index < WRITTEN_ROWS;
    if (inst->flags & IF_LOAD)
        written_add(l, &inst->dst);
    linear_forget(&l->now, inst);
}

/* Behind everything: by the handler, for which all rows are right. */
static void slows_emit(struct frame *f, struct linear_frame *l)
{
    f->restore = NULL;
    for (unsigned k = 0; k < l->slow_count; k++) {
        const unsigned n = l->slows[k].n;
        x86_land(f->x, l->slows[k].jump);
        linear_restore_emit(f->x, &l->slows[k].stale, 0, VGPR_ROWS - 1);
        x86_gpr_imm64(f->x, RAX, ~UINT64_C(0));
        x86_store64(f->x, RBX, WAVE(whole_rows), RAX);
        frame_handler_emit(f, n, false);
        if (counts_in_order(f->run->insts[n]))
            x86_add64_imm(f->x, RBX, frame_count_at(f->run->insts[n]->tally), 1);
        frame_slot_emit(f, RCX, n + 1);
        x86_gpr_compare(f->x, RAX, RCX);
        frame_leave_add(f, x86_jump_if(f->x, JUMP_NOT_EQUAL), n + 1, false);
        x86_jump_back(f->x, l->slows[k].back);
    }
}

/* Has nothing to do with vector registers. */
static bool is_scalar(const struct inst *inst)
{
    switch (inst->klass) {
    case CLASS_SALU:
    case CLASS_SMEM:
    case CLASS_BRANCH:
    case CLASS_WAITCNT:
    case CLASS_BARRIER:
        return true;
    default:
        return false;
    }
}

/* An instruction that reads, as a value, of the mask that it writes is no strip's (run.c). With
 * numbers all is read before anything is written. False: they do not say what it does. */
static bool number_emit(struct frame *f, struct linear_frame *l, unsigned k)
{
    const struct inst *inst = f->run->insts[f->run->segments[k].first];
    struct linear_operation operation;
    size_t jumps[LINEAR_JUMPS];
    linear_forget_masks(&l->now);
    if (!linear_find(&l->now, inst, false, &operation))
        return false;
    exec_check_emit(f, l, k);
    const unsigned count = linear_emit(f->x, &operation, jumps);
    for (unsigned jump = 0; jump < count; jump++)
        bail_add(l, jumps[jump], k);
    linear_apply(&l->now, &operation);
    if (operation.writes_mask)
        linear_mask_emit(f->x, &operation);
    return true;
}

static void call_emit(struct frame *f, struct linear_frame *l, unsigned k)
{
    const unsigned n = f->run->segments[k].first;
    const struct inst *inst = f->run->insts[n];
    span_fn *access = linear_access(f->run, inst);
    if (access && linear_address_follows(&l->now, inst)) {
        access_emit(f, l, k, access);
        return;
    }
    if (number_emit(f, l, k))
        return;
    l->exec_is_known = false;
    if (is_scalar(inst)) {
        linear_note_scalar(&l->now, inst);
        frame_call_emit(f, n);
        return;
    }
    l->written_is_known = false;
    rows_emit(f, l, 0, VGPR_ROWS - 1);
    f->restore = NULL;
    frame_call_emit(f, n);
    if (inst->format == FMT_FLAT || inst->format == FMT_DS || inst->dst.kind == OPND_SREG)
        linear_forget(&l->now, inst);
    else
        l->now.registers.count = 0;
}

/*
 * The wave ends. If the run is all that its slice has had, and nothing but this body, it has done
 * what any other one has done of which the same is true: whoever starts and records groups need not
 * look (wave_whole()).
 */
static void whole_emit(struct frame *f, struct linear_frame *l)
{
    /* Writers: whoever translates, for any device. Nothing depends on the order. */
    static _Atomic uint32_t runs;
    const int32_t left = WAVE_SLICE_INSTRUCTIONS - (int32_t)f->run->count;
    if (!l->written_is_known || l->body || left < 0)
        return;
    x86_compare32_imm(f->x, RBX, WAVE(slice_left), left);
    const size_t other = x86_jump_if(f->x, JUMP_NOT_EQUAL);
    x86_gpr_imm64(f->x, RAX, l->written);
    x86_load64(f->x, RCX, RBX, WAVE(whole_rows));
    x86_gpr_do(f->x, X86_OR, true, RAX, RCX);
    x86_store64(f->x, RBX, WAVE(whole_rows), RAX);
    const uint32_t whole = atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed) + 1;
    x86_store32_imm(f->x, RBX, WAVE(whole), whole);
    if (f->run->series)
        f->run->series->whole = whole;
    x86_land(f->x, other);
}

static void matrices_emit(struct frame *f, struct linear_frame *l, const struct segment *segment)
{
    l->written_is_known = false;
    rows_emit(f, l, 0, VGPR_ROWS - 1);
    frame_matrices_emit(f, segment);
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (f->run->roles[n] == ROLE_MATRIX)
            linear_forget(&l->now, f->run->insts[n]);
}

static void cut_emit(struct frame *f, struct linear_frame *l, unsigned k)
{
    const unsigned n = f->run->segments[k].first;
    if (f->run->segments[k].matrices) {
        matrices_emit(f, l, &f->run->segments[k]);
        return;
    }
    switch (f->run->roles[n]) {
    case ROLE_BRANCH:
        frame_branch_emit(f, n);
        return;
    case ROLE_LAST:
        if (f->run->insts[n]->op == OP_S_ENDPGM) /* nobody sees the registers of a wave that ends */
            whole_emit(f, l);
        else
            rows_emit(f, l, 0, VGPR_ROWS - 1);
        frame_handler_emit(f, n, true);
        return;
    default:
        call_emit(f, l, k);
    }
}

static void body_emit(struct frame *f, struct linear_frame *l)
{
    linear_forget_masks(&l->now);
    l->exec_is_known = false;
    l->written = 0;
    l->written_is_known = true;
    for (unsigned k = 0; k < f->run->segment_count; k++) {
        l->before[l->body][k] = l->now.registers;
        f->restore = &l->before[l->body][k];
        frame_segment_begin(f, &f->run->segments[k]);
        if (f->run->segments[k].cut)
            cut_emit(f, l, k);
        else
            strips_segment_emit(f, l, k);
    }
    if (f->run->roles[f->run->count - 1] != ROLE_LAST)
        rows_emit(f, l, 0, VGPR_ROWS - 1);
    frame_end_emit(f);
    f->restore = NULL;
}

/* Where a body began: without accesses it is not worth it, and has never been. */
struct begin {
    struct x86 x;
    unsigned leaves, holds, bails, slows;
};

static struct begin begin_note(const struct frame *f, const struct linear_frame *l)
{
    return (struct begin){*f->x, f->leave_count, f->hold_count, l->bail_count, l->slow_count};
}

static bool is_worth_it(struct frame *f, struct linear_frame *l, const struct begin *begin)
{
    if (l->slow_count > begin->slows)
        return true;
    f->x->count = begin->x.count;
    f->x->constant_count = begin->x.constant_count;
    f->x->fixup_count = begin->x.fixup_count;
    f->leave_count = begin->leaves;
    f->hold_count = begin->holds;
    l->bail_count = begin->bails;
    return false;
}

/* The last of the leaves from `first` on that goes back to the run's begin. */
static struct leave *loop_find(struct frame *f, unsigned first)
{
    for (unsigned n = f->leave_count; n-- > first;)
        if (frame_goes_back(f, &f->leaves[n]))
            return &f->leaves[n];
    return NULL;
}

/* A loop begins its second round with the linear registers of the first one's end. */
static void loop_emit(struct frame *f, struct linear_frame *l, unsigned first)
{
    struct leave *enter = loop_find(f, first);
    if (!enter)
        return;
    const struct begin begin = begin_note(f, l);
    const struct linears *there = enter->restore;
    l->now.registers = *there;
    l->body++;
    frame_begin_emit(f);
    body_emit(f, l);
    if (!is_worth_it(f, l, &begin))
        return;
    enter->again = begin.x.count;
    struct leave *round = loop_find(f, begin.leaves);
    if (!round || !linear_fits(round->restore, there))
        return;
    round->again = begin.x.count;
    round->there = there;
}

struct linear_frame *frame_linear_emit(struct frame *f)
{
    struct linear_inputs inputs;
    if (f->run->lds || !linear_inputs_find(f->run, &inputs))
        return NULL;
    struct linear_frame *l = calloc(1, sizeof *l);
    if (!l)
        return NULL;
    const struct begin begin = begin_note(f, l);
    l->enter_count = linear_enter_emit(f->x, &inputs, &l->now, l->enters);
    body_emit(f, l);
    if (is_worth_it(f, l, &begin)) {
        loop_emit(f, l, begin.leaves);
        return l;
    }
    free(l);
    return NULL;
}

void frame_linear_land(struct frame *f, struct linear_frame *l)
{
    for (unsigned n = 0; l && n < l->enter_count; n++)
        x86_land(f->x, l->enters[n]);
}

void frame_linear_rest_emit(struct frame *f, struct linear_frame *l)
{
    if (!l)
        return;
    slows_emit(f, l);
    for (unsigned n = 0; n < l->bail_count;) {
        const unsigned k = l->bails[n].segment;
        const struct linears *before = l->bails[n].before;
        for (; n < l->bail_count && l->bails[n].before == before; n++)
            x86_land(f->x, l->bails[n].jump);
        linear_restore_emit(f->x, before, 0, VGPR_ROWS - 1);
        x86_jump_back(f->x, f->positions[k]);
    }
}

void frame_linear_free(struct linear_frame *l)
{
    free(l);
}
