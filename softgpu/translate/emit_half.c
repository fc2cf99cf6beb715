/*
 * Half precision: as in valu/half.h, computed as single precision and rounded once. Sums and
 * products survive that exactly; of a fused sum the first rounding is to odd. Packed halves are
 * widened as they lie, the strip's first half of them and its second one, so that nothing is
 * unpacked.
 */
#include "translate/run.h"
#include "valu/mix.h"

#define ONE32     UINT32_C(0x3f800000)
#define LOW       UINT32_C(0xffff)
#define SIZES     UINT32_C(0x7fff7fff)
#define SIGNS16   UINT32_C(0x80008000)
#define QUIETS    UINT32_C(0x02000200)
#define ABOVE_INF UINT32_C(0x03ff03ff) /* takes sizes of NaNs beyond 0x7fff */
enum { HALF_BITS = 16, NEAREST = 0, TO_ZERO = 3, UPPER = 1, UPPER_RESULT = 8 };
/* Functions of a, b and m as tables: m ? b : a; (a & m) | b. */
enum { TABLE_CHOOSE = 0xd8, TABLE_BESIDE = 0xec };

static void op(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}
static unsigned constant_host(struct emitter *e, uint32_t value)
{
    unsigned host = values_temporary(&e->values);
    emit_copy(e, host, x86_constant32(e->x, value));
    return host;
}

/* The low halves of lanes, or what lies in the lower part of the host's register; and back. */
static unsigned widened(struct emitter *e, unsigned host)
{
    unsigned r = values_temporary(&e->values);
    op(e, X86_VPMOVDW, host, 0, x86_reg(r));
    op(e, X86_VCVTPH2PS, r, 0, x86_reg(r));
    return r;
}
static void narrow(struct emitter *e, unsigned host, unsigned rounding)
{
    x86_vector(e->x, X86_VCVTPS2PH, host, 0, x86_reg(host), x86_imm(rounding));
}
static void narrow_lanes(struct emitter *e, unsigned host, unsigned rounding)
{
    narrow(e, host, rounding);
    op(e, X86_VPMOVZXWD, host, 0, x86_reg(host));
}
/* Is a source what its register has? */
static bool is_register(const struct emitter *e, int n, struct place *place)
{
    const struct inst *i = e->inst;
    const struct operand *operand =
        n == 2 && e->operation->flags & ACCUMULATES ? &i->dst : &i->src[n];
    const unsigned signs = i->neg | i->abs | i->neg_hi;
    *place = operand_place(operand);
    return (operand->kind == OPND_VGPR || operand->kind == OPND_AGPR) && !(signs >> n & 1) &&
           !source_is_modified(e, n);
}
/* From the words that the register's last writer has left, if they are there still. */
static bool words_widened(struct emitter *e, struct place place, enum widened_part part,
                          unsigned *r)
{
    unsigned words;
    if (!values_widened(&e->values, place, part, &words))
        return false;
    *r = values_temporary(&e->values);
    op(e, X86_VCVTPH2PS, *r, 0, x86_reg(words));
    emit_done(e, words);
    return true;
}
static void keep_words(struct emitter *e, enum widened_part part, unsigned words)
{
    const struct inst *i = e->inst;
    if (part != WORDS_LANES && e->x->level->vector_masks)
        return; /* too few registers are left */
    if (i->modifier == MOD_NONE && !(i->format == FMT_VOP3 && i->op_sel & UPPER_RESULT))
        values_keep_widened(&e->values, operand_place(&i->dst), part, words);
}
/* Floats become lanes' halves. */
static void half_result(struct emitter *e, unsigned words)
{
    unsigned r = values_temporary(&e->values);
    narrow(e, words, NEAREST);
    op(e, X86_VPMOVZXWD, r, 0, x86_reg(words));
    emit_result(e, r);
    keep_words(e, WORDS_LANES, words);
}
/* Not to be changed: the next instruction may want it, too. */
static unsigned source_widened(struct emitter *e, int n)
{
    struct place place;
    bool kept = is_register(e, n, &place);
    unsigned r;
    if (kept && values_widened(&e->values, place, WIDENED_LANES, &r))
        return r;
    if (!kept || !words_widened(e, place, WORDS_LANES, &r)) {
        unsigned host = source_host(e, n, 0);
        r = widened(e, host);
        emit_done(e, host);
    }
    if (kept)
        values_keep_widened(&e->values, place, WIDENED_LANES, r);
    return r;
}

