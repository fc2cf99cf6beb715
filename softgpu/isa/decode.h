/*
 * The gfx9 instruction decoder makes a struct inst of dwords. It knows encodings, not execution.
 */
#ifndef ISA_DECODE_H
#define ISA_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "core/device.h"
#include "isa/inst.h"
#include "isa_ops.h"

/*
 * Decodes the instruction at code[0], of which `dwords` are readable, into *inst; inst->exec is
 * left NULL. Returns its length in dwords, or 0 when it is illegal on this generation or cut off:
 * then *inst has op OP_INVALID, raw[] and dwords 1.
 */
int isa_decode(enum gpu_gen gen, const uint32_t *code, size_t dwords, struct inst *inst);

/* How many 32-bit registers a value of the type occupies. */
unsigned isa_type_dwords(enum operand_type type);

#endif
