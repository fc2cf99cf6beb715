#include "perf/internal.h"

const struct block_info perf_blocks[BLOCK_COUNT] = {
#define BLOCK_ROW(name, axis, counters, control)                                                   \
    [BLOCK_##name] = {#name, AXIS_##axis, counters, CONTROL_##control},
    PERF_BLOCK_LIST(BLOCK_ROW)
#undef BLOCK_ROW
};

static const struct reg_info registers[] = {
#define REGISTER_ROW(offset, block, kind, index) {offset, BLOCK_##block, KIND_##kind, index},
    PERF_REGISTER_LIST(REGISTER_ROW)
#undef REGISTER_ROW
};
const uint32_t perf_register_count = sizeof registers / sizeof registers[0];

static const struct event_info events[] = {
#define EVENT_ROW(block, name, klass, sources, level, accumulate, divisor, ...)                    \
    {sources, level, #name, {__VA_ARGS__}, BLOCK_##block, EVENT_##klass, accumulate, divisor},
    PERF_EVENT_LIST(EVENT_ROW)
#undef EVENT_ROW
};

const struct reg_info *register_find(uint32_t offset)
{
    size_t low = 0, high = perf_register_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (registers[middle].offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < perf_register_count && registers[low].offset == offset;
    return found ? &registers[low] : NULL;
}

uint32_t register_row(const struct reg_info *reg)
{
    return (uint32_t)(reg - registers);
}

const struct event_info *event_find(enum gpu_gen gen, enum block block, uint32_t number)
{
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
        if (events[i].block == block && events[i].number[gen] == (int)number)
            return &events[i];
    return NULL;
}
