#include "perf/clock.h"

const struct clock_cost clock_costs[TALLY_SLOTS] = {
#define TALLY_COST(name, klass, issue, latency, matrix)                                            \
    [TALLY_##name] = {(issue)*CYCLES_PER_ISSUE, latency},
    INST_TALLIES(TALLY_COST)
#undef TALLY_COST
};
