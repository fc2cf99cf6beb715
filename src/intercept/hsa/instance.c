#include "intercept/hsa/instance.h"

#include <stddef.h>

struct hsa_instance hsa_instances[HSA_INSTANCES_MAX];

struct hsa_instance *hsa_instance_of_table(const void *api_table)
{
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX; i++) {
        void *known = atomic_load_explicit(&hsa_instances[i].api_table, memory_order_acquire);
        if (!known || known == api_table)
            return &hsa_instances[i];
    }
    return NULL;
}

static bool can_serve(const struct hsa_instance *runtime)
{
    return hsa_instance_lives(runtime) && runtime->agents.count > 0;
}

struct hsa_instance *hsa_instance_primary(void)
{
    /* Any thread, relaxed: an index, and what it stands for is asked each time. */
    static _Atomic uint32_t latest;
    uint32_t serving = atomic_load_explicit(&latest, memory_order_relaxed);

    for (uint32_t i = 0; i < HSA_INSTANCES_MAX && !can_serve(&hsa_instances[serving]); i++)
        serving = i;
    if (!can_serve(&hsa_instances[serving]))
        return &hsa_instances[0];
    atomic_store_explicit(&latest, serving, memory_order_relaxed);
    return &hsa_instances[serving];
}

struct hsa_instance *hsa_instance_alone(void)
{
    struct hsa_instance *one = NULL;
    uint32_t count = 0;
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX; i++) {
        if (!hsa_instance_lives(&hsa_instances[i]))
            continue;
        one = &hsa_instances[i];
        count++;
    }
    return count == 1 ? one : NULL;
}

const struct hsa_agent_entry *hsa_agent_of_any(hsa_agent_t agent)
{
    const struct hsa_agent_entry *entry = NULL;
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX && !entry; i++)
        if (hsa_instance_lives(&hsa_instances[i]))
            entry = agents_find(&hsa_instances[i], agent);
    return entry;
}

/* Pools and regions are handles without a way back: each agent of each runtime shows its own. */
struct search {
    uint64_t handle;
    bool found;
};

static hsa_status_t pool_compare(hsa_amd_memory_pool_t pool, void *data)
{
    struct search *search = data;
    search->found |= pool.handle == search->handle;
    return search->found ? HSA_STATUS_INFO_BREAK : HSA_STATUS_SUCCESS;
}

static hsa_status_t region_compare(hsa_region_t region, void *data)
{
    return pool_compare((hsa_amd_memory_pool_t){region.handle}, data);
}

static bool has_memory(const struct hsa_instance *runtime, uint64_t handle, bool is_pool)
{
    struct search search = {.handle = handle};
    for (uint32_t i = 0; i < runtime->agents.count && !search.found; i++) {
        hsa_agent_t agent = runtime->agents.entries[i].hsa;
        if (is_pool)
            runtime->real.hsa_amd_agent_iterate_memory_pools(agent, pool_compare, &search);
        else if (runtime->real.hsa_agent_iterate_regions)
            runtime->real.hsa_agent_iterate_regions(agent, region_compare, &search);
    }
    return search.found;
}

static struct hsa_instance *instance_of_memory(uint64_t handle, bool is_pool)
{
    struct hsa_instance *owner = hsa_instance_alone();
    for (uint32_t i = 0; i < HSA_INSTANCES_MAX && !owner; i++)
        if (hsa_instance_lives(&hsa_instances[i]) && has_memory(&hsa_instances[i], handle, is_pool))
            owner = &hsa_instances[i];
    return owner;
}

struct hsa_instance *hsa_instance_of_pool(hsa_amd_memory_pool_t pool)
{
    return instance_of_memory(pool.handle, true);
}

struct hsa_instance *hsa_instance_of_region(hsa_region_t region)
{
    return instance_of_memory(region.handle, false);
}
