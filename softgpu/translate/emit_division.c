/*
 * The steps of divisions. Nearly all numbers need no scaling and are no special cases, which their
 * exponents alone show; where some do, a function of C does what the interpreter does.
 */
#include <string.h>

#include "translate/rare.h"
#include "valu/core_div.h"

#define SIGN_BIT UINT32_C(0x80000000)
enum { HIGH_DWORDS = 0xdd };
enum { TO, MASK, A, B, C }; /* hosts of a rare_fn */

/* ---- the rare cases ---- */

#define ROW(n) rare_row(rows, hosts, lanes, n)
static double double_of(const uint32_t *row, uint32_t l)
{
    double d;
    memcpy(&d, row + 2 * l, sizeof d);
    return d;
}
static void double_store(uint32_t *row, uint32_t l, double d)
{
    memcpy(row + 2 * l, &d, sizeof d);
}
static float one32(void)
{
    uint32_t bits = 0x3f800000;
    __asm__("" : "+r"(bits));
    return f32_of(bits);
}
static double one64(void)
{
    uint64_t bits = UINT64_C(0x3ff0000000000000);
    __asm__("" : "+r"(bits));
    return f64_of(bits);
}

static void scale_rows(uint32_t *rows, uint32_t hosts, uint32_t lanes)
{
    for (uint32_t l = 0; l < lanes; l++) {
        bool rescale;
        const float r =
            div_scale_f32(f32_of(ROW(A)[l]), f32_of(ROW(B)[l]), f32_of(ROW(C)[l]), &rescale);
        ROW(MASK)[l] = rescale ? UINT32_MAX : 0;
        ROW(TO)[l] = bits32(r);
    }
}
static void scale_pairs(uint32_t *rows, uint32_t hosts, uint32_t lanes)
{
    for (uint32_t l = 0; l < lanes / 2; l++) {
        bool rescale;
        const double r = div_scale_f64(double_of(ROW(A), l), double_of(ROW(B), l),
                                       double_of(ROW(C), l), &rescale);
        ROW(MASK)[2 * l] = ROW(MASK)[2 * l + 1] = rescale ? UINT32_MAX : 0;
        double_store(ROW(TO), l, r);
    }
}
static void rescaled_rows(uint32_t *rows, uint32_t hosts, uint32_t lanes)
{
    const float one = one32();
    for (uint32_t l = 0; l < lanes; l++)
        if (ROW(MASK)[l])
            ROW(TO)
    [l] = div_fmas_rescaled_f32(f32_of(ROW(A)[l]), f32_of(ROW(B)[l]), f32_of(ROW(C)[l]), one);
}
static void rescaled_pairs(uint32_t *rows, uint32_t hosts, uint32_t lanes)
{
    const double one = one64();
    for (uint32_t l = 0; l < lanes / 2; l++)
        if (ROW(MASK)[2 * l])
            double_store(ROW(TO), l,
                         div_fmas_rescaled_f64(double_of(ROW(A), l), double_of(ROW(B), l),
                                               double_of(ROW(C), l), one));
}
static void fixup_rows(uint32_t *rows, uint32_t hosts, uint32_t lanes)
{
    const double one = one64();
    for (uint32_t l = 0; l < lanes; l++)
        ROW(TO)[l] = div_fixup_f32(f32_of(ROW(A)[l]), f32_of(ROW(B)[l]), f32_of(ROW(C)[l]), one);
}
static void fixup_pairs(uint32_t *rows, uint32_t hosts, uint32_t lanes)
{
    const double one = one64();
    for (uint32_t l = 0; l < lanes / 2; l++)
        double_store(ROW(TO), l,
                     f64_of(div_fixup_f64(double_of(ROW(A), l), double_of(ROW(B), l),
                                          double_of(ROW(C), l), one)));
}

/* ---- what shows them ---- */

/* Elements of four or of eight bytes. */
struct format {
    enum x86_form left, right, subtract, either, both, differ, broadcast;
    uint8_t above_exponent, digits; /* bits above it, with the sign; all but the exponent */
    bool wide;
};
static const struct format
    single = {X86_VPSLLD_IMM, X86_VPSRLD_IMM,   X86_VPSUBD, X86_VPORD, X86_VPANDD,
              X86_VPXORD,     X86_VPBROADCASTD, 1,          24,        false},
    pairs = {X86_VPSLLQ_IMM, X86_VPSRLQ_IMM,   X86_VPSUBQ, X86_VPORQ, X86_VPANDQ,
             X86_VPXORQ,     X86_VPBROADCASTQ, 1,          53,        true};

