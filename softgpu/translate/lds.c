/*
 * Transfers of LDS, of up to four dwords for each lane (lds_shapes.c), for a strip. What its lanes
 * want mostly lies close together: one place for all, one behind the other, or mixed within a row
 * of a tile. Then one or two whole vectors have it, and a permutation hands it out; of three and
 * four dwords, where they lie one behind the other (lds_long.c). Where that is not so the code
 * takes a detour, and goes lane by lane. Lanes outside the LDS, for which there is the detour
 * alone, read 0 and write nothing.
 */
#include "isa_ops.h"
#include "perf/perf.h"
#include "translate/lds_code.h"
#include "translate/lds_long.h"
#include "translate/run.h"
#include "wave/group.h"

enum { LANES_MAX = 16, LDS_LEAST = 4 * LONG_DWORDS * LANES_MAX };
static const struct x86_option plain;

/* Bytes of windows, the last one's offset of each of which the frame has: an element's, and those
 * of eight and of sixteen lanes. */
static const uint16_t windows[] = {1, 2, 4, 8, 12, 16, 32, 64, 96, 128, 192, 256};
enum { WINDOWS = sizeof windows / sizeof *windows };
_Static_assert(FRAME_LIMITS + 4 * WINDOWS <= FRAME_LANES, "the frame has them all");

struct x86_rm lds_limit_of(unsigned bytes)
{
    unsigned n = 0;
    while (windows[n] < bytes)
        n++;
    return x86_memory(RSP, (int32_t)(FRAME_LIMITS + 4 * n), true);
}

/* What a run's transfers ask for, and whether it is one of some lanes. */
static bool window_is_used(const struct x86 *x, const struct run *run, unsigned bytes)
{
    for (unsigned n = 0; n < run->count; n++) {
        struct lds_shape shape;
        if (run->roles[n] != ROLE_LDS || !lds_shape_find(run->insts[n], &shape))
            continue;
        if (shape.small && (bytes == shape.small || bytes == shape.small * x->level->lanes))
            return true;
        if (bytes == 4u * shape.dwords || bytes == 4u * shape.dwords * x->level->lanes ||
            (bytes == LONG_BYTES && shape.dwords > 1))
            return true;
    }
    return false;
}

void lds_refusals_emit(struct x86 *x, size_t jumps[LDS_REFUSALS])
{
    x86_test32_imm(x, RAX, offsetof(struct workgroup, wants), PERF_WANT_LDS);
    jumps[0] = x86_jump_if(x, JUMP_NOT_EQUAL);
    x86_compare8_imm(x, RAX, offsetof(struct workgroup, is_sampled), 0);
    jumps[1] = x86_jump_if(x, JUMP_NOT_EQUAL);
    x86_compare32_imm(x, RAX, offsetof(struct workgroup, lds_bytes), LDS_LEAST);
    jumps[2] = x86_jump_if(x, JUMP_LESS);
}

void lds_frame_emit(struct x86 *x, const struct run *run)
{
    x86_load32(x, RAX, RAX, offsetof(struct workgroup, lds_bytes));
    for (unsigned n = 0; n < WINDOWS; n++) {
        if (!window_is_used(x, run, windows[n]))
            continue;
        x86_lea(x, RCX, RAX, -windows[n]);
        x86_store32(x, RSP, lds_limit_of(windows[n]).offset, RCX);
    }
}

void lds_segment_emit(struct x86 *x)
{
    x86_load64(x, R10, RDI, offsetof(struct wave, group));
    x86_load64(x, R10, R10, offsetof(struct workgroup, lds));
}

/* ---- where a strip's lanes lie ---- */

static unsigned lanes_of(const struct emitter *e)
{
    return e->x->level->lanes;
}

