/*
 * An assembler for the host: the instructions of forms.def, masks, and the few scalar ones that
 * translated code is framed by. It writes into a buffer that grows; who runs out of memory finds
 * `failed` set at the end and nothing else to check on the way.
 */
#ifndef TRANSLATE_X86_H
#define TRANSLATE_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum x86_form {
#define FORM(name, map, prefix, w, opcode, element) X86_##name,
#include "translate/forms.def"
#undef FORM
    X86_FORMS
};

enum x86_gpr { RAX, RCX, RDX, RBX, RSP, RBP, RSI, RDI, R8, R9, R10, R11 };
enum x86_condition {
    JUMP_OVERFLOW = 0x0,
    JUMP_BELOW = 0x2, /* unsigned, and a carry */
    JUMP_ABOVE_EQUAL = 0x3,
    JUMP_EQUAL = 0x4,
    JUMP_NOT_EQUAL = 0x5,
    JUMP_BELOW_EQUAL = 0x6,
    JUMP_ABOVE = 0x7,
    JUMP_SIGN = 0x8,
    JUMP_LESS = 0xc,
    JUMP_GREATER_EQUAL = 0xd,
    JUMP_LESS_EQUAL = 0xe,
    JUMP_GREATER = 0xf
};
/* Two registers, the first of which gets the result. */
enum x86_operation {
    X86_ADD = 0x01,
    X86_OR = 0x09,
    X86_ADC = 0x11,
    X86_SBB = 0x19,
    X86_AND = 0x21,
    X86_SUB = 0x29,
    X86_XOR = 0x31,
    X86_CMP = 0x39, /* but for these two: flags alone */
    X86_TEST = 0x85
};
enum x86_shift { X86_SHIFT_LEFT = 4, X86_SHIFT_RIGHT = 5, X86_SHIFT_SIGNED = 7 };

enum { X86_CONSTANTS_MAX = 256, X86_JUMPS_MAX = 16 };

/* The last source of an instruction: a register, memory at base + offset, or + an index, or a
 * constant behind the code; memory and constants may be one element for all lanes. */
struct x86_rm {
    enum { X86_REGISTER, X86_MEMORY, X86_CONSTANT } kind;
    uint8_t reg; /* or the base */
    bool broadcast, indexed;
    uint8_t index;
    int32_t offset;
    uint16_t constant;
};

/*
 * What the host has. Whoever emits writes for AVX-512; for less, x86_avx2.c says the same in other
 * instructions. Registers from `values[masked]` on are taken: by EXEC where code is for any, by
 * what single instructions become, and `scratch` by the moments in which no other may be taken.
 */
struct x86_level {
    const char *name; /* valu_isa_name()'s */
    uint8_t lanes;    /* of a vector */
    uint8_t values[2], scratch;
    bool vector_masks; /* a mask is a vector of 0 and ~0 in a register like others */
};
const struct x86_level *x86_level_find(const char *name); /* NULL: none that code is for */

/* Masks: one for lanes that run, those that are values, one for odd lanes; or from X86_MASK_HOST on
 * the vector registers, but for the first and the last one. */
enum { X86_MASK_EXEC = 1, X86_MASK_ODD = 7, X86_MASK_HOST = 16 };

struct x86 {
    const struct x86_level *level; /* whoever emits sets it */
    uint8_t *bytes;
    size_t count, capacity;
    bool failed;
    uint64_t constants[X86_CONSTANTS_MAX];
    unsigned constant_count;
    struct x86_fixup {
        size_t at, next; /* of the displacement; of the instruction behind it */
        uint16_t constant;
    } * fixups;
    size_t fixup_count, fixup_capacity;
};

enum x86_rounding {
    X86_ROUND_MODE,
    X86_ROUND_NEAREST,
    X86_ROUND_DOWN,
    X86_ROUND_UP,
    X86_ROUND_TO_ZERO
};

/* Options of a vector instruction that most do without. */
struct x86_option {
    uint8_t mask; /* k1..k7: lanes that take part; 0: all */
    bool zero;    /* the other lanes become 0, else they stay */
    bool has_imm;
    uint8_t imm;
    uint8_t rounding; /* enum x86_rounding; of registers alone, and AVX-512 */
};

