#include "perf/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/clock.h"
#include "perf/internal.h"

/* What a dispatch's launch costs on the clock of README.md. */
enum { CYCLES_PER_LAUNCH = 1000, WAVE_ITEMS = 64 };

#define GFX_INDEX_ALL 0xe0000000u /* broadcast to engines, arrays and instances */

static bool perf_allocate(struct perf *perf)
{
    uint32_t xccs = perf->model->xcc_count;
    bool complete = true;
    for (int block = 0; block < BLOCK_COUNT; block++) {
        size_t count = (size_t)xccs * block_units(perf, block) * perf_blocks[block].counter_count;
        perf->counters[block] = calloc(count, sizeof(struct counter));
        complete &= perf->counters[block] != NULL;
    }
    perf->storage = calloc((size_t)perf_register_count * xccs * perf->se_units, sizeof(uint32_t));
    perf->cu = calloc((size_t)xccs * perf->units, sizeof perf->cu[0]);
    perf->se = calloc((size_t)xccs * perf->se_units, sizeof perf->se[0]);
    perf->hidden_cu = calloc((size_t)xccs * perf->units, sizeof perf->hidden_cu[0]);
    perf->hidden_se = calloc((size_t)xccs * perf->se_units, sizeof perf->hidden_se[0]);
    complete &= perf->hidden_cu && perf->hidden_se;
    perf->xcc = calloc(xccs, sizeof perf->xcc[0]);
    perf->channel = calloc((size_t)xccs * perf->model->tcc_channels, sizeof perf->channel[0]);
    complete &= trace_allocate(perf);
    return complete && perf->storage && perf->cu && perf->se && perf->xcc && perf->channel;
}

/* After reset no compute unit is masked out. */
static void masks_open(struct perf *perf)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        for (uint32_t unit = 0; unit < perf->se_units; unit++)
            *storage_at(perf, REG_GFX90A_SQ_PERFCOUNTER_MASK, xcc, unit) = UINT32_MAX;
}

int perf_create(const struct gpu_model *model, struct perf **out)
{
    struct perf *perf = calloc(1, sizeof *perf);
    if (!perf)
        return -ENOMEM;
    perf->model = model;
    perf->se_units = model->se_count * model->sh_per_se;
    perf->units = perf->se_units * model->cu_per_sh;
    perf->engine_count = engines_of(model->gen);
    perf->gfx_index = GFX_INDEX_ALL;
    pthread_mutex_init(&perf->lock, NULL);
    if (perf_allocate(perf) && memory_create(&perf->memory, model) == 0) {
        masks_open(perf);
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
    free(perf->cu);
    free(perf->se);
    free(perf->hidden_cu);
    free(perf->hidden_se);
    free(perf->xcc);
    free(perf->channel);
    trace_free(perf);
    pthread_mutex_destroy(&perf->lock);
    free(perf);
}

static void xccs_add(struct perf *perf, enum perf_source source, uint64_t value)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        perf->xcc[xcc][source - SRC_XCC_FIRST] += value;
}

static void clock_advance(struct perf *perf, uint64_t cycles)
{
    xccs_add(perf, SRC_CLOCK, cycles);
}

void packets_advance(struct perf *perf, uint64_t cycles)
{
    clock_advance(perf, cycles);
    xccs_add(perf, SRC_PACKETS, cycles);
}

static struct running_dispatch **dispatch_find(struct perf *perf, uint64_t seq)
{
    struct running_dispatch **at = &perf->running;
    while (*at && (*at)->seq != seq)
        at = &(*at)->next;
    return at;
}

static const uint8_t tally_class[TALLY_COUNT] = {
#define TALLY_CLASS(name, klass, ...) CLASS_##klass,
    INST_TALLIES(TALLY_CLASS)
#undef TALLY_CLASS
};

static const uint8_t tally_matrix_cycles[TALLY_COUNT] = {
#define TALLY_MATRIX(name, klass, issue, latency, matrix) matrix,
    INST_TALLIES(TALLY_MATRIX)
#undef TALLY_MATRIX
};

