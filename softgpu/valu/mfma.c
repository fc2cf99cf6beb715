/*
 * Matrix instructions: D = A x B + C on blocks of M x M results, M = 4, 16 or 32. EXEC and MODE do
 * not matter to them; sums go up in k, rounded to nearest at every step.
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
#include "valu/exec.h"
#include "valu/half.h"

enum mfma_type { MFMA_F32, MFMA_F16, MFMA_BF16, MFMA_I8, MFMA_F64 };

struct mfma {
    uint16_t op;
    uint8_t m, k, blocks, type, per_lane;
};

#define MFMA(OP, M, K, BLOCKS, TYPE, PER_LANE)                                                     \
    {                                                                                              \
        OP_V_MFMA_##OP, M, K, BLOCKS, MFMA_##TYPE, PER_LANE                                        \
    }
/* Instruction set names of gfx908 and gfx90a, and the new ones of gfx942. */
static const struct mfma mfmas[] = {
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
    MFMA(F32_32X32X4BF16_1K, 32, 4, 2, BF16, 4),
    MFMA(F32_16X16X4BF16_1K, 16, 4, 4, BF16, 4),
    MFMA(F32_4X4X4BF16_1K, 4, 4, 16, BF16, 4),
    MFMA(F32_32X32X8BF16_1K, 32, 8, 1, BF16, 4),
    MFMA(F32_16X16X16BF16_1K, 16, 16, 1, BF16, 4),
    MFMA(F64_16X16X4F64, 16, 4, 1, F64, 1),
    MFMA(F64_4X4X4F64, 4, 4, 4, F64, 1),
    MFMA(F32_32X32X1_2B_F32, 32, 1, 2, F32, 1),
    MFMA(F32_16X16X1_4B_F32, 16, 1, 4, F32, 1),
    MFMA(F32_4X4X1_16B_F32, 4, 1, 16, F32, 1),
    MFMA(F32_32X32X2_F32, 32, 2, 1, F32, 1),
    MFMA(F32_16X16X4_F32, 16, 4, 1, F32, 1),
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
    MFMA(I32_32X32X4_2B_I8, 32, 4, 2, I8, 4),
    MFMA(I32_16X16X4_4B_I8, 16, 4, 4, I8, 4),
    MFMA(I32_4X4X4_16B_I8, 4, 4, 16, I8, 4),
    MFMA(I32_32X32X16_I8, 32, 16, 1, I8, 8),
    MFMA(I32_16X16X32_I8, 16, 32, 1, I8, 8),
    MFMA(F64_16X16X4_F64, 16, 4, 1, F64, 1),
    MFMA(F64_4X4X4_4B_F64, 4, 4, 4, F64, 1),
};

enum { PER_LANE_MAX = 8, RESULT_ROWS_MAX = 32 };

/* A or B with one row of 64 lanes for each k that a lane holds, as f32 or i32. */
struct elements {
    union {
        f32 f[PER_LANE_MAX][WAVE_LANES] __attribute__((aligned(64)));
        i32 i[PER_LANE_MAX][WAVE_LANES];
    };
};

static const struct mfma *mfma_find(uint16_t op)
{
    for (size_t n = 0; n < sizeof mfmas / sizeof mfmas[0]; n++)
        if (mfmas[n].op == op)
            return &mfmas[n];
    return NULL;
}

/* The lane whose column of B a lane works with. */
static int b_lane(unsigned blgp, int lane)
{
    switch (blgp) {
    case 1:
        return lane & 31;
    case 2:
        return lane | 32;
    case 3:
        return (lane + 16) & 63;
    case 0:
        return lane;
    default:
        return (int)(blgp - 4) * 16 + (lane & 15);
    }
}

static void elements_load(struct elements *e, const struct mfma *x, const u32 *rows)
{
    for (int n = 0; n < x->per_lane; n++) {
        const int bits = x->type == MFMA_F32 ? 32 : x->type == MFMA_I8 ? 8 : 16;
        const u32 *row = rows + n * bits / 32 * WAVE_LANES;
        const int shift = n * bits % 32;
        u32 part[WAVE_LANES] __attribute__((aligned(64)));
        LANES part[l] = row[l] >> shift;
        if (x->type == MFMA_F32)
            LANES e->f[n][l] = f32_of(part[l]);
        else if (x->type == MFMA_F16)
            row_of_half(e->f[n], part);
        else if (x->type == MFMA_BF16)
            LANES e->f[n][l] = f32_of(part[l] << 16);
        else
            LANES e->i[n][l] = (i32)(part[l] << 24) >> 24;
    }
}

static void elements_permute(struct elements *e, int count, unsigned blgp)
{
    for (int n = 0; blgp && n < count; n++) {
        i32 old[WAVE_LANES];
        memcpy(old, e->i[n], sizeof old);
        for (int l = 0; l < WAVE_LANES; l++)
            e->i[n][l] = old[b_lane(blgp, l)];
    }
}

/* Where row i of a block begins in the result: register and first lane. */
struct result_row {
    int reg, lane;
};
static struct result_row result_row(const struct mfma *x, int block, int i)
{
    const int groups = WAVE_LANES / x->m;
    if (x->m == 4)
        return (struct result_row){i, 4 * block};
    return (struct result_row){i % 4 + 4 * (i / (4 * groups)) + block * x->m * x->m / WAVE_LANES,
                               x->m * (i / 4 % groups)};
}

