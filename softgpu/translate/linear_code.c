/*
 * Code for linear registers. RBX is the wave; slots lie in the frame. Operations have RAX, RCX, RDX
 * and RSI for themselves, and outside of strips all vector registers.
 */
#include "translate/linear.h"
#include "translate/run.h"

#define WAVE(member) ((int32_t)offsetof(struct wave, member))

static const uint32_t lane_numbers[]
    __attribute__((aligned(64))) = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const struct x86_option PLAIN;

static int32_t slot_at(unsigned slot)
{
    return FRAME_SLOTS + 4 * (int32_t)slot;
}

static void term_load(struct x86 *x, enum x86_gpr gpr, const struct linear_term *term)
{
    switch (term->kind) {
    case TERM_SLOT:
        x86_load32(x, gpr, RSP, slot_at(term->slots[0]));
        break;
    case TERM_SCALAR:
        x86_load32(x, gpr, RBX, WAVE(s) + 4 * term->index);
        break;
    default:
        x86_gpr_imm32(x, gpr, (uint32_t)term->value);
        break;
    }
}

/* Two dwords; RSI is gone. */
static void halves_load(struct x86 *x, enum x86_gpr gpr, enum x86_gpr base, int32_t low,
                        int32_t high)
{
    enum { DWORD_BITS = 32 };
    x86_load32(x, gpr, base, high);
    x86_gpr_shift_imm(x, X86_SHIFT_LEFT, true, gpr, DWORD_BITS);
    x86_load32(x, RSI, base, low);
    x86_gpr_do(x, X86_OR, true, gpr, RSI);
}

static void scalar_load_wide(struct x86 *x, enum x86_gpr gpr, unsigned index, bool narrow)
{
    const int32_t at = WAVE(s) + (int32_t)(4 * index);
    if (narrow)
        halves_load(x, gpr, RBX, at, at + 4);
    else
        x86_load64(x, gpr, RBX, at);
}

/* RSI is gone where its dwords do not lie together, or were stored one by one. */
static void term_load_wide(struct x86 *x, enum x86_gpr gpr, const struct linear_term *term)
{
    if (term->kind == TERM_CONSTANT)
        x86_gpr_imm64(x, gpr, term->value);
    else if (term->kind == TERM_SCALAR)
        scalar_load_wide(x, gpr, term->index, term->narrow);
    else if (term->slots[1] == term->slots[0] + 1)
        x86_load64(x, gpr, RSP, slot_at(term->slots[0]));
    else
        halves_load(x, gpr, RSP, slot_at(term->slots[0]), slot_at(term->slots[1]));
}

static void any_load(struct x86 *x, bool wide, enum x86_gpr gpr, const struct linear_term *term)
{
    (wide ? term_load_wide : term_load)(x, gpr, term);
    if (term->factor != 1 && (term->factor & (term->factor - 1)) == 0 && term->factor)
        x86_gpr_shift_imm(x, X86_SHIFT_LEFT, wide, gpr, (unsigned)__builtin_ctz(term->factor));
    else if (term->factor != 1)
        x86_gpr_multiply(x, gpr, (int32_t)term->factor);
}

/* Jumps where the number in RAX, of 32 bits, wraps around until the last lane's. RCX is gone. */
static unsigned jump_if_wraps(struct x86 *x, uint32_t step, size_t *jump)
{
    if (!step)
        return 0;
    x86_lea32(x, RCX, RAX, (int32_t)(LINEAR_LAST * step));
    x86_gpr_compare(x, RCX, RAX);
    *jump = x86_jump_if(x, JUMP_BELOW);
    return 1;
}

static void low_half(struct x86 *x, enum x86_gpr gpr)
{
    x86_lea32(x, gpr, gpr, 0);
}

