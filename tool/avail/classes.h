/* How far a number of the software GPU may be trusted, which `crocgpu events` says of each event.
 * Counters of a real GPU have no class. */
#ifndef AVAIL_CLASSES_H
#define AVAIL_CLASSES_H

#include "avail.h"

enum class { CLASS_UNKNOWN, CLASS_EXACT, CLASS_MODELLED, CLASS_APPROXIMATE, CLASS_NONE };

struct classes; /* of one architecture */

/* Asks the crocgpu command beside this one; NULL where there is none or it does not know `gpu`. */
struct classes *classes_read(const char *gpu);
void classes_free(struct classes *classes); /* NULL does nothing */

/* A computed counter is as good as the worst that it is computed from. `classes` may be NULL. */
enum class classes_of(const struct classes *classes, const struct avail_agent *agent,
                      const rocprofiler_counter_info_v1_t *counter);

/* "exact", "modelled", "approximate", "not modelled"; "-" when it is unknown. */
const char *class_name(enum class class);

#endif