/* dst: the first active lane's value, in all lanes. */
void lds_first_emit(struct x86 *x, bool masked, unsigned dst, unsigned host)
{
    if (!masked) {
        x86_vector(x, X86_VPBROADCASTD, dst, 0, x86_reg(host), (struct x86_option){0});
        return;
    }
    x86_mask_to(x, RAX, MASK_EXEC);
    x86_gpr_trailing_zeros(x, RAX, RAX);
    x86_broadcast_gpr(x, dst, RAX);
    x86_vector(x, X86_VPERMD, dst, dst, x86_reg(host), (struct x86_option){0});
}
static unsigned first_of(struct emitter *e, unsigned host)
{
    unsigned dst = values_temporary(&e->values);
    lds_first_emit(e->x, e->values.masked, dst, host);
    return dst;
}

static struct x86_rm table_rm(struct emitter *e, const uint32_t *table)
{
    x86_gpr_imm64(e->x, RAX, (uint64_t)(uintptr_t)table);
    return x86_memory(RAX, 0, false);
}

size_t lds_jump_if_differs(struct x86 *x, bool masked, unsigned a, unsigned b)
{
    if (!x->level->vector_masks) {
        struct x86_option option = x86_imm(PREDICATE_NOT_EQUAL);
        option.mask = masked ? MASK_EXEC : 0;
        x86_vector(x, X86_VPCMPD, 0, a, x86_reg(b), option);
        x86_mask_test(x, 0);
    } else {
        x86_test_differs(x, a, b, masked);
    }
    return x86_jump_if(x, JUMP_NOT_EQUAL);
}

/* What follows each other, by the number of dwords, or less than one. */
enum { FOLLOW_HALVES = LONG_DWORDS + 1, FOLLOW_BYTES };
/* Lanes whose elements follow each other, whose numbers times their bytes are: */
static const uint32_t steps[FOLLOW_BYTES][LANES_MAX] __attribute__((aligned(64))) = {
    {0, 4, 8, 12, 16, 20, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60},
    {0, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 104, 112, 120},
    {0, 12, 24, 36, 48, 60, 72, 84, 96, 108, 120, 132, 144, 156, 168, 180},
    {0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240},
    {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30},
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
};

static void detour_add(struct emitter *e, struct lds_detours *detours, struct lds_detour detour)
{
    detour.masked = e->values.masked;
    detours->of[detours->count++] = detour;
}

static void forget_unless(struct emitter *e, size_t jump, struct x86_rm slot,
                          struct lds_detours *detours)
{
    detour_add(e, detours,
               (struct lds_detour){
                   .kind = DETOUR_FORGET, .jump = jump, .back = e->x->count, .slot = slot.offset});
}

static struct place address_of(const struct inst *inst)
{
    return operand_place(&inst->src[0]);
}

/* Returns where the first lane is. */
static struct x86_rm follow_emit(struct emitter *e, unsigned kind, struct lds_known *known,
                                 struct lds_detours *detours)
{
    const struct place place = address_of(e->inst);
    struct x86_rm slot;
    if (lds_follow_find(known, place, kind, &slot))
        return slot;
    slot = lds_follow_add(known, place, kind);
    unsigned address = values_row(&e->values, place);
    unsigned base = emit_form(e, X86_VPSUBD, address, table_rm(e, steps[kind - 1]));
    unsigned first = first_of(e, base);
    x86_gpr_from_vector(e->x, RAX, first);
    x86_store32(e->x, RDX, slot.offset, RAX);
    forget_unless(e, lds_jump_if_differs(e->x, e->values.masked, base, first), slot, detours);
    emit_done(e, first);
    emit_done(e, base);
    emit_done(e, address);
    return slot;
}

/* Flags: whether an active lane's number is above `last`, which is one less than a power of two for
 * hosts without AVX-512. */
static void test_above(struct emitter *e, unsigned host, unsigned last)
{
    const bool masked = e->values.masked;
    if (!e->x->level->vector_masks) {
        struct x86_option option = x86_imm(PREDICATE_GREATER);
        option.mask = masked ? MASK_EXEC : 0;
        x86_vector(e->x, X86_VPCMPUD, 0, host, x86_constant32(e->x, last), option);
        x86_mask_test(e->x, 0);
    } else {
        x86_test_bits(e->x, host, ~last, masked);
    }
}
static size_t jump_if_above(struct emitter *e, unsigned host, unsigned last)
{
    test_above(e, host, last);
    return x86_jump_if(e->x, JUMP_NOT_EQUAL);
}

