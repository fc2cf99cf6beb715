/*
 * The handlers of one build: the general ones, which call kernels through the table, and the
 * choice between them and the specialised ones.
 */
#include "valu/exec.h"

#include "valu/finish.h"
#include "valu/vector.h"

const struct valu_op *VALU(valu_by_op)[OP_COUNT];
#define by_op VALU(valu_by_op)

/* Accumulating operations have their destination as the third source, selects a lane mask. */
static const u32 *source_third(const struct wave *w, const struct inst *i, const struct valu_op *op,
                               u32 *temp)
{
    if (op->flags & OPF_ACCUMULATE)
        return source_plain(w, &i->dst, op->dwords[0], temp);
    if (op->flags & OPF_MASK_C) {
        row_of_mask(temp, mask_load(w, &i->src[2]));
        return temp;
    }
    return op->dwords[3] ? source_modified(w, i, 2, op->dwords[3], temp) : NULL;
}

static u32 *destination(struct wave *w, const struct operand *o)
{
    return o->kind == OPND_AGPR ? w->a[o->index] : w->v[o->index];
}

static void store_rows(u32 *d, const u32 *t, int dwords, u64 lanes)
{
    if (lanes == ~UINT64_C(0))
        for (int k = 0; k < dwords; k++)
            row_copy(d + k * WAVE_LANES, t + k * WAVE_LANES);
    else
        for (int k = 0; k < dwords; k++)
            row_store_masked(d + k * WAVE_LANES, t + k * WAVE_LANES, lanes);
}

/* This handler knows no modifiers, but any kinds of sources. */
static const struct inst *exec_plain(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp ta, tb, tc, t;
    u32 m[WAVE_LANES] __attribute__((aligned(64)));
    const u32 *a = source_plain(w, &i->src[0], op->dwords[1], ta);
    const u32 *b = op->dwords[2] ? source_plain(w, &i->src[1], op->dwords[2], tb) : NULL;
    const u32 *c = NULL;
    if (op->flags & (OPF_ACCUMULATE | OPF_MASK_C))
        c = source_third(w, i, op, tc);
    else if (op->dwords[3])
        c = source_plain(w, &i->src[2], op->dwords[3], tc);
    if (op->flags & OPF_VCC_IN)
        row_of_mask(m, wave_vcc(w));
    u32 *d = destination(w, &i->dst);
    const u64 exec = wave_exec(w);
    FP_BEGIN(w, op->flags);
    if (exec == ~UINT64_C(0)) {
        op->kernel(d, m, a, b, c, w);
    } else {
        op->kernel(t, m, a, b, c, w);
        store_rows(d, t, op->dwords[0], exec);
    }
    FP_END(w, op->flags);
    if (op->flags & OPF_MASK_OUT)
        mask_store(w, &i->sdst, mask_of_row(m) & exec);
    return i + i->dwords;
}

/* The kernel's result is what the register gets. */
static bool result_as_is(const struct inst *i, u32 flags)
{
    return !i->omod && !(i->flags & IF_CLAMP) && i->modifier != MOD_SDWA &&
           !(i->format == FMT_VOP3 && i->op_sel & 8) && !(flags & OPF_KEEP_HIGH);
}

/* This handler knows every modifier. */
static const struct inst *exec_general(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp ta, tb, tc, temp;
    u32 m[WAVE_LANES] __attribute__((aligned(64)));
    const u64 exec = wave_exec(w);
    const u64 lanes = i->modifier == MOD_DPP ? dpp_written(i, exec) : exec;
    const u32 *a = source_modified(w, i, 0, op->dwords[1], ta);
    const u32 *b = op->dwords[2] ? source_modified(w, i, 1, op->dwords[2], tb) : NULL;
    const u32 *c = source_third(w, i, op, tc);
    if (op->flags & OPF_VCC_IN)
        row_of_mask(m, wave_vcc(w));
    u32 *d = destination(w, &i->dst);
    const bool as_is = result_as_is(i, op->flags);
    u32 *t = as_is && lanes == ~UINT64_C(0) ? d : temp;
    valu_kernel *kernel = i->flags & IF_CLAMP && op->clamped ? op->clamped : op->kernel;
    FP_BEGIN(w, op->flags);
    kernel(t, m, a, b, c, w);
    if (!as_is)
        result_modify(w, i, op->flags, t);
    FP_END(w, op->flags);
    if (!as_is)
        result_place(i, op->flags, t, d);
    if (t != d)
        store_rows(d, t, op->dwords[0], lanes);
    if (op->flags & OPF_MASK_OUT)
        mask_store(w, &i->sdst, mask_of_row(m) & lanes);
    return i + i->dwords;
}

