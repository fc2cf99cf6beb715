/* An agent for unit tests, shaped like a gfx90a. */
#ifndef COUNTERS_TEST_AGENT_DOUBLE_H
#define COUNTERS_TEST_AGENT_DOUBLE_H

#include "counters/catalog.h"

#define TEST_SHAPE_SE                                                                              \
    {                                                                                              \
        .extent = { [DIMENSION_SHADER_ENGINE] = 8, [DIMENSION_INSTANCE] = 1 }                      \
    }
#define TEST_SHAPE(instances)                                                                      \
    {                                                                                              \
        .extent = { [DIMENSION_INSTANCE] = instances }                                             \
    }
#define TEST_SHAPE_SE_INSTANCES                                                                    \
    {                                                                                              \
        .extent = { [DIMENSION_SHADER_ENGINE] = 8, [DIMENSION_INSTANCE] = 14 }                     \
    }

static const struct counter_block test_blocks[] = {
    {"SQ", 8, 337, 1, TEST_SHAPE_SE},           {"GRBM", 2, 37, 0, TEST_SHAPE(1)},
    {"TCC", 4, 295, 0, TEST_SHAPE(32)},         {"TCP", 4, 87, 0, TEST_SHAPE_SE_INSTANCES},
    {"TA", 2, 118, 0, TEST_SHAPE_SE_INSTANCES}, {"TD", 2, 56, 0, TEST_SHAPE_SE_INSTANCES},
    {"SPI", 6, 195, 0, TEST_SHAPE_SE},          {"CPC", 2, 34, 0, TEST_SHAPE(1)},
    {"CPF", 2, 31, 0, TEST_SHAPE(1)},           {"TCA", 4, 58, 0, TEST_SHAPE(32)},
};
static const struct counter_property test_properties[] = {{"simd_count", 416},
                                                          {"simd_per_cu", 4},
                                                          {"array_count", 8},
                                                          {"simd_arrays_per_engine", 1},
                                                          {"wave_front_size", 64}};
static const struct counter_agent test_agent = {
    "gfx90a", test_blocks, sizeof test_blocks / sizeof test_blocks[0], test_properties,
    sizeof test_properties / sizeof test_properties[0]};

#endif
