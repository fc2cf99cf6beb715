/*
 * Numbers of what the runtime hands out as pointers: streams, instantiated graphs. A handle that
 * the runtime uses again gets a new number. Internal to this folder.
 */
#ifndef INTERCEPT_HIP_HANDLES_H
#define INTERCEPT_HIP_HANDLES_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum { HANDLES_MAX = 4096 };

struct handles {
    const char *what; /* for messages, in the plural */
    /* Writers: whoever makes or ends a handle, under the lock (the number, then release the
     * handle). Readers: every call on one (acquire the handle). An empty place ends a search. */
    struct {
        _Atomic uintptr_t handle; /* 0: empty; written last, read first */
        _Atomic uint64_t number;  /* written and read relaxed: the handle orders it */
    } places[HANDLES_MAX];
    pthread_mutex_t lock; /* a leaf */
    uint64_t number_last; /* under `lock` */
    _Atomic bool warned;  /* any thread, relaxed: once is enough */
};

#define HANDLES_OF(things)                                                                         \
    {                                                                                              \
        .what = (things), .lock = PTHREAD_MUTEX_INITIALIZER                                        \
    }

/* False: it has none. */
bool handle_find(struct handles *handles, uintptr_t handle, uint64_t *number);
/* A new number also for a handle that is known: what it stands for is another one. False, with a
 * message, when HANDLES_MAX of them live. */
bool handle_add(struct handles *handles, uintptr_t handle, uint64_t *number);
/* No effect when the handle has another number: it was given to another one meanwhile. */
void handle_remove(struct handles *handles, uintptr_t handle, uint64_t number);

#endif
