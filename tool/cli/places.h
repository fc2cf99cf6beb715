/* Where results go: checked, made and made absolute before the program starts. */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

#include "options.h"

/* 0, or an exit status after a line to stderr. `subdirectory`, below the output directory, may be
 * NULL. */
int places_prepare(struct cli_options *options, const char *subdirectory);

#endif
