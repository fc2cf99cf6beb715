/* Which launches are counted: --kernel-include-regex, --kernel-exclude-regex,
 * --kernel-iteration-range. */
#ifndef COLLECT_FILTER_H
#define COLLECT_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#include "launch/settings.h"

/* Called once. Messages go to stderr; a pattern that is none is left out. */
void filter_open(const struct settings *settings);

/* True when kernels of this name are counted at all. Any thread. */
bool filter_wants_kernel(const char *name);
/* True when this launch of a kernel, from 1, is counted. Any thread. */
bool filter_wants_launch(uint32_t number);

/* Reads "[1,4-7], 9": true and the ranges, at most `max` of them, or false. */
enum { FILTER_RANGES_MAX = 1024 };
struct filter_range {
    uint32_t first, last;
};
bool filter_ranges_read(const char *text, struct filter_range *ranges, unsigned max,
                        unsigned *count);

#endif
