/* What reads or writes lane masks: selects, comparisons, carries. */
#include "translate/emit.h"

enum { PREDICATE_EQUAL = 0, PREDICATE_LESS = 1, PREDICATE_LESS_EQUAL = 2, PREDICATE_NEVER = 3 };
enum { PREDICATE_NOT = 4 }; /* added to one of these: its opposite */

EMIT(select)
{
    unsigned k = values_mask(&e->values, operation_mask_in(e->inst));
    unsigned a = source_host(e, 0, 0), dst = values_temporary(&e->values);
    x86_vector(e->x, X86_VPBLENDMD, dst, a, source_rm(e, 1, 0), x86_masked(k));
    emit_result(e, dst);
}

static struct x86_option tested(const struct emitter *e, unsigned predicate)
{
    struct x86_option option = x86_imm(predicate);
    option.mask = (uint8_t)emit_exec(e);
    return option;
}

EMIT(compare)
{
    unsigned a = source_host(e, 0, 0);
    struct x86_rm b = source_rm(e, 1, 0);
    emit_mask_result(e, emit_test(e, e->operation->form, a, b, tested(e, e->operation->argument)));
}

/* Two dwords: a strict relation of the high ones decides, or if these are equal the low ones do. */
EMIT(compare_wide)
{
    enum { NONE = 0, GREATER = PREDICATE_LESS_EQUAL + PREDICATE_NOT };
    static const uint8_t strict[] = {NONE,          PREDICATE_LESS, PREDICATE_LESS, NONE,
                                     PREDICATE_NOT, GREATER,        GREATER,        NONE};
    const unsigned predicate = e->operation->argument;
    unsigned a = source_host(e, 0, 1);
    struct x86_rm b = source_rm(e, 1, 1);
    if ((predicate & 3) == PREDICATE_NEVER) { /* or always */
        emit_mask_result(e, emit_test(e, X86_VPCMPD, a, b, tested(e, predicate)));
        return;
    }
    struct x86_option low = tested(e, predicate);
    if (predicate != PREDICATE_NOT + PREDICATE_EQUAL)
        low.mask = (uint8_t)emit_test(e, X86_VPCMPD, a, b, tested(e, PREDICATE_EQUAL));
    unsigned result = emit_test(e, X86_VPCMPUD, source_host(e, 0, 0), source_rm(e, 1, 0), low);
    if (strict[predicate] != NONE) {
        unsigned high = emit_test(e, e->operation->form, a, b, tested(e, strict[predicate]));
        x86_mask_or(e->x, result, result, high);
    }
    emit_mask_result(e, result);
}

/* Doubles, eight lanes to a register, in the order of pairs; as rows they have that of lanes. */
EMIT(compare_pair)
{
    enum { HIGH_DWORDS = 0xdd };
    unsigned rows[2];
    for (unsigned half = 0; half < 2; half++) {
        unsigned a = source_pair_host(e, 0, half);
        struct x86_rm b = source_pair_rm(e, 1, half);
        unsigned k = emit_test(e, X86_VCMPPD, a, b, x86_imm(e->operation->argument));
        rows[half] = values_temporary(&e->values);
        x86_vector(e->x, X86_VPMOVM2Q, rows[half], 0, x86_reg(k), (struct x86_option){0});
    }
    unsigned row = emit_form_imm(e, X86_VSHUFPS, rows[0], x86_reg(rows[1]), HIGH_DWORDS);
    unsigned k = emit_test(e, X86_VPMOVD2M, 0, x86_reg(row), (struct x86_option){0});
    if (emit_exec(e))
        x86_mask_and(e->x, k, k, MASK_EXEC);
    emit_mask_result(e, k);
}

/*
 * Classes are ranges of a value's size, from the smallest to the largest, and signs. The size is in
 * the upper bits of a dword, without the sign: of doubles the last bit stands for all that is below
 * the high dword. The bits of the mask: for positive values and for negative ones.
 */
enum { CLASS_RANGES = 6 };
static const struct {
    uint16_t positive, negative;
} class_bits[CLASS_RANGES] = {{1 << 6, 1 << 5}, {1 << 7, 1 << 4}, {1 << 8, 1 << 3},
                              {1 << 9, 1 << 2}, {1 << 0, 1 << 0}, {1 << 1, 1 << 1}};
/* Where they begin. */
static const uint32_t class_f32[] = {0, 2, 0x1000000, 0xff000000, 0xff000002, 0xff800000},
                      class_f16[] = {0, 0x20000, 0x8000000, 0xf8000000, 0xf8020000, 0xfc000000},
                      class_f64[] = {0, 1, 0x200000, 0xffe00000, 0xffe00001, 0xfff00000};

