/* The machine's agents, as HSA and the SDK name them: of each kind the last one. */
#ifndef CONFORMANCE_KFD_AGENTS_H
#define CONFORMANCE_KFD_AGENTS_H

#include "../client.h"

#include <hsa/hsa.h>

static rocprofiler_agent_id_t cpu_id, gpu_id;
static hsa_agent_t cpu, gpu;

static hsa_status_t on_agent(hsa_agent_t agent, void *data)
{
    hsa_device_type_t type;
    (void)data;
    hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    *(type == HSA_DEVICE_TYPE_GPU ? &gpu : &cpu) = agent;
    return HSA_STATUS_SUCCESS;
}

static rocprofiler_status_t on_agents(rocprofiler_agent_version_t version, const void **agents,
                                      size_t count, void *data)
{
    (void)version, (void)data;
    for (size_t i = 0; i < count; i++) {
        const rocprofiler_agent_v0_t *agent = agents[i];
        *(agent->type == ROCPROFILER_AGENT_TYPE_GPU ? &gpu_id : &cpu_id) = agent->id;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

/* Starts HSA. */
static void agents_find(void)
{
    assert_int_equal(hsa_init(), HSA_STATUS_SUCCESS);
    hsa_iterate_agents(on_agent, NULL);
    OK(rocprofiler_query_available_agents(ROCPROFILER_AGENT_INFO_VERSION_0, on_agents,
                                          sizeof(rocprofiler_agent_v0_t), NULL));
}

#endif
