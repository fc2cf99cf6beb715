#include "wave/lds_direct.h"

#include "wave/group.h"

static uint8_t *lane_dword(const struct wave *w, const struct inst *i, unsigned lane)
{
    const struct workgroup *group = w->group;
    uint32_t at = (w->s[SREG_M0] & 0xffff) + (uint32_t)i->offset + 4 * lane;
    return (uint64_t)at + 4 <= group->lds_bytes ? group->lds + at : NULL;
}

void lds_direct_write(struct wave *w, const struct inst *i, const lane_row values)
{
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        uint8_t *to = lane_dword(w, i, lane);
        if (to)
            memcpy(to, &values[lane], 4);
    }
}

void lds_direct_read(const struct wave *w, const struct inst *i, lane_row values)
{
    for (uint64_t left = wave_exec(w); left; left &= left - 1) {
        unsigned lane = (unsigned)__builtin_ctzll(left);
        const uint8_t *from = lane_dword(w, i, lane);
        values[lane] = 0;
        if (from)
            memcpy(&values[lane], from, 4);
    }
}

void lds_direct_load(struct wave *w, const struct inst *i, const struct lane_pointers *from)
{
    struct element element = inst_element(i);
    lane_row values[1];
    if (element.bytes == 4)
        load_rows(from, values, 1);
    else
        load_small(from, values, &element);
    lds_direct_write(w, i, values[0]);
}

bool lds_direct_keep_element(struct inst *inst)
{
    if (!inst_keep_element(inst))
        return false;
    struct element element = inst_element(inst);
    return element.dwords == 1 && !element.d16;
}
