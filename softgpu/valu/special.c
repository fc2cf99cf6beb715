/* Instructions that move data between lanes and registers, or do nothing. */
#include "valu/exec.h"
#include "valu/finish.h"
#include "valu/mix.h"

static const struct inst *exec_nop(struct wave *w, const struct inst *i)
{
    (void)w;
    return i + i->dwords;
}

static u32 lane_value(const struct wave *w, const struct operand *o, unsigned lane)
{
    if (o->kind == OPND_VGPR)
        return w->v[o->index][lane];
    if (o->kind == OPND_AGPR)
        return w->a[o->index][lane];
    return source_scalar(w, o, 0);
}

static const struct inst *exec_readfirstlane(struct wave *w, const struct inst *i)
{
    const u64 exec = wave_exec(w);
    const unsigned lane = exec ? (unsigned)__builtin_ctzll(exec) : 0;
    w->s[i->dst.index] = lane_value(w, &i->src[0], lane);
    return i + i->dwords;
}

/* EXEC does not matter to v_readlane and v_writelane. */
static const struct inst *exec_readlane(struct wave *w, const struct inst *i)
{
    const unsigned lane = source_scalar(w, &i->src[1], 0) % WAVE_LANES;
    w->s[i->dst.index] = lane_value(w, &i->src[0], lane);
    return i + i->dwords;
}
static const struct inst *exec_writelane(struct wave *w, const struct inst *i)
{
    const unsigned lane = source_scalar(w, &i->src[1], 0) % WAVE_LANES;
    w->v[i->dst.index][lane] = source_scalar(w, &i->src[0], 0);
    return i + i->dwords;
}

static const struct inst *exec_swap(struct wave *w, const struct inst *i)
{
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    u32 *a = w->v[i->dst.index], *b = w->v[i->src[0].index];
    memcpy(t, a, sizeof t);
    row_store_masked(a, b, wave_exec(w));
    row_store_masked(b, t, wave_exec(w));
    return i + i->dwords;
}

/* Each half of the result picks its dword of its own source. */
static const struct inst *exec_pk_mov(struct wave *w, const struct inst *i)
{
    source_temp ta, tb, t;
    const u32 *a = source_plain(w, &i->src[0], 2, ta), *b = source_plain(w, &i->src[1], 2, tb);
    memcpy(t, a + (i->op_sel & 1) * WAVE_LANES, sizeof(lane_row));
    memcpy(t + WAVE_LANES, b + (i->op_sel >> 1 & 1) * WAVE_LANES, sizeof(lane_row));
    u32 *d = w->v[i->dst.index];
    row_store_masked(d, t, wave_exec(w));
    row_store_masked(d + WAVE_LANES, t + WAVE_LANES, wave_exec(w));
    return i + i->dwords;
}

/* A source of v_fma_mix: op_sel_hi says half, op_sel which half; neg_hi means abs here. */
static void mix_source(const struct wave *w, const struct inst *i, int n, f32 *d)
{
    source_temp temp;
    u32 *row = source_copy(w, &i->src[n], 1, temp);
    if (i->op_sel_hi >> n & 1) {
        if (i->op_sel >> n & 1)
            LANES row[l] >>= 16;
        half_source(d, row, false, 0);
    } else {
        if (i->src[n].kind == OPND_CONST)
            row_fill(row, mix_constant(i, n));
        LANES d[l] = f32_of(row[l]);
    }
    const u32 keep = i->neg_hi >> n & 1 ? ~SIGN32 : ~0u, flip = i->neg >> n & 1 ? SIGN32 : 0;
    LANES d[l] = f32_of((bits32(d[l]) & keep) ^ flip);
}

static const struct inst *exec_fma_mix(struct wave *w, const struct inst *i)
{
    HALF_ROW(a);
    HALF_ROW(b);
    HALF_ROW(c);
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    u32 *d = w->v[i->dst.index];
    mix_source(w, i, 0, a);
    mix_source(w, i, 1, b);
    mix_source(w, i, 2, c);
    LANES a[l] = fma_f32(a[l], b[l], c[l]);
    LANES t[l] = bits32(a[l]);
    if (i->flags & IF_CLAMP)
        clamp_f32(w, t);
    if (i->op != OP_V_FMA_MIX_F32) {
        LANES a[l] = f32_of(t[l]);
        FP_BEGIN(w, OPF_STATE16);
        half_of_row(t, a);
        FP_END(w, OPF_STATE16);
        if (w->mode & MODE_FP16_OVFL)
            LANES t[l] = bounded_half(t[l], a[l]);
        if (i->op == OP_V_FMA_MIXHI_F16)
            LANES t[l] = (d[l] & 0xffff) | t[l] << 16;
        else
            LANES t[l] = (d[l] & 0xffff0000) | t[l];
    }
    row_store_masked(d, t, wave_exec(w));
    return i + i->dwords;
}

static const struct {
    uint16_t op;
    inst_exec_fn *handler;
} specials[] = {
    {OP_V_NOP, exec_nop},
    {OP_V_CLREXCP, exec_nop},
    {OP_V_READFIRSTLANE_B32, exec_readfirstlane},
    {OP_V_READLANE_B32, exec_readlane},
    {OP_V_WRITELANE_B32, exec_writelane},
    {OP_V_SWAP_B32, exec_swap},
    {OP_V_PK_MOV_B32, exec_pk_mov},
    {OP_V_FMA_MIX_F32, exec_fma_mix},
    {OP_V_FMA_MIXLO_F16, exec_fma_mix},
    {OP_V_FMA_MIXHI_F16, exec_fma_mix},
};

inst_exec_fn *VALU(valu_special)(const struct inst *i)
{
    for (size_t n = 0; n < sizeof specials / sizeof specials[0]; n++)
        if (specials[n].op == i->op)
            return specials[n].handler;
    return VALU(valu_float8)(i);
}
