/*
 * What an encoding asks for besides its operation: sources that come from other lanes (DPP), bytes
 * and words as sources and destinations (SDWA), halves of registers (op_sel).
 */
#include "translate/emit.h"
#include "valu/dpp.h"

enum { ROW = 16, SELECT_WORD0 = 4, SELECT_WORD1 = 5, SELECT_DWORD = 6, HALF_BITS = 16 };
enum { UNUSED_PAD, UNUSED_SEXT, UNUSED_PRESERVE };
/* Functions of a, b and a mask m as tables: m ? a : b; a | (b & m). */
enum { TABLE_MERGE = 0xe4, TABLE_BESIDE = 0xf8 };

/* ---- which are known ---- */

static bool one_dword(const struct operation *operation)
{
    for (int n = 0; n < 3; n++)
        if (operation->sources[n] > 1)
            return false;
    return operation->dwords <= 1;
}

/* Lanes within reach: those of a row. */
static bool dpp_is_known(const struct inst *inst)
{
    const struct dpp_map *map = &dpp_maps[inst->dpp.ctrl % DPP_CONTROLS];
    return x86_level_find(valu_isa_name()) && map->defined && map->shape == DPP_SHAPE_ROWS &&
           inst->dpp.row_mask == 15;
}

/* Emitters look at the values of constants. */
static bool sdwa_is_known(const struct inst *inst)
{
    const bool plain[2] = {inst->sdwa.src0_sel == SELECT_DWORD,
                           inst->sdwa.src1_sel == SELECT_DWORD};
    for (int n = 0; n < 2; n++)
        if (inst->src[n].kind == OPND_CONST && !plain[n])
            return false;
    return inst->sdwa.src0_sel <= SELECT_DWORD && inst->sdwa.src1_sel <= SELECT_DWORD;
}

bool modifier_is_known(const struct operation *operation, const struct inst *inst)
{
    if (inst->format == FMT_VOP3 && inst->op_sel)
        return operation->flags & HALVES;
    if (inst->modifier == MOD_NONE)
        return true;
    return one_dword(operation) &&
           (inst->modifier == MOD_DPP ? dpp_is_known(inst) : sdwa_is_known(inst));
}

/* ---- lanes ---- */

static const struct dpp_map *dpp_map_of(const struct emitter *e)
{
    return &dpp_maps[e->inst->dpp.ctrl % DPP_CONTROLS];
}

/* Bits for the lanes of a strip, or of a row whose halves are not alike. */
static uint32_t strip_lanes(const struct emitter *e)
{
    return (UINT32_C(1) << (far_lanes(e->inst) ? ROW : e->x->level->lanes)) - 1;
}
static uint32_t banks_of(const struct emitter *e)
{
    uint32_t lanes = 0;
    for (unsigned bank = 0; bank < 4; bank++)
        if (e->inst->dpp.bank_mask >> bank & 1)
            lanes |= UINT32_C(15) << 4 * bank;
    return lanes & strip_lanes(e);
}

/* RAX is nobody's within a strip. */
static unsigned constant_mask(struct emitter *e, uint32_t lanes)
{
    if (far_lanes(e->inst))
        return far_mask(e, lanes);
    unsigned k = values_mask_temporary(&e->values);
    x86_gpr_imm32(e->x, RAX, lanes);
    x86_mask_from(e->x, k, RAX);
    return k;
}

static unsigned places_host(struct emitter *e)
{
    unsigned places = values_temporary(&e->values);
    x86_gpr_imm64(e->x, RAX, (uint64_t)(uintptr_t)dpp_map_of(e)->row_from);
    x86_vector(e->x, X86_VMOVDQA32_LOAD, places, 0, x86_memory(RAX, 0, false),
               (struct x86_option){0});
    return places;
}

/* The mask of those that read a lane that runs. */
static unsigned running(struct emitter *e)
{
    if (far_lanes(e->inst))
        return far_running(e);
    unsigned lanes = values_temporary(&e->values);
    x86_vector(e->x, X86_VPMOVM2D, lanes, 0, x86_reg(MASK_EXEC), (struct x86_option){0});
    unsigned places = places_host(e), moved = emit_form(e, X86_VPERMD, places, x86_reg(lanes));
    unsigned run = emit_test(e, X86_VPMOVD2M, 0, x86_reg(moved), (struct x86_option){0});
    emit_done(e, lanes);
    emit_done(e, places);
    emit_done(e, moved);
    return run;
}

