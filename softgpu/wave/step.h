/*
 * Waves in step: behind a barrier the waves of hardware go on at about the same time, and programs
 * live by it unknowingly. rocSOLVER's potf2_kernel_small has all waves read a word of LDS that the
 * first one then overwrites, its stebz_splitting_kernel reads what all have put there before each
 * overwrites its own part, both without a second barrier. So for some turns behind a barrier a wave
 * goes on until it would write something behind a read.
 */
#ifndef WAVE_STEP_H
#define WAVE_STEP_H

#include "isa/inst.h"

enum { STEP_READS = 1, STEP_WRITES = 2 };

/* What instructions do to memory that lanes share, by their tally. */
static const uint8_t step_accesses[TALLY_COUNT] = {
    [TALLY_BUFFER_READ] = STEP_READS,    [TALLY_BUFFER_WRITE] = STEP_WRITES,
    [TALLY_BUFFER_ATOMIC] = STEP_WRITES, [TALLY_BUFFER_ATOMIC_RETURN] = STEP_READS | STEP_WRITES,
    [TALLY_IMAGE_READ] = STEP_READS,     [TALLY_IMAGE_WRITE] = STEP_WRITES,
    [TALLY_IMAGE_ATOMIC] = STEP_WRITES,  [TALLY_IMAGE_ATOMIC_RETURN] = STEP_READS | STEP_WRITES,
    [TALLY_GLOBAL_READ] = STEP_READS,    [TALLY_GLOBAL_WRITE] = STEP_WRITES,
    [TALLY_GLOBAL_ATOMIC] = STEP_WRITES, [TALLY_GLOBAL_ATOMIC_RETURN] = STEP_READS | STEP_WRITES,
    [TALLY_FLAT_READ] = STEP_READS,      [TALLY_FLAT_WRITE] = STEP_WRITES,
    [TALLY_FLAT_ATOMIC] = STEP_WRITES,   [TALLY_FLAT_ATOMIC_RETURN] = STEP_READS | STEP_WRITES,
    [TALLY_LDS_READ] = STEP_READS,       [TALLY_LDS_WRITE] = STEP_WRITES,
    [TALLY_LDS_ATOMIC] = STEP_WRITES,    [TALLY_LDS_ATOMIC_RETURN] = STEP_READS | STEP_WRITES,
};

static inline bool step_reads(const struct inst *inst)
{
    return step_accesses[inst->tally] & STEP_READS;
}
static inline bool step_writes(const struct inst *inst)
{
    return step_accesses[inst->tally] & STEP_WRITES;
}

#endif