/* RAX has the result, and above its 32 bits the carry, or a borrow. */
static unsigned narrow_result(struct x86 *x, const struct linear_operation *operation, size_t *jump)
{
    enum { DWORD_BITS = 32 };
    x86_store32(x, RSP, slot_at(operation->slot), RAX);
    if (operation->writes_mask) {
        x86_gpr_move(x, RDX, RAX);
        x86_gpr_shift_imm(x, X86_SHIFT_RIGHT, true, RDX,
                          operation->kind == LINEAR_SUM ? DWORD_BITS : 2 * DWORD_BITS - 1);
        x86_store32(x, RSP, slot_at(operation->mask_slot), RDX);
    }
    if (operation->step)
        low_half(x, RAX);
    return jump_if_wraps(x, operation->step, jump);
}

static unsigned wide_result(struct x86 *x, const struct linear_operation *operation, size_t *jump)
{
    x86_store64(x, RSP, slot_at(operation->slot), RAX);
    if (operation->step)
        low_half(x, RAX);
    return jump_if_wraps(x, operation->step, jump);
}

static unsigned sum_emit(struct x86 *x, const struct linear_operation *operation, size_t *jump)
{
    any_load(x, operation->wide, RAX, &operation->terms[0]);
    for (unsigned n = 1; n < operation->count; n++) {
        any_load(x, operation->wide, RCX, &operation->terms[n]);
        x86_gpr_add(x, RAX, RCX);
    }
    if (operation->carry != LINEAR_NO_SLOT) {
        x86_load32(x, RCX, RSP, slot_at(operation->carry));
        x86_gpr_add(x, RAX, RCX);
    }
    return (operation->wide ? wide_result : narrow_result)(x, operation, jump);
}

static unsigned difference_emit(struct x86 *x, const struct linear_operation *operation,
                                size_t *jump)
{
    any_load(x, false, RAX, &operation->terms[0]);
    any_load(x, false, RCX, &operation->terms[1]);
    x86_gpr_sub(x, RAX, RCX);
    if (operation->carry != LINEAR_NO_SLOT) {
        x86_load32(x, RCX, RSP, slot_at(operation->carry));
        x86_gpr_sub(x, RAX, RCX);
    }
    return narrow_result(x, operation, jump);
}

static unsigned product_emit(struct x86 *x, const struct linear_operation *operation, size_t *jump)
{
    term_load(x, RAX, &operation->terms[0]);
    term_load(x, RCX, &operation->terms[1]);
    x86_gpr_multiply_wide(x, RAX, RCX);
    term_load_wide(x, RCX, &operation->terms[2]);
    x86_gpr_add(x, RAX, RCX);
    if (operation->writes_mask) {
        x86_set_if(x, JUMP_BELOW, RDX);
        x86_store32(x, RSP, slot_at(operation->mask_slot), RDX);
    }
    return wide_result(x, operation, jump);
}

static unsigned below_emit(struct x86 *x, const struct linear_operation *operation, size_t *jump)
{
    term_load(x, RAX, &operation->terms[0]);
    x86_lea32(x, RAX, RAX, (int32_t)(LINEAR_LAST * operation->step));
    term_load(x, RCX, &operation->terms[1]);
    x86_gpr_compare(x, RAX, RCX);
    *jump = x86_jump_if(x, JUMP_ABOVE);
    return 1;
}

/* Jumps where the first lane's number in RAX and the last one's have not the same sign. */
static unsigned jump_if_sign_changes(struct x86 *x, uint32_t step, size_t *jump)
{
    if (!step)
        return 0;
    x86_lea32(x, RSI, RAX, (int32_t)(LINEAR_LAST * step));
    x86_gpr_do(x, X86_XOR, false, RSI, RAX);
    *jump = x86_jump_if(x, JUMP_SIGN);
    return 1;
}

static unsigned sign_emit(struct x86 *x, const struct linear_operation *operation, size_t *jump)
{
    enum { SIGN_BIT = 31 };
    term_load(x, RAX, &operation->terms[0]);
    const unsigned jumps = jump_if_sign_changes(x, operation->terms[0].step, jump);
    x86_gpr_shift_imm(x, X86_SHIFT_SIGNED, false, RAX, SIGN_BIT);
    x86_store32(x, RSP, slot_at(operation->slot), RAX);
    return jumps;
}

