/* gfx12: everything in a work-group processor counts in each; stopping takes a sample. */
#include "gpu/family.h"
#include "gpu_gfx12_regs.h"

/* Shader stages PS GS HS CS; all VMIDs, whether or not their state asks to be counted. */
enum { SQ_CONTROL_ALL = 0x55, SQ_CONTROL2_ALL = 0xffff << 1 | 1 };

#define TRACE(name) REG_GFX12_SQ_THREAD_TRACE_##name

/* As on gfx11, with the registers of all spaces but configuration (0x1f << 16) in detail, and
 * without waits for barriers. */
enum { TOKENS_OCCUPANCY = 3 << 24 | 8 << 16 | 0x7ff, TOKENS_NONE = 7 << 26 | 3 << 24 | 0x7ff };
#define TOKENS_ALL (1u << 31 | 3u << 26 | 0x1fu << 16 | 1u << 14 | 3u)
/* High water 5, stalls of SPI and SQ, utilisation timer, low water 4, flushes by itself, draw
 * events. */
#define CONTROL_OFF (5u << 6 | 1u << 11 | 1u << 12 | 1u << 14 | 4u << 20 | 1u << 29 | 1u << 31)

static const struct gpu_trace trace = {
    .mask = TRACE(MASK),
    .token_mask = TRACE(TOKEN_MASK),
    .size = TRACE(BUF0_SIZE),
    .control = TRACE(CTRL),
    .status = TRACE(STATUS),
    .dropped = TRACE(DROPPED_CNTR),
    .write_pointer = TRACE(WPTR),
    .userdata2 = TRACE(USERDATA_2),
    .base = TRACE(BUF0_BASE_LO),
    .base_high = TRACE(BUF0_BASE_HI),
    .enable = REG_GFX12_COMPUTE_THREAD_TRACE_ENABLE,
    .event_control = REG_GFX12_SPI_SQG_EVENT_CTL,
    .mask_bits = 1 << 17 | 1 << 6 << 10, /* no data of other waves; compute waves */
    .target_shift = 4,
    .simd_field = 3,
    .tokens_all = TOKENS_ALL,
    .tokens_occupancy = TOKENS_OCCUPANCY,
    .tokens_none = TOKENS_NONE,
    .control_on = CONTROL_OFF | 1,
    .control_off = CONTROL_OFF,
    .busy_mask = 1 << 25,
    .pending_mask = 0xff << 2, /* of the eight compute pipes */
    .error_mask = 1 << 24,
    .pointer_mask = 0x1fffffff,
    .part_bytes_shift = 34,
    .clears_pointer = 1,
    .by_copy = 1,
    .ends_by_event = 1,
};

static const struct gpu_generation gfx12_generation = {
    .dialect = {.copy_in =
                    PM4_COPY_IMMEDIATE | PM4_TEMPORAL_LAST_USE << 13 | PM4_TEMPORAL_LAST_USE << 25,
                .copy_out = PM4_COPY_MEMORY_L2 << 8 | PM4_TEMPORAL_LAST_USE << 13 |
                            PM4_TEMPORAL_LAST_USE << 25,
                .gcr = PM4_GCR_SEQ_FORWARD | PM4_GCR_GL2_WB},
    .grbm_gfx_index = REG_GFX12_GRBM_GFX_INDEX,
    .perfmon = REG_GFX12_CP_PERFMON_CNTL,
    .perfmon_read = PERFMON_START | PERFMON_SAMPLE,
    .perfmon_stop = PERFMON_STOP | PERFMON_SAMPLE,
    .perfcount_enable = REG_GFX12_COMPUTE_PERFCOUNT_ENABLE,
    .sq_control = REG_GFX12_SQ_PERFCOUNTER_CTRL,
    .sq_control_all = SQ_CONTROL_ALL,
    .sq_control2 = REG_GFX12_SQ_PERFCOUNTER_CTRL2,
    .sq_control2_all = SQ_CONTROL2_ALL,
    .trace = &trace,
};

#include "gpu_gfx12_blocks.h"
