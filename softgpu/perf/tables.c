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

#define TERM_LIST(...) __VA_ARGS__
static const struct event_info events[] = {
#define EVENT_ROW(block, name, klass, terms, count, level, accumulate, divisor, ...)               \
    {#name, {TERM_LIST terms}, {__VA_ARGS__}, BLOCK_##block, EVENT_##klass,                        \
     count, divisor,           accumulate,    level},
    PERF_EVENT_LIST(EVENT_ROW)
#undef EVENT_ROW
};

static const uint8_t source_wants[SRC_COUNT] = {
#define SOURCE_WANT(name, want) [SRC_##name] = PERF_WANT_##want,
    PERF_CU_SOURCES(SOURCE_WANT) PERF_CHANNEL_SOURCES(SOURCE_WANT) PERF_ENGINE_SOURCES(SOURCE_WANT)
#undef SOURCE_WANT
};

uint32_t event_wants(const struct event_info *event)
{
    uint32_t wants = 0;
    for (uint32_t i = 0; i < event->term_count; i++)
        wants |= source_wants[event->terms[i].source];
    return wants;
}

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

bool perf_event_next(enum gpu_gen gen, size_t *at, struct perf_event *event)
{
    static const char *const classes[] = {"exact", "modelled", "approximate", "none"};
    for (; *at < sizeof events / sizeof events[0]; ++*at) {
        const struct event_info *info = &events[*at];
        if (info->number[gen] < 0)
            continue;
        *event = (struct perf_event){perf_blocks[info->block].name, info->name,
                                     classes[info->klass], (uint32_t)info->number[gen]};
        ++*at;
        return true;
    }
    return false;
}
