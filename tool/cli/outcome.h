/* What became of a run: never nothing without a word, and at the end where the files are. */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stdbool.h>

#include "launch/launch.h"

/* Before a run: says if the program's file shows that it cannot be profiled. */
void outcome_foresee(const struct launch *launch);

/* After a run: `log` is what its processes have told (launch/run_log.h), -1: nothing. `settings`:
 * what they were told. */
void outcome_tell(const struct launch *launch, const struct settings *settings, int log,
                  int wait_status);
/* Only where the files are. */
void outcome_files(int log);
/* Makes what processes of the run that were killed could not complete, in these formats. */
void outcome_complete(int log, const char *formats);

/* Files of this process's runs are nobody's business but the caller's. */
void outcome_files_hide(void);

#endif
