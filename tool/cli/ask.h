/* What only the library knows, asked in a process of its own with the environment that the program
 * will have: the software GPU must be there from the first instruction. */
#ifndef CLI_ASK_H
#define CLI_ASK_H

#include "launch/launch.h"

/* Runs of the program that it takes to collect all counters, and what each of them counts. */
struct ask_plan {
    unsigned runs;
    char *counters; /* lines "PASS NAME", passes from 0; NULL: none */
};

/* An exit status, after a line, when that fails. `counters` is the caller's to free. */
int ask_plan(const struct launch *launch, const struct settings *settings, struct ask_plan *plan);
/* Those of the settings' counters that a GPU has, joined by commas. An exit status, after a line.
 */
int ask_offered(const struct launch *launch, const struct settings *settings, char *names,
                unsigned size);

#endif
