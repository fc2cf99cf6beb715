/* The wrappers of libhsakmt's functions. Internal to this folder. */
#ifndef INTERCEPT_THUNK_CALLS_H
#define INTERCEPT_THUNK_CALLS_H

#include <stdbool.h>
#include <stdint.h>

/* The operation of TRACE_THUNK_API with that name; -1: none. */
int32_t thunk_function_find(const char *name);

/* Somebody wants its calls just now. */
bool thunk_function_is_wanted(int32_t function);

/* What slots are given, and what they had: `next` may be called by a wrapper at any time after, so
 * it is set first, once, and its library stays. NULL: no slot was rerouted yet. Writer: whoever
 * holds the dynamic linker's lock. */
void *thunk_wrapper(int32_t function);
void *thunk_next(int32_t function);
void thunk_next_set(int32_t function, void *next);

#endif
