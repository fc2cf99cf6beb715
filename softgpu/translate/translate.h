/*
 * Runs of instructions as code of the host (decision 0020). A run stands in program memory without
 * a gap, and nobody jumps into its middle: what the interpreter does in one call each is one call,
 * in which vector instructions' values stay in the host's registers, and whatever is not code of
 * its own calls the interpreter's handlers. The interpreter remains the judge: registers, memory,
 * faults, counts and the turns of waves are the same to the last bit, but for which of two NaNs
 * comes out.
 */
#ifndef TRANSLATE_TRANSLATE_H
#define TRANSLATE_TRANSLATE_H

#include "isa/inst.h"
#include "translate/x86.h"

enum { TRANSLATE_RUN_MAX = 64, TRANSLATE_RUN_MIN = 2 };

/* CROCGPU_TRANSLATE; never where the host has neither AVX-512 nor AVX2. */
enum translate_mode { TRANSLATE_OFF, TRANSLATE_HOT, TRANSLATE_AT_ONCE };
enum translate_mode translate_mode(void);

/* Can the instruction be part of a run? */
bool translate_knows(const struct inst *inst);

/*
 * Executes a load or store of all lanes whose elements follow each other from `va` on; NULL: it has
 * done nothing, the instruction is its handler's. And finds that for an instruction; NULL: there is
 * none.
 */
typedef const struct inst *span_fn(struct wave *wave, const struct inst *inst, uint64_t va);
typedef span_fn *span_find_fn(const struct inst *inst);

/*
 * Appends the longest run that insts[0..count) begin with; the slots lie behind each other as
 * program memory does, but where a run goes on at the target of a conditional branch forward.
 * `plain`: what executes the first one alone, for when the run can't be. `memory`: what accesses
 * memory by an address; NULL: only handlers do. Returns how many instructions it has, 0: none that
 * is worth it. What is not translated is executed by its slot's `exec`.
 *
 * The code is an inst_exec_fn of the first slot, wherever it is copied to: call it like any
 * handler. wave->slice_left instructions may follow the first one; a run that has more of them, or
 * finds a mode that it was not made for, executes the first one alone. What it has read and written
 * it notes in wave->touched, and ends before what conflicts with that while the wave is in step
 * (wave/step.h).
 */
struct series;
struct translate_memory {
    span_find_fn *spans;
    struct series *series; /* becomes the run's, series->whole 0: it has none */
};
unsigned translate_run(struct x86 *x, const struct inst *const *insts, unsigned count,
                       inst_exec_fn *plain, const struct translate_memory *memory);

/* Copies code to where it can be executed, and is never written again. NULL where the host does not
 * allow that, or has no memory. `bytes` for translated_unmap() are x->count. */
void *translated_map(const struct x86 *x);
void translated_unmap(void *code, size_t bytes);

#endif
