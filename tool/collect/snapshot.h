/*
 * Numbers for those who watch, `crocprof top` and `crocprof stat`: what was recorded so far, in one
 * small file for each process, written anew at each end of a report, and every so often where that
 * is asked for. A file appears complete.
 */
#ifndef COLLECT_SNAPSHOT_H
#define COLLECT_SNAPSHOT_H

#include "launch/settings.h"

/* Begins to write, from a thread of its own, where the settings ask for that. `flush` brings what
 * is not delivered yet. */
void snapshot_begin(const struct settings *settings, void (*flush)(void));

/* In a turn, before the report is closed. */
void snapshot_write(void);

/* The thread writes nothing any more; it may be in the middle of a flush. */
void snapshot_end(void);
/* And begins again. */
void snapshot_resume(const struct settings *settings);

#endif
