/*
 * Operand fetch of the general handlers: where a source's rows are, after its modifiers. Plain
 * registers are used in place; everything else is built in a temporary.
 */
#ifndef VALU_FETCH_H
#define VALU_FETCH_H

#include "valu/dpp.h"
#include "valu/simd.h"

enum { SOURCE_ROWS_MAX = 4 }; /* v_mqsad_u32_u8 reads and writes four dwords */
typedef u32 source_temp[SOURCE_ROWS_MAX * WAVE_LANES] __attribute__((aligned(64)));

/* One dword of a source that is the same in all lanes. */
KERNEL_INLINE u32 source_scalar(const struct wave *w, const struct operand *o, int dword)
{
    switch (o->kind) {
    case OPND_SREG:
        return w->s[o->index + dword];
    case OPND_CONST:
        return dword < 2 ? (u32)(o->value >> (32 * dword)) : 0;
    case OPND_SCC:
        return dword ? 0 : w->scc;
    case OPND_VCCZ:
        return dword ? 0 : wave_vcc(w) == 0;
    case OPND_EXECZ:
        return dword ? 0 : wave_exec(w) == 0;
    default:
        return 0;
    }
}

/* Where a lane mask comes from or goes to when the encoding has no field for it: VCC. */
KERNEL_INLINE u64 mask_load(const struct wave *w, const struct operand *o)
{
    u64 mask;
    if (__builtin_expect(o->kind == OPND_SREG, 1)) {
        memcpy(&mask, &w->s[o->index], sizeof mask);
        return mask;
    }
    if (o->kind == OPND_NONE)
        return wave_vcc(w);
    return source_scalar(w, o, 0) | (u64)source_scalar(w, o, 1) << 32;
}
KERNEL_INLINE void mask_store(struct wave *w, const struct operand *o, u64 mask)
{
    const u32 to = o->kind == OPND_SREG ? o->index : SREG_VCC;
    memcpy(&w->s[to], &mask, sizeof mask); /* whole, as it is mostly read: the host forwards it */
}

KERNEL_INLINE const u32 *source_plain(const struct wave *w, const struct operand *o, int dwords,
                                      u32 *temp)
{
    if (__builtin_expect(o->kind == OPND_VGPR, 1))
        return w->v[o->index];
    if (o->kind == OPND_AGPR)
        return w->a[o->index];
    for (int k = 0; k < dwords; k++)
        row_fill(temp + k * WAVE_LANES, source_scalar(w, o, k));
    return temp;
}

/* Like source_plain, but always in the temporary, so that modifiers can work on it. */
KERNEL_INLINE u32 *source_copy(const struct wave *w, const struct operand *o, int dwords, u32 *temp)
{
    const u32 *p = source_plain(w, o, dwords, temp);
    for (int k = 0; p != temp && k < dwords; k++)
        row_copy(temp + k * WAVE_LANES, p + k * WAVE_LANES);
    return temp;
}

/* SDWA selects a byte (0..3), a word (4, 5) or the dword (6). */
KERNEL_INLINE void sdwa_select(u32 *row, u32 select, bool sign_extend)
{
    const u32 shift = select < 4 ? 8 * select : select == 5 ? 16 : 0;
    const u32 bits = select < 4 ? 8 : select < 6 ? 16 : 32;
    if (sign_extend)
        LANES row[l] = (u32)((i32)(row[l] >> shift << (32 - bits)) >> (32 - bits));
    else
        LANES row[l] = row[l] >> shift << (32 - bits) >> (32 - bits);
}

KERNEL_INLINE bool type_is_packed16(uint8_t type)
{
    return type == TYPE_PK16 || type == TYPE_PKI16;
}
/* Source n of VOP3P is two halves, and op_sel, op_sel_hi, neg_lo or neg_hi do something to them. */
KERNEL_INLINE bool halves_modified(const struct inst *i, int n)
{
    const bool usual = !(i->op_sel >> n & 1) && i->op_sel_hi >> n & 1;
    return i->format == FMT_VOP3P && type_is_packed16(i->src[n].type) &&
           (!usual || (i->neg | i->neg_hi) >> n & 1);
}
/* op_sel and neg_lo make the low half of source n, op_sel_hi and neg_hi the high one. Integers have
 * no sign bit to flip. */
