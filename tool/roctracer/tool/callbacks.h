/* From ROCtracer's callbacks into the journal. */
#ifndef ROCTRACER_TOOL_CALLBACKS_H
#define ROCTRACER_TOOL_CALLBACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "journal.h"

/* An activity_rtapi_callback_t for HSA_API, HIP_API, KFD_API and ROCTX. */
void callbacks_on_event(uint32_t domain, uint32_t operation, const void *data, void *unused);

/* `use` runs once before the first entry, on the thread that makes it. */
void callbacks_first_use(void (*use)(void));

/* The thread that calls is one of the tool's own from now on, or for the time between two calls:
 * what it does is not traced. Returns what was before. */
bool callbacks_ignore_thread(bool ignore);

/* Gives an entry to the plugin. */
void callbacks_write(const struct journal_entry *entry);

/* In a forked child. */
void callbacks_forget(void);

#endif