/* Lanes whose size is in a range of `wanted`, a bit for each; of those of `among`. */
static unsigned in_ranges(struct emitter *e, unsigned size, const uint32_t *first, unsigned wanted,
                          struct x86_option among)
{
    among.has_imm = true;
    among.imm = PREDICATE_NEVER;
    unsigned result = emit_test(e, X86_VPCMPUD, size, x86_reg(size), among);
    for (int n = 0; n < CLASS_RANGES; n++) {
        if (!(wanted >> n & 1))
            continue;
        int last = n;
        while (last + 1 < CLASS_RANGES && wanted >> (last + 1) & 1)
            last++; /* neighbours are one range */
        uint32_t end = last + 1 < CLASS_RANGES ? first[last + 1] - 1 : UINT32_MAX;
        unsigned above = emit_form(e, X86_VPSUBD, size, x86_constant32(e->x, first[n]));
        among.imm = PREDICATE_LESS_EQUAL;
        unsigned k = emit_test(e, X86_VPCMPUD, above, x86_constant32(e->x, end - first[n]), among);
        x86_mask_or(e->x, result, result, k);
        emit_mask_done(e, k);
        emit_done(e, above);
        n = last;
    }
    return result;
}
/* A mask that is no constant, shifted down by the number of the value's bit: 6 for +0, one more for
 * each larger range; of negative ones 5 and less. */
static void result_class_of_mask(struct emitter *e, unsigned size, unsigned top,
                                 const uint32_t *first)
{
    enum { POSITIVE_ZERO = 6, BOTH_ZEROS = 11, NUMBERS = 4, LAST_BIT = 31 };
    enum { NOT_LESS = PREDICATE_LESS + PREDICATE_NOT };
    unsigned bit = values_temporary(&e->values), other = values_temporary(&e->values);
    emit_copy(e, bit, x86_constant32(e->x, POSITIVE_ZERO));
    for (int n = 1; n < NUMBERS; n++) {
        unsigned k =
            emit_test(e, X86_VPCMPUD, size, x86_constant32(e->x, first[n]), x86_imm(NOT_LESS));
        x86_vector(e->x, X86_VPADDD, bit, bit, x86_constant32(e->x, 1), x86_masked(k));
        emit_mask_done(e, k);
    }
    emit_copy(e, other, x86_constant32(e->x, BOTH_ZEROS));
    x86_vector(e->x, X86_VPSUBD, other, other, x86_reg(bit), (struct x86_option){0});
    unsigned negative =
        emit_test(e, X86_VPCMPD, top, x86_constant32(e->x, 0), x86_imm(PREDICATE_LESS));
    x86_vector(e->x, X86_VPBLENDMD, bit, bit, x86_reg(other), x86_masked(negative));
    emit_mask_done(e, negative);
    for (unsigned quiet = 0; quiet < 2; quiet++) {
        unsigned k = emit_test(e, X86_VPCMPUD, size, x86_constant32(e->x, first[NUMBERS + quiet]),
                               x86_imm(NOT_LESS));
        struct x86_rm number = x86_constant32(e->x, quiet);
        number.broadcast = false;
        x86_vector(e->x, X86_VPBROADCASTD, bit, 0, number, x86_masked(k));
        emit_mask_done(e, k);
    }
    unsigned chosen = emit_form(e, X86_VPSRLVD, source_host(e, 1, 0), x86_reg(bit));
    x86_shift(e->x, X86_VPSLLD_IMM, chosen, chosen, LAST_BIT);
    unsigned k = emit_test(e, X86_VPMOVD2M, 0, x86_reg(chosen), (struct x86_option){0});
    if (emit_exec(e))
        x86_mask_and(e->x, k, k, MASK_EXEC);
    emit_mask_result(e, k);
}
/* `top` has the signs. Compilers' masks mostly treat both alike. */
static void result_class(struct emitter *e, unsigned size, unsigned top, const uint32_t *first)
{
    enum { NOT_LESS = PREDICATE_LESS + PREDICATE_NOT };
    if (!source_is_constant(e->inst, 1)) {
        result_class_of_mask(e, size, top, first);
        return;
    }
    const uint64_t mask = e->inst->src[1].value;
    unsigned positive = 0, negative = 0;
    for (unsigned n = 0; n < CLASS_RANGES; n++) {
        positive |= (mask & class_bits[n].positive ? 1u : 0) << n;
        negative |= (mask & class_bits[n].negative ? 1u : 0) << n;
    }
    struct x86_option run = {.mask = (uint8_t)emit_exec(e)};
    unsigned result = in_ranges(e, size, first, positive & negative, run);
    for (int sign = 0; sign < 2; sign++) {
        unsigned wanted = sign ? negative & ~positive : positive & ~negative;
        if (!wanted)
            continue;
        unsigned which = emit_test(e, X86_VPCMPD, top, x86_constant32(e->x, 0),
                                   tested(e, sign ? PREDICATE_LESS : NOT_LESS));
        unsigned k = in_ranges(e, size, first, wanted, x86_masked(which));
        x86_mask_or(e->x, result, result, k);
        emit_mask_done(e, k);
        emit_mask_done(e, which);
    }
    emit_mask_result(e, result);
}
EMIT(compare_class)
{
    unsigned a = source_host(e, 0, 0);
    result_class(e, emit_shift_imm(e, X86_VPSLLD_IMM, a, 1), a, class_f32);
}
EMIT(compare_class_half)
{
    enum { HALF_BITS = 16 };
    unsigned a = source_host(e, 0, 0), top = emit_shift_imm(e, X86_VPSLLD_IMM, a, HALF_BITS);
    result_class(e, emit_shift_imm(e, X86_VPSLLD_IMM, top, 1), top, class_f16);
}
EMIT(compare_class_pair)
{
    unsigned low = source_host(e, 0, 0), high = source_host(e, 0, 1);
    unsigned size = emit_shift_imm(e, X86_VPSLLD_IMM, high, 1);
    unsigned none = emit_test(e, X86_VPTESTNMD, low, x86_reg(low), (struct x86_option){0});
    unsigned rest = values_temporary(&e->values);
    emit_copy(e, rest, x86_constant32(e->x, 1));
    x86_vector(e->x, X86_VPXORD, rest, rest, x86_reg(rest), x86_masked(none));
    x86_vector(e->x, X86_VPORD, size, size, x86_reg(rest), (struct x86_option){0});
    emit_mask_done(e, none);
    emit_done(e, rest);
    result_class(e, size, high, class_f64);
}