/* The mask of those of `among` that read a lane that is there and runs; 0: all of them do. */
static unsigned readable(struct emitter *e, uint32_t among)
{
    among &= (uint32_t)dpp_map_of(e)->valid;
    unsigned k = among == strip_lanes(e) ? 0 : constant_mask(e, among);
    if (!emit_exec(e))
        return k;
    unsigned run = running(e);
    if (k)
        x86_mask_and(e->x, run, run, k);
    emit_mask_done(e, k);
    return run;
}

/* Without bound_ctrl, lanes that read nothing are not written. */
static unsigned written(struct emitter *e)
{
    uint32_t banks = banks_of(e);
    if (e->written_of == e->inst)
        return e->written;
    e->written_of = e->inst;
    if (!(e->inst->flags & IF_DPP_BOUND_CTRL))
        e->written = readable(e, banks);
    else
        e->written = banks == strip_lanes(e) ? 0 : constant_mask(e, banks);
    return e->written;
}

/* With it, they read zeros. */
static unsigned moved(struct emitter *e, unsigned host)
{
    struct x86_option option = {0};
    if (e->inst->flags & IF_DPP_BOUND_CTRL)
        option.mask = (uint8_t)readable(e, strip_lanes(e));
    option.zero = option.mask != 0;
    if (far_lanes(e->inst)) {
        const unsigned dst = far_moved(e);
        if (option.mask)
            x86_vector(e->x, X86_VPANDD, dst, dst, x86_reg(option.mask - X86_MASK_HOST),
                       (struct x86_option){0});
        emit_mask_done(e, option.mask);
        return dst;
    }
    unsigned places = places_host(e), dst = values_temporary(&e->values);
    x86_vector(e->x, X86_VPERMD, dst, places, x86_reg(host), option);
    emit_done(e, places);
    emit_mask_done(e, option.mask);
    return dst;
}

/* ---- parts of registers ---- */

struct field {
    unsigned shift, bits;
};
static struct field field_of(unsigned select)
{
    if (select < SELECT_WORD0)
        return (struct field){8 * select, 8};
    return (struct field){select == SELECT_WORD1 ? HALF_BITS : 0, HALF_BITS};
}
static uint32_t ones(unsigned bits)
{
    return (UINT32_C(1) << bits) - 1;
}

static unsigned selected(struct emitter *e, int n, unsigned host)
{
    const unsigned select = n ? e->inst->sdwa.src1_sel : e->inst->sdwa.src0_sel;
    const struct field f = field_of(select);
    const unsigned above = 32 - f.bits - f.shift;
    if (select == SELECT_DWORD)
        return host;
    if (e->inst->flags & (n ? IF_SRC1_SEXT : IF_SRC0_SEXT)) {
        unsigned up = emit_shift_imm(e, X86_VPSLLD_IMM, host, above);
        x86_shift(e->x, X86_VPSRAD_IMM, up, up, 32 - f.bits);
        return up;
    }
    if (!f.shift)
        return emit_form(e, X86_VPANDD, host, x86_constant32(e->x, ones(f.bits)));
    unsigned down = emit_shift_imm(e, X86_VPSRLD_IMM, host, f.shift);
    if (above)
        x86_vector(e->x, X86_VPANDD, down, down, x86_constant32(e->x, ones(f.bits)),
                   (struct x86_option){0});
    return down;
}

bool source_is_modified(const struct emitter *e, int n)
{
    const struct inst *i = e->inst;
    if (n == 2 && e->operation->flags & ACCUMULATES)
        return false;
    if (i->format == FMT_VOP3)
        return i->op_sel >> n & 1;
    if (i->modifier == MOD_DPP)
        return n == 0;
    return i->modifier == MOD_SDWA && n < 2 &&
           (n ? i->sdwa.src1_sel : i->sdwa.src0_sel) != SELECT_DWORD;
}

