/*
 * Moving elements between host memory and vector registers, lane by lane: what remains of a memory
 * instruction once each lane's host pointer is known.
 */
#ifndef WAVE_LANES_H
#define WAVE_LANES_H

#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#include "wave/access.h"

struct lane_pointers {
    uint8_t *host[WAVE_LANES]; /* NULL: out of bounds; reads give 0, writes vanish */
    uint64_t lanes;            /* to be accessed */
    bool some_outside;         /* some of host[] may be NULL */
};

static inline lane_row *data_rows(struct wave *w, const struct operand *o)
{
    return (o->kind == OPND_AGPR ? w->a : w->v) + o->index;
}

static inline uint32_t element_extend(const struct element *e, uint32_t value)
{
    if (!e->sign)
        return value;
    return e->bytes == 1 ? (uint32_t)(int32_t)(int8_t)value : (uint32_t)(int32_t)(int16_t)value;
}

static inline void lane_load_small(lane_row *rows, unsigned lane, const uint8_t *host,
                                   const struct element *e)
{
    uint32_t value = 0;
    if (host)
        memcpy(&value, host, e->bytes == 1 ? 1 : 2);
    value = element_extend(e, value);
    uint32_t *reg = &rows[0][lane];
    if (!e->d16)
        *reg = value;
    else if (e->high)
        *reg = (*reg & 0xffff) | value << 16;
    else
        *reg = (*reg & 0xffff0000) | (value & 0xffff);
}

static inline void lane_load_dwords(lane_row *rows, unsigned lane, const uint8_t *host,
                                    unsigned dwords)
{
    for (unsigned n = 0; n < dwords; n++) {
        uint32_t value = 0;
        if (host)
            memcpy(&value, host + 4 * n, 4);
        rows[n][lane] = value;
    }
}

#ifdef __SSE2__
/* Four lanes' four dwords at a time: one 4x4 transposition instead of sixteen moves. */
static inline void load_quads(const struct lane_pointers *p, lane_row *rows)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane += 4) {
        __m128 a = _mm_loadu_ps((const float *)p->host[lane]);
        __m128 b = _mm_loadu_ps((const float *)p->host[lane + 1]);
        __m128 c = _mm_loadu_ps((const float *)p->host[lane + 2]);
        __m128 d = _mm_loadu_ps((const float *)p->host[lane + 3]);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_store_ps((float *)&rows[0][lane], a);
        _mm_store_ps((float *)&rows[1][lane], b);
        _mm_store_ps((float *)&rows[2][lane], c);
        _mm_store_ps((float *)&rows[3][lane], d);
    }
}

static inline void store_quads(const struct lane_pointers *p, const lane_row *rows)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane += 4) {
        __m128 a = _mm_load_ps((const float *)&rows[0][lane]);
        __m128 b = _mm_load_ps((const float *)&rows[1][lane]);
        __m128 c = _mm_load_ps((const float *)&rows[2][lane]);
        __m128 d = _mm_load_ps((const float *)&rows[3][lane]);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps((float *)p->host[lane], a);
        _mm_storeu_ps((float *)p->host[lane + 1], b);
        _mm_storeu_ps((float *)p->host[lane + 2], c);
        _mm_storeu_ps((float *)p->host[lane + 3], d);
    }
}
enum { HAVE_QUADS = 1 };
#else
static inline void load_quads(const struct lane_pointers *p, lane_row *rows)
{
    (void)p;
    (void)rows;
}
static inline void store_quads(const struct lane_pointers *p, const lane_row *rows)
{
    (void)p;
    (void)rows;
}
enum { HAVE_QUADS = 0 };
#endif

/* `dwords` is a constant at every call, so that the inner loop unrolls. */
__attribute__((always_inline)) static inline void load_rows(const struct lane_pointers *p,
                                                            lane_row *rows, unsigned dwords)
{
    if (p->lanes == ~0ull && !p->some_outside) {
        if (HAVE_QUADS && dwords == 4) {
            load_quads(p, rows);
            return;
        }
        for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
            for (unsigned n = 0; n < dwords; n++)
                memcpy(&rows[n][lane], p->host[lane] + 4 * n, 4);
        }
        return;
    }
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        lane_load_dwords(rows, lane, p->host[lane], dwords);
    }
}

static inline void load_small(const struct lane_pointers *p, lane_row *rows,
                              const struct element *e)
{
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        lane_load_small(rows, lane, p->host[lane], e);
    }
}

static inline void lanes_load(const struct lane_pointers *p, lane_row *rows,
                              const struct element *e)
{
    switch (e->bytes) {
    case 4:
        load_rows(p, rows, 1);
        break;
    case 8:
        load_rows(p, rows, 2);
        break;
    case 12:
        load_rows(p, rows, 3);
        break;
    case 16:
        load_rows(p, rows, 4);
        break;
    default:
        load_small(p, rows, e);
        break;
    }
}

__attribute__((always_inline)) static inline void store_rows(const struct lane_pointers *p,
                                                             const lane_row *rows, unsigned dwords)
{
    if (p->lanes == ~0ull && !p->some_outside) {
        if (HAVE_QUADS && dwords == 4) {
            store_quads(p, rows);
            return;
        }
        for (unsigned lane = 0; lane < WAVE_LANES; lane++) {
            for (unsigned n = 0; n < dwords; n++)
                memcpy(p->host[lane] + 4 * n, &rows[n][lane], 4);
        }
        return;
    }
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        for (unsigned n = 0; n < dwords && p->host[lane]; n++)
            memcpy(p->host[lane] + 4 * n, &rows[n][lane], 4);
    }
}

static inline void store_small(const struct lane_pointers *p, const lane_row *rows,
                               const struct element *e)
{
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint32_t low = rows[0][lane] >> (e->high ? 16 : 0);
        if (p->host[lane])
            memcpy(p->host[lane], &low, e->bytes == 1 ? 1 : 2);
    }
}

static inline void lanes_store(const struct lane_pointers *p, const lane_row *rows,
                               const struct element *e)
{
    switch (e->bytes) {
    case 4:
        store_rows(p, rows, 1);
        break;
    case 8:
        store_rows(p, rows, 2);
        break;
    case 12:
        store_rows(p, rows, 3);
        break;
    case 16:
        store_rows(p, rows, 4);
        break;
    default:
        store_small(p, rows, e);
        break;
    }
}

static inline uint64_t lane_value(const lane_row *rows, unsigned lane, unsigned dwords)
{
    return dwords > 1 ? rows[0][lane] | (uint64_t)rows[1][lane] << 32 : rows[0][lane];
}

/* `old` NULL: nothing returns. Pointers are shared memory: host atomics. */
static inline void lanes_atomic(const struct lane_pointers *p, const lane_row *data, lane_row *old,
                                const struct atomic_op *op)
{
    unsigned words = op->bytes / 4;
    for (uint64_t left = p->lanes; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint64_t value = lane_value(data, lane, words), compare = 0, before = 0;
        if (op->kind == ATOMIC_CMPSWAP)
            compare = lane_value(data + words, lane, words);
        if (p->host[lane])
            before = atomic_apply(op, p->host[lane], value, compare);
        if (!old)
            continue;
        old[0][lane] = (uint32_t)before;
        if (words > 1)
            old[1][lane] = (uint32_t)(before >> 32);
    }
}

#endif
