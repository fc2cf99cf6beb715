/* What is known of counters, asked once. In turns (turn.h). */
#ifndef COLLECT_COUNTERS_H
#define COLLECT_COUNTERS_H

#include "out/rows.h"

/* NULL: no memory. `node` is that of the agent which counted. Never moves. */
const struct out_counter *counters_get(uint64_t id, uint64_t node);
/* Of another run of the program. NULL: the agent counts nothing of that name. */
const struct out_counter *counters_named(const char *name, uint64_t node);

#endif
