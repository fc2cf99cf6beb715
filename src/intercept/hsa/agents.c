#include "intercept/hsa/agents.h"

#include <stddef.h>

#include "base/log.h"
#include "base/thread.h"
#include "intercept/hsa/wrappers.h"
#include "topology/topology.h"

enum { AGENTS_MAX = 256 };

/* Written by agents_read before any wrapper is reachable, then immutable. */
static struct {
    struct hsa_agent_entry entries[AGENTS_MAX];
    uint32_t count;
    hsa_amd_memory_pool_t host_pool;
    uint64_t timestamp_hz;
} agents;

static hsa_status_t agent_add(hsa_agent_t agent, void *unused)
{
    uint32_t node = UINT32_MAX;
    hsa_device_type_t kind = HSA_DEVICE_TYPE_CPU;

    (void)unused;
    hsa_real.hsa_agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
    hsa_real.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &kind);
    const rocprofiler_agent_v0_t *info = topology_agent_by_node(topology_system(), node);
    if (info == NULL) {
        log_warning("intercept", "HSA agent on node %u is not in the topology: not traced", node);
        return HSA_STATUS_SUCCESS;
    }
    if (agents.count == AGENTS_MAX)
        return HSA_STATUS_INFO_BREAK;
    agents.entries[agents.count++] = (struct hsa_agent_entry){
        .hsa = agent, .id = info->id, .info = info, .gpu = kind == HSA_DEVICE_TYPE_GPU};
    return HSA_STATUS_SUCCESS;
}

static hsa_status_t pool_consider(hsa_amd_memory_pool_t pool, void *unused)
{
    hsa_amd_segment_t segment = HSA_AMD_SEGMENT_READONLY;
    uint32_t flags = 0;
    bool allocatable = false;

    (void)unused;
    hsa_real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    hsa_real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    hsa_real.hsa_amd_memory_pool_get_info(pool, HSA_AMD_MEMORY_POOL_INFO_RUNTIME_ALLOC_ALLOWED,
                                          &allocatable);
    if (segment != HSA_AMD_SEGMENT_GLOBAL || !allocatable ||
        !(flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED))
        return HSA_STATUS_SUCCESS;
    agents.host_pool = pool;
    return HSA_STATUS_INFO_BREAK;
}

bool agents_read(void)
{
    agents.count = 0;
    agents.host_pool.handle = 0;
    agents.timestamp_hz = 0;
    hsa_real.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP_FREQUENCY, &agents.timestamp_hz);
    hsa_real.hsa_iterate_agents(agent_add, NULL);
    for (uint32_t i = 0; i < agents.count && agents.host_pool.handle == 0; i++)
        if (!agents.entries[i].gpu)
            hsa_real.hsa_amd_agent_iterate_memory_pools(agents.entries[i].hsa, pool_consider, NULL);
    if (agents.count == 0)
        log_error("intercept", "the HSA runtime shows no agent that the topology knows");
    return agents.count > 0;
}

const struct hsa_agent_entry *agents_find(hsa_agent_t agent)
{
    for (uint32_t i = 0; i < agents.count; i++)
        if (agents.entries[i].hsa.handle == agent.handle)
            return &agents.entries[i];
    return NULL;
}

const struct hsa_agent_entry *agents_all(uint32_t *count)
{
    *count = agents.count;
    return agents.entries;
}

hsa_amd_memory_pool_t agents_host_pool(void)
{
    return agents.host_pool;
}

uint64_t agents_system_time_ns(uint64_t timestamp)
{
    enum { NS_PER_S = 1000000000 };

    if (agents.timestamp_hz == NS_PER_S || agents.timestamp_hz == 0)
        return timestamp;
    return (uint64_t)((unsigned __int128)timestamp * NS_PER_S / agents.timestamp_hz);
}

uint64_t agents_device_time_ns(const struct hsa_agent_entry *agent, uint64_t ticks)
{
    uint64_t timestamp = 0;

    thread_own_work_begin();
    hsa_status_t status =
        hsa_real.hsa_amd_profiling_convert_tick_to_system_domain(agent->hsa, ticks, &timestamp);
    thread_own_work_end();
    return status == HSA_STATUS_SUCCESS ? agents_system_time_ns(timestamp) : 0;
}
