/*
 * Registers that are linear in the lane: lane n has base + n * step, as item numbers, addresses of
 * elements behind each other, and whatever all lanes share (step 0) do. Where all lanes run two
 * numbers say what 64 lanes do: the step, known when the run is translated, and the base, in a slot
 * of the run's frame. No such register wraps around between its first lane and its last one:
 * carries, comparisons and the upper halves of 64-bit numbers are the same in all lanes then, or
 * the code that finds they would not be gives up.
 */
#ifndef TRANSLATE_LINEAR_H
#define TRANSLATE_LINEAR_H

#include "translate/emit.h"
#include "wave/wave.h"

enum {
    LINEAR_REGISTERS = 24, /* at a time */
    LINEAR_SLOTS = 192,
    LINEAR_INPUTS = 6,
    LINEAR_STEP_MAX = 1 << 20,
    LINEAR_LAST = WAVE_LANES - 1,
    LINEAR_NO_SLOT = 0xff
};

struct linear {
    uint8_t index, slot;
    bool stale; /* its row is older */
    uint32_t step;
};

struct linears {
    struct linear of[LINEAR_REGISTERS];
    uint8_t count, slots; /* slots: that have been taken so far; each is written once */
};

/* While a run is translated; `masks`: slots of lane masks that are all or nothing, within a
 * segment, by their scalar pair. */
struct linear_state {
    struct linears registers;
    uint8_t masks[SREG_COUNT];
    /* Scalar registers that the run has written as one dword. The host does not hand on two such
     * stores to one load of both: that waits until its cache has them. */
    bool narrow[SREG_COUNT];
};

struct linear_term {
    enum { TERM_SLOT, TERM_SCALAR, TERM_CONSTANT } kind;
    uint8_t slots[2]; /* of the low and the high dword */
    uint16_t index;   /* of the scalar register */
    bool narrow;      /* either dword */
    uint64_t value;
    uint32_t step, factor;
};

enum linear_kind {
    LINEAR_SAME,       /* its first term */
    LINEAR_BELOW,      /* the same, if no lane has bits above those of a mask */
    LINEAR_SIGN,       /* all bits are the sign */
    LINEAR_SUM,        /* of terms times their factors, and the carry */
    LINEAR_DIFFERENCE, /* of two terms, and the borrow */
    LINEAR_PRODUCT,    /* of two terms, plus the third one, which has 64 bits as the result */
    LINEAR_COMPARE
};

struct linear_operation {
    enum linear_kind kind;
    struct linear_term terms[3];
    uint8_t count;
    bool wide;         /* 64 bits */
    uint8_t dwords;    /* of the result; 0: there is none */
    uint8_t dst, slot; /* slot: of its first dword */
    uint32_t step;
    uint8_t carry; /* the slot of the mask that it reads, or LINEAR_NO_SLOT */
    bool writes_mask;
    uint8_t mask_slot;
    uint8_t mask;      /* its scalar pair */
    uint8_t condition; /* enum x86_condition */
    bool is_signed;
};

/* linear.c: can it be done with numbers? `unread`: nobody wants the mask that it writes. */
bool linear_find(const struct linear_state *state, const struct inst *inst, bool unread,
                 struct linear_operation *operation);
void linear_apply(struct linear_state *state, const struct linear_operation *operation);
const struct linear *linear_of(const struct linears *registers, unsigned index);
/* The instruction writes its registers otherwise. */
void linear_forget(struct linear_state *state, const struct inst *inst);
void linear_forget_masks(struct linear_state *state);
/* A scalar instruction has been executed. */
void linear_note_scalar(struct linear_state *state, const struct inst *inst);

/* Registers that addresses of memory are made of, as far as that is known where the run begins. */
struct linear_inputs {
    uint8_t count;
    struct {
        uint8_t index;
        uint32_t step;
    } of[LINEAR_INPUTS];
};
struct run;
/* False: no address is made of anything that may be linear. */
bool linear_inputs_find(const struct run *run, struct linear_inputs *inputs);

/* linear_code.c. What gives up adds its jump. */
enum { LINEAR_JUMPS = 2 }; /* of one operation, at most */
unsigned linear_emit(struct x86 *x, const struct linear_operation *operation,
                     size_t jumps[LINEAR_JUMPS]);
void linear_mask_emit(struct x86 *x, const struct linear_operation *operation);
/* Are the inputs as expected? Each has a slot then. */
unsigned linear_enter_emit(struct x86 *x, const struct linear_inputs *inputs,
                           struct linear_state *state, size_t jumps[2 * LINEAR_INPUTS]);
/* Rows that are stale, of registers first to last. RAX stays. */
void linear_restore_emit(struct x86 *x, const struct linears *registers, unsigned first,
                         unsigned last);
/* Registers `from` become those `to`, their slots; can they? */
bool linear_fits(const struct linears *from, const struct linears *to);
void linear_move_emit(struct x86 *x, const struct linears *from, const struct linears *to);
/* Memory: do the lanes' elements follow each other; RDX becomes the first one's address. */
bool linear_address_follows(const struct linear_state *state, const struct inst *inst);
void linear_address_emit(struct x86 *x, const struct linear_state *state, const struct inst *inst);
uint32_t linear_access_bytes(const struct inst *inst); /* of a lane's element */
/* In a strip: a register, from its slot; FRAME_LANE has the strip's lane numbers. */
void linear_load_emit(struct x86 *x, unsigned host, const struct linear *linear);
void linear_lanes_begin(struct x86 *x);
void linear_lanes_next(struct x86 *x);

#endif
