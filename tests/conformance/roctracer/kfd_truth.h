/*
 * What really goes into libhsakmt: this program defines every function of the library itself, so
 * that the dynamic linker binds the HSA runtime to these, which count and pass on. It knows nothing
 * of the tracer, whose wrappers call them.
 */
#ifndef CONFORMANCE_ROCTRACER_KFD_TRUTH_H
#define CONFORMANCE_ROCTRACER_KFD_TRUTH_H

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "thunk_functions.h"

enum { WORDS = 9 };
typedef uint64_t words_fn(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                          uint64_t, uint64_t);

static _Atomic unsigned truth_counts[THUNK_FUNCTION_COUNT];
static __thread struct {
    uint64_t words[WORDS];
    uint64_t result;
} truth_last[THUNK_FUNCTION_COUNT]; /* of this thread */

static words_fn *truth_next(const char *name)
{
    words_fn *next;
    void *function = dlsym(RTLD_NEXT, name);
    if (!function)
        abort(); /* this release does not have it, so nobody can call it */
    memcpy(&next, &function, sizeof next);
    return next;
}

#define TRUTH(name, id)                                                                            \
    __attribute__((visibility("default"))) words_fn name;                                          \
    uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,          \
                  uint64_t g, uint64_t h, uint64_t i)                                              \
    {                                                                                              \
        const uint64_t words[WORDS] = {a, b, c, d, e, f, g, h, i};                                 \
        uint64_t result = truth_next(#name)(a, b, c, d, e, f, g, h, i);                            \
        memcpy(truth_last[id].words, words, sizeof words);                                         \
        truth_last[id].result = result;                                                            \
        atomic_fetch_add(&truth_counts[id], 1);                                                    \
        return result;                                                                             \
    }
THUNK_FUNCTIONS(TRUTH, TRUTH)

#endif
