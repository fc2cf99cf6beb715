/* A command buffer under construction: dwords in memory that grows. */
#ifndef GPU_PM4_STREAM_H
#define GPU_PM4_STREAM_H

#include <stdint.h>

#include "gpu/pm4/packet.h"

struct pm4_stream {
    uint32_t *dwords;
    uint32_t count, capacity;
    int out_of_memory; /* sticky: dwords were lost, the stream must not be used */
};

void pm4_stream_free(struct pm4_stream *stream);

void pm4_emit(struct pm4_stream *stream, const uint32_t *dwords, uint32_t count);

void pm4_event(struct pm4_stream *stream, uint32_t type, uint32_t index);
/* Waits until the compute work before it is done. */
void pm4_wait_idle(struct pm4_stream *stream);
/* Waits until the masked bits of a register are 0. */
void pm4_register_wait_zero(struct pm4_stream *stream, uint32_t reg, uint32_t mask);
/* gfx9 only: copies the clock to memory, those 64 bits to a register, low half first, then the
 * clock's low half anew. */
void pm4_clock_copy(struct pm4_stream *stream, uint32_t reg, uint64_t va);
/* Writes a register by the packet of its space: user config, compute (SH), or a copy of an
 * immediate. */
void pm4_register_write(struct pm4_stream *stream, const struct pm4_dialect *dialect, uint32_t reg,
                        uint32_t value);
/* The same by COPY_DATA whatever the space: what the memory-controller blocks are written by. Here
 * and in copy_out() a register may have 64 bits, an address on the device's own network. */
void pm4_register_copy_in(struct pm4_stream *stream, const struct pm4_dialect *dialect,
                          uint64_t reg, uint32_t value, int perfcounter_path);
/* Copies 32 bits of a register to memory. */
void pm4_register_copy_out(struct pm4_stream *stream, const struct pm4_dialect *dialect,
                           uint64_t reg, uint64_t va, int perfcounter_path);
/* A counter whose halves lie side by side, in one piece; va is a multiple of 8. */
void pm4_counter_copy_out(struct pm4_stream *stream, const struct pm4_dialect *dialect,
                          uint32_t low, uint64_t va);
/* Writes 32 bits to memory. */
void pm4_memory_write(struct pm4_stream *stream, const struct pm4_dialect *dialect, uint64_t va,
                      uint32_t value);
/* Makes the caches write back and, on gfx9, invalidate [va, va + bytes). */
void pm4_acquire(struct pm4_stream *stream, const struct pm4_dialect *dialect, uint64_t va,
                 uint64_t bytes);

/* What follows runs on the dies of `xcc_mask` only; returns where pm4_predicate_end() writes how
 * long that is. */
uint32_t pm4_predicate_begin(struct pm4_stream *stream, uint32_t xcc_mask);
void pm4_predicate_end(struct pm4_stream *stream, uint32_t begin);

#endif
