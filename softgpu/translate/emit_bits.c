/* Bits counted, found and turned round; numbers of lanes. */
#include <stddef.h>

#include "translate/emit.h"
#include "wave/wave.h"

enum { TABLE_CHOOSE = 0xd8, COUNT_MAX = 32, LAST_BIT = 31 };

static void op(struct emitter *e, enum x86_form form, unsigned dst, unsigned a, struct x86_rm b)
{
    x86_vector(e->x, form, dst, a, b, (struct x86_option){0});
}

/* The host register gets the number of bits that it has, by sums of neighbours, of pairs and so on.
 */
static void count_bits(struct emitter *e, unsigned host)
{
    static const uint32_t fields[] = {0x55555555, 0x33333333, 0x0f0f0f0f};
    unsigned up = values_temporary(&e->values);
    x86_shift(e->x, X86_VPSRLD_IMM, up, host, 1);
    op(e, X86_VPANDD, up, up, x86_constant32(e->x, fields[0]));
    op(e, X86_VPSUBD, host, host, x86_reg(up));
    x86_shift(e->x, X86_VPSRLD_IMM, up, host, 2);
    op(e, X86_VPANDD, up, up, x86_constant32(e->x, fields[1]));
    op(e, X86_VPANDD, host, host, x86_constant32(e->x, fields[1]));
    op(e, X86_VPADDD, host, host, x86_reg(up));
    x86_shift(e->x, X86_VPSRLD_IMM, up, host, 4);
    op(e, X86_VPADDD, host, host, x86_reg(up));
    op(e, X86_VPANDD, host, host, x86_constant32(e->x, fields[2]));
    for (unsigned bits = 8; bits < 32; bits *= 2) {
        x86_shift(e->x, X86_VPSRLD_IMM, up, host, bits);
        op(e, X86_VPADDD, host, host, x86_reg(up));
    }
    op(e, X86_VPANDD, host, host, x86_constant32(e->x, 63));
    emit_done(e, up);
}
static void result_sum(struct emitter *e, unsigned host)
{
    op(e, X86_VPADDD, host, host, source_rm(e, 1, 0));
    emit_result(e, host);
}
EMIT(count)
{
    unsigned a = source_copy(e, 0, 0);
    count_bits(e, a);
    result_sum(e, a);
}

#define EIGHT(n) n, n + 1, n + 2, n + 3, n + 4, n + 5, n + 6, n + 7
static const uint32_t lane_numbers[WAVE_LANES] __attribute__((aligned(64))) = {
    EIGHT(0), EIGHT(8), EIGHT(16), EIGHT(24), EIGHT(32), EIGHT(40), EIGHT(48), EIGHT(56)};

/* RDX is as far into the first row as the strip's lanes are into the table. */
static unsigned lanes_host(struct emitter *e)
{
    unsigned lanes = values_temporary(&e->values);
    x86_gpr_imm64(e->x, RAX, (uint64_t)(uintptr_t)lane_numbers);
    x86_gpr_add(e->x, RAX, RDX);
    x86_gpr_sub_memory(e->x, RAX, RDI, (int32_t)offsetof(struct wave, v));
    x86_vector(e->x, X86_VMOVDQA32_LOAD, lanes, 0, x86_memory(RAX, 0, false),
               (struct x86_option){0});
    return lanes;
}
/* Of all lanes below, those of the lower or (the argument) of the upper half of the wave count.
 * Compilers mostly ask how many there are. */
EMIT(count_below)
{
    const struct operand *mask = &e->inst->src[0];
    unsigned lanes = lanes_host(e);
    if (e->operation->argument) {
        op(e, X86_VPMAXUD, lanes, lanes, x86_constant32(e->x, COUNT_MAX));
        op(e, X86_VPSUBD, lanes, lanes, x86_constant32(e->x, COUNT_MAX));
    } else {
        op(e, X86_VPMINUD, lanes, lanes, x86_constant32(e->x, COUNT_MAX));
    }
    if (mask->kind != OPND_CONST || (uint32_t)mask->value != UINT32_MAX) {
        unsigned ones = values_temporary(&e->values);
        emit_copy(e, ones, x86_constant32(e->x, 1));
        op(e, X86_VPSLLVD, lanes, ones, x86_reg(lanes)); /* 0 for all 32 */
        op(e, X86_VPSUBD, lanes, lanes, x86_reg(ones));
        op(e, X86_VPANDD, lanes, lanes, source_rm(e, 0, 0));
        count_bits(e, lanes);
    }
    result_sum(e, lanes);
}

/* a's bits that the mask has, shifted down, and those that it has after the shift, up. */
static void exchange(struct emitter *e, unsigned a, unsigned scratch, unsigned bits, uint32_t mask)
{
    x86_shift(e->x, X86_VPSRLD_IMM, scratch, a, bits);
    x86_shift(e->x, X86_VPSLLD_IMM, a, a, bits);
    x86_vector(e->x, X86_VPTERNLOGD, a, scratch, x86_constant32(e->x, mask), x86_imm(TABLE_CHOOSE));
}
EMIT(reverse)
{
    unsigned a = source_copy(e, 0, 0), scratch = values_temporary(&e->values);
    exchange(e, a, scratch, 1, 0x55555555);
    exchange(e, a, scratch, 2, 0x33333333);
    exchange(e, a, scratch, 4, 0x0f0f0f0f);
    exchange(e, a, scratch, 8, 0x00ff00ff);
    x86_shift(e->x, X86_VPRORD_IMM, scratch, a, 16);
    emit_result(e, scratch);
}

/* The host counts 32 zeros above no bit. */
EMIT(ffbl)
{
    unsigned a = source_host(e, 0, 0), r = values_temporary(&e->values);
    op(e, X86_VPXORD, r, r, x86_reg(r));
    op(e, X86_VPSUBD, r, r, x86_reg(a));
    op(e, X86_VPANDD, r, r, x86_reg(a));
    unsigned above = emit_form(e, X86_VPLZCNTD, 0, x86_reg(r));
    emit_copy(e, r, x86_constant32(e->x, LAST_BIT));
    op(e, X86_VPSUBD, r, r, x86_reg(above));
    emit_result(e, r);
}
EMIT(ffbh_signed)
{
    unsigned a = source_host(e, 0, 0), b = emit_shift_imm(e, X86_VPSRAD_IMM, a, LAST_BIT);
    op(e, X86_VPXORD, b, b, x86_reg(a));
    unsigned none = emit_test(e, X86_VPTESTNMD, b, x86_reg(b), (struct x86_option){0});
    unsigned r = emit_form(e, X86_VPLZCNTD, 0, x86_reg(b));
    struct x86_rm ones = x86_constant32(e->x, UINT32_MAX);
    ones.broadcast = false;
    x86_vector(e->x, X86_VPBROADCASTD, r, 0, ones, x86_masked(none));
    emit_result(e, r);
}
/* Ones: how many, and from where on. */
EMIT(bfm)
{
    unsigned ones = values_temporary(&e->values), width = values_temporary(&e->values);
    unsigned first = values_temporary(&e->values);
    emit_copy(e, ones, x86_constant32(e->x, 1));
    emit_copy(e, width, x86_constant32(e->x, LAST_BIT));
    op(e, X86_VPANDD, first, width, source_rm(e, 1, 0));
    op(e, X86_VPANDD, width, width, source_rm(e, 0, 0));
    op(e, X86_VPSLLVD, width, ones, x86_reg(width));
    op(e, X86_VPSUBD, width, width, x86_reg(ones));
    op(e, X86_VPSLLVD, width, width, x86_reg(first));
    emit_result(e, width);
}
