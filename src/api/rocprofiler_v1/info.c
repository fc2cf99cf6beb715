/* What can be collected. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"

typedef hsa_status_t info_fn(const rocprofiler_info_data_t info, void *data);

/* One GPU, or all of the runtime. Their number, -1 with a message. */
static int gpus_chosen(const hsa_agent_t *agent, struct gpu gpus[GPUS_MAX])
{
    library_begin();
    if (!agent)
        return gpus_list(gpus);
    return gpu_find(*agent, &gpus[0]) ? 1 : -1;
}

static hsa_status_t tell(info_fn *callback, const rocprofiler_info_data_t *info, void *data)
{
    hsa_status_t status;
    CALLBACK(status = callback(*info, data));
    return status;
}

static hsa_status_t metrics_tell(const struct gpu *gpu, info_fn *callback, void *data)
{
    const struct metric_set *set = metrics_of(gpu->agent);
    hsa_status_t status = set ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
    for (uint32_t i = 0; set && i < set->count && status == HSA_STATUS_SUCCESS; i++) {
        const struct metric *metric = &set->metrics[i];
        const rocprofiler_info_data_t info = {.agent_index = gpu->node,
                                              .kind = ROCPROFILER_INFO_KIND_METRIC,
                                              .metric = {.name = metric->name,
                                                         .instances = metric->instances,
                                                         .expr = metric->expr,
                                                         .description = metric->description,
                                                         .block_name = metric->block,
                                                         .block_counters = metric->registers}};
        status = tell(callback, &info, data);
        if (status != HSA_STATUS_SUCCESS && status != HSA_STATUS_INFO_BREAK)
            fail(status, "the callback returned 0x%x", (unsigned)status);
    }
    return status;
}

/* Traces and their parameters come with the part that collects them: until then there are none. */
static bool kind_is_known(rocprofiler_info_kind_t kind)
{
    return kind == ROCPROFILER_INFO_KIND_METRIC || kind == ROCPROFILER_INFO_KIND_TRACE ||
           kind == ROCPROFILER_INFO_KIND_TRACE_PARAMETER;
}

hsa_status_t rocprofiler_iterate_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
                                      info_fn *callback, void *data)
{
    struct gpu gpus[GPUS_MAX];
    if (!callback || !kind_is_known(kind))
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "iterate_info: %s",
                    callback ? "a kind that cannot be iterated" : "no callback");
    int count = gpus_chosen(agent, gpus);
    hsa_status_t status = count < 0 ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
    for (int i = 0; i < count && status == HSA_STATUS_SUCCESS; i++) {
        if (!agent && !gpus[i].agent->is_supported)
            continue; /* one GPU that is not known does not hide the others */
        if (kind == ROCPROFILER_INFO_KIND_METRIC)
            status = metrics_tell(&gpus[i], callback, data);
    }
    return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

hsa_status_t rocprofiler_query_info(const hsa_agent_t *agent, rocprofiler_info_query_t query,
                                    info_fn *callback, void *data)
{
    /* The query is one word: a kind is small, a pointer to a name is not. */
    uintptr_t word = (uintptr_t)query.trace_parameter.trace_name;
    if (word <= UINT16_MAX && kind_is_known((rocprofiler_info_kind_t)query.info_kind))
        return rocprofiler_iterate_info(agent, query.info_kind, callback, data);
    return rocprofiler_iterate_info(agent, ROCPROFILER_INFO_KIND_TRACE_PARAMETER, callback, data);
}

static hsa_status_t metrics_count(const hsa_agent_t *agent, uint32_t *total)
{
    struct gpu gpus[GPUS_MAX];
    int count = gpus_chosen(agent, gpus);
    *total = 0;
    for (int i = 0; i < count; i++) {
        if (!agent && !gpus[i].agent->is_supported)
            continue;
        const struct metric_set *set = metrics_of(gpus[i].agent);
        if (!set)
            return HSA_STATUS_ERROR;
        *total += set->count;
    }
    return count < 0 ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
}

hsa_status_t rocprofiler_get_info(const hsa_agent_t *agent, rocprofiler_info_kind_t kind,
                                  void *data)
{
    struct gpu gpus[GPUS_MAX];
    uint32_t *count = data;
    if (!data)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: no place for it");
    switch (kind) {
    case ROCPROFILER_INFO_KIND_METRIC_COUNT:
        return metrics_count(agent, count);
    case ROCPROFILER_INFO_KIND_TRACE_COUNT:
    case ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT:
        *count = 0;
        return gpus_chosen(agent, gpus) < 0 ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
    default:
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: kind %d is no count", (int)kind);
    }
}
