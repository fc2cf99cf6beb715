/*
 * Double precision beyond sums and products, and conversions. Where AVX2 has neither integers of 64
 * bits nor a scale, it goes another way to the same bits, which is the interpreter's there.
 */
#include "translate/emit.h"

#define ONE64     UINT64_C(0x3ff0000000000000)
#define TWO_TO_31 UINT64_C(0x41e0000000000000)
#define SIGN64    (UINT64_C(1) << 63)

static unsigned times_one(struct emitter *e, unsigned host)
{
    return emit_form(e, X86_VMULPD, host, x86_constant64(e->x, ONE64));
}

EMIT(min_max_pair)
{
    unsigned r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half);
        struct x86_rm b = source_pair_rm(e, 1, half);
        r[half] = times_one(e, emit_form_imm(e, X86_VRANGEPD, a, b, e->operation->argument));
    }
    emit_result_pair(e, r);
}
EMIT(round_pair)
{
    unsigned r[2];
    for (unsigned half = 0; half < 2; half++) {
        struct x86_rm a = source_pair_rm(e, 0, half);
        r[half] = times_one(e, emit_form_imm(e, X86_VRNDSCALEPD, 0, a, e->operation->argument));
    }
    emit_result_pair(e, r);
}
EMIT(reciprocal_pair)
{
    unsigned r[2], one = values_temporary(&e->values);
    struct x86_rm constant = x86_constant64(e->x, ONE64);
    constant.broadcast = false;
    x86_vector(e->x, X86_VPBROADCASTQ, one, 0, constant, (struct x86_option){0});
    for (unsigned half = 0; half < 2; half++)
        r[half] = emit_form(e, X86_VDIVPD, one, source_pair_rm(e, 0, half));
    emit_result_pair(e, r);
}
EMIT(square_root_pair)
{
    unsigned r[2];
    for (unsigned half = 0; half < 2; half++)
        r[half] = emit_form(e, X86_VSQRTPD, 0, source_pair_rm(e, 0, half));
    emit_result_pair(e, r);
}

static void op(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}
static bool has_wide_integers(const struct emitter *e)
{
    return !e->x->level->vector_masks;
}

/*
 * Conversions change the size of elements, and with it their order: `to_pairs` brings a row's
 * lanes into that of pairs, those of one half first; `to_lanes` brings both halves' results, one
 * behind the other, back. Strips of eight lanes have four quadwords to arrange.
 */
enum { ROW_LANES = 16, QUADS_APART = 0xd8, QUADS_OTHERS = 0x8d };
static const uint32_t to_pairs[2][ROW_LANES]
    __attribute__((aligned(64))) = {{0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10, 11, 14, 15},
                                    {2, 3, 6, 7, 10, 11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13}};
static const uint32_t to_lanes[ROW_LANES]
    __attribute__((aligned(64))) = {0, 1, 8, 9, 2, 3, 10, 11, 4, 5, 12, 13, 6, 7, 14, 15};

/* RAX is nobody's within a strip. */
static unsigned reordered(struct emitter *e, const uint32_t *order, unsigned row)
{
    unsigned places = values_temporary(&e->values);
    x86_gpr_imm64(e->x, RAX, (uint64_t)(uintptr_t)order);
    op(e, X86_VMOVDQA32_LOAD, places, 0, x86_memory(RAX, 0, false));
    return emit_form(e, X86_VPERMD, places, x86_reg(row));
}
/* A half's lanes in the lower part. */
static unsigned half_of_row(struct emitter *e, unsigned row, unsigned half)
{
    if (has_wide_integers(e))
        return reordered(e, to_pairs[half], row);
    return emit_form_imm(e, X86_VPERMQ_IMM, 0, x86_reg(row), half ? QUADS_OTHERS : QUADS_APART);
}
/* The lower parts become a row. */
static unsigned row_of_halves(struct emitter *e, const unsigned halves[2])
{
    enum { UPPER = 1 };
    unsigned both = emit_form_imm(e, X86_VINSERTI64X4, halves[0], x86_reg(halves[1]), UPPER);
    if (has_wide_integers(e))
        return reordered(e, to_lanes, both);
    return emit_form_imm(e, X86_VPERMQ_IMM, 0, x86_reg(both), QUADS_APART);
}

/* The argument: whether they have a sign. What has none is made 2^31 less before, and more after;
 * in one rounding mode that would be a negative zero. */
