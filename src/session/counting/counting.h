/*
 * What the files of this folder share besides what front ends call. Interception meets this folder
 * only through model/trace.h and model/counting.h.
 */
#ifndef SESSION_COUNTING_COUNTING_H
#define SESSION_COUNTING_COUNTING_H

#include "counters/plan.h"
#include "gpu/pmc.h"
#include "gpu/sqtt/sqtt.h"
#include "session/front/counting.h"

_Static_assert((int)COUNTING_EVENTS_MAX == (int)PLAN_EVENTS_MAX, "one number, two names");

/* ---- agents.c */
/* The counter behind a public id; NULL when there is none. */
const struct counter *counting_counter_find(rocprofiler_counter_id_t id,
                                            const struct catalog **catalog);

/* ---- config.c */
struct counting_config; /* immutable, reference-counted */

/* Takes a reference; NULL when there is none. */
struct counting_config *counting_config_acquire(rocprofiler_counter_config_id_t id);
void counting_config_release(struct counting_config *config);

/* ---- plan.c */
/* The counter of a catalog behind a public id, or why there is none. */
rocprofiler_status_t counting_counter_of(const struct catalog *catalog, rocprofiler_counter_id_t id,
                                         const struct counter **counter);

#endif
