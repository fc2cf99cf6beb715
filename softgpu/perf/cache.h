/*
 * One set-associative cache with exact LRU replacement: tags and per-line state only, no data.
 * Lines are at most 128 bytes, held as two 64-byte sectors.
 */
#ifndef PERF_CACHE_H
#define PERF_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

enum {
    CACHE_SECTOR_BYTES = 64,
    CACHE_SECTORS = 2,
    CACHE_WAYS_MAX = 128,
    CACHE_BLOCK_BYTES = 256,
    CACHE_TAGS_AT_ONCE = 16,  /* that are compared */
    CACHE_NOWHERE = UINT8_MAX /* no way: they are numbered with 8 bits */
};

/* Order of use in a set: a ring of its ways, from the most recent to the least recent one and on to
 * the most recent. */
struct cache_order {
    uint8_t newer, older;
};

/* Behind the tags, whose number is rounded up to that which is compared at once, stand the order,
 * with as much room for each of its two, and the numbers, which are 0 of empty lines. */
struct cache_set {
    uint64_t mark;
    uint8_t newest;                               /* way */
    uint16_t tags[] __attribute__((aligned(16))); /* hashes of the numbers */
};

/*
 * The sets of a block of 256 bytes lie side by side. As long as all of its lines are reached
 * together these sets always hold the same blocks, in the same order: the first of them stands for
 * all, and they are united. Who reaches a single line takes them apart, until the cache is cleared.
 */
struct cache {
    /* Even. A set whose mark is another one is empty, or not one of its own, whatever it holds; so
     * are blocks' sets, where one more means united. Caches of megabytes are cleared before every
     * counted dispatch. */
    uint64_t generation;
    /* Of a scalar cache: what has passed it last, and the instruction cache beside it, and found
     * all that it asked for: it would again, and nothing would change (stream.c). 0: nobody knows.
     */
    uint64_t passed;
    uint64_t *block_marks;
    uint8_t *sets;
    uint32_t set_bytes, set_count, way_count, line_bytes;
    uint32_t line_shift;  /* log2(line_bytes): a request divides by it several times */
    uint32_t block_shift; /* log2 of the lines of a block */
};

/* Lines and sets are powers of two. 0, -EINVAL when the sizes are impossible, -ENOMEM. */
int cache_create(struct cache *cache, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways);
void cache_destroy(struct cache *cache);
void cache_clear(struct cache *cache);

/* Makes a set ready to be used for single lines. */
void cache_set_begin(struct cache *cache, uint64_t set);
/* Makes a block's sets ready to be used. False: they are not united. */
bool cache_block_begin(struct cache *cache, uint64_t block);

#define CACHE_INLINE static inline __attribute__((always_inline))

/* The parts of a set. All that follows is inlined into loops that know the number of ways. */
CACHE_INLINE uint32_t cache_tag_count(uint32_t ways)
{
    return (ways + CACHE_TAGS_AT_ONCE - 1) / CACHE_TAGS_AT_ONCE * CACHE_TAGS_AT_ONCE;
}

CACHE_INLINE struct cache_order *cache_order_of(struct cache_set *set, uint32_t ways)
{
    return (struct cache_order *)(void *)(set->tags + cache_tag_count(ways));
}

CACHE_INLINE uint64_t *cache_numbers_of(struct cache_set *set, uint32_t ways)
{
    return (uint64_t *)(void *)(set->tags + 2 * cache_tag_count(ways));
}

/* A hash: lines of a large stride have other tags, too. */
CACHE_INLINE uint16_t cache_tag(uint64_t number)
{
    return (uint16_t)((uint32_t)number * 0x9e3779b1u >> 16);
}

/* A bit for each of sixteen tags that are equal. */
CACHE_INLINE uint32_t cache_tags_equal(const uint16_t *tags, uint16_t wanted)
{
#ifdef __SSE2__
    const __m128i *own = (const __m128i *)(const void *)tags, all = _mm_set1_epi16((short)wanted);
    return (uint32_t)_mm_movemask_epi8(
        _mm_packs_epi16(_mm_cmpeq_epi16(own[0], all), _mm_cmpeq_epi16(own[1], all)));
#else
    uint32_t equal = 0;
    for (uint32_t i = 0; i < CACHE_TAGS_AT_ONCE; i++)
        equal |= (uint32_t)(tags[i] == wanted) << i;
    return equal;
#endif
}