static unsigned carry_in(struct emitter *e)
{
    return e->operation->flags & READS_MASK ? values_mask(&e->values, operation_mask_in(e->inst))
                                            : 0;
}
static void carry_out(struct emitter *e, unsigned k)
{
    if (emit_exec(e))
        x86_mask_and(e->x, k, k, MASK_EXEC);
    emit_mask_result(e, k);
}

/* What a carry in makes of ~0 is a carry out, too. */
EMIT(add_carry)
{
    unsigned in = carry_in(e);
    int first = source_is_scalar(e->inst, 0) ? 1 : 0;
    unsigned a = source_host(e, first, 0);
    unsigned sum = emit_form(e, X86_VPADDD, a, source_rm(e, !first, 0));
    if (e->mask_unread) {
        if (e->operation->flags & READS_MASK)
            x86_vector(e->x, X86_VPADDD, sum, sum, x86_constant32(e->x, 1), x86_masked(in));
        emit_result(e, sum);
        return;
    }
    unsigned out = emit_test(e, X86_VPCMPUD, sum, x86_reg(a), x86_imm(PREDICATE_LESS));
    if (e->operation->flags & READS_MASK) {
        x86_vector(e->x, X86_VPADDD, sum, sum, x86_constant32(e->x, 1), x86_masked(in));
        unsigned wrapped = emit_test(e, X86_VPTESTNMD, sum, x86_reg(sum), x86_masked(in));
        x86_mask_or(e->x, out, out, wrapped);
    }
    emit_result(e, sum);
    carry_out(e, out);
}
EMIT(sub_carry)
{
    unsigned in = carry_in(e);
    int first = e->operation->flags & REVERSED ? 1 : 0;
    unsigned a = source_host(e, first, 0);
    struct x86_rm b = source_rm(e, !first, 0);
    if (e->mask_unread) {
        unsigned alone = emit_form(e, X86_VPSUBD, a, b);
        if (e->operation->flags & READS_MASK)
            x86_vector(e->x, X86_VPSUBD, alone, alone, x86_constant32(e->x, 1), x86_masked(in));
        emit_result(e, alone);
        return;
    }
    unsigned out = emit_test(e, X86_VPCMPUD, a, b, x86_imm(PREDICATE_LESS));
    unsigned difference = emit_form(e, X86_VPSUBD, a, b);
    if (e->operation->flags & READS_MASK) {
        unsigned wrapped =
            emit_test(e, X86_VPTESTNMD, difference, x86_reg(difference), x86_masked(in));
        x86_vector(e->x, X86_VPSUBD, difference, difference, x86_constant32(e->x, 1),
                   x86_masked(in));
        x86_mask_or(e->x, out, out, wrapped);
    }
    emit_result(e, difference);
    carry_out(e, out);
}
