/*
 * What a run of instructions that is executed as one (translate/) fetches: known when it is
 * translated, but for how far it is executed and how often it goes round. So nobody looks at its
 * instructions one by one because fetches are counted.
 */
#ifndef WAVE_FETCH_PATH_H
#define WAVE_FETCH_PATH_H

#include "translate/translate.h"

/* A run lies in a page. */
enum { FETCH_PATH_LINES = 4096 / 64 + 2 };

struct fetch_path {
    inst_exec_fn *exec;    /* the run's: whoever translates writes it before it is published */
    struct series *series; /* the run's, or NULL: translate/series.h */
    uint64_t va;           /* of its first instruction */
    uint8_t count, line_count;
    uint8_t round; /* instructions up to the branch that goes back to the first one; 0: none */
    uint32_t round_fetches; /* of a round and the way back */
    uint32_t round_slots;   /* from the first one on, to behind that branch */
    struct fetch_step {
        uint8_t fetches; /* of this instruction and those before it, but for the first window */
        uint8_t window;  /* that it ends in; 0: the first one */
        uint16_t slot;   /* from the first instruction on */
    } steps[TRANSLATE_RUN_MAX];
    struct fetch_line { /* in the order in which they are touched first */
        uint16_t slot;  /* of the instruction that does */
        uint8_t line;   /* from the first one on */
    } lines[FETCH_PATH_LINES];
};

/* NULL: none is known, or there is no memory for it. The first instruction lies at `va`.
 * fetch_path_free(). */
struct fetch_path *fetch_path_create(const struct inst *const *insts, unsigned count, uint64_t va);

void fetch_path_free(struct fetch_path *path);

/* Of the slot, whose `exec` that is; NULL: it is an instruction alone, or all is unknown. */
static inline const struct fetch_path *fetch_path_of(const struct inst *inst, inst_exec_fn *exec)
{
    const struct fetch_path *path = __atomic_load_n(&inst->path, __ATOMIC_RELAXED);
    return path && path->exec == exec ? path : NULL;
}

#endif
