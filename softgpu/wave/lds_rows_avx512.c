/*
 * Sixteen lanes, a quarter of a wave, at a time. What lanes want mostly lies close together: one
 * place for all, one behind the other, or mixed within a row of a tile. Then one or two whole
 * vectors from there, a window, have it, and permutations hand it out; gathers, which cost as much
 * as a load for every lane, are left for the rest.
 */
#ifdef __x86_64__
#include "wave/lds_rows_avx512.h"

#include <immintrin.h>
#include <string.h>

#include "wave/host_levels.h"
#include "wave/lanes.h"

#define AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,prefer-vector-width=512")))
#define HELPER AVX512 ALWAYS_INLINE

enum { QUARTER = WAVE_LANES / 4, VECTOR_BYTES = 64, ALL_LANES = 0xffff };

struct quarters {
    __m512i offset[4]; /* taken before results overwrite addresses */
    __mmask16 lanes[4];
};

/* One quarter's elements; `full`, a constant, is whether all its lanes are on. */
struct quarter {
    const struct lds_span *span;
    __m512i offset;
    __mmask16 lanes;
    bool full;
};

HELPER __m512i numbers_by(int step, int first)
{
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_add_epi32(_mm512_mullo_epi32(numbers, _mm512_set1_epi32(step)),
                            _mm512_set1_epi32(first));
}

/* False: an active lane's element lies outside. */
HELPER bool quarters_find(const struct lds_span *s, unsigned dwords, struct quarters *q, bool full)
{
    __m512i highest = _mm512_setzero_si512();
    for (unsigned n = 0; n < 4; n++) {
        q->lanes[n] = full ? ALL_LANES : (__mmask16)(s->lanes >> (QUARTER * n));
        q->offset[n] = _mm512_add_epi32(_mm512_load_si512(s->address + QUARTER * n),
                                        _mm512_set1_epi32((int)s->at));
        highest = full ? _mm512_max_epu32(highest, q->offset[n])
                       : _mm512_mask_max_epu32(highest, q->lanes[n], highest, q->offset[n]);
    }
    return !_mm512_cmpgt_epu32_mask(highest, _mm512_set1_epi32((int)(s->lds_bytes - 4 * dwords)));
}

/* The first active lane's. */
HELPER uint32_t first_offset(const struct quarter *q)
{
    const __m512i at = q->full ? q->offset : _mm512_maskz_compress_epi32(q->lanes, q->offset);
    return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(at));
}

HELPER void row_put(const struct quarter *q, uint32_t *row, __m512i value)
{
    if (q->full)
        _mm512_store_si512(row, value);
    else
        _mm512_mask_store_epi32(row, q->lanes, value);
}

/* Where `bytes` from `at` on lie inside, or end with the LDS. */
HELPER uint32_t window_at(const struct quarter *q, uint32_t at, uint32_t bytes)
{
    const uint32_t last = q->span->lds_bytes - bytes;
    return at < last ? at : last;
}

/* The lanes' dwords in a window of `window` of them; false: not all elements lie in it. */
HELPER bool window_index(const struct quarter *q, uint32_t at, unsigned window, unsigned dwords,
                         __m512i *index)
{
    /* A rotation: bytes behind a dword come to the top, and make the index too large. */
    *index = _mm512_ror_epi32(_mm512_sub_epi32(q->offset, _mm512_set1_epi32((int)at)), 2);
    const __m512i last = _mm512_set1_epi32((int)(window - dwords));
    return !(_mm512_cmpgt_epu32_mask(*index, last) & q->lanes);
}

/* Whether the lanes' elements follow each other, the quarter's first one being at `at`. */
HELPER bool ascending(const struct quarter *q, uint32_t at, unsigned dwords)
{
    const __m512i wanted = numbers_by(4 * (int)dwords, (int)at);
    return !(_mm512_cmpneq_epi32_mask(q->offset, wanted) & q->lanes);
}

