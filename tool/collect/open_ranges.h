/*
 * Ranges that have begun and not ended. Those of one key, a thread's pushed ones or those of one
 * id, lie on each other: the newest is found by the key alone, however many others are open. Who
 * uses this lets one thread in at a time.
 */
#ifndef COLLECT_OPEN_RANGES_H
#define COLLECT_OPEN_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "markers.h"

/* `id`: of roctxRangeStart; 0 for a pushed range, which belongs to its thread. */
struct range_key {
    uint64_t id, thread_id; /* the thread tells nothing where there is an id */
};

/* False: no memory, and the range is not known. */
bool open_ranges_add(struct range_key key, const struct marker *marker);

/* The newest of the key; NULL: none. Until the next call of another function. */
struct marker *open_ranges_newest(struct range_key key);

/* Takes the newest of the key away. False: none. */
bool open_ranges_end(struct range_key key, struct marker *marker);

/* The key of one of those that are open, the same until that is taken. False: none is. */
bool open_ranges_any(struct range_key *key);

/* All of them, and their memory. */
void open_ranges_forget(void);

#endif
