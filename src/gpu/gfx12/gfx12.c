/* gfx12: everything in a work-group processor counts in each; a sample stops the counters. */
#include "gpu/family.h"
#include "gpu_gfx12_regs.h"

/* Shader stages PS GS HS CS; all VMIDs, whether or not their state asks to be counted. */
enum { SQ_CONTROL_ALL = 0x55, SQ_CONTROL2_ALL = 0xffff << 1 | 1 };

static const struct gpu_generation gfx12_generation = {
    .dialect = {.copy_in =
                    PM4_COPY_IMMEDIATE | PM4_TEMPORAL_LAST_USE << 13 | PM4_TEMPORAL_LAST_USE << 25,
                .copy_out = PM4_COPY_MEMORY_L2 << 8 | PM4_TEMPORAL_LAST_USE << 13 |
                            PM4_TEMPORAL_LAST_USE << 25,
                .gcr = PM4_GCR_SEQ_FORWARD | PM4_GCR_GL2_WB},
    .grbm_gfx_index = REG_GFX12_GRBM_GFX_INDEX,
    .perfmon = REG_GFX12_CP_PERFMON_CNTL,
    .perfmon_read = PERFMON_STOP | PERFMON_SAMPLE,
    .perfcount_enable = REG_GFX12_COMPUTE_PERFCOUNT_ENABLE,
    .sq_control = REG_GFX12_SQ_PERFCOUNTER_CTRL,
    .sq_control_all = SQ_CONTROL_ALL,
    .sq_control2 = REG_GFX12_SQ_PERFCOUNTER_CTRL2,
    .sq_control2_all = SQ_CONTROL2_ALL,
};

#include "gpu_gfx12_blocks.h"
