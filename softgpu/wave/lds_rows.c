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

struct offsets {
    uint32_t of[WAVE_LANES] __attribute__((aligned(64)));
    bool contiguous; /* a full wave, one element behind the other */
};

static bool offsets_find(const struct lds_span *s, unsigned dwords, struct offsets *out)
{
    uint32_t last, outside = 0;
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
static bool by_avx512(const struct lds_span *s)
{
    return host_level == LEVEL_AVX512 && s->lds_bytes >= LDS_WINDOW_BYTES;
}
#endif

bool lds_rows_load(const struct lds_span *s, lane_row *rows, unsigned dwords)
{
#ifdef __x86_64__
    if (by_avx512(s))
        return lds_load_avx512(s, rows, dwords);
#endif
    return load_any(s, rows, dwords);
}

bool lds_rows_store(const struct lds_span *s, const lane_row *rows, unsigned dwords)
{
#ifdef __x86_64__
    if (by_avx512(s))
        return lds_store_avx512(s, rows, dwords);
#endif
    return store_any(s, rows, dwords);
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
    if (!load_any(&first, rows, dwords))
        return false;
    if (load_any(&second, rows + dwords, dwords))
        return true;
    memcpy(rows, before, dwords * sizeof *rows);
    return false;
}
