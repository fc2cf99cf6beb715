/* What stands around a run's segments: its entry, its cuts, its ends, and what it counts. */
#include "translate/frame.h"

#include "isa_ops.h"
#include "translate/linear.h"
#include "wave/step.h"

enum { REFUSALS = 6 + LDS_REFUSALS };
enum { MODE_USUAL = 3 << MODE_DENORM_32_SHIFT | 3 << MODE_DENORM_64_SHIFT };

int32_t frame_count_at(unsigned tally)
{
    return WAVE(counts) + (int32_t)(sizeof(uint64_t) * tally);
}

/* Instructions from `first` on, `sign` times. */
static void count_instructions(struct frame *f, unsigned first, int32_t sign)
{
    int32_t counts[TALLY_SLOTS] = {0}, left = (int32_t)(f->run->count - first);
    for (unsigned n = first; n < f->run->count; n++)
        if (!counts_in_order(f->run->insts[n]))
            counts[f->run->insts[n]->tally]++;
    for (unsigned tally = 0; tally < TALLY_SLOTS; tally++)
        if (counts[tally])
            x86_add64_imm(f->x, RBX, frame_count_at(tally), sign * counts[tally]);
    if (left)
        x86_add32_imm(f->x, RBX, WAVE(slice_left), -sign * left);
}

/* Others' counts of the first instruction are left to the run loop; one that is counted in order
 * has been, and will be again. */
static void end_emit(struct frame *f)
{
    const struct inst *first = f->run->insts[0];
    if (counts_in_order(first))
        x86_add64_imm(f->x, RBX, frame_count_at(first->tally), -1);
    x86_frame_leave(f->x, FRAME_BYTES);
}

void frame_slot_emit(struct frame *f, enum x86_gpr gpr, unsigned n)
{
    x86_lea(f->x, gpr, RBP, (int32_t)(f->run->at[n] * sizeof(struct inst)));
}

void frame_leave_add(struct frame *f, size_t jump, unsigned executed, bool branches)
{
    f->leaves[f->leave_count++] = (struct leave){jump, executed, branches, f->restore, 0, NULL};
}

/* RSI is the instruction, whose handler is called, or jumped to. */
void frame_handler_emit(struct frame *f, unsigned n, bool last)
{
    const struct inst *inst = f->run->insts[n];
    x86_gpr_move(f->x, RDI, RBX);
    frame_slot_emit(f, RSI, n);
    if (last)
        end_emit(f);
    x86_gpr_imm64(f->x, RAX, (uint64_t)(uintptr_t)inst->exec);
    if (last)
        x86_jump_to(f->x, RAX);
    else
        x86_call(f->x, RAX);
}

void frame_idle_lanes_emit(struct x86 *x, unsigned instructions)
{
    if (!instructions)
        return;
    x86_load64(x, RAX, RBX, WAVE(s) + 4 * SREG_EXEC);
    x86_gpr_compare_imm(x, RAX, -1);
    size_t none = x86_jump_if(x, JUMP_EQUAL);
    x86_gpr_imm32(x, R10, WAVE_LANES);
    x86_gpr_popcount(x, RAX, RAX);
    x86_gpr_sub(x, R10, RAX);
    if (instructions > 1)
        x86_gpr_multiply(x, R10, (int32_t)instructions);
    x86_add64(x, RBX, WAVE(idle_lanes), R10);
    x86_land(x, none);
}

void frame_touches_note(struct x86 *x, uint8_t touches)
{
    x86_or8_imm(x, RBX, WAVE(touched), touches);
}

void frame_call_emit(struct frame *f, unsigned n)
{
    const struct inst *inst = f->run->insts[n];
    if (scalar_code_exists(inst)) {
        scalar_code_emit(f->x, inst);
        return;
    }
    if (n > 0 && (inst->klass == CLASS_VALU || inst->klass == CLASS_MFMA))
        frame_idle_lanes_emit(f->x, 1);
    if (step_touches(inst))
        frame_touches_note(f->x, step_touches(inst));
    frame_handler_emit(f, n, false);
    if (counts_in_order(inst))
        x86_add64_imm(f->x, RBX, frame_count_at(inst->tally), 1);
    frame_slot_emit(f, RCX, n + 1);
    x86_gpr_compare(f->x, RAX, RCX);
    frame_leave_add(f, x86_jump_if(f->x, JUMP_NOT_EQUAL), n + 1, false);
}

