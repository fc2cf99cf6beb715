/* Variables that somebody has set by hand, for a program that preloads the tool library by itself:
 * crocprof checks what it is told before the program starts, they reach nobody who does. */
#ifndef COLLECT_VARIABLES_H
#define COLLECT_VARIABLES_H

#include "launch/settings.h"

/* A line to stderr for each value that means nothing. */
void variables_check(const struct settings *settings);

#endif
