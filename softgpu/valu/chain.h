/*
 * Matrix instructions with the same registers as C and D, executed one behind the other as one:
 * what they add up stays in the host's registers from one to the next. Who executes them so has
 * seen to it that nothing between them matters to them (translate/matrices.c).
 */
#ifndef VALU_CHAIN_H
#define VALU_CHAIN_H

#include "isa/inst.h"

struct wave;

/* Of so many instructions, each at most so many slots behind the first one. */
enum { VALU_CHAIN_MAX = 8, VALU_CHAIN_SLOTS = 0xffff };

/* How far they are from `first`, 16 bits each: four in `near`, more in `far`. */
typedef void valu_chain_fn(struct wave *wave, const struct inst *first, uint64_t near, uint64_t far,
                           uint32_t count);

/* What executes the instruction with others for which it is the same; NULL: alone. */
valu_chain_fn *valu_chain(const struct inst *inst);

static inline const struct inst *chain_inst(const struct inst *first, uint64_t near, uint64_t far,
                                            unsigned n)
{
    const unsigned shift = 16 * (n % 4);
    return first + ((n < 4 ? near : far) >> shift & VALU_CHAIN_SLOTS);
}

#endif
