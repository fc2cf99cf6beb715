#include "perf/clock.h"

static const struct {
    uint16_t latency;
    uint8_t issue;
} costs[TALLY_COUNT] = {
#define TALLY_COST(name, klass, issue, latency, matrix) [TALLY_##name] = {latency, issue},
    INST_TALLIES(TALLY_COST)
#undef TALLY_COST
};

uint32_t clock_latency_cycles(enum inst_tally tally)
{
    return costs[tally].latency;
}

struct wave_time clock_wave(const uint64_t tallies[TALLY_COUNT])
{
    struct wave_time time = {0, 0};
    for (uint32_t i = 0; i < TALLY_COUNT; i++) {
        time.issue_cycles += tallies[i] * costs[i].issue * CYCLES_PER_ISSUE;
        time.wait_cycles += tallies[i] * costs[i].latency;
    }
    return time;
}
