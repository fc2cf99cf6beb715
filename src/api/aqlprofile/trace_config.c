#include "api/aqlprofile/trace_config.h"

/* Checks answer with a problem in words, or NULL; to the caller a problem is a wrong argument. */
static hsa_status_t refuse(const char *problem)
{
    return problem ? aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "thread trace: %s", problem)
                   : HSA_STATUS_SUCCESS;
}

hsa_status_t trace_counter_add(struct sqtt_config *config, uint32_t event, uint32_t simd_mask)
{
    return refuse(sqtt_counter_add(config, event, simd_mask));
}

hsa_status_t trace_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value)
{
    const char *problem = sqtt_parameter_take(config, name, value);
    return problem ? aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "thread trace: %s %u",
                                     problem, name)
                   : HSA_STATUS_SUCCESS;
}

hsa_status_t trace_config_check(const struct gpu_target *target, struct sqtt_config *config)
{
    return refuse(sqtt_config_fit(target, config));
}

hsa_status_t trace_outcome_status(hsa_status_t status, enum sqtt_outcome outcome)
{
    if (outcome == SQTT_MEMORY_ERROR)
        return aqlprofile_fail(HSA_STATUS_ERROR_EXCEPTION, "the trace could not be written");
    if (outcome == SQTT_FULL && status == HSA_STATUS_SUCCESS)
        return aqlprofile_fail(HSA_STATUS_ERROR_OUT_OF_RESOURCES,
                               "the trace did not fit into its buffer");
    return status;
}
