/* Whether counters can be collected in one run of a program. */
#ifndef AVAIL_FITS_H
#define AVAIL_FITS_H

#include "avail.h"

enum { FITS_COUNTERS_MAX = 4096, FITS_WHY_BYTES = 1024 };

struct fits {
    uint32_t passes;                     /* at least 1 */
    uint32_t pass_of[FITS_COUNTERS_MAX]; /* from 0 */
    char why[FITS_WHY_BYTES];            /* what is full; "" where one pass is enough */
};

/* EXCEEDS_HW_LIMIT: one counter alone needs more than there is; `why` says of what. */
rocprofiler_status_t fits_plan(struct fits *fits, const struct avail_agent *agent,
                               const rocprofiler_counter_id_t *counters, size_t count);

#endif
