/*
 * Counters that need several runs of the program. Every run but the last writes its values to a
 * file in a directory that crocprof made (pass_file.h); the last run adds them to its own
 * (pass_merge.h). Values are written and read on the delivery thread.
 */
#ifndef COLLECT_PASSES_H
#define COLLECT_PASSES_H

#include "launch/settings.h"
#include "pass_file.h"

/* Which pass this run is, from 0; the one with 0 is the last. 0 when there is only one. */
uint32_t passes_number(const struct settings *settings);

/* Opens this process's files; where there would be a report's, `stem` says. Messages go to stderr.
 * After an end, or in a forked child, that is done again with the first value. */
void passes_open(const struct settings *settings, const char *stem);
/* Runs in a forked child: what there is is its parent's. */
void passes_forget(void);
/* A launch of this run, then its values; kept only in runs before the last. */
void passes_write(const struct passes_launch *launch);
void passes_write_value(const struct passes_value *value);
/* Calls `add` with what earlier runs counted for this launch. */
void passes_read(const struct passes_launch *launch,
                 void (*add)(const struct passes_value *value, void *data), void *data);
/* What is written so far can be read, whatever becomes of the process. */
void passes_flush(void);
/* Says what did not match. */
void passes_close(void);

#endif
