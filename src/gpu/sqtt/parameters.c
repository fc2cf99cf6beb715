#include "gpu/sqtt/parameters.h"

#include <stddef.h>

enum { COUNTER_SIMD_SHIFT = 24, SIMDS_ALL = 0xf, TARGET_OF_MASK = 0xf };
static const uint64_t ENGINES_DEFAULT = 0x11;

/* Bits of MASK and TOKEN_MASK that nobody may set. */
enum { MASK_RESERVED = 0x50 };
#define TOKEN_MASK_RESERVED 0xff000000u

/* Rate in bits 8..12, all shader stages, all VMIDs. */
static uint32_t counter_control(uint32_t rate)
{
    return (rate & 0x1f) << 8 | 0xffff007f;
}

void sqtt_config_default(struct sqtt_config *config)
{
    *config = (struct sqtt_config){.engine_mask = ENGINES_DEFAULT,
                                   .simd_mask = SIMDS_ALL,
                                   .counter_units = UINT32_MAX,
                                   .counter_control = counter_control(0)};
}

const char *sqtt_counter_add(struct sqtt_config *config, uint32_t event, uint32_t simd_mask)
{
    if (config->counter_count == SQTT_COUNTERS_MAX)
        return "more than 8 counters";
    config->counters[config->counter_count++] = event | simd_mask << COUNTER_SIMD_SHIFT;
    return NULL;
}

const char *sqtt_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value)
{
    switch (name) {
    case SQTT_PARAMETER_ENGINE_MASK:
        config->engine_mask = value;
        return NULL;
    case SQTT_PARAMETER_TARGET:
        config->target = value;
        return NULL;
    case SQTT_PARAMETER_SIMDS:
        config->simd_mask = value & SIMDS_ALL;
        return NULL;
    case SQTT_PARAMETER_OCCUPANCY:
        config->is_occupancy = value != 0;
        return NULL;
    case SQTT_PARAMETER_COUNTER_UNITS:
        config->counter_units = value;
        return NULL;
    case SQTT_PARAMETER_COUNTER_CONTROL:
        config->counter_control = counter_control(value);
        return NULL;
    default:
        return "unknown parameter";
    }
}

const char *sqtt_first_parameter_take(struct sqtt_config *config, uint32_t name, uint32_t value)
{
    switch (name) {
    case SQTT_PARAMETER_VM_ID_MASK:
        config->vm_id_mask = value;
        return NULL;
    case SQTT_PARAMETER_MASK:
        if (value & MASK_RESERVED)
            return "the mask has reserved bits";
        config->target = value & TARGET_OF_MASK;
        config->raw_mask = value;
        return NULL;
    case SQTT_PARAMETER_TOKEN_MASK:
        if (value & TOKEN_MASK_RESERVED)
            return "the token mask has reserved bits";
        config->raw_token_mask = value;
        return NULL;
    case SQTT_PARAMETER_TOKEN_MASK2:
        config->raw_token_mask2 = value;
        return NULL;
    case SQTT_PARAMETER_CONCURRENT:
        config->is_concurrent = value != 0;
        return NULL;
    case SQTT_PARAMETER_SAMPLE_RATE: /* of streamed counters */
    case SQTT_PARAMETER_BUFFER_SIZE: /* whoever starts the trace brings a buffer */
        return NULL;
    case SQTT_PARAMETER_COUNTER:
        return sqtt_counter_add(config, value, SIMDS_ALL);
    default:
        return sqtt_parameter_take(config, name, value);
    }
}

const char *sqtt_config_fit(const struct gpu_target *target, struct sqtt_config *config)
{
    if (target->geometry.se_count < SQTT_ENGINES_MAX)
        config->engine_mask &= (1ull << target->geometry.se_count) - 1;
    return sqtt_config_check(target, config);
}