/* Whether one of as many as the largest caches have is equal; mostly none is. */
CACHE_INLINE bool cache_tags_any_of_64(const uint16_t *tags, uint16_t wanted)
{
#ifdef __AVX512BW__
    const __m512i all = _mm512_set1_epi16((short)wanted);
    return (_mm512_cmpeq_epi16_mask(_mm512_loadu_si512(tags), all) |
            _mm512_cmpeq_epi16_mask(_mm512_loadu_si512(tags + 32), all)) != 0;
#elif defined __AVX2__
    const __m256i all = _mm256_set1_epi16((short)wanted);
    __m256i any = _mm256_setzero_si256();
    for (uint32_t i = 0; i < 64; i += 16)
        any = _mm256_or_si256(
            any,
            _mm256_cmpeq_epi16(_mm256_loadu_si256((const __m256i *)(const void *)(tags + i)), all));
    return !_mm256_testz_si256(any, any);
#elif defined __SSE2__
    const __m128i *own = (const __m128i *)(const void *)tags, all = _mm_set1_epi16((short)wanted);
    __m128i any = _mm_setzero_si128();
    for (uint32_t i = 0; i < 8; i++)
        any = _mm_or_si128(any, _mm_cmpeq_epi16(own[i], all));
    return _mm_movemask_epi8(any) != 0;
#else
    return true;
#endif
}

CACHE_INLINE uint64_t cache_tags_equal_64(const uint16_t *tags, uint16_t wanted)
{
    uint64_t equal = 0;
    if (cache_tags_any_of_64(tags, wanted))
        for (uint32_t first = 0; first < 64; first += CACHE_TAGS_AT_ONCE)
            equal |= (uint64_t)cache_tags_equal(tags + first, wanted) << first;
    return equal;
}

/* Equal tags are only a hint: numbers have more bits. */
CACHE_INLINE uint32_t cache_way_confirm(const uint64_t *numbers, uint32_t first, uint64_t equal,
                                        uint64_t number)
{
    for (; equal; equal &= equal - 1) {
        uint32_t way = first + (uint32_t)__builtin_ctzll(equal);
        if (numbers[way] == number)
            return way;
    }
    return CACHE_NOWHERE;
}

CACHE_INLINE uint32_t cache_way_find(struct cache_set *set, uint32_t ways, uint64_t number,
                                     uint16_t wanted)
{
    const uint64_t *numbers = cache_numbers_of(set, ways);
    uint32_t way = CACHE_NOWHERE, first = 0;
    if (cache_tag_count(ways) == 64)
        return cache_way_confirm(numbers, 0, cache_tags_equal_64(set->tags, wanted), number);
    do {
        uint32_t equal = cache_tags_equal(set->tags + first, wanted);
        if (first + CACHE_TAGS_AT_ONCE > ways) /* behind them are none */
            equal &= (1u << (ways - first)) - 1;
        way = cache_way_confirm(numbers, first, equal, number);
        first += CACHE_TAGS_AT_ONCE;
    } while (way == CACHE_NOWHERE && first < ways);
    return way;
}

/* `way` is the most recently used one. */
CACHE_INLINE void cache_order_use(struct cache_set *set, uint32_t ways, uint32_t way)
{
    struct cache_order *order = cache_order_of(set, ways), *moved = &order[way];
    uint32_t newest = set->newest, oldest = order[newest].newer;
    if (way == newest)
        return;
    set->newest = (uint8_t)way;
    if (way == oldest) /* the ring turns */
        return;
    struct cache_order old = *moved;
    order[old.newer].older = old.older;
    order[old.older].newer = old.newer;
    *moved = (struct cache_order){.newer = (uint8_t)oldest, .older = (uint8_t)newest};
    order[oldest].older = (uint8_t)way;
    order[newest].newer = (uint8_t)way;
}

/* Makes a line the most recently used one; says in which way. True: it was there already. False:
 * *replaced (NULL: nobody wants to know) is the number of the line in whose place it is, or 0. */
