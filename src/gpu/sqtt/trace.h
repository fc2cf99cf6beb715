/* What differs between generations' thread traces. Private to src/gpu. */
#ifndef GPU_SQTT_TRACE_H
#define GPU_SQTT_TRACE_H

#include <stdint.h>

/* Registers that a generation does not have are 0. gfx9 has `mode`, the others do not. */
struct gpu_trace {
    uint32_t mask, token_mask, token_mask2, mode, high_water, perf_mask;
    uint32_t base, base_high, size, control, status, dropped, write_pointer;
    uint32_t userdata2, userdata3, enable, event_control;
    uint32_t mask_bits;                                 /* beside target and SIMDs */
    uint32_t target_shift, simd_shift, simd_field;      /* of mask */
    uint32_t vm_id_shift, vm_id_field;                  /* of mask */
    uint32_t tokens_all, tokens_occupancy, tokens_none; /* token_mask */
    uint32_t mode_on, mode_off;                         /* or control_on and control_off */
    uint32_t control_on, control_off;
    uint32_t busy_mask, pending_mask, error_mask, full_mask, pointer_mask; /* status, pointer */
    uint32_t size_shift;       /* of pages in the size register */
    uint32_t part_bytes_shift; /* an engine's part is below 1 << this */
    int size_has_base_high;    /* bits 32.. of the page number are in the size register */
    int pointer_is_address;    /* the write pointer does not begin at 0 */
    int clears_pointer;        /* the start sets it to 0 */
    int by_copy;               /* registers are written by COPY_DATA */
    int ends_by_event;         /* THREAD_TRACE_FINISH */
};

#endif
