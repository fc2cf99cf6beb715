/* Runs the program several times, because the counters do not fit one run. */
#ifndef CLI_PASSES_H
#define CLI_PASSES_H

#include "launch/launch.h"

/* The last run traces, prints and merges; the runs before only count, their standard output is not
 * shown. Returns the last run's exit status, or 128 + signal after dying of the same signal failed.
 */
int passes_run(const struct launch *launch, const struct settings *settings,
               char *const arguments[], unsigned count);

#endif
