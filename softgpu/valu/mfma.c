/*
 * Matrix instructions: D = A x B + C on blocks of M x M results, M = 4, 16 or 32. EXEC and MODE do
 * not matter to them. How sums are rounded stands in mfma_sums.h; mfma_fused.c has those of gfx942
 * that round otherwise.
 *
 * A lane holds `per_lane` consecutive k of one row of A and of one column of B. The 64 lanes form
 * 64 / M groups, which are either the blocks or the next ranges of k, never both:
 *     A[block][i][k]: lane i + M * group, element k % per_lane     (B alike, with j for i)
 * A result row lies in one register across the lanes of its columns; four rows are neighbours in
 * registers, then the lane groups go round, then the registers go on:
 *     D[block][i][j]: lane j + M * (i / 4 % groups), register i % 4 + 4 * (i / (4 * groups)) +
 *                     block * registers per block
 * (4 x 4: lane j + 4 * block, register i.) Double precision interleaves rows one by one instead.
 */
#include "valu/mfma_steps.h"

#define MFMA(OP, M, K, BLOCKS, TYPE, PER_LANE)                                                     \
    [OP_V_MFMA_##OP] = {M, K, BLOCKS, MFMA_##TYPE, PER_LANE}
/* Instruction set names of gfx908 and gfx90a, and the new ones of gfx942. */
static const struct mfma mfmas[OP_COUNT] = {
    MFMA(F32_32X32X1F32, 32, 1, 2, F32, 1),
    MFMA(F32_16X16X1F32, 16, 1, 4, F32, 1),
    MFMA(F32_4X4X1F32, 4, 1, 16, F32, 1),
    MFMA(F32_32X32X2F32, 32, 2, 1, F32, 1),
    MFMA(F32_16X16X4F32, 16, 4, 1, F32, 1),
    MFMA(F32_32X32X4F16, 32, 4, 2, F16, 4),
    MFMA(F32_16X16X4F16, 16, 4, 4, F16, 4),
    MFMA(F32_4X4X4F16, 4, 4, 16, F16, 4),
    MFMA(F32_32X32X8F16, 32, 8, 1, F16, 4),
    MFMA(F32_16X16X16F16, 16, 16, 1, F16, 4),
    MFMA(I32_32X32X4I8, 32, 4, 2, I8, 4),
    MFMA(I32_16X16X4I8, 16, 4, 4, I8, 4),
    MFMA(I32_4X4X4I8, 4, 4, 16, I8, 4),
    MFMA(I32_32X32X8I8, 32, 8, 1, I8, 4),
    MFMA(I32_16X16X16I8, 16, 16, 1, I8, 4),
    MFMA(F32_32X32X2BF16, 32, 2, 2, BF16, 2),
    MFMA(F32_16X16X2BF16, 16, 2, 4, BF16, 2),
    MFMA(F32_4X4X2BF16, 4, 2, 16, BF16, 2),
    MFMA(F32_32X32X4BF16, 32, 4, 1, BF16, 2),
    MFMA(F32_16X16X8BF16, 16, 8, 1, BF16, 2),
    MFMA(F32_32X32X4BF16_1K, 32, 4, 2, BF16_1K, 4),
    MFMA(F32_16X16X4BF16_1K, 16, 4, 4, BF16_1K, 4),
    MFMA(F32_4X4X4BF16_1K, 4, 4, 16, BF16_1K, 4),
    MFMA(F32_32X32X8BF16_1K, 32, 8, 1, BF16_1K, 4),
    MFMA(F32_16X16X16BF16_1K, 16, 16, 1, BF16_1K, 4),
    MFMA(F64_16X16X4F64, 16, 4, 1, F64, 1),
    MFMA(F64_4X4X4F64, 4, 4, 4, F64, 1),
    MFMA(F32_32X32X1_2B_F32, 32, 1, 2, F32, 1),
    MFMA(F32_16X16X1_4B_F32, 16, 1, 4, F32, 1),
    MFMA(F32_4X4X1_16B_F32, 4, 1, 16, F32, 1),
    MFMA(F32_32X32X2_F32, 32, 2, 1, F32, 1),
    MFMA(F32_16X16X4_F32, 16, 4, 1, F32, 1),
    MFMA(I32_32X32X4_2B_I8, 32, 4, 2, I8, 4),
    MFMA(I32_16X16X4_4B_I8, 16, 4, 4, I8, 4),
    MFMA(I32_4X4X4_16B_I8, 4, 4, 16, I8, 4),
    MFMA(I32_32X32X16_I8, 32, 16, 1, I8, 8),
    MFMA(I32_16X16X32_I8, 16, 32, 1, I8, 8),
    MFMA(F64_16X16X4_F64, 16, 4, 1, F64, 1),
    MFMA(F64_4X4X4_4B_F64, 4, 4, 4, F64, 1),
};

/* In 4 x 4 it is the same for all instructions of a type. */
KERNEL_INLINE int steps_per_lane(const struct mfma *x, const int m, const enum mfma_type type)
{
    if (type == MFMA_F32)
        return 1;
    const int halved = type == MFMA_BF16 || type == MFMA_BF16_FLUSH || type == MFMA_I8;
    if (m == 4)
        return halved ? 2 : 4;
    return type == MFMA_I8 ? x->per_lane / 2 : x->per_lane;
}

/* Some registers of a block, from number `first` on: each group of steps adds rows of B times
 * elements of A for each row of the result. */
KERNEL_INLINE void tile_run(u32 *d, struct addend c, const struct steps *s, int first, const int m,
                            const enum mfma_type type)
{
    const int row = row_first(first, m), group = type_group(type);
    vec_u32 sum[TILE_REGS][ROW_VECTORS];
    UNROLL for (int r = 0; r < TILE_REGS; r++) UNROLL for (int v = 0; v < ROW_VECTORS; v++)
        sum[r][v] = addend_of(vector_load(c.row + r * c.stride + v * VECTOR_LANES), type);
    for (int k = 0; k < s->count; k += group) {
        const u32 *a[4], *b[4];
        UNROLL for (int n = 0; n < group; n++)
        {
            a[n] = s->a[k + n] + row;
            b[n] = s->b[k + n];
            __asm__("" : "+r"(a[n])); /* one address with many offsets, not many addresses */
        }
        UNROLL for (int r = 0; r < TILE_REGS; r++) UNROLL for (int v = 0; v < ROW_VECTORS; v++)
        {
            vec_u32 factors[4], rows[4];
            UNROLL for (int n = 0; n < group; n++)
            {
                factors[n] = vector_splat(a[n][r + v * VECTOR_LANES / m * 4]);
                rows[n] = vector_load(b[n] + v * VECTOR_LANES % m);
            }
            sum[r][v] = group_add(factors, rows, sum[r][v], type);
        }
    }
    UNROLL for (int r = 0; r < TILE_REGS; r++) UNROLL for (int v = 0; v < ROW_VECTORS; v++)
        vector_store(d + r * WAVE_LANES + v * VECTOR_LANES, sum[r][v]);
}

KERNEL_INLINE void block_run(u32 *d, struct addend c, const struct steps *s, const int m,
                             const enum mfma_type type)
{
    for (int first = 0; first < m * m / WAVE_LANES; first += TILE_REGS) {
        tile_run(d + first * WAVE_LANES, (struct addend){c.row + first * c.stride, c.stride}, s,
                 first, m, type);
    }
}

KERNEL_INLINE void blocks_run(u32 *d, struct addend c, const struct inst *i, const struct mfma *x,
                              const u32 (*a)[WAVE_LANES], const u32 (*b)[WAVE_LANES], const int m,
                              const enum mfma_type type)
{
    const int regs = m * m / WAVE_LANES;
    struct steps s;
    s.count = steps_per_lane(x, m, type);
    if (x->blocks == 1) {
        steps_of_groups(&s, a, b, m, s.count);
        block_run(d, c, &s, m, type);
        return;
    }
    for (int block = 0; block < x->blocks; block++) {
        steps_of_block(&s, a, b, m, a_block_of(i, x, block), block);
        block_run(d, c, &s, m, type);
        d += regs * WAVE_LANES;
        c.row += regs * c.stride;
    }
}

/* 4 x 4: sixteen blocks beside each other in the lanes, a register for each row. A block's four
 * lanes of A hold the factors of its four rows. D may be A or B, whose lanes of a vector are all
 * read before those of D are written. */
KERNEL_INLINE void small_blocks_run(u32 *d, struct addend c, const u32 (*a)[WAVE_LANES],
                                    const u32 (*b)[WAVE_LANES], const int steps,
                                    const enum mfma_type type)
{
    const int group = type_group(type);
    UNROLL for (int lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES)
    {
        vec_u32 sum[4];
        UNROLL for (int row = 0; row < 4; row++)
        {
            sum[row] = addend_of(vector_load(c.row + row * c.stride + lane), type);
            UNROLL for (int k = 0; k < steps; k += group)
            {
                vec_u32 factors[4], rows[4];
                UNROLL for (int n = 0; n < group; n++)
                {
                    factors[n] = vector_quads(vector_load(&a[k + n][lane]), row);
                    rows[n] = vector_load(&b[k + n][lane]);
                }
                sum[row] = group_add(factors, rows, sum[row], type);
            }
        }
        UNROLL for (int row = 0; row < 4; row++)
            vector_store(d + row * WAVE_LANES + lane, sum[row]);
    }
}

/* Elements of A and B, a row for each step. */
KERNEL_INLINE void sums_run(u32 *d, struct addend c, const struct inst *i, const struct mfma *x,
                            const u32 *a, const u32 *b, const int m, const enum mfma_type type)
{
    const u32(*rows_a)[WAVE_LANES] = (const u32(*)[WAVE_LANES])a;
    const u32(*rows_b)[WAVE_LANES] = (const u32(*)[WAVE_LANES])b;
    if (m == 4)
        small_blocks_run(d, c, rows_a, rows_b, steps_per_lane(x, m, type), type);
    else
        blocks_run(d, c, i, x, rows_a, rows_b, m, type);
}

KERNEL_INLINE const struct inst *mfma_run(struct wave *w, const struct inst *i, const int m,
                                          const enum mfma_type type)
{
    const struct mfma *x = &mfmas[i->op];
    source_temp ta, tb;
    moved_rows moved_a, moved_b;
    element_rows a, b;
    u32 t[RESULT_ROWS_MAX * WAVE_LANES] __attribute__((aligned(64)));
    const int steps = steps_per_lane(x, m, type), dwords = (steps + 1) / 2;
    const u32 state = MXCSR_MASKED | (type_flushes(type) ? MXCSR_FLUSH : 0);
    u32 *d = operand_rows(w, &i->dst);
    const u32 *raw_a = source_plain(w, &i->src[0], dwords, ta);
    const u32 *raw_b = source_plain(w, &i->src[1], dwords, tb);
    if (m == 4)
        raw_a = a_lanes_moved(raw_a, i, x, dwords, moved_a);
    raw_b = b_lanes_moved(raw_b, i, dwords, moved_b);
    const bool near = m != 4 && type == MFMA_BF16_1K && numbers_near(raw_a, dwords) &&
                      numbers_near(raw_b, dwords);
    if (m != 4 || type != MFMA_F32) { /* whose registers are as they are needed */
        elements_load(a, steps, type, raw_a);
        elements_load(b, steps, type, raw_b);
        raw_a = a[0];
        raw_b = b[0];
    }
    const struct addend c = addend_load(w, &i->src[2], m * m * x->blocks / WAVE_LANES, d, t);
    fp_switch(w->fp_state_32, state);
    if (near)
        sums_run(d, c, i, x, raw_a, raw_b, m, MFMA_BF16_1K_NEAR);
    else
        sums_run(d, c, i, x, raw_a, raw_b, m, type);
    fp_switch(state, w->fp_state_32);
    return i + i->dwords;
}

/* A handler for each size and type, in which both are constants. */
#define MFMA_HANDLER(M, TYPE)                                                                      \
    static const struct inst *exec_##M##_##TYPE(struct wave *w, const struct inst *i)              \
    {                                                                                              \
        return mfma_run(w, i, M, TYPE);                                                            \
    }
#define MFMA_HANDLERS(TYPE) MFMA_HANDLER(4, TYPE) MFMA_HANDLER(16, TYPE) MFMA_HANDLER(32, TYPE)
MFMA_HANDLERS(MFMA_F32)
MFMA_HANDLERS(MFMA_F16)
MFMA_HANDLERS(MFMA_BF16)
MFMA_HANDLERS(MFMA_I8)
MFMA_HANDLERS(MFMA_F16_FLUSH)
MFMA_HANDLERS(MFMA_BF16_FLUSH)
MFMA_HANDLERS(MFMA_BF16_1K)
#define MFMA_ENTRIES(TYPE) [TYPE] = {exec_4_##TYPE, exec_16_##TYPE, exec_32_##TYPE}
static inst_exec_fn *const handlers[][3] = {
    MFMA_ENTRIES(MFMA_F32),    MFMA_ENTRIES(MFMA_F16),       MFMA_ENTRIES(MFMA_BF16),
    MFMA_ENTRIES(MFMA_I8),     MFMA_ENTRIES(MFMA_F16_FLUSH), MFMA_ENTRIES(MFMA_BF16_FLUSH),
    MFMA_ENTRIES(MFMA_BF16_1K)};

inst_exec_fn *VALU(valu_mfma)(const struct inst *i)
{
    const struct mfma *x = &mfmas[i->op];
    if (!x->m)
        return VALU(valu_mfma_fused)(i);
    enum mfma_type type = x->type;
    if (i->flags & IF_FLUSH_F16)
        type = type == MFMA_F16 ? MFMA_F16_FLUSH : type == MFMA_BF16 ? MFMA_BF16_FLUSH : type;
    inst_exec_fn *plain = VALU(valu_mfma_plain)(i, x, type);
    if (plain)
        return plain;
    if (type != MFMA_F64)
        return handlers[type][x->m == 4 ? 0 : x->m == 16 ? 1 : 2];
    return VALU(valu_mfma_double)(i, x);
}

valu_chain_fn *VALU(valu_mfma_chain)(const struct inst *i)
{
    const struct mfma *x = &mfmas[i->op];
    if (x->m && x->type == MFMA_F64)
        return VALU(valu_mfma_double_chain)(i, x);
    return x->m && x->type == MFMA_F32 ? VALU(valu_mfma_plain_chain)(i, x) : NULL;
}
