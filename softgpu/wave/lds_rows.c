#include "wave/lds_rows.h"

#include <string.h>

#include "wave/contiguous.h"
#include "wave/host_levels.h"
#include "wave/lanes.h"
#include "wave/lds_rows_avx512.h"

/* The last offset at which an element lies inside. */
static bool last_offset(const struct lds_span *s, unsigned dwords, uint32_t *last)
{
    if (s->lds_bytes < 4 * dwords)
        return false;
    *last = s->lds_bytes - 4 * dwords;
    return true;
}

bool lds_rows_follow(const struct lds_span *s, unsigned dwords)
{
    if (s->follows != FOLLOWS_UNKNOWN)
        return s->follows == FOLLOWS;
    return s->lanes == ~0ull && lanes_contiguous(s->address, NULL, 4 * dwords);
}

struct offsets {
    const uint32_t *of; /* from here on: */
    uint8_t *lds;
    bool contiguous; /* a full wave, one element behind the other */
};

/* The highest one of all lanes. */
ALWAYS_INLINE uint32_t highest_of(const uint32_t *address)
{
    uint32_t highest = 0;
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        highest = address[lane] > highest ? address[lane] : highest;
    return highest;
}

/* Sums may wrap around. */
ALWAYS_INLINE void offsets_keep(struct offsets *o, uint32_t at, lane_row kept)
{
    for (uint32_t lane = 0; lane < WAVE_LANES; lane++)
        kept[lane] = o->of[lane] + at;
    o->of = kept;
}

/* Whether an active lane's element lies outside. */
ALWAYS_INLINE bool any_above(const uint32_t *of, uint64_t lanes, uint32_t last)
{
    enum { HALF = WAVE_LANES / 2 };
    uint32_t above = 0;
    for (uint32_t half = 0; half < WAVE_LANES; half += HALF) {
        const uint32_t part = (uint32_t)(lanes >> half);
        for (uint32_t lane = 0; lane < HALF; lane++)
            above |= part >> lane & (of[half + lane] > last ? 1 : 0);
    }
    return above != 0;
}

/* False: an active lane's element lies outside. `kept` is room for offsets. The row of addresses
 * may be one that is written while they are used: lane by lane, of which each has been read before.
 */
ALWAYS_INLINE bool offsets_find(const struct lds_span *s, unsigned dwords, lane_row kept,
                                struct offsets *out)
{
    const bool full = s->lanes == ~0ull;
    uint32_t last;
    if (!last_offset(s, dwords, &last))
        return false;
    *out = (struct offsets){s->address, s->lds, lds_rows_follow(s, dwords)};
    if (out->contiguous) {
        out->lds += (uint32_t)(s->address[0] + s->at);
        return (uint32_t)(s->address[0] + s->at) + (uint64_t)(WAVE_LANES - 1) * 4 * dwords <= last;
    }
    if (full && (uint64_t)highest_of(s->address) + s->at <= last) {
        out->lds += s->at;
        return true;
    }
    offsets_keep(out, s->at, kept);
    return !any_above(kept, s->lanes, last);
}

ALWAYS_INLINE uint8_t *host_of(const struct offsets *o, uint32_t lane)
{
    return o->lds + o->of[lane];
}

ALWAYS_INLINE void lanes_from(const struct lds_span *s, const struct offsets *o, lane_row *rows,
                              unsigned dwords)
{
    if (s->lanes == ~0ull)
#pragma GCC unroll 16
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane_load_dwords(rows, lane, host_of(o, lane), dwords);
    else
        for (uint64_t left = s->lanes; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            lane_load_dwords(rows, lane, host_of(o, lane), dwords);
        }
}

ALWAYS_INLINE void lanes_to(const struct lds_span *s, const struct offsets *o, const lane_row *rows,
                            unsigned dwords)
{
    if (s->lanes == ~0ull)
#pragma GCC unroll 16
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane_store_dwords(rows, lane, host_of(o, lane), dwords);
    else
        for (uint64_t left = s->lanes; left; left &= left - 1) {
            unsigned lane = (unsigned)__builtin_ctzll(left);
            lane_store_dwords(rows, lane, host_of(o, lane), dwords);
        }
}

/* Full waves of four dwords: what pointers to lanes have already. */
static void quads_find(const struct lds_span *s, const struct offsets *o, struct lane_pointers *p)
{
    p->lanes = s->lanes;
    p->some_outside = false;
    for (unsigned lane = 0; lane < WAVE_LANES; lane++)
        p->host[lane] = host_of(o, lane);
}

ALWAYS_INLINE bool load_dwords(const struct lds_span *s, lane_row *rows, unsigned dwords)
{
    struct offsets o;
    struct lane_pointers p;
    lane_row kept;
    if (!offsets_find(s, dwords, kept, &o))
        return false;
    if (o.contiguous) {
        rows_load(rows, o.lds, dwords);
    } else if (dwords == 4 && HAVE_QUADS && s->lanes == ~0ull) {
        quads_find(s, &o, &p);
        load_quads(&p, rows);
    } else {
        lanes_from(s, &o, rows, dwords);
    }
    return true;
}

