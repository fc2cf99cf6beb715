/*
 * The sets of an L2: of sixteen lines, as all GPUs have them, with exact LRU replacement; what is
 * known of their lines, no data. What reads look at is two lines of the host's memory for each set.
 */
#ifndef PERF_L2_SETS_H
#define PERF_L2_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

#include "perf/cache.h"

enum { L2_WAYS = 16, L2_NOWHERE = L2_WAYS, L2_MEMORY_SHIFT = 56 };

/* Of a line's state, for each sector, from that bit on: it holds valid data; it is dirty, in the
 * bytes that the set's mask says, or if it is full in all. */
enum { L2_VALID = 1 << 0, L2_DIRTY = 1 << 2, L2_FULL = 1 << 4, L2_SECTORS_ALL = 3 };

struct l2_set {
    uint32_t numbers[L2_WAYS]; /* of lines: l2_number(); 0: empty */
    uint8_t ages[L2_WAYS];     /* how many ways were used since: each number once */
    uint8_t states[L2_WAYS];
    uint8_t memory[L2_WAYS]; /* what the place's high bits say */
    uint64_t mark;
} __attribute__((aligned(128)));

/*
 * The sets of a block of 256 bytes lie side by side. As long as all of its lines are reached
 * together these sets always hold the same blocks, in the same order and state, with all that is
 * dirty full: the first of them stands for all, and they are united. Who reaches a single line
 * takes them apart, until all is cleared.
 */
struct l2_sets {
    /* Even. A first set's mark is this one, and so are the other sets' of the block; or one more:
     * they are united; or another one: they are empty, whatever they hold. Megabytes are cleared
     * before every counted dispatch. */
    uint64_t generation;
    struct l2_set *sets;
    uint64_t (*dirty_bytes)[L2_WAYS][CACHE_SECTORS]; /* [set]: of what is dirty and not full */
    void *storage;
    uint32_t set_mask;
    uint32_t line_shift, number_shift; /* log2 of the bytes of a line, and of a line in each set */
    uint32_t block_shift;              /* log2 of the lines of a block */
};

/* Lines and sets are powers of two. 0, -EINVAL when the sizes are impossible, -ENOMEM. */
int l2_sets_create(struct l2_sets *l2, uint32_t size_bytes, uint32_t line_bytes, uint32_t ways);
void l2_sets_destroy(struct l2_sets *l2);
void l2_sets_clear(struct l2_sets *l2);

/* Makes a block's sets ready, whose first one's mark is not what was looked for: to be used for
 * single lines; or united. False: they are not. */
void l2_singles_begin(struct l2_sets *l2, uint32_t set);
bool l2_united_begin(struct l2_sets *l2, uint32_t set);

/* Places have 48 bits, and a little more where private memory is large. */
CACHE_INLINE uint32_t l2_number(const struct l2_sets *l2, uint64_t va)
{
    return (uint32_t)(va >> l2->number_shift) + 1;
}

CACHE_INLINE uint32_t l2_set_at(const struct l2_sets *l2, uint64_t va)
{
    return (uint32_t)(va >> l2->line_shift) & l2->set_mask;
}

CACHE_INLINE uint32_t l2_sector(const struct l2_sets *l2, uint64_t va)
{
    return (uint32_t)(va & ((1u << l2->line_shift) - 1)) / CACHE_SECTOR_BYTES;
}

/* The set of an address, ready to be used for single lines. */
CACHE_INLINE struct l2_set *l2_single(struct l2_sets *l2, uint64_t va)
{
    const uint32_t at = l2_set_at(l2, va);
    if (__builtin_expect(l2->sets[at].mark != l2->generation, 0))
        l2_singles_begin(l2, at);
    return &l2->sets[at];
}

/* The set that stands for those of the block at an address; NULL: each by itself. */
CACHE_INLINE struct l2_set *l2_united(struct l2_sets *l2, uint64_t va)
{
    const uint32_t at = l2_set_at(l2, va);
    if (__builtin_expect(l2->sets[at].mark != l2->generation + 1, 0) && !l2_united_begin(l2, at))
        return NULL;
    return &l2->sets[at];
}

#ifdef __SSE2__

/* A bit for each way with the number. */
CACHE_INLINE uint32_t l2_ways_equal(const struct l2_set *set, uint32_t number)
{
#ifdef __AVX512F__
    return _mm512_cmpeq_epi32_mask(_mm512_load_si512(set->numbers), _mm512_set1_epi32((int)number));
#elif defined __AVX2__
    const __m256i *own = (const __m256i *)(const void *)set->numbers;
    const __m256i all = _mm256_set1_epi32((int)number);
    const __m256 low = _mm256_castsi256_ps(_mm256_cmpeq_epi32(own[0], all));
    const __m256 high = _mm256_castsi256_ps(_mm256_cmpeq_epi32(own[1], all));
    return (uint32_t)_mm256_movemask_ps(low) | (uint32_t)_mm256_movemask_ps(high) << 8;
#else
    const __m128i *own = (const __m128i *)(const void *)set->numbers;
    const __m128i all = _mm_set1_epi32((int)number);
    __m128i low = _mm_packs_epi32(_mm_cmpeq_epi32(own[0], all), _mm_cmpeq_epi32(own[1], all));
    __m128i high = _mm_packs_epi32(_mm_cmpeq_epi32(own[2], all), _mm_cmpeq_epi32(own[3], all));
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
#endif
}