/* All of a quarter's elements, those of lanes that are off, too. */
HELPER bool ascending_inside(const struct quarter *q, unsigned dwords, uint32_t *at)
{
    const uint32_t bytes = 4 * dwords * QUARTER;
    *at = (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(q->offset));
    return (uint64_t)*at + bytes <= q->span->lds_bytes && ascending(q, *at, dwords);
}

HELPER __m128i four_dwords(const uint8_t *lds, const uint32_t at[4])
{
    int32_t value[4];
    for (unsigned k = 0; k < 4; k++)
        memcpy(&value[k], lds + at[k], 4);
    return _mm_setr_epi32(value[0], value[1], value[2], value[3]);
}

/* Anywhere. One by one is faster than a gather on Zen 4. Lanes that are off read the first dword.
 */
HELPER __m512i dwords_collect(const struct quarter *q)
{
    const uint8_t *lds = q->span->lds;
    uint32_t at[QUARTER] __attribute__((aligned(64)));
    _mm512_store_si512(at, q->full ? q->offset : _mm512_maskz_mov_epi32(q->lanes, q->offset));
    __m512i all = _mm512_castsi128_si512(four_dwords(lds, at));
    all = _mm512_inserti32x4(all, four_dwords(lds, at + 4), 1);
    all = _mm512_inserti32x4(all, four_dwords(lds, at + 8), 2);
    return _mm512_inserti32x4(all, four_dwords(lds, at + 12), 3);
}

/* Where one vector from the first lane's dword on has not all of them. */
HELPER __m512i dword_load_far(const struct quarter *q)
{
    const uint8_t *lds = q->span->lds;
    const uint32_t first = first_offset(q);
    /* The first lane's need not be the lowest one. */
    const uint32_t low = first < VECTOR_BYTES ? first % 4 : first - VECTOR_BYTES;
    const uint32_t wide = window_at(q, low, 2 * VECTOR_BYTES);
    __m512i index;
    if (window_index(q, wide, 32, 1, &index))
        return _mm512_permutex2var_epi32(_mm512_loadu_si512(lds + wide), index,
                                         _mm512_loadu_si512(lds + wide + VECTOR_BYTES));
    return dwords_collect(q);
}

HELPER __m512i dwords_near(const struct quarter *q, uint32_t at, __m512i index)
{
    return _mm512_permutexvar_epi32(index, _mm512_loadu_si512(q->span->lds + at));
}

HELPER void dwords_load_each(const struct lds_span *s, const struct quarters *found, lane_row *rows,
                             bool full)
{
    for (unsigned n = 0; n < 4; n++) {
        const struct quarter q = {s, found->offset[n], found->lanes[n], full};
        const uint32_t near = window_at(&q, first_offset(&q), VECTOR_BYTES);
        __m512i index;
        row_put(&q, &rows[0][QUARTER * n],
                window_index(&q, near, 16, 1, &index) ? dwords_near(&q, near, index)
                                                      : dword_load_far(&q));
    }
}

/* Quarters that differ in kind: apart from the code below, which then keeps all in registers. */
AVX512 static __attribute__((noinline)) void
dwords_load_mixed(const struct lds_span *s, const struct quarters *found, lane_row *rows)
{
    if (s->lanes == ~0ull)
        dwords_load_each(s, found, rows, true);
    else
        dwords_load_each(s, found, rows, false);
}

HELPER void dwords_load(const struct quarter q[4], lane_row *rows)
{
    uint32_t near[4];
    __m512i index[4];
    bool all = true;
    for (unsigned n = 0; n < 4; n++) {
        near[n] = window_at(&q[n], first_offset(&q[n]), VECTOR_BYTES);
        all &= window_index(&q[n], near[n], 16, 1, &index[n]);
    }
    if (!all) {
        const struct quarters found = {{q[0].offset, q[1].offset, q[2].offset, q[3].offset},
                                       {q[0].lanes, q[1].lanes, q[2].lanes, q[3].lanes}};
        dwords_load_mixed(q[0].span, &found, rows);
        return;
    }
    for (unsigned n = 0; n < 4; n++)
        row_put(&q[n], &rows[0][QUARTER * n], dwords_near(&q[n], near[n], index[n]));
}

