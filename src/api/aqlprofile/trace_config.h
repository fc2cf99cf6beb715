/* Thread trace configurations from the parameters of both interfaces. */
#ifndef AQLPROFILE_TRACE_CONFIG_H
#define AQLPROFILE_TRACE_CONFIG_H

#include "api/aqlprofile/internal.h"
#include "gpu/sqtt/sqtt.h"

/* Engines 0 and 4, compute unit 0, all SIMDs; no buffer, no clocks. */
void trace_config_default(struct sqtt_config *config);

/* A parameter that both interfaces have; another one is an error. */
hsa_status_t trace_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value);
/* An event of the sequencers, sampled into the trace. */
hsa_status_t trace_counter_add(struct sqtt_config *config, uint32_t event, uint32_t simd_mask);
/* Any problem, as a status; engines that the GPU does not have are dropped first. */
hsa_status_t trace_config_check(const struct gpu_target *target, struct sqtt_config *config);

/* Parameters whose names ROCm 5.2's header does not have yet. */
enum {
    PARAMETER_SIMD_SELECTION = 8,
    PARAMETER_OCCUPANCY_MODE = 9,
    PARAMETER_BUFFER_SIZE = 10,
    PARAMETER_COUNTER_MASK = 240,
    PARAMETER_COUNTER_CONTROL = 241,
    PARAMETER_COUNTER_NAME = 242
};

/* The worse of a status and a trace's outcome. */
hsa_status_t trace_outcome_status(hsa_status_t status, enum sqtt_outcome outcome);

#endif