static inline struct x86_rm x86_reg(unsigned reg)
{
    return (struct x86_rm){.kind = X86_REGISTER, .reg = (uint8_t)reg};
}
static inline struct x86_rm x86_memory(enum x86_gpr base, int32_t offset, bool broadcast)
{
    return (struct x86_rm){
        .kind = X86_MEMORY, .reg = (uint8_t)base, .offset = offset, .broadcast = broadcast};
}
static inline struct x86_rm x86_memory_at(enum x86_gpr base, enum x86_gpr index, int32_t offset)
{
    return (struct x86_rm){.kind = X86_MEMORY,
                           .reg = (uint8_t)base,
                           .indexed = true,
                           .index = (uint8_t)index,
                           .offset = offset};
}
static inline struct x86_option x86_imm(unsigned imm)
{
    return (struct x86_option){.has_imm = true, .imm = (uint8_t)imm};
}
static inline struct x86_option x86_masked(unsigned mask)
{
    return (struct x86_option){.mask = (uint8_t)mask};
}

static inline struct x86_option x86_rounded(enum x86_rounding rounding)
{
    return (struct x86_option){.rounding = (uint8_t)rounding};
}

void x86_free(struct x86 *x);

/* dst = source op rm; dst and source: 0..31, or a mask where the form has one. */
void x86_vector(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, struct x86_rm rm,
                struct x86_option option);
/* Shifts by an immediate. */
void x86_shift(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, unsigned bits);

/* A constant as a source that all lanes share: 4 bytes (in both halves of the 8 that it takes), or
 * 8. */
struct x86_rm x86_constant32(struct x86 *x, uint32_t value);
struct x86_rm x86_constant64(struct x86 *x, uint64_t value);
/* Writes the constants behind the code. */
void x86_constants_flush(struct x86 *x);

/* A mask's bit for each lane of a vector, from and to memory; dst = a and b, a or b. R11 is gone.
 */
void x86_mask_load(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset);
void x86_mask_store(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset);
void x86_mask_and(struct x86 *x, unsigned dst, unsigned a, unsigned b);
void x86_mask_or(struct x86 *x, unsigned dst, unsigned a, unsigned b);
void x86_mask_from(struct x86 *x, unsigned k, enum x86_gpr gpr); /* of its low 32 bits */

/* Scalar instructions; memory is at base + offset. */
void x86_load64(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset);
void x86_load32(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset);
void x86_load16(struct x86 *x, enum x86_gpr dst, enum x86_gpr base,
                int32_t offset); /* zeros above */
void x86_load8(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset); /* likewise */
void x86_compare32(struct x86 *x, enum x86_gpr a, enum x86_gpr base, int32_t offset);
void x86_compare32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int32_t imm);
void x86_compare64_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int8_t imm);
void x86_compare8_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int8_t imm);
void x86_test32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, uint32_t imm);
void x86_or8_imm(struct x86 *x, enum x86_gpr base, int32_t offset, uint8_t imm);
void x86_add32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int32_t imm);
void x86_add64_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int32_t imm);
void x86_store64(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source);
void x86_store32(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source);
void x86_store8(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source);
void x86_store8_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int8_t imm);
void x86_store16_imm(struct x86 *x, enum x86_gpr base, int32_t offset, int16_t imm);
void x86_add64(struct x86 *x, enum x86_gpr base, int32_t offset, enum x86_gpr source);
void x86_lea(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset);
void x86_lea32(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset);
void x86_store32_imm(struct x86 *x, enum x86_gpr base, int32_t offset, uint32_t imm);
void x86_gpr_imm32(struct x86 *x, enum x86_gpr dst, uint32_t imm);
void x86_gpr_imm64(struct x86 *x, enum x86_gpr dst, uint64_t imm);
void x86_gpr_move(struct x86 *x, enum x86_gpr dst, enum x86_gpr source);
void x86_gpr_add_imm(struct x86 *x, enum x86_gpr dst, int8_t imm);
void x86_gpr_add(struct x86 *x, enum x86_gpr dst, enum x86_gpr source);
void x86_gpr_or_imm(struct x86 *x, enum x86_gpr dst, uint32_t imm); /* 32 bits */
void x86_gpr_and_imm(struct x86 *x, enum x86_gpr dst, int8_t imm);
void x86_load_state(struct x86 *x, enum x86_gpr base, int32_t offset); /* MXCSR */
void x86_gpr_do(struct x86 *x, enum x86_operation operation, bool wide, enum x86_gpr dst,
                enum x86_gpr source);
void x86_gpr_not(struct x86 *x, bool wide, enum x86_gpr dst);
void x86_gpr_shift(struct x86 *x, enum x86_shift shift, bool wide, enum x86_gpr dst); /* by CL */
void x86_gpr_shift_imm(struct x86 *x, enum x86_shift shift, bool wide, enum x86_gpr dst,
                       unsigned bits);
void x86_gpr_multiply_by(struct x86 *x, enum x86_gpr dst, enum x86_gpr source);   /* 32 bits */
void x86_gpr_multiply_wide(struct x86 *x, enum x86_gpr dst, enum x86_gpr source); /* 64 bits */
void x86_gpr_move_if(struct x86 *x, enum x86_condition condition, enum x86_gpr dst,
                     enum x86_gpr source);