/* What a * b + c is, for it to be rounded to halves. Rounded up and down its last bits differ where
 * it is inexact; the odd one does not change what it is rounded to next. */
static unsigned fused_avx512(struct emitter *e, unsigned a, unsigned b, unsigned c)
{
    unsigned down = values_temporary(&e->values), r = values_temporary(&e->values);
    emit_copy(e, down, x86_reg(a));
    emit_copy(e, r, x86_reg(a));
    x86_vector(e->x, X86_VFMADD213PS, down, b, x86_reg(c), x86_rounded(X86_ROUND_DOWN));
    x86_vector(e->x, X86_VFMADD213PS, r, b, x86_reg(c), x86_rounded(X86_ROUND_UP));
    unsigned odd =
        emit_test(e, X86_VPTESTMD, down, x86_constant32(e->x, 1), (struct x86_option){0});
    x86_vector(e->x, X86_VMOVDQA32_LOAD, r, 0, x86_reg(down), x86_masked(odd));
    emit_mask_done(e, odd);
    emit_done(e, down);
    return r;
}
/* The sum's rounding error says whether its last bit must be made odd, and in which direction.
 * Behind a branch, with registers that are anybody's. */
enum { ASIDE = 4 };
static void make_odd(struct x86 *x, unsigned sum, unsigned a, unsigned b, unsigned c,
                     const unsigned free[ASIDE])
{
    enum { NOT_EQUAL_ORDERED = 0x0c, SIGN = 31 };
    const unsigned t = free[0], rest = free[1], mask = free[2], p = free[3];
    const struct x86_option plain = {0};
    x86_vector(x, X86_VMULPS, p, a, x86_reg(b), plain); /* exact */
    x86_vector(x, X86_VSUBPS, t, sum, x86_reg(p), plain);
    x86_vector(x, X86_VSUBPS, rest, sum, x86_reg(t), plain);
    x86_vector(x, X86_VSUBPS, rest, p, x86_reg(rest), plain);
    x86_vector(x, X86_VSUBPS, t, c, x86_reg(t), plain);
    x86_vector(x, X86_VADDPS, rest, rest, x86_reg(t), plain);
    x86_vector(x, X86_VCMPPS, X86_MASK_HOST + mask, rest, x86_constant32(x, 0),
               x86_imm(NOT_EQUAL_ORDERED));
    x86_vector(x, X86_VPXORD, rest, rest, x86_reg(sum), plain);
    x86_shift(x, X86_VPSRAD_IMM, rest, rest, SIGN); /* -1: the exact sum is nearer to zero */
    x86_vector(x, X86_VPORD, rest, rest, x86_constant32(x, 1), plain);
    x86_vector(x, X86_VPANDD, rest, rest, x86_reg(mask), plain);
    x86_vector(x, X86_VPANDD, mask, sum, x86_constant32(x, 1), plain);
    x86_vector(x, X86_VPADDD, mask, mask, x86_constant32(x, UINT32_MAX), plain);
    x86_vector(x, X86_VPANDD, rest, rest, x86_reg(mask), plain); /* where it is even */
    x86_vector(x, X86_VPADDD, sum, sum, x86_reg(rest), plain);
}
static void make_odd_aside(struct emitter *e, unsigned sum, unsigned a, unsigned b, unsigned c)
{
    struct x86_rm homes[ASIDE];
    unsigned free[ASIDE], host = 0;
    for (unsigned n = 0; n < ASIDE; n++, host++) {
        while (host == sum || host == a || host == b || host == c)
            host++;
        free[n] = host;
        homes[n] = x86_memory(
            RSP, FRAME_ASIDE + (int32_t)(n * sizeof(uint32_t) * e->x->level->lanes), false);
        op(e, X86_VMOVDQU32_STORE, host, 0, homes[n]);
    }
    make_odd(e->x, sum, a, b, c, free);
    for (unsigned n = 0; n < ASIDE; n++)
        op(e, X86_VMOVDQU32_LOAD, free[n], 0, homes[n]);
}

