/* Where a sample was taken, in the names that the interface has for it. */
#include "api/aqlprofile/internal.h"

static const char *const names[COORDINATE_KINDS] = {
    [COORDINATE_XCD] = "XCD", [COORDINATE_AID] = "AID", [COORDINATE_SE] = "SE",
    [COORDINATE_SA] = "SA",   [COORDINATE_WGP] = "WGP", [COORDINATE_INSTANCE] = "INSTANCE",
};

const char *coordinate_name(int id)
{
    return id >= 0 && id < COORDINATE_KINDS ? names[id] : NULL;
}

/* Samples are numbered by die, instance, engine, array, processor, the last fastest. */
int coordinates_of(const struct gpu_target *target, const struct gpu_block *block, uint32_t die,
                   uint32_t instance, uint32_t sample,
                   struct coordinate coordinates[COORDINATES_MAX])
{
    const struct gpu_grid grid = gpu_block_grid(target, block);
    const int axes[][2] = {{COORDINATE_SE, (int)grid.engines},
                           {COORDINATE_SA, (int)grid.arrays},
                           {COORDINATE_WGP, (int)grid.processors}};
    int count = 0, divisor = (int)gpu_block_samples(target, block);
    if (target->geometry.xcc_count > 1)
        coordinates[count++] =
            (struct coordinate){COORDINATE_XCD, (int)target->geometry.xcc_count, (int)die};
    coordinates[count++] = (struct coordinate){
        COORDINATE_INSTANCE, (int)gpu_block_instances(target, block), (int)instance};
    for (unsigned i = 0; i < sizeof axes / sizeof axes[0]; i++) {
        if (axes[i][1] == 0)
            continue;
        divisor /= axes[i][1];
        coordinates[count++] =
            (struct coordinate){axes[i][0], axes[i][1], (int)sample / divisor % axes[i][1]};
    }
    return count;
}

hsa_status_t coordinates_report(const struct coordinate *coordinates, int count,
                                aqlprofile_coordinate_callback_t callback, void *userdata)
{
    for (int i = 0; i < count; i++) {
        const struct coordinate *c = &coordinates[i];
        hsa_status_t status =
            callback(i, c->id, c->extent, c->value, coordinate_name(c->id), userdata);
        if (status != HSA_STATUS_SUCCESS)
            return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
    }
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t hsa_ven_amd_aqlprofile_iterate_event_ids(eventname_callback_t callback)
{
    if (!callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no callback");
    for (int id = 0; id < COORDINATE_KINDS; id++) {
        if (callback(id, names[id]) != HSA_STATUS_SUCCESS)
            break;
    }
    return HSA_STATUS_SUCCESS;
}

EXPORT hsa_status_t aqlprofile_iterate_event_ids(aqlprofile_eventname_callback_t callback,
                                                 void *user_data)
{
    if (!callback)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "no callback");
    for (int id = 0; id < COORDINATE_KINDS; id++) {
        hsa_status_t status = callback(id, names[id], user_data);
        if (status != HSA_STATUS_SUCCESS)
            return status;
    }
    return HSA_STATUS_SUCCESS;
}
