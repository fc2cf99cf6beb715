#include "names/numbered.h"

#include <stdlib.h>

enum { CAPACITY_FIRST = 64 };

static uint32_t place(uint64_t key, uint32_t capacity)
{
    key *= 0x9e3779b97f4a7c15u; /* spreads numbers that follow each other */
    return (uint32_t)(key >> 32) & (capacity - 1);
}

static struct numbered_slot *slot_of(struct numbered_slot *slots, uint32_t capacity, uint64_t key)
{
    uint32_t at = place(key, capacity);
    while (slots[at].element && slots[at].key != key)
        at = (at + 1) & (capacity - 1);
    return &slots[at];
}

static bool grow(struct numbered *numbered)
{
    uint32_t capacity = numbered->capacity ? 2 * numbered->capacity : CAPACITY_FIRST;
    struct numbered_slot *slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (uint32_t i = 0; i < numbered->capacity; i++)
        if (numbered->slots[i].element)
            *slot_of(slots, capacity, numbered->slots[i].key) = numbered->slots[i];
    free(numbered->slots);
    numbered->slots = slots;
    numbered->capacity = capacity;
    return true;
}

void *numbered_get(struct numbered *numbered, uint64_t key, bool *is_new)
{
    *is_new = false;
    if (2 * numbered->used >= numbered->capacity && !grow(numbered))
        return NULL;
    struct numbered_slot *slot = slot_of(numbered->slots, numbered->capacity, key);
    if (slot->element)
        return slot->element;
    slot->element = calloc(1, numbered->element_bytes);
    if (!slot->element)
        return NULL;
    slot->key = key;
    numbered->used++;
    *is_new = true;
    return slot->element;
}

void *numbered_find(const struct numbered *numbered, uint64_t key)
{
    return numbered->capacity ? slot_of(numbered->slots, numbered->capacity, key)->element : NULL;
}

void numbered_each(const struct numbered *numbered, void (*each)(void *element))
{
    for (uint32_t i = 0; i < numbered->capacity; i++)
        if (numbered->slots[i].element)
            each(numbered->slots[i].element);
}

void numbered_free(struct numbered *numbered)
{
    numbered_each(numbered, free);
    free(numbered->slots);
    numbered->slots = NULL;
    numbered->used = numbered->capacity = 0;
}
