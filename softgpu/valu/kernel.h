/*
 * From the definition of an operation on one lane to kernels over 64 lanes.
 *
 * A kernel reads rows and writes rows: a, b and c point at the first dword row of each source,
 * d at the destination; wider values continue in the next row, as register pairs do. Lanes are
 * independent and a destination may be one of the sources (also shifted by a register), so a
 * kernel loads all of a lane before it stores any of it.
 */
#ifndef VALU_KERNEL_H
#define VALU_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "isa_ops.h"
#include "valu/valu.h"
#include "wave/wave.h"

#define VALU_PASTE2(a, b) a##_##b
#define VALU_PASTE(a, b)  VALU_PASTE2(a, b)
#define VALU(name)        VALU_PASTE(name, VALU_ISA)

#define KERNEL_INLINE static inline __attribute__((always_inline))
#define LANES         _Pragma("GCC ivdep") for (int l = 0; l < WAVE_LANES; l++)

typedef uint32_t u32;
typedef int32_t i32;
typedef uint64_t u64;
typedef int64_t i64;
typedef uint16_t u16;
typedef int16_t i16;
typedef float f32;
typedef double f64;

KERNEL_INLINE f32 f32_of(u32 x)
{
    f32 f;
    memcpy(&f, &x, 4);
    return f;
}
KERNEL_INLINE u32 bits32(f32 x)
{
    u32 u;
    memcpy(&u, &x, 4);
    return u;
}
KERNEL_INLINE f64 f64_of(u64 x)
{
    f64 f;
    memcpy(&f, &x, 8);
    return f;
}
KERNEL_INLINE u64 bits64(f64 x)
{
    u64 u;
    memcpy(&u, &x, 8);
    return u;
}

/* Loads and stores of one lane by type. */
#define LOAD_u32(p, l) ((u32)(p)[l])
#define LOAD_i32(p, l) ((i32)(p)[l])
#define LOAD_f32(p, l) f32_of((p)[l])
#define LOAD_u16(p, l) ((u16)(p)[l])
#define LOAD_i16(p, l) ((i16)(p)[l])
#define LOAD_u64(p, l) ((u64)(p)[l] | (u64)(p)[(l) + WAVE_LANES] << 32)
#define LOAD_i64(p, l) ((i64)LOAD_u64(p, l))
#define LOAD_f64(p, l) f64_of(LOAD_u64(p, l))

/* A scalar source, whose dwords lie side by side. */
#define SCALAR_u32(p) LOAD_u32(p, 0)
#define SCALAR_i32(p) LOAD_i32(p, 0)
#define SCALAR_f32(p) LOAD_f32(p, 0)
#define SCALAR_u16(p) LOAD_u16(p, 0)
#define SCALAR_i16(p) LOAD_i16(p, 0)
#define SCALAR_u64(p) ((u64)(p)[0] | (u64)(p)[1] << 32)
#define SCALAR_i64(p) ((i64)SCALAR_u64(p))
#define SCALAR_f64(p) f64_of(SCALAR_u64(p))

#define STORE_u32(p, l, x) ((p)[l] = (u32)(x))
#define STORE_i32(p, l, x) ((p)[l] = (u32)(x))
#define STORE_f32(p, l, x) ((p)[l] = bits32(x))
#define STORE_u16(p, l, x) ((p)[l] = (u16)(x))
#define STORE_i16(p, l, x) ((p)[l] = (u16)(x))
#define STORE_u64(p, l, x)                                                                         \
    do {                                                                                           \
        const u64 wide_ = (u64)(x);                                                                \
        (p)[l] = (u32)wide_;                                                                       \
        (p)[(l) + WAVE_LANES] = (u32)(wide_ >> 32);                                                \
    } while (0)
#define STORE_i64(p, l, x) STORE_u64(p, l, x)
#define STORE_f64(p, l, x) STORE_u64(p, l, bits64(x))

#define DWORDS_u32 1
#define DWORDS_i32 1
#define DWORDS_f32 1
#define DWORDS_u16 1
#define DWORDS_i16 1
#define DWORDS_u64 2
#define DWORDS_i64 2
#define DWORDS_f64 2

KERNEL_INLINE void fp_switch(u32 from, u32 to)
{
    /* Kernels load from memory and store to memory, so the two fences pin their arithmetic
     * between the switches. */
    __asm__ volatile("" ::: "memory");
    if (__builtin_expect(from != to, 0))
        __builtin_ia32_ldmxcsr(to);
    __asm__ volatile("" ::: "memory");
}