/* Single dwords may lie in two vectors, so that rows of pairs have them. Where the last window may
 * begin is as far from the LDS' end as they do lie. */
static void last_window_emit(struct emitter *e, unsigned index, struct x86_rm last)
{
    const unsigned vector_shift = e->x->level->vector_masks ? 5 : 6;
    test_above(e, index, lanes_of(e) - 1);
    x86_set_if(e->x, JUMP_NOT_EQUAL, RAX);
    x86_gpr_shift_imm(e->x, X86_SHIFT_LEFT, false, RAX, vector_shift);
    x86_load32(e->x, RSI, RSP, lds_limit_of(4 * lanes_of(e)).offset);
    x86_gpr_do(e->x, X86_SUB, false, RSI, RAX);
    x86_store32(e->x, RDX, last.offset, RSI);
}

/* Each lane's first dword in a window that begins with the first lane's. */
static void index_make(struct emitter *e, unsigned index, unsigned dwords,
                       const struct lds_window *window, struct lds_detours *detours)
{
    enum { DWORD_SHIFT = 2 };
    unsigned address = values_row(&e->values, address_of(e->inst));
    unsigned first = first_of(e, address);
    x86_vector(e->x, X86_VPSUBD, index, address, x86_reg(first), plain);
    /* A rotation: bytes behind a dword come to the top, and make the index too large. */
    x86_shift(e->x, X86_VPRORD_IMM, index, index, DWORD_SHIFT);
    x86_vector(e->x, X86_VMOVDQA32_STORE, index, 0, window->index, plain);
    x86_gpr_from_vector(e->x, RAX, first);
    x86_store32(e->x, RDX, window->first.offset, RAX);
    if (dwords == 1)
        last_window_emit(e, index, window->last);
    size_t jump = jump_if_above(e, index, 2 * lanes_of(e) - dwords);
    forget_unless(e, jump, window->first, detours);
    emit_done(e, first);
    emit_done(e, address);
}

/* The host register that has it. */
static unsigned index_emit(struct emitter *e, unsigned dwords, struct lds_known *known,
                           struct lds_window *window, struct lds_detours *detours)
{
    const struct place place = address_of(e->inst);
    unsigned index;
    const bool here = values_index(&e->values, place, dwords - 1, &index);
    if (!lds_window_find(known, place, dwords, window)) {
        *window = lds_window_add(known, place, dwords);
        index_make(e, index, dwords, window, detours);
    } else if (!here) {
        x86_vector(e->x, X86_VMOVDQA32_LOAD, index, 0, window->index, plain);
    }
    return index;
}

/* RAX: the offset that the slot and the instruction say (lds_memory()). Jumps where that is behind
 * the last window's. */
static size_t window_emit(struct emitter *e, struct x86_rm slot, uint32_t at, struct x86_rm limit)
{
    x86_load32(e->x, RAX, (enum x86_gpr)slot.reg, slot.offset);
    if (at)
        x86_lea32(e->x, RAX, RAX, (int32_t)at);
    x86_compare32(e->x, RAX, (enum x86_gpr)limit.reg, limit.offset);
    return x86_jump_if(e->x, JUMP_ABOVE);
}

/* ---- loads ---- */

/* From two vectors, the lower one in `dst`. */
static void permute_two(struct emitter *e, unsigned dst, unsigned index)
{
    x86_vector(e->x, X86_VMOVDQU32_LOAD, dst, 0, lds_memory(0), plain);
    x86_vector(e->x, X86_VPERMT2D, dst, index, lds_memory((int32_t)(4 * lanes_of(e))), plain);
}

/* The dwords behind those of the index; whoever needs more registers for it has them in dst. */
static void permute_next(struct emitter *e, unsigned dst, unsigned index)
{
    x86_vector(e->x, X86_VPADDD, dst, index, x86_constant32(e->x, 1), plain);
    x86_vector(e->x, X86_VMOVDQU32_LOAD, e->x->level->scratch, 0, lds_memory(0), plain);
    x86_vector(e->x, X86_VPERMI2D, dst, e->x->level->scratch, lds_memory(ROW_BYTES_FRAME), plain);
}

