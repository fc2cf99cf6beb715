/* Transfers of LDS where a strip's lanes lie otherwise than lds.c expects: each by itself, or none.
 */
#include "translate/lds_code.h"
#include "translate/lds_long.h"

/* The first temporary: each lane's offset. */
static void offsets_emit(struct x86 *x, const struct lds_detour *detour)
{
    const struct x86_option plain = {0};
    const unsigned offsets = detour->temporaries[0];
    if (detour->is_home)
        x86_vector(x, X86_VMOVDQA32_LOAD, offsets, 0, values_home(detour->place), plain);
    x86_vector(x, X86_VPADDD, offsets, detour->is_home ? offsets : detour->address,
               x86_constant32(x, detour->at), plain);
}
static void offsets_store(struct x86 *x, const struct lds_detour *detour)
{
    x86_vector(x, X86_VMOVDQU32_STORE, detour->temporaries[0], 0,
               x86_memory(RSP, FRAME_LANES, false), (struct x86_option){0});
}
/* Where the register's home has the row it is read there: the host waits long for parts of what it
 * has just stored. */
static struct lds_lanes lanes_find(struct x86 *x, const struct lds_detour *detour)
{
    if (!detour->masked && detour->home_is_good)
        return (struct lds_lanes){values_home(detour->place), detour->at};
    offsets_store(x, detour);
    return (struct lds_lanes){x86_memory(RSP, FRAME_LANES, false), 0};
}

/* Active lanes whose elements lie inside, or of so many bytes outside. */
static void limit_test(struct x86 *x, const struct lds_detour *detour, unsigned bytes,
                       unsigned predicate, unsigned mask)
{
    struct x86_option option = x86_imm(predicate);
    option.mask = detour->masked ? MASK_EXEC : 0;
    x86_vector(x, X86_VPCMPUD, mask, detour->temporaries[0], lds_limit_of(bytes), option);
}
static void inside_emit(struct x86 *x, const struct lds_detour *detour, unsigned mask)
{
    limit_test(x, detour, 4u * detour->dwords, PREDICATE_LESS_EQUAL, mask);
}

/* Jumps where so many bytes of an active lane lie outside. */
static size_t jump_if_outside(struct x86 *x, const struct lds_detour *detour, unsigned bytes)
{
    const unsigned mask = x->level->vector_masks ? x86_mask_scratch(x) : 0;
    limit_test(x, detour, bytes, PREDICATE_GREATER, mask);
    x86_mask_to(x, RAX, mask);
    x86_gpr_test32(x, RAX);
    return x86_jump_if(x, JUMP_NOT_EQUAL);
}

static void gather_each(struct x86 *x, const struct lds_detour *detour)
{
    const unsigned mask = x->level->vector_masks ? x86_mask_scratch(x) : detour->mask;
    for (unsigned k = 0; k < detour->dwords; k++) {
        const unsigned dst = detour->hosts[k];
        inside_emit(x, detour, mask);
        x86_vector(x, X86_VPXORD, dst, dst, x86_reg(dst), (struct x86_option){0});
        x86_gather(x, dst, mask, R10, detour->temporaries[0], (int32_t)(4 * k));
    }
}

/* Less than a dword: what lies behind comes with it, and is shifted out. LDS has so much slack. */
static void gather_small(struct x86 *x, const struct lds_detour *detour)
{
    const unsigned mask = x->level->vector_masks ? x86_mask_scratch(x) : detour->mask;
    const unsigned dst = detour->hosts[0], more = 32 - 8 * detour->small;
    limit_test(x, detour, detour->small, PREDICATE_LESS_EQUAL, mask);
    x86_vector(x, X86_VPXORD, dst, dst, x86_reg(dst), (struct x86_option){0});
    x86_gather(x, dst, mask, R10, detour->temporaries[0], 0);
    x86_shift(x, X86_VPSLLD_IMM, dst, dst, more);
    x86_shift(x, detour->sign ? X86_VPSRAD_IMM : X86_VPSRLD_IMM, dst, dst, more);
}

/* Of several dwords; where four lie inside, that is all. */
static void long_detour(struct x86 *x, const struct lds_detour *detour)
{
    const unsigned offsets = detour->temporaries[0];
    const size_t outside = jump_if_outside(x, detour, LONG_BYTES);
    lds_first_emit(x, detour->masked, detour->hosts[0], offsets);
    const size_t apart = lds_jump_if_differs(x, detour->masked, detour->hosts[0], offsets);
    lds_long_broadcast(x, detour->dwords, detour->hosts);
    x86_jump_back(x, detour->back);
    x86_land(x, apart);
    if (detour->masked) /* lanes that are off load what there is */
        x86_vector(x, X86_VMOVDQA32_LOAD, offsets, 0, x86_reg(offsets),
                   (struct x86_option){.mask = MASK_EXEC, .zero = true});
    const struct lds_lanes lanes = lanes_find(x, detour);
    lds_long_collect(x, detour->dwords, &lanes, detour->hosts, offsets);
    x86_jump_back(x, detour->back);
    x86_land(x, outside);
}

