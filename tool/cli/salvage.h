/* What was counted before somebody asked for the end, when the last run, which would have written
 * it, has not come. */
#ifndef CLI_SALVAGE_H
#define CLI_SALVAGE_H

#include "launch/settings.h"

/* Writes, in the formats of the settings, what the first `passes` runs have left in `directory`.
 * How many launches had values. */
unsigned long long salvage(const struct settings *settings, const char *directory, unsigned passes);

#endif
