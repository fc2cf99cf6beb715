/*
 * Which threads are inside of a tool's callback, so that who takes the callbacks away can wait
 * until they are out. A thread notes it in a word of its own, with plain stores: kernels are
 * frequent, and removal is rare and pays (base/thread.h).
 */
#ifndef API_ROCPROFILER_V1_CALLERS_H
#define API_ROCPROFILER_V1_CALLERS_H

#include "base/thread.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One for each thread, for ever; used again when the thread has gone. */
struct caller {
    /* Callbacks that the thread is inside of. Writers: the thread (relaxed to enter, with the fence
     * behind it; release to leave, so that who waited finds all that the callback did), its end
     * and the forked child of another thread (0, release). Readers: callers_leave (acquire). */
    _Alignas(64) _Atomic uint32_t inside;
    /* Writers: who takes it (compare-exchange, acquire) and the thread's end (release). */
    _Atomic bool is_taken;
    struct caller *next; /* constant once listed */
};

/* NULL: this thread was not here yet. */
extern __thread struct caller *caller_here
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
/* NULL: no memory. */
struct caller *caller_register(void);

/* What is loaded behind it stays until the end, if it is taken away in the order that callers_leave
 * says. NULL: no memory, call nobody. They nest. */
static inline struct caller *caller_begin(void)
{
    struct caller *self = caller_here;
    if (__builtin_expect(!self, 0) && !(self = caller_register()))
        return NULL;
    uint32_t inside = atomic_load_explicit(&self->inside, memory_order_relaxed);
    atomic_store_explicit(&self->inside, inside + 1, memory_order_relaxed);
    thread_fence_light(); /* pairs with thread_fence_heavy in callers_leave */
    return self;
}

static inline void caller_end(struct caller *self)
{
    uint32_t inside = atomic_load_explicit(&self->inside, memory_order_relaxed);
    atomic_store_explicit(&self->inside, inside - 1, memory_order_release);
}

/* The caller has made what threads load behind caller_begin() impossible to find. True: none has it
 * any more. False: one still has, after limit_ns, or this thread itself, which is not waited for.
 */
bool callers_leave(uint64_t limit_ns);

#endif