KERNEL_INLINE void halves_select(u32 *d, const u32 *s, const struct inst *i, int n)
{
    const u32 low = i->op_sel >> n & 1 ? 16 : 0, high = i->op_sel_hi >> n & 1 ? 16 : 0;
    const u32 signs = (i->neg >> n & 1u) << 15 | (i->neg_hi >> n & 1u) << 31;
    const u32 flip = i->src[n].type == TYPE_PK16 ? signs : 0;
    LANES d[l] = ((s[l] >> low & 0xffff) | s[l] >> high << 16) ^ flip;
}
KERNEL_INLINE void halves_flush(u32 *d, const u32 *s)
{
    LANES
    {
        const u32 low = s[l] & 0x7c00 ? 0xffff : 0x8000;
        const u32 high = s[l] & 0x7c000000 ? 0xffff0000 : 0x80000000;
        d[l] = s[l] & (low | high);
    }
}

KERNEL_INLINE u32 sign_bit_of(uint8_t type)
{
    const bool half = type == TYPE_F16 || type == TYPE_B16 || type == TYPE_I16 || type == TYPE_U16;
    return half ? 0x8000u : 0x80000000u;
}

KERNEL_INLINE void sign_modify(u32 *d, const u32 *s, u32 sign, bool absolute, bool negate)
{
    const u32 keep = absolute ? ~sign : ~0u, flip = negate ? sign : 0;
    LANES d[l] = (s[l] & keep) ^ flip;
}

/* VOP3P: halves are chosen and negated one by one; a 32-bit source knows neg_lo alone, and only if
 * it is a float. */
static inline const u32 *source_vop3p(const struct wave *w, const struct inst *i, int n, int dwords,
                                      u32 *temp)
{
    const struct operand *o = &i->src[n];
    const u32 *p = source_plain(w, o, dwords, temp);
    if (halves_modified(i, n)) {
        halves_select(temp, p, i, n);
        return temp;
    }
    if (o->type != TYPE_F32 || !(i->neg >> n & 1))
        return p;
    sign_modify(temp, p, 0x80000000, false, true);
    return temp;
}

/* Source n with DPP, SDWA, op_sel, abs and neg applied. */
static inline const u32 *source_unflushed(const struct wave *w, const struct inst *i, int n,
                                          int dwords, u32 *temp)
{
    if (i->format == FMT_VOP3P)
        return source_vop3p(w, i, n, dwords, temp);
    const struct operand *o = &i->src[n];
    const bool absolute = i->abs >> n & 1, negate = i->neg >> n & 1;
    const bool high_half = i->format == FMT_VOP3 && (i->op_sel >> n & 1);
    const bool dpp = i->modifier == MOD_DPP && n == 0, sdwa = i->modifier == MOD_SDWA && n < 2;
    if (!absolute && !negate && !high_half && !dpp && !sdwa)
        return source_plain(w, o, dwords, temp);
    if (!high_half && !dpp && !sdwa) {
        const u32 *p = source_plain(w, o, dwords, temp);
        if (dwords == 2 && p != temp)
            row_copy(temp, p);
        sign_modify(temp + (dwords - 1) * WAVE_LANES, p + (dwords - 1) * WAVE_LANES,
                    sign_bit_of(o->type), absolute, negate);
        return temp;
    }
    if (dpp) {
        source_temp whole;
        const u32 *p = source_plain(w, o, dwords, whole);
        for (int k = 0; k < dwords; k++)
            dpp_permute(temp + k * WAVE_LANES, p + k * WAVE_LANES, i, wave_exec(w));
    } else {
        source_copy(w, o, dwords, temp);
    }
    if (sdwa)
        sdwa_select(temp, n ? i->sdwa.src1_sel : i->sdwa.src0_sel,
                    i->flags & (n ? IF_SRC1_SEXT : IF_SRC0_SEXT));
    if (high_half)
        LANES temp[l] >>= 16;
    u32 *top = temp + (dwords - 1) * WAVE_LANES;
    if (absolute || negate)
        sign_modify(top, top, sign_bit_of(o->type), absolute, negate);
    return temp;
}

static inline const u32 *source_modified(const struct wave *w, const struct inst *i, int n,
                                         int dwords, u32 *temp)
{
    const u32 *p = source_unflushed(w, i, n, dwords, temp);
    if (!(i->flags & IF_FLUSH_F16) || i->src[n].type != TYPE_PK16)
        return p;
    halves_flush(temp, p);
    return temp;
}

#endif
