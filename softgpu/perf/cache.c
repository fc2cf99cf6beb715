#include "perf/cache.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cache_create(struct cache *cache, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways)
{
    *cache = (struct cache){.way_count = ways, .line_bytes = line_bytes};
    if (!ways || !line_bytes || line_bytes > CACHE_SECTORS * CACHE_SECTOR_BYTES)
        return -EINVAL;
    cache->set_count = size_bytes / line_bytes / ways;
    if (!cache->set_count)
        return -EINVAL;
    cache->lines = calloc((size_t)cache->set_count * ways, sizeof cache->lines[0]);
    return cache->lines ? 0 : -ENOMEM;
}

void cache_destroy(struct cache *cache)
{
    free(cache->lines);
    cache->lines = NULL;
}

void cache_clear(struct cache *cache)
{
    memset(cache->lines, 0, (size_t)cache->set_count * cache->way_count * sizeof cache->lines[0]);
    cache->clock = 0;
}

static struct cache_line *set_of(struct cache *cache, uint64_t address)
{
    uint64_t set = address / cache->line_bytes % cache->set_count;
    return cache->lines + set * cache->way_count;
}

struct cache_line *cache_find(struct cache *cache, uint64_t address)
{
    struct cache_line *set = set_of(cache, address);
    uint64_t number = address / cache->line_bytes + 1;

    for (uint32_t way = 0; way < cache->way_count; way++) {
        if (set[way].number != number)
            continue;
        set[way].last_use = ++cache->clock;
        return &set[way];
    }
    return NULL;
}

struct cache_line *cache_insert(struct cache *cache, uint64_t address, struct cache_line *victim)
{
    struct cache_line *set = set_of(cache, address), *oldest = set;

    for (uint32_t way = 1; way < cache->way_count; way++)
        if (set[way].last_use < oldest->last_use)
            oldest = &set[way];
    *victim = *oldest;
    *oldest =
        (struct cache_line){.number = address / cache->line_bytes + 1, .last_use = ++cache->clock};
    return oldest;
}

void cache_remove(struct cache *cache, uint64_t address)
{
    struct cache_line *line = cache_find(cache, address);
    if (line)
        *line = (struct cache_line){0};
}
