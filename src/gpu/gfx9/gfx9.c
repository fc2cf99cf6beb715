/* gfx9. The registers are the same on all members (the kernel's lists of gc_9_0 to gc_9_4_3 agree
 * on every one used here); instances and events differ. */
#include "gpu/family.h"
#include "gpu_gfx9_regs.h"
#include "gpu_sdma42_regs.h"
#include "gpu_sdma442_regs.h"
#include "gpu_sdma44_regs.h"

/* All shader stages (PS VS GS ES HS LS CS), all 16 VMIDs. */
#define SQ_CONTROL_ALL 0xffff007fu

#define TRACE(name) REG_GFX9_SQ_THREAD_TRACE_##name

/* Tokens: misc, time, registers, wave starts and ends, compute registers (also privileged ones) and
 * user data; without occupancy mode instructions, their addresses, and issue as well. */
enum { TOKENS_OCCUPANCY = 0xf906f, TOKENS_ALL = TOKENS_OCCUPANCY | 1 << 10 | 1 << 11 | 1 << 13 };

static const struct gpu_trace trace = {
    .mask = TRACE(MASK),
    .token_mask = TRACE(TOKEN_MASK),
    .token_mask2 = TRACE(TOKEN_MASK2),
    .mode = TRACE(MODE),
    .high_water = TRACE(HIWATER),
    .perf_mask = TRACE(PERF_MASK),
    .base = TRACE(BASE),
    .base_high = TRACE(BASE2),
    .size = TRACE(SIZE),
    .control = TRACE(CTRL),
    .status = TRACE(STATUS),
    .dropped = TRACE(CNTR),
    .write_pointer = TRACE(WPTR),
    .userdata2 = TRACE(USERDATA_2),
    .userdata3 = TRACE(USERDATA_3),
    .mask_bits = 1 << 15 | 1 << 14 | 1 << 7, /* the SQ, the SPI and register writes may stall */
    .simd_shift = 8,
    .simd_field = 0xf,
    .vm_id_shift = 12,
    .vm_id_field = 3,
    .tokens_all = TOKENS_ALL,
    .tokens_occupancy = TOKENS_OCCUPANCY,
    .mode_on = 1 << 25 | 1 << 21 | 1 << 18, /* flushes by itself, compute waves */
    .mode_off = 1 << 25 | 1 << 18,
    .control_on = 1u << 31, /* reset */
    .control_off = 1u << 31,
    .busy_mask = 1 << 30,
    .error_mask = 1 << 28,
    .full_mask = 1u << 31,
    .pointer_mask = 0x3fffffff,
    .part_bytes_shift = 34,
};

static const struct gpu_generation gfx9_generation = {
    .dialect = {.copy_in = PM4_COPY_IMMEDIATE,
                .copy_out = PM4_COPY_MEMORY << 8 | PM4_CACHE_STREAM << 13 | PM4_CACHE_STREAM << 25},
    .grbm_gfx_index = REG_GFX9_GRBM_GFX_INDEX,
    .perfmon = REG_GFX9_CP_PERFMON_CNTL,
    .perfmon_read = PERFMON_START | PERFMON_SAMPLE,
    .perfmon_stop = PERFMON_STOP,
    .clock_gating = REG_GFX9_RLC_PERFMON_CLK_CNTL,
    .perfcount_enable = REG_GFX9_COMPUTE_PERFCOUNT_ENABLE,
    .sq_control = REG_GFX9_SQ_PERFCOUNTER_CTRL,
    .sq_control_all = SQ_CONTROL_ALL,
    .sq_mask = REG_GFX9_SQ_PERFCOUNTER_MASK,
    .trace = &trace,
};

#include "gpu_gfx9_blocks.h"
