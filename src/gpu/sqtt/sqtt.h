/*
 * Thread trace: the sequencers of chosen shader engines write what waves of one compute unit do
 * into memory.
 */
#ifndef GPU_SQTT_SQTT_H
#define GPU_SQTT_SQTT_H

#include "gpu/pmc.h"
#include "gpu/sqtt/config.h"

/* Returns NULL, or why this cannot be traced. */
const char *sqtt_config_check(const struct gpu_target *target, const struct sqtt_config *config);

/* Where an engine writes. The traced engines share the buffer evenly, less one page for each other
 * engine that there could be. */
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

/* Returns how many bytes a traced engine wrote, never more than its part has; *outcome says whether
 * that is all. */
uint64_t sqtt_written_bytes(const struct gpu_target *target, const struct sqtt_config *config,
                            uint32_t engine, const struct sqtt_control *control,
                            enum sqtt_outcome *outcome);

/* Gives what the reader wants before an engine's bytes: 8 bytes on gfx9, none later. */
uint32_t sqtt_prefix(const struct gpu_target *target, const struct sqtt_config *config,
                     uint32_t engine, uint64_t *prefix);

#endif
