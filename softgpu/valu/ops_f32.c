/* Single precision operations. */
#include "valu/core_trans.h"
#include "valu/define.h"
#include "valu/order_vector.h"
#include "valu/simd.h"
#include "valu/tables.h"
#include "valu/trans_vector.h"

/*
 * v_div_scale: scales the numerator (c) or the denominator (b), whichever a is, so that the
 * Newton steps of a division neither overflow nor lose bits to denormals; the mask tells
 * v_div_fmas to scale the quotient back.
 */
KERNEL_INLINE f32 div_scale_f32(f32 a, f32 b, f32 c, bool *rescale)
{
    const u32 eb = EXP32(bits32(b)), ec = EXP32(bits32(c));
    const f64 quotient = __builtin_fabs((f64)c / (f64)b);
    const bool none = (b == 0) | (c == 0);
    const bool huge = (i32)(ec - eb) >= 96;
    const bool tiny_quotient = quotient < 0x1p-126;
    const bool tiny_reciprocal = __builtin_fabsf(b) > 0x1p126f;
    const bool small_numerator = ec <= 23;
    const f32 up = (f32)((f64)a * 0x1p64), down = (f32)((f64)a * 0x1p-64);
    f32 r = small_numerator ? up : a;
    r = tiny_quotient ? (a == c ? up : a) : r;
    r = tiny_reciprocal ? down : r;
    r = tiny_reciprocal & tiny_quotient ? (a == b ? down : a) : r;
    r = eb == 0 ? up : r;
    r = huge ? (a == b ? up : a) : r;
    *rescale = (huge | ((eb != 0) & tiny_quotient)) & (none ^ 1);
    return none ? f32_of(NAN32) : r;
}
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

/* The scale is part of the one rounding, or denormal quotients would be rounded twice. */
static u32 div_fmas_rescaled_f32(f32 a, f32 b, f32 c, f32 one)
{
    const __float128 scale = EXP32(bits32(c)) > 127 ? 0x1p64 : 0x1p-64;
    return bits32((f32)(((__float128)a * b + c) * scale) * one);
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

/* v_div_fixup: the special cases of numerator (c) / denominator (b) around the quotient a. */
KERNEL_INLINE u32 div_fixup_f32(f32 a, f32 b, f32 c, f64 one)
{
    const u32 ub = bits32(b), uc = bits32(c), sign = (ub ^ uc) & SIGN32;
    const bool zero_b = b == 0, zero_c = c == 0;
    const bool inf_b = (ub & ~SIGN32) == INF32, inf_c = (uc & ~SIGN32) == INF32;
    const f32 least = (f32)(one * select64(sign, -0x1p-200, 0x1p-200));
    /* Newton steps that overflowed end in a NaN. */
    const f32 most = (f32)(one * select64(sign, -0x1p200, 0x1p200));
    u32 r = nan32(a) ? bits32(most) : (bits32(a) & ~SIGN32) | sign;
    r = (i32)(EXP32(uc) - EXP32(ub)) < -150 ? bits32(least) : r;
    r = inf_b | zero_c ? sign : r;
    r = zero_b | inf_c ? (INF32 | sign) : r;
    r = (zero_b & zero_c) | (inf_b & inf_c) ? NAN32 : r;
    r = nan32(b) ? (ub | 0x400000) : r;
    return nan32(c) ? (uc | 0x400000) : r;
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
