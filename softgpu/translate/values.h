/*
 * What the host's vector registers hold while code is being translated. A run of instructions is
 * translated for a strip of sixteen lanes: a GPU register is one host register, and a pair of
 * registers that double-precision code uses is two, with the lanes' low and high dwords side by
 * side (lanes 0 1 4 5 ... in one, 2 3 6 7 ... in the other one).
 *
 * Everything has a home in the wave's rows: RDX points at the strip's part of the first vector
 * register, R8 of the first accumulation register. What is `dirty` is newer than its home.
 */
#ifndef TRANSLATE_VALUES_H
#define TRANSLATE_VALUES_H

#include "translate/x86.h"

/* The last one is for the moments in which no other may be taken. */
enum { HOST_REGISTERS = 32, HOST_SCRATCH = 31, HOST_ALLOCATED = 31 };

/* Lanes of a strip that run, in code for any EXEC. */
enum { MASK_EXEC = 1, MASKS_FIRST = 2, MASKS_END = 7, MASK_ODD = 7 };

enum { STRIP_LANES = 16, ROW_BYTES = 256, STRIP_BYTES = 64 };

struct place { /* a vector register of the GPU */
    bool accumulation;
    uint16_t index;
};

enum value_kind { VALUE_NONE, VALUE_TEMPORARY, VALUE_ROW, VALUE_PAIR };

struct value {
    enum value_kind kind;
    struct place place; /* of a pair: its first register */
    uint8_t half;       /* of a pair: which lanes */
    bool dirty;
    uint64_t used; /* the instruction that did last, plus one */
};

struct mask_value {
    int16_t pair; /* scalar registers whose strip's bits it has; -1: none */
    uint64_t used;
};

struct values {
    struct x86 *x;
    bool masked; /* not all lanes may run: stores leave the others alone */
    uint64_t now;
    struct value hosts[HOST_ALLOCATED];
    struct mask_value masks[MASKS_END];
};

void values_begin(struct values *v, struct x86 *x, bool masked);
/* The next instruction: temporaries of the last one are free. */
void values_next(struct values *v);
/* Stores all that is newer than its home. */
void values_flush(struct values *v);

/* A host register that holds nothing yet. */
unsigned values_temporary(struct values *v);
/* The one that holds the GPU register, loaded if none does. */
unsigned values_row(struct values *v, struct place place);
unsigned values_pair(struct values *v, struct place place, unsigned half);
/* A temporary with the register's value, which the GPU register then has no longer: only for
 * instructions that write it. */
unsigned values_take_row(struct values *v, struct place place);
void values_take_pair(struct values *v, struct place place, unsigned hosts[2]);
/* The temporary becomes what the GPU register holds. */
void values_set_row(struct values *v, struct place place, unsigned host);
void values_set_pair(struct values *v, struct place place, unsigned first, unsigned second);

/* A mask that holds nothing; the one that holds the pair's bits, loaded if none does. */
unsigned values_mask_temporary(struct values *v);
unsigned values_mask(struct values *v, unsigned pair);
/* The mask becomes the pair's, and is stored. */
void values_set_mask(struct values *v, unsigned pair, unsigned mask);

#endif
