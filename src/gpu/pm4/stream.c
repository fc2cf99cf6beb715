#include "gpu/pm4/stream.h"

#include <stdlib.h>
#include <string.h>

enum { ACQUIRE_POLL_INTERVAL = 0x10, COHER_CHUNK_SHIFT = 8, PREDICATE_XCC_SHIFT = 24 };

void pm4_stream_free(struct pm4_stream *stream)
{
    free(stream->dwords);
    *stream = (struct pm4_stream){0};
}

static int reserve(struct pm4_stream *stream, uint32_t count)
{
    if (count <= stream->capacity - stream->count)
        return 0;
    uint32_t capacity = (stream->capacity + count) * 2;
    uint32_t *dwords = realloc(stream->dwords, capacity * sizeof *dwords);
    if (!dwords) {
        stream->out_of_memory = 1;
        return -1;
    }
    stream->dwords = dwords;
    stream->capacity = capacity;
    return 0;
}

void pm4_emit(struct pm4_stream *stream, const uint32_t *dwords, uint32_t count)
{
    if (stream->out_of_memory || reserve(stream, count))
        return;
    memcpy(stream->dwords + stream->count, dwords, count * sizeof *dwords);
    stream->count += count;
}

/* Emits the header that fits and the body. */
#define EMIT_PACKET(stream, opcode, ...)                                                           \
    do {                                                                                           \
        const uint32_t body[] = {__VA_ARGS__};                                                     \
        const uint32_t header = pm4_header(opcode, sizeof body / sizeof body[0]);                  \
        pm4_emit(stream, &header, 1);                                                              \
        pm4_emit(stream, body, sizeof body / sizeof body[0]);                                      \
    } while (0)

void pm4_event(struct pm4_stream *stream, uint32_t type, uint32_t index)
{
    EMIT_PACKET(stream, PM4_EVENT_WRITE, type | index << 8);
}

void pm4_wait_idle(struct pm4_stream *stream)
{
    pm4_event(stream, PM4_EVENT_CS_PARTIAL_FLUSH, PM4_EVENT_INDEX_CS_PARTIAL_FLUSH);
}

void pm4_register_wait_zero(struct pm4_stream *stream, uint32_t reg, uint32_t mask)
{
    EMIT_PACKET(stream, PM4_WAIT_REG_MEM, PM4_WAIT_EQUAL, reg, 0, 0, mask, PM4_WAIT_INTERVAL);
}

void pm4_clock_copy(struct pm4_stream *stream, uint32_t reg, uint64_t va)
{
    const uint32_t policies = PM4_CACHE_STREAM << 13 | PM4_CACHE_STREAM << 25;
    const uint32_t clock = PM4_COPY_GPU_CLOCK | policies | PM4_COPY_CONFIRM;
    const uint32_t memory = PM4_COPY_MEMORY_SOURCE | policies;
    EMIT_PACKET(stream, PM4_COPY_DATA, clock | PM4_COPY_WIDE | PM4_COPY_MEMORY << 8, 0, 0,
                (uint32_t)va, (uint32_t)(va >> 32));
    for (uint32_t half = 0; half < 2; half++) {
        uint64_t at = va + half * sizeof(uint32_t);
        EMIT_PACKET(stream, PM4_COPY_DATA, memory, (uint32_t)at, (uint32_t)(at >> 32), reg, 0);
    }
    EMIT_PACKET(stream, PM4_COPY_DATA, clock, 0, 0, reg, 0);
}

void pm4_register_copy_in(struct pm4_stream *stream, const struct pm4_dialect *dialect,
                          uint64_t reg, uint32_t value, int perfcounter_path)
{
    uint32_t path = perfcounter_path ? PM4_COPY_PERFCOUNTERS << 8 : 0;
    EMIT_PACKET(stream, PM4_COPY_DATA, dialect->copy_in | path, value, 0, (uint32_t)reg,
                (uint32_t)(reg >> 32));
}

void pm4_register_write(struct pm4_stream *stream, const struct pm4_dialect *dialect, uint32_t reg,
                        uint32_t value)
{
    if (reg >= PM4_UCONFIG_START && reg <= PM4_UCONFIG_END)
        EMIT_PACKET(stream, PM4_SET_UCONFIG_REG, reg - PM4_UCONFIG_START, value);
    else if (reg >= PM4_SH_START && reg < PM4_SH_START + 0x400)
        EMIT_PACKET(stream, PM4_SET_SH_REG, reg - PM4_SH_START, value);
    else
        pm4_register_copy_in(stream, dialect, reg, value, 0);
}

void pm4_register_copy_out(struct pm4_stream *stream, const struct pm4_dialect *dialect,
                           uint64_t reg, uint64_t va, int perfcounter_path)
{
    uint32_t path = perfcounter_path ? PM4_COPY_PERFCOUNTERS : PM4_COPY_REGISTER;
    EMIT_PACKET(stream, PM4_COPY_DATA, dialect->copy_out | path, (uint32_t)reg,
                (uint32_t)(reg >> 32), (uint32_t)va, (uint32_t)(va >> 32));
}

void pm4_counter_copy_out(struct pm4_stream *stream, const struct pm4_dialect *dialect,
                          uint32_t low, uint64_t va)
{
    EMIT_PACKET(stream, PM4_COPY_DATA, dialect->copy_out | PM4_COPY_PERFCOUNTERS | PM4_COPY_WIDE,
                low, 0, (uint32_t)va, (uint32_t)(va >> 32));
}

void pm4_memory_write(struct pm4_stream *stream, const struct pm4_dialect *dialect, uint64_t va,
                      uint32_t value)
{
    EMIT_PACKET(stream, PM4_COPY_DATA, dialect->copy_out | PM4_COPY_IMMEDIATE, value, 0,
                (uint32_t)va, (uint32_t)(va >> 32));
}

void pm4_acquire(struct pm4_stream *stream, const struct pm4_dialect *dialect, uint64_t va,
                 uint64_t bytes)
{
    const uint32_t actions = PM4_COHER_TC_ACTION | PM4_COHER_TCL1_ACTION | PM4_COHER_TC_WB_ACTION |
                             PM4_COHER_SH_ICACHE_ACTION | PM4_COHER_SH_KCACHE_ACTION;
    uint64_t first = va >> COHER_CHUNK_SHIFT;
    uint64_t chunks = ((va + bytes + 0xff) >> COHER_CHUNK_SHIFT) - first;
    const uint32_t body[] = {dialect->gcr ? 0 : actions,
                             (uint32_t)chunks,
                             (uint32_t)(chunks >> 32),
                             (uint32_t)first,
                             (uint32_t)(first >> 32),
                             ACQUIRE_POLL_INTERVAL,
                             dialect->gcr};
    const uint32_t dwords = dialect->gcr ? 7 : 6;
    const uint32_t header = pm4_header(PM4_ACQUIRE_MEM, dwords);
    pm4_emit(stream, &header, 1);
    pm4_emit(stream, body, dwords);
}

uint32_t pm4_predicate_begin(struct pm4_stream *stream, uint32_t xcc_mask)
{
    EMIT_PACKET(stream, PM4_PRED_EXEC, xcc_mask << PREDICATE_XCC_SHIFT);
    return stream->count;
}

void pm4_predicate_end(struct pm4_stream *stream, uint32_t begin)
{
    if (!stream->out_of_memory)
        stream->dwords[begin - 1] |= stream->count - begin;
}