EMIT(f64_of_int)
{
    const bool is_signed = e->operation->argument;
    unsigned row = source_copy(e, 0, 0), r[2];
    if (!is_signed)
        op(e, X86_VPXORD, row, row, x86_constant32(e->x, UINT32_C(1) << 31));
    for (unsigned half = 0; half < 2; half++) {
        r[half] = half_of_row(e, row, half);
        op(e, X86_VCVTDQ2PD, r[half], 0, x86_reg(r[half]));
        if (is_signed)
            continue;
        op(e, X86_VADDPD, r[half], r[half], x86_constant64(e->x, TWO_TO_31));
        op(e, X86_VPANDQ, r[half], r[half], x86_constant64(e->x, ~SIGN64));
    }
    emit_result_pair(e, r);
}
EMIT(f64_of_f32)
{
    unsigned row = source_host(e, 0, 0), r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned lanes = half_of_row(e, row, half);
        r[half] = emit_form(e, X86_VCVTPS2PD, 0, x86_reg(lanes));
    }
    emit_result_pair(e, r);
}
EMIT(f32_of_f64)
{
    unsigned halves[2];
    for (unsigned half = 0; half < 2; half++)
        halves[half] = emit_form(e, X86_VCVTPD2PS, 0, x86_reg(source_pair_host(e, 0, half)));
    emit_result(e, row_of_halves(e, halves));
}
/* Truncated; what is beyond is the nearest there is, a NaN 0: the bounds are doubles, too. */
static void truncated(struct emitter *e, unsigned dst, unsigned bounded, bool is_signed)
{
    if (is_signed || has_wide_integers(e)) {
        op(e, is_signed ? X86_VCVTTPD2DQ : X86_VCVTTPD2UDQ, dst, 0, x86_reg(bounded));
        return;
    }
    enum { ROUND_TO_ZERO = 11 };
    x86_vector(e->x, X86_VRNDSCALEPD, bounded, 0, x86_reg(bounded), x86_imm(ROUND_TO_ZERO));
    op(e, X86_VADDPD, bounded, bounded, x86_constant64(e->x, TWO_TO_31 | SIGN64));
    op(e, X86_VCVTTPD2DQ, dst, 0, x86_reg(bounded));
    op(e, X86_VPXORD, dst, dst, x86_constant32(e->x, UINT32_C(1) << 31));
}
EMIT(int_of_f64)
{
    enum { UNORDERED = 3 };
    const bool is_signed = e->operation->argument;
    const uint64_t least = is_signed ? UINT64_C(0xc1e0000000000000) : 0;
    const uint64_t most = is_signed ? UINT64_C(0x41dfffffffc00000) : UINT64_C(0x41efffffffe00000);
    unsigned halves[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half);
        unsigned nan = emit_test(e, X86_VCMPPD, a, x86_reg(a), x86_imm(UNORDERED));
        unsigned bounded = emit_form(e, X86_VMAXPD, a, x86_constant64(e->x, least));
        op(e, X86_VMINPD, bounded, bounded, x86_constant64(e->x, most));
        x86_vector(e->x, X86_VPXORQ, bounded, bounded, x86_reg(bounded), x86_masked(nan));
        emit_mask_done(e, nan);
        halves[half] = values_temporary(&e->values);
        truncated(e, halves[half], bounded, is_signed);
        emit_done(e, bounded);
    }
    emit_result(e, row_of_halves(e, halves));
}

/* ---- products with powers of two ---- */

/* A row's dwords as integers of 64 bits in the order of pairs: each beside itself, then shifted
 * down. */
