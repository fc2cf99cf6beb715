/* Integer operations. */
#include "valu/core_int.h"
#include "valu/define.h"
#include "valu/fetch.h"
#include "valu/tables.h"
#include "valu/vector.h"

PAIR_BODY2(V_LSHLREV_B64, vec_u64, true, b << (a & 63))
PAIR_BODY2(V_LSHRREV_B64, vec_u64, true, b >> (a & 63))
PAIR_BODY2(V_ASHRREV_I64, vec_i64, true, b >> (a & 63))
PAIR_BODY3(V_LSHL_ADD_U64, vec_u64, true, (a << (b & 7)) + c)

/*
 * Carry operations: sums with a carry in (c, ~0 where there is one: subtracting it adds one) and a
 * carry out, as lane masks: OUT's sign bits. What has a carry is out of range, so that clamp makes
 * it LIMIT.
 */
#define CARRY(NAME, SUM, OUT, LIMIT)                                                               \
    KERNEL_INLINE u64 NAME##_run(u32 *d_, const u32 *a_, const u32 *b_, u64 carry, const bool sa,  \
                                 const bool limited)                                               \
    {                                                                                              \
        const vec_u32 scalar = vector_splat(a_[0]), limit = vector_splat(LIMIT);                   \
        u64 result = 0;                                                                            \
        UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)                                  \
        {                                                                                          \
            const vec_u32 a = sa ? scalar : vector_load(a_ + l), b = vector_load(b_ + l);          \
            const vec_u32 c = vector_of_mask(carry, l);                                            \
            (void)c;                                                                               \
            const vec_u32 sum = (SUM), out = (vec_u32)(OUT);                                       \
            const vec_u32 beyond = (vec_u32)((vec_i32)out >> 31);                                  \
            const vec_u32 bounded = (sum & ~beyond) | (limit & beyond);                            \
            vector_store(d_ + l, limited ? bounded : sum);                                         \
            result |= mask_of_vector(out) << l;                                                    \
        }                                                                                          \
        return result;                                                                             \
    }                                                                                              \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        row_of_mask(m_, NAME##_run(d_, a_, b_, c_ ? mask_of_row(c_) : 0, false, false));           \
    }                                                                                              \
    static void NAME##_clamped_rows(KERNEL_ARGS)                                                   \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        row_of_mask(m_, NAME##_run(d_, a_, b_, c_ ? mask_of_row(c_) : 0, false, true));            \
    }                                                                                              \
    CARRY_FAST(NAME, vv, w->v[i->src[0].index], false)                                             \
    CARRY_FAST(NAME, sv, SCALAR_PTR(w, i->src[0]), true)
/* Source 2 is the carry of those that have one. */
#define CARRY_FAST(NAME, KIND, A_PTR, SA)                                                          \
    static const struct inst *NAME##_##KIND(struct wave *w, const struct inst *i)                  \
    {                                                                                              \
        u32 t[WAVE_LANES] __attribute__((aligned(64))), *d = w->v[i->dst.index];                   \
        const u64 exec = wave_exec(w), carry = mask_load(w, &i->src[2]);                           \
        const bool whole = exec == ~UINT64_C(0);                                                   \
        const u32 *b = w->v[i->src[1].index];                                                      \
        const u64 out = NAME##_run(whole ? d : t, A_PTR, b, carry, SA, false) & exec;              \
        if (!whole)                                                                                \
            row_store_masked(d, t, exec);                                                          \
        mask_store(w, &i->sdst, out);                                                              \
        return i + i->dwords;                                                                      \
    }
CARRY(V_ADD_CO_U32, a + b, sum < a, ~0u)
CARRY(V_SUB_CO_U32, a - b, a < b, 0u)
CARRY(V_SUBREV_CO_U32, b - a, b < a, 0u)
CARRY(V_ADDC_CO_U32, a + b - c, (a & b) | ((a | b) & ~sum), ~0u)
CARRY(V_SUBB_CO_U32, a - b + c, (~a & b) | ((~a | b) & sum), 0u)
CARRY(V_SUBBREV_CO_U32, b - a + c, (a & ~b) | ((a | ~b) & sum), 0u)

