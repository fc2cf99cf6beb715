#include "api/aqlprofile/trace_config.h"

enum { COUNTER_SIMD_SHIFT = 24 };
static const uint64_t DEFAULT_ENGINES = 0x11;

/* Rate in bits 8..12, all shader stages, all VMIDs. */
static uint32_t counter_control(uint32_t rate)
{
    return (rate & 0x1f) << 8 | 0xffff007f;
}

void trace_config_default(struct sqtt_config *config)
{
    *config = (struct sqtt_config){.engine_mask = DEFAULT_ENGINES,
                                   .simd_mask = 0xf,
                                   .counter_units = UINT32_MAX,
                                   .counter_control = counter_control(0)};
}

hsa_status_t trace_counter_add(struct sqtt_config *config, uint32_t event, uint32_t simd_mask)
{
    if (config->counter_count == SQTT_COUNTERS_MAX)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "more than %d counters",
                               SQTT_COUNTERS_MAX);
    config->counters[config->counter_count++] = event | simd_mask << COUNTER_SIMD_SHIFT;
    return HSA_STATUS_SUCCESS;
}

hsa_status_t trace_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value)
{
    switch (name) {
    case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_SE_MASK:
        config->engine_mask = value;
        return HSA_STATUS_SUCCESS;
    case HSA_VEN_AMD_AQLPROFILE_PARAMETER_NAME_COMPUTE_UNIT_TARGET:
        config->target = value;
        return HSA_STATUS_SUCCESS;
    case PARAMETER_SIMD_SELECTION:
        config->simd_mask = value & 0xf;
        return HSA_STATUS_SUCCESS;
    case PARAMETER_OCCUPANCY_MODE:
        config->is_occupancy = value != 0;
        return HSA_STATUS_SUCCESS;
    case PARAMETER_COUNTER_MASK:
        config->counter_units = value;
        return HSA_STATUS_SUCCESS;
    case PARAMETER_COUNTER_CONTROL:
        config->counter_control = counter_control(value);
        return HSA_STATUS_SUCCESS;
    default:
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "unknown parameter %u",
                               (unsigned)name);
    }
}

hsa_status_t trace_config_check(const struct gpu_target *target, struct sqtt_config *config)
{
    if (target->geometry.se_count < SQTT_ENGINES_MAX)
        config->engine_mask &= (1ull << target->geometry.se_count) - 1;
    const char *problem = sqtt_config_check(target, config);
    if (problem)
        return aqlprofile_fail(HSA_STATUS_ERROR_INVALID_ARGUMENT, "thread trace: %s", problem);
    return HSA_STATUS_SUCCESS;
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
