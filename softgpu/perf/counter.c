/*
 * Counters are virtual: what executes only adds to running totals (sources.h), and a counter
 * remembers the total at which it last began to count. So execution never looks at what is
 * selected, and a counter may be started or stopped in the middle of a kernel.
 */
#include "perf/internal.h"

enum {
    PERFMON_STATE_MASK = 0xf,
    PERFMON_START = 1,
    SQ_CTRL_CS_EN = 1 << 6,
    CFG_EVENT_MASK = 0xff,
    CFG_ENABLE = 1 << 28,
    CFG_CLEAR = 1 << 29,
    CONTROL_ENABLE_ANY = 1 << 24,
    CONTROL_CLEAR_ALL = 1 << 25
};

/* SQ_PERFCOUNTER_MASK: a bit for each compute unit of a shader array that counts, arrays 0 and 1.
 */
static uint32_t units_counting(struct perf *perf, struct place place)
{
    if (place.block != BLOCK_SQ)
        return UINT32_MAX;
    uint32_t mask = *storage_at(perf, REG_GFX90A_SQ_PERFCOUNTER_MASK, place.xcc, place.unit);
    uint32_t array = place.unit % perf->model->sh_per_se;
    return (mask >> 16 * (array & 1) & 0xffff) | 0xffff0000u;
}

/* Waves of queues that are not counted are seen by all but the sequencers. */
static bool sees_all(struct place place)
{
    return perf_blocks[place.block].control != CONTROL_SQ;
}

static uint64_t unit_total(const struct perf *perf, struct place place, uint32_t at,
                           uint32_t source)
{
    return perf->cu[at][source] - (sees_all(place) ? 0 : perf->hidden_cu[at][source]);
}

static uint64_t engine_total(const struct perf *perf, struct place place, uint32_t source)
{
    uint32_t at = place.xcc * perf->se_units + place.unit;
    return perf->se[at][source] - (sees_all(place) ? 0 : perf->hidden_se[at][source]);
}

static uint64_t array_total(struct perf *perf, struct place place, uint32_t source)
{
    uint32_t per_array = perf->model->cu_per_sh;
    uint32_t first = place.xcc * perf->units + place.unit * per_array;
    uint32_t counting = units_counting(perf, place);
    uint64_t sum = 0;
    for (uint32_t cu = 0; cu < per_array; cu++)
        if (cu >= 32 || counting >> cu & 1)
            sum += unit_total(perf, place, first + cu, source);
    return sum;
}

/* Where a source of a block's unit is, if in one place: of its own, or of its XCC. */
static const uint64_t *source_at(struct perf *perf, struct place place, uint32_t source)
{
    enum axis axis = perf_blocks[place.block].axis;
    if (source >= SRC_ENGINE_FIRST)
        return axis == AXIS_ENGINE ? &perf->engine[place.unit][source - SRC_ENGINE_FIRST] : NULL;
    if (source >= SRC_CHANNEL_FIRST) {
        size_t at = (size_t)place.xcc * perf->model->tcc_channels + place.unit;
        return axis == AXIS_CHANNEL ? &perf->channel[at][source - SRC_CHANNEL_FIRST] : NULL;
    }
    if (source >= SRC_XCC_FIRST)
        return &perf->xcc[place.xcc][source - SRC_XCC_FIRST];
    if (axis == AXIS_CU && source < SRC_SE_FIRST && sees_all(place))
        return &perf->cu[place.xcc * perf->units + place.unit][source];
    return NULL;
}

/* What a block's unit sees of a source. */
static uint64_t source_total(struct perf *perf, struct place place, uint32_t source)
{
    enum axis axis = perf_blocks[place.block].axis;
    const uint64_t *only = source_at(perf, place, source);
    if (only)
        return *only;
    if (source >= SRC_XCC_FIRST)
        return 0; /* not of this block */
    if (source >= SRC_SE_FIRST)
        return axis == AXIS_SE ? engine_total(perf, place, source - SRC_SE_FIRST) : 0;
    if (axis == AXIS_CU)
        return unit_total(perf, place, place.xcc * perf->units + place.unit, source);
    return axis == AXIS_SE ? array_total(perf, place, source) : 0;
}

/* The event whose sources a counter counts; NULL: none. ACCUM_PREV counts the level that the
 * counter before it has selected. */
static const struct event_info *event_counted(struct perf *perf, struct place place, uint32_t index)
{
    const struct event_info *event = counter_at(perf, place, index)->event;
    if (!event || event->level)
        return NULL;
    if (!event->accumulate)
        return event;
    const struct event_info *previous =
        index > 0 ? counter_at(perf, place, index - 1)->event : NULL;
    return previous && previous->level ? previous : NULL;
}

static uint64_t terms_total(struct perf *perf, struct place place, const struct event_info *event)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; event && i < event->term_count; i++)
        sum += event->terms[i].weight * source_total(perf, place, event->terms[i].source);
    return sum;
}