#if defined(__AVX2__)
/* A result's bytes from those of two neighbouring lanes' sources, which lie in one vector of bytes.
 * Of the selectors that are no byte's number, 12 gives zero, greater ones 0xff; signs, 8 to 11, go
 * lane by lane. */
KERNEL_INLINE __m256i permuted_bytes(__m256i a, __m256i b, __m256i select)
{
    const __m256i place = _mm256_set1_epi64x(0x0808080800000000), twelve = _mm256_set1_epi8(12);
    const __m256i above = _mm256_cmpeq_epi8(_mm256_max_epu8(select, twelve), select);
    const __m256i ones = _mm256_andnot_si256(_mm256_cmpeq_epi8(select, twelve), above);
    const __m256i from = _mm256_or_si256(_mm256_add_epi8(select, place), above);
    const __m256i low = _mm256_shuffle_epi8(_mm256_unpacklo_epi32(b, a), from);
    const __m256i high = _mm256_shuffle_epi8(_mm256_unpackhi_epi32(b, a), from);
    return _mm256_or_si256(_mm256_blend_epi32(low, high, 0xcc), ones);
}
KERNEL_INLINE void V_PERM_B32_body(KERNEL_ARGS, const bool sa)
{
    KERNEL_ENV;
    for (int l = 0; l < WAVE_LANES; l += 8) {
        const __m256i select = _mm256_load_si256((const __m256i *)(c_ + l));
        const __m256i sign =
            _mm256_cmpeq_epi8(_mm256_and_si256(select, _mm256_set1_epi8(-4)), _mm256_set1_epi8(8));
        const __m256i a =
            sa ? _mm256_set1_epi32((int)a_[0]) : _mm256_load_si256((const __m256i *)(a_ + l));
        const __m256i b = _mm256_load_si256((const __m256i *)(b_ + l));
        if (__builtin_expect(_mm256_testz_si256(sign, sign), 1))
            _mm256_store_si256((__m256i *)(d_ + l), permuted_bytes(a, b, select));
        else
            for (int k = l; k < l + 8; k++)
                d_[k] = permute_bytes(a_[sa ? 0 : k], b_[k], c_[k]);
    }
}
#else
BODY3(V_PERM_B32, u32, u32, u32, u32, permute_bytes(a, b, c))
#endif

/* d = a * b + c; returns the lanes whose sum overflows. */
KERNEL_INLINE u64 mad_u64_u32(u32 *d, const u32 *a_, const u32 *b_, const u32 *c_, const bool sa)
{
    u64 result = 0;
    for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {
        const struct vector_pair a = PAIR_SOURCE(a_, true, sa), b = PAIR_SOURCE(b_, true, false);
        const struct vector_pair c = pair_load(c_ + l);
        const struct vector_pair sum = {vector_product_u32(a.even, b.even) + c.even,
                                        vector_product_u32(a.odd, b.odd) + c.odd};
        result |= mask_of_vector(
                      dwords_of_masks((vec_u64)(sum.even < c.even), (vec_u64)(sum.odd < c.odd)))
                  << l;
        pair_store(d + l, sum);
    }
    return result;
}
static void V_MAD_U64_U32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    row_of_mask(m_, mad_u64_u32(d_, a_, b_, c_, false));
}
/* Whose addend is a register pair. */
KERNEL_INLINE const struct inst *mad_u64_u32_exec(struct wave *w, const struct inst *i,
                                                  const u32 *a, const bool sa)
{
    u32 t[2 * WAVE_LANES] __attribute__((aligned(64))), *d = w->v[i->dst.index];
    const u64 exec = wave_exec(w);
    const bool whole = exec == ~UINT64_C(0);
    const u64 out = mad_u64_u32(whole ? d : t, a, w->v[i->src[1].index], w->v[i->src[2].index], sa);
    for (int k = 0; !whole && k < 2; k++)
        row_store_masked(d + k * WAVE_LANES, t + k * WAVE_LANES, exec);
    mask_store(w, &i->sdst, out & exec);
    return i + i->dwords;
}
static const struct inst *V_MAD_U64_U32_vv(struct wave *w, const struct inst *i)
{
    return mad_u64_u32_exec(w, i, w->v[i->src[0].index], false);
}
static const struct inst *V_MAD_U64_U32_sv(struct wave *w, const struct inst *i)
{
    return mad_u64_u32_exec(w, i, SCALAR_PTR(w, i->src[0]), true);
}
static void V_MAD_I64_I32_rows(KERNEL_ARGS)
{
    KERNEL_ENV;
    LANES
    {
        const u64 c = LOAD_u64(c_, l);
        const u64 product = (u64)((i64)(i32)a_[l] * (i32)b_[l]);
        const u64 sum = product + c;
        /* It is signed overflow when both addends have the other sign than the sum. */
        m_[l] = (i64)((product ^ sum) & (c ^ sum)) < 0 ? ~0u : 0;
        STORE_u64(d_, l, sum);
    }
}

