/* The thread that calls the runtime for a replay: the launching thread is inside of the runtime's
 * interceptor, whose state ROCr keeps per thread and which a copy by a kernel would overwrite.
 * Knows nothing of HSA. Internal to this folder. */
#ifndef INTERCEPT_HSA_REPLAY_THREAD_H
#define INTERCEPT_HSA_REPLAY_THREAD_H

#include <stdbool.h>

/* Runs it there and waits for its end. Any thread; one after the other, but that thread's own at
 * once. False: there is no thread, and it was not run. */
bool replay_thread_run(void (*run)(void *data), void *data);

/* Runs it there when nothing was asked of that thread for a second; asked for again, later. */
void replay_thread_when_idle(void (*run)(void));

#endif