/* The total that a sum over units of an array is, made anew where one of them has done something.
 */
static __attribute__((noinline)) uint64_t array_event_total(struct perf *perf, struct place place,
                                                            struct counter *counter)
{
    uint64_t change = perf->array_changes[place.xcc * perf->se_units + place.unit];
    if (counter->summed_at != change) {
        counter->sum = terms_total(perf, place, counter->event);
        counter->summed_at = change;
    }
    return counter->sum;
}

static __attribute__((noinline)) uint64_t level_total(struct perf *perf, struct place place,
                                                      uint32_t index)
{
    return terms_total(perf, place, event_counted(perf, place, index));
}

/* Of counter `index` of the place. Most totals are one look; what is more stands apart, so that
 * these looks stay short. */
static inline uint64_t event_total(struct perf *perf, struct place place, uint32_t index,
                                   struct counter *counter)
{
    if (counter->source)
        return counter->weight * *counter->source;
    if (counter->is_of_array)
        return array_event_total(perf, place, counter);
    return level_total(perf, place, index);
}

uint64_t counter_value(struct perf *perf, struct place place, uint32_t index)
{
    struct counter *counter = counter_at(perf, place, index);
    uint64_t value = counter->held;
    if (!counter->event)
        return value; /* what was written, if anything */
    if (counter->counting)
        value += event_total(perf, place, index, counter) - counter->base;
    return counter->event->divisor == 1 ? value : value / counter->event->divisor;
}

/* A register write reaches a counter for the first time. Those of MC blocks are nothing to
 * CP_PERFMON_CNTL. */
static void counter_list(struct perf *perf, struct place place, uint32_t index)
{
    struct counter *counter = counter_at(perf, place, index);
    enum control control = perf_blocks[place.block].control;
    perf->touched[place.block] |= 1u << index;
    counter->is_touched = true;
    if (control == CONTROL_SQ)
        counter->gate = storage_at(perf, REG_GFX90A_SQ_PERFCOUNTER_CTRL, place.xcc, place.unit);
    if (control != CONTROL_MC)
        perf->touched_list[perf->touched_count++] =
            (struct touched_counter){counter, index, 1u << place.xcc, place};
    perf->is_touched_mixed = true;
}

static struct counter *counter_touch(struct perf *perf, struct place place, uint32_t index)
{
    struct counter *counter = counter_at(perf, place, index);
    if (!counter->is_touched)
        counter_list(perf, place, index);
    perf->used |= 1u << place.xcc;
    return counter;
}

void counter_value_write(struct perf *perf, struct place place, uint32_t index, bool high,
                         uint32_t value)
{
    struct counter *counter = counter_touch(perf, place, index);
    uint64_t divisor = counter->event ? counter->event->divisor : 1;
    uint64_t held = counter->held / divisor, low_mask = UINT32_MAX;
    held = high ? (held & low_mask) | (uint64_t)value << 32 : (held & ~low_mask) | value;
    counter->held = held * divisor;
}

static __attribute__((noinline)) uint32_t counter_wants(struct perf *perf, struct place place,
                                                        uint32_t index)
{
    const struct event_info *event = event_counted(perf, place, index);
    return event ? event_wants(event) : 0;
}

static inline void counting_switch(struct perf *perf, struct place place, uint32_t index,
                                   struct counter *counter, bool counting)
{
    uint64_t total = event_total(perf, place, index, counter);
    uint32_t change = counting ? 1 : UINT32_MAX;
    if (counter->gate)
        perf->sequencers_counting += change;
    if (!counter->is_own)
        counter->wants = counting ? counter_wants(perf, place, index) : counter->wants;
    if (counting) {
        counter->base = total;
    } else {
        counter->held += total - counter->base;
    }
    perf->wanting[counter->wants] += change;
    counter->counting = counting;
    perf->used |= 1u << place.xcc;
}

static void counting_set(struct perf *perf, struct place place, uint32_t index, bool counting)
{
    struct counter *counter = counter_at(perf, place, index);
    if (counter->counting != counting)
        counting_switch(perf, place, index, counter, counting);
}

/* Whether the registers that control a block let its counters count now. */
static bool place_enabled(struct perf *perf, struct place place)
{
    if (!(perf->started >> place.xcc & 1))
        return false;
    if (perf_blocks[place.block].control != CONTROL_SQ)
        return true;
    return *storage_at(perf, REG_GFX90A_SQ_PERFCOUNTER_CTRL, place.xcc, place.unit) & SQ_CTRL_CS_EN;
}

