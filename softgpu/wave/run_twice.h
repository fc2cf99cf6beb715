/*
 * For tests: a wave twice, once through a translated run and once instruction by instruction.
 * Registers, memory, LDS, counts, what was noted for counters and modelled time, faults, and where
 * the wave goes on must be the same; but nobody sees the registers of a wave that has ended.
 */
#ifndef WAVE_RUN_TWICE_H
#define WAVE_RUN_TWICE_H

#include "mem/vm.h"
#include "translate/translate.h"
#include "wave/engine.h"

enum {
    ROWS = VGPR_ROWS, /* whatever a number names is there */
    FILLED = 64,
    MEMORY_BYTES = 16384,
    LDS_BYTES = 4096,
    SLACK = 64
};
/* Registers with addresses. */
enum { GLOBAL_ROW = 2, OFFSET_ROW = 4, BASE_SREG = 8 };
#define MEMORY_VA UINT64_C(0x7000100000)

struct state {
    struct wave wave;
    lane_row v[ROWS], a[ROWS], kept[WAVE_ROWS - 2 * ROWS]; /* behind each other */
    uint8_t memory[MEMORY_BYTES] __attribute__((aligned(4096)));
    uint8_t lds[LDS_BYTES + SLACK] __attribute__((aligned(64)));
    struct workgroup group;
    struct launch launch;
    struct engine engine;
    struct vm *vm;
    struct vm_reader reader;
};

struct tally {
    unsigned runs, instructions, ends, loops, faults, waits, in_step_ends, wholes;
    unsigned fetching; /* runs whose fetches and accesses were counted */
};

uint64_t random_bits(void);
uint32_t below(uint32_t n);

/* By CROC_TRANSLATE_SEED, for other random programs than the usual ones. */
void twice_seed(void);
void twice_begin(void);
void twice_end(void);
/* The instructions, or as many of them as are translated, from so many random states, which `fill`
 * changes (NULL: it does not). */
void twice_try(const struct inst *const *insts, unsigned count, span_find_fn *spans,
               unsigned states, void fill(struct state *state), struct tally *tally);

#endif