/* What instructions do to the signs of f32 and f64 sources, by their neg and abs. */
static struct source_signs signs_of[64];
static void signs_init(void)
{
    for (u32 n = 0; n < 64; n++)
        for (u32 source = 0; source < 3; source++) {
            signs_of[n].keep[source] = n >> source & 1 ? ~SIGN32 : ~UINT32_C(0);
            signs_of[n].flip[source] = n >> (3 + source) & 1 ? SIGN32 : 0;
        }
}
/* An accumulator has none. */
KERNEL_INLINE const struct source_signs *source_signs(const struct inst *i, u32 flags)
{
    const u32 sources = flags & OPF_ACCUMULATE ? 3 : 7;
    return &signs_of[(i->abs & sources) | (i->neg & sources) << 3];
}

/* This one knows signs of f32 and f64 sources, which `a - b * c` and its like are made of. */
static const struct inst *exec_signs(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    const u32 flags = op->flags;
    source_temp ta, tb, tc;
    u32 t[2 * WAVE_LANES] __attribute__((aligned(64)));
    const u32 *a = source_plain(w, &i->src[0], op->dwords[1], ta), *c = NULL;
    const u32 *b = source_plain(w, &i->src[1], op->dwords[2], tb);
    if (op->dwords[3])
        c = source_plain(w, flags & OPF_ACCUMULATE ? &i->dst : &i->src[2], op->dwords[3], tc);
    u32 *d = destination(w, &i->dst);
    const bool full = wave_exec(w) == ~UINT64_C(0);
    FP_BEGIN(w, flags);
    op->with_signs(full ? d : t, a, b, c, w, source_signs(i, flags));
    FP_END(w, flags);
    if (!full)
        store_rows(d, t, op->dwords[0], wave_exec(w));
    return i + i->dwords;
}

/* The same of comparisons. */
static const struct inst *exec_compare_signs(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp ta, tb;
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    const u32 *a = source_plain(w, &i->src[0], op->dwords[1], ta);
    const u32 *b = source_plain(w, &i->src[1], op->dwords[2], tb);
    FP_BEGIN(w, op->flags);
    op->with_signs(t, a, b, NULL, w, source_signs(i, 0));
    FP_END(w, op->flags);
    const u64 mask = mask_of_row(t) & wave_exec(w);
    mask_store(w, i->sdst.kind == OPND_NONE ? &i->dst : &i->sdst, mask);
    if (op->flags & OPF_WRITE_EXEC)
        w->s64[SREG_EXEC / 2] = mask;
    return i + i->dwords;
}

/* A first source of one dword that comes from other lanes, and nothing else that is special: what
 * sums across a wave are made of. */
static const struct inst *exec_dpp(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp ta, tb, moved, t;
    const u64 exec = wave_exec(w), lanes = dpp_written(i, exec);
    const u32 *b = NULL, *c = NULL;
    dpp_permute(moved, source_plain(w, &i->src[0], 1, ta), i, exec);
    if (op->dwords[2])
        b = source_plain(w, &i->src[1], 1, tb);
    u32 *d = w->v[i->dst.index];
    if (op->flags & OPF_ACCUMULATE)
        c = d;
    FP_BEGIN(w, op->flags);
    op->kernel(lanes == ~UINT64_C(0) ? d : t, NULL, moved, b, c, w);
    FP_END(w, op->flags);
    if (lanes != ~UINT64_C(0))
        row_store_masked(d, t, lanes);
    return i + i->dwords;
}

static const struct inst *exec_compare(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp ta, tb;
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    const u64 exec = wave_exec(w);
    const u64 lanes = i->modifier == MOD_DPP ? dpp_written(i, exec) : exec;
    const u32 *a = source_modified(w, i, 0, op->dwords[1], ta);
    const u32 *b = source_modified(w, i, 1, op->dwords[2], tb);
    FP_BEGIN(w, op->flags);
    op->kernel(t, NULL, a, b, NULL, w);
    FP_END(w, op->flags);
    const u64 mask = mask_of_row(t) & lanes;
    mask_store(w, i->sdst.kind == OPND_NONE ? &i->dst : &i->sdst, mask);
    if (op->flags & OPF_WRITE_EXEC)
        w->s64[SREG_EXEC / 2] = mask;
    return i + i->dwords;
}

