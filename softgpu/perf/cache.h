/*
 * One set-associative cache with exact LRU replacement: tags and per-line state only, no data.
 * Lines are at most 128 bytes, held as two 64-byte sectors.
 */
#ifndef PERF_CACHE_H
#define PERF_CACHE_H

#include <stdbool.h>
#include <stdint.h>

enum { CACHE_SECTOR_BYTES = 64, CACHE_SECTORS = 2, CACHE_WAYS_MAX = 128 };

struct cache_line {
    uint64_t number; /* line number + 1; 0: empty */
    uint64_t dirty_bytes[CACHE_SECTORS];
    uint8_t sectors; /* bit n: sector n holds valid data */
};

/* Order of use in a set: a ring of its ways, from the most recent to the least recent one and on to
 * the most recent. Which one that is stands behind them, in `older`. */
struct cache_order {
    uint8_t newer, older;
};

struct cache {
    /* A set whose generation is not the cache's is empty, whatever its arrays hold: caches of
     * megabytes are cleared before every counted dispatch. */
    uint64_t generation, *set_generations;
    struct cache_line *lines;  /* [set][way] */
    uint8_t *tags;             /* [set][tag_stride]: hashes of the numbers, for the search */
    struct cache_order *order; /* [set][way_count + 1] */
    uint32_t set_count, way_count, tag_stride, line_bytes;
    uint32_t line_shift; /* log2(line_bytes): a request divides by it several times */
};

/* Lines and sets are powers of two. 0, -EINVAL when the sizes are impossible, -ENOMEM. */
int cache_create(struct cache *cache, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways);
void cache_destroy(struct cache *cache);
void cache_clear(struct cache *cache);

/* The line that holds `address`, now the most recently used of its set; NULL: not there. */
struct cache_line *cache_find(struct cache *cache, uint64_t address);
/* Replaces the least recently used line of the set, which must not hold `address`; *victim is
 * what was there (number 0: nothing). The new line is clean and has no valid sector. */
struct cache_line *cache_insert(struct cache *cache, uint64_t address, struct cache_line *victim);
/* Both at once: *line holds `address` and is the most recently used. True: it was there already,
 * and *victim is left alone. */
bool cache_reach(struct cache *cache, uint64_t address, struct cache_line **line,
                 struct cache_line *victim);
void cache_remove(struct cache *cache, uint64_t address);
/* The set's `way_count` lines, some perhaps empty; NULL: all of them are. */
struct cache_line *cache_set_lines(struct cache *cache, uint32_t set);

static inline uint32_t cache_sector(const struct cache *cache, uint64_t address)
{
    return (uint32_t)(address & (cache->line_bytes - 1)) / CACHE_SECTOR_BYTES;
}

#endif
