/* Comparisons: kernels leave 0 or ~0 in each lane, handlers make a lane mask of it. */
#include "valu/half.h"
#include "valu/tables.h"
#include "valu/vector.h"

/* A half as an f32 of the same order and equality classes. */
#define LOAD_h16(p, l) half_value((u16)(p)[l], e.flush16_in)
#define SCALAR_h16(p)  LOAD_h16(p, 0)
#define DWORDS_h16     1
typedef f32 h16;

KERNEL_INLINE f32 half_value(u32 h, u32 flush)
{
    const u32 m = h & 0x7fff;
    const f32 f = f32_of(m << 13) * 0x1p112f;
    const u32 finite = m < 0x400 ? bits32(f) & ~flush : bits32(f);
    return f32_of((m >= 0x7c00 ? (m << 13 | INF32) : finite) | (h & 0x8000) << 16);
}

#define COMPARE_RUN(NAME, FLAGS, A_PTR, SA)                                                        \
    u32 t[WAVE_LANES] __attribute__((aligned(64)));                                                \
    FP_BEGIN(w, FLAGS);                                                                            \
    NAME##_body(t, NULL, A_PTR, w->v[i->src[1].index], NULL, w, SA);                               \
    FP_END(w, FLAGS);                                                                              \
    const u64 mask = mask_of_row(t) & wave_exec(w);                                                \
    memcpy(&w->s[i->sdst.index], &mask, sizeof mask);                                              \
    return i + i->dwords;

#define COMPARE_HANDLERS(NAME, FLAGS)                                                              \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        NAME##_body(d_, m_, a_, b_, c_, w, false);                                                 \
    }                                                                                              \
    static const struct inst *NAME##_vv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        COMPARE_RUN(NAME, FLAGS, w->v[i->src[0].index], false)                                     \
    }                                                                                              \
    static const struct inst *NAME##_sv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        COMPARE_RUN(NAME, FLAGS, SCALAR_PTR(w, i->src[0]), true)                                   \
    }

#define CMP(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                           \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const A scalar_ = SCALAR_##A(a_);                                                          \
        LANES                                                                                      \
        {                                                                                          \
            const A a = sa ? scalar_ : LOAD_##A(a_, l);                                            \
            const B b = LOAD_##B(b_, l);                                                           \
            UNUSED_A;                                                                              \
            UNUSED_B;                                                                              \
            d_[l] = (COND) ? ~0u : 0;                                                              \
        }                                                                                          \
    }                                                                                              \
    COMPARE_HANDLERS(NAME, FLAGS)

/* Of f32: also with signs, for sources that are negated or made absolute. */
#define CMP_SIGNED(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                    \
    CMP(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND) SIGNED_BODY(NAME, 0, (COND) ? ~0u : 0)

/* Integers of two dwords: 64-bit comparisons would first want the rows as pairs. */
#define CMP_WIDE(NAME, T, H, COND)                                                                 \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const u32 low_ = a_[0], high_ = a_[sa ? 1 : 0];                                            \
        LANES                                                                                      \
        {                                                                                          \
            const u32 al = sa ? low_ : a_[l], bl = b_[l];                                          \
            const u32 ah = sa ? high_ : a_[l + WAVE_LANES], bh = b_[l + WAVE_LANES];               \
            const u32 less = ((H)ah < (H)bh) | ((ah == bh) & (al < bl));                           \
            const u32 equal = (ah == bh) & (al == bl);                                             \
            (void)less, (void)equal;                                                               \
            d_[l] = (COND) ? ~0u : 0;                                                              \
        }                                                                                          \
    }                                                                                              \
    COMPARE_HANDLERS(NAME, 0)

/* Doubles by vectors; COND has neither && nor !, which vectors do not know. */
#define F64_MASKS(COND)                                                                            \
    vec_u64 masks[2];                                                                              \
    UNROLL for (int n = 0; n < 2; n++)                                                             \
    {                                                                                              \
        const vec_f64 a = (vec_f64)(n ? pa.odd : pa.even), b = (vec_f64)(n ? pb.odd : pb.even);    \
        masks[n] = (vec_u64)(COND);                                                                \
    }                                                                                              \
    vector_store(d_ + l, dwords_of_masks(masks[0], masks[1]));
#define CMP_F64(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                       \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const struct vector_pair pa = PAIR_SOURCE(a_, false, sa), pb = pair_load(b_ + l);      \
            F64_MASKS(COND)                                                                        \
        }                                                                                          \
    }                                                                                              \
    static void NAME##_with_signs(u32 *d_, const u32 *a_, const u32 *b_, const u32 *c_,            \
                                  const struct wave *w, const struct source_signs *s)              \
    {                                                                                              \
        (void)c_, (void)w;                                                                         \
        for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES) {                                       \
            const struct vector_pair pa = PAIR_SIGNS(a_, 0), pb = PAIR_SIGNS(b_, 1);               \
            F64_MASKS(COND)                                                                        \
        }                                                                                          \
    }                                                                                              \
    COMPARE_HANDLERS(NAME, FLAGS)
#include "valu/ops_compare.def"

#undef CMP
#undef CMP_SIGNED
#undef CMP_WIDE
#undef CMP_F64
#define COMPARE_ENTRY(NAME, FLAGS, A, B, SIGNS)                                                    \
    {.op = OP_V_CMP_##NAME,                                                                        \
     .dwords = {0, DWORDS_##A, DWORDS_##B},                                                        \
     .flags = (FLAGS) | OPF_COMPARE,                                                               \
     .kernel = NAME##_rows,                                                                        \
     .with_signs = SIGNS,                                                                          \
     .vv = NAME##_vv,                                                                              \
     .sv = NAME##_sv},                                                                             \
        {.op = OP_V_CMPX_##NAME,                                                                   \
         .dwords = {0, DWORDS_##A, DWORDS_##B},                                                    \
         .flags = (FLAGS) | OPF_COMPARE | OPF_WRITE_EXEC,                                          \
         .kernel = NAME##_rows,                                                                    \
         .with_signs = SIGNS},
#define CMP(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND) COMPARE_ENTRY(NAME, FLAGS, A, B, NULL)
#define CMP_WIDE(NAME, T, H, COND)                       COMPARE_ENTRY(NAME, 0, T, T, NULL)
#define CMP_SIGNED(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                    \
    COMPARE_ENTRY(NAME, FLAGS, A, B, NAME##_with_signs)
#define CMP_F64(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                       \
    COMPARE_ENTRY(NAME, FLAGS, A, B, NAME##_with_signs)
static const struct valu_op entries[] = {
#include "valu/ops_compare.def"
};
const struct valu_table VALU(valu_table_compare) = {entries, sizeof entries / sizeof entries[0]};
