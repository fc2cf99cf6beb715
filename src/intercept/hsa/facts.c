#include "intercept/hsa/facts.h"

#include <string.h>

#include "intercept/hsa/agents.h"
#include "intercept/hsa/wrappers.h"

bool intercept_agent_facts(uint64_t agent, struct hsa_agent_facts *facts)
{
    uint32_t count, others = 0;
    const struct hsa_agent_entry *entries = agents_all(&count);

    for (uint32_t i = 0; i < count; i++) {
        const struct hsa_agent_entry *entry = &entries[i];
        if (entry->hsa.handle == agent) {
            facts->gpu = entry->gpu;
            facts->number = entry->gpu ? entry->info->node_id : others;
            return true;
        }
        others += !entry->gpu;
    }
    return false;
}

void intercept_region_facts(uint64_t region, struct hsa_memory_facts *facts)
{
    hsa_region_t handle = {.handle = region};

    memset(facts, 0, sizeof *facts);
    if (hsa_real.hsa_region_get_info == NULL)
        return;
    hsa_real.hsa_region_get_info(handle, HSA_REGION_INFO_SEGMENT, &facts->segment);
    hsa_real.hsa_region_get_info(handle, HSA_REGION_INFO_GLOBAL_FLAGS, &facts->global_flags);
}

void intercept_pool_facts(uint64_t pool, struct hsa_memory_facts *facts)
{
    hsa_amd_memory_pool_t handle = {.handle = pool};

    memset(facts, 0, sizeof *facts);
    if (hsa_real.hsa_amd_memory_pool_get_info == NULL)
        return;
    hsa_real.hsa_amd_memory_pool_get_info(handle, HSA_AMD_MEMORY_POOL_INFO_SEGMENT,
                                          &facts->segment);
    hsa_real.hsa_amd_memory_pool_get_info(handle, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS,
                                          &facts->global_flags);
}

static bool agent_reaches(hsa_agent_t agent, hsa_amd_memory_pool_t pool)
{
    hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;

    return hsa_real.hsa_amd_agent_memory_pool_get_info(
               agent, pool, HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS, &access) == HSA_STATUS_SUCCESS &&
           access == HSA_AMD_MEMORY_POOL_ACCESS_ALLOWED_BY_DEFAULT;
}

void intercept_pool_agents(uint64_t pool, void (*tell)(uint64_t agent, void *data), void *data)
{
    uint32_t count;
    const struct hsa_agent_entry *entries = agents_all(&count);

    if (hsa_real.hsa_amd_agent_memory_pool_get_info == NULL)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (agent_reaches(entries[i].hsa, (hsa_amd_memory_pool_t){.handle = pool}))
            tell(entries[i].hsa.handle, data);
}
