/*
 * The counters' clock: what instructions cost a wave. Derived from isa/tally.h alone, so that the
 * same instructions take the same time in every run, whatever is counted (README.md).
 */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include <stdint.h>

#include "core/device.h"
#include "isa/tally.h"

enum { CYCLES_PER_ISSUE = 4, CYCLES_PER_LAUNCH = 1000 /* of a dispatch */ };
enum { CYCLES_PER_LOAD = 320, CYCLES_PER_SCALAR_LOAD = 128, CYCLES_PER_LDS_READ = 64 };

/* What an instruction's result is waited for as. Those of one kind overlap: a wave waits for them
 * no more often than it executes s_waitcnt. */
enum clock_wait { WAIT_ALWAYS, WAIT_LOAD, WAIT_SCALAR, WAIT_LDS, CLOCK_WAITS };

/* What an instruction costs its wave, by tally; 0 in the slots behind the last. */
struct clock_cost {
    uint16_t issue_cycles; /* of the arbiter */
    uint16_t wait_cycles;  /* then, for the result */
    uint8_t matrix_cycles; /* of the SIMD's matrix unit, beside the arbiter */
    uint8_t wait;          /* enum clock_wait */
};
extern const struct clock_cost clock_costs[TALLY_SLOTS]; /* of a gfx90a */
/* Those of another, whose units are as wide as AMD says of it; to be kept. Any thread. */
const struct clock_cost *clock_costs_of(enum gpu_gen gen);

/* What a wave has executed costs it. */
struct clock_wave {
    uint64_t issue_cycles, matrix_cycles;
    uint64_t count[CLOCK_WAITS]; /* WAIT_ALWAYS: cycles */
    uint64_t waitcnts;
};

static inline void clock_wave_add(struct clock_wave *wave, const struct clock_cost *costs,
                                  enum inst_tally tally, uint64_t count)
{
    const struct clock_cost *cost = &costs[tally];
    wave->issue_cycles += count * cost->issue_cycles;
    wave->matrix_cycles += count * cost->matrix_cycles;
    wave->count[cost->wait] += cost->wait == WAIT_ALWAYS ? count * cost->wait_cycles : count;
    wave->waitcnts += tally == TALLY_WAITCNT ? count : 0;
}

/* How long it waits for loads of vectors, and for all else. More instructions never make it less.
 */
uint64_t clock_wave_load_wait(const struct clock_wave *wave);
uint64_t clock_wave_other_wait(const struct clock_wave *wave);

#endif
