/* What a thread trace is asked for, and how it ends. This stands apart from sqtt.h for those who
 * choose it and know no packets. */
#ifndef GPU_SQTT_CONFIG_H
#define GPU_SQTT_CONFIG_H

#include <stdint.h>

enum {
    SQTT_ENGINES_MAX = 64,
    SQTT_COUNTERS_MAX = 8,
    SQTT_PAGE_BYTES = 4096,
    SQTT_TARGET_MAX = 15,         /* compute unit, or work-group processor from gfx11 on */
    SQTT_PART_BYTES_MIN = 1 << 17 /* of an engine */
};

/* What an engine leaves behind; an array over all engines of the device. */
struct sqtt_control {
    uint32_t status, dropped, write_pointer, reserved;
    uint64_t clock_start, clock_end; /* gfx9: of the die whose number is the array's index */
};
_Static_assert(sizeof(struct sqtt_control) == 32, "as the stop packets write it");

struct sqtt_config {
    uint64_t engine_mask; /* of the whole device */
    uint32_t target;      /* whose instructions are traced: SQTT_TARGET_MAX at most */
    uint32_t simd_mask;
    int is_occupancy;   /* waves' begins and ends only */
    int has_timestamps; /* clock_khz in the trace; gfx9: also clocks, there and in the array */
    uint32_t clock_khz; /* frequency of timestamps in 20 bits; 0: not known */
    uint32_t counters[SQTT_COUNTERS_MAX]; /* gfx9: SQ event | SIMDs << 24, sampled into the trace */
    uint32_t counter_count, counter_units, counter_control;
    uint32_t vm_id_mask; /* gfx9 */
    int is_concurrent;   /* gfx9: the start does not wait for the work before it */
    /* gfx9: values of MASK, TOKEN_MASK and TOKEN_MASK2 instead of ours, when none of them is 0 */
    uint32_t raw_mask, raw_token_mask, raw_token_mask2;
    uint64_t control_va, buffer_va, buffer_bytes; /* the buffer is page-aligned */
};

/* How the trace of an engine ended. */
enum sqtt_outcome { SQTT_COMPLETE, SQTT_FULL, SQTT_MEMORY_ERROR };

#endif