ALWAYS_INLINE bool store_dwords(const struct lds_span *s, const lane_row *rows, unsigned dwords)
{
    struct offsets o;
    struct lane_pointers p;
    lane_row kept;
    if (!offsets_find(s, dwords, kept, &o))
        return false;
    if (o.contiguous) {
        rows_store(rows, o.lds, dwords);
    } else if (dwords == 4 && HAVE_QUADS && s->lanes == ~0ull) {
        quads_find(s, &o, &p);
        store_quads(&p, rows);
    } else {
        lanes_to(s, &o, rows, dwords);
    }
    return true;
}

/* Each number of dwords is code of its own. */
#define DEFINE_LEVEL(level, options)                                                               \
    options static bool load_##level(const struct lds_span *s, lane_row *rows, unsigned dwords)    \
    {                                                                                              \
        return dwords == 1   ? load_dwords(s, rows, 1)                                             \
               : dwords == 2 ? load_dwords(s, rows, 2)                                             \
               : dwords == 3 ? load_dwords(s, rows, 3)                                             \
                             : load_dwords(s, rows, 4);                                            \
    }                                                                                              \
    options static bool store_##level(const struct lds_span *s, const lane_row *rows,              \
                                      unsigned dwords)                                             \
    {                                                                                              \
        return dwords == 1   ? store_dwords(s, rows, 1)                                            \
               : dwords == 2 ? store_dwords(s, rows, 2)                                            \
               : dwords == 3 ? store_dwords(s, rows, 3)                                            \
                             : store_dwords(s, rows, 4);                                           \
    }                                                                                              \
    options static bool offsets_##level(const struct lds_span *s, uint32_t last, lane_row offsets) \
    {                                                                                              \
        struct offsets o = {s->address, s->lds, false};                                            \
        offsets_keep(&o, s->at, offsets);                                                          \
        return !any_above(offsets, s->lanes, last);                                                \
    }
DEFINE_LEVELS(DEFINE_LEVEL)

#ifdef __x86_64__
static bool by_avx512(const struct lds_span *s)
{
    return s->follows != FOLLOWS && host_level == LEVEL_AVX512 && s->lds_bytes >= LDS_WINDOW_BYTES;
}
#endif

bool lds_rows_load(const struct lds_span *s, lane_row *rows, unsigned dwords)
{
#ifdef __x86_64__
    if (by_avx512(s))
        return lds_load_avx512(s, rows, dwords);
#endif
    return CALL_LEVEL(load, s, rows, dwords);
}

bool lds_rows_store(const struct lds_span *s, const lane_row *rows, unsigned dwords)
{
#ifdef __x86_64__
    if (by_avx512(s))
        return lds_store_avx512(s, rows, dwords);
#endif
    return CALL_LEVEL(store, s, rows, dwords);
}

bool lds_rows_load_two(const struct lds_span *s, uint32_t second_at, lane_row *rows,
                       unsigned dwords)
{
    struct lds_span first = *s, second;
    lane_row address, before[2];
#ifdef __x86_64__
    if (by_avx512(s))
        return lds_load_two_avx512(s, second_at, rows, dwords);
#endif
    /* The first result may overwrite the address register, and is undone if the second has none. */
    memcpy(address, s->address, sizeof address);
    first.address = address;
    second = first;
    second.at = second_at;
    memcpy(before, rows, dwords * sizeof *rows);
    if (!CALL_LEVEL(load, &first, rows, dwords))
        return false;
    if (CALL_LEVEL(load, &second, rows + dwords, dwords))
        return true;
    memcpy(rows, before, dwords * sizeof *rows);
    return false;
}

bool lds_rows_offsets(const struct lds_span *s, uint32_t bytes, lane_row offsets)
{
    /* In less LDS than an element nothing lies. */
    const uint32_t last = s->lds_bytes < bytes ? 0 : s->lds_bytes - bytes;
    return CALL_LEVEL(offsets, s, last, offsets) && s->lds_bytes >= bytes;
}

/* `bytes` is a constant at every call. */
ALWAYS_INLINE void lane_put(uint8_t *host, uint32_t value, uint32_t bytes)
{
    const uint16_t low = (uint16_t)value;
    memcpy(host, &low, bytes);
}

ALWAYS_INLINE void small_to(const struct lds_span *s, const uint32_t *offsets, const uint32_t *row,
                            uint32_t bytes, unsigned shift)
{
    if (!~s->lanes)
#pragma GCC unroll 16
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            lane_put(s->lds + offsets[lane], row[lane] >> shift, bytes);
    else
        for (uint64_t left = s->lanes; left; left &= left - 1) {
            const unsigned lane = (unsigned)__builtin_ctzll(left);
            lane_put(s->lds + offsets[lane], row[lane] >> shift, bytes);
        }
}

bool lds_rows_store_small(const struct lds_span *s, const uint32_t *row, uint32_t bytes,
                          unsigned shift)
{
    lane_row offsets;
    if (!lds_rows_offsets(s, bytes, offsets))
        return false;
    if (bytes == 1)
        small_to(s, offsets, row, 1, shift);
    else
        small_to(s, offsets, row, 2, shift);
    return true;
}
