/* Runs the program: once, or several times, because the counters do not fit one run. */
#ifndef CLI_PASSES_H
#define CLI_PASSES_H

#include "ask.h"
#include "launch/launch.h"

/*
 * The last run traces, prints and merges; the runs before only count, and their standard output is
 * not shown. A run that crashes does not stop the others. Where somebody asks for the end before
 * the last run, what was counted until then is written by this process. Returns the program's exit
 * status, or 128 + signal after dying of the same signal failed.
 */
int passes_run(const struct launch *launch, const struct settings *settings,
               char *const arguments[], const struct ask_plan *plan);

#endif