/* The nearest float becomes the right half unless it is the middle of two. That is looked for where
 * halves are normal, by the lower words of lanes: thirteen digits are one followed by zeros. Where
 * they are not, but for floats that are exact (below 2^-24: products are multiples of 2^-48), any
 * may be, by the upper words: the exponent. Both words' numbers end beside the largest one. */
static unsigned fused_avx2(struct emitter *e, unsigned a, unsigned b, unsigned c)
{
    const uint32_t eighth_and_sign_out = UINT32_C(0xfffefff8); /* times -2, times -8 */
    const uint32_t last_in_turn = UINT32_C(0xe6ffffff), others = UINT32_C(0x75ff7ffe);
    unsigned sum = emit_form(e, X86_VMULPS, a, x86_reg(b)); /* exact */
    op(e, X86_VADDPS, sum, sum, x86_reg(c));
    unsigned middle = emit_form(e, X86_VPMULLW, sum, x86_constant32(e->x, eighth_and_sign_out));
    op(e, X86_VPADDW, middle, middle, x86_constant32(e->x, last_in_turn));
    op(e, X86_VPCMPGTW, middle, middle, x86_constant32(e->x, others));
    op(e, X86_VPTEST, middle, 0, x86_reg(middle));
    const size_t none = x86_jump_if(e->x, JUMP_EQUAL);
    make_odd_aside(e, sum, a, b, c);
    x86_land(e->x, none);
    emit_done(e, middle);
    return sum;
}

EMIT(half_binary)
{
    int first = e->operation->flags & REVERSED ? 1 : 0;
    unsigned a = source_widened(e, first), b = source_widened(e, !first);
    half_result(e, emit_form(e, e->operation->form, a, x86_reg(b)));
}
EMIT(half_fma)
{
    unsigned a = source_widened(e, 0), b = source_widened(e, 1), c = source_widened(e, 2);
    half_result(e, (e->x->level->vector_masks ? fused_avx2 : fused_avx512)(e, a, b, c));
}
EMIT(half_unary)
{
    half_result(e, emit_form(e, e->operation->form, 0, x86_reg(source_widened(e, 0))));
}
EMIT(half_round)
{
    struct x86_rm a = x86_reg(source_widened(e, 0));
    half_result(e, emit_form_imm(e, X86_VRNDSCALEPS, 0, a, e->operation->argument));
}
/* The argument: of the square root. */
EMIT(half_reciprocal)
{
    unsigned a = source_widened(e, 0), one = constant_host(e, ONE32);
    if (e->operation->argument)
        a = emit_form(e, X86_VSQRTPS, 0, x86_reg(a));
    half_result(e, emit_form(e, X86_VDIVPS, one, x86_reg(a)));
}

EMIT(half_of_float)
{
    half_result(e, source_copy(e, 0, 0));
}
EMIT(float_of_half)
{
    unsigned r = values_temporary(&e->values);
    emit_copy(e, r, x86_reg(source_widened(e, 0)));
    emit_result(e, r);
}
/* The argument: whether it has a sign. */
EMIT(half_of_int)
{
    unsigned a = source_host(e, 0, 0);
    unsigned wide = emit_shift_imm(e, X86_VPSLLD_IMM, a, HALF_BITS);
    x86_shift(e->x, e->operation->argument ? X86_VPSRAD_IMM : X86_VPSRLD_IMM, wide, wide,
              HALF_BITS);
    op(e, X86_VCVTDQ2PS, wide, 0, x86_reg(wide));
    half_result(e, wide);
}

/* a's low half, b's above it. */
static void pack(struct emitter *e, unsigned a, unsigned b)
{
    unsigned high = emit_shift_imm(e, X86_VPSLLD_IMM, b, HALF_BITS);
    x86_vector(e->x, X86_VPTERNLOGD, a, high, x86_constant32(e->x, LOW), x86_imm(TABLE_BESIDE));
    emit_result(e, a);
}
EMIT(half_pack)
{
    unsigned a = source_copy(e, 0, 0);
    pack(e, a, source_host(e, 1, 0));
}
EMIT(half_pack_floats)
{
    unsigned a = source_copy(e, 0, 0), b = source_copy(e, 1, 0);
    narrow_lanes(e, a, TO_ZERO);
    narrow_lanes(e, b, TO_ZERO);
    pack(e, a, b);
}

