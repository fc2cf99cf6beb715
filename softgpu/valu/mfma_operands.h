/*
 * What matrix instructions have in common: where blocks, rows and columns lie in registers (mfma.c
 * has the layout), and how lanes are moved before that.
 */
#ifndef VALU_MFMA_OPERANDS_H
#define VALU_MFMA_OPERANDS_H

#include "valu/chain.h"
#include "valu/exec.h"
#include "valu/vector.h"

struct mfma {
    uint8_t m, k, blocks, type, per_lane;
    bool wide_a, wide_b; /* 8-bit floats: bf8 (five bits of exponent) instead of fp8 (four) */
};

enum { STEPS_PER_LANE_MAX = 8, STEPS_MAX = 32, RAW_DWORDS_MAX = 2, RESULT_ROWS_MAX = 32 };

/* What each step of a block multiplies: the first row's element of A, the first column's of B. */
struct steps {
    const u32 *a[STEPS_MAX], *b[STEPS_MAX];
    int count;
};

/* The lane whose column of B a lane works with. */
static inline int b_lane(unsigned blgp, int lane)
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

/* cbsz: groups of 2^cbsz blocks share the A of the one that abid names. */
KERNEL_INLINE int a_block_of(const struct inst *i, const struct mfma *x, int block)
{
    const int shared = (1 << i->mfma.cbsz) - 1;
    return ((block & ~shared) + (i->mfma.abid & shared)) & (x->blocks - 1);
}

/* Registers of A or B, whose lanes have been moved about if the instruction says so; of A that is
 * done here for 4 x 4 alone. */
typedef u32 moved_rows[RAW_DWORDS_MAX * WAVE_LANES] __attribute__((aligned(64)));
static inline const u32 *a_lanes_moved(const u32 *rows, const struct inst *i, const struct mfma *x,
                                       int dwords, u32 *to)
{
    if (__builtin_expect(i->mfma.cbsz == 0, 1))
        return rows;
    for (int n = 0; n < dwords * WAVE_LANES; n++) {
        const int lane = n % WAVE_LANES;
        to[n] = rows[n - lane + 4 * a_block_of(i, x, lane / 4) + lane % 4];
    }
    return to;
}
static inline const u32 *b_lanes_moved(const u32 *rows, const struct inst *i, int dwords, u32 *to)
{
    if (__builtin_expect(i->mfma.blgp == 0, 1))
        return rows;
    for (int n = 0; n < dwords * WAVE_LANES; n++) {
        const int lane = n % WAVE_LANES;
        to[n] = rows[n - lane + b_lane(i->mfma.blgp, lane)];
    }
    return to;
}

static inline u32 *operand_rows(struct wave *w, const struct operand *o)
{
    return o->kind == OPND_AGPR ? w->a[o->index] : w->v[o->index];
}

/* Whether operands are registers whose lanes stay where they are, and all that an instruction reads
 * is read before its place is written: D may be C, row by row, and otherwise overlaps none. A and B
 * are read first, but for f32, of which they are a row. */
static inline bool apart_or(const struct operand *o, int rows, const struct operand *d, int rows_d,
                            bool may_be_same)
{
    if (o->kind != OPND_VGPR && o->kind != OPND_AGPR)
        return false;
    const bool apart =
        o->kind != d->kind || o->index + rows <= d->index || d->index + rows_d <= o->index;
    return apart || (may_be_same && o->index == d->index);
}
static inline bool is_plain(const struct inst *i, const struct mfma *x, int dwords)
{
    const int rows = x->m * x->m / WAVE_LANES * dwords;
    return x->blocks == 1 && x->m > 4 && i->mfma.cbsz == 0 && i->mfma.blgp == 0 &&
           apart_or(&i->src[0], dwords, &i->dst, rows, false) &&
           apart_or(&i->src[1], dwords, &i->dst, rows, false) &&
           apart_or(&i->src[2], rows, &i->dst, rows, true);
}

/* One of a chain (valu/chain.h). */
static inline bool chain_fits(const struct inst *i, const struct mfma *x, int dwords)
{
    return is_plain(i, x, dwords) && i->src[2].kind == i->dst.kind &&
           i->src[2].index == i->dst.index;
}

/* C and where it goes on: rows of registers, or one row again and again. */
struct addend {
    const u32 *row;
    int stride;
};
/* D is written while C is still read, which is right only where they are the same registers. */
static inline struct addend addend_load(const struct wave *w, const struct operand *o, int rows,
                                        const u32 *d, u32 *temp)
{
    if (o->kind != OPND_VGPR && o->kind != OPND_AGPR) {
        row_fill(temp, source_scalar(w, o, 0));
        row_fill(temp + WAVE_LANES, source_scalar(w, o, 1));
        return (struct addend){temp, 0};
    }
    const u32 *c = o->kind == OPND_VGPR ? w->v[o->index] : w->a[o->index];
    const size_t dwords = (size_t)rows * WAVE_LANES;
    if (c == d || c + dwords <= d || d + dwords <= c)
        return (struct addend){c, WAVE_LANES};
    memcpy(temp, c, dwords * sizeof *c);
    return (struct addend){temp, WAVE_LANES};
}

/* The steps of one of several blocks, which has the elements of one group of lanes; rows[n] are
 * step n's. */
KERNEL_INLINE void steps_of_block(struct steps *s, const u32 (*a)[WAVE_LANES],
                                  const u32 (*b)[WAVE_LANES], const int m, int a_block, int b_block)
{
    for (int n = 0; n < s->count; n++) {
        s->a[n] = &a[n][m * a_block];
        s->b[n] = &b[n][m * b_block];
    }
}
/* The steps of a single block: all that one group of lanes has, then what the next one has. */
KERNEL_INLINE void steps_of_groups(struct steps *s, const u32 (*a)[WAVE_LANES],
                                   const u32 (*b)[WAVE_LANES], const int m, int each)
{
    s->count = 0;
    for (int lane = 0; lane < WAVE_LANES; lane += m)
        for (int n = 0; n < each; n++, s->count++) {
            s->a[s->count] = &a[n][lane];
            s->b[s->count] = &b[n][lane];
        }
}

/* Handlers of double precision (mfma_double.c), and for operands whose places are known when they
 * are compiled (mfma_plain.c; NULL: it has others); and what executes chains of them. */
inst_exec_fn *VALU(valu_mfma_double)(const struct inst *i, const struct mfma *x);
valu_chain_fn *VALU(valu_mfma_double_chain)(const struct inst *i, const struct mfma *x);
valu_chain_fn *VALU(valu_mfma_plain_chain)(const struct inst *i, const struct mfma *x);

#endif
