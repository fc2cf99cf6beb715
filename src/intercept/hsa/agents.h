/* HSA agents and what the wrappers need of each: public id, kind, clock. */
#ifndef INTERCEPT_HSA_AGENTS_H
#define INTERCEPT_HSA_AGENTS_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <rocprofiler-sdk/agent.h>
#include <stdbool.h>

struct hsa_agent_entry {
    hsa_agent_t hsa;
    rocprofiler_agent_id_t id;
    const rocprofiler_agent_v0_t *info;
    bool gpu;
};

/* From the runtime just installed. False, with a message, when there is nothing to trace on. */
bool agents_read(void);

/* NULL for an agent that the topology does not know. Any thread; reads immutable memory. */
const struct hsa_agent_entry *agents_find(hsa_agent_t agent);
const struct hsa_agent_entry *agents_all(uint32_t *count);

/* A CPU memory pool that devices may be given access to (fine-grained); handle 0: none. */
hsa_amd_memory_pool_t agents_host_pool(void);

/* Device ticks -> CLOCK_BOOTTIME ns. Completion thread only, so that its cache needs no lock. */
uint64_t agents_device_time_ns(const struct hsa_agent_entry *agent, uint64_t ticks);

/* HSA system timestamps -> ns: identity on every runtime seen, scaled otherwise. */
uint64_t agents_system_time_ns(uint64_t timestamp);

#endif
