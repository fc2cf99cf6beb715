/*
 * Matrix instructions on sparse matrices: D += A x B, where A keeps two of each four neighbours in
 * a row, and a register says which (two bits each, the first one's lowest). EXEC and MODE do not
 * matter; sums go up in k, rounded to nearest at every step.
 *
 * The 64 lanes form 64 / M groups, which are the next ranges of k. With n elements of A in a lane:
 *     A[i][kept]:  lane i + M * group, element kept % n; its position among its four neighbours
 *                  stands in the same lane of the index register
 *     B[k][j]:     lane j + M * group, element k % 2n
 *     D[i][j]:     as that of other matrix instructions (mfma.c)
 */
#include "valu/exec.h"
#include "valu/float8.h"
#include "valu/half.h"
#include "valu/vector.h"

enum sparse_type { SPARSE_F16, SPARSE_BF16, SPARSE_I8, SPARSE_F8 };

struct sparse {
    uint8_t m, type;
    bool wide_a, wide_b; /* SPARSE_F8: bf8 instead of fp8 */
};

#define SPARSE(OP, M, TYPE)            [OP_V_SMFMAC_##OP] = {M, SPARSE_##TYPE, false, false}
#define SPARSE8(OP, M, WIDE_A, WIDE_B) [OP_V_SMFMAC_##OP] = {M, SPARSE_F8, WIDE_A, WIDE_B}
static const struct sparse sparses[OP_COUNT] = {
    SPARSE(F32_16X16X32_F16, 16, F16),
    SPARSE(F32_32X32X16_F16, 32, F16),
    SPARSE(F32_16X16X32_BF16, 16, BF16),
    SPARSE(F32_32X32X16_BF16, 32, BF16),
    SPARSE(I32_16X16X64_I8, 16, I8),
    SPARSE(I32_32X32X32_I8, 32, I8),
    SPARSE8(F32_16X16X64_BF8_BF8, 16, true, true),
    SPARSE8(F32_16X16X64_BF8_FP8, 16, true, false),
    SPARSE8(F32_16X16X64_FP8_BF8, 16, false, true),
    SPARSE8(F32_16X16X64_FP8_FP8, 16, false, false),
    SPARSE8(F32_32X32X32_BF8_BF8, 32, true, true),
    SPARSE8(F32_32X32X32_BF8_FP8, 32, true, false),
    SPARSE8(F32_32X32X32_FP8_BF8, 32, false, true),
    SPARSE8(F32_32X32X32_FP8_FP8, 32, false, false),
};

enum { A_DWORDS = 2, B_DWORDS = 4, KEPT_MAX = 8 };

/* Rows of 64 lanes of f32 or i32, one for each element that a lane holds. */
struct operands {
    u32 a[KEPT_MAX][WAVE_LANES] __attribute__((aligned(64)));
    u32 b[2 * KEPT_MAX][WAVE_LANES] __attribute__((aligned(64)));
    u32 index[WAVE_LANES]; /* of the set in use, in the low bits */
};

KERNEL_INLINE int kept_of(const enum sparse_type type)
{
    return type == SPARSE_F16 || type == SPARSE_BF16 ? 4 : 8;
}

KERNEL_INLINE void elements_widen(u32 (*to)[WAVE_LANES], const u32 *rows, int count,
                                  const enum sparse_type type, const bool wide)
{
    const int per_dword = type == SPARSE_F16 || type == SPARSE_BF16 ? 2 : 4;
    for (int n = 0; n < count; n++) {
        const u32 *row = rows + n / per_dword * WAVE_LANES;
        const int shift = n % per_dword * (32 / per_dword);
        u32 part[WAVE_LANES] __attribute__((aligned(64)));
        LANES part[l] = row[l] >> shift;
        if (type == SPARSE_F16)
            row_of_half((f32 *)to[n], part);
        else if (type == SPARSE_BF16)
            LANES to[n][l] = part[l] << 16;
        else if (type == SPARSE_F8)
            LANES to[n][l] = f32_of_f8(part[l], wide);
        else
            LANES to[n][l] = (u32)((i32)(part[l] << 24) >> 24);
    }
}

/* Of the sets that the index register holds, four of a byte or two of a half, abid names one. With
 * cbsz it is the first. */
