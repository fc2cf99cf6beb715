#include "intercept/hsa/kernel_map.h"

#include <stddef.h>
#include <stdlib.h>

enum { CAPACITY_FIRST = 256 };

struct entry {
    /* 0: free. The writer stores it after `id` (release), readers load it first (acquire). */
    _Atomic uint64_t key;
    _Atomic uint64_t id;
};

struct kernel_map_table {
    struct kernel_map_table *superseded;
    uint64_t capacity; /* a power of two */
    uint64_t used;     /* writer only */
    struct entry entries[];
};

static struct entry *entry_find(struct kernel_map_table *table, uint64_t key)
{
    /* Kernel descriptors are 64-byte aligned. */
    uint64_t place = (key >> 6) * 0x9e3779b97f4a7c15ull >> 32;

    for (;; place++) {
        struct entry *entry = &table->entries[place & (table->capacity - 1)];
        uint64_t found = atomic_load_explicit(&entry->key, memory_order_acquire);
        if (found == key || found == 0)
            return entry;
    }
}

uint64_t kernel_map_get(const struct kernel_map *map, uint64_t kernel_object)
{
    struct kernel_map_table *table = atomic_load_explicit(&map->table, memory_order_acquire);
    if (!table || kernel_object == 0)
        return 0;
    struct entry *entry = entry_find(table, kernel_object);
    if (atomic_load_explicit(&entry->key, memory_order_relaxed) != kernel_object)
        return 0;
    return atomic_load_explicit(&entry->id, memory_order_relaxed);
}

static void table_put(struct kernel_map_table *table, uint64_t key, uint64_t id)
{
    struct entry *entry = entry_find(table, key);
    atomic_store_explicit(&entry->id, id, memory_order_relaxed);
    if (atomic_load_explicit(&entry->key, memory_order_relaxed) == 0) {
        table->used++;
        atomic_store_explicit(&entry->key, key, memory_order_release);
    }
}

/* At most half full, so that probing always ends and stays short. */
static struct kernel_map_table *table_with_room(struct kernel_map *map)
{
    struct kernel_map_table *table = atomic_load_explicit(&map->table, memory_order_relaxed);
    if (table && (table->used + 1) * 2 <= table->capacity)
        return table;
    uint64_t capacity = table ? table->capacity * 2 : CAPACITY_FIRST;
    struct kernel_map_table *wider = calloc(1, sizeof *wider + capacity * sizeof(struct entry));
    if (!wider)
        return NULL;
    wider->capacity = capacity;
    wider->superseded = table;
    for (uint64_t i = 0; table && i < table->capacity; i++) {
        uint64_t key = atomic_load_explicit(&table->entries[i].key, memory_order_relaxed);
        if (key != 0)
            table_put(wider, key,
                      atomic_load_explicit(&table->entries[i].id, memory_order_relaxed));
    }
    atomic_store_explicit(&map->table, wider, memory_order_release);
    return wider;
}

bool kernel_map_put(struct kernel_map *map, uint64_t kernel_object, uint64_t kernel_id)
{
    struct kernel_map_table *table = table_with_room(map);
    if (!table || kernel_object == 0)
        return false;
    table_put(table, kernel_object, kernel_id);
    return true;
}

void kernel_map_free(struct kernel_map *map)
{
    struct kernel_map_table *superseded;
    for (struct kernel_map_table *table = atomic_load_explicit(&map->table, memory_order_seq_cst);
         table; table = superseded) {
        superseded = table->superseded;
        free(table);
    }
    atomic_store_explicit(&map->table, NULL, memory_order_seq_cst);
}
