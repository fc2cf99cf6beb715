/*
 * The counters' clock: what instructions cost a wave. Derived from isa/tally.h alone, so that the
 * same instructions take the same time in every run, whatever is counted (README.md).
 */
#ifndef PERF_CLOCK_H
#define PERF_CLOCK_H

#include <stdint.h>

#include "isa/tally.h"

enum { CYCLES_PER_ISSUE = 4 };

uint32_t clock_latency_cycles(enum inst_tally tally);

/* Cycles that a wave's instructions keep the arbiter, and that it waits for their results. */
struct wave_time {
    uint64_t issue_cycles, wait_cycles;
};
struct wave_time clock_wave(const uint64_t tallies[TALLY_COUNT]);

#endif