/* Eight elements of two dwords behind each other. */
static void pairs_split(struct emitter *e, const uint8_t hosts[2])
{
    enum { LOW = 0x88, HIGH = 0xdd, MIDDLE_SWAPPED = 0xd8, HALF = 32 };
    x86_vector(e->x, X86_VMOVDQU32_LOAD, hosts[1], 0, lds_memory(0), plain);
    x86_vector(e->x, X86_VSHUFPS, hosts[0], hosts[1], lds_memory(HALF), x86_imm(LOW));
    x86_vector(e->x, X86_VSHUFPS, hosts[1], hosts[1], lds_memory(HALF), x86_imm(HIGH));
    for (int n = 0; n < 2; n++)
        x86_vector(e->x, X86_VPERMQ_IMM, hosts[n], 0, x86_reg(hosts[n]), x86_imm(MIDDLE_SWAPPED));
}

/* Before the jump, since a mask that makes room for it goes to memory. */
static unsigned long_mask_take(struct emitter *e, unsigned dwords)
{
    return lds_long_masks(e->x, dwords) ? values_mask_temporary(&e->values) : 0;
}
static void long_mask_release(struct emitter *e, unsigned dwords, unsigned mask)
{
    if (lds_long_masks(e->x, dwords))
        values_mask_release(&e->values, mask);
}

/* The lanes follow each other, or their dwords lie in one window. What is stored on the way is
 * stored before the jump: the detour does not come by. */
static size_t load_near(struct emitter *e, uint32_t at, unsigned dwords, const uint8_t *hosts,
                        unsigned temporary, struct lds_known *known, struct lds_detours *detours)
{
    const unsigned vector = 4 * lanes_of(e);
    const bool pairs = dwords == 2 && e->x->level->vector_masks;
    size_t jump;
    struct x86_rm slot;
    if (pairs || dwords > 2 ||
        (dwords == 1 && lds_follow_find(known, address_of(e->inst), 1, &slot))) {
        const unsigned mask = long_mask_take(e, dwords);
        slot = follow_emit(e, dwords, known, detours);
        jump = window_emit(e, slot, at, lds_limit_of(vector * dwords));
        long_mask_release(e, dwords, mask);
        if (pairs)
            pairs_split(e, hosts);
        else if (dwords > 2)
            lds_long_load(e->x, dwords, hosts, temporary, mask);
        else
            x86_vector(e->x, X86_VMOVDQU32_LOAD, hosts[0], 0, lds_memory(0),
                       (struct x86_option){0});
        return jump;
    }
    struct lds_window window;
    unsigned index = index_emit(e, dwords, known, &window, detours);
    jump =
        window_emit(e, window.first, at, dwords == 1 ? window.last : lds_limit_of(vector * dwords));
    permute_two(e, hosts[0], index);
    if (dwords == 2)
        permute_next(e, hosts[1], index);
    emit_done(e, index);
    return jump;
}

/* The row of addresses, for the detour alone: where what matters is known it is not loaded. */
static void address_take(struct emitter *e, struct lds_detour *detour, unsigned kind,
                         const struct lds_known *known)
{
    const struct place place = address_of(e->inst);
    struct lds_window window;
    struct x86_rm slot;
    const bool is_known = lds_follow_find(known, place, kind, &slot) ||
                          (kind <= LDS_WINDOW_DWORDS && detour->kind == DETOUR_LOAD &&
                           lds_window_find(known, place, kind, &window));
    detour->place = place;
    detour->home_is_good = values_home_is_good(&e->values, place);
    detour->is_home = is_known && values_is_home(&e->values, place);
    if (!detour->is_home)
        detour->address = (uint8_t)values_row(&e->values, place);
}
static void address_done(struct emitter *e, const struct lds_detour *detour)
{
    if (!detour->is_home)
        emit_done(e, detour->address);
}

