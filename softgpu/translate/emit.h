/*
 * From one GPU instruction to host instructions, for a strip of sixteen lanes. `operations.c` says
 * which function emits which operation, and with what.
 */
#ifndef TRANSLATE_EMIT_H
#define TRANSLATE_EMIT_H

#include "isa/inst.h"
#include "translate/values.h"

struct operation;

struct emitter {
    struct x86 *x;
    struct values values;
    const struct inst *inst;
    const struct operation *operation;
    const struct inst *written_of; /* whose lanes `written` are the mask of; 0: all of them */
    unsigned written;
    unsigned far;     /* rows in the frame that have been asked for */
    bool mask_unread; /* the next one that has to do with the mask it writes writes it, too */
};

typedef void emit_fn(struct emitter *e);

/* What the wave's mode must be for the translation to mean what the instruction does, and what has
 * to be prepared. */
enum operation_need {
    NEED_ONE_STATE = 1 << 0, /* f64 rounds and keeps denormals as f32 does */
    NEED_IEEE = 1 << 1,
    NEED_ODD_LANES = 1 << 2, /* MASK_ODD */
    NEED_FLUSH = 1 << 4,     /* the host's state flushes denormals, for this one alone */
    NEED_USUAL = 1 << 3      /* all round to the nearest, without FP16_OVFL, and keep denormals */
};

enum operation_flag {
    SIGNS = 1 << 0,       /* f32 or f64 sources may be negated and made absolute */
    COMMUTES = 1 << 1,    /* the first two sources may change places */
    REVERSED = 1 << 2,    /* they have */
    ACCUMULATES = 1 << 3, /* the destination is the third source */
    WRITES_MASK = 1 << 4, /* besides its result, or (COMPARES) as its result */
    READS_MASK = 1 << 5,  /* as its third source */
    COMPARES = 1 << 6,
    PACKED = 1 << 7, /* two f32, each of which picks its dwords */
    HALVES = 1 << 8, /* 16-bit sources and results, in registers' low halves or where op_sel says */
    KEEPS_HIGH = 1 << 9, /* the result leaves the register's other half alone */
    PAIRS = 1 << 10,     /* packed halves */
    DOT = 1 << 12,       /* parts of sources are multiplied */
    MIXED = 1 << 11      /* sources are halves or f32, as op_sel_hi says */
};

struct operation {
    emit_fn *emit;      /* NULL: not translated */
    uint16_t form;      /* enum x86_form */
    uint8_t argument;   /* of the form or the function: a predicate, an immediate */
    uint16_t flags;     /* enum operation_flag */
    uint8_t needs;      /* enum operation_need */
    uint8_t sources[3]; /* dwords of each; 0: none */
    uint8_t dwords;     /* of the destination */
    bool (*accepts)(const struct inst *inst); /* NULL: whatever the rest allows */
};

/* NULL: the interpreter keeps it. */
const struct operation *operation_find(const struct inst *inst);
bool operation_exists(unsigned op); /* with some operands */

/* The scalar pair that a compare or carry writes; that a select or carry reads. */
unsigned operation_mask_out(const struct operation *operation, const struct inst *inst);
unsigned operation_mask_in(const struct inst *inst);

/* sources.c: a source's dword, signs applied, in a host register; or as what an instruction can
 * read by itself. A pair's half likewise. */
unsigned source_host(struct emitter *e, int n, int dword);
struct x86_rm source_rm(struct emitter *e, int n, int dword);
unsigned source_pair_host(struct emitter *e, int n, unsigned half);
struct x86_rm source_pair_rm(struct emitter *e, int n, unsigned half);
/* A temporary with the source's value, to be changed. */
unsigned source_copy(struct emitter *e, int n, int dword);
bool source_is_scalar(const struct inst *inst, int n);
bool source_is_constant(const struct inst *inst, int n);
struct place operand_place(const struct operand *operand);

/* modifiers.c: DPP, SDWA and op_sel. Is it one that emitters need not know of? */
/* What each half of a packed source is. */
unsigned source_pairs(struct emitter *e, int n);
bool modifier_is_known(const struct operation *operation, const struct inst *inst);
/* Does a source need more than where it is? What it then is; its own register is released. */
bool source_is_modified(const struct emitter *e, int n);
unsigned source_modified(struct emitter *e, int n, unsigned host);
/* Does the register keep some of what it has? Puts the result beside it; lanes of a mask likewise.
 */
bool result_is_partial(const struct emitter *e);
void result_modified(struct emitter *e, unsigned host);
void mask_modified(struct emitter *e, unsigned mask);

/* far_lanes.c: does the instruction read a strip's lanes in another one, or differ from strip to
 * strip? Then its source is a row of the frame. */
bool far_lanes(const struct inst *inst);
unsigned far_moved(struct emitter *e);
/* The mask of those of a row's lanes that are the strip's; of those that read a lane that runs. */
unsigned far_mask(struct emitter *e, uint32_t lanes);
unsigned far_running(struct emitter *e);

/* dst = form(a, b) in a temporary. */
unsigned emit_form(struct emitter *e, enum x86_form form, unsigned a, struct x86_rm b);
unsigned emit_form_imm(struct emitter *e, enum x86_form form, unsigned a, struct x86_rm b,
                       unsigned imm);