static unsigned widened(struct emitter *e, unsigned row, unsigned half)
{
    unsigned twice = emit_form(e, half ? X86_VPUNPCKHDQ : X86_VPUNPCKLDQ, row, x86_reg(row));
    x86_shift(e->x, X86_VPSRAQ_IMM, twice, twice, 32);
    return twice;
}
/* The row's integers, bounded. */
static unsigned bounded_source(struct emitter *e, int n, int32_t limit)
{
    unsigned row = source_copy(e, n, 0);
    op(e, X86_VPMAXSD, row, row, x86_constant32(e->x, (uint32_t)-limit));
    op(e, X86_VPMINSD, row, row, x86_constant32(e->x, (uint32_t)limit));
    return row;
}
/* Exponents become the upper halves of powers of two. */
enum { BIAS = 1023, EXPONENT_SHIFT = 20, MOST = 1023, LEAST = -1022, DIGITS = 53 };
static void powers(struct emitter *e, unsigned row)
{
    op(e, X86_VPADDD, row, row, x86_constant32(e->x, BIAS));
    x86_shift(e->x, X86_VPSLLD_IMM, row, row, EXPONENT_SHIFT);
}
/* By a row of powers, in the order of pairs. */
static void multiply_pair(struct emitter *e, unsigned pair, unsigned row, unsigned half)
{
    unsigned power = values_temporary(&e->values);
    op(e, X86_VPXORD, power, power, x86_reg(power));
    op(e, half ? X86_VPUNPCKHDQ : X86_VPUNPCKLDQ, power, power, x86_reg(row));
    op(e, X86_VMULPD, pair, pair, x86_reg(power));
    emit_done(e, power);
}
/* What of n one product with a number may take off: nothing where that is all of it. */
static unsigned step_of(struct emitter *e, unsigned n)
{
    enum { GREATER = 6, LESS = 1, STEP_DOWN = LEAST + DIGITS };
    unsigned step = values_temporary(&e->values);
    op(e, X86_VPXORD, step, step, x86_reg(step));
    const int32_t limits[2] = {MOST, LEAST}, steps[2] = {MOST, STEP_DOWN};
    for (int down = 0; down < 2; down++) {
        unsigned k = emit_test(e, X86_VPCMPD, n, x86_constant32(e->x, (uint32_t)limits[down]),
                               x86_imm(down ? LESS : GREATER));
        struct x86_rm by = x86_constant32(e->x, (uint32_t)steps[down]);
        by.broadcast = false;
        x86_vector(e->x, X86_VPBROADCASTD, step, 0, by, x86_masked(k));
        emit_mask_done(e, k);
    }
    op(e, X86_VPSUBD, n, n, x86_reg(step));
    powers(e, step);
    return step;
}
/* As ldexp_f64() in valu/: at most one of three products rounds. */
static void scale_pair_by_products(struct emitter *e)
{
    enum { LIMIT = 2200, STEPS = 3 };
    unsigned n = bounded_source(e, 1, LIMIT), r[2];
    for (unsigned half = 0; half < 2; half++) {
        struct x86_rm a = x86_reg(source_pair_host(e, 0, half));
        r[half] = emit_form(e, X86_VPORQ, a.reg, a);
        emit_done(e, a.reg);
    }
    for (int step = 0; step < STEPS; step++) {
        unsigned by = n;
        if (step < STEPS - 1) {
            by = step_of(e, n);
        } else {
            op(e, X86_VPMAXSD, n, n, x86_constant32(e->x, (uint32_t)LEAST));
            op(e, X86_VPMINSD, n, n, x86_constant32(e->x, MOST));
            powers(e, n);
        }
        for (unsigned half = 0; half < 2; half++)
            multiply_pair(e, r[half], by, half);
        if (by != n)
            emit_done(e, by);
    }
    emit_result_pair(e, r);
}
/* Scaled once, so rounded once. */
EMIT(ldexp_pair)
{
    if (!has_wide_integers(e)) {
        scale_pair_by_products(e);
        return;
    }
    unsigned row = source_host(e, 1, 0), r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half), wide = widened(e, row, half);
        unsigned exponent = emit_form(e, X86_VCVTQQ2PD, 0, x86_reg(wide));
        r[half] = emit_form(e, X86_VSCALEFPD, a, x86_reg(exponent));
    }
    emit_result_pair(e, r);
}
/* As ldexp_f32() in valu/: in double precision, where no product of these is out of range. */
static void scale_by_doubles(struct emitter *e)
{
    enum { LIMIT = 400 };
    unsigned n = bounded_source(e, 1, LIMIT), a = source_host(e, 0, 0), r[2];
    powers(e, n);
    for (unsigned half = 0; half < 2; half++) {
        r[half] = half_of_row(e, a, half);
        op(e, X86_VCVTPS2PD, r[half], 0, x86_reg(r[half]));
        multiply_pair(e, r[half], n, half);
        op(e, X86_VCVTPD2PS, r[half], 0, x86_reg(r[half]));
    }
    emit_result(e, row_of_halves(e, r));
}
EMIT(ldexp)
{
    if (!has_wide_integers(e)) {
        scale_by_doubles(e);
        return;
    }
    unsigned a = source_host(e, 0, 0);
    unsigned exponent = emit_form(e, X86_VCVTDQ2PS, 0, source_rm(e, 1, 0));
    emit_result(e, emit_form(e, X86_VSCALEFPS, a, x86_reg(exponent)));
}

EMIT(fract_pair)
{
    enum { ROUND_DOWN = 9, NOT_LESS = 0x1d };
    unsigned r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half);
        unsigned whole = emit_form_imm(e, X86_VRNDSCALEPD, 0, x86_reg(a), ROUND_DOWN);
        r[half] = emit_form(e, X86_VSUBPD, a, x86_reg(whole));
        unsigned one =
            emit_test(e, X86_VCMPPD, r[half], x86_constant64(e->x, ONE64), x86_imm(NOT_LESS));
        unsigned below = values_temporary(&e->values);
        struct x86_rm constant = x86_constant64(e->x, ONE64 - 1);
        constant.broadcast = false;
        op(e, X86_VPBROADCASTQ, below, 0, constant);
        x86_vector(e->x, X86_VPORQ, r[half], below, x86_reg(below), x86_masked(one));
    }
    emit_result_pair(e, r);
}
/* Rounded twice. */
EMIT(reciprocal_root_pair)
{
    unsigned r[2], one = values_temporary(&e->values);
    struct x86_rm constant = x86_constant64(e->x, ONE64);
    constant.broadcast = false;
    op(e, X86_VPBROADCASTQ, one, 0, constant);
    for (unsigned half = 0; half < 2; half++) {
        r[half] = emit_form(e, X86_VSQRTPD, 0, source_pair_rm(e, 0, half));
        op(e, X86_VDIVPD, r[half], one, x86_reg(r[half]));
    }
    emit_result_pair(e, r);
}
