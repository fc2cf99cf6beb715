#include "avail.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static rocprofiler_status_t counters_take(rocprofiler_agent_id_t id,
                                          rocprofiler_counter_id_t *counters, size_t count,
                                          void *data)
{
    struct avail_agent *agent = data;
    (void)id;
    agent->counters = calloc(count + 1, sizeof *agent->counters);
    if (!agent->counters)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    for (size_t i = 0; i < count; i++) {
        rocprofiler_counter_info_v1_t *info = &agent->counters[agent->count];
        if (rocprofiler_query_counter_info(counters[i], ROCPROFILER_COUNTER_INFO_VERSION_1, info) ==
            ROCPROFILER_STATUS_SUCCESS)
            agent->count++;
    }
    return ROCPROFILER_STATUS_SUCCESS;
}

static rocprofiler_status_t agents_take(rocprofiler_agent_version_t version, const void **agents,
                                        size_t count, void *data)
{
    struct avail *avail = data;
    (void)version;
    for (size_t i = 0; i < count && avail->count < AVAIL_AGENTS_MAX; i++)
        avail->agents[avail->count++].agent = agents[i];
    return ROCPROFILER_STATUS_SUCCESS;
}

rocprofiler_status_t avail_read(struct avail *avail)
{
    *avail = (struct avail){0};
    rocprofiler_status_t status = rocprofiler_query_available_agents(
        ROCPROFILER_AGENT_INFO_VERSION_0, agents_take, sizeof(rocprofiler_agent_v0_t), avail);
    for (unsigned i = 0; status == ROCPROFILER_STATUS_SUCCESS && i < avail->count; i++)
        if (avail_is_gpu(&avail->agents[i]))
            rocprofiler_iterate_agent_supported_counters(avail->agents[i].agent->id, counters_take,
                                                         &avail->agents[i]);
    return status;
}

void avail_free(struct avail *avail)
{
    for (unsigned i = 0; i < avail->count; i++)
        free(avail->agents[i].counters);
    *avail = (struct avail){0};
}

const struct avail_agent *avail_agent_find(const struct avail *avail, uint64_t handle)
{
    for (unsigned i = 0; i < avail->count; i++)
        if (avail->agents[i].agent->id.handle == handle)
            return &avail->agents[i];
    return NULL;
}

const rocprofiler_counter_info_v1_t *avail_counter_find(const struct avail *avail, uint64_t handle)
{
    for (unsigned i = 0; i < avail->count; i++)
        for (size_t j = 0; j < avail->agents[i].count; j++)
            if (avail->agents[i].counters[j].id.handle == handle)
                return &avail->agents[i].counters[j];
    return NULL;
}

const rocprofiler_counter_info_v1_t *avail_counter_named(const struct avail_agent *agent,
                                                         const char *name)
{
    for (size_t i = 0; i < agent->count; i++)
        if (strcasecmp(agent->counters[i].name, name) == 0)
            return &agent->counters[i];
    return NULL;
}