static void op(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}
static struct x86_rm constant(struct emitter *e, const struct format *f, uint64_t value)
{
    return f->wide ? x86_constant64(e->x, value) : x86_constant32(e->x, (uint32_t)value);
}
static unsigned exponent(struct emitter *e, const struct format *f, unsigned host)
{
    unsigned r = emit_shift_imm(e, f->left, host, f->above_exponent);
    x86_shift(e->x, f->right, r, r, f->digits);
    return r;
}
/* Sets signs in `far` where the value is outside. */
static void outside(struct emitter *e, const struct format *f, unsigned far, unsigned value,
                    int64_t least, int64_t most)
{
    unsigned t = emit_form(e, f->subtract, value, constant(e, f, (uint64_t)least));
    op(e, f->either, far, far, x86_reg(t));
    struct x86_rm limit = constant(e, f, (uint64_t)most);
    limit.broadcast = false;
    op(e, f->broadcast, t, 0, limit);
    op(e, f->subtract, t, t, x86_reg(value));
    op(e, f->either, far, far, x86_reg(t));
    emit_done(e, t);
}
static unsigned zeros(struct emitter *e)
{
    unsigned host = values_temporary(&e->values);
    op(e, X86_VPXORD, host, host, x86_reg(host));
    return host;
}
static unsigned copy_of(struct emitter *e, unsigned host)
{
    unsigned copy = values_temporary(&e->values);
    emit_copy(e, copy, x86_reg(host));
    return copy;
}

struct limits {
    int16_t numerator[2], denominator[2],
        distance[2]; /* of exponents, which need not be looked at closer */
};
static unsigned far_exponents(struct emitter *e, const struct format *f, const struct limits *l,
                              unsigned b, unsigned c)
{
    unsigned far = zeros(e), eb = exponent(e, f, b), ec = exponent(e, f, c);
    outside(e, f, far, eb, l->denominator[0], l->denominator[1]);
    outside(e, f, far, ec, l->numerator[0], l->numerator[1]);
    op(e, f->subtract, ec, ec, x86_reg(eb));
    outside(e, f, far, ec, l->distance[0], l->distance[1]);
    emit_done(e, eb);
    emit_done(e, ec);
    return far;
}
/* A row of lane masks as a half of pairs has them. */
static unsigned mask_half(struct emitter *e, unsigned row, unsigned half)
{
    return emit_form(e, half ? X86_VPUNPCKHDQ : X86_VPUNPCKLDQ, row, x86_reg(row));
}
static unsigned mask_row(struct emitter *e, unsigned k)
{
    unsigned row = values_temporary(&e->values);
    op(e, X86_VPMOVM2D, row, 0, x86_reg(k));
    return row;
}
/* Lanes that do not run do not count. */
static void only_running(struct emitter *e, unsigned far, int half)
{
    if (!emit_exec(e))
        return;
    unsigned run = mask_row(e, MASK_EXEC);
    unsigned mask = half < 0 ? run : mask_half(e, run, (unsigned)half);
    op(e, X86_VPANDD, far, far, x86_reg(mask));
    emit_done(e, run);
    if (mask != run)
        emit_done(e, mask);
}
/* Calls the function where `far` has a sign, and has no more use for that. */
static void call_where(struct emitter *e, unsigned far, rare_fn *fn, const unsigned *hosts)
{
    unsigned k = e->x->level->vector_masks ? 0 : values_mask_temporary(&e->values);
    size_t none = x86_jump_if_none(e->x, far, SIGN_BIT, k);
    rare_call(e, fn, hosts, RARE_HOSTS);
    x86_land(e->x, none);
    emit_mask_done(e, k);
    emit_done(e, far);
}

/* ---- the steps ---- */

/* ec - eb in [-100, 95], eb in [1, 252], ec in [24, 254]; of doubles likewise. */
static const struct limits scale_single = {{24, 254}, {1, 252}, {-100, 95}},
                           scale_double = {{54, 2046}, {1, 2044}, {-1000, 767}},
                           fixup_single = {{1, 254}, {1, 254}, {-150, 255}},
                           fixup_double = {{1, 2046}, {1, 2046}, {-1075, 2047}};

