#include "intercept/hsa/agents.h"

#include <hsa/amd_hsa_signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/device_clock.h"
#include "intercept/hsa/instance.h"
#include "topology/quality.h"
#include "topology/topology.h"

/* A runtime that starts anew gets new clocks: the old ones were the former devices'. */
static struct device_clock *clock_renew(struct device_clock *clock)
{
    if (!clock)
        return calloc(1, sizeof *clock);
    clock->newest_ticks = clock->newest_ns = clock->count = 0;
    return clock;
}

/* The driver may say that its device models kernels' cycles; only the reserved words of a signal
 * are looked at. */
static uint64_t cycles_hz(const rocprofiler_agent_v0_t *info)
{
    uint32_t offset_bytes = 0;
    uint64_t hz = 0;
    struct node_quality *quality = node_quality_read("", info->node_id);
    bool stated = node_quality_cycles(quality, &offset_bytes, &hz);
    node_quality_free(quality);
    return stated && offset_bytes == offsetof(amd_signal_t, reserved3) ? hz : 0;
}

static hsa_status_t agent_add(hsa_agent_t agent, void *data)
{
    struct hsa_instance *runtime = data;
    struct hsa_agents *agents = &runtime->agents;
    uint32_t node = UINT32_MAX;
    hsa_device_type_t kind = HSA_DEVICE_TYPE_CPU;
    runtime->real.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,
                                     &node);
    runtime->real.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &kind);
    const rocprofiler_agent_v0_t *info = topology_agent_by_node(topology_system(), node);
    if (!info) {
        agents->unknown_count++;
        return HSA_STATUS_SUCCESS;
    }
    if (agents->count == HSA_AGENTS_MAX)
        return HSA_STATUS_INFO_BREAK;
    struct hsa_agent_entry *entry = &agents->entries[agents->count++];
    struct device_clock *clock = entry->clock;
    *entry =
        (struct hsa_agent_entry){.runtime = runtime,
                                 .hsa = agent,
                                 .id = info->id,
                                 .info = info,
                                 .gpu = kind == HSA_DEVICE_TYPE_GPU,
                                 .cycles_hz = kind == HSA_DEVICE_TYPE_GPU ? cycles_hz(info) : 0,
                                 .clock = clock_renew(clock)};
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_consider(hsa_amd_memory_pool_t pool, void *data)
{
    struct hsa_instance *runtime = data;
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_READONLY;
    uint32_t flags = 0;
    bool allocatable = false;
    runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    runtime->real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                               &allocatable);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allocatable ||
        !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED))
        return HSA_STATUS_SUCCESS;
    runtime->agents.host_pool = pool;
    return HSA_STATUS_INFO_BREAK;
}

void agents_read(struct hsa_instance *runtime)
{
    struct hsa_agents *agents = &runtime->agents;
    agents->count = 0;
    agents->unknown_count = 0;
    agents->host_pool.handle = 0;
    agents->timestamp_hz = 0;
    runtime->real.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &agents->timestamp_hz);
    runtime->real.hsa_iterate_agents(agent_add, runtime);
    if (agents->count > 0 && agents->unknown_count > 0)
        log_warning("intercept", "%u of %u HSA agents are not in the topology: not traced there",
                    agents->unknown_count, agents->unknown_count + agents->count);
    for (uint32_t i = 0; i < agents->count && agents->host_pool.handle == 0; i++)
        if (!agents->entries[i].gpu)
            runtime->real.hsa_amd_agent_iterate_memory_pools(agents->entries[i].hsa, pool_consider,
                                                             runtime);
}

const struct hsa_agent_entry *agents_find(const struct hsa_instance *runtime, hsa_agent_t agent)
{
    const struct hsa_agents *agents = &runtime->agents;
    for (uint32_t i = 0; i < agents->count; i++)
        if (agents->entries[i].hsa.handle == agent.handle)
            return &agents->entries[i];
    return NULL;
}

uint64_t agents_system_time_ns(const struct hsa_instance *runtime, uint64_t timestamp)
{
    enum { NS_PER_S = 1000000000 };
    uint64_t hz = runtime->agents.timestamp_hz;

    if (hz == NS_PER_S || hz == 0)
        return timestamp;
    return (uint64_t)((unsigned __int128)timestamp * NS_PER_S / hz);
}

static uint64_t runtime_time_ns(const void *data, uint64_t ticks)
{
    const struct hsa_agent_entry *agent = data;
    uint64_t timestamp = 0;
    thread_own_work_begin();
    hsa_status_t status = agent->runtime->real.hsa_amd_profiling_convert_tick_to_system_domain(
        agent->hsa, ticks, &timestamp);
    thread_own_work_end();
    return status == HSA_STATUS_SUCCESS ? agents_system_time_ns(agent->runtime, timestamp) : 0;
}

uint64_t agents_device_time_ns(const struct hsa_agent_entry *agent, uint64_t ticks)
{
    const struct device_clock_source source = {runtime_time_ns, agent};
    return agent->clock ? device_clock_ns(agent->clock, &source, ticks)
                        : runtime_time_ns(agent, ticks);
}