/* Elements of several dwords, where one window has all of them. */
HELPER bool window_load(const struct quarter *q, __m512i *row, unsigned dwords)
{
    const uint32_t at = window_at(q, first_offset(q), 2 * VECTOR_BYTES);
    __m512i index;
    if (!window_index(q, at, 32, dwords, &index))
        return false;
    const __m512i a = _mm512_loadu_si512(q->span->lds + at);
    const __m512i b = _mm512_loadu_si512(q->span->lds + at + VECTOR_BYTES);
    for (unsigned k = 0; k < dwords; k++)
        row[k] =
            _mm512_permutex2var_epi32(a, _mm512_add_epi32(index, _mm512_set1_epi32((int)k)), b);
    return true;
}

HELPER void pair_load(const struct quarter *q, __m512i *row)
{
    const __m512i low = numbers_by(2, 0), high = numbers_by(2, 1), none = _mm512_setzero_si512();
    if (window_load(q, row, 2))
        return;
    const __m512i a = _mm512_mask_i32gather_epi64(
        none, (__mmask8)q->lanes, _mm512_castsi512_si256(q->offset), q->span->lds, 1);
    const __m512i b = _mm512_mask_i32gather_epi64(
        none, (__mmask8)(q->lanes >> 8), _mm512_extracti64x4_epi64(q->offset, 1), q->span->lds, 1);
    row[0] = _mm512_permutex2var_epi32(a, low, b);
    row[1] = _mm512_permutex2var_epi32(a, high, b);
}

/* Sixteen elements of three dwords behind each other: three vectors. */
HELPER void triples_split(const uint8_t *from, __m512i *row)
{
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + VECTOR_BYTES);
    const __m512i c = _mm512_loadu_si512(from + 2 * VECTOR_BYTES);
    for (unsigned k = 0; k < 3; k++) {
        const __m512i index = numbers_by(3, (int)k);
        const __mmask16 last = k < 2 ? 0xf800 : 0xfc00; /* index 32 and higher */
        row[k] =
            _mm512_mask_permutexvar_epi32(_mm512_permutex2var_epi32(a, index, b), last, index, c);
    }
}

HELPER void triples_join(uint8_t *to, const __m512i *row)
{
    /* The third vector's go where both others' indices are of no use. */
    const __m512i index[3] = {
        _mm512_setr_epi32(0, 16, 0, 1, 17, 1, 2, 18, 2, 3, 19, 3, 4, 20, 4, 5),
        _mm512_setr_epi32(21, 5, 6, 22, 6, 7, 23, 7, 8, 24, 8, 9, 25, 9, 10, 26),
        _mm512_setr_epi32(10, 11, 27, 11, 12, 28, 12, 13, 29, 13, 14, 30, 14, 15, 31, 15),
    };
    static const __mmask16 third[3] = {0x4924, 0x2492, 0x9249};
    for (unsigned k = 0; k < 3; k++) {
        const __m512i two = _mm512_permutex2var_epi32(row[0], index[k], row[1]);
        _mm512_storeu_si512(to + k * VECTOR_BYTES,
                            _mm512_mask_permutexvar_epi32(two, third[k], index[k], row[2]));
    }
}

/* Sixteen elements of four dwords behind each other: two rows at a time of eight lanes. */
HELPER void quads_split(const uint8_t *from, __m512i *row)
{
    const __m512i a = _mm512_loadu_si512(from), b = _mm512_loadu_si512(from + VECTOR_BYTES);
    const __m512i c = _mm512_loadu_si512(from + 2 * VECTOR_BYTES);
    const __m512i d = _mm512_loadu_si512(from + 3 * VECTOR_BYTES);
    __m512i index = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    for (unsigned k = 0; k < 4; k += 2) {
        const __m512i low = _mm512_permutex2var_epi32(a, index, b);
        const __m512i high = _mm512_permutex2var_epi32(c, index, d);
        row[k] = _mm512_shuffle_i64x2(low, high, 0x44);
        row[k + 1] = _mm512_shuffle_i64x2(low, high, 0xee);
        index = _mm512_add_epi32(index, _mm512_set1_epi32(2));
    }
}

