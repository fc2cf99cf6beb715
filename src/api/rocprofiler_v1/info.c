/* What can be collected. */
#include "api/rocprofiler_v1/internal.h"
#include "base/callback.h"

#include <string.h>

typedef hsa_status_t info_fn(const rocprofiler_info_data_t info, void *data);

/* Chooses one GPU, or all of the runtime. Returns their number; -1 with a message. */
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

/* ---- traces */

static const char trace_name[] = "TT";
static const struct {
    uint32_t code;
    const char *name, *description;
} trace_parameters[] = {
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET, "COMPUTE_UNIT_TARGET",
     "the compute unit whose instructions are traced, 0 to 15; from gfx10 on the work-group "
     "processor"},
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_VM_ID_MASK, "VM_ID_MASK",
     "gfx9: virtual memory ids whose waves are traced"},
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_MASK, "MASK",
     "gfx9: the register SQ_THREAD_TRACE_MASK; counts with both token masks only"},
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK, "TOKEN_MASK",
     "gfx9: the register SQ_THREAD_TRACE_TOKEN_MASK, which tokens are written"},
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_TOKEN_MASK2, "TOKEN_MASK2",
     "gfx9: the register SQ_THREAD_TRACE_TOKEN_MASK2, which instructions are written"},
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK, "SE_MASK",
     "shader engines that are traced; without it 0 and 4"},
    {HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_K_CONCURRENT, "K_CONCURRENT",
     "not 0: the trace's start does not wait for work before it"},
};
enum { TRACE_PARAMETERS = sizeof trace_parameters / sizeof trace_parameters[0] };

static hsa_status_t trace_tell(const struct gpu *gpu, info_fn *callback, void *data)
{
    const rocprofiler_info_data_t info = {.agent_index = gpu->node,
                                          .kind = ROCPROFILER_INFO_KIND_TRACE,
                                          .trace = {.name = trace_name,
                                                    .description = "thread trace of waves and "
                                                                   "their instructions",
                                                    .parameter_count = TRACE_PARAMETERS}};
    return tell(callback, &info, data);
}

static hsa_status_t trace_parameters_tell(const struct gpu *gpu, info_fn *callback, void *data)
{
    hsa_status_t status = HSA_STATUS_SUCCESS;
    for (int i = 0; i < TRACE_PARAMETERS && status == HSA_STATUS_SUCCESS; i++) {
        const rocprofiler_info_data_t info = {
            .agent_index = gpu->node,
            .kind = ROCPROFILER_INFO_KIND_TRACE_PARAMETER,
            .trace_parameter = {.code = trace_parameters[i].code,
                                .trace_name = trace_name,
                                .parameter_name = trace_parameters[i].name,
                                .description = trace_parameters[i].description}};
        status = tell(callback, &info, data);
    }
    return status;
}

/* ---- both */

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
            continue; /* a GPU that is not known does not hide the others */
        if (kind == ROCPROFILER_INFO_KIND_METRIC)
            status = metrics_tell(&gpus[i], callback, data);
        else if (!gpus[i].agent->is_supported)
            status = fail(HSA_STATUS_ERROR_INVALID_AGENT, "GPU %u is not known here", gpus[i].node);
        else if (kind == ROCPROFILER_INFO_KIND_TRACE)
            status = trace_tell(&gpus[i], callback, data);
        else
            status = trace_parameters_tell(&gpus[i], callback, data);
    }
    return status == HSA_STATUS_INFO_BREAK ? HSA_STATUS_SUCCESS : status;
}

hsa_status_t rocprofiler_query_info(const hsa_agent_t *agent, rocprofiler_info_query_t query,
                                    info_fn *callback, void *data)
{
    /* The query is one word: a kind is small, a pointer to a name is not. */
    const char *name = query.trace_parameter.trace_name;
    if ((uintptr_t)name <= UINT16_MAX)
        return rocprofiler_iterate_info(agent, query.info_kind, callback, data);
    if (strcmp(name, trace_name) != 0)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "query_info: there is no trace %s", name);
    return rocprofiler_iterate_info(agent, ROCPROFILER_INFO_KIND_TRACE_PARAMETER, callback, data);
}

static hsa_status_t traces_count(const hsa_agent_t *agent, uint32_t of_each, uint32_t *total)
{
    struct gpu gpus[GPUS_MAX];
    int count = gpus_chosen(agent, gpus);
    *total = 0;
    for (int i = 0; i < count; i++)
        *total += gpus[i].agent->is_supported ? of_each : 0;
    return count < 0 ? HSA_STATUS_ERROR : HSA_STATUS_SUCCESS;
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
    uint32_t *count = data;
    if (!data)
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: no place for it");
    switch (kind) {
    case ROCPROFILER_INFO_KIND_METRIC_COUNT:
        return metrics_count(agent, count);
    case ROCPROFILER_INFO_KIND_TRACE_COUNT:
        return traces_count(agent, 1, count);
    case ROCPROFILER_INFO_KIND_TRACE_PARAMETER_COUNT:
        return traces_count(agent, TRACE_PARAMETERS, count);
    default:
        return fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "get_info: kind %d is no count", (int)kind);
    }
}
