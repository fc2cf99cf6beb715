#include "perf/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/time_source.h"
#include "perf/clock.h"
#include "perf/internal.h"

enum { WAVE_ITEMS = 64 };

#define GFX_INDEX_ALL 0xe0000000u /* broadcast to engines, arrays and instances */

static bool perf_allocate(struct perf *perf)
{
    uint32_t xccs = perf->model->xcc_count;
    bool complete = true;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        perf->block_units[block] = block_units(perf, block);
        size_t count = (size_t)xccs * perf->block_units[block] * perf_blocks[block].counter_count;
        perf->counters[block] = calloc(count, sizeof(struct counter));
        complete &= perf->counters[block] != NULL;
    }
    perf->is_whole = calloc(perf_register_count, sizeof perf->is_whole[0]);
    perf->storage = calloc((size_t)perf_register_count * xccs * perf->se_units, sizeof(uint32_t));
    perf->cu = calloc((size_t)xccs * perf->units, sizeof perf->cu[0]);
    perf->se = calloc((size_t)xccs * perf->se_units, sizeof perf->se[0]);
    perf->hidden_cu = calloc((size_t)xccs * perf->units, sizeof perf->hidden_cu[0]);
    perf->hidden_se = calloc((size_t)xccs * perf->se_units, sizeof perf->hidden_se[0]);
    perf->array_changes = calloc((size_t)xccs * perf->se_units, sizeof perf->array_changes[0]);
    perf->array_times = calloc((size_t)xccs * perf->se_units, sizeof perf->array_times[0]);
    perf->event_rows = calloc(BLOCK_COUNT, sizeof perf->event_rows[0]);
    complete &= perf->is_whole && perf->array_changes && perf->array_times;
    complete &= perf->hidden_cu && perf->hidden_se && perf->event_rows;
    perf->xcc = calloc(xccs, sizeof perf->xcc[0]);
    perf->channel = calloc((size_t)xccs * perf->model->tcc_channels, sizeof perf->channel[0]);
    perf->stray = calloc((size_t)xccs * perf->model->tcc_channels, sizeof perf->stray[0]);
    complete &= trace_allocate(perf) && perf->stray;
    return complete && perf->storage && perf->cu && perf->se && perf->xcc && perf->channel;
}

static void halves_find(struct perf *perf)
{
    for (uint32_t row = 0; row < perf_register_count; row++) {
        const struct reg_info *low = &perf_registers[row], *high = register_find(low->offset + 1);
        perf->is_whole[row] = low->block != BLOCK_NONE && low->kind == KIND_LOW && high &&
                              high->kind == KIND_HIGH && high->block == low->block &&
                              high->index == low->index;
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
    free(perf->is_whole);
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
    clock_advance(perf, cycles);
    xccs_add(perf, SRC_PACKETS, cycles);
    xccs_add(perf, SRC_IDLE, cycles);
}

static struct running_dispatch **dispatch_find(struct perf *perf, uint64_t seq)
{
    struct running_dispatch **at = &perf->running;
    while (*at && (*at)->seq != seq)
        at = &(*at)->next;
    return at;
}

/* What an instruction of the class keeps in flight; loads of vectors: bounds.c. */
static void latency_add(enum inst_class klass, enum clock_wait wait, uint64_t cycles, uint64_t *cu)
{
    if (klass >= CLASS_VMEM_RD && klass <= CLASS_FLAT_WR && wait != WAIT_LOAD)
        cu[SRC_VMEM_LATENCY] += cycles;
    if (klass == CLASS_LDS)
        cu[SRC_LDS_LATENCY] += cycles;
}

static void tally_add(const struct clock_cost *costs, enum inst_tally tally, uint64_t count,
                      uint64_t *cu)
{
    _Static_assert(SRC_INST_OTHER - SRC_INST_VALU == CLASS_OTHER - CLASS_VALU, "same order");
    enum inst_class klass = tally_class[tally];
    cu[tally] += count;
    cu[SRC_INST_VALU + klass] += count;
    cu[SRC_MATRIX_CYCLES] += count * costs[tally].matrix_cycles;
    latency_add(klass, (enum clock_wait)costs[tally].wait, count * costs[tally].wait_cycles, cu);
}

static void instructions_add(const struct perf *perf, const struct perf_group *group, uint64_t *cu)
{
    for (uint32_t i = 0; i < group->tally_count; i++)
        tally_add(perf->costs, group->tallies[i], group->counts[i], cu);
    cu[SRC_VALU_LANES] += group->valu_lanes;
    cu[SRC_FLAT_LDS] += group->flat_lds_insts;
    cu[SRC_FLAT_LDS_ONLY] += group->flat_lds_only;
    cu[SRC_IFETCH] += group->fetches;
    cu[SRC_IFETCH_LATENCY] += SCALAR_HIT_CYCLES * group->fetches;
}

/* All waves are full but the last. */
static void waves_add(const struct perf_group *group, uint64_t *cu)
{
    uint32_t left = group->work_items;
    cu[SRC_GROUPS]++;
    cu[SRC_WAVES] += group->waves;
    cu[SRC_ITEMS] += group->work_items;
    for (uint32_t i = 0; i < group->waves; i++) {
        uint32_t items = left < WAVE_ITEMS ? left : WAVE_ITEMS;
        left -= items;
        cu[SRC_WAVES_EQ_64] += items == 64;
        cu[SRC_WAVES_LT_64] += items < 64;
        cu[SRC_WAVES_LT_48] += items < 48;
        cu[SRC_WAVES_LT_32] += items < 32;
        cu[SRC_WAVES_LT_16] += items < 16;
    }
}

static void lds_add(const struct perf_lds *lds, uint64_t *cu)
{
    cu[SRC_LDS_ACTIVE] += lds->active;
    cu[SRC_LDS_CONFLICT] += lds->conflict;
    cu[SRC_LDS_ADDRESS_CONFLICT] += lds->address_conflict;
    cu[SRC_LDS_UNALIGNED] += lds->unaligned;
    cu[SRC_LDS_RETURN] += lds->atomic_return;
    cu[SRC_LDS_VIOLATIONS] += lds->violations;
}

/* What has been added to `now` since it was `before` is added to `to`, too. */
static void growth_add(const uint64_t *now, const uint64_t *before, size_t count, uint64_t *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] += now[i] - before[i];
}

