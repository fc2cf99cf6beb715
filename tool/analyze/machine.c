#include "machine.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct machine_arch archs[] = {
    {"gfx900", 256, 4, false, 800, 16, 16, 512, 16, 128, 8, 0},
    {"gfx906", 256, 4, false, 800, 16, 16, 512, 16, 128, 64, 0},
    {"gfx908", 256, 4, false, 800, 16, 16, 512, 32, 128, 64, 1024},
    {"gfx90a", 512, 8, true, 800, 16, 16, 512, 32, 128, 128, 1024},
    {"gfx942", 512, 8, true, 800, 16, 16, 512, 16, 256, 128, 2048},
};

/* Both edges of the memory's clock carry data. */
static double banks_bytes_per_s(const rocprofiler_agent_v0_t *agent)
{
    double sum = 0;
    for (uint32_t i = 0; agent->mem_banks && i < agent->mem_banks_count; i++) {
        const rocprofiler_agent_mem_bank_t *bank = &agent->mem_banks[i];
        double one = bank->width / 8.0 * 2 * bank->mem_clk_max * 1e6;
        sum = one > sum ? one : sum; /* several banks are ranges of one memory */
    }
    return sum;
}

struct machine machine_of(const rocprofiler_agent_v0_t *agent, double memory_bytes_per_s)
{
    struct machine machine = {
        .node = agent->node_id,
        .cus = agent->cu_count,
        .simds = agent->simd_count,
        .xccs = agent->num_xcc ? agent->num_xcc : 1,
        .waves_per_simd = agent->max_waves_per_simd,
        .lds_bytes = agent->lds_size_in_kb * 1024,
        .clock_hz = agent->max_engine_clk_fcompute * 1e6,
        .memory_bytes_per_s =
            memory_bytes_per_s > 0 ? memory_bytes_per_s : banks_bytes_per_s(agent),
    };
    snprintf(machine.name, sizeof machine.name, "%s", agent->name ? agent->name : "");
    snprintf(machine.product, sizeof machine.product, "%s",
             agent->product_name ? agent->product_name : "");
    for (size_t i = 0; i < sizeof archs / sizeof archs[0]; i++)
        if (strcmp(archs[i].name, machine.name) == 0)
            machine.arch = &archs[i];
    return machine;
}