void x86_set_if(struct x86 *x, enum x86_condition condition,
                enum x86_gpr dst); /* RAX to RBX: 0 or 1 */
void x86_gpr_sub(struct x86 *x, enum x86_gpr dst, enum x86_gpr source);
void x86_gpr_compare(struct x86 *x, enum x86_gpr a, enum x86_gpr b); /* 64 bits */
void x86_gpr_trailing_zeros(struct x86 *x, enum x86_gpr dst, enum x86_gpr source);
void x86_gpr_sub_memory(struct x86 *x, enum x86_gpr dst, enum x86_gpr base, int32_t offset);
void x86_gpr_multiply(struct x86 *x, enum x86_gpr dst, int32_t imm);
void x86_gpr_popcount(struct x86 *x, enum x86_gpr dst, enum x86_gpr source);
void x86_gpr_compare_imm(struct x86 *x, enum x86_gpr a, int8_t imm); /* 64 bits */
void x86_gpr_test32(struct x86 *x, enum x86_gpr a);
/* RBX and RBP become RDI and RSI; the caller's are kept, above `bytes` of the stack. */
void x86_frame_enter(struct x86 *x, int32_t bytes);
void x86_frame_leave(struct x86 *x, int32_t bytes);
void x86_push(struct x86 *x, enum x86_gpr gpr); /* of the lower eight */
void x86_pop(struct x86 *x, enum x86_gpr gpr);
void x86_call(struct x86 *x, enum x86_gpr target);
void x86_fence(struct x86 *x); /* of loads behind stores */
void x86_vzeroupper(struct x86 *x);
void x86_return(struct x86 *x);
void x86_jump_to(struct x86 *x, enum x86_gpr target);

/* A jump forward, whose place is returned for x86_land(); one backward to `target`. */
size_t x86_jump(struct x86 *x);
size_t x86_jump_if(struct x86 *x, enum x86_condition condition);
/* Where the dwords of a vector register have none of these bits; the mask is what that takes. */
size_t x86_jump_if_none(struct x86 *x, unsigned reg, uint32_t bits, unsigned k);
void x86_land(struct x86 *x, size_t jump);
void x86_jump_back(struct x86 *x, size_t target);
void x86_jump_back_if(struct x86 *x, enum x86_condition condition, size_t target);

/* x86_lanes.c: between lanes and memory, and between vectors, masks and other registers. */
void x86_mask_to(struct x86 *x, enum x86_gpr gpr, unsigned k);
void x86_gpr_from_vector(struct x86 *x, enum x86_gpr gpr, unsigned source); /* its first dword */
void x86_broadcast_gpr(struct x86 *x, unsigned dst, enum x86_gpr gpr);
/* dst's lanes of the mask, which becomes 0, are loaded from base + their offset + `at`. */
void x86_gather(struct x86 *x, unsigned dst, unsigned k, enum x86_gpr base, unsigned offsets,
                int32_t at);
void x86_masked_store(struct x86 *x, unsigned source, struct x86_rm to); /* lanes that run */
/*
 * Stores elements of some dwords at R10 + the lane's offset, for each lane whose bit is set in RAX,
 * the lowest first. The stack has rows, so many bytes apart: at `first` the offsets, then the
 * dwords. RSI, RDI and R11 are gone.
 */
void x86_lanes_store(struct x86 *x, int32_t first, int32_t row_bytes, unsigned dwords);
/* To R10 + RAX, of RSI 32 or 64 bits. */
void x86_store_lane(struct x86 *x, bool wide);
/* Conditions for x86_jump_if(). AVX-512: does the mask have lanes; AVX2, of all lanes or of those
 * that run: do any have some of these bits, do any differ? */
void x86_mask_test(struct x86 *x, unsigned k);
void x86_test_bits(struct x86 *x, unsigned a, uint32_t bits, bool masked);
void x86_test_differs(struct x86 *x, unsigned a, unsigned b, bool masked);
unsigned x86_mask_scratch(const struct x86 *x); /* AVX2: a mask that is free for the moment */

/* dst += index << shift; dst is of the lower eight, but for RBP. */
void x86_gpr_add_shifted(struct x86 *x, enum x86_gpr dst, enum x86_gpr index, unsigned shift);
/* Asks for a line of memory, to the host's first cache or the second one. */
void x86_prefetch(struct x86 *x, enum x86_gpr base, int32_t offset, unsigned cache);

/* x86.c, for x86_lanes.c. */
void x86_put(struct x86 *x, const uint8_t *bytes, size_t count);
void x86_put32(struct x86 *x, uint32_t value);

#endif
