/* The thread that writes markers while the program runs, so that they do not gather in memory. It
 * comes with the first thousands of them. */
#ifndef COLLECT_MARKER_STREAM_H
#define COLLECT_MARKER_STREAM_H

#include "markers.h"

/* Markers go to `visit`, in turns (turn.h), with a report open. */
void marker_stream_configure(void (*visit)(const struct marker *marker));
/* In a turn: writes those that there are, if it may still. */
void marker_stream_now(void);
/* In a turn: from then on it writes nothing; whoever comes to the end of the report does. */
void marker_stream_stop(void);
/* In a turn: the end was that of an attachment, and another one begins. */
void marker_stream_resume(void);
/* In a forked child, which has no such thread, in a turn. */
void marker_stream_fork_child(void);

#endif
