/*
 * Ranges that have begun and not ended: those of a thread, which nest, and those of the process,
 * which anybody may end by their number. Internal to this folder.
 */
#ifndef INTERCEPT_MARKER_OPEN_RANGES_H
#define INTERCEPT_MARKER_OPEN_RANGES_H

#include <stdbool.h>
#include <stdint.h>

#include "model/trace.h"

enum { RANGE_MESSAGE_BYTES = 256, PROCESS_RANGES_MAX = 1024 };

struct range {
    struct trace_event event; /* nobody listens to it: set is NULL */
    rocprofiler_callback_tracing_marker_api_data_t data;
    uint64_t start_ticks;
    /* The program's own text may be gone when the range ends: its beginning. */
    char message[RANGE_MESSAGE_BYTES];
};

/* Room for the range that this thread pushes; NULL: nobody is to hear of it. The push counts either
 * way, so that later pops find theirs. */
struct range *thread_range_push(bool traced);
/* The range that a pop ends; NULL: it was not traced. Valid until this thread pushes again. */
struct range *thread_range_pop(void);

/* Keeps a copy under a number that is in use once at a time. False: there is no room. */
bool process_range_keep(uint64_t number, const struct range *range);
bool process_range_take(uint64_t number, struct range *range);

#endif
