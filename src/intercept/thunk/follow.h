/* Calls of the kernel driver's library, libhsakmt. */
#ifndef INTERCEPT_THUNK_FOLLOW_H
#define INTERCEPT_THUNK_FOLLOW_H

#include <stdbool.h>
#include <stdint.h>

#include "model/runtime.h"

enum { THUNK_ARGUMENTS_MAX = 9 };

/* Payload of TRACE_THUNK_API. Every argument is a number, a pointer or a structure of at most eight
 * bytes, and stands in a word of its own; bits beyond its size mean nothing. */
struct thunk_call {
    uint64_t arguments[THUNK_ARGUMENTS_MAX];
    uint64_t result; /* at exit */
    bool is_told;    /* the listener's own: it was there at the beginning */
};

/* Reroutes what is wanted just now in every object that is loaded just now. To be called after
 * anything of either has changed, on any thread, with no lock held. */
void intercept_thunk_follow(void);

extern const struct runtime_ops thunk_runtime_ops;

#endif
