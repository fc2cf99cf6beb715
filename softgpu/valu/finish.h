/* What happens to a result between the kernel and the register. */
#ifndef VALU_FINISH_H
#define VALU_FINISH_H

#include "valu/core_float.h"
#include "valu/half.h"

/* DX10_CLAMP turns a NaN into 0; without it a NaN passes. The clamp works on the bits, because a
 * comparison would take denormals for zero where sources are flushed. */
KERNEL_INLINE void clamp_f32(const struct wave *w, u32 *t)
{
    const bool dx10 = w->mode & MODE_DX10_CLAMP;
    LANES
    {
        const u32 x = t[l], bounded = x & SIGN32 ? 0 : x > 0x3f800000 ? 0x3f800000 : x;
        t[l] = nan32(f32_of(x)) ? (dx10 ? 0 : x) : bounded;
    }
}
KERNEL_INLINE void clamp_f64(const struct wave *w, u32 *t)
{
    const bool dx10 = w->mode & MODE_DX10_CLAMP;
    const u64 one = UINT64_C(0x3ff0000000000000);
    LANES
    {
        const u64 x = LOAD_u64(t, l), bounded = x & SIGN64 ? 0 : x > one ? one : x;
        const u64 r = nan64(f64_of(x)) ? (dx10 ? 0 : x) : bounded;
        STORE_u64(t, l, r);
    }
}
KERNEL_INLINE void clamp_f16(const struct wave *w, u32 *t)
{
    const bool dx10 = w->mode & MODE_DX10_CLAMP;
    LANES
    {
        const u32 h = t[l] & 0xffff;
        const u32 bounded = h & 0x8000 ? 0 : h > 0x3c00 ? 0x3c00 : h;
        t[l] = nan16(h) ? (dx10 ? 0 : h) : bounded;
    }
}

/* Output multipliers work only where the mode promises neither IEEE results nor denormals; they
 * also lose the sign of zero. */
KERNEL_INLINE bool omod_allowed(const struct wave *w, int denorm_shift)
{
    return !(w->mode & MODE_IEEE) && !(w->mode >> denorm_shift & 2);
}
static inline void omod_apply(const struct wave *w, const struct inst *i, u32 flags, u32 *t)
{
    const f32 factor = i->omod == 1 ? 2.0f : i->omod == 2 ? 4.0f : 0.5f;
    if (flags & OPF_F32_OUT && omod_allowed(w, MODE_DENORM_32_SHIFT)) {
        LANES
        {
            const f32 x = flush32(f32_of(t[l]) * factor);
            t[l] = x == 0 ? 0 : bits32(x);
        }
    } else if (flags & OPF_F64_OUT && omod_allowed(w, MODE_DENORM_64_SHIFT)) {
        LANES
        {
            const f64 x = LOAD_f64(t, l) * (f64)factor;
            const u64 u = x == 0 ? 0 : bits64(x);
            STORE_u64(t, l, u);
        }
    } else if (flags & OPF_F16_OUT && omod_allowed(w, MODE_DENORM_64_SHIFT)) {
        HALF_ROW(r);
        half_source(r, t, false, (w->mode >> MODE_DENORM_64_SHIFT & 1) - 1);
        LANES r[l] *= factor;
        half_result(t, r, ~0u, w->mode & MODE_FP16_OVFL);
        LANES t[l] = t[l] & 0x7fff ? t[l] : 0;
    }
}

static inline void result_modify(const struct wave *w, const struct inst *i, u32 flags, u32 *t)
{
    if (i->omod)
        omod_apply(w, i, flags, t);
    if (!(i->flags & IF_CLAMP))
        return;
    if (flags & OPF_F32_OUT)
        clamp_f32(w, t);
    else if (flags & OPF_F64_OUT)
        clamp_f64(w, t);
    else if (flags & OPF_F16_OUT)
        clamp_f16(w, t);
}

enum { SDWA_UNUSED_PAD, SDWA_UNUSED_SEXT, SDWA_UNUSED_PRESERVE };

static inline void sdwa_place(const struct inst *i, u32 *t, const u32 *d)
{
    const u32 select = i->sdwa.dst_sel;
    if (select >= 6)
        return;
    const u32 shift = select < 4 ? 8 * select : select == 5 ? 16 : 0;
    const u32 bits = select < 4 ? 8 : 16;
    const u32 field = ((1u << bits) - 1) << shift;
    if (i->sdwa.dst_unused == SDWA_UNUSED_PRESERVE)
        LANES t[l] = (t[l] << shift & field) | (d[l] & ~field);
    else if (i->sdwa.dst_unused == SDWA_UNUSED_SEXT)
        LANES t[l] = (u32)((i32)(t[l] << (32 - bits)) >> (32 - bits)) << shift;
    else
        LANES t[l] = t[l] << shift & field;
}

/* Puts a partial result beside what the register (d) keeps. */
static inline void result_place(const struct inst *i, u32 flags, u32 *t, const u32 *d)
{
    if (i->modifier == MOD_SDWA)
        sdwa_place(i, t, d);
    else if (i->format == FMT_VOP3 && i->op_sel & 8)
        LANES t[l] = (d[l] & 0xffff) | t[l] << 16;
    else if (flags & OPF_KEEP_HIGH)
        LANES t[l] = (d[l] & 0xffff0000) | (t[l] & 0xffff);
}

#endif