/* ---- minima and maxima, on the bits ---- */

/* To or from integers that have halves' order: all bits but the sign are inverted where it is. */
static void turn(struct emitter *e, unsigned host, unsigned scratch)
{
    x86_shift(e->x, X86_VPSRAW_IMM, scratch, host, HALF_BITS - 1);
    x86_shift(e->x, X86_VPSRLW_IMM, scratch, scratch, 1);
    op(e, X86_VPXORD, host, host, x86_reg(scratch));
}
/* Sign bits where a NaN is. */
static void find_nans(struct emitter *e, unsigned dst, unsigned host, unsigned above)
{
    op(e, X86_VPANDD, dst, host, x86_constant32(e->x, SIZES));
    op(e, X86_VPADDW, dst, dst, x86_reg(above));
}
static void choose(struct emitter *e, unsigned dst, unsigned other, unsigned mask)
{
    x86_vector(e->x, X86_VPTERNLOGD, dst, other, x86_reg(mask), x86_imm(TABLE_CHOOSE));
}
/* Signalling NaNs win. */
static void choose_signalling(struct emitter *e, unsigned dst, unsigned x, unsigned nans,
                              unsigned scratch)
{
    enum { ABOVE_QUIET = 6 };
    x86_shift(e->x, X86_VPSLLW_IMM, scratch, x, ABOVE_QUIET);
    x86_shift(e->x, X86_VPSRAW_IMM, scratch, scratch, HALF_BITS - 1);
    op(e, X86_VPANDN, scratch, scratch, x86_reg(nans));
    choose(e, dst, x, scratch);
}

/* Both halves of a and b at once, which are temporaries or not; where no NaN is, which is nearly
 * always, the rest is left out: nothing in it may ask for registers. */
static unsigned order(struct emitter *e, enum x86_form form, unsigned a, unsigned b)
{
    unsigned r = values_temporary(&e->values), s = values_temporary(&e->values);
    unsigned above = constant_host(e, ABOVE_INF), other = values_temporary(&e->values);
    unsigned na = values_temporary(&e->values), nb = values_temporary(&e->values);
    emit_copy(e, r, x86_reg(a));
    emit_copy(e, other, x86_reg(b));
    turn(e, r, s);
    turn(e, other, s);
    op(e, form, r, r, x86_reg(other));
    turn(e, r, s);
    find_nans(e, na, a, above);
    find_nans(e, nb, b, above);
    op(e, X86_VPORD, s, na, x86_reg(nb));
    unsigned k = e->x->level->vector_masks ? 0 : values_mask_temporary(&e->values);
    size_t numbers = x86_jump_if_none(e->x, s, SIGNS16, k);
    x86_shift(e->x, X86_VPSRAW_IMM, na, na, HALF_BITS - 1);
    x86_shift(e->x, X86_VPSRAW_IMM, nb, nb, HALF_BITS - 1);
    choose(e, r, a, nb);
    choose(e, r, b, na);
    choose_signalling(e, r, b, nb, s);
    choose_signalling(e, r, a, na, s);
    find_nans(e, s, r, above);
    x86_shift(e->x, X86_VPSRAW_IMM, s, s, HALF_BITS - 1);
    op(e, X86_VPANDD, s, s, x86_constant32(e->x, QUIETS));
    op(e, X86_VPORD, r, r, x86_reg(s));
    x86_land(e->x, numbers);
    emit_mask_done(e, k);
    emit_done(e, s);
    emit_done(e, above);
    emit_done(e, other);
    emit_done(e, na);
    emit_done(e, nb);
    return r;
}
/* What is above would be compared, too. */
static unsigned source_low(struct emitter *e, int n)
{
    unsigned host = source_host(e, n, 0);
    unsigned low = emit_form(e, X86_VPANDD, host, x86_constant32(e->x, LOW));
    emit_done(e, host);
    return low;
}
EMIT(half_order)
{
    unsigned a = source_low(e, 0);
    emit_result(e, order(e, e->operation->form, a, source_low(e, 1)));
}
EMIT(half_order3)
{
    const enum x86_form form = e->operation->form;
    unsigned a = source_low(e, 0), b = source_low(e, 1), ab = order(e, form, a, b);
    emit_done(e, a);
    emit_done(e, b);
    emit_result(e, order(e, form, ab, source_low(e, 2)));
}

