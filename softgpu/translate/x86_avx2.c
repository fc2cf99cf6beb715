#include "translate/x86_avx2.h"

enum { A = AVX2_SCRATCH, B = AVX2_SECOND };
enum { PREDICATE_EQUAL, PREDICATE_LESS, PREDICATE_LESS_EQUAL, PREDICATE_NEVER, PREDICATE_NOT };

static void op(struct x86 *x, enum x86_form form, unsigned dst, unsigned a, unsigned b)
{
    x86_vex(x, form, dst, a, x86_reg(b), (struct x86_option){0});
}
static void op_rm(struct x86 *x, enum x86_form form, unsigned dst, unsigned a, struct x86_rm rm)
{
    x86_vex(x, form, dst, a, rm, (struct x86_option){0});
}
static void zeros(struct x86 *x, unsigned dst)
{
    op(x, X86_VPXORD, dst, dst, dst);
}
static void ones(struct x86 *x, unsigned dst)
{
    op(x, X86_VPCMPEQD, dst, dst, dst);
}

/* The last source as these instructions have it: what they cannot broadcast is broadcast to A, but
 * for constants, which are as long as a vector. */
static struct x86_rm loaded(struct x86 *x, enum x86_form form, struct x86_rm rm)
{
    if (rm.kind == X86_REGISTER || !rm.broadcast)
        return rm;
    if (rm.kind == X86_CONSTANT) {
        rm.broadcast = false;
        return rm;
    }
    op_rm(x, x86_element(form) == 8 ? X86_VPBROADCASTQ : X86_VPBROADCASTD, A, 0, rm);
    return x86_reg(A);
}
static unsigned loaded_register(struct x86 *x, enum x86_form form, struct x86_rm rm)
{
    rm = loaded(x, form, rm);
    if (rm.kind == X86_REGISTER)
        return rm.reg;
    op_rm(x, X86_VMOVDQA32_LOAD, A, 0, rm);
    return A;
}

static unsigned mask_register(unsigned k)
{
    return k == X86_MASK_EXEC ? AVX2_EXEC : k - X86_MASK_HOST;
}

/* dst = mask ? rm : a */
static void blend(struct x86 *x, unsigned dst, unsigned a, struct x86_rm rm, unsigned k)
{
    enum { ODD_LANES = 0xaa };
    if (k == X86_MASK_ODD)
        x86_vex(x, X86_VPBLENDD, dst, a, rm, x86_imm(ODD_LANES));
    else
        x86_vex(x, X86_VBLENDVPS, dst, a, rm, x86_imm(mask_register(k) << 4));
}

/* ---- comparisons, into a vector of 0 and ~0 ---- */

static void compare_signed(struct x86 *x, unsigned dst, unsigned a, struct x86_rm b,
                           unsigned predicate)
{
    if (predicate == PREDICATE_LESS)
        op(x, X86_VPCMPGTD, dst, loaded_register(x, X86_VPCMPD, b), a);
    else /* its opposite, as less_equal's is */
        op_rm(x, X86_VPCMPGTD, dst, a, b);
}
/* Who is the greater or the lesser of two: a, or the other one. */
static void compare_unsigned(struct x86 *x, unsigned dst, unsigned a, struct x86_rm b,
                             unsigned predicate)
{
    op_rm(x, predicate == PREDICATE_LESS ? X86_VPMAXUD : X86_VPMINUD, dst, a, b);
    op(x, X86_VPCMPEQD, dst, dst, a);
}
static void compare_dwords(struct x86 *x, enum x86_form form, unsigned dst, unsigned a,
                           struct x86_rm b, unsigned predicate)
{
    bool opposite = predicate & PREDICATE_NOT;
    predicate &= PREDICATE_NOT - 1;
    if (predicate == PREDICATE_NEVER) {
        zeros(x, dst);
    } else if (predicate == PREDICATE_EQUAL) {
        op_rm(x, X86_VPCMPEQD, dst, a, b);
    } else if (form == X86_VPCMPD) {
        compare_signed(x, dst, a, b, predicate);
        opposite ^= predicate == PREDICATE_LESS_EQUAL;
    } else {
        compare_unsigned(x, dst, a, b, predicate);
        opposite ^= predicate == PREDICATE_LESS;
    }
    if (opposite) {
        ones(x, A);
        op(x, X86_VPXORD, dst, dst, A);
    }
}

