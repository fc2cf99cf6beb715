#include "base/fork_lock.h"

#include <stdatomic.h>
#include <stddef.h>

/* Writers: constructors (compare-exchange, release). Readers: who forks (acquire). Only grows. */
static _Atomic(struct fork_lock *) locks;

/* One fork at a time, from before the first lock is taken until the last one is free. */
static pthread_mutex_t forking = PTHREAD_MUTEX_INITIALIZER;
static struct fork_lock *taken; /* under `forking`: a library may be loaded meanwhile */

static void fork_prepare(void)
{
    pthread_mutex_lock(&forking);
    taken = atomic_load_explicit(&locks, memory_order_acquire);
    for (struct fork_lock *lock = taken; lock; lock = lock->next)
        pthread_mutex_lock(lock->lock);
}

static void fork_done(void)
{
    for (struct fork_lock *lock = taken; lock; lock = lock->next)
        pthread_mutex_unlock(lock->lock);
    pthread_mutex_unlock(&forking);
}

void fork_lock_add(struct fork_lock *lock)
{
    struct fork_lock *first = atomic_load_explicit(&locks, memory_order_relaxed);
    do
        lock->next = first;
    while (!atomic_compare_exchange_weak_explicit(&locks, &first, lock, memory_order_release,
                                                  memory_order_relaxed));
    if (!first)
        pthread_atfork(fork_prepare, fork_done, fork_done);
}
