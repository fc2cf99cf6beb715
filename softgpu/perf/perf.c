#include "perf/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/time_source.h"
#include "perf/clock.h"
#include "perf/internal.h"

#define GFX_INDEX_ALL 0xe0000000u /* broadcast to engines, arrays and instances */

static bool perf_allocate(struct perf *perf)
{
    uint32_t xccs = perf->model->xcc_count;
    size_t listed = 0;
    bool complete = true;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        perf->block_units[block] = block_units(perf, block);
        size_t count = (size_t)xccs * perf->block_units[block] * perf_blocks[block].counter_count;
        perf->counters[block] = calloc(count, sizeof(struct counter));
        complete &= perf->counters[block] != NULL;
        listed += perf_blocks[block].control == CONTROL_MC ? 0 : count;
    }
    perf->touched_list = calloc(listed, sizeof perf->touched_list[0]);
    complete &= perf->touched_list != NULL;
    perf->whole_counters = calloc(perf_register_count, sizeof perf->whole_counters[0]);
    perf->selects = calloc(perf_register_count, sizeof perf->selects[0]);
    perf->storage = calloc((size_t)perf_register_count * xccs * perf->se_units, sizeof(uint32_t));
    perf->cu = calloc((size_t)xccs * perf->units, sizeof perf->cu[0]);
    perf->se = calloc((size_t)xccs * perf->se_units, sizeof perf->se[0]);
    perf->hidden_cu = calloc((size_t)xccs * perf->units, sizeof perf->hidden_cu[0]);
    perf->hidden_se = calloc((size_t)xccs * perf->se_units, sizeof perf->hidden_se[0]);
    perf->array_changes = calloc((size_t)xccs * perf->se_units, sizeof perf->array_changes[0]);
    perf->array_times = calloc((size_t)xccs * perf->se_units, sizeof perf->array_times[0]);
    perf->event_rows = calloc(BLOCK_COUNT, sizeof perf->event_rows[0]);
    complete &= perf->whole_counters && perf->selects && perf->array_changes && perf->array_times;
    complete &= perf->hidden_cu && perf->hidden_se && perf->event_rows;
    perf->xcc = calloc(xccs, sizeof perf->xcc[0]);
    perf->channel = calloc((size_t)xccs * perf->model->tcc_channels, sizeof perf->channel[0]);
    perf->stray = calloc((size_t)xccs * perf->model->tcc_channels, sizeof perf->stray[0]);
    complete &= trace_allocate(perf) && perf->stray;
    return complete && perf->storage && perf->cu && perf->se && perf->xcc && perf->channel;
}

static bool is_whole_counter(const struct reg_info *low)
{
    const struct reg_info *high = register_find(low->offset + 1);
    return low->block != BLOCK_NONE && low->kind == KIND_LOW && high && high->kind == KIND_HIGH &&
           high->block == low->block && high->index == low->index;
}

static void halves_find(struct perf *perf)
{
    for (uint32_t row = 0; row < perf_register_count; row++) {
        const struct reg_info *low = &perf_registers[row];
        if (!is_whole_counter(low))
            continue;
        const struct block_info *block = &perf_blocks[low->block];
        size_t unit_step = block->counter_count * sizeof(struct counter);
        perf->whole_counters[row] = (struct whole_counter){
            .first = block->control == CONTROL_MC ? NULL : &perf->counters[low->block][low->index],
            .unit_step = unit_step,
            .xcc_step = perf->block_units[low->block] * unit_step,
            .axis = (uint8_t)block->axis,
            .is_there = true};
    }
}

/* After reset no compute unit is masked out. */
static void arrays_open(struct perf *perf)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++) {
        for (uint32_t unit = 0; unit < perf->se_units; unit++) {
            *storage_at(perf, REG_GFX90A_SQ_PERFCOUNTER_MASK, xcc, unit) = UINT32_MAX;
            array_changed(perf, xcc, unit);
        }
    }
}

