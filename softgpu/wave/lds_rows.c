#include "wave/lds_rows.h"

#include "wave/contiguous.h"
#include "wave/host_levels.h"
#include "wave/lanes.h"

/* The last offset at which an element lies inside. */
static bool last_offset(const struct lds_span *s, unsigned dwords, uint32_t *last)
{
    if (s->lds_bytes < 4 * dwords)
        return false;
    *last = s->lds_bytes - 4 * dwords;
    return true;
}

struct offsets {
    uint32_t of[WAVE_LANES] __attribute__((aligned(64)));
    bool contiguous; /* a full wave, one element behind the other */
};

#ifdef __x86_64__
#include <immintrin.h>

#define AVX512  __attribute__((target("avx512f,avx512vl,avx512dq")))
#define QUARTER (WAVE_LANES / 4)

struct quarters {
    __m512i offset[4];
    __mmask16 lanes[4];
    bool contiguous;
};

AVX512 ALWAYS_INLINE bool quarters_find(const struct lds_span *s, unsigned dwords,
                                        struct quarters *q)
{
    uint32_t last, outside = 0, differs = s->lanes != ~0ull;
    const __m512i numbers = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const int step = 4 * (int)dwords;
    if (!last_offset(s, dwords, &last))
        return false;
    const __m512i first = _mm512_set1_epi32((int)(s->address[0] + s->at));
    __m512i wanted = _mm512_add_epi32(first, _mm512_mullo_epi32(numbers, _mm512_set1_epi32(step)));
    for (unsigned n = 0; n < 4; n++) {
        q->lanes[n] = (__mmask16)(s->lanes >> (QUARTER * n));
        q->offset[n] = _mm512_add_epi32(_mm512_load_si512(s->address + QUARTER * n),
                                        _mm512_set1_epi32((int)s->at));
        outside |=
            _mm512_mask_cmpgt_epu32_mask(q->lanes[n], q->offset[n], _mm512_set1_epi32((int)last));
        differs |= _mm512_cmpneq_epi32_mask(q->offset[n], wanted);
        wanted = _mm512_add_epi32(wanted, _mm512_set1_epi32(QUARTER * step));
    }
    q->contiguous = !differs;
    return !outside;
}

/* Offsets of all lanes; false: an active lane's lies outside. */
AVX512 static bool offsets_avx512(const struct lds_span *s, unsigned dwords, struct offsets *out)
{
    struct quarters q;
    if (!quarters_find(s, dwords, &q))
        return false;
    for (unsigned n = 0; n < 4; n++)
        _mm512_store_si512(&out->of[QUARTER * n], q.offset[n]);
    out->contiguous = q.contiguous;
    return true;
}
#endif

static bool offsets_find(const struct lds_span *s, unsigned dwords, struct offsets *out)
{
    uint32_t last, outside = 0;
#ifdef __x86_64__
    if (host_level == LEVEL_AVX512)
        return offsets_avx512(s, dwords, out);
#endif
    if (!last_offset(s, dwords, &last))
        return false;
    out->of[0] = s->address[0] + s->at;
    out->contiguous = s->lanes == ~0ull && lanes_contiguous(s->address, NULL, 4 * dwords);
    if (out->contiguous)
        return out->of[0] + (uint64_t)(WAVE_LANES - 1) * 4 * dwords <= last;
    for (uint32_t lane = 1; lane < WAVE_LANES; lane++)
        out->of[lane] = s->address[lane] + s->at;
    if (s->lanes == ~0ull)
        for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
            outside |= out->of[lane] > last ? 1 : 0;
    else
        for (uint64_t left = s->lanes; left; left &= left - 1)
            outside |= out->of[__builtin_ctzll(left)] > last;
    return !outside;
}

ALWAYS_INLINE void lanes_from(const struct lds_span *s, const struct offsets *o, lane_row *rows,
                              unsigned dwords)
{
    for (uint64_t left = s->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        lane_load_dwords(rows, lane, s->lds + o->of[lane], dwords);
    }
}

ALWAYS_INLINE void lanes_to(const struct lds_span *s, const struct offsets *o, const lane_row *rows,
                            unsigned dwords)
{
    for (uint64_t left = s->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        lane_store_dwords(rows, lane, s->lds + o->of[lane], dwords);
    }
}

/* Full waves of four dwords: what pointers to lanes have already. */
static void quads_find(const struct lds_span *s, const struct offsets *o, struct lane_pointers *p)
{
    p->lanes = s->lanes;
    p->some_outside = false;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        p->host[lane] = s->lds + o->of[lane];
}

