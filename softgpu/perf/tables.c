#include "perf/internal.h"

const struct block_info perf_blocks[BLOCK_COUNT] = {
#define BLOCK_ROW(name, axis, counters, control)                                                   \
    [BLOCK_##name] = {#name, AXIS_##axis, counters, CONTROL_##control},
    PERF_BLOCK_LIST(BLOCK_ROW)
#undef BLOCK_ROW
};

const struct reg_info perf_registers[] = {
#define REGISTER_ROW(offset, block, kind, index) {offset, BLOCK_##block, KIND_##kind, index},
    PERF_REGISTER_LIST(REGISTER_ROW)
#undef REGISTER_ROW
};
const uint32_t perf_register_count = sizeof perf_registers / sizeof perf_registers[0];

#define ROW_ENUM(offset, ...) ROW_##offset,
enum { PERF_REGISTER_LIST(ROW_ENUM) };
#undef ROW_ENUM
#define ROW_OF(offset, ...) [offset] = ROW_##offset + 1,
const uint16_t perf_rows_by_offset[] = {PERF_REGISTER_LIST(ROW_OF)};
const uint32_t perf_offset_end = sizeof perf_rows_by_offset / sizeof perf_rows_by_offset[0];
#undef ROW_OF

#define TERM_LIST(...) __VA_ARGS__
static const struct event_info events[] = {
#define EVENT_ROW(block, name, klass, terms, count, level, accumulate, divisor, ...)               \
    {#name, {TERM_LIST terms}, {__VA_ARGS__}, BLOCK_##block, EVENT_##klass,                        \
     count, divisor,           accumulate,    level},
    PERF_EVENT_LIST(EVENT_ROW)
#undef EVENT_ROW
};

const uint8_t tally_class[TALLY_COUNT] = {
#define TALLY_CLASS(name, klass, ...) CLASS_##klass,
    INST_TALLIES(TALLY_CLASS)
#undef TALLY_CLASS
};

static const uint8_t source_wants[SRC_COUNT] = {
#define SOURCE_WANT(name, want) [SRC_##name] = PERF_WANT_##want,
    PERF_CU_SOURCES(SOURCE_WANT) PERF_SE_SOURCES(SOURCE_WANT) PERF_XCC_SOURCES(SOURCE_WANT)
        PERF_CHANNEL_SOURCES(SOURCE_WANT) PERF_ENGINE_SOURCES(SOURCE_WANT)
#undef SOURCE_WANT
};

uint32_t event_wants(const struct event_info *event)
{
    uint32_t wants = 0;
    for (uint32_t i = 0; i < event->term_count; i++)
        wants |= source_wants[event->terms[i].source];
    return wants;
}

void events_number(enum gpu_gen gen, uint16_t (*rows)[EVENT_NUMBERS])
{
    _Static_assert(sizeof events / sizeof events[0] < UINT16_MAX, "rows are numbered with 16 bits");
    for (size_t i = 0; i < sizeof events / sizeof events[0]; i++) {
        int number = events[i].number[gen];
        if (number >= 0 && number < EVENT_NUMBERS && !rows[events[i].block][number])
            rows[events[i].block][number] = (uint16_t)(i + 1);
    }
}

const struct event_info *event_find(const struct perf *perf, enum block block, uint32_t number)
{
    uint32_t row = number < EVENT_NUMBERS ? perf->event_rows[block][number] : 0;
    return row ? &events[row - 1] : NULL;
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
