/*
 * gfx942's matrix instructions whose sums are fused (mfma_fused.h): of f16, bf16, xf32 and 8-bit
 * floats. Registers are laid out as mfma.c says.
 */
#include "valu/mfma_fused.h"
#include "valu/half.h"
#include "valu/mfma_any.h"

enum fused_type { FUSED_F16, FUSED_BF16, FUSED_XF32, FUSED_F8 };

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

KERNEL_INLINE int type_bits(const enum fused_type type)
{
    return type == FUSED_XF32 ? 32 : type == FUSED_F8 ? 8 : 16;
}
/* The least normal number's exponent. */
KERNEL_INLINE u32 type_lowest(const enum fused_type type, const bool wide)
{
    if (type == FUSED_F8)
        return wide ? BIAS - 15 : BIAS - 7;
    return type == FUSED_F16 ? BIAS - 14 : 1;
}
/* Cut to ten bits of mantissa; a NaN stays one. */
KERNEL_INLINE u32 xf32_of_f32(u32 u)
{
    return (u | ((u & ~SIGN32) > INF32) << 22) & ~0x1fffu;
}

/* Of byte n of each lane, as f32_of_f8() has them: exponent and digits in f32's place, and the
 * difference of the biases multiplied on, which is right for denormals, too. */
KERNEL_INLINE void row_of_f8(u32 *to, const u32 *row, int n, const bool wide)
{
    const int shift = 24 - 8 * (n % 4), down = wide ? 3 : 4;
    const f32 scale = wide ? 0x1p111f : 0x1p119f;
    UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)
    {
        const vec_u32 byte = vector_load(row + l) << shift & 0xff000000;
        const vec_u32 nan = (vec_u32)(byte == SIGN32), sign = byte & SIGN32;
        const vec_f32 value = (vec_f32)((byte & ~SIGN32) >> down) * scale;
        vector_store(to + l, (((vec_u32)value | sign) & ~nan) | (nan & 0x7fc00000));
    }
}

/* The f32 of each element; returns the largest magnitudes of the lanes. */
KERNEL_INLINE u32 elements_load(struct elements *e, const u32 *rows, const int steps,
                                const enum fused_type type, const bool wide)
{
    const int bits = type_bits(type);
    vec_i32 most = {0};
    for (int n = 0; n < steps; n++) {
        const u32 *row = rows + n * bits / 32 * WAVE_LANES;
        const int shift = n * bits % 32;
        u32 *to = e->row[n];
        if (type == FUSED_XF32) {
            LANES to[l] = xf32_of_f32(row[l]);
        } else if (type == FUSED_F8) {
            row_of_f8(to, row, n, wide);
        } else if (type == FUSED_BF16) {
            LANES to[l] = row[l] >> shift << 16;
        } else {
            u32 half[WAVE_LANES] __attribute__((aligned(64)));
            LANES half[l] = row[l] >> shift;
            row_of_half((f32 *)to, half);
        }
        UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)
        {
            const vec_u32 magnitude = vector_load(to + l) & ~SIGN32;
            most = vector_max_i32(most, (vec_i32)magnitude);
        }
    }
    return (u32)vector_most(most);
}
/* The largest magnitude of those that are numbers. */
static __attribute__((noinline)) u32 elements_finite(const struct elements *e, int steps)
{
    u32 most = 0;
    for (int n = 0; n < steps; n++)
        for (int l = 0; l < WAVE_LANES; l++) {
            const u32 magnitude = e->row[n][l] & ~SIGN32;
            most = magnitude < INF32 && magnitude > most ? magnitude : most;
        }
    return most;
}

KERNEL_INLINE vec_i32 exponents_of(vec_u32 x, const u32 lowest)
{
    const vec_i32 field = (vec_i32)(x >> FRACTION & 255), zero = field == 0;
    return vector_max_i32(field, (vec_i32)(lowest - ((vec_u32)zero & (lowest - 1))));
}
/* Exponents as bytes, whose largest one is `most`. */
KERNEL_INLINE void elements_bytes(struct elements *e, const int steps, const u32 lowest, int most,
                                  const bool quads)
{
    for (int n = 0; n < steps; n++)
        UNROLL for (int v = 0; v < ROW_VECTORS; v++)
        {
            const vec_u32 x = vector_load(e->row[n] + v * VECTOR_LANES);
            const vec_i32 byte = exponents_of(x, lowest) - (most + BYTE_ABOVE);
            const vec_i32 limited = vector_max_i32(byte, (vec_i32)vector_splat((u32)BYTE_LEAST));
            const vec_u32 special = (vec_u32)((x & INF32) == INF32);
            const vec_u32 r = ((vec_u32)limited & ~special) | (special & BYTE_SPECIAL);
            vector_store(e->bytes[n] + v * VECTOR_LANES,
                         quads ? vector_bytes_quads(r, 0) : vector_bytes_own(r, 0));
        }
}

