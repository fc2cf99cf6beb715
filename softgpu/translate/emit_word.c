/* Integer operations of 16 bits. What lies above a source's is not part of it, and zeros above a
 * result's. */
#include "translate/emit.h"

#define LOW UINT32_C(0xffff)
enum { WORD_BITS = 16, COUNT_BITS = 15 };

static void result_low(struct emitter *e, unsigned host)
{
    x86_vector(e->x, X86_VPANDD, host, host, x86_constant32(e->x, LOW), (struct x86_option){0});
    emit_result(e, host);
}
static unsigned form(struct emitter *e, enum x86_form f, unsigned a, unsigned b)
{
    return emit_form(e, f, a, x86_reg(b));
}

EMIT(word_binary)
{
    int first = e->operation->flags & REVERSED ? 1 : 0;
    unsigned a = source_host(e, first, 0);
    result_low(e, form(e, e->operation->form, a, source_host(e, !first, 0)));
}
EMIT(word_three)
{
    unsigned a = source_host(e, 0, 0);
    unsigned ab = form(e, e->operation->form, a, source_host(e, 1, 0));
    result_low(e, form(e, e->operation->form, ab, source_host(e, 2, 0)));
}
EMIT(word_mad)
{
    unsigned a = source_host(e, 0, 0), ab = form(e, X86_VPMULLW, a, source_host(e, 1, 0));
    result_low(e, form(e, X86_VPADDW, ab, source_host(e, 2, 0)));
}
/* As dwords: zeros or the sign come from above. */
EMIT(word_shift)
{
    const enum x86_form by = e->operation->form;
    unsigned count = source_host(e, 0, 0), value = source_copy(e, 1, 0);
    unsigned bits = emit_form(e, X86_VPANDD, count, x86_constant32(e->x, COUNT_BITS));
    if (by != X86_VPSLLVD)
        x86_shift(e->x, X86_VPSLLD_IMM, value, value, WORD_BITS);
    if (by != X86_VPSLLVD)
        x86_shift(e->x, by == X86_VPSRAVD ? X86_VPSRAD_IMM : X86_VPSRLD_IMM, value, value,
                  WORD_BITS);
    result_low(e, form(e, by, value, bits));
}
/* Both of them as the upper halves of dwords. */
EMIT(word_compare)
{
    unsigned a = source_host(e, 0, 0), up = emit_shift_imm(e, X86_VPSLLD_IMM, a, WORD_BITS);
    unsigned b = source_host(e, 1, 0), other = emit_shift_imm(e, X86_VPSLLD_IMM, b, WORD_BITS);
    struct x86_option option = x86_imm(e->operation->argument);
    option.mask = (uint8_t)emit_exec(e);
    emit_mask_result(e, emit_test(e, e->operation->form, up, x86_reg(other), option));
}

EMIT(pairs_words)
{
    unsigned a = source_pairs(e, 0);
    emit_result(e, form(e, e->operation->form, a, source_pairs(e, 1)));
}
EMIT(pairs_words_mad)
{
    unsigned a = source_pairs(e, 0), ab = form(e, X86_VPMULLW, a, source_pairs(e, 1));
    emit_result(e, form(e, X86_VPADDW, ab, source_pairs(e, 2)));
}
