/*
 * DPP across half a row, where a strip is no more than that: the lanes that a strip reads may be
 * another one's, which has not come yet, or has written the register already. So what all lanes
 * read is put into the frame when a segment begins, in which nothing writes the register before
 * that.
 */
#include "translate/run.h"
#include "valu/dpp.h"
#include "valu/valu.h"

enum { ROW = 16, HALF_BYTES = ROW / 2 * 4, EVEN = -2, BITS_OF_HALF = 8 };

bool far_lanes(const struct inst *inst)
{
    const struct x86_level *level = x86_level_find(valu_isa_name());
    const struct dpp_map *map = &dpp_maps[inst->dpp.ctrl % DPP_CONTROLS];
    const unsigned banks = inst->dpp.bank_mask;
    if (inst->modifier != MOD_DPP || !level || level->lanes == ROW)
        return false;
    for (unsigned lane = 0; lane < ROW / 2; lane++) /* both halves alike */
        if (map->from[lane] >= ROW / 2 || map->from[lane + ROW / 2] != map->from[lane] + ROW / 2)
            return true;
    return (map->valid & 0xff) != (map->valid >> BITS_OF_HALF & 0xff) ||
           (banks & 3) != (banks >> 2 & 3);
}

static bool is_written(const struct inst *by, const struct operand *operand)
{
    const unsigned dwords = by->dst.dwords ? by->dst.dwords : 1;
    return by->dst.kind == operand->kind && operand->index >= by->dst.index &&
           operand->index < by->dst.index + dwords;
}
bool far_fits(const struct run *run, const struct inst *inst)
{
    const struct segment *last = &run->segments[run->segment_count - 1];
    unsigned others = 0;
    if (!far_lanes(inst))
        return true;
    for (unsigned n = last->first; n < run->count; n++) {
        others += run->roles[n] == ROLE_VECTOR && far_lanes(run->insts[n]);
        if (is_written(run->insts[n], &inst->src[0]))
            return false;
    }
    return others < FAR_ROWS;
}

/* Half of what a row's lanes read: `places` of them, of which the upper half's have a sign in
 * `signs`. */
static unsigned half_emit(struct x86 *x, const uint32_t *places, unsigned host, unsigned signs)
{
    enum { LOWER = 4, UPPER, TO, OTHER };
    const struct x86_option plain = {0};
    bool from[2] = {false, false};
    for (int lane = 0; lane < ROW / 2; lane++)
        from[places[lane] >= ROW / 2] = true;
    if (from[0])
        x86_vector(x, X86_VPERMD, TO, host, x86_reg(LOWER), plain);
    if (from[1])
        x86_vector(x, X86_VPERMD, from[0] ? OTHER : TO, host, x86_reg(UPPER), plain);
    if (from[0] && from[1])
        x86_vector(x, X86_VPBLENDMD, TO, TO, x86_reg(OTHER), x86_masked(X86_MASK_HOST + signs));
    return TO;
}
/* The frame's row: what each lane reads of the register. No host register is in use. */
static void row_emit(struct x86 *x, const struct inst *inst, int32_t to)
{
    enum { BIT_TO_SIGN = 28, BEYOND = 2, LOWER = 4, UPPER };
    const struct x86_option plain = {0};
    const uint32_t *places = dpp_maps[inst->dpp.ctrl % DPP_CONTROLS].row_from;
    const enum x86_gpr base = inst->src[0].kind == OPND_AGPR ? R8 : RDX;
    x86_gpr_imm64(x, RAX, (uint64_t)(uintptr_t)places);
    for (unsigned half = 0; half < 2; half++) {
        x86_vector(x, X86_VMOVDQA32_LOAD, half, 0,
                   x86_memory(RAX, (int32_t)half * HALF_BYTES, false), plain);
        x86_shift(x, X86_VPSLLD_IMM, BEYOND + half, half, BIT_TO_SIGN);
    }
    for (int32_t at = 0; at < ROW_BYTES; at += 2 * HALF_BYTES) {
        const int32_t first = inst->src[0].index * ROW_BYTES + at;
        x86_vector(x, X86_VMOVDQA32_LOAD, LOWER, 0, x86_memory(base, first, false), plain);
        x86_vector(x, X86_VMOVDQA32_LOAD, UPPER, 0, x86_memory(base, first + HALF_BYTES, false),
                   plain);
        for (unsigned half = 0; half < 2; half++) {
            const unsigned moved = half_emit(x, places + half * ROW / 2, half, BEYOND + half);
            x86_vector(x, X86_VMOVDQU32_STORE, moved, 0,
                       x86_memory(RSP, to + at + (int32_t)half * HALF_BYTES, false), plain);
        }
    }
}
void far_rows_emit(struct x86 *x, const struct run *run, const struct segment *segment)
{
    unsigned rows = 0;
    for (unsigned n = segment->first; n < segment->first + segment->count; n++)
        if (run->roles[n] == ROLE_VECTOR && far_lanes(run->insts[n]))
            row_emit(x, run->insts[n], FRAME_FAR + (int32_t)(rows++ * ROW_BYTES));
}