/* Where x is the greatest of three, for which both zeros are one, r becomes the greater of the two
 * others. */
static void without(struct emitter *e, unsigned r, unsigned greatest, unsigned x, unsigned one,
                    unsigned other)
{
    enum { EQUAL = 0 };
    unsigned rest = order(e, X86_VPMAXSW, one, other);
    unsigned bits = emit_form(e, X86_VPORD, greatest, x86_reg(x));
    unsigned same = emit_test(e, X86_VPCMPD, greatest, x86_reg(x), x86_imm(EQUAL));
    unsigned zeros = emit_test(e, X86_VPTESTNMD, bits, x86_constant32(e->x, SIZES & LOW),
                               (struct x86_option){0});
    x86_mask_or(e->x, same, same, zeros);
    x86_vector(e->x, X86_VPBLENDMD, r, r, x86_reg(rest), x86_masked(same));
    emit_mask_done(e, same);
    emit_mask_done(e, zeros);
    emit_done(e, bits);
    emit_done(e, rest);
}
/* As med_f16() in valu/: with a NaN among them their minimum. */
EMIT(half_med3)
{
    enum { GREATER = 6, INFINITE = 0x7c00 };
    unsigned a = source_low(e, 0), b = source_low(e, 1), c = source_low(e, 2);
    unsigned r = order(e, X86_VPMAXSW, a, b), greatest = order(e, X86_VPMAXSW, r, c);
    without(e, r, greatest, b, a, c);
    without(e, r, greatest, a, b, c);
    emit_done(e, greatest);
    unsigned ab = order(e, X86_VPMINSW, a, b), least = order(e, X86_VPMINSW, ab, c);
    emit_done(e, ab);
    const unsigned sources[] = {a, b, c};
    for (int n = 0; n < 3; n++) {
        unsigned size = emit_form(e, X86_VPANDD, sources[n], x86_constant32(e->x, SIZES & LOW));
        unsigned nan =
            emit_test(e, X86_VPCMPD, size, x86_constant32(e->x, INFINITE), x86_imm(GREATER));
        x86_vector(e->x, X86_VPBLENDMD, r, r, x86_reg(least), x86_masked(nan));
        emit_mask_done(e, nan);
        emit_done(e, size);
    }
    emit_result(e, r);
}
EMIT(half_compare)
{
    unsigned a = source_widened(e, 0), b = source_widened(e, 1);
    struct x86_option option = x86_imm(e->operation->argument);
    option.mask = (uint8_t)emit_exec(e);
    emit_mask_result(e, emit_test(e, e->operation->form, a, x86_reg(b), option));
}

/* ---- packed ---- */