/* The host state an operation wants: f16 is computed in f32, whose denormals must then survive. */
KERNEL_INLINE u32 fp_wanted(const struct wave *w, u32 flags)
{
    if (flags & OPF_STATE16)
        return w->fp_state_64 & ~(u32)MXCSR_FLUSH;
    if (flags & OPF_FLUSH32)
        return w->fp_state_32 | MXCSR_FLUSH;
    return flags & OPF_STATE64 ? w->fp_state_64 : w->fp_state_32;
}
#define FP_BEGIN(w, flags)                                                                         \
    if ((flags)&OPF_STATES)                                                                        \
    fp_switch((w)->fp_state_32, fp_wanted(w, flags))
#define FP_END(w, flags)                                                                           \
    if ((flags)&OPF_STATES)                                                                        \
    fp_switch(fp_wanted(w, flags), (w)->fp_state_32)

#define KERNEL_ARGS                                                                                \
    u32 *d_, u32 *m_, const u32 *a_, const u32 *b_, const u32 *c_, const struct wave *w
#define KERNEL_ENV                                                                                 \
    const struct lane_env e = env_of(w);                                                           \
    (void)m_, (void)a_, (void)b_, (void)c_, (void)e

/*
 * What definitions may need besides their operands; unused members cost nothing. Conditions are
 * masks (0 or ~0), because GCC widens a bool into a vector bit by bit.
 */
struct lane_env {
    u32 number32; /* a NaN with one of these bits set loses against a number in min
                     and max: all bits, or with MODE.IEEE the quiet bit */
    u64 number64;
    u32 nearest; /* f16 and f64 round to nearest even */
    u32 flush32_in;
    u32 flush16_in, flush16_out; /* f64 too */
    u32 bounded16;               /* f16 that is too large becomes the largest (FP16_OVFL) */
    f32 one32;                   /* 1.0 in disguise: x * one32 is not folded to x, so it flushes
                                    and quiets as MXCSR says */
    f64 one64;
};
KERNEL_INLINE struct lane_env env_of(const struct wave *w)
{
    const bool ieee = w->mode & MODE_IEEE;
    u32 one32 = 0x3f800000;
    u64 one64 = UINT64_C(0x3ff0000000000000);
    __asm__("" : "+r"(one32), "+r"(one64));
    return (struct lane_env){
        .number32 = ieee ? UINT32_C(1) << 22 : ~UINT32_C(0),
        .number64 = ieee ? UINT64_C(1) << 51 : ~UINT64_C(0),
        .nearest = (w->mode >> MODE_ROUND_64_SHIFT & 3) ? 0 : ~0u,
        .flush32_in = (w->mode >> MODE_DENORM_32_SHIFT & 1) - 1,
        .flush16_in = (w->mode >> MODE_DENORM_64_SHIFT & 1) - 1,
        .flush16_out = (w->mode >> MODE_DENORM_64_SHIFT >> 1 & 1) - 1,
        .bounded16 = w->mode & MODE_FP16_OVFL ? ~0u : 0,
        .one32 = f32_of(one32),
        .one64 = f64_of(one64),
    };
}

/* The body of an operation; `sa`: the first source is one scalar for all lanes. */
#define BODY1(NAME, D, A, EXPR)                                                                    \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const A scalar_ = SCALAR_##A(a_);                                                          \
        LANES                                                                                      \
        {                                                                                          \
            const A a = sa ? scalar_ : LOAD_##A(a_, l);                                            \
            const D r_ = (D)(EXPR);                                                                \
            STORE_##D(d_, l, r_);                                                                  \
        }                                                                                          \
    }
#define BODY2(NAME, D, A, B, EXPR)                                                                 \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const A scalar_ = SCALAR_##A(a_);                                                          \
        LANES                                                                                      \
        {                                                                                          \
            const A a = sa ? scalar_ : LOAD_##A(a_, l);                                            \
            const B b = LOAD_##B(b_, l);                                                           \
            const D r_ = (D)(EXPR);                                                                \
            STORE_##D(d_, l, r_);                                                                  \
        }                                                                                          \
    }
#define BODY3(NAME, D, A, B, C, EXPR)                                                              \
    KERNEL_INLINE void NAME##_body(KERNEL_ARGS, const bool sa)                                     \
    {                                                                                              \
        KERNEL_ENV;                                                                                \
        const A scalar_ = SCALAR_##A(a_);                                                          \
        LANES                                                                                      \
        {                                                                                          \
            const A a = sa ? scalar_ : LOAD_##A(a_, l);                                            \
            const B b = LOAD_##B(b_, l);                                                           \
            const C c = LOAD_##C(c_, l);                                                           \
            const D r_ = (D)(EXPR);                                                                \
            STORE_##D(d_, l, r_);                                                                  \
        }                                                                                          \
    }

