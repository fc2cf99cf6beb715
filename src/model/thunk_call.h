/* A call of the kernel driver's library, libhsakmt. */
#ifndef MODEL_THUNK_CALL_H
#define MODEL_THUNK_CALL_H

#include <stdint.h>

enum { THUNK_ARGUMENTS_MAX = 9 };

/* Payload of TRACE_THUNK_API. Every argument is a number, a pointer or a structure of at most eight
 * bytes, and stands in a word of its own; bits beyond its size mean nothing. */
struct thunk_call {
    uint64_t arguments[THUNK_ARGUMENTS_MAX];
    uint64_t result;   /* at exit */
    const void *front; /* the listener's own, for both ends of the call; NULL when it begins */
};

#endif