unsigned source_modified(struct emitter *e, int n, unsigned host)
{
    if (!source_is_modified(e, n))
        return host;
    unsigned dst;
    if (e->inst->format == FMT_VOP3)
        dst = emit_shift_imm(e, X86_VPSRLD_IMM, host, HALF_BITS);
    else
        dst = e->inst->modifier == MOD_DPP ? moved(e, host) : selected(e, n, host);
    emit_done(e, host);
    return dst;
}

/* Which half of a source each half of the result has, and its sign. */
unsigned source_pairs(struct emitter *e, int n)
{
    const struct inst *i = e->inst;
    unsigned host = source_host(e, n, 0), low = i->op_sel >> n & 1, high = i->op_sel_hi >> n & 1;
    uint32_t flip = (i->neg >> n & 1 ? 0x8000u : 0) | (i->neg_hi >> n & 1 ? 0x80000000u : 0);
    if (i->format != FMT_VOP3P)
        return host;
    if (low || !high) {
        unsigned picked = values_temporary(&e->values);
        struct x86_option halves = x86_imm(low | high << 2 | (2 + low) << 4 | (2 + high) << 6);
        x86_vector(e->x, X86_VPSHUFLW, picked, 0, x86_reg(host), halves);
        x86_vector(e->x, X86_VPSHUFHW, picked, 0, x86_reg(picked), halves);
        emit_done(e, host);
        host = picked;
    }
    if (!flip || i->src[n].type != TYPE_PK16)
        return host;
    unsigned negated = emit_form(e, X86_VPXORD, host, x86_constant32(e->x, flip));
    emit_done(e, host);
    return negated;
}
/* ---- results ---- */

bool result_is_partial(const struct emitter *e)
{
    return e->inst->modifier != MOD_NONE || e->operation->flags & KEEPS_HIGH ||
           (e->inst->format == FMT_VOP3 && e->inst->op_sel & 8);
}

static void beside(struct emitter *e, unsigned host, unsigned table, uint32_t mask)
{
    unsigned old = values_row(&e->values, operand_place(&e->inst->dst));
    x86_vector(e->x, X86_VPTERNLOGD, host, old, x86_constant32(e->x, mask), x86_imm(table));
    emit_done(e, old);
}

static void place(struct emitter *e, unsigned host)
{
    const struct inst *i = e->inst;
    const struct field f = field_of(i->sdwa.dst_sel);
    const uint32_t mask = ones(f.bits) << f.shift;
    if (i->sdwa.dst_sel >= SELECT_DWORD)
        return;
    if (i->sdwa.dst_unused == UNUSED_SEXT) {
        x86_shift(e->x, X86_VPSLLD_IMM, host, host, 32 - f.bits);
        x86_shift(e->x, X86_VPSRAD_IMM, host, host, 32 - f.bits);
    }
    if (f.shift)
        x86_shift(e->x, X86_VPSLLD_IMM, host, host, f.shift);
    if (i->sdwa.dst_unused == UNUSED_PRESERVE)
        beside(e, host, TABLE_MERGE, mask);
    else if (i->sdwa.dst_unused != UNUSED_SEXT)
        x86_vector(e->x, X86_VPANDD, host, host, x86_constant32(e->x, mask),
                   (struct x86_option){0});
}

void result_modified(struct emitter *e, unsigned host)
{
    const struct inst *i = e->inst;
    if (i->modifier == MOD_SDWA) {
        place(e, host);
    } else if (i->format == FMT_VOP3 && i->op_sel & 8) {
        x86_shift(e->x, X86_VPSLLD_IMM, host, host, HALF_BITS);
        beside(e, host, TABLE_BESIDE, ones(HALF_BITS));
    } else if (e->operation->flags & KEEPS_HIGH) {
        beside(e, host, TABLE_MERGE, ones(HALF_BITS));
    }
    unsigned k = i->modifier == MOD_DPP ? written(e) : 0;
    if (!k)
        return;
    unsigned old = values_row(&e->values, operand_place(&i->dst));
    x86_vector(e->x, X86_VPBLENDMD, host, old, x86_reg(host), x86_masked(k));
    emit_done(e, old);
}
void mask_modified(struct emitter *e, unsigned mask)
{
    unsigned k = e->inst->modifier == MOD_DPP ? written(e) : 0;
    if (k)
        x86_mask_and(e->x, mask, mask, k);
}
