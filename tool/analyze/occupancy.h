/* How many waves of a kernel a compute unit can hold, and what keeps it from holding more. */
#ifndef ANALYZE_OCCUPANCY_H
#define ANALYZE_OCCUPANCY_H

#include "machine.h"

struct kernel_needs {
    uint32_t vgprs, acc_vgprs, sgprs; /* of a wave */
    uint32_t lds_bytes;               /* of a group */
    uint32_t group_items, wave_items;
};

enum occupancy_limit {
    OCCUPANCY_SLOTS, /* wave slots: nothing else is in the way */
    OCCUPANCY_VGPRS,
    OCCUPANCY_SGPRS,
    OCCUPANCY_LDS,
    OCCUPANCY_GROUPS, /* barriers */
    OCCUPANCY_LIMIT_COUNT
};

struct occupancy {
    uint32_t waves[OCCUPANCY_LIMIT_COUNT]; /* of a compute unit, if this alone were the limit */
    uint32_t waves_per_cu, waves_max;
    enum occupancy_limit limit;
};

/* False where the architecture is not known. */
bool occupancy_of(const struct machine *machine, const struct kernel_needs *needs,
                  struct occupancy *occupancy);

#endif