/* One half of a packed 16-bit source in the low 16 bits. */
static const u32 *source_half(const u32 *whole, bool high, bool negate, u32 *temp)
{
    if (!high && !negate)
        return whole;
    const u32 shift = high ? 16 : 0, flip = negate ? 0x8000 : 0;
    LANES temp[l] = (whole[l] >> shift) ^ flip;
    return temp;
}

/* Packed 16-bit operations: the kernel of the plain operation, once for each half. */
static const struct inst *exec_packed(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp whole_temp[3], half_temp[3], t[2];
    const u32 *whole[3] = {NULL, NULL, NULL}, *part[3] = {NULL, NULL, NULL};
    const bool vop3p = i->format == FMT_VOP3P;
    const u32 select[2] = {vop3p ? i->op_sel : 0, vop3p ? i->op_sel_hi : 7};
    const bool floats = op->flags & OPF_F16_OUT, signs = vop3p && floats;
    const u32 negate[2] = {signs ? i->neg : 0, signs ? i->neg_hi : 0};
    const bool float_clamp = i->flags & IF_CLAMP && floats;
    valu_kernel *kernel = i->flags & IF_CLAMP && op->clamped ? op->clamped : op->kernel;
    for (int n = 0; n < 3; n++)
        if (op->dwords[n + 1])
            whole[n] = source_plain(w, n == 2 && op->flags & OPF_ACCUMULATE ? &i->dst : &i->src[n],
                                    1, whole_temp[n]);
    FP_BEGIN(w, op->flags);
    for (int h = 0; h < 2; h++) {
        for (int n = 0; n < 3; n++)
            if (whole[n])
                part[n] =
                    source_half(whole[n], select[h] >> n & 1, negate[h] >> n & 1, half_temp[n]);
        kernel(t[h], NULL, part[0], part[1], part[2], w);
        if (float_clamp)
            clamp_f16(w, t[h]);
    }
    FP_END(w, op->flags);
    LANES t[0][l] = (t[0][l] & 0xffff) | t[1][l] << 16;
    store_rows(destination(w, &i->dst), t[0], 1, wave_exec(w));
    return i + i->dwords;
}

/* f16 rounds to the nearest, also beyond its largest number, and keeps its denormals. */
static bool half_mode_is_usual(const struct wave *w)
{
    enum { DENORMALS = 3u << MODE_DENORM_64_SHIFT, ROUND = 3u << MODE_ROUND_64_SHIFT };
    return (w->mode & (DENORMALS | ROUND | MODE_FP16_OVFL)) == DENORMALS;
}

/* Both halves at once. */
static const struct inst *exec_pairs(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp temp[3];
    u32 t[WAVE_LANES] __attribute__((aligned(64)));
    const u32 *source[3] = {NULL, NULL, NULL};
    if (!half_mode_is_usual(w))
        return exec_packed(w, i);
    for (int n = 0; n < 3; n++)
        if (op->dwords[n + 1])
            source[n] = source_vop3p(w, i, n, 1, temp[n]);
    u32 *d = destination(w, &i->dst);
    const bool full = wave_exec(w) == ~UINT64_C(0);
    FP_BEGIN(w, OPF_STATE16);
    op->pairs(full ? d : t, NULL, source[0], source[1], source[2], w);
    FP_END(w, OPF_STATE16);
    if (!full)
        row_store_masked(d, t, wave_exec(w));
    return i + i->dwords;
}

/* One dword of a source of packed single precision. */
static const u32 *source_dword(const u32 *whole, bool high, bool negate, u32 *temp)
{
    const u32 *row = whole + (high ? WAVE_LANES : 0);
    if (!negate)
        return row;
    LANES temp[l] = row[l] ^ SIGN32;
    return temp;
}

/* A source of packed single precision; of a scalar one, the dwords that the halves pick. */
static const u32 *source_packed_f32(const struct wave *w, const struct inst *i, int n, u32 *temp)
{
    const struct operand *o = &i->src[n];
    const u32 high = i->op_sel >> n & 1, high_hi = i->op_sel_hi >> n & 1;
    if (o->kind == OPND_VGPR || o->kind == OPND_AGPR)
        return source_plain(w, o, 2, temp);
    if (!(high & high_hi))
        row_fill(temp, source_scalar(w, o, 0));
    if (high | high_hi)
        row_fill(temp + WAVE_LANES, source_scalar(w, o, 1));
    return temp;
}