/* The run goes on at the branch's target. */
static bool is_taken(const struct run *run, unsigned n)
{
    return n + 1 < run->count && run->at[n + 1] != run->at[n] + run->insts[n]->dwords;
}

static enum x86_condition opposite(enum x86_condition condition)
{
    return (enum x86_condition)(condition ^ 1);
}

void frame_branch_emit(struct frame *f, unsigned n)
{
    enum x86_condition taken = JUMP_NOT_EQUAL;
    switch (f->run->insts[n]->op) {
    case OP_S_CBRANCH_SCC0:
        taken = JUMP_EQUAL; /* fallthrough */
    case OP_S_CBRANCH_SCC1:
        x86_compare32_imm(f->x, RBX, WAVE(scc), 0);
        break;
    case OP_S_CBRANCH_VCCZ:
        taken = JUMP_EQUAL; /* fallthrough */
    case OP_S_CBRANCH_VCCNZ:
        x86_compare64_imm(f->x, RBX, WAVE(s) + 4 * SREG_VCC, 0);
        break;
    case OP_S_CBRANCH_EXECZ:
        taken = JUMP_EQUAL; /* fallthrough */
    default:
        x86_compare64_imm(f->x, RBX, WAVE(s) + 4 * SREG_EXEC, 0);
        break;
    }
    frame_leave_add(f, x86_jump_if(f->x, is_taken(f->run, n) ? opposite(taken) : taken), n + 1,
                    true);
}

static void cut_emit(struct frame *f, const struct segment *segment)
{
    const unsigned n = segment->first;
    if (segment->matrices) {
        frame_matrices_emit(f, segment);
        return;
    }
    switch (f->run->roles[n]) {
    case ROLE_BRANCH:
        frame_branch_emit(f, n);
        return;
    case ROLE_LAST:
        frame_handler_emit(f, n, true);
        return;
    default:
        frame_call_emit(f, n);
    }
}

void frame_wait_emit(struct x86 *x)
{
    x86_compare8_imm(x, RBX, WAVE(stores_pending), 0);
    size_t none = x86_jump_if(x, JUMP_EQUAL);
    x86_fence(x);
    x86_store8_imm(x, RBX, WAVE(stores_pending), 0);
    x86_land(x, none);
}

/* LDS transfers are counted together: nobody looks at them one by one. */
static void lds_count(struct frame *f, const struct segment *segment)
{
    int32_t counts[TALLY_SLOTS] = {0};
    uint8_t touches = 0;
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (f->run->roles[n] == ROLE_LDS && segment->part == 0) {
            counts[f->run->insts[n]->tally]++;
            touches |= step_touches(f->run->insts[n]);
        }
    if (touches)
        frame_touches_note(f->x, touches);
    for (unsigned tally = 0; tally < TALLY_SLOTS; tally++)
        if (counts[tally])
            x86_add64_imm(f->x, RBX, frame_count_at(tally), counts[tally]);
}

/* Before the segment, wherever in it the access stands: what the run loop goes on with is the same.
 */
static void hold_emit(struct frame *f, const struct segment *segment)
{
    if (segment->first == 0 || !segment->conflicts)
        return; /* that of the first one is refusals_emit()'s */
    x86_compare8_imm(f->x, RBX, WAVE(in_step), 0);
    const size_t jump = x86_jump_if(f->x, JUMP_NOT_EQUAL);
    f->holds[f->hold_count++] =
        (struct hold){jump, f->x->count, segment->first, segment->conflicts, f->restore};
}

/* RAX stays. */
static void restore_emit(struct frame *f, const struct linears *restore)
{
    if (restore)
        linear_restore_emit(f->x, restore, 0, VGPR_ROWS - 1);
}

