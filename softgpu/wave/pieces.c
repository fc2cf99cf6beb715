#include "wave/pieces.h"

#include <emmintrin.h>

#include "wave/address.h"
#include "wave/host_levels.h"
#include "wave/lanes.h"

#define CALL(name, ...)                                                                            \
    (host_level == LEVEL_PORTABLE ? name##_portable(__VA_ARGS__) : name##_avx2(__VA_ARGS__))

/* Most waves whose lanes do not follow say so at once: the first two of a piece that are on and
 * neighbours. False, too: there are none. */
static bool neighbours_follow(const uint32_t *offsets, uint64_t lanes, uint32_t element_bytes)
{
    const uint64_t pairs = lanes & lanes >> 1 & 0x7777777777777777;
    const unsigned lane = pairs ? (unsigned)__builtin_ctzll(pairs) : 0;
    return pairs && offsets[lane + 1] - offsets[lane] == element_bytes;
}

bool pieces_find(const uint32_t *offsets, uint64_t lanes, uint32_t element_bytes,
                 struct piece_place *place, struct piece_extent *extent)
{
    enum { LANES_LEAST = 24 }; /* fewer are as soon accessed one by one */
    const unsigned first = (unsigned)__builtin_ctzll(lanes | 1ull << 63),
                   last = 63 - (unsigned)__builtin_clzll(lanes | 1);
    if (element_bytes == 12 /* which makes no chunks */ ||
        __builtin_popcountll(lanes) < LANES_LEAST || offsets[last] < offsets[first] ||
        !neighbours_follow(offsets, lanes, element_bytes))
        return false;
    place->offsets = offsets;
    place->lanes = lanes;
    if (~lanes) {
        if (!CALL(pieces_complete, offsets, lanes, element_bytes, place->of_all))
            return false;
        place->offsets = place->of_all;
    }
    return CALL(pieces_find, place->offsets, element_bytes, extent);
}

bool pieces_translate(struct wave *wave, const struct inst *inst, const struct piece_extent *extent,
                      uint32_t element_bytes, struct piece_place *place)
{
    uint8_t *host = offsets_translate(wave, inst, place->va, extent->low, extent->high,
                                      PIECE_LANES * element_bytes);
    const uint32_t apart = extent->apart | ((uint32_t)(uintptr_t)host + extent->low);
    /* Elements of 16 bytes are read at once, wherever they are. */
    if (!host || (element_bytes < 16 && apart % element_bytes))
        return false;
    place->host = host;
    place->aligned = apart % 16 == 0;
    offsets_note(wave, inst, place->va, place->offsets, place->lanes, element_bytes);
    return true;
}

static void lines_fetch(const uint8_t *memory, const uint32_t *offsets)
{
    for (unsigned lane = WAVE_LANES; lane > 0; lane -= PIECE_LANES)
        __builtin_prefetch(memory + offsets[lane - PIECE_LANES]);
}

static uint32_t step_key(const struct inst *inst, uint32_t wave)
{
    enum { INST_SHIFT = 3, WAVE_SHIFT = 26 };
    const uint32_t number = (uint32_t)((uintptr_t)inst >> INST_SHIFT) ^ wave << WAVE_SHIFT;
    return number * UINT32_C(0x9e3779b1) >> (32 - PIECES_KNOWN_BITS);
}

/*
 * A loop over tiles goes on by as much in each round: a round's lines are asked for one round
 * before. What cannot be foreseen is asked for all at once, else the host would wait for a few
 * lines at a time: rows lie in pages of their own.
 */
static void pieces_foresee(struct wave *wave, const struct inst *inst,
                           const struct piece_place *place)
{
    struct span_step *last = &wave->group->pieces[step_key(inst, wave->wave_in_group)];
    const uint64_t va = place->va + place->offsets[0], step = va - last->va;
    const bool known = step == last->step;
    *last = (struct span_step){va, step};
    lines_fetch(known ? place->host + step : place->host, place->offsets);
}

/* Elements of 8 bytes, aligned as such. */
static void load_pairs(lane_row *rows, const struct piece_place *place)
{
    for (unsigned lane = WAVE_LANES; lane-- > 0;)
        lane_load_dwords(rows, lane, place->host + place->offsets[lane], 2);
}

static void load_all(lane_row *rows, const struct piece_place *place, unsigned dwords)
{
    if (place->aligned || dwords == 4)
        CALL(pieces_load, rows, place->host, place->offsets, dwords);
    else if (dwords == 1)
        CALL(pieces_load_dwords, rows[0], place->host, place->offsets);
    else
        load_pairs(rows, place);
}

void pieces_load(struct wave *wave, const struct inst *inst, const struct piece_place *place,
                 unsigned dwords)
{
    lane_row *rows = data_rows(wave, &inst->dst);
    pieces_foresee(wave, inst, place);
    if (place->lanes == ~UINT64_C(0)) {
        load_all(rows, place, dwords);
        return;
    }
    lane_row all[4] __attribute__((aligned(64)));
    load_all(all, place, dwords);
    for (unsigned n = 0; n < dwords; n++)
        CALL(pieces_merge, rows[n], all[n], place->lanes);
}

/* Four lanes' elements at once, from a multiple of 16 on. */
static void store_piece(const lane_row *rows, unsigned lane, uint8_t *memory, unsigned dwords)
{
    const __m128i first = _mm_load_si128((const __m128i *)&rows[0][lane]);
    if (dwords == 1) {
        single_store_quad(memory, (quad)first);
        return;
    }
    const __m128i second = _mm_load_si128((const __m128i *)&rows[1][lane]);
    single_store_quad(memory, (quad)_mm_unpacklo_epi32(first, second));
    single_store_quad(memory + 16, (quad)_mm_unpackhi_epi32(first, second));
}

/* `dwords` is a constant at every call. */
__attribute__((always_inline)) static inline void
store_each(const lane_row *rows, const struct piece_place *place, unsigned dwords)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane += PIECE_LANES) {
        unsigned on = place->lanes >> lane & 15;
        if (on == 15 && place->aligned && dwords < 4) {
            store_piece(rows, lane, place->host + place->offsets[lane], dwords);
            continue;
        }
        for (; on; on &= on - 1) {
            const unsigned at = lane + (unsigned)__builtin_ctz(on);
            lane_store_dwords(rows, at, place->host + place->offsets[at], dwords);
        }
    }
}

void pieces_store(struct wave *wave, const struct inst *inst, const struct piece_place *place,
                  unsigned dwords)
{
    const lane_row *rows = data_rows(wave, &inst->src[1]);
    if (dwords == 1)
        store_each(rows, place, 1);
    else if (dwords == 2)
        store_each(rows, place, 2);
    else
        store_each(rows, place, 4);
    wave->stores_pending = true;
}
