/* Handlers of FLAT, GLOBAL and SCRATCH instructions for elements that lie anywhere. */
#ifndef WAVE_FLAT_ELEMENTS_H
#define WAVE_FLAT_ELEMENTS_H

#include "isa/inst.h"
#include "translate/translate.h"

/* Of elements of whole dwords, in global memory or behind generic addresses. */
inst_exec_fn flat_load_dwords, flat_store_dwords;

/* The same of a full wave's elements that follow each other from `va` on; NULL: nothing has been
 * done, as they do not lie in one mapping. */
span_fn flat_load_span, flat_store_span;

/* NULL: no such instruction. The two above, or another one. */
inst_exec_fn *flat_element_handler(struct inst *inst);

#endif
