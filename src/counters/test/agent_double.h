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

#define TEST_BLOCK(block, counters, last, accumulates, own_shape)                                  \
    {                                                                                              \
        .name = block, .registers = counters, .event_max = last, .may_accumulate = accumulates,    \
        .shape = own_shape                                                                         \
    }

static const struct counter_block test_blocks[] = {
    TEST_BLOCK("SQ", 8, 337, 1, TEST_SHAPE_SE),
    TEST_BLOCK("GRBM", 2, 37, 0, TEST_SHAPE(1)),
    TEST_BLOCK("TCC", 4, 295, 0, TEST_SHAPE(32)),
    TEST_BLOCK("TCP", 4, 87, 0, TEST_SHAPE_SE_INSTANCES),
    TEST_BLOCK("TA", 2, 118, 0, TEST_SHAPE_SE_INSTANCES),
    TEST_BLOCK("TD", 2, 56, 0, TEST_SHAPE_SE_INSTANCES),
    TEST_BLOCK("SPI", 6, 195, 0, TEST_SHAPE_SE),
    TEST_BLOCK("CPC", 2, 34, 0, TEST_SHAPE(1)),
    TEST_BLOCK("CPF", 2, 31, 0, TEST_SHAPE(1)),
    TEST_BLOCK("TCA", 4, 58, 0, TEST_SHAPE(32)),
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