/* gfx90a's packed single precision works on register pairs; each half of a result picks its dwords.
 */
static const struct inst *exec_packed_f32(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp whole_temp[3], sign_temp[3], t;
    const u32 *whole[3] = {NULL, NULL, NULL}, *part[3] = {NULL, NULL, NULL};
    u32 *const d = destination(w, &i->dst);
    const u64 exec = wave_exec(w);
    /* The first result may be what the second one is made of. */
    u32 *to = exec == ~UINT64_C(0) ? d : t;
    for (int n = 0; n < 3; n++) {
        if (op->dwords[n + 1])
            whole[n] = source_packed_f32(w, i, n, whole_temp[n]);
        if (whole[n] && whole[n] + (i->op_sel_hi >> n & 1) * WAVE_LANES == d)
            to = t;
    }
    for (int h = 0; h < 2; h++) {
        const u32 select = h ? i->op_sel_hi : i->op_sel, negate = h ? i->neg_hi : i->neg;
        for (int n = 0; n < 3; n++)
            if (whole[n])
                part[n] = source_dword(whole[n], select >> n & 1, negate >> n & 1, sign_temp[n]);
        op->kernel(to + h * WAVE_LANES, NULL, part[0], part[1], part[2], w);
        if (i->flags & IF_CLAMP)
            clamp_f32(w, to + h * WAVE_LANES);
    }
    if (to != d)
        store_rows(d, t, 2, exec);
    return i + i->dwords;
}

/* The usual ones: registers as they are. */
static const struct inst *exec_packed_f32_plain(struct wave *w, const struct inst *i)
{
    const struct valu_op *op = by_op[i->op];
    source_temp t;
    const u32 *low[3] = {NULL, NULL, NULL}, *high[3] = {NULL, NULL, NULL};
    u32 *const d = destination(w, &i->dst);
    const u64 exec = wave_exec(w);
    u32 *to = exec == ~UINT64_C(0) ? d : t;
    UNROLL for (int n = 0; n < 3; n++)
    {
        const struct operand *o = &i->src[n];
        const u32 *whole = o->kind == OPND_AGPR ? w->a[o->index] : w->v[o->index];
        low[n] = whole + (i->op_sel >> n & 1) * WAVE_LANES;
        high[n] = whole + (i->op_sel_hi >> n & 1) * WAVE_LANES;
        if (op->dwords[n + 1] && high[n] == d)
            to = t;
    }
    op->kernel(to, NULL, low[0], low[1], low[2], w);
    op->kernel(to + WAVE_LANES, NULL, high[0], high[1], high[2], w);
    if (to != d)
        store_rows(d, t, 2, exec);
    return i + i->dwords;
}
static bool registers_as_they_are(const struct inst *i, const struct valu_op *op)
{
    for (int n = 0; n < 3; n++)
        if (op->dwords[n + 1] && i->src[n].kind != OPND_VGPR && i->src[n].kind != OPND_AGPR)
            return false;
    return !(i->neg | i->neg_hi) && !(i->flags & IF_CLAMP);
}

static const struct inst *exec_cndmask(struct wave *w, const struct inst *i)
{
    source_temp ta, tb;
    const u32 *a = source_plain(w, &i->src[0], 1, ta), *b = source_plain(w, &i->src[1], 1, tb);
    u32 *d = w->v[i->dst.index];
    const u64 exec = wave_exec(w), mask = mask_load(w, &i->src[2]);
    const bool full = exec == ~UINT64_C(0);
    UNROLL for (int l = 0; l < WAVE_LANES; l += VECTOR_LANES)
    {
        const vec_u32 chosen = vector_of_mask(mask, l);
        vec_u32 r = (vector_load(b + l) & chosen) | (vector_load(a + l) & ~chosen);
        if (!full) {
            const vec_u32 active = vector_of_mask(exec, l);
            r = (r & active) | (vector_load(d + l) & ~active);
        }
        vector_store(d + l, r);
    }
    return i + i->dwords;
}

static bool fetchable(const struct operand *o)
{
    return o->kind <= OPND_EXECZ;
}

