/*
 * gfx942's matrix instructions whose sums are fused (mfma_fused.h): of f16, bf16, xf32 and 8-bit
 * floats. Registers are laid out as mfma.c says.
 */
#include "valu/mfma_any.h"
#include "valu/mfma_elements.h"

enum { QUADS_MAX = 8 };

#define MFMA(OP, M, K, BLOCKS, TYPE, PER_LANE)                                                     \
    [OP_V_MFMA_##OP] = {M, K, BLOCKS, FUSED_##TYPE, PER_LANE}
#define MFMA8(OP, M, K, WIDE_A, WIDE_B) [OP_V_MFMA_##OP] = {M, K, 1, FUSED_F8, 8, WIDE_A, WIDE_B}
static const struct mfma fused[OP_COUNT] = {
    MFMA(F32_32X32X4_2B_F16, 32, 4, 2, F16, 4),
    MFMA(F32_16X16X4_4B_F16, 16, 4, 4, F16, 4),
    MFMA(F32_4X4X4_16B_F16, 4, 4, 16, F16, 4),
    MFMA(F32_32X32X8_F16, 32, 8, 1, F16, 4),
    MFMA(F32_16X16X16_F16, 16, 16, 1, F16, 4),
    MFMA(F32_32X32X4_2B_BF16, 32, 4, 2, BF16, 4),
    MFMA(F32_16X16X4_4B_BF16, 16, 4, 4, BF16, 4),
    MFMA(F32_4X4X4_16B_BF16, 4, 4, 16, BF16, 4),
    MFMA(F32_32X32X8_BF16, 32, 8, 1, BF16, 4),
    MFMA(F32_16X16X16_BF16, 16, 16, 1, BF16, 4),
    MFMA(F32_16X16X8_XF32, 16, 8, 1, XF32, 2),
    MFMA(F32_32X32X4_XF32, 32, 4, 1, XF32, 2),
    MFMA8(F32_16X16X32_BF8_BF8, 16, 32, true, true),
    MFMA8(F32_16X16X32_BF8_FP8, 16, 32, true, false),
    MFMA8(F32_16X16X32_FP8_BF8, 16, 32, false, true),
    MFMA8(F32_16X16X32_FP8_FP8, 16, 32, false, false),
    MFMA8(F32_32X32X16_BF8_BF8, 32, 16, true, true),
    MFMA8(F32_32X32X16_BF8_FP8, 32, 16, true, false),
    MFMA8(F32_32X32X16_FP8_BF8, 32, 16, false, true),
    MFMA8(F32_32X32X16_FP8_FP8, 32, 16, false, false),
};

/* What an instruction works on, and what is found out about it. */
struct matrices {
    struct elements a, b;
    struct fused_scale scale;
    int steps, most; /* for each lane; of both exponents */
    u32 lowest_a, lowest_b;
    bool finite;
    bool exponents, plain; /* whether they have been found, and f32 holds all products then */
    bool rows;             /* whether elements are there as f32 */
    bool wide_a, wide_b;
};

/* Bytes; returns the exponent that they are beyond: of a format's largest field, or of the matrix'
 * where there are many, as f32 has it. */
KERNEL_INLINE int matrix_bytes_load(struct elements *e, struct matrices *x, struct matrix m,
                                    const u32 *rows, const struct format f, const bool quads)
{
    if (__builtin_expect(!m.finite, 0))
        m.most = rows_special(e, rows, f) - format_zero(f);
    x->most += m.most + format_zero(f);
    const int most = format_short(f) ? format_most(f) : m.most < 1 ? 1 : m.most;
    bytes_load(e, most, f, quads);
    if (__builtin_expect(!m.finite, 0))
        bytes_special(e, x->steps, quads);
    x->finite &= m.finite;
    return most + format_zero(f);
}
KERNEL_INLINE void matrices_load(struct matrices *x, const struct mfma *shape, const u32 *a,
                                 const u32 *b, const enum fused_type type)
{
    const struct format of_a = {type, shape->wide_a}, of_b = {type, shape->wide_b};
    const struct matrix ma = fields_load(&x->a, a, of_a), mb = fields_load(&x->b, b, of_b);
    const bool whole = matrix_is_whole(ma, of_a) && matrix_is_whole(mb, of_b);
    x->steps = type_steps(type);
    x->lowest_a = (u32)format_zero(of_a) + 1;
    x->lowest_b = (u32)format_zero(of_b) + 1;
    x->most = 0;
    x->finite = true;
    x->exponents = false;
    x->rows = !whole;
    x->wide_a = shape->wide_a;
    x->wide_b = shape->wide_b;
    if (whole) {
        pairs_load(&x->a, a, of_a, ma.least);
        pairs_load(&x->b, b, of_b, mb.least);
    } else {
        elements_load(&x->a, a, of_a);
        elements_load(&x->b, b, of_b);
    }
    const int above_a = matrix_bytes_load(&x->a, x, ma, a, of_a, true);
    const int above_b = matrix_bytes_load(&x->b, x, mb, b, of_b, false);
    x->scale = fused_scale_of(above_a + above_b, x->most, format_short(of_a));
    x->scale.whole = whole;
    x->scale.near = ma.least + mb.least + format_zero(of_a) + format_zero(of_b) - BIAS +
                    PRODUCT_DIGITS - format_digits(of_a) - format_digits(of_b) - x->scale.base;
}
/* Rows of 8-bit floats, where pairs are not enough. */
static __attribute__((noinline)) void rows_load(struct matrices *x)
{
    elements_load(&x->a, x->a.raw[0], (struct format){FUSED_F8, x->wide_a});
    elements_load(&x->b, x->b.raw[0], (struct format){FUSED_F8, x->wide_b});
    x->rows = true;
}

/* Exponents by dwords; returns the least one of what is not zero. */
static u32 elements_exponents(struct elements *e, int steps, u32 lowest)
{
    u32 least = 255;
    for (int n = 0; n < steps; n++)
        for (int l = 0; l < WAVE_LANES; l++) {
            const u32 magnitude = e->row[n][l] & ~SIGN32, own = magnitude >> FRACTION;
            const u32 exponent = magnitude == 0 ? 1 : own < lowest ? lowest : own;
            e->exponent[n][l] = exponent;
            least = magnitude != 0 && exponent < least ? exponent : least;
        }
    return least;
}
static __attribute__((noinline)) void matrices_exponents(struct matrices *x)
{
    const int least = (int)(elements_exponents(&x->a, x->steps, x->lowest_a) +
                            elements_exponents(&x->b, x->steps, x->lowest_b));
    x->plain = x->finite && least >= 2 * BIAS + PLAIN_LEAST && x->most <= 2 * BIAS + PLAIN_MOST;
    x->exponents = true;
}

/* What a quad is added up by where bytes do not say enough. */
KERNEL_INLINE void quad_slow(vec_u32 *c, struct matrices *x, struct quad_factors from,
                             const struct layout y, const int group, const bool f8)
{
    if (f8 && !x->rows)
        rows_load(x);
    if (!x->exponents)
        matrices_exponents(x);
    if (x->plain)
        UNROLL for (int i = 0; i < 4; i++) c[i] = group_exponents(from, i, y, group, c[i], f8);
    else
        quad_any(c, from, y, group, f8);
}

/* Four rows' results, to which one group is added. */
typedef void quad_slow_fn(vec_u32 *c, struct matrices *x, struct quad_factors from);
KERNEL_INLINE void quad_run(u32 *d, struct addend c, struct matrices *x, struct fused_scale scale,
                            struct quad_factors from, const struct quad_tops *tops,
                            const struct layout y, const int group, const bool f8,
                            quad_slow_fn *slow)
{
    const bool whole = f8 && scale.whole && tops_are_near(tops, &scale);
    if (f8 && !whole && !x->rows)
        rows_load(x);
    vec_u32 sum[4];
    UNROLL for (int i = 0; i < 4; i++) sum[i] = vector_load(c.row + i * c.stride);
    if (__builtin_expect(!scale.usable || !quad_group(sum, from, tops, scale, y, group, f8, whole),
                         0)) {
        vec_u32 copy[4] = {sum[0], sum[1], sum[2], sum[3]}; /* sum stays in registers */
        slow(copy, x, from);
        UNROLL for (int i = 0; i < 4; i++) sum[i] = copy[i];
    }
    UNROLL for (int i = 0; i < 4; i++) vector_store(d + i * WAVE_LANES, sum[i]);
}

/* One block of M x M, whose elements begin at `from`; of 4 x 4 sixteen beside each other in the
 * lanes, with a register for each row. One group after the other, for sums wait for the last one
 * to be rounded. */
KERNEL_INLINE void block_run(u32 *d, struct addend c, struct matrices *x, struct quad_factors from,
                             int groups, const struct layout y, const int group, const bool f8,
                             quad_slow_fn *slow)
{
    const int columns = y.m == 4 ? WAVE_LANES : y.m, quads = y.m / 4;
    const struct fused_scale scale = x->scale;
    for (int g = 0; g < groups; g++) {
        for (int column = 0; column < columns; column += VECTOR_LANES) {
            const struct quad_factors at = {from.a + (y.m == 4 ? column : 0), from.b + column};
            struct quad_tops tops[QUADS_MAX];
            group_tops(tops, at, quads, y, group, scale.least, f8);
            for (int q = 0; q < quads; q++) {
                const int reg = q * y.m / WAVE_LANES * 4, lane = q * y.m % WAVE_LANES + column;
                quad_run(d + reg * WAVE_LANES + lane,
                         (struct addend){c.row + reg * c.stride + lane, c.stride}, x, scale,
                         (struct quad_factors){at.a + 4 * q, at.b}, tops + q, y, group, f8, slow);
            }
        }
        c = (struct addend){d, WAVE_LANES};
        from.a += group / y.per_lane * y.m;
        from.b += group / y.per_lane * y.m;
    }
}

/* A variant for each size and way to add up, in which they are constants. */
#define BLOCK_RUN(NAME, M, PER_LANE, GROUP, F8)                                                    \
    static __attribute__((noinline)) void NAME##_slow(vec_u32 *c, struct matrices *x,              \
                                                      struct quad_factors from)                    \
    {                                                                                              \
        quad_slow(c, x, from, (struct layout){M, PER_LANE}, GROUP, F8);                            \
    }                                                                                              \
    static __attribute__((noinline)) void NAME(u32 *d, struct addend c, struct matrices *x,        \
                                               struct quad_factors from, int groups)               \
    {                                                                                              \
        block_run(d, c, x, from, groups, (struct layout){M, PER_LANE}, GROUP, F8, NAME##_slow);    \
    }
#define BLOCK_RUNS(NAME, PER_LANE, GROUP, F8)                                                      \
    BLOCK_RUN(NAME##_16, 16, PER_LANE, GROUP, F8)                                                  \
    BLOCK_RUN(NAME##_32, 32, PER_LANE, GROUP, F8)
BLOCK_RUNS(halves_4, 4, 4, false)
BLOCK_RUNS(halves_8, 4, 8, false)
BLOCK_RUNS(singles, 2, 4, false)
BLOCK_RUNS(bytes, 8, 16, true)
BLOCK_RUN(small, 4, 4, 4, false)

typedef void block_fn(u32 *d, struct addend c, struct matrices *x, struct quad_factors from,
                      int groups);
/* `groups`: of steps that are added up at once. */
KERNEL_INLINE block_fn *block_fn_of(const struct mfma *shape, const enum fused_type type,
                                    int *groups)
{
    const bool large = shape->m == 32, eights = shape->k >= 8;
    *groups = shape->k / (type == FUSED_F8 ? 16 : type != FUSED_XF32 && eights ? 8 : 4);
    if (shape->m == 4)
        return small;
    if (type == FUSED_F8)
        return large ? bytes_32 : bytes_16;
    if (type == FUSED_XF32)
        return large ? singles_32 : singles_16;
    if (eights)
        return large ? halves_8_32 : halves_8_16;
    return large ? halves_4_32 : halves_4_16;
}

KERNEL_INLINE void blocks_run(u32 *d, struct addend c, const struct inst *i,
                              const struct mfma *shape, struct matrices *x,
                              const enum fused_type type)
{
    const int m = shape->m, regs = m * m / WAVE_LANES;
    int groups;
    block_fn *run = block_fn_of(shape, type, &groups);
    if (m == 4) {
        run(d, c, x, (struct quad_factors){x->a.row[0], x->b.row[0]}, groups);
        return;
    }
    for (int block = 0; block < shape->blocks; block++) {
        const struct quad_factors from = {&x->a.row[0][m * a_block_of(i, shape, block)],
                                          &x->b.row[0][m * block]};
        run(d, c, x, from, groups);
        d += regs * WAVE_LANES;
        c.row += regs * c.stride;
    }
}

KERNEL_INLINE const struct inst *fused_run(struct wave *w, const struct inst *i,
                                           const enum fused_type type)
{
    const struct mfma *shape = &fused[i->op];
    source_temp ta, tb;
    moved_rows moved_a, moved_b;
    struct matrices x;
    u32 t[RESULT_ROWS_MAX * WAVE_LANES] __attribute__((aligned(64)));
    u32 *d = operand_rows(w, &i->dst);
    const u32 *a = source_plain(w, &i->src[0], RAW_DWORDS_MAX, ta);
    const u32 *b = source_plain(w, &i->src[1], RAW_DWORDS_MAX, tb);
    if (shape->m == 4)
        a = a_lanes_moved(a, i, shape, RAW_DWORDS_MAX, moved_a);
    b = b_lanes_moved(b, i, RAW_DWORDS_MAX, moved_b);
    const struct addend c =
        addend_load(w, &i->src[2], shape->m * shape->m * shape->blocks / WAVE_LANES, d, t);
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    matrices_load(&x, shape, a, b, type);
    blocks_run(d, c, i, shape, &x, type);
    fp_switch(MXCSR_MASKED, w->fp_state_32);
    return i + i->dwords;
}

#define FUSED_HANDLER(TYPE)                                                                        \
    static const struct inst *exec_##TYPE(struct wave *w, const struct inst *i)                    \
    {                                                                                              \
        return fused_run(w, i, TYPE);                                                              \
    }
FUSED_HANDLER(FUSED_F16)
FUSED_HANDLER(FUSED_BF16)
FUSED_HANDLER(FUSED_XF32)
FUSED_HANDLER(FUSED_F8)

inst_exec_fn *VALU(valu_mfma_fused)(const struct inst *i)
{
    static inst_exec_fn *const handlers[] = {exec_FUSED_F16, exec_FUSED_BF16, exec_FUSED_XF32,
                                             exec_FUSED_F8};
    return fused[i->op].m ? handlers[fused[i->op].type] : VALU(valu_smfmac)(i);
}
