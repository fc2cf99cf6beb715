/* Single precision operations. */
#include "valu/core_div.h"
#include "valu/core_trans.h"
#include "valu/define.h"
#include "valu/order_vector.h"
#include "valu/simd.h"
#include "valu/tables.h"
#include "valu/trans_vector.h"

/* Lanes that need no scaling have exponents far from all limits above, which exponents alone show:
 * the quotient is at least 2^-101. Returns ~0 or, for those, 0. */
KERNEL_INLINE u32 div_scale_may_need(u32 b, u32 c)
{
    const u32 eb = EXP32(b), ec = EXP32(c);
    /* ec - eb in [-100, 95], eb in [1, 252], ec in [24, 254] */
    const bool far = ((ec - eb + 100) > 195) | (eb - 1 > 251) | (ec - 24 > 230);
    return 0u - (u32)far;
}
static void V_DIV_SCALE_F32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    u32 some = 0;
    LANES some |= div_scale_may_need(b_[l], c_[l]);
    if (!some) {
        row_copy(d_, a_);
        row_fill(m_, 0);
        return;
    }
    LANES
    {
        bool rescale;
        const f32 r = div_scale_f32(f32_of(a_[l]), f32_of(b_[l]), f32_of(c_[l]), &rescale);
        m_[l] = rescale ? ~0u : 0;
        d_[l] = bits32(r);
    }
}

static void V_DIV_FMAS_F32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    u32 r[WAVE_LANES] __attribute__((aligned(64)));
    u32 any = 0;
    LANES r[l] = bits32(fma_f32(f32_of(a_[l]), f32_of(b_[l]), f32_of(c_[l])));
    LANES any |= m_[l];
    for (int l = 0; any && l < WAVE_LANES; l++)
        if (m_[l])
            r[l] = div_fmas_rescaled_f32(f32_of(a_[l]), f32_of(b_[l]), f32_of(c_[l]), e.one32);
    LANES d_[l] = r[l];
}

/* Quotients of numbers whose exponents are not extreme are what the steps before made of them. */
KERNEL_INLINE u32 div_fixup_may_change(u32 a, u32 b, u32 c)
{
    const u32 eb = EXP32(b), ec = EXP32(c);
    const bool special =
        (eb - 1 > 253) | (ec - 1 > 253) | ((i32)(ec - eb) < -150) | ((a & ~SIGN32) > INF32);
    return 0u - (u32)special;
}
static void V_DIV_FIXUP_F32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    u32 some = 0;
    LANES some |= div_fixup_may_change(a_[l], b_[l], c_[l]);
    if (!some) {
        LANES d_[l] = (a_[l] & ~SIGN32) | ((b_[l] ^ c_[l]) & SIGN32);
        return;
    }
    LANES d_[l] = div_fixup_f32(f32_of(a_[l]), f32_of(b_[l]), f32_of(c_[l]), e.one64);
}

#if defined(__AVX512F__)
/* vscalefps multiplies by a power of two and rounds once. */
KERNEL_INLINE void V_LDEXP_F32_body(KERNEL_ARGS, const bool sa)
{
    KERNEL_ENV;
    for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {
        const vec_f32 a = (vec_f32)(sa ? vector_splat(a_[0]) : vector_load(a_ + l));
        const vec_f32 n = vector_to_f32((vec_i32)vector_load(b_ + l));
        const vec_f32 x = vector_flush_if(a, e.flush32_in);
        vector_store(d_ + l, (vec_u32)_mm512_scalef_ps((__m512)x, (__m512)n));
    }
}
#else
BODY2(V_LDEXP_F32, f32, f32, i32, ldexp_f32(flush32_if(a, e.flush32_in), b))
#endif

#if defined(HAVE_ORDER_VECTORS)
#define O2(NAME, FLAGS, VEXPR, EXPR)                                                               \
    ORDER_F32(NAME, b_, VEXPR, EXPR) ROWS(NAME) FAST2(NAME, FLAGS, 1)
#define O3(NAME, FLAGS, VEXPR, EXPR)                                                               \
    ORDER_F32(NAME, c_, VEXPR, EXPR) ROWS(NAME) FAST3(NAME, FLAGS, 1)
#else
#define O2(NAME, FLAGS, VEXPR, EXPR) F2(NAME, FLAGS, f32, f32, f32, EXPR)
#define O3(NAME, FLAGS, VEXPR, EXPR) F3(NAME, FLAGS, f32, f32, f32, f32, EXPR)
#endif
#if defined(HAVE_TRANS_VECTORS)
#define T1(NAME, EXPR, VEXPR)                                                                      \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l += BUNDLE_LANES) {                                       \
            const struct bundle a = sa ? bundle_of(f32_of(a_[0])) : bundle_load(a_ + l);           \
            bundle_store(d_ + l, VEXPR);                                                           \
        }                                                                                          \
    }                                                                                              \
    ROWS(NAME) FAST1(NAME, 0, 1)
#define V1(NAME, FLAGS, EXPR, VEXPR)                                                               \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const vec_f32 a = (vec_f32)(sa ? vector_splat(a_[0]) : vector_load(a_ + l));           \
            vector_store(d_ + l, (vec_u32)(VEXPR));                                                \
        }                                                                                          \
    }                                                                                              \
    ROWS(NAME) FAST1(NAME, FLAGS, 1)
#else
#define V1(NAME, FLAGS, EXPR, VEXPR) F1(NAME, FLAGS, f32, f32, EXPR)
#define T1(NAME, EXPR, VEXPR)        F1(NAME, 0, f32, f32, EXPR)
#endif
#include "valu/ops_f32.def"

#include "valu/entries.h"
#undef O2
#undef O3
#undef V1
#undef T1
#define V1(NAME, FLAGS, EXPR, VEXPR) F1(NAME, FLAGS, f32, f32, EXPR)
#define O2(NAME, FLAGS, VEXPR, EXPR) F2(NAME, FLAGS, f32, f32, f32, EXPR)
#define O3(NAME, FLAGS, VEXPR, EXPR) F3(NAME, FLAGS, f32, f32, f32, f32, EXPR)
#define T1(NAME, EXPR, VEXPR)        F1(NAME, 0, f32, f32, EXPR)
static const struct valu_op entries[] = {
#include "valu/ops_f32.def"
};
const struct valu_table VALU(valu_table_f32) = {entries, sizeof entries / sizeof entries[0]};