HELPER void quads_join(uint8_t *to, const __m512i *row)
{
    const __m512i first =
        _mm512_setr_epi32(0, 8, 16, 24, 1, 9, 17, 25, 2, 10, 18, 26, 3, 11, 19, 27);
    const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(4));
    const __m512i a = _mm512_shuffle_i64x2(row[0], row[1], 0x44);
    const __m512i b = _mm512_shuffle_i64x2(row[2], row[3], 0x44);
    const __m512i c = _mm512_shuffle_i64x2(row[0], row[1], 0xee);
    const __m512i d = _mm512_shuffle_i64x2(row[2], row[3], 0xee);
    _mm512_storeu_si512(to, _mm512_permutex2var_epi32(a, first, b));
    _mm512_storeu_si512(to + VECTOR_BYTES, _mm512_permutex2var_epi32(a, second, b));
    _mm512_storeu_si512(to + 2 * VECTOR_BYTES, _mm512_permutex2var_epi32(c, first, d));
    _mm512_storeu_si512(to + 3 * VECTOR_BYTES, _mm512_permutex2var_epi32(c, second, d));
}

/* Four vectors of one dword each of sixteen lanes, and back: vector n of elements has those of
 * lanes n, 4 + n, 8 + n and 12 + n. */
HELPER void transpose(__m512i v[4])
{
    const __m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
    const __m512i c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi64(a, c);
    v[1] = _mm512_unpackhi_epi64(a, c);
    v[2] = _mm512_unpacklo_epi64(b, d);
    v[3] = _mm512_unpackhi_epi64(b, d);
}

HELPER __m128i quad_at(const uint8_t *lds, uint32_t at)
{
    return _mm_loadu_si128((const __m128i *)(lds + at));
}

/* Anywhere, if sixteen bytes of each lie inside. */
HELPER void quads_collect(const struct quarter *q, __m512i *row)
{
    const uint8_t *lds = q->span->lds;
    uint32_t at[QUARTER] __attribute__((aligned(64)));
    /* Lanes that are off read the first element, which there is. */
    _mm512_store_si512(at, _mm512_maskz_mov_epi32(q->lanes, q->offset));
    for (unsigned k = 0; k < 4; k++) {
        row[k] = _mm512_castsi128_si512(quad_at(lds, at[k]));
        row[k] = _mm512_inserti32x4(row[k], quad_at(lds, at[4 + k]), 1);
        row[k] = _mm512_inserti32x4(row[k], quad_at(lds, at[8 + k]), 2);
        row[k] = _mm512_inserti32x4(row[k], quad_at(lds, at[12 + k]), 3);
    }
    transpose(row);
}

HELPER void triple_gather(const struct quarter *q, __m512i *row)
{
    const __m512i none = _mm512_setzero_si512();
    for (unsigned k = 0; k < 3; k++)
        row[k] = _mm512_mask_i32gather_epi32(none, q->lanes, q->offset, q->span->lds + 4 * k, 1);
}

/* Of three or four dwords. */
HELPER void long_load(const struct quarter *q, __m512i *row, unsigned dwords)
{
    const __m512i last = _mm512_set1_epi32((int)(q->span->lds_bytes - 16));
    uint32_t at;
    if (ascending_inside(q, dwords, &at)) {
        if (dwords == 3)
            triples_split(q->span->lds + at, row);
        else
            quads_split(q->span->lds + at, row);
    } else if (!window_load(q, row, dwords)) {
        if (dwords == 3 && _mm512_cmpgt_epu32_mask(q->offset, last) & q->lanes)
            triple_gather(q, row);
        else
            quads_collect(q, row);
    }
}