/* Lanes whose a and b have no bit in common. */
static void test_none(struct x86 *x, enum x86_form compare, unsigned dst, unsigned a,
                      struct x86_rm b)
{
    if (b.kind != X86_REGISTER || b.reg != a) {
        op_rm(x, X86_VPANDD, dst, a, b);
        a = dst;
    }
    zeros(x, A);
    op(x, compare, dst, a, A);
}

/* False: the form is none whose result is a mask. */
static bool test(struct x86 *x, enum x86_form form, unsigned k, unsigned a, struct x86_rm rm,
                 struct x86_option option)
{
    enum { SIGN = 31 };
    unsigned dst = option.mask ? B : mask_register(k);
    switch (form) {
    case X86_VPCMPD:
    case X86_VPCMPUD:
        compare_dwords(x, form, dst, a, loaded(x, form, rm), option.imm);
        break;
    case X86_VPTESTNMD:
    case X86_VPTESTNMQ:
        test_none(x, form == X86_VPTESTNMD ? X86_VPCMPEQD : X86_VPCMPEQQ, dst, a,
                  loaded(x, form, rm));
        break;
    case X86_VCMPPS:
    case X86_VCMPPD:
        x86_vex(x, form, dst, a, loaded(x, form, rm), x86_imm(option.imm));
        break;
    case X86_VPMOVD2M:
        x86_vex_shift(x, X86_VPSRAD_IMM, dst, rm.reg, SIGN);
        break;
    default:
        return false;
    }
    if (option.mask)
        op(x, X86_VPANDD, mask_register(k), dst, mask_register(option.mask));
    return true;
}

/* ---- what takes several instructions ---- */

/* A function of two bits by the even half of its table: b selects the upper two bits of it. Returns
 * where it is: `scratch`, or one of the two. */
static unsigned function2(struct x86 *x, unsigned table, unsigned scratch, unsigned b, unsigned c)
{
    switch (table) {
    case 0x0:
        zeros(x, scratch);
        break;
    case 0x2:
        op(x, X86_VPANDN, scratch, b, c);
        break;
    case 0x4:
        op(x, X86_VPANDN, scratch, c, b);
        break;
    case 0x6:
        op(x, X86_VPXORD, scratch, b, c);
        break;
    case 0x8:
        op(x, X86_VPANDD, scratch, b, c);
        break;
    case 0xe:
        op(x, X86_VPORD, scratch, b, c);
        break;
    default:
        return table == 0xc ? b : c;
    }
    return scratch;
}

/* Is it dst's words or b's, whichever a constant says? Which ones of an instruction are b's; 0: it
 * is not. */
static unsigned words_of(const struct x86 *x, struct x86_rm rm, unsigned table)
{
    enum { DST_WHERE_SET = 0xe4, OTHER_WHERE_SET = 0xd8, LOW_WORDS = 0x55, HIGH_WORDS = 0xaa };
    if (rm.kind != X86_CONSTANT || (table != DST_WHERE_SET && table != OTHER_WHERE_SET))
        return 0;
    const uint64_t mask = x->constants[rm.constant];
    const bool set = table == OTHER_WHERE_SET;
    if (mask == UINT64_C(0x0000ffff0000ffff))
        return set ? LOW_WORDS : HIGH_WORDS;
    return mask == UINT64_C(0xffff0000ffff0000) ? (set ? HIGH_WORDS : LOW_WORDS) : 0;
}

/*
 * Any function of three bits, the first of which is dst: f(0, b, c) ^ (dst & g(b, c)), where g is
 * f(0, b, c) ^ f(1, b, c). The odd half of the tables are complements of the even one.
 */
