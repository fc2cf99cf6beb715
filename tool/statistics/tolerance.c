#include "tolerance.h"

#include <crocprof/quality.h>
#include <fnmatch.h>

enum { CYCLES_PERCENT = 10, TRAFFIC_PERCENT = 2 };

const struct tolerance tolerance_defaults[] = {
    /* cycles, and shares of them: they depend on everything */
    {"*cycle*", CYCLES_PERCENT},
    {"*busy*", CYCLES_PERCENT},
    {"*stall*", CYCLES_PERCENT},
    {"*_readyb", CYCLES_PERCENT},
    {"*wait*", CYCLES_PERCENT},
    {"*level*", CYCLES_PERCENT},
    {"*latency*", CYCLES_PERCENT},
    {"*active*", CYCLES_PERCENT},
    {"*occupancy*", CYCLES_PERCENT},
    {"*utilization*", CYCLES_PERCENT},
    {"*_full*", CYCLES_PERCENT},
    {"*_no_alloc*", CYCLES_PERCENT},
    {"*accum_prev*", CYCLES_PERCENT},
    {"*gate_en*", CYCLES_PERCENT},
    {"*window_valid*", CYCLES_PERCENT},
    {"*_csc_wr", CYCLES_PERCENT},
    {"GRBM_*", CYCLES_PERCENT},
    {"CP?_*", CYCLES_PERCENT},
    /* instructions and waves: what the program is */
    {"SQ_INSTS*", 0},
    {"SQ_WAVES*", 0},
    {"SQ_ITEMS*", 0},
    {"SPI_CSN_*", 0},
    {"Wavefronts", 0},
    {"?ALUInsts", 0},
    /* requests, hits and conflicts: caches have a past */
    {"*", TRAFFIC_PERCENT},
};
const unsigned tolerance_default_count = sizeof tolerance_defaults / sizeof tolerance_defaults[0];

double tolerance_default(const char *counter)
{
    unsigned at = 0;
    while (fnmatch(tolerance_defaults[at].pattern, counter, FNM_CASEFOLD) != 0)
        at++;
    return tolerance_defaults[at].percent;
}

double tolerance_of(const char *counter, unsigned quality)
{
    switch (quality) {
    case CROCPROF_QUALITY_EXACT:
        return 0;
    case CROCPROF_QUALITY_MODELLED:
        return TRAFFIC_PERCENT;
    case CROCPROF_QUALITY_APPROXIMATE:
        return CYCLES_PERCENT;
    default:
        return tolerance_default(counter);
    }
}
