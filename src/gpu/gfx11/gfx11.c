/* gfx11: the sequencers count in each work-group processor, 32 bits wide. */
#include "gpu/family.h"
#include "gpu_gfx11_regs.h"

/* Shader stages PS GS HS CS; all VMIDs, whether or not their state asks to be counted. */
enum { SQ_CONTROL_ALL = 0x55, SQ_CONTROL2_ALL = 0xffff << 1 | 1 };

static const struct gpu_generation gfx11_generation = {
    .dialect = {.copy_in = PM4_COPY_IMMEDIATE,
                .copy_out = PM4_COPY_MEMORY_L2 << 8,
                .gcr = PM4_GCR_SEQ_FORWARD | PM4_GCR_GL2_WB},
    .grbm_gfx_index = REG_GFX11_GRBM_GFX_INDEX,
    .perfmon = REG_GFX11_CP_PERFMON_CNTL,
    .perfmon_read = PERFMON_START | PERFMON_SAMPLE,
    .perfcount_enable = REG_GFX11_COMPUTE_PERFCOUNT_ENABLE,
    .sq_control = REG_GFX11_SQ_PERFCOUNTER_CTRL,
    .sq_control_all = SQ_CONTROL_ALL,
    .sq_control2 = REG_GFX11_SQ_PERFCOUNTER_CTRL2,
    .sq_control2_all = SQ_CONTROL2_ALL,
};

#include "gpu_gfx11_blocks.h"
