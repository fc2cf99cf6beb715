/* What bounds.c and channels.c share. */
#ifndef PERF_BOUNDS_INSIDE_H
#define PERF_BOUNDS_INSIDE_H

#include "perf/internal.h"
#include "perf/memory_waits.h"

static inline uint64_t greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static inline uint64_t less(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* `more` is less than `in`. Nearly always the product has 64 bits, and the division is a tenth as
 * long; in a small kernel most products are 0. */
static inline uint64_t share_and(uint64_t value, uint64_t of, uint64_t in, uint64_t more)
{
    uint64_t product;
    if (!in || !value || !of)
        return 0;
    if (!__builtin_mul_overflow(value, of, &product) &&
        !__builtin_add_overflow(product, more, &product))
        return product / in;
    return (uint64_t)(((unsigned __int128)value * of + more) / in);
}

static inline uint64_t share(uint64_t value, uint64_t of, uint64_t in)
{
    return share_and(value, of, in, 0);
}

static inline uint64_t share_up(uint64_t value, uint64_t of, uint64_t in)
{
    return share_and(value, of, in, in - 1);
}

static inline uint64_t channels_of(const struct perf *perf)
{
    return (uint64_t)perf->model->xcc_count * perf->model->tcc_channels;
}

/* How long a dispatch's parts work: all in cycles of the shader clock. */
struct dispatch_cycles {
    uint64_t units, channels;     /* the longest unit, the longest channel */
    uint64_t homes[MEMORY_HOMES]; /* memory, and the links to that elsewhere */
    uint64_t address, active;     /* the address unit and the L1 that work longest */
    uint64_t requests;            /* of all L2 channels */
};

/* What of memory and links works longest. */
static inline enum memory_home longest_home(const struct dispatch_cycles *cycles)
{
    int longest = HOME_OWN;
    for (int home = 0; home < MEMORY_HOMES; home++)
        longest = cycles->homes[home] > cycles->homes[longest] ? home : longest;
    return (enum memory_home)longest;
}

/* What a dispatch's channels have done in `elapsed` cycles, of which memory or a link made them
 * wait for some, and its waves, together, for `waited`. */
void channels_add(struct perf *perf, const struct running_dispatch *dispatch,
                  const struct dispatch_cycles *cycles, uint64_t elapsed, uint64_t stalled,
                  uint64_t waited, const struct memory_waits *waits);

#endif