/* Of all that a place's counters have been selected for. */
static void place_set(struct perf *perf, struct place place, bool counting)
{
    struct counter *counters = counter_at(perf, place, 0);
    for (uint32_t left = perf->touched[place.block]; left; left &= left - 1) {
        uint32_t index = (uint32_t)__builtin_ctz(left);
        struct counter *counter = &counters[index];
        if (counter->counting != counting && counter->event)
            counting_switch(perf, place, index, counter, counting);
    }
}

static void counter_reset(struct perf *perf, struct place place, uint32_t index)
{
    struct counter *counter = counter_at(perf, place, index);
    counter->held = 0;
    if (counter->counting)
        counter->base = event_total(perf, place, index, counter);
}

uint32_t perf_wants(const struct perf *perf)
{
    return atomic_load_explicit(&perf->wants, memory_order_relaxed);
}

bool perf_wants_time(const struct perf *perf)
{
    return atomic_load_explicit(&perf->wants_time, memory_order_relaxed);
}

/* A counting session that needs the caches begins with empty ones, so that its result does not
 * depend on what ran uncounted before. */
void wants_update(struct perf *perf)
{
    const uint32_t caches = PERF_WANT_MEMORY | PERF_WANT_FETCH;
    uint32_t wanted = perf_wants(perf), wants = perf->is_traced ? PERF_WANT_TRACE : 0;
    for (uint32_t each = 0; each < PERF_WANTS; each++)
        wants |= perf->wanting[each] ? each : 0;
    const bool time = wants & (PERF_WANT_TIME | PERF_WANT_TRACE);
    if (time != perf_wants_time(perf))
        atomic_store_explicit(&perf->wants_time, time, memory_order_relaxed);
    wants &= ~(uint32_t)PERF_WANT_TIME;
    if (wants == wanted)
        return;
    atomic_store_explicit(&perf->wants, wants, memory_order_relaxed);
    if (!(wanted & caches) && wants & caches)
        memory_clear(&perf->memory);
}

static bool is_simple(const struct counter *counter)
{
    return counter->is_plain && !counter->gate;
}

/* Events have changed: those whose totals are one look come first. */
static void touched_sort(struct perf *perf)
{
    uint32_t plain = 0;
    for (uint32_t i = 0; i < perf->touched_count; i++) {
        struct touched_counter here = perf->touched_list[i];
        if (!is_simple(here.counter))
            continue;
        perf->touched_list[i] = perf->touched_list[plain];
        perf->touched_list[plain++] = here;
    }
    perf->plain_count = plain;
    perf->is_touched_mixed = false;
}

/* What counting_switch() does, of counters that are simple. */
static void simple_gate(struct perf *perf, uint32_t xcc_mask, bool counting)
{
    const struct touched_counter *end = perf->touched_list + perf->plain_count;
    uint32_t change = counting ? 1 : UINT32_MAX;
    for (const struct touched_counter *at = perf->touched_list; at < end; at++) {
        struct counter *counter = at->counter;
        if (!(xcc_mask & at->xcc_bit) || counter->counting == counting)
            continue;
        uint64_t total = counter->weight * *counter->source;
        if (counting)
            counter->base = total;
        else
            counter->held += total - counter->base;
        counter->counting = counting;
        perf->wanting[counter->wants] += change;
    }
    perf->used |= xcc_mask;
}

void counters_gate(struct perf *perf, uint32_t xcc_mask, bool started)
{
    if (perf->is_touched_mixed)
        touched_sort(perf);
    simple_gate(perf, xcc_mask, started);
    for (uint32_t i = perf->plain_count; i < perf->touched_count; i++) {
        const struct touched_counter *at = &perf->touched_list[i];
        struct counter *counter = at->counter;
        bool counting = started && (!counter->gate || *counter->gate & SQ_CTRL_CS_EN);
        if (xcc_mask & at->xcc_bit && counter->counting != counting && counter->event)
            counting_switch(perf, at->place, at->index, counter, counting);
    }
    wants_update(perf);
}

static void sequencers_set(struct perf *perf, uint32_t xcc, uint32_t array, bool paused)
{
    for (int block = 0; block < BLOCK_COUNT; block++) {
        struct place place = {block, xcc, array};
        if (perf_blocks[block].control == CONTROL_SQ)
            place_set(perf, place, !paused && place_enabled(perf, place));
    }
}

void sequencers_pause(struct perf *perf, uint32_t xcc, uint32_t array)
{
    sequencers_set(perf, xcc, array, true);
}

void sequencers_gate(struct perf *perf, uint32_t xcc, uint32_t array)
{
    sequencers_set(perf, xcc, array, false);
}

void sequencers_written(struct perf *perf)
{
    wants_update(perf);
}

/* Profilers reset twice before they start. */
void counters_reset(struct perf *perf, uint32_t xcc_mask)
{
    const struct touched_counter *end = perf->touched_list + perf->touched_count;
    if (!(perf->used & xcc_mask))
        return;
    for (const struct touched_counter *at = perf->touched_list; at < end; at++) {
        struct counter *counter = at->counter;
        if (!(xcc_mask & at->xcc_bit))
            continue;
        counter->held = 0;
        if (counter->counting)
            counter->base = event_total(perf, at->place, at->index, counter);
    }
    perf->used &= ~xcc_mask;
}

