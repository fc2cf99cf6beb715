/*
 * Time for waiting, and waiting for what nobody wakes us for: a condition that is looked at again
 * and again. Where somebody can wake the waiter, a futex or a condition variable is better.
 *
 * Only CLOCK_MONOTONIC and nanosleep(2): safe in a signal handler and in a forked child if `done`
 * is. The times of records are base/clock.h's.
 */
#ifndef BASE_WAIT_H
#define BASE_WAIT_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#include "base/clock.h"

enum { WAIT_NS_PER_US = 1000, WAIT_NS_PER_MS = 1000 * 1000 };

#define WAIT_NS_PER_S UINT64_C(1000000000)

/* No limit; it is also a limit that is later than all others. */
#define WAIT_FOREVER UINT64_MAX

static inline uint64_t wait_now_ns(void)
{
    return clock_read_ns(CLOCK_MONOTONIC);
}

static inline struct timespec wait_timespec(uint64_t ns)
{
    return (struct timespec){.tv_sec = (time_t)(ns / 1000000000u),
                             .tv_nsec = (long)(ns % 1000000000u)};
}

/* What that clock shows when `limit_ns` have passed, for the timed calls of pthread and of
 * semaphores. A limit beyond thirty years is one of thirty years: WAIT_FOREVER does not wrap
 * around. */
struct timespec wait_deadline(clockid_t clock, uint64_t limit_ns);

/* Sleeps so long, or less when a signal's handler has run. Keeps errno. */
void wait_pause(uint64_t ns);

/* Returns true as soon as done(argument) does; false when limit_ns have passed and it does not. It
 * is asked first at once, then after each pause of step_ns, and a last time at the limit: a limit
 * of 0 asks once. A process that is stopped meanwhile, by a debugger say, has not used its limit
 * up. Keeps errno, but for what `done` does to it. */
bool wait_until(bool (*done)(void *argument), void *argument, uint64_t limit_ns, uint64_t step_ns);

/* The same, with a limit for standing still: each time that progress(argument) has changed, it
 * begins anew. */
bool wait_while_moving(bool (*done)(void *argument), uint64_t (*progress)(void *argument),
                       void *argument, uint64_t stall_ns, uint64_t step_ns);

/* One step of a wait for something that takes nanoseconds unless its thread has lost the processor:
 * lets others run, and sleeps once it has been called a hundred times in a row. `turn` counts the
 * calls of one wait, from 0. */
void wait_step(unsigned *turn);

#endif
