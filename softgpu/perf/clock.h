/*
 * The counters' clock: what instructions cost a wave. Derived from isa/tally.h alone, so that the
 * same instructions take the same time in every run, whatever is counted (README.md).
 */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include <stdint.h>

#include "isa/tally.h"

enum { CYCLES_PER_ISSUE = 4 };

/* What an instruction costs its wave, by tally; 0 in the slots behind the last. */
struct clock_cost {
    uint16_t issue_cycles; /* of the arbiter */
    uint16_t wait_cycles;  /* then, for the result */
};
extern const struct clock_cost clock_costs[TALLY_SLOTS];

#endif
