/* What only the library knows, asked in a process of its own with the environment that the program
 * will have: the software GPU must be there from the first instruction. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "launch/launch.h"

/* *runs: how often the program must run to collect all counters. An exit status, after a line, when
 * that fails. */
int ask_runs(const struct launch *launch, const struct settings *settings, unsigned *runs);

/* Becomes the command that lists counters; returns an exit status when that fails. */
int ask_list(const struct launch *launch, const struct settings *settings);

#endif
