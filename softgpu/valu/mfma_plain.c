/*
 * Matrix instructions of one block, whose operands are whole registers, and D none of them unless
 * it is C: nearly all that libraries execute. All places are known at compile time but those of
 * four rows of the result. mfma.c has all others.
 */
#include "valu/mfma_steps.h"

/* How elements of A come to all lanes of a vector: by a load each; or one of four and a permutation
 * each. With 512 bits AMD's hosts load two, permute two and fuse two in a cycle, and 16 x 16 x 4f32
 * does 182 instead of 131 Gop/s (Zen 5); Intel's permute with a unit that fuses. Tiles of four rows
 * alone have four aligned. */
enum factors { FACTORS_LOADED, FACTORS_PERMUTED };

/* A group of steps, the first of which has its elements there. What is written here in order stays
 * so: taken apart and mixed by the compiler it needs more registers than there are. */
KERNEL_INLINE void group_run(vec_u32 sum[TILE_REGS][ROW_VECTORS], const u32 *a, const u32 *b,
                             const int m, const enum mfma_type type, const enum factors how)
{
    const int group = type_group(type);
    UNROLL for (int r = 0; r < TILE_REGS; r++) UNROLL for (int v = 0; v < ROW_VECTORS; v++)
    {
        vec_u32 factors[4], rows[4];
        UNROLL for (int n = 0; n < group; n++)
        {
            const int four = n * WAVE_LANES + v * VECTOR_LANES / m * 4;
            if (how == FACTORS_PERMUTED)
                factors[n] = vector_quads(vector_quad_load(a + four), r);
            else
                factors[n] = vector_splat(a[four + r]);
            rows[n] = vector_load(b + n * WAVE_LANES + v * VECTOR_LANES % m);
        }
        sum[r][v] = group_add(factors, rows, sum[r][v], type);
        if (group > 1)
            __asm__ volatile("" : "+v"(sum[r][v]));
    }
}

/* The sums of some registers' rows. */
KERNEL_INLINE void sums_load(vec_u32 sum[TILE_REGS][ROW_VECTORS], const u32 *c,
                             const enum mfma_type type)
{
    UNROLL for (int r = 0; r < TILE_REGS; r++) UNROLL for (int v = 0; v < ROW_VECTORS; v++)
        sum[r][v] = addend_of(vector_load(c + r * WAVE_LANES + v * VECTOR_LANES), type);
}
KERNEL_INLINE void sums_store(u32 *d, const vec_u32 sum[TILE_REGS][ROW_VECTORS])
{
    UNROLL for (int r = 0; r < TILE_REGS; r++) UNROLL for (int v = 0; v < ROW_VECTORS; v++)
        vector_store(d + r * WAVE_LANES + v * VECTOR_LANES, sum[r][v]);
}

/* Registers of the result whose first row's element of A `a` is. */
KERNEL_INLINE void tile_run(u32 *d, const u32 *c, const u32 *a, const u32 *b, const int m,
                            const enum mfma_type type, const int steps, const enum factors how)
{
    const int group = type_group(type);
    vec_u32 sum[TILE_REGS][ROW_VECTORS];
    sums_load(sum, c, type);
    if (group == 1) {
        UNROLL for (int lane = 0; lane < WAVE_LANES; lane += m)
            UNROLL for (int k = lane; k < lane + steps * WAVE_LANES; k += WAVE_LANES)
                group_run(sum, a + k, b + k, m, type, how);
    } else {
        ROLLED for (int lane = 0; lane < WAVE_LANES; lane += m)
            ROLLED for (int k = 0; k < steps; k += group)
                group_run(sum, a + lane + k * WAVE_LANES, b + lane + k * WAVE_LANES, m, type, how);
    }
    sums_store(d, sum);
}

KERNEL_INLINE void block_run(struct wave *w, const struct inst *i, const u32 *a, const u32 *b,
                             const int m, const enum mfma_type type, const int steps,
                             const enum factors how)
{
    const u32 state = MXCSR_MASKED | (type_flushes(type) ? MXCSR_FLUSH : 0);
    u32 *d = operand_rows(w, &i->dst);
    const u32 *c = operand_rows(w, &i->src[2]);
    fp_switch(w->fp_state_32, state);
    for (int first = 0; first < m * m / WAVE_LANES; first += TILE_REGS) {
        const u32 *factors = a + row_first(first, m);
        __asm__("" : "+r"(factors)); /* one address with many offsets, not many addresses */
        tile_run(d + first * WAVE_LANES, c + first * WAVE_LANES, factors, b, m, type, steps, how);
    }
    fp_switch(state, w->fp_state_32);
}

/* f32, whose registers are as they are needed. */
KERNEL_INLINE const struct inst *plain_run_f32(struct wave *w, const struct inst *i, const int m,
                                               const enum factors how)
{
    block_run(w, i, operand_rows(w, &i->src[0]), operand_rows(w, &i->src[1]), m, MFMA_F32, 1, how);
    return i + i->dwords;
}

