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

/* Source n with DPP, SDWA, op_sel, abs and neg applied. */
static inline const u32 *source_modified(const struct wave *w, const struct inst *i, int n,
                                         int dwords, u32 *temp)
{
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
            dpp_permute(temp + k * WAVE_LANES, p + k * WAVE_LANES, i->dpp.ctrl, wave_exec(w));
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

#endif
