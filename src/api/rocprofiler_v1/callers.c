#include "api/rocprofiler_v1/callers.h"

#include "base/wait.h"

#include <pthread.h>
#include <stdlib.h>

__thread struct caller *caller_here;

/* Only grows. Writers: caller_register (compare-exchange, release). Readers: walks (acquire). */
static _Atomic(struct caller *) callers;
static pthread_key_t end_key;
static bool end_key_is_there; /* constant once made */

/* A thread may end inside of a callback. */
static void on_thread_end(void *data)
{
    struct caller *self = data;
    caller_here = NULL;
    atomic_store_explicit(&self->inside, 0, memory_order_release);
    atomic_store_explicit(&self->is_taken, false, memory_order_release);
}

/* The child has one thread. */
static void on_fork_child(void)
{
    struct caller *caller = atomic_load_explicit(&callers, memory_order_acquire);
    for (; caller; caller = caller->next) {
        if (caller == caller_here)
            continue;
        atomic_store_explicit(&caller->inside, 0, memory_order_release);
        atomic_store_explicit(&caller->is_taken, false, memory_order_release);
    }
}

static void prepare(void)
{
    thread_init();
    end_key_is_there = pthread_key_create(&end_key, on_thread_end) == 0;
    pthread_atfork(NULL, NULL, on_fork_child);
}

static void prepare_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
}

static struct caller *caller_reuse(void)
{
    struct caller *caller = atomic_load_explicit(&callers, memory_order_acquire);
    for (bool taken = false; caller; caller = caller->next, taken = false)
        if (atomic_compare_exchange_strong_explicit(&caller->is_taken, &taken, true,
                                                    memory_order_acquire, memory_order_relaxed))
            break;
    return caller;
}

static struct caller *caller_new(void)
{
    struct caller *caller = aligned_alloc(_Alignof(struct caller), sizeof *caller);
    if (!caller)
        return NULL;
    *caller = (struct caller){.is_taken = true};
    caller->next = atomic_load_explicit(&callers, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&callers, &caller->next, caller,
                                                  memory_order_release, memory_order_relaxed))
        ;
    return caller;
}

struct caller *caller_register(void)
{
    prepare_once();
    struct caller *caller = end_key_is_there ? caller_reuse() : NULL;
    if (!caller && end_key_is_there)
        caller = caller_new();
    if (!caller)
        return NULL;
    if (pthread_setspecific(end_key, caller) != 0) {
        atomic_store_explicit(&caller->is_taken, false, memory_order_release);
        return NULL;
    }
    caller_here = caller;
    return caller;
}

/* Each needs to be seen outside once: who enters later finds nothing. */
static bool others_are_out(void *place)
{
    struct caller **next = place;
    for (; *next; *next = (*next)->next)
        if (*next != caller_here && atomic_load_explicit(&(*next)->inside, memory_order_acquire))
            return false;
    return true;
}

bool callers_leave(uint64_t limit_ns)
{
    prepare_once();
    thread_fence_heavy(); /* pairs with thread_fence_light in caller_begin */
    struct caller *next = atomic_load_explicit(&callers, memory_order_acquire);
    bool out = wait_until(others_are_out, &next, limit_ns, 20 * WAIT_NS_PER_US);
    return out &&
           (!caller_here || atomic_load_explicit(&caller_here->inside, memory_order_relaxed) == 0);
}
