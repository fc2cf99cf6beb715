#include "counters/shape.h"

#include <string.h>

static const char *const dimension_names[DIMENSION_COUNT] = {
    [DIMENSION_NONE] = "DIMENSION_NONE",   [DIMENSION_XCC] = "DIMENSION_XCC",
    [DIMENSION_AID] = "DIMENSION_AID",     [DIMENSION_SHADER_ENGINE] = "DIMENSION_SHADER_ENGINE",
    [DIMENSION_AGENT] = "DIMENSION_AGENT", [DIMENSION_SHADER_ARRAY] = "DIMENSION_SHADER_ARRAY",
    [DIMENSION_WGP] = "DIMENSION_WGP",     [DIMENSION_INSTANCE] = "DIMENSION_INSTANCE",
};

const char *dimension_name(enum counter_dimension dimension)
{
    return (unsigned)dimension < DIMENSION_COUNT ? dimension_names[dimension] : NULL;
}

enum counter_dimension dimension_find(const char *name, uint32_t length)
{
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        if (strlen(dimension_names[d]) == length && memcmp(dimension_names[d], name, length) == 0)
            return d;
    }
    return DIMENSION_NONE;
}

uint32_t shape_count(const struct counter_shape *shape)
{
    uint32_t count = 1;
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++)
        count *= shape->extent[d] ? shape->extent[d] : 1;
    return count;
}

int shape_equal(const struct counter_shape *a, const struct counter_shape *b)
{
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        uint32_t extent_a = a->extent[d] ? a->extent[d] : 1;
        uint32_t extent_b = b->extent[d] ? b->extent[d] : 1;
        if (extent_a != extent_b)
            return 0;
    }
    return 1;
}

uint64_t shape_instance_id(const struct counter_shape *shape, uint32_t counter_id,
                           uint32_t flat_index)
{
    uint64_t id = (uint64_t)counter_id << COUNTER_ID_SHIFT;
    for (int d = DIMENSION_COUNT - 1; d >= DIMENSION_XCC; d--) {
        uint32_t extent = shape->extent[d] ? shape->extent[d] : 1;
        id |= (uint64_t)(flat_index % extent) << ((d - 1) * DIMENSION_BITS);
        flat_index /= extent;
    }
    return id;
}

uint32_t shape_flat_index(const struct counter_shape *shape,
                          const uint32_t position[DIMENSION_COUNT])
{
    uint32_t index = 0;
    for (int d = DIMENSION_XCC; d < DIMENSION_COUNT; d++) {
        uint32_t extent = shape->extent[d] ? shape->extent[d] : 1;
        index = index * extent + (extent > 1 ? position[d] : 0);
    }
    return index;
}

uint32_t instance_counter_id(uint64_t instance_id)
{
    return (uint32_t)(instance_id >> COUNTER_ID_SHIFT);
}

uint32_t instance_position(uint64_t instance_id, enum counter_dimension dimension)
{
    if (dimension <= DIMENSION_NONE || dimension >= DIMENSION_COUNT)
        return 0;
    return (instance_id >> ((dimension - 1) * DIMENSION_BITS)) & (DIMENSION_EXTENT_MAX - 1);
}
