#include "perf/cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Four tags are compared at once: a miss in the 64-way L1 looks at all of them, and misses are
 * what a streaming kernel makes. */
enum { TAGS_AT_ONCE = 4, NOT_FOUND = UINT8_MAX };
typedef uint32_t tag_vector __attribute__((vector_size(4 * TAGS_AT_ONCE)));
_Static_assert((int)CACHE_WAYS_MAX < (int)NOT_FOUND, "ways are numbered with 8 bits");

static bool power_of_two(uint32_t value)
{
    return value && (value & (value - 1)) == 0;
}

int cache_create(struct cache *cache, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways)
{
    *cache = (struct cache){.way_count = ways, .line_bytes = line_bytes};
    if (!ways || ways > CACHE_WAYS_MAX || !power_of_two(line_bytes) ||
        line_bytes > CACHE_SECTORS * CACHE_SECTOR_BYTES)
        return -EINVAL;
    size_t sets = size_bytes / line_bytes / ways;
    if (!power_of_two((uint32_t)sets))
        return -EINVAL;
    cache->line_shift = (uint32_t)__builtin_ctz(line_bytes);
    cache->set_count = (uint32_t)sets;
    cache->tag_stride = (ways + TAGS_AT_ONCE - 1) / TAGS_AT_ONCE * TAGS_AT_ONCE;
    cache->lines = malloc(sets * ways * sizeof cache->lines[0]);
    cache->tags = aligned_alloc(sizeof(tag_vector), sets * cache->tag_stride * 4);
    cache->order = malloc(sets * (ways + 1) * sizeof cache->order[0]);
    cache->set_generations = calloc(sets, sizeof cache->set_generations[0]);
    if (!cache->lines || !cache->tags || !cache->order || !cache->set_generations) {
        cache_destroy(cache);
        return -ENOMEM;
    }
    cache_clear(cache);
    return 0;
}

void cache_destroy(struct cache *cache)
{
    free(cache->lines);
    free(cache->tags);
    free(cache->order);
    free(cache->set_generations);
    *cache = (struct cache){0};
}

void cache_clear(struct cache *cache)
{
    cache->generation++;
}

static void set_clear(struct cache *cache, uint64_t set)
{
    size_t ways = cache->way_count;
    struct cache_order *order = cache->order + set * (ways + 1);
    memset(cache->lines + set * ways, 0, ways * sizeof cache->lines[0]);
    memset(cache->tags + set * cache->tag_stride, 0, cache->tag_stride * sizeof cache->tags[0]);
    for (size_t way = 0; way <= ways; way++) {
        order[way].older = (uint8_t)(way == ways ? 0 : way + 1);
        order[way].newer = (uint8_t)(way == 0 ? ways : way - 1);
    }
    cache->set_generations[set] = cache->generation;
}

struct cache_line *cache_set_lines(struct cache *cache, uint32_t set)
{
    if (cache->set_generations[set] != cache->generation)
        return NULL;
    return cache->lines + (size_t)set * cache->way_count;
}

static void order_unlink(struct cache_order *order, uint32_t way)
{
    order[order[way].newer].older = order[way].older;
    order[order[way].older].newer = order[way].newer;
}

/* Puts `way` right behind `before` in the ring. */
static void order_insert(struct cache_order *order, uint32_t before, uint32_t way)
{
    uint32_t after = order[before].older;
    order[way].newer = (uint8_t)before;
    order[way].older = (uint8_t)after;
    order[before].older = (uint8_t)way;
    order[after].newer = (uint8_t)way;
}

static void set_touch(const struct cache *cache, struct cache_order *order, uint32_t way)
{
    if (order[cache->way_count].older == way)
        return;
    order_unlink(order, way);
    order_insert(order, cache->way_count, way);
}

static uint64_t number_of(const struct cache *cache, uint64_t address)
{
    return (address >> cache->line_shift) + 1;
}

/* The set of an address, ready to be used. */
static uint64_t set_of(struct cache *cache, uint64_t address)
{
    uint64_t set = address >> cache->line_shift & (cache->set_count - 1);
    if (cache->set_generations[set] != cache->generation)
        set_clear(cache, set);
    return set;
}

/* Equal tags are only a hint: numbers have more bits. */
static uint32_t way_confirm(const struct cache *cache, const struct cache_line *set, uint32_t first,
                            uint64_t number)
{
    for (uint32_t way = first; way < first + TAGS_AT_ONCE && way < cache->way_count; way++)
        if (set[way].number == number)
            return way;
    return NOT_FOUND;
}

static uint32_t way_find(const struct cache *cache, uint64_t set, uint64_t number)
{
    const struct cache_line *lines = cache->lines + set * cache->way_count;
    const tag_vector *tags = (const tag_vector *)(cache->tags + set * cache->tag_stride);
    uint32_t low = (uint32_t)number;
    tag_vector wanted = {low, low, low, low};
    for (uint32_t first = 0; first < cache->way_count; first += TAGS_AT_ONCE) {
        union {
            tag_vector lanes;
            uint64_t halves[2];
        } equal = {(tag_vector)(tags[first / TAGS_AT_ONCE] == wanted)};
        if (!(equal.halves[0] | equal.halves[1]))
            continue;
        uint32_t way = way_confirm(cache, lines, first, number);
        if (way != NOT_FOUND)
            return way;
    }
    return NOT_FOUND;
}

struct cache_line *cache_find(struct cache *cache, uint64_t address)
{
    uint64_t set = set_of(cache, address);
    uint32_t way = way_find(cache, set, number_of(cache, address));
    if (way == NOT_FOUND)
        return NULL;
    set_touch(cache, cache->order + set * (cache->way_count + 1), way);
    return &cache->lines[set * cache->way_count + way];
}

struct cache_line *cache_insert(struct cache *cache, uint64_t address, struct cache_line *victim)
{
    uint64_t set = set_of(cache, address), number = number_of(cache, address);
    struct cache_order *order = cache->order + set * (cache->way_count + 1);
    uint32_t oldest = order[cache->way_count].newer;
    struct cache_line *line = &cache->lines[set * cache->way_count + oldest];
    *victim = *line;
    *line = (struct cache_line){.number = number};
    cache->tags[set * cache->tag_stride + oldest] = (uint32_t)number;
    set_touch(cache, order, oldest);
    return line;
}

/* An empty line is the next to be used. */
void cache_remove(struct cache *cache, uint64_t address)
{
    uint64_t set = set_of(cache, address);
    struct cache_order *order = cache->order + set * (cache->way_count + 1);
    uint32_t way = way_find(cache, set, number_of(cache, address));
    if (way == NOT_FOUND)
        return;
    cache->lines[set * cache->way_count + way] = (struct cache_line){0};
    cache->tags[set * cache->tag_stride + way] = 0;
    order_unlink(order, way);
    order_insert(order, order[cache->way_count].newer, way);
}