/* A chain of them (valu/chain.h). */
KERNEL_INLINE void chain_run_f32(struct wave *w, const struct inst *first, u64 near, u64 far,
                                 u32 count, const int m, const enum factors how)
{
    const u32 *a[VALU_CHAIN_MAX], *b[VALU_CHAIN_MAX];
    u32 *d = operand_rows(w, &chain_inst(first, near, far, 0)->dst);
    for (unsigned n = 0; n < count; n++) {
        const struct inst *i = chain_inst(first, near, far, n);
        a[n] = operand_rows(w, &i->src[0]);
        b[n] = operand_rows(w, &i->src[1]);
    }
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    for (int reg = 0; reg < m * m / WAVE_LANES; reg += TILE_REGS) {
        vec_u32 sum[TILE_REGS][ROW_VECTORS];
        sums_load(sum, d + reg * WAVE_LANES, MFMA_F32);
        for (unsigned n = 0; n < count; n++) {
            const u32 *factors = a[n] + row_first(reg, m);
            __asm__("" : "+r"(factors));
            UNROLL for (int lane = 0; lane < WAVE_LANES; lane += m)
                group_run(sum, factors + lane, b[n] + lane, m, MFMA_F32, how);
        }
        sums_store(d + reg * WAVE_LANES, sum);
    }
    fp_switch(MXCSR_MASKED, w->fp_state_32);
}

#define PLAIN_F32(M, HOW)                                                                          \
    static const struct inst *exec_plain_##M##_f32_##HOW(struct wave *w, const struct inst *i)     \
    {                                                                                              \
        return plain_run_f32(w, i, M, FACTORS_##HOW);                                              \
    }                                                                                              \
    static void chain_##M##_f32_##HOW(struct wave *w, const struct inst *first, u64 near, u64 far, \
                                      u32 count)                                                   \
    {                                                                                              \
        chain_run_f32(w, first, near, far, count, M, FACTORS_##HOW);                               \
    }
PLAIN_F32(16, LOADED)
PLAIN_F32(16, PERMUTED)
PLAIN_F32(32, LOADED)

static const struct plain_f32 {
    inst_exec_fn *exec;
    valu_chain_fn *chain;
} loaded_16 = {exec_plain_16_f32_LOADED, chain_16_f32_LOADED},
  permuted_16 = {exec_plain_16_f32_PERMUTED, chain_16_f32_PERMUTED},
  loaded_32 = {exec_plain_32_f32_LOADED, chain_32_f32_LOADED};

static const struct plain_f32 *plain_f32(int m)
{
    if (m == 32)
        return &loaded_32;
    const bool permutes = TILE_REGS == 4 && __builtin_cpu_is("amd");
    return permutes ? &permuted_16 : &loaded_16;
}

KERNEL_INLINE const struct inst *plain_run(struct wave *w, const struct inst *i, const int m,
                                           const enum mfma_type type, const int steps)
{
    const u32 *a = operand_rows(w, &i->src[0]), *b = operand_rows(w, &i->src[1]);
    const int dwords = (steps + 1) / 2;
    element_rows elements_a, elements_b;
    const bool near = type == MFMA_BF16_1K && numbers_near(a, dwords) && numbers_near(b, dwords);
    elements_load(elements_a, steps, type, a);
    elements_load(elements_b, steps, type, b);
    if (near)
        block_run(w, i, elements_a[0], elements_b[0], m, MFMA_BF16_1K_NEAR, steps, FACTORS_LOADED);
    else
        block_run(w, i, elements_a[0], elements_b[0], m, type, steps, FACTORS_LOADED);
    return i + i->dwords;
}

/* By the steps that a lane has elements for. */
#define PLAIN(M, TYPE, STEPS)                                                                      \
    static const struct inst *exec_plain_##M##_##TYPE##_##STEPS(struct wave *w,                    \
                                                                const struct inst *i)              \
    {                                                                                              \
        return plain_run(w, i, M, MFMA_##TYPE, STEPS);                                             \
    }
#define PLAINS(TYPE, STEPS) PLAIN(16, TYPE, STEPS) PLAIN(32, TYPE, STEPS)
PLAINS(F16, 4)
PLAINS(F16_FLUSH, 4)
PLAINS(BF16_1K, 4)
PLAINS(I8, 2)
PLAINS(I8, 4)
#define PLAIN_ENTRY(TYPE, STEPS)                                                                   \
    {                                                                                              \
        MFMA_##TYPE, STEPS, exec_plain_16_##TYPE##_##STEPS, exec_plain_32_##TYPE##_##STEPS         \
    }
static const struct plain {
    enum mfma_type type;
    int steps;
    inst_exec_fn *exec_16, *exec_32;
} plains[] = {PLAIN_ENTRY(F16, 4), PLAIN_ENTRY(F16_FLUSH, 4), PLAIN_ENTRY(BF16_1K, 4),
              PLAIN_ENTRY(I8, 2), PLAIN_ENTRY(I8, 4)};

inst_exec_fn *VALU(valu_mfma_plain)(const struct inst *i, const struct mfma *x, enum mfma_type type)
{
    const int steps = type == MFMA_I8 ? x->per_lane / 2 : x->per_lane;
    if (!is_plain(i, x, 1))
        return NULL;
    if (type == MFMA_F32)
        return plain_f32(x->m)->exec;
    for (unsigned n = 0; n < sizeof plains / sizeof *plains; n++)
        if (plains[n].type == type && plains[n].steps == steps)
            return x->m == 16 ? plains[n].exec_16 : plains[n].exec_32;
    return NULL;
}

valu_chain_fn *VALU(valu_mfma_plain_chain)(const struct inst *i, const struct mfma *x)
{
    return chain_fits(i, x, 1) ? plain_f32(x->m)->chain : NULL;
}
