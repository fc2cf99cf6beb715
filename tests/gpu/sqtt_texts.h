/* Traces of the tests, and their packets as text. */
#ifndef TESTS_GPU_SQTT_TEXTS_H
#define TESTS_GPU_SQTT_TEXTS_H

#include <stdlib.h>
#include <string.h>

#include "dump/dump.h"
#include "gpu/sqtt/parameters.h"
#include "gpu/sqtt/sqtt.h"

enum { TEXT_BYTES = 600 };
static const uint64_t BUFFER = 0x7f5566000000, CONTROL = 0x7f0000002000;
static const uint64_t BUFFER_BYTES = 3ull << 26;

static inline struct gpu_target target_of(const char *architecture, struct gpu_geometry geometry)
{
    struct gpu_target target;
    assert_int_equal(gpu_target_find(architecture, &geometry, &target), 0);
    return target;
}

static inline struct sqtt_config config_of(uint64_t engines, uint32_t unit)
{
    return (struct sqtt_config){.engine_mask = engines,
                                .target = unit,
                                .simd_mask = 0xf,
                                .has_timestamps = 1,
                                .control_va = CONTROL,
                                .buffer_va = BUFFER,
                                .buffer_bytes = BUFFER_BYTES};
}

/* The stream's packets, one a line. */
static inline char *text_of(enum dump_family family, const struct pm4_stream *stream)
{
    char *text = calloc(stream->count + 1, TEXT_BYTES), *at = text;
    for (uint32_t i = 0; i < stream->count;) {
        struct dump_packet packet;
        uint32_t length = dump_decode(stream->dwords + i, stream->count - i, &packet);
        assert_true(length > 0);
        dump_format(family, &packet, at, TEXT_BYTES - 1);
        at += strlen(at);
        *at++ = '\n';
        i += length;
    }
    *at = '\0';
    return text;
}

#endif
