#include "lanes.h"

#include <stdlib.h>

static struct lane *lane_add(struct lanes *lanes, struct perfetto *trace)
{
    if (lanes->count == lanes->capacity) {
        uint32_t capacity = lanes->capacity ? 2 * lanes->capacity : 4;
        struct lane *larger = realloc(lanes->lanes, capacity * sizeof *larger);
        if (!larger)
            return NULL;
        lanes->lanes = larger;
        lanes->capacity = capacity;
    }
    struct lane *lane = &lanes->lanes[lanes->count++];
    *lane = (struct lane){perfetto_child(trace, lanes->parent, lanes->name), 0};
    return lane;
}

perfetto_track lanes_track(struct lanes *lanes, struct perfetto *trace, uint64_t begin_ns,
                           uint64_t end_ns)
{
    struct lane *lane = NULL;
    for (uint32_t i = 0; i < lanes->count && !lane; i++)
        if (lanes->lanes[i].end_ns <= begin_ns)
            lane = &lanes->lanes[i];
    if (!lane)
        lane = lane_add(lanes, trace);
    if (!lane) /* no memory: shown on the parent rather than lost */
        return lanes->parent;
    lane->end_ns = end_ns;
    return lane->track;
}

void lanes_free(struct lanes *lanes)
{
    free(lanes->lanes);
    lanes->lanes = NULL;
    lanes->count = lanes->capacity = 0;
}