static bool is_counted(struct perf *perf, const struct running_dispatch *dispatch, uint32_t xcc)
{
    return dispatch ? dispatch->is_counted
                    : *storage_at(perf, REG_GFX90A_COMPUTE_PERFCOUNT_ENABLE, xcc, 0) & 1;
}

/* What the group did, to its unit's totals, its channels' and its dispatch's. */
static void group_add(struct perf *perf, const struct perf_group *group, uint32_t unit, size_t at,
                      struct running_dispatch *dispatch)
{
    instructions_add(perf, group, perf->cu[at]);
    waves_add(group, perf->cu[at]);
    lds_add(&group->lds, perf->cu[at]);
    if (dispatch)
        trace_group(perf, group, dispatch->begin_cycles);
    size_t channels = (size_t)group->xcc * perf->model->tcc_channels;
    struct memory_totals totals = {
        .cu = perf->cu[at],
        .channel = perf->channel + channels,
        .work = (dispatch ? dispatch->work : perf->stray) + channels,
    };
    uint64_t fetch_misses = totals.cu[SRC_ICACHE_MISS];
    memory_group(&perf->memory, group, unit, &totals);
    bounds_group(group, totals.cu, dispatch, at);
    fetch_misses = totals.cu[SRC_ICACHE_MISS] - fetch_misses;
    totals.cu[SRC_ICACHE_HIT] += group->fetches > fetch_misses ? group->fetches - fetch_misses : 0;
}

void perf_group_retire(struct perf *perf, const struct perf_group *group)
{
    const struct gpu_model *model = perf->model;
    uint32_t unit = (group->se * model->sh_per_se + group->sh) * model->cu_per_sh + group->cu;
    uint64_t before[SRC_CU_COUNT];
    if (group->xcc >= model->xcc_count || unit >= perf->units)
        return;
    size_t at = (size_t)group->xcc * perf->units + unit;

    pthread_mutex_lock(&perf->lock);
    struct running_dispatch *dispatch = *dispatch_find(perf, group->dispatch_seq);
    bool hides = perf->sequencers_counting && !is_counted(perf, dispatch, group->xcc);
    if (hides)
        memcpy(before, perf->cu[at], sizeof before);
    group_add(perf, group, unit, at, dispatch);
    if (hides)
        growth_add(perf->cu[at], before, SRC_CU_COUNT, perf->hidden_cu[at]);
    array_changed(perf, group->xcc, group->se * model->sh_per_se + group->sh);
    pthread_mutex_unlock(&perf->lock);
}

static struct running_dispatch *dispatch_allocate(const struct perf *perf)
{
    size_t units = (size_t)perf->model->xcc_count * perf->units;
    size_t channels = (size_t)perf->model->xcc_count * perf->model->tcc_channels;
    struct running_dispatch *dispatch =
        calloc(1, sizeof *dispatch + units * sizeof dispatch->units[0] +
                      channels * sizeof dispatch->work[0] + units * sizeof dispatch->used[0]);
    if (!dispatch)
        return NULL;
    dispatch->work = (struct channel_work *)(void *)(dispatch->units + units);
    dispatch->used = (uint32_t *)(void *)(dispatch->work + channels);
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
    dispatch->translation_misses = 0;
    memset(dispatch->work, 0, channels * sizeof dispatch->work[0]);
    if (dispatch->sample)
        dispatch_sample_begin(dispatch->sample);
    return dispatch;
}

void perf_dispatch_begin(struct perf *perf, uint64_t dispatch_seq, bool is_counted_there)
{
    pthread_mutex_lock(&perf->lock);
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
    pthread_mutex_unlock(&perf->lock);
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
    clock_advance(perf, longest + CYCLES_PER_LAUNCH);
    xccs_add(perf, SRC_GUI_ACTIVE, longest + CYCLES_PER_LAUNCH);
    xccs_add(perf, SRC_SPI_BUSY, longest);
    return longest + CYCLES_PER_LAUNCH;
}

uint64_t perf_dispatch_end(struct perf *perf, uint64_t dispatch_seq)
{
    uint64_t cycles = 0;
    pthread_mutex_lock(&perf->lock);
    struct running_dispatch **at = dispatch_find(perf, dispatch_seq), *dispatch = *at;
    if (perf_wants(perf) & PERF_WANT_MEMORY) /* what is written back takes the dispatch's time */
        memory_release(&perf->memory, perf->channel, dispatch ? dispatch->work : perf->stray);
    if (dispatch) {
        bounds_dispatch(perf, dispatch);
        cycles = cycles_add(perf, dispatch);
        trace_settle(perf);
        *at = dispatch->next;
        dispatch->next = perf->spare;
        perf->spare = dispatch;
    }
    pthread_mutex_unlock(&perf->lock);
    return cycles;
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
