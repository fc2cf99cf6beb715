/* HSA agents and what the wrappers need of each: public id, kind, clock. */
#ifndef INTERCEPT_HSA_AGENTS_H
#define INTERCEPT_HSA_AGENTS_H

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <rocprofiler-sdk/agent.h>
#include <stdbool.h>

struct device_clock;
struct hsa_instance;

struct hsa_agent_entry {
    struct hsa_instance *runtime;
    hsa_agent_t hsa;
    rocprofiler_agent_id_t id;
    const rocprofiler_agent_v0_t *info;
    bool gpu;
    uint64_t
        cycles_hz; /* kernels' signals say their modelled cycles, of this clock; 0: they don't */
    struct device_clock *clock; /* completion thread only; NULL: no memory */
};

enum { HSA_AGENTS_MAX = 256 };

/* Of one runtime. Written by agents_read before any of its wrappers is reachable, then immutable.
 */
struct hsa_agents {
    struct hsa_agent_entry entries[HSA_AGENTS_MAX];
    uint32_t count; /* 0: calls can be traced, nothing that concerns a device */
    uint32_t unknown_count;
    /* A CPU memory pool that devices may be given access to (fine-grained); handle 0: none. */
    hsa_amd_memory_pool_t host_pool;
    uint64_t timestamp_hz;
};

/* From the runtime that is being installed. */
void agents_read(struct hsa_instance *runtime);

/* NULL for an agent that the topology does not know. Any thread; reads immutable memory. */
const struct hsa_agent_entry *agents_find(const struct hsa_instance *runtime, hsa_agent_t agent);

/* Device ticks -> CLOCK_BOOTTIME ns, in the device's order (device_clock.h); an end before its
 * start is one question to the runtime less. Completion thread only. */
uint64_t agents_device_time_ns(const struct hsa_agent_entry *agent, uint64_t ticks);

/* HSA system timestamps -> ns: identity on every runtime seen, scaled otherwise. */
uint64_t agents_system_time_ns(const struct hsa_instance *runtime, uint64_t timestamp);

#endif
