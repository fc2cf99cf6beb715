#include "wave/scattered.h"

#include "wave/address.h"
#include "wave/contiguous.h"
#include "wave/host_levels.h"
#include "wave/lane_vectors.h"
#include "wave/lanes.h"

#define CALL(name, ...)                                                                            \
    (host_level == LEVEL_PORTABLE ? name##_portable(__VA_ARGS__) : name##_avx2(__VA_ARGS__))

enum { LANES_LEAST = 24 }; /* fewer are as soon accessed one by one */

static bool lanes_are_many(uint64_t lanes)
{
    return __builtin_popcountll(lanes) >= LANES_LEAST;
}

void scattered_find(struct scattered_place *place)
{
    const uint32_t *offsets = place->offsets;
    if (lanes_are_many(place->lanes)) {
        place->extent = CALL(scattered_extent, offsets, place->lanes);
        return;
    }
    struct scattered_extent extent = {UINT32_MAX, 0};
    for (uint64_t left = place->lanes; left; left &= left - 1) {
        const uint32_t at = offsets[__builtin_ctzll(left)];
        extent.low = at < extent.low ? at : extent.low;
        extent.high = at > extent.high ? at : extent.high;
    }
    place->extent = extent;
}

bool scattered_translate(struct wave *wave, const struct inst *inst, uint32_t element_bytes,
                         struct scattered_place *place)
{
    place->host = offsets_translate(wave, inst, place->va, place->extent.low, place->extent.high,
                                    element_bytes);
    if (!place->host)
        return false;
    offsets_note(wave, inst, place->va, place->offsets, place->lanes, element_bytes);
    return true;
}

static bool place_falls(const struct scattered_place *place)
{
    const unsigned first = (unsigned)__builtin_ctzll(place->lanes),
                   last = 63 - (unsigned)__builtin_clzll(place->lanes);
    return place->offsets[last] < place->offsets[first];
}

/* ---- loads ---- */

/* `dwords` is a constant at every call. */
__attribute__((always_inline)) static inline void
load_each(lane_row *rows, const struct scattered_place *place, unsigned dwords)
{
    struct lane_walk walk = lane_walk_start(place->lanes, !place_falls(place));
    while (walk.left) {
        const unsigned lane = lane_walk_next(&walk);
        lane_load_dwords(rows, lane, place->host + place->offsets[lane], dwords);
    }
}

static void load_each_small(lane_row *rows, const struct scattered_place *place,
                            const struct element *element)
{
    struct lane_walk walk = lane_walk_start(place->lanes, !place_falls(place));
    while (walk.left) {
        const unsigned lane = lane_walk_next(&walk);
        lane_load_small(rows, lane, place->host + place->offsets[lane], element);
    }
}

static void load_some(lane_row *rows, const struct scattered_place *place,
                      const struct element *element)
{
    if (element->bytes < 4)
        load_each_small(rows, place, element);
    else if (element->dwords == 1)
        load_each(rows, place, 1);
    else if (element->dwords == 2)
        load_each(rows, place, 2);
    else if (element->dwords == 3)
        load_each(rows, place, 3);
    else
        load_each(rows, place, 4);
}

/* Elements of less than a dword that lie behind each other: dwords do so elsewhere. */
static bool is_string(const struct scattered_place *place, uint32_t bytes)
{
    return bytes < 4 && lanes_contiguous(place->offsets, NULL, bytes);
}

static void rows_clear(lane_row *rows, uint64_t lanes, unsigned dwords)
{
    for (unsigned lane = 0; lane < WAVE_LANES; lane += VECTOR_LANES) {
        const vector off = masks_of(lanes >> lane);
        for (unsigned n = 0; n < dwords; n++)
            *(row_vector *)&rows[n][lane] &= ~off;
    }
}

void scattered_load_rows(lane_row *rows, const struct scattered_place *place,
                         const struct element *element)
{
    if (__builtin_expect(place->outside != 0, 0)) {
        if (place->lanes)
            load_some(rows, place, element);
        rows_clear(rows, place->outside, element->dwords);
        return;
    }
    if (~place->lanes || place_falls(place))
        load_some(rows, place, element);
    else if (is_string(place, element->bytes))
        CALL(scattered_load_string, rows[0], place->host + place->offsets[0], element);
    else if (element->bytes < 4)
        CALL(scattered_load_small, rows[0], place->host, place->offsets, element);
    else
        CALL(scattered_load, rows, place->host, place->offsets, element->dwords);
}

void scattered_load(struct wave *wave, const struct inst *inst, const struct scattered_place *place,
                    const struct element *element)
{
    scattered_load_rows(data_rows(wave, &inst->dst), place, element);
}

/* ---- stores ---- */

/* `bytes` is a constant at every call. */
__attribute__((always_inline)) static inline void
store_lane(const lane_row *rows, unsigned lane, uint8_t *host, unsigned bytes, unsigned down)
{
    if (bytes == 1)
        single_store_8(host, (uint8_t)(rows[0][lane] >> down));
    else if (bytes == 2)
        single_store_16(host, (uint16_t)(rows[0][lane] >> down));
    else
        lane_store_dwords(rows, lane, host, bytes / 4);
}

__attribute__((always_inline)) static inline void
store_each(const lane_row *rows, const struct scattered_place *place, unsigned bytes, unsigned down)
{
    const bool falls = place_falls(place);
    if (!~place->lanes && !falls) {
        for (unsigned lane = 0; lane < WAVE_LANES; lane++)
            store_lane(rows, lane, place->host + place->offsets[lane], bytes, down);
        return;
    }
    struct lane_walk walk = lane_walk_start(place->lanes, falls);
    while (walk.left) {
        const unsigned lane = lane_walk_next(&walk);
        store_lane(rows, lane, place->host + place->offsets[lane], bytes, down);
    }
}

void scattered_store_rows(const lane_row *rows, const struct scattered_place *place,
                          const struct element *element)
{
    if (!place->lanes)
        return;
    if (element->bytes == 1)
        store_each(rows, place, 1, element->high ? 16 : 0);
    else if (element->bytes == 2)
        store_each(rows, place, 2, element->high ? 16 : 0);
    else if (element->dwords == 1)
        store_each(rows, place, 4, 0);
    else if (element->dwords == 2)
        store_each(rows, place, 8, 0);
    else if (element->dwords == 3)
        store_each(rows, place, 12, 0);
    else
        store_each(rows, place, 16, 0);
}

void scattered_store(struct wave *wave, const struct inst *inst,
                     const struct scattered_place *place, const struct element *element)
{
    scattered_store_rows(data_rows(wave, &inst->src[1]), place, element);
    wave->stores_pending = true;
}
