#include "intercept/hsa/facts.h"

#include <string.h>

#include "intercept/hsa/instance.h"
#include "intercept/hsa/objects.h"

static bool agent_facts(uint64_t agent, struct hsa_agent_facts *facts)
{
    const struct hsa_agent_entry *found = hsa_agent_of_any((hsa_agent_t){agent});
    const struct hsa_agents *agents = found ? &found->runtime->agents : NULL;
    uint32_t others = 0;
    for (uint32_t i = 0; agents && i < agents->count; i++) {
        const struct hsa_agent_entry *entry = &agents->entries[i];
        if (entry == found) {
            facts->gpu = entry->gpu;
            facts->number = entry->gpu ? entry->info->node_id : others;
            return true;
        }
        others += !entry->gpu;
    }
    return false;
}

static void region_facts(uint64_t region, struct hsa_memory_facts *facts)
{
    hsa_region_t handle = {.handle = region};
    const struct hsa_instance *runtime = hsa_instance_of_region(handle);
    memset(facts, 0, sizeof *facts);
    if (!runtime || !runtime->real.hsa_region_get_info)
        return;
    runtime->real.hsa_region_get_info(handle, HSA_REGION_INFO_SEGMENT, &facts->segment);
    runtime->real.hsa_region_get_info(handle, HSA_REGION_INFO_GLOBAL_FLAGS, &facts->global_flags);
}

static void pool_facts(uint64_t pool, struct hsa_memory_facts *facts)
{
    hsa_amd_memory_pool_t handle = {.handle = pool};
    const struct hsa_instance *runtime = hsa_instance_of_pool(handle);
    memset(facts, 0, sizeof *facts);
    if (!runtime || !runtime->real.hsa_amd_memory_pool_get_info)
        return;
    runtime->real.hsa_amd_memory_pool_get_info(handle, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
                                               &facts->segment);
    runtime->real.hsa_amd_memory_pool_get_info(handle, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                                               &facts->global_flags);
}

static bool agent_reaches(const struct hsa_agent_entry *agent, hsa_amd_memory_pool_t pool)
{
    hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
    return agent->runtime->real.hsa_amd_agent_memory_pool_get_info(
               agent->hsa, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access) ==
               HSA_STATUS_SUCCESS &&
           access == HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
}

static void pool_agents(uint64_t pool, void (*tell)(uint64_t agent, void *data), void *data)
{
    const hsa_amd_memory_pool_t handle = {.handle = pool};
    const struct hsa_instance *runtime = hsa_instance_of_pool(handle);
    if (!runtime || !runtime->real.hsa_amd_agent_memory_pool_get_info)
        return;
    for (uint32_t i = 0; i < runtime->agents.count; i++)
        if (agent_reaches(&runtime->agents.entries[i], handle))
            tell(runtime->agents.entries[i].hsa.handle, data);
}

const struct hsa_facts hsa_facts = {
    .agent = agent_facts,
    .region = region_facts,
    .pool = pool_facts,
    .pool_agents = pool_agents,
    .kernel_name = objects_kernel_name,
    .submission = intercept_submission,
};
