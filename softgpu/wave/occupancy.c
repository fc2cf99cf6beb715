/* How many work-groups a compute unit holds at once, as registers, LDS and wave slots allow. */
#include "wave/group.h"

enum {
    SGPRS_PER_SIMD = 800,
    SGPR_GRANULE = 16,
    BARRIERS_PER_UNIT = 16, /* work-groups of several waves */
    RSRC1_BULKY = 24
};

static uint32_t round_up(uint32_t value, uint32_t granule)
{
    return (value + granule - 1) / granule * granule;
}

static void limit_take(struct launch *launch, uint32_t groups, enum perf_limit limit)
{
    if (groups >= launch->capacity)
        return;
    launch->capacity = groups;
    launch->limit = limit;
}

/* Groups when each SIMD has room for so many waves; waves are dealt to the SIMDs in turn. */
static uint32_t groups_of_waves(const struct launch *launch, const struct gpu_model *model,
                                uint32_t waves_per_simd)
{
    return waves_per_simd * model->simd_per_cu / launch->waves_per_group;
}

/* As many units of every array; what some arrays have beyond that executes nothing. A mask of such
 * units only is as good as none. */
static void launch_units(struct launch *launch, const struct gpu_model *model)
{
    uint32_t arrays = model->xcc_count * model->se_count * model->sh_per_se;
    uint32_t units = model->cu_active / arrays;
    launch->array_units = units ? units : 1;
    launch->units = launch->array_units * arrays;
    uint32_t wanted = unit_mask_count(&launch->mask, launch->units);
    launch->is_masked = wanted > 0 && wanted < launch->units;
    if (launch->is_masked)
        launch->units = wanted;
}

/* Of the group's shader array those that the dispatch may use: the units of one array are a number
 * of units apart. */
uint32_t launch_masked_units(const struct launch *launch, const struct gpu_model *model,
                             const struct unit_place *place)
{
    uint32_t arrays = model->xcc_count * model->se_count * model->sh_per_se, units = 0;
    uint32_t first = (place->sh * model->se_count + place->se) * model->xcc_count + place->xcc;
    for (uint32_t cu = 0; cu < launch->array_units; cu++)
        units += unit_mask_has(&launch->mask, first + cu * arrays);
    return units;
}

void launch_occupancy(struct launch *launch, const struct gpu_model *model)
{
    uint32_t vgprs = launch->vgpr_count > 0 ? launch->vgpr_count : 1;
    uint32_t sgprs = round_up(launch->sgpr_count + SGPRS_INITIAL, SGPR_GRANULE);
    launch_units(launch, model);
    launch->l1_line_shift = (uint32_t)__builtin_ctz(model->tcp_line_bytes);
    launch->capacity = UINT32_MAX;
    limit_take(launch, groups_of_waves(launch, model, model->waves_per_simd), LIMIT_WAVES);
    limit_take(launch, groups_of_waves(launch, model, model->vgprs_per_simd / vgprs), LIMIT_VGPRS);
    limit_take(launch, groups_of_waves(launch, model, SGPRS_PER_SIMD / sgprs), LIMIT_SGPRS);
    if (launch->lds_bytes)
        limit_take(launch, model->lds_bytes / launch->lds_bytes, LIMIT_LDS);
    if (launch->waves_per_group > 1)
        limit_take(launch, BARRIERS_PER_UNIT, LIMIT_BARRIERS);
    if (launch->rsrc1 >> RSRC1_BULKY & 1)
        limit_take(launch, 1, LIMIT_BULKY);
    if (launch->capacity == 0) /* more than a unit has: hardware would refuse, we run it alone */
        launch->capacity = 1;
}
