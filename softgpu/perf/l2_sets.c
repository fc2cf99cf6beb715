#include "perf/l2_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_SHIFT_LEAST = 18 }; /* 32 bits are enough for the rest of a place */

static bool power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

/* Zeros that nobody touches cost no memory. */
static int sets_allocate(struct l2_sets *l2, size_t sets)
{
    enum { ALIGNMENT = sizeof(struct l2_set) };
    l2->storage = calloc(sets + 1, sizeof l2->sets[0]);
    l2->dirty_bytes = calloc(sets, sizeof l2->dirty_bytes[0]);
    if (!l2->storage || !l2->dirty_bytes) {
        l2_sets_destroy(l2);
        return -ENOMEM;
    }
    const uintptr_t at = ((uintptr_t)l2->storage + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    l2->sets = (struct l2_set *)(void *)((char *)l2->storage + (at - (uintptr_t)l2->storage));
    return 0;
}

int l2_sets_create(struct l2_sets *l2, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways)
{
    *l2 = (struct l2_sets){.generation = 2};
    if (ways != L2_WAYS || !power_of_two(line_bytes) || line_bytes < CACHE_SECTOR_BYTES ||
        line_bytes > CACHE_SECTORS * CACHE_SECTOR_BYTES)
        return -EINVAL;
    const uint32_t sets = size_bytes / line_bytes / ways;
    if (!power_of_two(sets) || (uint64_t)sets * line_bytes < 1u << NUMBER_SHIFT_LEAST)
        return -EINVAL;
    l2->set_mask = sets - 1;
    l2->line_shift = (uint32_t)__builtin_ctz(line_bytes);
    l2->number_shift = l2->line_shift + (uint32_t)__builtin_ctz(sets);
    l2->block_shift = (uint32_t)__builtin_ctz(CACHE_BLOCK_BYTES / line_bytes);
    return sets_allocate(l2, sets);
}

void l2_sets_destroy(struct l2_sets *l2)
{
    free(l2->storage);
    free(l2->dirty_bytes);
    *l2 = (struct l2_sets){0};
}

void l2_sets_clear(struct l2_sets *l2)
{
    l2->generation += 2;
}

/* In which order empty lines are used is all the same. */
static void set_clear(struct l2_set *set, uint64_t mark)
{
    *set = (struct l2_set){.mark = mark};
    for (uint32_t way = 0; way < L2_WAYS; way++)
        set->ages[way] = (uint8_t)way;
}

void l2_singles_begin(struct l2_sets *l2, uint32_t set)
{
    const uint32_t lines = 1u << l2->block_shift;
    struct l2_set *first = &l2->sets[set & ~(lines - 1)];
    const bool was_united = first->mark == l2->generation + 1;
    first->mark = l2->generation;
    for (uint32_t n = was_united; n < lines; n++) {
        if (was_united)
            first[n] = first[0];
        else
            set_clear(&first[n], l2->generation);
    }
}

bool l2_united_begin(struct l2_sets *l2, uint32_t set)
{
    if (l2->sets[set].mark == l2->generation) /* single lines were reached */
        return false;
    set_clear(&l2->sets[set], l2->generation + 1);
    return true;
}
