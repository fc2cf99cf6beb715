/*
 * Thread trace: what the SQ_THREAD_TRACE registers of a shader engine ask for, written as tokens.
 *
 * Groups retire in an order that is not that of time, so what they did is collected as events until
 * the dispatch ends; then events are sorted and encoded. Encoded bytes wait here until the packet
 * processor, which alone reaches the GPU's memory, takes them.
 */
#include "perf/trace.h"

#include <stdlib.h>
#include <string.h>

#include "perf/clock.h"
#include "perf/internal.h"
#include "perf/token.h"

enum { PAGE_SHIFT = 12, POINTER_UNIT_BYTES = 32, EVENTS_MAX = 1 << 20, SIMDS = 4, WAVES = 16 };
enum { STATUS_UTC_ERROR = 1 << 28 };
#define STATUS_FULL (1u << 31)

struct event {
    uint64_t cycles, token;
    uint32_t order; /* of events at the same time */
};

/* One shader array's trace; registers of the first array of an engine are the engine's. */
struct engine_trace {
    bool on;
    uint64_t va, size_bytes; /* the buffer */
    uint64_t total_bytes;    /* all that was to be written, also what did not fit */
    uint64_t written_bytes;
    uint64_t ticks; /* of the last token */
    bool has_time;
    uint32_t token_mask, inst_mask, simd_mask;
    struct event *events;
    uint32_t event_count, event_capacity;
    uint8_t *bytes; /* not yet in memory: the end of what was written */
    size_t byte_count, byte_capacity;
};

struct trace {
    struct engine_trace *engines;        /* [xcc][shader array] */
    uint64_t (*wave_free)[SIMDS][WAVES]; /* [xcc][compute unit]: when a wave's place is free */
    uint32_t running;                    /* engines that are on; others have no events */
};

/* Of an engine's targets word, which any thread may read. */
enum { TARGET_ON = 1 << 8, TARGET_STEPS = 1 << 9, TARGET_SH_SHIFT = 5, TARGET_CU_MASK = 0x1f };

static const uint8_t token_bytes[16] = {
#define X(name, number, bytes) [number] = (bytes),
    TRACE_TOKENS(X)
#undef X
};

bool trace_allocate(struct perf *perf)
{
    size_t engines = (size_t)perf->model->xcc_count * perf->se_units;
    perf->trace = calloc(1, sizeof *perf->trace);
    perf->trace_targets = calloc(engines, sizeof *perf->trace_targets);
    if (!perf->trace || !perf->trace_targets)
        return false;
    perf->trace->engines = calloc(engines, sizeof *perf->trace->engines);
    return perf->trace->engines != NULL;
}

void trace_free(struct perf *perf)
{
    size_t engines = (size_t)perf->model->xcc_count * perf->se_units;
    for (size_t i = 0; perf->trace && perf->trace->engines && i < engines; i++) {
        free(perf->trace->engines[i].events);
        free(perf->trace->engines[i].bytes);
    }
    if (perf->trace) {
        free(perf->trace->engines);
        free(perf->trace->wave_free);
    }
    free(perf->trace);
    free((void *)perf->trace_targets);
}

static struct engine_trace *engine_at(struct perf *perf, uint32_t xcc, uint32_t unit)
{
    return &perf->trace->engines[(size_t)xcc * perf->se_units + unit];
}

static uint64_t now(const struct perf *perf, uint32_t xcc)
{
    return perf->xcc[xcc][SRC_CLOCK - SRC_XCC_FIRST];
}

/* ---- encoding */

/* Doubles an array that is full; false: no memory. */
static bool grow(void **items, size_t used, size_t *capacity, size_t item_bytes, size_t more)
{
    if (used + more <= *capacity)
        return true;
    size_t wanted = (used + more) * 2;
    void *grown = realloc(*items, wanted * item_bytes);
    if (!grown)
        return false;
    *items = grown;
    *capacity = wanted;
    return true;
}

