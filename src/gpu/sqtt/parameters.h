/*
 * Parameters of a thread trace, by the numbers that AMD's interfaces give them:
 * hsa_ven_amd_aqlprofile_parameter_name_t and its successor.
 */
#ifndef GPU_SQTT_PARAMETERS_H
#define GPU_SQTT_PARAMETERS_H

#include "gpu/sqtt/sqtt.h"

enum sqtt_parameter {
    SQTT_PARAMETER_TARGET = 0,
    SQTT_PARAMETER_VM_ID_MASK = 1,
    SQTT_PARAMETER_MASK = 2,
    SQTT_PARAMETER_TOKEN_MASK = 3,
    SQTT_PARAMETER_TOKEN_MASK2 = 4,
    SQTT_PARAMETER_ENGINE_MASK = 5,
    SQTT_PARAMETER_SAMPLE_RATE = 6,
    SQTT_PARAMETER_CONCURRENT = 7,
    SQTT_PARAMETER_SIMDS = 8,
    SQTT_PARAMETER_OCCUPANCY = 9,
    SQTT_PARAMETER_BUFFER_SIZE = 10,
    SQTT_PARAMETER_COUNTER_UNITS = 240,
    SQTT_PARAMETER_COUNTER_CONTROL = 241,
    SQTT_PARAMETER_COUNTER = 242
};

/* Engines 0 and 4, compute unit 0, all SIMDs; no buffer, no clocks. */
void sqtt_config_default(struct sqtt_config *config);

/* All of these answer NULL, or why not. */

/* Takes a parameter that both interfaces have. */
const char *sqtt_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value);
/* Takes one that only the first interface has. */
const char *sqtt_first_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value);
/* Adds an event of the sequencers, which is sampled into the trace. */
const char *sqtt_counter_add(struct sqtt_config *config, uint32_t event, uint32_t simd_mask);
/* Takes out the engines that the GPU does not have, then checks as sqtt_config_check() does. */
const char *sqtt_config_fit(const struct gpu_target *target, struct sqtt_config *config);

#endif
