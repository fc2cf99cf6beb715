/* Where results go: checked, made and made absolute before the program starts. */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include "options.h"

/* 0, or an exit status after a line to stderr. `subdirectory`, below the output directory, may be
 * NULL. */
int places_prepare(struct cli_options *options, const char *subdirectory);

/* Where a name was given that is not each process's own (-o): files that an earlier run has made
 * under it go, as with rocprofv3. Just before the program starts. */
void places_renew(const struct settings *settings);
/* After the program has ended. */
void places_settle(const struct settings *settings);

#endif