int perf_create(const struct gpu_model *model, struct perf **out)
{
    struct perf *perf = calloc(1, sizeof *perf);
    if (!perf)
        return -ENOMEM;
    perf->model = model;
    perf->costs = clock_costs_of(model->gen);
    perf->se_units = model->se_count * model->sh_per_se;
    perf->units = perf->se_units * model->cu_per_sh;
    perf->engine_count = engines_of(model->gen);
    perf->gfx_index = GFX_INDEX_ALL;
    pthread_mutex_init(&perf->lock, NULL);
    if (perf_allocate(perf) && memory_create(&perf->memory, model) == 0) {
        halves_find(perf);
        arrays_open(perf);
        events_number(model->gen, perf->event_rows);
        perf->samples_all = time_sampling_is_off();
        atomic_init(&perf->wants, 0);
        atomic_init(&perf->wants_time, false);
        *out = perf;
        return 0;
    }
    perf_destroy(perf);
    return -ENOMEM;
}

static void dispatches_free(struct running_dispatch *list)
{
    while (list) {
        struct running_dispatch *next = list->next;
        dispatch_sample_destroy(list->sample);
        free(list);
        list = next;
    }
}

void perf_destroy(struct perf *perf)
{
    if (!perf)
        return;
    if (perf->memory.model)
        memory_destroy(&perf->memory);
    dispatches_free(perf->running);
    dispatches_free(perf->spare);
    for (int block = 0; block < BLOCK_COUNT; block++)
        free(perf->counters[block]);
    free(perf->storage);
    free(perf->whole_counters);
    free(perf->selects);
    free(perf->touched_list);
    free(perf->cu);
    free(perf->se);
    free(perf->hidden_cu);
    free(perf->hidden_se);
    free(perf->array_changes);
    free(perf->array_times);
    free(perf->xcc);
    free(perf->channel);
    free(perf->event_rows);
    free(perf->stray);
    trace_free(perf);
    pthread_mutex_destroy(&perf->lock);
    free(perf);
}

bool perf_samples_all(const struct perf *perf)
{
    return perf->samples_all;
}

static void clock_advance(struct perf *perf, uint64_t cycles)
{
    xccs_add(perf, SRC_CLOCK, cycles);
}

void packets_advance(struct perf *perf, uint64_t cycles)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++) {
        uint64_t *totals = perf->xcc[xcc];
        totals[SRC_CLOCK - SRC_XCC_FIRST] += cycles;
        totals[SRC_PACKETS - SRC_XCC_FIRST] += cycles;
        totals[SRC_IDLE - SRC_XCC_FIRST] += cycles;
    }
}

static struct running_dispatch *dispatch_allocate(const struct perf *perf)
{
    size_t units = (size_t)perf->model->xcc_count * perf->units;
    size_t channels = (size_t)perf->model->xcc_count * perf->model->tcc_channels;
    struct running_dispatch *dispatch =
        calloc(1, sizeof *dispatch + units * sizeof dispatch->units[0] +
                      channels * sizeof dispatch->work[0] + 3 * units * sizeof dispatch->used[0]);
    if (!dispatch)
        return NULL;
    dispatch->work = (struct channel_work *)(void *)(dispatch->units + units);
    dispatch->used = (uint32_t *)(void *)(dispatch->work + channels);
    dispatch->unsettled = dispatch->used + units;
    dispatch->turns = dispatch->unsettled + units;
    dispatch->sample = dispatch_sample_create(perf->model, perf->samples_all);
    return dispatch;
}

static struct running_dispatch *dispatch_new(struct perf *perf)
{
    size_t channels = (size_t)perf->model->xcc_count * perf->model->tcc_channels;
    struct running_dispatch *dispatch = perf->spare;
    if (!dispatch)
        dispatch = dispatch_allocate(perf);
    else
        perf->spare = dispatch->next;
    if (!dispatch)
        return NULL;
    /* What a kernel of a few groups has used is less than what there is. */
    for (uint32_t i = 0; i < dispatch->used_count; i++)
        dispatch->units[dispatch->used[i]] = (struct unit_time){0};
    dispatch->used_count = 0;
    dispatch->unsettled_count = dispatch->turn_count = 0;
    dispatch->alike_range.first = dispatch->alike_range.end = 0;
    dispatch->alike_known = false;
    dispatch->translation_misses = 0;
    memset(dispatch->work, 0, channels * sizeof dispatch->work[0]);
    if (dispatch->sample)
        dispatch_sample_begin(dispatch->sample);
    return dispatch;
}