static void holds_emit(struct frame *f)
{
    for (unsigned n = 0; n < f->hold_count; n++) {
        const struct hold *hold = &f->holds[n];
        x86_land(f->x, hold->jump);
        x86_test32_imm(f->x, RBX, WAVE(touched), hold->conflicts);
        x86_jump_back_if(f->x, JUMP_EQUAL, hold->back);
        restore_emit(f, hold->restore);
        frame_waiting_emit(f, hold->executed, false);
        count_instructions(f, hold->executed, -1);
        frame_slot_emit(f, RAX, hold->executed);
        end_emit(f);
        x86_return(f->x);
    }
}

void frame_segment_begin(struct frame *f, const struct segment *segment)
{
    hold_emit(f, segment);
    if (segment->cut)
        return;
    if (segment->waits)
        frame_wait_emit(f->x);
    lds_count(f, segment);
    if (segment->scalars)
        scalars_emit(f->x, f->run, segment);
}

/* Of a segment that is a cut: what may be known of LDS addresses behind it. */
static void cut_forget(const struct run *run, const struct segment *segment,
                       struct lds_known *known)
{
    if (!segment->matrices) {
        lds_forget_called(known, run->insts[segment->first]);
        return;
    }
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (run->roles[n] == ROLE_MATRIX)
            lds_forget_called(known, run->insts[n]);
}

static void segments_emit(struct frame *f)
{
    struct lds_known known = {.next_follow = 0};
    for (unsigned n = 0; n < f->run->segment_count; n++) {
        const struct segment *segment = &f->run->segments[n];
        frame_segment_begin(f, segment);
        f->positions[n] = f->x->count;
        if (segment->cut) {
            cut_emit(f, segment);
            cut_forget(f->run, segment, &known);
            continue;
        }
        if (!segment->strips)
            continue;
        x86_gpr_move(f->x, RDI, RBX);
        segment_emit(f->x, f->run, segment, &known, &f->detours, &f->partials[f->partial_count++]);
    }
}

/* What stands behind the run. */
static void partials_emit(struct frame *f)
{
    for (unsigned n = 0; n < f->partial_count; n++)
        segment_partial_emit(f->x, f->run, &f->partials[n], &f->detours);
    lds_detours_emit(f->x, &f->detours);
}

void frame_end_emit(struct frame *f)
{
    if (f->run->roles[f->run->count - 1] == ROLE_LAST)
        return;
    frame_slot_emit(f, RAX, f->run->count);
    end_emit(f);
    x86_return(f->x);
}

void frame_begin_emit(struct frame *f)
{
    count_instructions(f, 1, 1);
}

bool frame_goes_back(const struct frame *f, const struct leave *leave)
{
    return leave->branches && run_goes_back(f->run, leave->executed - 1);
}

/* To the run's begin, for which rows are right, or where linear registers are as they are here. */
static void again_emit(struct frame *f, const struct leave *leave)
{
    if (!leave->again) {
        restore_emit(f, leave->restore);
        x86_jump_back(f->x, f->again);
        return;
    }
    if (leave->there)
        linear_move_emit(f->x, leave->restore, leave->there);
    x86_jump_back(f->x, leave->again);
}

/* A loop goes on with the run's first instruction, whose count is otherwise the run loop's, if the
 * wave's turn lasts for all of it. Where that may have to wait a wave in step goes by the run loop.
 */
static void repeat_emit(struct frame *f, const struct leave *leave)
{
    const struct inst *first = f->run->insts[0];
    const bool accesses = f->run->segments[0].conflicts;
    size_t in_step = 0;
    if (accesses) {
        x86_compare8_imm(f->x, RBX, WAVE(in_step), 0);
        in_step = x86_jump_if(f->x, JUMP_NOT_EQUAL);
    }
    x86_compare32_imm(f->x, RBX, WAVE(slice_left), (int32_t)f->run->count);
    size_t ends = x86_jump_if(f->x, JUMP_LESS);
    x86_add32_imm(f->x, RBX, WAVE(slice_left), -1);
    x86_add32_imm(f->x, RBX, WAVE(rounds), 1);
    if (!counts_in_order(first))
        x86_add64_imm(f->x, RBX, frame_count_at(first->tally), 1);
    if (first->klass == CLASS_VALU || first->klass == CLASS_MFMA)
        frame_idle_lanes_emit(f->x, 1);
    again_emit(f, leave);
    x86_land(f->x, ends);
    if (accesses)
        x86_land(f->x, in_step);
}

