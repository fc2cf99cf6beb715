/*
 * What the host's vector registers hold while code is being translated. A run of instructions is
 * translated for a strip of sixteen lanes (eight without AVX-512; masks are values then, too): a
 * GPU register is one host register, and a pair of registers that double-precision code uses is
 * two, with the lanes' low and high dwords side by side (lanes 0 1 4 5 ... in one, 2 3 6 7 ... in
 * the other one).
 *
 * Everything has a home in the wave's rows: RDX points at the strip's part of the first vector
 * register, R8 of the first accumulation register. What is `dirty` is newer than its home.
 */
#ifndef TRANSLATE_VALUES_H
#define TRANSLATE_VALUES_H

#include "translate/x86.h"

/* At most; the level says how many. */
enum { HOST_ALLOCATED = 31 };

/* Lanes of a strip that run, in code for any EXEC. */
enum { MASK_EXEC = X86_MASK_EXEC, MASKS_FIRST = 2, MASKS_END = 7, MASK_ODD = X86_MASK_ODD };

enum { ROW_BYTES = 256 };

struct place { /* a vector register of the GPU */
    bool accumulation;
    uint16_t index;
};

enum value_kind {
    VALUE_NONE,
    VALUE_TEMPORARY,
    VALUE_ROW,
    VALUE_PAIR,
    VALUE_MASK,
    VALUE_WIDENED,
    VALUE_INDEX /* what lds.c has made of a row of addresses */
};

struct value {
    enum value_kind kind;
    struct place place; /* of a pair: its first register; of a mask: its scalar registers */
    uint8_t half; /* of a pair: which lanes; of what is widened: enum widened_part; of an index:
                     which kind */
    bool dirty;
    uint8_t held;  /* how often the instruction being translated has asked for it */
    uint64_t used; /* the instruction that did last, plus one */
};

struct mask_value {
    int16_t pair; /* scalar registers whose strip's bits it has; -1: none */
    bool dirty;
    uint64_t used;
};

struct linears;
struct values {
    struct x86 *x;
    const struct linears *linear;  /* registers that are loaded from slots; NULL: none */
    bool linear_lanes;             /* one has been that differs from lane to lane */
    bool accumulation, masks_used; /* R8, R9 have been asked for */
    bool aside;                    /* see values_aside() */
    bool masked;                   /* not all lanes may run: stores leave the others alone */
    uint64_t now;
    struct value hosts[HOST_ALLOCATED];
    struct mask_value masks[MASKS_END];
};

void values_begin(struct values *v, struct x86 *x, bool masked);
/* The next instruction: temporaries of the last one are free. */
void values_next(struct values *v);
/* Stores all that is newer than its home. */
void values_flush(struct values *v);

/* Where the register is as long as nobody has it; whether that is so. */
struct x86_rm values_home(struct place place);
bool values_is_home(struct values *v, struct place place);
/* The same of who has it, but has not changed it. */
bool values_home_is_good(struct values *v, struct place place);
/* Nobody has the register any longer: something else has written it. */
void values_drop(struct values *v, struct place place);

/* A host register that holds nothing yet. */
unsigned values_temporary(struct values *v);
/*
 * What follows is behind a branch, until that is said to be over: only registers that hold nothing
 * can be asked for there, as what another one's value takes to be stored may be left out. So many
 * of them there are.
 */
void values_aside(struct values *v, unsigned count);
void values_aside_over(struct values *v);
/* The one that holds the GPU register, loaded if none does. */
unsigned values_row(struct values *v, struct place place);
unsigned values_pair(struct values *v, struct place place, unsigned half);
/* The instruction has what it asked for once no longer: few registers are left for the rest. */
void values_release(struct values *v, unsigned host);
/* A temporary with the register's value, which the GPU register then has no longer: only for
 * instructions that write it. */
unsigned values_take_row(struct values *v, struct place place);
void values_take_pair(struct values *v, struct place place, unsigned hosts[2]);
/* The temporary becomes what the GPU register holds. */
void values_set_row(struct values *v, struct place place, unsigned host);
void values_set_pair(struct values *v, struct place place, unsigned first, unsigned second);

/* What was made of the register's value, as long as that is the same; false: `host` is a new one.
 */
bool values_index(struct values *v, struct place place, unsigned kind, unsigned *host);
/* Halves of the GPU register as floats, kept as long as it has them: packed ones as they lie, in
 * two parts, or lanes' low ones. Or as words that nothing is between, which is what becomes floats.
 * False: nobody has them yet; a temporary that does is kept. */
enum widened_part {
    WIDENED_FIRST,
    WIDENED_SECOND,
    WIDENED_LANES,
    WORDS_FIRST,
    WORDS_SECOND,
    WORDS_LANES,
    WIDENED_PARTS
};
bool values_widened(struct values *v, struct place place, enum widened_part part, unsigned *host);
void values_keep_widened(struct values *v, struct place place, enum widened_part part,
                         unsigned host);

/* A mask that holds nothing; the one that holds the pair's bits, loaded if none does. */
unsigned values_mask_temporary(struct values *v);
unsigned values_mask(struct values *v, unsigned pair);
/* The instruction has no more use for it; 0: there is none. */
void values_mask_release(struct values *v, unsigned mask);
/* The mask becomes the pair's. */
void values_set_mask(struct values *v, unsigned pair, unsigned mask);

#endif