static void dispatch_begin(struct perf *perf, uint64_t dispatch_seq, bool is_counted_there)
{
    if (perf_wants(perf) & (PERF_WANT_MEMORY | PERF_WANT_FETCH))
        memory_acquire(&perf->memory);
    struct running_dispatch *dispatch = dispatch_new(perf);
    if (dispatch) { /* without memory only the cycle counters of this dispatch stay behind */
        dispatch->seq = dispatch_seq;
        dispatch->is_counted = is_counted_there;
        dispatch->begin_cycles = perf->xcc[0][SRC_CLOCK - SRC_XCC_FIRST] + CYCLES_PER_LAUNCH;
        dispatch->next = perf->running;
        perf->running = dispatch;
    }
}

/*
 * Groups that find no room wait at the array's door. They enter evenly over its time, so that the
 * last one enters when all but `room` groups have left.
 */
static void room_add(const struct perf *perf, const struct running_dispatch *dispatch,
                     const struct array_time *time, uint64_t *se)
{
    uint64_t room = (uint64_t)time->units * dispatch->capacity;
    if (time->groups <= room)
        return;
    uint64_t waiting = time->busy_cycles * (time->groups - room) / time->groups;
    uint64_t simds = (uint64_t)time->units * perf->model->simd_per_cu;
    se[SRC_NO_ROOM - SRC_SE_FIRST] += waiting;
    switch (dispatch->limit) {
    case LIMIT_WAVES:
        se[SRC_NO_WAVE_SIMDS - SRC_SE_FIRST] += waiting * simds;
        break;
    case LIMIT_VGPRS:
        se[SRC_NO_VGPR_SIMDS - SRC_SE_FIRST] += waiting * simds;
        break;
    case LIMIT_SGPRS:
        se[SRC_NO_SGPR_SIMDS - SRC_SE_FIRST] += waiting * simds;
        break;
    case LIMIT_LDS:
        se[SRC_NO_LDS_UNITS - SRC_SE_FIRST] += waiting * time->units;
        break;
    case LIMIT_BARRIERS:
        se[SRC_NO_BARRIER_UNITS - SRC_SE_FIRST] += waiting * time->units;
        break;
    case LIMIT_BULKY:
        se[SRC_NO_BULKY_UNITS - SRC_SE_FIRST] += waiting * time->units;
        break;
    }
}

/* The times of the arrays that have executed groups: of no others, of which there may be many. */
static void arrays_time(struct perf *perf, const struct running_dispatch *dispatch)
{
    for (uint32_t i = 0; i < dispatch->used_count; i++) {
        const struct unit_time *unit = &dispatch->units[dispatch->used[i]];
        struct array_time *time = &perf->array_times[dispatch->used[i] / perf->model->cu_per_sh];
        time->groups += unit->groups;
        if (unit->array_units)
            time->units = unit->array_units;
        if (unit->busy_cycles > time->busy_cycles)
            time->busy_cycles = unit->busy_cycles;
    }
}

static void array_add(struct perf *perf, const struct running_dispatch *dispatch, uint32_t array,
                      const struct array_time *time)
{
    uint64_t before[SRC_SE_COUNT];
    memcpy(before, perf->se[array], sizeof before);
    if (time->busy_cycles)
        perf->se[array][SRC_SE_BUSY - SRC_SE_FIRST] += time->busy_cycles + CYCLES_PER_LAUNCH;
    room_add(perf, dispatch, time, perf->se[array]);
    if (!dispatch->is_counted)
        growth_add(perf->se[array], before, SRC_SE_COUNT, perf->hidden_se[array]);
    perf->array_changes[array]++;
}

