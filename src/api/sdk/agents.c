#include "session/front/engine.h"

#include <rocprofiler-sdk/agent.h>

rocprofiler_status_t
rocprofiler_query_available_agents(rocprofiler_agent_version_t version,
                                   rocprofiler_query_available_agents_cb_t callback,
                                   size_t agent_size, void *user_data)
{
    if (!callback)
        return ROCPROFILER_STATUS_ERROR_INVALID_ARGUMENT;
    if (version != ROCPROFILER_AGENT_INFO_VERSION_0 || agent_size > sizeof(rocprofiler_agent_v0_t))
        return ROCPROFILER_STATUS_ERROR_INCOMPATIBLE_ABI;
    crocprof_engine()->runtime_first_use();
    const struct topology *topology = crocprof_engine()->topology_system();
    return callback(version, (const void **)topology->agents, topology->agent_count, user_data);
}
