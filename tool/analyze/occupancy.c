#include "occupancy.h"

static uint32_t rounded(uint32_t value, uint32_t granule)
{
    return (value + granule - 1) / granule * granule;
}

/* Waves of a SIMD that `total` registers suffice for; every wave has some. */
static uint32_t by_registers(uint32_t total, uint32_t needed, uint32_t granule, uint32_t most)
{
    uint32_t waves = total / rounded(needed ? needed : 1, granule);
    return waves < most ? waves : most;
}

static uint32_t vgprs_of(const struct machine_arch *arch, const struct kernel_needs *needs)
{
    if (arch->vgprs_unified)
        return needs->vgprs + needs->acc_vgprs;
    return needs->vgprs > needs->acc_vgprs ? needs->vgprs : needs->acc_vgprs;
}

/* Groups come and go as wholes. */
static uint32_t whole_groups(uint32_t waves, uint32_t group_waves)
{
    return waves / group_waves * group_waves;
}

bool occupancy_of(const struct machine *machine, const struct kernel_needs *needs,
                  struct occupancy *occupancy)
{
    const struct machine_arch *arch = machine->arch;
    if (!arch || !machine->cus || !needs->wave_items || !needs->group_items)
        return false;
    uint32_t simds = machine->simds / machine->cus, most = machine->waves_per_simd;
    uint32_t group_waves = (needs->group_items + needs->wave_items - 1) / needs->wave_items;
    uint32_t *waves = occupancy->waves;
    occupancy->waves_max = simds * most;
    waves[OCCUPANCY_SLOTS] = simds * most;
    waves[OCCUPANCY_VGPRS] =
        simds * by_registers(arch->vgprs_per_simd, vgprs_of(arch, needs), arch->vgpr_granule, most);
    waves[OCCUPANCY_SGPRS] =
        simds * by_registers(arch->sgprs_per_simd, needs->sgprs, arch->sgpr_granule, most);
    waves[OCCUPANCY_LDS] = occupancy->waves_max;
    if (needs->lds_bytes)
        waves[OCCUPANCY_LDS] =
            machine->lds_bytes / rounded(needs->lds_bytes, arch->lds_granule_bytes) * group_waves;
    waves[OCCUPANCY_GROUPS] =
        group_waves > 1 ? arch->groups_per_cu * group_waves : occupancy->waves_max;
    occupancy->limit = OCCUPANCY_SLOTS;
    occupancy->waves_per_cu = UINT32_MAX;
    for (int i = 0; i < OCCUPANCY_LIMIT_COUNT; i++) {
        uint32_t whole = whole_groups(waves[i], group_waves);
        waves[i] = whole < occupancy->waves_max ? whole : occupancy->waves_max;
        if (waves[i] >= occupancy->waves_per_cu)
            continue;
        occupancy->waves_per_cu = waves[i];
        occupancy->limit = (enum occupancy_limit)i;
    }
    return true;
}