/* XCCs work side by side: the dispatch takes as long as its slowest shader array. */
static uint64_t cycles_add(struct perf *perf, const struct running_dispatch *dispatch)
{
    uint64_t longest = 0;
    arrays_time(perf, dispatch);
    for (uint32_t i = 0; i < dispatch->used_count; i++) {
        uint32_t array = dispatch->used[i] / perf->model->cu_per_sh;
        struct array_time time = perf->array_times[array];
        if (!time.groups) /* one of its other units came first */
            continue;
        perf->array_times[array] = (struct array_time){0};
        if (time.busy_cycles > longest)
            longest = time.busy_cycles;
        array_add(perf, dispatch, array, &time);
    }
    xccs_add(perf, SRC_PACKETS, CYCLES_PER_LAUNCH);
    xccs_add(perf, SRC_DISPATCHES, 1);
    clock_advance(perf, longest + CYCLES_PER_LAUNCH);
    xccs_add(perf, SRC_GUI_ACTIVE, longest + CYCLES_PER_LAUNCH);
    xccs_add(perf, SRC_SPI_BUSY, longest);
    return longest + CYCLES_PER_LAUNCH;
}

static uint64_t dispatch_end(struct perf *perf, uint64_t dispatch_seq)
{
    uint64_t cycles = 0;
    struct running_dispatch **at = dispatch_find(perf, dispatch_seq), *dispatch = *at;
    if (perf_wants(perf) & PERF_WANT_MEMORY) /* what is written back takes the dispatch's time */
        memory_release(&perf->memory, perf->channel, dispatch ? dispatch->work : perf->stray);
    if (dispatch) {
        dispatch_settle(perf, dispatch);
        memory_settle(&perf->memory);
        bounds_dispatch(perf, dispatch);
        cycles = cycles_add(perf, dispatch);
        memory_shared_end(&perf->memory, cycles, perf->cu,
                          dispatch->is_counted ? NULL : perf->hidden_cu);
        trace_settle(perf);
        *at = dispatch->next;
        dispatch->next = perf->spare;
        perf->spare = dispatch;
    }
    return cycles;
}

uint64_t perf_retire(struct perf *perf, const struct perf_retirement *retirement)
{
    uint64_t cycles = 0;
    pthread_mutex_lock(&perf->lock);
    if (retirement->begins)
        dispatch_begin(perf, retirement->dispatch_seq, retirement->is_counted);
    bool all = groups_account(perf, retirement->next, retirement->arg, retirement->count);
    if (retirement->ends && all)
        cycles = dispatch_end(perf, retirement->dispatch_seq);
    pthread_mutex_unlock(&perf->lock);
    return cycles;
}

void perf_dispatch_begin(struct perf *perf, uint64_t dispatch_seq, bool is_counted)
{
    perf_retire(perf, &(struct perf_retirement){
                          .dispatch_seq = dispatch_seq, .begins = true, .is_counted = is_counted});
}

static const struct perf_group *only_one(void *arg)
{
    return arg;
}

void perf_group_retire(struct perf *perf, const struct perf_group *group)
{
    perf_retire(perf, &(struct perf_retirement){.dispatch_seq = group->dispatch_seq,
                                                .next = only_one,
                                                .arg = (void *)(uintptr_t)group,
                                                .count = 1});
}

uint64_t perf_dispatch_end(struct perf *perf, uint64_t dispatch_seq)
{
    return perf_retire(perf, &(struct perf_retirement){.dispatch_seq = dispatch_seq, .ends = true});
}

void perf_engine_work(struct perf *perf, uint32_t engine, uint32_t packets, uint32_t interrupts,
                      uint32_t ring_wraps)
{
    if (engine >= perf->engine_count)
        return;
    pthread_mutex_lock(&perf->lock);
    uint64_t *totals = perf->engine[engine];
    totals[SRC_SDMA_PACKETS - SRC_ENGINE_FIRST] += packets;
    totals[SRC_SDMA_INTERRUPTS - SRC_ENGINE_FIRST] += interrupts;
    totals[SRC_SDMA_RING_WRAPS - SRC_ENGINE_FIRST] += ring_wraps;
    pthread_mutex_unlock(&perf->lock);
}
