#include "wave/pieces.h"

#include "wave/host_levels.h"
#include "wave/lanes.h"

bool pieces_find(const uint32_t *offsets, uint32_t element_bytes, struct piece_extent *out)
{
    /* Most waves whose lanes do not follow say so at once. */
    if (offsets[1] - offsets[0] != element_bytes || offsets[WAVE_LANES - 1] < offsets[0])
        return false;
    return host_level == LEVEL_PORTABLE ? pieces_find_portable(offsets, element_bytes, out)
                                        : pieces_find_avx2(offsets, element_bytes, out);
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
static void pieces_foresee(struct wave *wave, const struct inst *inst, const uint8_t *memory,
                           uint64_t va, const uint32_t *offsets)
{
    struct span_step *last = &wave->group->pieces[step_key(inst, wave->wave_in_group)];
    const uint64_t step = va + offsets[0] - last->va;
    const bool known = step == last->step;
    *last = (struct span_step){va + offsets[0], step};
    if (!known)
        lines_fetch(memory, offsets);
    else
        lines_fetch(memory + step, offsets);
}

void pieces_load(struct wave *wave, const struct inst *inst, const uint8_t *memory, uint64_t va,
                 const uint32_t *offsets, unsigned dwords)
{
    lane_row *rows = data_rows(wave, &inst->dst);
    pieces_foresee(wave, inst, memory, va, offsets);
    if (host_level == LEVEL_PORTABLE)
        pieces_load_portable(rows, memory, offsets, dwords);
    else
        pieces_load_avx2(rows, memory, offsets, dwords);
}
