/*
 * What interception has of an instance: the place that it is known at here, which says whether its
 * wrappers are in the tables, and which of its services. Any thread.
 */
#ifndef RUNTIME_PLACES_H
#define RUNTIME_PLACES_H

#include "runtime/instances.h"

#include <stdatomic.h>

enum { RUNTIME_PLACES_MAX = 256 };

struct runtime_place {
    /* What its instance is at. Writers: instances.c, under runtime_lock (release). Readers: any
     * (acquire). */
    _Atomic int state;
    /* Under runtime_lock. */
    bool is_held;
    uint32_t parts_begun, parts_ended;
};

extern struct runtime_place runtime_places[RUNTIME_PLACES_MAX]
    __attribute__((visibility("hidden")));

/* The place of the instance that has this table. It stays that table's for good: its wrappers may
 * be in programs' hands for as long. NULL: nobody knows the table. */
struct runtime_place *runtime_place_hold(enum runtime_kind kind, const void *table);

static inline bool runtime_place_is_installed(const struct runtime_place *place)
{
    return atomic_load_explicit(&place->state, memory_order_acquire) == RUNTIME_INSTALLED;
}

/* From now on wrappers may be in its tables; at this moment there are none. False: it has gone. */
bool runtime_place_install(struct runtime_place *place);

/* Parts of an instance are services with wrappers in its tables, in bits that its row's operations
 * number. Who begins one puts it in, with no lock held, and says when that is done. */

/* Those of `wanted` that nobody has begun yet: they are this caller's. */
uint32_t runtime_parts_begin(struct runtime_place *place, uint32_t wanted);
void runtime_parts_end(struct runtime_place *place, uint32_t parts);
/* Waits until all that others have begun of `parts` is done, at most for a second. It returns at
 * once on a thread that has begun some itself. */
void runtime_parts_wait(struct runtime_place *place, uint32_t parts);

#endif
