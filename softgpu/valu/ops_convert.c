/* Conversions between number formats. */
#include "valu/core_int.h"
#include "valu/define.h"
#include "valu/finish.h"
#include "valu/half.h"
#include "valu/tables.h"

KERNEL_INLINE u32 insert_byte(u32 word, u32 position, u32 byte)
{
    const u32 shift = 8 * (position & 3);
    return (word & ~(0xffu << shift)) | byte << shift;
}

/* The conversion runs under the f32 state, which says nothing of f64 denormals: those that are kept
 * become another tiny number, which rounds to the same f32, others zeros. */
KERNEL_INLINE f64 settle_tiny(f64 x, struct lane_env e)
{
    const u64 u = bits64(x), tiny = e.flush16_in ? 0 : UINT64_C(1) << 52;
    const bool denormal = (EXP64(u) == 0) & (u << 1 != 0);
    return f64_of(denormal ? (u & SIGN64) | tiny : u);
}

/* From f32 to half: a denormal half may come of it, whatever MODE says about f32. */
static void V_CVT_F16_F32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    HALF_ROW(r);
    LANES r[l] = flush32_if(f32_of(a_[l]), e.flush32_in);
    half_result(d_, r, e.flush16_out, e.bounded16);
}
static void V_CVT_F32_F16_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    HALF_ROW(r);
    half_source(r, a_, false, e.flush16_in);
    LANES d_[l] = bits32(r[l]);
}

#define HALF_OF_INT(NAME, T)                                                                       \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        HALF_ROW(r);                                                                               \
        LANES r[l] = (f32)(i32)(T)a_[l];                                                           \
        half_result(d_, r, 0, e.bounded16);                                                        \
    }
HALF_OF_INT(V_CVT_F16_U16, u16)
HALF_OF_INT(V_CVT_F16_I16, i16)

#define INT_OF_HALF(NAME, EXPR)                                                                    \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        HALF_ROW(fa);                                                                              \
        half_source(fa, a_, false, e.flush16_in);                                                  \
        LANES                                                                                      \
        {                                                                                          \
            const f32 a = fa[l];                                                                   \
            d_[l] = (u16)(EXPR);                                                                   \
        }                                                                                          \
    }
INT_OF_HALF(V_CVT_U16_F16, clamp_u16(i32_of_f32(a)))
INT_OF_HALF(V_CVT_I16_F16, clamp_i16(i32_of_f32(a)))
INT_OF_HALF(V_CVT_NORM_I16_F16, snorm16(a))
INT_OF_HALF(V_CVT_NORM_U16_F16, unorm16(a))

#define PAIR_OF_HALVES(NAME, CONVERT)                                                              \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        HALF_ROW(fa);                                                                              \
        HALF_ROW(fb);                                                                              \
        half_source(fa, a_, false, e.flush16_in);                                                  \
        half_source(fb, b_, false, e.flush16_in);                                                  \
        LANES d_[l] = (u16)CONVERT(fa[l]) | (u32)CONVERT(fb[l]) << 16;                             \
    }
PAIR_OF_HALVES(V_CVT_PKNORM_I16_F16, snorm16)
PAIR_OF_HALVES(V_CVT_PKNORM_U16_F16, unorm16)

/* Halves are cut, whatever MODE says; `bounded`: CLAMP, of both. */
KERNEL_INLINE void pkrtz_rows(KERNEL_ARGS, const bool bounded)
{
    KERNEL_ENV;
    u32 low[WAVE_LANES] __attribute__((aligned(64))), high[WAVE_LANES] __attribute__((aligned(64)));
    HALF_ROW(fa);
    HALF_ROW(fb);
    LANES fa[l] = f32_of(a_[l]);
    LANES fb[l] = f32_of(b_[l]);
    const u32 current = fp_wanted(w, OPF_STATE16), toward_zero = current | 3u << MXCSR_ROUND_SHIFT;
    fp_switch(current, toward_zero);
    half_result(low, fa, e.flush16_out, 0);
    half_result(high, fb, e.flush16_out, 0);
    fp_switch(toward_zero, current);
    if (bounded) {
        clamp_f16(w, low);
        clamp_f16(w, high);
    }
    LANES d_[l] = low[l] | high[l] << 16;
}
static void V_CVT_PKRTZ_F16_F32_rows(KERNEL_ARGS)
{
    pkrtz_rows(d_, m_, a_, b_, c_, w, false);
}
static void V_CVT_PKRTZ_F16_F32_clamped_rows(KERNEL_ARGS)
{
    pkrtz_rows(d_, m_, a_, b_, c_, w, true);
}

#include "valu/ops_convert.def"

#include "valu/entries.h"
static const struct valu_op entries[] = {
#include "valu/ops_convert.def"
};
const struct valu_table VALU(valu_table_convert) = {entries, sizeof entries / sizeof entries[0]};
