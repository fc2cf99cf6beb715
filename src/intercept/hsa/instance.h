/*
 * The HSA runtimes of this process. There may be a second one: a Python wheel brings its own beside
 * the system's. Each has functions, agents, signals and memory of its own, so whoever calls a
 * runtime says which; the device, the process's memory on it, kernel ids and the completion thread
 * are one. Internal to this folder.
 */
#ifndef INTERCEPT_HSA_INSTANCE_H
#define INTERCEPT_HSA_INSTANCE_H

#include "intercept/hsa/agents.h"
#include "intercept/hsa/tables.h"
#include "runtime/places.h"

enum { HSA_INSTANCES_MAX = 2 };

struct hsa_instance {
    /* The runtime's own functions, for our calls: never traced. Written while its table is
     * installed, before any wrapper in it is reachable. */
    struct hsa_calls real;
    /* What an API wrapper calls: the runtime's function, or our service wrapper around it. */
    struct hsa_calls next;
    struct hsa_agents agents;
    struct hsa_tables tables;
    /* NULL: this place was never taken. A runtime keeps its place for the life of the process,
     * since its wrappers are in programs' hands; one that starts anew has the same table. Session
     * keeps its library mapped. Writer: install.c, under its lock (release, after `real`). Readers:
     * any (acquire). */
    _Atomic(void *) api_table;
    /* Of that table in src/runtime: what has become of it. NULL until it is taken; then constant.
     * Writer: install.c, under its lock (release). Readers: any (acquire). */
    _Atomic(struct runtime_place *) place;
};

extern struct hsa_instance hsa_instances[HSA_INSTANCES_MAX];

static inline uint32_t hsa_instance_index(const struct hsa_instance *runtime)
{
    return (uint32_t)(runtime - hsa_instances);
}

/* Its table is installed and it has not left. */
static inline bool hsa_instance_lives(const struct hsa_instance *runtime)
{
    const struct runtime_place *place = atomic_load_explicit(&runtime->place, memory_order_acquire);
    return place && runtime_place_is_installed(place);
}

/* The place of that table; a free one if it is not known; NULL: there are too many runtimes. */
struct hsa_instance *hsa_instance_of_table(const void *api_table);

/* For work on a device that is nobody's in particular: the first that lived and had agents, until
 * it leaves, and then another one. The first of all when there is none. */
struct hsa_instance *hsa_instance_primary(void);

/* The only one that lives; NULL: none does, or several do. */
struct hsa_instance *hsa_instance_alone(void);

/* The entry of the agent, of whichever runtime it is; NULL: of none that lives. */
const struct hsa_agent_entry *hsa_agent_of_any(hsa_agent_t agent);
struct hsa_instance *hsa_instance_of_pool(hsa_amd_memory_pool_t pool);
struct hsa_instance *hsa_instance_of_region(hsa_region_t region);

#endif
