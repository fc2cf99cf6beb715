/*
 * Thread trace: the sequencers of chosen shader engines write what waves of one compute unit do
 * into memory.
 */
#ifndef GPU_SQTT_SQTT_H
#define GPU_SQTT_SQTT_H

#include "gpu/pmc.h"

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
    int is_occupancy;                     /* waves' begins and ends only */
    int has_timestamps;                   /* gfx9: clocks, in the trace and in the control array */
    uint32_t counters[SQTT_COUNTERS_MAX]; /* gfx9: SQ event | SIMDs << 24, sampled into the trace */
    uint32_t counter_count, counter_units, counter_control;
    uint32_t vm_id_mask; /* gfx9 */
    int is_concurrent;   /* gfx9: the start does not wait for the work before it */
    /* gfx9: values of MASK, TOKEN_MASK and TOKEN_MASK2 instead of ours, when none of them is 0 */
    uint32_t raw_mask, raw_token_mask, raw_token_mask2;
    uint64_t control_va, buffer_va, buffer_bytes; /* the buffer is page-aligned */
};

/* NULL, or why this cannot be traced. */
const char *sqtt_config_check(const struct gpu_target *target, const struct sqtt_config *config);

/* Where an engine writes: traced engines share what a page for each other leaves. */
struct sqtt_part {
    uint64_t offset_bytes, size_bytes;
    int is_traced;
};
struct sqtt_part sqtt_part(const struct gpu_target *target, const struct sqtt_config *config,
                           uint32_t engine);

/* The smallest buffer that sqtt_config_check() accepts for these engines. */
uint64_t sqtt_buffer_bytes_min(const struct gpu_target *target, const struct sqtt_config *config);

/* For configurations that sqtt_config_check() accepts. */
void sqtt_start(struct pm4_stream *stream, const struct gpu_target *target,
                const struct sqtt_config *config);
void sqtt_stop(struct pm4_stream *stream, const struct gpu_target *target,
               const struct sqtt_config *config);
/* How far the trace is, without an end to it: what has not yet been flushed is missing. */
void sqtt_read(struct pm4_stream *stream, const struct gpu_target *target,
               const struct sqtt_config *config);

/* Words for the trace's reader in the trace itself; channels are the reader's. */
enum sqtt_channel {
    SQTT_CHANNEL_HEADER,
    SQTT_CHANNEL_SIZE_LOW,
    SQTT_CHANNEL_ADDRESS_LOW,
    SQTT_CHANNEL_ADDRESS_HIGH,
    SQTT_CHANNEL_SIZE_HIGH,
    SQTT_CHANNEL_ID_LOW,
    SQTT_CHANNEL_ID_HIGH,
    SQTT_CHANNEL_COUNT
};
void sqtt_marker(struct pm4_stream *stream, const struct gpu_target *target,
                 enum sqtt_channel channel, uint32_t value);

enum sqtt_outcome { SQTT_COMPLETE, SQTT_FULL, SQTT_MEMORY_ERROR };
/* Bytes that a traced engine wrote, never more than its part has; *outcome: whether that is all. */
uint64_t sqtt_written_bytes(const struct gpu_target *target, const struct sqtt_config *config,
                            uint32_t engine, const struct sqtt_control *control,
                            enum sqtt_outcome *outcome);

/* What the reader wants before an engine's bytes: 8 bytes on gfx9, none later. */
uint32_t sqtt_prefix(const struct gpu_target *target, const struct sqtt_config *config,
                     uint32_t engine, uint64_t *prefix);

#endif