HELPER void quarters_load(const struct lds_span *s, const struct quarters *found, lane_row *rows,
                          unsigned dwords, bool full)
{
    struct quarter q[4];
    for (unsigned n = 0; n < 4; n++)
        q[n] = (struct quarter){s, found->offset[n], found->lanes[n], full};
    if (dwords == 1) {
        dwords_load(q, rows);
        return;
    }
    for (unsigned n = 0; n < 4; n++) {
        __m512i row[4];
        if (dwords == 2)
            pair_load(&q[n], row);
        else
            long_load(&q[n], row, dwords);
        for (unsigned k = 0; k < dwords; k++)
            row_put(&q[n], &rows[k][QUARTER * n], row[k]);
    }
}

HELPER bool load(const struct lds_span *s, lane_row *rows, unsigned dwords, bool full)
{
    struct quarters q;
    if (!quarters_find(s, dwords, &q, full))
        return false;
    quarters_load(s, &q, rows, dwords, full);
    return true;
}

HELPER bool load_two(const struct lds_span *s, uint32_t second, lane_row *rows, unsigned dwords,
                     bool full)
{
    struct quarters q, next;
    struct lds_span other = *s;
    other.at = second;
    if (!quarters_find(s, dwords, &q, full) || !quarters_find(&other, dwords, &next, full))
        return false;
    quarters_load(s, &q, rows, dwords, full);
    quarters_load(s, &next, rows + dwords, dwords, full);
    return true;
}

/* Where the quarter's first lane's element is, or would be: behind each other they are written as
 * whole vectors, of which lanes that are off have no part. */
HELPER uint32_t ascending_from(const struct quarter *q, unsigned dwords)
{
    const uint32_t lane = q->full ? 0 : (uint32_t)__builtin_ctz(q->lanes | 0x10000u);
    return first_offset(q) - 4 * dwords * lane;
}

HELPER uint8_t *host_at(const struct quarter *q, uint32_t at)
{
    return (uint8_t *)((uintptr_t)q->span->lds + (uintptr_t)(intptr_t)(int32_t)at);
}

HELPER void dword_store(const struct quarter *q, __m512i value)
{
    const uint32_t at = ascending_from(q, 1);
    if (!ascending(q, at, 1))
        _mm512_mask_i32scatter_epi32(q->span->lds, q->lanes, q->offset, value, 1);
    else if (q->full)
        _mm512_storeu_si512(host_at(q, at), value);
    else
        _mm512_mask_storeu_epi32(host_at(q, at), q->lanes, value);
}

HELPER void pair_store(const struct quarter *q, const __m512i *row)
{
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    const __m512i a = _mm512_permutex2var_epi32(row[0], low, row[1]);
    const __m512i b = _mm512_permutex2var_epi32(row[0], high, row[1]);
    const __mmask8 first = (__mmask8)q->lanes, second = (__mmask8)(q->lanes >> 8);
    const uint32_t at = ascending_from(q, 2);
    if (!ascending(q, at, 2)) {
        _mm512_mask_i32scatter_epi64(q->span->lds, first, _mm512_castsi512_si256(q->offset), a, 1);
        _mm512_mask_i32scatter_epi64(q->span->lds, second, _mm512_extracti64x4_epi64(q->offset, 1),
                                     b, 1);
    } else if (q->full) {
        _mm512_storeu_si512(host_at(q, at), a);
        _mm512_storeu_si512(host_at(q, at) + VECTOR_BYTES, b);
    } else {
        _mm512_mask_storeu_epi64(host_at(q, at), first, a);
        _mm512_mask_storeu_epi64(host_at(q, at) + VECTOR_BYTES, second, b);
    }
}

