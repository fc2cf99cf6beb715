/*
 * A device's ticks as nanoseconds, in the device's order.
 *
 * A runtime converts ticks along a line that it measures anew now and then, from a pair of clock
 * readings with time between them: where it was interrupted there, two lines differ by that long,
 * and a kernel that began after another one's end would begin before it. This clock asks the
 * runtime, too, but its answers never change and never decrease: of two ticks the later one has no
 * earlier time, in whatever order they are asked for. Knows nothing of HSA; one thread at a time.
 */
#ifndef INTERCEPT_HSA_DEVICE_CLOCK_H
#define INTERCEPT_HSA_DEVICE_CLOCK_H

#include <stdint.h>

/* Four minutes of ROCr's, which measures 16 times a second; what is older becomes coarse. */
enum { DEVICE_CLOCK_PIECES = 4096 };

/* One line of the runtime's, for the ticks after `after_ticks` until the next piece's. */
struct device_clock_piece {
    uint64_t after_ticks, least_ns; /* the latest ticks before it, and their time */
    uint64_t base_ticks, base_ns;
    double ns_per_tick;
};

/* Zeroed at first. */
struct device_clock {
    uint64_t newest_ticks, newest_ns; /* the latest that were asked for, and the answer */
    uint32_t count;
    struct device_clock_piece pieces[DEVICE_CLOCK_PIECES];
};

/* Who converts, and may change its mind. 0: no answer. */
struct device_clock_source {
    uint64_t (*ns_of_ticks)(const void *data, uint64_t ticks);
    const void *data;
};

/* 0: the source has no answer. */
uint64_t device_clock_ns(struct device_clock *clock, const struct device_clock_source *source,
                         uint64_t ticks);

#endif
