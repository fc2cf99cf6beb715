/* The tables that people read at the end: --summary, --summary-per-domain, --summary-groups. */
#ifndef COLLECT_TABLES_H
#define COLLECT_TABLES_H

#include "domains.h"
#include "launch/settings.h"
#include "summary/stats.h"

/* `of` by domain. `head` prints before the first one, if there is any, and is given `data`; may be
 * NULL. False after a message to stderr. */
bool tables_print(const struct settings *settings, struct stats *const of[DOMAIN_COUNT],
                  const struct stats *counters, void (*head)(FILE *file, const void *data),
                  const void *data);
/* False: every table is empty. */
bool tables_have_rows(struct stats *const of[DOMAIN_COUNT], const struct stats *counters);

#endif
