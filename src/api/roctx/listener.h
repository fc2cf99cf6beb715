/* Telling the listener, if there is one. Internal to this folder. */
#ifndef API_ROCTX_LISTENER_H
#define API_ROCTX_LISTENER_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "markers.h"

/* The values of roctx_api_id_t. */
enum listener_operation {
    LISTENER_MARK = 0,
    LISTENER_PUSH = 1,
    LISTENER_POP = 2,
    LISTENER_START = 3,
    LISTENER_STOP = 4,
};

/* Written by markers_listener_set() (release), read by every marker (acquire): whoever sees the
 * function sees what its library set up before. */
extern _Atomic(markers_listener) markers_listener_now;

void listener_call(markers_listener listener, enum listener_operation operation,
                   const char *message, uint64_t id);

static inline void listener_tell(enum listener_operation operation, const char *message,
                                 uint64_t id)
{
    markers_listener listener = atomic_load_explicit(&markers_listener_now, memory_order_acquire);
    if (__builtin_expect(listener != NULL, 0))
        listener_call(listener, operation, message, id);
}

#endif
