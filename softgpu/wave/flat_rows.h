/*
 * Most of what array code does with global memory: a full wave loads or stores elements of whole
 * dwords that follow each other in one mapping, from a multiple of 16 bytes on, and nobody looks at
 * the instruction for modelled time. Compiled three times (flat_rows.c); everything else is
 * flat_elements.c's.
 */
#ifndef WAVE_FLAT_ROWS_H
#define WAVE_FLAT_ROWS_H

#include "translate/translate.h"
#include "wave/wave.h"

/* NULL: the instruction has no such handler. */
inst_exec_fn *flat_rows_handler_avx512(const struct inst *inst, unsigned dwords);
inst_exec_fn *flat_rows_handler_avx2(const struct inst *inst, unsigned dwords);
inst_exec_fn *flat_rows_handler_portable(const struct inst *inst, unsigned dwords);

/* What does the same by the first element's address (translate/); NULL: the handler is another. */
span_fn *flat_rows_span_avx512(inst_exec_fn *exec);
span_fn *flat_rows_span_avx2(inst_exec_fn *exec);
span_fn *flat_rows_span_portable(inst_exec_fn *exec);

/* flat.c: of an instruction that has been decoded. */
span_fn *flat_span(const struct inst *inst);

#endif
