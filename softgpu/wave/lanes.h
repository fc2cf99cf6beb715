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

#include "mem/single_copy.h"
#include "wave/access.h"

struct lane_pointers {
    uint8_t *host[WAVE_LANES]; /* NULL: out of bounds; reads give 0, writes vanish */
    uint64_t lanes;            /* to be accessed */
    bool some_outside;         /* some of host[] may be NULL or in cut[] */
    /* An element that a buffer holds the first dwords of, and zeros behind them, for loads. */
    _Alignas(16) uint8_t cut[WAVE_LANES][16];
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

/*
 * Loads go from the highest address down, stores from the lowest up, so that who sees a later
 * lane's store has seen the earlier lanes' (docs/decisions/0010-memory-model.md). Nobody sorts
 * addresses: they rise with the lanes or, when the last lane's is below the first's, fall.
 */
struct lane_walk {
    uint64_t left; /* lanes to come, the next is its lowest bit; mirrored when the walk goes down */
    unsigned mirror; /* 63 or 0: lane = bit ^ mirror */
};

static inline bool lane_is_inside(const struct lane_pointers *p, unsigned lane)
{
    return p->host[lane] && (uintptr_t)p->host[lane] - (uintptr_t)p->cut >= sizeof p->cut;
}

static inline bool lanes_fall(const struct lane_pointers *p)
{
    uint64_t lanes = p->lanes;
    for (uint64_t left = p->some_outside ? lanes : 0; left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        lanes &= ~((uint64_t)!lane_is_inside(p, lane) << lane);
    }
    return lanes && p->host[63 ^ __builtin_clzll(lanes)] < p->host[__builtin_ctzll(lanes)];
}

static inline uint64_t bits_mirrored(uint64_t bits)
{
    bits = (bits >> 1 & 0x5555555555555555) | (bits & 0x5555555555555555) << 1;
    bits = (bits >> 2 & 0x3333333333333333) | (bits & 0x3333333333333333) << 2;
    bits = (bits >> 4 & 0x0f0f0f0f0f0f0f0f) | (bits & 0x0f0f0f0f0f0f0f0f) << 4;
    return __builtin_bswap64(bits);
}

static inline struct lane_walk lane_walk_start(uint64_t lanes, bool down)
{
    return down ? (struct lane_walk){bits_mirrored(lanes), 63} : (struct lane_walk){lanes, 0};
}

/* The walk has lanes left. */
static inline unsigned lane_walk_next(struct lane_walk *walk)
{
    unsigned lane = (unsigned)__builtin_ctzll(walk->left) ^ walk->mirror;
    walk->left &= walk->left - 1;
    return lane;
}

/* A half that is loaded takes all of its register: with ECC for registers (sramecc+, as all of our
 * GPUs are) hardware writes whole dwords, and the other half becomes 0. LLVM relies on neither half
 * there; Tensile joins two loads by v_or_b32. */
static inline void lane_load_small(lane_row *rows, unsigned lane, const uint8_t *host,
                                   const struct element *e)
{
    uint32_t value = 0;
    if (host)
        value = e->bytes == 1 ? single_load_8(host) : single_load_16(host);
    value = element_extend(e, value);
    uint32_t *reg = &rows[0][lane];
    if (!e->d16)
        *reg = value;
    else
        *reg = e->high ? value << 16 : value & 0xffff;
}

static inline void pair_put(lane_row *rows, unsigned lane, uint64_t value)
{
    rows[0][lane] = (uint32_t)value;
    rows[1][lane] = (uint32_t)(value >> 32);
}

static inline uint64_t pair_get(const lane_row *rows, unsigned lane)
{
    return rows[0][lane] | (uint64_t)rows[1][lane] << 32;
}

/* An element of 1 to 4 dwords, a constant at every call; the registers are put together and taken
 * apart in registers of the host, as memory takes an element at once. */
__attribute__((always_inline)) static inline void
lane_load_dwords(lane_row *rows, unsigned lane, const uint8_t *host, unsigned dwords)
{
    if (dwords == 4) {
        quad value = single_load_quad(host);
        pair_put(rows + 2, lane, quad_high(value));
        pair_put(rows, lane, quad_low(value));
        return;
    }
    if (dwords != 2)
        rows[dwords - 1][lane] = single_load_32(host + 4 * (dwords - 1));
    if (dwords > 1)
        pair_put(rows, lane, single_load_64(host));
}

__attribute__((always_inline)) static inline void
lane_store_dwords(const lane_row *rows, unsigned lane, uint8_t *host, unsigned dwords)
{
    if (dwords == 4) {
        single_store_quad(host, quad_of(pair_get(rows, lane), pair_get(rows + 2, lane)));
        return;
    }
    if (dwords > 1)
        single_store_64(host, pair_get(rows, lane));
    if (dwords != 2)
        single_store_32(host + 4 * (dwords - 1), rows[dwords - 1][lane]);
}

#ifdef __SSE2__
/* Four lanes' four dwords at a time: one 4x4 transposition instead of sixteen moves. */
static inline void load_quads(const struct lane_pointers *p, lane_row *rows)
{
    /* All lines are asked for at once, else the host waits for a few at a time: a tile's rows lie
     * in pages of their own, and rocBLAS' sgemm spent a fifth of its time here. */
    for (unsigned lane = WAVE_LANES; lane > 0; lane -= 4)
        __builtin_prefetch(p->host[lane - 4]);
    for (unsigned lane = WAVE_LANES; lane > 0;) {
        lane -= 4;
        __m128 d = (__m128)single_load_quad(p->host[lane + 3]);
        __m128 c = (__m128)single_load_quad(p->host[lane + 2]);
        __m128 b = (__m128)single_load_quad(p->host[lane + 1]);
        __m128 a = (__m128)single_load_quad(p->host[lane]);
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
        single_store_quad(p->host[lane], (quad)a);
        single_store_quad(p->host[lane + 1], (quad)b);
        single_store_quad(p->host[lane + 2], (quad)c);
        single_store_quad(p->host[lane + 3], (quad)d);
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
    bool falls = lanes_fall(p);
    if (p->lanes == ~0ull && !p->some_outside && !falls) {
        if (HAVE_QUADS && dwords == 4) {
            load_quads(p, rows);
            return;
        }
        for (unsigned lane = WAVE_LANES; lane-- > 0;)
            lane_load_dwords(rows, lane, p->host[lane], dwords);
        return;
    }
    struct lane_walk walk = lane_walk_start(p->lanes, !falls);
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        if (p->host[lane])
            lane_load_dwords(rows, lane, p->host[lane], dwords);
        for (unsigned n = 0; n < dwords && !p->host[lane]; n++)
            rows[n][lane] = 0;
    }
}

static inline void load_small(const struct lane_pointers *p, lane_row *rows,
                              const struct element *e)
{
    struct lane_walk walk = lane_walk_start(p->lanes, !lanes_fall(p));
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
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
    bool falls = lanes_fall(p);
    if (p->lanes == ~0ull && !p->some_outside && !falls) {
        if (HAVE_QUADS && dwords == 4) {
            store_quads(p, rows);
            return;
        }
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane_store_dwords(rows, lane, p->host[lane], dwords);
        return;
    }
    struct lane_walk walk = lane_walk_start(p->lanes, falls);
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        if (p->host[lane])
            lane_store_dwords(rows, lane, p->host[lane], dwords);
    }
}

static inline void store_small(const struct lane_pointers *p, const lane_row *rows,
                               const struct element *e)
{
    struct lane_walk walk = lane_walk_start(p->lanes, lanes_fall(p));
    while (walk.left) {
        unsigned lane = lane_walk_next(&walk);
        uint32_t low = rows[0][lane] >> (e->high ? 16 : 0);
        if (!p->host[lane])
            continue;
        if (e->bytes == 1)
            single_store_8(p->host[lane], (uint8_t)low);
        else
            single_store_16(p->host[lane], (uint16_t)low);
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

static inline void lane_value_put(lane_row *rows, unsigned lane, unsigned dwords, uint64_t value)
{
    rows[0][lane] = (uint32_t)value;
    if (dwords > 1)
        rows[1][lane] = (uint32_t)(value >> 32);
}
static inline uint64_t lane_value(const lane_row *rows, unsigned lane, unsigned dwords)
{
    return dwords > 1 ? pair_get(rows, lane) : rows[0][lane];
}

/* atomic_lanes.c: `old` NULL: nothing returns. Pointers are shared memory: host atomics. */
void lanes_atomic(const struct lane_pointers *p, const lane_row *data, lane_row *old,
                  const struct atomic_op *op);

#endif
