/* A set of counters that an agent collects together. */
#ifndef ROCPROFILER_SDK_COUNTER_CONFIG_H
#define ROCPROFILER_SDK_COUNTER_CONFIG_H

#include <rocprofiler-sdk/agent.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

ROCPROFILER_EXTERN_C_INIT

/**
 * If `config_id` names a configuration on entry, the new one has its counters too. Fails with
 * EXCEEDS_HW_LIMIT when the set does not fit one pass. May be called at any time.
 */
ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t rocprofiler_create_counter_config(
    rocprofiler_agent_id_t agent_id, rocprofiler_counter_id_t *counters_list, size_t counters_count,
    rocprofiler_counter_config_id_t *config_id) ROCPROFILER_API ROCPROFILER_NONNULL(4);

ROCPROFILER_SDK_EXPERIMENTAL
rocprofiler_status_t
rocprofiler_destroy_counter_config(rocprofiler_counter_config_id_t config_id) ROCPROFILER_API;

ROCPROFILER_EXTERN_C_FINI

#endif
