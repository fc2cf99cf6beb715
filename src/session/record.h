/* Delivery side of records: hooks for struct tracebuf_config. Private to session. */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include <stddef.h>
#include <stdint.h>

#include "tracebuf/tracebuf.h"

void record_init(void);
size_t record_finish(const struct tracebuf_run *run, struct clock_segment *segment,
                     bool is_producer, void *arg);

/* Says how many calls ended without a record since it was last asked; it is in calls.c. */
void calls_lost_report(void);

#endif
