#include "perf/perf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "perf/internal.h"

/* What a dispatch's launch costs on the clock of README.md. */
enum { CYCLES_PER_LAUNCH = 1000 };

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
    perf->xcc = calloc(xccs, sizeof perf->xcc[0]);
    perf->channel = calloc((size_t)xccs * perf->model->tcc_channels, sizeof perf->channel[0]);
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
    free(perf->xcc);
    free(perf->channel);
    pthread_mutex_destroy(&perf->lock);
    free(perf);
}

void clock_advance(struct perf *perf, uint64_t cycles)
{
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        perf->xcc[xcc][SRC_CLOCK - SRC_XCC_FIRST] += cycles;
}

bool perf_wants_accesses(const struct perf *perf)
{
    return atomic_load_explicit(&perf->wants_accesses, memory_order_relaxed);
}

static struct running_dispatch **dispatch_find(struct perf *perf, uint64_t seq)
{
    struct running_dispatch **at = &perf->running;
    while (*at && (*at)->seq != seq)
        at = &(*at)->next;
    return at;
}

static void totals_add(const struct perf_group *group, uint64_t *cu)
{
    _Static_assert(SRC_INST_OTHER - SRC_INST_VALU == CLASS_OTHER - CLASS_VALU, "same order");
    for (int i = 0; i < CLASS_COUNT; i++)
        cu[SRC_INST_VALU + i] += group->insts[i];
    cu[SRC_GROUPS]++;
    cu[SRC_WAVES] += group->waves;
    cu[SRC_ITEMS] += group->work_items;
    cu[SRC_VALU_LANES] += group->valu_lanes;
    cu[SRC_WAVE_CYCLES] += group->wave_cycles;
    cu[SRC_CU_BUSY] += group->busy_cycles;
    cu[SRC_LDS_CONFLICT] += group->lds_bank_conflict_cycles;
    cu[SRC_LDS_ACTIVE] += group->lds_idx_cycles;
    cu[SRC_FLAT_LDS] += group->flat_lds_insts;
}

void perf_group_retire(struct perf *perf, const struct perf_group *group)
{
    const struct gpu_model *model = perf->model;
    uint32_t unit = (group->se * model->sh_per_se + group->sh) * model->cu_per_sh + group->cu;
    if (group->xcc >= model->xcc_count || unit >= perf->units)
        return;
    size_t at = (size_t)group->xcc * perf->units + unit;

    pthread_mutex_lock(&perf->lock);
    totals_add(group, perf->cu[at]);
    struct running_dispatch *dispatch = *dispatch_find(perf, group->dispatch_seq);
    if (dispatch)
        dispatch->busy_cycles[at] += group->busy_cycles;
    struct memory_totals totals = {
        .cu = perf->cu[at],
        .channel = perf->channel + (size_t)group->xcc * model->tcc_channels,
    };
    for (uint64_t i = 0; group->accesses && i < group->access_count; i++)
        memory_access(&perf->memory, group->xcc, unit, &group->accesses[i], &totals);
    pthread_mutex_unlock(&perf->lock);
}

void perf_dispatch_begin(struct perf *perf, uint64_t dispatch_seq)
{
    size_t units = (size_t)perf->model->xcc_count * perf->units;

    pthread_mutex_lock(&perf->lock);
    if (perf_wants_accesses(perf))
        memory_acquire(&perf->memory);
    struct running_dispatch *dispatch = perf->spare;
    if (dispatch)
        perf->spare = dispatch->next;
    else
        dispatch = malloc(sizeof *dispatch + units * sizeof(uint64_t));
    if (dispatch) { /* without memory only the cycle counters of this dispatch stay behind */
        memset(dispatch->busy_cycles, 0, units * sizeof(uint64_t));
        dispatch->seq = dispatch_seq;
        dispatch->next = perf->running;
        perf->running = dispatch;
    }
    pthread_mutex_unlock(&perf->lock);
}

/* Cycles until the last unit of a shader array was free. */
static uint64_t array_busy(const struct perf *perf, const uint64_t *busy_cycles)
{
    uint64_t longest = 0;
    for (uint32_t cu = 0; cu < perf->model->cu_per_sh; cu++)
        if (busy_cycles[cu] > longest)
            longest = busy_cycles[cu];
    return longest;
}

/* XCCs work side by side: the dispatch takes as long as its slowest shader array. */
static void cycles_add(struct perf *perf, const struct running_dispatch *dispatch)
{
    uint32_t arrays = perf->model->xcc_count * perf->se_units;
    uint64_t longest = 0;

    for (uint32_t i = 0; i < arrays; i++) {
        uint64_t busy =
            array_busy(perf, dispatch->busy_cycles + (size_t)i * perf->model->cu_per_sh);
        if (busy)
            perf->se[i][SRC_SE_BUSY - SRC_SE_FIRST] += busy + CYCLES_PER_LAUNCH;
        if (busy > longest)
            longest = busy;
    }
    clock_advance(perf, longest + CYCLES_PER_LAUNCH);
    for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
        perf->xcc[xcc][SRC_GUI_ACTIVE - SRC_XCC_FIRST] += longest + CYCLES_PER_LAUNCH;
}

void perf_dispatch_end(struct perf *perf, uint64_t dispatch_seq)
{
    pthread_mutex_lock(&perf->lock);
    struct running_dispatch **at = dispatch_find(perf, dispatch_seq), *dispatch = *at;
    if (dispatch) {
        cycles_add(perf, dispatch);
        *at = dispatch->next;
        dispatch->next = perf->spare;
        perf->spare = dispatch;
    }
    if (perf_wants_accesses(perf))
        for (uint32_t xcc = 0; xcc < perf->model->xcc_count; xcc++)
            memory_release(&perf->memory, xcc,
                           perf->channel + (size_t)xcc * perf->model->tcc_channels);
    pthread_mutex_unlock(&perf->lock);
}