static void load_emit(struct emitter *e, uint32_t at, unsigned dwords, uint8_t *hosts,
                      struct lds_known *known, struct lds_detours *detours)
{
    struct lds_detour detour = {.kind = DETOUR_LOAD, .at = at, .dwords = (uint8_t)dwords};
    address_take(e, &detour, dwords, known);
    for (unsigned k = 0; k < dwords; k++)
        hosts[k] = (uint8_t)values_temporary(&e->values);
    for (unsigned k = 0; k < (dwords > 1 ? LONG_DWORDS : dwords); k++)
        detour.hosts[k] = k < dwords ? hosts[k] : (uint8_t)values_temporary(&e->values);
    unsigned temporary = values_temporary(&e->values);
    if (!e->x->level->vector_masks)
        detour.mask = (uint8_t)values_mask_temporary(&e->values);
    detour.temporaries[0] = (uint8_t)temporary;
    detour.jump = load_near(e, at, dwords, detour.hosts, temporary, known, detours);
    detour.back = e->x->count;
    detour_add(e, detours, detour);
    for (unsigned k = dwords; k < LONG_DWORDS && dwords > 1; k++)
        emit_done(e, detour.hosts[k]);
    emit_done(e, temporary);
    address_done(e, &detour);
}

/* Less than a dword: where the lanes follow each other the host widens them by itself. */
static enum x86_form widening(const struct lds_shape *shape)
{
    if (shape->small == 1)
        return shape->sign ? X86_VPMOVSXBD : X86_VPMOVZXBD;
    return shape->sign ? X86_VPMOVSXWD : X86_VPMOVZXWD;
}
/* A half of a register takes all of it (wave/lanes.h). */
static void half_place(struct emitter *e, unsigned host, const struct lds_shape *shape)
{
    if (shape->half == LDS_HALF_HIGH)
        x86_shift(e->x, X86_VPSLLD_IMM, host, host, 16);
    else if (shape->half == LDS_HALF_LOW && shape->sign)
        x86_vector(e->x, X86_VPANDD, host, host, x86_constant32(e->x, 0xffff), plain);
}
static void small_emit(struct emitter *e, uint32_t at, const struct lds_shape *shape, uint8_t *host,
                       struct lds_known *known, struct lds_detours *detours)
{
    const unsigned kind = shape->small == 1 ? FOLLOW_BYTES : FOLLOW_HALVES;
    struct lds_detour detour = {
        .kind = DETOUR_LOAD, .at = at, .dwords = 1, .small = shape->small, .sign = shape->sign};
    address_take(e, &detour, kind, known);
    *host = detour.hosts[0] = (uint8_t)values_temporary(&e->values);
    detour.temporaries[0] = (uint8_t)values_temporary(&e->values);
    if (!e->x->level->vector_masks)
        detour.mask = (uint8_t)values_mask_temporary(&e->values);
    const struct x86_rm slot = follow_emit(e, kind, known, detours);
    detour.jump = window_emit(e, slot, at, lds_limit_of(shape->small * lanes_of(e)));
    x86_vector(e->x, widening(shape), *host, 0, lds_memory(0), plain);
    detour.back = e->x->count;
    detour_add(e, detours, detour);
    half_place(e, *host, shape);
    emit_done(e, detour.temporaries[0]);
    address_done(e, &detour);
}

/* ---- stores ---- */

static void vector_store(struct emitter *e, unsigned host, int32_t at)
{
    const struct x86_rm to = lds_memory(at);
    if (!e->values.masked)
        x86_vector(e->x, X86_VMOVDQU32_STORE, host, 0, to, (struct x86_option){0});
    else
        x86_masked_store(e->x, host, to);
}

static void pairs_join_avx512(struct emitter *e, const uint8_t hosts[2], const uint8_t joined[2])
{
    static const uint32_t indices[2][LANES_MAX] __attribute__((aligned(64))) = {
        {0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23},
        {8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31},
    };
    x86_gpr_imm64(e->x, RSI, (uint64_t)(uintptr_t)indices[0]);
    for (unsigned n = 0; n < 2; n++) {
        x86_vector(e->x, X86_VMOVDQU32_LOAD, joined[n], 0,
                   x86_memory(RSI, (int32_t)(n * sizeof indices[0]), false), plain);
        x86_vector(e->x, X86_VPERMI2D, joined[n], hosts[0], x86_reg(hosts[1]), plain);
    }
}

