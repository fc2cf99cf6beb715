/*
 * What AVX-512 says in one instruction, in those of AVX2 and FMA: x86.c's entry points end here
 * where the level has no masks.
 */
#ifndef TRANSLATE_X86_AVX2_H
#define TRANSLATE_X86_AVX2_H

#include "translate/x86.h"

/* Registers that hold no values: the mask of lanes that run, and two for sequences, the first of
 * which is the level's scratch register: what is stored from it does not need it. */
enum { AVX2_EXEC = 13, AVX2_SCRATCH = 14, AVX2_SECOND = 15 };

/* A constant fills a vector: instructions that broadcast none read it where it stands. */
enum { AVX2_CONSTANT_TIMES = 4 };

void avx2_vector(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, struct x86_rm rm,
                 struct x86_option option);
void avx2_shift(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, unsigned bits);
void avx2_mask_load(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset);
void avx2_mask_store(struct x86 *x, unsigned k, enum x86_gpr base, int32_t offset);
void avx2_mask_from(struct x86 *x, unsigned k, enum x86_gpr gpr);
/* Sets the flag that JUMP_EQUAL looks at where no dword has one of the bits. */
void avx2_test(struct x86 *x, unsigned reg, uint32_t bits);
void avx2_masks(struct x86 *x, enum x86_form form, unsigned dst, unsigned a, unsigned b);

/* x86.c, for this: one instruction, neither masked nor broadcasting. */
void x86_vex(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, struct x86_rm rm,
             struct x86_option option);
void x86_vex_shift(struct x86 *x, enum x86_form form, unsigned dst, unsigned source, unsigned bits);
unsigned x86_element(enum x86_form form); /* bytes of what it can broadcast */

#endif
