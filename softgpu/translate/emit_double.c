/* Double precision beyond sums and products, and conversions, as AVX-512 has them. */
#include "translate/emit.h"

#define ONE64 UINT64_C(0x3ff0000000000000)

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

/* A row's dwords as integers of 64 bits in the order of pairs: each beside itself, then shifted
 * down. */
static unsigned widened(struct emitter *e, unsigned row, unsigned half, bool is_signed)
{
    unsigned twice = emit_form(e, half ? X86_VPUNPCKHDQ : X86_VPUNPCKLDQ, row, x86_reg(row));
    x86_shift(e->x, is_signed ? X86_VPSRAQ_IMM : X86_VPSRLQ_IMM, twice, twice, 32);
    return twice;
}
/* The argument: whether they have a sign. */
EMIT(f64_of_int)
{
    unsigned row = source_host(e, 0, 0), r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned wide = widened(e, row, half, e->operation->argument);
        r[half] = emit_form(e, X86_VCVTQQ2PD, 0, x86_reg(wide));
    }
    emit_result_pair(e, r);
}
/* Scaled once, so rounded once. */
EMIT(ldexp_pair)
{
    unsigned row = source_host(e, 1, 0), r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half), wide = widened(e, row, half, true);
        unsigned exponent = emit_form(e, X86_VCVTQQ2PD, 0, x86_reg(wide));
        r[half] = emit_form(e, X86_VSCALEFPD, a, x86_reg(exponent));
    }
    emit_result_pair(e, r);
}
EMIT(ldexp)
{
    unsigned a = source_host(e, 0, 0);
    unsigned exponent = emit_form(e, X86_VCVTDQ2PS, 0, source_rm(e, 1, 0));
    emit_result(e, emit_form(e, X86_VSCALEFPS, a, x86_reg(exponent)));
}

/*
 * Conversions change the size of elements, and with it their order: `to_pairs` brings a row's
 * lanes into that of pairs, those of one half first; `to_lanes` brings both halves' results, one
 * behind the other, back.
 */
enum { ROW_LANES = 16 };
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
    x86_vector(e->x, X86_VMOVDQA32_LOAD, places, 0, x86_memory(RAX, 0, false),
               (struct x86_option){0});
    return emit_form(e, X86_VPERMD, places, x86_reg(row));
}
/* Eight dwords of each half become a row. */
static unsigned row_of_halves(struct emitter *e, const unsigned halves[2])
{
    enum { UPPER = 1 };
    unsigned both = emit_form_imm(e, X86_VINSERTI64X4, halves[0], x86_reg(halves[1]), UPPER);
    return reordered(e, to_lanes, both);
}

EMIT(f64_of_f32)
{
    unsigned row = source_host(e, 0, 0), r[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned lanes = reordered(e, to_pairs[half], row);
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
        unsigned low = emit_form(e, X86_VMAXPD, a, x86_constant64(e->x, least));
        unsigned bounded = emit_form(e, X86_VMINPD, low, x86_constant64(e->x, most));
        x86_vector(e->x, X86_VPXORQ, bounded, bounded, x86_reg(bounded), x86_masked(nan));
        halves[half] =
            emit_form(e, is_signed ? X86_VCVTTPD2DQ : X86_VCVTTPD2UDQ, 0, x86_reg(bounded));
    }
    emit_result(e, row_of_halves(e, halves));
}
