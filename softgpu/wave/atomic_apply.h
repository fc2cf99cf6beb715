/* An atomic operation, done to memory that others use at the same time. Always inlined, as what
 * atomic_value.h has. */
#ifndef WAVE_ATOMIC_APPLY_H
#define WAVE_ATOMIC_APPLY_H

#include "mem/single_copy.h"
#include "wave/atomic_value.h"

/* A value that stays is not written: nobody can tell, as long as a fence stands before. Of a
 * shortest path's minima most are such, and a locked instruction takes the host as long as 25
 * loads. */
ALWAYS_INLINE bool may_keep(struct atomic_op op)
{
    return op.kind == ATOMIC_MIN || op.kind == ATOMIC_MAX || op.kind == ATOMIC_AND ||
           op.kind == ATOMIC_OR;
}
ALWAYS_INLINE void fence_before(struct atomic_op op)
{
    if (may_keep(op))
        single_fence();
}

/* An operation of 32 or 64 bits. Where it is a constant the compiler leaves the rest out. */
#define DEFINE_APPLY(name, word)                                                                   \
    ALWAYS_INLINE uint64_t name(struct atomic_op op, word *host, word data, word compare)          \
    {                                                                                              \
        if (op.kind == ATOMIC_ADD && op.type == ATOMIC_UINT)                                       \
            return __atomic_fetch_add(host, data, __ATOMIC_ACQ_REL);                               \
        word old = __atomic_load_n(host, __ATOMIC_ACQUIRE), new;                                   \
        do {                                                                                       \
            new = (word)atomic_value(&op, old, data, compare);                                     \
            if (may_keep(op) && new == old)                                                        \
                break;                                                                             \
        } while (!__atomic_compare_exchange_n(host, &old, new, true, __ATOMIC_ACQ_REL,             \
                                              __ATOMIC_ACQUIRE));                                  \
        return old;                                                                                \
    }
DEFINE_APPLY(apply_32, uint32_t)
DEFINE_APPLY(apply_64, uint64_t)

/* Shared with other waves, other devices and the host: acquire-release, like the host's own. */
ALWAYS_INLINE uint64_t apply(struct atomic_op op, void *host, uint64_t data, uint64_t compare)
{
    return op.bytes == 8 ? apply_64(op, host, data, compare)
                         : apply_32(op, host, (uint32_t)data, (uint32_t)compare);
}

#endif
