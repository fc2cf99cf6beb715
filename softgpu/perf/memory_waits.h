/*
 * What waiting for the GPU's own memory looks like in its caches. A queue of memory makes loads
 * take longer, and little more: requests are refused seldom. How much of the time that is, of each
 * sort, is read off the copy kernel that rocprofiler-compute publishes of an MI100, an MI210 and an
 * MI300X (its tests' workloads; the medians of 38 to 104 dispatches), as parts of what the model
 * has all parts wait there. The gfx906 is taken for an MI100. Links are another matter: the same
 * project's runs against memory elsewhere show nine tenths of the time as stalls (decision 0027).
 */
#ifndef PERF_MEMORY_WAITS_H
#define PERF_MEMORY_WAITS_H

#include <stdint.h>

#include "core/device.h"

/* Per mille. */
struct memory_waits {
    uint16_t refused;       /* L1s' requests are not taken; else loads are waited for */
    uint16_t write_data;    /* of writes' part: their data are not taken */
    uint16_t reads_on_way;  /* of an instruction's wait its reads have been sent for so long, */
    uint16_t writes_on_way; /* and its writes */
    uint16_t tags;          /* a channel's tags take nothing */
    uint16_t reads, writes; /* of its reads' and its writes' part: memory takes none of them */
};

enum { MEMORY_WAITS_ALL = 1000 };

/* Of waiting for that GPU's memory; and for all else. */
const struct memory_waits *memory_waits_own(enum gpu_gen gen);
const struct memory_waits *memory_waits_other(void);

static inline uint64_t waits_part(uint64_t value, uint16_t per_mille)
{
    return per_mille == MEMORY_WAITS_ALL ? value : value * per_mille / MEMORY_WAITS_ALL;
}

#endif
