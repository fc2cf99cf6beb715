#include "wave/pieces.h"

#include "wave/address.h"
#include "wave/host_levels.h"
#include "wave/lanes.h"
#include "wave/time_note.h"

bool pieces_find(const uint32_t *offsets, uint32_t element_bytes, struct piece_extent *out)
{
    /* Three dwords do not make chunks; and most waves whose lanes do not follow say so at once. */
    if (element_bytes == 12 || offsets[1] - offsets[0] != element_bytes ||
        offsets[WAVE_LANES - 1] < offsets[0])
        return false;
    return host_level == LEVEL_PORTABLE ? pieces_find_portable(offsets, element_bytes, out)
                                        : pieces_find_avx2(offsets, element_bytes, out);
}

/* Chunks of 16 bytes are read at once, and where elements are less they have to be aligned. */
static bool are_aligned(const struct piece_extent *extent, const uint8_t *first,
                        uint32_t element_bytes)
{
    return element_bytes == 16 || ((extent->apart | (uintptr_t)first) & 15) == 0;
}

bool pieces_translate(struct wave *wave, const struct inst *inst, const struct piece_extent *extent,
                      uint32_t element_bytes, struct piece_place *place)
{
    const uint64_t span = (uint64_t)extent->high - extent->low + PIECE_LANES * element_bytes;
    const uint8_t *first =
        span > UINT32_MAX
            ? NULL
            : vm_translate(wave->group->reader, place->va + extent->low, (uint32_t)span, VM_READ);
    if (!first || !are_aligned(extent, first, element_bytes))
        return false;
    place->host = first - extent->low;
    if (memory_noted(wave->group)) {
        uint64_t va[WAVE_LANES];
        lanes_add(va, place->offsets, place->va);
        access_log_vector(wave, inst, va, ~0ull, element_bytes);
    }
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

void pieces_load(struct wave *wave, const struct inst *inst, const struct piece_place *place,
                 unsigned dwords)
{
    lane_row *rows = data_rows(wave, &inst->dst);
    pieces_foresee(wave, inst, place);
    if (host_level == LEVEL_PORTABLE)
        pieces_load_portable(rows, place->host, place->offsets, dwords);
    else
        pieces_load_avx2(rows, place->host, place->offsets, dwords);
}
