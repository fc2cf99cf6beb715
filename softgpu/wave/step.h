/*
 * Waves in step: behind a barrier the waves of hardware go on at about the same time, and programs
 * live by it unknowingly. rocSOLVER's potf2_kernel_small has all waves read a word of LDS that the
 * first one then overwrites, its stebz_splitting_kernel reads what all have put there before each
 * overwrites its own part, both without a second barrier. MAGMA's spotf2_smlpin_anywidth_kernel
 * lacks one where each wave has stored rows of a panel and the first wave loads those of all. So
 * for some turns behind a barrier a wave goes on until it would write something behind a read of
 * the same space, LDS or memory, or read something behind a write. What may reach both, as generic
 * addresses do, reads and writes both.
 */
#ifndef WAVE_STEP_H
#define WAVE_STEP_H

#include "isa/inst.h"

enum step_space { STEP_LDS = 1, STEP_MEMORY = 2, STEP_BOTH = STEP_LDS | STEP_MEMORY };

/* What instructions do to memory that lanes share, by their tally. */
struct step_access {
    uint8_t reads, writes; /* enum step_space */
};
#define STEP_ACCESSES(kind, space)                                                                 \
    [TALLY_##kind##_READ] = {space, 0}, [TALLY_##kind##_WRITE] = {0, space},                       \
    [TALLY_##kind##_ATOMIC] = {0, space}, [TALLY_##kind##_ATOMIC_RETURN] = {space, space}
static const struct step_access step_accesses[TALLY_COUNT] = {
    STEP_ACCESSES(BUFFER, STEP_MEMORY), STEP_ACCESSES(IMAGE, STEP_MEMORY),
    STEP_ACCESSES(GLOBAL, STEP_MEMORY), STEP_ACCESSES(FLAT, STEP_BOTH),
    STEP_ACCESSES(LDS, STEP_LDS),
};
#undef STEP_ACCESSES

/* Loads and stores between memory and LDS (wave/lds_direct.h) are tallied as memory's. */
static inline struct step_access step_access_of(const struct inst *inst)
{
    struct step_access access = step_accesses[inst->tally];
    if (inst->flags & IF_LDS && inst->flags & IF_LOAD)
        access.writes |= STEP_LDS;
    else if (inst->flags & IF_LDS)
        access.reads |= STEP_LDS;
    return access;
}
/* The spaces that the instruction reads, and those that it writes: for wave->touched. */
enum { STEP_WRITTEN_SHIFT = 2 };
static inline uint8_t step_touches(const struct inst *inst)
{
    const struct step_access access = step_access_of(inst);
    return (uint8_t)(access.reads | access.writes << STEP_WRITTEN_SHIFT);
}
/* Those of wave->touched that it has to wait behind: reads for its writes, and the reverse. */
static inline uint8_t step_conflicts(const struct inst *inst)
{
    const struct step_access access = step_access_of(inst);
    return (uint8_t)(access.writes | access.reads << STEP_WRITTEN_SHIFT);
}

#endif