static void ternary(struct x86 *x, unsigned dst, unsigned b, struct x86_rm rm, unsigned table)
{
    const unsigned words = words_of(x, rm, table);
    if (words) {
        x86_vex(x, X86_VPBLENDW, dst, dst, x86_reg(b), x86_imm(words));
        return;
    }
    unsigned low = table & 15, flips = low ^ table >> 4, c = loaded_register(x, X86_VPTERNLOGD, rm);
    bool complement = low & 1, unflips = flips & 1;
    unsigned base = function2(x, complement ? low ^ 15 : low, B, b, c), free = base == B ? A : B;
    if (flips == 0) {
        op_rm(x, X86_VMOVDQA32_LOAD, dst, 0, x86_reg(base));
    } else if (flips == 15) {
        op(x, X86_VPXORD, dst, dst, base);
    } else if (!complement && flips == (low ^ 15)) {
        op(x, X86_VPORD, dst, dst, base);
    } else {
        unsigned g = function2(x, unflips ? flips ^ 15 : flips, free, b, c);
        if (unflips)
            op(x, X86_VPANDN, free, g, dst);
        else
            op(x, X86_VPANDD, free, dst, g);
        op(x, X86_VPXORD, dst, free, base);
    }
    if (complement) {
        ones(x, A);
        op(x, X86_VPXORD, dst, dst, A);
    }
}

/* The exponent of what is left of the number when no rounding can carry out of its top bit. */
static void leading_zeros(struct x86 *x, unsigned dst, unsigned a)
{
    enum { MANTISSA = 23, BIAS_AND_31 = 127 + 31, MOST = 32 };
    x86_vex_shift(x, X86_VPSRLD_IMM, B, a, 8);
    op(x, X86_VPANDN, B, B, a);
    op(x, X86_VCVTDQ2PS, B, 0, B);
    x86_vex_shift(x, X86_VPSRLD_IMM, B, B, MANTISSA); /* the sign is above it: more than enough */
    op_rm(x, X86_VMOVDQA32_LOAD, A, 0, x86_constant32(x, BIAS_AND_31));
    op(x, X86_VPSUBUSW, B, A, B);
    op_rm(x, X86_VPMINUD, dst, B, x86_constant32(x, MOST));
}

/* high * 65536 + low, rounded once. */
static void float_of_unsigned(struct x86 *x, unsigned dst, unsigned a)
{
    enum { HALF = 16, TWO_TO_16 = 0x47800000 };
    x86_vex_shift(x, X86_VPSRLD_IMM, B, a, HALF);
    op(x, X86_VCVTDQ2PS, B, 0, B);
    x86_vex_shift(x, X86_VPSLLD_IMM, dst, a, HALF);
    x86_vex_shift(x, X86_VPSRLD_IMM, dst, dst, HALF);
    op(x, X86_VCVTDQ2PS, dst, 0, dst);
    op_rm(x, X86_VFMADD231PS, dst, B, x86_constant32(x, TWO_TO_16));
}

/* Of what is not negative. Beyond 2^31 the host says 1 << 31, to which what is above it is added;
 * beyond 2^32 it says so of that, too. */
static void unsigned_of_float(struct x86 *x, unsigned dst, unsigned a)
{
    enum { SIGN = 31, TWO_TO_31 = 0x4f000000 };
    op_rm(x, X86_VSUBPS, B, a, x86_constant32(x, TWO_TO_31));
    op(x, X86_VCVTTPS2DQ, B, 0, B);
    op(x, X86_VCVTTPS2DQ, A, 0, a);
    x86_vex_shift(x, X86_VPSRAD_IMM, dst, A, SIGN);
    op(x, X86_VPANDD, B, B, dst);
    x86_vex_shift(x, X86_VPSRAD_IMM, dst, B, SIGN);
    op(x, X86_VPORD, A, A, B);
    op(x, X86_VPORD, dst, dst, A);
}

/* What minima and maxima of single and of double precision are made of. */
struct range_forms {
    enum x86_form range, compare, blend, up, add, least, most;
    uint8_t behind_quiet_bit; /* how far it is from where the blend looks */
};
static const struct range_forms range_ps = {X86_VRANGEPS, X86_VCMPPS, X86_VBLENDVPS, X86_VPSLLD_IMM,
                                            X86_VADDPS,   X86_VMINPS, X86_VMAXPS,    9},
                                range_pd = {X86_VRANGEPD, X86_VCMPPD, X86_VBLENDVPD, X86_VPSLLQ_IMM,
                                            X86_VADDPD,   X86_VMINPD, X86_VMAXPD,    12};

static void unordered(struct x86 *x, const struct range_forms *f, unsigned dst, unsigned a,
                      unsigned b)
{
    enum { UNORDERED = 3 };
    x86_vex(x, f->compare, dst, a, x86_reg(b), x86_imm(UNORDERED));
}