HELPER void quads_scatter(const struct quarter *q, __m512i *row)
{
    uint32_t at[QUARTER] __attribute__((aligned(64)));
    _mm512_store_si512(at, q->offset);
    transpose(row);
    for (unsigned part = 0; part < 4; part++)
        for (unsigned k = 0; k < 4; k++) {
            __m128i *to = (__m128i *)(q->span->lds + at[4 * part + k]);
            _mm_storeu_si128(to, _mm512_castsi512_si128(row[k]));
            row[k] = _mm512_shuffle_i32x4(row[k], row[k], 0x39); /* the next lane's comes first */
        }
}

HELPER void lanes_store_each(const struct quarter *q, const lane_row *rows, unsigned n,
                             unsigned dwords)
{
    uint32_t at[QUARTER] __attribute__((aligned(64)));
    _mm512_store_si512(at, q->offset);
    for (unsigned left = q->lanes; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        lane_store_dwords(rows, QUARTER * n + lane, q->span->lds + at[lane], dwords);
    }
}

/* Of three or four dwords. */
HELPER void long_store(const struct quarter *q, const lane_row *rows, __m512i *row, unsigned n,
                       unsigned dwords)
{
    uint32_t at;
    const bool follow = q->full && ascending_inside(q, dwords, &at);
    if (follow && dwords == 3)
        triples_join(q->span->lds + at, row);
    else if (follow && dwords == 4)
        quads_join(q->span->lds + at, row);
    else if (q->full && dwords == 4)
        quads_scatter(q, row);
    else
        lanes_store_each(q, rows, n, dwords);
}

HELPER bool store(const struct lds_span *s, const lane_row *rows, unsigned dwords, bool full)
{
    struct quarters q;
    if (!quarters_find(s, dwords, &q, full))
        return false;
    for (unsigned n = 0; n < 4; n++) {
        const struct quarter one = {s, q.offset[n], q.lanes[n], full};
        __m512i row[4];
        for (unsigned k = 0; k < dwords; k++)
            row[k] = _mm512_load_si512(&rows[k][QUARTER * n]);
        if (dwords == 1)
            dword_store(&one, row[0]);
        else if (dwords == 2)
            pair_store(&one, row);
        else
            long_store(&one, rows, row, n, dwords);
    }
    return true;
}

/* Each number of dwords is code of its own, and full waves are. */
#define DEFINE_DWORDS(dwords)                                                                      \
    AVX512 static bool load_##dwords(const struct lds_span *s, lane_row *rows)                     \
    {                                                                                              \
        return s->lanes == ~0ull ? load(s, rows, dwords, true) : load(s, rows, dwords, false);     \
    }                                                                                              \
    AVX512 static bool store_##dwords(const struct lds_span *s, const lane_row *rows)              \
    {                                                                                              \
        return s->lanes == ~0ull ? store(s, rows, dwords, true) : store(s, rows, dwords, false);   \
    }
DEFINE_DWORDS(1)
DEFINE_DWORDS(2)
DEFINE_DWORDS(3)
DEFINE_DWORDS(4)

bool lds_load_avx512(const struct lds_span *s, lane_row *rows, unsigned dwords)
{
    return dwords == 1   ? load_1(s, rows)
           : dwords == 2 ? load_2(s, rows)
           : dwords == 3 ? load_3(s, rows)
                         : load_4(s, rows);
}

bool lds_store_avx512(const struct lds_span *s, const lane_row *rows, unsigned dwords)
{
    return dwords == 1   ? store_1(s, rows)
           : dwords == 2 ? store_2(s, rows)
           : dwords == 3 ? store_3(s, rows)
                         : store_4(s, rows);
}

AVX512 bool lds_load_two_avx512(const struct lds_span *s, uint32_t second, lane_row *rows,
                                unsigned dwords)
{
    const bool full = s->lanes == ~0ull;
    if (dwords == 1)
        return full ? load_two(s, second, rows, 1, true) : load_two(s, second, rows, 1, false);
    return full ? load_two(s, second, rows, 2, true) : load_two(s, second, rows, 2, false);
}
#else
typedef int nothing_here; /* other hosts have the loops alone */
#endif
