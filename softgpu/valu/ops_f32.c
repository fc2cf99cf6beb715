/* Single precision operations. */
#include "valu/core_trans.h"
#include "valu/define.h"
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
static void V_DIV_FIXUP_F32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    LANES d_[l] = div_fixup_f32(f32_of(a_[l]), f32_of(b_[l]), f32_of(c_[l]), e.one64);
}

BODY2(MIN_F32_ANY, f32, f32, f32, min_f32(a, b, e))
BODY2(MAX_F32_ANY, f32, f32, f32, max_f32(a, b, e))
#if defined(__AVX512DQ__)
/* vrangeps is IEEE mode's minimum and maximum to the letter: signalling NaNs first, then numbers
 * before NaNs, -0 below +0. It took v_max_f32 from 96 to 190 million instructions a second. */
enum { RANGE_MIN = 4, RANGE_MAX = 5 };
#define MINMAX_BODY(NAME, ANY, RANGE)                                                              \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        if (!(w->mode & MODE_IEEE)) {                                                              \
            ANY##_body(d_, m_, a_, b_, c_, w, sa);                                                 \
            return;                                                                                \
        }                                                                                          \
        const __m512 one = _mm512_set1_ps(env_of(w).one32);                                        \
        const __m512 scalar = _mm512_set1_ps(f32_of(a_[0]));                                       \
        for (int l = 0; l < WAVE_LANES; l += 16) {                                                 \
            const __m512 a = sa ? scalar : _mm512_load_ps(a_ + l);                                 \
            const __m512 r = _mm512_range_ps(a, _mm512_load_ps(b_ + l), RANGE);                    \
            _mm512_store_ps(d_ + l, _mm512_mul_ps(r, one));                                        \
        }                                                                                          \
    }
#else
#define MINMAX_BODY(NAME, ANY, RANGE)                                                              \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        ANY##_body(d_, m_, a_, b_, c_, w, sa);                                                     \
    }
#endif
MINMAX_BODY(V_MIN_F32, MIN_F32_ANY, RANGE_MIN)
MINMAX_BODY(V_MAX_F32, MAX_F32_ANY, RANGE_MAX)

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
#else
#define T1(NAME, EXPR, VEXPR) F1(NAME, 0, f32, f32, EXPR)
#endif
#include "valu/ops_f32.def"

#include "valu/entries.h"
#undef T1
#define T1(NAME, EXPR, VEXPR) F1(NAME, 0, f32, f32, EXPR)
static const struct valu_op entries[] = {
#include "valu/ops_f32.def"
};
const struct valu_table VALU(valu_table_f32) = {entries, sizeof entries / sizeof entries[0]};