static void gather_detour(struct x86 *x, const struct lds_detour *detour)
{
    offsets_emit(x, detour);
    if (detour->dwords > 1)
        long_detour(x, detour);
    if (detour->small)
        gather_small(x, detour);
    else
        gather_each(x, detour);
}

/* Where in the frame lane `n` has what it stores, of one or two dwords: two were put beside each
 * other within parts of four lanes. */
static int32_t data_offset(unsigned dwords, unsigned n)
{
    const unsigned at =
        dwords == 1 ? 4 * n : ROW_BYTES_FRAME * (n % 4 / 2) + 8 * (n / 4 * 2 + n % 2);
    return FRAME_LANES + ROW_BYTES_FRAME + (int32_t)at;
}

static void data_store(struct x86 *x, const struct lds_detour *detour)
{
    const struct x86_option none = {0};
    const uint8_t *hosts = detour->hosts;
    unsigned rows[2] = {hosts[0], x->level->scratch};
    if (detour->dwords == 2) {
        rows[0] = detour->temporaries[1];
        x86_vector(x, X86_VPUNPCKLDQ, rows[0], hosts[0], x86_reg(hosts[1]), none);
        x86_vector(x, X86_VPUNPCKHDQ, rows[1], hosts[0], x86_reg(hosts[1]), none);
    }
    for (int k = 0; k < detour->dwords; k++)
        x86_vector(x, X86_VMOVDQU32_STORE, rows[k], 0,
                   x86_memory(RSP, FRAME_LANES + ROW_BYTES_FRAME * (k + 1), false), none);
}

/* One or two dwords of each of all lanes: without a loop (19 to 35 M instructions a second, of two
 * dwords 16 to 32; a Zen 5). */
static void scatter_each(struct x86 *x, const struct lds_detour *detour)
{
    const struct lds_lanes lanes = lanes_find(x, detour);
    const bool wide = detour->dwords == 2;
    data_store(x, detour);
    for (unsigned n = 0; n < x->level->lanes; n++) {
        const int32_t from = data_offset(detour->dwords, n);
        lds_lane_emit(x, &lanes, n);
        if (wide)
            x86_load64(x, RSI, RSP, from);
        else
            x86_load32(x, RSI, RSP, from);
        x86_store_lane(x, wide);
    }
}

/* From the lowest lane to the highest, as lanes that write to one place are meant to. */
static void lanes_detour(struct x86 *x, const struct lds_detour *detour)
{
    const unsigned mask = x->level->vector_masks ? x86_mask_scratch(x) : 0;
    const struct x86_option plain = {0};
    offsets_emit(x, detour);
    if (detour->dwords == LONG_DWORDS && !detour->masked) {
        size_t outside = jump_if_outside(x, detour, LONG_BYTES);
        const struct lds_lanes lanes = lanes_find(x, detour);
        lds_long_scatter(x, &lanes, detour->hosts, detour->temporaries);
        x86_jump_back(x, detour->back);
        x86_land(x, outside);
    }
    if (detour->dwords <= 2 && !detour->masked) {
        size_t outside = jump_if_outside(x, detour, 4u * detour->dwords);
        scatter_each(x, detour);
        x86_jump_back(x, detour->back);
        x86_land(x, outside);
    }
    inside_emit(x, detour, mask);
    x86_mask_to(x, RAX, mask);
    offsets_store(x, detour);
    for (int k = 0; k < detour->dwords; k++)
        x86_vector(x, X86_VMOVDQU32_STORE, detour->hosts[k], 0,
                   x86_memory(RSP, FRAME_LANES + ROW_BYTES_FRAME * (k + 1), false), plain);
    x86_lanes_store(x, FRAME_LANES, ROW_BYTES_FRAME, detour->dwords);
    x86_gpr_move(x, RDI, RBX);
}

void lds_detours_emit(struct x86 *x, const struct lds_detours *detours)
{
    for (unsigned n = 0; n < detours->count; n++) {
        const struct lds_detour *detour = &detours->of[n];
        x86_land(x, detour->jump);
        if (detour->kind == DETOUR_FORGET)
            x86_store32_imm(x, RDX, detour->slot, FOLLOWS_NOT);
        else if (detour->kind == DETOUR_STORE)
            lanes_detour(x, detour);
        else
            gather_detour(x, detour);
        x86_jump_back(x, detour->back);
    }
}
