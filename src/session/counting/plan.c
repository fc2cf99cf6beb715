/* Questions about which counters fit together. */
#include <stdlib.h>

#include "session/counting/counting.h"

static rocprofiler_status_t agent_catalog(rocprofiler_agent_id_t id, const struct catalog **catalog)
{
    const struct counting_agent *agent = counting_agent_find(id);
    if (!agent)
        return ROCPROFILER_STATUS_ERROR_AGENT_NOT_FOUND;
    *catalog = agent->is_supported ? counting_catalog(agent) : NULL;
    return *catalog ? ROCPROFILER_STATUS_SUCCESS
                    : ROCPROFILER_STATUS_ERROR_AGENT_ARCH_NOT_SUPPORTED;
}

rocprofiler_status_t counting_counter_of(const struct catalog *catalog, rocprofiler_counter_id_t id,
                                         const struct counter **counter)
{
    *counter = id.handle <= UINT32_MAX ? catalog_find_id(catalog, (uint32_t)id.handle) : NULL;
    if (*counter && (*counter)->kind == COUNTER_DERIVED && !counter_program(*counter))
        return ROCPROFILER_STATUS_ERROR_METRIC_NOT_VALID_FOR_AGENT;
    if (*counter)
        return ROCPROFILER_STATUS_SUCCESS;
    return counting_counter_find(id, NULL) ? ROCPROFILER_STATUS_ERROR_METRIC_NOT_VALID_FOR_AGENT
                                           : ROCPROFILER_STATUS_ERROR_COUNTER_NOT_FOUND;
}

/* The counters of an agent behind ids; to be freed. */
static rocprofiler_status_t counters_get(rocprofiler_agent_id_t agent,
                                         const rocprofiler_counter_id_t *ids, size_t count,
                                         const struct catalog **catalog,
                                         const struct counter ***counters)
{
    *counters = NULL;
    rocprofiler_status_t status = agent_catalog(agent, catalog);
    if (status != ROCPROFILER_STATUS_SUCCESS)
        return status;
    *counters = count <= UINT16_MAX ? malloc((count + 1) * sizeof **counters) : NULL;
    if (!*counters)
        return ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    for (size_t i = 0; i < count && status == ROCPROFILER_STATUS_SUCCESS; i++)
        status = counting_counter_of(*catalog, ids[i], &(*counters)[i]);
    return status;
}

rocprofiler_status_t counting_plan_passes(rocprofiler_agent_id_t agent,
                                          const rocprofiler_counter_id_t *ids, size_t count,
                                          uint32_t *pass_of, uint32_t *pass_count)
{
    const struct catalog *catalog;
    const struct counter **counters;
    uint32_t culprit;
    rocprofiler_status_t status = counters_get(agent, ids, count, &catalog, &counters);
    if (status == ROCPROFILER_STATUS_SUCCESS) {
        int passes = plan_passes(catalog, counters, (uint32_t)count, pass_of, &culprit);
        *pass_count = passes > 0 ? (uint32_t)passes : culprit;
        if (passes == PLAN_TOO_MUCH)
            status = ROCPROFILER_STATUS_ERROR_EXCEEDS_HW_LIMIT;
        else if (passes < 0)
            status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    free(counters);
    return status;
}

rocprofiler_status_t counting_plan_explain(rocprofiler_agent_id_t agent,
                                           const rocprofiler_counter_id_t *ids, size_t count,
                                           char *text, size_t size)
{
    struct plan_event events[PLAN_EVENTS_MAX];
    uint32_t used = 0;
    const struct catalog *catalog;
    const struct counter **counters;
    rocprofiler_status_t status = counters_get(agent, ids, count, &catalog, &counters);
    for (size_t i = 0; i < count && status == ROCPROFILER_STATUS_SUCCESS; i++) {
        if (plan_events_add(catalog, counters[i], events, &used, PLAN_EVENTS_MAX))
            status = ROCPROFILER_STATUS_ERROR_OUT_OF_RESOURCES;
    }
    if (status == ROCPROFILER_STATUS_SUCCESS)
        plan_describe(catalog, events, used, text, size);
    free(counters);
    return status;
}