/* What an instruction of the class keeps in flight. */
static void latency_add(enum inst_class klass, uint64_t cycles, uint64_t *cu)
{
    if (klass >= CLASS_VMEM_RD && klass <= CLASS_FLAT_WR)
        cu[SRC_VMEM_LATENCY] += cycles;
    if (klass == CLASS_SMEM)
        cu[SRC_SMEM_LATENCY] += cycles;
    if (klass == CLASS_LDS)
        cu[SRC_LDS_LATENCY] += cycles;
}

static void tally_add(enum inst_tally tally, uint64_t count, uint64_t *cu)
{
    _Static_assert(SRC_INST_OTHER - SRC_INST_VALU == CLASS_OTHER - CLASS_VALU, "same order");
    enum inst_class klass = tally_class[tally];
    cu[tally] += count;
    cu[SRC_INST_VALU + klass] += count;
    cu[SRC_MATRIX_CYCLES] += count * tally_matrix_cycles[tally];
    latency_add(klass, count * clock_costs[tally].wait_cycles, cu);
}

static void instructions_add(const struct perf_group *group, uint64_t *cu)
{
    for (uint32_t i = 0; i < group->tally_count; i++)
        tally_add(group->tallies[i], group->counts[i], cu);
    cu[SRC_VALU_LANES] += group->valu_lanes;
    cu[SRC_FLAT_LDS] += group->flat_lds_insts;
    cu[SRC_FLAT_LDS_ONLY] += group->flat_lds_only;
    cu[SRC_IFETCH] += group->fetches;
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

static void times_add(const struct perf_group *group, uint64_t *cu)
{
    uint64_t own = group->issue_cycles + group->wait_cycles;
    cu[SRC_WAVE_CYCLES] += group->wave_cycles;
    cu[SRC_ISSUE_CYCLES] += group->issue_cycles;
    cu[SRC_WAIT_CYCLES] += group->wait_cycles;
    cu[SRC_ARBITER_CYCLES] += group->wave_cycles > own ? group->wave_cycles - own : 0;
    cu[SRC_CU_BUSY] += group->busy_cycles;
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

static void uses_note(struct running_dispatch *dispatch, const struct perf_group *group)
{
    for (uint32_t i = 0; i < group->tally_count; i++) {
        enum inst_class klass = tally_class[group->tallies[i]];
        bool vector = klass >= CLASS_VMEM_RD && klass <= CLASS_FLAT_WR;
        dispatch->used_vector_memory |= vector;
        dispatch->used_memory |= vector || klass == CLASS_SMEM;
    }
}

/* How long each unit was busy with the dispatch, and what else it kept busy. */
static void dispatch_add(struct running_dispatch *dispatch, const struct perf_group *group,
                         size_t unit)
{
    dispatch->units[unit].busy_cycles += group->busy_cycles;
    dispatch->units[unit].groups++;
    dispatch->capacity = group->capacity;
    dispatch->limit = group->limit;
    uses_note(dispatch, group);
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
    instructions_add(group, perf->cu[at]);
    waves_add(group, perf->cu[at]);
    times_add(group, perf->cu[at]);
    lds_add(&group->lds, perf->cu[at]);
    if (dispatch)
        dispatch_add(dispatch, group, at);
    if (dispatch)
        trace_group(perf, group, dispatch->begin_cycles);
    struct memory_totals totals = {
        .cu = perf->cu[at],
        .channel = perf->channel + (size_t)group->xcc * perf->model->tcc_channels,
    };
    uint64_t fetch_misses = totals.cu[SRC_ICACHE_MISS];
    for (uint64_t i = 0; group->accesses && i < group->access_count; i++)
        memory_access(&perf->memory, group->xcc, unit, &group->accesses[i], &totals);
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
    bool counted = is_counted(perf, dispatch, group->xcc);
    if (!counted)
        memcpy(before, perf->cu[at], sizeof before);
    group_add(perf, group, unit, at, dispatch);
    if (!counted)
        growth_add(perf->cu[at], before, SRC_CU_COUNT, perf->hidden_cu[at]);
    pthread_mutex_unlock(&perf->lock);
}

static struct running_dispatch *dispatch_new(struct perf *perf)
{
    size_t units = (size_t)perf->model->xcc_count * perf->units;
    size_t size = sizeof(struct running_dispatch) + units * sizeof(struct unit_time);
    struct running_dispatch *dispatch = perf->spare;
    if (dispatch)
        perf->spare = dispatch->next;
    else
        dispatch = malloc(size);
    if (dispatch)
        memset(dispatch, 0, size);
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

struct array_time {
    uint64_t busy_cycles, groups; /* until its last unit was free */
};

static struct array_time array_time(const struct perf *perf, const struct unit_time *units)
{
    struct array_time time = {0, 0};
    for (uint32_t cu = 0; cu < perf->model->cu_per_sh; cu++) {
        time.groups += units[cu].groups;
        if (units[cu].busy_cycles > time.busy_cycles)
            time.busy_cycles = units[cu].busy_cycles;
    }
    return time;
}

/*
 * Groups that find no room wait at the array's door. They enter evenly over its time, so that the
 * last one enters when all but `room` groups have left.
 */
static void room_add(const struct perf *perf, const struct running_dispatch *dispatch,
                     struct array_time time, uint64_t *se)
{
    const struct gpu_model *model = perf->model;
    uint32_t units = model->cu_active / (model->xcc_count * perf->se_units);
    uint64_t room = (uint64_t)units * dispatch->capacity;
    if (time.groups <= room)
        return;
    uint64_t waiting = time.busy_cycles * (time.groups - room) / time.groups;
    uint64_t simds = (uint64_t)units * model->simd_per_cu;
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
        se[SRC_NO_LDS_UNITS - SRC_SE_FIRST] += waiting * units;
        break;
    case LIMIT_BARRIERS:
        se[SRC_NO_BARRIER_UNITS - SRC_SE_FIRST] += waiting * units;
        break;
    }
}

/* XCCs work side by side: the dispatch takes as long as its slowest shader array. */
static void cycles_add(struct perf *perf, const struct running_dispatch *dispatch)
{
    uint32_t arrays = perf->model->xcc_count * perf->se_units;
    uint64_t longest = 0, before[SRC_SE_COUNT];
    for (uint32_t i = 0; i < arrays; i++) {
        struct array_time time =
            array_time(perf, dispatch->units + (size_t)i * perf->model->cu_per_sh);
        memcpy(before, perf->se[i], sizeof before);
        if (time.busy_cycles)
            perf->se[i][SRC_SE_BUSY - SRC_SE_FIRST] += time.busy_cycles + CYCLES_PER_LAUNCH;
        if (time.busy_cycles > longest)
            longest = time.busy_cycles;
        room_add(perf, dispatch, time, perf->se[i]);
        if (!dispatch->is_counted)
            growth_add(perf->se[i], before, SRC_SE_COUNT, perf->hidden_se[i]);
    }
    packets_advance(perf, CYCLES_PER_LAUNCH);
    clock_advance(perf, longest);
    xccs_add(perf, SRC_GUI_ACTIVE, longest + CYCLES_PER_LAUNCH);
    xccs_add(perf, SRC_SPI_BUSY, longest);
    xccs_add(perf, SRC_TA_BUSY, dispatch->used_vector_memory ? longest : 0);
    xccs_add(perf, SRC_TC_BUSY, dispatch->used_memory ? longest : 0);
}

void perf_dispatch_end(struct perf *perf, uint64_t dispatch_seq)
{
    pthread_mutex_lock(&perf->lock);
    struct running_dispatch **at = dispatch_find(perf, dispatch_seq), *dispatch = *at;
    if (dispatch) {
        cycles_add(perf, dispatch);
        trace_settle(perf);
        *at = dispatch->next;
        dispatch->next = perf->spare;
        perf->spare = dispatch;
    }
    if (perf_wants(perf) & PERF_WANT_MEMORY)
        for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
            memory_release(&perf->memory, xcc,
                           perf->channel + (size_t)xcc * perf->model->tcc_channels);
    pthread_mutex_unlock(&perf->lock);
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
