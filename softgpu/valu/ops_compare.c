/* Comparisons: kernels leave 0 or ~0 in each lane, handlers make a lane mask of it. */
#include "valu/half.h"
#include "valu/tables.h"

/* A half as an f32 of the same order and equality classes. */
#define LOAD_h16(p, l) half_value((u16)(p)[l], e.flush16_in)
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

#define CMP(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                           \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const u32 scalar_ = a_[0];                                                                 \
        LANES                                                                                      \
        {                                                                                          \
            const A a = LOAD_##A(sa ? &scalar_ : a_, sa ? 0 : l);                                  \
            const B b = LOAD_##B(b_, l);                                                           \
            UNUSED_A;                                                                              \
            UNUSED_B;                                                                              \
            d_[l] = (COND) ? ~0u : 0;                                                              \
        }                                                                                          \
    }                                                                                              \
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
        COMPARE_RUN(NAME, FLAGS, SCALAR_PTR(w, i->src[0]), DWORDS_##A == 1)                        \
    }
#include "valu/ops_compare.def"

#undef CMP
#define CMP(NAME, FLAGS, A, B, UNUSED_A, UNUSED_B, COND)                                           \
    {.op = OP_V_CMP_##NAME,                                                                        \
     .dwords = {0, DWORDS_##A, DWORDS_##B},                                                        \
     .flags = (FLAGS) | OPF_COMPARE,                                                               \
     .kernel = NAME##_rows,                                                                        \
     .vv = NAME##_vv,                                                                              \
     .sv = NAME##_sv},                                                                             \
        {.op = OP_V_CMPX_##NAME,                                                                   \
         .dwords = {0, DWORDS_##A, DWORDS_##B},                                                    \
         .flags = (FLAGS) | OPF_COMPARE | OPF_WRITE_EXEC,                                          \
         .kernel = NAME##_rows},
static const struct valu_op entries[] = {
#include "valu/ops_compare.def"
};
const struct valu_table VALU(valu_table_compare) = {entries, sizeof entries / sizeof entries[0]};