/* Between the first and the last lane an order changes once, or not at all. */
static unsigned compare_emit(struct x86 *x, const struct linear_operation *operation,
                             size_t jumps[LINEAR_JUMPS])
{
    const enum x86_condition condition = (enum x86_condition)operation->condition;
    const struct linear_term *terms = operation->terms;
    const enum x86_gpr stepping = terms[0].step ? RAX : RCX;
    const uint32_t step = terms[0].step ? terms[0].step : terms[1].step;
    const bool narrow_signs = operation->is_signed && !operation->wide;
    unsigned count = 0;
    if (narrow_signs && step) {
        term_load(x, RAX, &terms[terms[0].step ? 0 : 1]);
        count += jump_if_sign_changes(x, step, &jumps[count]);
    }
    any_load(x, operation->wide, RAX, &terms[0]);
    any_load(x, operation->wide, RCX, &terms[1]);
    x86_gpr_do(x, X86_CMP, operation->wide, RAX, RCX);
    x86_set_if(x, condition, RDX);
    if (operation->writes_mask)
        x86_store32(x, RSP, slot_at(operation->mask_slot), RDX);
    if (!step)
        return count;
    (operation->wide ? x86_lea : x86_lea32)(x, stepping, stepping, (int32_t)(LINEAR_LAST * step));
    x86_gpr_do(x, X86_CMP, operation->wide, RAX, RCX);
    x86_set_if(x, condition, RAX);
    x86_gpr_compare(x, RAX, RDX);
    jumps[count++] = x86_jump_if(x, JUMP_NOT_EQUAL);
    return count;
}

unsigned linear_emit(struct x86 *x, const struct linear_operation *operation,
                     size_t jumps[LINEAR_JUMPS])
{
    switch (operation->kind) {
    case LINEAR_SAME:
        return 0;
    case LINEAR_BELOW:
        return below_emit(x, operation, jumps);
    case LINEAR_SIGN:
        return sign_emit(x, operation, jumps);
    case LINEAR_SUM:
        return sum_emit(x, operation, jumps);
    case LINEAR_DIFFERENCE:
        return difference_emit(x, operation, jumps);
    case LINEAR_PRODUCT:
        return product_emit(x, operation, jumps);
    default:
        return compare_emit(x, operation, jumps);
    }
}

void linear_mask_emit(struct x86 *x, const struct linear_operation *operation)
{
    x86_load32(x, RAX, RSP, slot_at(operation->mask_slot));
    x86_gpr_imm32(x, RCX, 0);
    x86_gpr_sub(x, RCX, RAX);
    x86_store64(x, RBX, WAVE(s) + 4 * operation->mask, RCX);
}

/* ---- between numbers and rows ---- */

enum { VALUE, OTHER, DIFFERS, STEP };

static int32_t row_at(unsigned index, unsigned strip, const struct x86 *x)
{
    return (int32_t)(index * ROW_BYTES + strip * 4 * x->level->lanes);
}

static void broadcast_imm(struct x86 *x, unsigned host, uint32_t value)
{
    x86_gpr_imm32(x, RCX, value);
    x86_broadcast_gpr(x, host, RCX);
}

/* Lane numbers times the step, of the first strip. */
static void steps_load(struct x86 *x, unsigned host, uint32_t step)
{
    x86_gpr_imm64(x, RCX, (uint64_t)(uintptr_t)lane_numbers);
    x86_vector(x, X86_VMOVDQU32_LOAD, host, 0, x86_memory(RCX, 0, false), PLAIN);
    if (step == 1)
        return;
    broadcast_imm(x, OTHER, step);
    x86_vector(x, X86_VPMULLD, host, host, x86_reg(OTHER), PLAIN);
}

static void row_restore(struct x86 *x, const struct linear *linear)
{
    const unsigned strips = WAVE_LANES / x->level->lanes;
    const struct x86_rm slot = x86_memory(RSP, slot_at(linear->slot), false);
    x86_vector(x, X86_VPBROADCASTD, linear->step ? STEP : VALUE, 0, slot, PLAIN);
    if (linear->step) {
        steps_load(x, VALUE, linear->step);
        x86_vector(x, X86_VPADDD, VALUE, VALUE, x86_reg(STEP), PLAIN);
        broadcast_imm(x, STEP, linear->step * x->level->lanes);
    }
    for (unsigned strip = 0; strip < strips; strip++) {
        x86_vector(x, X86_VMOVDQA32_STORE, VALUE, 0,
                   x86_memory(RDX, row_at(linear->index, strip, x), false), PLAIN);
        if (linear->step && strip + 1 < strips)
            x86_vector(x, X86_VPADDD, VALUE, VALUE, x86_reg(STEP), PLAIN);
    }
}