unsigned emit_shift_imm(struct emitter *e, enum x86_form form, unsigned a, unsigned bits);
void emit_copy(struct emitter *e, unsigned dst, struct x86_rm rm);
/* The instruction has no more use for what emit_form() or source_host() gave. */
void emit_done(struct emitter *e, unsigned host);
void emit_mask_done(struct emitter *e, unsigned k); /* of what emit_test() gave */
/* k = form(a, b), for the lanes of `mask` (0: all of them). */
unsigned emit_test(struct emitter *e, enum x86_form form, unsigned a, struct x86_rm b,
                   struct x86_option option);
/* Lanes that run, as an instruction's mask: 0 where all do. */
unsigned emit_exec(const struct emitter *e);
void emit_result(struct emitter *e, unsigned host); /* of one dword */
void emit_result_wide(struct emitter *e, unsigned low, unsigned high);
void emit_result_pair(struct emitter *e, const unsigned halves[2]);
void emit_mask_result(struct emitter *e, unsigned mask); /* of lanes that run */

/* Denormals of single precision become zeros of their sign, whatever the mode says. */
void emit_flush(struct emitter *e, unsigned host);

#define EMIT(name) void emit_##name(struct emitter *e)
/* emit_integer.c */
EMIT(move);
EMIT(move_wide);
EMIT(move_packed);
EMIT(complement);
EMIT(binary);
EMIT(xnor);
EMIT(logic3);
EMIT(shift_left);
EMIT(shift_right);
EMIT(shift_arithmetic);
EMIT(add3);
EMIT(lshl_add);
EMIT(add_lshl);
EMIT(lshl_or);
EMIT(xad);
EMIT(three); /* a form twice */
EMIT(med3);
EMIT(mul_hi);
EMIT(mul_u24);
EMIT(mul_i24);
EMIT(mad_u24);
EMIT(mul_hi_24);
EMIT(mad_i24);
EMIT(bfe_u32);
EMIT(bfe_i32);
EMIT(alignbit);
EMIT(ffbh);
/* emit_bits.c */
EMIT(count);
EMIT(count_below);
EMIT(reverse);
EMIT(ffbl);
EMIT(ffbh_signed);
EMIT(bfm);
/* emit_division.c */
EMIT(div_scale);
EMIT(div_scale_pair);
EMIT(div_fmas);
EMIT(div_fmas_pair);
EMIT(div_fixup);
EMIT(div_fixup_pair);
/* emit_dot.c */
EMIT(dot4);
EMIT(dot2_signed);
EMIT(dot2_half);
EMIT(mad);
/* emit_word.c */
EMIT(word_binary);
EMIT(word_three);
EMIT(word_mad);
EMIT(word_shift);
EMIT(word_compare);
EMIT(pairs_words);
EMIT(pairs_words_mad);
/* emit_wide.c */
EMIT(shift_left_wide);
EMIT(shift_right_wide);
EMIT(shift_arithmetic_wide);
EMIT(lshl_add_wide);
EMIT(mad_wide);
EMIT(mad_wide_signed);
/* emit_mask.c */
EMIT(select);
EMIT(compare);
EMIT(compare_wide);
EMIT(compare_pair);
EMIT(compare_class);
EMIT(compare_class_half);
EMIT(compare_class_pair);
EMIT(add_carry);
EMIT(sub_carry);
/* emit_float.c */
EMIT(fma);
EMIT(min_max);
EMIT(round);
EMIT(reciprocal);
EMIT(square_root);
EMIT(unary);
EMIT(i32_of_f32);
EMIT(u32_of_f32);
EMIT(f32_of_byte);
EMIT(packed);
EMIT(packed_fma);
EMIT(binary_pair);
EMIT(fma_pair);
EMIT(min_max3);
EMIT(med3_float);
EMIT(fract);
/* emit_half.c */
EMIT(half_binary);
EMIT(half_fma);
EMIT(half_unary);
EMIT(half_round);
EMIT(half_reciprocal);
EMIT(half_of_float);
EMIT(half_of_int);
EMIT(half_pack);
EMIT(half_pack_floats);
EMIT(half_order);
EMIT(half_order3);
EMIT(half_med3);
EMIT(half_compare);
EMIT(float_of_half);
EMIT(pairs_binary);
EMIT(pairs_fma);
EMIT(pairs_order);
EMIT(mixed_fma);
/* emit_trans.c */
EMIT(exp2);
EMIT(log2);
EMIT(reciprocal_root);
EMIT(turn);
/* emit_double.c */
EMIT(min_max_pair);
EMIT(round_pair);
EMIT(reciprocal_pair);
EMIT(reciprocal_root_pair);
EMIT(fract_pair);
EMIT(square_root_pair);
EMIT(f64_of_int);
EMIT(ldexp_pair);
EMIT(ldexp);
EMIT(f64_of_f32);
EMIT(f32_of_f64);
EMIT(int_of_f64);

bool accepts_constant_field(const struct inst *inst);
bool accepts_constant_shift(const struct inst *inst);
bool accepts_constant_count(const struct inst *inst);
bool accepts_unclamped(const struct inst *inst);
bool accepts_plain_sum(const struct inst *inst);

#endif
