/*
 * What counting costs before and after a kernel, without a GPU. Budgets: definitions ready in 2 ms,
 * a configuration in 5 us, 50 M instance-operations a second in evaluation.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "counters/plan.h"
#include "counters/test/agent_double.h"
#include "gpu/pmc.h"
#include "session/counting/counting.h"
#include "topology/topology.h"

enum { ROUNDS = 9 };

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static struct catalog *catalog_make(void)
{
    struct definition_set *set = definitions_create();
    definitions_add_builtin(set);
    struct catalog *catalog = catalog_create(set, &test_agent, 1);
    definitions_destroy(set);
    return catalog;
}

static double catalog_ns(void)
{
    double best = 1e18;
    for (int i = 0; i < ROUNDS; i++) {
        double from = now_ns();
        struct catalog *catalog = catalog_make();
        double ns = now_ns() - from;
        catalog_destroy(catalog);
        best = ns < best ? ns : best;
    }
    return best;
}

/* Operations on instances per second, over all computed counters of the GPU. */
static double evaluation_rate(const struct catalog *catalog)
{
    uint32_t count;
    const struct counter *all = catalog_counters(catalog, &count);
    double operations = 0, best = 1e18;
    double *workspace = calloc(1 << 20, sizeof *workspace);
    for (int round = 0; round < ROUNDS; round++) {
        operations = 0;
        double from = now_ns();
        for (int repeat = 0; repeat < 50; repeat++) {
            for (uint32_t i = 0; i < count; i++) {
                uint32_t inputs;
                if (all[i].kind != COUNTER_DERIVED)
                    continue;
                const struct expr_input *input = expr_inputs(counter_program(&all[i]), &inputs);
                expr_workspace_init(counter_program(&all[i]), workspace);
                expr_evaluate(counter_program(&all[i]), workspace);
                for (uint32_t k = 0; k < inputs; k++)
                    operations += shape_count(&input[k].shape);
            }
        }
        double ns = now_ns() - from;
        best = ns < best ? ns : best;
    }
    free(workspace);
    return operations / best * 1e9;
}

/* Twelve counters that need two passes: the exact search runs. */
static double planning_ns(const struct catalog *catalog)
{
    static const char *const names[] = {"TCC_HIT",   "TCC_MISS",  "TCC_REQ",   "TCC_READ",
                                        "TCC_WRITE", "FetchSize", "WriteSize", "L2CacheHit",
                                        "SQ_WAVES",  "VALUBusy",  "GPU_UTIL",  "MemUnitBusy"};
    enum { COUNT = sizeof names / sizeof names[0] };
    const struct counter *counters[COUNT];
    uint32_t pass[COUNT], culprit;
    double best = 1e18;
    for (int i = 0; i < COUNT; i++)
        counters[i] = catalog_find(catalog, names[i]);
    for (int i = 0; i < ROUNDS; i++) {
        double from = now_ns();
        plan_passes(catalog, counters, COUNT, pass, &culprit);
        double ns = now_ns() - from;
        best = ns < best ? ns : best;
    }
    return best;
}

/* Start, read and stop of 4 events on every L2 channel, as one configuration builds once. */
static double commands_ns(void)
{
    static const struct gpu_geometry geometry = {1, 8, 1, 104, 14};
    struct gpu_target target;
    struct gpu_event events[128];
    double best = 1e18;
    gpu_target_find("gfx90a", &geometry, &target);
    for (uint32_t i = 0; i < 128; i++)
        events[i] = (struct gpu_event){
            .block = gpu_block_by_name(&target, "TCC"), .instance = i % 32, .event = 16 + i / 32};
    for (int i = 0; i < ROUNDS; i++) {
        struct pm4_stream stream = {0};
        double from = now_ns();
        gpu_pmc_assign(&target, events, 128);
        gpu_pmc_start(&stream, &target, events, 128);
        gpu_pmc_read(&stream, &target, events, 128, 0x1000);
        gpu_pmc_stop(&stream, &target, events, 128);
        double ns = now_ns() - from;
        pm4_stream_free(&stream);
        best = ns < best ? ns : best;
    }
    return best;
}

/* The machine of the configuration: one gfx90a. */
const struct topology *topology_system(void)
{
    static const rocprofiler_agent_v0_t agent = {.size = sizeof agent,
                                                 .id = {1},
                                                 .type = ROCPROFILER_AGENT_TYPE_GPU,
                                                 .num_xcc = 1,
                                                 .cu_count = 104,
                                                 .array_count = 8,
                                                 .num_shader_banks = 8,
                                                 .simd_arrays_per_engine = 1,
                                                 .name = "gfx90a"};
    static const rocprofiler_agent_v0_t *list[] = {&agent};
    static const struct topology topology = {list, 1};
    return &topology;
}

/* Four counters, one of them computed; everything is known already. */
static double configuration_ns(void)
{
    static const char *const names[] = {"SQ_WAVES", "GRBM_COUNT", "TCC_HIT", "L2CacheHit"};
    enum { COUNT = sizeof names / sizeof names[0], CONFIGS = 1000 };
    static rocprofiler_counter_config_id_t configs[CONFIGS];
    const rocprofiler_agent_id_t agent = {1};
    rocprofiler_counter_id_t ids[COUNT];
    double best = 1e18;
    const struct catalog *catalog = counting_catalog(counting_agent_find(agent));
    for (int i = 0; i < COUNT; i++)
        ids[i].handle = catalog_find(catalog, names[i])->id;
    for (int round = 0; round < ROUNDS; round++) {
        double from = now_ns();
        for (int i = 0; i < CONFIGS; i++) {
            configs[i].handle = 0;
            counting_config_create(agent, ids, COUNT, &configs[i]);
        }
        double ns = (now_ns() - from) / CONFIGS;
        best = ns < best ? ns : best;
        for (int i = 0; i < CONFIGS; i++)
            counting_config_destroy(configs[i]);
    }
    return best;
}

int main(int argc, char **argv)
{
    struct catalog *catalog = catalog_make();
    const struct {
        const char *name, *unit;
        double value, budget;
        bool is_rate;
    } results[] = {
        {"definitions_ready", "us", catalog_ns() / 1e3, 2000, false},
        {"evaluation", "M instance-operations/s", evaluation_rate(catalog) / 1e6, 50, true},
        {"configuration", "us", configuration_ns() / 1e3, 5, false},
        {"planning_12_counters", "us", planning_ns(catalog) / 1e3, 0, false},
        {"commands_128_events", "us", commands_ns() / 1e3, 0, false},
    };
    enum { COUNT = sizeof results / sizeof results[0] };
    FILE *json = argc == 3 && strcmp(argv[1], "--json") == 0 ? fopen(argv[2], "w") : NULL;
    for (int i = 0; i < COUNT; i++) {
        printf("%-22s %10.1f %s", results[i].name, results[i].value, results[i].unit);
        if (results[i].budget > 0)
            printf("  budget %s %.0f  %s", results[i].is_rate ? ">=" : "<=", results[i].budget,
                   (results[i].value >= results[i].budget) == results[i].is_rate ? "met" : "OVER");
        printf("\n");
        if (json)
            fprintf(json, "%s\"%s\": {\"value\": %.3f, \"unit\": \"%s\"}%s\n", i ? " " : "{",
                    results[i].name, results[i].value, results[i].unit, i == COUNT - 1 ? "}" : ",");
    }
    if (json)
        fclose(json);
    catalog_destroy(catalog);
    return 0;
}