static void pairs_join_avx2(struct emitter *e, const uint8_t hosts[2], const uint8_t joined[2])
{
    enum { LOW_HALVES = 0x20, HIGH_HALVES = 0x31 };
    const unsigned scratch = e->x->level->scratch;
    x86_vector(e->x, X86_VPUNPCKLDQ, scratch, hosts[0], x86_reg(hosts[1]), plain);
    x86_vector(e->x, X86_VPUNPCKHDQ, joined[1], hosts[0], x86_reg(hosts[1]), plain);
    x86_vector(e->x, X86_VPERM2I128, joined[0], scratch, x86_reg(joined[1]), x86_imm(LOW_HALVES));
    x86_vector(e->x, X86_VPERM2I128, joined[1], scratch, x86_reg(joined[1]), x86_imm(HIGH_HALVES));
}

static void pairs_store(struct emitter *e, const uint8_t hosts[2], const uint8_t joined[2])
{
    if (e->x->level->vector_masks)
        pairs_join_avx2(e, hosts, joined);
    else
        pairs_join_avx512(e, hosts, joined);
    vector_store(e, joined[0], 0);
    vector_store(e, joined[1], (int32_t)(4 * lanes_of(e)));
}

static void store_emit(struct emitter *e, uint32_t at, const struct operand *data, unsigned dwords,
                       struct lds_known *known, struct lds_detours *detours)
{
    struct lds_detour detour = {.kind = DETOUR_STORE, .at = at, .dwords = (uint8_t)dwords};
    address_take(e, &detour, dwords, known);
    for (unsigned k = 0; k < dwords; k++) {
        struct place place = operand_place(data);
        place.index = (uint16_t)(place.index + k);
        detour.hosts[k] = (uint8_t)values_row(&e->values, place);
    }
    for (unsigned k = 0; k < (dwords > 2 ? LONG_DWORDS : dwords); k++)
        detour.temporaries[k] = (uint8_t)values_temporary(&e->values);
    const struct x86_rm slot = follow_emit(e, dwords, known, detours);
    if (dwords > 1 && e->values.masked) { /* a vector of its lanes would need masks of their own */
        detour.jump = x86_jump(e->x);
    } else {
        const unsigned mask = long_mask_take(e, dwords);
        detour.jump = window_emit(e, slot, at, lds_limit_of(4 * dwords * lanes_of(e)));
        long_mask_release(e, dwords, mask);
        if (dwords == 1)
            vector_store(e, detour.hosts[0], 0);
        else if (dwords == 2)
            pairs_store(e, detour.hosts, detour.temporaries);
        else
            lds_long_store(e->x, dwords, detour.hosts, detour.temporaries, mask);
    }
    detour.back = e->x->count;
    detour_add(e, detours, detour);
}

void lds_emit(struct emitter *e, unsigned part, struct lds_known *known,
              struct lds_detours *detours)
{
    const struct inst *inst = e->inst;
    struct lds_shape shape;
    uint8_t hosts[4];
    lds_shape_find(inst, &shape);
    const uint32_t at[2] = {(uint32_t)inst->offset * shape.unit,
                            (uint32_t)inst->ds.offset1 * shape.unit};
    if (shape.store) {
        store_emit(e, at[part], &inst->src[1 + part], shape.dwords, known, detours);
        return;
    }
    if (shape.small)
        small_emit(e, at[0], &shape, hosts, known, detours);
    else
        load_emit(e, at[0], shape.dwords, hosts, known, detours);
    if (shape.two)
        load_emit(e, at[1], shape.dwords, hosts + shape.dwords, known, detours);
    for (unsigned k = 0; k < shape.dwords * (shape.two ? 2u : 1u); k++) {
        struct place place = operand_place(&inst->dst);
        place.index = (uint16_t)(place.index + k);
        values_set_row(&e->values, place, hosts[k]);
    }
}
