/* gfx9. The registers are the same on all members (the kernel's lists of gc_9_0 to gc_9_4_3 agree
 * on every one used here); instances and events differ. */
#include "gpu/family.h"
#include "gpu_gfx9_regs.h"

/* All shader stages (PS VS GS ES HS LS CS), all 16 VMIDs. */
#define SQ_CONTROL_ALL 0xffff007fu

static const struct gpu_generation gfx9_generation = {
    .dialect = {.copy_in = PM4_COPY_IMMEDIATE,
                .copy_out = PM4_COPY_MEMORY << 8 | PM4_CACHE_STREAM << 13 | PM4_CACHE_STREAM << 25},
    .grbm_gfx_index = REG_GFX9_GRBM_GFX_INDEX,
    .perfmon = REG_GFX9_CP_PERFMON_CNTL,
    .perfmon_read = PERFMON_START | PERFMON_SAMPLE,
    .clock_gating = REG_GFX9_RLC_PERFMON_CLK_CNTL,
    .perfcount_enable = REG_GFX9_COMPUTE_PERFCOUNT_ENABLE,
    .sq_control = REG_GFX9_SQ_PERFCOUNTER_CTRL,
    .sq_control_all = SQ_CONTROL_ALL,
    .sq_mask = REG_GFX9_SQ_PERFCOUNTER_MASK,
};

#include "gpu_gfx9_blocks.h"