/* RAX stays. */
static void waiting_emit(struct frame *f, unsigned executed)
{
    x86_store64(f->x, RSP, FRAME_RETURNED, RAX);
    frame_waiting_emit(f, executed, true);
    x86_load64(f->x, RAX, RSP, FRAME_RETURNED);
}

/* RAX is what the handler has returned. */
static void leaves_emit(struct frame *f)
{
    for (unsigned n = 0; n < f->leave_count; n++) {
        const struct leave *leave = &f->leaves[n];
        x86_land(f->x, leave->jump);
        count_instructions(f, leave->executed, -1);
        if (frame_goes_back(f, leave))
            repeat_emit(f, leave);
        restore_emit(f, leave->restore);
        if (leave->branches) {
            frame_handler_emit(f, leave->executed - 1, true);
            continue;
        }
        waiting_emit(f, leave->executed);
        end_emit(f);
        x86_return(f->x);
    }
}

/* Jumps to land where the run cannot be executed. */
static unsigned refusals_emit(struct x86 *x, const struct run *run, size_t jumps[REFUSALS])
{
    unsigned count = 0;
    x86_compare32_imm(x, RDI, WAVE(slice_left), (int32_t)run->count - 1);
    jumps[count++] = x86_jump_if(x, JUMP_LESS);
    if (run->needs & NEED_ONE_STATE) {
        x86_load32(x, RAX, RDI, WAVE(fp_state_32));
        x86_compare32(x, RAX, RDI, WAVE(fp_state_64));
        jumps[count++] = x86_jump_if(x, JUMP_NOT_EQUAL);
    }
    if (run->needs & NEED_IEEE) {
        x86_test32_imm(x, RDI, WAVE(mode), MODE_IEEE);
        jumps[count++] = x86_jump_if(x, JUMP_EQUAL);
    }
    if (run->needs & NEED_USUAL) {
        x86_compare8_imm(x, RDI, WAVE(mode), (int8_t)MODE_USUAL);
        jumps[count++] = x86_jump_if(x, JUMP_NOT_EQUAL);
        x86_test32_imm(x, RDI, WAVE(mode), MODE_FP16_OVFL);
        jumps[count++] = x86_jump_if(x, JUMP_NOT_EQUAL);
    }
    if (run->segments[0].conflicts) {
        x86_compare8_imm(x, RDI, WAVE(in_step), 0);
        const size_t alone = x86_jump_if(x, JUMP_EQUAL);
        x86_test32_imm(x, RDI, WAVE(touched), run->segments[0].conflicts);
        jumps[count++] = x86_jump_if(x, JUMP_NOT_EQUAL);
        x86_land(x, alone);
    }
    if (run->lds) {
        x86_load64(x, RAX, RDI, WAVE(group));
        lds_refusals_emit(x, jumps + count);
        count += LDS_REFUSALS;
    }
    return count;
}

void frame_emit(struct x86 *x, const struct run *run, inst_exec_fn *plain)
{
    struct frame f = {.x = x, .run = run};
    size_t refusals[REFUSALS];
    unsigned refusal_count = refusals_emit(x, run, refusals);
    x86_frame_enter(x, FRAME_BYTES);
    if (run->lds)
        lds_frame_emit(x, run);
    f.again = x->count;
    frame_begin_emit(&f);
    struct linear_frame *linear = frame_linear_emit(&f);
    frame_linear_land(&f, linear);
    segments_emit(&f);
    frame_end_emit(&f);
    frame_linear_rest_emit(&f, linear);
    leaves_emit(&f);
    holds_emit(&f);
    partials_emit(&f);
    frame_linear_free(linear);
    if (!plain)
        x86_constants_flush(x);
    for (unsigned n = 0; n < refusal_count; n++)
        x86_land(x, refusals[n]);
    if (!plain)
        return;
    x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)plain);
    x86_jump_to(x, RAX);
    x86_constants_flush(x);
}
