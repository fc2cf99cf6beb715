/* Counters by the names that users write. */
#ifndef NAMES_COUNTERS_H
#define NAMES_COUNTERS_H

#include <rocprofiler-sdk/rocprofiler.h>

#include <stdbool.h>

/* NAME[n] is instance n of NAME: it becomes a counter when it is first asked for. False: the agent
 * counts nothing of that name. */
bool counter_find(rocprofiler_agent_id_t agent, const char *name, rocprofiler_counter_id_t *id);

#endif