/* Once something did not fit nothing does: a reader cannot skip a gap. */
static void bytes_put(struct engine_trace *e, uint64_t token)
{
    uint32_t bytes = token_bytes[token & TOKEN_TYPE_MASK];
    void *memory = e->bytes;
    bool fits = e->written_bytes == e->total_bytes && e->written_bytes + bytes <= e->size_bytes &&
                grow(&memory, e->byte_count, &e->byte_capacity, 1, sizeof token);
    e->bytes = memory;
    e->total_bytes += bytes;
    if (!fits)
        return;
    for (uint32_t i = 0; i < bytes; i++)
        e->bytes[e->byte_count++] = (uint8_t)(token >> (8 * i));
    e->written_bytes += bytes;
}

static uint64_t timestamp(uint64_t ticks)
{
    return TOKEN_TIMESTAMP | (ticks * TOKEN_CYCLES_PER_TICK & 0xffffffffffff) << 16;
}

/*
 * A token says itself that a tick has passed since the one before it. Up to 255 are told before it;
 * after a longer time the time is told behind it, one tick later.
 */
static void token_put(struct engine_trace *e, uint64_t token, uint64_t cycles)
{
    uint64_t ticks = cycles / TOKEN_CYCLES_PER_TICK;
    uint64_t passed = ticks > e->ticks ? ticks - e->ticks : 0;
    bool far = !e->has_time || passed > MISC_DELTA_MAX;
    if (!(e->token_mask >> (token & TOKEN_TYPE_MASK) & 1))
        return;
    if (passed == 1 && !far)
        token |= TOKEN_DELTA;
    else if (far)
        bytes_put(e, TOKEN_MISC | MISC_TIME_RESET | MISC_DELTA_MAX << MISC_DELTA_SHIFT);
    else if (passed)
        bytes_put(e, TOKEN_MISC | passed << MISC_DELTA_SHIFT);
    bytes_put(e, token);
    if (far)
        bytes_put(e, timestamp(ticks + 1));
    e->ticks = ticks > e->ticks ? ticks : e->ticks;
    e->has_time = true;
}

/* Memory is written 32 bytes at a time: what is missing is filled with tokens that say nothing. */
static void pad(struct engine_trace *e)
{
    while (e->total_bytes % POINTER_UNIT_BYTES)
        bytes_put(e, TOKEN_MISC);
}

