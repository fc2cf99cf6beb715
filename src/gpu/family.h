/* What the builders know of a GPU: its generation, and in it its family. Private to src/gpu. */
#ifndef GPU_FAMILY_H
#define GPU_FAMILY_H

#include "gpu/pmc.h"
#include "gpu/sqtt/trace.h"

/* CP_PERFMON_CNTL: state in bits 0..3, sample request in bit 10. */
enum { PERFMON_RESET = 0, PERFMON_START = 1, PERFMON_STOP = 2, PERFMON_SAMPLE = 1 << 10 };

/* What one generation's counters are started, read and stopped with. A register that a generation
 * does not have is 0. */
struct gpu_generation {
    struct pm4_dialect dialect;
    uint32_t grbm_gfx_index;
    /* CP_PERFMON_CNTL; what makes it take a sample while the counters run on, and what stops them.
     */
    uint32_t perfmon, perfmon_read, perfmon_stop;
    uint32_t clock_gating;     /* 1 while counting: the counters' clocks stay on */
    uint32_t perfcount_enable; /* of the queue's compute state */
    uint32_t sq_control, sq_control_all;
    uint32_t sq_control2, sq_control2_all; /* written when sequencers or BLOCK_TC blocks count */
    uint32_t sq_mask;                      /* compute units that count, written after sq_control */
    /* gfx10 samples rightly only once a GRBM counter has been selected and read (BLOCK_GRBM). */
    uint32_t settle_select, settle_low, settle_high;
    const struct gpu_trace *trace;
};

struct gpu_family {
    char architecture[12];
    uint32_t block_count;
    const struct gpu_block *blocks;
    const struct gpu_counter_registers *registers; /* of all blocks of the generation */
    uint32_t accumulate_low, accumulate_high;      /* SQ events; 0: none */
    uint32_t trace_tokens; /* which a thread trace has, for its reader; 0: it needs no telling */
    const struct gpu_generation *generation;
};

/* What gfx10 and gfx11 have alike, as initializers: of their traces, and of themselves. */
#define GPU_TRACE_GFX10(release)                                                                   \
    .mask = REG_##release##_SQ_THREAD_TRACE_MASK,                                                  \
    .token_mask = REG_##release##_SQ_THREAD_TRACE_TOKEN_MASK,                                      \
    .size = REG_##release##_SQ_THREAD_TRACE_BUF0_SIZE,                                             \
    .control = REG_##release##_SQ_THREAD_TRACE_CTRL,                                               \
    .status = REG_##release##_SQ_THREAD_TRACE_STATUS,                                              \
    .dropped = REG_##release##_SQ_THREAD_TRACE_DROPPED_CNTR,                                       \
    .write_pointer = REG_##release##_SQ_THREAD_TRACE_WPTR,                                         \
    .userdata2 = REG_##release##_SQ_THREAD_TRACE_USERDATA_2,                                       \
    .base = REG_##release##_SQ_THREAD_TRACE_BUF0_BASE,                                             \
    .enable = REG_##release##_COMPUTE_THREAD_TRACE_ENABLE, .target_shift = 4, .simd_field = 3,     \
    .busy_mask = 1 << 25, .pending_mask = 0xff << 2, /* of the eight compute pipes */              \
        .error_mask = 1 << 24, .pointer_mask = 0x1fffffff, .size_shift = 8,                        \
    .size_has_base_high = 1
#define GPU_GENERATION_GFX10(release)                                                              \
    .dialect = {.copy_in = PM4_COPY_IMMEDIATE,                                                     \
                .copy_out = PM4_COPY_MEMORY_L2 << 8,                                               \
                .gcr = PM4_GCR_SEQ_FORWARD | PM4_GCR_GL2_WB},                                      \
    .grbm_gfx_index = REG_##release##_GRBM_GFX_INDEX, .perfmon = REG_##release##_CP_PERFMON_CNTL,  \
    .perfmon_read = PERFMON_START | PERFMON_SAMPLE, .perfmon_stop = PERFMON_STOP,                  \
    .perfcount_enable = REG_##release##_COMPUTE_PERFCOUNT_ENABLE,                                  \
    .sq_control = REG_##release##_SQ_PERFCOUNTER_CTRL

extern const struct gpu_family gfx9_families[], gfx10_families[], gfx11_families[],
    gfx12_families[];
extern const uint32_t gfx9_family_count, gfx10_family_count, gfx11_family_count, gfx12_family_count;

#endif
