/* A run of instructions: which there are, and what they do to scalar registers. */
#ifndef TRANSLATE_RUN_H
#define TRANSLATE_RUN_H

#include "translate/emit.h"
#include "wave/wave.h"

struct run {
    const struct inst *const *insts;
    unsigned count, vectors, scalars; /* instructions; of these vector ones, scalar ones */
    unsigned dwords;
    uint8_t needs;
    bool waits;
    /* Scalar registers that vector instructions read as values, and as strips of a mask from or to
     * a pair that begins there. A strip's code sees what earlier strips have written: only a mask's
     * own bits are the same wherever it stands. */
    bool read[SREG_COUNT], mask_read[SREG_COUNT], mask_written[SREG_COUNT];
};

/* translate.c: does a vector instruction of the run write a mask, or do anything, there? */
bool run_writes_mask(const struct run *run, unsigned first, unsigned dwords);
bool run_touches(const struct run *run, unsigned first, unsigned dwords);

/* scalar.c */
bool scalar_is_known(const struct inst *inst);
bool scalar_fits(const struct run *run, const struct inst *inst);
void scalars_emit(struct x86 *x, const struct run *run);

#endif
