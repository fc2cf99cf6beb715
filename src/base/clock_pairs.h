/*
 * Many ticks become nanoseconds, two by two: a record's begin and end, which stand side by side.
 * With the vector instructions that the machine has; every way gives the same nanoseconds as
 * clock_ticks_to_ns().
 */
#ifndef BASE_CLOCK_PAIRS_H
#define BASE_CLOCK_PAIRS_H

#include "base/clock.h"

#include <stddef.h>

/* Converts `count` pairs, `stride_bytes` apart, in their places. `segment` is the caller's note of
 * the last one, zero at first. Returns how many are done, all of them if it may wait: the next one
 * is too old, or it is too early (see clock_segment_try). */
size_t clock_pairs_to_ns(struct clock_segment *segment, void *pairs, size_t stride_bytes,
                         size_t count, bool may_wait);

/* Called by clock_init. */
void clock_pairs_init(void);

/* For tests: converts the first pairs that lie in the segment and returns their number. */
typedef size_t clock_pairs_run(const struct clock_segment *segment, unsigned char *at,
                               size_t stride_bytes, size_t count);
enum clock_pairs_way {
    CLOCK_PAIRS_PORTABLE,
    CLOCK_PAIRS_AVX2,
    CLOCK_PAIRS_AVX512,
    CLOCK_PAIRS_WAYS
};
clock_pairs_run *clock_pairs_way(enum clock_pairs_way way); /* NULL: not on this machine */

#endif