/* The way becomes the youngest. */
CACHE_INLINE void l2_use(struct l2_set *set, uint32_t way)
{
    const uint8_t age = set->ages[way];
    __m128i *ages = (__m128i *)(void *)set->ages;
    if (!age)
        return;
    const __m128i own = _mm_set1_epi8((char)age);
    const __m128i younger = _mm_cmpgt_epi8(own, *ages), is = _mm_cmpeq_epi8(own, *ages);
    *ages = _mm_andnot_si128(is, _mm_sub_epi8(*ages, younger));
}

/* The oldest one, which becomes the youngest. */
CACHE_INLINE uint32_t l2_use_oldest(struct l2_set *set)
{
    __m128i *ages = (__m128i *)(void *)set->ages;
    const __m128i is = _mm_cmpeq_epi8(*ages, _mm_set1_epi8(L2_WAYS - 1));
    *ages = _mm_andnot_si128(is, _mm_add_epi8(*ages, _mm_set1_epi8(1)));
    return (uint32_t)__builtin_ctz((uint32_t)_mm_movemask_epi8(is));
}

/* A bit for each way whose state has that bit, a constant. */
CACHE_INLINE uint32_t l2_ways_with(const struct l2_set *set, uint32_t bit)
{
    const __m128i states = *(const __m128i *)(const void *)set->states;
    return (uint32_t)_mm_movemask_epi8(_mm_slli_epi16(states, 7 - __builtin_ctz(bit)));
}

/* Nothing is dirty any more. */
CACHE_INLINE void l2_clean(struct l2_set *set)
{
    __m128i *states = (__m128i *)(void *)set->states;
    *states = _mm_and_si128(*states, _mm_set1_epi8(L2_VALID * L2_SECTORS_ALL));
}

/* Of memory that is elsewhere or has another type. */
CACHE_INLINE uint32_t l2_ways_elsewhere(const struct l2_set *set)
{
    const __m128i memory = *(const __m128i *)(const void *)set->memory;
    const __m128i own = _mm_cmpeq_epi8(memory, _mm_setzero_si128());
    return (uint32_t)_mm_movemask_epi8(own) ^ ((1u << L2_WAYS) - 1);
}

#else

CACHE_INLINE uint32_t l2_ways_equal(const struct l2_set *set, uint32_t number)
{
    uint32_t equal = 0;
    for (uint32_t way = 0; way < L2_WAYS; way++)
        equal |= (uint32_t)(set->numbers[way] == number) << way;
    return equal;
}

CACHE_INLINE void l2_use(struct l2_set *set, uint32_t used)
{
    const uint8_t age = set->ages[used];
    for (uint32_t way = 0; way < L2_WAYS; way++)
        set->ages[way] = (uint8_t)(set->ages[way] + (set->ages[way] < age));
    set->ages[used] = 0;
}

CACHE_INLINE uint32_t l2_use_oldest(struct l2_set *set)
{
    uint32_t way = 0;
    while (set->ages[way] != L2_WAYS - 1)
        way++;
    l2_use(set, way);
    return way;
}

CACHE_INLINE uint32_t l2_ways_with(const struct l2_set *set, uint32_t bit)
{
    uint32_t ways = 0;
    for (uint32_t way = 0; way < L2_WAYS; way++)
        ways |= (uint32_t)(set->states[way] & bit ? 1 : 0) << way;
    return ways;
}

CACHE_INLINE void l2_clean(struct l2_set *set)
{
    for (uint32_t way = 0; way < L2_WAYS; way++)
        set->states[way] &= L2_VALID * L2_SECTORS_ALL;
}

CACHE_INLINE uint32_t l2_ways_elsewhere(const struct l2_set *set)
{
    uint32_t ways = 0;
    for (uint32_t way = 0; way < L2_WAYS; way++)
        ways |= (uint32_t)(set->memory[way] != 0) << way;
    return ways;
}

#endif

/* The way with a line of that memory; L2_NOWHERE: none. */
CACHE_INLINE uint32_t l2_find(const struct l2_set *set, uint32_t number, uint8_t memory)
{
    uint32_t equal = l2_ways_equal(set, number);
    for (; equal; equal &= equal - 1) {
        const uint32_t way = (uint32_t)__builtin_ctz(equal);
        if (__builtin_expect(set->memory[way] == memory, 1))
            return way;
    }
    return L2_NOWHERE;
}

#endif
