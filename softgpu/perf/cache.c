#include "perf/cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* Sixteen tags are compared at once: a miss in the 64-way L1 looks at all of them, and misses are
 * what a streaming kernel makes. */
enum { TAGS_AT_ONCE = 16, NOT_FOUND = UINT8_MAX };
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
    cache->tags = aligned_alloc(TAGS_AT_ONCE, sets * cache->tag_stride);
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

static void order_begin(struct cache_order *order, uint32_t ways)
{
    for (uint32_t way = 0; way < ways; way++) {
        order[way].older = (uint8_t)(way + 1 < ways ? way + 1 : 0);
        order[way].newer = (uint8_t)(way > 0 ? way - 1 : ways - 1);
    }
    order[ways].older = 0;
}

/* In which order a set's empty lines are used is all the same. */
static __attribute__((noinline)) void set_clear(struct cache *cache, uint64_t set)
{
    size_t ways = cache->way_count;
    if (cache->set_generations[set] == 0)
        order_begin(cache->order + set * (ways + 1), cache->way_count);
    memset(cache->lines + set * ways, 0, ways * sizeof cache->lines[0]);
    memset(cache->tags + set * cache->tag_stride, 0, cache->tag_stride);
    cache->set_generations[set] = cache->generation;
}

struct cache_line *cache_set_lines(struct cache *cache, uint32_t set)
{
    if (cache->set_generations[set] != cache->generation)
        return NULL;
    return cache->lines + (size_t)set * cache->way_count;
}

/* Puts `way` between the least and the most recent one, neither of which it is. */
static inline void order_move(struct cache_order *order, uint32_t newest, uint32_t way)
{
    uint32_t oldest = order[newest].newer;
    order[order[way].newer].older = order[way].older;
    order[order[way].older].newer = order[way].newer;
    order[way].newer = (uint8_t)oldest;
    order[way].older = (uint8_t)newest;
    order[oldest].older = (uint8_t)way;
    order[newest].newer = (uint8_t)way;
}

static inline uint64_t number_of(const struct cache *cache, uint64_t address)
{
    return (address >> cache->line_shift) + 1;
}

/* The set of an address, ready to be used. */
static inline uint64_t set_of(struct cache *cache, uint64_t address)
{
    uint64_t set = address >> cache->line_shift & (cache->set_count - 1);
    if (__builtin_expect(cache->set_generations[set] != cache->generation, 0))
        set_clear(cache, set);
    return set;
}

/* A hash: lines of a large stride have other tags, too. */
static inline uint8_t tag_of(uint64_t number)
{
    return (uint8_t)((uint32_t)number * 0x9e3779b1u >> 24);
}

/* A bit for each of sixteen tags that are equal. */
static inline uint32_t tags_equal(const uint8_t *tags, uint8_t wanted)
{
#ifdef __SSE2__
    __m128i equal = _mm_cmpeq_epi8(_mm_load_si128((const __m128i *)(const void *)tags),
                                   _mm_set1_epi8((char)wanted));
    return (uint32_t)_mm_movemask_epi8(equal);
#else
    uint32_t equal = 0;
    for (uint32_t i = 0; i < TAGS_AT_ONCE; i++)
        equal |= (uint32_t)(tags[i] == wanted) << i;
    return equal;
#endif
}

/* The same of as many as the largest caches have. */
static inline uint64_t tags_equal_64(const uint8_t *tags, uint8_t wanted)
{
    return tags_equal(tags, wanted) | (uint64_t)tags_equal(tags + 16, wanted) << 16 |
           (uint64_t)tags_equal(tags + 32, wanted) << 32 |
           (uint64_t)tags_equal(tags + 48, wanted) << 48;
}

/* Equal tags are only a hint: numbers have more bits. */
static inline uint32_t way_confirm(const struct cache *cache, const struct cache_line *lines,
                                   uint32_t first, uint64_t equal, uint64_t number)
{
    for (; equal; equal &= equal - 1) {
        uint32_t way = first + (uint32_t)__builtin_ctzll(equal);
        if (way < cache->way_count && lines[way].number == number)
            return way;
    }
    return NOT_FOUND;
}

static inline uint32_t way_find(const struct cache *cache, uint64_t set, uint64_t number)
{
    const struct cache_line *lines = cache->lines + set * cache->way_count;
    const uint8_t *tags = cache->tags + set * cache->tag_stride, wanted = tag_of(number);
    if (cache->tag_stride == 64)
        return way_confirm(cache, lines, 0, tags_equal_64(tags, wanted), number);
    uint32_t way = NOT_FOUND;
    for (uint32_t first = 0; first < cache->tag_stride && way == NOT_FOUND; first += TAGS_AT_ONCE)
        way = way_confirm(cache, lines, first, tags_equal(tags + first, wanted), number);
    return way;
}

/* The line that holds the number, now the most recently used; NULL: not there. */
static inline struct cache_line *set_find(struct cache *cache, uint64_t set, uint64_t number)
{
    struct cache_order *order = cache->order + set * (cache->way_count + 1);
    struct cache_line *lines = cache->lines + set * cache->way_count;
    uint32_t newest = order[cache->way_count].older;
    if (lines[newest].number == number)
        return &lines[newest];
    uint32_t way = way_find(cache, set, number);
    if (way == NOT_FOUND)
        return NULL;
    if (way != order[newest].newer) /* else the ring turns */
        order_move(order, newest, way);
    order[cache->way_count].older = (uint8_t)way;
    return &lines[way];
}

static inline struct cache_line *set_insert(struct cache *cache, uint64_t set, uint64_t number,
                                            struct cache_line *victim)
{
    struct cache_order *order = cache->order + set * (cache->way_count + 1);
    uint32_t oldest = order[order[cache->way_count].older].newer;
    struct cache_line *line = &cache->lines[set * cache->way_count + oldest];
    if (victim)
        *victim = *line;
    *line = (struct cache_line){.number = number};
    cache->tags[set * cache->tag_stride + oldest] = tag_of(number);
    order[cache->way_count].older = (uint8_t)oldest;
    return line;
}

struct cache_line *cache_find(struct cache *cache, uint64_t address)
{
    return set_find(cache, set_of(cache, address), number_of(cache, address));
}

struct cache_line *cache_insert(struct cache *cache, uint64_t address, struct cache_line *victim)
{
    return set_insert(cache, set_of(cache, address), number_of(cache, address), victim);
}

bool cache_reach(struct cache *cache, uint64_t address, struct cache_line **line,
                 struct cache_line *victim)
{
    uint64_t set = set_of(cache, address), number = number_of(cache, address);
    *line = set_find(cache, set, number);
    if (*line)
        return true;
    *line = set_insert(cache, set, number, victim);
    return false;
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
    uint32_t newest = order[cache->way_count].older;
    if (way == newest)
        order[cache->way_count].older = order[way].older;
    else if (way != order[newest].newer)
        order_move(order, newest, way);
}
