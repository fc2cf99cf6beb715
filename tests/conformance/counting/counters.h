/* Finding agents and counters by name; for the tests of this folder. Failures end the test. */
#ifndef CONFORMANCE_COUNTING_COUNTERS_H
#define CONFORMANCE_COUNTING_COUNTERS_H

#include <rocprofiler-sdk/rocprofiler.h>

#define OK(call)             assert_int_equal((call), ROCPROFILER_STATUS_SUCCESS)
#define REFUSED(call, error) assert_int_equal((call), ROCPROFILER_STATUS_ERROR_##error)

enum { AGENTS_MAX = 8 };

extern const rocprofiler_agent_v0_t *gpu_agents[AGENTS_MAX];
extern uint32_t gpu_agent_count;
extern rocprofiler_agent_id_t cpu_agent;

void agents_load(void);
/* Position in gpu_agents. */
uint32_t agent_position(rocprofiler_agent_id_t id);

/* Fails when the agent has no such counter. */
rocprofiler_counter_id_t counter_named(rocprofiler_agent_id_t agent, const char *name);
/* Handle 0 when it has none. */
rocprofiler_counter_id_t counter_find(rocprofiler_agent_id_t agent, const char *name);
const char *counter_name(rocprofiler_counter_id_t id);
/* Of a comma list. */
rocprofiler_counter_config_id_t config_of(rocprofiler_agent_id_t agent, const char *names);

#endif