/* R11 = where a half is in a row: the strips left are odd for the upper one. */
static void half_at_emit(struct x86 *x)
{
    enum { HALF_SHIFT = 5 };
    x86_gpr_imm32(x, R11, 1);
    x86_gpr_do(x, X86_AND, false, R11, RCX);
    x86_gpr_shift_imm(x, X86_SHIFT_LEFT, false, R11, HALF_SHIFT);
}
static unsigned half_row(struct emitter *e, const uint32_t *row)
{
    const unsigned host = values_temporary(&e->values);
    half_at_emit(e->x);
    x86_gpr_imm64(e->x, RAX, (uint64_t)(uintptr_t)row);
    x86_gpr_add(e->x, RAX, R11);
    emit_copy(e, host, x86_memory(RAX, 0, false));
    return host;
}

unsigned far_mask(struct emitter *e, uint32_t lanes)
{
    static const uint32_t bits[ROW] __attribute__((aligned(64))) = {
        1 << 0, 1 << 1, 1 << 2,  1 << 3,  1 << 4,  1 << 5,  1 << 6,  1 << 7,
        1 << 8, 1 << 9, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15};
    const unsigned k = values_mask_temporary(&e->values), mask = k - X86_MASK_HOST;
    const unsigned own = half_row(e, bits);
    x86_vector(e->x, X86_VPANDD, mask, own, x86_constant32(e->x, lanes), (struct x86_option){0});
    x86_vector(e->x, X86_VPCMPEQD, mask, mask, x86_reg(own), (struct x86_option){0});
    emit_done(e, own);
    return k;
}

unsigned far_running(struct emitter *e)
{
    enum { SIGN = 31 };
    const struct dpp_map *map = &dpp_maps[e->inst->dpp.ctrl % DPP_CONTROLS];
    const unsigned run = values_temporary(&e->values), places = half_row(e, map->row_from);
    x86_gpr_move(e->x, RAX, R9);
    x86_gpr_and_imm(e->x, RAX, EVEN);
    x86_load16(e->x, RAX, RAX, (int32_t)offsetof(struct wave, s) + 4 * SREG_EXEC);
    x86_broadcast_gpr(e->x, run, RAX);
    x86_vector(e->x, X86_VPSRLVD, run, run, x86_reg(places), (struct x86_option){0});
    x86_shift(e->x, X86_VPSLLD_IMM, run, run, SIGN);
    const unsigned k = emit_test(e, X86_VPMOVD2M, 0, x86_reg(run), (struct x86_option){0});
    emit_done(e, places);
    emit_done(e, run);
    return k;
}

unsigned far_moved(struct emitter *e)
{
    enum { STRIPS = WAVE_LANES / (ROW / 2), HALF_SHIFT = 5 };
    const unsigned host = values_temporary(&e->values);
    x86_gpr_imm32(e->x, RAX, STRIPS);
    x86_gpr_sub(e->x, RAX, RCX);
    x86_gpr_shift_imm(e->x, X86_SHIFT_LEFT, true, RAX, HALF_SHIFT);
    x86_vector(e->x, X86_VMOVDQU32_LOAD, host, 0,
               x86_memory_at(RSP, RAX, FRAME_FAR + (int32_t)(e->far++ * ROW_BYTES)),
               (struct x86_option){0});
    return host;
}
