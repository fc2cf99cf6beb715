/*
 * 0.x names of counter_config.h. Inline for source compatibility; the library also exports both
 * names, because clients look them up with dlsym.
 */
#ifndef ROCPROFILER_SDK_DEPRECATED_PROFILE_CONFIG_H
#define ROCPROFILER_SDK_DEPRECATED_PROFILE_CONFIG_H

#include <rocprofiler-sdk/counter_config.h>
#include <rocprofiler-sdk/defines.h>
#include <rocprofiler-sdk/fwd.h>

#if ROCPROFILER_SDK_BETA_COMPAT > 0

ROCPROFILER_EXTERN_C_INIT

#ifdef rocprofiler_EXPORTS

rocprofiler_status_t
rocprofiler_create_profile_config(rocprofiler_agent_id_t agent_id,
                                  rocprofiler_counter_id_t *counters_list, size_t counters_count,
                                  rocprofiler_profile_config_id_t *config_id) ROCPROFILER_API;

rocprofiler_status_t
rocprofiler_destroy_profile_config(rocprofiler_profile_config_id_t config_id) ROCPROFILER_API;

#else

ROCPROFILER_SDK_DEPRECATED("now rocprofiler_create_counter_config")
static inline rocprofiler_status_t
rocprofiler_create_profile_config(rocprofiler_agent_id_t agent_id,
                                  rocprofiler_counter_id_t *counters_list, size_t counters_count,
                                  rocprofiler_profile_config_id_t *config_id)
{
    return rocprofiler_create_counter_config(agent_id, counters_list, counters_count, config_id);
}

ROCPROFILER_SDK_DEPRECATED("now rocprofiler_destroy_counter_config")
static inline rocprofiler_status_t
rocprofiler_destroy_profile_config(rocprofiler_profile_config_id_t config_id)
{
    return rocprofiler_destroy_counter_config(config_id);
}

#endif

ROCPROFILER_EXTERN_C_FINI

#endif

#endif
