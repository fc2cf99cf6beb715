/* The next of a thread's own numbers, also in its signal handlers. Private to session. */
#ifndef SESSION_ID_STEP_H
#define SESSION_ID_STEP_H

#include <stdatomic.h>
#include <stdint.h>

/* A handler that comes in between would take a lock that its thread holds. */
_Static_assert(ATOMIC_LLONG_LOCK_FREE == 2, "steps in signal handlers take no lock");

/* On any processor. Only the thread and its handlers step, so nothing is published (relaxed); but
 * a handler must come before or after the step, never in its middle, and that takes a
 * read-modify-write: with a load and a store, both would get the same number. */
static inline uint64_t id_step_atomic(_Atomic uint64_t *next)
{
    return atomic_fetch_add_explicit(next, 1, memory_order_relaxed);
}

/* On x86-64 one instruction is enough, since only other processors need the lock prefix. */
static inline uint64_t id_step(_Atomic uint64_t *next)
{
#ifdef __x86_64__
    uint64_t id = 1;
    __asm__ volatile("xaddq %0, %1" : "+r"(id), "+m"(*next) : : "cc");
    return id;
#else
    return id_step_atomic(next);
#endif
}

#endif