CACHE_INLINE bool cache_set_reach(struct cache_set *set, uint32_t ways, uint64_t number,
                                  uint32_t *way, uint64_t *replaced)
{
    const uint16_t tag = cache_tag(number);
    *way = cache_way_find(set, ways, number, tag);
    if (*way != CACHE_NOWHERE) {
        cache_order_use(set, ways, *way);
        return true;
    }
    *way = cache_order_of(set, ways)[set->newest].newer;
    if (replaced)
        *replaced = cache_numbers_of(set, ways)[*way];
    cache_numbers_of(set, ways)[*way] = number;
    set->tags[*way] = tag;
    set->newest = (uint8_t)*way;
    return false;
}

/* An empty line is the next to be used. */
CACHE_INLINE void cache_set_remove(struct cache_set *set, uint32_t ways, uint64_t number)
{
    uint32_t way = cache_way_find(set, ways, number, cache_tag(number));
    if (way == CACHE_NOWHERE)
        return;
    cache_numbers_of(set, ways)[way] = 0;
    cache_order_use(set, ways, way);
    set->newest = cache_order_of(set, ways)[way].older; /* the ring turns: it is the oldest */
}

CACHE_INLINE struct cache_set *cache_set_at(const struct cache *cache, uint64_t number)
{
    return (struct cache_set *)(void *)(cache->sets + number * cache->set_bytes);
}

CACHE_INLINE uint64_t cache_set_number(const struct cache *cache, uint64_t address)
{
    return address >> cache->line_shift & (cache->set_count - 1);
}

CACHE_INLINE uint64_t cache_number(const struct cache *cache, uint64_t address)
{
    return (address >> cache->line_shift) + 1;
}

/* The set of an address, ready to be used for single lines. */
CACHE_INLINE struct cache_set *cache_set(struct cache *cache, uint64_t address)
{
    uint64_t number = cache_set_number(cache, address);
    struct cache_set *set = cache_set_at(cache, number);
    if (__builtin_expect(set->mark != cache->generation, 0))
        cache_set_begin(cache, number);
    return set;
}

/* What says where sets are: for loops that write bytes, which might be these. */
struct cache_shape {
    uint8_t *sets;
    const uint64_t *block_marks;
    uint64_t united; /* mark */
    uint32_t set_mask, set_bytes, line_shift, block_shift;
};
CACHE_INLINE struct cache_shape cache_shape_of(const struct cache *cache)
{
    return (struct cache_shape){cache->sets,          cache->block_marks, cache->generation + 1,
                                cache->set_count - 1, cache->set_bytes,   cache->line_shift,
                                cache->block_shift};
}

/* The set of a line whose block's sets are united. */
CACHE_INLINE struct cache_set *cache_united_known(const struct cache_shape *shape, uint64_t line)
{
    return (struct cache_set *)(void *)(shape->sets + (size_t)((uint32_t)line & shape->set_mask) *
                                                          shape->set_bytes);
}

/* cache_united() of a line number. */
CACHE_INLINE struct cache_set *cache_united_at(struct cache *cache, const struct cache_shape *shape,
                                               uint64_t line)
{
    uint32_t number = (uint32_t)line & shape->set_mask, block = number >> shape->block_shift;
    if (__builtin_expect(shape->block_marks[block] != shape->united, 0) &&
        !cache_block_begin(cache, block))
        return NULL;
    return (struct cache_set *)(void *)(shape->sets + (size_t)number * shape->set_bytes);
}

/* cache_set() of one. */
CACHE_INLINE struct cache_set *cache_single_at(struct cache *cache, const struct cache_shape *shape,
                                               uint64_t line)
{
    uint64_t number = (uint32_t)line & shape->set_mask;
    struct cache_set *set = (struct cache_set *)(void *)(shape->sets + number * shape->set_bytes);
    if (__builtin_expect(set->mark + 1 != shape->united, 0))
        cache_set_begin(cache, number);
    return set;
}

/* The same of the block at an address, if its lines are reached together; NULL: each by itself. */
CACHE_INLINE struct cache_set *cache_united(struct cache *cache, uint64_t address)
{
    uint64_t number = cache_set_number(cache, address), block = number >> cache->block_shift;
    if (cache->block_marks[block] != cache->generation + 1 && !cache_block_begin(cache, block))
        return NULL;
    return cache_set_at(cache, number);
}

#endif