/* SQ selects have nine bits, GRBM's six, the others ten; the rest are masks and modes. */
static uint32_t select_event(enum block block, uint32_t value)
{
    switch (block) {
    case BLOCK_GRBM:
    case BLOCK_GRBM_SE:
        return value & 0x3f;
    case BLOCK_SQ:
        return value & 0x1ff;
    default:
        return value & 0x3ff;
    }
}

/* How the totals of a counter's event are found: see event_total(). */
static void totals_choose(struct perf *perf, struct place place, struct counter *counter)
{
    const struct event_info *event = counter->event;
    bool is_own = event && !event->accumulate && !event->level;
    bool is_of_array = is_own && perf_blocks[place.block].axis == AXIS_SE;
    counter->is_own = is_own;
    counter->wants = is_own ? (uint8_t)event_wants(event) : 0;
    counter->source = NULL;
    counter->summed_at = 0;
    if (is_own && event->term_count == 1) {
        counter->source = source_at(perf, place, event->terms[0].source);
        counter->weight = event->terms[0].weight;
    }
    for (uint32_t i = 0; is_of_array && i < event->term_count; i++)
        is_of_array = event->terms[i].source < SRC_XCC_FIRST;
    counter->is_of_array = is_of_array;
    counter->is_plain = counter->source && event->divisor == 1;
    counter->is_summed = is_of_array && event->divisor == 1;
    perf->is_touched_mixed = true;
}

/* Changing the event keeps what was counted; profilers reset before they start. The counter
 * after this one may accumulate it, so its sources change too. */
static void event_set(struct perf *perf, struct place place, uint32_t index, uint32_t select,
                      uint32_t event)
{
    struct counter *counter = counter_touch(perf, place, index);
    uint32_t next = index + 1;
    bool has_next = next < perf_blocks[place.block].counter_count;
    bool next_counting = has_next && counter_at(perf, place, next)->counting;
    if (has_next)
        counting_set(perf, place, next, false);
    counting_set(perf, place, index, false);
    counter->select = select;
    counter->event = event_find(perf, place.block, event);
    totals_choose(perf, place, counter);
    if (has_next)
        counting_set(perf, place, next, next_counting);
}

static __attribute__((noinline)) void select_change(struct perf *perf, struct place place,
                                                    uint32_t index, uint32_t value)
{
    event_set(perf, place, index, value, select_event(place.block, value));
    if (!place_enabled(perf, place))
        return;
    place_set(perf, place, true);
    wants_update(perf);
}

void counter_select_write(struct perf *perf, struct place place, uint32_t index, uint32_t value)
{
    struct counter *counter = counter_at(perf, place, index);
    if (counter->is_selected && counter->select == value) /* as profilers do before each kernel */
        return;
    counter->is_selected = true;
    select_change(perf, place, index, value);
}

void counter_config_write(struct perf *perf, struct place place, uint32_t index, uint32_t value)
{
    bool counting = counter_at(perf, place, index)->counting;
    event_set(perf, place, index, value, value & CFG_EVENT_MASK);
    if (value & CFG_CLEAR)
        counter_reset(perf, place, index);
    counting_set(perf, place, index, counting && (value & CFG_ENABLE));
    wants_update(perf);
}

void counter_control_write(struct perf *perf, struct place place, uint32_t value)
{
    counter_at(perf, place, 0)->control = value;
    /* A write that only selects which counter to read leaves them running. */
    if (!(value & (CONTROL_ENABLE_ANY | CONTROL_CLEAR_ALL)))
        return;
    for (uint32_t i = 0; i < perf_blocks[place.block].counter_count; i++) {
        bool enabled = counter_at(perf, place, i)->select & CFG_ENABLE;
        if (value & CONTROL_CLEAR_ALL)
            counter_reset(perf, place, i);
        counting_set(perf, place, i, enabled && (value & CONTROL_ENABLE_ANY));
    }
    wants_update(perf);
}

void counters_perfmon_write(struct perf *perf, struct place place, uint32_t value)
{
    enum { ENABLE = 1, CLEAR = 2, EVENT_SHIFT = 2, EVENT_MASK = 0xff, FIELDS = 10 };
    for (uint32_t i = 0; i < perf_blocks[place.block].counter_count; i++) {
        uint32_t fields = value >> FIELDS * i;
        event_set(perf, place, i, value, fields >> EVENT_SHIFT & EVENT_MASK);
        if (fields & CLEAR)
            counter_reset(perf, place, i);
        counting_set(perf, place, i, fields & ENABLE);
    }
}