/* Row i of a block: each step adds one row of B times one element of A. */
static void row_f32(f32 *d, const struct mfma *x, const struct elements *a,
                    const struct elements *b, int a_block, int b_block, int i)
{
    const int m = x->m;
    for (int k = 0; k < x->k; k++) {
        const int group = x->blocks > 1 ? 0 : k / x->per_lane, n = k % x->per_lane;
        const f32 factor = a->f[n][i + m * (x->blocks > 1 ? a_block : group)];
        const f32 *row = &b->f[n][m * (x->blocks > 1 ? b_block : group)];
        for (int j = 0; j < m; j++)
            d[j] = fma_f32(factor, row[j], d[j]);
    }
}
static void row_i32(u32 *d, const struct mfma *x, const struct elements *a,
                    const struct elements *b, int a_block, int b_block, int i)
{
    const int m = x->m;
    for (int k = 0; k < x->k; k++) {
        const int group = x->blocks > 1 ? 0 : k / x->per_lane, n = k % x->per_lane;
        const i32 factor = a->i[n][i + m * (x->blocks > 1 ? a_block : group)];
        const i32 *row = &b->i[n][m * (x->blocks > 1 ? b_block : group)];
        for (int j = 0; j < m; j++)
            d[j] += (u32)(factor * row[j]);
    }
}

static u32 *result_rows(struct wave *w, const struct operand *o)
{
    return o->kind == OPND_AGPR ? w->a[o->index] : w->v[o->index];
}

/* C into the buffer that becomes D. */
static void addend_load(const struct wave *w, const struct operand *o, int rows, u32 *t)
{
    if (o->kind == OPND_VGPR || o->kind == OPND_AGPR) {
        const u32 *c = o->kind == OPND_VGPR ? w->v[o->index] : w->a[o->index];
        memcpy(t, c, (size_t)rows * sizeof(lane_row));
        return;
    }
    for (int r = 0; r < rows; r++)
        row_fill(t + r * WAVE_LANES, source_scalar(w, o, 0));
}

static const struct inst *exec_mfma(struct wave *w, const struct inst *i)
{
    const struct mfma *x = mfma_find(i->op);
    source_temp ta, tb;
    struct elements a, b;
    u32 t[RESULT_ROWS_MAX * WAVE_LANES] __attribute__((aligned(64)));
    const int dwords = x->type == MFMA_F32 ? 1 : x->per_lane * (x->type == MFMA_I8 ? 8 : 16) / 32;
    const int rows = x->m * x->m * x->blocks / WAVE_LANES;
    elements_load(&a, x, source_plain(w, &i->src[0], dwords, ta));
    elements_load(&b, x, source_plain(w, &i->src[1], dwords, tb));
    elements_permute(&b, x->per_lane, i->mfma.blgp);
    addend_load(w, &i->src[2], rows, t);
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    for (int block = 0; block < x->blocks; block++) {
        /* cbsz: groups of 2^cbsz blocks share the A of the one that abid names. */
        const int shared = (1 << i->mfma.cbsz) - 1;
        const int a_block = ((block & ~shared) + (i->mfma.abid & shared)) % x->blocks;
        for (int row = 0; row < x->m; row++) {
            const struct result_row at = result_row(x, block, row);
            u32 *d = t + at.reg * WAVE_LANES + at.lane;
            if (x->type == MFMA_I8)
                row_i32(d, x, &a, &b, a_block, block, row);
            else
                row_f32((f32 *)d, x, &a, &b, a_block, block, row);
        }
    }
    fp_switch(MXCSR_MASKED, w->fp_state_32);
    memcpy(result_rows(w, &i->dst), t, (size_t)rows * sizeof(lane_row));
    return i + i->dwords;
}

/* Double precision. 16x16: lane 16k + i of A, lane 16k + j of B, D in lane 16(i % 4) + j of
 * register pair i / 4; 4x4, four blocks: lanes 16k + 4b + i, 16k + 4b + j, D in 16i + 4b + j. */
static f64 lane_f64(const u32 *rows, int lane)
{
    return LOAD_f64(rows, lane);
}
static f64 dot_f64(const u32 *a, const u32 *b, int a_lane, int b_first, f64 sum)
{
    for (int k = 0; k < 4; k++)
        sum = fma_f64(lane_f64(a, a_lane + 16 * k), lane_f64(b, b_first + 16 * k), sum);
    return sum;
}
static const struct inst *exec_mfma_f64(struct wave *w, const struct inst *i)
{
    const struct mfma *x = mfma_find(i->op);
    source_temp ta, tb;
    u32 t[8 * WAVE_LANES] __attribute__((aligned(64)));
    const int rows = x->m == 16 ? 8 : 2;
    const u32 *a = source_plain(w, &i->src[0], 2, ta), *b = source_plain(w, &i->src[1], 2, tb);
    addend_load(w, &i->src[2], rows, t);
    if (i->src[2].kind == OPND_SREG || i->src[2].kind == OPND_CONST)
        for (int r = 1; r < rows; r += 2)
            row_fill(t + r * WAVE_LANES, source_scalar(w, &i->src[2], 1));
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    for (int r = 0; r < rows; r += 2) {
        u32 *d = t + r * WAVE_LANES;
        for (int l = 0; l < WAVE_LANES; l++) {
            const int a_lane = x->m == 16 ? l / 16 + 2 * r : l / 16 + (l & 12);
            const f64 sum = dot_f64(a, b, a_lane, l & 15, lane_f64(d, l));
            STORE_f64(d, l, sum);
        }
    }
    fp_switch(MXCSR_MASKED, w->fp_state_32);
    memcpy(result_rows(w, &i->dst), t, (size_t)rows * sizeof(lane_row));
    return i + i->dwords;
}

inst_exec_fn *VALU(valu_mfma)(const struct inst *i)
{
    const struct mfma *x = mfma_find(i->op);
    if (!x)
        return NULL;
    if (x->type != MFMA_F64)
        return exec_mfma;
    /* The block and lane-group fields of the double forms are not modelled. */
    return i->mfma.cbsz || i->mfma.blgp ? NULL : exec_mfma_f64;
}
