/* The runtime's agents and the engine's. */
#include "api/rocprofiler_v1/internal.h"

#include <hsa/hsa_ext_amd.h>

static const rocprofiler_agent_v0_t *info_by_node(uint32_t node)
{
    const struct topology *topology = engine->topology_system();
    for (uint32_t i = 0; i < topology->agent_count; i++)
        if (topology->agents[i]->node_id == node)
            return topology->agents[i];
    return NULL;
}

/* Asks the runtime each time: it may have been started anew since. */
static bool gpu_read(const struct hsa_calls *hsa, hsa_agent_t agent, struct gpu *gpu)
{
    hsa_device_type_t type;
    if (agent.handle == 0 ||
        hsa->agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type) != HSA_STATUS_SUCCESS ||
        type != HSA_DEVICE_TYPE_GPU ||
        hsa->agent_get_info(agent, (hsa_agent_info_t)HSA_AMD_AGENT_INFO_DRIVER_NODE_ID,
                            &gpu->node) != HSA_STATUS_SUCCESS)
        return false;
    const rocprofiler_agent_v0_t *info = info_by_node(gpu->node);
    gpu->hsa = agent;
    gpu->agent = info ? engine->counting_agent_find(info->id) : NULL;
    return gpu->agent != NULL;
}

struct listing {
    const struct hsa_calls *hsa;
    struct gpu *gpus;
    int count;
};

static hsa_status_t agent_list(hsa_agent_t agent, void *data)
{
    struct listing *listing = data;
    if (listing->count < GPUS_MAX && gpu_read(listing->hsa, agent, &listing->gpus[listing->count]))
        listing->count++;
    return HSA_STATUS_SUCCESS;
}

int gpus_list(struct gpu gpus[GPUS_MAX])
{
    struct listing listing = {hsa_calls(), gpus, 0};
    if (!listing.hsa)
        return -1;
    if (listing.hsa->iterate_agents(agent_list, &listing) != HSA_STATUS_SUCCESS) {
        fail(HSA_STATUS_ERROR_NOT_INITIALIZED,
             "the HSA runtime does not run: hsa_init comes first");
        return -1;
    }
    return listing.count;
}

bool gpu_find(hsa_agent_t agent, struct gpu *gpu)
{
    struct gpu gpus[GPUS_MAX];
    int count = gpus_list(gpus);
    for (int i = 0; i < count; i++) {
        if (gpus[i].hsa.handle != agent.handle)
            continue;
        *gpu = gpus[i];
        return true;
    }
    if (count >= 0)
        fail(HSA_STATUS_ERROR_INVALID_AGENT, "agent 0x%llx is no GPU of this machine",
             (unsigned long long)agent.handle);
    return false;
}