/* The same with signs applied to f32 sources on their way, C_BITS: those of the third one. */
#define SIGNED_BODY(NAME, C_BITS, RESULT)                                                          \
    static void NAME##_with_signs(u32 *d_, const u32 *a_, const u32 *b_, const u32 *c_,            \
                                  const struct wave *w, const struct source_signs *s_)             \
    {                                                                                              \
        const struct lane_env e = env_of(w);                                                       \
        const struct source_signs signs_ = *s_, *const s = &signs_; /* nothing stored is it */     \
        (void)e, (void)c_;                                                                         \
        LANES                                                                                      \
        {                                                                                          \
            const f32 a = f32_of((a_[l] & s->keep[0]) ^ s->flip[0]);                               \
            const f32 b = f32_of((b_[l] & s->keep[1]) ^ s->flip[1]);                               \
            const f32 c = f32_of(C_BITS);                                                          \
            (void)c;                                                                               \
            d_[l] = RESULT;                                                                        \
        }                                                                                          \
    }

/* The kernel the general handlers call through the table. */
#define ROWS(NAME)                                                                                 \
    static void NAME##_rows(KERNEL_ARGS)                                                           \
    {                                                                                              \
        NAME##_body(d_, m_, a_, b_, c_, w, false);                                                 \
    }

/* Specialised handlers: no modifiers; vv: all sources VGPRs, sv: the first one scalar. */
#define FAST_RUN(NAME, FLAGS, DDWORDS, A_PTR, B_PTR, C_PTR, SA)                                    \
    u32 *d = w->v[i->dst.index];                                                                   \
    FP_BEGIN(w, FLAGS);                                                                            \
    if ((FLAGS)&OPF_KEEP_HIGH) {                                                                   \
        u32 t[WAVE_LANES] __attribute__((aligned(64)));                                            \
        NAME##_body(t, NULL, A_PTR, B_PTR, C_PTR, w, SA);                                          \
        if (__builtin_expect(wave_exec(w) == ~UINT64_C(0), 1))                                     \
            LANES d[l] = (t[l] & 0xffff) | (d[l] & 0xffff0000);                                    \
        else                                                                                       \
            row_store_low(d, t, wave_exec(w));                                                     \
    } else if (__builtin_expect(wave_exec(w) == ~UINT64_C(0), 1)) {                                \
        NAME##_body(d, NULL, A_PTR, B_PTR, C_PTR, w, SA);                                          \
    } else {                                                                                       \
        u32 t[(DDWORDS)*WAVE_LANES] __attribute__((aligned(64)));                                  \
        NAME##_body(t, NULL, A_PTR, B_PTR, C_PTR, w, SA);                                          \
        for (int k = 0; k < (DDWORDS); k++)                                                        \
            row_store_masked(d + k * WAVE_LANES, t + k * WAVE_LANES, wave_exec(w));                \
    }                                                                                              \
    FP_END(w, FLAGS);                                                                              \
    return i + i->dwords;

#define SCALAR_PTR(w, o) ((o).kind == OPND_SREG ? &(w)->s[(o).index] : (const u32 *)&(o).value)

#define FAST1(NAME, FLAGS, DD)                                                                     \
    static const struct inst *NAME##_vv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        FAST_RUN(NAME, FLAGS, DD, w->v[i->src[0].index], NULL, NULL, false)                        \
    }                                                                                              \
    static const struct inst *NAME##_sv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        FAST_RUN(NAME, FLAGS, DD, SCALAR_PTR(w, i->src[0]), NULL, NULL, true)                      \
    }
#define FAST2(NAME, FLAGS, DD)                                                                     \
    static const struct inst *NAME##_vv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        FAST_RUN(NAME, FLAGS, DD, w->v[i->src[0].index], w->v[i->src[1].index], NULL, false)       \
    }                                                                                              \
    static const struct inst *NAME##_sv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        FAST_RUN(NAME, FLAGS, DD, SCALAR_PTR(w, i->src[0]), w->v[i->src[1].index], NULL, true)     \
    }
/* Accumulating operations (fmac) read their destination as the third source. */
#define FAST3_C(FLAGS) w->v[(FLAGS)&OPF_ACCUMULATE ? i->dst.index : i->src[2].index]
#define FAST3(NAME, FLAGS, DD)                                                                     \
    static const struct inst *NAME##_vv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        FAST_RUN(NAME, FLAGS, DD, w->v[i->src[0].index], w->v[i->src[1].index], FAST3_C(FLAGS),    \
                 false)                                                                            \
    }                                                                                              \
    static const struct inst *NAME##_sv(struct wave *w, const struct inst *i)                      \
    {                                                                                              \
        FAST_RUN(NAME, FLAGS, DD, SCALAR_PTR(w, i->src[0]), w->v[i->src[1].index], FAST3_C(FLAGS), \
                 true)                                                                             \
    }

#endif
