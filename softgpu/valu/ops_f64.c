/* Double precision operations. */
#include "valu/core_div.h"
#include "valu/core_float.h"
#include "valu/define.h"
#include "valu/order_vector.h"
#include "valu/simd.h"
#include "valu/tables.h"
#include "valu/vector.h"

#define SIGNED_PAIRS2(NAME, EXPR) PAIR_BODY2(NAME, vec_f64, false, EXPR) PAIR_SIGNED(NAME, pa, EXPR)
#define SIGNED_PAIRS3(NAME, EXPR)                                                                  \
    PAIR_BODY3(NAME, vec_f64, false, EXPR) PAIR_SIGNED(NAME, PAIR_SIGNS(c_, 2), EXPR)
SIGNED_PAIRS2(V_ADD_F64, a + b)
SIGNED_PAIRS2(V_MUL_F64, a *b)
SIGNED_PAIRS3(V_FMA_F64, vector_fma_f64(a, b, c))
SIGNED_PAIRS3(V_FMAC_F64, vector_fma_f64(a, b, c))

#if defined(HAVE_ORDER_VECTORS)
ORDER_F64(V_MIN_F64, least_f64, min_f64(a, b, e))
ORDER_F64(V_MAX_F64, most_f64, max_f64(a, b, e))
#else
BODY2(V_MIN_F64, f64, f64, f64, min_f64(a, b, e))
BODY2(V_MAX_F64, f64, f64, f64, max_f64(a, b, e))
#endif

#if defined(__AVX512F__)
/* As V_LDEXP_F32. */
KERNEL_INLINE void V_LDEXP_F64_body(KERNEL_ARGS, const bool sa)
{
    KERNEL_ENV;
    for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {
        const struct vector_pair a = PAIR_SOURCE(a_, false, sa);
        const vec_u32 n = vector_load(b_ + l);
        const __m512i even = _mm512_srai_epi64(_mm512_slli_epi64((__m512i)n, 32), 32);
        const __m512i odd = _mm512_srai_epi64((__m512i)n, 32);
        const struct vector_pair r = {
            (vec_u64)_mm512_scalef_pd((__m512d)a.even, _mm512_cvtepi64_pd(even)),
            (vec_u64)_mm512_scalef_pd((__m512d)a.odd, _mm512_cvtepi64_pd(odd))};
        pair_store(d_ + l, r);
    }
}
#else
BODY2(V_LDEXP_F64, f64, f64, i32, ldexp_f64(a, b))
#endif

/* As div_scale_may_need() of f32, by the high dwords. */
KERNEL_INLINE u32 div_scale_f64_may_need(u32 b, u32 c)
{
    const u32 eb = b >> 20 & 0x7ff, ec = c >> 20 & 0x7ff;
    /* ec - eb in [-1000, 767], eb in [1, 2044], ec in [54, 2046] */
    const bool far = ((ec - eb + 1000) > 1767) | (eb - 1 > 2043) | (ec - 54 > 1992);
    return 0u - (u32)far;
}
static void V_DIV_SCALE_F64_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    u32 some = 0;
    LANES some |= div_scale_f64_may_need(b_[WAVE_LANES + l], c_[WAVE_LANES + l]);
    if (!some) {
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) { /* D may share a row with A */
            const vec_u32 low = vector_load(a_ + l), high = vector_load(a_ + WAVE_LANES + l);
            vector_store(d_ + l, low);
            vector_store(d_ + WAVE_LANES + l, high);
        }
        row_fill(m_, 0);
        return;
    }
    LANES
    {
        bool rescale;
        const f64 r = div_scale_f64(LOAD_f64(a_, l), LOAD_f64(b_, l), LOAD_f64(c_, l), &rescale);
        m_[l] = rescale ? ~0u : 0;
        STORE_f64(d_, l, r);
    }
}

static void V_DIV_FMAS_F64_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    f64 r[WAVE_LANES] __attribute__((aligned(64)));
    u32 any = 0;
    LANES r[l] = fma_f64(LOAD_f64(a_, l), LOAD_f64(b_, l), LOAD_f64(c_, l));
    LANES any |= m_[l];
    for (int l = 0; any && l < WAVE_LANES; l++)
        if (m_[l])
            r[l] =
                div_fmas_rescaled_f64(LOAD_f64(a_, l), LOAD_f64(b_, l), LOAD_f64(c_, l), e.one64);
    LANES STORE_f64(d_, l, r[l]);
}

/* As div_fixup_may_change() of f32, by the high dwords; infinite quotients count as special. */
KERNEL_INLINE u32 div_fixup_f64_may_change(u32 a, u32 b, u32 c)
{
    const u32 eb = b >> 20 & 0x7ff, ec = c >> 20 & 0x7ff;
    const bool special = (eb - 1 > 2045) | (ec - 1 > 2045) | ((i32)(ec - eb) < -1075) |
                         ((a & ~SIGN32) >= 0x7ff00000);
    return 0u - (u32)special;
}
static void V_DIV_FIXUP_F64_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    const u32 *ah = a_ + WAVE_LANES, *bh = b_ + WAVE_LANES, *ch = c_ + WAVE_LANES;
    u32 some = 0;
    LANES some |= div_fixup_f64_may_change(ah[l], bh[l], ch[l]);
    if (!some) {
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) { /* D may be a pair of sources' rows */
            const vec_u32 low = vector_load(a_ + l), high = vector_load(ah + l) & ~SIGN32;
            const vec_u32 sign = (vector_load(bh + l) ^ vector_load(ch + l)) & SIGN32;
            vector_store(d_ + l, low);
            vector_store(d_ + WAVE_LANES + l, high | sign);
        }
        return;
    }
    LANES
    {
        const u64 r = div_fixup_f64(LOAD_f64(a_, l), LOAD_f64(b_, l), LOAD_f64(c_, l), e.one64);
        STORE_u64(d_, l, r);
    }
}

/* The first 1201 bits of 2/pi after the binary point, most significant first. */
static const u32 two_over_pi[] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b0000,
};
static u64 two_over_pi_bits(u32 first, u32 count)
{
    u64 bits = 0;
    for (u32 n = first; n < first + count; n++) {
        const u32 word = n / 32 < sizeof two_over_pi / 4 ? two_over_pi[n / 32] : 0;
        bits = bits << 1 | (word >> (31 - n % 32) & 1);
    }
    return bits;
}
/* 53 bits of 2/pi, chosen by a's exponent and the segment number b: argument reduction. */
static void V_TRIG_PREOP_F64_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    for (int l = 0; l < WAVE_LANES; l++) {
        const u32 exponent = EXP64(LOAD_u64(a_, l));
        const u32 shift = (b_[l] & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
        const i32 scale = -53 - (i32)shift + (exponent >= 1968 ? 128 : 0);
        const f64 r = ldexp_f64((f64)two_over_pi_bits(shift, 53), scale);
        STORE_f64(d_, l, r);
    }
}

#include "valu/ops_f64.def"

#include "valu/entries.h"
static const struct valu_op entries[] = {
#include "valu/ops_f64.def"
};
const struct valu_table VALU(valu_table_f64) = {entries, sizeof entries / sizeof entries[0]};
