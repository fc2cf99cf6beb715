/* A stretch of time that a command is told to keep to. */
#ifndef COMMANDS_WINDOW_H
#define COMMANDS_WINDOW_H

#include "recording/recording.h"

/* Of --begin and --end: nanoseconds of the recordings' clock, or "N%" of the time from the first
 * record to the last one; or texts of markers, from the begin of the first one to that of the
 * other, each of which must be there once. NULL: not said. */
struct window {
    const char *begin, *end;
    const char *begin_marker, *end_marker;
    bool is_within; /* only what neither begins before nor ends after it */
};

bool window_is_whole(const struct window *window);
/* Of all these recordings together. 0, or an exit status after a line. */
int window_read(const struct window *window, struct recording *const *recordings, unsigned count,
                struct recording_ask *ask);

#endif
