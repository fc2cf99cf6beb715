/*
 * The shipped counter definitions on the blocks of every architecture: each counter that is defined
 * for one can be counted there, so its block exists, has such an event, and expressions compile.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "counters/catalog.h"
#include "counters/definition.h"
#include "gpu/pmc.h"

enum { BLOCKS_MAX = 64 };

static uint32_t blocks_fill(const struct gpu_target *target,
                            struct counter_block blocks[BLOCKS_MAX])
{
    uint32_t count;
    const struct gpu_block *all = gpu_blocks(target, &count);
    assert_true(count <= BLOCKS_MAX);
    for (uint32_t i = 0; i < count; i++) {
        struct gpu_grid grid = gpu_block_grid(target, &all[i]);
        blocks[i] = (struct counter_block){.name = all[i].name,
                                           .registers = all[i].counters,
                                           .event_max = all[i].event_max,
                                           .may_accumulate = all[i].flags & BLOCK_ACCUMULATES};
        blocks[i].shape.extent[DIMENSION_XCC] = (uint8_t)gpu_block_dies(target, &all[i]);
        blocks[i].shape.extent[DIMENSION_SHADER_ENGINE] = (uint8_t)grid.engines;
        blocks[i].shape.extent[DIMENSION_SHADER_ARRAY] = (uint8_t)grid.arrays;
        blocks[i].shape.extent[DIMENSION_WGP] = (uint8_t)grid.processors;
        blocks[i].shape.extent[DIMENSION_INSTANCE] = (uint8_t)gpu_block_instances(target, &all[i]);
        for (int d = 0; d < DIMENSION_COUNT; d++)
            assert_true(blocks[i].shape.extent[d] <= DIMENSION_EXTENT_MAX);
    }
    return count;
}

/* Counters defined for the architecture, all of which its catalog must have. */
static void check(const struct definition_set *set, const char *architecture,
                  const struct gpu_geometry *geometry, uint32_t at_least)
{
    static const struct counter_property properties[] = {
        {"simd_count", 320},     {"simd_per_cu", 4},        {"array_count", 16},
        {"num_xcc", 8},          {"cu_count", 80},          {"simd_arrays_per_engine", 2},
        {"wave_front_size", 64}, {"max_waves_per_simd", 8}, {"num_shader_banks", 8}};
    struct counter_block blocks[BLOCKS_MAX];
    struct gpu_target target;
    uint32_t definitions, applying = 0;
    assert_int_equal(gpu_target_find(architecture, geometry, &target), 0);
    struct counter_agent agent = {.architecture = architecture,
                                  .blocks = blocks,
                                  .block_count = blocks_fill(&target, blocks),
                                  .properties = properties,
                                  .property_count = sizeof properties / sizeof properties[0]};
    struct catalog *catalog = catalog_create(set, &agent, 0);
    assert_non_null(catalog);
    const struct counter_definition *all = definitions_all(set, &definitions);
    for (uint32_t i = 0; i < definitions; i++) {
        if (!definition_applies(&all[i], architecture))
            continue;
        if (!catalog_find(catalog, all[i].name))
            fail_msg("%s: %s cannot be counted (block %s event %u)", architecture, all[i].name,
                     all[i].block ? all[i].block : "-", all[i].event);
        applying++;
    }
    assert_int_equal(catalog_problem_count(catalog), 0);
    assert_true(applying >= at_least);
    catalog_destroy(catalog);
}

/* The least is what ROCprofiler-SDK 1.0 ships for the architecture. */
static void shipped_test(void **state)
{
    static const struct {
        const char *architecture;
        struct gpu_geometry geometry;
        uint32_t at_least;
    } machines[] = {
        {"gfx900", {1, 4, 1, 64, 0}, 28 + 39},     {"gfx906", {1, 4, 1, 60, 0}, 33 + 53},
        {"gfx908", {1, 8, 1, 120, 0}, 243 + 143},  {"gfx90a", {1, 8, 1, 104, 0}, 261 + 212},
        {"gfx940", {6, 24, 1, 228, 0}, 265 + 152}, {"gfx941", {8, 32, 1, 304, 0}, 265 + 152},
        {"gfx942", {8, 32, 1, 304, 0}, 265 + 154}, {"gfx950", {8, 32, 1, 256, 0}, 428 + 200},
        {"gfx1010", {1, 2, 2, 40, 0}, 45 + 44},    {"gfx1011", {1, 2, 2, 24, 0}, 45 + 44},
        {"gfx1012", {1, 1, 2, 22, 0}, 45 + 44},    {"gfx1030", {1, 4, 2, 80, 0}, 45 + 44},
        {"gfx1031", {1, 2, 2, 40, 0}, 45 + 44},    {"gfx1032", {1, 2, 2, 32, 0}, 45 + 44},
        {"gfx1036", {1, 1, 1, 2, 0}, 45 + 44},     {"gfx1100", {1, 6, 2, 96, 0}, 40 + 40},
        {"gfx1103", {1, 1, 2, 12, 0}, 40 + 40},    {"gfx1151", {1, 2, 2, 40, 0}, 40 + 40},
        {"gfx1200", {1, 2, 2, 32, 0}, 36 + 22},    {"gfx1201", {1, 4, 2, 64, 0}, 36 + 22},
    };
    struct definition_set *set = definitions_create();
    (void)state;
    assert_non_null(set);
    assert_int_equal(definitions_add_builtin(set), 0);
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        check(set, machines[i].architecture, &machines[i].geometry, machines[i].at_least);
    definitions_destroy(set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(shipped_test)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