/* What an instruction works on, and what is found out about it. */
struct matrices {
    struct elements a, b;
    struct fused_scale scale;
    int steps, most; /* for each lane; of both exponents */
    u32 lowest_a, lowest_b;
    bool finite;
    bool exponents, plain; /* whether they have been found, and f32 holds all products then */
};

KERNEL_INLINE void matrices_load(struct matrices *x, const struct mfma *shape, const u32 *a,
                                 const u32 *b, const enum fused_type type)
{
    const int steps = type == FUSED_F8 ? 8 : type == FUSED_XF32 ? 2 : 4;
    const u32 lowest_a = type_lowest(type, shape->wide_a);
    const u32 lowest_b = type_lowest(type, shape->wide_b);
    u32 most_a = elements_load(&x->a, a, steps, type, shape->wide_a);
    u32 most_b = elements_load(&x->b, b, steps, type, shape->wide_b);
    x->finite = most_a < INF32 && most_b < INF32;
    if (__builtin_expect(!x->finite, 0)) {
        most_a = elements_finite(&x->a, steps);
        most_b = elements_finite(&x->b, steps);
    }
    most_a = most_a >> FRACTION > lowest_a ? most_a >> FRACTION : lowest_a;
    most_b = most_b >> FRACTION > lowest_b ? most_b >> FRACTION : lowest_b;
    elements_bytes(&x->a, steps, lowest_a, (int)most_a, true);
    elements_bytes(&x->b, steps, lowest_b, (int)most_b, false);
    x->most = (int)(most_a + most_b);
    x->scale = fused_scale_of(x->most, lowest_a > 1);
    x->steps = steps;
    x->lowest_a = lowest_a;
    x->lowest_b = lowest_b;
    x->exponents = false;
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
    if (!x->exponents)
        matrices_exponents(x);
    if (x->plain)
        UNROLL for (int i = 0; i < 4; i++) c[i] = group_exponents(from, i, y, group, c[i], f8);
    else
        quad_any(c, from, y, group, f8);
}

/* Where four rows' results are. */
struct quad_results {
    u32 *d;
    const u32 *c;
    int stride; /* of C, whose rows may be one */
};

/* Four rows, group after group. */
typedef void quad_slow_fn(vec_u32 *c, struct matrices *x, struct quad_factors from);
KERNEL_INLINE void quad_run(struct quad_results r, struct matrices *x, struct fused_scale scale,
                            struct quad_factors from, int groups, const struct layout y,
                            const int group, const bool f8, quad_slow_fn *slow)
{
    const int lanes = group / y.per_lane * y.m; /* from one group to the next */
    vec_u32 sum[4];
    UNROLL for (int i = 0; i < 4; i++) sum[i] = vector_load(r.c + i * r.stride);
    for (int lane = 0; lane < groups * lanes; lane += lanes) {
        const struct quad_factors at = {from.a + lane, from.b + lane};
        if (__builtin_expect(!scale.usable || !quad_group(sum, at, scale, y, group, f8), 0)) {
            vec_u32 copy[4] = {sum[0], sum[1], sum[2], sum[3]}; /* sum stays in registers */
            slow(copy, x, at);
            UNROLL for (int i = 0; i < 4; i++) sum[i] = copy[i];
        }
    }
    UNROLL for (int i = 0; i < 4; i++) vector_store(r.d + i * WAVE_LANES, sum[i]);
}

/* One block of M x M, whose elements begin at `from`; of 4 x 4 sixteen beside each other in the
 * lanes, with a register for each row. */
KERNEL_INLINE void block_run(u32 *d, struct addend c, struct matrices *x, struct quad_factors from,
                             int groups, const struct layout y, const int group, const bool f8,
                             quad_slow_fn *slow)
{
    const int columns = y.m == 4 ? WAVE_LANES : y.m;
    const struct fused_scale scale = x->scale;
    for (int q = 0; q < y.m / 4; q++)
        for (int column = 0; column < columns; column += VECTOR_LANES) {
            const int reg = q * y.m / WAVE_LANES * 4, lane = q * y.m % WAVE_LANES + column;
            const struct quad_results r = {d + reg * WAVE_LANES + lane,
                                           c.row + reg * c.stride + lane, c.stride};
            const int row = y.m == 4 ? column : 4 * q;
            quad_run(r, x, scale, (struct quad_factors){from.a + row, from.b + column}, groups, y,
                     group, f8, slow);
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
    u32 *d = result_rows(w, &i->dst);
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
