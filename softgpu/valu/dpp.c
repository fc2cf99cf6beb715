/* The lane maps of the DPP controls. */
#include "valu/dpp.h"

struct dpp_map dpp_maps[DPP_CONTROLS];

enum {
    DPP_ROW_SHL = 0x100,
    DPP_ROW_SHR = 0x110,
    DPP_ROW_ROR = 0x120,
    DPP_WAVE_SHL = 0x130,
    DPP_WAVE_ROL = 0x134,
    DPP_WAVE_SHR = 0x138,
    DPP_WAVE_ROR = 0x13c,
    DPP_ROW_MIRROR = 0x140,
    DPP_ROW_HALF_MIRROR = 0x141,
    DPP_ROW_BCAST15 = 0x142,
    DPP_ROW_BCAST31 = 0x143,
    DPP_ROW_NEWBCAST = 0x150
};
enum { DPP_UNDEFINED = -2, DPP_OUTSIDE = -1 };

static int within_row(int lane, int position)
{
    return position < 0 || position > 15 ? DPP_OUTSIDE : (lane & ~15) + position;
}

static int source_of_wave(int ctrl, int lane)
{
    switch (ctrl) {
    case DPP_WAVE_SHL:
        return lane == 63 ? DPP_OUTSIDE : lane + 1;
    case DPP_WAVE_ROL:
        return (lane + 1) & 63;
    case DPP_WAVE_SHR:
        return lane - 1;
    case DPP_WAVE_ROR:
        return (lane - 1) & 63;
    case DPP_ROW_MIRROR:
        return lane ^ 15;
    case DPP_ROW_HALF_MIRROR:
        return lane ^ 7;
    case DPP_ROW_BCAST15:
        return (lane & ~15) - 1;
    case DPP_ROW_BCAST31:
        return lane < 32 ? DPP_OUTSIDE : 31;
    default:
        return DPP_UNDEFINED;
    }
}

/* The lane that `lane` reads, or one of the negative answers. */
static int source_of(int ctrl, int lane)
{
    const int n = ctrl & 15, position = lane & 15;
    if (ctrl < 0x100)
        return (lane & ~3) + (ctrl >> (2 * (lane & 3)) & 3);
    switch (ctrl & ~15) {
    case DPP_ROW_SHL:
        return n ? within_row(lane, position + n) : DPP_UNDEFINED;
    case DPP_ROW_SHR:
        return n ? within_row(lane, position - n) : DPP_UNDEFINED;
    case DPP_ROW_ROR:
        return n ? within_row(lane, (position - n) & 15) : DPP_UNDEFINED;
    case DPP_ROW_NEWBCAST:
        return within_row(lane, n);
    default:
        return source_of_wave(ctrl, lane);
    }
}

/* What is special about all of a map, so that no lane needs to be looked at alone. */
static uint8_t shape_of(const struct dpp_map *map)
{
    bool rows = true, broadcast = true;
    for (int lane = 0; lane < WAVE_LANES; lane++) {
        rows &= map->from[lane] == (lane & ~15) + map->from[lane & 15];
        if (map->valid >> lane & 1)
            broadcast &= map->from[lane] == map->from[lane & ~15];
    }
    return rows ? DPP_SHAPE_ROWS : broadcast ? DPP_SHAPE_BROADCAST : DPP_SHAPE_ANY;
}

void dpp_init(void)
{
    for (int ctrl = 0; ctrl < DPP_CONTROLS; ctrl++) {
        struct dpp_map *map = &dpp_maps[ctrl];
        for (int lane = 0; lane < WAVE_LANES; lane++) {
            const int from = source_of(ctrl, lane);
            map->defined = from != DPP_UNDEFINED;
            map->from[lane] = from < 0 ? (uint8_t)lane : (uint8_t)from;
            map->valid |= from < 0 ? 0 : UINT64_C(1) << lane;
        }
        map->shape = shape_of(map);
        for (int lane = 0; lane < 16; lane++)
            map->row_from[lane] = map->from[lane];
    }
}
