/* What a GPU says of its counters' values (crocprof/quality.h), as people read it. */
#ifndef AVAIL_WORTH_H
#define AVAIL_WORTH_H

#include "avail.h"

/* It says something of some counter. */
bool worth_is_stated(const struct avail_agent *agent);

/* "exact", "modelled", "approximate", "not counted"; "-" where nothing is stated. */
const char *worth_name(const struct avail_agent *agent,
                       const rocprofiler_counter_info_v1_t *counter);

#endif