struct packed { /* a source; `host`: where it is, once that is asked for */
    int n;
    bool kept, found;
    struct place place;
    unsigned host;
};
static struct packed packed_source(struct emitter *e, int n)
{
    struct packed p = {.n = n};
    const struct inst *i = e->inst;
    const bool as_it_lies =
        i->format != FMT_VOP3P || (!(i->op_sel >> n & 1) && i->op_sel_hi >> n & 1);
    p.kept = is_register(e, n, &p.place) && as_it_lies;
    return p;
}
static unsigned part_widened(struct emitter *e, struct packed *p, unsigned part)
{
    unsigned r;
    if (p->kept && values_widened(&e->values, p->place, part, &r))
        return r;
    if (!p->kept || !words_widened(e, p->place, WORDS_FIRST + part, &r)) {
        if (!p->found)
            p->host = source_pairs(e, p->n);
        p->found = true;
        r = values_temporary(&e->values);
        if (part)
            x86_vector(e->x, X86_VEXTRACTI64X4, p->host, 0, x86_reg(r), x86_imm(UPPER));
        op(e, X86_VCVTPH2PS, r, 0, x86_reg(part ? r : p->host));
    }
    if (p->kept)
        values_keep_widened(&e->values, p->place, part, r);
    return r;
}
static void pairs_result(struct emitter *e, const unsigned parts[2])
{
    unsigned r = values_temporary(&e->values);
    x86_vector(e->x, X86_VINSERTI64X4, r, parts[0], x86_reg(parts[1]), x86_imm(UPPER));
    emit_result(e, r);
    keep_words(e, WORDS_FIRST, parts[0]);
    keep_words(e, WORDS_SECOND, parts[1]);
}
EMIT(pairs_binary)
{
    struct packed a = packed_source(e, 0), b = packed_source(e, 1);
    unsigned r[2];
    for (unsigned part = 0; part < 2; part++) {
        unsigned first = part_widened(e, &a, part), other = part_widened(e, &b, part);
        r[part] = emit_form(e, e->operation->form, first, x86_reg(other));
        narrow(e, r[part], NEAREST);
        emit_done(e, first);
        emit_done(e, other);
    }
    pairs_result(e, r);
}
EMIT(pairs_fma)
{
    const bool avx2 = e->x->level->vector_masks;
    struct packed sources[3] = {packed_source(e, 0), packed_source(e, 1), packed_source(e, 2)};
    unsigned r[2];
    for (unsigned part = 0; part < 2; part++) {
        unsigned a = part_widened(e, &sources[0], part), b = part_widened(e, &sources[1], part);
        unsigned c = part_widened(e, &sources[2], part);
        r[part] = (avx2 ? fused_avx2 : fused_avx512)(e, a, b, c);
        narrow(e, r[part], NEAREST);
        emit_done(e, a);
        emit_done(e, b);
        emit_done(e, c);
    }
    pairs_result(e, r);
}
EMIT(pairs_order)
{
    unsigned a = source_pairs(e, 0);
    emit_result(e, order(e, e->operation->form, a, source_pairs(e, 1)));
}

/* ---- mixed ---- */

/* op_sel_hi: a half, of which op_sel picks one; neg_hi: its absolute value. */
static unsigned mixed_source(struct emitter *e, int n)
{
    const struct inst *i = e->inst;
    unsigned host;
    if (!(i->op_sel_hi >> n & 1) && i->src[n].kind == OPND_CONST) {
        host = constant_host(e, mix_constant(i, n));
    } else {
        host = source_copy(e, n, 0);
        if (i->op_sel_hi >> n & i->op_sel >> n & 1)
            x86_shift(e->x, X86_VPSRLD_IMM, host, host, HALF_BITS);
    }
    if (i->op_sel_hi >> n & 1) {
        op(e, X86_VPMOVDW, host, 0, x86_reg(host));
        op(e, X86_VCVTPH2PS, host, 0, x86_reg(host));
    }
    if (i->neg_hi >> n & 1)
        op(e, X86_VPANDD, host, host, x86_constant32(e->x, INT32_MAX));
    if (i->neg >> n & 1)
        op(e, X86_VPXORD, host, host, x86_constant32(e->x, UINT32_C(1) << 31));
    return host;
}
/* The argument: which half it becomes, plus one; 0: it stays single precision. */
EMIT(mixed_fma)
{
    enum { LOW_HALF = 1, MERGE = 0xe4, BESIDE = 0xf8 };
    unsigned a = mixed_source(e, 0), b = mixed_source(e, 1), c = mixed_source(e, 2);
    unsigned to = e->operation->argument;
    op(e, X86_VFMADD213PS, a, b, x86_reg(c));
    if (to) {
        narrow_lanes(e, a, NEAREST);
        unsigned old = values_row(&e->values, operand_place(&e->inst->dst));
        if (to != LOW_HALF)
            x86_shift(e->x, X86_VPSLLD_IMM, a, a, HALF_BITS);
        x86_vector(e->x, X86_VPTERNLOGD, a, old, x86_constant32(e->x, LOW),
                   x86_imm(to == LOW_HALF ? MERGE : BESIDE));
    }
    emit_result(e, a);
}
