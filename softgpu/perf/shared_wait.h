/*
 * What waves wait for in the caches that two or three compute units share, of scalars and of
 * instructions. A line that they lack is asked for once: requests for it that come while it is on
 * its way are duplicates. Waves ask together that begin together: those of all groups that these
 * units have room for when the dispatch begins, later those of one group.
 */
#ifndef PERF_SHARED_WAIT_H
#define PERF_SHARED_WAIT_H

#include <stdbool.h>
#include <stdint.h>

/* Of one cache, while the groups come that begin with their dispatch. */
struct shared_wait {
    uint64_t room;   /* for duplicates of lines on their way */
    uint64_t cycles; /* that the slowest of them takes */
    bool refuses;    /* no room was left, and more was asked */
};

/* What a group has asked for. */
struct shared_asked {
    uint64_t misses, hits;
    uint64_t cycles; /* of all misses, behind the cache */
};

/* Returns how many of the hits are duplicates. `is_first`: the group begins with its dispatch, and
 * shares `wait`, which is all 0 then; others leave that alone. */
uint64_t shared_wait_group(struct shared_wait *wait, const struct shared_asked *asked,
                           bool is_first);

#endif