static bool load_any(const struct lds_span *s, lane_row *rows, unsigned dwords)
{
    struct offsets o;
    struct lane_pointers p;
    if (!offsets_find(s, dwords, &o))
        return false;
    if (o.contiguous) {
        rows_load(rows, s->lds + o.of[0], dwords);
    } else if (dwords == 1) {
        lanes_from(s, &o, rows, 1);
    } else if (dwords == 2) {
        lanes_from(s, &o, rows, 2);
    } else if (dwords == 3) {
        lanes_from(s, &o, rows, 3);
    } else if (HAVE_QUADS && s->lanes == ~0ull) {
        quads_find(s, &o, &p);
        load_quads(&p, rows);
    } else {
        lanes_from(s, &o, rows, 4);
    }
    return true;
}

static bool store_any(const struct lds_span *s, const lane_row *rows, unsigned dwords)
{
    struct offsets o;
    struct lane_pointers p;
    if (!offsets_find(s, dwords, &o))
        return false;
    if (o.contiguous) {
        rows_store(rows, s->lds + o.of[0], dwords);
    } else if (dwords == 1) {
        lanes_to(s, &o, rows, 1);
    } else if (dwords == 2) {
        lanes_to(s, &o, rows, 2);
    } else if (dwords == 3) {
        lanes_to(s, &o, rows, 3);
    } else if (HAVE_QUADS && s->lanes == ~0ull) {
        quads_find(s, &o, &p);
        store_quads(&p, rows);
    } else {
        lanes_to(s, &o, rows, 4);
    }
    return true;
}

#ifdef __x86_64__
/* One and two dwords have instructions for sixteen and eight lanes, wherever these point to. */
AVX512 static bool load_dword_avx512(const struct lds_span *s, lane_row *rows)
{
    struct quarters q;
    const uint8_t *first = s->lds + (uint32_t)(s->address[0] + s->at);
    if (!quarters_find(s, 1, &q))
        return false;
    for (unsigned n = 0; n < 4; n++) {
        uint32_t *to = &rows[0][QUARTER * n];
        if (q.contiguous)
            _mm512_store_si512(to, _mm512_loadu_si512(first + 4 * QUARTER * n));
        else
            _mm512_store_si512(to, _mm512_mask_i32gather_epi32(_mm512_load_si512(to), q.lanes[n],
                                                               q.offset[n], s->lds, 1));
    }
    return true;
}

AVX512 static bool store_dword_avx512(const struct lds_span *s, const lane_row *rows)
{
    struct quarters q;
    uint8_t *first = s->lds + (uint32_t)(s->address[0] + s->at);
    if (!quarters_find(s, 1, &q))
        return false;
    for (unsigned n = 0; n < 4; n++) {
        const __m512i from = _mm512_load_si512(&rows[0][QUARTER * n]);
        if (q.contiguous)
            _mm512_storeu_si512(first + 4 * QUARTER * n, from);
        else
            _mm512_mask_i32scatter_epi32(s->lds, q.lanes[n], q.offset[n], from, 1);
    }
    return true;
}

AVX512 static bool load_pair_avx512(const struct lds_span *s, lane_row *rows)
{
    struct quarters q;
    const uint8_t *first = s->lds + (uint32_t)(s->address[0] + s->at);
    const __m512i low =
        _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(1)), none = _mm512_setzero_si512();
    if (!quarters_find(s, 2, &q))
        return false;
    for (unsigned n = 0; n < 4; n++) {
        __m512i a, b;
        if (q.contiguous) {
            a = _mm512_loadu_si512(first + 8 * QUARTER * n);
            b = _mm512_loadu_si512(first + 8 * QUARTER * n + 64);
        } else {
            a = _mm512_mask_i32gather_epi64(none, (__mmask8)q.lanes[n],
                                            _mm512_castsi512_si256(q.offset[n]), s->lds, 1);
            b = _mm512_mask_i32gather_epi64(none, (__mmask8)(q.lanes[n] >> 8),
                                            _mm512_extracti64x4_epi64(q.offset[n], 1), s->lds, 1);
        }
        _mm512_mask_store_epi32(&rows[0][QUARTER * n], q.lanes[n],
                                _mm512_permutex2var_epi32(a, low, b));
        _mm512_mask_store_epi32(&rows[1][QUARTER * n], q.lanes[n],
                                _mm512_permutex2var_epi32(a, high, b));
    }
    return true;
}

AVX512 static bool store_pair_avx512(const struct lds_span *s, const lane_row *rows)
{
    struct quarters q;
    uint8_t *first = s->lds + (uint32_t)(s->address[0] + s->at);
    const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    const __m512i high = _mm512_add_epi32(low, _mm512_set1_epi32(8));
    if (!quarters_find(s, 2, &q))
        return false;
    for (unsigned n = 0; n < 4; n++) {
        const __m512i x = _mm512_load_si512(&rows[0][QUARTER * n]);
        const __m512i y = _mm512_load_si512(&rows[1][QUARTER * n]);
        const __m512i a = _mm512_permutex2var_epi32(x, low, y);
        const __m512i b = _mm512_permutex2var_epi32(x, high, y);
        if (q.contiguous) {
            _mm512_storeu_si512(first + 8 * QUARTER * n, a);
            _mm512_storeu_si512(first + 8 * QUARTER * n + 64, b);
            continue;
        }
        _mm512_mask_i32scatter_epi64(s->lds, (__mmask8)q.lanes[n],
                                     _mm512_castsi512_si256(q.offset[n]), a, 1);
        _mm512_mask_i32scatter_epi64(s->lds, (__mmask8)(q.lanes[n] >> 8),
                                     _mm512_extracti64x4_epi64(q.offset[n], 1), b, 1);
    }
    return true;
}

