/* Delivery side of records: hooks for struct tracebuf_config. Private to session. */
#ifndef SESSION_RECORD_H
#define SESSION_RECORD_H

#include <stddef.h>
#include <stdint.h>

void record_init(void);
void record_finish_begin(void *state);
void record_finish(void *state, uint64_t tag, void *payload, size_t size_bytes);

/* Says how many calls ended without a record since it was last asked; it is in calls.c. */
void calls_lost_report(void);

#endif