void linear_restore_emit(struct x86 *x, const struct linears *registers, unsigned first,
                         unsigned last)
{
    bool any = false;
    for (unsigned n = 0; n < registers->count; n++) {
        const struct linear *linear = &registers->of[n];
        if (!linear->stale || linear->index < first || linear->index > last)
            continue;
        if (!any)
            x86_load64(x, RDX, RBX, WAVE(v));
        any = true;
        row_restore(x, linear);
    }
    if (any)
        x86_vzeroupper(x);
}

/* What DIFFERS has is not 0. */
static size_t jump_if_any(struct x86 *x)
{
    if (x->level->vector_masks) {
        x86_test_bits(x, DIFFERS, ~UINT32_C(0), false);
    } else {
        x86_vector(x, X86_VPTESTMD, MASKS_FIRST, DIFFERS, x86_reg(DIFFERS), PLAIN);
        x86_mask_test(x, MASKS_FIRST);
    }
    x86_vzeroupper(x);
    return x86_jump_if(x, JUMP_NOT_EQUAL);
}

/* RDX: the rows. */
static void input_compare(struct x86 *x, unsigned index, uint32_t step)
{
    const unsigned strips = WAVE_LANES / x->level->lanes;
    x86_vector(x, X86_VPBROADCASTD, STEP, 0, x86_memory(RDX, row_at(index, 0, x), false), PLAIN);
    if (step) {
        steps_load(x, VALUE, step);
        x86_vector(x, X86_VPADDD, VALUE, VALUE, x86_reg(STEP), PLAIN);
        broadcast_imm(x, STEP, step * x->level->lanes);
    }
    for (unsigned strip = 0; strip < strips; strip++) {
        x86_vector(x, X86_VPXORD, strip ? OTHER : DIFFERS, step ? VALUE : STEP,
                   x86_memory(RDX, row_at(index, strip, x), false), PLAIN);
        if (strip)
            x86_vector(x, X86_VPORD, DIFFERS, DIFFERS, x86_reg(OTHER), PLAIN);
        if (step && strip + 1 < strips)
            x86_vector(x, X86_VPADDD, VALUE, VALUE, x86_reg(STEP), PLAIN);
    }
}

unsigned linear_enter_emit(struct x86 *x, const struct linear_inputs *inputs,
                           struct linear_state *state, size_t jumps[2 * LINEAR_INPUTS])
{
    unsigned count = 0;
    state->registers = (struct linears){.count = 0};
    for (unsigned n = 0; n < inputs->count; n++) {
        const unsigned index = inputs->of[n].index;
        const uint32_t step = inputs->of[n].step;
        const uint8_t slot = state->registers.slots++;
        x86_load64(x, RDX, RBX, WAVE(v));
        input_compare(x, index, step);
        jumps[count++] = jump_if_any(x);
        x86_load32(x, RAX, RDX, row_at(index, 0, x));
        x86_store32(x, RSP, slot_at(slot), RAX);
        count += jump_if_wraps(x, step, &jumps[count]);
        state->registers.of[state->registers.count++] =
            (struct linear){.index = (uint8_t)index, .slot = slot, .step = step};
    }
    return count;
}

void linear_load_emit(struct x86 *x, unsigned host, const struct linear *linear)
{
    const int32_t slot = slot_at(linear->slot);
    if (!linear->step) {
        x86_vector(x, X86_VPBROADCASTD, host, 0, x86_memory(RSP, slot, false), PLAIN);
        return;
    }
    x86_vector(x, X86_VMOVDQU32_LOAD, host, 0, x86_memory(RSP, FRAME_LANE, false), PLAIN);
    if (linear->step != 1)
        x86_vector(x, X86_VPMULLD, host, host, x86_constant32(x, linear->step), PLAIN);
    x86_vector(x, X86_VPADDD, host, host, x86_memory(RSP, slot, true), PLAIN);
}

