/*
 * kernel_object address -> kernel id, read on every dispatch without a lock. Grows by copying;
 * superseded tables stay, since a reader may be inside (together they are smaller than the newest).
 */
#ifndef INTERCEPT_HSA_KERNEL_MAP_H
#define INTERCEPT_HSA_KERNEL_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct kernel_map {
    /* kernel_map_put stores (release), readers load (acquire). */
    _Atomic(struct kernel_map_table *) table;
};

/* 0 when unknown. Any thread, also during a put. */
uint64_t kernel_map_get(const struct kernel_map *map, uint64_t kernel_object);

/* One writer at a time. An address used again gets the new id. False: out of memory. */
bool kernel_map_put(struct kernel_map *map, uint64_t kernel_object, uint64_t kernel_id);

/* Tests only: no reader may be left. */
void kernel_map_free(struct kernel_map *map);

#endif
