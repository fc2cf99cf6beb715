/*
 * Matrix instructions of double precision: one fused multiply and add for each k.
 */
#include "valu/chain.h"
#include "valu/mfma_operands.h"

/* 16 x 16, double precision: lane 16k + i of A, lane 16k + j of B, D in lane 16(i % 4) + j of
 * register pair i / 4. */
enum { F64_STEPS = 4, F64_COLUMNS = 16, F64_VECTORS = F64_COLUMNS / VECTOR_LANES };

/* A, so that a lane's element is found by whether its number is odd, and by half of it. */
struct factors_f64 {
    u64 of[2][WAVE_LANES / 2] __attribute__((aligned(64)));
};
KERNEL_INLINE void factors_load_f64(struct factors_f64 *f, const u32 *a)
{
    UNROLL for (int lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES)
    {
        const struct vector_pair p = pair_load(a + lane);
        *(vec_u64 *)&f->of[0][lane / 2] = p.even;
        *(vec_u64 *)&f->of[1][lane / 2] = p.odd;
    }
}

/* What an instruction multiplies: A found as above, B's rows as even and odd columns. */
struct link_f64 {
    struct factors_f64 a;
    struct vector_pair b[F64_STEPS][F64_VECTORS];
};
KERNEL_INLINE void link_load(struct link_f64 *link, const u32 *a, const u32 *b)
{
    factors_load_f64(&link->a, a);
    UNROLL for (int k = 0; k < F64_STEPS; k++) UNROLL for (int v = 0; v < F64_VECTORS; v++)
        link->b[k][v] = pair_load(b + k * F64_COLUMNS + v * VECTOR_LANES);
}

/* Four rows of the result, in one register pair: each step adds one row of B, even columns and odd
 * ones, times one element of A. */
KERNEL_INLINE void pair_run_f64(u32 *d, const u32 *c, const struct link_f64 *link, int first_row)
{
    UNROLL for (int row = 0; row < 4; row++) UNROLL for (int v = 0; v < F64_VECTORS; v++)
    {
        const int lane = row * F64_COLUMNS + v * VECTOR_LANES;
        struct vector_pair sum = pair_load(c + lane);
        UNROLL for (int k = 0; k < F64_STEPS; k++)
        {
            const int from = first_row + row + F64_COLUMNS * k;
            const u64 factor = link->a.of[row % 2][from / 2];
            sum = pair_fma_f64(vector_splat64(factor), link->b[k][v], sum);
        }
        pair_store(d + lane, sum);
    }
}
static void large_block_f64(u32 *d, struct addend c, const u32 *a, const u32 *b)
{
    struct link_f64 link;
    link_load(&link, a, b);
    for (int pair = 0; pair < 4; pair++)
        pair_run_f64(d + 2 * pair * WAVE_LANES, c.row + 2 * pair * c.stride, &link, 4 * pair);
}

/* 4 x 4, four blocks: lanes 16k + 4b + i, 16k + 4b + j, D in 16i + 4b + j. `v` is a part of the 16
 * lanes that the blocks' columns lie in. A block's two even lanes of A are neighbours in a vector
 * of even ones, and its odd ones in the other. */
KERNEL_INLINE void small_rows_f64(u32 *d, const u32 *c, const u32 *a, const u32 *b, int v)
{
    enum { ROWS = 4 };
    struct vector_pair sum[ROWS];
    UNROLL for (int row = 0; row < ROWS; row++) sum[row] = pair_load(c + row * F64_COLUMNS + v);
    UNROLL for (int k = 0; k < F64_STEPS; k++)
    {
        const struct vector_pair factors = pair_load(a + k * F64_COLUMNS + v);
        const struct vector_pair columns = pair_load(b + k * F64_COLUMNS + v);
        UNROLL for (int row = 0; row < ROWS; row++)
        {
            const vec_u64 of_blocks = row % 2 ? factors.odd : factors.even;
            sum[row] = pair_fma_f64(vector_twice64(of_blocks, row / 2), columns, sum[row]);
        }
    }
    UNROLL for (int row = 0; row < ROWS; row++) pair_store(d + row * F64_COLUMNS + v, sum[row]);
}
static void small_blocks_f64(u32 *d, const u32 *c, const u32 *a, const u32 *b)
{
    u32 t[2 * WAVE_LANES] __attribute__((aligned(64))); /* D may be A or B */
    for (int v = 0; v < F64_COLUMNS; v += VECTOR_LANES)
        small_rows_f64(t, c, a, b, v);
    memcpy(d, t, sizeof t);
}