static int event_compare(const void *a, const void *b)
{
    const struct event *x = a, *y = b;
    if (x->cycles != y->cycles)
        return x->cycles < y->cycles ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void registers_update(struct perf *perf, uint32_t xcc, uint32_t unit)
{
    struct engine_trace *e = engine_at(perf, xcc, unit);
    uint32_t *status = storage_at(perf, REG_GFX90A_SQ_THREAD_TRACE_STATUS, xcc, unit);
    *storage_at(perf, REG_GFX90A_SQ_THREAD_TRACE_WPTR, xcc, unit) =
        (uint32_t)(e->written_bytes / POINTER_UNIT_BYTES);
    *storage_at(perf, REG_GFX90A_SQ_THREAD_TRACE_CNTR, xcc, unit) =
        (uint32_t)(e->total_bytes / POINTER_UNIT_BYTES);
    if (e->total_bytes != e->written_bytes)
        *status |= STATUS_FULL;
}

static void engine_settle(struct perf *perf, uint32_t xcc, uint32_t unit)
{
    struct engine_trace *e = engine_at(perf, xcc, unit);
    if (!e->event_count)
        return;
    qsort(e->events, e->event_count, sizeof *e->events, event_compare);
    for (uint32_t i = 0; i < e->event_count; i++)
        token_put(e, e->events[i].token, e->events[i].cycles);
    e->event_count = 0;
    pad(e);
    registers_update(perf, xcc, unit);
}

void trace_settle(struct perf *perf)
{
    if (perf->trace->running == 0)
        return;
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        for (uint32_t unit = 0; unit < perf->se_units; unit++)
            engine_settle(perf, xcc, unit);
}

/* An event that finds no memory is lost and counted as what did not fit. */
static void event_add(struct engine_trace *e, uint64_t cycles, uint64_t token)
{
    void *memory = e->events;
    size_t capacity = e->event_capacity;
    if (!(e->token_mask >> (token & TOKEN_TYPE_MASK) & 1))
        return;
    if (!grow(&memory, e->event_count, &capacity, sizeof *e->events, 1)) {
        e->total_bytes += token_bytes[token & TOKEN_TYPE_MASK];
        return;
    }
    e->events = memory;
    e->event_capacity = (uint32_t)capacity;
    e->events[e->event_count] = (struct event){cycles, token, e->event_count};
    e->event_count++;
}

/* ---- registers */

static uint32_t stored(struct perf *perf, uint32_t reg, uint32_t xcc, uint32_t unit)
{
    return *storage_at(perf, reg, xcc, unit);
}

static void want_write(struct perf *perf)
{
    perf->is_traced = trace_is_on(perf);
    wants_update(perf);
}

static void engine_begin(struct perf *perf, uint32_t xcc, uint32_t unit)
{
    struct engine_trace *e = engine_at(perf, xcc, unit);
    uint32_t mask = stored(perf, REG_GFX90A_SQ_THREAD_TRACE_MASK, xcc, unit);
    uint64_t high = stored(perf, REG_GFX90A_SQ_THREAD_TRACE_BASE2, xcc, unit) & 0xf;
    uint64_t page = high << 32 | stored(perf, REG_GFX90A_SQ_THREAD_TRACE_BASE, xcc, unit);
    uint64_t pages = stored(perf, REG_GFX90A_SQ_THREAD_TRACE_SIZE, xcc, unit) & 0x3fffff;
    e->on = true;
    perf->trace->running++;
    e->va = page << PAGE_SHIFT;
    e->size_bytes = pages << PAGE_SHIFT;
    e->token_mask = stored(perf, REG_GFX90A_SQ_THREAD_TRACE_TOKEN_MASK, xcc, unit) & 0xffff;
    e->inst_mask = stored(perf, REG_GFX90A_SQ_THREAD_TRACE_TOKEN_MASK2, xcc, unit);
    e->simd_mask = mask >> 8 & 0xf;
    e->has_time = false;
    bytes_put(e, TOKEN_MISC | MISC_TIME_RESET | MISC_DELTA_MAX << MISC_DELTA_SHIFT);
    e->ticks = now(perf, xcc) / TOKEN_CYCLES_PER_TICK;
    bytes_put(e, timestamp(e->ticks + 1));
    e->has_time = true;
    const uint32_t steps =
        1u << TOKEN_INST | 1u << TOKEN_ISSUE | 1u << TOKEN_INST_PC | 1u << TOKEN_INST_USERDATA;
    uint32_t target = TARGET_ON | (mask & (TARGET_CU_MASK | 1u << TARGET_SH_SHIFT)) |
                      (e->token_mask & steps ? TARGET_STEPS : 0);
    atomic_store_explicit(&perf->trace_targets[(size_t)xcc * perf->se_units + unit], target,
                          memory_order_relaxed);
    want_write(perf);
}

static void engine_end(struct perf *perf, uint32_t xcc, uint32_t unit)
{
    struct engine_trace *e = engine_at(perf, xcc, unit);
    atomic_store_explicit(&perf->trace_targets[(size_t)xcc * perf->se_units + unit], 0,
                          memory_order_relaxed);
    engine_settle(perf, xcc, unit);
    pad(e);
    registers_update(perf, xcc, unit);
    e->on = false;
    perf->trace->running--;
    want_write(perf);
}

static void engine_reset(struct perf *perf, uint32_t xcc, uint32_t unit)
{
    struct engine_trace *e = engine_at(perf, xcc, unit);
    e->total_bytes = e->written_bytes = 0;
    e->byte_count = 0;
    e->event_count = 0;
    registers_update(perf, xcc, unit);
}

void trace_register_written(struct perf *perf, uint32_t reg, uint32_t xcc, uint32_t unit,
                            uint32_t value)
{
    enum { MODE_SHIFT = 21, MODE_MASK = 3, CS_SHIFT = 18, CS_MASK = 7 };
    struct engine_trace *e = engine_at(perf, xcc, unit);
    bool on = (value >> MODE_SHIFT & MODE_MASK) == 1 && (value >> CS_SHIFT & CS_MASK);
    switch (reg) {
    case REG_GFX90A_SQ_THREAD_TRACE_MODE:
        if (on && !e->on)
            engine_begin(perf, xcc, unit);
        else if (!on && e->on)
            engine_end(perf, xcc, unit);
        break;
    case REG_GFX90A_SQ_THREAD_TRACE_CTRL:
        if (value >> 31)
            engine_reset(perf, xcc, unit);
        break;
    default: /* user data */
        if (e->on)
            event_add(e, now(perf, xcc), token_register(reg, value));
        if (!perf->running)
            engine_settle(perf, xcc, unit);
        break;
    }
}

/* ---- execution */

enum perf_trace_level perf_trace_level(const struct perf *perf, uint32_t xcc, uint32_t se,
                                       uint32_t sh, uint32_t cu)
{
    const struct gpu_model *model = perf->model;
    size_t engine = (size_t)xcc * perf->se_units + se * model->sh_per_se;
    if (xcc >= model->xcc_count || se >= model->se_count)
        return TRACE_NONE;
    uint32_t target = atomic_load_explicit(&perf->trace_targets[engine], memory_order_relaxed);
    if (!target)
        return TRACE_NONE;
    bool chosen = (target & TARGET_CU_MASK) == cu && (target >> TARGET_SH_SHIFT & 1) == sh;
    return chosen && target & TARGET_STEPS ? TRACE_STEPS : TRACE_WAVES;
}

/* How many waves of this launch a SIMD holds at once. */
static uint32_t places_per_simd(const struct perf *perf, const struct perf_group *group)
{
    uint64_t waves = (uint64_t)group->capacity * group->waves, simds = perf->model->simd_per_cu;
    uint64_t places = (waves + simds - 1) / simds, most = perf->model->waves_per_simd;
    if (!places || places > most)
        places = most;
    return places < WAVES ? (uint32_t)places : WAVES;
}

/* The place that is free first, and was not given to another wave of the group. */
static uint32_t place_take(uint64_t free_at[WAVES], uint32_t places, uint64_t *begin)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < places; i++)
        if (free_at[i] < free_at[best])
            best = i;
    if (free_at[best] != UINT64_MAX && free_at[best] > *begin)
        *begin = free_at[best];
    free_at[best] = UINT64_MAX;
    return best;
}