/* Where one is a NaN: the other one, but the NaN, made quiet by a sum, where it is signalling. */
static void range_of_nans(struct x86 *x, const struct range_forms *f, unsigned dst, unsigned a,
                          struct x86_rm rm)
{
    unsigned b = loaded_register(x, f->range, rm);
    unordered(x, f, B, b, b);
    x86_vex(x, f->blend, dst, dst, x86_reg(a), x86_imm(B << 4));
    unordered(x, f, B, a, a);
    x86_vex(x, f->blend, dst, dst, x86_reg(b), x86_imm(B << 4));
    for (int n = 0; n < 2; n++) {
        unsigned of = n ? loaded_register(x, f->range, rm) : a;
        unordered(x, f, B, of, of);
        x86_vex_shift(x, f->up, A, of, f->behind_quiet_bit);
        op(x, X86_VPANDN, B, A, B);
        op(x, f->add, A, a, loaded_register(x, f->range, rm));
        x86_vex(x, f->blend, dst, dst, x86_reg(A), x86_imm(B << 4));
    }
}
/* The host's minimum and maximum are the second source where both are zeros, or one is a NaN. Both
 * ways together they differ in these lanes alone, and zeros want the union of their bits, a maximum
 * the intersection. */
static void range(struct x86 *x, const struct range_forms *f, unsigned dst, unsigned a,
                  struct x86_rm rm, bool maximum)
{
    const enum x86_form form = maximum ? f->most : f->least;
    unsigned b = loaded_register(x, f->range, rm);
    if (dst == a || dst == b)
        x->failed = true; /* emitters take a new register */
    op(x, form, dst, a, b);
    op(x, form, B, b, a);
    op(x, maximum ? X86_VPANDD : X86_VPORD, dst, dst, B);
    unordered(x, f, B, a, b);
    op(x, X86_VTESTPS, B, 0, B);
    size_t numbers = x86_jump_if(x, JUMP_EQUAL);
    range_of_nans(x, f, dst, a, rm);
    x86_land(x, numbers);
}

/* The low words of dwords, one behind the other. */
static void words(struct x86 *x, unsigned dst, unsigned a)
{
    enum { QUADS_APART = 0x08 };
    const uint64_t low_words = UINT64_C(0x0d0c090805040100);
    op_rm(x, X86_VPSHUFB, A, a, loaded(x, X86_VPSHUFB, x86_constant64(x, low_words)));
    x86_vex(x, X86_VPERMQ_IMM, dst, 0, x86_reg(A), x86_imm(QUADS_APART));
}

/* Of two vectors: by the low three bits of the indices from both, and by the fourth from which. */
static void permute_two(struct x86 *x, unsigned dst, unsigned index, struct x86_rm rm)
{
    enum { TO_SIGN = 28 };
    op_rm(x, X86_VPERMD, A, index, rm);
    op(x, X86_VPERMD, dst, index, dst);
    x86_vex_shift(x, X86_VPSLLD_IMM, B, index, TO_SIGN);
    x86_vex(x, X86_VBLENDVPS, dst, dst, x86_reg(A), x86_imm(B << 4));
}

/* False: the form is an instruction here, too. */
static bool sequence(struct x86 *x, enum x86_form form, unsigned dst, unsigned source,
                     struct x86_rm rm, struct x86_option option)
{
    switch (form) {
    case X86_VPTERNLOGD:
        ternary(x, dst, source, rm, option.imm);
        return true;
    case X86_VPERMT2D:
        permute_two(x, dst, source, rm);
        return true;
    case X86_VPLZCNTD:
        leading_zeros(x, dst, loaded_register(x, form, rm));
        return true;
    case X86_VRANGEPS:
        range(x, &range_ps, dst, source, rm, option.imm & 1);
        return true;
    case X86_VRANGEPD:
        range(x, &range_pd, dst, source, rm, option.imm & 1);
        return true;
    case X86_VCVTUDQ2PS:
        float_of_unsigned(x, dst, loaded_register(x, form, rm));
        return true;
    case X86_VCVTTPS2UDQ:
        unsigned_of_float(x, dst, loaded_register(x, form, rm));
        return true;
    case X86_VPMOVDW:
        words(x, rm.reg, dst);
        return true;
    case X86_VEXTRACTI64X4:
        x86_vex(x, X86_VEXTRACTI128, dst, 0, rm, option);
        return true;
    case X86_VINSERTI64X4:
        x86_vex(x, X86_VINSERTI128, dst, source, rm, option);
        return true;
    case X86_VPMOVM2D:
    case X86_VPMOVM2Q:
        op(x, X86_VMOVDQA32_LOAD, dst, 0, mask_register(rm.reg));
        return true;
    default:
        return false;
    }
}

