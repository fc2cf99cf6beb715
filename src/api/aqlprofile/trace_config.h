/* Thread trace configurations, with the statuses and messages of this library. */
#ifndef AQLPROFILE_TRACE_CONFIG_H
#define AQLPROFILE_TRACE_CONFIG_H

#include "api/aqlprofile/internal.h"
#include "gpu/sqtt/parameters.h"

/* Takes a parameter that both interfaces have; any other one is an error. */
hsa_status_t trace_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value);
/* Adds an event of the sequencers whose count is sampled into the trace. */
hsa_status_t trace_counter_add(struct sqtt_config *config, uint32_t event, uint32_t simd_mask);
/* Drops engines that the GPU does not have, then answers any problem as a status. */
hsa_status_t trace_config_check(const struct gpu_target *target, struct sqtt_config *config);

/* The worse of a status and a trace's outcome. */
hsa_status_t trace_outcome_status(hsa_status_t status, enum sqtt_outcome outcome);

#endif
