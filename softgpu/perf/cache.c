#include "perf/cache.h"

#include <errno.h>
#include <stdlib.h>

_Static_assert((int)CACHE_WAYS_MAX < (int)CACHE_NOWHERE, "ways are numbered with 8 bits");

static bool power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

static uint32_t set_bytes(uint32_t ways)
{
    enum { ALIGNMENT = 16 };
    const size_t way = sizeof(uint16_t) + sizeof(struct cache_order);
    size_t bytes = sizeof(struct cache_set) + cache_tag_count(ways) * way + ways * sizeof(uint64_t);
    return (uint32_t)((bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

int cache_create(struct cache *cache, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways)
{
    enum { HOST_LINE_BYTES = 64 };
    *cache = (struct cache){.way_count = ways, .line_bytes = line_bytes};
    if (!ways || ways > CACHE_WAYS_MAX || !power_of_two(line_bytes) ||
        line_bytes > CACHE_SECTORS * CACHE_SECTOR_BYTES)
        return -EINVAL;
    size_t sets = size_bytes / line_bytes / ways;
    if (!power_of_two((uint32_t)sets))
        return -EINVAL;
    cache->line_shift = (uint32_t)__builtin_ctz(line_bytes);
    cache->block_shift = (uint32_t)__builtin_ctz(CACHE_BLOCK_BYTES / line_bytes);
    cache->set_count = (uint32_t)sets;
    cache->set_bytes = set_bytes(ways);
    cache->sets = calloc(sets, cache->set_bytes); /* aligned to 16 bytes */
    cache->block_marks = calloc(sets, sizeof cache->block_marks[0]);
    if (!cache->sets || !cache->block_marks) {
        cache_destroy(cache);
        return -ENOMEM;
    }
    cache_clear(cache);
    return 0;
}

void cache_destroy(struct cache *cache)
{
    free(cache->sets);
    free(cache->block_marks);
    *cache = (struct cache){0};
}

void cache_clear(struct cache *cache)
{
    cache->generation += 2;
    cache->passed = 0;
}

static void order_begin(struct cache_order *order, uint32_t ways)
{
    for (uint32_t way = 0; way < ways; way++) {
        order[way].older = (uint8_t)(way + 1 < ways ? way + 1 : 0);
        order[way].newer = (uint8_t)(way > 0 ? way - 1 : ways - 1);
    }
}

/* In which order a set's empty lines are used is all the same. */
static void set_clear(const struct cache *cache, struct cache_set *set, uint64_t mark)
{
    if (set->mark == 0) /* never used */
        order_begin(cache_order_of(set, cache->way_count), cache->way_count);
    memset(cache_numbers_of(set, cache->way_count), 0, cache->way_count * sizeof(uint64_t));
    set->mark = mark;
}

/* The set number `n` behind the united ones' first one becomes what that is. */
static void set_copy(const struct cache *cache, uint64_t first, uint32_t n)
{
    struct cache_set *set = cache_set_at(cache, first + n);
    uint64_t *numbers = cache_numbers_of(set, cache->way_count);
    memcpy(set, cache_set_at(cache, first), cache->set_bytes);
    for (uint32_t way = 0; way < cache->way_count; way++) {
        numbers[way] += numbers[way] ? n : 0;
        set->tags[way] = cache_tag(numbers[way]);
    }
}

static void block_split(const struct cache *cache, uint64_t block)
{
    uint64_t first = block << cache->block_shift;
    cache_set_at(cache, first)->mark = cache->generation;
    for (uint32_t n = 1; n < 1u << cache->block_shift; n++)
        set_copy(cache, first, n);
}

void cache_set_begin(struct cache *cache, uint64_t set)
{
    uint64_t block = set >> cache->block_shift;
    if (cache->block_marks[block] == cache->generation + 1)
        block_split(cache, block);
    else
        set_clear(cache, cache_set_at(cache, set), cache->generation);
    cache->block_marks[block] = cache->generation;
}

bool cache_block_begin(struct cache *cache, uint64_t block)
{
    uint64_t first = block << cache->block_shift;
    if (cache->block_marks[block] == cache->generation || /* single lines were reached */
        (block + 1) << cache->block_shift > cache->set_count)
        return false;
    set_clear(cache, cache_set_at(cache, first), cache->generation + 1);
    cache->block_marks[block] = cache->generation + 1;
    return true;
}