/* Four vectors of one dword each of sixteen lanes, and back: vector n of elements has those of
 * lanes n, 4 + n, 8 + n and 12 + n. */
AVX512 ALWAYS_INLINE void transpose_avx512(__m512i v[4])
{
    const __m512i a = _mm512_unpacklo_epi32(v[0], v[1]), b = _mm512_unpackhi_epi32(v[0], v[1]);
    const __m512i c = _mm512_unpacklo_epi32(v[2], v[3]), d = _mm512_unpackhi_epi32(v[2], v[3]);
    v[0] = _mm512_unpacklo_epi64(a, c);
    v[1] = _mm512_unpackhi_epi64(a, c);
    v[2] = _mm512_unpacklo_epi64(b, d);
    v[3] = _mm512_unpackhi_epi64(b, d);
}

AVX512 static bool load_quad_avx512(const struct lds_span *s, lane_row *rows)
{
    struct quarters q;
    if (!quarters_find(s, 4, &q))
        return false;
    if (q.contiguous) {
        rows_load(rows, s->lds + (uint32_t)(s->address[0] + s->at), 4);
        return true;
    }
    for (unsigned n = 0; n < 4; n++) {
        uint32_t at[QUARTER] __attribute__((aligned(64)));
        __m512i v[4];
        /* Lanes that are off read the first element, which there is. */
        _mm512_store_si512(at, _mm512_maskz_mov_epi32(q.lanes[n], q.offset[n]));
        for (unsigned k = 0; k < 4; k++) {
            const uint8_t *lds = s->lds;
            v[k] = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)(lds + at[k])));
            v[k] = _mm512_inserti32x4(v[k], _mm_loadu_si128((const __m128i *)(lds + at[4 + k])), 1);
            v[k] = _mm512_inserti32x4(v[k], _mm_loadu_si128((const __m128i *)(lds + at[8 + k])), 2);
            v[k] =
                _mm512_inserti32x4(v[k], _mm_loadu_si128((const __m128i *)(lds + at[12 + k])), 3);
        }
        transpose_avx512(v);
        for (unsigned k = 0; k < 4; k++)
            _mm512_mask_store_epi32(&rows[k][QUARTER * n], q.lanes[n], v[k]);
    }
    return true;
}

/* Full waves only: others are stored lane by lane. */
AVX512 static bool store_quad_avx512(const struct lds_span *s, const lane_row *rows)
{
    struct quarters q;
    if (!quarters_find(s, 4, &q))
        return false;
    if (q.contiguous) {
        rows_store(rows, s->lds + (uint32_t)(s->address[0] + s->at), 4);
        return true;
    }
    for (unsigned n = 0; n < 4; n++) {
        uint32_t at[QUARTER] __attribute__((aligned(64)));
        __m512i v[4];
        _mm512_store_si512(at, q.offset[n]);
        for (unsigned k = 0; k < 4; k++)
            v[k] = _mm512_load_si512(&rows[k][QUARTER * n]);
        transpose_avx512(v);
        for (unsigned part = 0; part < 4; part++)
            for (unsigned k = 0; k < 4; k++) {
                __m128i *to = (__m128i *)(s->lds + at[4 * part + k]);
                _mm_storeu_si128(to, _mm512_castsi512_si128(v[k]));
                v[k] = _mm512_shuffle_i32x4(v[k], v[k], 0x39); /* the next lane's comes first */
            }
    }
    return true;
}
#endif

bool lds_rows_load(const struct lds_span *s, lane_row *rows, unsigned dwords)
{
#ifdef __x86_64__
    if (host_level == LEVEL_AVX512 && dwords != 3)
        return dwords == 1   ? load_dword_avx512(s, rows)
               : dwords == 2 ? load_pair_avx512(s, rows)
                             : load_quad_avx512(s, rows);
#endif
    return load_any(s, rows, dwords);
}

bool lds_rows_store(const struct lds_span *s, const lane_row *rows, unsigned dwords)
{
#ifdef __x86_64__
    if (host_level == LEVEL_AVX512 && dwords <= 2)
        return dwords == 1 ? store_dword_avx512(s, rows) : store_pair_avx512(s, rows);
    if (host_level == LEVEL_AVX512 && dwords == 4 && s->lanes == ~0ull)
        return store_quad_avx512(s, rows);
#endif
    return store_any(s, rows, dwords);
}