void linear_lanes_begin(struct x86 *x)
{
    x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)lane_numbers);
    x86_vector(x, X86_VMOVDQU32_LOAD, VALUE, 0, x86_memory(RAX, 0, false), PLAIN);
    x86_vector(x, X86_VMOVDQU32_STORE, VALUE, 0, x86_memory(RSP, FRAME_LANE, false), PLAIN);
}

void linear_lanes_next(struct x86 *x)
{
    x86_vector(x, X86_VMOVDQU32_LOAD, VALUE, 0, x86_memory(RSP, FRAME_LANE, false), PLAIN);
    x86_vector(x, X86_VPADDD, VALUE, VALUE, x86_constant32(x, x->level->lanes), PLAIN);
    x86_vector(x, X86_VMOVDQU32_STORE, VALUE, 0, x86_memory(RSP, FRAME_LANE, false), PLAIN);
}

/* ---- from one set of registers to another ---- */

/* A slot that is to be written, for one register, is not to be read for another one, nor written
 * for it with something else. */
static bool slots_fit(const struct linears *from, const struct linears *to)
{
    for (unsigned n = 0; n < from->count; n++) {
        const uint8_t slot = linear_of(to, from->of[n].index)->slot;
        for (unsigned other = 0; slot != from->of[n].slot && other < from->count; other++)
            if (from->of[other].slot == slot)
                return false;
        for (unsigned other = 0; other < from->count; other++)
            if (linear_of(to, from->of[other].index)->slot == slot &&
                from->of[other].slot != from->of[n].slot)
                return false;
    }
    return true;
}

bool linear_fits(const struct linears *from, const struct linears *to)
{
    if (from->count != to->count)
        return false;
    for (unsigned n = 0; n < from->count; n++) {
        const struct linear *there = linear_of(to, from->of[n].index);
        if (!there || there->step != from->of[n].step || (from->of[n].stale && !there->stale))
            return false;
    }
    return slots_fit(from, to);
}

void linear_move_emit(struct x86 *x, const struct linears *from, const struct linears *to)
{
    for (unsigned n = 0; n < from->count; n++) {
        const uint8_t slot = linear_of(to, from->of[n].index)->slot;
        if (slot == from->of[n].slot)
            continue;
        x86_load32(x, RAX, RSP, slot_at(from->of[n].slot));
        x86_store32(x, RSP, slot_at(slot), RAX);
    }
}

/* ---- addresses ---- */

uint32_t linear_access_bytes(const struct inst *inst)
{
    return 4u * (inst->flags & IF_LOAD ? inst->dst.dwords : inst->src[1].dwords);
}

bool linear_address_follows(const struct linear_state *state, const struct inst *inst)
{
    const struct linear *low = linear_of(&state->registers, inst->src[0].index);
    const struct linear *high = linear_of(&state->registers, inst->src[0].index + 1u);
    return inst->src[0].kind == OPND_VGPR && low && low->step == linear_access_bytes(inst) &&
           (inst->flags & IF_SADDR || (high && !high->step));
}

void linear_address_emit(struct x86 *x, const struct linear_state *state, const struct inst *inst)
{
    const struct linear *low = linear_of(&state->registers, inst->src[0].index);
    const struct linear *high = linear_of(&state->registers, inst->src[0].index + 1u);
    const bool scalar_base = inst->flags & IF_SADDR;
    struct linear_term term = {.kind = TERM_SLOT, .slots = {low->slot}};
    if (scalar_base) {
        term_load(x, RDX, &term);
        const unsigned base = inst->src[2].index;
        scalar_load_wide(x, RAX, base, state->narrow[base] || state->narrow[base + 1]);
        x86_gpr_add(x, RDX, RAX);
    } else {
        term.slots[1] = high->slot;
        term_load_wide(x, RDX, &term);
    }
    if (inst->offset)
        x86_lea(x, RDX, RDX, inst->offset);
}