static bool modified(const struct inst *i)
{
    return i->modifier != MOD_NONE || i->neg || i->abs || i->omod ||
           i->flags & (IF_CLAMP | IF_FLUSH_F16) || (i->format == FMT_VOP3 && i->op_sel) ||
           halves_modified(i, 0) || halves_modified(i, 1);
}

/* Negated or absolute sources are all that is special. */
static bool modified_by_signs(const struct inst *i)
{
    return i->format == FMT_VOP3 && (i->neg | i->abs) && i->modifier == MOD_NONE && !i->omod &&
           !i->op_sel && !(i->flags & (IF_CLAMP | IF_FLUSH_F16));
}

static bool moved_only(const struct inst *i, const struct valu_op *op)
{
    const u32 more = OPF_COMPARE | OPF_MASK_C | OPF_MASK_OUT | OPF_VCC_IN;
    return i->modifier == MOD_DPP && !(i->neg | i->abs | i->omod) &&
           !(i->flags & (IF_CLAMP | IF_FLUSH_F16)) && i->format != FMT_VOP3 &&
           i->dst.kind == OPND_VGPR && result_as_is(i, op->flags) && !(op->flags & more) &&
           op->dwords[0] == 1 && op->dwords[1] == 1 && op->dwords[2] <= 1 && op->dwords[3] <= 1 &&
           (!op->dwords[3] || op->flags & OPF_ACCUMULATE);
}

static inst_exec_fn *choose_fast(const struct inst *i, const struct valu_op *op)
{
    const uint8_t first = i->src[0].kind;
    if (!op->vv)
        return NULL;
    if (op->flags & OPF_MASK_C && !(op->flags & OPF_MASK_SELF))
        return NULL;
    if (op->flags & OPF_COMPARE ? i->sdst.kind != OPND_SREG : i->dst.kind != OPND_VGPR)
        return NULL;
    if (op->dwords[2] && i->src[1].kind != OPND_VGPR)
        return NULL;
    if (op->dwords[3] && !(op->flags & (OPF_ACCUMULATE | OPF_MASK_C)) &&
        i->src[2].kind != OPND_VGPR)
        return NULL;
    if (first == OPND_VGPR)
        return op->vv;
    return first == OPND_SREG || first == OPND_CONST ? op->sv : NULL;
}

static inst_exec_fn *choose(const struct inst *i)
{
    for (int n = 0; n < 3; n++)
        if (!fetchable(&i->src[n]))
            return NULL;
    if (i->modifier == MOD_DPP && !dpp_maps[i->dpp.ctrl % DPP_CONTROLS].defined)
        return NULL;
    inst_exec_fn *special = VALU(valu_special)(i);
    if (special)
        return special;
    if (i->klass == CLASS_MFMA)
        return VALU(valu_mfma)(i);
    const struct valu_op *op = by_op[i->op];
    if (!op)
        return NULL;
    if (op->flags & OPF_PACKED) {
        bool pairs = op->pairs && i->format == FMT_VOP3P && !(i->flags & IF_CLAMP);
        return pairs ? exec_pairs : exec_packed;
    }
    if (op->flags & OPF_PACKED_F32)
        return registers_as_they_are(i, op) ? exec_packed_f32_plain : exec_packed_f32;
    if (moved_only(i, op))
        return exec_dpp;
    inst_exec_fn *fast = modified(i) ? NULL : choose_fast(i, op);
    if (fast)
        return fast;
    if (op->flags & OPF_COMPARE)
        return op->with_signs && modified_by_signs(i) ? exec_compare_signs : exec_compare;
    if (op->with_signs && modified_by_signs(i))
        return exec_signs;
    if (i->op == OP_V_CNDMASK_B32 && !modified(i))
        return exec_cndmask;
    return modified(i) || op->flags & OPF_KEEP_HIGH ? exec_general : exec_plain;
}

static void init(void)
{
    const struct valu_table *tables[] = {&VALU(valu_table_int),     &VALU(valu_table_f32),
                                         &VALU(valu_table_f64),     &VALU(valu_table_f16),
                                         &VALU(valu_table_convert), &VALU(valu_table_compare)};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (unsigned n = 0; n < tables[t]->count; n++)
            by_op[tables[t]->ops[n].op] = &tables[t]->ops[n];
    signs_init();
}

#define VALU_STRING2(x) #x
#define VALU_STRING(x)  VALU_STRING2(x)
const struct valu_build VALU(valu_build) = {VALU_STRING(VALU_ISA), choose, VALU(valu_mfma_chain),
                                            init};
