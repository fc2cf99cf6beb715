/* Options of a record that would do nothing where only numbers are watched. */
#ifndef WATCH_REFUSED_H
#define WATCH_REFUSED_H

#include "cli/options.h"

/* 0, or an exit status after a line. */
int watch_options_check(const char *command, const struct cli_options *line);

#endif