/* ---- masks ---- */

static bool is_one(const struct x86 *x, struct x86_rm rm)
{
    return rm.kind == X86_CONSTANT && rm.broadcast &&
           x->constants[rm.constant] == UINT64_C(0x100000001);
}

/* Lanes of the mask take part: the others keep what dst has, or become 0. Of instructions that
 * have two sources besides. */
static void masked(struct x86 *x, enum x86_form form, unsigned dst, unsigned source,
                   struct x86_rm rm, struct x86_option option)
{
    unsigned k = option.mask;
    if (form == X86_VMOVDQA32_STORE) {
        op_rm(x, X86_VMOVDQA32_LOAD, B, 0, rm);
        blend(x, B, B, x86_reg(dst), k);
        op_rm(x, form, B, 0, rm);
        return;
    }
    /* ~0 is -1. */
    if ((form == X86_VPADDD || form == X86_VPSUBD) && is_one(x, rm) && dst == source) {
        op(x, form == X86_VPADDD ? X86_VPSUBD : X86_VPADDD, dst, dst, mask_register(k));
        return;
    }
    option.mask = 0;
    x86_vex(x, form, B, source, loaded(x, form, rm), option);
    if (option.zero)
        op(x, X86_VPANDD, dst, B, mask_register(k));
    else
        blend(x, dst, dst, x86_reg(B), k);
}

void avx2_vector(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, struct x86_rm rm,
                 struct x86_option option)
{
    if (form == X86_VPBLENDMD)
        blend(x, dst, source, loaded(x, form, rm), option.mask);
    else if (test(x, form, dst, source, rm, option))
        return;
    else if (option.mask)
        masked(x, form, dst, source, rm, option);
    else if (!sequence(x, form, dst, source, rm, option))
        x86_vex(x, form, dst, source, loaded(x, form, rm), option);
}

void avx2_shift(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, unsigned bits)
{
    enum { DWORD = 32 };
    if (form != X86_VPRORD_IMM) {
        x86_vex_shift(x, form, dst, source, bits);
        return;
    }
    x86_vex_shift(x, X86_VPSRLD_IMM, B, source, bits);
    x86_vex_shift(x, X86_VPSLLD_IMM, dst, source, DWORD - bits);
    op(x, X86_VPORD, dst, dst, B);
}

/* From a bit for each lane in all of A's bytes. */
static void mask_spread(struct x86 *x, unsigned k)
{
    struct x86_rm bits = x86_constant64(x, UINT64_C(0x8040201008040201));
    unsigned dst = mask_register(k);
    op_rm(x, X86_VPMOVZXBD, B, 0, bits);
    op(x, X86_VPANDD, dst, A, B);
    op(x, X86_VPCMPEQD, dst, dst, B);
}
void avx2_mask_load(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset)
{
    op_rm(x, X86_VPBROADCASTB, A, 0, x86_memory(base, offset, false));
    mask_spread(x, k);
}
void avx2_mask_store(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset)
{
    op(x, X86_VMOVMSKPS, R11, 0, mask_register(k));
    x86_store8(x, base, offset, R11);
}
void avx2_mask_from(struct x86 *x, unsigned k, enum x86_gpr gpr)
{
    if (k == X86_MASK_ODD) /* part of an instruction */
        return;
    op(x, X86_VMOVD, A, 0, gpr);
    op(x, X86_VPBROADCASTB, A, 0, A);
    mask_spread(x, k);
}
void avx2_test(struct x86 *x, unsigned reg, uint32_t bits)
{
    op_rm(x, X86_VPTEST, reg, 0, x86_constant32(x, bits));
}
void avx2_masks(struct x86 *x, enum x86_form form, unsigned dst, unsigned a, unsigned b)
{
    op(x, form, mask_register(dst), mask_register(a), mask_register(b));
}
