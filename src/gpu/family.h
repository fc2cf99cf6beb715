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

extern const struct gpu_family gfx9_families[], gfx10_families[], gfx11_families[],
    gfx12_families[];
extern const uint32_t gfx9_family_count, gfx10_family_count, gfx11_family_count, gfx12_family_count;

#endif
