/* Counter tracks of a Perfetto trace: values of dispatches, and bytes that are copied or allocated
 * at a time. */
#ifndef OUT_PFTRACE_COUNTERS_H
#define OUT_PFTRACE_COUNTERS_H

#include "names/numbered.h"
#include "perfetto/perfetto.h"
#include "rows.h"

struct pftrace_counters {
    struct perfetto *trace;
    perfetto_track parent;
    struct numbered dispatches; /* perfetto_track by counter and agent */
    struct numbered copies;     /* struct copied by destination */
    struct numbered memory;     /* struct allocated by agent */
    struct numbered blocks;     /* struct block by address */
};

void pftrace_counters_open(struct pftrace_counters *counters, struct perfetto *trace,
                           perfetto_track parent);
void pftrace_counters_value(struct pftrace_counters *counters, const struct out_counter_row *row);
void pftrace_counters_copy(struct pftrace_counters *counters, const struct out_copy_row *row);
void pftrace_counters_allocation(struct pftrace_counters *counters,
                                 const struct out_allocation_row *row);
/* Writes the last values and frees. */
void pftrace_counters_close(struct pftrace_counters *counters);

#endif
