/*
 * The dimensions of a counter's value, and the instance ids that records carry. A value is a dense
 * array; the flat index runs over the dimensions in the order of enum counter_dimension, the last
 * one fastest.
 */
#ifndef COUNTERS_SHAPE_H
#define COUNTERS_SHAPE_H

#include <stdint.h>

/* Positions are those of rocprofiler_counter_dimension_id_t; they are ABI. */
enum counter_dimension {
    DIMENSION_NONE,
    DIMENSION_XCC,
    DIMENSION_AID,
    DIMENSION_SHADER_ENGINE,
    DIMENSION_AGENT,
    DIMENSION_SHADER_ARRAY,
    DIMENSION_WGP,
    DIMENSION_INSTANCE,
    DIMENSION_COUNT
};

/* An id keeps 6 bits per dimension below the 16 bits of the counter id. */
enum { DIMENSION_BITS = 6, DIMENSION_EXTENT_MAX = 1 << DIMENSION_BITS, COUNTER_ID_SHIFT = 48 };

struct counter_shape {
    uint8_t extent[DIMENSION_COUNT]; /* 0: the value does not have this dimension */
};

/* "DIMENSION_XCC" ...; NULL when out of range. */
const char *dimension_name(enum counter_dimension dimension);
/* DIMENSION_NONE when unknown. */
enum counter_dimension dimension_find(const char *name, uint32_t length);

uint32_t shape_count(const struct counter_shape *shape);
int shape_equal(const struct counter_shape *a, const struct counter_shape *b);
uint64_t shape_instance_id(const struct counter_shape *shape, uint32_t counter_id,
                           uint32_t flat_index);
uint32_t shape_flat_index(const struct counter_shape *shape,
                          const uint32_t position[DIMENSION_COUNT]);

uint32_t instance_counter_id(uint64_t instance_id);
uint32_t instance_position(uint64_t instance_id, enum counter_dimension dimension);

#endif