/* Four sums over a window of 4 bytes that slides through a by one byte. */
#define QSAD(NAME, SAD, FINISH)                                                                    \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        LANES                                                                                      \
        {                                                                                          \
            const u64 a = LOAD_u64(a_, l), c = LOAD_u64(c_, l);                                    \
            u64 r = 0;                                                                             \
            for (int n = 0; n < 4; n++) {                                                          \
                const u64 sum = SAD((u32)(a >> (8 * n)), b_[l]) + (c >> (16 * n) & 0xffff);        \
                r |= (u64)(u16)(FINISH) << (16 * n);                                               \
            }                                                                                      \
            STORE_u64(d_, l, r);                                                                   \
        }                                                                                          \
    }
QSAD(V_QSAD_PK_U16_U8, sad_u8, sum)
QSAD(V_QSAD_PK_U16_U8_clamped, sad_u8, clamp_u16((i64)sum))
QSAD(V_MQSAD_PK_U16_U8, msad_u8, sum)
QSAD(V_MQSAD_PK_U16_U8_clamped, msad_u8, clamp_u16((i64)sum))

#define MQSAD32(NAME, FINISH)                                                                      \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l++) {                                                     \
            const u64 a = LOAD_u64(a_, l);                                                         \
            u32 r[4];                                                                              \
            for (int n = 0; n < 4; n++) {                                                          \
                const u64 sum = msad_u8((u32)(a >> (8 * n)), b_[l]) + c_[n * WAVE_LANES + l];      \
                r[n] = FINISH;                                                                     \
            }                                                                                      \
            for (int n = 0; n < 4; n++)                                                            \
                d_[n * WAVE_LANES + l] = r[n];                                                     \
        }                                                                                          \
    }
MQSAD32(V_MQSAD_U32_U8, (u32)sum)
MQSAD32(V_MQSAD_U32_U8_clamped, clamp_u32(sum))

#undef CARRY
#define CARRY(NAME, FLAGS, C_DWORDS)
#include "valu/ops_int16.def"
#include "valu/ops_int32.def"

#include "valu/entries.h"
#undef CARRY
#define CARRY(NAME, FLAGS, C_DWORDS)                                                               \
    ENTRY(NAME, NAME, NAME##_clamped_rows, NAME##_vv, NAME##_sv,                                   \
          (FLAGS) | OPF_MASK_OUT | OPF_MASK_SELF | OPF_CLAMP_SELF, 1, 1, 1, C_DWORDS)
static const struct valu_op entries[] = {
#include "valu/ops_int16.def"
#include "valu/ops_int32.def"
};
const struct valu_table VALU(valu_table_int) = {entries, sizeof entries / sizeof entries[0]};