KERNEL_INLINE void operands_load(struct operands *o, const struct wave *w, const struct inst *i,
                                 const struct sparse *x, const enum sparse_type type)
{
    source_temp ta, tb, tc;
    const int kept = kept_of(type), sets = 16 / kept;
    const int shift = i->mfma.cbsz ? 0 : i->mfma.abid % sets * 2 * kept;
    const u32 *index = source_plain(w, &i->src[2], 1, tc);
    elements_widen(o->a, source_plain(w, &i->src[0], A_DWORDS, ta), kept, type, x->wide_a);
    elements_widen(o->b, source_plain(w, &i->src[1], B_DWORDS, tb), 2 * kept, type, x->wide_b);
    LANES o->index[l] = index[l] >> shift;
}

/* One row of the result: each kept element times the row of B that its index names. */
KERNEL_INLINE void result_row(u32 *d, const struct operands *o, int row, const int m,
                              const enum sparse_type type)
{
    enum { VECTORS_MAX = 32 / VECTOR_LANES };
    const int vectors = m / VECTOR_LANES;
    vec_u32 sum[VECTORS_MAX];
    UNROLL for (int v = 0; v < vectors; v++) sum[v] = vector_load(d + v * VECTOR_LANES);
    for (int first = 0; first < WAVE_LANES; first += m) {
        u32 index = o->index[first + row];
        for (int n = 0; n < kept_of(type); n++, index >>= 2) {
            const vec_u32 factor = vector_splat(o->a[n][first + row]);
            const u32 *b = o->b[n / 2 * 4 + (int)(index & 3)] + first;
            UNROLL for (int v = 0; v < vectors; v++)
            {
                const vec_u32 x = vector_load(b + v * VECTOR_LANES);
                if (type == SPARSE_I8)
                    sum[v] += factor * x;
                else
                    sum[v] = (vec_u32)vector_fma_f32((vec_f32)factor, (vec_f32)x, (vec_f32)sum[v]);
            }
        }
    }
    UNROLL for (int v = 0; v < vectors; v++) vector_store(d + v * VECTOR_LANES, sum[v]);
}

KERNEL_INLINE const struct inst *smfmac_run(struct wave *w, const struct inst *i, const int m,
                                            const enum sparse_type type)
{
    const int groups = WAVE_LANES / m;
    struct operands o;
    u32 *d = i->dst.kind == OPND_AGPR ? w->a[i->dst.index] : w->v[i->dst.index];
    operands_load(&o, w, i, &sparses[i->op], type);
    fp_switch(w->fp_state_32, MXCSR_MASKED);
    for (int row = 0; row < m; row++) {
        const int reg = row % 4 + row / (4 * groups) * 4, lane = row / 4 % groups * m;
        result_row(d + reg * WAVE_LANES + lane, &o, row, m, type);
    }
    fp_switch(MXCSR_MASKED, w->fp_state_32);
    return i + i->dwords;
}

/* A handler for each size and type, in which both are constants. */
#define SPARSE_HANDLER(M, TYPE)                                                                    \
    static const struct inst *exec_##M##_##TYPE(struct wave *w, const struct inst *i)              \
    {                                                                                              \
        return smfmac_run(w, i, M, TYPE);                                                          \
    }
#define SPARSE_HANDLERS(TYPE) SPARSE_HANDLER(16, TYPE) SPARSE_HANDLER(32, TYPE)
SPARSE_HANDLERS(SPARSE_F16)
SPARSE_HANDLERS(SPARSE_BF16)
SPARSE_HANDLERS(SPARSE_I8)
SPARSE_HANDLERS(SPARSE_F8)
#define SPARSE_ENTRIES(TYPE) [TYPE] = {exec_16_##TYPE, exec_32_##TYPE}
static inst_exec_fn *const handlers[][2] = {SPARSE_ENTRIES(SPARSE_F16), SPARSE_ENTRIES(SPARSE_BF16),
                                            SPARSE_ENTRIES(SPARSE_I8), SPARSE_ENTRIES(SPARSE_F8)};

inst_exec_fn *VALU(valu_smfmac)(const struct inst *i)
{
    const struct sparse *x = &sparses[i->op];
    return x->m ? handlers[x->type][x->m == 32] : NULL;
}
