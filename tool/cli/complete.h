/* From what the user has typed to what the tool is told: sets, defaults, units, files that options
 * name. */
#ifndef CLI_COMPLETE_H
#define CLI_COMPLETE_H

#include "options.h"

/* Once, behind cli_options_parse() or the last job's values. 0, or -errno with a line in `error`.
 */
int cli_options_complete(struct cli_options *options, char *error, unsigned error_size);

#endif
