#include "cp/timeline.h"

#include <string.h>

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void timeline_look(struct timeline *line, uint64_t end_index, uint64_t now_ticks)
{
    struct timeline_look look = {end_index, line->looked_ticks, now_ticks};
    line->looked_ticks = now_ticks;
    struct timeline_look *last = line->look_count ? &line->looks[line->look_count - 1] : NULL;
    if (last && last->end_index >= end_index)
        return;
    if (line->look_count < TIMELINE_LOOKS) {
        line->looks[line->look_count++] = look;
        return;
    }
    /* No room: the packets that the last look saw count as seen now. */
    last->end_index = end_index;
    last->ticks = now_ticks;
}

void timeline_unready(struct timeline *line, uint64_t now_ticks)
{
    line->unready_ticks = now_ticks;
}

static bool was_seen(const struct timeline *line, uint64_t index)
{
    return line->look_count && line->looks[line->look_count - 1].end_index > index;
}

struct timeline_arrival timeline_begin(struct timeline *line, uint64_t index, bool has_barrier_bit,
                                       uint64_t now_ticks)
{
    uint32_t passed = 0;
    if (!was_seen(line, index))
        timeline_look(line, index + 1, now_ticks);
    while (passed + 1 < line->look_count && line->looks[passed].end_index <= index)
        passed++;
    line->look_count -= passed;
    memmove(line->looks, line->looks + passed, line->look_count * sizeof line->looks[0]);
    if (has_barrier_bit)
        line->barrier_ticks = later(line->barrier_ticks, line->latest_ticks);
    uint64_t floor = later(line->barrier_ticks, line->unready_ticks);
    uint64_t seen = later(floor, line->looks[0].ticks);
    return (struct timeline_arrival){floor > line->looks[0].before_ticks ? floor : seen, seen};
}

void timeline_end(struct timeline *line, uint64_t end_ticks)
{
    line->latest_ticks = later(line->latest_ticks, end_ticks);
}

void timeline_end_all(struct timeline *line, uint64_t end_ticks)
{
    timeline_end(line, end_ticks);
    line->barrier_ticks = later(line->barrier_ticks, end_ticks);
}
