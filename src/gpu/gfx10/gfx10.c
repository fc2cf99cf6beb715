/* gfx10: 10.1 and 10.3 differ in where a few blocks' registers lie, and in nothing that all share.
 */
#include "gpu/family.h"
#include "gpu_gfx101_regs.h"
#include "gpu_gfx103_regs.h"

/* All shader stages (PS VS GS ES HS LS CS); the bits above switch pipes off. */
#define SQ_CONTROL_ALL 0x7fu

static const struct gpu_generation gfx10_generation = {
    .dialect = {.copy_in = PM4_COPY_IMMEDIATE,
                .copy_out = PM4_COPY_MEMORY_L2 << 8,
                .gcr = PM4_GCR_SEQ_FORWARD | PM4_GCR_GL2_WB},
    .grbm_gfx_index = REG_GFX103_GRBM_GFX_INDEX,
    .perfmon = REG_GFX103_CP_PERFMON_CNTL,
    .perfmon_read = PERFMON_START | PERFMON_SAMPLE,
    .perfcount_enable = REG_GFX103_COMPUTE_PERFCOUNT_ENABLE,
    .sq_control = REG_GFX103_SQ_PERFCOUNTER_CTRL,
    .sq_control_all = SQ_CONTROL_ALL,
    .settle_select = REG_GFX103_GRBM_PERFCOUNTER0_SELECT,
    .settle_low = REG_GFX103_GRBM_PERFCOUNTER0_LO,
    .settle_high = REG_GFX103_GRBM_PERFCOUNTER0_HI,
};

_Static_assert((int)REG_GFX101_GRBM_GFX_INDEX == (int)REG_GFX103_GRBM_GFX_INDEX &&
                   (int)REG_GFX101_CP_PERFMON_CNTL == (int)REG_GFX103_CP_PERFMON_CNTL &&
                   (int)REG_GFX101_SQ_PERFCOUNTER_CTRL == (int)REG_GFX103_SQ_PERFCOUNTER_CTRL &&
                   (int)REG_GFX101_GRBM_PERFCOUNTER0_LO == (int)REG_GFX103_GRBM_PERFCOUNTER0_LO,
               "one generation");

#include "gpu_gfx10_blocks.h"