static void result_rescale(struct emitter *e, unsigned row)
{
    unsigned k = emit_test(e, X86_VPMOVD2M, 0, x86_reg(row), (struct x86_option){0});
    if (emit_exec(e))
        x86_mask_and(e->x, k, k, MASK_EXEC);
    emit_mask_result(e, k);
}
EMIT(div_scale)
{
    unsigned a = source_host(e, 0, 0), b = source_host(e, 1, 0), c = source_host(e, 2, 0);
    const unsigned hosts[] = {copy_of(e, a), zeros(e), a, b, c};
    unsigned far = far_exponents(e, &single, &scale_single, b, c);
    only_running(e, far, -1);
    call_where(e, far, scale_rows, hosts);
    emit_result(e, hosts[TO]);
    result_rescale(e, hosts[MASK]);
}
EMIT(div_scale_pair)
{
    unsigned r[2], masks[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half), b = source_pair_host(e, 1, half);
        unsigned c = source_pair_host(e, 2, half);
        const unsigned hosts[] = {r[half] = copy_of(e, a), masks[half] = zeros(e), a, b, c};
        unsigned far = far_exponents(e, &pairs, &scale_double, b, c);
        only_running(e, far, (int)half);
        call_where(e, far, scale_pairs, hosts);
        emit_done(e, a);
        emit_done(e, b);
        emit_done(e, c);
    }
    unsigned row = emit_form_imm(e, X86_VSHUFPS, masks[0], x86_reg(masks[1]), HIGH_DWORDS);
    emit_result_pair(e, r);
    result_rescale(e, row);
}

/* The scale is part of the one rounding. */
EMIT(div_fmas)
{
    unsigned a = source_host(e, 0, 0), b = source_host(e, 1, 0), c = source_host(e, 2, 0);
    unsigned mask = mask_row(e, values_mask(&e->values, operation_mask_in(e->inst)));
    const unsigned hosts[] = {copy_of(e, a), mask, a, b, c};
    op(e, X86_VFMADD213PS, hosts[TO], b, x86_reg(c));
    call_where(e, copy_of(e, mask), rescaled_rows, hosts);
    emit_result(e, hosts[TO]);
}
EMIT(div_fmas_pair)
{
    unsigned r[2], row = mask_row(e, values_mask(&e->values, operation_mask_in(e->inst)));
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half), b = source_pair_host(e, 1, half);
        unsigned c = source_pair_host(e, 2, half), mask = mask_half(e, row, half);
        const unsigned hosts[] = {r[half] = copy_of(e, a), mask, a, b, c};
        op(e, X86_VFMADD213PD, r[half], b, x86_reg(c));
        call_where(e, copy_of(e, mask), rescaled_pairs, hosts);
        emit_done(e, a);
        emit_done(e, b);
        emit_done(e, c);
        emit_done(e, mask);
    }
    emit_result_pair(e, r);
}

/* The quotient a with the sign of b and c; 0x7ff or 0xff as its exponent is special, too. */
static unsigned signed_quotient(struct emitter *e, const struct format *f, unsigned a, unsigned b,
                                unsigned c)
{
    const uint64_t sign = f->wide ? UINT64_C(1) << 63 : SIGN_BIT;
    unsigned r = emit_form(e, f->both, a, constant(e, f, ~sign));
    unsigned signs = emit_form(e, f->differ, b, x86_reg(c));
    op(e, f->both, signs, signs, constant(e, f, sign));
    op(e, f->either, r, r, x86_reg(signs));
    emit_done(e, signs);
    return r;
}
static unsigned fixed_up(struct emitter *e, const struct format *f, const struct limits *l,
                         unsigned a, unsigned b, unsigned c, int half)
{
    unsigned r = signed_quotient(e, f, a, b, c), far = far_exponents(e, f, l, b, c);
    unsigned ea = exponent(e, f, a);
    outside(e, f, far, ea, 0, l->denominator[1]);
    emit_done(e, ea);
    only_running(e, far, half);
    call_where(e, far, f->wide ? fixup_pairs : fixup_rows, (unsigned[]){r, r, a, b, c});
    return r;
}
EMIT(div_fixup)
{
    unsigned a = source_host(e, 0, 0), b = source_host(e, 1, 0), c = source_host(e, 2, 0);
    emit_result(e, fixed_up(e, &single, &fixup_single, a, b, c, -1));
}
EMIT(div_fixup_pair)
{
    unsigned r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half), b = source_pair_host(e, 1, half);
        unsigned c = source_pair_host(e, 2, half);
        r[half] = fixed_up(e, &pairs, &fixup_double, a, b, c, (int)half);
        emit_done(e, a);
        emit_done(e, b);
        emit_done(e, c);
    }
    emit_result_pair(e, r);
}