/* gfx942 negates A, B and C of double precision where the others have the lane groups of B. */
static const u32 *negated_f64(const u32 *from, u32 *to)
{
    if (from != to)
        row_copy(to, from);
    LANES to[WAVE_LANES + l] = from[WAVE_LANES + l] ^ SIGN32;
    return to;
}
static struct addend addend_negated_f64(struct addend c, int rows, u32 *to)
{
    for (int r = 0; r < rows; r += 2) {
        const u32 *from = c.row + r * c.stride;
        negated_f64(from, to + r * WAVE_LANES);
    }
    return (struct addend){to, WAVE_LANES};
}

KERNEL_INLINE const struct inst *mfma_run(struct wave *w, const struct inst *i, const int m)
{
    source_temp ta, tb;
    u32 t[8 * WAVE_LANES] __attribute__((aligned(64))), *d = operand_rows(w, &i->dst);
    u32 negated[8 * WAVE_LANES] __attribute__((aligned(64)));
    const int rows = m == 16 ? 8 : 2;
    const u32 *a = source_plain(w, &i->src[0], 2, ta), *b = source_plain(w, &i->src[1], 2, tb);
    struct addend c = addend_load(w, &i->src[2], rows, d, t);
    if (i->neg & 1)
        a = negated_f64(a, ta);
    if (i->neg & 2)
        b = negated_f64(b, tb);
    if (i->neg & 4)
        c = addend_negated_f64(c, rows, negated);
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    if (m == 16)
        large_block_f64(d, c, a, b);
    else
        small_blocks_f64(d, c.row, a, b);
    fp_switch(MXCSR_MASKED, w->fp_state_32);
    return i + i->dwords;
}

static const struct inst *exec_4(struct wave *w, const struct inst *i)
{
    return mfma_run(w, i, 4);
}
static const struct inst *exec_16(struct wave *w, const struct inst *i)
{
    return mfma_run(w, i, 16);
}

inst_exec_fn *VALU(valu_mfma_double)(const struct inst *i, const struct mfma *x)
{
    /* Blocks and lane groups are none of double precision's; gfx90a encodes them all the same. */
    if (i->mfma.cbsz || i->mfma.blgp)
        return NULL;
    return x->m == 16 ? exec_16 : exec_4;
}

/* ---- chains ---- */

/* Rows of the result whose sums the host's registers hold at once. */
enum { F64_ROWS = VECTOR_BYTES == 64 ? 8 : VECTOR_BYTES == 32 ? 2 : 1 };

static inline int row_place_f64(int row)
{
    return row / 4 * 2 * WAVE_LANES + row % 4 * F64_COLUMNS;
}

KERNEL_INLINE void rows_chain_f64(u32 *d, const struct link_f64 *links, unsigned count, int first)
{
    struct vector_pair sum[F64_ROWS][F64_VECTORS];
    UNROLL for (int r = 0; r < F64_ROWS; r++) UNROLL for (int v = 0; v < F64_VECTORS; v++)
        sum[r][v] = pair_load(d + row_place_f64(first + r) + v * VECTOR_LANES);
    for (unsigned n = 0; n < count; n++) {
        const u64 *a = &links[n].a.of[first % 2][first / 2];
        __asm__("" : "+r"(a)); /* one address with many offsets, not many addresses */
        UNROLL for (int k = 0; k < F64_STEPS; k++) UNROLL for (int r = 0; r < F64_ROWS; r++)
            UNROLL for (int v = 0; v < F64_VECTORS; v++)
        {
            const u64 factor = a[r % 2 * (WAVE_LANES / 2) + (r + F64_COLUMNS * k) / 2];
            sum[r][v] = pair_fma_f64(vector_splat64(factor), links[n].b[k][v], sum[r][v]);
        }
    }
    UNROLL for (int r = 0; r < F64_ROWS; r++) UNROLL for (int v = 0; v < F64_VECTORS; v++)
        pair_store(d + row_place_f64(first + r) + v * VECTOR_LANES, sum[r][v]);
}

static void exec_chain(struct wave *w, const struct inst *first, u64 near, u64 far, u32 count)
{
    struct link_f64 links[VALU_CHAIN_MAX];
    u32 *d = operand_rows(w, &chain_inst(first, near, far, 0)->dst);
    for (unsigned n = 0; n < count; n++) {
        const struct inst *i = chain_inst(first, near, far, n);
        link_load(&links[n], operand_rows(w, &i->src[0]), operand_rows(w, &i->src[1]));
    }
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    for (int row = 0; row < F64_COLUMNS; row += F64_ROWS)
        rows_chain_f64(d, links, count, row);
    fp_switch(MXCSR_MASKED, w->fp_state_32);
}

valu_chain_fn *VALU(valu_mfma_double_chain)(const struct inst *i, const struct mfma *x)
{
    return chain_fits(i, x, 2) && !i->neg ? exec_chain : NULL;
}