/* Where the group's waves are, and when it begins: when there is a place for each of them. */
static uint64_t group_place(struct perf *perf, const struct perf_group *group, uint64_t begin,
                            uint64_t resident, struct token_wave *waves)
{
    uint32_t unit =
        (group->se * perf->model->sh_per_se + group->sh) * perf->model->cu_per_sh + group->cu;
    uint64_t(*free_at)[WAVES] = perf->trace->wave_free[(size_t)group->xcc * perf->units + unit];
    uint32_t places = places_per_simd(perf, group);
    for (uint32_t i = 0; i < group->waves; i++) {
        waves[i] = (struct token_wave){
            .sh = group->sh, .cu = group->cu, .simd = i % perf->model->simd_per_cu % SIMDS};
        waves[i].wave = place_take(free_at[waves[i].simd], places, &begin);
    }
    for (uint32_t i = 0; i < group->waves; i++)
        free_at[waves[i].simd][waves[i].wave] = begin + resident;
    return begin;
}

static void step_add(struct engine_trace *e, const struct perf_trace_step *step,
                     const struct token_wave *wave, uint64_t *cycles)
{
    const struct clock_cost cost = clock_costs[step->tally];
    uint64_t issued = *cycles + cost.issue_cycles;
    bool has_inst = step->type != PERF_INST_NONE;
    if (e->simd_mask >> wave->simd & 1) {
        event_add(e, *cycles, token_issue(wave, has_inst ? ISSUE_INST : ISSUE_IMMEDIATE));
        if (has_inst && e->inst_mask >> step->type & 1)
            event_add(e, issued, token_inst(wave, step->type));
        if (step->type == PERF_INST_PC)
            event_add(e, issued, token_inst_pc(wave, step->value));
        if (step->is_userdata)
            event_add(e, issued, token_userdata(wave, (uint32_t)step->value));
    }
    *cycles = issued + cost.wait_cycles;
}

