/*
 * Conversions of gfx942's 8-bit floats, which fit no row kernel: they fill halves and bytes of
 * their destination and leave the rest.
 */
#include "valu/float8.h"

#include "valu/exec.h"
#include "valu/finish.h"

/* One value or two of a source's low bytes, in f32. */
KERNEL_INLINE const struct inst *widen(struct wave *w, const struct inst *i, const bool wide,
                                       const int count)
{
    source_temp ta, t;
    const u64 exec = wave_exec(w);
    const u64 lanes = i->modifier == MOD_DPP ? dpp_written(i, exec) : exec;
    const u32 *a = source_modified(w, i, 0, 1, ta);
    u32 *d = w->v[i->dst.index];
    for (int n = 0; n < count; n++)
        LANES t[n * WAVE_LANES + l] = f32_of_f8(a[l] >> (8 * n), wide);
    for (int n = 0; n < count; n++) {
        u32 *row = t + n * WAVE_LANES;
        result_modify(w, i, OPF_F32_OUT, row);
        row_store_masked(d + n * WAVE_LANES, row, lanes);
    }
    return i + i->dwords;
}

/* FP16_OVFL lets numbers that are too large become the largest; else they are NaN. */
KERNEL_INLINE u32 above_largest(const struct wave *w)
{
    return w->mode & MODE_FP16_OVFL ? FLOAT8_MAX : FLOAT8_NAN;
}

/* Of a source of f32; op_sel's low bits have nothing to choose. */
static const u32 *source_f32(const struct wave *w, const struct inst *i, int n, u32 *temp)
{
    const u32 *p = source_plain(w, &i->src[n], 1, temp);
    const bool absolute = i->abs >> n & 1, negate = i->neg >> n & 1;
    if (!absolute && !negate)
        return p;
    sign_modify(temp, p, SIGN32, absolute, negate);
    return temp;
}

/* Writes the field of the registers that starts at bit `shift`. */
KERNEL_INLINE void field_store(struct wave *w, u32 *d, const u32 *t, u32 mask, u32 shift)
{
    u32 r[WAVE_LANES] __attribute__((aligned(64)));
    LANES r[l] = (d[l] & ~(mask << shift)) | t[l] << shift;
    row_store_masked(d, r, wave_exec(w));
}

/* Two f32 into one half. */
KERNEL_INLINE const struct inst *narrow(struct wave *w, const struct inst *i, const bool wide)
{
    source_temp ta, tb;
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    const u32 *a = source_f32(w, i, 0, ta), *b = source_f32(w, i, 1, tb);
    const u32 above = above_largest(w);
    LANES t[l] = f8_of_f32(a[l], wide, above) | f8_of_f32(b[l], wide, above) << 8;
    field_store(w, w->v[i->dst.index], t, 0xffff, i->op_sel & 8 ? 16 : 0);
    return i + i->dwords;
}

/* One f32 into the byte that op_sel's high bits name. */
KERNEL_INLINE const struct inst *narrow_by_seed(struct wave *w, const struct inst *i,
                                                const bool wide)
{
    source_temp ta, tb;
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    const u32 *a = source_f32(w, i, 0, ta), *seed = source_plain(w, &i->src[1], 1, tb);
    const u32 above = above_largest(w);
    LANES t[l] = f8_stochastic(a[l], seed[l], wide, above);
    field_store(w, w->v[i->dst.index], t, 0xff, 8 * (i->op_sel >> 2));
    return i + i->dwords;
}

#define HANDLER(OP, CALL)                                                                          \
    static const struct inst *exec_##OP(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        return CALL;                                                                               \
    }
HANDLER(cvt_f32_fp8, widen(w, i, false, 1))
HANDLER(cvt_f32_bf8, widen(w, i, true, 1))
HANDLER(cvt_pk_f32_fp8, widen(w, i, false, 2))
HANDLER(cvt_pk_f32_bf8, widen(w, i, true, 2))
HANDLER(cvt_pk_fp8_f32, narrow(w, i, false))
HANDLER(cvt_pk_bf8_f32, narrow(w, i, true))
HANDLER(cvt_sr_fp8_f32, narrow_by_seed(w, i, false))
HANDLER(cvt_sr_bf8_f32, narrow_by_seed(w, i, true))

inst_exec_fn *VALU(valu_float8)(const struct inst *i)
{
    switch (i->op) {
    case OP_V_CVT_F32_FP8:
        return exec_cvt_f32_fp8;
    case OP_V_CVT_F32_BF8:
        return exec_cvt_f32_bf8;
    case OP_V_CVT_PK_F32_FP8:
        return exec_cvt_pk_f32_fp8;
    case OP_V_CVT_PK_F32_BF8:
        return exec_cvt_pk_f32_bf8;
    case OP_V_CVT_PK_FP8_F32:
        return exec_cvt_pk_fp8_f32;
    case OP_V_CVT_PK_BF8_F32:
        return exec_cvt_pk_bf8_f32;
    case OP_V_CVT_SR_FP8_F32:
        return exec_cvt_sr_fp8_f32;
    case OP_V_CVT_SR_BF8_F32:
        return exec_cvt_sr_bf8_f32;
    default:
        return NULL;
    }
}
