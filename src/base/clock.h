/*
 * Time that is cheap to record and exact to read.
 *
 * A record takes ticks (the TSC where it is invariant); ticks become CLOCK_BOOTTIME nanoseconds
 * when the record is delivered. Conversion interpolates between anchors, pairs (ticks, ns) read
 * together, so it follows the kernel's own rate corrections and two records never change their
 * order.
 */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* True: ticks are the TSC. Written once by clock_init before any reader starts. */
extern bool clock_uses_tsc __attribute__((visibility("hidden")));

/* Idempotent; call before the first clock_ticks(). */
void clock_init(void);

static inline uint64_t clock_read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_ns(void)
{
    return clock_read_ns(CLOCK_BOOTTIME);
}

static inline uint64_t clock_ticks(void)
{
#if defined(__x86_64__)
    if (__builtin_expect(clock_uses_tsc, 1))
        return __builtin_ia32_rdtsc();
#endif
    return clock_now_ns();
}

/* One straight piece of the conversion; lives on the converter's stack. */
struct clock_segment {
    uint64_t first_ticks, last_ticks; /* inclusive; last is UINT64_MAX for the open end */
    uint64_t base_ticks, base_ns;
    double ns_per_tick;
};

/* Takes an anchor now (if the last is older than 100 us) and returns the newest segment. Any
 * thread; takes a lock for a few hundred nanoseconds, so never on a record path. */
struct clock_segment clock_segment_now(void);

/* The segment that these ticks lie in. */
struct clock_segment clock_segment_find(uint64_t ticks);

/* Converts; `segment` is exchanged when the ticks lie outside of it. */
static inline uint64_t clock_ticks_to_ns(struct clock_segment *segment, uint64_t ticks)
{
    if (__builtin_expect(ticks < segment->first_ticks || ticks > segment->last_ticks, 0))
        *segment = clock_segment_find(ticks);
    int64_t elapsed = (int64_t)(ticks - segment->base_ticks);
    return segment->base_ns + (uint64_t)(int64_t)((double)elapsed * segment->ns_per_tick);
}

#endif
