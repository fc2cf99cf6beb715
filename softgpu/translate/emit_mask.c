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
 * Classes of single precision are ranges of a value's bits: of its size where the mask treats both
 * signs alike, which compilers' masks do. The bits of the mask, from the smallest size to the
 * largest, for positive values and for negative ones.
 */
enum { CLASS_RANGES = 6 };
static const struct class_range {
    uint32_t first, last;
    uint16_t positive, negative;
} class_ranges[CLASS_RANGES] = {{0, 0, 1 << 6, 1 << 5},
                                {1, 0x7fffff, 1 << 7, 1 << 4},
                                {0x800000, 0x7f7fffff, 1 << 8, 1 << 3},
                                {0x7f800000, 0x7f800000, 1 << 9, 1 << 2},
                                {0x7f800001, 0x7fbfffff, 1 << 0, 1 << 0},
                                {0x7fc00000, 0x7fffffff, 1 << 1, 1 << 1}};

bool accepts_constant_class(const struct inst *inst)
{
    if (!source_is_constant(inst, 1) || (inst->neg | inst->abs))
        return false;
    for (int n = 0; n < CLASS_RANGES; n++)
        if (!(inst->src[1].value & class_ranges[n].positive) !=
            !(inst->src[1].value & class_ranges[n].negative))
            return false;
    return true;
}

EMIT(compare_class)
{
    const uint64_t wanted = e->inst->src[1].value;
    unsigned size = emit_form(e, X86_VPANDD, source_host(e, 0, 0), x86_constant32(e->x, INT32_MAX));
    unsigned result = emit_test(e, X86_VPCMPUD, size, x86_reg(size), tested(e, PREDICATE_NEVER));
    for (int n = 0; n < CLASS_RANGES; n++) {
        if (!(wanted & class_ranges[n].positive))
            continue;
        uint32_t first = class_ranges[n].first;
        while (n + 1 < CLASS_RANGES && wanted & class_ranges[n + 1].positive)
            n++; /* neighbours are one range */
        unsigned above = emit_form(e, X86_VPSUBD, size, x86_constant32(e->x, first));
        struct x86_rm span = x86_constant32(e->x, class_ranges[n].last - first);
        unsigned k = emit_test(e, X86_VPCMPUD, above, span, tested(e, PREDICATE_LESS_EQUAL));
        x86_mask_or(e->x, result, result, k);
    }
    emit_mask_result(e, result);
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
