/* `crocprof list`: the GPUs, their counters, and which of these are collected together. */
#ifndef AVAIL_LIST_H
#define AVAIL_LIST_H

#include <stdbool.h>

struct list_request {
    char *const *patterns; /* names that are shown; none: all. With `fits`: the counters. */
    unsigned pattern_count;
    const char *agent; /* its node, or a part of its name; NULL: every GPU */
    bool json;
    bool details; /* dimensions and expression of each */
    bool fits;
};

/* Returns an exit status: 0, 1 when nothing matches or the counters do not fit one run, 2 after a
 * line to stderr. Runs behind inside_enter(). */
int list_print(const struct list_request *request);

#endif