static uint32_t lanes_of(const struct perf_group *group, uint32_t wave)
{
    enum { LANES = 64 };
    uint32_t left = group->work_items - wave * LANES;
    return left < LANES ? left : LANES;
}

void trace_group(struct perf *perf, const struct perf_group *group, uint64_t begin_cycles)
{
    struct engine_trace *e = engine_at(perf, group->xcc, group->se * perf->model->sh_per_se);
    struct token_wave waves[WAVES];
    uint64_t cycles[WAVES];
    if (!e->on || group->waves == 0 || group->waves > WAVES)
        return;
    if (!perf->trace->wave_free)
        perf->trace->wave_free =
            calloc((size_t)perf->model->xcc_count * perf->units, sizeof *perf->trace->wave_free);
    if (!perf->trace->wave_free) {
        e->total_bytes += POINTER_UNIT_BYTES;
        return;
    }
    uint64_t resident = group->wave_cycles / group->waves;
    uint64_t begin = group_place(perf, group, begin_cycles, resident, waves);
    for (uint32_t i = 0; i < group->waves; i++) {
        cycles[i] = begin;
        event_add(e, begin, token_wave_start(&waves[i], lanes_of(group, i)));
    }
    for (uint64_t i = 0; i < group->step_count; i++) {
        const struct perf_trace_step *step = &group->steps[i];
        if (step->wave < group->waves)
            step_add(e, step, &waves[step->wave], &cycles[step->wave]);
    }
    for (uint32_t i = 0; i < group->waves; i++) {
        uint64_t end = begin + resident;
        event_add(e, cycles[i] > end ? cycles[i] : end, token_of_wave(TOKEN_WAVE_END, &waves[i]));
    }
    e->total_bytes += group->steps_lost * token_bytes[TOKEN_INST];
    if (e->event_count >= EVENTS_MAX)
        engine_settle(perf, group->xcc, group->se * perf->model->sh_per_se);
}

bool trace_is_on(const struct perf *perf)
{
    return perf->trace->running > 0;
}

void perf_trace_launch(struct perf *perf, const struct perf_trace_register *registers,
                       uint32_t count)
{
    enum { COMPUTE_FIRST = 0x2e00 };
    if (!(perf_wants(perf) & PERF_WANT_TRACE))
        return;
    pthread_mutex_lock(&perf->lock);
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++) {
        for (uint32_t unit = 0; unit < perf->se_units; unit++) {
            struct engine_trace *e = engine_at(perf, xcc, unit);
            for (uint32_t i = 0; e->on && i < count; i++)
                event_add(
                    e, now(perf, xcc),
                    token_compute_register(registers[i].reg - COMPUTE_FIRST, registers[i].value));
        }
    }
    pthread_mutex_unlock(&perf->lock);
}

/* ---- to memory */

bool perf_trace_register(uint32_t reg)
{
    return reg >= REG_GFX90A_SQ_THREAD_TRACE_BASE && reg <= REG_GFX90A_SQ_THREAD_TRACE_CNTR;
}

bool perf_trace_take(struct perf *perf, struct perf_trace_chunk *chunk)
{
    bool found = false;
    pthread_mutex_lock(&perf->lock);
    for (uint32_t i = 0; i < perf->model->xcc_count * perf->se_units && !found; i++) {
        struct engine_trace *e = &perf->trace->engines[i];
        if (!e->byte_count)
            continue;
        found = true;
        *chunk = (struct perf_trace_chunk){.engine = i,
                                           .va = e->va + e->written_bytes - e->byte_count,
                                           .bytes = e->bytes,
                                           .size_bytes = e->byte_count};
        e->bytes = NULL;
        e->byte_count = e->byte_capacity = 0;
    }
    pthread_mutex_unlock(&perf->lock);
    return found;
}

void perf_trace_fault(struct perf *perf, const struct perf_trace_chunk *chunk)
{
    pthread_mutex_lock(&perf->lock);
    *storage_at(perf, REG_GFX90A_SQ_THREAD_TRACE_STATUS, chunk->engine / perf->se_units,
                chunk->engine % perf->se_units) |= STATUS_UTC_ERROR;
    pthread_mutex_unlock(&perf->lock);
}
