/*
 * Time that is cheap to record and exact to read.
 *
 * A record takes ticks (the TSC where it is invariant); ticks become CLOCK_BOOTTIME nanoseconds
 * later, many at a time (clock_pairs.h). Conversion follows a chain of straight pieces, which
 * begin at anchors, pairs (ticks, ns) read together, so it follows the kernel's own rate
 * corrections. The last piece reaches a moment into the future, by a rate that was measured over a
 * long time; whatever is added later begins where it ends. So a piece never changes, whoever
 * converts and whenever: two records never change their order.
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

/* Where clock_uses_tsc is known to be true. */
static inline uint64_t clock_tsc(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return clock_now_ns();
#endif
}

static inline uint64_t clock_ticks(void)
{
    return __builtin_expect(clock_uses_tsc, 1) ? clock_tsc() : clock_now_ns();
}

/* The same, for libraries that the clock is not in. */
uint64_t clock_ticks_now(void);

/* One straight piece of the conversion; lives on the converter's stack. */
struct clock_segment {
    uint64_t first_ticks, last_ticks; /* inclusive; last is UINT64_MAX for the open end */
    uint64_t base_ticks, base_ns;
    double ns_per_tick;
};

/* Sees to it that ticks up to now can be converted and returns the newest segment. Any thread;
 * takes a lock for a few hundred nanoseconds, so never on a record path. */
struct clock_segment clock_segment_now(void);

/* The segment that these ticks lie in. May take the lock. */
struct clock_segment clock_segment_find(uint64_t ticks);

/* The same for a record path, signal handlers too: never waits. False: the ticks are too old, or
 * another thread is just about to take an anchor. */
bool clock_segment_try(uint64_t ticks, struct clock_segment *segment);

/* Converts; `segment` is exchanged when the ticks lie outside of it. */
static inline uint64_t clock_ticks_to_ns(struct clock_segment *segment, uint64_t ticks)
{
    if (__builtin_expect(ticks < segment->first_ticks || ticks > segment->last_ticks, 0))
        *segment = clock_segment_find(ticks);
    int64_t elapsed = (int64_t)(ticks - segment->base_ticks);
    return segment->base_ns + (uint64_t)(int64_t)((double)elapsed * segment->ns_per_tick);
}

#endif
