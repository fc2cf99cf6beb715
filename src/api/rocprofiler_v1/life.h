/*
 * Objects whose addresses are a tool's handles. Their memory stays theirs for ever and is used
 * again for the next object, so that any handle can be looked at, and an object that is open be
 * entered, without a lock.
 */
#ifndef API_ROCPROFILER_V1_LIFE_H
#define API_ROCPROFILER_V1_LIFE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define LIFE_IS_OPEN (1u << 31)

/* The bit above, and how many are inside: who opened counts as one until the close. 0: nothing. */
struct life {
    /* Writers: life_open (release), enter, close, leave. Readers: enter and life_is_open (acquire,
     * so that who is inside finds what the opener wrote). Leaving releases, and the last one
     * acquires what all the others did before. */
    _Atomic uint32_t word;
};

/* The object is complete. */
static inline void life_open(struct life *life)
{
    atomic_store_explicit(&life->word, LIFE_IS_OPEN | 1, memory_order_release);
}

static inline bool life_is_open(const struct life *life)
{
    return atomic_load_explicit(&life->word, memory_order_acquire) & LIFE_IS_OPEN;
}

/* False: it is not open. Nothing is written to one that is not: it may be in the making. */
static inline bool life_enter(struct life *life)
{
    uint32_t word = atomic_load_explicit(&life->word, memory_order_relaxed);
    while (word & LIFE_IS_OPEN)
        if (atomic_compare_exchange_weak_explicit(&life->word, &word, word + 1,
                                                  memory_order_acquire, memory_order_relaxed))
            return true;
    return false;
}

/* True: that was the last one of an object that is closed; the caller frees what it has. */
static inline bool life_leave(struct life *life)
{
    return atomic_fetch_sub_explicit(&life->word, 1, memory_order_acq_rel) == 1;
}

/* The caller is inside. True: it was open, and the caller leaves for who opened it, too. */
static inline bool life_close(struct life *life)
{
    return atomic_fetch_and_explicit(&life->word, ~LIFE_IS_OPEN, memory_order_acq_rel) &
           LIFE_IS_OPEN;
}

#endif
