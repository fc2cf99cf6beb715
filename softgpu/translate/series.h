/*
 * A run that is all that its waves execute, as those execute it of which it is known where they go
 * and which memory they access (wave/series.c): accesses, and vector instructions on what was
 * loaded. What computes addresses, decides or loads scalars is left out; it is told here, for
 * whoever finds out what comes of it.
 */
#ifndef TRANSLATE_SERIES_H
#define TRANSLATE_SERIES_H

#include <stddef.h>

#include "translate/translate.h"

enum { SERIES_ACCESSES = 8, SERIES_LOADS = 8 };

enum series_role {
    SERIES_NOTHING,
    SERIES_NUMBER, /* of scalars, or of registers that are linear in the lane */
    SERIES_LOAD,   /* scalar */
    SERIES_BRANCH, /* goes where the next step is */
    SERIES_ACCESS, /* of lanes' elements that follow each other */
    SERIES_STRIP   /* a vector instruction that is part of the code */
};

/* Where a wave's access finds its elements, and how far behind them to ask for what comes next. */
struct series_span {
    uint8_t *host;
    int64_t ahead;
};
/* `first`: the run's first slot; `spans`: of its accesses, in their order. What the wave loads is
 * not left in its registers. */
typedef void series_fn(struct wave *wave, const struct inst *first,
                       const struct series_span *spans);
struct series {
    uint32_t whole; /* wave.h; 0: there is none */
    uint8_t count, accesses, note_count;
    uint8_t notes[SERIES_ACCESSES + SERIES_LOADS]; /* steps that access memory */
    size_t offset;                                 /* of its code */
    series_fn *exec; /* where that is: whoever keeps the code writes it before it is published */
    struct series_step {
        const struct inst *inst;
        inst_exec_fn *exec; /* the instruction's own handler */
        uint8_t role;       /* enum series_role */
    } steps[TRANSLATE_RUN_MAX];
};

struct run;
/* series.c: appends the code of a run that has been emitted, or leaves series->whole 0. */
void series_emit(struct x86 *x, const struct run *run, struct series *series);

#endif
