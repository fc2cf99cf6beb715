/*
 * When the collecting context runs: always, in periods (--collection-period), or where the program
 * says so (--selected-regions). Where markers are traced, roctxProfilerPause and Resume are obeyed
 * unless there are periods, and are rows themselves.
 */
#ifndef COLLECT_PERIODS_H
#define COLLECT_PERIODS_H

#include <rocprofiler-sdk/rocprofiler.h>

#include "launch/settings.h"

/* Starts the context, or what will start it. `control` is a context of its own that always runs.
 * Messages go to stderr. 0 or -1. */
int periods_begin(const struct settings *settings, rocprofiler_context_id_t context,
                  rocprofiler_context_id_t control);
/* Called around a fork: no start or stop is half done in the child, which stays as it was forked,
 * collecting or not: the thread of the periods is its parent's. */
void periods_fork_prepare(void);
void periods_fork_parent(void);
void periods_fork_child(void);

/* Nothing starts the context any more. */
void periods_end(void);

enum { PERIODS_MAX = 64 };
struct period {
    uint64_t delay_ns, time_ns, repeat; /* repeat 0: for ever */
};
/* Reads "DELAY:TIME:REPEAT;..." in nanoseconds. Returns how many periods there are, 0 when the text
 * is none. */
unsigned periods_read(const char *text, struct period *periods, unsigned max);

#endif
