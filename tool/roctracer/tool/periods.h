/* The tool's own threads: one that writes, and one that traces in periods. */
#ifndef ROCTRACER_TOOL_PERIODS_H
#define ROCTRACER_TOOL_PERIODS_H

#include <stdbool.h>
#include <stdint.h>

/* Starts a thread that calls `write` when asked to, and every period_us (0: only when asked).
 * False: no thread. */
bool writer_start(void (*write)(bool is_period), uint32_t period_us);
/* Asks for `write`; any thread, also from a signal handler. */
void writer_wake(void);

/* Starts a thread that waits delay_us, then switches on for length_us of every rate_us. */
bool switcher_start(void (*on)(void), void (*off)(void), uint32_t delay_us, uint32_t length_us,
                    uint32_t rate_us);

/* Ends both, from any other thread. False: one of them does not return in time. */
bool periods_end(void);

/* Runs in a forked child, which does not have the threads. */
void periods_forget(void);

#endif
