/* OpenMP events as the runtime's callbacks report them. Internal to this folder. */
#ifndef INTERCEPT_OMPT_EVENTS_H
#define INTERCEPT_OMPT_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

/* False: nobody listens, and no beginning waits for this end. Counts how deep scopes nest, so call
 * it for every event; `endpoint` is 0 for an event that has none. */
bool ompt_event_wanted(int32_t operation, int endpoint);

/* A moment: one callback without a phase, one record of no duration. */
void ompt_event_moment(int32_t operation, rocprofiler_callback_tracing_ompt_data_t *data);

/* The beginning or the end of what the SDK reports as one operation. Scopes of one operation nest
 * on their thread. */
void ompt_event_scope(int32_t operation, int endpoint,
                      rocprofiler_callback_tracing_ompt_data_t *data);

/* Made by gen/ompt_callbacks.py. */
struct ompt_callback_row {
    uint32_t event; /* ompt_callbacks_t */
    int32_t operation;
    ompt_callback_t function;
};
extern const struct ompt_callback_row ompt_callback_rows[]; /* behind the last: no function */

#endif
